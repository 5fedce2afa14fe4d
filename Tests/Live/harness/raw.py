"""A WebSocket by hand: for what a library would not do (no pongs, odd headers, frames against the
protocol)."""
import asyncio
import base64
import json
import os
import socket
import struct

from .waiting import within

PATIENCE = 20


class RawSocket:
    """`status` and `headers` are the answer to the upgrade; frames are read only when asked for."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.status = None
        self.headers = {}

    @classmethod
    async def open(cls, server, path=None, headers=(), receive_buffer=None):
        host, port = server.address.rsplit(":", 1)
        plain = socket.socket()
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            # Small beside the buffer, or its window would be used only when the sender's timer asks.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        plain.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plain, (host, int(port)))
        self = cls(*await asyncio.open_connection(sock=plain, limit=receive_buffer or 65536))
        lines = [
            f"GET {path or server.path} HTTP/1.1", f"Host: {server.address}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version: 13", *headers,
        ]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = await within(self.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        first, *rest = head.decode("latin-1").strip().split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
        return self

    def write(self, opcode, payload=b"", final=True, masked=True, reserved=0):
        """Queues one frame."""
        head = bytes([(0x80 if final else 0) | reserved | opcode])
        length, flag = len(payload), 0x80 if masked else 0
        if length < 126:
            head += bytes([flag | length])
        elif length < 65536:
            head += bytes([flag | 126]) + struct.pack(">H", length)
        else:
            head += bytes([flag | 127]) + struct.pack(">Q", length)
        if masked:
            mask = os.urandom(4)
            payload = mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.writer.write(head + payload)

    def write_json(self, value):
        self.write(1, json.dumps(value).encode())

    async def read(self, patience=PATIENCE):
        """The next frame as (opcode, payload)."""
        first, second = await within(self.reader.readexactly(2), patience)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
        return first & 0x0F, await within(self.reader.readexactly(length), patience)

    async def close_code(self, patience=PATIENCE):
        """Reads on to the server's close frame, answering nothing; gives its code."""
        while True:
            opcode, payload = await self.read(patience)
            if opcode == 8:
                return struct.unpack(">H", payload[:2])[0]

    async def cut(self):
        """Ends the TCP connection."""
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            pass  # the server was quicker: the connection is gone, as wanted
