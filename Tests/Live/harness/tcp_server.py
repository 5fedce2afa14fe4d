"""What the TCP servers and proxies of tests do alike: a task for each connection, which ends with it."""
import asyncio


class TCPServer:
    """On a free port of this machine. A subclass says what it does with a connection: `_serve`."""

    def __init__(self):
        # What `cut` ends: the accepted connections, and those that a proxy adds.
        self._writers, self._tasks = set(), set()

    async def _listen(self, limit):
        """Listens; `limit` is the size of a reader's buffer. Gives HOST:PORT."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=limit)
        return "127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]

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
