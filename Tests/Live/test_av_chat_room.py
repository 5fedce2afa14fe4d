"""An AVChatRoom's membership outlives a lost connection for `avChatRoom.offlineGrace` (Protocol.md,
"AVChatRoom")."""
import json

import pytest

from harness.backend import all_of, done, lost
from harness.client import has
from harness.restarts import restart
from harness.server import IS_CLUSTER
from harness.world import OVER_NODES, eventually, info_of

pytestmark = pytest.mark.nodes

SHORT = 3


def naming(client):
    """A memberList condition: it names this client."""
    return lambda rows: client.user in [row["userID"] for row in rows]


@pytest.fixture
async def short(make_server, make_world):
    """A world on a server with a short grace. Its time stands still, except over nodes."""
    return make_world(make_server({"avChatRoom.offlineGrace": SHORT, "drain.duration": 0}, frozen=not IS_CLUSTER))


# For what would have to be done in time if time did not stand still.
in_time = pytest.mark.one_process("a test's clock is that of one process")


async def counts_of(client, group):
    info = await info_of(client, group)
    return info["memberCount"], info["onlineCount"]


async def gone_for(world, client):
    """Loses a client's connection."""
    await lost(world, client)
    world.clients.remove(client)


async def end_grace(world, witness, before, *groups):
    """Lets time pass to the end of the grace of those who have just gone. Up to then these are the counts, and nobody is
    told. Over nodes it ends by itself."""
    if IS_CLUSTER:
        return
    for group in groups:
        await eventually(lambda: counts_of(witness, group), before)
    await world.server.advance(seconds=SHORT - 0.001)
    for group in groups:
        assert await counts_of(witness, group) == before
        await witness.quiet("onMemberLeave", group=group)
    await world.server.advance(seconds=0.001)


async def is_member(client, group):
    (row,) = (await client.call("getGroupsInfo", groupIDList=[group]))["resultList"]
    return "selfInfo" in row["info"]


# Coming back in time (the default grace is 300 s)

async def test_who_comes_back_in_time_goes_on_receiving_without_joining(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    await alice.expect("onMemberEnter", groupID=group, memberList=naming(bob))
    await gone_for(world, bob)
    await alice.call("sendGroupTextMessage", groupID=group, text="missed")
    back = await world.session(bob.user)
    await alice.call("sendGroupTextMessage", groupID=group, text="heard")
    await back.expect("onRecvNewMessage", groupID=group, message=has(text="heard"))
    assert not back.received("onRecvNewMessage", groupID=group), "what was sent in between cannot be got"
    assert (await back.call("sendGroupTextMessage", groupID=group, text="here again"))["status"] == "Delivered"
    await alice.expect("onRecvNewMessage", groupID=group, message=has(text="here again"))
    for client in (alice, back):
        assert not client.received("onMemberEnter", groupID=group) and not client.received("onMemberLeave", groupID=group)
    await back.refused(10013, "joinGroup", groupID=group)


async def test_a_member_in_grace_counts_as_member_and_not_as_online(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "AVChatRoom", [bob, carol])
    assert await counts_of(alice, group) == (3, 3)
    await gone_for(world, bob)
    await eventually(lambda: counts_of(alice, group), (3, 2))
    assert await alice.call("getGroupOnlineMemberCount", groupID=group) == {"count": 2}
    rows = {row["userID"]: row["isOnline"] for row in await all_of(alice, "getGroupMemberList", "memberList", groupID=group)}
    assert rows == {alice.user: True, bob.user: False, carol.user: True}
    await world.session(bob.user)
    assert await counts_of(alice, group) == (3, 3)


async def test_role_card_and_mute_are_kept_in_grace(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    await bob.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard="card", customInfo={"k": "v"})
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=3600)
    before = (await info_of(bob, group))["selfInfo"]
    await gone_for(world, bob)
    back = await world.session(bob.user)
    assert (await info_of(back, group))["selfInfo"] == before
    await back.refused(10017, "sendGroupTextMessage", groupID=group, text="x")


async def test_one_session_of_several_is_enough(world):
    alice, bob = await world.users("alice", "bob")
    second = await world.session(bob.user)
    group = await world.group(alice, "AVChatRoom", [bob])
    await gone_for(world, bob)
    assert await counts_of(alice, group) == (2, 2)
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    await second.expect("onRecvNewMessage", groupID=group)


async def test_a_member_in_grace_may_be_made_to_quit(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    await gone_for(world, bob)
    done(server, "quitGroup", groupID=group, asUser=bob.user)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(bob))
    back = await world.session(bob.user)
    assert not await is_member(back, group) and await counts_of(alice, group) == (1, 1)


async def test_a_room_that_was_disbanded_meanwhile(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob], groupID=world.name("again"))
    await gone_for(world, bob)
    await alice.call("dismissGroup", groupID=group)
    await world.group(alice, "AVChatRoom", groupID=group)
    back = await world.session(bob.user)
    assert not await is_member(back, group)
    await back.refused(10007, "sendGroupTextMessage", groupID=group, text="x")


# Coming back too late

@pytest.mark.parametrize("end", ["lost", "closed", "logout", "kicked by an administrator"])
async def test_after_the_grace_the_user_has_left(short, end):
    """However the last session ended; the others are told, with the count."""
    alice, bob, carol = await short.users("alice", "bob", "carol")
    group = await short.group(alice, "AVChatRoom", [bob, carol])
    if end == "lost":
        await lost(short, bob)
    elif end == "closed":
        await bob.close()
    elif end == "logout":
        await bob.call("logout")
        await bob.closed(1000)
    else:
        done(short.server, "kickUser", userID=bob.user)
        await bob.closed(4503)
    await end_grace(short, alice, (3, 2), group)
    for client in (alice, carol):
        event = await client.expect("onMemberLeave", groupID=group)
        assert [row["userID"] for row in event["memberList"]] == [bob.user] and event["memberCount"] == 2
    assert await counts_of(alice, group) == (2, 2)
    rows = await all_of(alice, "getGroupMemberList", "memberList", groupID=group)
    assert [row["userID"] for row in rows] == [alice.user, carol.user]
    back = await short.session(bob.user)
    assert not await is_member(back, group)
    await back.refused(10007, "sendGroupTextMessage", groupID=group, text="x")
    await alice.call("sendGroupTextMessage", groupID=group, text="not for bob")
    await back.quiet("onRecvNewMessage", group=group)
    assert await back.call("joinGroup", groupID=group) == {"status": "Joined"}
    await alice.expect("onMemberEnter", groupID=group, memberList=naming(bob))


async def test_the_owner_never_leaves_that_way(short):
    """Not even when a member whose session ended later has left already."""
    alice, bob, carol = await short.users("alice", "bob", "carol")
    group = await short.group(alice, "AVChatRoom", [bob, carol])
    await gone_for(short, alice)
    await gone_for(short, bob)
    await end_grace(short, carol, (3, 1), group)
    event = await carol.expect("onMemberLeave", groupID=group)
    assert [row["userID"] for row in event["memberList"]] == [bob.user] and event["memberCount"] == 2
    assert await counts_of(carol, group) == (2, 1)
    info = await info_of(carol, group)
    assert info["owner"] == alice.user
    back = await short.session(alice.user)
    assert (await info_of(back, group))["selfInfo"]["role"] == "Owner"
    await back.call("setGroupInfo", groupID=group, introduction="still mine")
    await carol.expect("onGroupInfoChanged", groupID=group)
    assert not carol.received("onMemberLeave", groupID=group)


@in_time
async def test_a_return_ends_the_grace(short):
    """A member who came back in time stays when another of the same moment has left; a later end
    starts the grace again."""
    alice, bob, carol = await short.users("alice", "bob", "carol")
    group = await short.group(alice, "AVChatRoom", [bob, carol])
    await gone_for(short, bob)
    await gone_for(short, carol)
    await eventually(lambda: counts_of(alice, group), (3, 1))
    await short.server.advance(seconds=SHORT - 0.5)
    back = await short.session(bob.user)
    await short.server.advance(seconds=0.5)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(carol))
    assert await counts_of(alice, group) == (2, 2)
    await short.server.advance(seconds=SHORT)
    await back.call("sendGroupTextMessage", groupID=group, text="still here")
    await gone_for(short, back)
    await end_grace(short, alice, (2, 1), group)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(bob))
    assert await counts_of(alice, group) == (1, 1)


@in_time
async def test_it_counts_from_the_end_of_the_last_session(short):
    """An earlier session's end begins nothing: who left later, wholly, is gone first."""
    alice, bob, carol = await short.users("alice", "bob", "carol")
    second = await short.session(bob.user)
    group = await short.group(alice, "AVChatRoom", [bob, carol])
    await gone_for(short, bob)
    await short.server.advance(seconds=1)
    await gone_for(short, carol)
    await end_grace(short, alice, (3, 2), group)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(carol))
    await second.call("sendGroupTextMessage", groupID=group, text="still here")
    await gone_for(short, second)
    await end_grace(short, alice, (2, 1), group)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(bob))


async def test_all_rooms_of_a_user_are_left_and_stored_groups_are_not(short):
    alice, bob = await short.users("alice", "bob")
    rooms = [await short.group(alice, "AVChatRoom", [bob]) for _ in range(3)]
    meeting = await short.group(alice, "Meeting", [bob], memberChangeNotification=True)
    await gone_for(short, bob)
    await end_grace(short, alice, (2, 1), *rooms)
    for room in rooms:
        await alice.expect("onMemberLeave", groupID=room, memberList=naming(bob))
    back = await short.session(bob.user)
    assert [await is_member(back, group) for group in (*rooms, meeting)] == [False, False, False, True]
    await alice.quiet("onMemberLeave", group=meeting)


async def test_with_notification_off_nobody_hears_of_it(short):
    """With notification off onMemberLeave has no recipient; the member count shows that bob has
    left."""
    alice, bob = await short.users("alice", "bob")
    quiet = await short.group(alice, "AVChatRoom", [bob], memberChangeNotification=False)
    told = await short.group(alice, "AVChatRoom", [bob])
    await gone_for(short, bob)
    await end_grace(short, alice, (2, 1), quiet, told)
    await alice.expect("onMemberLeave", groupID=told, memberList=naming(bob))
    await eventually(lambda: counts_of(alice, quiet), (1, 1), OVER_NODES)
    await alice.quiet("onMemberLeave", group=quiet)


async def test_without_a_grace_membership_ends_with_the_session(make_server, make_world):
    world = make_world(make_server({"avChatRoom.offlineGrace": 0}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    await gone_for(world, bob)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(bob))
    assert not await is_member(await world.session(bob.user), group)


# Restarts

@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_membership_spans_a_restart(make_server, make_world, how):
    """Within the (default) grace: owner and member go on without joining again."""
    world = make_world(make_server({"drain.duration": 0}))
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "AVChatRoom", [bob, carol])
    joined = (await info_of(bob, group))["selfInfo"]
    await lost(world, carol)
    await restart(world, how)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    await eventually(lambda: counts_of(alice, group), (3, 2), OVER_NODES)
    assert (await info_of(bob, group))["selfInfo"] == joined
    await alice.call("sendGroupTextMessage", groupID=group, text="on")
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="on"))
    carol = await world.session(carol.user)
    await carol.call("sendGroupTextMessage", groupID=group, text="me too")
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="me too"))
    for client in (alice, bob, carol):
        assert not client.received("onMemberLeave") and not client.received("onMemberEnter")


@pytest.mark.parametrize("how", ["stop", "kill"])
@pytest.mark.parametrize("when", ["before", "with the server"])
async def test_the_grace_ends_after_a_restart_too(short, how, when):
    """Whether bob's session ended before the server or with it: after the grace bob has left, and
    the owner has not."""
    alice, bob = await short.users("alice", "bob")
    group = await short.group(alice, "AVChatRoom", [bob])
    if when == "before":
        await lost(short, bob)
    await restart(short, how)
    carol = await short.user("carol")
    await carol.call("joinGroup", groupID=group)
    if not IS_CLUSTER:
        assert await counts_of(carol, group) == (3, 1)
        await short.server.advance(seconds=SHORT + 0.2)
    await eventually(lambda: counts_of(carol, group), (2, 1))  # over nodes bob may have left before carol joined
    rows = await all_of(carol, "getGroupMemberList", "memberList", groupID=group)
    assert [row["userID"] for row in rows] == [alice.user, carol.user]
    assert not await is_member(await short.session(bob.user), group)
    assert (await info_of(await short.session(alice.user), group))["selfInfo"]["role"] == "Owner"


async def test_who_had_left_before_a_restart_stays_away(short):
    alice, bob = await short.users("alice", "bob")
    group = await short.group(alice, "AVChatRoom", [bob])
    await gone_for(short, bob)
    await end_grace(short, alice, (2, 1), group)
    await alice.expect("onMemberLeave", groupID=group, memberList=naming(bob))
    await restart(short, "kill")
    assert not await is_member(await short.session(bob.user), group)


# The member list

@pytest.mark.parametrize("count", [7, 50])
async def test_the_list_is_the_owner_and_the_three_hundred_newest_newest_first(server, world, count):
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    fans = [world.name("fan") for _ in range(305)]
    for start in range(0, len(fans), 20):
        batch = [{"jsonrpc": "2.0", "id": fan, "method": "joinGroup", "params": {"groupID": group, "asUser": fan}}
                 for fan in fans[start:start + 20]]
        assert all("result" in reply for reply in server.post_rpc(json.dumps(batch)).json())
    rows = await all_of(alice, "getGroupMemberList", "memberList", groupID=group, count=count)
    assert [row["userID"] for row in rows] == [alice.user, *reversed(fans[5:])]
    assert rows[0]["role"] == "Owner" and {row["role"] for row in rows[1:]} == {"Member"}
    assert (await info_of(alice, group))["memberCount"] == 306
    (first,) = (await alice.call("getGroupMembersInfo", groupID=group, userIDList=[fans[0]]))["memberList"]
    assert first["userID"] == fans[0], "who is not listed is a member all the same"
    for name, wanted in (("Owner", [alice.user]), ("Admin", []), ("Common", list(reversed(fans[5:])))):
        rows = await all_of(alice, "getGroupMemberList", "memberList", groupID=group, count=count, filter=name)
        assert [row["userID"] for row in rows] == wanted


async def test_a_return_is_no_new_joining_in_the_list_and_a_new_joining_is(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "AVChatRoom", [bob, carol])

    async def listed():
        return [row["userID"] for row in await all_of(alice, "getGroupMemberList", "memberList", groupID=group)]

    assert await listed() == [alice.user, carol.user, bob.user]
    await gone_for(world, bob)
    bob = await world.session(bob.user)
    assert await listed() == [alice.user, carol.user, bob.user]
    await bob.call("quitGroup", groupID=group)
    await bob.call("joinGroup", groupID=group)
    assert await listed() == [alice.user, bob.user, carol.user]


async def test_a_member_by_as_user_without_any_session_is_in_grace(short):
    """joinGroup by the backend for a user who is not there: the grace begins with the joining."""
    alice = await short.user("alice")
    group, absent = await short.group(alice, "AVChatRoom"), short.name("absent")
    assert done(short.server, "joinGroup", groupID=group, asUser=absent) == {"status": "Joined"}
    await alice.expect("onMemberEnter", groupID=group)
    await end_grace(short, alice, (2, 1), group)
    event = await alice.expect("onMemberLeave", groupID=group)
    assert [row["userID"] for row in event["memberList"]] == [absent]
