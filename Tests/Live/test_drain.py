"""SIGTERM drains (Protocol.md, "Draining")."""
import asyncio
import signal

import pytest

from harness.world import history_of
from test_jwks import jwks_file, keys  # noqa: F401 - fixtures


async def exit_status(own):
    return await asyncio.to_thread(own.wait)


async def test_sigterm_drains(make_server, make_world):
    """readyz and new upgrades 503 at once; every session is told, served on, closed with 4001; then
    exit 0."""
    own = make_server({"drain.duration": 10}, frozen=True)
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
        result = await client.call("sendGroupTextMessage", groupID=group, text="last words")
        assert result["status"] == "Stored"
        acknowledged.append(result["msgID"])
    await own.advance(seconds=10.2)
    for client in people:
        await client.closed(4001)
    assert await exit_status(own) == 0
    own.start()
    messages = await history_of(await world.session(people[0].user), group)
    assert [m["msgID"] for m in messages if m["type"] == "Text"] == acknowledged


async def test_the_delays_are_jittered(make_server, make_world):
    own = make_server({"drain.duration": 0})
    people = await make_world(own).users(*["user"] * 20)
    own.terminate()
    delays = [(await client.expect("onServerDraining"))["retryAfterMs"] for client in people]
    assert len(set(delays)) > 3, delays
    assert await exit_status(own) == 0


@pytest.mark.one_process("several nodes send their sessions to each other")
async def test_a_server_that_is_alone_asks_for_the_rest_of_its_drain(make_server, make_world):
    """Whoever comes back earlier is refused."""
    own = make_server({"drain.duration": 10}, frozen=True)
    people = await make_world(own).users(*["user"] * 20)
    own.terminate()
    waits = {client: (await client.expect("onServerDraining"))["retryAfterMs"] for client in people}
    assert max(waits.values()) <= 15_000
    begin = own.now
    for client in sorted(people, key=waits.get, reverse=True):
        # Closed earlier, it would come back before the end.
        earliest = 10_000 - waits[client]
        if earliest > 0:
            await own.advance(seconds=begin + (earliest - 1) / 1000 - own.now)
            await client.call("ping")
    await own.advance(seconds=begin + 10.2 - own.now)
    for client in people:
        await client.closed(4001)
    assert await exit_status(own) == 0


async def test_a_second_signal_ends_at_once(make_server, make_world):
    own = make_server({"drain.duration": 86_400})
    alice = await make_world(own).user("alice")
    group = await make_world(own).group(alice)
    result = await alice.call("sendGroupTextMessage", groupID=group, text="kept")
    own.terminate()
    await alice.expect("onServerDraining")
    # Whatever comes within a second of the first is the first once more.
    own.wait_until(lambda: own.terminate() or not own.running, "the drain is cut short by a signal")
    assert await exit_status(own) == 1
    own.start()
    alice = await make_world(own).session(alice.user)
    assert [m["msgID"] for m in await history_of(alice, group)] == [result["msgID"]]


async def test_signals_in_one_go_are_one(make_server, make_world):
    own = make_server({"drain.duration": 10}, frozen=True)
    alice = await make_world(own).user("alice")
    # A process that is stopped finds them all when it goes on.
    own.process.send_signal(signal.SIGSTOP)
    own.terminate()
    own.process.send_signal(signal.SIGINT)
    own.terminate()
    own.process.send_signal(signal.SIGCONT)
    await alice.expect("onServerDraining")
    await own.advance(seconds=10.2)
    await alice.closed(4001)
    assert await exit_status(own) == 0


def test_without_sessions_the_drain_ends_with_0(make_server):
    own = make_server({"drain.duration": 1})
    assert own.stop() == 0


async def test_a_terminal_that_is_closed_ends_nothing(make_server, make_world, jwks_file):  # noqa: F811
    own = make_server({"drain.duration": 0, "auth.jwksFile": jwks_file})
    alice = await make_world(own).user("alice")
    for count in range(1, 4):
        own.process.send_signal(signal.SIGHUP)
        lines = count * len(own.node_addresses)
        own.wait_until(lambda: own.log.count('"a file was reloaded"') == lines, "the signal is taken for a reload")
    await alice.quiet("onServerDraining")
    assert own.http("GET", "/readyz").status == 200
    own.terminate()
    assert await exit_status(own) == 0


async def test_a_hangup_within_a_drain_neither_ends_nor_repeats_it(make_server, make_world):
    own = make_server({"drain.duration": 10}, frozen=True)
    alice = await make_world(own).user("alice")
    own.terminate()
    await alice.expect("onServerDraining")
    own.process.send_signal(signal.SIGHUP)
    await alice.quiet("onServerDraining")
    await own.advance(seconds=10.2)
    await alice.closed(4001)
    assert not alice.received("onServerDraining")
    assert await exit_status(own) == 0
