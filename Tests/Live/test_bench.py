"""`throng bench`, against a server with small numbers. Benchmarks.md explains the figures."""
import asyncio
import json
import re
import signal
import subprocess

import pytest

from harness.bench import SHORT, SHORT_CLOSED, admit_step_by_step, another_server, bench, demand_groups
from harness.server import BINARY, clean_environment, run_throng

LATENCIES = {"p50", "p90", "p99", "p99.9", "max", "mean", "count"}


def test_a_room_in_the_open_loop(quick_server):
    figures, table = bench(
        quick_server, "room", "--members", 10, "--publishers", 3, "--rate", 60, "--pid", quick_server.process.pid, *SHORT)
    assert figures["scenario"] == "room"
    assert figures["parameters"] == {
        "members": 10, "publishers": 3, "rate": 60, "type": "AVChatRoom", "size": 250, "warmUp": 0.2, "duration": 1}
    assert figures["messages"] == 60 and figures["lost"] == 0 and figures["surplus"] == 0
    # 10 members, and each message reaches two of the three publishers.
    assert figures["latencyMs"]["count"] == 60 * 12
    assert set(figures["latencyMs"]) == LATENCIES
    assert 0 < figures["latencyMs"]["p50"] <= figures["latencyMs"]["p99"] <= figures["latencyMs"]["max"]
    assert figures["statuses"] == {
        "Delivered": 60, "Stored": 0, "Queued": 0, "Dropped": 0, "droppedLater": 0, "errors": 0, "unanswered": 0}
    server = figures["server"]
    assert server["pid"] == quick_server.process.pid and server["cpuSeconds"] >= 0
    assert server["rssPeakBytes"] >= server["rssBytes"] > 1_000_000 and server["rssBytesBefore"] > 1_000_000
    assert {"cpuMicrosecondsPerDelivery", "cpuMicrosecondsPerMessage", "rssBytesPerConnection"} <= set(server)
    assert figures["generator"]["cpuSeconds"] > 0 and figures["generator"]["busy"] > 0
    assert set(figures["generator"]["sendDelayMs"]) == LATENCIES
    assert figures["conditions"] == [] and figures["failures"] == [] and figures["endings"] == {}
    assert "latency, ms" in table and "deliveries" in table
    demand_groups(quick_server, 0)


def compressed_room(make_server, tmp_path, compression, *words):
    """The figures and the table of a room whose frames are checked, and how many members it has."""
    texts = tmp_path / "texts.txt"
    texts.write_text("Hello!\n你好\nDo you know \"the\" way?\n", encoding="utf8")
    server = make_server({"limits.avChatRoom.messagesPerSecond": 0, "compression": compression})
    # Each node compresses what it sends to enough members of its own.
    members = 120 * len(server.node_addresses)
    figures, table = bench(
        server, "room", "--members", members, "--inflight", 4, "--compress", "--texts", texts, *words)
    assert figures["failures"] == [] and figures["lost"] == figures["surplus"] == 0
    assert figures["parameters"]["texts"] == str(texts) and "size" not in figures["parameters"]
    assert "bytes received" in table
    return figures, members


@pytest.mark.parametrize("compression, is_shared", [("room", True), ("off", False)])
def test_compression_is_checked_byte_by_byte(make_server, tmp_path, compression, is_shared):
    figures, members = compressed_room(make_server, tmp_path, compression, "--warm-up", 0, "--duration", 3)
    compressed = figures["compression"]
    assert figures["messages"] >= 4 and figures["latencyMs"]["count"] == figures["messages"] * members
    # With the first delivery of each; its publisher gets none. What is sent as the window ends counts here alone.
    beyond = compressed["compared"] - figures["messages"] * (members - 1)
    assert 0 <= beyond <= figures["parameters"]["publishers"] * 4 * members, figures
    assert compressed["share"] > 0 if is_shared else compressed["share"] == 0


@pytest.mark.campaign
@pytest.mark.parametrize("compression, is_shared", [("room", True), ("off", False)])
def test_compression_makes_deliveries_short(make_server, tmp_path, compression, is_shared):
    figures, members = compressed_room(make_server, tmp_path, compression, "--warm-up", 1, "--duration", 3)
    compressed = figures["compression"]
    assert compressed["compared"] > 10 * members and 200 < compressed["messageBytesPerDelivery"] < 500
    if is_shared:
        assert compressed["share"] > 0.5 and compressed["wireBytesPerDelivery"] < 200
    else:
        assert compressed["share"] == 0 and compressed["wireBytesPerDelivery"] > compressed["messageBytesPerDelivery"]


def test_a_room_without_a_rate_sends_as_much_as_a_live_room_surely_takes(make_server):
    """At the defaults nothing is queued or dropped."""
    own = make_server()
    figures, _ = bench(own, "room", "--members", 3, *SHORT)
    assert figures["parameters"]["rate"] == 20 and figures["messages"] == 20
    assert figures["statuses"]["Delivered"] == 20 and figures["lost"] == 0


@pytest.mark.parametrize("type, status", [("AVChatRoom", "Delivered"), ("Public", "Stored"), ("Meeting", "Stored"), ("Work", "Stored")])
def test_a_room_of_any_type_in_the_closed_loop(quick_server, type, status):
    figures, table = bench(
        quick_server, "room", "--members", 5, "--publishers", 2, "--inflight", 4, "--type", type, *SHORT_CLOSED)
    assert figures["messages"] >= 4 and figures["lost"] == 0 and figures["surplus"] == 0
    assert figures["statuses"][status] == figures["messages"]
    # 5 members, and the other publisher.
    assert figures["latencyMs"]["count"] == figures["messages"] * 6
    assert "queueing, ms" in table
    demand_groups(quick_server, 0)


@pytest.mark.campaign
@pytest.mark.parametrize("words", [
    ["room", "--members", 5, "--publishers", 2, "--inflight", 4],
    ["room", "--members", 5, "--publishers", 2, "--inflight", 4, "--type", "Public"],
    ["durable", "--senders", 4, "--members", 3]], ids=["live", "stored", "durable"])
def test_a_closed_loop_goes_round_and_round(quick_server, words):
    figures, _ = bench(quick_server, *words, *SHORT)
    assert figures["messages"] > 10 and figures["lost"] == 0


def test_members_that_never_read_hurt_nobody(make_server):
    server = make_server({"limits.avChatRoom.messagesPerSecond": 0, "limits.sendQueueBytes": 65536})
    figures, _ = bench(
        server, "room", "--members", 5, "--publishers", 1, "--inflight", 16, "--stalled", 2, "--size", 8000, *SHORT_CLOSED)
    assert figures["lost"] == 0 and figures["messages"] >= 16
    assert figures["parameters"]["stalled"] == 2


def test_many_groups(quick_server):
    figures, _ = bench(quick_server, "groups", "--groups", 6, "--connections", 24, "--rate", 90, *SHORT)
    assert figures["parameters"]["members"] == 4 and figures["parameters"]["connections"] == 24
    assert figures["messages"] == 90 and figures["latencyMs"]["count"] == 90 * 3 and figures["lost"] == 0
    demand_groups(quick_server, 0)


def test_stored_messages(quick_server):
    figures, table = bench(quick_server, "durable", "--senders", 4, "--members", 3, *SHORT_CLOSED)
    stored = figures["statuses"]["Stored"]
    # The last ones are answered behind the window.
    assert stored >= 4 and stored - 4 <= figures["messages"] <= stored and figures["lost"] == 0
    assert sum(figures["statuses"].values()) == figures["latencyMs"]["count"] == stored
    assert "send to Stored, ms" in table and figures["latencyMs"]["p50"] > 0
    shared, _ = bench(quick_server, "durable", "--senders", 5, "--senders-per-group", 2, "--members", 3, *SHORT_CLOSED)
    assert shared["parameters"]["groups"] == 3 and shared["lost"] == 0 and shared["statuses"]["Stored"] >= 5
    figures, table = bench(quick_server, "durable", "--senders", 4, "--members", 3, "--rate", 40, *SHORT)
    assert figures["statuses"]["Stored"] == 40 and figures["latencyMs"]["count"] == 40 and "due to Stored, ms" in table


def test_connecting(quick_server):
    figures, _ = bench(quick_server, "connect", "--connections", 60, "--pid", quick_server.process.pid, "--assert", "connections/s>0")
    assert figures["connect"]["connections"] == 60 and figures["connect"]["connectionsPerSecond"] > 0
    assert figures["conditions"][0]["met"] is True
    assert "messages" not in figures and "lost" not in figures
    slow, _ = bench(quick_server, "connect", "--connections", 11, "--rate", 10)
    assert slow["connect"]["seconds"] >= 1, "the eleventh begins a second after the first"


def test_everybody_comes_back(quick_server):
    figures, table = bench(quick_server, "storm", "--connections", 40, "--pid", quick_server.process.pid)
    assert figures["storm"]["connections"] == 40 and figures["storm"]["seconds"] > 0
    assert figures["connect"]["connections"] == 40
    assert "all back" in table
    demand_groups(quick_server, 0)


async def test_a_storm_is_told_to_wait_while_others_talk(make_server):
    """Everybody comes back as told, and is in. The server's time stands still until somebody is told."""
    server = make_server({"limits.signInsPerSecond": 30, "limits.avChatRoom.messagesPerSecond": 0}, frozen=True)
    begin = server.now
    storm = asyncio.create_task(asyncio.to_thread(
        bench, server, "storm", "--connections", 100, "--established", 5, "--warm-up", 0, "--duration", 1, "--pid",
        server.process.pid))
    told = await admit_step_by_step(server, storm)
    figures, table = await storm
    assert figures["storm"]["connections"] == 100 and figures["storm"]["toldToWait"] > 0
    assert told == figures["connect"]["toldToWait"] + figures["storm"]["toldToWait"]
    assert server.now - begin >= (105 + 100 - 30) / 30, "all but 30 had to wait for their turn"
    established = figures["established"]
    assert established["connections"] == 5 and established["errors"] == 0
    assert established["beforeMs"]["count"] > 0 and established["duringMs"]["count"] > 0
    assert "told to wait" in table and "5 established, during, ms" in table
    demand_groups(server, 0)


def overload(server, *words):
    """The figures by priority; their counts add up."""
    figures, table = bench(server, "priority", "--members", 4, "--high", 20, "--normal", 10, "--low", 30, "--lowest", 30, *words)
    assert list(figures["priorities"]) == ["High", "Normal", "Low", "Lowest"] and figures["lost"] == 0
    for one in figures["priorities"].values():
        kept = one["delivered"] + one["queued"] - one["onMessageDropped"]
        assert kept + one["dropped"] + one["onMessageDropped"] == one["sent"]
        # 4 members, and three of the four publishers.
        assert one["deliveries"] == kept * 7
    assert "Lowest" in table
    total = sum(one["deliveries"] for one in figures["priorities"].values())
    assert re.search(rf"^deliveries of these messages +{total:,}$", table, re.MULTILINE), table
    return figures["priorities"]


def test_statuses_that_many_watch(quick_server):
    figures, table = bench(
        quick_server, "presence", "--sessions", 20, "--watch", 10, "--flap", 40, "--rate", 20, "--pid",
        quick_server.process.pid, "--warm-up", 1, "--duration", 4)
    assert figures["scenario"] == "presence" and figures["lost"] == 0 and figures["failures"] == []
    assert figures["messages"] == 80 and figures["increments"]["errors"] == {}
    statuses = figures["statusEvents"]
    # Each session gets one event a second at most, and watches ten. On a busy machine a second may pass
    # without any, and four do not.
    assert 0 < statuses["events"] <= 5 * 20 and statuses["events"] <= statuses["rows"] <= 10 * statuses["events"]
    assert "status events" in table and "status changes" in table
    demand_groups(quick_server, 0)


def test_an_overload_by_priority(server):
    figures = overload(server, *SHORT)
    assert [one["sent"] for one in figures.values()] == [20, 10, 30, 30]


@pytest.mark.campaign
def test_an_overload_drops_the_lowest_priority(server):
    figures = overload(server, "--warm-up", 2, "--duration", 3)
    assert [one["sent"] for one in figures.values()] == [60, 30, 90, 90]
    for name in ("High", "Normal"):
        one = figures[name]
        assert one["dropped"] == one["onMessageDropped"] == 0, "30 a second are within the limit of 40"
    assert figures["Lowest"]["dropped"] + figures["Lowest"]["onMessageDropped"] > 0


def test_the_servers_limits_are_told_and_not_counted_as_losses(make_server):
    server = make_server({"limits.requestsPerSecond": 5, "limits.requestBurst": 5})
    figures, table = bench(server, "room", "--members", 3, "--publishers", 1, "--rate", 40, *SHORT)
    assert figures["statuses"]["errors"] > 0 and figures["lost"] == 0
    assert any(error.startswith("7008 ") for error in figures["errors"])
    assert "error 7008" in table
    # The publisher's next request is refused too; the group goes later.
    assert figures["notes"] == []
    demand_groups(server, 0)


def test_another_server_is_measured_with_its_own_words():
    """A server that greets, and sends every message to everyone, its publisher too."""
    def handle(socket, text, everyone):
        assert isinstance(text, bytes)
        if text.startswith(b"hello "):
            socket.send(b"welcome " + text[6:])
        else:
            for other in everyone:
                other.send(text)

    with another_server(handle) as url:
        done = run_throng(
            "bench", "room", "--members", 4, "--publishers", 2, "--rate", 40, "--url", f"{url}/x%d",
            "--hello", "hello %d", "--ready", "welcome", "--publish", '{"say":"%t%p"}', "--size", 100, "--binary", "--quiet",
            "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["messages"] == 40 and figures["latencyMs"]["count"] == 160 and figures["lost"] == 0
    assert "statuses" not in figures and "type" not in figures["parameters"]


def test_a_closed_loop_goes_on_when_its_clock_misses_messages(tmp_path):
    """A server that sends connection 0 every fifth message only: a window of four that gets no
    place back ends with its first four. The fifth ends the run."""
    sent, run = 0, None

    def handle(socket, text, everyone):
        nonlocal sent
        if text.startswith("hello "):
            socket.send("welcome")
            return
        sent += 1
        everyone[1].send(text)
        if sent % 5 == 0:
            everyone[0].send(text)
        if sent == 5:
            run.send_signal(signal.SIGINT)

    with another_server(handle) as url:
        run = subprocess.Popen(
            [str(BINARY), "bench", "room", "--members", "2", "--inflight", "4", "--url", url, "--hello", "hello %d", "--ready",
             "welcome", "--publish", "%t", "--parallel", "1", "--quiet", "--json", "--warm-up", "0", "--duration", "600"],
            env=clean_environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, errors = run.communicate(timeout=120)
    figures = json.loads(output)
    assert run.returncode == 1 and figures["failures"] == ["interrupted: the figures are those up to then"]
    assert figures["messages"] > 4 and figures["lost"] > 0
    (note,) = figures["notes"]
    assert "did not come back to connection 0" in note and f"note: {note}" in errors
