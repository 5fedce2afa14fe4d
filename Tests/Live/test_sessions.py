"""The most sessions of a user, and the session that a new one replaces (Protocol.md, "Sessions per
user")."""
import asyncio

import pytest

from harness.client import Gone
from harness.tokens import make_token
from harness.world import OVER_NODES, eventually

pytestmark = pytest.mark.nodes

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize("platform", ["iOS", "Android", "Windows", "Mac"])
async def test_a_second_login_of_a_platform_replaces_the_first(world, platform):
    user = world.name("alice")
    first = await world.session(user, platform=platform)
    second = await world.session(user, platform=platform)
    assert (await first.expect("onKickedOffline"))["reason"] == "OtherDevice"
    await first.closed(4502)
    await second.call("ping")
    await second.quiet("onKickedOffline")


@pytest.mark.parametrize("platform", ["Web", "Unknown"])
async def test_ten_sessions_of_a_platform_live_and_the_eleventh_replaces_the_oldest(world, platform):
    user = world.name("alice")
    sessions = [await world.session(user, platform=platform) for _ in range(10)]
    for session in sessions:
        await session.quiet("onKickedOffline")
    newest = await world.session(user, platform=platform)
    await sessions[0].expect("onKickedOffline", reason="OtherDevice")
    await sessions[0].closed(4502)
    for session in [*sessions[1:], newest]:
        await session.quiet("onKickedOffline")


async def test_platforms_are_counted_apart(world):
    user = world.name("alice")
    sessions = [await world.session(user, platform=p) for p in ("iOS", "Android", "Windows", "Mac", "Web", "Unknown")]
    for session in sessions:
        await session.quiet("onKickedOffline")


async def test_a_login_with_a_device_id_that_is_signed_in_replaces_that_session(world):
    user = world.name("alice")
    first = await world.session(user, platform="Web", deviceID="laptop")
    other = await world.session(user, platform="Web", deviceID="tablet")
    stranger = await world.user("bob", platform="Web", deviceID="laptop")
    again = await world.session(user, platform="Web", deviceID="laptop")
    await first.expect("onKickedOffline", reason="OtherDevice")
    await first.closed(4502)
    for session in (other, stranger, again):
        await session.quiet("onKickedOffline")


async def test_a_login_by_method_replaces_as_well(world):
    user = world.name("alice")
    first = await world.session(user, via="login", platform="iOS")
    await world.session(user, via="login", platform="iOS")
    await first.expect("onKickedOffline", reason="OtherDevice")
    await first.closed(4502)


async def test_the_number_per_platform_is_configurable_and_0_refuses_it(make_server, make_world):
    world = make_world(make_server({"sessions.perPlatform.ios": 2, "sessions.perPlatform.mac": 0}))
    first = await world.session("alice", platform="iOS")
    second = await world.session("alice", platform="iOS")
    await first.quiet("onKickedOffline")
    await world.session("alice", platform="iOS")
    await first.closed(4502)
    await second.quiet("onKickedOffline")
    client = await world.open()
    await client.refused(10004, "login", token=make_token("alice"), platform="Mac")
    await client.call("login", token=make_token("alice"), platform="Web")
    refused = await world.open(query={"token": make_token("alice"), "platform": "Mac"})
    assert (await refused.closed(4500)).startswith("10004")


async def test_online_is_at_least_one_session(world):
    """getGroupOnlineMemberCount counts users, not sessions."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    second = await world.session(bob.user)
    await eventually(lambda: alice.call("getGroupOnlineMemberCount", groupID=group), {"count": 2}, OVER_NODES)
    await bob.call("logout")
    await bob.closed(1000)
    assert await alice.call("getGroupOnlineMemberCount", groupID=group) == {"count": 2}
    await second.call("logout")
    await second.closed(1000)
    await eventually(lambda: alice.call("getGroupOnlineMemberCount", groupID=group), {"count": 1})


async def test_many_logins_of_one_platform_at_once_leave_one_session(world):
    user = world.name("alice")
    clients = [await world.open(user=user) for _ in range(20)]
    under_way = [await client.start("login", token=make_token(user), platform="iOS") for client in clients]
    # A session may be replaced before its reply is sent: then the connection is closed with 4502
    # all the same.
    await asyncio.gather(*under_way, return_exceptions=True)

    async def living():
        count = 0
        for client in clients:
            try:
                await client.call("ping")
                count += 1
            except Gone:
                assert client.socket.close_code == 4502, client.closing
        return count

    await eventually(living, 1)


async def test_a_device_id_is_one_session_on_whatever_platform(world):
    user = world.name("alice")
    first = await world.session(user, platform="Web", deviceID="one")
    await world.session(user, platform="iOS", deviceID="one")
    await first.expect("onKickedOffline", reason="OtherDevice")
    await first.closed(4502)


async def test_another_spelling_of_a_device_id_is_another_device(world):
    user = world.name("alice")
    first = await world.session(user, platform="Web", deviceID=COMPOSED)
    await world.session(user, platform="Web", deviceID=DECOMPOSED)
    await first.quiet("onKickedOffline")
