"""A WebSocket that sends without looking at the answers: they are counted, and not kept."""
import asyncio
import base64
import json
import os
import socket
import struct
from collections import Counter
from urllib.parse import urlencode

from .waiting import within

PATIENCE = 20
ABNORMAL = 1006  # RFC 6455: the connection ended without a close frame


class Tally:
    """The sent and answered requests of all sockets of one run."""

    def __init__(self):
        self.sent = 0
        self.accepted = 0
        self.refused = Counter()  # by code
        self.sign_ins = 0
        self.sign_ins_refused = 0
        self.events = 0
        self.bytes = 0
        self.closed = Counter()  # by close code

    @property
    def answered(self):
        return self.accepted + self.refused.total()


class FloodSocket(asyncio.Protocol):
    """One connection. A batch counts as many requests as it holds."""

    def __init__(self, tally):
        self.tally = tally
        self.outstanding = 0
        self.transport = None
        self.status = None
        self.is_open = False
        self.on_text = None  # gets each text frame, for who wants to look at them
        self._buffer = bytearray()
        self._news = asyncio.Event()
        self._events = 0

    # Connecting

    @classmethod
    async def open(cls, server, tally, receive_buffer=None, upgrade=True, **query):
        """A connection after its upgrade; without `upgrade`, before anything was sent."""
        host, port = server.address.rsplit(":", 1)
        plain = socket.socket()
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            # Small beside the buffer, or its window would be used only when the sender's timer asks.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setblocking(False)
        loop = asyncio.get_running_loop()
        await within(loop.sock_connect(plain, (host, int(port))), PATIENCE)
        _, self = await loop.create_connection(lambda: cls(tally), sock=plain)
        if upgrade:
            path = "/ws" + ("?" + urlencode(query) if query else "")
            key = base64.b64encode(os.urandom(16)).decode()
            self.transport.write(
                f"GET {path} HTTP/1.1\r\nHost: {server.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
            await self.until(lambda: self.status is not None)
        return self

    @classmethod
    async def sign_in(cls, server, tally, token, **options):
        """A session, signed in by the query, or a connection that was closed instead: see
        `is_open`."""
        self = await cls.open(server, tally, token=token, **options)
        await self.until(lambda: self._events > 0)
        if self.is_open and self._events:
            tally.sign_ins += 1
        else:
            tally.sign_ins_refused += 1
        return self

    async def until(self, condition, patience=PATIENCE):
        """Waits until this holds, the connection is gone, or the patience is at its end."""
        deadline = asyncio.get_running_loop().time() + patience
        while not condition() and not self.transport.is_closing():
            self._news.clear()
            rest = deadline - asyncio.get_running_loop().time()
            try:
                await within(self._news.wait(), rest)
            except TimeoutError:
                return

    async def answers(self, patience=PATIENCE):
        """Waits until everything sent is answered."""
        await self.until(lambda: self.outstanding == 0, patience)

    def cut(self):
        """Ends the TCP connection at once."""
        self.transport.abort()

    # Sending

    def request(self, method, params, number=1):
        self.text(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    def batch(self, calls):
        calls = [{"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n, (method, params) in enumerate(calls)]
        self.text(json.dumps(calls).encode(), len(calls))

    def text(self, payload, requests=1):
        """A text frame that is answered so many times."""
        self.frame(0x81, payload)
        self.tally.sent += requests
        self.outstanding += requests

    def frame(self, first, payload):
        """A frame with a mask of zeros, which leaves the payload as it is."""
        length = len(payload)
        if length < 126:
            head = bytes([first, 0x80 | length])
        elif length < 65536:
            head = struct.pack(">BBH", first, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", first, 0x80 | 127, length)
        if not self.transport.is_closing():
            self.transport.write(head + bytes(4) + payload)

    # Receiving

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, error):
        if self.is_open:
            self.tally.closed[ABNORMAL] += 1
        self.is_open = False
        self._news.set()

    def data_received(self, data):
        self._buffer += data
        if self.status is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            self.status = int(self._buffer.split(b" ", 2)[1])
            self.is_open = self.status == 101
            del self._buffer[:end + 4]
            data = self._buffer
        if self.is_open:
            self.tally.bytes += len(data)
            self._read_frames()
        self._news.set()

    def _read_frames(self):
        start, buffer = 0, self._buffer
        while len(buffer) - start >= 2:
            first, length, body = buffer[start], buffer[start + 1] & 0x7F, start + 2
            if length == 126:
                body += 2
                length = int.from_bytes(buffer[start + 2:body], "big")
            elif length == 127:
                body += 8
                length = int.from_bytes(buffer[start + 2:body], "big")
            if len(buffer) < body + length:
                break
            self._read_frame(first & 0x0F, buffer, body, body + length)
            start = body + length
        del buffer[:start]

    def _read_frame(self, opcode, buffer, body, end):
        if opcode == 1:
            self._count(buffer, body, end)
            if self.on_text:
                self.on_text(bytes(buffer[body:end]))
        elif opcode == 8:
            code = int.from_bytes(buffer[body:body + 2], "big") if end - body >= 2 else 1005
            self.tally.closed[code] += 1
            self.is_open = False
            self.transport.close()

    def _count(self, buffer, body, end):
        head = bytes(buffer[body:min(end, body + 200)])
        if head.startswith(b"["):
            for part in json.loads(bytes(buffer[body:end])):
                self._answer(part["error"]["code"] if "error" in part else None)
        elif b'"method":' in head[:40]:
            self.tally.events += 1
            self._events += 1
        elif b'"error":' in head:
            self._answer(json.loads(bytes(buffer[body:end]))["error"]["code"])
        else:
            self._answer(None)

    def _answer(self, code):
        self.outstanding -= 1
        if code is None:
            self.tally.accepted += 1
        else:
            self.tally.refused[code] += 1
