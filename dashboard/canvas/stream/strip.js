// A strip that scrolls: the true states of the latest observations, and below what each learner takes them for.

import { pen, pixelRatio, setFont, typeScale } from "../pen.js";
import { look } from "../screen.js";
import { MARKS } from "../shared.js";
import { Rows } from "./news.js";

/**
 * @import { Look } from "../screen.js"
 * @import { LearnerAbout } from "./news.js"
 */

const ROOM = 800; // observations
const COLUMN = 4; // CSS pixels of an observation
const NAMES = 165; // CSS pixels for the names of the lines
const UNKNOWN = "#888888";

export class Strip {
  /** @type {Rows} */
  #kept = new Rows(1, 1);
  /** @type {LearnerAbout[]} */
  #learners = [];
  /** What the first line is called: it has the states that learners are judged by, if these are known. @type {string[]} */
  #known = [];

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
  }

  /**
   * @param {LearnerAbout[]} learners
   * @param {string} known what the states are called that learners are judged by; empty if there are none
   */
  begin(learners, known) {
    this.#learners = learners;
    this.#known = known ? [known] : [];
    this.#kept = new Rows(1 + learners.length, ROOM);
    this.canvas.parentElement?.style.setProperty("--lines", String(this.#known.length + learners.length));
  }

  /**
   * @param {number} step the number of the observation
   * @param {number[]} states the true one, and those of the learners
   */
  add(step, states) {
    this.#kept.push(step, states);
  }

  /**
   * @param {number} position in observations
   * @param {number} stride between two observations
   * @param {(key: string) => boolean} isShown
   */
  draw(position, stride, isShown) {
    const { canvas } = this, g = pen(canvas), colours = look(canvas), kept = this.#kept;
    const ratio = pixelRatio() * typeScale(), lines = 1 + this.#learners.length, above = 1 - this.#known.length;
    const left = Math.min(NAMES * ratio, 0.4 * canvas.width), height = canvas.height / (lines - above);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.save();
    g.beginPath();
    g.rect(left, 0, canvas.width - left, canvas.height);
    g.clip();
    const column = COLUMN * ratio, last = kept.length - 1;
    const ahead = last < 0 ? 0 : Math.min(1, (position - kept.step(last)) / stride);
    for (let row = last; row >= 0; row--) {
      const x = canvas.width - (last - row + ahead) * column - column;
      if (x < left - column) break;
      const truth = kept.value(row, 0);
      for (let line = above; line < lines; line++) {
        if (line && !isShown(this.#learners[line - 1].key)) continue;
        const state = kept.value(row, line), mark = MARKS[state], top = (line - above) * height + 1.5 * ratio;
        const wrong = !above && truth >= 0 && state !== truth;
        g.fillStyle = mark ? mark.colour : UNKNOWN;
        g.globalAlpha = !mark ? 0.25 : line === 0 || wrong || above ? 1 : 0.4;
        g.fillRect(x, top, Math.ceil(column), height - 3 * ratio);
        if (!wrong || state < 0) continue;
        g.fillStyle = colours.text; // never by colour alone
        g.fillRect(x, top + height / 2 - 2.5 * ratio, Math.ceil(column), 2 * ratio);
      }
    }
    g.restore();
    g.globalAlpha = 1;
    this.#drawNames(g, colours, left, height);
  }

  /**
   * @param {CanvasRenderingContext2D} g
   * @param {Look} colours
   * @param {number} left
   * @param {number} height of a line
   */
  #drawNames(g, colours, left, height) {
    const ratio = pixelRatio() * typeScale();
    setFont(g, colours, 12.5);
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.fillStyle = colours.text;
    [...this.#known, ...this.#learners.map(({ label }) => label)].forEach((name, line) => {
      g.fillText(name, left - 8 * ratio, (line + 0.5) * height, left - 10 * ratio);
    });
  }
}
