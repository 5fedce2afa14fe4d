"""Blocked users and revoked tokens (Protocol.md, "Blocked users" and "Revoked tokens")."""
import asyncio

import pytest

from harness.backend import denied, done
from harness.client import Refused
from harness.nodes import asked
from harness.restarts import restart
from harness.tokens import OTHER_SECRET, make_token
from harness.waiting import within
from harness.world import eventually
from test_refusals import entry


async def code_of(world, token, via="login", **details):
    """The code with which a sign-in is answered, and the connection closed with 4500; None = it succeeds."""
    if via == "login":
        client = await world.open()
        try:
            await client.call("login", token=token, **details)
            return None
        except Refused as refusal:
            assert refusal.data["temporary"] is False
            assert (await client.closed(4500)).startswith(str(refusal.code))
            return refusal.code
    client = await world.open(query={"token": token, **details})
    reason = await client.closed(4500)
    assert not client.frames, "nothing is told"
    return int(reason.split()[0])


# blockUser

@pytest.mark.parametrize("reason", [None, "", "spam é", "é" * 512])
async def test_a_block_ends_all_sessions_and_refuses_new_ones(server, world, reason):
    alice, bob = await world.users("alice", "bob")
    phone = await world.session(bob.user, platform="iOS")
    group = await world.group(alice, members=[bob])
    params = {} if reason is None else {"reason": reason}
    assert done(server, "blockUser", userID=bob.user, **params) == {"blockedUntil": 0}
    for client in (bob, phone):
        event = await client.expect("onKickedOffline")
        assert event == ({"reason": "Blocked", "message": reason} if reason else {"reason": "Blocked"})
        await client.closed(4503)
    assert done(server, "listSessions", userID=bob.user) == {"sessionList": []}
    for via in ("login", "query"):
        assert await code_of(world, make_token(bob.user, now=server.now), via) == 70020
    # Others, and the group, hear nothing: a block is no removal.
    await alice.quiet("onMemberLeave", group=group)
    members = (await alice.call("getGroupMemberList", groupID=group))["memberList"]
    assert {row["userID"] for row in members} == {alice.user, bob.user}
    assert done(server, "unblockUser", userID=bob.user) == {}
    again = await world.session(bob.user)
    await again.call("ping")
    assert done(server, "unblockUser", userID=bob.user) == {}, "who is not blocked"


async def test_the_application_acts_for_a_blocked_user(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    done(server, "blockUser", userID=bob.user)
    await bob.closed(4503)
    done(server, "sendGroupTextMessage", groupID=group, text="by the backend", asUser=bob.user)
    assert (await alice.expect("onRecvNewMessage", groupID=group))["message"]["sender"] == bob.user


async def test_a_block_ends_by_itself(frozen_world):
    server = frozen_world.server
    bob = await frozen_world.user("bob")
    until = done(server, "blockUser", userID=bob.user, blockTime=60)["blockedUntil"]
    assert abs(until - server.now * 1000 - 60_000) <= 1
    await bob.closed(4503)
    await server.advance(59.9)
    assert await code_of(frozen_world, make_token(bob.user, now=server.now)) == 70020
    row = {"userID": bob.user, "blockedUntil": until, "reason": ""}
    assert row in blocked(server)
    await server.advance(0.2)
    assert bob.user not in [row["userID"] for row in blocked(server)]
    await (await frozen_world.session(bob.user)).call("ping")


async def test_a_second_block_renews_end_and_reason(server, world):
    user = world.name("bob")
    done(server, "blockUser", userID=user, blockTime=60, reason="first")
    assert done(server, "blockUser", userID=user) == {"blockedUntil": 0}
    assert {"userID": user, "blockedUntil": 0, "reason": ""} in blocked(server)


def blocked(server, count=100, after_page=lambda rows: None):
    """All rows of getBlockedUsers."""
    rows, place = [], 0
    while True:
        page = done(server, "getBlockedUsers", nextSeq=place, count=count)
        assert len(page["userList"]) <= count
        rows += page["userList"]
        after_page(page["userList"])
        place = page["nextSeq"]
        if place == 0:
            return rows


async def test_the_list_comes_in_pages_by_user_id(make_server):
    own = make_server()
    users = [f"{number % 7}-user-{number}" for number in range(250)]
    for user in users:
        done(own, "blockUser", userID=user, reason=user)

    def unblock_last(rows):
        """The place of a page stays where its last user is unblocked."""
        if rows:
            done(own, "unblockUser", userID=rows[-1]["userID"])

    rows = blocked(own, 100, unblock_last)
    assert [row["userID"] for row in rows] == sorted(users) and all(row["reason"] == row["userID"] for row in rows)
    assert len(done(own, "getBlockedUsers")["userList"]) == 50, "by default"
    denied(own, 10004, "getBlockedUsers", count=101)
    denied(own, 10004, "getBlockedUsers", count=0)
    assert denied(own, 10004, "getBlockedUsers", nextSeq=2 ** 53)["field"] == "nextSeq", "no such place"


async def test_errors_of_blocks(server, world):
    bob = await world.user("bob")
    for method in ("blockUser", "unblockUser", "revokeTokens"):
        assert denied(server, -32602, method)["field"] == "userID"
        for name in ("", "@bob", "administrator", "a b", "x" * 33):
            denied(server, 10004, method, userID=name)
        denied(server, 10007, method, userID=bob.user, asUser=bob.user)
        await bob.refused(-32601, method, userID=bob.user)
    denied(server, 10007, "getBlockedUsers", asUser=bob.user)
    await bob.refused(-32601, "getBlockedUsers")
    for params, field in [({"blockTime": -1}, "blockTime"), ({"blockTime": 2 ** 32}, "blockTime"), ({"reason": "é" * 513}, "reason")]:
        assert denied(server, 10004, "blockUser", userID=bob.user, **params)["field"] == field
    denied(server, -32602, "blockUser", userID=bob.user, blockTime="1")
    for before in (-1, 2 ** 53 + 1):
        assert denied(server, 10004, "revokeTokens", userID=bob.user, before=before)["field"] == "before"
    await bob.quiet("onKickedOffline")


async def test_nobody_is_known_by_a_block(make_server, make_world):
    own = make_server()
    world = make_world(own)
    done(own, "blockUser", userID="bob")
    done(own, "revokeTokens", userID="carol")
    done(own, "unblockUser", userID="dave")
    assert await code_of(world, make_token("bob"), "query") == 70020
    assert await code_of(world, make_token("carol"), "query") == 70021
    assert done(own, "getStats")["users"] == 0
    assert done(own, "getUsersInfo", userIDList=["bob", "carol", "dave"]) == {"userList": []}


async def test_a_refused_sign_in_is_told_and_counted(make_server, make_world):
    own = make_server({"log.level": "debug"})
    world = make_world(own)
    done(own, "blockUser", userID="bob", reason="a rule")
    done(own, "revokeTokens", userID="carol")
    for code, user in ((70020, "bob"), (70021, "carol")):
        token = make_token(user)
        assert await code_of(world, token) == code
        own.metric_becomes("throng_sign_ins_refused_total", 1, code=code)
        refused = await entry(own, "sign-in refused", code=code)
        assert refused["userID"] == user and refused["level"] == "info" and token not in own.log
    actions = done(own, "listAdministratorActions")["actionList"]
    assert [(row["method"], row["userID"], row.get("reason")) for row in actions] == [
        ("revokeTokens", "carol", None), ("blockUser", "bob", "a rule")]


# revokeTokens

async def test_sessions_of_revoked_tokens_are_closed_and_others_go_on(server, world):
    user, now = world.name("bob"), int(server.now)
    old = await world.session(user, platform="Web", iat=now - 10)
    silent = await world.session(user, platform="Web")
    new = await world.session(user, platform="Web", iat=now)
    assert done(server, "revokeTokens", userID=user, before=now * 1000) == {}
    for client in (old, silent):
        await client.closed(4006)
        assert not client.received("onKickedOffline")
    await new.call("ping")
    for claims in ({"iat": now - 1}, {}, {"iat": "soon"}):
        for via in ("login", "query"):
            assert await code_of(world, make_token(user, now=server.now, **claims), via) == 70021
    assert await code_of(world, make_token(user, now=server.now, iat=now), platform="Web") is None
    # An earlier instant changes nothing.
    assert done(server, "revokeTokens", userID=user, before=1000) == {}
    assert await code_of(world, make_token(user, now=server.now, iat=now - 1)) == 70021
    await new.call("ping")


async def test_by_default_tokens_of_before_now_are_revoked(frozen_world):
    server = frozen_world.server
    user = frozen_world.name("bob")
    old = await frozen_world.session(user, iat=int(server.now) - 1)
    assert done(server, "revokeTokens", userID=user) == {}
    await old.closed(4006)
    await server.advance(1)
    await (await frozen_world.session(user, iat=int(server.now))).call("ping")


async def test_a_revoked_token_does_not_renew_and_the_session_lives_on(server, world):
    user, now = world.name("bob"), int(server.now)
    bob = await world.session(user, iat=now)
    done(server, "revokeTokens", userID=user, before=now * 1000)
    data = await bob.refused(70021, "login", token=make_token(user, now=server.now, iat=now - 1))
    assert data["temporary"] is False
    await bob.call("ping")
    renewed = await bob.call("login", token=make_token(user, now=server.now, iat=now + 1))
    assert renewed["sessionID"] == bob.welcome["sessionID"]
    # The last token that was accepted counts.
    done(server, "revokeTokens", userID=user, before=(now + 1) * 1000)
    await bob.call("ping")
    done(server, "revokeTokens", userID=user, before=(now + 2) * 1000)
    await bob.closed(4006)


async def test_a_tokens_own_faults_come_first(server, world):
    user, now = world.name("bob"), server.now
    done(server, "blockUser", userID=user)
    done(server, "revokeTokens", userID=user)
    iat = int(now) + 5
    for code, token in [
        (70003, "no token"), (70009, make_token(user, now=now, secret=OTHER_SECRET)), (70001, make_token(user, now=now, ttl=-60)),
        (70021, make_token(user, now=now)), (70020, make_token(user, now=now, iat=iat)),
    ]:
        assert await code_of(world, token) == code
    client = await world.open()
    await client.refused(10004, "login", token=make_token(user, now=now), platform="Amiga")


# Durable

@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_what_was_answered_is_durable(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    now = int(own.now)
    bob, carol = await world.user("bob"), await world.user("carol", iat=now)
    done(own, "blockUser", userID=bob.user, reason="spam")
    done(own, "revokeTokens", userID=carol.user, before=(now + 1) * 1000)
    await asyncio.gather(bob.closed(4503), carol.closed(4006))
    await restart(world, how)
    assert await code_of(world, make_token(bob.user)) == 70020
    assert await code_of(world, make_token(carol.user, iat=now)) == 70021
    assert done(own, "getBlockedUsers") == {
        "userList": [{"userID": bob.user, "blockedUntil": 0, "reason": "spam"}], "nextSeq": 0}
    done(own, "unblockUser", userID=bob.user)
    await restart(world, how)
    assert await code_of(world, make_token(bob.user)) is None


@pytest.mark.parametrize("via", ["login", "query"])
async def test_no_sign_in_overtakes_a_block(server, world, via):
    """Sign-ins and blocks meet at any moment: behind the answer there is no session, and none begins."""
    user = world.name("bob")

    async def come():
        token = make_token(user, now=server.now)
        client = await world.open(query={"token": token, "platform": "Web"} if via == "query" else None)
        if via == "login":
            await client.start("login", token=token, platform="Web")
        await within(client.socket.wait_closed(), 20)
        assert client.socket.close_code in (4500, 4502, 4503), client.closing

    coming = [asyncio.ensure_future(come()) for _ in range(12)]
    await asyncio.to_thread(done, server, "blockUser", userID=user)
    await asyncio.gather(*coming)
    assert done(server, "listSessions", userID=user) == {"sessionList": []}


# Several nodes

@pytest.fixture
def cluster(make_cluster):
    return make_cluster({"drain.duration": 2})


async def test_a_block_holds_on_all_nodes_with_its_answer(cluster, make_world):
    world = make_world(cluster)
    first, *others = cluster.node_addresses
    alice = await world.user("alice")
    now = int(cluster.now)
    sessions = [await world.session("bob", platform="Web", iat=now) for _ in range(8)]
    assert asked(cluster, first, "blockUser", userID="bob", reason="spam") == {"blockedUntil": 0}
    for address in cluster.node_addresses:
        assert asked(cluster, address, "listSessions", userID="bob")["sessionList"] == []
        assert [row["userID"] for row in asked(cluster, address, "getBlockedUsers")["userList"]] == ["bob"]
    for client in sessions:
        assert await client.expect("onKickedOffline") == {"reason": "Blocked", "message": "spam"}
        await client.closed(4503)
    # The balancer chooses the node.
    for _ in range(8):
        assert await code_of(world, make_token("bob")) == 70020
    assert asked(cluster, others[0], "unblockUser", userID="bob") == {}
    sessions = [await world.session("bob", platform="Web", iat=now) for _ in range(8)]
    newer = await world.session("bob", platform="Web", iat=now + 1)
    assert asked(cluster, others[1], "revokeTokens", userID="bob", before=(now + 1) * 1000) == {}
    for client in sessions:
        await client.closed(4006)
    await newer.call("ping")

    async def found():
        return len(asked(cluster, first, "listSessions", userID="bob")["sessionList"])

    await eventually(found, 1)
    for _ in range(8):
        assert await code_of(world, make_token("bob", iat=now)) == 70021
    await alice.call("ping")
