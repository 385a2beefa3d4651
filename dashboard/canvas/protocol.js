// The browser's half of the protocol that dashboard/canvas/protocol.py describes as a whole.

/**
 * @import { ChartAbout } from "./charts/chart.js"
 * @import { Place } from "./viewport.js"
 */

/**
 * What every message has.
 * @typedef {object} Versioned
 * @property {number | string} version
 * @property {number | string | null} continues the version that it adds to; null if it is whole
 */

/**
 * The true model. Means are in map coordinates.
 * @typedef {object} Truth
 * @property {[number, number][]} means
 * @property {number[]} sigmas
 * @property {number[][]} transmat
 * @property {number[][]} [balls] the σ-balls as ellipses, for charts that need them: cx, cy, rx, ry, angle
 * @property {number[][]} [glyphs] the ellipses that stand for the means, where points are ellipses: rx, ry, angle
 * @property {boolean[]} [away] the states that the chain does not visit for a while
 */

/** By what observations are coloured; "plain" is one grey for all. @typedef {"plain" | "decoded" | "true"} Colour */

/**
 * What a link keeps of the picture.
 * @typedef {Place & { version: number, show: string[], colour: Colour, k: number | null }} View
 */

/**
 * A method beside the online learners. It has no arrays before it is computed.
 * @typedef {object} Baseline
 * @property {string} key as the view's `show` has it
 * @property {string} label
 * @property {string} letter that switches it on and off
 * @property {string} about what it is, in a sentence
 * @property {boolean} path whether its means are those of all its iterates, one after the other
 * @property {Float32Array} [accuracies] (1,)
 * @property {Float32Array} [densities] (1,) where there are no labels: log p of an observation
 * @property {Float32Array} [means] (iterates, N, 2)
 * @property {Float32Array} [transmat] (N, N)
 * @property {Float32Array} [errors] one of each of the run's measures
 */

/**
 * What the path of a learner is made of: each array has a row for each of F moments.
 * @typedef {object} Path
 * @property {Int32Array} steps (F,) the number of observations
 * @property {Float32Array} means (F, N, 2)
 * @property {Float32Array} transmat (F, N, N)
 * @property {Float32Array} sigmas (F, N)
 * @property {Float32Array} errors (F, E) one of each of the run's measures
 * @property {Float32Array} [balls] (F, N, 5) as in the truth
 * @property {Float32Array} [glyphs] (F, N, 3) as in the truth
 */

/**
 * An online learner. The first one leads: the picture shows what it holds and how it decodes.
 * @typedef {object} LearnerAbout
 * @property {string} key
 * @property {string} label
 * @property {string} about what it is, in a sentence
 * @property {number} held how many observations it holds
 * @property {[number, string][]} moments from so many observations on it does what the sentence says
 * @property {Int32Array} [judged] (J,) after so many observations, once it has finished,
 * @property {Float32Array} [accuracies] (J,) it has these accuracies,
 * @property {Float32Array} [densities] (J,) or where there are no labels, these log p of the next observation
 */

/** @typedef {LearnerAbout & Path} Learner */

/**
 * @typedef {object} RunAbout
 * @property {string} id the same for the same experiment
 * @property {number} version
 * @property {number | null} continues
 * @property {number} acknowledged
 * @property {ChartAbout} chart
 * @property {number} states how many are learned
 * @property {Truth} truth without states where none is known, as of a recording
 * @property {string | null} labels what else than decoded states observations may be coloured by
 * @property {{ title: string, is_ratio: boolean }[]} measures what is drawn below A; ratios on a scale of decades
 * @property {number} length of the chain
 * @property {number} stride observations between two rows of a path
 * @property {number} reached how many observations have been learned
 * @property {boolean} over whether no more of it will come
 * @property {string} doing what the server is doing for it, until it is over
 * @property {View} view
 * @property {Learner[]} learners
 * @property {Baseline[]} baselines
 * @property {{ key: string, label: string, about: string, accuracy: number | null } | null} ceiling the true parameters
 */

/** All that is known of a run. @typedef {RunAbout} Run */

/**
 * The observations, or every `stride`-th of them.
 * @typedef {object} Points
 * @property {Float32Array} xy (T, 2)
 * @property {Int8Array} states
 * @property {Int8Array} [decoded] the states by the leading learner
 * @property {Uint8Array} [shares] (T, N) their probabilities, in 255ths
 * @property {Float32Array} [distances] (T, N) to its means, for charts that cannot measure them
 * @property {string} [decoder] the name of the leading learner
 * @property {Float32Array} [glyphs] (T, 3) as in the truth
 * @property {number} stride
 */

/** The observations of a run. @typedef {Points & { id: string, version: string, continues: string | null }} Cloud */

/**
 * A true model alone.
 * @typedef {Omit<Points, "stride"> & { chart: ChartAbout, truth: Truth, acknowledged: number }} Sketched
 */

const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array };

/**
 * What `protocol.pack` has packed: the fields of the text and the arrays, side by side.
 * @param {Uint8Array} bytes
 * @returns {any} whose type the caller knows
 */
export function unpack(bytes) {
  // a copy, because a typed array must begin at a multiple of its item size
  const buffer = bytes.slice().buffer;
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = Math.ceil((4 + length) / 8) * 8;
  /** @type {Record<string, Int8Array | Uint8Array | Int32Array | Float32Array>} */
  const arrays = {};
  for (const { name, type, offset, count } of head.arrays) {
    const arrayType = ARRAY_TYPES[/** @type {keyof typeof ARRAY_TYPES} */ (type)];
    arrays[name] = new arrayType(buffer, begin + offset, count);
  }
  return { ...head.about, ...arrays };
}

/**
 * What is known after a message; null if it adds to a version that this browser does not have.
 * @template {Versioned} T
 * @param {T | null} known
 * @param {T} news
 * @param {(known: T, news: T) => T} joined
 * @returns {T | null}
 */
export function received(known, news, joined) {
  if (news.continues === null) return news;
  if (news.version === known?.version) return known; // Streamlit may hand over the same message again
  return known && news.continues === known.version ? joined(known, news) : null;
}

/**
 * The run of a message, with the arrays of each method in its place: they are named "em.means" and so on.
 * @param {Uint8Array} bytes
 * @returns {Run}
 */
export function unpackRun(bytes) {
  /** @type {Record<string, any>} */
  const run = {};
  const { learners, baselines, ...message } = unpack(bytes);
  const copies = (/** @type {object[]} */ methods) => methods.map((method) => ({ ...method }));
  const about = { learners: copies(learners), baselines: copies(baselines) };
  const byKey = new Map([...about.learners, ...about.baselines].map((/** @type {any} */ method) => [method.key, method]));
  for (const [name, value] of Object.entries(message)) {
    const [key, field] = name.split(".");
    if (field) byKey.get(key)[field] = value;
    else run[name] = value;
  }
  return /** @type {Run} */ ({ ...run, ...about });
}

const PATH = /** @type {const} */ (["steps", "means", "transmat", "sigmas", "errors", "balls", "glyphs"]);

/**
 * The run as it was known and what is new of it.
 * @param {Run} known
 * @param {Run} news
 * @returns {Run}
 */
export function joinedRun(known, news) {
  const learners = news.learners.map((learner, index) => joinedLearner(known.learners[index], learner));
  const before = new Map(known.baselines.map((baseline) => [baseline.key, baseline]));
  const baselines = news.baselines.map((baseline) => ({ ...before.get(baseline.key), ...baseline }));
  return { ...known, ...news, learners, baselines };
}

/**
 * @param {Learner} known
 * @param {Learner} news
 * @returns {Learner}
 */
function joinedLearner(known, news) {
  const path = PATH.filter((name) => known[name] && news[name])
    .map((name) => [name, joined(known[name], news[name])]);
  return { ...known, ...news, ...Object.fromEntries(path) };
}

/**
 * @param {any} begin a typed array
 * @param {any} end another of its kind
 */
function joined(begin, end) {
  const whole = new begin.constructor(begin.length + end.length);
  whole.set(begin);
  whole.set(end, begin.length);
  return whole;
}

/**
 * Means that were moved here and that Python has not acknowledged yet. Here they count as the truth.
 */
export class Pending {
  /** @type {Map<number, { place: [number, number], number: number, chart: string }>} */
  #changes = new Map();
  #number = 0;

  /**
   * Python has seen all changes up to this number, and has accepted or refused them.
   * @param {number} number
   */
  acknowledge(number) {
    this.#number = Math.max(this.#number, number); // a canvas before this one may have sent some
    for (const [state, change] of this.#changes) if (change.number <= number) this.#changes.delete(state);
  }

  /**
   * Where this mean was dropped, if Python has not acknowledged that.
   * @param {number} state
   */
  placeOf(state) {
    return this.#changes.get(state)?.place;
  }

  /**
   * Means were dropped.
   * @param {Map<number, [number, number]>} places by state
   * @param {string} chart the id of the map that they were dropped on, "" if it has none
   * @returns {Moved} what to send: all that is pending, because a message that comes while Python is busy
   *   replaces the one before
   */
  add(places, chart = "") {
    this.#number += 1;
    for (const [state, place] of places) this.#changes.set(state, { place, number: this.#number, chart });
    const pending = [...this.#changes].map(([state, { place: [x, y], chart }]) => {
      return chart ? { state, x, y, chart } : { state, x, y };
    });
    return { number: this.#number, pending };
  }

  clear() {
    this.#changes.clear();
  }
}

/** @typedef {{ number: number, pending: { state: number, x: number, y: number, chart?: string }[] }} Moved */

/**
 * What Streamlit hands to a component.
 * @typedef {object} Component
 * @property {Uint8Array} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/** All that a canvas says to Python. */
export class Sender {
  /** @param {Component} component */
  constructor({ setStateValue, setTriggerValue }) {
    this.setStateValue = setStateValue;
    this.setTriggerValue = setTriggerValue;
  }

  /** @param {Moved} moved */
  moved(moved) {
    this.setTriggerValue("moved", moved);
  }

  /**
   * The time is sent too: Python may have another view since it was sent the same one.
   * @param {View} view
   */
  view(view) {
    this.setStateValue("view", { ...view, at: Date.now() });
  }

  /**
   * The script or the pace of an endless stream is another one. The server has both: the time tells that it is so.
   * @param {number} pace
   */
  changed(pace) {
    this.setStateValue("changed", { pace, at: Date.now() });
  }

  /** Not a trigger: that would replace one by which means were moved. */
  missing() {
    this.setStateValue("missing", Date.now());
  }
}
