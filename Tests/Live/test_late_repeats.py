"""A message that was sent before, longer ago than its clientMsgID is remembered: `firstSentAt` (Protocol.md, "Late
repeats")."""
import asyncio
import time

import pytest

from harness.backend import done
from harness.client import Refused, has
from harness.receiver import Receiver
from harness.restarts import end, restart
from harness.world import eventually, history_of, info_of

DAY = 86_400
# Of live types and of what is for those online.
LATE = 240_000


def instant_of(own):
    """The server's clock, in milliseconds."""
    return round(own.now * 1000)


async def after(world, seconds):
    """Kills the server, and starts it so much later: it remembers nothing of before."""
    await end(world, "kill")
    world.server.clock.frozen += seconds
    world.server.start()


@pytest.mark.store
@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_a_stored_message_is_answered_after_a_day(make_server, make_world, groupType):
    world = make_world(make_server(frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    at = instant_of(world.server)
    params = {"groupID": group, "text": "once", "clientMsgID": "kept"}
    first = await alice.call("sendGroupTextMessage", **params)
    for number in range(30):
        await bob.call("sendGroupTextMessage", groupID=group, text=f"{number}", clientMsgID=f"{number}")
    await after(world, DAY)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    again = await asyncio.gather(*[alice.call("sendGroupTextMessage", **params, firstSentAt=at) for _ in range(3)])
    assert again == [first] * 3
    assert await alice.call("sendGroupCustomMessage", groupID=group, data="d", clientMsgID="kept", firstSentAt=at) == first
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvNewMessage", groupID=group)
    assert [message.get("clientMsgID") for message in await history_of(bob, group)].count("kept") == 1
    # Another's of the same name is another message.
    assert (await bob.call("sendGroupTextMessage", **params, firstSentAt=at))["seq"] > first["seq"]


@pytest.mark.store
async def test_a_message_that_never_came_is_sent_after_a_day(make_server, make_world):
    world = make_world(make_server(frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await bob.call("sendGroupTextMessage", groupID=group, text="before", clientMsgID="kept")
    at = instant_of(world.server)
    await after(world, DAY)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    params = {"groupID": group, "text": "late", "clientMsgID": "kept", "firstSentAt": at}
    sent = await asyncio.gather(*[alice.call("sendGroupTextMessage", **params) for _ in range(3)])
    assert sent[0] == sent[1] == sent[2] and sent[0]["timestamp"] == instant_of(world.server), "sent now, once"
    message = (await bob.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["text"] == "late" and "firstSentAt" not in message
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvNewMessage", groupID=group)
    await after(world, DAY)
    alice = await world.session(alice.user)
    assert await alice.call("sendGroupTextMessage", **params) == sent[0]


async def test_recalled_edited_and_hidden_messages_are_known(make_server, make_world):
    world = make_world(make_server(frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(bob, members=[alice])
    at, sent = instant_of(world.server), {}
    for name in ("recalled", "edited", "hidden"):
        sent[name] = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=name)
    await alice.call("revokeGroupMessage", groupID=group, seq=sent["recalled"]["seq"])
    await alice.call("modifyGroupMessage", groupID=group, seq=sent["edited"]["seq"], text="y")
    await alice.call("clearGroupHistory", groupID=group)
    await bob.call("muteGroup", groupID=group, mode="All")
    await after(world, DAY)
    alice = await world.session(alice.user)
    for name, first in sent.items():
        assert await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=name, firstSentAt=at) == first
    await alice.refused(10017, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="new", firstSentAt=at)
    await alice.call("quitGroup", groupID=group)
    await alice.refused(10007, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="hidden", firstSentAt=at)
    await alice.call("joinGroup", groupID=group)
    again = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="hidden", firstSentAt=at)
    assert again == sent["hidden"], "from before joining again"


@pytest.mark.store
async def test_what_retention_has_removed_is_refused(make_server, make_world):
    own = make_server({"history.maxMessages.work": 3}, frozen=True)
    world = make_world(own)
    alice = await world.user("alice")
    group = await world.group(alice, "Work")
    at = instant_of(own)
    for number in range(3):
        await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=f"{number}")
    await after(world, DAY)
    alice = await world.session(alice.user)
    later, kept = instant_of(own), []
    for number in range(3, 6):
        kept.append(await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=f"{number}"))
    await own.advance(seconds=6)

    async def first_seq():
        return (await info_of(alice, group))["firstSeq"]

    await eventually(first_seq, 4)
    await after(world, DAY)
    alice = await world.session(alice.user)
    for name in ("0", "2", "never sent"):
        data = await alice.refused(10004, "sendGroupTextMessage", groupID=group, text="x", clientMsgID=name, firstSentAt=at)
        assert data["field"] == "firstSentAt" and data["temporary"] is False
    assert await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="4", firstSentAt=later) == kept[1]
    new = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="new", firstSentAt=later)
    assert new["seq"] == 7


async def test_instants_that_nothing_is_known_of_are_refused(make_server, make_world):
    own = make_server(frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="first")
    await after(world, 40 * DAY)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    now = instant_of(own)
    for at in (now + 60_001, now - 30 * DAY * 1000 - 1, 0):
        data = await alice.refused(10004, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="c", firstSentAt=at)
        assert data["field"] == "firstSentAt"
    data = await alice.refused(10004, "sendGroupTextMessage", groupID=group, text="x", firstSentAt=now)
    assert data["field"] == "firstSentAt"
    await alice.refused(10004, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="c", firstSentAt=-1)
    await alice.refused(-32602, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="c", firstSentAt="now")
    await bob.refused(10007, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="c", firstSentAt=now + 60_001)
    assert len(await history_of(alice, group)) == 1, "nothing was sent"
    for number, at in enumerate((now + 60_000, now - 30 * DAY * 1000)):
        sent = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=f"{number}", firstSentAt=at)
        assert sent["status"] == "Stored"


@pytest.mark.parametrize("groupType", ["AVChatRoom", "BChatRoom", "Public"])
async def test_what_nobody_keeps_is_not_sent_late(make_server, make_world, groupType):
    """Live types, and messages for those who are online alone."""
    own = make_server(frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    if groupType == "BChatRoom":
        made = done(own, "createGroup", groupType=groupType, groupName="g", ownerUserID=alice.user)
        group = made["groupID"]
    else:
        group = await world.group(alice, groupType, [bob])
    options = {"groupID": group, "text": "x", **({"onlineUserOnly": True} if groupType == "Public" else {})}
    at = instant_of(own)
    sent = await alice.call("sendGroupTextMessage", **options, clientMsgID="soon", firstSentAt=at - LATE)
    assert sent["status"] == "Delivered"
    assert await alice.call("sendGroupTextMessage", **options, clientMsgID="soon", firstSentAt=at - LATE - 1) == sent
    data = await alice.refused(10033, "sendGroupTextMessage", **options, clientMsgID="late", firstSentAt=at - LATE - 1)
    assert data["field"] == "firstSentAt" and data["temporary"] is False
    await world.settle(group, alice, bob)
    assert len(bob.received("onRecvNewMessage", groupID=group, message=has(clientMsgID="soon"))) <= 1
    assert not bob.received("onRecvNewMessage", groupID=group, message=has(clientMsgID="late"))


async def test_a_user_has_ten_messages_a_minute_looked_for(make_server, make_world):
    own = make_server(frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group, other = await world.group(alice, members=[bob]), await world.group(alice)
    at = instant_of(own)
    await after(world, DAY)
    alice, bob = await world.session(alice.user), await world.session(bob.user)

    async def look(client, group, name):
        return await client.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=name, firstSentAt=at)

    for number in range(10):
        assert (await look(alice, group, f"{number}"))["status"] == "Stored"
    data = await alice.refused(10023, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="10", firstSentAt=at)
    assert data["temporary"] is True and data["retryAfterMs"] == 60_000 and "field" not in data
    assert (await look(alice, group, "3"))["status"] == "Stored", "what is remembered is not looked for"
    await look(bob, group, "10")
    await look(alice, other, "10")
    await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="free")
    done(own, "sendGroupTextMessage", groupID=group, text="x", clientMsgID="10", firstSentAt=at)
    await own.advance(seconds=60)
    assert (await look(alice, group, "10"))["status"] == "Stored"


async def test_the_application_is_not_asked_about_what_is_found(make_server, make_world):
    with Receiver() as receiver:
        own = make_server(receiver.settings("beforeSendMessage"), frozen=True)
        receiver.clock = lambda: own.now
        world = make_world(own)
        alice = await world.user("alice")
        group = await world.group(alice)
        at = instant_of(own)
        first = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="kept")
        await after(world, DAY)
        alice = await world.session(alice.user)
        assert len(receiver.of("beforeSendMessage")) == 1
        again = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="kept", firstSentAt=at)
        assert again == first and len(receiver.of("beforeSendMessage")) == 1
        new = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="new", firstSentAt=at)
        assert new["seq"] == first["seq"] + 1 and len(receiver.of("beforeSendMessage")) == 2
        assert "firstSentAt" not in receiver.of("beforeSendMessage")[1].data


@pytest.mark.store
@pytest.mark.nodes
async def test_a_message_of_another_life_is_found_on_any_node(make_server, make_world):
    """Imported messages are older than any memory; each session is on a node of its own choice."""
    own = make_server()
    world = make_world(own)
    alice = world.name("alice")
    group = done(own, "importGroup", groupType="Public", groupName="old", ownerUserID=alice)["groupID"]
    at = int(time.time() * 1000) - 3_600_000
    rows = [{"sender": alice, "timestamp": at + number, "text": f"{number}", "clientMsgID": f"{number}"} for number in range(20)]
    found = done(own, "importGroupMessages", groupID=group, messageList=rows)["resultList"]
    await restart(world, "kill")
    sessions = [await world.session(alice) for _ in range(3)]
    for number, client in enumerate(sessions):
        again = await client.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=f"{number}", firstSentAt=at)
        assert again["status"] == "Stored" and again["seq"] == found[number]["seq"] and again["timestamp"] == at + number
    twins = await asyncio.gather(*[
        client.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="new", firstSentAt=at) for client in sessions])
    assert twins[0] == twins[1] == twins[2] and twins[0]["seq"] == 21
    with pytest.raises(Refused):
        await sessions[0].call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="new2", firstSentAt=0)
    assert len(await history_of(sessions[0], group)) == 21
