// One line for each learner: how it is drawn, whether it is shown, and what one takes home of it.

import { cornersOf } from "../marks.js";
import { grouped } from "../words.js";

/** @import { Judged, LearnerAbout } from "./news.js" */

const SVG = "http://www.w3.org/2000/svg";
const NONE = "–", EM = "em";

/** Headings, and what they mean. @type {[string, string][]} */
const COLUMNS = [
  ["Accuracy (%)", "Share of the states found among the latest 500 observations, each from what was seen until then."],
  ["Recovered after", "Observations from the last event until the beginning of 500 in a row in which it is within 1 % of the ceiling."],
  ["States lost", "How many more states the ceiling has found than the learner between the last event and its recovery, or so far."],
  ["Memory (KB)", "What the learner holds to go on. It stays the same, however long the stream is."],
  ["Time (µs)", "Processor time of learning from one observation, of late. At a low pace observations come in small pieces, which cost more each."],
];

export class Table {
  /** @type {Map<string, HTMLTableCellElement[]>} */
  #cells = new Map();
  /** @type {Set<string>} */
  #hidden = new Set();
  refit = document.createElement("button");
  #when = document.createElement("span");

  /**
   * @param {HTMLElement} box
   * @param {{ onChange: () => void, onRefit: () => void }} listeners
   */
  constructor(box, { onChange, onRefit }) {
    this.box = box;
    this.onChange = onChange;
    this.refit.type = "button";
    this.refit.className = "refit";
    this.refit.addEventListener("click", onRefit);
  }

  /** @param {string} key */
  isShown(key) {
    return !this.#hidden.has(key);
  }

  /** @param {LearnerAbout[]} learners */
  begin(learners) {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    head.append(element("th", "Learner"), ...COLUMNS.map(([name, meaning]) => element("th", name, meaning)));
    const body = table.createTBody();
    this.#cells.clear();
    for (const learner of learners) this.#addRow(body, learner.key, this.#name(learner), learner.about);
    const truth = document.createElement("label");
    truth.append(lineIcon("currentColor", [1.5, 3.5], null), "Ceiling");
    this.#addRow(body, "ceiling", truth, "The filter under the true parameters of the moment: no learner beats it on average.");
    this.box.replaceChildren(table);
  }

  /**
   * @param {HTMLTableSectionElement} body
   * @param {string} key
   * @param {HTMLElement} name
   * @param {string} about
   */
  #addRow(body, key, name, about) {
    const row = body.insertRow(), head = element("th", "", about);
    head.append(name);
    row.append(head);
    row.dataset.learner = key;
    this.#cells.set(key, COLUMNS.map(() => row.insertCell()));
  }

  /** @param {LearnerAbout} learner */
  #name({ key, label: text, colour, dash, mark }) {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", checked: this.isShown(key), name: key });
    input.addEventListener("change", () => {
      if (input.checked) this.#hidden.delete(key);
      else this.#hidden.add(key);
      this.onChange();
    });
    label.append(input, lineIcon(colour, dash, mark), text);
    if (key !== EM) return label;
    label.append(this.#when);
    const both = document.createElement("span");
    both.append(label, this.refit);
    return both;
  }

  /** Say when EM was fitted. @param {Judged} judged */
  #showFit({ fitted, busy }) {
    this.#when.textContent = fitted === null ? "" : `fitted at k = ${grouped(fitted)}`;
    this.refit.textContent = busy ? "fitting …" : fitted === null ? "Fit to the last 10,000" : "Refit";
    this.refit.disabled = busy;
  }

  /**
   * @param {string} key
   * @param {number} accuracy
   * @param {Judged | null} judged
   */
  show(key, accuracy, judged) {
    const values = [Number.isFinite(accuracy) ? (100 * accuracy).toFixed(1) : NONE];
    if (judged && key === EM) this.#showFit(judged);
    if (judged) {
      values.push(
        judged.event === null ? NONE : judged.steps === null ? "not yet" : grouped(judged.steps),
        judged.event === null ? NONE : grouped(judged.lost),
        judged.nbytes ? (judged.nbytes / 1000).toFixed(1) : NONE,
        judged.micros === null ? NONE : judged.micros.toFixed(1),
      );
    }
    this.#cells.get(key)?.forEach((cell, index) => {
      const text = values[index] ?? "";
      if (cell.textContent !== text) cell.textContent = text; // a page reader would read it again
    });
  }
}

/**
 * @param {"th"} name
 * @param {string} text
 * @param {string} [title]
 */
function element(name, text, title) {
  const made = document.createElement(name);
  made.textContent = text;
  if (title) made.title = title;
  return made;
}

/**
 * The line of a learner with its mark in the middle.
 * @param {string} colour
 * @param {number[]} dash
 * @param {number | null} mark
 */
function lineIcon(colour, dash, mark) {
  const icon = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 34 12", width: "34", height: "12", "aria-hidden": "true" })) {
    icon.setAttribute(name, value);
  }
  const line = document.createElementNS(SVG, "line");
  const shape = { x1: "0", y1: "6", x2: "34", y2: "6", stroke: colour, "stroke-width": "2.2", "stroke-dasharray": dash.join(" ") };
  for (const [name, value] of Object.entries(shape)) line.setAttribute(name, value);
  icon.append(line);
  if (mark !== null) {
    const outline = document.createElementNS(SVG, "path");
    outline.setAttribute("d", outlineOf(mark, 17, 6, 4.4));
    outline.setAttribute("fill", colour);
    outline.setAttribute("stroke", "var(--st-background-color)");
    icon.append(outline);
  }
  return icon;
}

/**
 * The outline of a mark as a path of an SVG.
 * @param {number} mark
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function outlineOf(mark, x, y, size) {
  const corners = cornersOf(mark, x, y, size);
  if (!corners.length) return `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`;
  return `M${corners.map((corner) => corner.map((value) => value.toFixed(2)).join(" ")).join("L")}Z`;
}
