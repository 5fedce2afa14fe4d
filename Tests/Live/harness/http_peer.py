"""A small HTTP server beside the one under test, which posts to it or reads from it."""
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .ports import reserve_port


class HTTPAnswer:
    """The answer to a request: as soon as `when` (a threading.Event) is set."""

    def __init__(self, body=b"", status=200, content_type="application/json", headers=(), when=None):
        self.body = body
        self.status = status
        self.content_type = content_type
        self.headers = headers
        self.when = when


class HTTPPeer:
    """`answer(method, path, headers, body)` gives an HTTPAnswer. After a stop nobody else takes its port."""

    def __init__(self, answer):
        self.answer = answer
        self.port = reserve_port()
        self.count = 0
        self._server = None
        self._news = threading.Condition()
        self._ended = threading.Event()

    def start(self):
        """Listens, after a stop on the same port again."""
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                peer._handle(self)

            do_POST = do_GET

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, address):
                pass  # connections that the server under test cuts

        self._ended.clear()
        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        """Closes the port; requests without an answer get none. A connection without a request gets one more answer at most."""
        if self._server is None:
            return
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._server = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def _handle(self, handler):
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        if self._ended.is_set():
            handler.close_connection = True
            return
        answer = self.answer(handler.command, handler.path, headers, body)
        with self._news:
            self.count += 1
            self._news.notify_all()
        while answer.when and not answer.when.wait(0.05):
            if self._ended.is_set():
                handler.close_connection = True
                return
        handler.send_response(answer.status)
        for name, value in answer.headers:
            handler.send_header(name, value)
        handler.send_header("content-type", answer.content_type)
        handler.send_header("content-length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def wait_for(self, condition, what, patience=30):
        """Waits until the condition holds; it is looked at behind each request."""
        deadline = time.monotonic() + patience
        with self._news:
            while not (found := condition()):
                assert self._news.wait(max(0, deadline - time.monotonic())) or condition(), f"not within {patience} s: {what}"
        return found

    def wait_for_requests(self, count, patience=30):
        """Waits until so many have come since the start of the test."""
        self.wait_for(lambda: self.count >= count, f"{count} requests, there are {self.count}", patience)
