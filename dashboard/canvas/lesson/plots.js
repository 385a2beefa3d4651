// Curves and bars on a panel of the lesson.

import { colourOf } from "../marks.js";

/** @import { Board } from "./board.js" */

/** Where a plot stands on a panel, and what its axes reach. @typedef {{ left: number, right: number, top: number, bottom: number, xMost: number, yMost: number, xLeast?: number }} Axes */

/**
 * @param {Board} board
 * @param {Axes} axes
 * @param {string} title
 * @param {string} xName
 */
export function drawAxes(board, { left, right, top, bottom, xMost, xLeast = 0 }, title, xName) {
  const { g, colours } = board;
  g.strokeStyle = colours.text;
  g.globalAlpha = 0.5;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(left, top);
  g.lineTo(left, bottom);
  g.lineTo(right, bottom);
  g.stroke();
  g.globalAlpha = 1;
  board.write(title, left, top - 12, { size: 14, weight: 600 });
  board.write(short(xLeast), left, bottom + 12, { size: 13, align: "center" });
  board.write(short(xMost), right, bottom + 12, { size: 13, align: "right" });
  board.write(xName, (left + right) / 2, bottom + 12, { size: 13, align: "center" });
}

/** @param {number} value */
const short = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 2 });

/**
 * @param {Board} board
 * @param {Axes} axes
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {{ colour: string, width?: number, dash?: number[], fill?: number }} style
 */
export function drawCurve(board, axes, x, y, { colour, width = 2.5, dash = [], fill = 0 }) {
  const { g } = board;
  g.save();
  g.beginPath();
  g.rect(axes.left, axes.top - 2, axes.right - axes.left, axes.bottom - axes.top + 4);
  g.clip();
  g.beginPath();
  for (let i = 0; i < x.length; i++) g.lineTo(...onPlot(axes, x[i], y[i]));
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.setLineDash(dash);
  g.stroke();
  if (fill) {
    g.lineTo(...onPlot(axes, x[x.length - 1], 0));
    g.lineTo(...onPlot(axes, x[0], 0));
    g.globalAlpha = fill;
    g.fillStyle = colour;
    g.fill();
  }
  g.restore();
}

/**
 * @param {Axes} axes
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]}
 */
export function onPlot({ left, right, top, bottom, xMost, yMost, xLeast = 0 }, x, y) {
  return [left + ((right - left) * (x - xLeast)) / (xMost - xLeast), bottom - ((bottom - top) * y) / yMost];
}

/**
 * One bar for each state, with its number.
 * @param {Board} board
 * @param {string} title
 * @param {ArrayLike<number>} values
 * @param {number} top
 * @param {{ most?: number, chosen?: number, room?: number }} [style] the value for a bar of full length, the bar
 *   whose number is written in bold, and how high all of it may be
 */
export function drawBars(board, title, values, top, { most = 1, chosen = -1, room: high = 90 } = {}) {
  const { g } = board, left = 30, room = Math.max(30, board.width - left - 62);
  const step = Math.min(20, (high - 26) / values.length), height = 0.75 * step;
  board.write(title, 2, top + 8, { size: 14, weight: 600 });
  for (let i = 0; i < values.length; i++) {
    const y = top + 20 + i * step;
    board.write(String(i + 1), 12, y + height / 2, { size: 14, align: "center" });
    g.fillStyle = colourOf(i);
    g.globalAlpha = 0.18;
    g.fillRect(left, y, room, height);
    g.globalAlpha = 1;
    g.fillRect(left, y, room * Math.min(1, Math.max(0, values[i] / most)), height);
    const weight = i === chosen ? 700 : 400;
    board.write(values[i].toFixed(3), left + room + 6, y + height / 2, { size: 14, weight });
  }
}

/**
 * Stacked shares of the states over time, the newest on the right.
 * @param {Board} board
 * @param {string} title
 * @param {ArrayLike<number>} shares (W, N)
 * @param {number} n states
 * @param {{ first: number, count: number, at: number, top: number, height: number }} place which times, and where
 */
export function drawStrip(board, title, shares, n, { first, count, at, top, height }) {
  const { g, colours } = board, width = board.width / count;
  board.write(title, 2, top + 8, { size: 14, weight: 600 });
  for (let c = 0; c < count; c++) {
    let total = 0, below = 0;
    for (let i = 0; i < n; i++) total += shares[(first + c) * n + i];
    for (let i = 0; i < n; i++) {
      const part = (height * shares[(first + c) * n + i]) / total;
      g.fillStyle = colourOf(i);
      g.fillRect(c * width, top + 20 + below, Math.max(1, width - 0.6), part);
      below += part;
    }
  }
  g.strokeStyle = colours.text;
  g.lineWidth = 2;
  g.strokeRect((at - first) * width, top + 19, width, height + 2);
}
