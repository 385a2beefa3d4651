// The screen: its pixels, the page's colours, and whether the visitor wants things to move.

import { pen, pixelRatio } from "./pen.js";

/**
 * Colours and font of the page at this moment.
 * @typedef {object} Look
 * @property {string} text
 * @property {string} faint the background of fields, a little off the page's
 * @property {string} back the background of the page
 * @property {string} family
 */

export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Colours and font as the page has them now, so that the canvas follows light and dark.
 * @param {Element} element
 * @returns {Look}
 */
export function look(element) {
  const style = getComputedStyle(element);
  return {
    text: style.getPropertyValue("--st-text-color").trim() || style.color,
    faint: style.getPropertyValue("--st-secondary-background-color").trim(),
    back: style.getPropertyValue("--st-background-color").trim(),
    family: style.fontFamily,
  };
}

/** @type {WeakMap<HTMLCanvasElement, number>} */
const fittedTo = new WeakMap(); // the pixel ratio that each canvas was fitted to

/**
 * Give the canvas as many pixels as it covers on the screen; says whether that changed anything.
 * @param {HTMLCanvasElement} canvas
 * @returns {boolean}
 */
export function fitToScreen(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = pixelRatio();
  const width = Math.max(1, Math.round(box.width * ratio));
  const height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width === width && canvas.height === height && fittedTo.get(canvas) === ratio) return false;
  Object.assign(canvas, { width, height });
  fittedTo.set(canvas, ratio);
  return true;
}

/**
 * Calls `action` when these canvases may need other pixels: their size has changed, the page was zoomed,
 * or it is on another screen now.
 * @param {HTMLCanvasElement[]} canvases
 * @param {() => void} action
 * @returns {() => void} ends this
 */
export function onResize(canvases, action) {
  const observer = new ResizeObserver(action);
  canvases.forEach((canvas) => observer.observe(canvas));
  /** @type {MediaQueryList} */
  let query;
  const listen = () => {
    query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", changed, { once: true });
  };
  const changed = () => {
    listen(); // now for the next change
    action();
  };
  listen();
  return () => {
    observer.disconnect();
    query.removeEventListener("change", changed);
  };
}

/**
 * Save canvases side by side, as they are now, as a PNG file.
 * @param {HTMLCanvasElement[]} canvases
 * @param {string} file its name
 */
export function saveAsPng(canvases, file) {
  const picture = document.createElement("canvas");
  picture.width = canvases.reduce((width, canvas) => width + canvas.width, 0);
  picture.height = Math.max(...canvases.map((canvas) => canvas.height));
  const g = pen(picture);
  g.fillStyle = look(canvases[0]).back;
  g.fillRect(0, 0, picture.width, picture.height);
  let left = 0;
  for (const canvas of canvases) {
    g.drawImage(canvas, left, 0);
    left += canvas.width;
  }
  picture.toBlob((blob) => {
    if (!blob) return; // the browser has no memory left for it
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = file;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
