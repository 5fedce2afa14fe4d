"""Lists of what has changed among the members, the tip of a new group, and who disbands a Work group (Protocol.md,
"Member lists", "Creating a group" and "Rights")."""
import pytest

from harness.applications import ask, asking_room
from harness.client import has
from harness.restarts import restart
from harness.room import Room, clock, later, names
from harness.world import history_of, info_of

pytestmark = pytest.mark.store

STORING = ["Work", "Public", "Meeting"]


async def changed(client, group, since, **params):
    """The first page of what has changed: (members, who has left, whether that is all)."""
    answer = await client.call("getGroupMemberList", groupID=group, updatedSince=since, **params)
    assert set(answer) == {"memberList", "nextSeq", "leftUserIDList", "isComplete"}
    return names(answer["memberList"]), answer["leftUserIDList"], answer["isComplete"]


async def moment(room):
    """An instant at which everything so far is past."""
    await room.world.server.advance(seconds=1)
    return await clock(room.owner)


# getGroupMemberList


@pytest.mark.parametrize("groupType", STORING)
async def test_members_who_changed_and_those_who_left(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    since = await moment(room)
    for client in (room.owner, room.member, room.administrator):
        assert await changed(client, room.group, since) == ([], [], True)
    member, other = room.member.user, room.other.user
    await room.member.call("setGroupMemberInfo", groupID=room.group, userID=member, nameCard="Mary")
    assert await changed(room.other, room.group, since) == ([member], [], True)
    await room.other.call("quitGroup", groupID=room.group)
    assert await changed(room.owner, room.group, since) == ([member], [other], True)
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[other])
    found, left, complete = await changed(room.owner, room.group, since)
    assert set(found) == {member, other} and left == [] and complete
    afterwards = await moment(room)
    assert await changed(room.owner, room.group, afterwards) == ([], [], True)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[other, member])
    found, left, complete = await changed(room.owner, room.group, afterwards)
    assert found == [] and set(left) == {member, other} and complete


@pytest.mark.parametrize("change", [
    ("setGroupMemberInfo", {"nameCard": "new"}), ("setGroupMemberInfo", {"customInfo": {"k": "v"}}),
    ("setGroupMemberInfo", {"muteUntil": 2**53}), ("setGroupMemberRole", {"role": "Admin"}),
    ("setGroupMemberRole", {"role": "100"}), ("muteGroupMember", {"muteTime": 60}), ("transferGroupOwner", {}),
])
async def test_each_change_of_a_member_counts(frozen_world, change):
    room = await Room.make(frozen_world)
    since = await moment(room)
    method, params = change
    await room.owner.call(method, groupID=room.group, userID=room.member.user, **params)
    owners = [room.owner.user] if method == "transferGroupOwner" else []
    assert set((await changed(room.admin, room.group, since))[0]) == {room.member.user, *owners}
    await room.world.server.advance(seconds=61)
    # The end of a mute by itself is none.
    assert await changed(room.admin, room.group, since + 1) == ([], [], True)


async def test_what_is_no_change_of_a_member(frozen_world):
    room = await Room.make(frozen_world)
    since = await moment(room)
    await room.member.call("sendGroupTextMessage", groupID=room.group, text="x")
    await room.member.call("setGroupReceiveMessageOpt", groupID=room.group, opt="NotReceive")
    await room.member.call("setSelfInfo", nickName="Mary")
    await room.owner.call("setGroupInfo", groupID=room.group, groupName="other")
    await room.member.call("setGroupMemberInfo", groupID=room.group, userID=room.member.user, nameCard="")
    assert await changed(room.owner, room.group, since) == ([], [], True)


async def test_later_pages_name_nobody_who_left(frozen_world):
    room = await Room.make(frozen_world)
    since = await moment(room)
    for client in (room.owner, room.admin, room.member):
        await client.call("setGroupMemberInfo", groupID=room.group, userID=client.user, nameCard="new")
    await room.other.call("quitGroup", groupID=room.group)
    params = {"groupID": room.group, "updatedSince": since, "count": 1}
    first = await room.owner.call("getGroupMemberList", **params)
    assert names(first["memberList"]) == [room.owner.user] and first["leftUserIDList"] == [room.other.user]
    seen, nextSeq = [], first["nextSeq"]
    while nextSeq:
        page = await room.owner.call("getGroupMemberList", **params, nextSeq=nextSeq)
        assert set(page) == {"memberList", "nextSeq"}
        seen, nextSeq = seen + names(page["memberList"]), page["nextSeq"]
    assert seen == [room.admin.user, room.member.user]


async def test_a_live_room_lists_no_changes(world):
    room = await Room.make(world, "AVChatRoom")
    for client in (room.owner, room.member, room.administrator):
        await room.refuses(10004, client, "getGroupMemberList", updatedSince=0)
    await room.refuses(10007, room.outsider, "getGroupMemberList", updatedSince=0)


async def test_a_group_of_everybody_has_no_list(world):
    owner, other = await world.users("owner", "other")
    answer = world.server.rpc("createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)
    for client in (owner, other):
        await client.refused(10007, "getGroupMemberList", groupID=answer["result"]["groupID"], updatedSince=0)


async def test_bad_instants(world):
    room = await Room.make(world)
    for bad in (-1, 2**53 + 1):
        await room.refuses(10004, room.member, "getGroupMemberList", updatedSince=bad)
    for bad in ("0", 1.5, True):
        await room.refuses(-32602, room.member, "getGroupMemberList", updatedSince=bad)
    await room.refuses(10004, room.member, "getGroupMemberList", count=201)


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_who_left_is_known_after_a_restart(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    room = await Room.make(world)
    # Lists are whole from behind the instant of the creation.
    since = await later(room.owner, await clock(room.owner))
    await room.other.call("quitGroup", groupID=room.group)
    await room.member.call("setGroupMemberInfo", groupID=room.group, userID=room.member.user, nameCard="new")
    await restart(world, how)
    owner = await world.session(room.owner.user)
    found, left, complete = await changed(owner, room.group, since)
    assert room.member.user in found and left == [room.other.user] and complete


async def test_a_page_of_200(world):
    owner = await world.user("owner")
    group = await world.group(owner, "Meeting")
    users = [world.name("m") for _ in range(250)]
    world.server.rpc("importGroupMembers", groupID=group, memberList=[{"userID": user} for user in users])
    first = await owner.call("getGroupMemberList", groupID=group, count=200)
    assert len(first["memberList"]) == 200
    rest = await owner.call("getGroupMemberList", groupID=group, count=200, nextSeq=first["nextSeq"])
    assert rest["nextSeq"] == 0
    assert set(names(first["memberList"]) + names(rest["memberList"])) == {owner.user, *users}
    assert len((await owner.call("getGroupMemberList", groupID=group))["memberList"]) == 50


async def test_a_page_ends_at_half_of_the_send_queue(make_server, make_world):
    """The connection stays, however long the texts of its members are."""
    world = make_world(make_server({"limits.sendQueueBytes": 65536}))
    owner = await world.user("owner")
    group = await world.group(owner, "Meeting")
    users = [world.name("m") for _ in range(100)]
    info = {f"key{number}": "\u0001" * 64 for number in range(5)}
    rows = [{"userID": user, "customInfo": info} for user in users]
    world.server.rpc("importGroupMembers", groupID=group, memberList=rows)
    seen, nextSeq, pages = [], 0, 0
    while pages == 0 or nextSeq:
        page = await owner.call("getGroupMemberList", groupID=group, count=200, nextSeq=nextSeq)
        seen, nextSeq, pages = seen + names(page["memberList"]), page["nextSeq"], pages + 1
        assert 0 < len(page["memberList"]) < 32768 / (5 * 64 * 6)
    assert sorted(seen) == sorted([owner.user, *users])


# isAccepted


@pytest.mark.parametrize("groupType", STORING)
async def test_an_accepted_invitation_says_so(world, groupType):
    room, guest = await asking_room(world, groupType)
    application = await ask(room, room.member, guest)
    await guest.call("acceptGroupApplication", applicationID=application)
    event = await room.owner.expect("onMemberInvited", groupID=room.group)
    tip = await room.tip(event)
    assert event["isAccepted"] is True and tip["isAccepted"] is True and tip["type"] == "Invite"
    # An application administrator asks nobody.
    outsider = await world.user("other")
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[outsider.user])
    event = await room.owner.expect("onMemberInvited", groupID=room.group)
    assert "isAccepted" not in event and "isAccepted" not in await room.tip(event)


# history.creationTip


@pytest.mark.parametrize("groupType", STORING)
async def test_a_new_group_begins_with_a_tip(make_server, make_world, groupType):
    world = make_world(make_server({"history.creationTip": "true"}))
    alice, bob, outsider = await world.users("alice", "bob", "outsider")
    group = await world.group(alice, groupType, [bob, alice], memberChangeNotification=False)
    opUser = {"userID": alice.user, "nameCard": "", "role": "Owner"}
    for client in (alice, bob):
        event = await client.expect("onGroupCreated", groupID=group)
        (message,) = await history_of(client, group)
        assert (message["seq"], message["msgID"]) == (1, event["msgID"]) and event["seq"] == 1
        assert message["type"] == "GroupTips" and message["sender"] == alice.user
        assert message["tips"] == {
            "type": "Create", "opUser": opUser, "memberCount": 2,
            "memberList": [{"userID": bob.user, "nameCard": "", "role": "Member"}]}
        info = await info_of(client, group)
        assert info["lastSeq"] == 1 and info["lastMessage"]["msgID"] == message["msgID"]
        assert info["selfInfo"]["unreadCount"] == 0
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="x"))["seq"] == 2
    await bob.expect("onRecvNewMessage", groupID=group)
    for client in (alice, bob, outsider):
        assert not client.received(groupID=group)
    alone = await world.group(alice, groupType)
    assert "memberList" not in (await history_of(alice, alone))[0]["tips"]
    imported = world.server.rpc("importGroup", groupType=groupType, groupName="g", ownerUserID=alice.user)
    assert await history_of(alice, imported["result"]["groupID"]) == []


# work.ownerMayDisband


async def test_the_owner_disbands_a_work_group_where_the_configuration_says_so(make_server, make_world):
    world = make_world(make_server({"work.ownerMayDisband": "true"}))
    room = await Room.make(world, "Work")
    for client in (room.member, room.outsider):
        await room.refuses(10007, client, "dismissGroup")
    assert await room.owner.call("dismissGroup", groupID=room.group) == {}
    event = await room.told("onGroupDismissed", room.members)
    assert has(opUser={"userID": room.owner.user, "nameCard": "", "role": "Owner"})(event)
    await room.owner.refused(10010, "dismissGroup", groupID=room.group)
