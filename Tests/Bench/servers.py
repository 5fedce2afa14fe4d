"""The systems that are measured: how each is started and how the generator speaks to it."""
from __future__ import annotations

import contextlib
import json
import pathlib
import re
import urllib.request
from dataclasses import dataclass, field
from typing import Iterator, Protocol

from processes import Failure, Process


@dataclass(frozen=True)
class Place:
    """Where a run happens: the binaries, what was unpacked of the peers, a fresh directory, the cores."""

    throng: pathlib.Path
    raw_server: pathlib.Path
    peers: pathlib.Path
    directory: pathlib.Path
    server_core: int | None
    generator_core: int | None


@dataclass(frozen=True)
class Running:
    """A server that answers: the process that does its work, and the generator's arguments for it."""

    pid: int
    arguments: list[str]


class System(Protocol):
    """`senders_receive`: who sends a message is sent it, too."""

    label: str
    pinned: bool
    senders_receive: bool

    def start(self, place: Place) -> contextlib.AbstractContextManager[Running]: ...


# One sender of the generator carries what thousands of users would, so the brakes on one session's requests are off.
BRAKES_OFF = {"limits.requestsPerSecond": 1_000_000, "limits.requestBurst": 1_000_000, "limits.signInsPerSecond": 0}
NO_GATE = {"limits.avChatRoom.messagesPerSecond": 0}


@dataclass(frozen=True)
class Throng:
    """The whole server: sign-in, rights, JSON, the store. Pinned means one loop, on the server's core."""

    settings: dict[str, object] = field(default_factory=dict)
    pinned: bool = True
    label: str = "Throng"
    # Whether a reader must have fallen so far behind that it was skipped; a run without that has not measured it.
    skips: bool = False
    senders_receive: bool = False

    @contextlib.contextmanager
    def start(self, place: Place) -> Iterator[Running]:
        data = place.directory / "data"
        settings = {**BRAKES_OFF, **NO_GATE, "log.format": "json", "drain.duration": 0, **self.settings}
        if self.pinned:
            settings["loops"] = 1
        command = [place.throng, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", data]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        process = Process(command, place.server_core if self.pinned else None)
        try:
            listening = json.loads(process.wait_for_line('"listening"'))
            yield Running(process.pid, ["--url", f"ws://{listening['listen']}/ws", "--data-dir", str(data)])
            if self.skips and not _skipped(listening["internalListen"]):
                raise Failure("no reader fell behind: the kernel's buffers took everything")
        finally:
            process.end()


def _skipped(address: str) -> float:
    """Messages that Throng did not send to a reader that had fallen behind."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        found = re.search(r"^throng_fanout_skipped_total (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found[1]) if found else 0


@dataclass(frozen=True)
class RawServer:
    """The floor: every message to every connection, nothing else. `mode` is send or batch; `what` is a label's addition."""

    mode: str
    what: str = ""
    pinned: bool = True
    senders_receive: bool = True

    @property
    def label(self) -> str:
        return f"raw-server {self.mode}{self.what}"

    @contextlib.contextmanager
    def start(self, place: Place) -> Iterator[Running]:
        process = Process([place.raw_server, "0", self.mode], place.server_core)
        try:
            address = process.wait_for_line("listening").split()[1]
            yield Running(process.pid, ["--url", f"ws://{address}/", "--publish", "%t%p"])
        finally:
            process.end()
