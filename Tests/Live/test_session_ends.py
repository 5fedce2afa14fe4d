"""The last events of a session that ends, and the end of a drain (Protocol.md, "Draining" and
"Close codes")."""
import asyncio

import pytest

from harness.client import Gone, has
from harness.tokens import make_token


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def test_a_logout_waits_for_the_answers_before_it(world):
    """The message is stored before it is answered; the logout behind it must not take the answer
    away."""
    alice = await world.user("alice")
    group = await world.group(alice)
    sent = [await alice.start("sendGroupTextMessage", groupID=group, text=str(n)) for n in range(5)]
    bye = await alice.start("logout")
    late = await alice.start("ping")
    replies = await asyncio.gather(*sent)
    assert [reply["result"]["seq"] for reply in replies] == [1, 2, 3, 4, 5]
    assert (await bye)["result"] == {}
    await alice.closed(1000)
    with pytest.raises(Gone):
        await late


async def test_behind_a_logout_of_a_batch_nobody_is_signed_in(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    frame = await alice.exchange([
        request(1, "sendGroupTextMessage", groupID=group, text="before"),
        request(2, "logout"),
        request(3, "sendGroupTextMessage", groupID=group, text="behind"),
        request(4, "login", token=make_token(alice.user)),
    ])
    assert [reply.get("error", {}).get("code") for reply in frame] == [None, None, 6014, 6014]
    await alice.closed(1000)
    await bob.expect("onRecvNewMessage", message=has(text="before"))
    await bob.quiet("onRecvNewMessage", group)


async def test_behind_a_bad_token_of_a_batch_nobody_signs_in(world):
    client = await world.open()
    user = world.name("alice")
    frame = await client.exchange([
        request(1, "login", token="abc"), request(2, "login", token=make_token(user)), request(3, "ping"),
    ])
    assert [reply["error"]["code"] for reply in frame] == [70003, 6014, 6014]
    assert (await client.closed(4500)).startswith("70003")


async def test_an_expired_token_within_the_leeway_is_told_of_and_then_closes(frozen_world):
    alice = await frozen_world.user("alice", ttl=-2)
    await frozen_world.server.advance(0.2)
    await alice.closed(4006)
    assert alice.received("onUserSigExpired"), "at once if less than 60 s are left"


async def test_a_bad_batch_counts_as_a_request_before_sign_in(world):
    client = await world.open()
    for _ in range(10):
        assert (await client.exchange([]))["error"]["code"] == -32600
    assert (await client.exchange([]))["error"]["code"] == -32600
    await client.closed(4004)


@pytest.mark.one_process("limits of connections are those of a node")
async def test_refused_connections_take_no_place(make_server, make_world):
    own = make_server({"limits.connections": 2})
    world = make_world(own)
    first, second = await world.users("alice", "bob")
    for _ in range(5):
        refused = await world.open()
        await refused.closed(4005)
    await second.call("logout")
    await second.closed(1000)
    own.metric_becomes("throng_connections", 1)
    third = await world.user("carol")
    await third.call("ping")


@pytest.mark.parametrize("loops", [1, 2])
async def test_the_drain_ends_when_everybody_has_gone(make_server, make_world, loops):
    own = make_server({"drain.duration": 3600, "loops": loops})
    world = make_world(own)
    people = await world.users(*["user"] * 4)
    stranger = await world.open()
    own.terminate()
    for client in people:
        await client.expect("onServerDraining")
    for client in [*people, stranger]:
        await client.close()
    assert await asyncio.to_thread(own.wait) == 0, "in less than the hour that a drain may last"


async def test_who_signs_in_during_the_drain_is_told(make_server, make_world):
    own = make_server({"drain.duration": 3600})
    world = make_world(own)
    witness, late = await world.user("witness"), await world.open()
    own.terminate()
    await witness.expect("onServerDraining")
    await late.call("login", token=make_token("late"))
    assert (await late.expect("onServerDraining"))["retryAfterMs"] >= 0
    await late.call("ping")


async def test_sessions_and_groups_on_three_loops(make_server, make_world):
    """Connections are spread over the loops, without an effect that a client sees."""
    world = make_world(make_server({"loops": 3, "sessions.perPlatform.web": 100}))
    alice, bob = await world.users("alice", "bob")
    screens = [await world.session(bob.user, platform="Web") for _ in range(12)]
    groups = [await world.group(alice, members=[bob]) for _ in range(6)]
    for number in range(10):
        for group in groups:
            await alice.call("sendGroupTextMessage", groupID=group, text=str(number))
    for screen in screens:
        for number in range(10):
            for group in groups:
                await screen.expect("onRecvNewMessage", groupID=group, message=has(text=str(number), seq=number + 1))
        await screen.quiet("onRecvNewMessage")
    phones = [await world.session(bob.user, platform="iOS") for _ in range(6)]
    for old in phones[:-1]:
        await old.expect("onKickedOffline", reason="OtherDevice")
        await old.closed(4502)
    await phones[-1].call("ping")


@pytest.mark.parametrize("window", [0, 1000])
async def test_what_was_published_before_the_end_comes_before_its_reason(make_server, make_world, window):
    """Also where a group's next flush would be later (`fanout.flushWindow`)."""
    own = make_server({"fanout.flushWindow": window})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", members=[bob])
    await bob.expect("onMemberEnter", groupID=group)
    bob.forget()
    for text in ("one", "two", "three"):
        assert (await alice.call("sendGroupTextMessage", groupID=group, text=text))["status"] == "Delivered"
    assert "result" in own.rpc("kickUser", userID=bob.user)
    await bob.closed(4503)
    assert [name for name, _ in bob.inbox] == ["onRecvNewMessage"] * 3 + ["onKickedOffline"]
