"""The policy field slowMode: the least time between two messages of a member (Protocol.md, "Slow mode")."""
import pytest

from harness.backend import all_answers, denied, done
from harness.client import Refused
from harness.receiver import Answer, Receiver
from harness.restarts import restart
from harness.world import info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]


async def say(client, group, **params):
    return await client.call("sendGroupTextMessage", groupID=group, text="x", **params)


async def waits(client, group):
    """The milliseconds that a refused message has to wait."""
    data = await client.refused(10023, "sendGroupTextMessage", groupID=group, text="x")
    assert data["temporary"] is True
    return data["retryAfterMs"]


# The field

@pytest.mark.parametrize("groupType", TYPES)
async def test_the_field_is_a_number_of_seconds(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    assert (await info_of(bob, group))["slowMode"] == 0
    for seconds in (86_400, 1, 0, 30):
        await alice.call("setGroupInfo", groupID=group, slowMode=seconds)
        event = await bob.expect("onGroupInfoChanged", groupID=group)
        assert event["changeInfoList"] == [{"type": "slowMode", "value": seconds}]
        assert (await info_of(bob, group))["slowMode"] == seconds
    await alice.call("setGroupInfo", groupID=group, slowMode=30)
    await bob.quiet("onGroupInfoChanged", group)
    for seconds in (-1, 86_401, 2**53):
        assert (await alice.refused(10004, "setGroupInfo", groupID=group, slowMode=seconds))["field"] == "slowMode"
    for seconds in ("1", 1.5, True):
        assert (await alice.refused(-32602, "setGroupInfo", groupID=group, slowMode=seconds))["field"] == "slowMode"
    await bob.refused(10007, "setGroupInfo", groupID=group, slowMode=1)
    made = (await alice.call("createGroup", groupType=groupType, groupName="g", slowMode=60))["groupID"]
    assert (await info_of(alice, made))["slowMode"] == 60


async def test_a_group_of_everybody_has_none(server, world):
    alice = await world.user("alice")
    group = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=alice.user)["groupID"]
    await alice.refused(10007, "setGroupInfo", groupID=group, slowMode=5)
    denied(server, 10007, "setGroupInfo", groupID=group, slowMode=5)
    assert "slowMode" not in await info_of(alice, group)


# Who waits

@pytest.mark.parametrize("groupType", TYPES)
async def test_members_wait_and_managers_do_not(frozen_world, groupType):
    server = frozen_world.server
    group, people = await frozen_world.group_of(groupType, slowMode=5)
    owner, member = people["owner"], people["member"]
    second = await frozen_world.session(member.user)
    await say(member, group)
    assert await waits(member, group) == await waits(second, group) == 5000, "sessions of a user count together"
    assert denied(server, 10023, "sendGroupCustomMessage", asUser=member.user, groupID=group, data="x")["retryAfterMs"] == 5000
    for client in (owner, people.get("admin", owner)):
        for _ in range(3):
            await say(client, group)
    for _ in range(3):
        done(server, "sendGroupTextMessage", groupID=group, text="x")
    await server.advance(seconds=4.999)
    assert await waits(member, group) == 1
    await server.advance(seconds=0.001)
    await say(second, group)
    assert await waits(member, group) == 5000


async def test_a_custom_role_waits_and_an_admin_does_not(frozen_world):
    alice, bob = await frozen_world.users("alice", "bob")
    group = await frozen_world.group(alice, members=[bob], slowMode=5)
    await alice.call("setGroupMemberRole", groupID=group, userID=bob.user, role="300")
    await say(bob, group)
    assert await waits(bob, group) == 5000
    await alice.call("setGroupMemberRole", groupID=group, userID=bob.user, role="Admin")
    await say(bob, group)


async def test_each_group_and_each_user_counts_alone(frozen_world):
    alice, bob, carol = await frozen_world.users("alice", "bob", "carol")
    group = await frozen_world.group(alice, members=[bob, carol], slowMode=5)
    other = await frozen_world.group(alice, members=[bob], slowMode=5)
    for client, target in ((bob, group), (carol, group), (bob, other)):
        await say(client, target)
    for client, target in ((bob, group), (carol, group), (bob, other)):
        assert await waits(client, target) == 5000


# What counts

async def test_what_is_refused_or_repeated_does_not_count(frozen_world):
    alice, bob = await frozen_world.users("alice", "bob")
    group = await frozen_world.group(alice, members=[bob], slowMode=5)
    await bob.refused(10007, "sendGroupTextMessage", groupID=group, text="x", atUserIDList=["@all"])
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=60)
    await bob.refused(10017, "sendGroupTextMessage", groupID=group, text="x")
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=0)
    first = await say(bob, group, clientMsgID="c")
    assert await say(bob, group, clientMsgID="c") == first
    for _ in range(3):
        assert await waits(bob, group) == 5000
    await frozen_world.server.advance(seconds=5)
    await say(bob, group)


async def test_edits_reactions_and_signals_are_free(frozen_world):
    alice, bob = await frozen_world.users("alice", "bob")
    group = await frozen_world.group(alice, members=[bob], slowMode=5)
    seq = (await say(bob, group))["seq"]
    await bob.call("modifyGroupMessage", groupID=group, seq=seq, text="y")
    await bob.call("addMessageReaction", groupID=group, seq=seq, reaction="+1")
    await bob.call("sendGroupSignal", groupID=group, name="typing")
    await bob.call("revokeGroupMessage", groupID=group, seq=seq)
    assert await waits(bob, group) == 5000, "the recalled message counts"


async def test_in_a_live_room_queued_messages_count_and_dropped_ones_do_not(make_server, make_world):
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 1}, frozen=True))
    alice, bob, carol, dave = await world.users("alice", "bob", "carol", "dave")
    group = await world.group(alice, "AVChatRoom", [bob, carol, dave], slowMode=60)
    # The notices of the joins have their places.
    await world.server.advance(seconds=3)
    statuses = [(await say(client, group))["status"] for client in (bob, carol, dave, dave)]
    assert statuses == ["Delivered", "Queued", "Dropped", "Dropped"]
    for client in (bob, carol):
        assert await waits(client, group) == 60_000
    await world.server.advance(seconds=1)
    assert (await say(dave, group))["status"] == "Queued"
    assert await waits(dave, group) == 60_000


async def test_a_message_that_the_application_drops_does_not_count(make_server, make_world):
    def answer(request):
        return Answer({"action": "Drop"}) if request.data["message"]["text"] == "drop" else None

    with Receiver(answer) as receiver:
        world = make_world(make_server(receiver.settings("beforeSendMessage"), frozen=True))
        alice, bob = await world.users("alice", "bob")
        group = await world.group(alice, members=[bob], slowMode=60)
        dropped = await bob.call("sendGroupTextMessage", groupID=group, text="drop")
        assert dropped["status"] == "Dropped"
        await say(bob, group)
        asked = len(receiver.of("beforeSendMessage"))
        assert await waits(bob, group) == 60_000
        assert len(receiver.of("beforeSendMessage")) == asked, "the application is not asked about what is refused"


# With other rules

async def test_the_longer_of_two_waits_is_told(make_server, make_world):
    world = make_world(make_server({"limits.public.messagesPerSecond": 1}, frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], slowMode=5)
    await say(bob, group)
    await world.server.advance(seconds=0.4)
    assert await waits(bob, group) == 4600 and await waits(alice, group) == 600
    await world.server.advance(seconds=4.599)
    await say(alice, group)
    assert await waits(bob, group) == 1000
    await world.server.advance(seconds=1)
    await say(bob, group)


async def test_another_choice_counts_at_once(frozen_world):
    alice, bob = await frozen_world.users("alice", "bob")
    group = await frozen_world.group(alice, members=[bob], slowMode=5)
    await say(bob, group)
    await alice.call("setGroupInfo", groupID=group, slowMode=3600)
    assert await waits(bob, group) == 3_600_000
    await frozen_world.server.advance(seconds=2)
    await alice.call("setGroupInfo", groupID=group, slowMode=2)
    await say(bob, group)
    await alice.call("setGroupInfo", groupID=group, slowMode=0)
    for _ in range(3):
        await say(bob, group)
    await alice.call("setGroupInfo", groupID=group, slowMode=60)
    await say(bob, group)
    assert await waits(bob, group) == 60_000, "messages count from there on"


async def test_it_outlives_the_groups_memory(make_server, make_world):
    """An idle group leaves memory after ten minutes; its members wait for an hour."""
    world = make_world(make_server(frozen=True))
    alice, bob = await world.user("alice", ttl=86_400), await world.user("bob", ttl=86_400)
    group = await world.group(alice, members=[bob], slowMode=3600)
    await say(bob, group)
    for _ in range(80):
        await world.server.advance(seconds=10)
    assert await waits(bob, group) == 2_800_000
    await world.server.advance(seconds=2800)
    await say(bob, group)


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_the_choice_outlives_a_restart(make_server, make_world, how):
    """"A restart may forget the time of the last one."""
    world = make_world(make_server({"drain.duration": 0}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], slowMode=3600)
    await say(bob, group)
    await restart(world, how)
    bob = await world.session(bob.user)
    assert (await info_of(bob, group))["slowMode"] == 3600
    answers = await all_answers(bob, [("sendGroupTextMessage", {"groupID": group, "text": "x"})] * 3)
    assert [isinstance(answer, Refused) for answer in answers][1:] == [True, True]


async def test_all_hear_that_it_changes(world):
    alice, bob, outsider = await world.users("alice", "bob", "outsider")
    group = await world.group(alice, members=[bob])
    await alice.call("setGroupInfo", groupID=group, slowMode=7, groupName="n")
    for client in (alice, bob):
        event = await client.expect("onGroupInfoChanged", groupID=group)
        assert {"type": "slowMode", "value": 7} in event["changeInfoList"] and len(event["changeInfoList"]) == 2
    (tip,) = [message["tips"] for message in (await bob.call("getGroupHistoryMessageList", groupID=group))["messageList"]]
    assert {"type": "slowMode", "value": 7} in tip["changeInfoList"]
    await outsider.quiet("onGroupInfoChanged")


async def test_getServerInfo_tells_its_bounds(world):
    info = await (await world.user("alice")).call("getServerInfo")
    found = {row["groupType"]: row["policy"].get("slowMode") for row in info["groupTypes"]}
    bounds = {"default": 0, "settable": True, "min": 0, "max": 86_400}
    assert found == {**dict.fromkeys(TYPES, bounds), "BChatRoom": None}
