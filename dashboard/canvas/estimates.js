// What the methods believe, drawn on the map: the online learners at a moment, and the baselines.

import { blended, between, styleOf } from "./learners.js";
import { colourOf } from "./marks.js";
import { drawLine, pixelRatio, setFont, setStroke, typeScale } from "./pen.js";

/**
 * @import { Chart } from "./charts/chart.js"
 * @import { Style } from "./learners.js"
 * @import { Baseline, Learner, Run } from "./protocol.js"
 * @import { Scene } from "./scene.js"
 * @import { Look } from "./screen.js"
 * @import { Shown } from "./switches.js"
 */

/** A rectangle in pixels of the canvas. @typedef {{ x: number, y: number, width: number, height: number }} Box */

/** Where a name may stand beside its point, in CSS pixels: the first place that is free is taken. */
const AROUND = [40, 62, 84].flatMap((radius) =>
  [-140, 140, -40, 40, -90, 90, 180, 0].map((degrees) => [
    radius * Math.cos((degrees * Math.PI) / 180), radius * Math.sin((degrees * Math.PI) / 180),
  ]));

/**
 * The estimated means, their trails and σ-balls, what the first learner holds, and where the baselines end.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Scene} scene
 * @param {Run} run
 * @param {number} k
 * @param {Shown} shown
 */
export function drawEstimates(g, colours, scene, run, k, shown) {
  const { chart } = scene, n = run.states;
  if (!chart) return;
  const baselines = run.baselines.filter(({ key, means }) => shown.has(key) && means);
  if (shown.has("held") && run.learners[0]?.steps.length) drawHeld(g, scene, run.learners[0], k);
  for (const baseline of baselines) if (baseline.path) drawIterates(g, colours, chart, baseline, n);
  for (let index = run.learners.length - 1; index >= 0; index--) { // the first one on top
    drawLearner(g, colours, scene, run.learners[index], styleOf(index), n, k, shown);
  }
  drawCallouts(g, colours, scene, chart, baselines, n);
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Scene} scene
 * @param {Learner} learner
 * @param {Style} style
 * @param {number} n
 * @param {number} k
 * @param {Shown} shown
 */
function drawLearner(g, colours, scene, learner, style, n, k, shown) {
  const at = between(learner, k), chart = /** @type {Chart} */ (scene.chart);
  if (!at) return;
  for (let i = 0; i < n; i++) {
    const colour = colourOf(i), [x, y] = blended(learner.means, at, n, i, 2);
    if (shown.has("trails")) {
      g.beginPath();
      for (let row = 0; row <= at.row; row++) g.lineTo(...chart.toScreen(...meanAt(learner.means, row * n + i)));
      g.lineTo(...chart.toScreen(x, y));
      setStroke(g, colours.back, [], style.width + 2);
      g.stroke();
      setStroke(g, colour, style.dash, style.width);
      g.stroke();
    }
    if (shown.has("circles")) {
      const [sigma] = blended(learner.sigmas, at, n, i, 1);
      chart.traceBall(g, { x, y, sigma, ellipse: learner.balls ? blended(learner.balls, at, n, i, 5) : null });
      setStroke(g, colour, style.dash, style.width - 0.2);
      g.stroke();
    }
    g.setLineDash([]);
    const glyph = learner.glyphs ? blended(learner.glyphs, at, n, i, 3) : null;
    scene.drawMean(g, colours, i, x, y, glyph, style.filled);
  }
}

/**
 * @param {Float32Array} means
 * @param {number} row
 * @returns {[number, number]}
 */
const meanAt = (means, row) => [means[2 * row], means[2 * row + 1]];

/**
 * The observations that the learner holds after so many.
 * @param {CanvasRenderingContext2D} g
 * @param {Scene} scene
 * @param {Learner} learner
 * @param {number} k
 */
function drawHeld(g, scene, { held }, k) {
  const { cloud } = scene;
  if (!cloud) return;
  const first = Math.max(0, Math.ceil((k - held) / cloud.stride));
  scene.drawPoints(g, first, scene.countSeen(k), (held < 20 ? 4 : 2.6) * pixelRatio(), 1);
}

/**
 * A thin line with a dot for each iterate of a baseline.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Chart} chart
 * @param {Baseline} baseline
 * @param {number} n
 */
function drawIterates(g, colours, chart, { means }, n) {
  if (!means) return;
  const count = means.length / (2 * n), ratio = pixelRatio();
  for (let i = 0; i < n; i++) {
    const places = Array.from({ length: count }, (_, f) => chart.toScreen(...meanAt(means, f * n + i)));
    g.beginPath();
    for (const place of places) g.lineTo(...place);
    setStroke(g, colours.text, [], 1);
    g.stroke();
    g.fillStyle = colours.text;
    for (const [x, y] of places) {
      g.beginPath();
      g.arc(x, y, 1.8 * ratio, 0, 2 * Math.PI);
      g.fill();
    }
  }
}

/**
 * Where the baselines end: a dot on the place, and beside it, where there is room, the name at the end of a line.
 * @param {CanvasRenderingContext2D} g
 * @param {Look} colours
 * @param {Scene} scene
 * @param {Chart} chart
 * @param {Baseline[]} baselines
 * @param {number} n
 */
function drawCallouts(g, colours, scene, chart, baselines, n) {
  const ratio = pixelRatio(), scale = ratio * typeScale();
  const crosses = scene.means.map(([x, y]) => chart.toScreen(x, y));
  // the buttons in the corner, the crosses and their names are there already
  const taken = [{ x: 0, y: 0, width: 72 * scale, height: 68 * scale }, ...crosses.map(([x, y]) => ({ x: x - 14 * scale, y: y - 14 * scale, width: 52 * scale, height: 28 * scale }))];
  setFont(g, colours, n > 4 ? 10 : 12, 600);
  for (const { label, letter, means } of baselines) {
    const name = n > 4 ? letter : label, height = 17 * scale, width = g.measureText(name).width + 9 * scale;
    for (let i = 0; i < n && means; i++) {
      const [x, y] = chart.toScreen(...meanAt(means, means.length / 2 - n + i));
      const box = freeBox(x, y, width, height, taken, chart.window, scale);
      taken.push(box);
      setStroke(g, colours.text, [], 1.2);
      drawLine(g, x, y, box.x + width / 2, box.y + height / 2);
      g.fillStyle = colours.text;
      g.beginPath();
      g.arc(x, y, 3 * ratio, 0, 2 * Math.PI);
      g.fill();
      g.fillStyle = colours.back;
      g.beginPath();
      g.roundRect(box.x, box.y, width, height, 4 * scale);
      g.fill();
      setStroke(g, colourOf(i), [], 1.6);
      g.stroke();
      g.fillStyle = colours.text;
      g.textAlign = "center";
      g.textBaseline = "middle";
      g.fillText(name, box.x + width / 2, box.y + height / 2 + ratio);
    }
  }
}

/**
 * A box of this size near (x, y) that meets none of those and stays within the window, if there is one.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {Box[]} taken
 * @param {Box} window
 * @param {number} scale
 * @returns {Box}
 */
export function freeBox(x, y, width, height, taken, window, scale) {
  const boxes = AROUND.map(([dx, dy]) => {
    return { x: x + dx * scale - width / 2, y: y + dy * scale - height / 2, width, height };
  });
  const fits = (/** @type {Box} */ box) => box.x >= window.x && box.y >= window.y
    && box.x + width <= window.x + window.width && box.y + height <= window.y + window.height;
  return boxes.find((box) => fits(box) && !taken.some((other) => meet(box, other))) ?? boxes[0];
}

/**
 * @param {Box} a
 * @param {Box} b
 */
function meet(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
