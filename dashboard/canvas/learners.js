// How the online learners are told apart: by their lines and by whether their marks are filled.

import { rowAt } from "./scales.js";

/** @import { Path } from "./protocol.js" */

/** @typedef {{ dash: number[], width: number, filled: boolean }} Style */

/** Of the first learner, the second and so on. @type {Style[]} */
const STYLES = [
  { dash: [], width: 2.4, filled: true },
  { dash: [7, 4], width: 1.9, filled: false },
  { dash: [2, 3], width: 1.9, filled: false },
];

/** @param {number} index of the learner in its run */
export const styleOf = (index) => STYLES[Math.min(index, STYLES.length - 1)];

/** Where a path is at a moment: on the way from a row to the next. @typedef {{ row: number, next: number, share: number }} Between */

/**
 * @param {Path} path
 * @param {number} k
 * @returns {Between | null} null before its first row
 */
export function between({ steps }, k) {
  const row = rowAt(steps, k), next = Math.min(row + 1, steps.length - 1);
  if (row < 0) return null;
  return { row, next, share: next > row ? (k - steps[row]) / (steps[next] - steps[row]) : 0 };
}

/**
 * Numbers of state i of n at such a moment.
 * @param {Float32Array} rows
 * @param {Between} at
 * @param {number} n
 * @param {number} i
 * @param {number} width how many numbers a state has
 * @returns {number[]}
 */
export function blended(rows, { row, next, share }, n, i, width) {
  return Array.from({ length: width }, (_, j) => {
    const before = rows[(row * n + i) * width + j], after = rows[(next * n + i) * width + j];
    const isAngle = width > 2 && j === width - 1; // of an ellipse, which looks the same after half a turn
    return before + share * (isAngle ? shortestTurn(after - before) : after - before);
  });
}

/** The same turn of an ellipse by at most a quarter. @param {number} angle */
const shortestTurn = (angle) => angle - Math.PI * Math.round(angle / Math.PI);
