"""Scripts/rolling-upgrade starts this."""
import argparse
import asyncio
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from chaos.engines import PATIENCE
from chaos.faults import Fault, Outcome
from chaos.run import Run, table

from harness.server import StartFailed, clean_environment
from harness.waiting import within


class Refused(Exception):
    """A node of one binary does not join those of the other."""


def parse():
    parser = argparse.ArgumentParser(
        prog="Scripts/rolling-upgrade",
        description="Three nodes of an older binary under load; each is drained and replaced by one of the newer binary, and what a "
        "cluster promises is checked after each.",
        epilog="Exit: 0 all promises were kept; 1 one was violated, or the two do not run side by side; then the logs stay.")
    parser.add_argument("old", type=Path, metavar="OLD", help="a binary of throng")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument("--back", action="store_true", help="then goes back to OLD in the same way")
    parser.add_argument("--seed", type=int, help="repeats the choices of a run (by chance)")
    parser.add_argument("--bus", choices=["nats", "postgresql"], default="nats", help="what carries between nodes (nats)")
    parser.add_argument("--keep", action="store_true", help="keep the logs and the data in any case")
    options = parser.parse_args()
    for name in ("old", "new"):
        binary = getattr(options, name).resolve()
        if not os.access(binary, os.X_OK):
            parser.error(f"{binary} is no program")
        setattr(options, name, binary)
    return options


def version(binary):
    done = subprocess.run([binary, "version"], capture_output=True, text=True, env=clean_environment(), check=True)
    return done.stdout.strip()


def replace(name, binary, verb):
    """A round: this node ends as operators end it, and comes back as another binary."""
    class Replace(Fault):
        async def act(self):
            by_command = self.random.random() < 0.5
            outcome = Outcome(f"by {'command' if by_command else 'signal'}")
            status = await within(self.node.drain(by_command), PATIENCE)
            if status != 0:
                outcome.violations.append(f"{self.node.name} ended with {status}")
            self.node.server.binary = binary
            try:
                await self.node.start()
            except StartFailed as error:
                raise Refused(f"{self.node.name} of {binary} does not start beside the others:\n{error.log[-2000:]}") from error
            # The process is the one that was asked for.
            if Path(f"/proc/{self.node.server.process.pid}/exe").resolve() != binary:
                outcome.violations.append(f"{self.node.name} runs another program than {binary}")
            return outcome

    def make(run):
        (node,) = [node for node in run.cluster.nodes if node.name == name]
        return Replace(run, node)
    Replace.name = f"{verb} {name}"
    return make


async def has_people(run):
    """Whether the nodes know presence, holders of attributes and blocks; the clients use them then."""
    status, body = await asyncio.to_thread(run.cluster.nodes[0]._ask, "GET", "/openrpc.json")
    return status == 200 and re.search(r'"name" ?: ?"subscribeUsersStatus"', body.decode()) is not None


async def rounds_of(options, directory, seed):
    """The rounds that were done; the last one may have violations."""
    # Nodes of before close sessions without a reason.
    run, rounds = Run(directory, seed, options.bus, counts_closes=True), []
    task = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await run.start(options.old, has_people)
        names = [node.name for node in run.cluster.nodes]
        plan = [replace(name, options.new, "upgrade") for name in names]
        if options.back:
            plan += [replace(name, options.old, "take back") for name in reversed(names)]
        for number, make in enumerate(plan, 1):
            done = await run.round(make)
            rounds.append(done)
            print(f"{number:3} {done.fault} ({done.words}); {done.tally.acks} messages in {done.seconds:.1f} s", flush=True)
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
    directory = Path(tempfile.mkdtemp(prefix="throng-upgrade-"))
    # PostgreSQL's account works in it.
    os.chmod(directory, 0o755)
    print(f"seed {seed}, from {options.old} ({version(options.old)}) to {options.new} ({version(options.new)})", flush=True)
    is_broken = True
    try:
        rounds = asyncio.run(rounds_of(options, directory, seed))
        is_broken = not rounds or bool(rounds[-1].violations)
        print(f"\n{table(rounds)}\n\nseed {seed}")
        for violation in rounds[-1].violations if rounds else []:
            print(f"VIOLATED {violation}")
    except Refused as error:
        print(f"REFUSED {error}\nStop all nodes of the one before the first of the other starts (Releases.md).")
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
