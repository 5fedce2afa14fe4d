"""What is measured with many connections; each gives rows of figures."""
import asyncio
import subprocess
import time
from pathlib import Path

from chaos.cluster import Cluster
from cluster_bench.setup import SETTINGS, cpu_seconds
from cluster_bench.works import Caller
from harness.footprint import Process, metric_now
from harness.server import Server

from .crowd import Crowd, build

ROOM = "crowd"


class Setup:
    """So many nodes, and a crowd at each. `limit`: limits.signInsPerSecond, 0 = none."""

    def __init__(self, directory, count, options, limit=0, group=None):
        self.directory = directory
        directory.mkdir()
        settings = {**SETTINGS, "limits.signInsPerSecond": limit}
        del settings["loops"]
        if options.loops:
            settings["loops"] = options.loops
        self.cluster = Cluster(directory, count, has_proxies=False, settings=settings)
        self.options, self.group = options, group
        self.crowds = []

    async def start(self):
        await self.cluster.start()
        self.program = build(self.directory)
        self.crowds = [
            Crowd(self.program, self.directory, node.server.address, f"user{index}", self.options.connections,
                  self.options.sources, self.group) for index, node in enumerate(self.cluster.nodes)]

    @property
    def total(self):
        return len(self.crowds) * self.options.connections

    async def open(self):
        """All of them; gives the seconds, and how often one was told to come later."""
        for crowd in self.crowds:
            await crowd.start()
        began = time.monotonic()
        figures = await asyncio.gather(*(crowd.open(self.options.connections, self.options.parallel) for crowd in self.crowds))
        return time.monotonic() - began, sum(one["toldToWait"] for one in figures)

    async def kill(self):
        await asyncio.gather(*(crowd.kill() for crowd in self.crowds))

    def processes(self):
        return [Process(node.server.process.pid) for node in self.cluster.nodes]

    def used(self):
        nodes = self.cluster.nodes
        return {
            "throng": sum(process.cpu for process in self.processes()),
            "postgresql": cpu_seconds(self.cluster.primary.process.pid),
            "nats": cpu_seconds(self.cluster.nats.process.pid),
            "entries": sum(metric_now(node.server, "throng_link_entries_total") for node in nodes),
            "memory": sum(process.memory for process in self.processes())}

    async def end(self):
        await self.kill()
        await self.cluster.end()


def difference(after, before):
    return {name: after[name] - before[name] for name in after}


async def idle(directory, options):
    """Sessions that sign in as fast as it goes, and stay: what each costs."""
    rows = []
    for count in options.nodes:
        setup = Setup(directory / f"idle{count}", count, options)
        try:
            await setup.start()
            before = setup.used()
            seconds, _ = await setup.open()
            await asyncio.sleep(1)
            used = difference(setup.used(), before)
            await asyncio.sleep(options.seconds)
            rest = difference(setup.used(), before)
            costs = [f"{1000 * used[part] / setup.total:.2f}" for part in ("throng", "postgresql", "nats")]
            # Servers of before do not count entries.
            entries = f"{used['entries'] / setup.total:.1f}" if used["entries"] else "–"
            rows.append([
                count, f"{setup.total:,}", f"{setup.total / seconds:,.0f}", *costs, entries,
                f"{used['memory'] / setup.total / 1024:.1f}", f"{100 * (rest['throng'] - used['throng']) / options.seconds:.1f}"])
        finally:
            await setup.end()
    return rows


async def room(directory, options):
    """One live room of all of them, to which one sends."""
    rows = []
    for count in options.nodes:
        setup = Setup(directory / f"room{count}", count, options, group=ROOM)
        try:
            await setup.start()
            node = setup.cluster.nodes[0]
            sender = await Caller.sign_in(node.server.listen, "sender")
            await sender.call("createGroup", groupID=ROOM, groupName="r", groupType="AVChatRoom")
            await setup.open()
            # The notices of the last joins.
            await asyncio.sleep(3)
            for crowd in setup.crowds:
                await crowd.counts()
            first = sum([(await crowd.counts())["messages"] for crowd in setup.crowds])
            before, sent = setup.used(), 0
            began = time.monotonic()
            while (left := began + options.seconds - time.monotonic()) > 0:
                await sender.call("sendGroupTextMessage", groupID=ROOM, text=f"t={time.monotonic_ns()};{'x' * 50}")
                sent += 1
                await asyncio.sleep(min(left, max(0, began + sent / options.rate - time.monotonic())))
            used = difference(setup.used(), before)
            await quiet(setup)
            figures = [await crowd.counts() for crowd in setup.crowds]
            await sender.socket.close()
            deliveries = sum(one["messages"] for one in figures) - first
            rows.append([
                count, f"{setup.total:,}", sent, f"{deliveries / options.seconds:,.0f}",
                *(f"{max(one[name] for one in figures):.0f}" for name in ("p50Ms", "p99Ms", "maxMs")),
                f"{1e6 * used['throng'] / max(1, deliveries):.2f}", sent * setup.total - deliveries])
        finally:
            await setup.end()
    return rows


async def quiet(setup, patience=60):
    """Waits until the crowds get nothing for a second. Figures of latency are kept."""
    deadline, seen = time.monotonic() + patience, None
    while time.monotonic() < deadline:
        # What nodes have written, as they count it: to ask the crowds would forget their latencies.
        count = sum(metric_now(node.server, "throng_fanout_deliveries_total") for node in setup.cluster.nodes)
        if count == seen:
            return
        seen = count
        await asyncio.sleep(1)


async def storm(directory, options):
    """All connections break at once, and come back as soon as they may."""
    rows = []
    for count in options.nodes:
        setup = Setup(directory / f"storm{count}", count, options, limit=options.limit)
        try:
            await setup.start()
            await setup.open()
            await setup.kill()
            before = setup.used()
            seconds, told = await setup.open()
            used = difference(setup.used(), before)
            rows.append([
                count, f"{setup.total:,}", options.limit or "none", f"{seconds:.1f}", f"{setup.total / seconds:,.0f}",
                f"{told:,}", f"{100 * used['throng'] / seconds:.0f}", f"{100 * used['postgresql'] / seconds:.0f}"])
        finally:
            await setup.end()
    return rows


# One loop


def loop_thread(pid):
    """Of a server with one loop: its place in /proc."""
    (found,) = [task for task in Path(f"/proc/{pid}/task").iterdir() if (task / "comm").read_text().startswith("throng-loop")]
    return found


def used_by(thread):
    """Microseconds of CPU."""
    return int((thread / "schedstat").read_text().split()[0]) / 1e3


async def close(directory, options):
    """A server alone with one loop and idle connections: what one more costs that loop when it comes and when it goes."""
    rows = []
    program = build(directory)
    for connections in options.sizes:
        place = directory / f"close{connections}"
        place.mkdir()
        # The pings of thousands would be counted with the few that come and go.
        settings = {**SETTINGS, "heartbeat.interval": "24h", "heartbeat.timeout": "24h"}
        server = Server(place / "data", settings).start()
        crowds = [Crowd(program, place, server.address, name, count, options.sources)
                  for name, count in (("idle", connections), ("churn", options.churn * options.repeats))]
        try:
            for crowd in crowds:
                await crowd.start()
            await crowds[0].open(connections, options.parallel)
            thread = loop_thread(server.process.pid)
            costs = {"open": 0.0, "close": 0.0}
            for _ in range(options.repeats):
                for name, act in (("open", lambda: crowds[1].open(options.churn, options.parallel)),
                                  ("close", lambda: crowds[1].close(options.churn))):
                    before = used_by(thread)
                    await act()
                    # The last close is noticed behind its answer.
                    await asyncio.sleep(0.3)
                    costs[name] += used_by(thread) - before
            count = options.churn * options.repeats
            shares = await hottest(thread, crowds[1], options) if options.perf else "–"
            rows.append([f"{connections:,}", f"{costs['open'] / count:.0f}", f"{costs['close'] / count:.0f}", shares])
        finally:
            for crowd in crowds:
                await crowd.kill()
            if server.running:
                server.kill()
    return rows


async def hottest(thread, crowd, options):
    """The functions of the loop that use most while connections go: by perf, which has to be installed."""
    data = crowd.directory / "perf.data"
    tokens = crowd.directory / "perf.tokens"
    tokens.write_text("\n".join((crowd.directory / f"{crowd.name}.tokens").read_text().splitlines()[:options.churn]) + "\n")
    other = await Crowd(crowd.program, crowd.directory, crowd.address, "perf", options.churn, crowd.sources).start()
    try:
        await other.open(options.churn, options.parallel)
        command = ["perf", "record", "-q", "-F", "10000", "-t", thread.name, "-o", data, "--", "sleep", "2"]
        recording = await asyncio.create_subprocess_exec(*map(str, command))
        # It says nowhere that it has begun.
        await asyncio.sleep(1)
        await other.close(options.churn)
        await recording.wait()
    finally:
        await other.kill()
    words = ["perf", "report", "-q", "--stdio", "--no-children", "-F", "overhead,dso,symbol", "-i", str(data)]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True)
    lines = [line.replace("[.]", "").replace("[k]", "").split() for line in done.stdout.splitlines() if line.strip()]
    # A library without symbols has addresses: each is one instruction of a search.
    return ", ".join(f"`{words[2]}` of {words[1]} {words[0]}" for words in lines[:3]) or "–"


# The head of the table, and the work.
ALL = {
    "idle": (["nodes", "sessions", "sign-ins a second", "CPU of Throng each, ms", "of PostgreSQL, ms", "of NATS, ms",
              "entries each", "memory of a node each, KB", "CPU at rest, % of a core"], idle),
    "room": (["nodes", "members", "messages", "deliveries a second", "p50, ms", "p99, ms", "longest, ms",
              "CPU of Throng each, µs", "lost"], room),
    "storm": (["nodes", "sessions", "limits.signInsPerSecond", "all back after, s", "sign-ins a second",
               "told to come later", "CPU of Throng, % of a core", "of PostgreSQL, %"], storm),
    "close": (["connections of the loop", "one more comes, µs", "it goes, µs", "most of it"], close),
}
