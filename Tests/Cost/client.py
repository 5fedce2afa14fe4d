"""A client that leaves nothing to chance: blocking sockets, a constant mask, one system call for
everything sent at once."""
import base64
import itertools
import json
import socket
import struct
from collections import deque
from urllib.parse import urlencode

from harness.tokens import make_token

PATIENCE = 60
MASK = bytes([0x5A, 0xC3, 0x96, 0x3C])


def framed(value):
    """A masked text frame with a JSON value."""
    payload = json.dumps(value, separators=(",", ":")).encode()
    length = len(payload)
    head = bytes([0x81, 0x80 | length]) if length < 126 else b"\x81\xfe" + struct.pack(">H", length)
    return head + MASK + bytes(byte ^ MASK[i % 4] for i, byte in enumerate(payload))


class Client:
    """One session, signed in by `?token=`; a frame is read when it is asked for."""

    def __init__(self, server, user):
        host, port = server.address.rsplit(":", 1)
        self.user = user
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")
        self.events = deque()
        self._ids = itertools.count(1_000_000)  # all of one length
        self.socket.sendall((
            f"GET /ws?{urlencode({'token': make_token(user, now=server.now)})} HTTP/1.1\r\nHost: {server.address}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n\r\n"
        ).encode())

    def welcomed(self):
        """Waits for the end of the sign-in."""
        status = self.stream.readline()
        assert status.startswith(b"HTTP/1.1 101"), status
        while self.stream.readline() != b"\r\n":
            pass
        self.expect("onConnectSuccess")
        return self

    def read(self):
        """The next frame's JSON value."""
        head = self.stream.read(2)
        assert head and head[0] == 0x81, f"{self.user}: {head}{self.stream.read(64)}"
        length = head[1]
        if length == 126:
            (length,) = struct.unpack(">H", self.stream.read(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.stream.read(8))
        return json.loads(self.stream.read(length))

    def expect(self, event):
        """The params of the next event, which must be this one."""
        frame = self.events.popleft() if self.events else self.read()
        assert frame.get("method") == event, frame
        return frame["params"]

    def request(self, method, /, **params):
        """A request's frame."""
        return framed({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params})

    def send(self, *frames):
        """Hands the frames to the system in one call."""
        self.socket.sendall(b"".join(frames))

    def answer(self):
        """The result of the next reply; events before it are kept."""
        while "id" not in (frame := self.read()):
            self.events.append(frame)
        assert "result" in frame, frame
        return frame["result"]

    def call(self, method, /, **params):
        """A request and its result."""
        self.send(self.request(method, **params))
        return self.answer()

    def forget(self):
        """Takes everything that the server has sent so far."""
        self.call("ping")
        self.events.clear()

    def lose(self):
        """The connection's end without a closing handshake; returns when the server has let go of
        it as well."""
        self.socket.shutdown(socket.SHUT_WR)
        while self.stream.read(4096):
            pass
        self.close()

    def close(self):
        """Lets go of the socket."""
        self.stream.close()
        self.socket.close()
