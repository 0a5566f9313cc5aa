"""A socket server around the handler."""

import socketserver

from handler import handle_request
from settings import load_settings


class LineServer(socketserver.StreamRequestHandler):
    """One connection: answer line after line until the client hangs up."""

    def handle(self):
        for line in self.rfile:
            self.wfile.write(handle_request(line))


def serve():
    """Listen until interrupted."""
    settings = load_settings()
    with socketserver.TCPServer((settings["host"], settings["port"]), LineServer) as server:
        server.serve_forever()
