// What all pictures of the lesson are made of: boards to draw on, handles to drag, controls, and time.

import { Disk } from "../charts/disk.js";
import { makeChart } from "../charts/chart.js";
import { pen, pixelRatio } from "../pen.js";
import { fitToScreen, look, onResize, prefersStillness } from "../screen.js";
import { Viewport } from "../viewport.js";
import { withinReach } from "./geometry.js";

/**
 * @import { Chart, ChartAbout } from "../charts/chart.js"
 * @import { Look } from "../screen.js"
 * @import { Point } from "./geometry.js"
 */

/**
 * One screen of the lesson.
 * @typedef {object} Picture
 * @property {(about: any) => void} [receive] what Python says; again whenever it changes
 * @property {(seconds: number) => void} [play] so much time has passed, while the visitor has not touched it
 * @property {() => void} draw
 */

/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const KEY_STEP = 0.02;
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

/** A canvas. Places on a map are in pixels of the screen, as its chart has them; on a panel see `width`. */
export class Board {
  /**
   * @param {string} label
   * @param {"map" | "side" | "wide"} kind
   */
  constructor(label, kind) {
    this.kind = kind;
    this.canvas = document.createElement("canvas");
    this.canvas.className = kind;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.g = pen(this.canvas);
    this.isMap = kind === "map";
    /** @type {Look} */
    this.colours = { text: "", faint: "", back: "", family: "" };
  }

  /** How much larger than on a small screen everything is drawn: on a projector it is read from far away. */
  get zoom() {
    const small = { map: 520, side: 250, wide: 640 }[this.kind];
    return Math.min(1.5, Math.max(1, this.canvas.width / pixelRatio() / small));
  }

  /** Of a panel in its own units: CSS pixels, but for the zoom. */
  get width() { return this.canvas.width / pixelRatio() / this.zoom; }

  get height() { return this.canvas.height / pixelRatio() / this.zoom; }

  begin() {
    const { g, canvas } = this;
    fitToScreen(canvas);
    this.colours = look(canvas);
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    if (!this.isMap) g.scale(pixelRatio() * this.zoom, pixelRatio() * this.zoom);
    g.globalAlpha = 1;
    g.setLineDash([]);
    g.lineJoin = g.lineCap = "round";
  }

  /**
   * Text with a halo in the page's colour so that lines do not cross it.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {{ size?: number, weight?: number, align?: CanvasTextAlign, colour?: string }} [style]
   */
  write(text, x, y, { size = 15, weight = 400, align = "left", colour = this.colours.text } = {}) {
    const { g } = this, unit = this.isMap ? pixelRatio() * this.zoom : 1;
    g.save();
    g.globalAlpha = 1;
    g.setLineDash([]);
    g.font = `${weight} ${size * unit}px ${this.colours.family}`;
    g.textAlign = align;
    g.textBaseline = "middle";
    g.lineWidth = 4 * unit;
    g.strokeStyle = this.colours.back;
    g.strokeText(text, x, y);
    g.fillStyle = colour;
    g.fillText(text, x, y);
    g.restore();
  }
}

/** A map with handles over it. */
export class MapBoard {
  /** @type {Handle[]} */
  placed = [];

  /**
   * @param {Board} board
   * @param {HTMLElement} handles
   * @param {ChartAbout} chart
   */
  constructor(board, handles, chart) {
    this.board = board;
    this.handles = handles;
    this.viewport = new Viewport(board.canvas);
    /** @type {Chart} */
    this.chart = chart.name === "disk" ? new Disk(this.viewport, chart) : makeChart(this.viewport, chart);
  }

  get g() { return this.board.g; }

  get colours() { return this.board.colours; }

  /** The disk itself; each handle goes where its point is. */
  drawGround(grid = false) {
    const { g, colours } = this;
    this.chart.drawBackground(g, colours);
    if (grid) this.chart.drawGrid?.(g, colours);
    this.chart.drawFrame(g, colours);
    const ratio = pixelRatio();
    for (const handle of this.placed) {
      const [x, y] = this.chart.toScreen(...handle.at);
      handle.button.style.left = `${x / ratio}px`;
      handle.button.style.top = `${y / ratio}px`;
    }
  }

  /**
   * @param {Point[]} points
   * @param {{ colour?: string, width?: number, dash?: number[], opacity?: number }} [style]
   */
  line(points, { colour = this.colours.text, width = 2, dash = [], opacity = 1 } = {}) {
    const { g } = this, ratio = pixelRatio();
    g.beginPath();
    for (const point of points) g.lineTo(...this.chart.toScreen(...point));
    this.#stroke(colour, width * ratio, dash.map((d) => d * ratio), opacity);
  }

  /**
   * The circle of all points at this distance.
   * @param {Point} centre
   * @param {number} sigma
   * @param {{ colour?: string, width?: number, dash?: number[], opacity?: number, fill?: number }} [style]
   */
  circle(centre, sigma, { colour = this.colours.text, width = 2, dash = [], opacity = 1, fill = 0 } = {}) {
    const { g } = this, ratio = pixelRatio();
    this.chart.traceBall(g, { x: centre[0], y: centre[1], sigma, ellipse: null });
    if (fill) {
      g.globalAlpha = fill;
      g.fillStyle = colour;
      g.fill();
    }
    this.#stroke(colour, width * ratio, dash.map((d) => d * ratio), opacity);
  }

  /**
   * @param {Point} point
   * @param {{ colour?: string, size?: number, opacity?: number, hollow?: boolean }} [style]
   */
  dot(point, { colour = this.colours.text, size = 5, opacity = 1, hollow = false } = {}) {
    const { g } = this, ratio = pixelRatio(), [x, y] = this.chart.toScreen(...point);
    g.globalAlpha = opacity;
    g.beginPath();
    g.arc(x, y, size * ratio, 0, 2 * Math.PI);
    g.fillStyle = hollow ? this.colours.back : colour;
    g.fill();
    g.globalAlpha = 1;
    if (hollow) this.#stroke(colour, 2.5 * ratio, [], opacity);
  }

  /**
   * Text beside a point.
   * @param {string} text
   * @param {Point} point
   * @param {{ colour?: string, weight?: number, up?: number }} [style]
   */
  name(text, point, { up = 0, ...style } = {}) {
    const ratio = pixelRatio(), [x, y] = this.chart.toScreen(...point), right = x < this.board.canvas.width * 0.75;
    const align = right ? "left" : "right";
    this.board.write(text, x + (right ? 14 : -14) * ratio, y - up * ratio, { weight: 600, align, ...style });
  }

  /**
   * @param {string} colour
   * @param {number} width
   * @param {number[]} dash
   * @param {number} opacity
   */
  #stroke(colour, width, dash, opacity) {
    const { g } = this;
    g.globalAlpha = opacity;
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.setLineDash(dash);
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
  }
}

class Handle {
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
function keepArrows(event) {
  if (event.key in ARROWS) event.stopPropagation();
}

/**
 * @param {string} tag
 * @param {string} name
 */
export function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
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
