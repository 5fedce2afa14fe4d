"""The message rate of live types (Protocol.md, "Message rate of live types"). The assertions hold
for any timing."""
import asyncio
import random

import pytest

from harness.ledger import PRIORITIES, Ledger, burst, messages
from harness.world import history_of

KEYS = {"Work": "work", "Public": "public", "Meeting": "meeting", "AVChatRoom": "avChatRoom", "BChatRoom": "bChatRoom"}
LIVE, STORING = ["AVChatRoom", "BChatRoom"], ["Work", "Public", "Meeting"]


def limited(make_server, make_world, groupType, limit, **settings):
    """A world on a server with this limit; None leaves the default."""
    if limit is not None:
        settings[f"limits.{KEYS[groupType]}.messagesPerSecond"] = limit
    return make_world(make_server(settings))


async def live_room(world, groupType, *names):
    """A live room, its owner, and others in it."""
    owner, *others = await world.users("owner", *names)
    if groupType == "BChatRoom":
        made = world.server.rpc("createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)
        return made["result"]["groupID"], owner, *others
    return await world.group(owner, groupType, others), owner, *others


async def sent(ledger, client, group, priorities):
    """Sends these at once and notes the replies."""
    ledger.note(priorities, await burst(client, messages(group, priorities)))


@pytest.mark.parametrize(
    "groupType, limit", [("AVChatRoom", None), ("AVChatRoom", 1), ("AVChatRoom", 7), ("BChatRoom", 1), ("BChatRoom", 40)])
@pytest.mark.parametrize("kind", ["Normal alone", "all priorities"])
async def test_a_burst_goes_by_the_rule(make_server, make_world, groupType, limit, kind):
    """200 messages at once: everything adds up, no second holds too much, the order is kept, only
    the sender is told."""
    world = limited(make_server, make_world, groupType, limit)
    group, alice, bob, carol = await live_room(world, groupType, "bob", "carol")
    ledger = Ledger(world.server, groupType, limit or 40)
    dice = random.Random(f"{groupType} {limit}")
    priorities = ["Normal"] * 200 if kind == "Normal alone" else dice.choices(PRIORITIES, k=200)
    await sent(ledger, alice, group, priorities)
    await ledger.settle(group, alice, bob, carol)
    ledger.read(alice, bob, carol)
    if groupType == "AVChatRoom":
        ledger.read_notices(alice)
    ledger.check()


async def test_messages_that_trickle_in_go_by_the_rule(make_server, make_world):
    """Replies pace the sender, so that the limit is crossed in both directions."""
    world = limited(make_server, make_world, "AVChatRoom", 10)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    ledger = Ledger(world.server, "AVChatRoom", 10)
    dice = random.Random(6)
    for _ in range(40):
        await sent(ledger, alice, group, dice.choices(PRIORITIES, k=dice.randint(1, 8)))
        await asyncio.sleep(dice.choice([0, 0, 0.05, 0.2]))  # only to have gaps; none of them matters
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.read_notices(alice)
    ledger.check()


@pytest.mark.parametrize("groupType", LIVE)
async def test_under_the_limit_no_message_is_delayed(make_server, make_world, groupType):
    """36 messages and, in an AVChatRoom, at most three notices are under 40 in any second."""
    world = limited(make_server, make_world, groupType, 40)
    group, alice, bob, carol = await live_room(world, groupType, "bob", "carol")
    ledger = Ledger(world.server, groupType, 40)
    await sent(ledger, alice, group, ["Lowest"] * 36)
    assert {message.status for message in ledger.sent} == {"Delivered"}
    await ledger.settle(group, alice, bob, carol)
    ledger.read(alice, bob, carol)
    ledger.check()


async def test_high_is_never_dropped_while_high_alone_is_under_the_limit(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 20)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    ledger = Ledger(world.server, "AVChatRoom", 20)
    priorities = ["Lowest", "Low", "Normal", "Normal"] * 50 + ["High"] * 20
    random.Random(1).shuffle(priorities)
    await sent(ledger, alice, group, priorities)
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.check()
    assert all(message.delivered is not None for message in ledger.sent if message.priority == "High")


async def test_a_better_one_displaces_the_newest_of_the_lowest(make_server, make_world):
    """One batch: whatever was waiting of Lowest when High found no room has gone, the newest
    first."""
    world = limited(make_server, make_world, "AVChatRoom", 5)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    ledger = Ledger(world.server, "AVChatRoom", 5)
    await sent(ledger, alice, group, ["Lowest"] * 15 + ["High"] * 5)
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.check()
    lowest = [message for message in ledger.sent if message.priority == "Lowest" and message.status == "Queued"]
    displaced = [message for message in lowest if message.dropped is not None and message.dropped - message.accepted <= 1000]
    for message in displaced:
        assert not [other for other in lowest if other.number > message.number and other.waits_at(message.dropped)]


async def test_only_the_sending_session_is_told(make_server, make_world):
    """The sender's other session gets the message too; a message by the backend has no sending
    session."""
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    again = await world.session(alice.user)
    ledger = Ledger(world.server, "AVChatRoom", 2)
    await sent(ledger, alice, group, ["Lowest", "High"] * 20)
    await ledger.settle(group, alice, again, bob)
    ledger.read(alice, again, bob)
    ledger.check()


@pytest.mark.parametrize("sender", ["administrator", "asUser"])
async def test_the_application_obeys_the_limit_and_is_told_by_the_reply_alone(make_server, make_world, sender):
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    name = {"asUser": alice.user} if sender == "asUser" else {}
    ledger = Ledger(world.server, "AVChatRoom", 2)
    priorities = random.Random(2).choices(PRIORITIES, k=20)
    batch = [{"jsonrpc": "2.0", "id": n, "method": method, "params": {**params, **name}}
             for n, (method, params) in enumerate(messages(group, priorities))]
    replies = sorted(world.server.post_rpc(batch).json(), key=lambda reply: reply["id"])
    ledger.note(priorities, replies)
    await ledger.settle(group, alice, bob)
    ledger.read(None, alice, bob)
    for message in ledger.sent:
        if message.left is None:
            assert message.status == "Queued"
    ledger.check_window()


async def test_texts_and_custom_data_count_together(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 3)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    ledger = Ledger(world.server, "AVChatRoom", 3)
    requests = [("sendGroupTextMessage", {"groupID": group, "text": "x"}),
                ("sendGroupCustomMessage", {"groupID": group, "data": "x"}),
                ("sendGroupTextMessage", {"groupID": group, "text": "x", "onlineUserOnly": True})] * 10
    ledger.note(["Normal"] * len(requests), await burst(alice, requests))
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.check()


async def test_control_events_are_never_counted_and_never_dropped(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 1)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    ledger = Ledger(world.server, "AVChatRoom", 1)
    requests = []
    for turn in range(30):
        requests += messages(group, ["High"]) + [("setGroupInfo", {"groupID": group, "introduction": f"{turn}"})]
    replies = await burst(alice, requests)
    ledger.note(["High"] * 30, replies[::2])
    assert all(reply["result"] == {} for reply in replies[1::2])
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.check()
    for client in (alice, bob):
        told = [event["changeInfoList"][0]["value"] for event in client.received("onGroupInfoChanged")]
        assert told == [f"{turn}" for turn in range(30)]


# clientMsgID

async def test_a_queued_message_repeated_is_the_same_and_a_dropped_one_a_new_one(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    requests = [("sendGroupTextMessage", {"groupID": group, "text": f"{n}", "clientMsgID": f"{n}"})
                for n in range(20) for _ in range(2)]
    replies = [reply["result"] for reply in await burst(alice, requests)]
    ledger = Ledger(world.server, "AVChatRoom", 2)
    distinct = list({answer["msgID"]: {"result": answer} for answer in replies}.values())
    ledger.note(["Normal"] * len(distinct), distinct)
    await ledger.settle(group, alice, bob)
    lost = {event["msgID"] for event in alice.received("onMessageDropped")}
    for first, second in zip(replies[::2], replies[1::2]):
        if first["status"] == "Dropped":
            assert second["msgID"] != first["msgID"]
        elif first["msgID"] not in lost:
            assert second == first
    assert all(event["clientMsgID"] in {f"{n}" for n in range(20)} for event in alice.received("onMessageDropped"))
    ledger.read(alice, bob)
    ledger.check()
    texts = [event["message"]["text"] for event in bob.received("onRecvNewMessage")]
    assert len(texts) == len(set(texts)), "nothing is delivered twice"


# The end of the room

@pytest.mark.parametrize("groupType", LIVE)
async def test_what_waits_when_the_room_ends_is_dropped_and_told(make_server, make_world, groupType):
    world = limited(make_server, make_world, groupType, 3)
    group, alice, bob = await live_room(world, groupType, "bob")
    ledger = Ledger(world.server, groupType, 3)
    *replies, dismissed = await burst(alice, messages(group, ["Normal"] * 19) + [("dismissGroup", {"groupID": group})])
    assert dismissed["result"] == {}
    ledger.note(["Normal"] * 19, replies)
    ledger.wait_until_empty()
    for client in (alice, bob):
        await client.expect("onGroupDismissed", groupID=group)
        await client.round_trip()
    ledger.read(alice, bob)
    ledger.check()


# Types that store messages

@pytest.mark.parametrize("groupType", STORING)
async def test_where_messages_are_stored_the_limit_refuses(make_server, make_world, groupType):
    """A refusal by 10023 stores nothing; a message after retryAfterMs is accepted."""
    world = limited(make_server, make_world, groupType, 3)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    replies = await burst(alice, messages(group, random.Random(3).choices(PRIORITIES, k=60)))
    stored = [reply["result"] for reply in replies if "result" in reply]
    refused = [reply["error"] for reply in replies if "error" in reply]
    assert len(stored) >= 3 and {answer["status"] for answer in stored} == {"Stored"}
    assert [answer["seq"] for answer in stored] == list(range(1, len(stored) + 1))
    assert all(error["code"] == 10023 and 0 < error["data"]["retryAfterMs"] <= 1000 for error in refused)
    for older, newer in zip(stored, stored[3:]):
        assert newer["timestamp"] - older["timestamp"] >= 1000
    assert [message["msgID"] for message in await history_of(bob, group)] == [answer["msgID"] for answer in stored]
    if refused:
        await asyncio.sleep(refused[-1]["data"]["retryAfterMs"] / 1000)  # as the answer says; longer does no harm
        (last,) = await burst(alice, messages(group, ["Normal"]))
        assert last["result"]["seq"] == len(stored) + 1
    steps = {step: world.server.metric(f"throng_messages_{step}_total", groupType=groupType) for step in ("accepted", "dropped")}
    assert steps["dropped"] == 0 and steps["accepted"] == len(stored) + bool(refused)


@pytest.mark.parametrize("groupType", [*STORING, "BChatRoom"])
async def test_by_default_the_others_have_no_limit(make_server, make_world, groupType):
    world = limited(make_server, make_world, groupType, None)
    if groupType == "BChatRoom":
        group, alice, _ = await live_room(world, groupType, "bob")
    else:
        alice = await world.user("alice")
        group = await world.group(alice, groupType)
    replies = await burst(alice, messages(group, ["Lowest"] * 200))
    assert {reply["result"]["status"] for reply in replies} == {"Delivered" if groupType == "BChatRoom" else "Stored"}


async def test_zero_is_no_limit_for_an_av_chat_room_too(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 0)
    group, alice, _ = await live_room(world, "AVChatRoom", "bob")
    replies = await burst(alice, messages(group, ["Lowest"] * 200))
    assert {reply["result"]["status"] for reply in replies} == {"Delivered"}
