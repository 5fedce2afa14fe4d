"""Measures a flush to many sockets by send() and by io_uring (flush_calls.c), and prints Markdown. Takes two minutes.

    python3 -B Tests/Bench/flush_calls.py [--sockets 1000,64,10] [--rate 75] [--bytes 560] [--rounds 5] [--seconds 2]
"""
from __future__ import annotations

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Iterable

import machine
from bench import CACHE, ROOT, take_cache
from processes import Failure, run

SOURCE = pathlib.Path(__file__).with_suffix(".c")
BASELINE = "send"
TITLES = {"send": "`send()`", "ring": "io_uring", "quiet": "io_uring, registered sockets, completions of failures alone"}
# Beside the measured time: warm-up, connections, what is still on its way.
PATIENCE = 60


@dataclass(frozen=True)
class Run:
    sockets: int
    way: str
    round: int
    # Microseconds of a send.
    cpu: float
    elapsed: float


def runs(lines: Iterable[str]) -> list[Run]:
    """What flush_calls.c has printed."""
    found = []
    for line in lines:
        sockets, way, number, cpu, elapsed, failed = line.split()
        if failed != "0":
            raise Failure(f"{failed} sends were not whole: {line}")
        found.append(Run(int(sockets), way, int(number), float(cpu), float(elapsed)))
    return found


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def table(found: list[Run]) -> str:
    """Median (min–max) over the rounds; a ratio is to send() in the same round."""
    lines = ["| sockets | way | CPU-µs a send | ÷ `send()` | µs a send | ÷ `send()` |", "|---:|---|---|---|---|---|"]
    base = {(run.sockets, run.round): run for run in found if run.way == BASELINE}
    for sockets, way in dict.fromkeys((run.sockets, run.way) for run in sorted(found, key=order)):
        own = [run for run in found if (run.sockets, run.way) == (sockets, way)]
        cells = [f"{sockets:,}", TITLES[way]]
        for measure in ("cpu", "elapsed"):
            cells.append(spread([getattr(run, measure) for run in own]))
            ratios = [getattr(run, measure) / getattr(base[sockets, run.round], measure) for run in own]
            cells.append("" if way == BASELINE else spread(ratios))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def order(run: Run) -> tuple[int, int]:
    return -run.sockets, list(TITLES).index(run.way)


def build() -> pathlib.Path:
    program = CACHE / "flush_calls"
    if not shutil.which("gcc") or not pathlib.Path("/usr/include/liburing.h").exists():
        raise Failure("gcc and liburing-dev are needed: apt-get install gcc liburing-dev")
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", program, SOURCE, "-luring"], check=True)
    return program


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="flush_calls.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", default="1000,64,10", metavar="COUNT,…", help="recipients of a flush (1000,64,10)")
    parser.add_argument("--rate", type=int, default=75, help="flushes a second (75)")
    parser.add_argument("--bytes", type=int, default=560, help="bytes for each recipient (560)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each way (5)")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each run (2)")
    options = parser.parse_args(arguments)
    options.sockets = [int(count) for count in options.sockets.split(",")]
    if min(options.rate, options.bytes, options.rounds, options.seconds, *options.sockets) <= 0:
        parser.error("all numbers are above 0")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    with take_cache():
        program = build()
        command: list[object] = [
            program, "-n", options.rounds, "-r", options.rate, "-s", options.seconds, "-b", options.bytes]
        for option, core in zip(("-f", "-t"), machine.cores()):
            command += [] if core is None else [option, core]
        measured = len(options.sockets) * len(TITLES) * options.rounds * options.seconds
        status, output, errors = run([*command, *options.sockets], None, measured + PATIENCE)
        if status:
            raise Failure(errors.strip() or f"flush_calls ended with status {status}")
    print(f"{machine.description()}; {machine.commit(ROOT)}; {options.bytes} bytes for each recipient, {options.rate} flushes a "
          f"second, {options.rounds} rounds of {options.seconds:g} s.\n")
    print(table(runs(output.splitlines())))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("flush_calls: interrupted")
    except (Failure, subprocess.CalledProcessError) as error:
        sys.exit(f"flush_calls: {error}")
