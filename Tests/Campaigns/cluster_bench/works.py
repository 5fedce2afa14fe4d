"""What is measured; each gives rows of figures."""
import asyncio
import json
import subprocess
import time

from chaos.engines import shard_of
from harness.footprint import metric_now
from harness.server import REPOSITORY
from harness.tokens import make_token
from websockets.asyncio.client import connect


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


class Caller:
    """A client that does no more than it must: what it measures is the server."""

    def __init__(self, socket):
        self.socket, self.number = socket, 0

    @classmethod
    async def sign_in(cls, address, user):
        url = f"ws://{address}/ws?token={make_token(user)}&platform=Web"
        self = cls(await connect(url, compression=None, proxy=None, max_queue=None, ping_interval=None))
        await self.socket.recv()
        return self

    async def call(self, method, **params):
        await self.send(method, **params)
        return await self.reply()

    async def send(self, method, **params):
        self.number += 1
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))

    async def reply(self):
        wanted = f'"id":{self.number},'
        while wanted not in (text := await self.socket.recv())[:40]:
            pass
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return answer["result"]


async def send_latency(setup, options):
    """A sender with one message under way; the group's owner is its own node, or another one."""
    owners = await setup.cluster.tables.owners()
    first = setup.cluster.nodes[0]
    caller = await Caller.sign_in(first.server.listen, "latency")
    rows = []
    for kind, groupType in (("stored", "Public"), ("live", "AVChatRoom")):
        for place in ("here", "elsewhere"):
            names = (f"{kind}-{place}-{number}" for number in range(1000))
            group = next((one for one in names if (owners[shard_of(one)] == first.name) == (place == "here")), None)
            if group is None:
                continue
            await caller.call("createGroup", groupID=group, groupName="g", groupType=groupType)
            times = []
            for number in range(options.sends + 50):
                began = time.perf_counter()
                await caller.call("sendGroupTextMessage", groupID=group, text="x" * 70)
                times.append((time.perf_counter() - began) * 1000)
            times = times[50:]
            rows.append([setup.name, kind, f"owner {place}", f"{quantile(times, 0.5):.2f}", f"{quantile(times, 0.99):.2f}"])
    await caller.socket.close()
    return rows


async def live_room(setup, options):
    """A live room whose members are spread over all nodes, 20 messages a second."""
    rows = []
    for members in options.members:
        usage = await setup.idle(2)
        sampler = asyncio.create_task(window(setup, options.seconds))
        figures = await asyncio.to_thread(
            setup.bench, "room", "--members", members, "--duration", options.seconds + 6, "--timeout", 120, "--parallel", 100)
        used, messages, deliveries = await sampler
        latency = figures["latencyMs"]
        rows.append([
            setup.name, members, f"{figures['deliveriesPerSecond']:,.0f}", f"{latency['p50']:.1f}", f"{latency['p99']:.1f}",
            f"{1e6 * (used['throng'] - usage['throng'] * options.seconds) / max(deliveries, 1):.2f}",
            f"{(used['bus messages'] - usage['bus messages'] * options.seconds) / max(messages, 1):.1f}",
            f"{(used['bus bytes'] - usage['bus bytes'] * options.seconds) / max(messages, 1):,.0f}",
            figures["lost"] + figures["surplus"]])
    return rows


async def window(setup, seconds):
    """Usage within the run of the generator: from when its messages flow, for so long."""
    def counts():
        nodes = [node.server for node in setup.cluster.nodes]
        return (sum(metric_now(node, "throng_messages_delivered_total", group_type="AVChatRoom") for node in nodes),
                sum(metric_now(node, "throng_fanout_deliveries_total") for node in nodes))

    start = counts()[0]
    while counts()[0] < start + 40:
        await asyncio.sleep(0.1)
    before, usage = counts(), setup.usage()
    await asyncio.sleep(seconds)
    after, later = counts(), setup.usage()
    return {name: later[name] - usage[name] for name in usage}, after[0] - before[0], after[1] - before[1]


async def durable(setup, options):
    """Senders that each send the next message when the last is stored; groups of two."""
    rows = []
    for senders in options.senders:
        before = setup.usage()
        figures = await asyncio.to_thread(
            setup.bench, "durable", "--senders", senders, "--members", 2, "--duration", options.seconds)
        after = setup.usage()
        # The warm-up is a second.
        count = figures["messages"] * (options.seconds + 1) / options.seconds
        latency = figures["latencyMs"]
        rate = f"{figures['messagesPerSecond']:,.0f}"
        rows.append([setup.name, senders, rate, f"{latency['p50']:.1f}", f"{latency['p99']:.1f}"]
                    + [f"{1e6 * (after[part] - before[part]) / count:.0f}" for part in ("throng", "postgresql", "nats")]
                    + [f"{(after['bus messages'] - before['bus messages']) / count:.2f}"])
    return rows


async def joins(setup, options):
    """Sessions on all nodes that join one live room at the same time."""
    addresses = [node.server.listen for node in setup.cluster.nodes]
    owner = await Caller.sign_in(addresses[0], "joins-owner")
    await owner.call("createGroup", groupID="joins", groupName="g", groupType="AVChatRoom")
    callers = []
    for number in range(options.joiners):
        callers.append(await Caller.sign_in(addresses[number % len(addresses)], f"joiner{number}"))
    before, began = setup.usage(), time.perf_counter()
    await asyncio.gather(*(caller.send("joinGroup", groupID="joins") for caller in callers))
    await asyncio.gather(*(caller.reply() for caller in callers))
    seconds, after = time.perf_counter() - began, setup.usage()
    for caller in callers + [owner]:
        caller.socket.transport.abort()
    return [[setup.name, options.joiners, f"{options.joiners / seconds:,.0f}",
             f"{1e6 * (after['throng'] - before['throng']) / options.joiners:.0f}",
             f"{(after['bus messages'] - before['bus messages']) / options.joiners:.2f}"]]


async def sign_ins(setup, options):
    """Sessions that sign in as fast as it goes."""
    before = setup.usage()
    figures = await asyncio.to_thread(setup.bench, "connect", "--connections", options.connections, "--duration", 1)
    after = setup.usage()
    return [[setup.name, options.connections, f"{figures['connect']['connectionsPerSecond']:,.0f}",
             f"{1e6 * (after['throng'] - before['throng']) / options.connections:.0f}",
             f"{(after['bus messages'] - before['bus messages']) / options.connections:.2f}",
             f"{(after['entries'] - before['entries']) / options.connections:.2f}" if after["entries"] else "–"]]


def build_floor(directory):
    """The program of Tests/Bench/bus-floor.c."""
    program = directory / "bus-floor"
    headers = subprocess.run(["pg_config", "--includedir"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["cc", "-std=gnu11", "-O2", "-pthread", f"-I{headers}", "-o", program, REPOSITORY / "Tests/Bench/bus-floor.c",
                    "-lpq", "-lnats"], check=True)
    return program


async def floor(setup, options):
    """What NATS and PostgreSQL allow without Throng: the calls of stored messages, all of which cross; the nodes rest."""
    cluster = setup.cluster
    if cluster.nats is None or len(cluster.nodes) < 2:
        return []
    program = await asyncio.to_thread(build_floor, setup.directory)
    for number in range(max(options.senders)):
        answer = await cluster.nodes[0].call(
            "createGroup", groupID=f"floor-{number}", groupName="g", groupType="Public", ownerUserID=f"floor{number}")
        if "result" not in answer:
            raise RuntimeError(f"createGroup: {answer}")
    place = f"host={cluster.primary.directory} port={cluster.primary.port} user=throng dbname=throng"
    rows = []
    for senders in options.senders:
        command = [program, f"nats://127.0.0.1:{cluster.nats.port}", place, len(cluster.nodes), senders, options.seconds]
        before = setup.usage()
        process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        after = setup.usage()
        if process.returncode:
            raise RuntimeError(f"bus-floor has ended with {process.returncode}")
        figures = json.loads(output)
        latency = figures["latencyMs"]
        rows.append([setup.name, senders, f"{figures['messagesPerSecond']:,.0f}", f"{latency['p50']:.1f}", f"{latency['p99']:.1f}",
                     f"{figures['cpuEachUs']:.0f}"]
                    + [f"{1e6 * (after[part] - before[part]) / figures['allMessages']:.0f}" for part in ("postgresql", "nats")]
                    + [f"{figures['framesEach']:.2f}", f"{figures['messagesPerTransaction']:.1f}"])
    return rows


# The title, the head of the table, and the work.
ALL = {
    "latency": (["setup", "message", "the group's", "p50, ms", "p99, ms"], send_latency),
    "room": (["setup", "members", "deliveries a second", "p50, ms", "p99, ms", "CPU of Throng each, µs",
              "bus messages per event", "bus bytes per event", "lost"], live_room),
    "durable": (["setup", "senders", "messages a second", "p50, ms", "p99, ms", "CPU of Throng each, µs",
                 "of PostgreSQL, µs", "of NATS, µs", "bus messages each"], durable),
    "floor": (["setup", "senders", "messages a second", "p50, ms", "p99, ms", "CPU of the calls each, µs",
               "of PostgreSQL, µs", "of NATS, µs", "bus messages each", "messages a transaction"], floor),
    "joins": (["setup", "joins", "a second", "CPU of Throng each, µs", "bus messages each"], joins),
    "signIns": (["setup", "sign-ins", "a second", "CPU of Throng each, µs", "bus messages each", "entries each"], sign_ins),
}
