"""Join and leave notices of an AVChatRoom. The assertions hold for any timing (Protocol.md, "Join
and leave notices")."""
import pytest

from harness.ledger import Ledger, burst, messages

NAMED = 50


def names(event):
    return [row["userID"] for row in event["memberList"]]


async def as_users(server, method, group, users):
    """One call in the name of each of these users, in this order."""
    for start in range(0, len(users), 20):
        batch = [{"jsonrpc": "2.0", "id": user, "method": method, "params": {"groupID": group, "asUser": user}}
                 for user in users[start:start + 20]]
        assert all("result" in reply for reply in server.post_rpc(batch).json())


def told(client, event):
    return [frame["params"] for frame in client.frames if isinstance(frame, dict) and frame.get("method") == event]


def check_notices(notices, users, start, step):
    """Each notice counts everybody who had come (or gone) until then, and names the newest of those
    that none before it had counted, in their order; it leaves a second after that at the earliest.
    Gives whether each named as many as it should: a notice that found no place for a second is
    given up, and who was in it is only counted."""
    counted, exact = 0, True
    for notice in notices:
        changed = (notice["memberCount"] - start) * step
        assert 0 < len(names(notice)) <= min(NAMED, changed - counted)
        assert names(notice) == users[changed - len(names(notice)):changed]
        exact = exact and len(names(notice)) == min(NAMED, changed - counted)
        counted = changed
    for older, newer in zip(notices, notices[1:]):
        assert newer["opTime"] - older["opTime"] >= 1000
    return exact and counted == len(users)


async def notices_of(world, count):
    """So many join and quit at once; gives whether all notices came and were complete."""
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    fans = [world.name("fan") for _ in range(count)]
    await as_users(world.server, "joinGroup", group, fans)
    await until_counted(alice, "onMemberEnter", group, 1 + count)
    complete = check_notices(told(alice, "onMemberEnter"), fans, 1, 1)
    await as_users(world.server, "quitGroup", group, fans)
    await until_counted(alice, "onMemberLeave", group, 1)
    complete = check_notices(told(alice, "onMemberLeave"), fans, 1 + count, -1) and complete
    for event in told(alice, "onMemberEnter") + told(alice, "onMemberLeave"):
        assert set(event) == {"groupID", "opTime", "memberList", "memberCount", "platform"}
        assert event["platform"] == "RESTful API"
    return complete


async def until_counted(client, event, group, count):
    """The notice that counts everybody; a server that stands still for seconds may have given it
    up."""
    try:
        await client.expect(event, patience=5, groupID=group, memberCount=lambda number: number == count)
    except AssertionError:
        await client.round_trip(group)


@pytest.mark.parametrize("count", [10, 130])
async def test_notices_are_merged_and_name_the_fifty_newest(world, count):
    """A machine that stands still makes notices be given up; not three times in a row."""
    for _ in range(3):
        if await notices_of(world, count):
            return
    raise AssertionError("notices were given up, or named too few, each time")


async def test_who_joins_hears_of_it_at_once_on_all_sessions(world):
    """With the reply, "outside the limit": the events of the group that came before it are there by
    a round trip."""
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    for count in range(2, 8):
        fan = await world.user("fan")
        again = await world.session(fan.user)
        await fan.call("joinGroup", groupID=group)
        for session in (fan, again):
            event = await session.expect("onMemberEnter", groupID=group)
            assert names(event)[-1] == fan.user and event["memberCount"] == count


async def test_every_joiner_hears_of_it_though_the_room_is_full(make_server, make_world):
    """The limit is 1 and chat takes every place: the joiner's own event is outside; the others are
    told when there is a place, or never."""
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 1}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    ledger = Ledger(world.server, "AVChatRoom", 1)
    fans = await world.users(*["fan"] * 12)
    for fan in fans:
        priorities = ["Lowest", "High", "Low"]
        ledger.note(priorities, await burst(alice, messages(group, priorities)))
        await fan.call("joinGroup", groupID=group)
        await fan.expect("onMemberEnter", groupID=group, memberList=lambda rows: rows[-1]["userID"] == fan.user)
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.read_notices(alice)
    ledger.check()


async def test_notices_count_and_come_after_messages(make_server, make_world):
    world = make_world(make_server({"limits.avChatRoom.messagesPerSecond": 3}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    ledger = Ledger(world.server, "AVChatRoom", 3)
    fans = [world.name("fan") for _ in range(30)]
    for turn in range(10):
        priorities = ["Lowest"] * (turn % 5)
        ledger.note(priorities, await burst(alice, messages(group, priorities)))
        await as_users(world.server, "joinGroup", group, fans[turn * 3:turn * 3 + 3])
        await as_users(world.server, "quitGroup", group, fans[turn * 3:turn * 3 + 1])
    await ledger.settle(group, alice, bob)
    ledger.read(alice, bob)
    ledger.read_notices(alice)
    ledger.check()
    for name in ("onMemberEnter", "onMemberLeave"):
        instants = [event["opTime"] for event in alice.received(name)]
        assert all(newer - older >= 1000 for older, newer in zip(instants, instants[1:]))


async def test_each_kind_for_itself(make_server, make_world):
    """The first leave notice does not wait for the join notices: it leaves with the quitting."""
    world = make_world(make_server())
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    await bob.call("quitGroup", groupID=group)
    entered, left = [await alice.expect(name, groupID=group) for name in ("onMemberEnter", "onMemberLeave")]
    assert names(entered) == names(left) == [bob.user]
    assert entered["memberCount"] == 2 and left["memberCount"] == 1


async def test_with_notification_off_only_joiners_hear(world):
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom", memberChangeNotification=False)
    fans = await world.users(*["fan"] * 5)
    for fan in fans:
        await fan.call("joinGroup", groupID=group)
        assert names(await fan.expect("onMemberEnter", groupID=group)) == [fan.user]
    await fans[0].call("quitGroup", groupID=group)
    await world.settle(group, alice, *fans[1:])
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
