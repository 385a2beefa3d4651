// One step of an online learner: the new point, the probabilities over the window, and how each mean moves.

import { colourOf, drawMark } from "../marks.js";
import { pixelRatio } from "../pen.js";
import { drawBars, drawStrip } from "./plots.js";
import { sway } from "./stage.js";

/**
 * @import { ChartAbout } from "../charts/chart.js"
 * @import { Point } from "./geometry.js"
 * @import { Stage } from "./stage.js"
 */

/**
 * What the engine's `explain` says, its states in the true order. W times are in the window.
 * @typedef {object} Step
 * @property {ChartAbout} chart
 * @property {number} k
 * @property {number} n states
 * @property {number[]} tau
 * @property {number[]} sigmas before
 * @property {number[][] | null} balls as ellipses, for charts that need them
 * @property {Float32Array} held (W, 2) the observations in the window, the newest last
 * @property {Float32Array} ways (N, K, 2) from each mean before the step to the same after it
 * @property {Float32Array} towards (N, K, 2) from each mean to what it moves to; empty if nothing moves
 * @property {Float32Array} alpha (W, N)
 * @property {Float32Array} beta (W, N)
 * @property {Float32Array} gamma (W, N)
 * @property {Float32Array} zeta (W − 1, N, N)
 */

const SHOWN = 60; // times on a strip at most

export class OneStep {
  #seconds = 0;
  #share = 1;

  /**
   * @param {Stage} stage
   * @param {Step} step
   */
  constructor(stage, step) {
    this.stage = stage;
    this.step = step;
    this.map = stage.map("The map with the new observation, those in the window, and how each mean moves", step.chart);
    this.panel = stage.panel("α, β and γ of every time in the window as shares of the states, and ζ of one of them");
    const width = step.held.length / 2, last = width - 1;
    this.at = last;
    this.slider = stage.slider(
      "t", { min: Math.max(0, width - SHOWN), max: last, step: 1, value: last },
      (t) => `${step.k - last + t}`,
      (t) => { this.at = t; },
    );
  }

  /** The means go their way again and again. @param {number} seconds */
  play(seconds) {
    this.#seconds += seconds;
    this.#share = Math.min(1, 1.5 * sway(this.#seconds, 5));
  }

  draw() {
    const { map, step, stage } = this, { n } = step, places = points(step.held), last = places.length - 1;
    map.drawGround();
    places.slice(0, -1).forEach((place, t) => map.dot(place, { size: t === this.at ? 5 : 3, opacity: t === this.at ? 1 : 0.3 }));
    const pieces = step.ways.length / n / 2;
    for (let i = 0; i < n; i++) {
      const way = points(step.ways).slice(i * pieces, (i + 1) * pieces), colour = colourOf(i);
      const towards = points(step.towards).slice(i * pieces, (i + 1) * pieces);
      if (towards.length) map.line(towards, { colour, width: 1.5, dash: [3, 5], opacity: 0.6 });
      map.line(way, { colour, width: 4 });
      const [x, y] = way[0], ellipse = step.balls ? step.balls[i] : null;
      map.chart.traceBall(map.g, { x, y, sigma: step.sigmas[i], ellipse });
      map.g.strokeStyle = colour;
      map.g.globalAlpha = 0.6;
      map.g.lineWidth = 1.5 * pixelRatio();
      map.g.stroke();
      map.g.globalAlpha = 1;
      const here = way[Math.min(pieces - 1, Math.round((stage.touched || stage.still ? 1 : this.#share) * (pieces - 1)))];
      drawMark(map.g, map.colours, i, ...map.chart.toScreen(...here), 8 * pixelRatio(), 2);
      map.name(`c${"₁₂₃₄₅₆₇₈"[i]}`, here, { up: 14 });
    }
    map.dot(places[last], { size: 8, hollow: true });
    map.name("yₖ", places[last], { left: true }); // names of means are to the right of them
    this.#drawWindow(last);
  }

  /** @param {number} last */
  #drawWindow(last) {
    const { panel, step, stage, at } = this, { n } = step, count = Math.min(SHOWN, last + 1), first = last + 1 - count;
    const height = Math.max(18, Math.min(46, (panel.height - 90 - 26 * n) / 3 - 24));
    const rows = /** @type {[string, Float32Array][]} */ ([["α: from the past", step.alpha], ["β: from the future", step.beta], ["γ: both", step.gamma]]);
    rows.forEach(([title, shares], row) => {
      drawStrip(panel, title, shares, n, { first, count, at, top: row * (height + 26), height });
    });
    const top = 3 * (height + 26) + 4;
    this.#drawZeta(top);
    const say = (/** @type {Float32Array} */ table) => Array.from(table.subarray(at * n, (at + 1) * n), (v) => v.toFixed(3)).join(", ");
    stage.box.dataset.k = String(step.k);
    stage.say(`t = ${step.k - last + at}: α = (${say(step.alpha)}) · β ∝ (${say(step.beta)}) · γ = (${say(step.gamma)})`);
  }

  /** ζ of the pair (t, t + 1), or of the newest pair. @param {number} top */
  #drawZeta(top) {
    const { panel, step } = this, { n } = step, pair = Math.min(this.at, step.zeta.length / n / n - 1);
    if (n > 4) {
      drawBars(panel, "τ: how far each mean moves", step.tau, top, { most: Math.max(...step.tau, 1e-9), room: panel.height - top });
      return;
    }
    const left = 30, width = (panel.width - left) / n, height = Math.min(26, (panel.height - top - 24) / n), { g } = panel;
    panel.write("ζ: i at t, j at t + 1", 2, top + 8, { size: 14, weight: 600 });
    for (let i = 0; i < n; i++) {
      panel.write(String(i + 1), 12, top + 22 + (i + 0.5) * height, { size: 14, align: "center" });
      for (let j = 0; j < n; j++) {
        const value = step.zeta[(pair * n + i) * n + j];
        g.globalAlpha = 0.12 + 0.6 * value;
        g.fillStyle = colourOf(j);
        g.fillRect(left + j * width, top + 22 + i * height, width - 2, height - 2);
        g.globalAlpha = 1;
        panel.write(value.toFixed(3), left + (j + 0.5) * width, top + 21 + (i + 0.5) * height, { size: 13, align: "center" });
      }
    }
  }
}

/**
 * @param {Float32Array} flat (…, 2)
 * @returns {Point[]}
 */
function points(flat) {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
}
