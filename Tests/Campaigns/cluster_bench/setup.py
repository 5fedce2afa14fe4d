"""A cluster behind HAProxy, and what its processes use while something is measured."""
import asyncio
import json
import os
import subprocess
from pathlib import Path

from chaos.cluster import Cluster
from chaos.engines import accepts, until
from harness.footprint import metric_now
from harness.ports import reserve_port
from harness.server import run_throng
from harness.tokens import SECRET

TICKS = os.sysconf("SC_CLK_TCK")
# The server is measured: the limits of one session, which stands for many users, are off. A room has a limit that it
# never meets.
SETTINGS = {"limits.avChatRoom.messagesPerSecond": 100_000, "limits.signInsPerSecond": 0, "limits.requestsPerSecond": 1_000_000,
            "limits.requestBurst": 1_000_000, "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0,
            "limits.strangersPerDay": 0, "loops": 1}


def cpu_seconds(pid):
    """User and system time of a process with those of its children that run."""
    total, children = 0, {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            children.setdefault(int(fields[1]), []).append((int(place.name), (int(fields[11]) + int(fields[12])) / TICKS))
            if int(place.name) == pid:
                # Children that have ended belong to it, too.
                total = sum(map(int, fields[11:15])) / TICKS
    waiting = [pid]
    while waiting:
        for child, seconds in children.get(waiting.pop(), []):
            total += seconds
            waiting.append(child)
    return total


class Setup:
    """So many nodes with a bus; clients come through `address`."""

    def __init__(self, name, directory, count, bus):
        self.name = name
        directory.mkdir()
        self.cluster = Cluster(directory, count, bus, has_proxies=False, settings=SETTINGS)
        self.directory = directory
        self.balancer = None
        self.address = None

    async def start(self):
        await self.cluster.start()
        port = reserve_port()
        servers = "".join(f"  server {node.name} {node.server.listen}\n" for node in self.cluster.nodes)
        config = self.directory / "haproxy.cfg"
        config.write_text(f"""global
  maxconn 9900
defaults
  mode tcp
  balance roundrobin
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen throng
  bind 127.0.0.1:{port}
{servers}""")
        self.balancer = subprocess.Popen(["haproxy", "-db", "-q", "-f", str(config)], stdin=subprocess.DEVNULL)
        await until(lambda: accepts(port), "HAProxy listens")
        self.address = f"127.0.0.1:{port}"

    async def end(self):
        if self.balancer:
            self.balancer.kill()
            self.balancer.wait()
        await self.cluster.end()

    def bench(self, *words):
        """The figures of `throng bench`, and what the processes used meanwhile."""
        command = ["bench", *words, "--url", f"ws://{self.address}/ws", "--set", f"auth.secret={SECRET}", "--quiet", "--json", "-"]
        done = run_throng(*command, timeout=300)
        if done.returncode:
            raise RuntimeError(f"throng {' '.join(map(str, words))}: {done.stderr[-500:]} {done.stdout[-500:]}")
        return json.loads(done.stdout)

    def usage(self):
        """CPU seconds by part, and messages and bytes on the bus, since the start."""
        used = {"throng": sum(cpu_seconds(node.server.process.pid) for node in self.cluster.nodes),
                "postgresql": cpu_seconds(self.cluster.primary.process.pid),
                "nats": cpu_seconds(self.cluster.nats.process.pid) if self.cluster.nats else 0}
        for name, metric in (("bus messages", "throng_bus_messages_total"), ("bus bytes", "throng_bus_bytes_total")):
            used[name] = sum(metric_now(node.server, metric, direction="published") for node in self.cluster.nodes)
        # Servers of before do not count them.
        used["entries"] = sum(metric_now(node.server, "throng_link_entries_total") for node in self.cluster.nodes)
        return used

    async def idle(self, seconds):
        """What the cluster uses in a second without clients."""
        before = self.usage()
        await asyncio.sleep(seconds)
        after = self.usage()
        return {name: (after[name] - before[name]) / seconds for name in after}


def setups(directory, only):
    """By name: how it is made."""
    found = {"one node": (1, "nats"), "three nodes, NATS": (3, "nats"),
             "three nodes, PostgreSQL as the bus": (3, "postgresql")}
    return [Setup(name, directory / f"setup{number}", *what) for number, (name, what) in enumerate(found.items())
            if not only or str(number) in only]
