// What of the picture is switched on. The page's own switches stand in the markup; those of the baselines are made
// from the list in the message.

import { SWITCHES } from "./shared.js";

/** @import { Baseline } from "./protocol.js" */

/** Names of switches and keys of baselines. @typedef {ReadonlySet<string>} Shown */

export class Switches {
  /** @type {Set<string>} */
  #shown = new Set();
  /** @type {string[]} */
  #keys = [];

  /**
   * @param {HTMLElement} box that holds the switches
   * @param {() => void} onChange
   */
  constructor(box, onChange) {
    this.box = box;
    box.addEventListener("change", ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return; // a list of choices
      if (target.checked) this.#shown.add(target.name);
      else this.#shown.delete(target.name);
      onChange();
    });
  }

  /** @returns {Shown} */
  get shown() {
    return this.#shown;
  }

  /** Those that are on, as the view names them. */
  get names() {
    return [...SWITCHES, ...this.#keys].filter((name) => this.#shown.has(name));
  }

  /** @param {string[]} names of those that are to be on; all others are off */
  set(names) {
    this.#shown = new Set(names);
    for (const input of this.#inputs()) input.checked = this.#shown.has(input.name);
  }

  /** @param {string} name of a switch to turn on or off, if it can be used */
  toggle(name) {
    const input = [...this.#inputs()].find((one) => one.name === name);
    if (!input || input.disabled) return;
    this.set(this.#shown.has(name) ? [...this.#shown].filter((one) => one !== name) : [...this.#shown, name]);
  }

  /**
   * A switch for each of these baselines. It cannot be used before its baseline is computed.
   * @param {Baseline[]} baselines
   */
  offer(baselines) {
    const keys = baselines.map(({ key }) => key);
    if (String(keys) !== String(this.#keys)) {
      this.#keys = keys;
      for (const input of this.#inputs()) if (!SWITCHES.includes(input.name)) input.parentElement?.remove();
      this.box.querySelector("label:has(input)")?.before(...baselines.map((baseline) => this.#make(baseline)));
    }
    for (const input of this.#inputs()) {
      const baseline = baselines.find(({ key }) => key === input.name);
      if (baseline) input.disabled = !baseline.means;
    }
  }

  /** @param {Baseline} baseline */
  #make({ key, label: name, letter, about }) {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", name: key, checked: this.#shown.has(key) });
    label.title = about;
    label.append(input, ` ${name} (${letter})`);
    return label;
  }

  /** @returns {NodeListOf<HTMLInputElement>} */
  #inputs() {
    return this.box.querySelectorAll("input[type=checkbox]");
  }
}
