// Observations that appear and fade with age. They are stamped once, on one of a few layers; each layer grows fainter
// as a whole, so that a frame costs the same however many observations there are.

import { pen } from "../pen.js";

/**
 * @import { Scene } from "../scene.js"
 * @import { Points } from "../protocol.js"
 */

const LAYERS = 8;
const MOST = 260; // observations on a layer
const LONGEST = 1500; // milliseconds that a layer is stamped on, if it has some

/** @typedef {{ canvas: HTMLCanvasElement, kept: Points[], count: number, since: number }} Layer */

export class Fading {
  /** The newest stands last. @type {Layer[]} */
  #layers = [];
  #drawnWith = "";

  /** @param {Scene} scene */
  constructor(scene) {
    this.scene = scene;
  }

  clear() {
    this.#layers = [];
  }

  /**
   * @param {Points} points that have appeared
   * @param {number} size of a mark
   * @param {number} now milliseconds for which the stream has flowed
   */
  add(points, size, now) {
    let top = this.#layers.at(-1);
    if (!top || top.count >= MOST || now - top.since > LONGEST) top = this.#begin(now);
    top.kept.push(points);
    top.count += points.states.length;
    this.#stamp(top, points, size);
  }

  /** @param {number} now */
  #begin(now) {
    const { width, height } = this.scene.canvas;
    const old = this.#layers.length >= LAYERS ? this.#layers.shift() : undefined;
    const canvas = old?.canvas ?? document.createElement("canvas");
    Object.assign(canvas, { width, height }); // this also clears it
    const layer = { canvas, kept: [], count: 0, since: now };
    this.#layers.push(layer);
    return layer;
  }

  /**
   * @param {Layer} layer
   * @param {Points} points
   * @param {number} size
   */
  #stamp({ canvas }, points, size) {
    this.scene.drawPoints(pen(canvas), 0, points.states.length, size, 0.75, points);
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {number} size of a mark
   * @param {string} look changes when what is stamped cannot stay
   * @param {number} now as in `add`
   */
  draw(g, size, look, now) {
    if (look !== this.#drawnWith) {
      this.#drawnWith = look;
      for (const layer of this.#layers) {
        Object.assign(layer.canvas, { width: this.scene.canvas.width, height: this.scene.canvas.height });
        for (const points of layer.kept) this.#stamp(layer, points, size);
      }
    }
    const top = this.#layers.at(-1);
    const share = top ? Math.min(1, Math.max(top.count / MOST, (now - top.since) / LONGEST)) : 0;
    this.#layers.forEach(({ canvas }, index) => {
      const age = this.#layers.length - 1 - index + share; // in layers
      g.globalAlpha = Math.max(0, 1 - age / LAYERS) ** 1.5;
      g.drawImage(canvas, 0, 0);
    });
    g.globalAlpha = 1;
  }
}
