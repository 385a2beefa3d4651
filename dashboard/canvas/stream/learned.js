// The learners' means on the map, and the way that they came.

import { traceMark } from "../marks.js";
import { pixelRatio, setStroke, typeScale } from "../pen.js";

/**
 * @import { Chart } from "../charts/chart.js"
 * @import { Scene } from "../scene.js"
 * @import { Look } from "../screen.js"
 * @import { LearnerAbout, News } from "./news.js"
 */

const TRAIL = 70; // messages whose means make a trail
const LEAP = 0.15; // of the width of the map: no mean moves farther between two messages

export class Learned {
  /** The means in the latest messages. @type {Float32Array[]} */
  #trail = [];
  /** @type {LearnerAbout[]} */
  #learners = [];
  #states = 0;

  /** @param {Scene} scene */
  constructor(scene) {
    this.scene = scene;
  }

  /** @param {LearnerAbout[]} learners */
  begin(learners) {
    this.#learners = learners;
    this.#trail = [];
  }

  /** @param {News} news */
  add({ learned }) {
    this.#states = learned.length / (2 * this.#learners.length);
    this.#trail.push(learned);
    if (this.#trail.length > TRAIL) this.#trail.shift();
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {(key: string) => boolean} isShown
   */
  draw(g, colours, isShown) {
    const { chart } = this.scene, means = this.#trail.at(-1), size = 5.5 * pixelRatio() * typeScale();
    if (!chart || !means) return;
    this.#learners.forEach(({ key, colour, mark }, index) => {
      if (!isShown(key)) return;
      for (let state = 0; state < this.#states; state++) {
        const at = 2 * (index * this.#states + state);
        g.globalAlpha = 0.7;
        setStroke(g, colour, [], 1.4);
        this.#trace(g, chart, at, means.length);
        g.stroke();
        g.globalAlpha = 1;
        if (!Number.isFinite(means[at])) continue;
        traceMark(g, mark, ...chart.toScreen(means[at], means[at + 1]), size);
        setStroke(g, colours.back, [], 2.5);
        g.stroke();
        g.fillStyle = colour;
        g.fill();
      }
    });
  }

  /**
   * The way of one mean; where it is another state's from one message to the next, there is a gap.
   * @param {CanvasRenderingContext2D} g
   * @param {Chart} chart
   * @param {number} at its place among the numbers of a message
   * @param {number} length of these: before a new state they lay elsewhere
   */
  #trace(g, chart, at, length) {
    let before = [Infinity, Infinity];
    g.beginPath();
    for (const means of this.#trail) {
      if (means.length !== length || !Number.isFinite(means[at])) continue;
      const here = chart.toScreen(means[at], means[at + 1]);
      if (Math.hypot(here[0] - before[0], here[1] - before[1]) < LEAP * this.scene.canvas.width) g.lineTo(...here);
      else g.moveTo(...here);
      before = here;
    }
  }
}
