"""The time that tests hold (Architecture.md, "The time of a test"): what the other tests rely on."""
import time

import pytest

from harness.server import BINARY, StartFailed
from harness.tokens import expiry_of, make_token
from harness.world import eventually

pytestmark = pytest.mark.one_process("a test's clock is that of one process")


async def server_time(client):
    return (await client.call("ping"))["serverTime"]


async def test_time_stands_still_but_for_what_passes_at_once(frozen_world):
    own = frozen_world.server
    alice = await frozen_world.user("alice")
    start = await server_time(alice)
    assert start == round(own.now * 1000)
    for _ in range(3):
        assert await server_time(alice) == start
    await own.advance(5)
    assert await server_time(alice) == start + 5000
    await own.advance(0.007)
    assert await server_time(alice) == start + 5007


async def test_what_becomes_due_on_the_way_is_performed_in_its_order(frozen_world):
    own = frozen_world.server
    user = frozen_world.name()
    token = make_token(user, ttl=100, now=own.now)
    alice = await frozen_world.session(user, token=token)
    left = expiry_of(token) / 1000 - own.now
    await own.advance(left - 60.2)
    await alice.quiet("onUserSigExpired")
    await own.advance(0.4)
    await alice.expect("onUserSigExpired")
    await own.advance(59.6)
    await alice.call("ping")
    await own.advance(0.4)
    await alice.closed(4006)


async def test_a_day_passes_at_once(frozen_world):
    alice = await frozen_world.user("alice", ttl=3 * 86400)
    start = await server_time(alice)
    await frozen_world.server.advance(86400)
    assert await server_time(alice) == start + 86_400_000


async def test_time_runs_on_when_it_may(make_server, make_world):
    own = make_server(frozen=True)
    alice = await make_world(own).user("alice", ttl=7200)
    await own.advance(3600)
    start = await server_time(alice)
    own.resume()

    async def has_passed():
        return await server_time(alice) > start
    await eventually(has_passed, True)
    assert own.now - time.time() == pytest.approx(3600, abs=60)


async def test_a_server_that_was_killed_goes_on_at_its_time(make_server, make_world):
    own = make_server(frozen=True)
    alice = await make_world(own).user("alice")
    await own.advance(600)
    end = await server_time(alice)
    own.kill()
    own.start()
    assert await server_time(await make_world(own).user("alice")) == end


@pytest.mark.parametrize("place, said", [("here", "not unix:PATH"), ("unix:/nowhere/at/all", "cannot listen")])
def test_a_clock_that_cannot_be_had_stops_the_start(make_server, place, said):
    own = make_server(start=False, environment={"THRONG_TEST_CLOCK": place})
    with pytest.raises(StartFailed) as failed:
        own.start()
    assert failed.value.status == 1 and said in failed.value.log


def test_a_node_of_a_cluster_takes_none(make_server, tmp_path):
    own = make_server({"cluster.enabled": "true", "store.url": "postgres://nobody@127.0.0.1:1/none"}, start=False, binary=BINARY,
                      environment={"THRONG_TEST_CLOCK": f"unix:{tmp_path}/clock"})
    with pytest.raises(StartFailed) as failed:
        own.start()
    assert "a test's clock is that of one process" in failed.value.log
