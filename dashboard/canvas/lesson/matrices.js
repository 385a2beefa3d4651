// The disk as 2 × 2 matrices of determinant one: each point is an ellipse of the same area.

import { distance, ellipseOf, matrixDistance, toMatrix } from "./geometry.js";
import { sway } from "./stage.js";

/** @import { Stage } from "./stage.js" */

const COLOUR = "#0072B2";

export class Matrices {
  #seconds = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.map = stage.map("The Poincaré disk with a point to drag; small ellipses show which matrix each place stands for");
    this.panel = stage.panel("The ellipse of the matrix that the point stands for");
    this.point = stage.handle(this.map, "Point", [0.4, 0.3]);
  }

  /** Outwards and inwards while it goes round. @param {number} seconds */
  play(seconds) {
    this.#seconds += seconds;
    const reach = 0.1 + 0.75 * sway(this.#seconds, 8), angle = 0.5 * this.#seconds;
    this.point.at = [reach * Math.cos(angle), reach * Math.sin(angle)];
    this.point.describe();
  }

  draw() {
    const { map, panel, stage } = this, at = this.point.at, { a, b, c } = toMatrix(at);
    map.drawGround();
    this.#drawField();
    map.line([[0, 0], at], { colour: COLOUR, width: 3 });
    map.dot([0, 0], { size: 4 });
    map.dot(at, { colour: COLOUR, size: 9 });
    this.#drawEllipse(panel.width / 2, panel.height * 0.38);
    this.#drawMatrix([a, b, b, c], panel.width / 2, panel.height * 0.84);
    const d = distance([0, 0], at), other = matrixDistance({ a: 1, b: 0, c: 1 }, { a, b, c });
    stage.box.dataset.stretch = String(ellipseOf(at).rx);
    stage.say(
      `det P = ${(a * c - b * b).toFixed(3)} · on the disk d(0, z) = ${d.toFixed(3)} · ` +
        `of matrices d(1, P) = ${other.toFixed(3)} = √2 · ${d.toFixed(3)}`,
    );
  }

  /**
   * The ellipse, and dashed the circle that the middle of the disk stands for.
   * @param {number} x
   * @param {number} y
   */
  #drawEllipse(x, y) {
    const { g, width, colours } = this.panel, { rx, ry, angle } = ellipseOf(this.point.at);
    const unit = Math.min(width / 9, (0.48 * width) / rx); // one that is very long is drawn smaller
    g.beginPath();
    g.arc(x, y, unit, 0, 2 * Math.PI);
    g.setLineDash([4, 4]);
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5;
    g.stroke();
    g.setLineDash([]);
    g.beginPath();
    g.ellipse(x, y, rx * unit, ry * unit, -angle, 0, 2 * Math.PI);
    g.globalAlpha = 0.2;
    g.fillStyle = COLOUR;
    g.fill();
    g.globalAlpha = 1;
    g.strokeStyle = COLOUR;
    g.lineWidth = 3;
    g.stroke();
  }

  /**
   * @param {number[]} entries row by row
   * @param {number} x
   * @param {number} y
   */
  #drawMatrix(entries, x, y) {
    const { panel } = this, { g, colours } = panel;
    panel.write("P =", x - 66, y, { align: "right" });
    entries.forEach((entry, i) => {
      panel.write(entry.toFixed(2), x + (i % 2 ? 62 : 0), y + (i < 2 ? -12 : 12), { align: "right" });
    });
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5;
    for (const [side, inwards] of [[x - 56, 5], [x + 72, -5]]) {
      g.beginPath();
      g.moveTo(side + inwards, y - 24);
      g.lineTo(side, y - 24);
      g.lineTo(side, y + 24);
      g.lineTo(side + inwards, y + 24);
      g.stroke();
    }
  }

  /** A few places, each with its ellipse, scaled to the same length. */
  #drawField() {
    const { map } = this, { g } = map, size = map.board.canvas.width / 55;
    g.strokeStyle = map.colours.text;
    g.lineWidth = size / 9;
    g.globalAlpha = 0.35;
    for (const reach of [0.3, 0.58, 0.84]) {
      const count = Math.round(18 * reach);
      for (let i = 0; i < count; i++) {
        const turn = (2 * Math.PI * i) / count, place = /** @type {const} */ ([reach * Math.cos(turn), reach * Math.sin(turn)]);
        const { rx, ry, angle } = ellipseOf([...place]);
        g.beginPath();
        g.ellipse(...map.chart.toScreen(...place), size, (size * ry) / rx, -angle, 0, 2 * Math.PI);
        g.stroke();
      }
    }
    g.globalAlpha = 1;
  }
}
