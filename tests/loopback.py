"""A real HTTP server on loopback that answers JSON as a test tells it to; not a test."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any, dict[str, str]]


class JsonServer:
    """Keeps requests and answers each by `answer(number, body)`: (status, JSON or bytes, headers), None to hang up."""

    def __init__(self, answer: Callable[[int, dict[str, Any]], Answer | None]) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.bodies.append(body)
                    outer.keys.append(self.headers.get("Authorization", ""))
                    number = len(outer.bodies)
                found = outer.answer(number, body)
                if found is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, payload, headers = found
                raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@contextmanager
def serving(server: JsonServer) -> Iterator[JsonServer]:
    """The server, answering until the block ends."""
    threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
