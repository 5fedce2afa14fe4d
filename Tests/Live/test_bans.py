"""Bans that are listed and lifted, and roles and mutes by list (Protocol.md, "Removal and bans" and
"Bulk results")."""
import pytest

from harness.restarts import restart
from harness.room import Room, names, notifications_of, pages_of, results

RIGHT = {"Work": {"owner", "administrator", "as owner"}, "Public": {"owner", "admin", "administrator", "as owner"},
         "Meeting": {"owner", "admin", "administrator", "as owner"}, "AVChatRoom": set()}


async def bans(room, caller=None, **params):
    rows, _ = await pages_of(caller or room.owner, "getGroupBannedMembers", "memberList", groupID=room.group, **params)
    assert all(set(row) == {"userID", "bannedUntil", "reason"} for row in rows)
    return rows


async def unban(room, *clients, caller=None):
    users = [client.user for client in clients]
    return results(await (caller or room.owner).call("unbanGroupMember", groupID=room.group, userIDList=users))


@pytest.mark.parametrize("groupType", RIGHT)
async def test_both_methods_follow_the_row_of_removal(world, groupType):
    room = await Room.make(world, groupType)
    for name in ("owner", "admin", "member", "outsider", "administrator", "as owner", "as member"):
        if not hasattr(room, name.split()[-1]):
            continue
        caller = room.actor(name)
        if name in RIGHT[groupType]:
            assert await bans(room, caller) == [] and await unban(room, room.other, caller=caller) == {room.other.user: "Invalid"}
        else:
            await room.refuses(10007, caller, "getGroupBannedMembers")
            await room.refuses(10007, caller, "unbanGroupMember", userIDList=[room.other.user])
    await room.owner.refused(8510, "unbanGroupMember", groupID=room.group, userIDList=[])
    await room.owner.refused(10004, "unbanGroupMember", groupID=room.group, userIDList=[f"u{n}" for n in range(51)])
    await room.owner.refused(10004, "getGroupBannedMembers", groupID=room.group, count=51)


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_bans_end_soonest_first_and_are_lifted_without_an_event(frozen_world, groupType):
    world = frozen_world
    room = await Room.make(world, groupType, joinMode="Any") if groupType != "Work" else await Room.make(world, groupType)
    for client, seconds, reason in ((room.other, 3600, "late"), (room.member, 60, "soon")):
        await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[client.user], banTime=seconds, reason=reason)
    listed = await bans(room)
    assert [(row["userID"], row["reason"]) for row in listed] == [(room.member.user, "soon"), (room.other.user, "late")]
    ends = [row["bannedUntil"] - round(world.server.now * 1000) for row in listed]
    assert ends == [60_000, 3600_000]
    async with room.unchanged():
        assert await unban(room, room.other, room.outsider, room.owner) == {
            room.other.user: "Success", room.outsider.user: "Invalid", room.owner.user: "Invalid"}
    assert names(await bans(room)) == [room.member.user]
    answer = await room.administrator.call(
        "inviteUserToGroup", groupID=room.group, userIDList=[room.member.user, room.other.user])
    assert results(answer) == {room.member.user: "Fail", room.other.user: "Success"}
    if groupType != "Work":
        await room.member.refused(10007, "joinGroup", groupID=room.group)
        await unban(room, room.member)
        assert await room.member.call("joinGroup", groupID=room.group) == {"status": "Joined"}


async def test_bans_with_one_end_go_page_by_page_also_when_some_are_lifted(world):
    owner = await world.user("owner")
    users = sorted(world.name("banned") for _ in range(30))
    group = await world.group(owner, memberList=[{"userID": user} for user in users])
    room = Room(world, group, "Public", owner=owner)
    await owner.call("kickGroupMember", groupID=group, userIDList=users, banTime=3600)
    assert names(await bans(room, count=7)) == users
    seen, start = [], 0
    while True:
        page = await owner.call("getGroupBannedMembers", groupID=group, count=4, nextSeq=start)
        seen += names(page["memberList"])
        await owner.call("unbanGroupMember", groupID=group, userIDList=names(page["memberList"]))
        start = page["nextSeq"]
        if start == 0:
            break
    assert seen == users and await bans(room) == []


async def test_bans_are_there_after_a_restart(make_server, make_world):
    world = make_world(make_server())
    room = await Room.make(world)
    users = [room.member.user, room.other.user]
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=users, banTime=3600, reason="why")
    await unban(room, room.other)
    before, owner = await bans(room), room.owner.user
    await restart(world, "kill")
    room = Room(world, room.group, "Public", owner=await world.session(owner))
    assert await bans(room) == before and names(before) == users[:1] and before[0]["reason"] == "why"


# Roles and mutes by list


async def by_list(caller, room, method, *clients, **params):
    users = [client.user for client in clients]
    return await caller.call(method, groupID=room.group, userIDList=users, **params)


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_one_grant_and_one_revocation_name_all(world, groupType, caller):
    room = await Room.make(world, groupType)
    who = room.actor(caller)
    answer = await by_list(who, room, "setGroupMemberRole", room.member, room.other, room.outsider, room.owner, role="Admin")
    assert set(answer) == {"memberList"}
    assert results(answer) == {room.member.user: "Success", room.other.user: "Success", room.outsider.user: "Invalid",
                               room.owner.user: "Fail"}
    event = await room.told("onGrantAdministrator", room.members)
    assert names(event["memberList"]) == [room.member.user, room.other.user]
    assert {row["role"] for row in event["memberList"]} == {"Admin"}
    assert (await room.tip(event))["memberList"] == event["memberList"]
    for client in (room.member, room.other):
        (kept,) = await notifications_of(client, groupID=room.group, type="GrantAdmin")
        assert kept["opUser"]["userID"] == who.user
    await room.silent()
    answer = await by_list(who, room, "setGroupMemberRole", room.member, room.admin, role="Admin")
    assert set(results(answer).values()) == {"Success"}, "nothing to change"
    await room.silent()
    await who.call("setGroupMemberRole", groupID=room.group, userID=room.other.user, role="200")
    await room.settle()
    room.forget()
    await by_list(who, room, "setGroupMemberRole", room.member, room.other, room.admin, role="Member")
    event = await room.told("onRevokeAdministrator", room.members)
    assert names(event["memberList"]) == [room.member.user, room.admin.user]
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["changeInfoList"] == [{"userID": room.other.user, "role": "Member"}]
    await room.silent()


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_one_event_names_all_who_are_muted(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    answer = await by_list(room.owner, room, "muteGroupMember", room.member, room.other, room.outsider, room.owner, muteTime=600)
    assert set(answer) == {"memberList", "muteUntil"}
    assert results(answer) == {room.member.user: "Success", room.other.user: "Success", room.outsider.user: "Invalid",
                               room.owner.user: "Fail"}
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert [row["userID"] for row in event["changeInfoList"]] == [room.member.user, room.other.user]
    assert {row["muteTime"] for row in event["changeInfoList"]} == {600}
    rows = (await room.owner.call("getGroupMutedMembers", groupID=room.group))["memberList"]
    assert {row["muteUntil"] for row in rows} == {answer["muteUntil"]} and len(rows) == 2
    await room.member.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
    if groupType == "AVChatRoom":
        # Further changes of a moment merge.
        await frozen_world.server.advance(seconds=0.22)
    answer = await by_list(room.owner, room, "muteGroupMember", room.member, room.admin if hasattr(room, "admin") else room.other,
                           muteTime=0)
    assert set(results(answer).values()) == {"Success"} and answer["muteUntil"] == 0
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert {"userID": room.member.user, "muteTime": 0} in event["changeInfoList"]


async def test_exactly_one_of_the_two(world):
    room = await Room.make(world)
    user = room.other.user
    for method, more in (("setGroupMemberRole", {"role": "200"}), ("muteGroupMember", {"muteTime": 5})):
        await room.refuses(-32602, room.owner, method, **more)
        await room.refuses(-32602, room.owner, method, userID=user, userIDList=[user], **more)
        await room.refuses(8510, room.owner, method, userIDList=[], **more)
        await room.refuses(10004, room.owner, method, userIDList=[f"u{n}" for n in range(51)], **more)
        await room.refuses(10007, room.member, method, userIDList=[user], **more)
        answer = await room.owner.call(method, groupID=room.group, userIDList=[user, user], **more)
        assert results(answer) == {user: "Success"}
