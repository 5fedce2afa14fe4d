"""Measures a backend that calls POST /rpc at a given rate on a few connections; Scripts/bench-calls starts it."""
from __future__ import annotations

import argparse
import base64
import contextlib
import gc
import hashlib
import hmac
import http.client
import json
import pathlib
import select
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Iterator

import machine
from bench import ROOT, built
from processes import Failure, Process
from servers import RATE_LIMITS_OFF

SECRET = "the secret of a server that is measured"
GROUPS = 64
# The first calls are not counted: connections are opened, groups are read.
WARM_UP = 1.0
# Calls that wait for a free connection: the server does not keep up.
MOST_LATE = 10_000


def token() -> str:
    """An application administrator's, for a day."""
    def encoded(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    payload = {"sub": "backend", "adm": True, "exp": int(time.time()) + 86_400}
    signed = encoded(b'{"alg":"HS256"}') + b"." + encoded(json.dumps(payload).encode())
    return (signed + b"." + encoded(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest())).decode()


def head(credential: str, length: int, keeps: bool) -> bytes:
    """The lines before the body of a call."""
    connection = "" if keeps else "Connection: close\r\n"
    return (f"POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {credential}\r\n"
            f"Content-Type: application/json\r\n{connection}Content-Length: {length}\r\n\r\n").encode()


def body(method: str, number: int) -> bytes:
    params: dict[str, object] = {}
    if method == "sendGroupTextMessage":
        params = {"groupID": f"g{number % GROUPS}", "text": f"call {number}", "asUser": "olga"}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


class Answer:
    """Takes the bytes of one answer. `is_whole` when all have come; `keeps` says whether the connection goes on."""

    def __init__(self) -> None:
        self._bytes = b""
        self._end = 0
        self.keeps = True

    def add(self, part: bytes) -> bool:
        self._bytes += part
        if not self._end:
            index = self._bytes.find(b"\r\n\r\n")
            if index < 0:
                return False
            lines = self._bytes[:index].lower()
            if not lines.startswith(b"http/1.1 200"):
                raise Failure(f"a call was answered with {self._bytes[:200]!r}")
            self.keeps = b"\r\nconnection: close" not in lines
            length = lines.split(b"\r\ncontent-length:", 1)[1].split(b"\r\n", 1)[0]
            self._end = index + 4 + int(length)
        return len(self._bytes) >= self._end

    def check(self, number: int) -> None:
        if b'"error"' in self._bytes or b'"id":%d,' % number not in self._bytes.replace(b"}", b","):
            raise Failure(f"call {number} was answered with {self._bytes[:300]!r}")


@dataclass
class Figures:
    """What a run has measured. Latencies count from the moment at which a call was due."""

    seconds: float = 0
    latencies: list[float] = field(default_factory=list)
    # Opened during the measured time.
    connections: int = 0
    cpu: float = 0
    others: float = 0

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000

    def as_json(self) -> dict[str, float]:
        return {"callsPerSecond": self.rate, "p50Ms": self.percentile(0.5), "p99Ms": self.percentile(0.99),
                "p99.9Ms": self.percentile(0.999), "maxMs": max(self.latencies) * 1000, "connections": self.connections,
                "serverCPUMicrosecondsPerCall": self.cpu / len(self.latencies) * 1e6, "othersCPUSeconds": self.others}


class Line:
    """One connection of the backend: it has one call at a time."""

    def __init__(self, address: tuple[str, int]):
        self.address = address
        self.socket: socket.socket | None = None
        self.answer = Answer()
        self.number = 0
        self.due = 0.0

    def call(self, poller: select.epoll, request: bytes, number: int, due: float) -> bool:
        """- Returns: whether a connection was opened for it."""
        opens = self.socket is None
        if self.socket is None:
            self.socket = socket.create_connection(self.address, timeout=10)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            poller.register(self.socket.fileno(), select.EPOLLIN)
        self.answer, self.number, self.due = Answer(), number, due
        self.socket.sendall(request)
        return opens

    def receive(self, poller: select.epoll) -> bool:
        """- Returns: whether its answer is whole."""
        part = self.socket.recv(65536)
        if not part:
            raise Failure(f"the connection of call {self.number} ended before its answer")
        if not self.answer.add(part):
            return False
        self.answer.check(self.number)
        if not self.answer.keeps:
            self.end(poller)
        return True

    def end(self, poller: select.epoll) -> None:
        if self.socket:
            poller.unregister(self.socket.fileno())
            self.socket.close()
            self.socket = None


def run(address: tuple[str, int], pid: int, method: str, connections: int, rate: float, seconds: float, keeps: bool) -> Figures:
    """Calls at this rate, first for the warm-up and then for the measured time."""
    poller, lines, credential = select.epoll(), [Line(address) for _ in range(connections)], token()
    free, busy, figures = list(lines), {}, Figures(seconds)
    gc.disable()
    start = time.monotonic()
    first, last = int(rate * WARM_UP), int(rate * (WARM_UP + seconds))
    number, cpu, others = 0, None, None
    try:
        while number < last or busy:
            now = time.monotonic()
            while free and number < last and start + number / rate <= now:
                if number == first:
                    cpu, others = machine.process_seconds(pid), machine.Disturbance(pid)
                text, line = body(method, number), free.pop()
                opened = line.call(poller, head(credential, len(text), keeps) + text, number, start + number / rate)
                figures.connections += opened and number >= first
                busy[line.socket.fileno()] = line
                number += 1
                now = time.monotonic()
            if (now - start) * rate - number > MOST_LATE and number < last:
                raise Failure(f"more than {MOST_LATE:,} calls wait: the server does not keep up")
            pause = start + number / rate - now if free and number < last else 1
            for descriptor, _ in poller.poll(max(0.0, min(pause, 1))):
                line = busy[descriptor]
                if line.receive(poller):
                    del busy[descriptor]
                    free.append(line)
                    if line.number >= first:
                        figures.latencies.append(time.monotonic() - line.due)
        figures.cpu, figures.others = machine.process_seconds(pid) - cpu, others.seconds()
    finally:
        gc.enable()
        for line in lines:
            line.end(poller)
        poller.close()
    return figures


@contextlib.contextmanager
def server(binary: pathlib.Path, directory: pathlib.Path, core: int | None) -> Iterator[tuple[int, tuple[str, int]]]:
    """A server with the groups of the calls: its process and its internal listener."""
    settings = {**RATE_LIMITS_OFF, "auth.secret": SECRET, "log.format": "json", "drain.duration": 0}
    command = [binary, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", directory / "data"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    process = Process(command, core)
    try:
        host, port = json.loads(process.wait_for_line('"listening"'))["internalListen"].rsplit(":", 1)
        calls = http.client.HTTPConnection(host, int(port), timeout=20)
        for number in range(GROUPS):
            params = {"groupType": "Meeting", "groupName": "g", "groupID": f"g{number}", "ownerUserID": "olga"}
            call = {"jsonrpc": "2.0", "id": 1, "method": "createGroup", "params": params}
            calls.request("POST", "/rpc", json.dumps(call), {"Authorization": f"Bearer {token()}"})
            answer = calls.getresponse().read()
            if b'"result"' not in answer:
                raise Failure(f"a group could not be made: {answer[:300]!r}")
        calls.close()
        yield process.pid, (host, int(port))
    finally:
        process.end()


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Scripts/bench-calls", description=__doc__)
    parser.add_argument("--rate", type=float, default=5000, help="calls a second (5000)")
    parser.add_argument("--connections", type=int, default=8, help="connections of the backend (8)")
    parser.add_argument("--seconds", type=float, default=10, help="measured seconds of each run (10)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each method (3)")
    parser.add_argument("--methods", default="ping,sendGroupTextMessage", metavar="NAME,…", help="ping, sendGroupTextMessage (both)")
    parser.add_argument("--new-connections", action="store_true", help="a connection of its own for each call, to compare")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every figure there")
    options = parser.parse_args(arguments)
    options.methods = options.methods.split(",")
    if not set(options.methods) <= {"ping", "sendGroupTextMessage"}:
        parser.error("--methods are ping and sendGroupTextMessage")
    if min(options.rate, options.connections, options.seconds, options.rounds) <= 0:
        parser.error("--rate, --connections, --seconds and --rounds are above 0")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    binary, core = built("THRONG_BINARY", "throng"), machine.cores()[0]
    rows = []
    print(f"{machine.description()}; {machine.commit(ROOT)}; {options.rate:,.0f} calls/s on {options.connections} "
          + ("connections at a time, a new one for each call" if options.new_connections else "connections") + "\n")
    print("| Method | Calls/s | p50 | p99 | p99.9 | Longest | CPU-µs per call | Connections |")
    print("|---|---|---|---|---|---|---|---|")
    for method in options.methods:
        for round_number in range(options.rounds):
            with tempfile.TemporaryDirectory() as directory, server(binary, pathlib.Path(directory), core) as (pid, address):
                try:
                    figures = run(
                        address, pid, method, options.connections, options.rate, options.seconds, not options.new_connections)
                except Failure as failure:
                    print(f"{method}, round {round_number + 1}: {failure}", file=sys.stderr)
                    return 1
            found = figures.as_json()
            rows.append({"method": method, "round": round_number + 1, **found})
            print("| {} | {:,.0f} | {:.2f} ms | {:.2f} ms | {:.2f} ms | {:.1f} ms | {:.0f} | {:,} |".format(
                method, found["callsPerSecond"], found["p50Ms"], found["p99Ms"], found["p99.9Ms"], found["maxMs"],
                found["serverCPUMicrosecondsPerCall"], found["connections"]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
