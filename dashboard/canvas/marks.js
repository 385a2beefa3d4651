// How a state looks: its colour and its shape, the same on every canvas and in every figure.

/** The outline of the shape of a state, around (x, y); `size` is the radius of the circle. */
function traceMark(g, state, x, y, size) {
  g.beginPath();
  const polygon = (corners, turn, scale = 1) => {
    for (let i = 0; i < corners; i++) {
      const angle = turn + (2 * Math.PI * i) / corners;
      g.lineTo(x + size * scale * Math.cos(angle), y + size * scale * Math.sin(angle));
    }
    g.closePath();
  };
  const up = -Math.PI / 2;
  switch (state % 8) {
    case 0: g.arc(x, y, size, 0, 2 * Math.PI); break;
    case 1: polygon(3, up, 1.25); break;
    case 2: polygon(4, Math.PI / 4, 1.25); break;
    case 3: polygon(4, 0, 1.25); break;
    case 4: polygon(3, -up, 1.25); break;
    case 5: polygon(5, up, 1.1); break;
    case 6:
      for (let i = 0; i < 10; i++) {
        const angle = up + (Math.PI * i) / 5, radius = size * (i % 2 ? 0.55 : 1.35);
        g.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
      }
      g.closePath();
      break;
    default: polygon(6, up, 1.1);
  }
}

/** The mark, filled, with a rim in the background's colour that sets it off. */
function drawMark(g, colours, state, colour, x, y, size, rim) {
  traceMark(g, state, x, y, size);
  g.lineWidth = rim * (window.devicePixelRatio || 1);
  g.strokeStyle = colours.back;
  g.stroke();
  g.fillStyle = colour;
  g.fill();
}

/** A small picture of the mark: stamping it is many times quicker than drawing its outline. */
function markStamp(state, colour, size, opacity) {
  const stamp = document.createElement("canvas");
  stamp.width = stamp.height = Math.ceil(2.8 * size) + 2;
  const g = stamp.getContext("2d"), middle = stamp.width / 2;
  g.globalAlpha = opacity;
  g.fillStyle = colour;
  traceMark(g, state, middle, middle, size);
  g.fill();
  return stamp;
}

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const subscript = (number) => String(number).replace(/\d/g, (digit) => SUBSCRIPTS[digit]);
const grouped = (number) => number.toLocaleString("en-US");

const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Colours and fonts as the page has them now, so that the canvas follows light and dark. */
function look(element) {
  const style = getComputedStyle(element);
  return {
    text: style.getPropertyValue("--st-text-color").trim() || style.color,
    faint: style.getPropertyValue("--st-secondary-background-color").trim(),
    back: style.getPropertyValue("--st-background-color").trim(),
    family: style.fontFamily,
  };
}

/** Give the canvas as many pixels as it covers on the screen; says whether that changed anything. */
function fitToScreen(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(box.width * ratio));
  const height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width === width && canvas.height === height && canvas.ratio === ratio) return false;
  Object.assign(canvas, { width, height, ratio });
  return true;
}

/** Calls `action` whenever the screen has other pixels: the page was zoomed, or is on another screen.
 * Returns a function that ends this. */
function onOtherPixels(action) {
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
  return () => query.removeEventListener("change", changed);
}
