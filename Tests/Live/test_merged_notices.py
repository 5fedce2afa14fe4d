"""Join and leave notices of an AVChatRoom, while time stands still (Protocol.md, "Join and leave notices")."""
import pytest

from harness.delivery_log import DeliveryLog, burst, messages

NAMED = 50


def names(event):
    return [row["userID"] for row in event["memberList"]]


async def as_users(server, method, group, users):
    """One call in the name of each of these users, in this order."""
    for start in range(0, len(users), 20):
        batch = [{"jsonrpc": "2.0", "id": user, "method": method, "params": {"groupID": group, "asUser": user}}
                 for user in users[start:start + 20]]
        assert all("result" in reply for reply in server.post_rpc(batch).json())


@pytest.mark.parametrize("count", [10, 130])
async def test_notices_are_merged_and_name_the_fifty_newest(frozen_world, count):
    """The first leaves at once, and one for all others when the second has ended."""
    alice = await frozen_world.user("alice")
    group = await frozen_world.group(alice, "AVChatRoom")
    fans = [frozen_world.name("fan") for _ in range(count)]
    for method, event, before, step in (("joinGroup", "onMemberEnter", 1, 1), ("quitGroup", "onMemberLeave", 1 + count, -1)):
        await as_users(frozen_world.server, method, group, fans)
        await frozen_world.server.advance(seconds=0.999)
        first = await alice.expect(event, groupID=group)
        assert names(first) == fans[:1] and first["memberCount"] == before + step
        await alice.quiet(event, group=group)
        await frozen_world.server.advance(seconds=0.001)
        second = await alice.expect(event, groupID=group)
        assert names(second) == fans[1:][-NAMED:] and second["memberCount"] == before + step * count
        assert second["opTime"] - first["opTime"] == 1000
        for notice in (first, second):
            assert set(notice) == {"groupID", "opTime", "memberList", "memberCount", "platform"}
            assert notice["platform"] == "RESTful API"
        await frozen_world.server.advance(seconds=2)
        await alice.quiet(event, group=group)


async def test_who_joins_hears_of_it_at_once_on_all_sessions(frozen_world):
    """All in one second, so that the others hear of the first alone."""
    alice = await frozen_world.user("alice")
    group = await frozen_world.group(alice, "AVChatRoom")
    for count in range(2, 8):
        fan = await frozen_world.user("fan")
        again = await frozen_world.session(fan.user)
        await fan.call("joinGroup", groupID=group)
        for session in (fan, again):
            event = await session.expect("onMemberEnter", groupID=group)
            assert names(event) == [fan.user] and event["memberCount"] == count
    await alice.expect("onMemberEnter", groupID=group, memberCount=2)
    await alice.quiet("onMemberEnter", group=group)


async def test_every_joiner_hears_of_it_though_the_room_is_full(make_server, make_world):
    """The limit is 1 and chat takes every place: the joiner's own event is outside; the others are
    told when there is a place, or never."""
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 1}, frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    log = DeliveryLog(world.server, "AVChatRoom", 1)
    fans = await world.users(*["fan"] * 12)
    for fan in fans:
        priorities = ["Lowest", "High", "Low"]
        log.note(priorities, await burst(alice, messages(group, priorities)))
        await fan.call("joinGroup", groupID=group)
        await fan.expect("onMemberEnter", groupID=group, memberList=lambda rows: rows[-1]["userID"] == fan.user)
        await world.server.advance(seconds=0.3)
    await log.settle(group, alice, bob)
    log.read(alice, bob)
    log.read_notices(alice)
    log.check()


async def test_notices_count_and_come_after_messages(make_server, make_world):
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 4}, frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    log = DeliveryLog(world.server, "AVChatRoom", 4)
    fans = [world.name("fan") for _ in range(30)]
    for turn in range(10):
        priorities = ["Lowest"] * (turn % 5)
        log.note(priorities, await burst(alice, messages(group, priorities)))
        await as_users(world.server, "joinGroup", group, fans[turn * 3:turn * 3 + 3])
        await as_users(world.server, "quitGroup", group, fans[turn * 3:turn * 3 + 1])
        await world.server.advance(seconds=0.5)
    await log.settle(group, alice, bob)
    log.read(alice, bob)
    log.read_notices(alice)
    log.check()
    assert "Queued" in {message.status for message in log.sent}
    for name in ("onMemberEnter", "onMemberLeave"):
        instants = [event["opTime"] for event in alice.received(name)]
        assert len(instants) >= 2
        assert all(newer - older >= 1000 for older, newer in zip(instants, instants[1:]))


async def test_notices_are_merged_without_a_limit_of_messages(make_server, make_world):
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 0}, frozen=True))
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    fans = [world.name("fan") for _ in range(130)]
    for method, event, before, step in (("joinGroup", "onMemberEnter", 1, 1), ("quitGroup", "onMemberLeave", 131, -1)):
        await as_users(world.server, method, group, fans)
        first = await alice.expect(event, groupID=group)
        assert names(first) == fans[:1] and first["memberCount"] == before + step
        await alice.quiet(event, group=group)
        await world.server.advance(seconds=1)
        second = await alice.expect(event, groupID=group)
        assert names(second) == fans[-NAMED:] and second["memberCount"] == before + step * 130
        await world.server.advance(seconds=2)
        await alice.quiet(event, group=group)


async def test_each_kind_for_itself(frozen_world):
    """The first leave notice does not wait for the join notices: it leaves with the quitting."""
    alice, bob, carol = await frozen_world.users("alice", "bob", "carol")
    group = await frozen_world.group(alice, "AVChatRoom", [bob, carol])
    await bob.call("quitGroup", groupID=group)
    entered, left = [await alice.expect(name, groupID=group) for name in ("onMemberEnter", "onMemberLeave")]
    assert names(entered) == names(left) == [bob.user] and entered["opTime"] == left["opTime"]
    assert entered["memberCount"] == 2 and left["memberCount"] == 2
    await alice.quiet("onMemberEnter", group=group)
    await frozen_world.server.advance(seconds=1)
    assert names(await alice.expect("onMemberEnter", groupID=group)) == [carol.user]


async def test_with_notification_off_only_joiners_hear(frozen_world):
    alice = await frozen_world.user("alice")
    group = await frozen_world.group(alice, "AVChatRoom", memberChangeNotification=False)
    fans = await frozen_world.users(*["fan"] * 5)
    for fan in fans:
        await fan.call("joinGroup", groupID=group)
        assert names(await fan.expect("onMemberEnter", groupID=group)) == [fan.user]
    await fans[0].call("quitGroup", groupID=group)
    await frozen_world.server.advance(seconds=2)
    await frozen_world.settle(group, alice, *fans[1:])
    for client in (alice, *fans):
        assert not client.received("onMemberEnter", groupID=group) and not client.received("onMemberLeave", groupID=group)


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_groups_with_history_tell_of_everybody_at_once(world, groupType):
    alice = await world.user("alice")
    group = await world.group(alice, groupType, memberChangeNotification=True)
    fans = [world.name("fan") for _ in range(60)]
    await as_users(world.server, "joinGroup", group, fans)
    told = [names(await alice.expect("onMemberEnter", groupID=group)) for _ in fans]
    assert told == [[fan] for fan in fans]
