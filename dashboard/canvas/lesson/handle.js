// A point on a map of the lesson, dragged by pointer or moved by keys.

import { element } from "./element.js";
import { withinReach } from "./geometry.js";

/**
 * @import { Point } from "./geometry.js"
 * @import { MapBoard } from "./map_board.js"
 */

/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const KEY_STEP = 0.02;

export class Handle {
  /**
   * @param {MapBoard} map
   * @param {string} name
   * @param {Point} at
   * @param {() => void} onMove
   */
  constructor(map, name, at, onMove) {
    this.map = map;
    this.name = name;
    this.onMove = onMove;
    this.button = /** @type {HTMLButtonElement} */ (element("button", "handle"));
    this.button.type = "button";
    /** @type {Point} */
    this.at = at;
    this.describe();
    map.handles.append(this.button);
    this.button.addEventListener("pointerdown", (event) => {
      if (event.button === 0) this.button.setPointerCapture(event.pointerId);
    });
    this.button.addEventListener("pointermove", (event) => {
      if (!this.button.hasPointerCapture(event.pointerId)) return;
      this.move(map.chart.fromScreen(...map.viewport.fromClient(event.clientX, event.clientY)));
    });
    this.button.addEventListener("keydown", (event) => {
      const way = ARROWS[event.key];
      if (!way) return;
      keepArrows(event);
      event.preventDefault();
      const step = KEY_STEP * (event.shiftKey ? 5 : 1);
      this.move([this.at[0] + way[0] * step, this.at[1] + way[1] * step]);
    });
  }

  /** @param {Point} at */
  move(at) {
    this.at = withinReach(at);
    this.describe();
    this.onMove();
  }

  describe() {
    const [x, y] = this.at.map((value) => value.toFixed(2));
    this.button.setAttribute("aria-label", `${this.name} at ${x}, ${y}: drag it, or move it with the arrow keys`);
  }
}

/**
 * Here the arrow keys move what has the focus; elsewhere they turn the pages of the lesson.
 * @param {KeyboardEvent} event
 */
export function keepArrows(event) {
  if (event.key in ARROWS) event.stopPropagation();
}
