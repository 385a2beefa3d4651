// How learners and states look beside words.

import { cornersOf } from "../marks.js";
import { MARKS } from "../shared.js";

const SVG = "http://www.w3.org/2000/svg";

/** What the marks of a recording mean. @param {string[]} labels */
export function legendOf(labels) {
  return labels.map((label, state) => {
    const item = document.createElement("span");
    if (MARKS[state]) item.append(markIcon(state, MARKS[state].colour));
    item.append(label);
    return item;
  });
}

/**
 * The mark of a state alone.
 * @param {number} mark
 * @param {string} colour
 */
function markIcon(mark, colour) {
  const icon = document.createElementNS(SVG, "svg"), outline = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({ viewBox: "0 0 12 12", width: "12", height: "12", "aria-hidden": "true" })) {
    icon.setAttribute(name, value);
  }
  outline.setAttribute("d", outlineOf(mark, 6, 6, 4.4));
  outline.setAttribute("fill", colour);
  icon.append(outline);
  return icon;
}

/**
 * The line of a learner with its mark in the middle.
 * @param {string} colour
 * @param {number[]} dash
 * @param {number | null} mark
 */
export function lineIcon(colour, dash, mark) {
  const icon = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 34 12", width: "34", height: "12", "aria-hidden": "true" })) {
    icon.setAttribute(name, value);
  }
  const line = document.createElementNS(SVG, "line");
  const shape = { x1: "0", y1: "6", x2: "34", y2: "6", stroke: colour, "stroke-width": "2.2", "stroke-dasharray": dash.join(" ") };
  for (const [name, value] of Object.entries(shape)) line.setAttribute(name, value);
  icon.append(line);
  if (mark !== null) {
    const outline = document.createElementNS(SVG, "path");
    outline.setAttribute("d", outlineOf(mark, 17, 6, 4.4));
    outline.setAttribute("fill", colour);
    outline.setAttribute("stroke", "var(--st-background-color)");
    icon.append(outline);
  }
  return icon;
}

/**
 * The outline of a mark as a path of an SVG.
 * @param {number} mark
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function outlineOf(mark, x, y, size) {
  const corners = cornersOf(mark, x, y, size);
  if (!corners.length) return `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`;
  return `M${corners.map((corner) => corner.map((value) => value.toFixed(2)).join(" ")).join("L")}Z`;
}
