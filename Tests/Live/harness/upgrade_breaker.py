"""A proxy through which HTTP passes and WebSockets do not, in one of the ways of the proxies of companies."""
import asyncio
import re

from .tcp_server import TCPServer
from .waiting import within

PATIENCE = 60
# How an upgrade fails: refused (403), swallowed (its headers are taken out, so that the server answers an ordinary
# request), cut (accepted, and closed at once), silent (never answered).
WAYS = ["refused", "swallowed", "cut", "silent"]
ACCEPTED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
IS_UPGRADE = re.compile(rb"\r\nupgrade: *websocket", re.IGNORECASE)
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class UpgradeBreaker(TCPServer):
    """Before HOST:PORT. `way` is how upgrades fail, None = they pass; while `holds_back` is set, what the server answers to
    a GET of the stream stays here, as behind a proxy that collects whole answers."""

    def __init__(self, target, way):
        super().__init__()
        self.target, self.way, self.holds_back = target, way, False
        # The request lines that have come, upgrades marked so.
        self.requests = []
        self._changed = asyncio.Condition()

    @classmethod
    async def start(cls, target, way):
        self = cls(target, way)
        self.address = await self._listen(limit=1 << 17)
        self.url = f"ws://{self.address}/ws"
        return self

    def asked(self, path):
        """How many requests to a path have come."""
        return sum(re.split(r"[ ?]", line)[1] == path for line in self.requests)

    async def until_asked(self, path, count):
        """Waits until so many have."""
        async with self._changed:
            await within(self._changed.wait_for(lambda: self.asked(path) >= count), PATIENCE)

    async def _note(self, lines):
        self.requests += lines
        async with self._changed:
            self._changed.notify_all()

    async def _serve(self, reader, writer):
        """Passes requests on, one connection to the server for each from the client."""
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.split(b"\r\n", 1)[0].decode()
        is_upgrade = IS_UPGRADE.search(head) is not None
        if not (head := await self._let_pass(head, reader, writer)):
            return
        host, port = self.target.rsplit(":", 1)
        server_reader, server_writer = await asyncio.open_connection(host, int(port), limit=1 << 17)
        self._writers.add(server_writer)
        try:
            server_writer.write(head)
            is_stream = line.startswith("GET") and "/events" in line
            ways = [asyncio.ensure_future(self._pass_requests(reader, writer, server_writer, is_upgrade)),
                    asyncio.ensure_future(self._pass_answers(server_reader, writer, is_stream))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            self._writers.discard(server_writer)
            server_writer.close()

    async def _let_pass(self, data, reader, writer):
        """Notes the requests in what a client has sent; gives what of it is for the server, nothing where the connection ends."""
        is_upgrade = IS_UPGRADE.search(data) is not None
        lines = [found.decode() for found in re.findall(rb"(?:GET|POST|OPTIONS) /\S* HTTP/1\.1", data)]
        await self._note([line + (" upgrade" if is_upgrade else "") for line in lines])
        if not is_upgrade or self.way is None:
            return data
        if self.way == "silent":
            await reader.read()
            return b""
        if self.way == "swallowed":
            data = re.sub(rb"\r\n(upgrade|connection|sec-websocket-[a-z]+):[^\r]*", b"", data, flags=re.IGNORECASE)
            return data.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        writer.write({"refused": REFUSED, "cut": ACCEPTED}[self.way])
        await writer.drain()
        return b""

    async def _pass_requests(self, reader, writer, server_writer, is_upgraded):
        """Later requests of a connection that is kept alive; an upgrade may be one of them, as Node asks for it."""
        while data := await reader.read(1 << 16):
            if not is_upgraded:
                is_upgraded = IS_UPGRADE.search(data) is not None
                data = await self._let_pass(data, reader, writer)
            if not data:
                return
            server_writer.write(data)
            await server_writer.drain()

    async def _pass_answers(self, reader, writer, is_stream):
        while data := await reader.read(1 << 16):
            if is_stream and self.holds_back:
                continue
            writer.write(data)
            await writer.drain()
