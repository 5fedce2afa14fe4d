"""Child processes that never outlive the measurement."""
from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import queue
import resource
import signal
import subprocess
import threading
import time
from typing import Callable, Iterable

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Failure(Exception):
    """A run that could not be measured; the text says why."""


def raise_descriptor_limit() -> int:
    """Every connection is a descriptor on either side: takes all that the hard limit gives and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 20 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _preparation(core: int | None) -> Callable[[], None]:
    def prepare() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # so that even kill -9 of this script leaves nothing behind
        if core is not None:
            os.sched_setaffinity(0, {core})

    return prepare


def _environment(additional: dict[str, str]) -> dict[str, str]:
    """Without the reader's own configuration of Throng, which would change what is measured."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}, **additional}


class Process:
    """A running child in a process group of its own, the last lines of its output at hand."""

    def __init__(self, command: Iterable[str], core: int | None = None, environment: dict[str, str] | None = None):
        self.command = [str(word) for word in command]
        self.last_lines: collections.deque[str] = collections.deque(maxlen=20)
        self._lines: queue.Queue[str | None] | None = queue.Queue()
        self._child = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True, preexec_fn=_preparation(core), env=_environment(environment or {}))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def running(self) -> bool:
        return self._child.poll() is None

    def _read(self) -> None:
        for line in self._child.stdout:
            self.last_lines.append(line.rstrip())
            lines = self._lines
            if lines is not None:
                lines.put(line)
        if self._lines is not None:
            self._lines.put(None)

    def wait_for_line(self, part: str, seconds: float = 20) -> str:
        """The first line of output with `part` in it; later output is no longer kept for this."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure(f"{self.command[0]} did not say {part!r} within {seconds} s: {self.tail()}") from None
            if line is None:
                raise Failure(f"{self.command[0]} ended: {self.tail()}")
            if part in line:
                self._lines = None
                return line

    def tail(self) -> str:
        return " | ".join(list(self.last_lines)[-3:]) or "no output"

    def end(self) -> None:
        """Asks it to end and, when it has not after some seconds, ends its whole group."""
        if self.running:
            self._child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(timeout=5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._reader.join(timeout=5)


def run(command: Iterable[str], core: int | None, seconds: float) -> tuple[int, str, str]:
    """Runs a command to its end and returns its status and what it wrote to standard output and error."""
    words = [str(word) for word in command]
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True, preexec_fn=_preparation(core), env=_environment({}))
    try:
        output, errors = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failure(f"{words[0]} {words[1]} took more than {seconds:.0f} s") from None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return child.returncode, output, errors
