// Short ways to draw on a canvas. Widths, dashes and sizes are in CSS pixels, places in pixels of the canvas.

/** @import { Look } from "./screen.js" */

/** How many pixels of the screen one CSS pixel covers. */
export const pixelRatio = () => window.devicePixelRatio || 1;

let scale = 1;

/** How much larger than usual text and marks are. */
export const typeScale = () => scale;

/** @param {number} factor 1 is the usual size */
export function setTypeScale(factor) {
  scale = factor;
}

/**
 * What can be drawn on this canvas with.
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function pen(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {number} size
 */
export function setFont(g, colours, size, weight = 400) {
  g.font = `${weight} ${size * scale * pixelRatio()}px ${colours.family}`;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {string} colour
 * @param {number[]} dash
 * @param {number} width
 */
export function setStroke(g, colour, dash, width) {
  const ratio = pixelRatio();
  g.strokeStyle = colour;
  g.lineWidth = width * ratio;
  g.setLineDash(dash.map((length) => length * ratio));
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} fromX
 * @param {number} fromY
 * @param {number} toX
 * @param {number} toY
 */
export function drawLine(g, fromX, fromY, toX, toY) {
  g.beginPath();
  g.moveTo(fromX, fromY);
  g.lineTo(toX, toY);
  g.stroke();
}
