// The Stream page: an endless chain whose truth changes while it runs, and the learners that follow it. Everything
// that moves comes through a socket of its own; Streamlit only hears what the link keeps.

import { mounted } from "../mount.js";
import { pixelRatio, typeScale } from "../pen.js";
import { unpack } from "../protocol.js";
import { Scene } from "../scene.js";
import { fitToScreen, onResize, prefersStillness, saveAsPng } from "../screen.js";
import { WHOLE } from "../viewport.js";
import { grouped } from "../words.js";
import { Fading } from "./fading.js";
import { legendOf } from "./icons.js";
import { Learned } from "./learned.js";
import { Playhead, truthOf } from "./news.js";
import { LEAST_SPAN, ordinal, paceOf, placeOf, spanOf } from "./paces.js";
import { ACCURACY, DENSITY, Rolling } from "./rolling.js";
import { Strip } from "./strip.js";
import { Table } from "./table.js";
import { Wire } from "./wire.js";

/**
 * @import { ChartAbout } from "../charts/chart.js"
 * @import { Component, Sender } from "../protocol.js"
 * @import { News, Opening } from "./news.js"
 */

const SETTLING = 600; // milliseconds without a change until Python is told of the script and the pace
const WAITING = 20; // messages whose observations wait to be shown, at most: a hidden page shows none
const ASKING = 5000; // milliseconds between two requests for another stream
const SLOW = 100; // observations a second at which one notices that an event waits
const SLOWER = 0.9; // a pace that reaches less than this share is said to be slower

class StreamPicture {
  /** @type {Opening | null} */
  opening = null;
  /** @type {Wire | null} */
  wire = null;
  /** @type {News | null} */
  news = null;
  /** @type {ChartAbout | null} */
  chart = null;
  /** @type {{ news: News, shown: number }[]} */
  #coming = [];
  #stride = 1;
  #span = LEAST_SPAN;
  #painted = 0;
  #script = "";
  /** Milliseconds for which the picture has moved, and when it did last. */
  #flowed = 0;
  #last = 0;
  /** @type {number | null} */
  #ticking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #telling;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #asking;

  /**
   * @param {HTMLElement} room
   * @param {Sender} send
   */
  constructor(room, send) {
    this.room = room;
    this.send = send;
    this.box = this.find("stream");
    this.map = /** @type {HTMLCanvasElement} */ (this.find("map"));
    this.plot = /** @type {HTMLCanvasElement} */ (this.find("plot"));
    this.states = /** @type {HTMLCanvasElement} */ (this.find("states"));
    this.pace = /** @type {HTMLInputElement} */ (this.find("pace"));
    this.scene = new Scene(this.map, this.find("handles"), {
      onDrop: (moved) => this.wire?.send({ moved }),
      onLook: () => this.wake(),
    });
    this.fading = new Fading(this.scene);
    this.learned = new Learned(this.scene);
    this.rolling = new Rolling(this.plot);
    this.strip = new Strip(this.states);
    this.table = new Table(this.find("numbers"), {
      onChange: () => this.wake(),
      onRefit: () => this.wire?.send({ refit: true }),
    });
    this.playhead = new Playhead();
    this.listen();
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  find(name) {
    return /** @type {HTMLElement} */ (this.room.querySelector(`.${name}`));
  }

  // What arrives

  /** @param {Opening} opening */
  receive(opening) {
    if (opening.id === this.opening?.id) return;
    this.opening = opening;
    clearInterval(this.#asking);
    this.wire?.close();
    this.news = null;
    this.#coming = [];
    this.learned.begin(opening.learners);
    this.#script = "";
    this.playhead = new Playhead();
    this.fading.clear();
    this.rolling.begin(opening);
    this.strip.begin(opening.learners, opening.truth ? "true state" : opening.labels.length ? "label" : "");
    this.table.begin(opening);
    this.find("legend").replaceChildren(...legendOf(opening.labels));
    this.offerHappenings(opening);
    this.showPace(opening.pace);
    const calm = prefersStillness();
    this.wire = new Wire(opening.address, {
      onNews: (news) => this.take(news),
      onState: () => {
        if (this.wire?.state === "open" && calm && !this.news) this.wire.send({ play: false });
        if (this.wire?.state === "gone") this.askForAnother();
        this.showState();
      },
    });
    this.showState();
  }

  /** @param {News} news */
  take(news) {
    const { opening } = this;
    this.chart = news.chart ?? this.chart;
    if (!opening || !this.chart) return;
    this.news = news;
    this.playhead.arrive(news.taken, performance.now());
    this.rolling.add(news);
    this.learned.add(news);
    if (news.states) this.#coming.push({ news, shown: 0 });
    if (this.#coming.length > WAITING) this.#coming.shift();
    this.scene.setTruth(this.chart, truthOf(news), news.acknowledged);
    if (news.events) this.noteScript(news);
    opening.learners.forEach(({ key }, index) => {
      this.table.show(key, this.rolling.latest(index, ACCURACY), this.rolling.latest(index, DENSITY), news.judged[index]);
    });
    this.table.show("ceiling", ...this.rolling.ceiling, null);
    this.showState();
    this.wake();
  }

  /** Ask the page for another stream until it comes: Streamlit's own connection may be lost, too. */
  askForAnother() {
    clearInterval(this.#asking);
    this.send.missing();
    this.#asking = setInterval(() => this.send.missing(), ASKING);
  }

  /** Another script goes into the link. @param {News} news */
  noteScript(news) {
    const script = JSON.stringify(news.events), isNew = this.#script !== "" && script !== this.#script;
    this.#script = script;
    if (isNew) this.tell();
  }

  // What people do

  listen() {
    /** @type {(name: string, event: string, action: (event: any) => void) => void} */
    const on = (name, event, action) => this.find(name).addEventListener(event, action);
    on("play", "click", () => this.playOrPause());
    on("step", "click", (event) => this.step(event.shiftKey ? 50 : 1));
    on("pace", "input", () => this.setPace(paceOf(Number(this.pace.value))));
    on("closer", "click", () => this.scene.navigation.zoomBy(1.5));
    on("wider", "click", () => this.scene.navigation.zoomBy(1 / 1.5));
    on("whole", "click", () => {
      this.scene.lookAt(WHOLE);
      this.wake();
    });
    on("save", "click", () => saveAsPng([this.map, this.plot], `rhmm-stream-k${this.news?.taken ?? 0}.png`));
    const onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", onKey);
    // The page's colours may change at any time; a transition too short to see tells when.
    this.map.addEventListener("transitionend", () => this.wake());
    const endings = [
      () => document.removeEventListener("keydown", onKey),
      onResize([this.map, this.plot, this.states], () => this.resize()),
    ];
    this.stopListening = () => endings.forEach((end) => end());
  }

  /** @param {Opening} opening */
  offerHappenings({ happenings, truth }) {
    this.find("happenings").children[0].textContent = truth ? "Drag a cross, or let happen:" : "Let happen:";
    const buttons = happenings.map(({ name, label }) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: label });
      button.dataset.event = name;
      button.addEventListener("click", () => this.wire?.send({ happen: name }));
      return button;
    });
    this.find("happenings").replaceChildren(this.find("happenings").children[0], ...buttons);
  }

  /**
   * Space plays, the right arrow steps: unless the visitor types or uses another control.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (event.ctrlKey || event.metaKey || event.altKey || !this.room.isConnected) return;
    const free = target === document.body || target.tagName === "CANVAS" || target.classList?.contains("stMain");
    if (!free || (event.key !== " " && event.key !== "ArrowRight")) return;
    event.preventDefault();
    if (event.key === " ") this.playOrPause();
    else this.step(event.shiftKey ? 50 : 1);
  }

  playOrPause() {
    this.wire?.send({ play: !(this.news?.playing ?? true) });
  }

  /** @param {number} count */
  step(count) {
    this.wire?.send({ step: count });
  }

  /** @param {number} pace */
  setPace(pace) {
    this.wire?.send({ pace });
    this.showPace(pace);
    this.tell();
  }

  /** @param {number} pace */
  showPace(pace) {
    this.find("pace-name").textContent = `${grouped(pace)} a second`;
    this.pace.setAttribute("aria-valuetext", `${grouped(pace)} observations a second`);
    const place = String(placeOf(pace));
    if (this.pace.value !== place) this.pace.value = place;
  }

  /** Let Python put the script and the pace into the link; not while things still change. */
  tell() {
    clearTimeout(this.#telling);
    this.#telling = setTimeout(() => this.send.changed(paceOf(Number(this.pace.value))), SETTLING);
  }

  // Words

  showState() {
    const { news, wire } = this, state = wire?.state ?? "opening", playing = news?.playing ?? true;
    this.box.dataset.state = state;
    this.box.dataset.playing = String(playing);
    this.find("play").textContent = playing ? "Pause" : "Play";
    const status = this.find("status"), words = this.sentence();
    if (status.textContent !== words) status.textContent = words;
    status.dataset.bad = String(state === "lost" || state === "gone");
    this.find("note").textContent = this.#stride > 1
      ? `The strip and the map show every ${grouped(this.#stride)}${ordinal(this.#stride)} observation; the learners see all of them.`
      : "The strip and the map show every observation.";
  }

  /** What deserves to be said now. */
  sentence() {
    const { news, wire } = this;
    if (wire?.state === "gone") return "This stream has ended. Another one begins …";
    if (wire?.state === "lost") return "The server does not answer. Trying again …";
    if (!news) return "Starting. Where the engine is not compiled for this space yet, that takes a minute …";
    if (news.over) return "The recording has ended. Choose “Begin again” at its end, or another source.";
    if (news.judged.some(({ busy }) => busy)) return "EM goes over the latest observations again and again: the stream waits for it …";
    if (news.refused) return `That cannot happen: ${news.refused}`;
    if (news.playing && news.reached < SLOWER * news.pace) {
      const reached = grouped(Math.round(news.reached));
      return news.sharing > 1
        ? `${grouped(news.sharing)} open streams share this machine fairly: this one gets ${reached} observations a second.`
        : `This machine manages ${reached} observations a second with these learners.`;
    }
    const count = this.rolling.events.filter(({ at }) => at < news.taken).length;
    const next = this.rolling.events.find(({ at }) => at >= news.taken);
    const past = count ? `Event ${count}: ${this.rolling.events[count - 1].label}.` : "";
    const why = news.pace <= SLOW ? " Events begin at multiples of 50." : "";
    const ahead = next ? ` Next, at k = ${grouped(next.at)}: ${next.label}.${why}` : "";
    return `${past}${ahead}`.trim() || (this.opening?.truth ? "Nothing has changed so far." : "");
  }

  // Frames

  wake() {
    this.#ticking ??= requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now */
  tick(now) {
    this.#ticking = null;
    if (!this.opening || !this.news) return;
    const { moves } = this.playhead;
    this.playhead.advance(now);
    if (moves) this.#flowed += Math.min(100, now - this.#last);
    this.#last = now;
    this.reveal();
    this.paint();
    if (this.playhead.moves) this.wake(); // else news will
  }

  /** Show the observations that the picture has reached. */
  reveal() {
    const { position } = this.playhead, learners = this.opening?.learners.length ?? 0;
    while (this.#coming.length) {
      const one = this.#coming[0], { news } = one, states = /** @type {Int8Array} */ (news.states);
      const first = /** @type {number} */ (news.first), stride = /** @type {number} */ (news.stride), count = states.length;
      const until = Math.min(count, Math.floor((position - first) / stride) + 1);
      if (until <= one.shown) return;
      if (stride !== this.#stride) this.#stride = stride;
      const xy = /** @type {Float32Array} */ (news.xy), decoded = /** @type {Int8Array} */ (news.decoded);
      for (let t = one.shown; t < until; t++) {
        const named = Array.from({ length: learners }, (_, index) => decoded[index * count + t]);
        this.strip.add(first + t * stride, [states[t], ...named]);
      }
      this.fading.add({
        xy: xy.subarray(2 * one.shown, 2 * until),
        states: states.subarray(one.shown, until),
        glyphs: news.glyphs?.subarray(3 * one.shown, 3 * until),
        stride: 1,
      }, this.dot, this.#flowed);
      one.shown = until;
      if (until < count) return;
      this.#coming.shift();
    }
  }

  /** The size of an observation. */
  get dot() {
    return 2.2 * pixelRatio() * Math.sqrt(typeScale());
  }

  resize() {
    const changed = [this.map, this.plot, this.states].map(fitToScreen);
    if (!changed.some(Boolean)) return;
    this.scene.dirty = true;
    if (this.news) this.paint(); // at once: a canvas is blank after its size was set
  }

  paint() {
    const { position } = this.playhead, { news } = this, isShown = (/** @type {string} */ key) => this.table.isShown(key);
    if (!news) return;
    const look = JSON.stringify([this.map.width, this.scene.viewport.place, typeScale(), pixelRatio()]);
    const options = { circles: true, grid: false, dim: false };
    this.scene.draw(
      options,
      (g, colours) => this.learned.draw(g, colours, isShown),
      (g) => this.fading.draw(g, this.dot, look, this.#flowed),
    );
    const least = Math.min(LEAST_SPAN, this.opening?.length ?? LEAST_SPAN);
    const span = Math.max(least, Math.min(spanOf(news.pace), position));
    this.#span += 0.1 * (span - this.#span);
    if (Math.abs(this.#span - span) < 0.01 * span) this.#span = span;
    this.rolling.draw(position, this.#span, isShown);
    this.strip.draw(position, this.#stride, isShown);
    this.find("readout").textContent = this.#whereabouts(Math.floor(position));
    this.#painted += 1;
    Object.assign(this.box.dataset, {
      painted: String(this.#painted), k: String(Math.floor(position)), taken: String(news.taken),
      received: String(this.wire?.received ?? 0), events: String(this.rolling.events.length),
    });
  }

  /** @param {number} k */
  #whereabouts(k) {
    const length = this.opening?.length;
    if (!length) return `k = ${grouped(k)}`;
    const pass = Math.ceil(Math.max(k, 1) / length);
    return `k = ${grouped(k - (pass - 1) * length)} of ${grouped(length)}${pass > 1 ? `, pass ${grouped(pass)}` : ""}`;
  }

  // Coming and going

  leave() {
    this.scene.handles.letGo();
    clearTimeout(this.#telling);
  }

  comeBack() {
    this.scene.handles.drop();
  }

  close() {
    clearInterval(this.#asking);
    this.wire?.close();
    this.stopListening?.();
    this.scene.close();
    if (this.#ticking !== null) cancelAnimationFrame(this.#ticking);
    clearTimeout(this.#telling);
  }
}

/** @param {Component} component */
export function stream(component) {
  const [picture, unmount] = mounted(component, "stream", (room, send) => new StreamPicture(room, send));
  picture.receive(unpack(component.data));
  return unmount;
}
