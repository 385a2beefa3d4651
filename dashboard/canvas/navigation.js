// Hands on the map: zoom by wheel, double click and buttons, pan by dragging, and the glide to a point.

import { prefersStillness } from "./screen.js";
import { MOST_ZOOM } from "./shared.js";

/** @import { Scene } from "./scene.js" */

const GLIDE = 450; // milliseconds

export class Navigation {
  #gliding = 0;

  /**
   * @param {Scene} scene
   * @param {(settled: boolean) => void} onLook called when the view has been moved; it may go on moving
   */
  constructor(scene, onLook) {
    this.scene = scene;
    this.onLook = onLook;
    this.#listen(scene.canvas);
  }

  /**
   * Glide until this point is in the middle, if the chart knows how.
   * @param {number} x
   * @param {number} y
   */
  centreOn(x, y) {
    const way = this.scene.chart?.wayTo?.(x, y);
    if (!way) return;
    const began = performance.now(), still = prefersStillness();
    /** @param {number} now */
    const glide = (now) => {
      const share = still ? 1 : Math.min(1, (now - began) / GLIDE);
      this.scene.lookAt(way(share * share * (3 - 2 * share)));
      this.onLook(share === 1);
      if (share < 1) this.#gliding = requestAnimationFrame(glide);
    };
    cancelAnimationFrame(this.#gliding);
    this.#gliding = requestAnimationFrame(glide);
  }

  /**
   * The point under the pointer stays where it is; without a pointer, the middle does.
   * @param {number} factor
   * @param {number} [clientX]
   * @param {number} [clientY]
   */
  zoomBy(factor, clientX, clientY) {
    const { canvas, viewport } = this.scene, { place, half } = viewport, before = place.zoom;
    const zoom = Math.min(MOST_ZOOM, Math.max(1, before * factor));
    const box = canvas.getBoundingClientRect();
    const dx = clientX === undefined ? 0 : clientX - box.left - box.width / 2;
    const dy = clientY === undefined ? 0 : box.top + box.height / 2 - clientY;
    this.#look({
      zoom,
      panX: place.panX + (dx / half) * (1 / zoom - 1 / before),
      panY: place.panY + (dy / half) * (1 / zoom - 1 / before),
    });
  }

  /** @param {{ zoom: number, panX: number, panY: number }} wanted */
  #look(wanted) {
    const { chart, viewport } = this.scene;
    if (!chart) return;
    const [panX, panY] = chart.keptInSight({ ...viewport.place, ...wanted });
    this.scene.lookAt({ zoom: wanted.zoom, panX, panY });
    this.onLook(true);
  }

  /** @param {HTMLCanvasElement} canvas */
  #listen(canvas) {
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, event.clientX, event.clientY));
    /** @type {[number, number] | null} */
    let last = null;
    canvas.addEventListener("pointerdown", (event) => {
      const { zoom } = this.scene.viewport.place;
      if (event.pointerType === "touch" && zoom === 1) return; // a finger scrolls the page
      last = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const { place, half } = this.scene.viewport, unit = half * place.zoom;
      const panX = place.panX + (event.clientX - last[0]) / unit;
      const panY = place.panY - (event.clientY - last[1]) / unit;
      last = [event.clientX, event.clientY];
      this.#look({ zoom: place.zoom, panX, panY });
    });
    const stop = () => (last = null);
    canvas.addEventListener("pointerup", stop);
    canvas.addEventListener("pointercancel", stop);
  }

  close() {
    cancelAnimationFrame(this.#gliding);
  }
}
