import { keepCloud, latestCloud } from "./clouds.js";
import { received, Sender, unpack } from "./protocol.js";

/** @import { Cloud, Component } from "./protocol.js" */

/**
 * Takes the observations. It has no picture.
 * @param {Component} component
 */
export function feed(component) {
  /** @type {Cloud} */
  const news = unpack(component.data);
  const cloud = received(latestCloud(), news, (known) => known);
  if (!cloud) new Sender(component).missing();
  else if (cloud !== latestCloud()) keepCloud(cloud);
}
