"""A cluster with a network between its parts: the latency of messages, and rounds of chaos.

    Tests/Campaigns/run-package network [--delays 0,2,20] [--jitter 0] [--loss 0] [--rounds 10] [--sends 300] [--count-closes]

Nodes, NATS and PostgreSQL are in network namespaces of their own, which a switch in user space joins (`switch.c`: this is for
kernels without netem). A delay of D ms is that between two nodes: each way between a node and an engine takes D/2, so what a
node publishes comes to another D later, and an answer of PostgreSQL takes D. Clients are at the nodes, without delay. It needs
root. THRONG_BINARY names the server. The end is 0, or 1 where a promise was violated.
"""
import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from chaos import faults
from chaos.cluster import LEASE, Cluster
from chaos.run import Run, table
from cluster_bench.setup import SETTINGS
from cluster_bench.works import ALL, send_latency
from harness.campaigns import run_campaign
from harness.server import BINARY

from .namespaces import Network, Way, is_possible

NODES = ["node1", "node2", "node3"]
ENGINES = ["nats", "postgresql1", "postgresql2"]


def numbers(text):
    return [float(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(prog="network", description=__doc__.split("\n\n")[0])
    parser.add_argument("--delays", type=numbers, default=[0, 2, 20], metavar="MS,…", help="between nodes (0,2,20)")
    parser.add_argument("--jitter", type=float, default=0, metavar="SHARE", help="of the delay, which is added by chance (0)")
    parser.add_argument("--loss", type=float, default=0, metavar="SHARE", help="of frames, each way (0)")
    parser.add_argument("--sends", type=int, default=300, help="of which the latency is told; 0: none (300)")
    parser.add_argument("--rounds", type=int, default=10, help="of chaos with each delay above 0 (10)")
    parser.add_argument("--only", metavar="NAME,…", help="only these faults")
    parser.add_argument("--count-closes", action="store_true", help="count sessions that were closed without a reason, and go on")
    parser.add_argument("--seed", type=int, help="repeats the faults of a run (by chance)")
    options = parser.parse_args()
    kinds = faults.possible(faults.ALL, has_nats=True, has_proxies=False)
    options.kinds = [kind for kind in kinds if not options.only or kind.__name__ in options.only.split(",")]
    if not options.kinds:
        parser.error("there is none of these faults in a network")
    if not 0 <= options.loss < 1:
        parser.error("a loss is a share of 1, below 1")
    if not is_possible():
        parser.error("it needs root, ip, cc and /dev/net/tun")
    return options


async def network_of(directory, delay, options):
    network = Network(directory, NODES + ENGINES)
    network.loss = options.loss
    await network.start()
    for node in NODES:
        for engine in ENGINES:
            await network.delay(node, engine, delay / 2, delay / 2 * options.jitter)
            await Way(network, node, engine).open()
    return network


async def latencies(directory, delay, options):
    """Rows as of `bench-cluster --only latency`."""
    network = await network_of(directory, delay, options)
    cluster = Cluster(directory, network=network, settings=SETTINGS)
    try:
        await cluster.start()
        return await send_latency(SimpleNamespace(name=f"{delay:g} ms", cluster=cluster), options)
    finally:
        await cluster.end()
        await network.end()


async def rounds(directory, delay, options, seed):
    network = await network_of(directory, delay, options)
    run, done = Run(directory, seed, counts_closes=options.count_closes, network=network), []
    try:
        await run.start()
        for number, kind in enumerate(run.plan(options.rounds, options.kinds), 1):
            done.append(await run.round(kind))
            words = f"{done[-1].fault} ({done[-1].words})"
            print(f"{delay:g} ms {number:3} {words}; {done[-1].tally.acks} messages in {done[-1].seconds:.1f} s", file=sys.stderr)
            if done[-1].violations:
                break
        print(f"{delay:g} ms: {await network.counts()} frames", file=sys.stderr)
    finally:
        for node in run.cluster.nodes:
            if node.server:
                Path(f"{directory}-{node.name}.log").write_text(node.server.log)
        await run.end()
        await network.end()
    return done


def line(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


async def measure(options, scratch, seed):
    is_broken, found = False, []
    for index, delay in enumerate(options.delays):
        if options.sends:
            directory = scratch / f"latency{index}"
            directory.mkdir()
            found += await latencies(directory, delay, options)
    if found:
        head = ["delay", *ALL["latency"][0][1:]]
        print("\n".join([line(head), line(["---"] * len(head)), *map(line, found)]) + "\n", flush=True)
    for index, delay in enumerate(options.delays):
        if delay and options.rounds:
            directory = scratch / f"chaos{index}"
            directory.mkdir()
            done = await rounds(directory, delay, options, seed)
            print(f"{delay:g} ms, a lease of {LEASE} s:\n\n{table(done)}\n", flush=True)
            for violation in done[-1].violations:
                is_broken = True
                print(f"VIOLATED {violation}")
    return is_broken


def main():
    options = parse()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}, {BINARY}, loss {options.loss:g}\n", flush=True)
    scratch = Path(tempfile.mkdtemp(prefix="throng-network-", dir="/var/tmp"))
    # PostgreSQL's account works in it.
    os.chmod(scratch, 0o755)
    is_broken = True
    try:
        is_broken = run_campaign(measure(options, scratch, seed))
    finally:
        if is_broken:
            print(f"logs: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    return 1 if is_broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit("network: interrupted")
