"""Presence: statuses of users, subscriptions, and what is told of changes (Protocol.md, "Presence")."""
import asyncio
import os
import signal

import pytest
import websockets

from harness.backend import denied, done
from harness.client import Gone
from harness.server import IS_CLUSTER
from harness.tokens import make_token
from harness.world import eventually

EVENT = "onUsersStatusChanged"
GRACE = 5


def status(user, *platforms, custom="", last=0):
    return {"userID": user, "isOnline": bool(platforms), "platformList": list(platforms), "customStatus": custom,
            "lastOnlineTime": last}


async def rows(client, *users):
    return (await client.call("getUsersStatus", userIDList=list(users)))["userList"]


async def watch(client, *users):
    return (await client.call("subscribeUsersStatus", userIDList=list(users)))["userList"]


async def told(client, **options):
    """The rows of the next event."""
    params = await client.expect(EVENT, **options)
    assert set(params) == {"opTime", "userList"}, params
    assert 1 <= len(params["userList"]) <= 100
    return params["userList"]


async def leave(client):
    """Ends a session; the server has noticed."""
    await client.call("logout")
    await client.closed(1000)


# Rows


async def test_rows_name_each_platform_once_and_leave_the_unknown_out(world, server):
    bob = await world.user("bob", platform="Mac")
    alice = await world.user("alice", platform="Web")
    for platform in ("iOS", "Web"):
        await world.session(alice.user, platform=platform)
    imported, named, never = world.name("imported"), world.name("named"), world.name("never")
    done(server, "importUsers", userIDList=[imported])
    server.rpc("getServerInfo", asUser=named)
    wanted = [status(named), status(alice.user, "iOS", "Web"), status(imported), status(bob.user, "Mac")]
    for client in (bob, alice):
        await eventually(lambda client=client: rows(client, named, never, alice.user, imported, bob.user, alice.user), wanted)
    assert done(server, "getUsersStatus", userIDList=[never, bob.user])["userList"] == wanted[3:]
    assert done(server, "getUsersStatus", userIDList=[bob.user], asUser=alice.user)["userList"] == wanted[3:]


@pytest.mark.parametrize("method", ["getUsersStatus", "subscribeUsersStatus"])
async def test_lists_have_1_to_100_users(world, method):
    alice = await world.user("alice")
    hundred = [world.name("nobody") for _ in range(100)]
    assert await alice.call(method, userIDList=hundred) == {"userList": []}
    assert (await alice.refused(10004, method, userIDList=[*hundred, "more"]))["field"] == "userIDList"
    assert (await alice.refused(10004, method, userIDList=["@x"]))["field"] == "userIDList"
    assert (await alice.refused(-32602, method))["field"] == "userIDList"
    assert (await alice.refused(-32602, method, userIDList="alice"))["field"] == "userIDList"
    await alice.refused(8510, method, userIDList=[])
    stranger = await world.open()
    await stranger.refused(6014, method, userIDList=["a"])


async def test_the_last_online_time_is_the_end_of_the_last_session(frozen_world):
    world = frozen_world
    bob, alice = await world.user("bob"), await world.user("alice", platform="iOS")
    second = await world.session(alice.user, platform="Web")
    await leave(alice)
    await world.server.advance(seconds=30)
    assert await rows(bob, alice.user) == [status(alice.user, "Web")]
    await leave(second)
    end = world.server.now * 1000
    for _ in range(2):
        await world.server.advance(seconds=GRACE - 0.5)
        assert await rows(bob, alice.user) == [status(alice.user, "Web")], "online within the grace"
        again = await world.session(alice.user, platform="Web")
        await leave(again)
        end = world.server.now * 1000
    await world.server.advance(seconds=GRACE)
    for _ in range(3):
        (row,) = await rows(bob, alice.user)
        assert abs(row["lastOnlineTime"] - end) <= 1000 and row == status(alice.user, last=row["lastOnlineTime"])
        await world.server.advance(seconds=60)
    await world.session(alice.user, platform="Mac")
    assert await rows(bob, alice.user) == [status(alice.user, "Mac")], "0 for who is online"


# Subscriptions


async def test_only_sessions_that_watch_are_told(world):
    watcher, former, never, alice = await world.users("watcher", "former", "never", "alice")
    other = await world.session(watcher.user, platform="Web")
    assert await watch(watcher, alice.user, world.name("ghost")) == [status(alice.user, "Unknown")]
    await watch(former, alice.user)
    assert await former.call("unsubscribeUsersStatus", userIDList=[alice.user, "ghost"]) == {}
    assert await alice.call("setSelfStatus", customStatus="at lunch") == {}
    assert await told(watcher) == [status(alice.user, "Unknown", custom="at lunch")]
    for client in (other, former, never, alice):
        await client.quiet(EVENT)


async def test_online_with_the_first_session_and_offline_behind_the_grace(frozen_world):
    world = frozen_world
    bob = await world.user("bob")
    user = world.name("alice")
    assert await watch(bob, user) == [], "nobody knows her, and she may be watched"
    alice = await world.session(user, platform="iOS")
    await world.server.advance(seconds=1)
    assert await told(bob) == [status(user, "iOS")]
    web = await world.session(user, platform="Web")
    await world.server.advance(seconds=1)
    assert await told(bob) == [status(user, "iOS", "Web")]
    await leave(alice)
    await world.server.advance(seconds=1)
    assert await told(bob) == [status(user, "Web")]
    await leave(web)
    await world.server.advance(seconds=GRACE - 0.5)
    await bob.quiet(EVENT)
    await world.server.advance(seconds=1)
    (row,) = await told(bob)
    assert not row["isOnline"] and row["platformList"] == [] and row["lastOnlineTime"] > 0
    assert await rows(bob, user) == [row]


async def test_a_return_within_the_grace_is_no_change(frozen_world):
    world = frozen_world
    bob, alice = await world.user("bob"), await world.user("alice", platform="iOS")
    await watch(bob, alice.user)
    for _ in range(3):
        await leave(alice)
        await world.server.advance(seconds=GRACE - 1)
        alice = await world.session(alice.user, platform="iOS")
        await world.server.advance(seconds=2)
    await bob.quiet(EVENT)
    await leave(alice)
    await world.session(alice.user, platform="Web")
    await world.server.advance(seconds=1)
    assert await told(bob) == [status(alice.user, "Web")], "another platform"


async def test_one_event_a_second_with_the_last_state(frozen_world):
    world = frozen_world
    bob, alice, carol = await world.users("bob", "alice", "carol")
    await watch(bob, alice.user, carol.user)
    await alice.call("setSelfStatus", customStatus="first")
    await told(bob)
    for number in range(20):
        for client in (alice, carol):
            await client.call("setSelfStatus", customStatus=str(number))
        await world.server.advance(seconds=0.04)
    await bob.quiet(EVENT)
    await world.server.advance(seconds=0.4)
    found = await told(bob)
    assert sorted(found, key=lambda row: row["userID"]) == sorted(
        [status(client.user, "Unknown", custom="19") for client in (alice, carol)], key=lambda row: row["userID"])
    await world.server.advance(seconds=10)
    await bob.quiet(EVENT)


async def test_more_than_a_hundred_changes_are_told_a_second_later(frozen_world):
    world = frozen_world
    bob = await world.user("bob")
    users = [world.name("user") for _ in range(101)]
    await watch(bob, *users[:100])
    await watch(bob, users[100])
    done(world.server, "setSelfStatus", asUser=users[0], customStatus="first")
    await told(bob)
    for user in users:
        done(world.server, "setSelfStatus", asUser=user, customStatus="busy")
    await world.server.advance(seconds=1.1)
    first = await told(bob)
    await bob.quiet(EVENT)
    await world.server.advance(seconds=1.1)
    rest = await told(bob)
    assert (len(first), len(rest)) == (100, 1)
    assert {row["userID"] for row in first + rest} == set(users)


async def test_a_session_watches_300_users(world):
    alice = await world.user("alice")
    users = [world.name("nobody") for _ in range(300)]
    for start in range(0, 300, 100):
        await watch(alice, *users[start:start + 100])
    data = await alice.refused(10060, "subscribeUsersStatus", userIDList=[*users[:50], world.name("more")])
    assert data["temporary"] is False and data["field"] == "userIDList"
    await watch(alice, *users[:100])
    other = await world.session(alice.user, platform="Web")
    await watch(other, world.name("more"))
    await alice.call("unsubscribeUsersStatus", userIDList=users[:1])
    await watch(alice, world.name("more"))
    await alice.refused(10060, "subscribeUsersStatus", userIDList=users[:1])
    assert await alice.call("unsubscribeUsersStatus") == {}
    await watch(alice, *users[:100])


async def test_unsubscribing_names_some_or_all(frozen_world):
    world = frozen_world
    bob, alice, carol = await world.users("bob", "alice", "carol")
    await watch(bob, alice.user, carol.user)
    await bob.refused(10004, "unsubscribeUsersStatus", userIDList=["@x"])
    await bob.refused(10004, "unsubscribeUsersStatus", userIDList=[f"u{n}" for n in range(101)])
    await bob.call("unsubscribeUsersStatus", userIDList=[alice.user])
    await alice.call("setSelfStatus", customStatus="1")
    await carol.call("setSelfStatus", customStatus="2")
    assert await told(bob) == [status(carol.user, "Unknown", custom="2")]
    await bob.call("unsubscribeUsersStatus", userIDList=[])
    await carol.call("setSelfStatus", customStatus="3")
    await world.server.advance(seconds=2)
    await bob.quiet(EVENT)


async def test_a_renewal_keeps_subscriptions_and_a_new_session_has_none(frozen_world):
    world = frozen_world
    bob, alice = await world.users("bob", "alice")
    await watch(bob, alice.user)
    await bob.call("login", token=make_token(bob.user, now=world.server.now))
    await alice.call("setSelfStatus", customStatus="1")
    assert await told(bob) == [status(alice.user, "Unknown", custom="1")]
    await bob.close()
    again = await world.session(bob.user)
    await alice.call("setSelfStatus", customStatus="2")
    assert await rows(again, alice.user) == [status(alice.user, "Unknown", custom="2")]
    await world.server.advance(seconds=2)
    await again.quiet(EVENT)


async def test_one_may_watch_oneself(world):
    alice = await world.user("alice", platform="Web")
    assert await watch(alice, alice.user) == [status(alice.user, "Web")]
    await alice.call("setSelfStatus", customStatus="me")
    assert await told(alice) == [status(alice.user, "Web", custom="me")]


async def test_who_watches_a_deleted_user_is_told_that_the_user_is_offline(world, server):
    bob, alice, former, never = await world.users("bob", "alice", "former", "never")
    await alice.call("setSelfStatus", customStatus="busy")
    await watch(bob, alice.user)
    await watch(former, alice.user)
    await former.call("unsubscribeUsersStatus")
    former.forget()
    done(server, "deleteUser", userID=alice.user)
    await alice.closed(4503)
    while await told(bob) != [status(alice.user)]:
        pass
    await eventually(lambda: rows(bob, alice.user), [], patience=30)
    assert await watch(bob, alice.user) == [], "nobody knows her any more"
    for client in (former, never):
        await client.quiet(EVENT)


# Custom statuses


async def test_a_custom_status_is_kept_like_a_profile(world, server):
    bob, alice = await world.users("bob", "alice")

    async def custom():
        return [row["customStatus"] for row in await rows(bob, alice.user)]

    assert await custom() == [""]
    longest = "é" * 50
    assert await alice.call("setSelfStatus", customStatus=longest) == {}
    await eventually(custom, [longest])
    for wrong in (longest + "x", "a\nb", "\x7f", "\x85", "x" * 101):
        assert (await alice.refused(10004, "setSelfStatus", customStatus=wrong))["field"] == "customStatus"
    assert (await alice.refused(-32602, "setSelfStatus"))["field"] == "customStatus"
    assert (await alice.refused(-32602, "setSelfStatus", customStatus=5))["field"] == "customStatus"
    await alice.call("setSelfInfo", nickName="A")
    assert await custom() == [longest], "a profile leaves it"
    assert done(server, "setSelfStatus", asUser=alice.user, customStatus="by the backend") == {}
    await eventually(custom, ["by the backend"])
    assert await alice.call("setSelfStatus", customStatus="") == {}
    await eventually(custom, [""])
    assert denied(server, -32602, "setSelfStatus", customStatus="x")["field"] == "asUser"


async def test_subscriptions_are_no_methods_of_the_backend(world, server):
    user = world.name("alice")
    for method in ("subscribeUsersStatus", "unsubscribeUsersStatus"):
        for params in ({"userIDList": [user]}, {"userIDList": [user], "asUser": user}, {}):
            denied(server, -32601, method, **params)


# presence.visibility, presence.grace, and restarts


async def test_where_nobody_may_see_it_administrators_may_not_either(make_server, make_world):
    world = make_world(make_server({"presence.visibility": "nobody"}))
    alice = await world.user("alice")
    calls = {"getUsersStatus": {"userIDList": [alice.user]}, "subscribeUsersStatus": {"userIDList": [alice.user]},
             "unsubscribeUsersStatus": {}, "setSelfStatus": {"customStatus": "x"}}
    stranger = await world.open()
    for method, params in calls.items():
        await alice.refused(10007, method, **params)
        await alice.refused(-32602, method, userIDList=5, customStatus=5)
        await stranger.refused(6014, method, **params)
    denied(world.server, 10007, "getUsersStatus", userIDList=[alice.user])
    denied(world.server, 10007, "getUsersStatus", userIDList=[alice.user], asUser=alice.user)
    denied(world.server, 10007, "setSelfStatus", customStatus="x", asUser=alice.user)
    denied(world.server, -32601, "subscribeUsersStatus", userIDList=[alice.user])
    # "Signals stay."
    bob = await world.user("bob")
    group = await world.group(alice, members=[bob])
    await alice.call("sendGroupSignal", groupID=group, name="typing")
    assert (await bob.expect("onGroupSignal", groupID=group))["sender"] == alice.user


async def test_without_a_grace_the_end_is_the_end(make_server, make_world):
    world = make_world(make_server({"presence.grace": 0}))
    bob, alice = await world.users("bob", "alice")
    await watch(bob, alice.user)
    await leave(alice)
    (row,) = await told(bob)
    assert not row["isOnline"] and row["lastOnlineTime"] > 0
    assert await rows(bob, alice.user) == [row]


@pytest.mark.parametrize("end", ["stop", "kill_nodes"])
async def test_the_last_online_time_and_the_custom_status_outlive_a_restart(make_server, make_world, end):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    alice, bob = await world.user("alice"), await world.user("bob")
    await alice.call("setSelfStatus", customStatus="back soon")
    await leave(alice)
    await eventually(lambda: rows(bob, alice.user), [status(alice.user, "Unknown", custom="back soon")])

    async def is_offline():
        (row,) = await rows(bob, alice.user)
        return row["isOnline"]

    await eventually(is_offline, False, patience=30)
    (before,) = await rows(bob, alice.user)
    await asyncio.to_thread(getattr(own, end))
    own.start()
    again = await world.session(bob.user)
    (after,) = await rows(again, alice.user)
    # Of several nodes each has its own time of the end, until the store's is read.
    assert abs(after["lastOnlineTime"] - before["lastOnlineTime"]) < 2000
    assert after == {**before, "lastOnlineTime": after["lastOnlineTime"]} and after["customStatus"] == "back soon"
    (carol,) = await world.users("carol")
    assert (await rows(carol, bob.user))[0]["isOnline"]


# Several nodes


@pytest.mark.skipif(IS_CLUSTER, reason="it makes its own")
async def test_three_nodes_tell_the_same(make_cluster, make_world):
    own = make_cluster(CLUSTER_KEEP="1")
    world = make_world(own)
    watchers = [await world.user("watcher") for _ in range(9)]
    user = world.name("alice")
    for watcher in watchers:
        assert await watch(watcher, user) == []
    phone, web = await world.session(user, platform="iOS"), await world.session(user, platform="Web")
    await web.call("setSelfStatus", customStatus="here")

    async def last_of(watcher, **where):
        """The row once it is so; those before it are passed over."""
        while True:
            (row,) = await told(watcher)
            if all(row[name] == wanted for name, wanted in where.items()):
                return row

    for watcher in watchers:
        await last_of(watcher, platformList=["iOS", "Web"], customStatus="here")
    await leave(phone)
    await leave(web)
    ends = [await last_of(watcher, isOnline=False) for watcher in watchers]
    assert all(row["lastOnlineTime"] > 0 for row in ends)
    # The news travels: the nodes' own times of the end differ by it.
    assert max(row["lastOnlineTime"] for row in ends) - min(row["lastOnlineTime"] for row in ends) < 2000


@pytest.mark.skipif(IS_CLUSTER, reason="it makes its own")
async def test_who_comes_back_on_another_node_in_time_was_never_away(make_cluster, make_world):
    own = make_cluster({"presence.grace": "60s"}, CLUSTER_KEEP="1")
    world = make_world(own)
    watchers = [await world.user("watcher", platform="Web") for _ in range(9)]
    people = [await world.user("alice", platform="iOS") for _ in range(12)]
    users = [client.user for client in people]
    for watcher in watchers:
        here = {row["userID"] for row in await watch(watcher, *users) if row["isOnline"]}
        # News of a sign-in on another node may come behind the answer.
        while here != set(users):
            here |= {row["userID"] for row in (await watcher.expect(EVENT))["userList"]}
    os.kill(own.processes[2], signal.SIGKILL)

    async def is_here(client):
        try:
            await client.call("ping")
            return True
        except Gone:
            return False

    # Those of the killed node connect again at once, and are on another one.
    for client in people:
        if not await is_here(client):
            await eventually(lambda client=client: signed_in(world, client.user), True, patience=60)
    left = [watcher for watcher in watchers if await is_here(watcher)]
    assert left, "a watcher on a node that goes on"
    for watcher in left:
        found = await rows(watcher, *users)
        assert found == [status(user, "iOS") for user in users]
        await watcher.quiet(EVENT)


async def signed_in(world, user):
    """Whether a sign-in has succeeded."""
    try:
        await world.session(user, platform="iOS")
    except (Gone, AssertionError, OSError, websockets.WebSocketException):
        return False
    return True
