// Where numbers stand on a panel of curves. All of it is arithmetic.

import { roundNumbers } from "./charts/plane.js";

/** A panel's edges in pixels. @typedef {{ left: number, right: number, top: number, bottom: number }} Panel */

/** The lowest and the highest power of ten on a scale. @typedef {[number, number]} Decades */

const LEAST_ERROR = 1e-9; // below this an error counts as none
const FEW = 0.05; // the share of the values that may stand below a linear scale

/**
 * Across the panel, 0 at its left edge and `length` at its right one.
 * @param {Panel} panel
 * @param {number} step
 * @param {number} length
 */
export function xOfStep(panel, step, length) {
  return panel.left + ((panel.right - panel.left) * step) / length;
}

/**
 * The inverse of `xOfStep`, to the next whole step.
 * @param {Panel} panel
 * @param {number} x
 * @param {number} length
 */
export function stepAtX(panel, x, length) {
  return Math.round(((x - panel.left) / (panel.right - panel.left)) * length);
}

/**
 * @param {Panel} panel
 * @param {number} share from 0 at the bottom to 1 at the top; what is beyond stays at the edge
 */
function yOfShare(panel, share) {
  return panel.bottom - (panel.bottom - panel.top) * Math.min(1, Math.max(0, share));
}

/**
 * @param {Panel} panel
 * @param {number} value
 */
export function yOfProbability(panel, value) {
  return yOfShare(panel, value);
}

/**
 * @param {Panel} panel
 * @param {number} value
 * @param {Decades} decades
 */
export function yOfError(panel, value, [low, high]) {
  return yOfShare(panel, (Math.log10(Math.max(value, LEAST_ERROR)) - low) / (high - low));
}

/**
 * Decades that are wide enough for all of these errors, and at least one.
 * @param {Iterable<number>} errors
 * @returns {Decades}
 */
export function errorDecades(errors) {
  let least = Infinity, most = 0;
  for (const value of errors) {
    if (value > LEAST_ERROR) least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (!(most > 0)) return [-3, 0];
  const low = Math.floor(Math.log10(least) + 0.15), high = Math.ceil(Math.log10(most) - 0.15);
  return [low, Math.max(high, low + 1)];
}

/**
 * Each decade as a number and as text.
 * @param {Decades} decades
 * @returns {[number, string][]}
 */
export function decadeTicks([low, high]) {
  return Array.from({ length: high - low + 1 }, (_, i) => {
    const value = 10 ** (low + i);
    return [value, value >= 1 ? String(value) : value.toFixed(-low - i)];
  });
}

/**
 * How one measure stands on a panel: the height of a value, and the values that are written beside it.
 * @typedef {{ y: (panel: Panel, value: number) => number, ticks: [number, string][] }} Scale
 */

/**
 * For errors, which are compared by their ratios.
 * @param {Iterable<number>} errors
 * @returns {Scale}
 */
export function decadeScale(errors) {
  const decades = errorDecades(errors);
  return { y: (panel, value) => yOfError(panel, value, decades), ticks: decadeTicks(decades) };
}

/**
 * For values of any sign. Single low ones, as at a start, do not press all others together: they stay at the edge.
 * @param {Iterable<number>} values
 * @returns {Scale}
 */
export function linearScale(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  const least = sorted[Math.floor(FEW * sorted.length)] ?? 0, most = sorted.at(-1) ?? 1;
  const room = 0.08 * (most - least) || 0.5, low = least - room, high = most + room;
  const ticks = roundNumbers(low, high).map(([text, value]) => /** @type {[number, string]} */ ([value, text]));
  return { y: (panel, value) => yOfShare(panel, (value - low) / (high - low)), ticks };
}

/**
 * The last row at or before this many observations; -1 if there is none.
 * @param {ArrayLike<number>} steps of the rows, rising
 * @param {number} step
 */
export function rowAt(steps, step) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
