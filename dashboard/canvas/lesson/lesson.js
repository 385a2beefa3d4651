// The picture of one screen of the lesson. A message names the picture; another name makes another picture.

import { mounted } from "../mount.js";
import { unpack } from "../protocol.js";
import { Centre } from "./centre.js";
import { Chain } from "./chain.js";
import { Circle } from "./circle.js";
import { Difference } from "./difference.js";
import { Distance } from "./distance.js";
import { Gaussian } from "./gaussian.js";
import { Matrices } from "./matrices.js";
import { Stage } from "./stage.js";
import { OneStep } from "./step.js";
import { Windows } from "./window.js";

/** @import { Component, Sender } from "../protocol.js" */

/** @type {Record<string, new (stage: Stage, about: any) => import("./stage.js").Picture>} */
const PICTURES = {
  distance: Distance,
  circle: Circle,
  gaussian: Gaussian,
  centre: Centre,
  chain: Chain,
  step: OneStep,
  delta: Windows,
  differ: Difference,
  matrices: Matrices,
};

class LessonPicture {
  #id = "";
  /** @type {Stage | null} */
  #stage = null;

  /**
   * @param {HTMLElement} room
   * @param {Sender} send
   */
  constructor(room, send) {
    this.room = room;
    this.send = send;
    this.box = /** @type {HTMLElement} */ (room.querySelector(".lesson"));
  }

  /** @param {{ id: string, picture: string, revealed: boolean }} about */
  receive({ id, picture, revealed, ...about }) {
    if (id !== this.#id) {
      this.close();
      for (const name of Object.keys(this.box.dataset)) delete this.box.dataset[name];
      this.#id = id;
      this.#stage = new Stage(this.box);
      this.#stage.picture = new PICTURES[picture](this.#stage, about);
      Object.assign(this.box.dataset, { picture, painted: "0" });
      this.#stage.start();
    }
    if (revealed) this.#stage?.reveal();
  }

  leave() {}

  comeBack() {
    this.#stage?.wake();
  }

  close() {
    this.#stage?.close();
  }
}

/** @param {Component} component */
export function lesson(component) {
  const [picture, unmount] = mounted(component, "lesson", (room, send) => new LessonPicture(room, send));
  picture.receive(unpack(component.data));
  return unmount;
}
