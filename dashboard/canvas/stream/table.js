// One line for each learner: how it is drawn, whether it is shown, and what one takes home of it.

import { grouped } from "../words.js";
import { lineIcon } from "./icons.js";

/** @import { Judged, LearnerAbout, Opening } from "./news.js" */

const NONE = "–", EM = "em";

/**
 * Headings, what they mean, and what must be known of what flows: its true parameters, or labels at least.
 * @type {{ name: string, meaning: (opening: Opening) => string, needs?: "truth" | "labels" }[]}
 */
const COLUMNS = [
  {
    name: "Accuracy (%)",
    meaning: ({ truth, window }) => truth
      ? `Share of the states found among the latest ${window} observations, each from what was seen until then.`
      : `Share of the latest ${window} labels that the states agree with, each from what was seen until then.`,
    needs: "labels",
  },
  {
    name: "Recovered after",
    meaning: () => "Observations from the last event until the beginning of 500 in a row in which it is within 1 % of the ceiling.",
    needs: "truth",
  },
  {
    name: "States lost",
    meaning: () => "How many more states the ceiling has found than the learner between the last event and its recovery, or so far.",
    needs: "truth",
  },
  { name: "Log density", meaning: ({ window }) => `Mean predictive log density of the latest ${window} observations: higher is better.` },
  { name: "Memory (KB)", meaning: () => "What the learner holds to go on. It stays the same, however long the stream is." },
  { name: "Time (µs)", meaning: () => "Processor time of learning from one observation, of late. At a low pace observations come in small pieces, which cost more each." },
];

export class Table {
  /** @type {Map<string, HTMLTableCellElement[]>} */
  #cells = new Map();
  /** @type {Set<string>} */
  #hidden = new Set();
  refit = document.createElement("button");
  #when = document.createElement("span");
  /** The columns that are shown. */
  #columns = COLUMNS;

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

  /** @param {Opening} opening */
  begin(opening) {
    const { learners, truth, labels } = opening, known = { truth, labels: truth || labels.length > 0 };
    this.#columns = COLUMNS.filter(({ needs }) => !needs || known[needs]);
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    head.append(element("th", "Learner"), ...this.#columns.map(({ name, meaning }) => element("th", name, meaning(opening))));
    const body = table.createTBody();
    this.#cells.clear();
    for (const learner of learners) this.#addRow(body, learner.key, this.#name(learner), learner.about);
    const ceiling = document.createElement("label");
    ceiling.append(lineIcon("currentColor", [1.5, 3.5], null), "Ceiling");
    if (truth) this.#addRow(body, "ceiling", ceiling, "The filter under the true parameters of the moment: no learner beats it on average.");
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
    this.#cells.set(key, this.#columns.map(() => row.insertCell()));
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
   * @param {number} density
   * @param {Judged | null} judged
   */
  show(key, accuracy, density, judged) {
    if (judged && key === EM) this.#showFit(judged);
    const hasEvent = judged !== null && judged.event !== null;
    /** @type {Record<string, string>} */
    const values = {
      "Accuracy (%)": Number.isFinite(accuracy) ? (100 * accuracy).toFixed(1) : NONE,
      "Log density": Number.isFinite(density) ? density.toFixed(2).replace("-", "−") : NONE,
      ...(judged && {
        "Recovered after": !hasEvent ? NONE : judged.steps === null ? "not yet" : grouped(judged.steps),
        "States lost": hasEvent ? grouped(judged.lost) : NONE,
        "Memory (KB)": judged.nbytes ? (judged.nbytes / 1000).toFixed(1) : NONE,
        "Time (µs)": judged.micros === null ? NONE : judged.micros.toFixed(1),
      }),
    };
    this.#cells.get(key)?.forEach((cell, index) => {
      const text = values[this.#columns[index].name] ?? "";
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
