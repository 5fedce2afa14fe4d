"""Scripts/chaos starts this."""
import argparse
import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from harness.server import BINARY

from . import faults
from .run import Run, table


def parse():
    names = [kind.__name__ for kind in faults.ALL]
    parser = argparse.ArgumentParser(
        prog="Scripts/chaos", description="Three nodes under load, one fault each round, and what must hold is checked.",
        epilog="Exit: 0 all promises were kept, 1 one was violated; then the logs stay. "
        "THRONG_BINARY names a server and skips the build.")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how many (30)")
    parser.add_argument("--seed", type=int, help="repeats the faults of a run (by chance)")
    parser.add_argument("--only", metavar="NAME,…", help=f"only these faults: {', '.join(names)}")
    parser.add_argument("--bus", choices=["nats", "postgresql"], default="nats", help="what carries between nodes (nats)")
    parser.add_argument(
        "--count-closes", action="store_true", help="count sessions that were closed without a reason, and go on")
    parser.add_argument("--keep", action="store_true", help="keep the logs and the data in any case")
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else names
    for name in options.only:
        if name not in names:
            parser.error(f"there is no fault {name!r}")
    possible = faults.possible(faults.ALL, has_nats=options.bus == "nats")
    options.kinds = [kind for kind in possible if kind.__name__ in options.only]
    if not options.kinds:
        parser.error("without NATS there is none of these faults")
    return options


async def rounds_of(options, directory, seed):
    """The rounds that were done; the last one may have violations."""
    run, rounds = Run(directory, seed, options.bus, options.count_closes), []
    task = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await run.start()
        for number, kind in enumerate(run.plan(options.rounds, options.kinds), 1):
            done = await run.round(kind)
            rounds.append(done)
            times = "".join(f", {word} {value:+.2f} s" for word, value in (("claimed", done.claimed), ("served", done.served))
                            if value is not None)
            words = f" ({done.words})" if done.words else ""
            print(f"{number:3} {done.fault}{words}{times}; {done.tally.acks} messages in {done.seconds:.1f} s", flush=True)
            if done.violations:
                break
    finally:
        for node in run.cluster.nodes:
            if node.server:
                (directory / f"{node.name}.log").write_text(node.server.log)
        await run.end()
    return rounds


def main():
    options = parse()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1_000_000)
    directory = Path(tempfile.mkdtemp(prefix="throng-chaos-"))
    # PostgreSQL's account works in it.
    os.chmod(directory, 0o755)
    print(f"seed {seed}, {BINARY}", flush=True)
    is_broken = True
    try:
        rounds = asyncio.run(rounds_of(options, directory, seed))
        is_broken = not rounds or bool(rounds[-1].violations)
        print(f"\n{table(rounds)}\n\nseed {seed}")
        for violation in rounds[-1].violations if rounds else []:
            print(f"VIOLATED {violation}")
    except asyncio.CancelledError:
        print("stopped", file=sys.stderr)
    finally:
        if is_broken or options.keep:
            print(f"logs: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
