"""setGroupMemberInfo, and the right to read members (Protocol.md, "Member info")."""
import pytest

from harness.client import has
from harness.room import Room, clock, names
from harness.world import history_of, info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]


async def set_info(caller, room, client, **fields):
    assert await caller.call("setGroupMemberInfo", groupID=room.group, userID=client.user, **fields) == {}


async def refuse_info(code, caller, room, client, **fields):
    return await room.refuses(code, caller, "setGroupMemberInfo", userID=client.user, **fields)


# One's own


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
@pytest.mark.parametrize("groupType", TYPES)
async def test_everybody_sets_the_own_name_card_and_custom_info(world, groupType, role):
    if role == "admin" and groupType not in ("Public", "Meeting"):
        role = "other"
    room = await Room.make(world, groupType)
    client = getattr(room, role)
    await room.second(role)
    await set_info(client, room, client, nameCard="Captain", customInfo={"k": "v"})
    event = await room.told("onGroupMemberInfoChanged", room.sessions(role) if groupType == "AVChatRoom" else room.members)
    assert event["changeInfoList"] == [{"userID": client.user, "nameCard": "Captain", "customInfo": {"k": "v"}}]
    assert event["opUser"]["userID"] == client.user
    if groupType == "AVChatRoom":
        assert "seq" not in event
    else:
        tip = await room.tip(event)
        assert tip["type"] == "MemberInfoChange" and tip["opUser"]["userID"] == client.user
        assert tip["changeInfoList"] == event["changeInfoList"]
    row = await room.row(role)
    assert row["nameCard"] == "Captain" and row["customInfo"] == {"k": "v"}
    own = (await info_of(client, room.group))["selfInfo"]
    assert own["nameCard"] == "Captain" and own["customInfo"] == {"k": "v"}
    await room.silent()


async def test_in_the_name_of_a_user(world):
    room = await Room.make(world)
    await set_info(room.actor("as member"), room, room.member, nameCard="Captain")
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["opUser"]["userID"] == room.member.user
    await refuse_info(10007, room.actor("as member"), room, room.other, nameCard="x")
    await refuse_info(10007, room.actor("as outsider"), room, room.outsider, nameCard="x")


async def test_the_name_card_stands_beside_the_name(world):
    room = await Room.make(world)
    await set_info(room.member, room, room.member, nameCard="Captain")
    await room.member.call("sendGroupTextMessage", groupID=room.group, text="x")
    event = await room.owner.expect("onRecvNewMessage", groupID=room.group)
    assert event["message"]["nameCard"] == "Captain"
    assert (await history_of(room.owner, room.group))[-1]["nameCard"] == "Captain"
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="Admin")
    event = await room.other.expect("onGrantAdministrator", groupID=room.group)
    assert event["memberList"] == [{"userID": room.member.user, "nameCard": "Captain", "role": "Admin"}]
    await room.member.call("setGroupInfo", groupID=room.group, introduction="x")
    event = await room.other.expect("onGroupInfoChanged", groupID=room.group)
    assert event["opUser"] == {"userID": room.member.user, "nameCard": "Captain", "role": "Admin"}


async def test_a_name_card_and_custom_info_end_with_membership(world):
    room = await Room.make(world)
    await set_info(room.member, room, room.member, nameCard="Captain", customInfo={"k": "v"})
    await room.member.call("quitGroup", groupID=room.group)
    left = await room.owner.expect("onMemberLeave", groupID=room.group)
    assert left["memberList"] == [{"userID": room.member.user, "nameCard": "Captain", "role": "Member"}]
    await room.member.call("joinGroup", groupID=room.group)
    row = await room.row("member")
    assert row["nameCard"] == "" and row["customInfo"] == {}


# Others'

EDITORS = {"Work": {"owner", "administrator"}, "Public": {"owner", "admin", "administrator"},
           "Meeting": {"owner", "admin", "administrator"}, "AVChatRoom": {"owner", "administrator"}}
CASES = [(groupType, role) for groupType in TYPES for role in ("owner", "admin", "member", "outsider", "administrator")
         if role != "admin" or groupType in ("Public", "Meeting")]


@pytest.mark.parametrize("groupType, role", CASES)
async def test_who_sets_the_name_card_and_custom_info_of_others(world, groupType, role):
    room = await Room.make(world, groupType)
    caller = room.actor(role)
    if role not in EDITORS[groupType]:
        await refuse_info(10007, caller, room, room.other, nameCard="x")
        await refuse_info(10007, caller, room, room.other, customInfo={"k": "v"})
        return
    await set_info(caller, room, room.other, nameCard="Mate", customInfo={"k": "v"})
    told = room.members
    if groupType == "AVChatRoom":
        told = [room.other] + ([room.owner] if role == "owner" else [])
    event = await room.told("onGroupMemberInfoChanged", told)
    assert event["changeInfoList"] == [{"userID": room.other.user, "nameCard": "Mate", "customInfo": {"k": "v"}}]
    assert event["opUser"]["userID"] == caller.user
    assert (await room.row("other"))["nameCard"] == "Mate"


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_rule_1(world, groupType):
    room = await Room.make(world, groupType)
    deputy = room.add("deputy", await world.user("deputy"))
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[deputy.user])
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=deputy.user, role="Admin")
    for fields in ({"nameCard": "x"}, {"customInfo": {"k": "v"}}):
        for target in (deputy, room.owner):
            await refuse_info(10007, room.admin, room, target, **fields)
        await set_info(room.owner, room, deputy, **fields)
        await set_info(room.administrator, room, room.owner, **fields)


# Every field under the rule of its own method


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_all_fields_at_once(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    until = await clock(room.owner) + 3_600_000
    await set_info(room.owner, room, room.other, nameCard="Mate", customInfo={"k": "v"}, role="100", muteUntil=until)
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["changeInfoList"] == [
        {"userID": room.other.user, "nameCard": "Mate", "customInfo": {"k": "v"}, "role": "100", "muteTime": 3600}]
    row = await room.row("other")
    assert has(nameCard="Mate", customInfo={"k": "v"}, role="100", muteUntil=until)(row)
    await room.other.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
    await set_info(room.owner, room, room.other, muteUntil=0, role="Member")
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["changeInfoList"] == [{"userID": room.other.user, "muteTime": 0, "role": "Member"}]
    await room.other.call("sendGroupTextMessage", groupID=room.group, text="x")


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_an_office_given_with_a_name(world, groupType):
    room = await Room.make(world, groupType)
    await set_info(room.owner, room, room.other, nameCard="Mate", role="Admin")
    event = await room.told("onGrantAdministrator", room.members)
    assert names(event["memberList"]) == [room.other.user] and event["memberList"][0]["role"] == "Admin"
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["changeInfoList"] == [{"userID": room.other.user, "nameCard": "Mate"}]
    await room.silent()
    row = await room.row("other")
    assert row["role"] == "Admin" and row["nameCard"] == "Mate"


async def test_one_field_without_the_right_refuses_all(world):
    room = await Room.make(world)
    until = await clock(room.owner) + 3_600_000
    await refuse_info(10007, room.admin, room, room.other, nameCard="x", role="Admin")
    await refuse_info(10007, room.member, room, room.member, nameCard="x", muteUntil=until)
    await refuse_info(10007, room.member, room, room.member, nameCard="x", role="100")
    await refuse_info(10007, room.owner, room, room.owner, nameCard="x", muteUntil=until)
    await refuse_info(10007, room.owner, room, room.owner, nameCard="x", role="Admin")
    await refuse_info(10007, room.administrator, room, room.owner, nameCard="x", role="Member")
    await refuse_info(10004, room.owner, room, room.other, nameCard="x", role="Owner")
    await refuse_info(10004, room.owner, room, room.other, nameCard="x", customInfo={"a b": "x"})
    await refuse_info(8506, room.owner, room, room.other, nameCard="x" * 51, role="Admin")
    await set_info(room.admin, room, room.other, nameCard="x", muteUntil=until)


@pytest.mark.parametrize("groupType", ["Work", "AVChatRoom"])
async def test_fields_that_the_type_does_not_have(world, groupType):
    room = await Room.make(world, groupType)
    until = await clock(room.owner) + 3_600_000
    for caller in (room.owner, room.administrator):
        await refuse_info(10007, caller, room, room.other, role="Admin")
        await refuse_info(10007, caller, room, room.other, nameCard="x", role="100")
    if groupType == "Work":
        await refuse_info(10007, room.owner, room, room.other, muteUntil=until)
    else:
        await set_info(room.owner, room, room.other, muteUntil=until)
    await set_info(room.administrator, room, room.other, muteUntil=until)
    await room.other.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")


async def test_what_is_so_already_changes_nothing(world):
    room = await Room.make(world)
    fields = {"nameCard": "Mate", "customInfo": {"k": "v"}}
    await set_info(room.owner, room, room.other, **fields)
    async with room.unchanged():
        await set_info(room.owner, room, room.other, **fields, role="Member")
        await set_info(room.other, room, room.other, **fields)
        await set_info(room.owner, room, room.other, customInfo={"unknown": ""})
        await set_info(room.owner, room, room.admin, role="Admin")


# Limits


async def test_a_name_card_has_fifty_bytes(world):
    room = await Room.make(world)
    for full in ("x" * 50, "中" * 16 + "é", "👩" * 12 + "é"):
        assert len(full.encode()) == 50
        await set_info(room.member, room, room.member, nameCard=full)
        assert (await room.row("member"))["nameCard"] == full
        await refuse_info(8506, room.member, room, room.member, nameCard=full + "x")
        await refuse_info(8506, room.owner, room, room.member, nameCard=full + "é")
    for bad in ("a\nb", "a\tb", "\u0000", "a\u007f", "a\u0085b"):
        await refuse_info(10004, room.member, room, room.member, nameCard=bad)
    await set_info(room.member, room, room.member, nameCard="")
    assert (await room.row("member"))["nameCard"] == ""


async def test_the_limits_of_custom_info(world):
    room = await Room.make(world)
    full = {f"key_{number}": "é" * 32 for number in range(4)} | {"A" * 16: "中" * 21 + "x"}
    await set_info(room.member, room, room.member, customInfo=full)
    assert (await room.row("member"))["customInfo"] == full
    await refuse_info(10004, room.member, room, room.member, customInfo={"sixth": "x"})
    await refuse_info(10004, room.member, room, room.member, customInfo={"key_0": "é" * 32 + "x"})
    for key in ("", "a-b", "A" * 17, "é", "a b"):
        await refuse_info(10004, room.member, room, room.member, customInfo={key: "x"})
    for bad in (1, True, ["x"], {"x": "y"}):
        await refuse_info(-32602, room.member, room, room.member, customInfo={"key_0": bad})
    await set_info(room.member, room, room.member, customInfo={"key_0": None, "key_1": "", "new_1": "a\u0000b", "new_2": "y"})
    expected = {key: value for key, value in full.items() if key not in ("key_0", "key_1")} | {"new_1": "a\u0000b", "new_2": "y"}
    assert (await room.row("member"))["customInfo"] == expected


async def test_custom_info_merges_and_the_event_has_the_whole_map(world):
    room = await Room.make(world)
    for given, result in [({"a": "1"}, {"a": "1"}), ({"b": "2"}, {"a": "1", "b": "2"}), ({"a": "3", "b": None}, {"a": "3"}),
                          ({"a": ""}, {})]:
        await set_info(room.member, room, room.member, customInfo=given)
        event = await room.told("onGroupMemberInfoChanged", room.members)
        assert event["changeInfoList"] == [{"userID": room.member.user, "customInfo": result}]
        assert (await room.row("member"))["customInfo"] == result


async def test_parameters(world):
    room = await Room.make(world)
    for bad in ({"nameCard": 1}, {"customInfo": "x"}, {"customInfo": ["x"]}, {"role": 100}, {"muteUntil": "0"}):
        await refuse_info(-32602, room.owner, room, room.other, **bad)
    await refuse_info(10004, room.owner, room, room.other, muteUntil=-1)
    assert (await room.refuses(-32602, room.owner, "setGroupMemberInfo", nameCard="x"))["field"] == "userID"
    for caller in (room.owner, room.administrator):
        for user in (room.outsider.user, "never-seen"):
            await room.refuses(10007, caller, "setGroupMemberInfo", userID=user, nameCard="x")
    await refuse_info(10007, room.outsider, room, room.outsider, nameCard="x")
    await refuse_info(8506, room.outsider, room, room.outsider, nameCard="x" * 51)
    await room.owner.refused(10010, "setGroupMemberInfo", groupID=world.name("nowhere"), userID=room.other.user, nameCard="x")


async def test_member_info_outlives_the_server(make_server, make_world):
    own = make_server()
    world = make_world(own)
    room = await Room.make(world)
    await set_info(room.owner, room, room.other, nameCard="中文", customInfo={"k": "a\u0000b"}, role="100")
    before = {key: value for key, value in (await room.row("other")).items() if key != "isOnline"}
    own.kill()
    own.start()
    world.clients.clear()
    assert {key: value for key, value in (await room.row("other")).items() if key != "isOnline"} == before


# The right to read members


def readings(*users):
    return [("getGroupMemberList", {}), ("getGroupMutedMembers", {}), ("getGroupMembersInfo", {"userIDList": users}),
            ("getGroupMemberInviters", {"userIDList": users}), ("getGroupMemberRoles", {"userIDList": users})]


@pytest.mark.parametrize("groupType", TYPES)
async def test_with_invisible_members_only_managers_read(world, groupType):
    """isMemberVisible covers roles and inviters too."""
    room = await Room.make(world, groupType, isMemberVisible=False)
    managers = [room.owner, room.administrator] + ([room.admin] if hasattr(room, "admin") else [])
    async with room.unchanged():
        for users in ([room.owner.user], [room.member.user, room.other.user]):
            for method, params in readings(*users):
                for client in managers:
                    await client.call(method, groupID=room.group, **params)
                for caller in (room.member, room.actor("as member"), room.outsider):
                    await caller.refused(10007, method, groupID=room.group, **params)
    for method, params in readings(room.member.user)[2:]:
        answer = await room.member.call(method, groupID=room.group, **params)
        assert [row["userID"] for rows in answer.values() for row in rows] == [room.member.user]
    await room.member.call("getGroupOnlineMemberCount", groupID=room.group)
    await room.owner.call("setGroupInfo", groupID=room.group, isMemberVisible=True)
    for method, params in readings(room.owner.user):
        await room.member.call(method, groupID=room.group, **params)


async def test_a_custom_role_is_no_manager(world):
    room = await Room.make(world, isMemberVisible=False)
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="100")
    for method, params in readings(room.owner.user):
        await room.member.refused(10007, method, groupID=room.group, **params)


@pytest.mark.parametrize("groupType", TYPES)
async def test_outsiders_read_no_members_of_a_visible_group(world, groupType):
    room = await Room.make(world, groupType)
    async with room.unchanged():
        for method, params in [*readings(room.owner.user), ("getGroupOnlineMemberCount", {})]:
            await room.outsider.refused(10007, method, groupID=room.group, **params)
            await room.member.call(method, groupID=room.group, **params)
            await room.administrator.call(method, groupID=room.group, **params)


async def test_invisible_members_are_not_found_by_search(world):
    """A search by names of other members would reveal them."""
    card = world.name("card")
    room = await Room.make(world, isMemberVisible=False)
    await set_info(room.other, room, room.other, nameCard=card)
    for field, word in (("memberNameCard", card), ("memberUserID", room.other.user)):
        params = {"keywordList": [word], "matchFields": [field]}
        assert (await room.member.call("searchGroups", **params))["groupList"] == []
        assert [info["groupID"] for info in (await room.owner.call("searchGroups", **params))["groupList"]] == [room.group]


async def test_an_invisible_member_may_still_read_itself(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], isMemberVisible=False)
    (row,) = (await bob.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user]))["memberList"]
    assert row["userID"] == bob.user and row["inviter"] == alice.user
    await bob.refused(10007, "getGroupMembersInfo", groupID=group, userIDList=[bob.user, alice.user])
    await alice.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user])
