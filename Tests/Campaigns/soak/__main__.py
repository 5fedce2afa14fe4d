"""Scripts/soak starts this."""
import argparse
import asyncio
import random
import signal
import sys
import time
from pathlib import Path

from harness.server import BINARY

from . import report
from .places import PLACES
from .run import Soak
from .state import State

STANDARD = Path(__file__).resolve().parents[3] / ".build-soak"


def positive(text):
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError("more than 0")
    return number


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/soak", description="Hours of mixed load with faults; what was promised is checked, and that nothing grows.",
        epilog="Exit: 0 all promises were kept and nothing grows, 1 one was violated, or something grows. Hours add up in "
        "--state. THRONG_BINARY names a server and skips the build.")
    parser.add_argument("--hours", type=positive, metavar="N", help="how long, on each place (2)", default=2)
    names = ", ".join(PLACES)
    parser.add_argument("--on", metavar="PLACE,…", default=",".join(PLACES), help=f"which of {names} (all, in turn)")
    parser.add_argument("--state", type=Path, default=STANDARD, metavar="DIR", help="what was seen, and the data (.build-soak)")
    parser.add_argument("--quiet", type=positive, default=60, metavar="S", help="seconds without a fault in each round (60)")
    parser.add_argument("--warm-up", type=float, default=1, metavar="H",
                        help="hours of a process before its memory must be flat, at most the half of its life (1)")
    parser.add_argument("--seed", type=int, help="repeats the faults of a run (by chance)")
    parser.add_argument("--report", action="store_true", help="only writes the report of what was seen")
    options = parser.parse_args()
    options.on = options.on.split(",")
    for name in options.on:
        if name not in PLACES:
            parser.error(f"there is no place {name!r}")
    return options


async def soak(options, place, state, seed):
    """The violations."""
    run, task = Soak(place, state, seed, options.quiet), asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await run.start()
        return await run.run(options.hours, lambda text: print(text, flush=True))
    finally:
        for node in run.cluster.nodes:
            if node.server:
                (state.directory / f"{node.name}.log").write_text(node.server.log)
        await run.end()


def main():
    options = parse()
    options.state.mkdir(parents=True, exist_ok=True)
    states = {place: State(options.state.resolve() / place) for place in PLACES}
    places = [(PLACES[place].name, state) for place, state in states.items()]
    is_broken = False
    if not options.report:
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1_000_000)
        print(f"seed {seed}, {BINARY}, {time.strftime('%F %T')}", flush=True)
        for place in options.on:
            try:
                found = asyncio.run(soak(options, place, states[place], seed))
            except (asyncio.CancelledError, KeyboardInterrupt):
                print("stopped", file=sys.stderr)
                is_broken = True
                break
            for violation in found:
                print(f"VIOLATED {violation}")
            if found:
                print(f"logs: {states[place].directory}")
            is_broken = is_broken or bool(found)
    report.write(options.state, places, options.warm_up)
    print((options.state / "report.md").read_text())
    print(f"{options.state / 'curves.svg'} has the curves.")
    return 1 if is_broken or any(report.rising(states[place].samples, options.warm_up) for place in options.on) else 0


if __name__ == "__main__":
    sys.exit(main())
