// Rolling curves: how well the learners do over the latest observations, and which memory the automatic one follows.
// Every event is a vertical line on all of them.

import { drawLine, pen, pixelRatio, setFont, setStroke, typeScale } from "../pen.js";
import { decadeTicks, errorDecades, xOfStep, yOfError, yOfProbability } from "../scales.js";
import { look } from "../screen.js";
import { Rows } from "./news.js";
import { drawGrid, drawSteps, inPanel, stepOf } from "./panels.js";

/**
 * @import { Panel } from "../scales.js"
 * @import { Look } from "../screen.js"
 * @import { Event, Judged, LearnerAbout, News, Opening } from "./news.js"
 */

const MEASURES = 5; // of each learner
const TRUE = 3; // of the true parameters
export const ACCURACY = 0, DENSITY = 3;
const COUNT = 4; // which of the measures is the number of states
const ROOM = 1500; // rows
const CEILING = [1.5, 3.5]; // the dashes of the true parameters
const NATS = 2.5; // of the predictive density that are seen below the best
const UNSEEN = 0.03; // the share of the densities of a recording that may lie below the panel
const TITLES = ["rolling accuracy", "distance of the means", "‖A − Â‖", "predictive log density"];
const NARROW = 420; // CSS pixels below which panels stand one below the other

/** @typedef {{ ticks: [number, string][], y: (panel: Panel, value: number) => number }} Scale */

export class Rolling {
  #rows = new Rows(1, 1);
  /** The memory that an automatic learner follows. */
  #memory = new Rows(1, ROOM);
  /** @type {Opening | null} */
  #opening = null;
  /** @type {Event[]} */
  events = [];
  /** @type {number[]} */
  #restarts = [];

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
  }

  /** @param {Opening} opening */
  begin(opening) {
    this.#opening = opening;
    this.#rows = new Rows(MEASURES * opening.learners.length + TRUE, ROOM);
    this.#memory = new Rows(1, ROOM);
    this.#restarts = [];
    this.events = [];
  }

  /** @param {News} news */
  add({ taken, steps, measures, ceiling, judged, events }) {
    const width = this.#rows.width - TRUE;
    steps.forEach((step, row) => {
      const own = measures.subarray(row * width, (row + 1) * width);
      this.#rows.push(taken + step, [...own, ...ceiling.subarray(TRUE * row, TRUE * (row + 1))]);
    });
    if (events) this.events = events;
    const automatic = judged.find(({ memory }) => memory !== null);
    if (!automatic) return;
    this.#memory.push(taken, [/** @type {number} */ (automatic.memory)]);
    this.#restarts = automatic.restarts;
  }

  /** The latest value of a measure of a learner; NaN if there is none. @param {number} learner @param {number} measure */
  latest(learner, measure) {
    return this.#rows.length ? this.#rows.value(this.#rows.length - 1, MEASURES * learner + measure) : NaN;
  }

  /**
   * The latest accuracy and density under the true parameters.
   * @returns {[number, number]}
   */
  get ceiling() {
    const { length, width } = this.#rows;
    return length ? [this.#rows.value(length - 1, width - TRUE), this.#rows.value(length - 1, width - TRUE + 1)] : [NaN, NaN];
  }

  // Drawing

  /**
   * @param {number} position in observations: the right edge
   * @param {number} span observations from the left edge to the right one
   * @param {(key: string) => boolean} isShown
   */
  draw(position, span, isShown) {
    const { canvas } = this, g = pen(canvas), opening = this.#opening;
    g.clearRect(0, 0, canvas.width, canvas.height);
    if (!opening) return;
    const colours = look(canvas), from = Math.max(0, position - span);
    const first = Math.max(0, this.#rows.from(from) - 1);
    const measures = TITLES.map((_, measure) => measure).filter((measure) => isKnown(opening, measure));
    /** @type {((panel: Panel) => void)[]} */
    const bands = [];
    if (opening.counts) bands.push((panel) => this.#drawCounts(g, colours, panel, { first, from, span, position }));
    if (this.#memory.length) bands.push((panel) => this.#drawBand(g, colours, panel, { from, span, position }));
    const { panels, below } = this.#arrange(measures.length, bands.length);
    measures.forEach((measure, index) => {
      const panel = panels[index], scale = this.#scaleOf(measure, first, isShown);
      /** @type {[number, string][]} */
      const ticks = scale.ticks.map(([value, name]) => [scale.y(panel, value), name]);
      drawGrid(g, colours, panel, TITLES[measure], ticks, 11.5);
      this.#drawEvents(g, colours, panel, from, span, position, index === 0);
      inPanel(g, panel, () => this.#drawCurves(g, colours, panel, scale, { measure, first, from, span, position, isShown }));
    });
    bands.forEach((draw, index) => draw(below[index]));
    const lowest = Math.max(...panels.map(({ bottom }) => bottom));
    const last = below.length ? below.slice(-1) : panels.filter(({ bottom }) => bottom === lowest);
    for (const panel of last) drawSteps(g, colours, panel, from, span);
  }

  /**
   * Where so many panels are, and below them bands over the whole width.
   * @param {number} count
   * @param {number} bands
   */
  #arrange(count, bands) {
    const { width, height } = this.canvas, ratio = pixelRatio() * typeScale();
    const columns = width < NARROW * ratio ? 1 : Math.min(2, count), down = Math.ceil(count / columns);
    const band = (bands > 1 ? 84 : 99) * ratio, foot = 20 * ratio;
    const cell = { width: width / columns, height: (height - bands * band - foot) / down };
    const pad = { left: 44 * ratio, right: 10 * ratio, top: 27 * ratio, bottom: 10 * ratio };
    this.canvas.parentElement?.style.setProperty("--rows", String(down));
    this.canvas.parentElement?.style.setProperty("--bands", String(bands));
    const panels = Array.from({ length: count }, (_, index) => {
      const column = index % columns, row = Math.floor(index / columns);
      return {
        left: column * cell.width + pad.left,
        right: (column + 1) * cell.width - pad.right,
        top: row * cell.height + pad.top,
        bottom: (row + 1) * cell.height - pad.bottom,
      };
    });
    const below = Array.from({ length: bands }, (_, index) => {
      const end = height - foot - (bands - 1 - index) * band, gap = index < bands - 1 ? pad.bottom : 0;
      return { left: pad.left + 22 * ratio, right: width - pad.right, top: end - band + pad.top, bottom: end - gap };
    });
    return { panels, below };
  }

  /**
   * What of the height a value has: errors by decades, shares and densities evenly.
   * @param {number} measure
   * @param {number} first the oldest row that is seen
   * @param {(key: string) => boolean} isShown
   * @returns {Scale}
   */
  #scaleOf(measure, first, isShown) {
    const seen = [...this.#seen(measure, first, isShown)];
    if (measure === 1 || measure === 2) {
      const decades = errorDecades(seen);
      return { ticks: decadeTicks(decades), y: (panel, value) => yOfError(panel, value, decades) };
    }
    const accuracy = measure === 0, top = accuracy ? 1 : Math.ceil(2 * Math.max(...seen, -1e9)) / 2;
    const high = accuracy || Number.isFinite(top) ? top : 0;
    const low = accuracy ? Math.min(0.8, Math.floor(10 * Math.min(1, ...seen)) / 10) : high - this.#depth(seen, high);
    const step = accuracy ? (high - low > 0.5 ? 0.2 : 0.1) : stepOf(high - low);
    /** @type {[number, string][]} */
    const ticks = [];
    for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9; value += step) {
      ticks.push([value, accuracy ? value.toFixed(1) : String(Math.round(10 * value) / 10).replace("-", "−")]);
    }
    return { ticks, y: (panel, value) => yOfProbability(panel, (value - low) / (high - low)) };
  }

  /**
   * How far below the best density one looks. Where the truth is known, all that matters is near it. Of a recording,
   * densities differ from one part of it to the next: nearly all of them are seen.
   * @param {number[]} seen
   * @param {number} best
   */
  #depth(seen, best) {
    if (this.#opening?.truth || !seen.length) return NATS;
    const low = seen.sort((a, b) => a - b)[Math.floor(UNSEEN * seen.length)];
    return Math.max(NATS, Math.ceil(best - low));
  }

  /**
   * All values that a panel shows.
   * @param {number} measure
   * @param {number} first
   * @param {(key: string) => boolean} isShown
   */
  *#seen(measure, first, isShown) {
    const rows = this.#rows;
    for (const column of this.#columns(measure, isShown)) {
      for (let row = first; row < rows.length; row++) {
        const value = rows.value(row, column);
        if (Number.isFinite(value)) yield value;
      }
    }
  }

  /**
   * The columns of the rows that a panel shows.
   * @param {number} measure
   * @param {(key: string) => boolean} isShown
   */
  #columns(measure, isShown) {
    const own = (this.#opening?.learners ?? []).flatMap(({ key }, index) => isShown(key) ? [MEASURES * index + measure] : []);
    const beyond = this.#rows.width - TRUE;
    const ceiling = measure === ACCURACY ? [beyond] : measure === DENSITY ? [beyond + 1] : [];
    return [...own, ...ceiling];
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {Scale} scale
   * @param {{ measure: number, first: number, from: number, span: number, position: number, isShown: (key: string) => boolean }} what
   */
  #drawCurves(g, colours, panel, scale, { measure, first, from, span, position, isShown }) {
    const rows = this.#rows, learners = this.#opening?.learners ?? [];
    g.lineJoin = "round";
    for (const column of this.#columns(measure, isShown).reverse()) {
      const learner = learners[Math.floor(column / MEASURES)];
      if (learner) setStroke(g, learner.colour, learner.dash, 2.2);
      else setStroke(g, colours.text, CEILING, 1.6);
      g.beginPath();
      for (let row = first; row < rows.length; row++) {
        const step = rows.step(row), value = rows.value(row, column);
        if (step > position) break;
        if (Number.isFinite(value)) g.lineTo(xOfStep(panel, step - from, span), scale.y(panel, value));
      }
      g.stroke();
    }
    g.setLineDash([]);
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {number} from
   * @param {number} span
   * @param {number} position
   * @param {boolean} named whether their numbers stand beside
   */
  #drawEvents(g, colours, panel, from, span, position, named) {
    const ratio = pixelRatio() * typeScale();
    setFont(g, colours, 11, 600);
    g.textAlign = "left";
    g.textBaseline = "top";
    this.events.forEach(({ at, ends }, index) => {
      if (at > position || at + ends < from) return;
      const x = xOfStep(panel, Math.max(at, from) - from, span);
      if (ends) {
        const end = xOfStep(panel, Math.min(at + ends, position) - from, span);
        g.globalAlpha = 0.09;
        g.fillStyle = colours.text;
        g.fillRect(x, panel.top, end - x, panel.bottom - panel.top);
      }
      if (at < from) return;
      g.globalAlpha = 0.75;
      setStroke(g, colours.text, [], 1.2);
      drawLine(g, x, panel.top, x, panel.bottom);
      g.globalAlpha = 1;
      g.fillStyle = colours.text;
      if (named) g.fillText(String(index + 1), x + 3 * ratio, panel.bottom - 13 * ratio);
    });
    g.globalAlpha = 1;
  }

  /**
   * How many states the learner that counts them has found, and how many there are.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {{ first: number, from: number, span: number, position: number }} window
   */
  #drawCounts(g, colours, panel, { first, from, span, position }) {
    const rows = this.#rows, learners = this.#opening?.learners ?? [];
    const index = learners.findIndex(({ key }) => key === "counting"), truth = rows.width - 1;
    const columns = [truth, MEASURES * index + COUNT];
    const seen = columns.flatMap((column) => {
      return Array.from({ length: rows.length - first }, (_, row) => rows.value(first + row, column)).filter(Number.isFinite);
    });
    const low = Math.min(...seen, 2) - 1, high = Math.max(...seen, low + 3) + 0.5, step = high - low > 5 ? 2 : 1;
    const y = (/** @type {number} */ value) => panel.bottom - ((value - low) / (high - low)) * (panel.bottom - panel.top);
    /** @type {[number, string][]} */
    const ticks = [];
    for (let value = low + 1; value <= high; value += step) ticks.push([y(value), String(value)]);
    drawGrid(g, colours, panel, this.#opening?.truth ? "number of states found, dotted the true one" : "number of states found", ticks, 10.5);
    this.#drawEvents(g, colours, panel, from, span, position, false);
    inPanel(g, panel, () => columns.forEach((column) => {
      if (column === truth) setStroke(g, colours.text, CEILING, 1.6);
      else setStroke(g, learners[index].colour, [], 2.6);
      let before = NaN;
      g.beginPath();
      for (let row = first; row < rows.length && rows.step(row) <= position; row++) {
        const value = rows.value(row, column), x = xOfStep(panel, rows.step(row) - from, span);
        if (!Number.isFinite(value)) continue;
        if (Number.isFinite(before)) g.lineTo(x, y(before)); // states come and go at once
        g.lineTo(x, y(value));
        before = value;
      }
      g.stroke();
    }));
    g.setLineDash([]);
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {Panel} panel
   * @param {{ from: number, span: number, position: number }} window
   */
  #drawBand(g, colours, panel, { from, span, position }) {
    const ratio = pixelRatio() * typeScale(), rows = this.#memory, memories = this.#opening?.memories ?? [];
    const automatic = this.#opening?.learners.find(({ key }) => key === "auto");
    const height = (panel.bottom - panel.top) / memories.length;
    const middle = (/** @type {number} */ memory) => panel.bottom - (memory + 0.5) * height;
    /** @type {[number, string][]} */
    const ticks = memories.map((name, memory) => [middle(memory), name]);
    drawGrid(g, colours, panel, "memory that the automatic one follows, ▲ where it started anew", ticks, 10.5);
    this.#drawEvents(g, colours, panel, from, span, position, false);
    inPanel(g, panel, () => {
      const first = Math.max(0, rows.from(from) - 1);
      g.fillStyle = automatic?.colour ?? colours.text;
      for (let row = first; row < rows.length; row++) {
        const step = rows.step(row), next = row + 1 < rows.length ? rows.step(row + 1) : position;
        if (step > position) break;
        const x = xOfStep(panel, step - from, span), end = xOfStep(panel, Math.min(next, position) - from, span);
        g.fillRect(x, middle(rows.value(row, 0)) - 0.35 * height, Math.max(1, end - x + 0.5), 0.7 * height);
      }
      setFont(g, colours, 13, 600);
      g.textAlign = "center";
      g.textBaseline = "bottom";
      g.fillStyle = colours.text;
      for (const at of this.#restarts) {
        if (at >= from && at <= position) g.fillText("▲", xOfStep(panel, at - from, span), panel.bottom + 2 * ratio);
      }
    });
  }
}

/**
 * Whether a measure can be known of what flows.
 * @param {Opening} opening
 * @param {number} measure
 */
function isKnown({ truth, labels }, measure) {
  return truth || measure === DENSITY || (measure === ACCURACY && labels.length > 0);
}
