"""The parts of Scripts/chaos that make faults: proxies, a replica, a wrong clock, and what is drawn."""
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from chaos import faults
from chaos.cluster import Cluster
from chaos.engines import until
from chaos.fault_proxy import FaultProxy
from chaos.nats_proxy import Messages, NATSProxy
from chaos.run import Run
from chaos.wall_clock import WallClock

from harness.campaigns import run_script
from harness.client import PATIENCE
from harness.ports import reserve_port
from harness.server import BINARY, clean_environment
from harness.tokens import SECRET, expiry_of
from harness.waiting import within


class Echo:
    """A server that repeats lines with its name before them."""

    def __init__(self, name):
        self.name, self.writers, self.tasks = name, [], []

    async def __aenter__(self):
        self.lines = asyncio.Queue()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.gather(*self.tasks)

    async def _serve(self, reader, writer):
        self.writers.append(writer)
        self.tasks.append(asyncio.current_task())
        try:
            while line := await reader.readline():
                self.lines.put_nowait(line)
                writer.write(self.name + b" " + line)
        except ConnectionError:
            pass  # the proxy was cut
        writer.close()


class Caller:
    """A client behind a proxy."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    def send(self, line):
        self.writer.write(line + b"\n")

    async def answer(self):
        """A line; empty where the connection has ended."""
        try:
            return (await within(self.reader.readline(), PATIENCE)).strip()
        except ConnectionError:
            return b""

    async def call(self, line):
        self.send(line)
        return await self.answer()


@pytest.fixture
async def connect():
    """Connects through a proxy."""
    callers = []

    async def connect(proxy):
        callers.append(Caller(*await asyncio.open_connection("127.0.0.1", proxy.port)))
        return callers[-1]

    yield connect
    for caller in callers:
        caller.writer.transport.abort()


@pytest.fixture
async def proxied():
    """A proxy, the server behind it, and another server."""
    async with Echo(b"one") as one, Echo(b"two") as two:
        proxy = await FaultProxy(one.port).start(reserve_port())
        yield proxy, one, two
        await proxy.close()


async def test_a_proxy_refuses(proxied, connect):
    proxy, one, _ = proxied
    caller = await connect(proxy)
    assert await caller.call(b"a") == b"one a"
    await proxy.refuse()
    assert await caller.answer() == b""
    with pytest.raises(ConnectionRefusedError):
        await connect(proxy)
    await proxy.open()
    assert await (await connect(proxy)).call(b"c") == b"one c"
    assert [one.lines.get_nowait() for _ in range(one.lines.qsize())] == [b"a\n", b"c\n"]


@pytest.mark.parametrize("is_lost", [False, True])
async def test_what_is_sent_through_a_split_network_comes_later_or_never(proxied, connect, is_lost):
    proxy, one, _ = proxied
    early = await connect(proxy)
    assert await early.call(b"a") == b"one a"
    await proxy.silence()
    early.send(b"b")
    late = await connect(proxy)
    late.send(b"c")
    # Another connection passes everything on its way meanwhile.
    async with Echo(b"other") as other:
        open_proxy = await FaultProxy(other.port).start(reserve_port())
        assert await (await connect(open_proxy)).call(b"x") == b"other x"
        await open_proxy.close()
    assert one.lines.qsize() == 1
    if is_lost:
        proxy.cut()
    await proxy.open()
    answers = [await early.answer(), await late.answer()]
    assert answers == ([b"", b""] if is_lost else [b"one b", b"one c"])


async def test_a_lost_machine_stays_silent_and_its_address_leads_elsewhere(proxied, connect):
    proxy, one, two = proxied
    stranded = await connect(proxy)
    assert await stranded.call(b"a") == b"one a"
    proxy.lose_target()
    stranded.send(b"b")
    waiting = await connect(proxy)
    waiting.send(b"c")
    await proxy.lead_to(two.port)
    assert await waiting.answer() == b"two c"
    assert await (await connect(proxy)).call(b"d") == b"two d"
    assert one.lines.qsize() == 1 and not stranded.reader.at_eof()
    await proxy.lead_to(None)
    with pytest.raises(ConnectionRefusedError):
        await connect(proxy)
    # What is lost already stays so, and ends with the proxy.
    proxy.lose_target()
    await within(proxy.close(), PATIENCE)
    assert await stranded.answer() == b""


@pytest.mark.parametrize("length", [1, 2, 7, 1000])
def test_a_stream_of_nats_is_cut_into_its_messages(length):
    parts = [
        (None, b"CONNECT {\"verbose\":false}\r\n"), ("t.n1.link", b"PUB t.n1.link 4\r\na\r\nb\r\n"), (None, b"PING\r\n"),
        ("t.n2.link", b"MSG t.n2.link 7 reply 0\r\n\r\n"), ("h", b"HPUB h reply 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"), (None, b"+OK\r\n")]
    stream, messages, found = b"".join(whole for _, whole in parts), Messages(), []
    for start in range(0, len(stream), length):
        found += messages.feed(stream[start:start + length])
    assert found == parts


async def test_a_proxy_before_nats_loses_single_messages(connect):
    async with Echo(b"one") as one:
        proxy = await NATSProxy(one.port).start(reserve_port())
        caller = await connect(proxy)
        proxy.loses = lambda subject, is_to_engine: is_to_engine and subject.endswith(".n2.link")
        for node in (1, 2, 3):
            caller.send(b"PUB t.n%d.link 2\r\nhi\r" % node)
        caller.send(b"PING\r")
        lines = [await within(one.lines.get(), PATIENCE) for _ in range(5)]
        assert lines == [b"PUB t.n1.link 2\r\n", b"hi\r\n", b"PUB t.n3.link 2\r\n", b"hi\r\n", b"PING\r\n"] and proxy.lost == 1
        proxy.loses = None
        caller.send(b"PUB t.n2.link 2\r\nho\r")
        assert [await within(one.lines.get(), PATIENCE) for _ in range(2)] == [b"PUB t.n2.link 2\r\n", b"ho\r\n"]
        await proxy.close()


@pytest.mark.heavy
async def test_a_commit_waits_for_the_replica_and_is_there_when_it_is_promoted():
    with tempfile.TemporaryDirectory(prefix="throng-chaos-", ignore_cleanup_errors=True) as directory:
        os.chmod(directory, 0o755)
        cluster = Cluster(Path(directory), count=0)
        first, second = cluster.databases
        tables = cluster.tables
        watcher = type(tables)(first)
        try:
            await asyncio.to_thread(first.create)
            await first.start()
            first.create_database()
            await tables.run("CREATE TABLE kept (number int)")
            for number in (1, 2):
                await cluster.start_replica()
                lost = cluster.primary
                # Nothing is acknowledged without the replica.
                cluster.replica.end()
                writing = asyncio.create_task(tables.run(f"INSERT INTO kept VALUES ({number})"))
                watcher.database = lost

                async def waits():
                    return await watcher.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")

                await until(waits, "the commit waits for the replica")
                assert not writing.done()
                await cluster.replica.start()
                await within(writing, PATIENCE)
                await lost.stop_immediately()
                await cluster.promote_replica()
                assert cluster.primary is not lost and cluster.replica is lost
                rows = await until(lambda: tables.rows("SELECT number FROM kept ORDER BY number"), "the promoted one answers")
                assert rows == [[str(one)] for one in range(1, number + 1)]
            # Without a replica it waits for none. Two may ask at once.
            await asyncio.gather(tables.run("INSERT INTO kept VALUES (3)"), tables.run("INSERT INTO kept VALUES (4)"))
            assert await tables.rows("SELECT count(*) FROM kept") == [["4"]]
        finally:
            await watcher.end()
            await cluster.end()


def test_a_wrong_wall_clock_jumps_and_disturbs_no_other(tmp_path):
    clock = WallClock(tmp_path, "node")
    clock.set(3600)
    program = """
import ctypes, json, struct, sys, threading, time
libc, condition = ctypes.CDLL(None), threading.Condition()
for _ in sys.stdin:
    clocks = [time.clock_gettime(one) for one in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)]
    # A deadline by the wall clock, and one of a timer by a monotonic clock, both over: nothing waits for an hour.
    deadline = struct.pack("qq", int(time.time()), 0)
    semaphore = ctypes.create_string_buffer(64)
    libc.sem_init(semaphore, 0, 0)
    libc.sem_timedwait(semaphore, deadline)
    timer = libc.timerfd_create(time.CLOCK_MONOTONIC, 0)
    libc.timerfd_settime(timer, 1, struct.pack("qqqq", 0, 0, int(time.monotonic()), 0), None)
    libc.read(timer, ctypes.create_string_buffer(8), 8)
    print(json.dumps([*clocks, time.time()]), flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, **clock.environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)

    def clocks():
        wall = time.clock_gettime(time.CLOCK_REALTIME)
        return [wall, time.clock_gettime(time.CLOCK_MONOTONIC), time.clock_gettime(time.CLOCK_BOOTTIME), wall]

    def demand_ahead(seconds):
        """Of this process, by clock; the wall clock once more behind the waits."""
        before = clocks()
        process.stdin.write("\n")
        process.stdin.flush()
        theirs = json.loads(process.stdout.readline())
        for least, found, most, lead in zip(before, theirs, clocks(), [seconds, 0, 0, seconds]):
            assert least <= found - lead <= most

    try:
        demand_ahead(3600)
        clock.set(-3600)
        demand_ahead(-3600)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(PATIENCE)


def test_the_server_runs_with_a_wrong_wall_clock(tmp_path):
    """It asks the clock in ways of its own."""
    clock = WallClock(tmp_path, "node")
    clock.set(-3600)
    arguments = [BINARY, "token", "ann", "--ttl", "1h", "--set", f"auth.secret={SECRET}", "--data-dir", tmp_path]
    begin = time.time()
    done = subprocess.run(
        list(map(str, arguments)), env=clean_environment(clock.environment), capture_output=True, text=True, check=True)
    # The hour of the token is the one that the clock is behind.
    assert begin - 1 <= expiry_of(done.stdout.strip()) / 1000 <= time.time() + 1


def drawn(seed, has_nats=True):
    """What two hundred rounds with pairs are."""
    nodes = [SimpleNamespace(name=f"node{number}") for number in range(3)]
    run = SimpleNamespace(random=Random(seed), cluster=SimpleNamespace(nodes=nodes, nats=has_nats or None, network=None))
    return [[(type(part), part.node.name) for part in faults.Pair(run).parts] for _ in range(200)]


def test_pairs_are_drawn_by_the_seed_and_never_for_one_engine_or_node():
    pairs = drawn(1)
    assert pairs == drawn(1) != drawn(2)
    for (kind, node), (other, other_node) in pairs:
        assert kind is not other and node != other_node and not kind.engines & other.engines
    assert {kind for pair in pairs for kind, _ in pair} == set(faults.PAIRED)
    assert not any(kind.needs_nats for pair in drawn(1, has_nats=False) for kind, _ in pair)


def test_each_fault_comes_once_before_one_comes_again(tmp_path):
    order = Run(tmp_path, seed=1).plan(2 * len(faults.ALL) + 3, faults.ALL)
    assert set(order[:len(faults.ALL)]) == set(order[len(faults.ALL):-3]) == set(faults.ALL)
    assert order == Run(tmp_path, seed=1).plan(len(order), faults.ALL) != Run(tmp_path, seed=2).plan(len(order), faults.ALL)


@pytest.mark.parametrize("words, reason", [
    (["--only", "Kill,Nothing"], "there is no fault 'Nothing'"),
    (["--only", "CutFromNATS,RestartNATS", "--bus", "postgresql"], "without NATS there is none of these faults")])
def test_faults_that_cannot_be_are_refused(words, reason):
    done = run_script("chaos", *words)
    assert done.returncode == 2 and reason in done.stderr
