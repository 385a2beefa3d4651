// The observations. They come through a mount of their own, so that a run in progress need not send them again
// and again. Only those of the run on screen are kept.

/** @import { Cloud } from "./protocol.js" */

/** @type {Cloud | null} */
let latest = null;
const arrivals = new EventTarget();

export const latestCloud = () => latest;

/**
 * The observations of this run, if they are here.
 * @param {string} id
 */
export const cloudOf = (id) => (latest?.id === id ? latest : null);

/** @param {Cloud | null} cloud */
export function keepCloud(cloud) {
  latest = cloud;
  arrivals.dispatchEvent(new Event("cloud"));
}

/**
 * @param {() => void} action called when other observations have come
 * @returns {() => void} ends this
 */
export function onCloud(action) {
  arrivals.addEventListener("cloud", action);
  return () => arrivals.removeEventListener("cloud", action);
}
