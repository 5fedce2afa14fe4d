"""SIGTERM drains (Protocol.md, "Draining")."""
import asyncio
import signal
import time

import pytest

from harness.client import Gone
from harness.world import history_of


async def exit_status(own):
    return await asyncio.to_thread(own.wait)


async def test_sigterm_drains(make_server, make_world):
    """readyz and new upgrades 503 at once; every session is told, served on, closed with 4001; then
    exit 0."""
    own = make_server({"drain.duration": 4})
    world = make_world(own)
    people = await world.users(*["user"] * 8)
    group = await world.group(people[0], members=people[1:])
    own.terminate()
    for client in people:
        event = await client.expect("onServerDraining")
        assert isinstance(event["retryAfterMs"], int) and event["retryAfterMs"] >= 0
    assert own.http("GET", "/readyz").status == 503
    assert own.http("GET", "/healthz").status == 200
    assert (await world.raw()).status == 503
    acknowledged = []
    for client in people:
        try:
            result = await client.call("sendGroupTextMessage", groupID=group, text="last words")
        except Gone:
            continue  # its turn to be closed had come
        assert result["status"] == "Stored"
        acknowledged.append(result["msgID"])
    assert acknowledged, "no request was served while draining"
    for client in people:
        await client.closed(4001)
    assert await exit_status(own) == 0
    own.start()
    messages = await history_of(await world.session(people[0].user), group)
    assert [m["msgID"] for m in messages if m["type"] == "Text"] == acknowledged


async def test_the_delays_are_jittered(make_server, make_world):
    own = make_server({"drain.duration": 2})
    people = await make_world(own).users(*["user"] * 20)
    own.terminate()
    delays = [(await client.expect("onServerDraining"))["retryAfterMs"] for client in people]
    assert len(set(delays)) > 3, delays
    assert await exit_status(own) == 0


@pytest.mark.one_process("several nodes send their sessions to each other")
async def test_a_server_that_is_alone_asks_for_the_rest_of_its_drain(make_server, make_world):
    """Whoever comes back earlier is refused."""
    own = make_server({"drain.duration": 3})
    people = await make_world(own).users(*["user"] * 20)
    end = time.monotonic() + 3
    own.terminate()
    for client in people:
        wait = (await client.expect("onServerDraining"))["retryAfterMs"]
        await client.closed(4001)
        assert time.monotonic() + wait / 1000 >= end
    assert await exit_status(own) == 0


async def test_a_second_signal_ends_at_once(make_server, make_world):
    own = make_server({"drain.duration": 120})
    alice = await make_world(own).user("alice")
    group = await make_world(own).group(alice)
    result = await alice.call("sendGroupTextMessage", groupID=group, text="kept")
    own.terminate()
    await alice.expect("onServerDraining")
    # Whatever comes within a second of the first is the first once more.
    await asyncio.sleep(1.1)
    before = time.monotonic()
    own.terminate()
    assert await exit_status(own) == 1
    assert time.monotonic() - before < 60, "the drain was not cut short"
    own.start()
    alice = await make_world(own).session(alice.user)
    assert [m["msgID"] for m in await history_of(alice, group)] == [result["msgID"]]


async def test_signals_in_one_go_are_one(make_server, make_world):
    own = make_server({"drain.duration": 3})
    alice = await make_world(own).user("alice")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
        own.process.send_signal(number)
    await alice.expect("onServerDraining")
    await alice.closed(4001)
    assert await exit_status(own) == 0


def test_without_sessions_the_drain_ends_with_0(make_server):
    own = make_server({"drain.duration": 1})
    assert own.stop() == 0


async def test_a_terminal_that_is_closed_ends_nothing(make_server, make_world):
    own = make_server({"drain.duration": 1})
    alice = await make_world(own).user("alice")
    for _ in range(3):
        own.process.send_signal(signal.SIGHUP)
    await alice.quiet("onServerDraining")
    assert own.http("GET", "/readyz").status == 200
    assert own.stop() == 0


async def test_a_hangup_within_a_drain_neither_ends_nor_repeats_it(make_server, make_world):
    own = make_server({"drain.duration": 3})
    alice = await make_world(own).user("alice")
    own.terminate()
    await alice.expect("onServerDraining")
    await asyncio.sleep(1.1)
    own.process.send_signal(signal.SIGHUP)
    await alice.closed(4001)
    assert await exit_status(own) == 0
