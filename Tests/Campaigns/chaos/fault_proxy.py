"""A TCP proxy between one node and one engine, which makes the faults of a network."""
import asyncio


class Connection:
    """`flow` is the event for which its bytes wait."""

    def __init__(self, writer, flow):
        self.writers, self.flow = [writer], flow

    def cut(self):
        for writer in self.writers:
            writer.transport.abort()


class FaultProxy:
    """Open; refusing, so that nobody can connect; or silent: nothing passes and nobody hears of it, as in
    a network that is split. What was sent meanwhile comes when it opens.

    `target` is a port; None: nothing is there, and connections are refused. libpq tries another host then,
    which it does not where a connection ends behind its beginning."""

    def __init__(self, target):
        self.target = target
        self.port = None
        self._flow = asyncio.Event()
        self._flow.set()
        # While it is not set, the target's machine is gone.
        self._exists = asyncio.Event()
        self._exists.set()
        self._refuses = False
        self._connections = set()
        self._tasks = set()
        self._server = None

    async def start(self, port):
        self.port = port
        await self._listen()
        return self

    async def _listen(self):
        may_connect = self.target is not None and not self._refuses
        if may_connect and self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        elif not may_connect and self._server is not None:
            self._server.close()
            self._server = None

    # The network

    async def refuse(self):
        self._refuses = True
        await self._listen()
        self.cut()

    async def silence(self):
        self._flow.clear()

    async def open(self):
        self._refuses = False
        self._flow.set()
        await self._listen()

    def cut(self):
        """Ends the connections that are there."""
        for connection in self._connections:
            connection.cut()

    # The target

    def lose_target(self):
        """Its machine is gone without a word: connections stay silent for good, and new ones until `lead_to`."""
        self._exists.clear()
        for connection in self._connections:
            if connection.flow is self._flow:
                connection.flow = asyncio.Event()

    async def lead_to(self, target):
        """New connections go to this port; None: to nothing."""
        self.target = target
        self._exists.set()
        await self._listen()

    async def close(self):
        self._flow.set()
        await self.lead_to(None)
        for connection in self._connections:
            connection.flow.set()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _accept(self, reader, writer):
        connection, task = Connection(writer, self._flow), asyncio.current_task()
        self._connections.add(connection)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._flow.wait()
            await self._exists.wait()
            if self._refuses or self.target is None:
                return
            engine_reader, engine = await asyncio.open_connection("127.0.0.1", self.target)
            connection.writers.append(engine)
            ways = [asyncio.create_task(self._pass(connection, *way, self._reader(is_to_engine)))
                    for way, is_to_engine in (((reader, engine), True), ((engine_reader, writer), False))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        except OSError:
            pass  # the engine is away: the node's connection ends
        finally:
            self._connections.discard(connection)
            connection.cut()

    def _reader(self, is_to_engine):
        """Of one way of a connection: from bytes that have come to those that pass."""
        return bytes

    async def _pass(self, connection, reader, writer, read):
        try:
            while data := await reader.read(1 << 16):
                await connection.flow.wait()
                writer.write(read(data))
                await writer.drain()
        except OSError:
            pass  # the connection ends
        finally:
            # The end of a split network is not seen through it.
            await connection.flow.wait()
