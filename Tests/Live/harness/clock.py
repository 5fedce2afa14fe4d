"""The time of a server under test (`THRONG_TEST_CLOCK`): a debug build's clocks, alarms and timers go by it."""
import asyncio
import contextlib
import os
import shutil
import socket
import tempfile
import time
from pathlib import Path

# A step of time ends when the server has done all that was due.
PATIENCE = 120


class TestClock:
    """Freezes the time of one server, lets it pass at once, or at its own pace."""

    __test__ = False  # no class of tests

    def __init__(self):
        # A socket's path is at most 107 bytes long, and pytest's directories may be longer.
        self.directory = Path(tempfile.mkdtemp(prefix="throng-clock-"))
        self.path = self.directory / "socket"
        # Unix seconds on the server's wall clock while it is frozen, to the millisecond, as the server has it; None = it
        # runs, as far ahead of this machine's.
        self.frozen = round(time.time(), 3)
        self._lead = 0

    def prepare(self):
        """Gives the variables of a process that starts; its time stands still from the first moment."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.frozen = round(self.now, 3)
        return {"THRONG_TEST_CLOCK": f"unix:{self.path}#{round(self.frozen * 1000)}"}

    @property
    def now(self):
        """Unix seconds on the server's wall clock."""
        return time.time() + self._lead if self.frozen is None else self.frozen

    def freeze(self):
        self.frozen = self._command("freeze")

    def run(self, may_end=False):
        """Lets time pass by itself; a server that may end meanwhile may have ended before."""
        try:
            self._lead = self._command("run") - time.time()
        except (ConnectionError, FileNotFoundError):
            if not may_end:
                raise
            self._lead = self.now - time.time()
        self.frozen = None

    async def advance(self, seconds, may_end=False):
        """Lets time pass at once; returns when everything was performed that became due, or the server has ended if
        it may."""
        end = self.frozen + seconds
        try:
            self.frozen = await asyncio.to_thread(self._command, f"advance {round(seconds * 1000)}")
        except ConnectionError:
            if not may_end:
                raise
            self.frozen = end

    def _command(self, line):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(self.path))
            connection.sendall(line.encode() + b"\n")
            with connection.makefile() as answers:
                answer = answers.readline()
        if not answer:
            raise ConnectionResetError(f"{line}: the server has ended")
        word, _, rest = answer.strip().partition(" ")
        assert word == "ok", f"{line}: {word} {rest}"
        return int(rest) / 1000

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)
