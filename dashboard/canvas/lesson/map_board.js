// A map of the lesson: the disk or another chart, with points, lines and circles on it.

import { makeChart } from "../charts/chart.js";
import { Disk } from "../charts/disk.js";
import { pixelRatio } from "../pen.js";
import { Viewport } from "../viewport.js";

/**
 * @import { Chart, ChartAbout } from "../charts/chart.js"
 * @import { Board } from "./board.js"
 * @import { Point } from "./geometry.js"
 * @import { Handle } from "./handle.js"
 */

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
   * Text beside a point: to its right where there is room, or to its left where that is asked for and there is.
   * @param {string} text
   * @param {Point} point
   * @param {{ colour?: string, weight?: number, up?: number, left?: boolean }} [style]
   */
  name(text, point, { up = 0, left = false, ...style } = {}) {
    const ratio = pixelRatio(), [x, y] = this.chart.toScreen(...point);
    const right = x < this.board.canvas.width * (left ? 0.25 : 0.75);
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
