// Lines across a panel of curves, with what they stand for at the left.

import { drawLine, pixelRatio, setFont, setStroke } from "./pen.js";

/**
 * @import { Panel } from "./scales.js"
 * @import { Look } from "./screen.js"
 */

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Panel} panel
 * @param {[number, string][]} ticks heights, and what they are called
 * @param {number} size of the letters
 */
export function drawTicks(g, colours, panel, ticks, size) {
  const ratio = pixelRatio();
  setFont(g, colours, size);
  g.fillStyle = colours.text;
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const [y, name] of ticks) {
    g.globalAlpha = 0.2;
    setStroke(g, colours.text, [], 1);
    drawLine(g, panel.left, y, panel.right, y);
    g.globalAlpha = 0.85;
    g.fillText(name, panel.left - 5 * ratio, y);
  }
  g.globalAlpha = 1;
}
