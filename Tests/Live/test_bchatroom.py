"""BChatRoom: every signed-in user receives its messages, and only managers send (Protocol.md,
"BChatRoom")."""
import pytest

from harness.client import has
from harness.restarts import restart
from harness.room import Room, names, notifications_of
from harness.world import eventually


async def broadcast_room(world, **fields):
    """owner, admin, two users; everybody is at least a Member."""
    owner, admin, member, other = await world.users("owner", "admin", "member", "other")
    answer = world.server.rpc("createGroup", groupType="BChatRoom", groupName="news", ownerUserID=owner.user, **fields)
    room = Room(world, answer["result"]["groupID"], "BChatRoom", owner=owner, admin=admin, member=member, other=other)
    await owner.call("setGroupMemberRole", groupID=room.group, userID=admin.user, role="Admin")
    await room.settle()
    room.forget()
    return room


@pytest.fixture
async def room(world):
    return await broadcast_room(world)


@pytest.fixture
async def own_room(make_server, make_world):
    """On a server of its own, so that every user is known by name."""
    return await broadcast_room(make_world(make_server()))


POLICIES = {
    "joinMode": "Any", "inviteMode": "Any", "beInviteMode": "None", "updateInfoMode": "Admin", "updateCustomMode": "Admin",
    "ownerQuitMode": "Forbid", "memberChangeNotification": False, "isSearchable": False, "isMemberVisible": True,
    "historyVisibility": "All", "slowMode": 0, "attributeMode": "Any",
}

# Creation


async def test_only_an_administrator_creates_one(world):
    alice = await world.user("alice")
    params = {"groupType": "BChatRoom", "groupName": "g"}
    await alice.refused(10007, "createGroup", **params)
    await alice.refused(10007, "createGroup", **params, ownerUserID=alice.user)
    server = world.server
    assert server.rpc("createGroup", **params, asUser=alice.user)["error"]["code"] == 10007
    assert server.rpc("createGroup", **params)["error"]["data"]["field"] == "ownerUserID"
    answer = server.rpc("createGroup", **params, ownerUserID=alice.user)["result"]
    assert answer["groupType"] == "BChatRoom" and answer["memberList"] == []
    await alice.expect("onGroupCreated", groupID=answer["groupID"])


async def test_initial_members_and_policies_do_not_exist(world):
    alice, bob = await world.users("alice", "bob")
    params = {"groupType": "BChatRoom", "groupName": "g", "ownerUserID": alice.user}
    for fields in ({"memberList": [{"userID": bob.user}]}, *({name: value} for name, value in POLICIES.items())):
        assert world.server.rpc("createGroup", **params, **fields)["error"]["code"] == 10007, fields


async def test_its_info_has_no_policy_fields_and_setting_one_is_refused(room):
    for caller in (room.owner, room.admin, room.member, room.administrator):
        for field, value in POLICIES.items():
            await room.refuses(10007, caller, "setGroupInfo", **{field: value})
        (row,) = (await caller.call("getGroupsInfo", groupIDList=[room.group]))["resultList"]
        assert not set(POLICIES) & set(row["info"]) and row["info"]["maxMemberNum"] == 0
    assert (await room.info())["owner"] == room.owner.user


# Messages


@pytest.mark.parametrize("role", ["owner", "admin", "administrator", "as admin"])
async def test_a_manager_speaks_to_everybody_signed_in(room, role):
    await room.second("admin")
    late = room.add("late", await room.world.user("late"))
    caller = room.actor(role)
    for method, field in (("sendGroupTextMessage", "text"), ("sendGroupCustomMessage", "data")):
        answer = await caller.call(method, groupID=room.group, **{field: "news"})
        assert answer["status"] == "Delivered" and "seq" not in answer
        hearing = [client for client in room.clients if client is not caller]
        event = await room.told("onRecvNewMessage", hearing)
        message = event["message"]
        assert has(**{field: "news"}, sender=caller.user, msgID=answer["msgID"], groupID=room.group)(message)
        assert "seq" not in message
    await late.call("logout")
    await late.closed(1000)


@pytest.mark.parametrize("role", ["member", "as member"])
async def test_a_member_does_not_speak(room, role):
    caller = room.actor(role)
    await room.refuses(10007, caller, "sendGroupTextMessage", text="x")
    await room.refuses(10007, caller, "sendGroupCustomMessage", data="x")
    await room.refuses(10007, caller, "sendGroupTextMessage", text="x", onlineUserOnly=True)


async def test_nothing_is_kept(room):
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="news")
    info = await room.info()
    assert info["lastSeq"] == 0 and "lastMessage" not in info
    for caller in (room.owner, room.member, room.administrator):
        await caller.refused(10007, "getGroupHistoryMessageList", groupID=room.group)
        for seq in (1, 999):
            await caller.refused(10033, "revokeGroupMessage", groupID=room.group, seq=seq)
    for client in (room.owner, room.member):
        (row,) = (await client.call("getGroupsInfo", groupIDList=[room.group]))["resultList"]
        assert row["info"]["selfInfo"]["unreadCount"] == 0
        (row,) = (await client.call("syncGroups", groups=[{"groupID": room.group, "epoch": info["epoch"], "seq": 0}]))["groups"]
        assert has(code=0, recovered=False, messageList=[])(row)
        assert await client.call("markGroupMessageAsRead", groupID=room.group) == {}
        listed = [info["groupID"] for info in (await client.call("getJoinedGroupList", count=200))["groupList"]]
        assert room.group not in listed
        assert all(row["groupID"] != room.group for row in (await client.call("getGroupUnreadCount"))["groups"])


# Missing methods


@pytest.mark.parametrize("method, params", [
    ("inviteUserToGroup", {"userIDList": ["somebody"]}), ("kickGroupMember", {"userIDList": ["OTHER"]}),
    ("muteGroupMember", {"userID": "OTHER", "muteTime": 60}), ("muteGroup", {"mode": "Ordinary"}),
    ("setGroupInfo", {"allMuted": True}), ("transferGroupOwner", {"userID": "OTHER"}), ("getGroupMemberList", {}),
    ("getGroupMembersInfo", {"userIDList": ["OTHER"]}), ("getGroupMutedMembers", {}),
    ("getGroupMemberInviters", {"userIDList": ["OTHER"]}), ("setGroupAttributes", {"attributes": {"k": "v"}}),
    ("initGroupAttributes", {"attributes": {"k": "v"}}), ("getGroupAttributes", {}), ("deleteGroupAttributes", {}),
])
async def test_what_nobody_does_there(room, method, params):
    """No caller has the rights marked × or the member lists, not even an administrator."""
    given = {name: [room.other.user] if value == ["OTHER"] else room.other.user if value == "OTHER" else value
             for name, value in params.items()}
    for caller in (room.owner, room.admin, room.member, room.administrator):
        await room.refuses(10007, caller, method, **given)


async def test_nobody_joins_or_quits_the_owner_included(room):
    for caller in (room.owner, room.admin, room.member, room.actor("as member")):
        for method in ("joinGroup", "quitGroup"):
            await room.refuses(10007, caller, method)


# Info


@pytest.mark.parametrize("fields, type_name", [
    ({"groupName": "new"}, "GroupName"), ({"introduction": "new"}, "Introduction"), ({"notification": "new"}, "Notification"),
    ({"faceURL": "new"}, "FaceURL"), ({"customInfo": {"k": "new"}}, "CustomInfo"),
])
async def test_managers_edit_the_info_and_everybody_hears(room, fields, type_name):
    await room.refuses(10007, room.member, "setGroupInfo", **fields)
    (field, value), = fields.items()
    for number, caller in enumerate((room.owner, room.admin, room.administrator)):
        given = {"k": f"{number}"} if field == "customInfo" else f"{number}"
        await caller.call("setGroupInfo", groupID=room.group, **{field: given})
        event = await room.told("onGroupInfoChanged", room.clients)
        assert event["opUser"]["userID"] == caller.user and "seq" not in event
        (entry,) = event["changeInfoList"]
        assert entry["type"] == type_name and entry["value"] == f"{number}"
        assert (await room.info())[field] == given


# Roles


async def test_the_owner_makes_anybody_an_admin(room):
    stranger = room.world.name("never-seen")
    for user in (room.member.user, stranger):
        for role, name in (("Admin", "onGrantAdministrator"), ("Member", "onRevokeAdministrator")):
            assert await room.owner.call("setGroupMemberRole", groupID=room.group, userID=user, role=role) == {}
            event = await room.told(name, room.clients)
            assert names(event["memberList"]) == [user] and event["opUser"]["userID"] == room.owner.user
            assert "seq" not in event
            answer = await room.member.call("getGroupMemberRoles", groupID=room.group, userIDList=[user])
            assert answer["roleList"] == [{"userID": user, "role": role}]
    await room.silent()


async def test_an_admin_speaks_as_long_as_the_role_lasts(room):
    for role, code in (("Admin", 0), ("100", 10007), ("Admin", 0), ("Member", 10007)):
        await room.administrator.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role=role)
        if code:
            await room.member.refused(code, "sendGroupTextMessage", groupID=room.group, text="x")
        else:
            await room.member.call("sendGroupTextMessage", groupID=room.group, text="x")


async def test_who_does_not_change_roles(room):
    for caller in (room.admin, room.member, room.actor("as admin")):
        await room.refuses(10007, caller, "setGroupMemberRole", userID=room.other.user, role="Admin")
    for caller in (room.owner, room.administrator):
        await room.refuses(10007, caller, "setGroupMemberRole", userID=room.owner.user, role="Admin")
        await room.refuses(10004, caller, "setGroupMemberRole", userID=room.other.user, role="Owner")
        async with room.unchanged():
            await caller.call("setGroupMemberRole", groupID=room.group, userID=room.admin.user, role="Admin")
            await caller.call("setGroupMemberRole", groupID=room.group, userID=room.other.user, role="Member")


async def test_roles_can_be_asked_by_everybody(room):
    stranger = room.world.name("never-seen")
    users = [client.user for client in (room.owner, room.admin, room.member)] + [stranger]
    for caller in (room.owner, room.member, room.administrator):
        rows = (await caller.call("getGroupMemberRoles", groupID=room.group, userIDList=users))["roleList"]
        assert [row["role"] for row in rows[:3]] == ["Owner", "Admin", "Member"]


async def test_an_unknown_user_gets_no_role_where_users_must_be_known(make_server, make_world):
    room = await broadcast_room(make_world(make_server({"users.requireKnown": "true"})))
    await room.refuses(10019, room.owner, "setGroupMemberRole", userID="never-seen", role="Admin")
    await room.administrator.call("importUsers", userIDList=["never-seen"])
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID="never-seen", role="Admin")


async def test_the_room_and_its_roles_outlive_the_server(own_room):
    room = own_room
    before = await room.info()
    await restart(room.world, "kill")
    owner, admin, member = [await room.world.session(client.user) for client in (room.owner, room.admin, room.member)]
    info = await room.info()
    assert {key: info[key] for key in ("owner", "epoch", "groupName", "createTime")} == {
        key: before[key] for key in ("owner", "epoch", "groupName", "createTime")}
    await admin.call("sendGroupTextMessage", groupID=room.group, text="still here")
    for client in (owner, member):
        await client.expect("onRecvNewMessage", groupID=room.group, message=has(text="still here"))
    await member.refused(10007, "sendGroupTextMessage", groupID=room.group, text="x")


# Counts


async def test_it_counts_the_users_who_are_signed_in(own_room):
    room = own_room
    await room.second("member")

    async def counts():
        info = await room.info()
        answer = await room.member.call("getGroupOnlineMemberCount", groupID=room.group)
        return info["memberCount"], info["onlineCount"], answer["count"]

    await eventually(counts, (4, 4, 4))
    late = await room.world.user("late")
    await eventually(counts, (5, 5, 5))
    await late.call("logout")
    await late.closed(1000)
    await room.member_again.call("logout")
    await eventually(counts, (4, 4, 4))
    await room.world.open()
    await room.other.close()
    await eventually(counts, (3, 3, 3))


async def test_who_signs_in_later_hears_from_then_on_and_is_not_announced(own_room):
    room = own_room
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="before")
    late = room.add("late", await room.world.user("late"))
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="after")
    event = await late.expect("onRecvNewMessage", groupID=room.group)
    assert event["message"]["text"] == "after"
    for name in ("onMemberEnter", "onMemberLeave", "onMemberInvited"):
        await room.untold(name)
    (row,) = (await late.call("getGroupsInfo", groupIDList=[room.group]))["resultList"]
    assert row["info"]["selfInfo"]["role"] == "Member"


# The end


@pytest.mark.parametrize("role", ["owner", "administrator"])
async def test_it_is_disbanded_by_its_owner_or_an_administrator(room, role):
    for caller in (room.admin, room.member):
        await room.refuses(10007, caller, "dismissGroup")
    caller = room.actor(role)
    await caller.call("dismissGroup", groupID=room.group)
    event = await room.told("onGroupDismissed", room.clients)
    assert event["opUser"]["userID"] == caller.user
    for client in (room.owner, room.member):
        await client.refused(10010, "sendGroupTextMessage", groupID=room.group, text="x")


async def test_it_is_recycled(room):
    await room.administrator.call("recycleGroup", groupID=room.group)
    event = await room.told("onGroupRecycled", room.clients)
    assert event["opUser"] == {"userID": "administrator"}


async def test_it_keeps_no_system_notifications(room):
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="Admin")
    await room.owner.call("dismissGroup", groupID=room.group)
    for client in room.clients:
        assert await notifications_of(client, groupID=room.group) == []


async def test_custom_data_reaches_everybody_or_those_named(room):
    await room.administrator.call("sendGroupSystemNotification", groupID=room.group, content="all")
    await room.told("onReceiveRESTCustomData", room.clients, customData="all")
    await room.administrator.call(
        "sendGroupSystemNotification", groupID=room.group, content="one", userIDList=[room.member.user])
    await room.told("onReceiveRESTCustomData", [room.member], customData="one")
