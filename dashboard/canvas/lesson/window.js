// Δ: the window as a strip under the chain, and what becomes of A with a short one, a long one, and other updates.

import { colourOf } from "../marks.js";
import { drawAxes, drawCurve, onPlot } from "./plots.js";

/** @import { Stage } from "./stage.js" */

/**
 * @typedef {object} Learned one learner on the paper's chain
 * @property {string} name
 * @property {number} window Δ
 * @property {number} accuracy
 */

/**
 * @typedef {object} Runs
 * @property {Learned[]} runs
 * @property {number[]} truth the diagonal of the true A
 * @property {number} length of the chain
 * @property {{ k: number, entry: string, row: number, raw: number } | null} exit where the first one leaves [0, 1]
 * @property {Int8Array} states (T,)
 */

const BAD = "#e5383b", LASTS = 12; // seconds

/** With a true minus sign. @param {number} value */
const signed = (value) => value.toFixed(3).replace("-", "−");

export class Windows {
  #time = 0;

  /**
   * @param {Stage} stage
   * @param {Runs & Record<string, Float32Array>} about with steps.0, diagonal.0 and so on of each run
   */
  constructor(stage, about) {
    this.stage = stage;
    this.about = about;
    this.panel = stage.panel("The window under the chain, and the diagonal of A as four learners estimate it", "wide");
    this.k = about.length;
    this.slider = stage.slider(
      "k", { min: 40, max: about.length, step: 10, value: about.length }, (k) => k.toLocaleString("en-US"),
      (k) => { this.k = k; },
    );
  }

  /** @param {number} seconds */
  play(seconds) {
    this.#time = (this.#time + seconds) % (LASTS + 3);
    const share = Math.min(1, this.#time / LASTS);
    this.k = Math.round(40 + (this.about.length - 40) * share ** 2); // slow at first: that is when it fails
    this.slider.set(this.k);
  }

  draw() {
    const { panel, about, stage, k } = this, wide = panel.width > 430, columns = wide ? 2 : 1;
    const rows = Math.ceil(about.runs.length / columns), head = 96;
    this.#drawStrip();
    const width = panel.width / columns, height = (panel.height - head) / rows;
    about.runs.forEach((run, r) => {
      const left = (r % columns) * width, top = head + Math.floor(r / columns) * height;
      this.#drawRun(run, r, { left: left + 8, right: left + width - 14, top: top + 26, bottom: top + height - 24, xMost: about.length, yMost: 1 });
    });
    stage.box.dataset.k = String(k);
    const { exit } = about;
    stage.say(
      !stage.revealed ? "Which row of A fails first? Guess first, or wait a moment."
        : exit ? `As printed, Δ = ${about.runs[0].window}: at k = ${exit.k} the step asks for ${exit.entry} = ${signed(exit.raw)}. That is no probability; it is clipped.`
          : "No entry of A leaves [0, 1] on this chain.",
    );
  }

  /** The last observations, and how many of them each window holds. */
  #drawStrip() {
    const { panel, about, k } = this, { g } = panel, longest = Math.max(...about.runs.map((run) => run.window));
    const shown = Math.round(1.45 * longest), width = panel.width / shown, right = Math.min(k + 20, about.length);
    panel.write(`The chain up to k = ${k.toLocaleString("en-US")}, and what a window of Δ holds of it`, 2, 9, { size: 14, weight: 600 });
    for (let i = 0; i < shown; i++) {
      const t = right - shown + i;
      if (t < 0) continue;
      g.globalAlpha = t < k ? 1 : 0.2;
      g.fillStyle = colourOf(about.states[t]);
      g.fillRect(i * width, 22, Math.max(1, width - 0.4), 16);
    }
    g.globalAlpha = 1;
    [...new Set(about.runs.map((run) => run.window))].forEach((window, row) => {
      const end = (k - right + shown) * width, begin = Math.max(0, end - window * width), y = 46 + 14 * row;
      g.strokeStyle = panel.colours.text;
      g.lineWidth = 2;
      g.beginPath();
      g.moveTo(begin, y - 4);
      g.lineTo(begin, y);
      g.lineTo(end, y);
      g.lineTo(end, y - 4);
      g.stroke();
      panel.write(`Δ = ${window}`, begin - 6, y, { size: 13, align: "right" });
    });
    panel.write("Below: the chance to stay,", 2, 82, { size: 13 });
    about.truth.forEach((_, i) => panel.write(`A${"₁₂₃₄₅₆₇₈"[i].repeat(2)}`, 168 + 34 * i, 82, { size: 14, weight: 700, colour: colourOf(i) }));
    panel.write("dashed: the truth", 168 + 34 * about.truth.length, 82, { size: 13 });
  }

  /**
   * @param {Learned} run
   * @param {number} r
   * @param {import("./plots.js").Axes} axes
   */
  #drawRun(run, r, axes) {
    const { panel, about, stage, k } = this, n = about.truth.length;
    const steps = about[`steps.${r}`], diagonal = about[`diagonal.${r}`];
    const until = steps.findLastIndex((step) => step <= k) + 1;
    const done = k >= about.length - 10 && stage.revealed;
    drawAxes(panel, axes, `${run.name}${done ? `: ${(100 * run.accuracy).toFixed(1)} %` : ""}`, "k");
    about.truth.forEach((value, i) => {
      drawCurve(panel, axes, [0, about.length], [value, value], { colour: colourOf(i), width: 1.5, dash: [4, 5] });
      const column = Array.from({ length: until }, (_, row) => diagonal[row * n + i]);
      drawCurve(panel, axes, steps.subarray(0, until), column, { colour: colourOf(i), width: 2.2 });
    });
    const { exit } = about;
    if (r === 0 && exit && stage.revealed && k >= exit.k) {
      const [x] = onPlot(axes, exit.k, 0), { g } = panel;
      g.fillStyle = BAD;
      g.fillRect(x - 1, axes.top, 3, axes.bottom - axes.top);
      panel.write(`${exit.entry} = ${signed(exit.raw)}`, x + 8, (axes.top + axes.bottom) / 2, { size: 15, weight: 700, colour: BAD });
    }
  }
}
