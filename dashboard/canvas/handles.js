// The true means in people's hands: a button over each, to be dragged by mouse and finger or moved by keys.

import { Pending } from "./protocol.js";
import { meanName, subscript } from "./words.js";

/**
 * @import { Moved, Truth } from "./protocol.js"
 * @import { Scene } from "./scene.js"
 */

const PATIENCE = 500; // milliseconds without a key until a mean that was moved by keys is dropped

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Handles {
  /** Where the means are now. @type {[number, number][]} */
  means = [];
  /** @type {Truth | null} */
  #truth = null;
  /** The state whose mean is under the pointer. @type {number | null} */
  #dragged = null;
  /** States whose means were moved and not dropped yet. @type {Set<number>} */
  #moved = new Set();
  #pending = new Pending();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #dropping;

  /**
   * @param {HTMLElement} box over the canvas of the scene; the buttons go into it
   * @param {Scene} scene
   * @param {{ onMove: () => void, onDrop: (moved: Moved) => void }} listeners
   */
  constructor(box, scene, { onMove, onDrop }) {
    this.box = box;
    this.scene = scene;
    this.onMove = onMove;
    this.onDrop = onDrop;
  }

  /**
   * Python says what is true, and may have refused a place. But a mean in the visitor's hand stays there, and so
   * does one that was dropped where Python has not acknowledged it.
   * @param {Truth} truth
   * @param {number} acknowledged
   */
  setTruth(truth, acknowledged) {
    if (truth.means.length !== this.means.length) {
      this.#dragged = null;
      this.#moved.clear();
      this.#pending.clear();
    }
    this.#pending.acknowledge(acknowledged);
    this.#truth = truth;
    const inHand = (/** @type {number} */ state) => state === this.#dragged || this.#moved.has(state);
    this.means = truth.means.map((_, state) => (inHand(state) ? this.means[state] : this.#placeOf(state)));
  }

  /** Put each button over its mean. */
  place() {
    const { chart, canvas } = this.scene, truth = this.#truth;
    if (!chart || !truth) return;
    if (this.box.children.length !== this.means.length) {
      this.box.replaceChildren(...this.means.map((_, state) => this.#makeHandle(state)));
    }
    const ratio = canvas.width / (canvas.getBoundingClientRect().width || 1), seen = chart.window;
    this.means.forEach(([x, y], state) => {
      const handle = /** @type {HTMLElement} */ (this.box.children[state]), [sx, sy] = chart.toScreen(x, y);
      handle.style.left = `${sx / ratio}px`;
      handle.style.top = `${sy / ratio}px`;
      const isSeen = sx >= seen.x && sy >= seen.y && sx <= seen.x + seen.width && sy <= seen.y + seen.height;
      handle.style.visibility = isSeen ? "visible" : "hidden";
      const [across, up] = [x, y].map((value) => value.toFixed(chart.digits));
      handle.setAttribute(
        "aria-label",
        `True mean ${state + 1} at ${across}, ${up}: drag it, or move it with the arrow keys`,
      );
      const sigma = `σ${subscript(state + 1)} = ${truth.sigmas[state]}`;
      handle.title = `true ${meanName(state)} ${chart.words.at} (${across}, ${up}), ${sigma}`;
    });
  }

  /** @param {number} state */
  #makeHandle(state) {
    const handle = document.createElement("button");
    handle.className = "handle";
    handle.type = "button";
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      this.#dragged = state;
    });
    handle.addEventListener("pointermove", (event) => {
      const { chart, viewport } = this.scene;
      if (this.#dragged !== state || !chart) return;
      this.#move(state, chart.fromScreen(...viewport.fromClient(event.clientX, event.clientY)));
    });
    handle.addEventListener("pointerup", () => {
      this.#dragged = null;
      this.drop();
    });
    handle.addEventListener("pointercancel", () => {
      this.#dragged = null;
      this.#moved.delete(state);
      this.means[state] = this.#placeOf(state);
      this.place();
      this.onMove();
      this.drop();
    });
    handle.addEventListener("keydown", (event) => this.#key(state, event));
    return handle;
  }

  /**
   * @param {number} state
   * @param {KeyboardEvent} event
   */
  #key(state, event) {
    const way = ARROWS[event.key], { chart } = this.scene;
    if (!way || !chart) return;
    event.preventDefault();
    event.stopPropagation(); // here the arrows move the mean; elsewhere they step through time
    const step = 10 ** (1 - chart.digits) * (event.shiftKey ? 5 : 1), [x, y] = this.means[state];
    this.#move(state, [x + way[0] * step, y + way[1] * step]);
    clearTimeout(this.#dropping);
    this.#dropping = setTimeout(() => this.drop(), PATIENCE);
  }

  /**
   * @param {number} state
   * @param {[number, number]} place
   */
  #move(state, place) {
    const { chart } = this.scene;
    if (!chart) return;
    this.#moved.add(state);
    this.means[state] = chart.withinReach(...place);
    this.place();
    this.onMove();
  }

  /**
   * Where this mean is when it is not held: where it was dropped last, else where Python says.
   * @param {number} state
   * @returns {[number, number]}
   */
  #placeOf(state) {
    const [x, y] = this.#pending.placeOf(state) ?? /** @type {Truth} */ (this.#truth).means[state];
    return [x, y];
  }

  /** Tell Python where the means that were moved are now, all at once, unless one is still in the hand. */
  drop() {
    const { chart } = this.scene;
    clearTimeout(this.#dropping);
    if (this.#dragged !== null || !chart) return;
    const unit = 10 ** chart.digits;
    /** @type {Map<number, [number, number]>} */
    const places = new Map();
    for (const state of this.#moved) {
      const [x, y] = this.means[state].map((value) => Math.round(value * unit) / unit);
      // a mere click moves nothing, and must not round what was typed
      if (String([x, y]) !== String(this.#placeOf(state))) places.set(state, [x, y]);
    }
    const message = places.size ? this.#pending.add(places, chart.id) : null;
    for (const state of this.#moved) this.means[state] = this.#placeOf(state);
    this.#moved.clear();
    if (message) this.onDrop(message);
  }

  /** What the visitor holds is dropped where it is; the next `drop` sends it to Python. */
  letGo() {
    this.#dragged = null;
    clearTimeout(this.#dropping);
  }

  close() {
    clearTimeout(this.#dropping);
  }
}
