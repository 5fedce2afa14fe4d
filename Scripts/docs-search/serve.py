#!/usr/bin/env python3
"""Serves the site of the documentation to this machine, and says where its first page is. Usage: serve.py SITE PORT VERSION"""
import functools
import http.server
import signal
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_request(self, code="-", size="-"):
        """A page asks for forty files: only what fails is told."""


def main(site, port, version):
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=site))
    except OSError as error:
        sys.exit(f"docs: 127.0.0.1:{port}: {error.strerror}; another port is --serve PORT")
    # Both end it, and neither is an error.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    print(f"docs: http://127.0.0.1:{server.server_port}/{version}/documentation/throng/ (Ctrl-C ends it)", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[2].isdecimal() or int(sys.argv[2]) > 65535:
        sys.exit("usage: serve.py SITE PORT VERSION")
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
