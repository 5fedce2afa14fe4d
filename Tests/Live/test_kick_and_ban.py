"""kickGroupMember: removed members, events and bans (Protocol.md, "Removal and bans")."""
import pytest

from harness.restarts import restart
from harness.room import Room, clock, naming, names, notifications_of, results
from harness.world import history_of, info_of

TYPES = ["Work", "Public", "Meeting"]
KICKERS = {"Work": {"owner", "administrator"}, "Public": {"owner", "admin", "administrator"},
           "Meeting": {"owner", "admin", "administrator"}, "AVChatRoom": set()}
CASES = [(groupType, role) for groupType in KICKERS for role in ("owner", "admin", "member", "outsider", "administrator")
         if role != "admin" or groupType in ("Public", "Meeting")]


async def kick(caller, room, *clients, **params):
    users = [client.user for client in clients]
    return results(await caller.call("kickGroupMember", groupID=room.group, userIDList=users, **params))


@pytest.mark.parametrize("groupType, role", CASES)
async def test_who_removes_an_ordinary_member(world, groupType, role):
    room = await Room.make(world, groupType)
    caller = room.actor(role)
    await room.second("other")
    if role not in KICKERS[groupType]:
        await room.refuses(10007, caller, "kickGroupMember", userIDList=[room.other.user])
        return
    members = room.members
    assert await kick(caller, room, room.other, reason="noise") == {room.other.user: "Success"}
    event = await room.told("onMemberKicked", members)
    assert event["opUser"]["userID"] == caller.user and event["reason"] == "noise"
    assert event["memberList"] == [{"userID": room.other.user, "nameCard": "", "role": "Member"}]
    assert event["memberCount"] == len(await room.rows()) == (await room.info())["memberCount"]
    tip = await room.tip(event)
    assert tip["type"] == "Kicked" and tip["opUser"]["userID"] == caller.user
    assert names(tip["memberList"]) == [room.other.user] and tip["memberCount"] == event["memberCount"]
    await room.silent()


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_whom_each_role_may_remove(world, groupType):
    """No caller removes a member of an equal or higher role, or oneself, or the owner."""
    room = await Room.make(world, groupType)
    deputy = room.add("deputy", await world.user("deputy"))
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[deputy.user])
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=deputy.user, role="Admin")
    async with room.unchanged():
        assert await kick(room.admin, room, deputy, room.owner, room.admin, room.outsider) == {
            deputy.user: "Fail", room.owner.user: "Fail", room.admin.user: "Fail", room.outsider.user: "Invalid"}
    async with room.unchanged():
        assert await kick(room.owner, room, room.owner) == {room.owner.user: "Fail"}
    async with room.unchanged():
        assert await kick(room.administrator, room, room.owner) == {room.owner.user: "Fail"}
    assert await kick(room.owner, room, deputy) == {deputy.user: "Success"}
    assert await kick(room.administrator, room, room.admin) == {room.admin.user: "Success"}
    assert set(await room.rows()) == {room.owner.user, room.member.user, room.other.user}


async def test_custom_roles_are_removed_like_members_and_remove_nobody(world):
    room = await Room.make(world)
    for client, role in ((room.member, "100"), (room.other, "2147483647")):
        await room.owner.call("setGroupMemberRole", groupID=room.group, userID=client.user, role=role)
    await room.refuses(10007, room.other, "kickGroupMember", userIDList=[room.member.user])
    assert await kick(room.admin, room, room.other) == {room.other.user: "Success"}
    event = await room.told("onMemberKicked", room.sessions_but("outsider"))
    assert event["memberList"] == [{"userID": room.other.user, "nameCard": "", "role": "2147483647"}]


async def test_results_side_by_side_and_one_event(world):
    room = await Room.make(world)
    users = [room.member.user, room.outsider.user, room.admin.user, room.other.user, room.member.user]
    answer = await room.admin.call("kickGroupMember", groupID=room.group, userIDList=users)
    assert results(answer) == {room.member.user: "Success", room.outsider.user: "Invalid",
                               room.admin.user: "Fail", room.other.user: "Success"}
    event = await room.told("onMemberKicked", room.sessions_but("outsider"))
    assert naming(room.member.user, room.other.user)(event["memberList"]) and event["memberCount"] == 2


async def test_the_backend_removes_in_the_name_of_a_user(world):
    room = await Room.make(world)
    await room.refuses(10007, room.actor("as member"), "kickGroupMember", userIDList=[room.other.user])
    await room.refuses(10007, room.actor("as outsider"), "kickGroupMember", userIDList=[room.other.user])
    assert await kick(room.actor("as admin"), room, room.other) == {room.other.user: "Success"}
    event = await room.told("onMemberKicked", room.sessions_but("outsider"))
    assert event["opUser"] == {"userID": room.admin.user, "nameCard": "", "role": "Admin"}


async def test_parameters(world):
    room = await Room.make(world)
    users = [world.name("u") for _ in range(51)]
    owner, one = room.owner, [room.other.user]
    await room.refuses(8510, owner, "kickGroupMember", userIDList=[])
    await room.refuses(10004, owner, "kickGroupMember", userIDList=users)
    await room.refuses(10004, owner, "kickGroupMember", userIDList=one, reason="😀" * 513)
    for bad in (-1, 2**32, 2**53):
        await room.refuses(10004, owner, "kickGroupMember", userIDList=one, banTime=bad)
    for bad in ({"banTime": "1"}, {"banTime": 1.5}, {"reason": 1}, {"userIDList": room.other.user}):
        await room.refuses(-32602, owner, "kickGroupMember", **{"userIDList": one, **bad})
    assert (await room.refuses(-32602, owner, "kickGroupMember"))["field"] == "userIDList"
    await owner.refused(10010, "kickGroupMember", groupID=world.name("nowhere"), userIDList=one)
    await owner.refused(10015, "kickGroupMember", groupID="", userIDList=one)
    await room.refuses(8510, room.outsider, "kickGroupMember", userIDList=[])
    answer = await owner.call("kickGroupMember", groupID=room.group, userIDList=users[:50])
    assert set(results(answer).values()) == {"Invalid"}
    assert await kick(owner, room, room.other, reason="😀" * 512, banTime=2**32 - 1) == {room.other.user: "Success"}
    assert (await room.member.expect("onMemberKicked", groupID=room.group))["reason"] == "😀" * 512
    (ban,) = (await owner.call("getGroupBannedMembers", groupID=room.group))["memberList"]
    assert ban["reason"] == "😀" * 512


@pytest.mark.parametrize("groupType", TYPES)
async def test_who_was_removed_is_outside(world, groupType):
    room = await Room.make(world, groupType, inviteMode="Any")
    since = await clock(room.other)
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="before")
    await kick(room.owner, room, room.other)
    await room.other.expect("onMemberKicked", groupID=room.group)
    other = room.other
    for method, params in [
        ("sendGroupTextMessage", {"text": "x"}), ("getGroupHistoryMessageList", {}), ("getGroupMemberList", {}),
        ("markGroupMessageAsRead", {}), ("quitGroup", {}), ("getGroupOnlineMemberCount", {}),
        ("setGroupReceiveMessageOpt", {"opt": "Receive"}), ("inviteUserToGroup", {"userIDList": [room.outsider.user]}),
    ]:
        await other.refused(10007, method, groupID=room.group, **params)
    answer = await other.call("getJoinedGroupList", updatedSince=since)
    assert answer["groupList"] == [] and answer["leftGroupIDList"] == [room.group]
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="between")
    await world.settle(room.group, room.owner, room.member)
    await other.quiet("onRecvNewMessage", group=room.group, message=lambda message: message.get("text") != "before")
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[other.user])
    texts = [message["text"] for message in await history_of(other, room.group) if message["type"] == "Text"]
    if groupType == "Meeting":
        assert texts[:2] == ["before", "between"]
    else:
        assert texts == ["before"], "the time between stays invisible"


async def test_what_the_removed_keeps_as_a_system_notification(world):
    room = await Room.make(world)
    await kick(room.admin, room, room.other, reason="noise")
    (kept,) = await notifications_of(room.other, groupID=room.group, type="KickedOff")
    assert kept["opUser"]["userID"] == room.admin.user and kept["reason"] == "noise"
    for client in (room.owner, room.admin, room.member):
        assert await notifications_of(client, groupID=room.group, type="KickedOff") == []


# Bans


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_ban_keeps_out_joining_and_inviting(world, groupType):
    room = await Room.make(world, groupType, inviteMode="Any")
    await kick(room.owner, room, room.other, banTime=3600)
    await room.refuses(8508 if groupType == "Work" else 10007, room.other, "joinGroup")
    for caller in (room.owner, room.member, room.administrator):
        async with room.unchanged():
            answer = await caller.call("inviteUserToGroup", groupID=room.group, userIDList=[room.other.user])
            assert results(answer) == {room.other.user: "Fail"}
    await room.owner.call("setGroupInfo", groupID=room.group, beInviteMode="Auth")
    async with room.unchanged():
        answer = await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[room.other.user])
        assert results(answer) == {room.other.user: "Fail"}
        await room.other.quiet("onReceiveGroupInvitation", group=room.group)


async def test_a_ban_holds_where_joining_needs_consent(world):
    room = await Room.make(world, joinMode="Auth")
    await kick(room.owner, room, room.other, banTime=3600)
    async with room.unchanged():
        await room.other.refused(10007, "joinGroup", groupID=room.group)
        await room.owner.quiet("onReceiveJoinApplication", group=room.group)


@pytest.mark.parametrize("params", [{}, {"banTime": 0}, {"banTime": None}])
async def test_without_a_ban_the_removed_come_back_at_once(world, params):
    room = await Room.make(world)
    await kick(room.owner, room, room.other, **params)
    assert await room.other.call("joinGroup", groupID=room.group) == {"status": "Joined"}


async def test_a_ban_ends_when_its_time_is_over(frozen_world):
    room = await Room.make(frozen_world)
    started = await clock(room.owner)
    await kick(room.owner, room, room.other, banTime=60)
    await frozen_world.server.advance(seconds=59.999)
    await room.other.refused(10007, "joinGroup", groupID=room.group)
    await frozen_world.server.advance(seconds=0.001)
    assert await room.other.call("joinGroup", groupID=room.group) == {"status": "Joined"}
    assert (await info_of(room.other, room.group))["selfInfo"]["joinTime"] == started + 60_000


async def test_who_is_invited_after_a_ban_succeeds(frozen_world):
    room = await Room.make(frozen_world, inviteMode="Any")
    await kick(room.owner, room, room.other, banTime=60)
    await frozen_world.server.advance(seconds=60)
    answer = await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[room.other.user])
    assert results(answer) == {room.other.user: "Success"}


async def test_a_ban_concerns_one_group_and_one_life_of_it(world):
    room = await Room.make(world, groupID=world.name("again"))
    elsewhere = await Room.make(world)
    await kick(room.owner, room, room.other, banTime=3600)
    await room.other.call("joinGroup", groupID=elsewhere.group)
    await room.owner.call("dismissGroup", groupID=room.group)
    await world.group(room.owner, groupID=room.group)
    assert await room.other.call("joinGroup", groupID=room.group) == {"status": "Joined"}


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_ban_outlives_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    room = await Room.make(world)
    await kick(room.owner, room, room.other, banTime=3600)
    await kick(room.owner, room, room.member)
    await restart(world, how)
    other, member = await world.session(room.other.user), await world.session(room.member.user)
    await other.refused(10007, "joinGroup", groupID=room.group)
    await member.call("joinGroup", groupID=room.group)
