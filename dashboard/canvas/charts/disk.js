// The Poincaré disk: points are (x, y) of the open unit disk, curvature −1. All of it is exact.

import { pixelRatio, setFont, typeScale } from "../pen.js";

/**
 * @import { Chart } from "./chart.js"
 * @import { Look } from "../screen.js"
 * @import { Viewport } from "../viewport.js"
 */

const ON_ELLIPSE = 96; // points of an outline
const OUTERMOST = 0.999999; // as far out as a place on the screen is taken for one of the disk

/** @implements {Chart} */
export class Disk {
  words = { title: "Poincaré disk", noun: "disk", balls: "σ-circles", grid: "geodesic grid", origin: "origin", at: "=" };
  id = "";
  shape = /** @type {const} */ ("round");
  digits = 3;
  origin = /** @type {const} */ ([0, 0]);

  /**
   * @param {Viewport} viewport
   * @param {{ reach: number }} about how far from the centre a mean may be dragged
   */
  constructor(viewport, { reach }) {
    this.viewport = viewport;
    this.reach = reach;
    viewport.margin = 0.965;
    viewport.room = 0;
  }

  get window() {
    const { width, height } = this.viewport.canvas;
    return { x: 0, y: 0, width, height };
  }

  /** @type {Chart["toScreen"]} */
  toScreen(x, y) {
    const { viewport } = this;
    const [u, v] = recentred(x, y, viewport.place.x, viewport.place.y);
    return viewport.toScreen(u, v);
  }

  /** @type {Chart["fromScreen"]} */
  fromScreen(x, y) {
    const { place } = this.viewport;
    const [u, v] = keptInside(...this.viewport.fromScreen(x, y), OUTERMOST);
    return recentred(u, v, -place.x, -place.y);
  }

  /** @type {Chart["withinReach"]} */
  withinReach(x, y) {
    return keptInside(x, y, this.reach);
  }

  /** @type {Chart["keptInSight"]} */
  keptInSight({ zoom, panX, panY }) {
    return keptInside(panX, panY, 1 - 1 / zoom);
  }

  /** Along the geodesic: the isometry that moves the view goes with it. @type {NonNullable<Chart["wayTo"]>} */
  wayTo(x, y) {
    const { x: fromX, y: fromY } = this.viewport.place;
    const [u, v] = recentred(x, y, fromX, fromY); // from the middle geodesics are straight
    const length = Math.hypot(u, v);
    return (share) => {
      if (share === 1) return { x, y, panX: 0, panY: 0 };
      const reach = length ? Math.tanh(share * Math.atanh(length)) / length : 0;
      const [vx, vy] = recentred(u * reach, v * reach, -fromX, -fromY);
      return { x: vx, y: vy, panX: 0, panY: 0 };
    };
  }

  /** @type {NonNullable<Chart["distance"]>} */
  distance(x, y, u, v) {
    return 2 * Math.atanh(Math.min(Math.hypot(...recentred(u, v, x, y)), 1 - Number.EPSILON));
  }

  /** @type {Chart["traceBall"]} */
  traceBall(g, { x, y, sigma, ellipse }) {
    if (ellipse) return this.#traceEllipse(g, x, y, ellipse);
    const { viewport } = this;
    const [u, v] = recentred(x, y, viewport.place.x, viewport.place.y);
    this.#traceCircle(g, geodesicCircle(u, v, sigma));
  }

  /** @type {Chart["drawBackground"]} */
  drawBackground(g, colours) {
    this.#traceCircle(g, { x: 0, y: 0, r: 1 });
    g.fillStyle = colours.faint;
    g.globalAlpha = 0.55;
    g.fill();
    g.globalAlpha = 1;
  }

  /** The rim, infinitely far away. @type {Chart["drawFrame"]} */
  drawFrame(g, colours) {
    this.#traceCircle(g, { x: 0, y: 0, r: 1 });
    g.strokeStyle = colours.text;
    g.globalAlpha = 0.7;
    g.lineWidth = 1.5 * pixelRatio();
    g.stroke();
    g.globalAlpha = 1;
  }

  /** Geodesics through the origin and the circles at distance 1, 2, 3, … from it, with their distance. @type {NonNullable<Chart["drawGrid"]>} */
  drawGrid(g, colours) {
    const { place } = this.viewport;
    g.save();
    g.strokeStyle = colours.text;
    g.globalAlpha = 0.22;
    g.lineWidth = pixelRatio();
    const centre = recentred(0, 0, place.x, place.y);
    for (let distance = 1; distance <= 6; distance++) {
      this.#traceCircle(g, geodesicCircle(...centre, distance));
      g.stroke();
    }
    this.#nameRings(g, colours);
    for (let spoke = 0; spoke < 6; spoke++) {
      const angle = (Math.PI * spoke) / 6;
      g.beginPath();
      for (let step = -60; step <= 60; step++) {
        const reach = Math.tanh(step / 15);
        g.lineTo(...this.toScreen(reach * Math.cos(angle), reach * Math.sin(angle)));
      }
      g.stroke();
    }
    g.restore();
  }

  /**
   * How far each ring is from the origin, written on it where there is room.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   */
  #nameRings(g, colours) {
    g.save();
    g.globalAlpha = 0.85;
    g.fillStyle = colours.text;
    g.textAlign = "center";
    g.textBaseline = "middle";
    setFont(g, colours, 11);
    let [lastX, lastY] = [Infinity, Infinity];
    for (let distance = 1; distance <= 6; distance++) {
      const reach = Math.tanh(distance / 2), angle = (-Math.PI * 5) / 12; // between two spokes
      const [x, y] = this.toScreen(reach * Math.cos(angle), reach * Math.sin(angle));
      if (Math.hypot(x - lastX, y - lastY) < 26 * pixelRatio() * typeScale()) continue;
      [lastX, lastY] = [x, y];
      const name = distance === 1 ? "d = 1" : String(distance);
      g.lineWidth = 4 * pixelRatio();
      g.strokeStyle = colours.faint;
      g.strokeText(name, x, y);
      g.fillText(name, x, y);
    }
    g.restore();
  }

  /**
   * The ends of geodesics from a mean, whose directions and lengths are an ellipse of its tangent space.
   * @param {CanvasRenderingContext2D} g
   * @param {number} x
   * @param {number} y
   * @param {ArrayLike<number>} ellipse see `Ball`
   */
  #traceEllipse(g, x, y, ellipse) {
    const [, , rx, ry, angle] = Array.from(ellipse), cosine = Math.cos(angle), sine = Math.sin(angle);
    g.beginPath();
    for (let step = 0; step < ON_ELLIPSE; step++) {
      const turn = (2 * Math.PI * step) / ON_ELLIPSE, along = rx * Math.cos(turn), across = ry * Math.sin(turn);
      const length = Math.hypot(along, across), reach = length ? Math.tanh(length / 2) / length : 0;
      const u = reach * (cosine * along - sine * across), v = reach * (sine * along + cosine * across);
      g.lineTo(...this.toScreen(...recentred(u, v, -x, -y)));
    }
    g.closePath();
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {{ x: number, y: number, r: number }} circle as the viewport has it
   */
  #traceCircle(g, { x, y, r }) {
    const [cx, cy] = this.viewport.toScreen(x, y);
    g.beginPath();
    g.arc(cx, cy, r * this.viewport.scale, 0, 2 * Math.PI);
  }
}

/**
 * The isometry that brings `a` to the centre: z ↦ (z − a) / (1 − ā z).
 * @param {number} x
 * @param {number} y
 * @param {number} ax
 * @param {number} ay
 * @returns {[number, number]}
 */
export function recentred(x, y, ax, ay) {
  const nx = x - ax, ny = y - ay;
  const dx = 1 - (ax * x + ay * y), dy = ay * x - ax * y;
  const size = dx * dx + dy * dy;
  return [(nx * dx + ny * dy) / size, (ny * dx - nx * dy) / size];
}

/**
 * The Euclidean circle that is the geodesic circle of this radius around (x, y).
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @returns {{ x: number, y: number, r: number }}
 */
export function geodesicCircle(x, y, radius) {
  const t = Math.tanh(radius / 2), square = x * x + y * y;
  const shrink = 1 - t * t * square;
  const r = Math.max(0, (t * (1 - square)) / shrink); // a point at the rim may be rounded to beyond it
  return { x: (x * (1 - t * t)) / shrink, y: (y * (1 - t * t)) / shrink, r };
}

/**
 * The point itself, or the nearest one of length `most` on its ray.
 * @param {number} x
 * @param {number} y
 * @param {number} most
 * @returns {[number, number]}
 */
export function keptInside(x, y, most) {
  const length = Math.hypot(x, y);
  return length <= most ? [x, y] : [(x * most) / length, (y * most) / length];
}
