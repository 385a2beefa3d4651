// Centre of mass: the point with the least sum of squared distances, beside the average of the coordinates.

import { centreOfMass, distance, geodesic, naiveAverage } from "./geometry.js";
import { sway } from "./stage.js";

/**
 * @import { Point } from "./geometry.js"
 * @import { Stage } from "./stage.js"
 */

const CENTRE = "#0072B2", NAIVE = "#D55E00";
/** @type {Point[]} */
const PLACES = [[-0.5, -0.3], [-0.1, -0.55], [0.05, 0.0], [-0.35, 0.2], [0.3, 0.35]];

export class Centre {
  #seconds = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.map = stage.map("The Poincaré disk with five points, their centre of mass and the average of their coordinates");
    this.points = PLACES.map((at, i) => stage.handle(this.map, `Point ${i + 1}`, at));
  }

  /** The last point goes to the rim and back. @param {number} seconds */
  play(seconds) {
    this.#seconds += seconds;
    const reach = 0.45 + 0.54 * sway(this.#seconds, 10), last = this.points[this.points.length - 1];
    last.at = [reach * Math.cos(0.86), reach * Math.sin(0.86)];
    last.describe();
  }

  draw() {
    const { map, stage } = this, points = this.points.map((handle) => handle.at);
    const centre = centreOfMass(points), naive = naiveAverage(points);
    map.drawGround(true);
    if (stage.revealed) for (const point of points) map.line(geodesic(centre, point), { colour: CENTRE, opacity: 0.5 });
    for (const point of points) map.dot(point, { size: 7 });
    if (!stage.revealed) {
      stage.say("Which average follows the point that goes to the rim? Guess first, or wait a moment.");
      return;
    }
    map.dot(naive, { colour: NAIVE, size: 8, hollow: true });
    map.dot(centre, { colour: CENTRE, size: 9 });
    map.name("centre of mass", centre, { up: -18, colour: map.colours.text });
    map.name("average of coordinates", naive, { up: 18, colour: map.colours.text });
    const sum = (/** @type {Point} */ c) => points.reduce((total, point) => total + distance(c, point) ** 2, 0).toFixed(2);
    stage.box.dataset.sum = sum(centre);
    stage.say(`Σ d² = ${sum(centre)} from the centre of mass (least possible), ${sum(naive)} from the average of coordinates`);
  }
}
