// One card for each method: how it is drawn, its name, and its accuracy at this moment. Below, what the online
// learners are doing. The cards are the legend of the map and of the curves.

import { styleOf } from "./learners.js";
import { rowAt } from "./scales.js";

/** @import { Run } from "./protocol.js" */

const SVG = "http://www.w3.org/2000/svg";
const NONE = "…"; // not known yet
/** What the number of a card is, by what is known of the observations. */
const MEANINGS = {
  state: "The number is the share of all observations whose state it gets right.",
  label: "The number is the share of all observations whose state agrees with their label, each label matched with one state.",
  none: "The number is log p of an observation: of the next one for an online learner, of all for the others.",
};

export class Scores {
  /** @type {Map<string, HTMLElement>} */
  #values = new Map();
  /** @type {HTMLElement[]} */
  #lines = [];
  #madeFor = "";
  #meaning = "";

  /**
   * @param {HTMLElement} cards
   * @param {HTMLElement} doings
   */
  constructor(cards, doings) {
    this.cards = cards;
    this.doings = doings;
  }

  /**
   * @param {Run} run
   * @param {number} k
   */
  show(run, k) {
    const madeFor = [...run.learners, ...run.baselines, run.ceiling, { key: run.labels }].map((one) => one?.key).join();
    if (madeFor !== this.#madeFor) this.#make(run);
    this.#madeFor = madeFor;
    run.learners.forEach(({ key, judged, accuracies, densities, moments }, index) => {
      const row = judged ? rowAt(judged, k) : -1;
      this.#write(key, accuracies?.[row], densities?.[row]);
      const doing = moments[Math.max(0, rowAt(moments.map(([from]) => from), k))]?.[1] ?? "";
      setText(this.#lines[index], run.reached || !run.doing ? doing : `waits. ${run.doing} …`);
    });
    for (const { key, accuracies, densities } of run.baselines) this.#write(key, accuracies?.[0], densities?.[0]);
    if (run.ceiling) this.#write(run.ceiling.key, run.ceiling.accuracy ?? undefined);
  }

  /**
   * @param {string} key
   * @param {number | undefined} accuracy
   * @param {number} [density] where there are no labels
   */
  #write(key, accuracy, density) {
    const value = this.#values.get(key);
    const text = accuracy === undefined ? density?.toFixed(2).replace("-", "−") : `${(100 * accuracy).toFixed(1)} %`;
    if (value) setText(value, text ?? NONE);
  }

  /** @param {Run} run */
  #make({ learners, baselines, ceiling, labels }) {
    this.#meaning = MEANINGS[labels === "label" ? "label" : labels ? "state" : "none"];
    this.#values.clear();
    const cards = [
      ...learners.map(({ key, label, about }, index) => this.#card(key, label, about, lineIcon(index))),
      ...baselines.map(({ key, label, about }) => this.#card(key, label, about, dotIcon())),
      ...(ceiling ? [this.#card(ceiling.key, ceiling.label, ceiling.about, crossIcon())] : []),
    ];
    this.cards.replaceChildren(...cards);
    this.#lines = learners.map(() => document.createElement("span"));
    this.doings.replaceChildren(...learners.map(({ label }, index) => {
      const line = document.createElement("div"), name = document.createElement("b");
      name.textContent = `${label} `;
      line.append(name, this.#lines[index]);
      return line;
    }));
  }

  /**
   * @param {string} key
   * @param {string} label
   * @param {string} about
   * @param {SVGElement} icon
   */
  #card(key, label, about, icon) {
    const card = document.createElement("div"), name = document.createElement("dt"), value = document.createElement("dd");
    card.className = "card";
    card.dataset.method = key;
    card.title = `${about} ${this.#meaning}`;
    name.append(icon, label);
    card.append(name, value);
    this.#values.set(key, value);
    return card;
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text; // a page reader would read it again
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** @param {SVGElement[]} shapes */
function icon(...shapes) {
  const box = shape("svg", { viewBox: "0 0 34 12", width: 30, height: 11, "aria-hidden": "true", stroke: "currentColor" });
  box.append(...shapes);
  return box;
}

/** The line and the mark of a learner. @param {number} index */
function lineIcon(index) {
  const { dash, width, filled } = styleOf(index);
  const line = shape("line", { x1: 0, y1: 6, x2: 34, y2: 6, "stroke-width": width, "stroke-dasharray": dash.join(" ") });
  const fill = filled ? "currentColor" : "var(--st-background-color)";
  return icon(line, shape("circle", { cx: 17, cy: 6, r: 4.5, fill, "stroke-width": 2 }));
}

const dotIcon = () => icon(
  shape("line", { x1: 4, y1: 6, x2: 22, y2: 6, "stroke-width": 1.2 }),
  shape("circle", { cx: 4, cy: 6, r: 3, fill: "currentColor" }),
  shape("rect", { x: 20, y: 1, width: 13, height: 10, rx: 3, fill: "var(--st-background-color)", "stroke-width": 1.4 }),
);

const crossIcon = () => icon(shape("path", { d: "M12 1 L22 11 M22 1 L12 11", "stroke-width": 2.4 }));
