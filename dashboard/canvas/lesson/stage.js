// The stage of one picture of the lesson: it makes boards, handles and controls, and it keeps time.

import { fitToScreen, onResize, prefersStillness } from "../screen.js";
import { Board } from "./board.js";
import { element } from "./element.js";
import { Handle, keepArrows } from "./handle.js";
import { MapBoard } from "./map_board.js";

/**
 * @import { ChartAbout } from "../charts/chart.js"
 * @import { Point } from "./geometry.js"
 */

/**
 * One screen of the lesson.
 * @typedef {object} Picture
 * @property {(about: any) => void} [receive] what Python says; again whenever it changes
 * @property {(seconds: number) => void} [play] so much time has passed, while the visitor has not touched it
 * @property {() => void} draw
 */

const GUESSING = 9; // seconds that a picture waits for the guess before it shows the answer by itself

export class Stage {
  /** Whether the visitor has taken over: the picture then no longer moves by itself. */
  touched = false;
  /** Whether the answer may be seen. */
  revealed = false;
  /** @type {Picture | null} */
  picture = null;
  /** @type {Board[]} */
  boards = [];
  #waited = 0;
  #painted = 0;
  /** @type {number | null} */
  #ticking = null;
  #before = 0;
  /** @type {(() => void) | null} */
  #stopListening = null;

  /** @param {HTMLElement} box all that the picture shows is made in here */
  constructor(box) {
    this.box = box;
    this.still = prefersStillness();
    this.boardsBox = element("div", "boards");
    this.controls = element("div", "controls");
    this.readout = element("p", "readout");
    box.replaceChildren(this.boardsBox, this.controls, this.readout);
  }

  /** All boards, controls and handles are made: begin. */
  start() {
    this.#stopListening = onResize(this.boards.map((board) => board.canvas), () => this.#resize());
    for (const board of this.boards) {
      // the page's colours may change at any time; a transition too short to see tells when
      board.canvas.addEventListener("transitionend", () => this.wake());
    }
    this.wake();
  }

  /**
   * A square board with the disk, or with another map.
   * @param {string} label what it shows, in words
   * @param {ChartAbout} chart
   */
  map(label, chart = { name: "disk", reach: 0.995 }) {
    const frame = element("div", "picture"), board = new Board(label, "map");
    const map = new MapBoard(board, element("div", "handles"), chart);
    frame.append(board.canvas, map.handles);
    this.boardsBox.append(frame);
    this.boards.push(board);
    return map;
  }

  /**
   * A board for curves, bars and ellipses.
   * @param {string} label
   * @param {"side" | "wide"} kind beside the map, or as wide as there is room
   */
  panel(label, kind = "side") {
    const board = new Board(label, kind);
    this.boardsBox.append(board.canvas);
    this.boards.push(board);
    return board;
  }

  /**
   * A point to drag, or to move by arrow keys.
   * @param {MapBoard} map
   * @param {string} name
   * @param {Point} at
   * @param {(at: Point) => void} [onMove]
   */
  handle(map, name, at, onMove) {
    const handle = new Handle(map, name, at, () => {
      this.touch();
      onMove?.(handle.at);
    });
    map.placed.push(handle);
    return handle;
  }

  /**
   * @param {string} label
   * @param {{ min: number, max: number, step: number, value: number }} range
   * @param {(value: number) => string} say the value in words
   * @param {(value: number) => void} onInput
   */
  slider(label, range, say, onInput) {
    const input = document.createElement("input"), output = element("output", "");
    Object.assign(input, { type: "range", ...mapValues(range, String) });
    const show = () => {
      output.textContent = say(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      show();
      onInput(Number(input.value));
      this.touch();
    });
    input.addEventListener("keydown", keepArrows);
    const row = element("label", "slider");
    row.append(element("span", "", label), input, output);
    this.controls.append(row);
    show();
    return {
      input,
      /** @param {number} value */
      set: (value) => {
        input.value = String(value);
        show();
      },
    };
  }

  /**
   * @param {string} label
   * @param {() => void} onClick
   * @param {{ takesOver: boolean }} [options] whether the picture then no longer moves by itself
   */
  button(label, onClick, { takesOver } = { takesOver: true }) {
    const button = /** @type {HTMLButtonElement} */ (element("button", "", label));
    button.type = "button";
    button.addEventListener("click", () => {
      onClick();
      if (takesOver) this.touch();
    });
    this.controls.append(button);
    return button;
  }

  /**
   * @param {string} label
   * @param {boolean} on
   * @param {(on: boolean) => void} onChange
   */
  check(label, on, onChange) {
    const row = element("label", "check"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", checked: on });
    input.addEventListener("change", () => {
      onChange(input.checked);
      this.wake();
    });
    row.append(input, element("span", "", label));
    this.controls.append(row);
    return input;
  }

  /** @param {string} text below the picture */
  say(text) {
    if (this.readout.textContent !== text) this.readout.textContent = text;
  }

  /** The visitor has moved something. */
  touch() {
    this.touched = true;
    this.box.dataset.touched = "true";
    this.wake();
  }

  /** Draw before the next repaint, and go on as long as the picture moves by itself. */
  wake() {
    this.#ticking ??= requestAnimationFrame((now) => this.#tick(now));
  }

  /** @param {number} now */
  #tick(now) {
    this.#ticking = null;
    const seconds = Math.min(0.1, (now - (this.#before || now)) / 1000);
    this.#before = now;
    if (!this.revealed) {
      this.#waited += seconds;
      if (this.#waited > GUESSING) this.reveal();
    }
    const plays = Boolean(this.picture?.play) && !this.touched && !this.still;
    if (plays) this.picture?.play?.(seconds);
    this.paint();
    if (plays || !this.revealed) this.wake();
    else this.#before = 0;
  }

  reveal() {
    this.revealed = true;
    this.box.dataset.revealed = "true";
    this.wake();
  }

  paint() {
    this.boards.forEach((board) => board.begin());
    this.picture?.draw();
    this.#painted += 1;
    this.box.dataset.painted = String(this.#painted);
  }

  #resize() {
    if (this.boards.filter((board) => fitToScreen(board.canvas)).length) this.paint(); // a resized canvas is blank
  }

  close() {
    this.#stopListening?.();
    if (this.#ticking !== null) cancelAnimationFrame(this.#ticking);
  }
}

/**
 * @template T
 * @param {Record<string, T>} object
 * @param {(value: T) => string} change
 */
function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** A number that goes from 0 to 1 and back, once in so many seconds. @param {number} seconds @param {number} period */
export const sway = (seconds, period) => (1 - Math.cos((2 * Math.PI * seconds) / period)) / 2;
