// Circle: all points at distance σ from a centre, and the isometry that brings that centre to the middle.

import { recentred } from "../charts/disk.js";
import { geodesic } from "./geometry.js";
import { sway } from "./stage.js";

/**
 * @import { Point } from "./geometry.js"
 * @import { Stage } from "./stage.js"
 */

const COLOUR = "#D55E00", SPOKES = 8, PERIOD = 9;

export class Circle {
  #seconds = 0;
  /** How much of the way to the middle the view has gone. */
  #share = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.map = stage.map("The Poincaré disk with a circle of radius σ off the middle, and its centre");
    this.sigma = 1;
    this.centre = stage.handle(this.map, "Centre of the circle", [0.46, 0.46], () => {
      this.#share = 0; // a centre that stayed in the middle could not be dragged
      this.slider.set(0);
    });
    stage.slider(
      "σ", { min: 0.2, max: 2, step: 0.05, value: 1 }, (sigma) => sigma.toFixed(2), (sigma) => { this.sigma = sigma; },
    );
    this.slider = stage.slider(
      "Re-centre", { min: 0, max: 1, step: 0.01, value: 0 },
      (share) => `${Math.round(100 * share)} %`,
      (share) => {
        stage.reveal();
        this.#share = share;
      },
    );
  }

  /** The view goes to the centre of the circle, stays, and comes back. @param {number} seconds */
  play(seconds) {
    if (!this.stage.revealed) return;
    this.#seconds += seconds;
    const share = Math.min(1, Math.max(0, 1.6 * sway(this.#seconds, PERIOD) - 0.3));
    this.slider.set(share);
    this.#share = share;
  }

  draw() {
    const { map, sigma } = this, centre = this.centre.at, { place } = map.viewport;
    Object.assign(place, { x: 0, y: 0 });
    Object.assign(place, map.chart.wayTo?.(...centre)(this.#share));
    map.drawGround(true);
    map.circle(centre, sigma, { colour: COLOUR, width: 3.5, fill: 0.13 });
    if (this.stage.revealed) {
      for (let spoke = 0; spoke < SPOKES; spoke++) map.line(this.#spoke(spoke), { colour: COLOUR, opacity: 0.7 });
      map.dot(centre, { colour: COLOUR, size: 7 });
      map.name("c", centre, { up: 14 });
    }
    map.dot([0, 0], { size: 4, opacity: 0.7 });
    map.name("0", [0, 0], { up: -14 });
    this.stage.box.dataset.share = String(this.#share);
    const where = this.#share === 1 ? "c is in the middle now, and so is the circle" : "every spoke has the length σ";
    this.stage.say(this.stage.revealed ? `${where}: the ${SPOKES} lines from c are geodesics of length ${sigma.toFixed(2)}`
      : "Where is its centre? Guess first, or wait a moment.");
  }

  /** A geodesic of length σ from the centre. @param {number} spoke @returns {Point[]} */
  #spoke(spoke) {
    const [x, y] = this.centre.at, angle = (2 * Math.PI * spoke) / SPOKES, r = Math.tanh(this.sigma / 2);
    return geodesic([x, y], recentred(r * Math.cos(angle), r * Math.sin(angle), -x, -y), 24);
  }
}
