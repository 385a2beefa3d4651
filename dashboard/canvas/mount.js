// A picture lives in the root of its component from the first message until it is unmounted for good.

import { Sender } from "./protocol.js";
import { MARKUP } from "./shared.js";

/** @import { Component } from "./protocol.js" */

/**
 * What a component shows.
 * @typedef {object} Picture
 * @property {HTMLElement} room the element that holds all of it
 * @property {Sender} send to Python, by the component that is on the page now
 * @property {() => void} leave it was taken off the page
 * @property {() => void} comeBack it is there again
 * @property {() => void} close it will not come back
 */

/**
 * The root of a component, with the picture in it and a mark of the call that has mounted it last.
 * @typedef {HTMLElement & { picture?: any, call?: object }} Root
 */

const ABSENCE = 2000; // milliseconds

/** @type {Map<keyof typeof MARKUP, { picture: any, closing: ReturnType<typeof setTimeout> }>} */
const absent = new Map(); // pictures that were taken off the page and may come back

/**
 * The picture in this component's root: the one that is there, or one that `make` makes in a new room.
 * Returns it with what Streamlit calls at the end. It calls that also when the next message came while the
 * modules were loaded: then the picture is no longer that call's to take away.
 *
 * While the server is busy Streamlit may take a component off the page and put it there again at once;
 * what people have done with it must not get lost by that. So a picture waits before it is closed.
 *
 * @template {Picture} P
 * @param {Component} component
 * @param {keyof typeof MARKUP} name
 * @param {(room: HTMLElement, send: Sender) => P} make
 * @returns {[P, () => void]}
 */
export function mounted(component, name, make) {
  /** @type {Root} */
  const root = component.parentElement;
  const send = new Sender(component), back = root.picture ? null : returned(root, name);
  const picture = (root.picture ??= back ?? make(newRoom(root, name), send));
  picture.send = send;
  back?.comeBack();
  const call = (root.call = {});
  const unmount = () => {
    if (root.call !== call || !root.picture) return;
    root.picture = null;
    picture.room.remove();
    picture.leave();
    const closing = setTimeout(() => {
      absent.delete(name);
      picture.close();
    }, ABSENCE);
    absent.set(name, { picture, closing });
  };
  return [picture, unmount];
}

/**
 * @param {HTMLElement} root
 * @param {keyof typeof MARKUP} name
 */
function newRoom(root, name) {
  const room = document.createElement("div");
  room.innerHTML = MARKUP[name];
  root.append(room);
  return room;
}

/**
 * @param {HTMLElement} root
 * @param {keyof typeof MARKUP} name
 */
function returned(root, name) {
  const waiting = absent.get(name);
  if (!waiting) return null;
  absent.delete(name);
  clearTimeout(waiting.closing);
  root.append(waiting.picture.room);
  return waiting.picture;
}
