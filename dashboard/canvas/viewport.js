// From the unit square of a map, −1 to 1 in both directions, to the pixels of a canvas and back.

import { pixelRatio } from "./pen.js";

/**
 * From where a map is looked at. Python keeps it in the link.
 * @typedef {object} Place
 * @property {number} x the point of the map that stands in the middle, for charts that can move it there
 * @property {number} y
 * @property {number} zoom 1 shows the whole map
 * @property {number} panX how far the map is moved to the right, in units of the square
 * @property {number} panY how far it is moved up
 */

/** @type {Readonly<Place>} */
export const WHOLE = { x: 0, y: 0, zoom: 1, panX: 0, panY: 0 };

export class Viewport {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.margin = 1; // the square's half side as a share of half the canvas; the chart sets this and the next
    this.room = 0; // CSS pixels around that, for axes
    /** @type {Place} */
    this.place = { ...WHOLE };
  }

  /** Half the side of the square in pixels of the canvas when the whole of it is seen. */
  get inner() {
    return Math.max(1, (this.canvas.width / 2) * this.margin - this.room * pixelRatio());
  }

  /** Pixels of the canvas for one unit of the square. */
  get scale() {
    return this.inner * this.place.zoom;
  }

  /**
   * @param {number} u
   * @param {number} v
   * @returns {[number, number]}
   */
  toScreen(u, v) {
    const { width, height } = this.canvas, { panX, panY } = this.place;
    return [width / 2 + (u + panX) * this.scale, height / 2 - (v + panY) * this.scale];
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  fromScreen(x, y) {
    const { width, height } = this.canvas, { panX, panY } = this.place;
    return [(x - width / 2) / this.scale - panX, (height / 2 - y) / this.scale - panY];
  }

  /**
   * Where a pointer is on the canvas.
   * @param {number} clientX
   * @param {number} clientY
   * @returns {[number, number]}
   */
  fromClient(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect(), ratio = this.canvas.width / box.width;
    return [(clientX - box.left) * ratio, (clientY - box.top) * ratio];
  }

  /** `inner` in CSS pixels. */
  get half() {
    return (this.canvas.getBoundingClientRect().width * this.inner) / this.canvas.width;
  }
}
