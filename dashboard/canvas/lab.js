// The Live lab: the map, the curves and the transport bar, playing one run of the online algorithms.

import { cloudOf, onCloud } from "./clouds.js";
import { Curves } from "./curves.js";
import { drawEstimates } from "./estimates.js";
import { mounted } from "./mount.js";
import { setTypeScale } from "./pen.js";
import { Player } from "./player.js";
import { joinedRun, received, unpackRun } from "./protocol.js";
import { Scene } from "./scene.js";
import { Scores } from "./scores.js";
import { fitToScreen, onResize, saveAsPng } from "./screen.js";
import { Switches } from "./switches.js";
import { Tip } from "./tip.js";
import { WHOLE } from "./viewport.js";
import { grouped, meanName } from "./words.js";

/** @import { Cloud, Colour, Component, Run, Sender, View } from "./protocol.js" */

const PRESENTER = 1.4; // so many times as large is type for a lecture hall
const WITH_TRUTH = "with the observations, the true means as crosses and the estimated means moving";
const WITHOUT_TRUTH = "with the observations and the estimated means moving";
const SETTLING = 400; // milliseconds without a change until Python is told what is on screen

class Lab {
  /** @type {Run | null} */
  run = null;
  /** @type {Run | null} */
  #reported = null;
  #painted = 0;
  /** @type {number | null} */
  #ticking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #telling;

  /**
   * @param {HTMLElement} room
   * @param {Sender} send
   */
  constructor(room, send) {
    this.room = room;
    this.send = send;
    this.box = this.find("lab");
    this.map = /** @type {HTMLCanvasElement} */ (this.find("map"));
    this.plot = /** @type {HTMLCanvasElement} */ (this.find("plot"));
    this.scrub = /** @type {HTMLInputElement} */ (this.find("scrub"));
    this.colour = /** @type {HTMLSelectElement} */ (this.find("colour"));
    this.player = new Player(() => this.showPlaying());
    this.scene = new Scene(this.map, this.find("handles"), {
      onDrop: (moved) => this.send.moved(moved),
      onLook: (settled) => {
        this.wake();
        if (settled) this.tellView();
      },
    });
    this.curves = new Curves(this.plot, (step) => this.go(() => this.player.show(step)));
    this.switches = new Switches(this.find("switches"), () => this.go(() => this.present()));
    this.scores = new Scores(this.find("scores"), this.find("doings"));
    this.tip = new Tip(this.find("tip"), this.scene, () => ({ run: this.run, k: this.player.position, seen: this.seen }));
    this.listen();
    this.listenToPage();
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  find(name) {
    return /** @type {HTMLElement} */ (this.room.querySelector(`.${name}`));
  }

  // What arrives from Python

  /** @param {Run} run */
  receive(run) {
    const opened = run.view.version !== this.run?.view.version ? run.view : null;
    this.run = run;
    this.switches.offer(run.baselines);
    this.curves.setRun(run);
    this.map.dataset.shows = run.truth.means.length ? WITH_TRUTH : WITHOUT_TRUTH;
    this.nameLabels(run.labels);
    this.scene.setTruth(run.chart, run.truth, run.acknowledged);
    if (opened) this.open(opened);
    const isNew = this.player.receive(run, opened);
    if (isNew) {
      this.nameThings();
      this.setCloud(cloudOf(run.id)); // never one of another number of states
      if (!opened && this.player.moment !== null) this.tellView(); // the link is that of a run without one
    }
    this.scrub.max = String(run.length);
    this.box.dataset.run = run.id;
    const [{ held, label }] = run.learners;
    this.find("held-name").textContent = `the latest ${grouped(held)} observations, which ${label} learns from`;
    this.wake();
  }

  cloudArrived() {
    const cloud = this.run && cloudOf(this.run.id);
    if (cloud && cloud !== this.scene.cloud) {
      this.setCloud(cloud);
      this.wake();
    }
  }

  /** @param {string | null} name of what else than decoded states observations may be coloured by */
  nameLabels(name) {
    const option = /** @type {HTMLOptionElement} */ (this.colour.querySelector("[value=true]"));
    option.textContent = name ?? "";
    option.hidden = option.disabled = !name;
    if (!name && this.colour.value === "true") {
      this.colour.value = "plain";
      this.scene.colour("plain");
    }
  }

  /** @param {Cloud | null} cloud */
  setCloud(cloud) {
    this.scene.setCloud(cloud);
    const decoded = /** @type {HTMLOptionElement} */ (this.colour.querySelector("[value=decoded]"));
    decoded.disabled = !cloud?.decoded;
    decoded.textContent = cloud?.decoder ? `state decoded by ${cloud.decoder}` : "decoded state";
    this.tip.hide();
  }

  /**
   * A link was opened: show what it says.
   * @param {View} view
   */
  open(view) {
    clearTimeout(this.#telling); // of what was shown before it
    this.switches.set(view.show);
    this.present();
    this.colour.value = view.colour;
    this.scene.colour(view.colour);
    const { x, y, zoom, panX, panY } = view;
    this.scene.lookAt({ x, y, zoom, panX, panY });
  }

  /** Words that depend on the chart and on the number of states. */
  nameThings() {
    const { chart, means } = this.scene;
    if (!chart) return;
    const { noun, balls, grid, origin } = chart.words;
    const whole = this.find("whole");
    whole.title = `Whole ${noun}`;
    whole.setAttribute("aria-label", whole.title);
    this.find("switches").setAttribute("aria-label", `What the ${noun} shows`);
    this.find("balls-name").textContent = balls;
    this.find("grid-name").textContent = grid;
    const names = [origin, ...means.map((_, state) => meanName(state))];
    const options = names.map((name, index) => new Option(name, String(index)));
    this.find("centre").replaceChildren(new Option("…", ""), ...options);
  }

  // What people do

  listen() {
    /** @type {(name: string, event: string, action: (value: string) => void) => void} */
    const on = (name, event, action) => {
      const control = /** @type {HTMLInputElement} */ (this.find(name));
      control.addEventListener(event, () => action(control.value));
    };
    const { navigation } = this.scene;
    on("play", "click", () => this.go(() => this.player.playOrPause()));
    on("back", "click", () => this.go(() => this.player.step(-1)));
    on("next", "click", () => this.go(() => this.player.step(1)));
    this.find("inspect").addEventListener("pointerdown", () => this.linkToStep());
    this.find("inspect").addEventListener("focus", () => this.linkToStep());
    on("full", "click", () => this.toggleFullScreen());
    on("scrub", "input", (value) => {
      this.player.show(Number(value));
      this.wake();
    });
    on("scrub", "change", () => this.tellView());
    on("speed", "change", (value) => (this.player.speed = Number(value)));
    on("closer", "click", () => navigation.zoomBy(1.5));
    on("wider", "click", () => navigation.zoomBy(1 / 1.5));
    on("whole", "click", () => {
      this.scene.lookAt({ zoom: WHOLE.zoom, panX: WHOLE.panX, panY: WHOLE.panY });
      this.centreOn(0);
    });
    on("save", "click", () => saveAsPng([this.map, this.plot], `rhmm-k${this.box.dataset.k}.png`));
    on("centre", "change", (value) => {
      if (value !== "") this.centreOn(Number(value));
      /** @type {HTMLSelectElement} */ (this.find("centre")).value = "";
    });
    on("colour", "change", (value) => this.go(() => this.scene.colour(/** @type {Colour} */ (value))));
  }

  /** What happens elsewhere on the page. */
  listenToPage() {
    const onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", onKey);
    // The page's colours may change at any time; a transition too short to see tells when.
    this.map.addEventListener("transitionend", () => this.wake());
    const endings = [
      () => document.removeEventListener("keydown", onKey),
      onCloud(() => this.cloudArrived()),
      onResize([this.map, this.plot], () => this.resize()),
    ];
    this.stopListening = () => endings.forEach((end) => end());
  }

  /**
   * Space plays, arrows step, Home and End go to the ends, letters switch: unless the visitor types or uses another
   * control.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (event.ctrlKey || event.metaKey || event.altKey || !this.room.isConnected) return;
    const free = target === document.body || target.tagName === "CANVAS" || target.classList?.contains("stMain");
    // to a button or a switch of the lab arrows mean nothing, to a handle or the scrubber a space
    const indifferent = this.room.contains(target)
      && (event.key === " " ? target.matches(".handle, .scrub") : target.matches("button, input[type=checkbox]"));
    if (!free && !indifferent) return;
    const action = this.actionOf(event.key);
    if (!action) return;
    event.preventDefault();
    this.go(action);
  }

  /**
   * What a key does.
   * @param {string} key
   * @returns {(() => void) | undefined}
   */
  actionOf(key) {
    /** @type {Record<string, () => void>} */
    const actions = {
      " ": () => this.player.playOrPause(),
      ArrowRight: () => this.player.step(1),
      ArrowLeft: () => this.player.step(-1),
      Home: () => this.player.show(0),
      End: () => this.player.show(Infinity),
      f: () => this.toggleFullScreen(),
      p: () => this.toggle("presenter"),
    };
    for (const { key: name, letter } of this.run?.baselines ?? []) actions[letter.toLowerCase()] = () => this.toggle(name);
    return actions[key.length === 1 ? key.toLowerCase() : key];
  }

  /** @param {string} name of a switch */
  toggle(name) {
    this.switches.toggle(name);
    this.present();
  }

  /** Type for a lecture hall and no sidebar, if that is switched on. */
  present() {
    const presenting = this.switches.shown.has("presenter");
    document.documentElement.toggleAttribute("data-presenting", presenting);
    setTypeScale(presenting ? PRESENTER : 1);
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {}); // the browser may refuse it
  }

  /** Do something that the link keeps, and show it. @param {() => void} action */
  go(action) {
    action();
    this.tellView();
    this.wake();
  }

  /** @param {number} choice 0 is the origin, then come the means */
  centreOn(choice) {
    const { chart, means, navigation } = this.scene;
    if (chart) navigation.centreOn(...(choice === 0 ? chart.origin : means[choice - 1]));
  }

  showPlaying() {
    const { playing } = this.player;
    this.find("play").textContent = playing ? "Pause" : "Play";
    for (const name of ["readout", "doings"]) {
      this.find(name).setAttribute("aria-live", playing ? "off" : "polite"); // else it never ends
    }
    this.box.dataset.playing = String(playing);
    this.wake();
  }

  /** The address of the page that opens this moment's step, with the experiment that the page's own address names. */
  linkToStep() {
    const query = new URLSearchParams(location.search);
    query.set("lesson", "step");
    query.set("k", String(Math.floor(this.player.position)));
    /** @type {HTMLAnchorElement} */ (this.find("inspect")).href = `how_it_works?${query}`;
  }

  /** Let Python put into the link what is on screen; not while things still move. */
  tellView() {
    clearTimeout(this.#telling);
    this.#telling = setTimeout(() => {
      if (!this.run) return;
      this.send.view({
        version: this.run.view.version,
        show: this.switches.names,
        colour: /** @type {Colour} */ (this.colour.value),
        k: this.player.moment,
        ...this.scene.viewport.place,
      });
    }, SETTLING);
  }

  // Frames

  wake() {
    this.#ticking ??= requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now */
  tick(now) {
    this.#ticking = null;
    if (!this.run) return;
    this.player.advance(now);
    this.paint(this.run);
    if (this.player.moves) this.wake(); // else new data will
  }

  resize() {
    const changed = [fitToScreen(this.map), fitToScreen(this.plot)];
    if (changed.some(Boolean)) {
      this.scene.dirty = this.curves.dirty = true;
      if (this.run) this.paint(this.run); // at once: a canvas is blank after its size was set
    }
  }

  /** @param {Run} run */
  paint(run) {
    const { shown } = this.switches, { position } = this.player;
    const options = {
      circles: shown.has("circles"), grid: shown.has("grid"), dim: shown.has("held"), seen: this.seen,
    };
    this.scene.draw(options, (g, colours) => drawEstimates(g, colours, this.scene, run, position, shown));
    this.curves.draw(position, shown);
    this.report(run);
    this.#painted += 1;
    this.box.dataset.painted = String(this.#painted);
    this.box.dataset.zoom = String(this.scene.viewport.place.zoom);
  }

  /** How many of the observations are shown. */
  get seen() {
    return this.switches.shown.has("seen") ? this.player.position : Infinity;
  }

  /** @param {Run} run */
  report(run) {
    const step = Math.floor(this.player.position);
    if (Number(this.scrub.value) !== step) this.scrub.value = String(step);
    if (this.box.dataset.k === String(step) && this.#reported === run) return;
    this.#reported = run;
    this.box.dataset.k = String(step);
    this.scores.show(run, step);
    if (!this.player.playing) this.linkToStep(); // while it plays, just before a click
    this.find("readout").textContent = `k = ${grouped(step)} of ${grouped(run.length)}`;
    this.scrub.setAttribute("aria-valuetext", `${step} of ${run.length} observations`);
  }

  leave() {
    this.scene.handles.letGo();
    clearTimeout(this.#telling);
  }

  comeBack() {
    this.scene.handles.drop();
    this.tellView();
  }

  close() {
    document.documentElement.removeAttribute("data-presenting");
    setTypeScale(1);
    this.stopListening?.();
    this.scene.close();
    if (this.#ticking !== null) cancelAnimationFrame(this.#ticking);
    clearTimeout(this.#telling);
  }
}

/** @param {Component} component */
export function lab(component) {
  const [picture, unmount] = mounted(component, "lab", (room, send) => new Lab(room, send));
  const run = received(picture.run, unpackRun(component.data), joinedRun);
  if (run) picture.receive(run);
  else picture.send.missing(); // a message before this one was lost on the way
  return unmount;
}
