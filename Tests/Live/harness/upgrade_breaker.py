"""A proxy through which HTTP passes and WebSockets do not, in one of the ways of the proxies of companies."""
import asyncio
import re

from .waiting import within

PATIENCE = 60
# How an upgrade fails: refused (403), swallowed (its headers are taken out, so that the server answers an ordinary
# request), cut (accepted, and closed at once), silent (never answered).
WAYS = ["refused", "swallowed", "cut", "silent"]
ACCEPTED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class UpgradeBreaker:
    """Before HOST:PORT. `way` is how upgrades fail, None = they pass; while `holdsBack` is set, what the server answers to
    a GET of the stream stays here, as behind a proxy that collects whole answers."""

    def __init__(self, target, way):
        self.target, self.way, self.holdsBack = target, way, False
        # The request lines that have come, upgrades marked so.
        self.requests = []
        self._writers, self._tasks = set(), set()
        self._changed = asyncio.Condition()

    @classmethod
    async def start(cls, target, way):
        self = cls(target, way)
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 17)
        self.address = "127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]
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

    def cut(self):
        """Ends all connections without a word."""
        for writer in [*self._writers]:
            writer.transport.abort()

    async def end(self):
        self._server.close()
        # Each connection's task ends with it.
        self.cut()
        await asyncio.gather(*self._tasks)

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            pass  # one side is gone, which ends the other
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader, writer):
        """Passes requests on, one connection to the server for each from the client: WebSockets begin with one of theirs."""
        head = await reader.readuntil(b"\r\n\r\n")
        host, port = self.target.rsplit(":", 1)
        line = head.split(b"\r\n", 1)[0].decode()
        is_upgrade = re.search(rb"\r\nupgrade: *websocket", head, re.IGNORECASE) is not None
        await self._note([line + (" upgrade" if is_upgrade else "")])
        if is_upgrade and self.way == "refused":
            writer.write(REFUSED)
            return await writer.drain()
        if is_upgrade and self.way == "cut":
            writer.write(ACCEPTED)
            return await writer.drain()
        if is_upgrade and self.way == "silent":
            await reader.read()
            return
        if is_upgrade and self.way == "swallowed":
            head = re.sub(rb"\r\n(upgrade|connection|sec-websocket-[a-z]+):[^\r]*", b"", head, flags=re.IGNORECASE)
            head = head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        server_reader, server_writer = await asyncio.open_connection(host, int(port), limit=1 << 17)
        self._writers.add(server_writer)
        try:
            server_writer.write(head)
            is_stream = line.startswith("GET") and "/events" in line
            ways = [asyncio.ensure_future(self._pass(reader, server_writer, notes=not is_upgrade)),
                    asyncio.ensure_future(self._pass(server_reader, writer, holds=is_stream))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            self._writers.discard(server_writer)
            server_writer.close()

    async def _pass(self, reader, writer, notes=False, holds=False):
        while data := await reader.read(1 << 16):
            if notes:
                # Later requests of a connection that is kept alive.
                await self._note([found.decode() for found in re.findall(rb"(?:GET|POST|OPTIONS) /\S* HTTP/1\.1", data)])
            if holds and self.holdsBack:
                continue
            writer.write(data)
            await writer.drain()
