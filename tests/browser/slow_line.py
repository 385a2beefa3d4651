"""A line on which the server's messages arrive one by one, not in the bundles of a quick one.

Each waits for as many milliseconds as the page's `late` says.
"""

_ONE_BY_ONE = """
  window.WebSocket = class extends WebSocket {
    addEventListener(type, listener, ...options) {
      if (type !== 'message') return super.addEventListener(type, listener, ...options);
      let last = Promise.resolve();
      super.addEventListener(type, (event) => {
        last = last
          .then(() => new Promise((go) => setTimeout(go, window.late ?? 20)))
          .then(() => listener(event));
      }, ...options);
    }
  };
"""


def slow_line(page) -> None:
    page.add_init_script(_ONE_BY_ONE)
