"""An uninvolved user while another one attacks: a process that sends in a group of its own and lets
others sign in, at fixed instants, and reports the durations.

    python -m harness.bystander      commands are lines of JSON on standard input, answers on standard output"""
import asyncio
import json
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from .flood import FloodSocket, Tally

SENDS_PER_SECOND = 20
SIGN_INS_PER_SECOND = 2
PATIENCE = 30
USER = "bystander"
GROUP = "bystanders"
GUEST = "bystander-guest"


class Bystander:
    """The process, as those who measure see it."""

    def __init__(self):
        command = [sys.executable, "-B", "-m", "harness.bystander"]
        self._process = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[1], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self._guests = 0

    def begin(self, server):
        """Starts to send there. The tokens of those who sign in are made here, where it costs the
        figures nothing."""
        from .tokens import make_token  # not at the top: the process itself starts without it

        tokens = [make_token(f"{GUEST}-{n}") for n in range(self._guests, self._guests + 200)]
        self._guests += 200
        self._tell(begin=server.listening["listen"], token=make_token(USER), guests=tokens)
        assert self._hear() == "ready"

    def last(self, seconds):
        """Measures the present phase for so long."""
        time.sleep(seconds)

    def phase(self, name):
        """Requests from now on belong to the new phase."""
        self._tell(phase=name)

    def end(self):
        """Waits for what is under way; by phase: the seconds of each send and of each sign-in, and
        what failed."""
        self._tell(end=True)
        return self._hear()

    def close(self):
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()

    def _tell(self, **command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def _hear(self):
        return json.loads(self._process.stdout.readline())


class Routine:
    """The work of the process on one server."""

    def __init__(self, command):
        self.tally = Tally()
        self.address, self.token = command["begin"], command["token"]
        self.guests = deque(command["guests"])
        self.phases = {}
        self.under_way = deque()
        self.enter("quiet")

    def enter(self, name):
        self.current = self.phases.setdefault(name, {"sends": [], "signIns": [], "failed": []})

    async def start(self):
        self.socket = await FloodSocket.sign_in(self, self.tally, self.token)
        self.socket.on_text = self._hear
        self.tasks = [asyncio.ensure_future(self._send()), asyncio.ensure_future(self._sign_in())]

    async def finish(self):
        """Ends the work; gives what was measured."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.socket.answers(PATIENCE)
        for phase, _ in self.under_way:
            phase["failed"].append("a send was not answered")
        self.socket.cut()
        return self.phases

    async def _send(self):
        async for number, instant in every(1 / SENDS_PER_SECOND):
            self.under_way.append((self.current, instant))
            self.socket.request("sendGroupTextMessage", {"groupID": GROUP, "text": f"{number}"}, number)

    def _hear(self, text):
        frame = json.loads(text)
        if "id" in frame:
            phase, instant = self.under_way.popleft()
            phase["sends"].append(time.monotonic() - instant)
            if frame.get("result", {}).get("status") != "Stored":
                phase["failed"].append(f"a send was answered {frame}")

    async def _sign_in(self):
        under_way = set()
        try:
            async for _, instant in every(1 / SIGN_INS_PER_SECOND):
                task = asyncio.ensure_future(self._guest(self.current, instant))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
        finally:
            await asyncio.gather(*under_way)

    async def _guest(self, phase, instant):
        socket = await FloodSocket.sign_in(self, self.tally, self.guests.popleft())
        if socket.is_open and self.guests:
            phase["signIns"].append(time.monotonic() - instant)
        else:
            phase["failed"].append("a sign-in was refused")
        socket.cut()


async def every(interval):
    """Numbers and instants so far apart, whatever is made of them meanwhile."""
    start, number = time.monotonic(), 0
    while True:
        instant = start + number * interval
        await asyncio.sleep(max(0, instant - time.monotonic()))
        yield number, instant
        number += 1


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 22)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    routine = None
    while line := await reader.readline():
        command = json.loads(line)
        if "begin" in command:
            routine = Routine(command)
            await routine.start()
            print(json.dumps("ready"), flush=True)
        elif "phase" in command:
            routine.enter(command["phase"])
        else:
            print(json.dumps(await routine.finish()), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
