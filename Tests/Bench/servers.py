"""The systems that are measured: how each is started and how the generator speaks to it."""
from __future__ import annotations

import contextlib
import json
import pathlib
import random
import re
import string
import subprocess
import urllib.request
from dataclasses import dataclass, field
from typing import Callable, Iterator, Protocol

from processes import Failure, Process


@dataclass(frozen=True)
class Setup:
    """The binaries, the directory of the unpacked peers, a fresh directory, the cores."""

    throng: pathlib.Path
    raw_server: pathlib.Path
    webhook_receiver: pathlib.Path
    peers: pathlib.Path
    # None: these works were not chosen, or PyPI's packages are not to be had.
    texts: pathlib.Path | None
    uwebsockets: pathlib.Path | None
    directory: pathlib.Path
    server_core: int | None
    generator_core: int | None


@dataclass(frozen=True)
class Running:
    """A server that is ready: its process, the generator's arguments for it, and figures of its own after the run."""

    pid: int
    arguments: list[str]
    figures: Callable[[], dict] = dict


class System(Protocol):
    """`senders_receive`: a sender gets its own messages, too."""

    label: str
    pinned: bool
    senders_receive: bool

    def start(self, setup: Setup) -> contextlib.AbstractContextManager[Running]: ...


# As Throng's event of a text in the room of a benchmark; every message has another msgID and sender.
EVENT = (
    '{"jsonrpc":"2.0","method":"onRecvNewMessage","params":{"groupID":"bench-1a2b3c-0","opTime":1795401073204,"message":'
    '{"msgID":"19auy12f77dg-exntql-%i","groupID":"bench-1a2b3c-0","sender":"bench-1a2b3c-%d","timestamp":1795401073204,'
    '"type":"Text","text":"%t %l","priority":"Normal","platform":"Unknown"}}}')
# One sender of the generator stands for thousands of users, so the limits of one session are off.
RATE_LIMITS_OFF = {"limits.requestsPerSecond": 1_000_000, "limits.requestBurst": 1_000_000, "limits.signInsPerSecond": 0,
                   "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0, "limits.strangersPerDay": 0}
# Any key: the receiver does not verify.
WEBHOOK_SECRET = "whsec_" + "A" * 32
MESSAGE_LIMIT_OFF = {"limits.avChatRoom.messagesPerSecond": 0}


def certificate(directory: pathlib.Path) -> tuple[str, str]:
    """A fresh self-signed certificate and its key, as PEM files."""
    files = str(directory / "certificate.pem"), str(directory / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
               "-subj", "/CN=localhost", "-out", files[0], "-keyout", files[1]]
    subprocess.run(command, check=True, capture_output=True)
    return files


def word_list(directory: pathlib.Path, count: int) -> str:
    """A file with so many terms of random letters, for moderation.wordsFile."""
    chance, words = random.Random(1), set()
    while len(words) < count:
        words.add("".join(chance.choices(string.ascii_lowercase, k=chance.randint(6, 15))))
    path = directory / "words.txt"
    path.write_text("\n".join(sorted(words)) + "\n")
    return str(path)


def _url(tls: bool, address: str) -> list[str]:
    """The generator's arguments for an address; over TLS it accepts the self-signed certificate."""
    return ["--url", f"wss://{address}", "--insecure"] if tls else ["--url", f"ws://{address}"]


@dataclass(frozen=True)
class Throng:
    """The whole server: sign-in, rights, JSON, the store. `pinned`: one loop, on the server's core.

    `receiver`: what the receiver of all after-events does, `answers` or `hangs`; none by default.
    """

    settings: dict[str, object] = field(default_factory=dict)
    pinned: bool = True
    tls: bool = False
    label: str = "Throng"
    # A reader must have fallen so far behind that it was skipped; otherwise the run failed.
    skips: bool = False
    senders_receive: bool = False
    receiver: str = ""
    # Texts are compared with so many words.
    words: int = 0

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        if not self.receiver:
            with self._serve(setup, {}) as running:
                yield running
            return
        receiver = Process([setup.webhook_receiver, self.receiver])
        try:
            address = receiver.wait_for_line("listening").split()[1]
            with self._serve(setup, {"webhook.url": f"http://{address}/", "webhook.secret": WEBHOOK_SECRET}) as running:
                yield running
        finally:
            receiver.end()

    @contextlib.contextmanager
    def _serve(self, setup: Setup, webhook: dict[str, object]) -> Iterator[Running]:
        data = setup.directory / "data"
        settings = {**RATE_LIMITS_OFF, **MESSAGE_LIMIT_OFF, "log.format": "json", "drain.duration": 0, **webhook, **self.settings}
        if self.pinned:
            settings["loops"] = 1
        if self.tls:
            settings["tls.certificateFile"], settings["tls.keyFile"] = certificate(setup.directory)
        if self.words:
            settings["moderation.wordsFile"] = word_list(setup.directory, self.words)
        command = [setup.throng, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", data]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        process = Process(command, setup.server_core if self.pinned else None)
        try:
            listening = json.loads(process.wait_for_line('"listening"'))
            internal = listening["internalListen"]
            url = _url(self.tls, f"{listening['listen']}/ws")
            yield Running(process.pid, [*url, "--data-dir", str(data)], lambda: self._figures(internal))
            if self.skips and not _metric(internal, "throng_fanout_skipped_total"):
                raise Failure("no reader fell behind: the kernel's buffers took everything")
        finally:
            process.end()

    def _figures(self, internal: str) -> dict:
        """The figures that only the server knows."""
        figures = {}
        if self.receiver:
            figures["webhooks"] = _webhooks(internal, self.receiver)
        if any(key.startswith("history.") for key in self.settings):
            hold = _metric(internal, "throng_store_longest_hold_seconds", task="retention")
            figures["retention"] = {"longestHoldMs": hold * 1000, "removed": _metric(internal, "throng_messages_removed_total")}
        return figures


def _metric(address: str, name: str, **labels: str) -> float:
    """The sum of a metric over its labels, as far as they are given."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", answer.read().decode(), re.MULTILINE)
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    return sum(float(value) for given, value in found if all(label in given for label in wanted))


def _webhooks(address: str, receiver: str) -> dict:
    """How many after-events the receiver has when the senders stop, and how many wait for it."""
    delivered = _metric(address, "throng_webhooks_total", result="delivered")
    pending = _metric(address, "throng_webhooks_pending")
    if (delivered > 0) != (receiver == "answers") or delivered + pending == 0:
        raise Failure(f"{delivered:,.0f} after-events were delivered, {pending:,.0f} wait, though the receiver {receiver}")
    return {"delivered": delivered, "pending": pending, "deliveredShare": delivered / (delivered + pending)}


@dataclass(frozen=True)
class RawServer:
    """The baseline: every message to every connection of a room, nothing else. `mode` is send or batch; `note` ends its label.

    `rooms`: the generator's groups are rooms, and a sender gets a reply in place of its own message.
    """

    mode: str
    note: str = ""
    rooms: bool = False
    tls: bool = False
    # Each message is deflated by itself, once for all.
    deflate: bool = False
    pinned: bool = True

    @property
    def senders_receive(self) -> bool:
        return not self.rooms

    @property
    def label(self) -> str:
        return f"raw-server {self.mode}{', rooms' if self.rooms else ''}{', wss' if self.tls else ''}{', deflate' if self.deflate else ''}{self.note}"

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        options = ["--reply"] if self.rooms else []
        if self.deflate:
            options.append("--deflate")
        if self.tls:
            options += ["--tls", *certificate(setup.directory)]
        process = Process([setup.raw_server, "0", self.mode, *options], setup.server_core)
        try:
            address = process.wait_for_line("listening").split()[1]
            yield Running(process.pid, [*_url(self.tls, f"{address}/{'%g' if self.rooms else ''}"), "--publish", EVENT if self.deflate else "%t%p"])
        finally:
            process.end()
