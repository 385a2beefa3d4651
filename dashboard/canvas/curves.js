// How A and the errors move with k: one panel for each row of A, and one for each of the run's measures. Every panel
// has the curves of the online learners on it, and beside it the levels of the baselines.

import { drawTicks } from "./axes.js";
import { styleOf } from "./learners.js";
import { colourOf, drawHollowMark, drawMark } from "./marks.js";
import { drawLine, pen, pixelRatio, setFont, setStroke, typeScale } from "./pen.js";
import { decadeScale, linearScale, rowAt, stepAtX, xOfStep, yOfProbability } from "./scales.js";
import { look } from "./screen.js";
import { grouped } from "./words.js";

/**
 * @import { Baseline, Run } from "./protocol.js"
 * @import { Panel, Scale } from "./scales.js"
 * @import { Look } from "./screen.js"
 * @import { Shown } from "./switches.js"
 */

const INDENT = 12; // pixels before a title
const KEY = 30; // pixels for the mark and the number of a state
const TRUTH = [1.5, 3.5]; // the dashes of the true values

export class Curves {
  /** @type {Run | null} */
  #run = null;
  /** Axes, names, the truth and the levels of the baselines. */
  #frame = document.createElement("canvas");
  /** The whole curves, uncovered up to k. */
  #lines = document.createElement("canvas");
  /** @type {Panel[]} */
  #panels = [];
  /** Of each measure. @type {Scale[]} */
  #scales = [];
  /** @type {Baseline[]} */
  #baselines = [];
  #keysAbove = false;
  #drawnWith = "";
  dirty = true;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(step: number) => void} onScrub called with the number of observations under the pointer
   */
  constructor(canvas, onScrub) {
    this.canvas = canvas;
    let scrubbing = false;
    /** @param {PointerEvent} event */
    const scrub = (event) => {
      const step = this.#stepAt(event.clientX, event.clientY);
      if (step !== null) onScrub(step);
    };
    canvas.addEventListener("pointerdown", (event) => {
      scrubbing = true;
      canvas.setPointerCapture(event.pointerId);
      scrub(event);
    });
    canvas.addEventListener("pointermove", (event) => scrubbing && scrub(event));
    canvas.addEventListener("pointerup", () => (scrubbing = false));
    canvas.addEventListener("pointercancel", () => (scrubbing = false));
  }

  /** @param {Run} run */
  setRun(run) {
    this.#run = run;
    this.dirty = true;
  }

  // Where things are

  /**
   * Lay out the panels; where their titles have no room for all states, these stand above the panels.
   * @param {number} n
   * @param {number} measures
   * @param {Look} colours
   */
  #arrange(n, measures, colours) {
    const { width, height } = this.canvas, ratio = pixelRatio() * typeScale(), count = n + measures;
    const columns = width < 380 * ratio ? (count <= 5 ? 1 : 2) : count <= 3 ? 1 : count <= 6 ? 2 : 3;
    const down = Math.ceil(count / columns);
    const g = pen(this.#frame);
    setFont(g, colours, 14, 600);
    const title = g.measureText(titleOf(n - 1)).width + (INDENT + n * KEY) * ratio;
    const gutter = this.#gutter(g, colours, n);
    this.#keysAbove = title + gutter > width / columns - 4 * ratio;
    this.canvas.parentElement?.style.setProperty("--rows", String(down));
    const head = this.#keysAbove ? 26 * ratio : 0;
    const pad = { left: 34 * ratio, right: 8 * ratio + gutter, top: 24 * ratio, bottom: 22 * ratio };
    const cell = { width: width / columns, height: (height - head) / down };
    this.#panels = Array.from({ length: count }, (_, index) => {
      const column = index % columns, row = Math.floor(index / columns);
      const span = index === count - 1 ? columns - column : 1; // the last one takes what is left of the row
      return {
        left: column * cell.width + pad.left,
        right: (column + span) * cell.width - pad.right,
        top: head + row * cell.height + pad.top,
        bottom: head + (row + 1) * cell.height - pad.bottom,
      };
    });
  }

  /**
   * How much room the levels of the baselines need beside a panel.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {number} n
   */
  #gutter(g, colours, n) {
    setFont(g, colours, 11, 600);
    const room = 8 * pixelRatio() * typeScale();
    return this.#baselines.reduce((sum, baseline) => sum + g.measureText(nameOf(baseline, n)).width + room, 0);
  }

  /**
   * @param {number} clientX
   * @param {number} clientY
   */
  #stepAt(clientX, clientY) {
    if (!this.#run) return null;
    const box = this.canvas.getBoundingClientRect(), ratio = this.canvas.width / box.width;
    const x = (clientX - box.left) * ratio, y = (clientY - box.top) * ratio, slack = 14 * ratio;
    const panel = this.#panels.find(
      (p) => x > p.left - slack && x < p.right + slack && y > p.top - slack && y < p.bottom + slack,
    );
    return panel ? stepAtX(panel, x, this.#run.length) : null;
  }

  // Drawing

  /**
   * @param {number} k
   * @param {Shown} shown
   */
  draw(k, shown) {
    const { canvas } = this, run = this.#run, g = pen(canvas);
    if (!run) return;
    const colours = look(canvas), n = run.states;
    const beside = run.baselines.filter((baseline) => shown.has(baseline.key) && baseline.transmat);
    const names = beside.map(({ key }) => key);
    const key = JSON.stringify([canvas.width, canvas.height, colours.text, names, typeScale()]);
    if (this.dirty || key !== this.#drawnWith) {
      this.#baselines = beside;
      this.#arrange(n, run.measures.length, colours);
      this.#scales = run.measures.map(({ is_ratio }, which) => (is_ratio ? decadeScale : linearScale)(allErrors(run, which)));
      this.#drawFrame(run, colours);
      this.#drawLines(run, colours);
      this.#drawnWith = key;
      this.dirty = false;
    }
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.#frame, 0, 0);
    const ratio = pixelRatio();
    this.#panels.forEach((panel, row) => {
      const x = xOfStep(panel, k, run.length), left = panel.left - 2 * ratio, top = panel.top - 4 * ratio;
      const width = Math.max(1, x - left), height = panel.bottom - panel.top + 8 * ratio;
      g.drawImage(this.#lines, left, top, width, height, left, top, width, height);
      g.globalAlpha = 0.35;
      setStroke(g, colours.text, [], 1);
      drawLine(g, x, panel.top, x, panel.bottom);
      g.globalAlpha = 1;
      if (row < n) this.#drawHeads(g, colours, run, panel, row, k, x);
    });
  }

  /**
   * Where the curves of a row of A end at this moment.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Run} run
   * @param {Panel} panel
   * @param {number} row
   * @param {number} k
   * @param {number} x
   */
  #drawHeads(g, colours, { learners, states: n }, panel, row, k, x) {
    const size = 4.5 * pixelRatio() * typeScale();
    for (let index = learners.length - 1; index >= 0; index--) {
      const { steps, transmat } = learners[index], at = rowAt(steps, k);
      if (at < 0) continue;
      for (let to = 0; to < n; to++) {
        const y = yOfProbability(panel, transmat[(at * n + row) * n + to]);
        if (styleOf(index).filled) drawMark(g, colours, to, x, y, size, 2);
        else drawHollowMark(g, colours, to, x, y, size);
      }
    }
  }

  /**
   * @param {Run} run
   * @param {Look} colours
   */
  #drawFrame(run, colours) {
    const frame = this.#frame, ratio = pixelRatio() * typeScale(), n = run.states;
    frame.width = this.canvas.width;
    frame.height = this.canvas.height;
    const g = pen(frame);
    if (this.#keysAbove) drawKeys(g, colours, n, "A: lines to state  ", INDENT * ratio, 16 * ratio);
    this.#panels.forEach((panel, row) => {
      const left = panel.left - 22 * ratio, line = panel.top - 9 * ratio;
      g.fillStyle = colours.text;
      g.textAlign = "left";
      g.textBaseline = "alphabetic";
      setFont(g, colours, 14, 600);
      if (row >= n) g.fillText(run.measures[row - n].title, left, line);
      else if (this.#keysAbove) g.fillText(`from state ${row + 1}`, left, line);
      else drawKeys(g, colours, n, titleOf(row), left, line);
      this.#drawAxes(g, colours, panel, row - n, run.length);
      if (row < n) drawTruth(g, panel, run.truth.transmat[row] ?? []);
      this.#drawLevels(g, colours, panel, row, n);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {number} error which one; less than 0 for a row of A
   * @param {number} length
   */
  #drawAxes(g, colours, panel, error, length) {
    const ratio = pixelRatio();
    /** @type {[number, string][]} */
    const ticks = error >= 0
      ? this.#scales[error].ticks.map(([value, text]) => [this.#scales[error].y(panel, value), text])
      : [0, 0.5, 1].map((value) => [yOfProbability(panel, value), String(value)]);
    drawTicks(g, colours, panel, ticks, 12);
    g.globalAlpha = 0.85;
    g.textBaseline = "top";
    g.textAlign = "left";
    g.fillText("0", panel.left, panel.bottom + 5 * ratio);
    g.textAlign = "center";
    g.fillText("k", (panel.left + panel.right) / 2, panel.bottom + 5 * ratio);
    g.textAlign = "right";
    g.fillText(grouped(length), panel.right, panel.bottom + 5 * ratio);
    g.globalAlpha = 1;
  }

  /**
   * The values at which the baselines end: for each a column beside the panel, under its name.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {number} row
   * @param {number} n
   */
  #drawLevels(g, colours, panel, row, n) {
    const ratio = pixelRatio() * typeScale();
    let left = panel.right + 8 * ratio;
    for (const baseline of this.#baselines) {
      const { transmat, errors } = baseline, name = nameOf(baseline, n);
      setFont(g, colours, 11, 600);
      const width = g.measureText(name).width;
      g.fillStyle = colours.text;
      g.textAlign = "left";
      g.textBaseline = "alphabetic";
      g.fillText(name, left, panel.top - 9 * ratio);
      const level = (/** @type {number} */ y, /** @type {string} */ colour) => {
        setStroke(g, colour, [], 3);
        drawLine(g, left, y, left + width, y);
      };
      if (row >= n) {
        if (errors) level(this.#scales[row - n].y(panel, errors[row - n]), colours.text);
      } else {
        for (let to = 0; transmat && to < n; to++) level(yOfProbability(panel, transmat[row * n + to]), colourOf(to));
      }
      left += width + 8 * ratio;
    }
  }

  /**
   * @param {Run} run
   * @param {Look} colours
   */
  #drawLines(run, colours) {
    const lines = this.#lines, n = run.states;
    lines.width = this.canvas.width;
    lines.height = this.canvas.height;
    const g = pen(lines);
    g.lineJoin = "round";
    for (let index = run.learners.length - 1; index >= 0; index--) { // the first one on top
      const { steps, transmat, errors } = run.learners[index], { dash, width } = styleOf(index);
      /** @type {(panel: Panel, colour: string, height: (row: number) => number) => void} */
      const curve = (panel, colour, height) => {
        setStroke(g, colour, dash, width);
        g.beginPath();
        steps.forEach((step, at) => g.lineTo(xOfStep(panel, step, run.length), height(at)));
        g.stroke();
      };
      this.#panels.forEach((panel, row) => {
        if (row >= n) {
          const which = row - n, scale = this.#scales[which];
          curve(panel, colours.text, (at) => scale.y(panel, errors[run.measures.length * at + which]));
          return;
        }
        for (let to = 0; to < n; to++) {
          curve(panel, colourOf(to), (at) => yOfProbability(panel, transmat[(at * n + row) * n + to]));
        }
      });
    }
  }
}

/** @param {number} row */
const titleOf = (row) => `A: from state ${row + 1} to  `;

/**
 * The name of a baseline beside a panel: its letter where there are many panels.
 * @param {Baseline} baseline
 * @param {number} n
 */
const nameOf = ({ label, letter }, n) => (n > 4 ? letter : label);

/**
 * One of the measures of all methods, at all times.
 * @param {Run} run
 * @param {number} which
 */
function* allErrors({ learners, baselines, measures }, which) {
  for (const { errors } of [...learners, ...baselines]) {
    for (let at = which; errors && at < errors.length; at += measures.length) yield errors[at];
  }
}

/**
 * A text, and then the mark and the number of each state.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {number} n
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
function drawKeys(g, colours, n, text, x, y) {
  const ratio = pixelRatio() * typeScale();
  setFont(g, colours, 14, 600);
  g.textAlign = "left";
  g.textBaseline = "alphabetic";
  g.fillStyle = colours.text;
  g.fillText(text, x, y);
  x += g.measureText(text).width;
  setFont(g, colours, 13);
  for (let state = 0; state < n; state++, x += KEY * ratio) {
    drawMark(g, colours, state, x + 5 * ratio, y - 4.5 * ratio, 4.5 * ratio, 2);
    g.fillStyle = colours.text;
    g.fillText(String(state + 1), x + 13 * ratio, y);
  }
}

/**
 * A row of the true A, dotted.
 * @param {CanvasRenderingContext2D} g
 * @param {Panel} panel
 * @param {number[]} truth
 */
function drawTruth(g, panel, truth) {
  truth.forEach((value, to) => {
    const y = yOfProbability(panel, value);
    setStroke(g, colourOf(to), TRUTH, 1.8);
    drawLine(g, panel.left, y, panel.right, y);
  });
  g.setLineDash([]);
}
