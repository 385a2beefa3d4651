// Which moment of a run is shown, and how that goes on. It knows nothing of the page but whether people want motion.

import { prefersStillness } from "./screen.js";

/** @import { Run, View } from "./protocol.js" */

const SECONDS_AT_NORMAL_SPEED = 9; // from the first observation to the last
const LONGEST_PAUSE = 0.1; // seconds between two frames; a page that was hidden does not jump

export class Player {
  /** @type {Run | null} */
  run = null;
  /** In observations; between two of them things are drawn between. */
  position = 0;
  playing = false;
  speed = 1;
  /** The number of observations that is asked for and that the run may not have reached yet. @type {number | null} */
  #opensAt = null;
  /** @type {number | null} */
  #last = null;

  /** @param {() => void} onPlaying called after it has begun or ended to play */
  constructor(onPlaying) {
    this.onPlaying = onPlaying;
  }

  /**
   * Take what is known of a run.
   * @param {Run} run
   * @param {View | null} opened the view of a link that was just opened
   * @returns {boolean} whether it is another run, or one that has begun anew
   */
  receive(run, opened) {
    const isNew = run.id !== this.run?.id || isBehind(run, this.run);
    const { atEnd } = this;
    if (opened) this.#opensAt = opened.k;
    else if (isNew) this.#opensAt = this.moment; // a visitor who has stopped to look stays there
    this.run = run;
    if (opened || isNew) this.#restart();
    else if (this.#opensAt !== null) this.#openAt(this.#opensAt);
    else if (atEnd && prefersStillness()) this.position = Infinity; // the end, as far as it is known
    this.position = Math.min(this.position, this.#newest);
    return isNew;
  }

  /** As many observations as have been learned. */
  get #newest() {
    return this.run?.reached ?? 0;
  }

  get atEnd() {
    return this.position >= this.#newest;
  }

  /** Whether the next frame will be another one than this. */
  get moves() {
    return this.playing && !this.atEnd;
  }

  /** The number of observations at which the visitor has stopped it; null if it plays or is over. */
  get moment() {
    if (this.#opensAt !== null) return this.#opensAt;
    if (!this.run?.reached || this.playing) return null;
    const isEnd = this.atEnd && (this.run.over || prefersStillness());
    return isEnd ? null : Math.floor(this.position);
  }

  /**
   * Stand there; a run that is being computed may not have come so far.
   * @param {number} step
   */
  #openAt(step) {
    const { reached, over } = /** @type {Run} */ (this.run);
    this.position = Math.min(step, reached);
    this.#opensAt = over || reached >= step ? null : step;
  }

  /** Stand at the moment that is asked for, or play from the start. */
  #restart() {
    this.#play(this.#opensAt === null && !prefersStillness());
    if (this.#opensAt !== null) this.#openAt(this.#opensAt);
    else this.position = this.playing ? 0 : Infinity;
  }

  /** @param {boolean} playing */
  #play(playing) {
    if (playing && this.run?.over && this.atEnd) this.position = 0;
    this.playing = playing;
    this.#last = null;
    this.onPlaying();
  }

  playOrPause() {
    this.#opensAt = null;
    this.#play(!this.playing);
  }

  /** @param {number} by rows of the learners' paths */
  step(by) {
    const stride = this.run?.stride ?? 1, here = this.position / stride;
    this.show(stride * ((by > 0 ? Math.floor(here) : Math.ceil(here)) + by));
  }

  /** @param {number} position at which it then stands */
  show(position) {
    if (this.playing) this.#play(false);
    this.#opensAt = null;
    this.position = Math.min(Math.max(0, position), this.#newest);
  }

  /**
   * Go on to this moment of the page's clock.
   * @param {number} now in milliseconds
   */
  advance(now) {
    const { run } = this, newest = this.#newest;
    if (!run || !this.playing) return;
    const seconds = this.#last === null ? 0 : Math.min(LONGEST_PAUSE, (now - this.#last) / 1000);
    this.#last = now;
    const normal = run.length / SECONDS_AT_NORMAL_SPEED;
    // data of a running computation arrive in bursts: ease towards the newest instead of jumping
    const behind = run.over ? 0 : Math.max(0, newest - this.position);
    this.position = Math.min(newest, this.position + seconds * Math.max(normal * this.speed, behind * 1.5));
    if (this.position >= newest && run.over) this.#play(false);
  }
}

/**
 * Whether less is known than before: what was stopped may run again.
 * @param {Run} run
 * @param {Run} before
 */
function isBehind(run, before) {
  return (before.over && !run.over) || run.reached < before.reached;
}
