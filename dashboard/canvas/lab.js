// The Live lab: the disk, the curves and the transport bar, playing one run of the online algorithm.

const SECONDS_AT_NORMAL_SPEED = 9; // from the first frame to the last

class Lab {
  constructor(room) {
    this.room = room;
    this.find = (name) => room.querySelector(`.${name}`);
    this.box = this.find("lab");
    this.run = null;
    this.position = 0;
    this.playing = false;
    this.speed = 1;
    this.opensAt = null;
    this.painted = 0;
    this.disk = new DiskView(this.find("disk"), this.find("handles"), {
      onDrop: (drops) => this.send("trigger", "moved", drops),
      onLook: (settled) => {
        this.wake();
        if (settled) this.tellView();
      },
    });
    this.charts = new Charts(this.find("charts"), (step) => this.showStep(step));
    this.listen();
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.find("disk"));
    this.resizing.observe(this.find("charts"));
    this.forgetPixels = onOtherPixels(() => this.resize());
  }

  // What arrives from Python

  receive(run) {
    const isOpened = run.links !== this.run?.links;
    const isNew = run.id !== this.run?.id || isBehind(run, this.run); // what was stopped may run again
    const atEnd = this.atEnd;
    if (isOpened) this.open(run.view);
    else if (isNew) this.opensAt = this.moment; // who has stopped to look stays there
    this.run = run;
    this.charts.setRun(run);
    this.disk.setTruth(run.truth, run.heard);
    if (isNew) {
      this.offerCentres();
      this.setCloud(clouds().get(run.id) ?? null); // never one of another number of states
    }
    if (isOpened || isNew) {
      this.restart();
      if (!isOpened && this.moment !== null) this.tellView(); // the link is that of a run without one
    } else if (this.opensAt !== null) {
      this.openAtMoment();
    } else if (atEnd && prefersStillness()) {
      this.position = Infinity; // the end, as far as it is known
    }
    this.find("scrub").max = String(Math.max(0, run.frames - 1));
    this.position = Math.min(this.position, Math.max(0, run.steps.length - 1));
    this.box.dataset.run = run.id;
    for (const name of ["em", "kmeans"]) this.find(name).disabled = !run[name];
    this.find("held-name").textContent = run.heldName;
    this.wake();
  }

  cloudArrived() {
    const cloud = this.run && clouds().get(this.run.id);
    if (cloud && cloud !== this.disk.cloud) {
      this.setCloud(cloud);
      this.wake();
    }
  }

  setCloud(cloud) {
    this.disk.setCloud(cloud);
    this.find("colour").querySelector("[value=decoded]").disabled = !cloud?.decoded;
  }

  /** A link was opened: show what it says. */
  open(view) {
    clearTimeout(this.telling); // of what was shown before it
    for (const name of SWITCHES) this.find(name).checked = view.show.includes(name);
    this.find("colour").value = view.colour;
    this.disk.colour(view.colour);
    this.disk.lookAt({ x: view.x, y: view.y, zoom: view.zoom, panX: view.panX, panY: view.panY });
    this.opensAt = view.k;
  }

  get atEnd() {
    return !this.run || this.position >= this.run.steps.length - 1;
  }

  /** The number of observations at which somebody has stopped to look; null if it plays or is over. */
  get moment() {
    if (this.opensAt !== null) return this.opensAt;
    if (!this.run?.steps.length || this.playing) return null;
    const isEnd = this.atEnd && (this.run.over || prefersStillness());
    return isEnd ? null : this.run.steps[Math.floor(this.position)];
  }

  /** Stand there; a run that is being computed may not have come so far. */
  openAtMoment() {
    const { steps, over } = this.run;
    this.position = this.frameOf(this.opensAt);
    if (over || steps[steps.length - 1] >= this.opensAt) this.opensAt = null;
  }

  /** Stand at the moment that is asked for, or play from the start. */
  restart() {
    this.play(this.opensAt === null && !prefersStillness());
    if (this.opensAt !== null) this.openAtMoment();
    else this.position = this.playing ? 0 : Infinity;
  }

  offerCentres() {
    const names = ["origin", ...this.run.truth.means.map((_, i) => `c${subscript(i + 1)}`)];
    const options = names.map((name, index) => new Option(name, String(index)));
    this.find("centre").replaceChildren(new Option("…", ""), ...options);
  }

  // What people do

  listen() {
    const on = (name, event, action) => this.find(name).addEventListener(event, action);
    on("play", "click", () => this.playOrPause());
    on("back", "click", () => this.step(-1));
    on("next", "click", () => this.step(1));
    on("scrub", "input", (event) => this.show(Number(event.target.value)));
    on("scrub", "change", () => this.tellView());
    on("speed", "change", (event) => (this.speed = Number(event.target.value)));
    on("closer", "click", () => this.disk.zoomBy(1.5));
    on("wider", "click", () => this.disk.zoomBy(1 / 1.5));
    on("whole", "click", () => {
      this.disk.lookAt({ zoom: 1, panX: 0, panY: 0 });
      this.disk.centreOn(0, 0);
    });
    on("save", "click", () => this.save());
    on("centre", "change", (event) => {
      const index = Number(event.target.value) - 1;
      if (event.target.value !== "") this.disk.centreOn(...(index < 0 ? [0, 0] : this.disk.means[index]));
      event.target.value = "";
    });
    on("colour", "change", (event) => {
      this.disk.colour(event.target.value);
      this.tellView();
      this.wake();
    });
    for (const name of SWITCHES) {
      on(name, "change", () => {
        this.tellView();
        this.wake();
      });
    }
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    // The page's colours may change at any time; a transition too short to see tells when.
    this.find("disk").addEventListener("transitionend", () => this.wake());
    this.onCloud = () => this.cloudArrived();
    window.addEventListener("rhmm-cloud", this.onCloud);
  }

  /** Space plays, arrows step: unless somebody is typing or using another control. */
  key(event) {
    const target = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || !this.room.isConnected) return;
    const free = target === document.body || target.tagName === "CANVAS" || target.classList?.contains("stMain");
    // to a button or a switch of the lab arrows mean nothing, to a handle or the scrubber a space
    const indifferent = this.room.contains(target)
      && (event.key === " " ? target.matches(".handle, .scrub") : target.matches("button, input[type=checkbox]"));
    if (!free && !indifferent) return;
    const action = { " ": () => this.playOrPause(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1) }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  play(playing) {
    if (playing && this.run?.over && this.position >= this.run.steps.length - 1) this.position = 0;
    this.playing = playing;
    this.last = null;
    const button = this.find("play");
    button.textContent = playing ? "Pause" : "Play";
    this.find("readout").setAttribute("aria-live", playing ? "off" : "polite"); // else it never ends
    this.box.dataset.playing = String(playing);
    this.wake();
  }

  playOrPause() {
    this.opensAt = null;
    this.play(!this.playing);
    this.tellView();
  }

  step(by) {
    this.show(Math.floor(this.position) + by);
    this.tellView();
  }

  show(position) {
    if (this.playing) this.play(false);
    this.opensAt = null;
    this.position = Math.min(Math.max(0, position), Math.max(0, (this.run?.steps.length ?? 1) - 1));
    this.wake();
  }

  showStep(step) {
    this.show(this.frameOf(step));
    this.tellView();
  }

  /** The last frame at or before this many observations. */
  frameOf(step) {
    const { steps } = this.run;
    let frame = 0;
    while (frame + 1 < steps.length && steps[frame + 1] <= step) frame++;
    return frame;
  }

  get options() {
    return Object.fromEntries(SWITCHES.map((name) => [name, this.find(name).checked]));
  }

  /** Let Python put into the link what is on screen; not while things still move. */
  tellView() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      if (!this.run) return;
      const { x, y, zoom, panX, panY } = this.disk.view;
      this.send("state", "view", {
        told: Date.now(), // Python may have changed its view since it was told the same
        links: this.run.links,
        show: SWITCHES.filter((name) => this.find(name).checked),
        colour: this.find("colour").value,
        k: this.moment,
        x, y, zoom, panX, panY,
      });
    }, 400);
  }

  /** Disk and curves side by side, as they are now, as a file. */
  save() {
    const disk = this.find("disk"), charts = this.find("charts"), picture = document.createElement("canvas");
    picture.width = disk.width + charts.width;
    picture.height = Math.max(disk.height, charts.height);
    const g = picture.getContext("2d");
    g.fillStyle = look(disk).back;
    g.fillRect(0, 0, picture.width, picture.height);
    g.drawImage(disk, 0, 0);
    g.drawImage(charts, disk.width, 0);
    picture.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `rhmm-k${this.box.dataset.k}.png`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  // Frames

  wake() {
    this.ticking ??= requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.ticking = null;
    if (!this.run) return;
    if (this.playing) this.advance(now);
    this.paint();
    if (this.playing && this.position < this.run.steps.length - 1) this.wake(); // else new data will
  }

  advance(now) {
    const { run } = this, newest = Math.max(0, run.steps.length - 1); // there may be no frame yet
    const seconds = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    const normal = run.frames / SECONDS_AT_NORMAL_SPEED;
    // data of a running computation arrive in bursts: ease towards the newest instead of jumping
    const behind = run.over ? 0 : Math.max(0, newest - this.position);
    this.position = Math.min(newest, this.position + seconds * Math.max(normal * this.speed, behind * 1.5));
    if (this.position >= newest && run.over) this.play(false);
  }

  resize() {
    const changed = [fitToScreen(this.find("disk")), fitToScreen(this.find("charts"))];
    if (changed.some(Boolean)) {
      this.disk.dirty = this.charts.dirty = true;
      if (this.run) this.paint(); // at once: a canvas is blank after its size was set
    }
  }

  paint() {
    const options = this.options;
    this.disk.draw({ ...options, dim: options.held }, (g, colours) => {
      drawLearner(g, colours, this.disk, this.run, this.position, options);
    });
    this.charts.draw(this.position, options);
    this.report();
    this.painted += 1;
    this.box.dataset.painted = String(this.painted);
    this.box.dataset.zoom = String(this.disk.view.zoom);
  }

  report() {
    const { run } = this, frame = Math.floor(this.position);
    const scrub = this.find("scrub");
    if (Number(scrub.value) !== frame) scrub.value = String(frame);
    const known = run.steps.length > 0;
    const step = known ? run.steps[frame] : 0;
    if (this.box.dataset.k === String(step) && this.reported === run) return;
    this.reported = run;
    this.box.dataset.k = String(step);
    const figures = known
      ? `‖A − Â‖ ${run.errors[2 * frame].toFixed(3)} · distance of means ${run.errors[2 * frame + 1].toFixed(3)}`
      : run.withoutPath;
    this.find("readout").textContent = `k = ${grouped(step)} of ${grouped(run.length)} · ${figures}`;
    scrub.setAttribute("aria-valuetext", `${step} of ${run.length} observations`);
  }

  leave() {
    this.disk.letGo();
    clearTimeout(this.telling);
  }

  comeBack() {
    this.disk.drop();
    this.tellView();
  }

  close() {
    this.resizing.disconnect();
    this.forgetPixels();
    this.disk.close();
    cancelAnimationFrame(this.ticking);
    clearTimeout(this.telling);
    document.removeEventListener("keydown", this.onKey);
    window.removeEventListener("rhmm-cloud", this.onCloud);
  }
}

export function lab({ data, parentElement, setStateValue, setTriggerValue }) {
  const send = (kind, name, value) => (kind === "state" ? setStateValue : setTriggerValue)(name, value);
  const [picture, unmount] = mounted(parentElement, "lab", send, (room) => new Lab(room));
  const run = continued(picture.run, unpack(data));
  if (run) picture.receive(withRivals(run));
  else send("state", "missing", Date.now()); // a message before this one was lost on the way
  return unmount;
}

function isBehind(run, before) {
  return (before.over && !run.over) || run.steps.length < before.steps.length;
}

const PATH = ["steps", "means", "transmat", "sigmas", "errors"];

/** The run as it was known, with the news of a message; null if that goes on from another message. */
function continued(known, news) {
  if (news.after === null) return news;
  if (news.number === known?.number) return known; // Streamlit may hand over the same message again
  if (news.after !== known?.number) return null;
  const path = PATH.map((name) => [name, joined(known[name], news[name])]);
  return { ...known, ...news, ...Object.fromEntries(path) };
}

function joined(begin, end) {
  const whole = new begin.constructor(begin.length + end.length);
  whole.set(begin);
  whole.set(end, begin.length);
  return whole;
}

function withRivals(run) {
  const rival = (name) => run[`${name}Means`] && {
    means: run[`${name}Means`], transmat: run[`${name}Transmat`], errors: run[`${name}Errors`],
  };
  return { ...run, em: rival("em"), kmeans: rival("kmeans") };
}
