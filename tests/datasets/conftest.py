"""A local server that behaves badly on demand, and folders of the tests' own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Server(ThreadingHTTPServer):
    """Serves `bodies` by path; `script` lists what to do with the next requests before behaving."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: dict[str, bytes] = {}
        self.script: list[str] = []
        self.requests: list[str] = []
        self.release = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        self.server.requests.append(name)
        action = self.server.script.pop(0) if self.server.script else "serve"
        if action.isdigit() or name not in self.server.bodies:
            self.send_error(int(action) if action.isdigit() else 404)
            return
        body = self.server.bodies[name]
        self.send_response(200)
        if action != "unsized":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if action in ("truncate", "hang"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if action == "hang":
                self.server.release.wait(30)
            return
        self.wfile.write(body[::-1] if action == "garble" else body)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()
