// What arrives from an endless stream, and what is kept of it: as much as the picture shows.

/** @import { ChartAbout } from "../charts/chart.js" */

/** @typedef {{ at: number, ends: number, label: string }} Event */

/**
 * @typedef {object} Judged
 * @property {number | null} micros processor time for an observation
 * @property {number} nbytes memory that it holds
 * @property {number | null} event when the last event came
 * @property {number | null} steps until it had recovered
 * @property {number} lost
 * @property {number | null} memory the one that an automatic learner follows, by its place in `memories`
 * @property {number[]} restarts
 * @property {number | null} fitted when EM was fitted last
 * @property {boolean} busy whether it is being fitted
 */

/**
 * @typedef {object} LearnerAbout
 * @property {string} key
 * @property {string} label
 * @property {string} about
 * @property {string} colour
 * @property {number} mark the state whose shape its mark has
 * @property {number[]} dash
 */

/**
 * All about a stream that does not change.
 * @typedef {object} Opening
 * @property {string} id
 * @property {string} address
 * @property {number} pace
 * @property {[number, number]} paces
 * @property {LearnerAbout[]} learners
 * @property {string[]} memories
 * @property {boolean} truth whether the true parameters are known; those of a recording are not
 * @property {string[]} labels of a recording, if it has such
 * @property {number | null} length of a recording
 * @property {number} window observations of every rolling measure
 * @property {boolean} counts whether a learner finds the number of states by itself
 * @property {{ name: string, label: string }[]} happenings
 */

/**
 * What one message says: L learners, N true states, S states with a name, M observations, R rows of the curves.
 * @typedef {object} News
 * @property {number} taken observations so far
 * @property {boolean} playing
 * @property {number} pace
 * @property {number} reached observations a second, of late
 * @property {number} sharing streams that share a process
 * @property {number} acknowledged
 * @property {string} refused
 * @property {boolean} over whether a recording has come to its end
 * @property {ChartAbout} [chart] in the first message
 * @property {Event[]} [events] if they have changed
 * @property {Judged[]} judged
 * @property {boolean[]} exists
 * @property {number[]} sigmas
 * @property {Float32Array} means (N, 2)
 * @property {Float32Array} learned (L, S, 2)
 * @property {Float32Array} [balls] (N, 5)
 * @property {Float32Array} [mean_glyphs] (N, 3)
 * @property {Int32Array} steps (R,) counted from `taken`
 * @property {Float32Array} measures (R, L, 5)
 * @property {Float32Array} ceiling (R, 3)
 * @property {number} [first] the number of the first observation
 * @property {number} [stride] between two of them
 * @property {Float32Array} [xy] (M, 2)
 * @property {Float32Array} [glyphs] (M, 3)
 * @property {Int8Array} [states] (M,)
 * @property {Int8Array} [decoded] (L, M)
 */

/** Rows of equal width, the latest so many; each has a number, and these rise. */
export class Rows {
  #first = 0;
  length = 0;

  /**
   * @param {number} width
   * @param {number} room for how many rows
   */
  constructor(width, room) {
    this.width = width;
    this.room = room;
    this.steps = new Float64Array(room);
    this.values = new Float32Array(room * width);
  }

  /**
   * @param {number} step
   * @param {ArrayLike<number>} row
   */
  push(step, row) {
    if (this.length && step <= this.step(this.length - 1)) return; // it was here before
    const place = (this.#first + this.length) % this.room;
    this.steps[place] = step;
    for (let i = 0; i < this.width; i++) this.values[place * this.width + i] = row[i];
    if (this.length < this.room) this.length += 1;
    else this.#first = (this.#first + 1) % this.room;
  }

  /** The number of a row, by its place from the oldest. @param {number} row */
  step(row) {
    return this.steps[(this.#first + row) % this.room];
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  value(row, column) {
    return this.values[((this.#first + row) % this.room) * this.width + column];
  }

  /** The first row whose number is at least this. @param {number} step */
  from(step) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.step(middle) < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where the picture is: it glides from one message to the next, so that it moves between them, too. */
export class Playhead {
  /** In observations. */
  position = 0;
  #from = 0;
  #to = 0;
  #since = 0;
  /** Milliseconds between two messages, of late. */
  #every = 100;

  /**
   * A message has come that says so many observations.
   * @param {number} taken
   * @param {number} now in milliseconds
   */
  arrive(taken, now) {
    const gap = Math.min(1000, now - this.#since);
    this.#every += 0.2 * (gap - this.#every);
    this.#from = this.position;
    this.#to = taken;
    this.#since = now;
  }

  /** @param {number} now in milliseconds */
  advance(now) {
    const share = Math.min(1, (now - this.#since) / Math.max(16, 1.1 * this.#every));
    this.position = this.#from + share * (this.#to - this.#from);
  }

  /** Whether the next frame will be another one than this. */
  get moves() {
    return this.position < this.#to;
  }
}

/** The truth of a message, as the map takes it. @param {News} news */
export function truthOf({ means, sigmas, exists, balls, mean_glyphs: glyphs }) {
  const rows = (/** @type {Float32Array} */ values, /** @type {number} */ width) => sigmas.map((_, state) => {
    return Array.from({ length: width }, (_, i) => Number(values[width * state + i].toFixed(6)));
  });
  return {
    means: /** @type {[number, number][]} */ (rows(means, 2)),
    sigmas,
    transmat: [],
    away: exists.map((there) => !there),
    ...(balls ? { balls: rows(balls, 5) } : {}),
    ...(glyphs ? { glyphs: rows(glyphs, 3) } : {}),
  };
}
