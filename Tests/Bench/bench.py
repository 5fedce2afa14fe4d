"""Measures the targets of Benchmarks.md in one run; Scripts/bench starts it."""
from __future__ import annotations

import argparse
import datetime
import fcntl
import fnmatch
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO

import corpus
import machine
import report
from load import Measurement, measure
from peers import UWebSockets
from processes import Failure, raise_descriptor_limit
from servers import Setup
from works import PEERS, WORKS, Work

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build-release"
CACHE = ROOT / ".build-bench"


def parse(arguments: list[str]) -> argparse.Namespace:
    names = ", ".join(work.name for work in WORKS)
    parser = argparse.ArgumentParser(
        prog="Scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures Throng against raw-server (and nginx+nchan, ejabberd) and prints a Markdown table.",
        epilog=f"works: {names}\nTHRONG_BINARY, RAW_SERVER_BINARY and WEBHOOK_RECEIVER_BINARY name built programs and skip the build.\n"
               "Exit: 0 everything was measured (targets met or not), 1 something could not be.")
    parser.add_argument("--rounds", type=int, default=3, help="each figure is the median of so many (3)")
    parser.add_argument("--seconds", type=float, default=4, help="measured seconds of each run (4)")
    parser.add_argument("--only", metavar="NAME,…", help="only these works; * stands for any characters")
    parser.add_argument("--skip-peers", action="store_true", help="leave out nginx+nchan and ejabberd")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="write the Markdown there, too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every single figure there")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds is at least 1 and --seconds above 0")
    known = {work.name: work for work in WORKS}
    chosen = options.only.split(",") if options.only else list(known)
    for pattern in chosen:
        if not fnmatch.filter(known, pattern):
            parser.error(f"there is no work {pattern!r}; there are {names}")
    options.works = [known[name] for name in known if any(fnmatch.fnmatch(name, pattern) for pattern in chosen)]
    return options


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def built(variable: str, product: str) -> pathlib.Path:
    """The release build of a product, unless the environment names one."""
    if variable in os.environ:
        return pathlib.Path(os.environ[variable]).resolve(strict=True)
    build = ["swift", "build", "-c", "release", "--scratch-path", str(SCRATCH)]
    subprocess.run([ROOT / "Scripts/install-packages"], check=True, cwd=ROOT, stdout=sys.stderr)
    subprocess.run([*build, "--product", product], check=True, cwd=ROOT, stdout=sys.stderr)
    directory = subprocess.run([*build, "--show-bin-path"], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    return pathlib.Path(directory.strip()) / product


def prepare_peers() -> tuple[dict[str, str], set[str]]:
    """The version of each peer or the reason why it is not measured, and the labels of the usable ones."""
    described, usable = {}, set()
    for peer in PEERS:
        try:
            described[peer.label] = peer.prepare(CACHE / "peers")
            usable.add(peer.label)
        except Failure as failure:
            described[peer.label] = f"{peer.label} (not measured: {failure})"
        progress(f"peer: {described[peer.label]}")
    return described, usable


def prepare_compression(works: list[Work], with_peers: bool, results: report.Results) -> tuple[pathlib.Path | None, pathlib.Path | None]:
    """The corpus's texts and a Python with uWebSockets, as far as works need them and they can be had."""
    texts = uwebsockets = None
    if any(run.has_texts for work in works for run in work.runs.values()):
        try:
            texts = corpus.write_texts(CACHE)
            uwebsockets = corpus.install(CACHE, corpus.SOCKETIFY) if with_peers else None
        except Failure as failure:
            results.failures.append(str(failure))
    return texts, uwebsockets


def take_cache() -> IO[str]:
    """Locks the directory beside the build: two measurements at once would both be worthless."""
    CACHE.mkdir(exist_ok=True)
    lock = open(CACHE / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Failure("another measurement is running") from None
    for left in CACHE.glob("run-*"):  # of a measurement that was killed
        shutil.rmtree(left, ignore_errors=True)
    return lock


def usable_works(works: list[Work], descriptors: int, results: report.Results) -> list[Work]:
    """The works whose connections this process may open."""
    for work in works:
        if work.connections + 100 > descriptors:
            results.failures.append(f"{work.name}: {work.connections:,} connections, but `ulimit -Hn` is {descriptors:,}")
    return [work for work in works if work.connections + 100 <= descriptors]


def one_round(number: int, works: list[Work], setup: Setup, seconds: float, peers: set[str], results: report.Results) -> None:
    """Measures each work on all its systems in turn; the order alternates, so that a drift cancels out."""
    for work in works:
        beside = {run.system.label for run in work.compressed if setup.uwebsockets or not isinstance(run.system, UWebSockets)}
        runs = [(key, run) for key, run in work.runs.items() if key in {"throng", "baseline"} | peers | beside]
        for key, run in runs if number % 2 else reversed(runs):
            try:
                measurement = measure(run, setup, seconds * work.stretch)
                line = summary(work, key, measurement)
                results.add(work.name, key, number, measurement)
            except Failure as failure:
                line = f"FAILED: {failure}"
                results.failures.append(f"round {number}, {work.name}, {run.system.label}: {failure}")
            progress(f"  {number}  {work.name:18} {run.system.label:22} {line}")


def summary(work: Work, key: str, measurement: Measurement) -> str:
    """The figures of one run in one line."""
    checks = [check for check in work.checks if key == "throng" or not check.is_throngs_own]
    shown = [f"{check.measure} {measurement.value(check.path) * check.scale:.2f} {check.unit}" for check in checks]
    deliveries = measurement.figures.get("deliveriesPerSecond")
    if deliveries:
        shown.append(f"{deliveries:,.0f} deliveries/s")
    shown += [f"{name} {count:,}" for name, count in measurement.faults.items()]
    return ", ".join([*shown, f"others {measurement.others:.2f} s"])


def header(options: argparse.Namespace, arguments: list[str], setup: Setup, elapsed: float) -> str:
    pinned = "not pinned: there is one core only"
    if setup.generator_core is not None:
        pinned = f"server on core {setup.server_core}, generator on core {setup.generator_core}"
    command = shlex.join(["Scripts/bench", *arguments])
    return (f"{datetime.date.today().isoformat()}, {machine.description()}; data on {machine.file_system(CACHE)}; "
            f"commit {machine.commit(ROOT)}; `{command}` ({elapsed / 60:.0f} min).\n\n"
            f"Median (min–max) of {options.rounds} rounds of {options.seconds:g} s a run; {pinned} (stored sends and webhooks: both on both). "
            "8 publishers a room and text of 250 bytes where nothing else is said; CPU is user and system time of the server's "
            "process, by the deliveries it made, publishers included; a ratio is to the baseline in the same round.")


def document(options: argparse.Namespace, head: str, results: report.Results, peers: dict[str, str]) -> str:
    configurations = {peer.label: peer.configuration for peer in PEERS}
    parts = [head, report.table(report.rows(results, options.works)), report.noise(results, options.works),
             report.compression_table(results, options.works),
             report.peer_table(results, options.works, peers, configurations)]
    if results.failures:
        parts.append("Not measured:\n\n" + "\n".join(f"- {failure}" for failure in results.failures))
    return "\n\n".join(part for part in parts if part) + "\n"


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    # SIGTERM takes the way of Ctrl-C, through every `finally` that ends a server.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    with take_cache():
        return measure_all(options, arguments)


def measure_all(options: argparse.Namespace, arguments: list[str]) -> int:
    throng, raw_server = built("THRONG_BINARY", "throng"), built("RAW_SERVER_BINARY", "raw-server")
    receiver = built("WEBHOOK_RECEIVER_BINARY", "webhook-receiver")
    results = report.Results()
    works = usable_works(options.works, raise_descriptor_limit(), results)
    peers, usable = ({}, set()) if options.skip_peers else prepare_peers()
    texts, uwebsockets = prepare_compression(works, not options.skip_peers, results)
    load = os.getloadavg()[0]
    if load > 0.5:
        progress(f"the machine is not idle (load average {load:.1f}): the figures will be worse than they are")

    started = time.monotonic()
    # Beside the build, not in /tmp: that may be memory, where an fsync costs nothing.
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="run-", ignore_cleanup_errors=True) as directory:
        server_core, generator_core = machine.cores()
        setup = Setup(
            throng, raw_server, receiver, CACHE / "peers", texts, uwebsockets, pathlib.Path(directory), server_core, generator_core)
        for number in range(1, options.rounds + 1):
            progress(f"round {number} of {options.rounds}")
            one_round(number, works, setup, options.seconds, usable, results)
    text = document(options, header(options, arguments, setup, time.monotonic() - started), results, peers)
    print(text, end="")
    if options.output:
        options.output.write_text(text)
    if options.json:
        options.json.write_text(json.dumps({"document": text, "runs": results.as_json(), "failures": results.failures}, indent=1))
    return 1 if results.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("bench: interrupted")
    except (Failure, subprocess.CalledProcessError, FileNotFoundError) as error:
        sys.exit(f"bench: {error}")
