// The Riemannian Gaussian: samples, the density along a ray, Z(σ), and δ(σ) beside the flat plane's 2σ².

import { drawAxes, drawCurve, onPlot } from "./plots.js";
import { sway } from "./stage.js";

/** @import { Stage } from "./stage.js" */

/**
 * Tables from the engine, a row for each of S values of σ.
 * @typedef {object} Tables
 * @property {Float32Array} sigmas (S,)
 * @property {Float32Array} z (S,)
 * @property {Float32Array} delta (S,)
 * @property {Float32Array} radii (R,)
 * @property {Float32Array} density (S, R) along a ray, divided by its largest value
 * @property {Float32Array} law (S, R) of the distance from the mean
 * @property {Float32Array} flat (S, R) the same in the plane
 * @property {Float32Array} samples (S, M, 2)
 */

const COLOUR = "#0072B2", FLAT = "#D55E00";

export class Gaussian {
  #seconds = 0;
  #row = 0;

  /**
   * @param {Stage} stage
   * @param {Tables} tables
   */
  constructor(stage, tables) {
    this.stage = stage;
    this.tables = tables;
    const rows = tables.sigmas.length;
    this.#row = Math.floor(rows * 0.4);
    this.map = stage.map("The Poincaré disk with a sample of a Gaussian around the middle and its circle of radius σ");
    this.panel = stage.panel("Density along a ray, the law of the distance on the disk and in the plane, and δ of σ");
    this.slider = stage.slider(
      "σ", { min: 0, max: rows - 1, step: 1, value: this.#row },
      (row) => tables.sigmas[row].toFixed(2),
      (row) => { this.#row = row; },
    );
  }

  /** σ grows and shrinks. @param {number} seconds */
  play(seconds) {
    this.#seconds += seconds;
    this.#row = Math.round(sway(this.#seconds + 3, 12) * (this.tables.sigmas.length - 1));
    this.slider.set(this.#row);
  }

  draw() {
    const { map, stage, tables } = this, row = this.#row, sigma = tables.sigmas[row];
    const count = tables.samples.length / tables.sigmas.length / 2;
    map.drawGround(true);
    for (let i = 0; i < count; i++) {
      const at = 2 * (row * count + i);
      map.dot([tables.samples[at], tables.samples[at + 1]], { colour: COLOUR, size: 2.6, opacity: 0.6 });
    }
    map.circle([0, 0], sigma, { width: 2.5 });
    map.name("σ", [0, Math.tanh(sigma / 2)], { up: 12 });
    this.#drawLaw(row);
    this.#drawDelta(row);
    const flat = 2 * sigma * sigma;
    stage.box.dataset.sigma = String(sigma);
    const delta = stage.revealed ? tables.delta[row].toFixed(3) : "?";
    stage.say(
      `σ = ${sigma.toFixed(2)} · Z = ${tables.z[row].toFixed(3)} (plane: 2πσ² = ${(Math.PI * flat).toFixed(3)}) · ` +
        `δ = ${delta} (plane: 2σ² = ${flat.toFixed(3)})`,
    );
  }

  /** @param {number} row */
  #drawLaw(row) {
    const { panel, tables } = this, many = tables.radii.length, part = (/** @type {Float32Array} */ table) => table.subarray(row * many, (row + 1) * many);
    const most = 1.1 * Math.max(...part(tables.law), ...part(tables.flat));
    const axes = { left: 8, right: panel.width - 4, top: 26, bottom: panel.height * 0.42, xMost: tables.radii[many - 1], yMost: most };
    drawAxes(panel, axes, "How far samples are", "distance");
    drawCurve(panel, { ...axes, yMost: 1.1 }, tables.radii, part(tables.density), { colour: panel.colours.text, width: 1.5, dash: [2, 4] });
    drawCurve(panel, axes, tables.radii, part(tables.flat), { colour: FLAT, dash: [7, 5] });
    drawCurve(panel, axes, tables.radii, part(tables.law), { colour: COLOUR, fill: 0.18 });
    [["on the disk", COLOUR], ["in the plane", FLAT], ["density p on a ray", panel.colours.text]].forEach(([text, colour], i) => {
      panel.write("▬", panel.width - 132, 34 + 17 * i, { colour, size: 13 });
      panel.write(text, panel.width - 114, 34 + 17 * i, { size: 13 });
    });
  }

  /** @param {number} row */
  #drawDelta(row) {
    const { panel, tables, stage } = this, last = tables.sigmas.length - 1, flat = Array.from(tables.sigmas, (s) => 2 * s * s);
    const axes = { left: 8, right: panel.width - 4, top: panel.height * 0.42 + 52, bottom: panel.height - 22, xMost: tables.sigmas[last], yMost: tables.delta[last] };
    drawAxes(panel, axes, "δ(σ) = mean of d²", "σ");
    drawCurve(panel, axes, tables.sigmas, flat, { colour: FLAT, dash: [7, 5] });
    if (!stage.revealed) return;
    drawCurve(panel, axes, tables.sigmas, tables.delta, { colour: COLOUR });
    const { g } = panel;
    for (const [value, colour] of /** @type {[number, string][]} */ ([[tables.delta[row], COLOUR], [flat[row], FLAT]])) {
      g.beginPath();
      g.arc(...onPlot(axes, tables.sigmas[row], value), 5, 0, 2 * Math.PI);
      g.fillStyle = colour;
      g.fill();
    }
  }
}
