"""The application's receiver of webhooks: verifies each request with `standardwebhooks`, keeps it,
and answers as the test says."""
import asyncio
import base64
import json
import socket
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook

from .ports import reserve_port

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
PATIENCE = 30
# In seconds; that of `standardwebhooks`.
TOLERANCE = 300


class WebhookRequest:
    """One request as it came."""

    def __init__(self, headers, body):
        self.headers = headers
        self.body = body
        content = json.loads(body)
        assert set(content) == {"type", "timestamp", "data"}, content
        self.type = content["type"]
        self.timestamp = content["timestamp"]
        self.data = content["data"]
        self.id = headers["webhook-id"]

    def __repr__(self):
        return f"{self.type}({json.dumps(self.data)[:160]})"


class Answer:
    """The answer to a request: a status and a JSON body, as soon as `when` (a threading.Event) is set; or silence."""

    def __init__(self, body=None, status=200, when=None, text=None, headers=()):
        self.text = json.dumps(body if body is not None else {}) if text is None else text
        self.status = status
        self.when = when
        self.headers = headers


SILENCE = object()


class Receiver:
    """`answer(request)` gives an Answer, SILENCE, or None for an empty object."""

    def __init__(self, answer=None, secret=SECRET):
        self.answer = answer or (lambda request: None)
        self.secret = secret
        # Gives the Unix seconds on the clock of a server that is far from this machine's.
        self.clock = None
        self.requests = []
        self.accepted = []
        self.faults = []
        self.open = 0
        self.most_open = 0
        # After a stop nobody else takes it.
        self.port = reserve_port()
        self._server = None
        self._news = threading.Condition()
        self._ended = threading.Event()
        self._sockets = set()

    # Life

    def start(self):
        """Listens, after a stop on the same port again."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                with receiver._news:
                    receiver._sockets.add(self.connection)

            def do_POST(self):
                receiver._handle(self)

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

            def handle_error(self, request, address):
                pass  # connections that the server under test cuts

        self._ended.clear()
        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        """Closes the port and every connection."""
        if self._server is None:
            return
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        with self._news:
            for connection in self._sockets:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self._sockets.clear()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook"

    def settings(self, *events, **more):
        """The configuration of a server that posts here, and is patient."""
        settings = {"webhook.url": self.url, "webhook.secret": self.secret, "webhook.timeout": "60s"}
        if events:
            settings["webhook.events"] = ",".join(events)
        return {**settings, **{f"webhook.{name}": value for name, value in more.items()}}

    # Requests

    def _handle(self, handler):
        body = handler.rfile.read(length := int(handler.headers["content-length"]))
        if len(body) < length:
            return  # the server under test was killed
        headers = {name.lower(): value for name, value in handler.headers.items()}
        try:
            self._verify(body, headers)
            assert headers["content-type"] == "application/json", headers
            request = WebhookRequest(headers, body)
        except Exception as error:  # verify has several; a fault fails the test where it looks next
            with self._news:
                self.faults.append(repr(error))
            handler.send_error(400)
            return
        with self._news:
            self.requests.append(request)
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            self._news.notify_all()
        answer = self.answer(request)
        answer = Answer() if answer is None else answer
        self._hold(answer)
        with self._news:
            self.open -= 1
            if answer is not SILENCE and 200 <= answer.status < 300:
                self.accepted.append(request)
            self._news.notify_all()
        if answer is SILENCE:
            handler.close_connection = True
            return
        text = answer.text.encode()
        handler.send_response(answer.status)
        for name, value in answer.headers:
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _verify(self, body, headers):
        """Goes by the server's clock where the test gives it: `verify` knows this machine's alone."""
        webhook = Webhook(self.secret)
        if self.clock is None:
            webhook.verify(body, headers)
            return
        sent = int(headers["webhook-timestamp"])
        assert abs(sent - self.clock()) <= TOLERANCE, (sent, self.clock())
        signature = webhook.sign(headers["webhook-id"], datetime.fromtimestamp(sent, timezone.utc), body.decode())
        assert signature in headers["webhook-signature"].split(), headers

    def _hold(self, answer):
        """Waits until it may be given, or for the end of the receiver."""
        if answer is SILENCE:
            self._ended.wait()
            return
        while answer.when and not answer.when.wait(0.05) and not self._ended.is_set():
            pass

    def of(self, *types):
        """The accepted requests of these types (all without), each id once, in the order of their
        coming."""
        seen, found = set(), []
        with self._news:
            assert not self.faults, self.faults
            for request in self.accepted:
                if request.id not in seen and (not types or request.type in types):
                    seen.add(request.id)
                    found.append(request)
        return found

    async def wait(self, condition, patience=PATIENCE):
        """Waits until `condition(self)` holds, and gives its value."""
        deadline = time.monotonic() + patience
        while not (found := condition(self)):
            assert time.monotonic() < deadline, f"not within {patience} s; {len(self.requests)}: {self.requests[-8:]}"
            await asyncio.sleep(0.02)
        assert not self.faults, self.faults
        return found

    async def expect(self, type_, count=1, patience=PATIENCE):
        """The accepted requests of a type, as soon as there are so many."""
        return await self.wait(lambda _: (lambda found: found if len(found) >= count else None)(self.of(type_)), patience)

    async def settle(self, client, group):
        """A marker message: an earlier event of the group that has not come before it will not."""
        receipt = await client.call("sendGroupTextMessage", groupID=group, text="marker")
        await self.wait(lambda _: any(r.data["message"]["msgID"] == receipt["msgID"] for r in self.of("messageSent")))
