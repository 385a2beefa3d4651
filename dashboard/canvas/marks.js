// How a state looks: its colour and its shape, the same on every canvas and in every figure.

import { pen, pixelRatio } from "./pen.js";
import { MARKS } from "./shared.js";

/** @import { Look } from "./screen.js" */

/** @param {number} state */
export const colourOf = (state) => MARKS[state].colour;

/**
 * The outline of the shape of a state, around (x, y); `size` is the radius of the circle.
 * @param {CanvasRenderingContext2D} g
 * @param {number} state
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export function traceMark(g, state, x, y, size) {
  g.beginPath();
  if (MARKS[state].corners === 0) {
    g.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  for (const corner of cornersOf(state, x, y, size)) g.lineTo(...corner);
  g.closePath();
}

/**
 * The corners of the shape of a state; a circle has none.
 * @param {number} state
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {[number, number][]}
 */
export function cornersOf(state, x, y, size) {
  const { corners, turn, outer, inner } = MARKS[state];
  const count = inner === null ? corners : 2 * corners; // a star has a corner inside after each one outside
  return Array.from({ length: count }, (_, i) => {
    const angle = (turn * Math.PI) / 2 + (2 * Math.PI * i) / count;
    const radius = size * (inner !== null && i % 2 ? inner : outer);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/**
 * The mark, filled, with a rim in the background's colour that sets it off.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {number} state
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} rim its width in CSS pixels
 */
export function drawMark(g, colours, state, x, y, size, rim) {
  traceMark(g, state, x, y, size);
  g.lineWidth = rim * pixelRatio();
  g.strokeStyle = colours.back;
  g.stroke();
  g.fillStyle = colourOf(state);
  g.fill();
}

/**
 * The mark in outline, filled with the background's colour.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {number} state
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export function drawHollowMark(g, colours, state, x, y, size) {
  traceMark(g, state, x, y, size);
  g.fillStyle = colours.back;
  g.fill();
  g.lineWidth = 2.2 * pixelRatio();
  g.strokeStyle = colourOf(state);
  g.stroke();
}

/** Those that were used last. @type {Map<string, HTMLCanvasElement>} */
const stamps = new Map();
const MOST_STAMPS = 64;

/**
 * A small picture of the mark: stamping it is many times quicker than drawing its outline.
 * @param {number} state
 * @param {string} colour
 * @param {number} size
 * @param {number} opacity
 */
export function markStamp(state, colour, size, opacity) {
  const key = `${state} ${colour} ${size} ${opacity}`, known = stamps.get(key);
  if (known) return known;
  if (stamps.size >= MOST_STAMPS) stamps.clear();
  const stamp = document.createElement("canvas");
  stamps.set(key, stamp);
  stamp.width = stamp.height = Math.ceil(2.8 * size) + 2;
  const g = pen(stamp), middle = stamp.width / 2;
  g.globalAlpha = opacity;
  g.fillStyle = colour;
  traceMark(g, state, middle, middle, size);
  g.fill();
  return stamp;
}

/**
 * The outline of an ellipse that stands for a point, for example for a 2 × 2 matrix.
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} y
 * @param {number} size of the mark in whose place it is drawn
 * @param {ArrayLike<number>} glyph rx and ry as multiples of `size`, and the angle counter-clockwise
 */
export function traceGlyph(g, x, y, size, glyph) {
  g.beginPath();
  g.ellipse(x, y, size * glyph[0], size * glyph[1], -glyph[2], 0, 2 * Math.PI); // y goes down on the screen
}
