// The map of a true model: a sample of its observations, and its means to be dragged.

import { mounted } from "./mount.js";
import { unpack } from "./protocol.js";
import { Scene } from "./scene.js";
import { fitToScreen, onResize } from "./screen.js";
import { WHOLE } from "./viewport.js";

/**
 * @import { Component, Sender, Sketched } from "./protocol.js"
 * @import { Look } from "./screen.js"
 */

class Sketch {
  #painted = 0;
  /** @type {number | null} */
  #ticking = null;

  /**
   * @param {HTMLElement} room
   * @param {Sender} send
   */
  constructor(room, send) {
    this.room = room;
    this.send = send;
    const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (room.querySelector(`.${name}`));
    this.box = find("sketch");
    this.canvas = /** @type {HTMLCanvasElement} */ (find("map"));
    this.whole = find("whole");
    this.scene = new Scene(this.canvas, find("handles"), {
      onDrop: (moved) => this.send.moved(moved),
      onLook: () => this.wake(),
    });
    find("closer").addEventListener("click", () => this.scene.navigation.zoomBy(1.5));
    find("wider").addEventListener("click", () => this.scene.navigation.zoomBy(1 / 1.5));
    this.whole.addEventListener("click", () => {
      this.scene.lookAt(WHOLE);
      this.wake();
    });
    // The page's colours may change at any time; a transition too short to see tells when.
    this.canvas.addEventListener("transitionend", () => this.wake());
    this.stopListening = onResize([this.canvas], () => this.resize());
  }

  /** @param {Sketched} message */
  receive({ chart, truth, acknowledged, ...points }) {
    this.scene.setCloud({ ...points, stride: 1 });
    this.scene.setTruth(chart, truth, acknowledged);
    this.whole.title = `Whole ${this.scene.chart?.words.noun}`;
    this.whole.setAttribute("aria-label", this.whole.title);
    this.wake();
  }

  wake() {
    this.#ticking ??= requestAnimationFrame(() => {
      this.#ticking = null;
      this.paint();
    });
  }

  resize() {
    if (!fitToScreen(this.canvas)) return;
    this.scene.dirty = true;
    this.paint(); // at once: a canvas is blank after its size was set
  }

  paint() {
    const options = { circles: true, grid: false, dim: false };
    this.scene.draw(options, (g, colours) => this.drawMarks(g, colours));
    this.#painted += 1;
    this.box.dataset.painted = String(this.#painted);
  }

  /**
   * Each mean wears the mark and the colour of its state.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   */
  drawMarks(g, colours) {
    this.scene.means.forEach(([x, y], state) => {
      this.scene.drawMean(g, colours, state, x, y, this.scene.truth?.glyphs?.[state] ?? null, true);
    });
  }

  leave() {
    this.scene.handles.letGo();
  }

  comeBack() {
    this.scene.handles.drop();
  }

  close() {
    this.stopListening();
    this.scene.close();
    if (this.#ticking !== null) cancelAnimationFrame(this.#ticking);
  }
}

/** @param {Component} component */
export function sketch(component) {
  const [picture, unmount] = mounted(component, "sketch", (room, send) => new Sketch(room, send));
  picture.receive(unpack(component.data));
  return unmount;
}
