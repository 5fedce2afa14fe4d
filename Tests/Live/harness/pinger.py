"""A user in a process of its own who waits for nothing but pings."""
import asyncio
import contextlib
import multiprocessing
import signal
import time

from .raw import RawSocket
from .tokens import make_token


class Place:
    """What the other process needs to know of the server."""

    def __init__(self, server):
        self.address, self.path = server.address, server.path


async def ping(place, pipe, pause):
    raw = await RawSocket.open(place, path=f"{place.path}?token={make_token('pinger')}")
    await raw.read()
    pipe.send(None)
    worst, number = 0.0, 0
    while True:
        if pipe.poll():
            if pipe.recv() == "end":
                return
            pipe.send(worst)
            worst = 0.0
        number += 1
        start = time.monotonic()
        raw.write_json({"jsonrpc": "2.0", "id": number, "method": "ping"})
        while (await raw.read(patience=120))[0] != 1:
            pass
        worst = max(worst, time.monotonic() - start)
        await asyncio.sleep(pause)


def run(place, pipe, pause):
    # The parent's handlers wake its loop.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(ping(place, pipe, pause))


class Pinger:
    """`pause`: seconds between an answer and the next ping."""

    def __init__(self, server, pause=0.002):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=run, args=(Place(server), theirs, pause), daemon=True)
        self.process.start()
        # Where it has ended, nobody waits for it.
        theirs.close()
        self.pipe.recv()

    def worst(self):
        """Seconds of the longest wait since it was last asked."""
        self.pipe.send("worst")
        return self.pipe.recv()

    def end(self):
        with contextlib.suppress(OSError):
            self.pipe.send("end")
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
