// Why they differ: one observation that K-means labels wrongly and the chain labels right.

import { colourOf, drawMark } from "../marks.js";
import { pixelRatio } from "../pen.js";
import { geodesic } from "./geometry.js";
import { drawBars } from "./plots.js";

/**
 * @import { Point } from "./geometry.js"
 * @import { Stage } from "./stage.js"
 */

/**
 * @typedef {object} Case
 * @property {number} t of the observation, from 1
 * @property {number} truth its state
 * @property {number} kmeans the label of K-means
 * @property {Point} point
 * @property {Point[]} centres of K-means
 * @property {number[]} distances to them
 * @property {number[]} density of the point alone in each state, as shares
 * @property {number[]} past P(state | the observations before)
 * @property {number[]} future how well each state explains the observations after, as shares
 * @property {number[]} both P(state | all)
 * @property {Float32Array} cloud (M, 2)
 * @property {Int8Array} labels (M,) of K-means
 */

export class Difference {
  /**
   * @param {Stage} stage
   * @param {Case} about
   */
  constructor(stage, about) {
    this.stage = stage;
    this.about = about;
    this.map = stage.map("The Poincaré disk with all observations in the colours of K-means, and one of them marked");
    this.panel = stage.panel("Bars: distance to each centre, and the probabilities of the states from the point, the past, the future and all");
  }

  draw() {
    const { map, panel, about, stage } = this, { point } = about;
    map.drawGround();
    for (let i = 0; i < about.labels.length; i++) {
      map.dot([about.cloud[2 * i], about.cloud[2 * i + 1]], { colour: colourOf(about.labels[i]), size: 2.2, opacity: 0.4 });
    }
    about.centres.forEach((centre, i) => {
      map.line(geodesic(point, centre), { colour: colourOf(i), width: i === about.kmeans ? 4 : 1.5, dash: i === about.kmeans ? [] : [4, 5] });
      drawMark(map.g, map.colours, i, ...map.chart.toScreen(...centre), 9 * pixelRatio(), 2.5);
    });
    map.dot(point, { size: 9, hollow: true });
    map.name(`yₜ`, point, { up: -16 });
    const room = panel.height / 5, { kmeans, truth } = about;
    drawBars(panel, "d to the centres of K-means", about.distances, 0, { most: Math.max(...about.distances), chosen: kmeans, room });
    if (stage.revealed) {
      drawBars(panel, "this point alone: p(y)", about.density, room, { room });
      drawBars(panel, "the past: Σ α A", about.past, 2 * room, { room });
      drawBars(panel, "the future: β", about.future, 3 * room, { room });
      drawBars(panel, "all of it: γ", about.both, 4 * room, { chosen: truth, room });
    }
    stage.say(
      stage.revealed
        ? `t = ${about.t}: nearest to centre ${about.kmeans + 1}, but γ = ${about.both[about.truth].toFixed(3)} for state ${about.truth + 1}, its true state`
        : `t = ${about.t}: nearest to centre ${about.kmeans + 1}. And the chain? Guess first, or wait a moment.`,
    );
  }
}
