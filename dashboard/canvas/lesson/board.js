// A canvas of the lesson, with its size, its colours and its text.

import { pen, pixelRatio } from "../pen.js";
import { fitToScreen, look } from "../screen.js";

/** @import { Look } from "../screen.js" */

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
