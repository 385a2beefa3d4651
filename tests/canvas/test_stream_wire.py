"""The socket of the Stream page, beside a server that comes and goes."""

FILE = "stream/wire.js"

# a stand-in for the browser's socket that the test opens, feeds and closes
STAND_IN = """
  const made = [], states = [];
  class Socket {
    static OPEN = 1;
    readyState = 0;
    sent = [];
    constructor(url) { this.url = String(url); made.push(this); }
    send(text) { this.sent.push(JSON.parse(text)); }
    close() { this.onclose?.({ code: 1000 }); }
    open() { this.readyState = 1; }
    say(bytes) { this.onmessage({ data: new Uint8Array(bytes).buffer }); }
    end(code) { this.readyState = 3; this.onclose({ code }); }
  }
  const real = window.WebSocket;
  window.WebSocket = Socket;
  const onState = () => states.push(wire.state);
  const wire = new m.Wire("./flow/abc", { onNews: () => {}, onState });
"""
END = "wire.close(); window.WebSocket = real;"


def test_it_asks_the_address_beside_the_page(js):
    url = js.run(FILE, f"{STAND_IN} {END} return made[0].url;")

    assert url.startswith("ws://localhost")
    assert url.endswith("/flow/abc")


def test_a_lost_connection_is_told_and_tried_again(js):
    states, attempts = js.run(
        FILE,
        f"""{STAND_IN}
          made[0].open(); made[0].say([]); made[0].end(1006);
          await new Promise((done) => setTimeout(done, 900));
          made[1].open(); made[1].say([]);
          {END}
          return [states, made.length];""",
    )

    assert states == ["open", "lost", "open"]
    assert attempts == 2


def test_a_stream_that_has_gone_is_not_asked_for_again(js):
    states, attempts = js.run(
        FILE,
        f"""{STAND_IN}
          made[0].open(); made[0].end(4404);
          await new Promise((done) => setTimeout(done, 900));
          {END}
          return [states, made.length];""",
    )

    assert states == ["gone"]
    assert attempts == 1


def test_orders_are_sent_only_while_it_is_open(js):
    sent = js.run(
        FILE,
        f"""{STAND_IN}
          const early = wire.send({{ pace: 10 }});
          made[0].open();
          const late = wire.send({{ pace: 20 }});
          {END}
          return [early, late, made[0].sent];""",
    )

    assert sent == [False, True, [{"pace": 20}]]
