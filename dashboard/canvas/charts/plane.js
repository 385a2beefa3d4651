// A flat map with axes: (x, y) of a rectangle, for spaces whose map Python computes. Balls come as ellipses.

import { pixelRatio } from "../pen.js";
import { WHOLE } from "../viewport.js";

/**
 * @import { Chart } from "./chart.js"
 * @import { Look } from "../screen.js"
 * @import { Viewport } from "../viewport.js"
 */

/**
 * @typedef {object} Axes
 * @property {[number, number, number, number]} extent the least x and y, and the largest x and y, of the map
 * @property {[string, string]} axes the names of x and y
 * @property {string} [id] of the map, where the space has several
 * @property {string} [title] of the map
 */

const MOST_TICKS = 6; // along an axis
const ROOM = 38; // CSS pixels around the map, for axes, and above it for buttons

/** @implements {Chart} */
export class Plane {
  shape = /** @type {const} */ ("square");
  distance = null;

  /**
   * @param {Viewport} viewport
   * @param {Axes} about
   */
  constructor(viewport, { extent: [left, bottom, right, top], axes, id = "", title = "Map" }) {
    this.viewport = viewport;
    this.id = id;
    this.words = { title, noun: "map", balls: "σ-balls", grid: "grid", origin: "middle", at: "on the map at" };
    this.edges = { left, bottom, right, top };
    this.axes = axes;
    /** @type {[number, number]} */
    this.origin = [(left + right) / 2, (bottom + top) / 2];
    this.unit = Math.max(right - left, top - bottom) / 2; // the same for both axes: angles are as they are
    this.digits = Math.max(0, Math.ceil(3 - Math.log10(this.unit)));
    viewport.margin = 1;
    viewport.room = ROOM;
  }

  /** @type {Chart["toScreen"]} */
  toScreen(x, y) {
    return this.viewport.toScreen((x - this.origin[0]) / this.unit, (y - this.origin[1]) / this.unit);
  }

  /** @type {Chart["fromScreen"]} */
  fromScreen(x, y) {
    const [u, v] = this.viewport.fromScreen(x, y);
    return this.withinReach(this.origin[0] + u * this.unit, this.origin[1] + v * this.unit);
  }

  /** @type {Chart["withinReach"]} */
  withinReach(x, y) {
    const { left, right, bottom, top } = this.edges;
    return [clamped(x, left, right), clamped(y, bottom, top)];
  }

  /** The middle of the screen stays on the map. @type {Chart["keptInSight"]} */
  keptInSight({ panX, panY }) {
    return [clamped(panX, -1, 1), clamped(panY, -1, 1)];
  }

  /** @type {NonNullable<Chart["wayTo"]>} */
  wayTo(x, y) {
    const { panX, panY } = this.viewport.place;
    const endX = (this.origin[0] - x) / this.unit, endY = (this.origin[1] - y) / this.unit;
    return (share) => ({
      x: WHOLE.x, y: WHOLE.y, panX: panX + share * (endX - panX), panY: panY + share * (endY - panY),
    });
  }

  /** While its mean is dragged, the ellipse goes along; Python sends the exact one after the drop. @type {Chart["traceBall"]} */
  traceBall(g, { ellipse }) {
    g.beginPath();
    if (!ellipse) return;
    const [x, y] = this.toScreen(ellipse[0], ellipse[1]), size = this.viewport.scale / this.unit;
    g.ellipse(x, y, size * ellipse[2], size * ellipse[3], -ellipse[4], 0, 2 * Math.PI); // y goes down there
  }

  /** @type {Chart["drawBackground"]} */
  drawBackground(g, colours) {
    const { x, y, width, height } = this.window;
    g.fillStyle = colours.faint;
    g.globalAlpha = 0.55;
    g.fillRect(x, y, width, height);
    g.globalAlpha = 1;
  }

  /** With ticks around it. @type {Chart["drawFrame"]} */
  drawFrame(g, colours) {
    const { x, y, width, height } = this.window, ratio = pixelRatio();
    g.strokeStyle = g.fillStyle = colours.text;
    g.globalAlpha = 0.7;
    g.lineWidth = 1.5 * ratio;
    g.strokeRect(x, y, width, height);
    g.globalAlpha = 0.85;
    g.font = `${12 * ratio}px ${colours.family}`;
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const [value, at] of this.#ticks(0)) g.fillText(value, at, y + height + 5 * ratio);
    g.fillText(this.axes[0], x + width / 2, y + height + 20 * ratio);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [value, at] of this.#ticks(1)) g.fillText(value, x - 5 * ratio, at);
    g.textBaseline = "bottom";
    g.fillText(this.axes[1], x + width, y - 5 * ratio); // on the left there are buttons
    g.globalAlpha = 1;
  }

  /** @type {NonNullable<Chart["drawGrid"]>} */
  drawGrid(g, colours) {
    const { x, y, width, height } = this.window;
    g.save();
    g.strokeStyle = colours.text;
    g.globalAlpha = 0.22;
    g.lineWidth = pixelRatio();
    g.beginPath();
    for (const [, at] of this.#ticks(0)) {
      g.moveTo(at, y);
      g.lineTo(at, y + height);
    }
    for (const [, at] of this.#ticks(1)) {
      g.moveTo(x, at);
      g.lineTo(x + width, at);
    }
    g.stroke();
    g.restore();
  }

  /** It stays when the map is moved. */
  get window() {
    const { canvas, inner: half } = this.viewport;
    const { left, right, bottom, top } = this.edges;
    const width = (half * (right - left)) / this.unit, height = (half * (top - bottom)) / this.unit;
    return { x: (canvas.width - width) / 2, y: (canvas.height - height) / 2, width, height };
  }

  /**
   * Round numbers within the window along an axis, and where they are on the screen.
   * @param {0 | 1} axis
   * @returns {[string, number][]}
   */
  #ticks(axis) {
    const { x, y, width, height } = this.window;
    const [u0, v0] = this.viewport.fromScreen(x, y + height), [u1, v1] = this.viewport.fromScreen(x + width, y);
    const [low, high] = (axis === 0 ? [u0, u1] : [v0, v1]).map((w) => this.origin[axis] + w * this.unit);
    return roundNumbers(low, high).map(([text, value]) => {
      return [text, axis === 0 ? this.toScreen(value, 0)[0] : this.toScreen(0, value)[1]];
    });
  }
}

/**
 * At most `MOST_TICKS` + 1 numbers from low to high in steps of 1, 2 or 5 times a power of ten.
 * @param {number} low
 * @param {number} high
 * @returns {[string, number][]} each as text and as a number
 */
export function roundNumbers(low, high) {
  const least = (high - low) / MOST_TICKS, power = Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * 10 ** power >= least) ?? 10;
  const step = factor * 10 ** power, digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = (first + i) * step;
    return [value.toFixed(digits).replace("-", "−"), value];
  });
}

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
function clamped(value, least, most) {
  return Math.min(most, Math.max(least, value));
}
