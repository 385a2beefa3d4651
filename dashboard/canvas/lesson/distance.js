// Distance: two points, the geodesic between them beside the straight line, and x #_τ z.

import { distance, geodesic, geodesicPoint } from "./geometry.js";
import { sway } from "./stage.js";

/**
 * @import { Point } from "./geometry.js"
 * @import { Stage } from "./stage.js"
 */

const COLOUR = "#0072B2", MIDWAY = "#D55E00";

export class Distance {
  #seconds = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.map = stage.map("The Poincaré disk with two points, the geodesic between them and the straight line");
    this.x = stage.handle(this.map, "Point x", [-0.55, 0.1]);
    this.z = stage.handle(this.map, "Point z", [0.35, 0.5]);
    this.tau = 0.35;
    this.slider = stage.slider(
      "τ", { min: 0, max: 1, step: 0.01, value: this.tau }, (tau) => tau.toFixed(2), (tau) => { this.tau = tau; },
    );
  }

  /** z goes to the rim and back. @param {number} seconds */
  play(seconds) {
    this.#seconds += seconds;
    const reach = 0.3 + 0.68 * sway(this.#seconds, 9), angle = 0.75;
    this.z.at = [reach * Math.cos(angle), reach * Math.sin(angle)];
    this.z.describe();
    this.tau = 0.1 + 0.8 * sway(this.#seconds, 5);
    this.slider.set(this.tau);
  }

  draw() {
    const { map, tau } = this, x = this.x.at, z = this.z.at;
    const between = geodesicPoint(x, z, tau), d = distance(x, z), straight = Math.hypot(x[0] - z[0], x[1] - z[1]);
    map.drawGround(true);
    map.line([x, z], { dash: [5, 5], opacity: 0.6 });
    map.line(geodesic(x, z), { colour: COLOUR, width: 4 });
    map.line(geodesic(x, between), { colour: MIDWAY, width: 4 });
    map.dot(x, { colour: COLOUR, size: 8 });
    map.dot(z, { colour: COLOUR, size: 8 });
    map.dot(between, { colour: MIDWAY, size: 7 });
    map.name("x", x, { up: 14 });
    map.name("z", z, { up: -16 });
    map.name("x #τ z", between, { up: 16 });
    const part = distance(x, between);
    this.stage.box.dataset.d = String(d);
    this.stage.say(
      `d(x, z) = ${d.toFixed(3)} · straight line = ${straight.toFixed(3)} · d(x, x #τ z) = τ · d = ${part.toFixed(3)}`,
    );
  }
}
