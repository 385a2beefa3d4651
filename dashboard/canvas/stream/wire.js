// The socket to an endless stream: news come in as bytes, orders go out as JSON. It comes back by itself.

import { unpack } from "../protocol.js";

/** @import { News } from "./news.js" */

/** How the connection is. @typedef {"opening" | "open" | "lost" | "gone"} Wired */

const GONE = 4404; // the code of the server when there is no such stream
const SILENCE = 7000; // milliseconds without a word after which the connection counts as lost
const FIRST_WAIT = 500, LONGEST_WAIT = 5000; // milliseconds before the next attempt

export class Wire {
  /** @type {Wired} */
  state = "opening";
  /** Bytes that have come. */
  received = 0;
  /** @type {WebSocket | null} */
  #socket = null;
  #wait = FIRST_WAIT;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #closed = false;

  /**
   * @param {string} address as seen from a page
   * @param {{ onNews: (news: News) => void, onState: () => void }} listeners
   */
  constructor(address, { onNews, onState }) {
    this.url = new URL(address, document.baseURI);
    this.url.protocol = this.url.protocol === "https:" ? "wss:" : "ws:";
    this.onNews = onNews;
    this.onState = onState;
    this.#open();
  }

  #open() {
    const socket = (this.#socket = new WebSocket(this.url));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#wait = FIRST_WAIT;
      this.#become("open");
      this.#expectMore();
      this.received += data.byteLength;
      if (data.byteLength) this.onNews(unpack(new Uint8Array(data)));
    };
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) this.#lose(code === GONE);
    };
    this.#expectMore();
  }

  /** The server speaks every two seconds at least. */
  #expectMore() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#socket?.close();
      this.#lose(false);
    }, SILENCE);
  }

  /** @param {boolean} forGood */
  #lose(forGood) {
    clearTimeout(this.#timer);
    this.#socket = null;
    if (this.#closed) return;
    this.#become(forGood ? "gone" : "lost");
    if (forGood) return;
    this.#timer = setTimeout(() => this.#open(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait);
  }

  /** @param {Wired} state */
  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.onState();
  }

  /**
   * Tell the server what the visitor does; nothing waits for a lost connection.
   * @param {Record<string, unknown>} order
   * @returns {boolean} whether it was sent
   */
  send(order) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(order));
    return true;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
