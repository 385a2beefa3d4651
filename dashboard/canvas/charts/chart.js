// What the scene asks of a chart, and the charts there are. A new one is a file beside this and a line below.

import { Disk } from "./disk.js";
import { Plane } from "./plane.js";

/**
 * @import { Look } from "../screen.js"
 * @import { Place, Viewport } from "../viewport.js"
 * @import { Axes } from "./plane.js"
 */

/**
 * The ball of radius σ around a mean (x, y).
 * @typedef {object} Ball
 * @property {number} x
 * @property {number} y
 * @property {number} sigma
 * @property {ArrayLike<number> | null} ellipse cx, cy, rx, ry and the angle (counter-clockwise) of its picture
 *   on the map, where the message gives it; the disk draws balls by σ alone, and an ellipse of the tangent space
 *   at the mean if it is given one
 */

/**
 * What a message says of its chart: a name, and what the chart of that name needs to know.
 * @typedef {{ name: "disk", reach: number } | { name: "plane" } & Axes} ChartAbout
 */

/**
 * How a two-dimensional map of the space stands on the screen. Nothing else knows what the space is.
 *
 * Points are (x, y) in map coordinates, as messages have them. Places on the screen are pixels of the canvas.
 * A chart reads the viewport, which says from where the map is looked at; it never moves it.
 *
 * @typedef {object} Chart
 * @property {string} id of the map, "" if the space has only one; drops say on which map they were
 * @property {{ title: string, noun: string, balls: string, grid: string, origin: string, at: string }} words
 *   what people read: the map's full name, one word for it, what its σ-balls, grid and origin are called, and what
 *   stands between the name of a mean and its place
 * @property {"round" | "square"} shape of the map's edge
 * @property {number} digits decimals that a dropped mean keeps; an arrow key moves it ten units of the last
 * @property {readonly [number, number]} origin the point that the "whole" view is centred on
 * @property {{ x: number, y: number, width: number, height: number }} window
 *   the part of the canvas in which the map is seen; nothing of it is drawn beside this
 * @property {(x: number, y: number) => [number, number]} toScreen
 * @property {(x: number, y: number) => [number, number]} fromScreen
 *   the inverse of `toScreen`; of a place beside the map, a point at its edge
 * @property {(x: number, y: number) => [number, number]} withinReach
 *   the point itself, or the nearest one to which a mean may be dragged
 * @property {(place: Place) => [number, number]} keptInSight
 *   this place's panX and panY, or the nearest that leave enough of the map in sight
 * @property {((x: number, y: number) => (share: number) => Partial<Place>) | null} wayTo
 *   the way from the present view to one with (x, y) in the middle, by shares from 0 to 1;
 *   null if the view cannot be centred on a point
 * @property {((x: number, y: number, u: number, v: number) => number) | null} distance of two points; null if their
 *   places on the map do not tell it
 * @property {(g: CanvasRenderingContext2D, ball: Ball) => void} traceBall makes the outline of a ball g's path
 * @property {(g: CanvasRenderingContext2D, colours: Look) => void} drawBackground below the points
 * @property {(g: CanvasRenderingContext2D, colours: Look) => void} drawFrame above the points
 * @property {((g: CanvasRenderingContext2D, colours: Look) => void) | null} drawGrid
 *   on the background, if the visitor wants it; null if the chart has none
 */

/**
 * The chart that a message names.
 * @param {Viewport} viewport
 * @param {ChartAbout} about
 * @returns {Chart}
 */
export function makeChart(viewport, about) {
  switch (about.name) {
    case "disk": return new Disk(viewport, about);
    case "plane": return new Plane(viewport, about);
  }
}
