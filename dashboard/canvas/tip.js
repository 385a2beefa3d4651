// What is known of the observation under the pointer: how far it is from each mean, and the probabilities of the states.

import { between, blended } from "./learners.js";
import { pixelRatio } from "./pen.js";
import { MARKS } from "./shared.js";
import { grouped } from "./words.js";

/**
 * @import { Cloud, Run } from "./protocol.js"
 * @import { Scene } from "./scene.js"
 */

const REACH = 12; // CSS pixels around the pointer

export class Tip {
  /** Which of the cloud's observations it is about; null if about none. @type {number | null} */
  #about = null;

  /**
   * @param {HTMLElement} box
   * @param {Scene} scene
   * @param {() => { run: Run | null, k: number, seen: number }} now what is on screen
   */
  constructor(box, scene, now) {
    this.box = box;
    this.scene = scene;
    this.now = now;
    const { canvas } = scene;
    canvas.addEventListener("pointermove", (event) => event.buttons === 0 && this.#look(event));
    canvas.addEventListener("pointerdown", (event) => event.pointerType === "touch" && this.#look(event));
    canvas.addEventListener("pointerleave", () => this.hide());
  }

  hide() {
    this.#about = null;
    this.box.hidden = true;
  }

  /** @param {PointerEvent} event */
  #look(event) {
    const { scene } = this, { run, k, seen } = this.now();
    const cloud = /** @type {Cloud | null} */ (scene.cloud), { chart } = scene;
    if (!run || !cloud || !chart) return;
    const [x, y] = scene.viewport.fromClient(event.clientX, event.clientY);
    const nearest = nearestPoint(cloud.xy, scene.countSeen(seen), chart.toScreen.bind(chart), x, y, REACH * pixelRatio());
    if (nearest === null) return this.hide();
    if (nearest !== this.#about) this.#write(run, cloud, nearest, k);
    this.#about = nearest;
    const box = scene.canvas.getBoundingClientRect();
    const [px, py] = chart.toScreen(cloud.xy[2 * nearest], cloud.xy[2 * nearest + 1]);
    const left = px / pixelRatio(), top = py / pixelRatio();
    this.box.hidden = false;
    this.box.style.left = `${left < box.width / 2 ? left + 14 : left - 14 - this.box.offsetWidth}px`;
    this.box.style.top = `${Math.max(0, Math.min(box.height - this.box.offsetHeight, top - this.box.offsetHeight / 2))}px`;
  }

  /**
   * @param {Run} run
   * @param {Cloud} cloud
   * @param {number} index
   * @param {number} k
   */
  #write(run, cloud, index, k) {
    const n = run.states, distances = this.#distances(run, cloud, index, k);
    const rows = Array.from({ length: n }, (_, i) => {
      const share = cloud.shares ? percent(cloud.shares[index * n + i]) : "…";
      return `<tr><th scope="row"><span style="color:${MARKS[i].colour}">●</span> ${i + 1}</th>
        <td>${distances ? distances[i].toFixed(2) : "…"}</td><td>${share}</td></tr>`;
    });
    const decoder = cloud.decoder ?? "";
    this.box.innerHTML = `<b>Observation ${grouped(index * cloud.stride + 1)}</b>
      <table><thead><tr><th scope="col">state</th><th scope="col">d(y, ĉ)</th><th scope="col">P</th></tr></thead>
      <tbody>${rows.join("")}</tbody></table>
      <small>d: distance to the mean that ${decoder} has now.<br>P: probability of the state, given all data.</small>`;
  }

  /**
   * To the means that the first learner has at this moment; before its start, to the true ones.
   * @param {Run} run
   * @param {Cloud} cloud
   * @param {number} index
   * @param {number} k
   * @returns {number[] | null}
   */
  #distances(run, cloud, index, k) {
    const n = run.states, { chart } = this.scene;
    if (cloud.distances) return Array.from(cloud.distances.subarray(index * n, (index + 1) * n));
    if (!chart?.distance) return null;
    const at = between(run.learners[0], k), x = cloud.xy[2 * index], y = cloud.xy[2 * index + 1];
    if (!at && !run.truth.means.length) return null;
    return Array.from({ length: n }, (_, i) => {
      const [u, v] = at ? blended(run.learners[0].means, at, n, i, 2) : run.truth.means[i];
      return /** @type {NonNullable<typeof chart.distance>} */ (chart.distance)(x, y, u, v);
    });
  }
}

/** @param {number} share in 255ths */
const percent = (share) => (share === 0 ? "< 1 %" : share === 255 ? "> 99 %" : `${Math.round(share / 2.55)} %`);

/**
 * The nearest of the first `count` points, if it is within reach.
 * @param {Float32Array} xy
 * @param {number} count
 * @param {(x: number, y: number) => [number, number]} toScreen
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @returns {number | null}
 */
export function nearestPoint(xy, count, toScreen, x, y, reach) {
  let nearest = null, least = reach * reach;
  for (let t = 0; t < count; t++) {
    const [px, py] = toScreen(xy[2 * t], xy[2 * t + 1]);
    const square = (px - x) ** 2 + (py - y) ** 2;
    if (square < least) [nearest, least] = [t, square];
  }
  return nearest;
}
