"""The message rate of live types (Protocol.md, "Message rate of live types"), on servers whose time
stands still."""
import random
from collections import Counter

import pytest

from harness.delivery_log import PRIORITIES, DeliveryLog, burst, messages
from harness.world import history_of

KEYS = {"Work": "work", "Public": "public", "Meeting": "meeting", "AVChatRoom": "avChatRoom", "BChatRoom": "bChatRoom"}
LIVE, STORING = ["AVChatRoom", "BChatRoom"], ["Work", "Public", "Meeting"]


def limited(make_server, make_world, groupType, limit, **settings):
    """A world on a server with this limit; None leaves the default."""
    if limit is not None:
        settings[f"limits.{KEYS[groupType]}.messagesPerSecond"] = limit
    return make_world(make_server(settings, frozen=True))


async def live_room(world, groupType, *names):
    """A live room, its owner, and others in it. The notice that the first of these has joined an
    AVChatRoom takes a place of this second; the others' notices wait."""
    owner, *others = await world.users("owner", *names)
    if groupType == "BChatRoom":
        made = world.server.rpc("createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)
        return made["result"]["groupID"], owner, *others
    return await world.group(owner, groupType, others), owner, *others


def places(groupType, limit):
    """How many messages find a place in the second of `live_room`."""
    return limit - (groupType == "AVChatRoom")


async def sent(log, client, group, priorities):
    """Sends these at once and notes the replies."""
    log.note(priorities, await burst(client, messages(group, priorities)))


def statuses(log):
    return Counter(message.status for message in log.sent)


def delivered(log, receiver):
    """The messages that a session got, in its order."""
    by_id = {message.answer["msgID"]: message for message in log.sent}
    return [by_id[event["message"]["msgID"]] for event in receiver.received("onRecvNewMessage")]


@pytest.mark.parametrize(
    "groupType, limit", [("AVChatRoom", None), ("AVChatRoom", 1), ("AVChatRoom", 7), ("BChatRoom", 1), ("BChatRoom", 40)])
@pytest.mark.parametrize("kind", ["Normal alone", "all priorities"])
async def test_a_burst_goes_by_the_rule(make_server, make_world, groupType, limit, kind):
    """200 messages at once: the first find places, the best of the others wait for a second, only
    the sender is told what was dropped."""
    world = limited(make_server, make_world, groupType, limit)
    group, alice, bob, carol = await live_room(world, groupType, "bob", "carol")
    log = DeliveryLog(world.server, groupType, limit or 40)
    dice = random.Random(f"{groupType} {limit}")
    priorities = ["Normal"] * 200 if kind == "Normal alone" else dice.choices(PRIORITIES, k=200)
    await sent(log, alice, group, priorities)
    free = places(groupType, log.limit)
    assert statuses(log)["Delivered"] == free
    await log.settle(group, alice, bob, carol)
    best = sorted(log.sent[free:], key=lambda message: -message.rank)[:log.limit]
    assert delivered(log, bob) == log.sent[:free] + best
    log.read(alice, bob, carol)
    assert {message.delivered - message.accepted for message in best} == {1000}
    if kind == "Normal alone":
        assert statuses(log) == Counter(Delivered=free, Queued=log.limit, Dropped=200 - free - log.limit)
    if groupType == "AVChatRoom":
        log.read_notices(alice)
        # One with bob's joining. That of carol's comes after the messages, in the next second that has a place.
        assert len(log.notices) == 2
    log.check()


async def test_messages_that_trickle_in_go_by_the_rule(make_server, make_world):
    """With gaps, so that the limit is crossed in both directions."""
    world = limited(make_server, make_world, "AVChatRoom", 10)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    log = DeliveryLog(world.server, "AVChatRoom", 10)
    dice = random.Random(6)
    for _ in range(40):
        await sent(log, alice, group, dice.choices(PRIORITIES, k=dice.randint(1, 8)))
        await world.server.advance(seconds=dice.choice([0.001, 0.01, 0.05, 0.2, 0.5]))
    await log.settle(group, alice, bob)
    log.read(alice, bob)
    log.read_notices(alice)
    log.check()
    assert set(statuses(log)) == {"Delivered", "Queued", "Dropped"}


@pytest.mark.parametrize("groupType", LIVE)
async def test_up_to_the_limit_no_message_is_delayed(make_server, make_world, groupType):
    world = limited(make_server, make_world, groupType, 40)
    group, alice, bob, carol = await live_room(world, groupType, "bob", "carol")
    log = DeliveryLog(world.server, groupType, 40)
    for places_left in (places(groupType, 40), 40):
        await sent(log, alice, group, ["Lowest"] * places_left)
        await world.server.advance(seconds=1)
        # The notice of carol's joining leaves now.
        await world.server.advance(seconds=1)
    assert statuses(log) == Counter(Delivered=places(groupType, 40) + 40)
    await log.settle(group, alice, bob, carol)
    log.read(alice, bob, carol)
    log.check()


async def test_a_better_one_displaces_the_newest_of_the_lowest(make_server, make_world):
    """Four have places, five wait, six are dropped. Then five better ones come."""
    world = limited(make_server, make_world, "AVChatRoom", 5)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    log = DeliveryLog(world.server, "AVChatRoom", 5)
    await sent(log, alice, group, ["Lowest"] * 15 + ["High"] * 5)
    await log.settle(group, alice, bob)
    log.read(alice, bob)
    log.check()
    assert [message.status for message in log.sent] == (
        ["Delivered"] * 4 + ["Queued"] * 5 + ["Dropped"] * 6 + ["Queued"] * 5)
    displaced = [log.sent[number].answer["msgID"] for number in (8, 7, 6, 5, 4)]
    assert [event["msgID"] for event in alice.received("onMessageDropped")] == displaced
    assert all(message.dropped == message.accepted for message in log.sent[4:9])


async def test_only_the_sending_session_is_told(make_server, make_world):
    """The sender's other session gets the message too; a message by the backend has no sending
    session."""
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    again = await world.session(alice.user)
    log = DeliveryLog(world.server, "AVChatRoom", 2)
    await sent(log, alice, group, ["Lowest", "High"] * 20)
    await log.settle(group, alice, again, bob)
    log.read(alice, again, bob)
    log.check()


@pytest.mark.parametrize("sender", ["administrator", "asUser"])
async def test_the_application_obeys_the_limit_and_is_told_by_the_reply_alone(make_server, make_world, sender):
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    name = {"asUser": alice.user} if sender == "asUser" else {}
    log = DeliveryLog(world.server, "AVChatRoom", 2)
    priorities = random.Random(2).choices(PRIORITIES, k=20)
    batch = [{"jsonrpc": "2.0", "id": n, "method": method, "params": {**params, **name}}
             for n, (method, params) in enumerate(messages(group, priorities))]
    replies = sorted(world.server.post_rpc(batch).json(), key=lambda reply: reply["id"])
    log.note(priorities, replies)
    await log.settle(group, alice, bob)
    log.read(None, alice, bob)
    assert all(message.status == "Queued" for message in log.sent if message.left is None)
    best = sorted(log.sent[1:], key=lambda message: -message.rank)[:2]
    assert [message for message in log.sent if message.delivered is not None] == sorted(
        [log.sent[0], *best], key=lambda message: message.number)
    log.check_window()


async def test_control_events_are_never_counted_and_never_dropped(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 1)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")
    log = DeliveryLog(world.server, "AVChatRoom", 1)
    requests = []
    for turn in range(30):
        requests += messages(group, ["High"]) + [("setGroupInfo", {"groupID": group, "introduction": f"{turn}"})]
    replies = await burst(alice, requests)
    log.note(["High"] * 30, replies[::2])
    assert all(reply["result"] == {} for reply in replies[1::2])
    await log.settle(group, alice, bob)
    log.read(alice, bob)
    log.check()
    for client in (alice, bob):
        told = [event["changeInfoList"][0]["value"] for event in client.received("onGroupInfoChanged")]
        assert told == [f"{turn}" for turn in range(30)]


# clientMsgID

async def test_a_queued_message_repeated_is_the_same_and_a_dropped_one_a_new_one(make_server, make_world):
    """Each twice: one has a place, two wait, the others are dropped. Then a better one displaces the last that waits."""
    world = limited(make_server, make_world, "AVChatRoom", 2)
    group, alice, bob = await live_room(world, "AVChatRoom", "bob")

    async def send(*marks, priority="Normal"):
        params = [{"groupID": group, "text": mark, "clientMsgID": mark, "priority": priority} for mark in marks]
        return [reply["result"] for reply in await burst(alice, [("sendGroupTextMessage", one) for one in params])]

    replies = await send(*(f"{number}" for number in range(20) for _ in range(2)))
    firsts, repeated = replies[::2], replies[1::2]
    assert [answer["status"] for answer in firsts] == ["Delivered"] + ["Queued"] * 2 + ["Dropped"] * 17
    assert repeated[:3] == firsts[:3]
    assert {answer["status"] for answer in repeated[3:]} == {"Dropped"}
    assert len({answer["msgID"] for answer in replies}) == 3 + 2 * 17
    (better,) = await send("better", priority="High")
    event = await alice.expect("onMessageDropped")
    assert (event["msgID"], event["clientMsgID"]) == (firsts[2]["msgID"], "2")
    (again,) = await send("2")
    assert again["status"] == "Dropped" and again["msgID"] != firsts[2]["msgID"]
    await world.server.advance(seconds=1)
    await alice.quiet("onMessageDropped")
    (again,) = await send("1")
    assert again == firsts[1], "it is answered Queued, whatever became of it"
    await bob.round_trip(group)
    texts = [event["message"]["text"] for event in bob.received("onRecvNewMessage")]
    assert texts == ["0", "better", "1"], "nothing is delivered twice"


# The end of the room

@pytest.mark.parametrize("groupType", LIVE)
async def test_what_waits_when_the_room_ends_is_dropped_and_told(make_server, make_world, groupType):
    world = limited(make_server, make_world, groupType, 3)
    group, alice, bob = await live_room(world, groupType, "bob")
    log = DeliveryLog(world.server, groupType, 3)
    *replies, dismissed = await burst(alice, messages(group, ["Normal"] * 19) + [("dismissGroup", {"groupID": group})])
    assert dismissed["result"] == {}
    log.note(["Normal"] * 19, replies)
    free = places(groupType, 3)
    assert statuses(log) == Counter(Delivered=free, Queued=3, Dropped=16 - free)
    for client in (alice, bob):
        await client.expect("onGroupDismissed", groupID=group)
        await client.round_trip()
    assert len(alice.received("onMessageDropped")) == 3
    log.read(alice, bob)
    log.check()


# Types that store messages

@pytest.mark.parametrize("groupType", STORING)
async def test_where_messages_are_stored_the_limit_refuses(make_server, make_world, groupType):
    """A refusal by 10023 stores nothing; a message after retryAfterMs is accepted."""
    world = limited(make_server, make_world, groupType, 3)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    replies = await burst(alice, messages(group, random.Random(3).choices(PRIORITIES, k=60)))
    first = [reply["result"] for reply in replies[:3]]
    assert [(answer["status"], answer["seq"]) for answer in first] == [("Stored", number) for number in (1, 2, 3)]
    assert {(reply["error"]["code"], reply["error"]["data"]["retryAfterMs"]) for reply in replies[3:]} == {(10023, 1000)}
    await world.server.advance(seconds=0.999)
    (refused,) = await burst(alice, messages(group, ["High"]))
    assert refused["error"]["data"]["retryAfterMs"] == 1
    await world.server.advance(seconds=0.001)
    later = await burst(alice, messages(group, ["Lowest"] * 4))
    assert [reply["result"]["seq"] for reply in later[:3]] == [4, 5, 6] and later[3]["error"]["code"] == 10023
    stored = [reply["result"]["msgID"] for reply in replies[:3] + later[:3]]
    assert [message["msgID"] for message in await history_of(bob, group)] == stored
    world.server.metric_becomes("throng_messages_accepted_total", 6, group_type=groupType)
    world.server.metric_becomes("throng_messages_dropped_total", 0, group_type=groupType)


@pytest.mark.parametrize("groupType", [*STORING, "BChatRoom"])
async def test_by_default_the_others_have_no_limit(frozen_world, groupType):
    if groupType == "BChatRoom":
        group, alice = await live_room(frozen_world, groupType)
    else:
        alice = await frozen_world.user("alice")
        group = await frozen_world.group(alice, groupType)
    replies = await burst(alice, messages(group, ["Lowest"] * 200))
    assert {reply["result"]["status"] for reply in replies} == {"Delivered" if groupType == "BChatRoom" else "Stored"}


async def test_zero_is_no_limit_for_an_av_chat_room_too(make_server, make_world):
    world = limited(make_server, make_world, "AVChatRoom", 0)
    group, alice, _ = await live_room(world, "AVChatRoom", "bob")
    replies = await burst(alice, messages(group, ["Lowest"] * 200))
    assert {reply["result"]["status"] for reply in replies} == {"Delivered"}
