// How A and the errors move with k: one panel for each row of A, one for the errors.

const ERROR_NAMES = [["‖A − Â‖", "‖A − Â‖"], ["distance of means", "means"]]; // in full, and for little room
const INDENT = 12; // pixels before a title
const KEY = 30; // pixels for the mark and the number of a state

class Charts {
  /** `onScrub(step)` is called with the number of observations under the pointer. */
  constructor(canvas, onScrub) {
    this.canvas = canvas;
    this.frame = document.createElement("canvas"); // axes, names and the truth
    this.lines = document.createElement("canvas"); // the whole curves, uncovered up to k
    this.run = null;
    this.dirty = true;
    let scrubbing = false;
    const scrub = (event) => {
      const step = this.stepAt(event.clientX, event.clientY);
      if (step !== null) onScrub(step);
    };
    canvas.addEventListener("pointerdown", (event) => {
      scrubbing = true;
      canvas.setPointerCapture(event.pointerId);
      scrub(event);
    });
    canvas.addEventListener("pointermove", (event) => scrubbing && scrub(event));
    canvas.addEventListener("pointerup", () => (scrubbing = false));
    canvas.addEventListener("pointercancel", () => (scrubbing = false));
  }

  setRun(run) {
    this.run = run;
    this.dirty = true;
  }

  // Where things are

  /** Lay out the panels; where their titles have no room for all states, these stand above the panels. */
  arrange(colours) {
    const { width, height } = this.canvas, ratio = window.devicePixelRatio || 1;
    const rows = this.run.truth.means.length, count = rows + 1;
    const columns = width < 380 * ratio ? (count <= 4 ? 1 : 2) : count <= 2 ? 1 : count <= 6 ? 2 : 3;
    const down = Math.ceil(count / columns);
    const g = this.frame.getContext("2d");
    this.font(g, colours, 14, 600);
    const title = g.measureText(this.title(rows - 1)).width + (INDENT + rows * KEY) * ratio;
    this.keysAbove = title > width / columns;
    this.canvas.parentElement.style.setProperty("--rows", down);
    const head = this.keysAbove ? 26 * ratio : 0;
    const pad = { left: 34 * ratio, right: 20 * ratio, top: 26 * ratio, bottom: 26 * ratio };
    const cell = { width: width / columns, height: (height - head) / down };
    this.shown = Array.from({ length: count }, (_, index) => {
      const column = index % columns, row = Math.floor(index / columns);
      const span = index === rows ? columns - column : 1; // the errors take what is left of the row
      return {
        left: column * cell.width + pad.left,
        right: (column + span) * cell.width - pad.right,
        top: head + row * cell.height + pad.top,
        bottom: head + (row + 1) * cell.height - pad.bottom,
      };
    });
  }

  xOf(panel, step) {
    return panel.left + ((panel.right - panel.left) * step) / this.run.length;
  }

  yOfProbability(panel, value) {
    return panel.bottom - (panel.bottom - panel.top) * Math.min(1, Math.max(0, value));
  }

  /** Errors on a scale of decades, wide enough for all that can be shown. */
  errorScale() {
    const { errors, em, kmeans } = this.run;
    let least = Infinity, most = 0;
    for (const value of [...errors, ...(em?.errors ?? []), ...(kmeans?.errors ?? [])]) {
      if (value > 1e-9) least = Math.min(least, value);
      most = Math.max(most, value);
    }
    if (!(most > 0)) return [-3, 0];
    const low = Math.floor(Math.log10(least) + 0.15), high = Math.ceil(Math.log10(most) - 0.15);
    return [low, Math.max(high, low + 1)];
  }

  yOfError(panel, value, [low, high]) {
    const share = (Math.log10(Math.max(value, 1e-9)) - low) / (high - low);
    return panel.bottom - (panel.bottom - panel.top) * Math.min(1, Math.max(0, share));
  }

  stepAt(clientX, clientY) {
    if (!this.shown) return null;
    const box = this.canvas.getBoundingClientRect(), ratio = this.canvas.width / box.width;
    const x = (clientX - box.left) * ratio, y = (clientY - box.top) * ratio;
    const slack = 14 * ratio;
    const panel = this.shown.find(
      (p) => x > p.left - slack && x < p.right + slack && y > p.top - slack && y < p.bottom + slack,
    );
    if (!panel) return null;
    return Math.round(((x - panel.left) / (panel.right - panel.left)) * this.run.length);
  }

  // Drawing

  draw(position, options) {
    const { canvas, run } = this, g = canvas.getContext("2d");
    if (!run) return;
    const colours = look(canvas);
    const key = JSON.stringify([canvas.width, canvas.height, colours.text, options.em, options.kmeans]);
    if (this.dirty || key !== this.drawnWith) {
      this.arrange(colours);
      this.scale = this.errorScale();
      this.drawFrame(colours, options);
      this.drawLines(colours);
      this.drawnWith = key;
      this.dirty = false;
    }
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.frame, 0, 0);
    if (!run.steps.length) return;
    const ratio = window.devicePixelRatio || 1, index = Math.floor(position), n = run.truth.means.length;
    const step = run.steps[index];
    this.shown.forEach((panel, row) => {
      const x = this.xOf(panel, step), left = panel.left - 2 * ratio, top = panel.top - 4 * ratio;
      const width = Math.max(1, x - left), height = panel.bottom - panel.top + 8 * ratio;
      g.drawImage(this.lines, left, top, width, height, left, top, width, height);
      g.strokeStyle = colours.text;
      g.globalAlpha = 0.35;
      g.lineWidth = ratio;
      g.beginPath();
      g.moveTo(x, panel.top);
      g.lineTo(x, panel.bottom);
      g.stroke();
      g.globalAlpha = 1;
      if (row === n) return;
      for (let to = 0; to < n; to++) {
        const y = this.yOfProbability(panel, run.transmat[(index * n + row) * n + to]);
        this.mark(g, colours, to, x, y, 4.5 * ratio);
      }
    });
  }

  mark(g, colours, state, x, y, size) {
    drawMark(g, colours, state, this.run.truth.colours[state], x, y, size, 2);
  }

  drawFrame(colours, options) {
    const { frame, canvas, run } = this, ratio = window.devicePixelRatio || 1;
    frame.width = canvas.width;
    frame.height = canvas.height;
    const g = frame.getContext("2d"), n = run.truth.means.length;
    const font = (size, weight) => this.font(g, colours, size, weight);
    if (this.keysAbove) this.drawKeys(g, colours, "A: lines to state  ", INDENT * ratio, 16 * ratio);
    this.shown.forEach((panel, row) => {
      const isErrors = row === n;
      g.fillStyle = colours.text;
      g.textAlign = "left";
      g.textBaseline = "alphabetic";
      font(14, 600);
      if (!isErrors && this.keysAbove) {
        g.fillText(`from state ${row + 1}`, panel.left - 22 * ratio, panel.top - 10 * ratio);
      } else if (!isErrors) {
        this.drawKeys(g, colours, this.title(row), panel.left - 22 * ratio, panel.top - 10 * ratio);
      } else {
        let x = panel.left - 22 * ratio;
        const narrow = panel.right - panel.left < 200 * ratio;
        for (const [index, [full, short]] of ERROR_NAMES.entries()) {
          const name = narrow ? short : full;
          this.stroke(g, colours.text, index ? [2, 3] : [], 2);
          g.beginPath();
          g.moveTo(x, panel.top - 14 * ratio);
          g.lineTo(x + 20 * ratio, panel.top - 14 * ratio);
          g.stroke();
          font(13, 600);
          g.fillText(name, x + 25 * ratio, panel.top - 10 * ratio);
          x += 25 * ratio + g.measureText(`${name}   `).width;
        }
        g.setLineDash([]);
      }
      this.drawAxes(g, colours, panel, isErrors, font);
      if (isErrors) this.drawRivals(g, colours, panel, options, font);
      else this.drawTruth(g, colours, panel, row, options);
    });
  }

  title(row) {
    return `A: from state ${row + 1} to  `;
  }

  /** A text, and then the mark and the number of each state. */
  drawKeys(g, colours, text, x, y) {
    const ratio = window.devicePixelRatio || 1;
    this.font(g, colours, 14, 600);
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
    g.fillStyle = colours.text;
    g.fillText(text, x, y);
    x += g.measureText(text).width;
    this.font(g, colours, 13);
    for (let state = 0; state < this.run.truth.means.length; state++, x += KEY * ratio) {
      this.mark(g, colours, state, x + 5 * ratio, y - 4.5 * ratio, 4.5 * ratio);
      g.fillStyle = colours.text;
      g.fillText(String(state + 1), x + 13 * ratio, y);
    }
  }

  font(g, colours, size, weight = 400) {
    g.font = `${weight} ${size * (window.devicePixelRatio || 1)}px ${colours.family}`;
  }

  stroke(g, colour, dash, width) {
    const ratio = window.devicePixelRatio || 1;
    g.strokeStyle = colour;
    g.lineWidth = width * ratio;
    g.setLineDash(dash.map((length) => length * ratio));
  }

  drawAxes(g, colours, panel, isErrors, font) {
    const ratio = window.devicePixelRatio || 1;
    const ticks = isErrors
      ? Array.from({ length: this.scale[1] - this.scale[0] + 1 }, (_, i) => {
          const value = 10 ** (this.scale[0] + i);
          return [this.yOfError(panel, value, this.scale), value >= 1 ? String(value) : value.toFixed(-this.scale[0] - i)];
        })
      : [0, 0.5, 1].map((value) => [this.yOfProbability(panel, value), String(value)]);
    font(12);
    g.fillStyle = colours.text;
    g.textBaseline = "middle";
    g.textAlign = "right";
    for (const [y, name] of ticks) {
      g.globalAlpha = 0.2;
      this.stroke(g, colours.text, [], 1);
      g.beginPath();
      g.moveTo(panel.left, y);
      g.lineTo(panel.right, y);
      g.stroke();
      g.globalAlpha = 0.85;
      g.fillText(name, panel.left - 5 * ratio, y);
    }
    g.textBaseline = "top";
    g.textAlign = "left";
    g.fillText("0", panel.left, panel.bottom + 5 * ratio);
    g.textAlign = "center";
    g.fillText("k", (panel.left + panel.right) / 2, panel.bottom + 5 * ratio);
    g.textAlign = "right";
    g.fillText(grouped(this.run.length), panel.right, panel.bottom + 5 * ratio);
    g.globalAlpha = 1;
  }

  drawTruth(g, colours, panel, row, options) {
    const { truth, em, kmeans } = this.run, n = truth.means.length, ratio = window.devicePixelRatio || 1;
    for (let to = 0; to < n; to++) {
      const y = this.yOfProbability(panel, truth.transmat[row][to]);
      this.stroke(g, truth.colours[to], [6, 4], 1.6);
      g.beginPath();
      g.moveTo(panel.left, y);
      g.lineTo(panel.right, y);
      g.stroke();
    }
    g.setLineDash([]);
    // where EM and K-means end: hollow marks at the right edge
    for (const [shown, rival, shift] of [[options.em, em, 6], [options.kmeans, kmeans, 14]]) {
      if (!shown || !rival) continue;
      for (let to = 0; to < n; to++) {
        const y = this.yOfProbability(panel, rival.transmat[row * n + to]);
        traceMark(g, to, panel.right + shift * ratio, y, 3.6 * ratio);
        this.stroke(g, truth.colours[to], [], 1.8);
        g.stroke();
      }
    }
  }

  drawRivals(g, colours, panel, options, font) {
    const ratio = window.devicePixelRatio || 1;
    font(12, 600);
    let right = panel.right - 3 * ratio; // the curves begin on the left
    for (const [name, rival, shown] of [["EM", this.run.em, options.em], ["K-means", this.run.kmeans, options.kmeans]]) {
      if (!shown || !rival) continue;
      rival.errors.forEach((error, index) => {
        const y = this.yOfError(panel, error, this.scale);
        this.stroke(g, colours.text, index ? [2, 3] : [], 1);
        g.globalAlpha = 0.55;
        g.beginPath();
        g.moveTo(panel.left, y);
        g.lineTo(panel.right, y);
        g.stroke();
        g.globalAlpha = 1;
        g.setLineDash([]);
        g.textAlign = "right";
        const below = y < panel.top + 14 * ratio; // above it would meet the title
        g.textBaseline = below ? "top" : "bottom";
        g.fillStyle = colours.text;
        g.fillText(name, right, y + (below ? 2 : -1) * ratio);
      });
      right -= g.measureText(`${name}  `).width; // both may be equally good
    }
  }

  drawLines(colours) {
    const { lines, canvas, run } = this, n = run.truth.means.length;
    lines.width = canvas.width;
    lines.height = canvas.height;
    const g = lines.getContext("2d");
    g.lineJoin = "round";
    const curve = (panel, height) => {
      g.beginPath();
      run.steps.forEach((step, index) => g.lineTo(this.xOf(panel, step), height(index)));
      g.stroke();
    };
    this.shown.forEach((panel, row) => {
      if (row < n) {
        for (let to = 0; to < n; to++) {
          this.stroke(g, run.truth.colours[to], [], 2);
          curve(panel, (index) => this.yOfProbability(panel, run.transmat[(index * n + row) * n + to]));
        }
      } else {
        for (let which = 0; which < 2; which++) {
          this.stroke(g, colours.text, which ? [2, 3] : [], 2);
          curve(panel, (index) => this.yOfError(panel, run.errors[2 * index + which], this.scale));
        }
      }
    });
  }
}
