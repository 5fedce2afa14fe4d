"""setGroupMemberRole, custom roles, and reading roles and inviters (Protocol.md, "Role
changes")."""
import asyncio

import pytest

from harness.client import has
from harness.room import Room, names, notifications_of

ROLES_CHANGE = ["Public", "Meeting"]


async def set_role(caller, room, client, role):
    return await caller.call("setGroupMemberRole", groupID=room.group, userID=client.user, role=role)


# Rights


@pytest.mark.parametrize("caller", ["owner", "administrator", "as owner"])
@pytest.mark.parametrize("groupType", ROLES_CHANGE)
async def test_an_admin_is_made_and_unmade(world, groupType, caller):
    room = await Room.make(world, groupType)
    await room.second("member")
    who = room.actor(caller)
    for role, name, tip_type in [("Admin", "onGrantAdministrator", "SetAdmin"),
                                 ("Member", "onRevokeAdministrator", "CancelAdmin")]:
        assert await set_role(who, room, room.member, role) == {}
        event = await room.told(name, room.members)
        assert event["opUser"]["userID"] == who.user
        assert event["memberList"] == [{"userID": room.member.user, "nameCard": "", "role": role}]
        tip = await room.tip(event)
        assert tip["type"] == tip_type and names(tip["memberList"]) == [room.member.user]
        assert tip["opUser"]["userID"] == who.user and tip["memberCount"] == 4
        assert await room.role("member") == role and (await room.row("member"))["role"] == role
        await room.silent()


@pytest.mark.parametrize("caller", ["owner", "member", "outsider", "administrator", "as owner"])
@pytest.mark.parametrize("groupType", ["Work", "AVChatRoom"])
async def test_a_type_without_roles(world, groupType, caller):
    """× binds application administrators too."""
    room = await Room.make(world, groupType)
    for role in ("Admin", "Member", "100"):
        await room.refuses(10007, room.actor(caller), "setGroupMemberRole", userID=room.other.user, role=role)


@pytest.mark.parametrize("groupType", ROLES_CHANGE)
async def test_below_the_owner_nobody_changes_roles(world, groupType):
    room = await Room.make(world, groupType)
    for caller in ("admin", "member", "outsider", "as admin"):
        for role in ("Admin", "Member", "100"):
            await room.refuses(10007, room.actor(caller), "setGroupMemberRole", userID=room.other.user, role=role)
    await room.refuses(10007, room.admin, "setGroupMemberRole", userID=room.admin.user, role="Member")


@pytest.mark.parametrize("groupType", ROLES_CHANGE)
async def test_the_owner_keeps_the_role(world, groupType):
    """No caller acts on oneself, or gives the owner another role."""
    room = await Room.make(world, groupType)
    for caller in (room.owner, room.administrator):
        for role in ("Admin", "Member", "100"):
            await room.refuses(10007, caller, "setGroupMemberRole", userID=room.owner.user, role=role)


async def test_the_same_role_changes_nothing(world):
    room = await Room.make(world)
    await set_role(room.owner, room, room.other, "200")
    for caller in (room.owner, room.administrator):
        async with room.unchanged():
            for client, role in ((room.admin, "Admin"), (room.member, "Member"), (room.other, "200")):
                assert await set_role(caller, room, client, role) == {}


async def test_parameters(world):
    room = await Room.make(world)
    who = room.owner
    for bad in ("Owner", "King", "", "admin", "99", "0", "-100", "2147483648", "99999999999999999999", "1e3", "100.0", " 100",
                "NotMember"):
        await room.refuses(10004, who, "setGroupMemberRole", userID=room.member.user, role=bad)
    for bad in (100, None, True, ["Admin"]):
        data = await room.refuses(-32602, who, "setGroupMemberRole", userID=room.member.user, role=bad)
        assert data["field"] == "role"
    await room.refuses(-32602, who, "setGroupMemberRole", role="Admin")
    for user in (room.outsider.user, "never-seen"):
        await room.refuses(10007, who, "setGroupMemberRole", userID=user, role="Admin")
    await who.refused(10010, "setGroupMemberRole", groupID=world.name("nowhere"), userID=room.member.user, role="Admin")
    await room.refuses(10004, room.outsider, "setGroupMemberRole", userID=room.member.user, role="Owner")
    for good in ("100", "2147483647"):
        await set_role(who, room, room.member, good)
        assert await room.role("member") == good


# Custom roles


@pytest.mark.parametrize("groupType", ROLES_CHANGE)
async def test_between_member_and_custom_the_member_info_changes(world, groupType):
    room = await Room.make(world, groupType)
    for role in ("100", "101", "Member"):
        await set_role(room.owner, room, room.member, role)
        event = await room.told("onGroupMemberInfoChanged", room.members)
        assert event["changeInfoList"] == [{"userID": room.member.user, "role": role}]
        assert event["opUser"]["userID"] == room.owner.user
        tip = await room.tip(event)
        assert tip["type"] == "MemberInfoChange" and tip["changeInfoList"] == event["changeInfoList"]
        assert await room.role("member") == role
        await room.silent()


async def test_between_admin_and_custom_the_office_changes(world):
    room = await Room.make(world)
    await set_role(room.owner, room, room.admin, "100")
    event = await room.told("onRevokeAdministrator", room.members)
    assert names(event["memberList"]) == [room.admin.user]
    await set_role(room.owner, room, room.admin, "Admin")
    event = await room.told("onGrantAdministrator", room.members)
    assert names(event["memberList"]) == [room.admin.user]
    await room.silent()


async def test_a_custom_role_has_the_rights_of_a_member(world):
    room = await Room.make(world)
    await set_role(room.owner, room, room.member, "2147483647")
    user = room.other.user
    for method, params in [
        ("setGroupInfo", {"groupName": "x"}), ("setGroupInfo", {"joinMode": "Any"}), ("muteGroup", {"mode": "All"}),
        ("kickGroupMember", {"userIDList": [user]}), ("muteGroupMember", {"userID": user, "muteTime": 10}),
        ("setGroupMemberRole", {"userID": user, "role": "Admin"}), ("transferGroupOwner", {"userID": user}),
        ("dismissGroup", {}), ("setGroupMemberInfo", {"userID": user, "nameCard": "x"}),
    ]:
        await room.refuses(10007, room.member, method, **params)
    sent = await room.member.call("sendGroupTextMessage", groupID=room.group, text="x")
    assert sent["status"] == "Stored"
    answer = await room.owner.call("getGroupMemberList", groupID=room.group, filter="Common")
    assert {row["userID"]: row["role"] for row in answer["memberList"]} == {
        room.member.user: "2147483647", room.other.user: "Member"}
    await room.admin.call("muteGroupMember", groupID=room.group, userID=room.member.user, muteTime=60)


async def test_a_role_ends_with_membership(world):
    room = await Room.make(world)
    for client, role in ((room.member, "100"), (room.other, "Admin")):
        await set_role(room.owner, room, client, role)
        await client.call("quitGroup", groupID=room.group)
        await client.call("joinGroup", groupID=room.group)
    assert await room.role("member") == "Member" == await room.role("other")


async def test_an_admins_rights_begin_and_end_with_the_role(world):
    room = await Room.make(world)
    await room.refuses(10007, room.member, "muteGroup", mode="Ordinary")
    await set_role(room.owner, room, room.member, "Admin")
    await room.member.call("muteGroup", groupID=room.group, mode="Ordinary")
    await room.member.call("sendGroupTextMessage", groupID=room.group, text="a manager")
    await set_role(room.owner, room, room.member, "Member")
    await room.member.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
    await room.refuses(10007, room.member, "muteGroup", mode="None")


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_roles_outlive_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    room = await Room.make(world)
    await set_role(room.owner, room, room.member, "Admin")
    await set_role(room.owner, room, room.other, "12345")
    before = await room.roles()
    await asyncio.to_thread(getattr(own, how))
    own.start()
    world.clients.clear()
    assert await room.roles() == before


async def test_what_is_kept_as_system_notifications(world):
    room = await Room.make(world)
    await set_role(room.owner, room, room.member, "Admin")
    await set_role(room.owner, room, room.member, "Member")
    kept = await notifications_of(room.member, groupID=room.group)
    assert [row["type"] for row in kept][:2] == ["CancelAdmin", "GrantAdmin"]
    assert all(row["opUser"]["userID"] == room.owner.user for row in kept)
    for client in (room.owner, room.admin, room.other):
        types = {row["type"] for row in await notifications_of(client, groupID=room.group)}
        assert not {"CancelAdmin", "GrantAdmin"} & types


# Reading roles and inviters


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_roles_are_read_by_members(world, groupType):
    room = await Room.make(world, groupType)
    people = ["owner", "member", "other"] + (["admin"] if hasattr(room, "admin") else [])
    users = [getattr(room, name).user for name in people] + [room.outsider.user, "never-seen"]
    expected = {getattr(room, name).user: {"owner": "Owner", "admin": "Admin"}.get(name, "Member") for name in people}
    expected |= {room.outsider.user: "NotMember", "never-seen": "NotMember"}
    for caller in (room.owner, room.member, room.administrator, room.actor("as member")):
        rows = (await caller.call("getGroupMemberRoles", groupID=room.group, userIDList=users + users[:1]))["roleList"]
        assert {row["userID"]: row["role"] for row in rows} == expected and len(rows) == len(expected)
    await room.refuses(10007, room.outsider, "getGroupMemberRoles", userIDList=users)


@pytest.mark.parametrize("method, bound", [("getGroupMemberRoles", 100), ("getGroupMemberInviters", 200)])
async def test_the_bounds(world, method, bound):
    room = await Room.make(world)
    users = [f"u{number}" for number in range(bound + 1)]
    await room.refuses(8510, room.member, method, userIDList=[])
    await room.refuses(10004, room.member, method, userIDList=users)
    await room.refuses(-32602, room.member, method)
    await room.refuses(-32602, room.member, method, userIDList=[1])
    await room.member.call(method, groupID=room.group, userIDList=users[:bound])
    await room.member.refused(10010, method, groupID=world.name("nowhere"), userIDList=users[:1])


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_inviters_are_read_by_members(world, groupType):
    room = await Room.make(world, groupType, inviteMode="Any")
    guest = room.add("guest", await world.user("guest"))
    await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[guest.user])
    users = [room.owner.user, room.member.user, guest.user]
    if groupType != "Work":
        await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Any")
        users.append((await room.join("joiner")).user)
    for caller in (room.owner, room.other, room.administrator):
        rows = (await caller.call("getGroupMemberInviters", groupID=room.group, userIDList=users))["inviterList"]
        found = {row["userID"]: row.get("inviter") for row in rows}
        assert found[room.member.user] == room.owner.user and found[guest.user] == room.member.user
        assert found[room.owner.user] is None and found.get(users[-1]) in (None, room.member.user)
        if groupType != "Work":
            assert found[room.joiner.user] is None
    await room.refuses(10007, room.outsider, "getGroupMemberInviters", userIDList=users)
    (row,) = (await guest.call("getGroupMembersInfo", groupID=room.group, userIDList=[guest.user]))["memberList"]
    assert has(inviter=room.member.user)(row)
    (row,) = (await room.owner.call("getGroupMembersInfo", groupID=room.group, userIDList=[guest.user]))["memberList"]
    assert "inviter" not in row, "for oneself only"


async def test_a_second_coming_forgets_the_first_inviter(world):
    room = await Room.make(world)
    await room.member.call("quitGroup", groupID=room.group)
    await room.member.call("joinGroup", groupID=room.group)
    answer = await room.owner.call("getGroupMemberInviters", groupID=room.group, userIDList=[room.member.user])
    assert answer["inviterList"] == [{"userID": room.member.user}]
