// How A and the errors move with k: one panel for each row of A, one for the errors.

import { colourOf, drawMark, traceMark } from "./marks.js";
import { drawLine, pen, pixelRatio, setFont, setStroke } from "./pen.js";
import { decadeTicks, errorDecades, stepAtX, xOfStep, yOfError, yOfProbability } from "./scales.js";
import { look } from "./screen.js";
import { grouped } from "./words.js";

/**
 * @import { Run } from "./protocol.js"
 * @import { Decades, Panel } from "./scales.js"
 * @import { Look } from "./screen.js"
 * @import { Shown } from "./switches.js"
 */

const ERROR_NAMES = [["‖A − Â‖", "‖A − Â‖"], ["distance of means", "means"]]; // in full, and for little room
const ERROR_DASHES = [[], [2, 3]];
const INDENT = 12; // pixels before a title
const KEY = 30; // pixels for the mark and the number of a state

export class Curves {
  /** @type {Run | null} */
  #run = null;
  /** Axes, names and the truth. */
  #frame = document.createElement("canvas");
  /** The whole curves, uncovered up to k. */
  #lines = document.createElement("canvas");
  /** @type {Panel[]} */
  #panels = [];
  /** @type {Decades} */
  #decades = [-3, 0];
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
   * @param {Look} colours
   */
  #arrange(n, colours) {
    const { width, height } = this.canvas, ratio = pixelRatio(), count = n + 1;
    const columns = width < 380 * ratio ? (count <= 4 ? 1 : 2) : count <= 2 ? 1 : count <= 6 ? 2 : 3;
    const down = Math.ceil(count / columns);
    const g = pen(this.#frame);
    setFont(g, colours, 14, 600);
    const title = g.measureText(titleOf(n - 1)).width + (INDENT + n * KEY) * ratio;
    this.#keysAbove = title > width / columns;
    this.canvas.parentElement?.style.setProperty("--rows", String(down));
    const head = this.#keysAbove ? 26 * ratio : 0;
    const pad = { left: 34 * ratio, right: 20 * ratio, top: 26 * ratio, bottom: 26 * ratio };
    const cell = { width: width / columns, height: (height - head) / down };
    this.#panels = Array.from({ length: count }, (_, index) => {
      const column = index % columns, row = Math.floor(index / columns);
      const span = index === n ? columns - column : 1; // the errors take what is left of the row
      return {
        left: column * cell.width + pad.left,
        right: (column + span) * cell.width - pad.right,
        top: head + row * cell.height + pad.top,
        bottom: head + (row + 1) * cell.height - pad.bottom,
      };
    });
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
   * @param {number} position in frames
   * @param {Shown} shown
   */
  draw(position, shown) {
    const { canvas } = this, run = this.#run, g = pen(canvas);
    if (!run) return;
    const colours = look(canvas), n = run.truth.means.length;
    const baselines = run.baselines.map((baseline) => shown.has(baseline.key));
    const key = JSON.stringify([canvas.width, canvas.height, colours.text, baselines]);
    if (this.dirty || key !== this.#drawnWith) {
      this.#arrange(n, colours);
      this.#decades = errorDecades([...run.errors, ...run.baselines.flatMap(({ errors }) => [...(errors ?? [])])]);
      this.#drawFrame(run, colours, shown);
      this.#drawLines(run, colours);
      this.#drawnWith = key;
      this.dirty = false;
    }
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.#frame, 0, 0);
    if (!run.steps.length) return;
    const ratio = pixelRatio(), index = Math.floor(position), step = run.steps[index];
    this.#panels.forEach((panel, row) => {
      const x = xOfStep(panel, step, run.length), left = panel.left - 2 * ratio, top = panel.top - 4 * ratio;
      const width = Math.max(1, x - left), height = panel.bottom - panel.top + 8 * ratio;
      g.drawImage(this.#lines, left, top, width, height, left, top, width, height);
      g.globalAlpha = 0.35;
      setStroke(g, colours.text, [], 1);
      drawLine(g, x, panel.top, x, panel.bottom);
      g.globalAlpha = 1;
      if (row === n) return;
      for (let to = 0; to < n; to++) {
        const y = yOfProbability(panel, run.transmat[(index * n + row) * n + to]);
        drawMark(g, colours, to, x, y, 4.5 * ratio, 2);
      }
    });
  }

  /**
   * @param {Run} run
   * @param {Look} colours
   * @param {Shown} shown
   */
  #drawFrame(run, colours, shown) {
    const frame = this.#frame, ratio = pixelRatio(), n = run.truth.means.length;
    frame.width = this.canvas.width;
    frame.height = this.canvas.height;
    const g = pen(frame);
    if (this.#keysAbove) drawKeys(g, colours, n, "A: lines to state  ", INDENT * ratio, 16 * ratio);
    this.#panels.forEach((panel, row) => {
      const left = panel.left - 22 * ratio, line = panel.top - 10 * ratio;
      g.fillStyle = colours.text;
      g.textAlign = "left";
      g.textBaseline = "alphabetic";
      setFont(g, colours, 14, 600);
      if (row === n) drawErrorNames(g, colours, panel);
      else if (this.#keysAbove) g.fillText(`from state ${row + 1}`, left, line);
      else drawKeys(g, colours, n, titleOf(row), left, line);
      this.#drawAxes(g, colours, panel, row === n, run.length);
      if (row === n) this.#drawBaselineErrors(g, colours, panel, run, shown);
      else drawTruth(g, panel, row, run, shown);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {boolean} isErrors
   * @param {number} length
   */
  #drawAxes(g, colours, panel, isErrors, length) {
    const ratio = pixelRatio();
    /** @type {[number, string][]} */
    const ticks = isErrors
      ? decadeTicks(this.#decades).map(([value, text]) => [yOfError(panel, value, this.#decades), text])
      : [0, 0.5, 1].map((value) => [yOfProbability(panel, value), String(value)]);
    setFont(g, colours, 12);
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
   * A line for each error of a baseline, with its name at the right: the curves begin on the left.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {Run} run
   * @param {Shown} shown
   */
  #drawBaselineErrors(g, colours, panel, run, shown) {
    const ratio = pixelRatio();
    setFont(g, colours, 12, 600);
    let right = panel.right - 3 * ratio;
    for (const { key, label, errors } of run.baselines) {
      if (!shown.has(key) || !errors) continue;
      errors.forEach((error, index) => {
        const y = yOfError(panel, error, this.#decades);
        setStroke(g, colours.text, ERROR_DASHES[index], 1);
        g.globalAlpha = 0.55;
        drawLine(g, panel.left, y, panel.right, y);
        g.globalAlpha = 1;
        g.setLineDash([]);
        g.textAlign = "right";
        const below = y < panel.top + 14 * ratio; // above it would meet the title
        g.textBaseline = below ? "top" : "bottom";
        g.fillStyle = colours.text;
        g.fillText(label, right, y + (below ? 2 : -1) * ratio);
      });
      right -= g.measureText(`${label}  `).width; // two of them may be equally good
    }
  }

  /**
   * @param {Run} run
   * @param {Look} colours
   */
  #drawLines(run, colours) {
    const lines = this.#lines, n = run.truth.means.length;
    lines.width = this.canvas.width;
    lines.height = this.canvas.height;
    const g = pen(lines);
    g.lineJoin = "round";
    /** @type {(panel: Panel, height: (index: number) => number) => void} */
    const curve = (panel, height) => {
      g.beginPath();
      run.steps.forEach((step, index) => g.lineTo(xOfStep(panel, step, run.length), height(index)));
      g.stroke();
    };
    this.#panels.forEach((panel, row) => {
      if (row < n) {
        for (let to = 0; to < n; to++) {
          setStroke(g, colourOf(to), [], 2);
          curve(panel, (index) => yOfProbability(panel, run.transmat[(index * n + row) * n + to]));
        }
      } else {
        ERROR_DASHES.forEach((dash, which) => {
          setStroke(g, colours.text, dash, 2);
          curve(panel, (index) => yOfError(panel, run.errors[2 * index + which], this.#decades));
        });
      }
    });
  }
}

/** @param {number} row */
const titleOf = (row) => `A: from state ${row + 1} to  `;

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
  const ratio = pixelRatio();
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
 * The title of the errors: a piece of each line, and what it is.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Panel} panel
 */
function drawErrorNames(g, colours, panel) {
  const ratio = pixelRatio(), narrow = panel.right - panel.left < 200 * ratio;
  let x = panel.left - 22 * ratio;
  for (const [index, [full, short]] of ERROR_NAMES.entries()) {
    const name = narrow ? short : full;
    setStroke(g, colours.text, ERROR_DASHES[index], 2);
    drawLine(g, x, panel.top - 14 * ratio, x + 20 * ratio, panel.top - 14 * ratio);
    setFont(g, colours, 13, 600);
    g.fillText(name, x + 25 * ratio, panel.top - 10 * ratio);
    x += 25 * ratio + g.measureText(`${name}   `).width;
  }
  g.setLineDash([]);
}

/**
 * A row of the true A, dashed, and where the baselines end: hollow marks at the right edge.
 * @param {CanvasRenderingContext2D} g
 * @param {Panel} panel
 * @param {number} row
 * @param {Run} run
 * @param {Shown} shown
 */
function drawTruth(g, panel, row, { truth, baselines }, shown) {
  const n = truth.means.length, ratio = pixelRatio();
  for (let to = 0; to < n; to++) {
    const y = yOfProbability(panel, truth.transmat[row][to]);
    setStroke(g, colourOf(to), [6, 4], 1.6);
    drawLine(g, panel.left, y, panel.right, y);
  }
  g.setLineDash([]);
  const gap = Math.min(8, 16 / baselines.length); // all of them have room before the next panel
  baselines.forEach(({ key, transmat }, index) => {
    if (!shown.has(key) || !transmat) return;
    for (let to = 0; to < n; to++) {
      const y = yOfProbability(panel, transmat[row * n + to]);
      traceMark(g, to, panel.right + (6 + gap * index) * ratio, y, 3.6 * ratio);
      setStroke(g, colourOf(to), [], 1.8);
      g.stroke();
    }
  });
}
