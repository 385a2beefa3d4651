// What every panel of the rolling curves has: a title, ticks, the observations below it.

import { drawTicks } from "../axes.js";
import { pixelRatio, setFont, typeScale } from "../pen.js";
import { grouped } from "../words.js";

/**
 * @import { Panel } from "../scales.js"
 * @import { Look } from "../screen.js"
 */

/** Between two ticks of densities that differ by so much. @param {number} range */
export function stepOf(range) {
  return [1, 2, 5, 10, 20, 50, 100].find((step) => range / step <= 5) ?? 200;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Panel} panel
 * @param {() => void} draw
 */
export function inPanel(g, { left, right, top, bottom }, draw) {
  g.save();
  g.beginPath();
  g.rect(left, top - 2, right - left, bottom - top + 4);
  g.clip();
  draw();
  g.restore();
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Panel} panel
 * @param {string} title
 * @param {[number, string][]} ticks heights, and what they are called
 * @param {number} size of their letters
 */
export function drawGrid(g, colours, panel, title, ticks, size) {
  const ratio = pixelRatio() * typeScale();
  g.fillStyle = colours.text;
  g.textAlign = "left";
  g.textBaseline = "alphabetic";
  setFont(g, colours, 13, 600);
  g.fillText(title, panel.left - 30 * ratio, panel.top - 11 * ratio, panel.right - panel.left + 30 * ratio);
  drawTicks(g, colours, panel, ticks, size);
}

/**
 * The first and the last observation below a panel.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Panel} panel
 * @param {number} from
 * @param {number} span
 */
export function drawSteps(g, colours, panel, from, span) {
  const ratio = pixelRatio() * typeScale(), y = panel.bottom + 5 * ratio;
  setFont(g, colours, 11.5);
  g.globalAlpha = 0.85;
  g.fillStyle = colours.text;
  g.textBaseline = "top";
  g.textAlign = "left";
  g.fillText(`k = ${grouped(Math.round(from))}`, panel.left, y);
  g.textAlign = "right";
  g.fillText(grouped(Math.round(from + span)), panel.right, y);
  g.globalAlpha = 1;
}
