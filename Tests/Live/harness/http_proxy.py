"""An HTTP proxy as companies have them: tunnels by CONNECT, and ordinary requests with a whole address."""
import asyncio
import re

from .tcp_server import TCPServer


class HTTPProxy(TCPServer):
    """`tunnels` False: CONNECT is refused with 403."""

    def __init__(self, tunnels):
        super().__init__()
        self.tunnels = tunnels
        # The request lines that have come.
        self.requests = []

    @classmethod
    async def start(cls, tunnels=True):
        self = cls(tunnels)
        self.url = f"http://{await self._listen(limit=1 << 17)}"
        return self

    def asked(self, method):
        return sum(line.startswith(f"{method} ") for line in self.requests)

    async def _serve(self, reader, writer):
        """One request a connection, and a tunnel behind it."""
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.split(b"\r\n", 1)[0].decode()
        self.requests.append(line)
        method, target, _ = line.split(" ")
        if method == "CONNECT" and not self.tunnels:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return await writer.drain()
        address = target if method == "CONNECT" else re.match(r"http://([^/]+)", target)[1]
        host, port = address.rsplit(":", 1)
        far_reader, far_writer = await asyncio.open_connection(host, int(port), limit=1 << 17)
        self._writers.add(far_writer)
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = target[len(f"http://{address}"):]
                head = head.replace(target.encode(), path.encode(), 1)
                far_writer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            ways = [asyncio.ensure_future(self._pass(reader, far_writer)), asyncio.ensure_future(self._pass(far_reader, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            self._writers.discard(far_writer)
            far_writer.close()

    @staticmethod
    async def _pass(reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
