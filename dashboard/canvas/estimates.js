// What the methods believe, drawn on the map: the online learner at a moment, and the baselines.

import { colourOf } from "./marks.js";
import { pixelRatio } from "./pen.js";

/**
 * @import { Chart } from "./charts/chart.js"
 * @import { Baseline, Run } from "./protocol.js"
 * @import { Scene } from "./scene.js"
 * @import { Look } from "./screen.js"
 * @import { Shown } from "./switches.js"
 */

/**
 * The estimated means, their trails and σ-balls, and what the learner holds.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Scene} scene
 * @param {Run} run
 * @param {number} position in frames; between two of them things are drawn between
 * @param {Shown} shown
 */
export function drawEstimates(g, colours, scene, run, position, shown) {
  const { chart } = scene, ratio = pixelRatio(), n = run.truth.means.length;
  if (!chart) return;
  const frame = Math.floor(position), next = Math.min(frame + 1, run.steps.length - 1);
  const share = position - frame, known = run.steps.length > 0;
  if (shown.has("held") && known) drawHeld(g, scene, run, run.steps[frame]);
  for (const baseline of run.baselines) {
    if (shown.has(baseline.key) && baseline.means) drawBaseline(g, colours, chart, baseline, baseline.means, n);
  }
  if (!known) return; // the baselines may have something to show all the same
  /** A row of numbers of state i, on the way from this frame to the next. */
  const between = (/** @type {Float32Array} */ rows, /** @type {number} */ width, /** @type {number} */ i) => {
    return Array.from({ length: width }, (_, j) => {
      const before = rows[(frame * n + i) * width + j], after = rows[(next * n + i) * width + j];
      const isAngle = width > 2 && j === width - 1; // of an ellipse, which looks the same after half a turn
      return before + share * (isAngle ? shortestTurn(after - before) : after - before);
    });
  };
  for (let i = 0; i < n; i++) {
    const colour = colourOf(i);
    if (shown.has("trails")) {
      for (const [stroke, width] of /** @type {const} */ ([[colours.back, 4.5], [colour, 2.5]])) {
        g.strokeStyle = stroke;
        g.lineWidth = width * ratio;
        g.lineJoin = "round";
        g.beginPath();
        for (let f = 0; f <= frame; f++) g.lineTo(...chart.toScreen(...meanAt(run.means, f * n + i)));
        g.stroke();
      }
    }
    const [x, y] = between(run.means, 2, i);
    if (shown.has("circles")) {
      const [sigma] = between(run.sigmas, 1, i);
      chart.traceBall(g, { x, y, sigma, ellipse: run.balls ? between(run.balls, 5, i) : null });
      g.strokeStyle = colour;
      g.lineWidth = 2.2 * ratio;
      g.stroke();
    }
    scene.drawMean(g, colours, i, x, y, run.glyphs ? between(run.glyphs, 3, i) : null);
  }
}

/** The same turn of an ellipse by at most a quarter. @param {number} angle */
const shortestTurn = (angle) => angle - Math.PI * Math.round(angle / Math.PI);

/**
 * @param {Float32Array} means
 * @param {number} row
 * @returns {[number, number]}
 */
const meanAt = (means, row) => [means[2 * row], means[2 * row + 1]];

/**
 * The observations that the learner holds after so many steps.
 * @param {CanvasRenderingContext2D} g
 * @param {Scene} scene
 * @param {Run} run
 * @param {number} step
 */
function drawHeld(g, scene, run, step) {
  const { cloud } = scene;
  if (!cloud) return;
  const first = Math.max(0, Math.ceil((step - run.held) / cloud.stride));
  const last = Math.min(cloud.states.length, Math.ceil(step / cloud.stride));
  scene.drawPoints(g, first, last, (run.held < 20 ? 4 : 2.6) * pixelRatio(), 1);
}

/**
 * Where a baseline ends: its letter, in a circle after a dot for each iterate, or in a square if it shows none.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Chart} chart
 * @param {Baseline} baseline
 * @param {Float32Array} means
 * @param {number} n
 */
function drawBaseline(g, colours, chart, { path, letter }, means, n) {
  const ratio = pixelRatio(), count = means.length / (2 * n), side = 7 * ratio;
  for (let i = 0; i < n; i++) {
    const at = (/** @type {number} */ f) => chart.toScreen(...meanAt(means, f * n + i));
    const [x, y] = at(count - 1);
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5 * ratio;
    if (path) {
      drawIterates(g, colours, Array.from({ length: count }, (_, f) => at(f)));
    } else {
      g.fillStyle = colours.back;
      g.fillRect(x - side, y - side, 2 * side, 2 * side);
      g.strokeRect(x - side, y - side, 2 * side, 2 * side);
    }
    g.font = `700 ${10 * ratio}px ${colours.family}`;
    g.fillStyle = colours.text;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(letter, x, y);
  }
}

/**
 * A line with a dot for each place and an empty circle around the last.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {[number, number][]} places
 */
function drawIterates(g, colours, places) {
  const ratio = pixelRatio();
  g.beginPath();
  for (const place of places) g.lineTo(...place);
  g.stroke();
  places.forEach(([x, y], f) => {
    const isLast = f === places.length - 1;
    g.fillStyle = isLast ? colours.back : colours.text;
    g.beginPath();
    g.arc(x, y, (isLast ? 7 : 3) * ratio, 0, 2 * Math.PI);
    g.fill();
    g.stroke();
  });
}
