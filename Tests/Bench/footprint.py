"""Measures the first command from nothing, target by target, and what the installed server takes: its file, its start, its
memory at rest. Prints Markdown. The build takes as long as it takes; what follows a minute.

    python3 -B Tests/Bench/footprint.py [--skip-build] [--rounds 5] [--rest 20]     THRONG_BINARY=path skips the build

What is installed has the Swift runtime in it: THRONG_BINARY=.build-install/release/throng behind Scripts/install.
"""
from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

import machine
from bench import CACHE, ROOT, progress, take_cache
from processes import Failure, Process

# As Scripts/run has it.
COMMAND = ("swift", "build", "-c", "release", "--product", "throng", "--no-color-diagnostics")
SCRATCH = CACHE / "footprint"
# Seconds between two looks at the compilers; one that ends between two is counted up to the first.
PAUSE = 0.1
MODULE = re.compile(r"\0-module-name\0([^\0]+)")
OBJECT = re.compile(r"/([\w.-]+)\.build/")
# In this line of the table: what ends before it is seen, planning, linking.
OTHERS = "linking, planning, and what is too short to be seen"


def target_of(command: str) -> str | None:
    """The target that a compiler works on, by its arguments with zeros between; None for other programs."""
    program = pathlib.Path(command.partition("\0")[0]).name
    if not program.startswith(("swift-frontend", "clang")):
        return None
    found = MODULE.search(command) or (OBJECT.search(command) if "\0-c\0" in command or "\0-cc1\0" in command else None)
    return found[1] if found else None


@dataclass
class Compilers:
    """CPU seconds by target, of the processes of one session."""

    session: int
    seconds: dict[str, float] = field(default_factory=lambda: collections.defaultdict(float))
    _seen: dict[tuple[int, str], float] = field(default_factory=dict)

    def look(self) -> None:
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) != self.session:
                    continue
                target = target_of((place / "cmdline").read_text(errors="replace"))
            except (OSError, IndexError):
                continue  # it has ended
            if target:
                # Numbers of processes come again, instants of their beginning do not.
                self.count(target, (int(place.name), fields[19]), (int(fields[11]) + int(fields[12])) / machine.TICKS)

    def count(self, target: str, process: tuple[int, str], seconds: float) -> None:
        self.seconds[target] += seconds - self._seen.get(process, 0)
        self._seen[process] = seconds


@dataclass(frozen=True)
class Build:
    seconds: float
    cpu: float
    targets: dict[str, float]
    binary: pathlib.Path


def build() -> Build:
    """From nothing; the dependencies are fetched before."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    scratch = ("--scratch-path", str(SCRATCH))
    subprocess.run(["swift", "package", *scratch, "resolve"], cwd=ROOT, check=True, stdout=sys.stderr)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    child = subprocess.Popen([*COMMAND, *scratch], cwd=ROOT, stdout=sys.stderr, start_new_session=True)
    compilers = Compilers(child.pid)
    while child.poll() is None:
        compilers.look()
        time.sleep(PAUSE)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if child.returncode:
        raise Failure("the build has failed")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    place = subprocess.run([*COMMAND, *scratch, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Build(seconds, cpu, dict(compilers.seconds), pathlib.Path(place.strip()) / "throng")


def build_table(made: Build) -> str:
    """By CPU; targets below a second are one line."""
    lines = [f"`{' '.join(COMMAND)}`: {made.seconds / 60:.1f} min, {made.cpu:.0f} s of CPU.", "",
             "| target | CPU, s | of all |", "|---|---:|---:|"]
    shown = {name: seconds for name, seconds in made.targets.items() if seconds >= 1}
    rest = made.cpu - sum(shown.values())
    for name, seconds in [*sorted(shown.items(), key=lambda one: -one[1]), (OTHERS, rest)]:
        lines.append(f"| {name} | {seconds:.0f} | {seconds / made.cpu:.0%} |")
    return "\n".join(lines)


@dataclass(frozen=True)
class Start:
    ready: float
    resident: int


def start(binary: pathlib.Path, data: pathlib.Path, rest: float) -> Start:
    """Seconds until the server is ready, and its memory when it has rested."""
    began = time.monotonic()
    process = Process([
        binary, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", data, "--set", "log.format=json",
        "--set", "drain.duration=0"])
    try:
        address = re.search(r'"internalListen":"([^"]+)"', process.wait_for_line('"listening"'))[1]
        while not is_ready(address):
            time.sleep(0.002)
        ready = time.monotonic() - began
        time.sleep(rest)
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return Start(ready, int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M)[1]) * 1024)
    finally:
        process.end()


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=5) as answer:
            return answer.status == 200
    except urllib.error.HTTPError:
        return False


def spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def start_table(executable: bytes, first: list[Start], later: list[Start]) -> str:
    """Median (min–max); of the first start of a data directory, and of later ones."""
    without = ", without the Swift runtime" if b"libswiftCore.so" in executable else ""
    lines = ["| measure | goal | figure |", "|---|---|---|",
             f"| the executable, stripped{without} | ≤ 25 MB | {len(executable) / 1e6:.1f} MB |"]
    for what, starts in (("the first start", first), ("a later start", later)):
        lines.append(f"| {what}: ready after | ≤ 0.2 s | {spread([one.ready for one in starts], 3)} s |")
    resident = [one.resident / 1e6 for one in later]
    lines.append(f"| memory at rest (RSS) | ≤ 30 MB | {spread(resident, 1)} MB |")
    return "\n".join(lines)


def starts(binary: pathlib.Path, rounds: int, rest: float) -> str:
    first, later = [], []
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="run-") as directory:
        stripped = pathlib.Path(directory) / "throng"
        subprocess.run(["strip", "-o", stripped, binary], check=True)
        for number in range(rounds):
            data = pathlib.Path(directory) / f"data{number}"
            first.append(start(stripped, data, 0))
            later.append(start(stripped, data, rest))
        return start_table(stripped.read_bytes(), first, later)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="footprint.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-build", action="store_true", help="the one of the last time")
    parser.add_argument("--rounds", type=int, default=5, help="starts of each kind (5)")
    parser.add_argument("--rest", type=float, default=20, help="seconds until memory is read (20)")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.rest < 0:
        parser.error("--rounds is at least 1, --rest not below 0")
    print(f"{time.strftime('%F')}, {machine.description()}; commit {machine.commit(ROOT)}.\n")
    with take_cache():
        if "THRONG_BINARY" in os.environ:
            binary = pathlib.Path(os.environ["THRONG_BINARY"]).resolve(strict=True)
        elif options.skip_build:
            binary = (SCRATCH / "release/throng").resolve(strict=True)
        else:
            made = build()
            binary = made.binary
            print(build_table(made) + "\n", flush=True)
        progress("starts")
        print(starts(binary, options.rounds, options.rest))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("footprint: interrupted")
    except (Failure, subprocess.CalledProcessError, FileNotFoundError) as error:
        sys.exit(f"footprint: {error}")
