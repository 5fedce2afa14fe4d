"""The programs that measure a cluster further out (Cluster.md, "Measured"): what they make of what they have seen. Their
figures are those of an idle machine: tests of these are marked `campaign`."""
import asyncio
import json
import math
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from random import Random

import pytest
from cluster_bench.works import build_floor
from connections.crowd import Crowd, CrowdFailed, build
from large_groups.__main__ import table as large_groups_table
from large_groups.growth import is_faster, power
from network.namespaces import Network, is_possible
from node_loss.__main__ import HEAD, cells, draw, total
from node_loss.judge import SessionView, Stored, judge

from harness.limits import can_start_clusters
from harness.server import BINARY, REPOSITORY
from harness.waiting import within
from harness.world import eventually

measures = [
    pytest.mark.campaign, pytest.mark.heavy, pytest.mark.files, pytest.mark.timeout(900),
    pytest.mark.skipif(BINARY.name != "throng", reason="it starts servers of its own, of single processes")]
needs_a_cluster = pytest.mark.skipif(
    not can_start_clusters(), reason="PostgreSQL does not work for root, and user namespaces are off")


def run_package(name, *words):
    """Runs a program of Tests/Campaigns to its end; gives the completed process with text output."""
    environment = {**os.environ, "THRONG_BINARY": str(BINARY), "THRONG_PYTHON": sys.executable}
    command = [str(REPOSITORY / "Tests/Campaigns/run-package"), name, *map(str, words)]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def rows_of(done):
    """The cells of the tables that were printed, without their heads."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    rules = {place for place, row in enumerate(cells) if set(row) == {"---"}}
    return [row for place, row in enumerate(cells) if place not in rules and place + 1 not in rules]


@pytest.mark.parametrize("name", ["node_loss", "connections", "network", "large_groups"])
def test_the_help_needs_no_server(name):
    done = run_package(name, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: {name} "), done


@pytest.mark.parametrize("name, words, reason", [
    ("node_loss", ["--loss", "nats", "--bus", "postgresql"], "without NATS it cannot be lost"),
    ("node_loss", ["--members", 9, "--sessions", 3], "more members than there are sessions"),
    ("connections", ["--only", "nothing"], "there is no work 'nothing'"),
    ("connections", ["--connections", 10_000_000], "a process may open"),
    ("large_groups", ["--stores", "paper"], "there is no store 'paper'"),
    ("network", ["--only", "OneWayLoss"], "there is none of these faults in a network"),
    ("network", ["--loss", "1"], "a loss is a share of 1")])
def test_what_cannot_be_measured_is_refused(name, words, reason):
    done = run_package(name, *words)
    assert done.returncode == 2 and reason in done.stderr, done


# The loss of a node

LOST_AT = 100


def view(user="ann", node="node1", code=None, closed=None, pending=0, **events):
    return SessionView(user, node, tuple(events), dict(events), code=code, closed=closed, pending=pending)


def history(*rows):
    return [Stored(seq, sender, time) for seq, sender, time in rows]


# Two messages before the loss of node2, and one behind it.
HISTORIES = {"g": history((1, "bob", 98), (2, "ann", 99), (3, "bob", 105))}


def test_a_session_that_has_everything_was_closed_without_a_reason():
    found = judge([view(code=4008, closed=101, g=[1])], HISTORIES, "node2", LOST_AT)
    assert (found.survivors, found.codes, found.needless, found.missing, found.in_flight) == (1, Counter({4008: 1}), 1, 0, 0)
    assert found.last_close == 1 and found.share == 1


@pytest.mark.parametrize("seen, reason", [
    (view(code=4008, closed=101, g=[]), "missing"), (view(code=4008, closed=106, g=[1]), "missing"),
    (view(code=4008, closed=101, pending=1, g=[1]), "in_flight"), (view(code=4008, closed=101, pending=1, g=[]), "in_flight")])
def test_a_session_that_missed_something_had_a_reason(seen, reason):
    found = judge([seen], HISTORIES, "node2", LOST_AT)
    assert getattr(found, reason) == 1 and found.needless + found.missing + found.in_flight == 1


def test_sessions_of_the_lost_node_do_not_count():
    views = [view("ann", "node2", 1006, 100, g=[]), view("eve", "node1", g=[1, 2, 3]), view("cat", "node3", 4008, 101, g=[1, 2])]
    found = judge(views, HISTORIES, "node2", LOST_AT)
    assert (found.survivors, found.closed, found.share, found.missed) == (2, 1, 0.5, 0)
    # Where all nodes live, they do.
    assert judge(views, HISTORIES, None, LOST_AT).closed == 2


def test_what_an_open_session_misses_is_found():
    found = judge([view("eve", g=[1, 3])], HISTORIES, "node2", LOST_AT)
    assert (found.missed, found.closed, found.disordered) == (1, 0, 0)


@pytest.mark.parametrize("seqs", [[1, 3, 2], [1, 2, 2, 3]])
def test_events_that_come_twice_or_too_late_are_found(seqs):
    assert judge([view("eve", g=seqs)], HISTORIES, "node2", LOST_AT).disordered == 1


def test_users_are_in_as_many_groups_as_others():
    members = draw(Random(1), sessions=30, groups=10, members=9)
    assert all(len(set(users)) == len(users) == 9 for users in members.values())
    counts = Counter(user for users in members.values() for user in users)
    assert len(counts) == 30 and set(counts.values()) == {3}
    assert members == draw(Random(1), 30, 10, 9) != draw(Random(2), 30, 10, 9)


def test_runs_are_summed():
    def one(number, closed, code, served):
        counted = {name: 0 for name in HEAD}
        counted |= {"run": number, "lost": "node1", "sessions elsewhere": 200, "closed": closed, "by code": {code: closed},
                    "refused": {10002: number}, "groups served again, s": served}
        return counted

    found = total([one(1, 10, 4008, 3.5), one(2, 30, 4008, 3.1), one(3, 2, 1006, 4.25)])
    assert list(found) == HEAD and found["run"] == "all"
    assert (found["closed"], found["sessions elsewhere"], found["share, %"]) == (42, 600, 7)
    assert found["by code"] == {4008: 40, 1006: 2} and found["refused"] == {10002: 6} and found["groups served again, s"] == 4.25


def test_refusals_and_requests_without_an_answer_stand_in_one_cell():
    assert cells({"refused": {"unanswered": 2, 10002: 3}, "closed": 4}) == ["10002: 3, unanswered: 2", 4]


@needs_a_cluster
@pytest.mark.parametrize("loss", [pytest.param(loss, marks=measures) for loss in ("kill", "nats")])
def test_the_loss_of_a_node_is_measured(tmp_path, loss):
    file = tmp_path / "figures.json"
    words = ["--runs", 1, "--sessions", 30, "--groups", 10, "--members", 5, "--rate", 20, "--before", 1, "--after", 8]
    one, added = rows_of(run_package("node_loss", *words, "--loss", loss, "--json", file))
    (found,) = json.loads(file.read_text())["runs"]
    assert one[0] == "1" and added[0] == "all" and list(found) == HEAD
    assert found["sessions elsewhere"] == (20 if loss == "kill" else 30) and found["acknowledged"] > 20
    assert found["missed silently"] == found["out of order"] == 0
    reasons = ("had missed something", "with a request in flight", "without a reason")
    assert sum(found[name] for name in reasons) == found["closed"] == sum(found["by code"].values())


# Crowds


async def test_a_crowd_comes_and_waits_and_goes(make_server, tmp_path):
    # One may come at once, and then two a second.
    own = make_server({"limits.signInsPerSecond": 2})
    crowd = await Crowd(build(tmp_path), tmp_path, own.address, "user", 5, sources=2).start()
    try:
        found = await crowd.open(4)
        assert found["there"] == 4 and found["toldToWait"] > 0 and found["failed"] == 0, found
        own.metric_becomes("throng_sessions", 4)
        found = await crowd.close(3)
        assert found["there"] == 1 and found["codes"] == {}
        own.metric_becomes("throng_sessions", 1)
        await crowd.open(1)
        own.metric_becomes("throng_sessions", 2)
        with pytest.raises(CrowdFailed, match="refused: open 1 100"):
            await crowd.open(1)
    finally:
        await crowd.kill()
    own.metric_becomes("throng_sessions", 0)


async def test_a_crowd_joins_and_counts_what_it_gets(server, world, tmp_path):
    owner = await world.user("owner")
    room = await world.group(owner, "AVChatRoom")
    crowd = await Crowd(build(tmp_path), tmp_path, server.address, world.name("crowd"), 3, group=room).start()
    try:
        found = await crowd.open(3)
        assert found["there"] == 3 and found["messages"] == 0
        for text in (f"t={time.monotonic_ns()};", "without a time"):
            await owner.call("sendGroupTextMessage", groupID=room, text=text)

        async def heard():
            return (await crowd.counts())["messages"]

        await eventually(heard, 6)
        found = await crowd.counts()
        assert found["messages"] == 6 and found["codes"] == {} and (await crowd.counts())["latencies"] == 0
        other = await Crowd(crowd.program, tmp_path, server.address, world.name("other"), 1, group="no such group").start()
        try:
            with pytest.raises(CrowdFailed, match="joinGroup"):
                await other.open(1)
        finally:
            await other.kill()
    finally:
        await crowd.kill()


@pytest.mark.parametrize("work, rows", [pytest.param("close", 2, marks=measures)] + [
    pytest.param(work, 2, marks=[*measures, needs_a_cluster]) for work in ("idle", "room", "storm")])
def test_connections_are_measured(work, rows):
    words = ["--connections", 30, "--nodes", "1,2", "--seconds", 1, "--limit", 20]
    words += ["--sizes", "20,40", "--churn", 5, "--repeats", 2]
    found = rows_of(run_package("connections", "--only", work, *words))
    assert len(found) == rows and all(cell for row in found for cell in row)
    if work == "room":
        assert [row[-1] for row in found] == ["0", "0"] and [row[1] for row in found] == ["30", "60"]


@pytest.mark.parametrize("store", [pytest.param("sqlite", marks=measures)] + [
    pytest.param("postgresql", marks=[*measures, needs_a_cluster])])
def test_large_groups_are_measured(store):
    found = rows_of(run_package("large_groups", "--members", "20,40", "--stores", store, "--repeats", 2))
    assert [row[0] for row in found][:3] == ["nothing, for comparison", "joinGroup", "sendGroupTextMessage"]
    assert len(found) == 10 and all(len(cell.split(" / ")) == 2 for row in found for cell in row[1:-1])
    assert all(float(row[-1]) < 10 for row in found)


@pytest.mark.parametrize("figures, expected", [
    ([1, 1, 1], 0), ([1, 10, 100], 1), ([1, 100, 10_000], 2), ([1, 31.6228, 1000], 1.5), ([100, 10, 1], -1),
    # The largest step counts, and what is below the floor is the machine's.
    ([5, 5, 500], 2), ([0.001, 0.01, 0.1], 0), ([0.001, 0.4, 5], 1), ([0, 0, 0], 0),
    # What was not measured is left out.
    ([1, None, 100], 1), ([None, 1, 10], 1), ([1, None, None], None), ([None, None, None], None)])
def test_the_power_by_which_figures_grow(figures, expected):
    found = power([1000, 10_000, 100_000], figures)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-5))


def test_a_sort_grows_no_faster_than_the_members_and_a_square_does():
    sizes = [1000, 10_000, 100_000]
    assert not is_faster(power(sizes, sizes))
    assert not is_faster(power(sizes, [size * math.log2(size) for size in sizes]))
    assert is_faster(power(sizes, [size ** 1.5 for size in sizes]))
    assert is_faster(power(sizes, [size * size for size in sizes]))
    assert not is_faster(None)


def test_the_table_of_large_groups_tells_the_growth_of_cpu():
    found = {"list": [["1.0", "2.0", "0.60", "3.0", "4"], ["1.0", "2.0", "60.00", "3.0", "4"]]}
    head, rule, row = large_groups_table([1000, 10_000], found)
    assert len(head) == len(rule) == len(row) and head[3] == "CPU each, ms"
    assert row == ["list", "1.0 / 1.0", "2.0 / 2.0", "0.60 / 60.00", "3.0 / 3.0", "4 / 4", "2.00"]
    assert large_groups_table([1000], {"list": [["1.0", "2.0", "0.60", "3.0", "4"]]})[2][-1] == "–"


# What the engines allow


@pytest.mark.parametrize("words", [
    [], ["nats://127.0.0.1:1", "host=/", "1", "2", "3"], ["nats://127.0.0.1:1", "host=/", "3", "0", "3"],
    ["nats://127.0.0.1:1", "host=/", "3", "2", "3", "230", "480"]])
def test_what_the_engines_allow_is_not_asked_of_nobody(words, tmp_path):
    done = subprocess.run([build_floor(tmp_path), *words], capture_output=True, text=True)
    assert done.returncode == 64 and done.stderr.startswith(("usage: bus-floor ", "bus-floor: 2 to 8 nodes")), done


@needs_a_cluster
@pytest.mark.parametrize("senders", [pytest.param([2, 6], marks=measures)])
def test_what_the_engines_allow_is_measured(senders):
    words = ["--only", "floor", "--setups", 1, "--seconds", 1, "--senders", ",".join(map(str, senders))]
    found = rows_of(run_package("cluster_bench", *words))
    assert [int(row[1]) for row in found] == senders
    # A request and an answer, which others may share a frame with.
    assert all(float(row[2].replace(",", "")) > 0 and 0 < float(row[8]) <= 2.1 for row in found)


# The network


@needs_a_cluster
@pytest.mark.skipif(not is_possible(), reason="it needs root, ip, cc and /dev/net/tun")
@pytest.mark.parametrize("delay", [pytest.param(10, marks=measures)])
def test_a_message_crosses_the_network(delay):
    found = rows_of(run_package("network", "--delays", delay, "--rounds", 0, "--sends", 20))
    times = {(row[1], row[2]): float(row[3]) for row in found}
    assert times["live", "owner elsewhere"] >= 2 * delay and times["stored", "owner elsewhere"] >= 3 * delay
    assert times["stored", "owner here"] >= delay


PROGRAM = """#!/usr/bin/env python3
import os, socket, sys, time
from urllib.parse import urlsplit
place = urlsplit(os.environ["THRONG_BUS_URL"])
one = socket.create_connection((place.hostname, place.port))
other = socket.socket(socket.AF_UNIX)
other.connect(sys.argv[3].split("host=")[1] + "/.s.PGSQL.5432")
for way in (one, other):
    began = time.monotonic()
    way.sendall(b"hello")
    print(way.recv(5).decode(), time.monotonic() - began, os.environ.get("DELAYED_MS"), flush=True)
print(sys.argv[3].split("host=")[1], flush=True)
"""


async def test_a_server_behind_proxies_that_delay(tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    async def repeat(reader, writer):
        writer.write(await reader.read(100))
        await reader.read()
        writer.close()

    bus = await asyncio.start_server(repeat, "127.0.0.1", 0)
    database = await asyncio.start_unix_server(repeat, tmp_path / ".s.PGSQL.5432")
    environment = {**os.environ, "DELAYED_BINARY": str(program), "DELAYED_MS": "40",
                   "THRONG_BUS_URL": f"nats://throng:word@127.0.0.1:{bus.sockets[0].getsockname()[1]}"}
    delayed = REPOSITORY / "Tests/Campaigns/network/delayed"
    process = await asyncio.create_subprocess_exec(
        delayed, "serve", "--set", f"store.url=postgres://throng@/throng?host={tmp_path}", env=environment,
        stdout=asyncio.subprocess.PIPE)
    output, _ = await within(process.communicate(), 20)
    *times, directory = output.decode().splitlines()
    for line in times:
        word, seconds, rest = line.split()
        assert word == "hello" and float(seconds) >= 0.08 and rest == "None"
    # The proxies end with the program.
    await eventually(lambda: asyncio.to_thread(os.path.exists, directory), False)
    for server in (bus, database):
        server.close()
    alone = {**environment, "DELAYED_BINARY": "/bin/echo"}
    done = subprocess.run([delayed, "version"], env=alone, capture_output=True, text=True)
    assert done.stdout == "version\n"


ECHO = """
import socket, sys
echo = socket.socket(type=socket.SOCK_DGRAM)
echo.bind((sys.argv[1], 7000))
print("ready", flush=True)
while True:
    echo.sendto(*echo.recvfrom(100))
"""


@pytest.mark.skipif(not is_possible(), reason="it needs root, ip, cc and /dev/net/tun")
async def test_a_network_delays_and_loses_and_keeps_the_order(tmp_path):
    network = Network(tmp_path, ["one", "two"])
    client = socket.socket(type=socket.SOCK_DGRAM)
    client.setblocking(False)
    echoes = []

    async def ask(name, word):
        client.sendto(word, (network.address(name), 7000))

    async def answer():
        return await within(asyncio.get_running_loop().sock_recv(client, 100), 20)

    try:
        await network.start()
        for name in ("one", "two"):
            command = [*network.inside(name), sys.executable, "-c", ECHO, network.address(name)]
            echoes.append(await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE))
            assert await within(echoes[-1].stdout.readline(), 20) == b"ready\n"
            # Both know each other's hardware addresses from now on.
            await ask(name, b"hello")
            assert await answer() == b"hello"
        await network.delay("one", network.HERE, 40, 10)
        began = time.monotonic()
        await ask("one", b"late")
        await ask("two", b"early")
        assert {await answer(), await answer()} == {b"early", b"late"} and time.monotonic() - began >= 0.08
        # What is sent later does not come earlier, although it is not delayed.
        await network.delay("one", network.HERE, 40)
        await ask("one", b"first")
        await network.delay("one", network.HERE, 0)
        await ask("one", b"second")
        assert [await answer(), await answer()] == [b"first", b"second"]
        await network.lose(network.HERE, "one", 1)
        await ask("one", b"lost")

        async def is_lost():
            return (await network.counts())["lost"] > 0

        await eventually(is_lost, True)
        await network.lose(network.HERE, "one", 0)
        await ask("one", b"kept")
        assert await answer() == b"kept"
        with pytest.raises(AssertionError, match="refused: loss 1 9 0"):
            await network._command("loss", 1, 9, 0)
    finally:
        client.close()
        for echo in echoes:
            echo.kill()
            await echo.wait()
        await network.end()
