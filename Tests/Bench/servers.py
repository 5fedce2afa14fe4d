"""The systems that are measured: how each is started and how the generator speaks to it."""
from __future__ import annotations

import contextlib
import json
import pathlib
import re
import subprocess
import urllib.request
from dataclasses import dataclass, field
from typing import Iterator, Protocol

from processes import Failure, Process


@dataclass(frozen=True)
class Setup:
    """The binaries, the directory of the unpacked peers, a fresh directory, the cores."""

    throng: pathlib.Path
    raw_server: pathlib.Path
    peers: pathlib.Path
    directory: pathlib.Path
    server_core: int | None
    generator_core: int | None


@dataclass(frozen=True)
class Running:
    """A server that is ready: its process, and the generator's arguments for it."""

    pid: int
    arguments: list[str]


class System(Protocol):
    """`senders_receive`: a sender gets its own messages, too."""

    label: str
    pinned: bool
    senders_receive: bool

    def start(self, setup: Setup) -> contextlib.AbstractContextManager[Running]: ...


# One sender of the generator stands for thousands of users, so the limits of one session are off.
RATE_LIMITS_OFF = {"limits.requestsPerSecond": 1_000_000, "limits.requestBurst": 1_000_000, "limits.signInsPerSecond": 0}
MESSAGE_LIMIT_OFF = {"limits.avChatRoom.messagesPerSecond": 0}


def certificate(directory: pathlib.Path) -> tuple[str, str]:
    """A fresh self-signed certificate and its key, as PEM files."""
    files = str(directory / "certificate.pem"), str(directory / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
               "-subj", "/CN=localhost", "-out", files[0], "-keyout", files[1]]
    subprocess.run(command, check=True, capture_output=True)
    return files


def _url(tls: bool, address: str) -> list[str]:
    """The generator's arguments for an address; over TLS it accepts the self-signed certificate."""
    return ["--url", f"wss://{address}", "--insecure"] if tls else ["--url", f"ws://{address}"]


@dataclass(frozen=True)
class Throng:
    """The whole server: sign-in, rights, JSON, the store. `pinned`: one loop, on the server's core."""

    settings: dict[str, object] = field(default_factory=dict)
    pinned: bool = True
    tls: bool = False
    label: str = "Throng"
    # A reader must have fallen so far behind that it was skipped; otherwise the run failed.
    skips: bool = False
    senders_receive: bool = False

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        data = setup.directory / "data"
        settings = {**RATE_LIMITS_OFF, **MESSAGE_LIMIT_OFF, "log.format": "json", "drain.duration": 0, **self.settings}
        if self.pinned:
            settings["loops"] = 1
        if self.tls:
            settings["tls.certificateFile"], settings["tls.keyFile"] = certificate(setup.directory)
        command = [setup.throng, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", data]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        process = Process(command, setup.server_core if self.pinned else None)
        try:
            listening = json.loads(process.wait_for_line('"listening"'))
            yield Running(process.pid, [*_url(self.tls, f"{listening['listen']}/ws"), "--data-dir", str(data)])
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
    """The baseline: every message to every connection of a room, nothing else. `mode` is send or batch; `note` ends its label.

    `rooms`: the generator's groups are rooms, and a sender gets a reply in place of its own message.
    """

    mode: str
    note: str = ""
    rooms: bool = False
    tls: bool = False
    pinned: bool = True

    @property
    def senders_receive(self) -> bool:
        return not self.rooms

    @property
    def label(self) -> str:
        return f"raw-server {self.mode}{', rooms' if self.rooms else ''}{', wss' if self.tls else ''}{self.note}"

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        options = ["--reply"] if self.rooms else []
        if self.tls:
            options += ["--tls", *certificate(setup.directory)]
        process = Process([setup.raw_server, "0", self.mode, *options], setup.server_core)
        try:
            address = process.wait_for_line("listening").split()[1]
            yield Running(process.pid, [*_url(self.tls, f"{address}/{'%g' if self.rooms else ''}"), "--publish", "%t%p"])
        finally:
            process.end()
