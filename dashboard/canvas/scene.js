// The map of the space on a canvas: observations, true means that can be dragged, σ-balls, names. The chart says
// where things are; what a method believes is drawn on top by the caller.

import { makeChart } from "./charts/chart.js";
import { Handles } from "./handles.js";
import { colourOf, drawHollowMark, drawMark, markStamp, traceGlyph } from "./marks.js";
import { Navigation } from "./navigation.js";
import { pen, pixelRatio, setFont, typeScale } from "./pen.js";
import { look } from "./screen.js";
import { MARKS } from "./shared.js";
import { Viewport, WHOLE } from "./viewport.js";
import { meanName } from "./words.js";

/**
 * @import { Chart, ChartAbout } from "./charts/chart.js"
 * @import { Colour, Moved, Points, Truth } from "./protocol.js"
 * @import { Look } from "./screen.js"
 * @import { Place } from "./viewport.js"
 */

/** @typedef {(g: CanvasRenderingContext2D, colours: Look) => void} Drawing */

const GLYPH = 2.5; // so many times as large as a mark is the ellipse that stands for a mean

export class Scene {
  /** @type {Chart | null} */
  chart = null;
  /** @type {ChartAbout | null} */
  #about = null;
  /** @type {Truth | null} */
  truth = null;
  /** @type {Points | null} */
  cloud = null;
  /** @type {Colour} */
  #colourBy = "true";
  /** What stands still below the observations, drawn once: background and grid. */
  #ground = document.createElement("canvas");
  /** The observations that are seen: those that come are added to those that are there. */
  #seen = document.createElement("canvas");
  #countDrawn = 0;
  #drawnWith = "";
  dirty = true;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} handles over the canvas; it gets a button for each true mean
   * @param {{ onDrop: (moved: Moved) => void, onLook: (settled: boolean) => void }} listeners for means that were
   *   dropped and for changes of what is seen; the latter may go on
   */
  constructor(canvas, handles, { onDrop, onLook }) {
    this.canvas = canvas;
    this.viewport = new Viewport(canvas);
    this.navigation = new Navigation(this, onLook);
    this.handles = new Handles(handles, this, { onMove: () => onLook(false), onDrop });
  }

  // What is shown

  /** Where the true means are now. */
  get means() {
    return this.handles.means;
  }

  /**
   * Python says which chart it is and what is true; `acknowledged` is the last drop that it knows of.
   * @param {ChartAbout} about
   * @param {Truth} truth
   * @param {number} acknowledged
   */
  setTruth(about, truth, acknowledged) {
    const before = JSON.stringify([this.#about, this.truth, this.means]);
    this.#setChart(about);
    this.truth = truth;
    this.handles.setTruth(truth, acknowledged);
    if (JSON.stringify([about, truth, this.means]) === before) return;
    this.handles.place();
    this.dirty = true;
  }

  /** @param {ChartAbout} about */
  #setChart(about) {
    if (JSON.stringify(about) === JSON.stringify(this.#about)) return;
    if (this.#about && about.name !== this.#about.name) this.viewport.place = { ...WHOLE };
    this.#about = about;
    this.chart = makeChart(this.viewport, about);
    this.canvas.dataset.shape = this.chart.shape;
    this.canvas.setAttribute("aria-label", `${this.chart.words.title} ${this.canvas.dataset.shows}`);
  }

  /** @param {Points | null} cloud */
  setCloud(cloud) {
    this.cloud = cloud;
    this.dirty = true;
  }

  /** @param {Colour} by whose states the observations are coloured by */
  colour(by) {
    this.#colourBy = by;
    this.dirty = true;
  }

  /** @param {Partial<Place>} place */
  lookAt(place) {
    Object.assign(this.viewport.place, place);
    // a finger scrolls the page, unless there is more of the map to be seen
    this.canvas.style.touchAction = this.viewport.place.zoom > 1 ? "none" : "";
    this.dirty = true;
    this.handles.place();
  }

  close() {
    this.handles.close();
    this.navigation.close();
  }

  // Drawing

  /** How many of the observations in the cloud are among the first k. @param {number} k */
  countSeen(k) {
    const { cloud } = this;
    return cloud ? Math.min(cloud.xy.length / 2, Math.ceil(k / cloud.stride)) : 0;
  }

  /**
   * @param {{ circles: boolean, grid: boolean, dim: boolean, seen?: number }} options `seen` is the number of
   *   observations that are shown; all without it
   * @param {Drawing} drawMore adds what moves, on top of the observations and the true means
   * @param {Drawing} [drawBelow] adds what lies below both
   */
  draw(options, drawMore, drawBelow) {
    const { canvas, chart, truth } = this, colours = look(canvas), g = pen(canvas);
    if (!chart || !truth) return;
    const key = JSON.stringify([canvas.width, canvas.height, colours.text, options.grid, options.dim, typeScale()]);
    const anew = this.dirty || key !== this.#drawnWith;
    if (anew) {
      this.#drawGround(chart, colours, options);
      this.#drawnWith = key;
      this.dirty = false;
      this.handles.place();
    }
    this.#drawSeen(chart, colours, this.countSeen(options.seen ?? Infinity), options.dim ? 0.28 : 0.5, anew);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.#ground, 0, 0);
    g.drawImage(this.#seen, 0, 0);
    if (drawBelow) inWindow(g, chart, () => drawBelow(g, colours));
    chart.drawFrame(g, colours);
    inWindow(g, chart, () => {
      this.#drawTruth(g, chart, truth, colours, options);
      drawMore(g, colours);
      this.#drawNames(g, chart, colours);
    });
  }

  /**
   * @param {Chart} chart
   * @param {Look} colours
   * @param {{ grid: boolean }} options
   */
  #drawGround(chart, colours, options) {
    const ground = this.#ground;
    ground.width = this.canvas.width;
    ground.height = this.canvas.height;
    const g = pen(ground);
    inWindow(g, chart, () => {
      chart.drawBackground(g, colours);
      if (options.grid) chart.drawGrid?.(g, colours);
    });
  }

  /**
   * @param {Chart} chart
   * @param {Look} colours
   * @param {number} count of the observations that are seen
   * @param {number} opacity
   * @param {boolean} anew whether what is drawn cannot stay
   */
  #drawSeen(chart, colours, count, opacity, anew) {
    const layer = this.#seen;
    if (anew || count < this.#countDrawn) {
      layer.width = this.canvas.width; // this also clears it
      layer.height = this.canvas.height;
      this.#countDrawn = 0;
    }
    const first = this.#countDrawn;
    this.#countDrawn = count;
    if (count > first) inWindow(pen(layer), chart, () => this.drawPoints(pen(layer), first, count, 1.9 * this.#dot, opacity));
  }

  /** The size of an observation: a little larger from nearby. */
  get #dot() {
    return pixelRatio() * Math.sqrt(typeScale()) * Math.min(1.6, 1 + Math.log2(this.viewport.place.zoom) / 6);
  }

  /**
   * Draw the observations from `first` to before `last`.
   * @param {CanvasRenderingContext2D} g
   * @param {number} first
   * @param {number} last
   * @param {number} size
   * @param {number} opacity
   * @param {Points | null} cloud where they are
   */
  drawPoints(g, first, last, size, opacity, cloud = this.cloud) {
    const { chart, truth } = this;
    if (!chart || !cloud || !truth) return;
    const { xy, glyphs } = cloud;
    const states = { plain: null, decoded: cloud.decoded ?? null, true: cloud.states }[this.#colourBy];
    const unknown = look(this.canvas).text;
    if (glyphs) {
      g.save();
      g.globalAlpha = opacity;
      g.lineWidth = pixelRatio();
      for (let t = first; t < last; t++) {
        g.strokeStyle = states && states[t] >= 0 ? colourOf(states[t]) : unknown;
        traceGlyph(g, ...chart.toScreen(xy[2 * t], xy[2 * t + 1]), size, glyphs.subarray(3 * t, 3 * t + 3));
        g.stroke();
      }
      g.restore();
      return;
    }
    const plain = markStamp(0, unknown, 0.8 * size, 0.8 * opacity);
    const stamps = states ? MARKS.map((_, state) => markStamp(state, colourOf(state), size, opacity)) : [];
    for (let t = first; t < last; t++) {
      const [x, y] = chart.toScreen(xy[2 * t], xy[2 * t + 1]);
      const stamp = states ? stamps[states[t]] ?? plain : plain; // an observation without a label has no colour
      g.drawImage(stamp, x - stamp.width / 2, y - stamp.width / 2);
    }
  }

  /**
   * The mark of a state at this point of the map, filled or hollow. Where points are ellipses, its own is around it.
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {number} state
   * @param {number} x
   * @param {number} y
   * @param {ArrayLike<number> | null} glyph
   * @param {boolean} filled
   */
  drawMean(g, colours, state, x, y, glyph, filled) {
    const { chart } = this, ratio = pixelRatio() * typeScale();
    if (!chart) return;
    const [sx, sy] = chart.toScreen(x, y);
    if (glyph) {
      traceGlyph(g, sx, sy, 6 * GLYPH * ratio, glyph);
      for (const [colour, width] of /** @type {const} */ ([[colours.back, 5], [colourOf(state), 2.5]])) {
        g.strokeStyle = colour; // the wider line in the background's colour sets the ellipse off
        g.lineWidth = width * ratio;
        g.stroke();
      }
    }
    if (filled) drawMark(g, colours, state, sx, sy, 6 * ratio, 3);
    else drawHollowMark(g, colours, state, sx, sy, 6 * ratio);
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Chart} chart
   * @param {Truth} truth
   * @param {Look} colours
   * @param {{ circles: boolean }} options
   */
  #drawTruth(g, chart, truth, colours, options) {
    const ratio = pixelRatio(), arm = 10 * ratio;
    this.means.forEach(([x, y], state) => {
      const [sx, sy] = chart.toScreen(x, y);
      g.globalAlpha = truth.away?.[state] ? 0.3 : 1;
      if (options.circles) {
        const [trueX, trueY] = truth.means[state], ball = truth.balls?.[state];
        const ellipse = ball ? [ball[0] + x - trueX, ball[1] + y - trueY, ...ball.slice(2)] : null;
        chart.traceBall(g, { x, y, sigma: truth.sigmas[state], ellipse });
        g.setLineDash([5 * ratio, 4 * ratio]);
        g.strokeStyle = colours.text;
        g.lineWidth = 1.4 * ratio;
        g.stroke();
        g.setLineDash([]);
      }
      if (truth.glyphs) {
        traceGlyph(g, sx, sy, 6 * GLYPH * ratio, truth.glyphs[state]);
        g.strokeStyle = colours.text;
        g.lineWidth = 2.5 * ratio;
        g.stroke();
      }
      for (const [colour, width] of /** @type {const} */ ([[colours.back, 5.5], [colours.text, 2.5]])) {
        g.strokeStyle = colour; // the wider line in the background's colour sets the cross off
        g.lineWidth = width * ratio;
        g.beginPath();
        g.moveTo(sx - arm, sy - arm);
        g.lineTo(sx + arm, sy + arm);
        g.moveTo(sx - arm, sy + arm);
        g.lineTo(sx + arm, sy - arm);
        g.stroke();
      }
      g.globalAlpha = 1;
    });
  }

  /**
   * c₁, c₂, …: last, so that nothing covers them.
   * @param {CanvasRenderingContext2D} g
   * @param {Chart} chart
   * @param {Look} colours
   */
  #drawNames(g, chart, colours) {
    const ratio = pixelRatio() * typeScale();
    setFont(g, colours, 15, 600);
    g.lineWidth = 4 * ratio;
    g.lineJoin = "round";
    g.textBaseline = "middle";
    this.means.forEach(([x, y], state) => {
      const [sx, sy] = chart.toScreen(x, y), name = meanName(state);
      const right = sx < this.canvas.width * 0.8, at = sx + (right ? 15 : -15) * ratio;
      g.textAlign = right ? "left" : "right";
      g.strokeStyle = colours.back;
      g.strokeText(name, at, sy);
      g.fillStyle = colours.text;
      g.fillText(name, at, sy);
    });
  }
}

/**
 * Draw within the part of the canvas in which the chart shows its map.
 * @param {CanvasRenderingContext2D} g
 * @param {Chart} chart
 * @param {() => void} draw
 */
function inWindow(g, chart, draw) {
  const { x, y, width, height } = chart.window;
  g.save();
  g.beginPath();
  g.rect(x, y, width, height);
  g.clip();
  g.lineJoin = "round";
  draw();
  g.restore();
}
