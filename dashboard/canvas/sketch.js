// The disk of a true model: a sample of its observations, and its means to be dragged.

class Sketch {
  constructor(room) {
    this.room = room;
    this.box = room.querySelector(".sketch");
    this.canvas = room.querySelector(".disk");
    this.painted = 0;
    this.disk = new DiskView(this.canvas, room.querySelector(".handles"), {
      onDrop: (drops) => this.send(drops),
      onLook: () => this.wake(),
    });
    const on = (name, action) => room.querySelector(`.${name}`).addEventListener("click", action);
    on("closer", () => this.disk.zoomBy(1.5));
    on("wider", () => this.disk.zoomBy(1 / 1.5));
    on("whole", () => {
      this.disk.lookAt({ zoom: 1, panX: 0, panY: 0 });
      this.wake();
    });
    // The page's colours may change at any time; a transition too short to see tells when.
    this.canvas.addEventListener("transitionend", () => this.wake());
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.canvas);
    this.forgetPixels = onOtherPixels(() => this.resize());
  }

  receive({ truth, heard, xy, states }) {
    this.disk.setCloud({ xy, states });
    this.disk.setTruth(truth, heard);
    this.wake();
  }

  wake() {
    this.ticking ??= requestAnimationFrame(() => {
      this.ticking = null;
      this.paint();
    });
  }

  resize() {
    if (!fitToScreen(this.canvas)) return;
    this.disk.dirty = true;
    this.paint(); // at once: a canvas is blank after its size was set
  }

  paint() {
    this.disk.draw({ circles: true }, (g, colours) => this.drawKeys(g, colours));
    this.painted += 1;
    this.box.dataset.painted = String(this.painted);
  }

  /** Each mean wears the mark and the colour of its state. */
  drawKeys(g, colours) {
    const { disk } = this, ratio = window.devicePixelRatio || 1;
    disk.means?.forEach((mean, state) => {
      const [x, y] = disk.toScreen(...mean);
      drawMark(g, colours, state, disk.truth.colours[state], x, y, 6 * ratio, 3);
    });
  }

  leave() {
    this.disk.letGo();
  }

  comeBack() {
    this.disk.drop();
  }

  close() {
    this.resizing.disconnect();
    this.forgetPixels();
    this.disk.close();
    cancelAnimationFrame(this.ticking);
  }
}

export function sketch({ data, parentElement, setTriggerValue }) {
  const send = (drops) => setTriggerValue("moved", drops);
  const [picture, unmount] = mounted(parentElement, "sketch", send, (room) => new Sketch(room));
  picture.receive(unpack(data));
  return unmount;
}
