// The Poincaré disk on a canvas: cloud, true means that can be dragged, trails, σ-circles.

const FURTHEST = 0.99; // as far out as dragging goes
const UNKNOWN = "#888888"; // the colour of observations of which no state is known
const MARGIN = 0.965; // of the canvas' half width is the disk's radius

class DiskView {
  /**
   * `canvas` is drawn on; `handles` is an element over it that gets one button for each true mean.
   * `onDrop([{ state, x, y, number }, …])` is called when true means have been moved; the numbers are
   * those of the call, and `setTruth` is told the last that Python has heard. `onLook()` is called when
   * the view has been moved.
   */
  constructor(canvas, handles, { onDrop, onLook }) {
    Object.assign(this, { canvas, handles, onDrop, onLook });
    this.view = { x: 0, y: 0, zoom: 1, panX: 0, panY: 0 };
    this.cloud = null;
    this.layer = document.createElement("canvas");
    this.dirty = true;
    this.dragged = null; // the state whose mean is under the pointer
    this.moved = new Set(); // states whose means were moved and that nobody was told of yet
    this.told = new Map(); // of states whose means Python was told and has not heard: where, and when
    this.drops = 0; // how often Python was told
    this.colourBy = "true";
    this.listen();
  }

  // From the disk to the screen and back

  get scale() {
    return (this.canvas.width / 2) * MARGIN * this.view.zoom;
  }

  toScreen(x, y) {
    const [u, v] = recentred(x, y, this.view.x, this.view.y);
    return this.placed(u, v);
  }

  placed(u, v) {
    const { width, height } = this.canvas;
    return [width / 2 + (u + this.view.panX) * this.scale, height / 2 - (v + this.view.panY) * this.scale];
  }

  fromClient(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect(), ratio = this.canvas.width / box.width;
    const u = ((clientX - box.left) * ratio - this.canvas.width / 2) / this.scale - this.view.panX;
    const v = (this.canvas.height / 2 - (clientY - box.top) * ratio) / this.scale - this.view.panY;
    const [insideU, insideV] = keptInside(u, v, 0.999999);
    return recentred(insideU, insideV, -this.view.x, -this.view.y);
  }

  // What is shown

  /**
   * Python says what is true, and may have refused a place; but a mean in somebody's hand stays there,
   * and so does one that was dropped where Python has not heard of it: it has `heard` so many drops.
   */
  setTruth(truth, heard) {
    if (truth.means.length !== this.means?.length) {
      this.dragged = null;
      this.moved.clear();
      this.told.clear();
    }
    this.drops = Math.max(this.drops, heard); // Python may have heard of others, from a canvas before
    for (const [state, { number }] of this.told) if (number <= heard) this.told.delete(state);
    const inHand = (state) => state === this.dragged || this.moved.has(state);
    const before = JSON.stringify([this.truth, this.means]);
    this.truth = truth;
    const means = truth.means.map((_, state) => (inHand(state) ? this.means[state] : this.placeOf(state)));
    if (JSON.stringify([truth, means]) === before) return;
    this.means = means;
    this.placeHandles(true);
    this.dirty = true;
  }

  setCloud(cloud) {
    this.cloud = cloud;
    this.dirty = true;
  }

  colour(by) {
    this.colourBy = by;
    this.dirty = true;
  }

  lookAt(view) {
    Object.assign(this.view, view);
    // a finger scrolls the page, unless there is more of the disk to be seen
    this.canvas.style.touchAction = this.view.zoom > 1 ? "none" : "";
    this.dirty = true;
    this.placeHandles(false);
  }

  /** Glide until `(x, y)` is in the middle. */
  centreOn(x, y) {
    const from = [this.view.x, this.view.y], began = performance.now();
    const still = prefersStillness();
    const glide = (now) => {
      const share = still ? 1 : Math.min(1, (now - began) / 450), eased = share * share * (3 - 2 * share);
      const [u, v] = recentred(x, y, from[0], from[1]); // straight on: the geodesic through the middle
      const length = Math.hypot(u, v), reach = length ? Math.tanh(eased * Math.atanh(length)) / length : 0;
      const [vx, vy] = recentred(u * reach, v * reach, -from[0], -from[1]);
      this.lookAt(share < 1 ? { x: vx, y: vy, panX: 0, panY: 0 } : { x, y, panX: 0, panY: 0 });
      this.onLook(share === 1);
      if (share < 1) this.gliding = requestAnimationFrame(glide);
    };
    cancelAnimationFrame(this.gliding);
    this.gliding = requestAnimationFrame(glide);
  }

  zoomBy(factor, clientX, clientY) {
    const { view } = this, before = view.zoom;
    view.zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom * factor));
    const box = this.canvas.getBoundingClientRect(), half = (box.width / 2) * MARGIN;
    const dx = clientX === undefined ? 0 : clientX - box.left - box.width / 2;
    const dy = clientY === undefined ? 0 : box.top + box.height / 2 - clientY;
    view.panX += (dx / half) * (1 / view.zoom - 1 / before);
    view.panY += (dy / half) * (1 / view.zoom - 1 / before);
    this.keepInSight();
  }

  keepInSight() {
    const most = 1 - 1 / this.view.zoom;
    const [panX, panY] = keptInside(this.view.panX, this.view.panY, most);
    this.lookAt({ panX, panY });
    this.onLook(true);
  }

  // Hands on the picture

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, event.clientX, event.clientY));
    let last = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" && this.view.zoom === 1) return; // let a finger scroll
      last = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const half = (canvas.getBoundingClientRect().width / 2) * MARGIN * this.view.zoom;
      this.view.panX += (event.clientX - last[0]) / half;
      this.view.panY -= (event.clientY - last[1]) / half;
      last = [event.clientX, event.clientY];
      this.keepInSight();
    });
    const stop = () => (last = null);
    canvas.addEventListener("pointerup", stop);
    canvas.addEventListener("pointercancel", stop);
  }

  /** One button over each true mean: it can be dragged by mouse and finger, and moved by keys. */
  placeHandles(renew) {
    if (!this.truth) return;
    if (renew && this.handles.children.length !== this.means.length) {
      this.handles.replaceChildren(...this.means.map((_, state) => this.makeHandle(state)));
    }
    const ratio = this.canvas.width / (this.canvas.getBoundingClientRect().width || 1);
    this.means.forEach(([x, y], state) => {
      const handle = this.handles.children[state], [sx, sy] = this.toScreen(x, y);
      handle.style.left = `${sx / ratio}px`;
      handle.style.top = `${sy / ratio}px`;
      const seen = sx >= 0 && sy >= 0 && sx <= this.canvas.width && sy <= this.canvas.height;
      handle.style.visibility = seen ? "visible" : "hidden";
      handle.setAttribute(
        "aria-label",
        `True mean ${state + 1} at ${x.toFixed(3)}, ${y.toFixed(3)}: drag it, or move it with the arrow keys`,
      );
      handle.title = `true c${subscript(state + 1)} = (${x.toFixed(3)}, ${y.toFixed(3)}), σ${subscript(state + 1)} = ${this.truth.sigmas[state]}`;
    });
  }

  makeHandle(state) {
    const handle = document.createElement("button");
    handle.className = "handle";
    handle.type = "button";
    const move = (x, y) => {
      this.moved.add(state);
      this.means[state] = keptInside(x, y, FURTHEST);
      this.placeHandles(false);
      this.onLook(false);
    };
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      this.dragged = state;
    });
    handle.addEventListener("pointermove", (event) => {
      if (this.dragged === state) move(...this.fromClient(event.clientX, event.clientY));
    });
    handle.addEventListener("pointerup", () => {
      this.dragged = null;
      this.drop();
    });
    handle.addEventListener("pointercancel", () => {
      this.dragged = null;
      this.moved.delete(state);
      this.means[state] = this.placeOf(state);
      this.placeHandles(false);
      this.onLook(false);
      this.drop();
    });
    handle.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way) return;
      event.preventDefault();
      event.stopPropagation(); // here the arrows move the mean; elsewhere they step through time
      const step = event.shiftKey ? 0.05 : 0.01, [x, y] = this.means[state];
      move(x + way[0] * step, y + way[1] * step);
      clearTimeout(this.dropping);
      this.dropping = setTimeout(() => this.drop(), 500); // there may be more to come
    });
    return handle;
  }

  /** Where this mean is if nobody holds it: where it was dropped last, else where Python says. */
  placeOf(state) {
    return [...(this.told.get(state)?.place ?? this.truth.means[state])];
  }

  /**
   * Tell where the means that were moved are now, all at once, with those that Python has not heard of
   * yet: a message that comes while Python is busy replaces the one before.
   */
  drop() {
    clearTimeout(this.dropping);
    if (this.dragged !== null) return; // when the hand lets go
    const number = this.drops + 1;
    for (const state of this.moved) { // a mere click moves nothing, and must not round what was typed
      const place = this.means[state].map((value) => Math.round(value * 1000) / 1000);
      if (String(place) !== String(this.placeOf(state))) this.told.set(state, { place, number });
      this.means[state] = this.placeOf(state);
    }
    this.moved.clear();
    if (![...this.told.values()].some((drop) => drop.number === number)) return;
    this.drops = number;
    this.onDrop([...this.told].map(([state, { place: [x, y] }]) => ({ state, x, y, number })));
  }

  /** Whatever is in somebody's hand is dropped where it is; of that Python is told later. */
  letGo() {
    this.dragged = null;
    clearTimeout(this.dropping);
  }

  close() {
    clearTimeout(this.dropping);
    cancelAnimationFrame(this.gliding);
  }

  // Drawing

  /** `drawMore(g, colours)` adds what moves, on top of the cloud and the true means. */
  draw(options, drawMore) {
    const { canvas } = this, g = canvas.getContext("2d");
    const colours = look(canvas);
    const key = JSON.stringify([canvas.width, colours.text, options.grid, options.dim]);
    if (this.dirty || key !== this.drawnWith) {
      this.drawLayer(colours, options);
      this.drawnWith = key;
      this.dirty = false;
      this.placeHandles(false);
    }
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.layer, 0, 0);
    if (this.truth) this.drawTruth(g, colours, options);
    if (drawMore) drawMore(g, colours);
    if (this.truth) this.drawNames(g, colours);
  }

  get dot() {
    return (window.devicePixelRatio || 1) * Math.min(1.6, 1 + Math.log2(this.view.zoom) / 6);
  }

  /** The states by which the observations are coloured; null while nobody has decoded them. */
  get shownStates() {
    return this.colourBy === "decoded" ? this.cloud.decoded ?? null : this.cloud.states;
  }

  /** Draw these observations. */
  drawPoints(g, first, last, size, opacity) {
    const { xy } = this.cloud, states = this.shownStates;
    const stamps = states
      ? this.truth.colours.map((colour, state) => markStamp(state, colour, size, opacity))
      : [markStamp(0, UNKNOWN, size, opacity)];
    const half = stamps[0].width / 2;
    for (let t = first; t < last; t++) {
      const [x, y] = this.toScreen(xy[2 * t], xy[2 * t + 1]);
      g.drawImage(stamps[states ? states[t] : 0], x - half, y - half);
    }
  }

  drawLayer(colours, options) {
    const { layer, canvas } = this;
    layer.width = canvas.width;
    layer.height = canvas.height;
    const g = layer.getContext("2d");
    const [ox, oy] = this.placed(0, 0);
    g.beginPath();
    g.arc(ox, oy, this.scale, 0, 2 * Math.PI);
    g.fillStyle = colours.faint;
    g.globalAlpha = 0.55;
    g.fill();
    g.globalAlpha = 1;
    if (options.grid) this.drawGrid(g, colours);
    if (this.cloud && this.truth) {
      this.drawPoints(g, 0, this.cloud.states.length, 1.9 * this.dot, options.dim ? 0.28 : 0.5);
    }
    g.beginPath();
    g.arc(ox, oy, this.scale, 0, 2 * Math.PI);
    g.strokeStyle = colours.text;
    g.globalAlpha = 0.7;
    g.lineWidth = 1.5 * (window.devicePixelRatio || 1);
    g.stroke();
  }

  /** Geodesics through the origin and the circles at distance 1, 2, 3, … from it. */
  drawGrid(g, colours) {
    g.save();
    g.strokeStyle = colours.text;
    g.globalAlpha = 0.22;
    g.lineWidth = window.devicePixelRatio || 1;
    for (let distance = 1; distance <= 6; distance++) {
      const centre = recentred(0, 0, this.view.x, this.view.y);
      const circle = geodesicCircle(centre[0], centre[1], distance);
      const [x, y] = this.placed(circle.x, circle.y);
      g.beginPath();
      g.arc(x, y, circle.r * this.scale, 0, 2 * Math.PI);
      g.stroke();
    }
    for (let spoke = 0; spoke < 6; spoke++) {
      const angle = (Math.PI * spoke) / 6;
      g.beginPath();
      for (let step = -60; step <= 60; step++) {
        const reach = Math.tanh(step / 15);
        g.lineTo(...this.toScreen(reach * Math.cos(angle), reach * Math.sin(angle)));
      }
      g.stroke();
    }
    g.restore();
  }

  circle(g, x, y, radius) {
    const [u, v] = recentred(x, y, this.view.x, this.view.y);
    const circle = geodesicCircle(u, v, radius), [cx, cy] = this.placed(circle.x, circle.y);
    g.beginPath();
    g.arc(cx, cy, circle.r * this.scale, 0, 2 * Math.PI);
  }

  drawTruth(g, colours, options) {
    const ratio = window.devicePixelRatio || 1;
    this.means.forEach(([x, y], state) => {
      const [sx, sy] = this.toScreen(x, y), arm = 10 * ratio;
      if (options.circles) {
        this.circle(g, x, y, this.truth.sigmas[state]);
        g.setLineDash([5 * ratio, 4 * ratio]);
        g.strokeStyle = colours.text;
        g.lineWidth = 1.4 * ratio;
        g.stroke();
        g.setLineDash([]);
      }
      for (const [colour, width] of [[colours.back, 5.5], [colours.text, 2.5]]) {
        g.strokeStyle = colour; // the wider line in the background's colour sets the cross off
        g.lineWidth = width * ratio;
        g.beginPath();
        g.moveTo(sx - arm, sy - arm);
        g.lineTo(sx + arm, sy + arm);
        g.moveTo(sx - arm, sy + arm);
        g.lineTo(sx + arm, sy - arm);
        g.stroke();
      }
    });
  }

  /** c₁, c₂, …: last, so that nothing covers them. */
  drawNames(g, colours) {
    const ratio = window.devicePixelRatio || 1;
    g.font = `600 ${15 * ratio}px ${colours.family}`;
    g.lineWidth = 4 * ratio;
    g.lineJoin = "round";
    g.textBaseline = "middle";
    this.means.forEach(([x, y], state) => {
      const [sx, sy] = this.toScreen(x, y), name = `c${subscript(state + 1)}`;
      const right = sx < this.canvas.width * 0.8, at = sx + (right ? 15 : -15) * ratio;
      g.textAlign = right ? "left" : "right";
      g.strokeStyle = colours.back;
      g.strokeText(name, at, sy);
      g.fillStyle = colours.text;
      g.fillText(name, at, sy);
    });
  }
}
