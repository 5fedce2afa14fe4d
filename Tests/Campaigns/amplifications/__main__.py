"""Measures the amplifications in their full sizes and prints a Markdown table;
Scripts/amplifications starts it."""
import argparse
import asyncio
import datetime
import json
import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path

from harness.amplification import measure
from harness.bystander import Bystander
from harness.server import BINARY, REPOSITORY

from . import TABLE, report

sys.path.insert(0, str(REPOSITORY / "Tests/Bench"))
import machine  # noqa: E402

SCRATCH = REPOSITORY / ".build-amplifications"


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/amplifications", description="Measures what one user can make a server do, and prints a Markdown table.",
        epilog="Exit: 0 everything was measured, 1 something could not be. THRONG_BINARY names a server and skips the build.")
    parser.add_argument("--only", metavar="NAME,…", help="only these amplifications")
    parser.add_argument("--list", action="store_true", help="name them, and measure nothing")
    before = parser.add_mutually_exclusive_group()
    before.add_argument("--baseline", type=Path, metavar="BINARY", help="measure this server, too, each right before the other")
    before.add_argument("--before", type=Path, metavar="FILE", help="compare with the figures that --json wrote there")
    parser.add_argument("--seconds", type=float, help="of each attack (4, or as the amplification says)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of what --json wrote, and measure nothing")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the figures into the rows of a page that await them, too")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(TABLE)
    for name in names:
        if name not in TABLE:
            parser.error(f"there is no amplification {name!r}; --list names them")
    options.names = names
    return options


async def measured(one, binary, bystander, seconds):
    # Not in /tmp: that may be memory, where a write costs nothing.
    with tempfile.TemporaryDirectory(dir=SCRATCH, prefix="run-", ignore_cleanup_errors=True) as directory:
        found = await measure(
            one, Path(directory) / "data", bystander, full=True, seconds=seconds, quiet=1, after=report.AFTER, binary=binary)
    return found.as_json()


async def measure_all(options):
    """By name: the runs, the baseline's first; and the names of what could not be measured."""
    binaries = [binary for binary in (options.baseline and options.baseline.resolve(), BINARY) if binary]
    runs, failures, bystander = {}, [], Bystander()
    for name in options.names:
        for binary in binaries:
            try:
                run = await measured(TABLE[name], binary, bystander, options.seconds)
            except Exception as error:  # of one run: the others are worth having
                failures.append(f"{name}, {binary}: {error!r}")
                print("".join(traceback.format_exception(error)), file=sys.stderr)
                bystander.close()
                bystander = Bystander()
                continue
            run["binary"] = "baseline" if binary != BINARY else "now"
            runs.setdefault(name, []).append(run)
            print(report.summary(run), file=sys.stderr, flush=True)
            write(options.json, runs)
    bystander.close()
    return runs, failures


def write(path, runs):
    if path:
        listed = [run for found in runs.values() for run in found]
        path.write_text(json.dumps({"machine": machine.description(), "runs": listed}, indent=1))


def read(path):
    """Runs by name, as --json wrote them."""
    found = {}
    for run in json.loads(path.read_text())["runs"]:
        found.setdefault(run["name"], []).append(run)
    return found


def document(runs, before, failures):
    rows = [(name, TABLE[name].request, [*before.get(name, [])[-1:], *runs.get(name, [])]) for name in TABLE if name in runs]
    head = (f"{datetime.date.today().isoformat()}, {machine.description()}; commit {machine.commit(REPOSITORY)}. "
            "Figures are for each request that was accepted, but for answered bytes and CPU, which are for each that was sent. "
            "The bystander sends 20 messages a second and signs in two users a second.")
    parts = [head, report.quiet(rows), report.table(rows), report.notes(rows)]
    if failures:
        parts.append("Not measured:\n\n" + "\n".join(f"- {line}" for line in failures))
    return "\n\n".join(part for part in parts if part)


def fill(path, runs):
    if path:
        path.write_text(report.fill(path.read_text(), {name: found[-1] for name, found in runs.items()}))


def main():
    options = parse()
    if options.list:
        print("\n".join(f"{name:32} {TABLE[name].request}" for name in options.names))
        return 0
    before = read(options.before) if options.before else {}
    if options.table:
        runs = read(options.table)
        print(document(runs, before, []))
        fill(options.page, runs)
        return 0
    SCRATCH.mkdir(exist_ok=True)
    # Ten thousand sessions watch in some of them.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if os.getloadavg()[0] > 0.5:
        print("the machine is not idle: times will be worse than they are", file=sys.stderr)
    runs, failures = asyncio.run(measure_all(options))
    print(document(runs, before, failures))
    fill(options.page, runs)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("amplifications: interrupted")
