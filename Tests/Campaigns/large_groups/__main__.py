"""Stored groups of 1,000 to 100,000 members: what requests cost the server, and how long its loop is kept by one.

    Tests/Campaigns/run-package large_groups [--members 1000,10000,100000] [--stores sqlite,postgresql] [--online 19000]

A server alone, with one loop. Half of the members are online, as far as its files go. A bystander asks for a ping every 2 ms:
its longest wait shows the longest turn of the loop. THRONG_BINARY names the server. Prints Markdown.
"""
import argparse
import asyncio
import os
import resource
import sys
import tempfile
from pathlib import Path

from harness.campaigns import numbers, run_campaign
from harness.server import BINARY

from .growth import is_faster, power
from .works import CPU, HEAD, measure


def parse():
    parser = argparse.ArgumentParser(prog="large_groups", description=__doc__.split("\n\n")[0])
    parser.add_argument("--members", type=numbers, default=[1000, 10_000, 100_000], metavar="N,…")
    parser.add_argument("--stores", default="sqlite,postgresql", metavar="NAME,…", help="(sqlite,postgresql)")
    parser.add_argument("--online", type=int, default=19_000, help="the most members who are (19000)")
    parser.add_argument("--repeats", type=int, default=20, help="of each request (20)")
    options = parser.parse_args()
    options.stores = options.stores.split(",")
    for name in options.stores:
        if name not in ("sqlite", "postgresql"):
            parser.error(f"there is no store {name!r}")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if options.online + 500 > most:
        parser.error(f"a process may open {most} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return options


def growth(members, figures):
    """The power of the members by which the CPU of a request grows."""
    return power(members, [float(cells[CPU]) for cells in figures])


def table(members, found):
    """Rows with the figures of all sizes in a cell."""
    head = [*HEAD, "CPU grows by the power of"]
    rows = [head, ["---"] * len(head)]
    for name, figures in found.items():
        grows = growth(members, figures)
        cells = [" / ".join(cells) for cells in zip(*figures)]
        rows.append([name, *cells, "–" if grows is None else f"{grows:.2f}"])
    return rows


async def run(options, scratch):
    for store in options.stores:
        found = {}
        for members in options.members:
            directory = scratch / f"{store}{members}"
            directory.mkdir()
            for name, figures in (await measure(directory, store, members, options)).items():
                found.setdefault(name, []).append(figures)
        print(f"\n{store}: {', '.join(f'{count:,}' for count in options.members)} members\n")
        for row in table(options.members, found):
            print("| " + " | ".join(row) + " |", flush=True)
        faster = [name for name, figures in found.items() if is_faster(growth(options.members, figures))]
        print(f"\nFaster than the members grows: {', '.join(faster) or 'nothing'}.", flush=True)


def main():
    options = parse()
    print(BINARY, flush=True)
    with tempfile.TemporaryDirectory(prefix="throng-large-", dir="/var/tmp", ignore_cleanup_errors=True) as scratch:
        # PostgreSQL's account works in it.
        os.chmod(scratch, 0o755)
        run_campaign(run(options, Path(scratch)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit("large_groups: interrupted")
