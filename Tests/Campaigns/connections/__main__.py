"""Clusters and servers with as many connections as a process may have.

    Tests/Campaigns/run-package connections [--only idle,room,storm,close] [--connections 19000] [--nodes 1,3]

The generators are processes of their own, one for each node, and connect from several addresses straight to it. THRONG_BINARY
names the server. Prints Markdown for Cluster.md.
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

from .works import ALL

# Files of a node besides its connections: the database's, the bus', its own.
SPARE = 500


def parse():
    parser = argparse.ArgumentParser(prog="connections", description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", metavar="NAME,…", help=f"only these: {', '.join(ALL)}")
    parser.add_argument("--connections", type=int, default=19_000, help="at each node (19000)")
    parser.add_argument("--nodes", type=numbers, default=[1, 3], metavar="N,…", help="how many there are (1,3)")
    parser.add_argument("--sources", type=int, default=4, help="addresses of each generator (4)")
    parser.add_argument("--parallel", type=int, default=100, help="connections that are coming, of each generator (100)")
    parser.add_argument("--seconds", type=float, default=10, help="of messages, and of rest (10)")
    parser.add_argument("--rate", type=float, default=10, help="messages a second to the room (10)")
    parser.add_argument("--limit", type=int, default=2000, help="limits.signInsPerSecond of each node in the storm (2000)")
    parser.add_argument("--loops", type=int, default=0, help="of each node; 0: as many as there are cores (0)")
    parser.add_argument("--sizes", type=numbers, default=[2500, 5000, 10_000, 19_000], metavar="N,…", help="of `close`")
    parser.add_argument("--churn", type=int, default=250, help="connections that come and go (250)")
    parser.add_argument("--repeats", type=int, default=8, help="how often they do (8)")
    parser.add_argument("--perf", action="store_true", help="name the functions that `close` spends most in")
    options = parser.parse_args()
    options.works = options.only.split(",") if options.only else list(ALL)
    for name in options.works:
        if name not in ALL:
            parser.error(f"there is no work {name!r}")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max([options.connections] + [size + options.churn for size in options.sizes if "close" in options.works])
    if wanted + SPARE > most:
        parser.error(f"a process may open {most} files here, and {wanted} connections need {wanted + SPARE}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return options


async def measure(options, directory):
    for name in options.works:
        head, work = ALL[name]
        place = directory / name
        place.mkdir()
        rows = await work(place, options)
        print(f"\n{work.__doc__}\n")
        for row in [head, ["---"] * len(head), *rows]:
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main():
    options = parse()
    print(f"{BINARY}, {options.connections:,} connections at each node", flush=True)
    with tempfile.TemporaryDirectory(prefix="throng-connections-", dir="/var/tmp", ignore_cleanup_errors=True) as directory:
        # PostgreSQL's account works in it.
        os.chmod(directory, 0o755)
        run_campaign(measure(options, Path(directory)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit("connections: interrupted")
