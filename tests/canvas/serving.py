"""A tiny server on the loopback that gives the modules of the canvases, and a blank page."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from dashboard.canvas import program

FOLDER = "/canvas"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        source = program.modules().get(self.path.removeprefix(f"{FOLDER}/"))
        if self.path == FOLDER:
            self._answer(200, "text/html", "<!doctype html><title>blank</title>")
        elif source is not None:
            self._answer(200, "text/javascript", source)
        else:
            self._answer(404, "text/plain", "")

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Tests say themselves what has gone wrong."""


@contextmanager
def served_modules():
    """The address of a blank page; below it are the modules."""
    with ThreadingHTTPServer(("localhost", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}{FOLDER}"
        server.shutdown()
        thread.join()
