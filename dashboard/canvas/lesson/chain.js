// The chain: a token walks the diagram, and each state that it comes to emits a point. Then the states are hidden.

import { colourOf } from "../marks.js";
import { element } from "./element.js";

/** @import { Stage } from "./stage.js" */

/**
 * @typedef {object} Walk
 * @property {string} diagram SVG, each arrow with data-from and data-to
 * @property {Int8Array} states (T,)
 * @property {Float32Array} points (T, 2)
 * @property {[number, number][]} means
 * @property {number[]} sigmas
 */

const PACE = 1.1; // seconds from one state to the next
const AT_ONCE = 120; // points of a picture that stands still
const SEEN = 400; // points on the map at most

export class Chain {
  /** Observations so far, and the share of the way to the next. */
  #time = 0;

  /**
   * @param {Stage} stage
   * @param {Walk} walk
   */
  constructor(stage, walk) {
    this.stage = stage;
    this.walk = walk;
    this.map = stage.map("The Poincaré disk with the points that the chain has emitted so far");
    this.diagram = element("div", "diagram");
    this.diagram.innerHTML = walk.diagram;
    stage.boardsBox.append(this.diagram);
    this.svg = /** @type {SVGSVGElement} */ (this.diagram.querySelector("svg"));
    this.token = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    this.token.setAttribute("r", "11");
    this.token.setAttribute("class", "token");
    this.svg.append(this.token);
    this.hidden = stage.check("Hide the states", false, (hidden) => this.diagram.classList.toggle("hidden", hidden));
    stage.button("One step", () => { this.#time = Math.floor(this.#time + 1); });
    stage.button("50 steps", () => { this.#time = Math.floor(this.#time + 50); });
    stage.button("Walk", () => this.#walkOn(), { takesOver: false });
    if (stage.still) this.#time = AT_ONCE;
  }

  /** Also where the visitor had stopped it, or wants nothing to move unasked. */
  #walkOn() {
    this.stage.touched = false;
    this.stage.still = false;
    this.stage.wake();
  }

  /** @param {number} seconds */
  play(seconds) {
    const hurry = Math.min(8, 1 + this.#time / 12); // slow at first, then many
    this.#time += (seconds / PACE) * hurry;
  }

  draw() {
    const { map, walk, stage } = this, length = walk.states.length;
    this.#time %= length - 1;
    const now = Math.floor(this.#time), state = walk.states[now], hidden = this.hidden.checked;
    map.drawGround();
    const grey = map.colours.text;
    if (!hidden) {
      walk.means.forEach((mean, i) => map.circle(mean, walk.sigmas[i], { colour: colourOf(i), dash: [6, 5], opacity: 0.8 }));
    }
    for (let t = Math.max(0, now - SEEN); t <= now; t++) {
      const colour = hidden ? grey : colourOf(walk.states[t]), at = /** @type {const} */ ([walk.points[2 * t], walk.points[2 * t + 1]]);
      map.dot([...at], { colour, size: t === now ? 8 : 3.2, opacity: t === now ? 1 : 0.6 });
    }
    map.name("y", [walk.points[2 * now], walk.points[2 * now + 1]], { up: 14 });
    this.#placeToken(state, walk.states[now + 1], this.#time - now);
    stage.box.dataset.t = String(now + 1);
    stage.say(`t = ${now + 1} · ${hidden ? "the state is hidden: only y is seen" : `state ${state + 1} emits y`}`);
  }

  /**
   * On its way from one state to the next; it rests a while in each.
   * @param {number} from
   * @param {number} to
   * @param {number} share
   */
  #placeToken(from, to, share) {
    const path = /** @type {SVGPathElement | null} */ (this.svg.querySelector(`[data-from="${from + 1}"][data-to="${to + 1}"]`));
    const node = /** @type {SVGCircleElement} */ (this.svg.querySelector(`[data-state="${from + 1}"]`));
    let [x, y] = [Number(node.getAttribute("cx")), Number(node.getAttribute("cy"))];
    if (path && share > 0.4 && !this.stage.touched) {
      const point = path.getPointAtLength(((share - 0.4) / 0.6) * path.getTotalLength());
      [x, y] = [point.x, point.y];
    }
    this.token.setAttribute("cx", String(x));
    this.token.setAttribute("cy", String(y));
  }
}
