"""Scripts/bench-cluster starts this."""
import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

from harness.campaigns import numbers, run_campaign
from harness.server import BINARY, REPOSITORY

from .setup import setups
from .works import ALL

sys.path.insert(0, str(REPOSITORY / "Tests/Bench"))
import machine  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench-cluster", description="Measures one node and three behind HAProxy, and prints Markdown.",
        epilog="THRONG_BINARY names a server and skips the build.")
    parser.add_argument("--only", metavar="NAME,…", help=f"only these: {', '.join(ALL)}")
    parser.add_argument("--floor", action="store_true",
                        help="also what NATS and PostgreSQL allow without Throng (Tests/Bench/bus-floor.c)")
    parser.add_argument("--setups", metavar="N,…", help="only these: 0 one node, 1 three on NATS, 2 three on PostgreSQL alone")
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement (8)")
    parser.add_argument("--members", type=numbers, default=[3000], metavar="N,…", help="of the live room (3000)")
    parser.add_argument("--senders", type=numbers, default=[1, 16, 256], metavar="N,…", help="of stored messages (1,16,256)")
    parser.add_argument("--sends", type=int, default=1000, help="of which the latency is told (1000)")
    parser.add_argument("--joiners", type=int, default=900, help="that join a live room at once (900)")
    parser.add_argument("--connections", type=int, default=2000, help="that sign in at once (2000)")
    options = parser.parse_args()
    options.works = options.only.split(",") if options.only else [name for name in ALL if name != "floor"]
    if options.floor and "floor" not in options.works:
        options.works.append("floor")
    for name in options.works:
        if name not in ALL:
            parser.error(f"there is no work {name!r}")
    return options


async def measure(options, directory):
    """Rows by work."""
    rows = {name: [] for name in options.works}
    for setup in setups(directory, options.setups and options.setups.split(",")):
        try:
            await setup.start()
            for name in options.works:
                found = await ALL[name][1](setup, options)
                rows[name] += found
                for row in found:
                    print(name, *row, sep=" | ", file=sys.stderr, flush=True)
        finally:
            await setup.end()
    return rows


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="throng-bench-", dir="/var/tmp", ignore_cleanup_errors=True) as directory:
        # PostgreSQL's account works in it.
        os.chmod(directory, 0o755)
        rows = run_campaign(measure(options, Path(directory)))
    print(f"{datetime.date.today()}, {BINARY.parent.name} build {machine.commit(REPOSITORY)}, {machine.description()}")
    for name, found in rows.items():
        head, work = ALL[name]
        print(f"\n{work.__doc__}\n")
        for row in [head, ["---"] * len(head), *found]:
            print("| " + " | ".join(map(str, row)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
