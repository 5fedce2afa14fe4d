"""A TCP proxy that cuts, holds and refuses on command."""
import asyncio
import time

import pytest

from .waiting import within

PATIENCE = 60


class Link:
    """One connection through the proxy. `held` is what has arrived and was not passed on, by direction."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.server_reader = self.server_writer = None
        self.opened_at, self.closed_at = time.monotonic(), None
        self.held = {"to server": bytearray(), "to client": bytearray()}
        self.passed = {"to server": 0, "to client": 0}

    def cut(self):
        for writer in (self.writer, self.server_writer):
            if writer:
                writer.transport.abort()


class TCPProxy:
    """`target` is HOST:PORT, and may change; connections that are there keep theirs."""

    def __init__(self, target):
        self.target = target
        self.links = []
        self.is_refusing = False
        self._holding = set()
        # While it is set no byte is read from the server, so that its queue for the client fills.
        self._flow = asyncio.Event()
        self._flow.set()
        self._changed = asyncio.Condition()
        self._tasks = set()

    @classmethod
    async def start(cls, target):
        self = cls(target)
        # A small window, so that what is not read soon stays in the server.
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 14)
        self.address = "127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]
        self.url = f"ws://{self.address}/ws"
        return self

    async def _notify(self):
        async with self._changed:
            self._changed.notify_all()

    async def _accept(self, reader, writer):
        link = Link(reader, writer)
        self.links.append(link)
        await self._notify()
        if self.is_refusing:
            # Node 20 says nothing of a connection that ends before its request has left.
            await reader.read(1)
            return writer.transport.abort()
        host, port = self.target.rsplit(":", 1)
        try:
            link.server_reader, link.server_writer = await asyncio.open_connection(host, int(port), limit=1 << 14)
        except OSError:
            return writer.transport.abort()
        ways = [asyncio.ensure_future(self._pass(link, "to server", reader, link.server_writer)),
                asyncio.ensure_future(self._pass(link, "to client", link.server_reader, writer))]
        self._tasks.update(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        # Bytes that one side sent before its end are passed on before the other is closed.
        link.closed_at = time.monotonic()
        for one in (writer, link.server_writer):
            one.close()
        self._tasks.difference_update(ways)
        await self._notify()

    async def _pass(self, link, direction, reader, writer):
        try:
            while True:
                if direction == "to client":
                    # What is not read fills the server's queue.
                    await self._flow.wait()
                data = await reader.read(1 << 14)
                if direction == "to client":
                    # It has come while nothing is to pass any more.
                    await self._flow.wait()
                if not data:
                    return
                if direction in self._holding:
                    link.held[direction] += data
                    await self._notify()
                    continue
                writer.write(data)
                link.passed[direction] += len(data)
                await writer.drain()
        except (ConnectionError, OSError):
            pass  # one of the two is gone, which ends both

    # Commands

    def cut(self):
        """Ends all connections without a word, and with them what is held."""
        for link in self.links:
            link.cut()

    def refuse(self, is_refusing=True):
        self.is_refusing = is_refusing

    def hold(self, *directions):
        """Keeps what comes from now on: "to server", "to client"."""
        self._holding = set(directions)

    def stall(self):
        """Passes nothing from the server any more, and reads at most one piece of it."""
        self._flow.clear()

    def flow(self):
        self._flow.set()

    # Signals

    async def _until(self, condition):
        async with self._changed:
            await within(self._changed.wait_for(condition), PATIENCE)

    async def connected(self, count):
        """Waits until so many connections were made since the start; gives the last."""
        await self._until(lambda: len(self.links) >= count)
        return self.links[count - 1]

    async def closed(self, link):
        await self._until(lambda: link.closed_at is not None)

    async def holds(self, direction, text=b"", times=1):
        """Waits until the last connection's held bytes contain the text so often, or are any."""
        await self._until(
            lambda: link.held[direction] and link.held[direction].count(text) >= times if (link := self.links[-1]) else False)

    async def end(self):
        self._flow.set()
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()


@pytest.fixture
async def make_tcp_proxy():
    """Proxies that end with the test: `await make_tcp_proxy(target)`."""
    made = []

    async def make(target):
        made.append(await TCPProxy.start(target))
        return made[-1]

    yield make
    for proxy in made:
        await proxy.end()
