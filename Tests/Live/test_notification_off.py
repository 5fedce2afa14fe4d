"""With memberChangeNotification false a change of members is told to those it concerns, and stored
nowhere (Protocol.md, "Notification off")."""
import pytest

from harness.client import has
from harness.room import Room, including, names, results
from harness.world import history_of

STORING = ["Work", "Public", "Meeting"]
TYPES = [*STORING, "AVChatRoom"]
ROLES_CHANGE = ["Public", "Meeting"]


async def quiet_room(world, groupType, **fields):
    """Notification is off, and two of the people have a second session."""
    room = await Room.make(world, groupType, memberChangeNotification=False, **fields)
    for name in ("owner", "other"):
        await room.second(name)
    return room


async def no_tip(room, event=None):
    """Nothing was stored, so the event has neither seq nor msgID."""
    assert event is None or not {"seq", "msgID"} & set(event)
    assert (await room.info())["lastSeq"] == 0
    if room.groupType != "AVChatRoom":
        assert await history_of(room.owner, room.group) == []


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_a_join_is_told_to_the_new_member(world, groupType):
    room = await quiet_room(world, groupType, joinMode="Any")
    await room.second("outsider")
    await room.outsider.call("joinGroup", groupID=room.group)
    event = await room.told("onMemberEnter", room.sessions("outsider"))
    assert names(event["memberList"]) == [room.outsider.user] and event["memberCount"] == (await room.info())["memberCount"]
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_an_accepted_join_is_told_to_the_new_member(world, groupType):
    room = await quiet_room(world, groupType)
    await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Auth")
    await room.settle()
    room.forget()
    before = (await room.info())["lastSeq"]
    await room.outsider.call("joinGroup", groupID=room.group)
    application = (await room.owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"]
    await room.owner.call("acceptGroupApplication", applicationID=application)
    event = await room.told("onMemberEnter", [room.outsider])
    assert names(event["memberList"]) == [room.outsider.user] and "seq" not in event
    await room.told("onApplicationProcessed", [room.outsider])
    assert (await room.info())["lastSeq"] == before


@pytest.mark.parametrize("groupType", TYPES)
async def test_nobody_is_told_of_a_member_who_leaves(world, groupType):
    room = await quiet_room(world, groupType)
    await room.other.call("quitGroup", groupID=room.group)
    await room.told("onQuitFromGroup", room.sessions("other"))
    await room.untold("onMemberLeave")
    await room.silent()
    await no_tip(room)


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", STORING)
async def test_an_invitation_is_told_to_inviter_and_invited(world, groupType, caller):
    room = await quiet_room(world, groupType, inviteMode="Any")
    guest = room.add("guest", await world.user("guest"))
    await room.second("guest")
    answer = await room.actor(caller).call("inviteUserToGroup", groupID=room.group, userIDList=[guest.user])
    assert results(answer) == {guest.user: "Success"}
    told = room.sessions("guest") if caller == "administrator" else room.sessions("guest", "owner")
    event = await room.told("onMemberInvited", told)
    assert names(event["memberList"]) == [guest.user] and event["opUser"]["userID"] == room.actor(caller).user
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("groupType", STORING)
async def test_each_of_several_invited_is_told(world, groupType):
    room = await quiet_room(world, groupType, inviteMode="Any")
    guests = [room.add(word, await world.user(word)) for word in ("first", "second_guest")]
    await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[guest.user for guest in guests])
    event = await room.told("onMemberInvited", [room.member, *guests])
    assert sorted(names(event["memberList"])) == sorted(guest.user for guest in guests)
    await room.silent()


@pytest.mark.parametrize("groupType", STORING)
async def test_an_accepted_invitation_is_told_to_inviter_and_invited(world, groupType):
    room = await quiet_room(world, groupType, inviteMode="Any", beInviteMode="Auth")
    guest = room.add("guest", await world.user("guest"))
    await room.other.call("inviteUserToGroup", groupID=room.group, userIDList=[guest.user])
    application = (await guest.expect("onReceiveGroupInvitation", groupID=room.group))["applicationID"]
    await room.listed(room.sessions("other", "guest"))
    await guest.call("acceptGroupApplication", applicationID=application)
    await room.listed(room.sessions("other", "guest"))
    event = await room.told("onMemberInvited", room.sessions("other", "guest"))
    assert event["opUser"]["userID"] == room.other.user
    await room.told("onApplicationProcessed", room.sessions("other"))
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", STORING)
async def test_a_removal_is_told_to_the_removed_and_the_operator(world, groupType, caller):
    room = await quiet_room(world, groupType)
    await room.actor(caller).call("kickGroupMember", groupID=room.group, userIDList=[room.other.user])
    told = room.sessions("other") if caller == "administrator" else room.sessions("other", "owner")
    event = await room.told("onMemberKicked", told)
    assert names(event["memberList"]) == [room.other.user]
    assert event["memberCount"] == (await room.info())["memberCount"]
    await room.silent()
    await no_tip(room, event)


OTHERS_INFO = {"nameCard": "Mate", "customInfo": {"k": "v"}}


@pytest.mark.parametrize("caller", ["owner", "administrator", "other"])
@pytest.mark.parametrize("groupType", TYPES)
async def test_member_info_is_told_to_the_one_concerned_and_the_operator(world, groupType, caller):
    room = await quiet_room(world, groupType)
    params = {"groupID": room.group, "userID": room.other.user}
    told = room.sessions("other", "owner") if caller == "owner" else room.sessions("other")
    for field, value in OTHERS_INFO.items():
        await room.actor(caller).call("setGroupMemberInfo", **params, **{field: value})
        event = await room.told("onGroupMemberInfoChanged", told)
        assert event["changeInfoList"] == [{"userID": room.other.user, field: value}]
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", TYPES)
async def test_a_mute_is_told_to_the_one_concerned_and_the_operator(world, groupType, caller):
    if (groupType, caller) == ("Work", "owner"):
        caller = "administrator"
    room = await quiet_room(world, groupType)
    told = room.sessions("other", "owner") if caller == "owner" else room.sessions("other")
    for muteTime in (3600, 0):
        await room.actor(caller).call("muteGroupMember", groupID=room.group, userID=room.other.user, muteTime=muteTime)
        event = await room.told("onGroupMemberInfoChanged", told)
        assert [set(change) for change in event["changeInfoList"]] == [{"userID", "muteTime"}]
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", ROLES_CHANGE)
async def test_roles_are_told_to_the_one_concerned_and_the_operator(world, groupType, caller):
    room = await quiet_room(world, groupType)
    told = room.sessions("other", "owner") if caller == "owner" else room.sessions("other")
    for role, name in [("100", "onGroupMemberInfoChanged"), ("Admin", "onGrantAdministrator"),
                       ("Member", "onRevokeAdministrator")]:
        await room.actor(caller).call("setGroupMemberRole", groupID=room.group, userID=room.other.user, role=role)
        event = await room.told(name, told)
        assert event["opUser"]["userID"] == room.actor(caller).user
    await room.silent()
    await no_tip(room, event)


@pytest.mark.parametrize("groupType", STORING)
async def test_changes_of_the_group_are_told_to_all_and_stored(world, groupType):
    """With notification off tips are stored for changes of the group's info only (Protocol.md,
    "Tips")."""
    room = await quiet_room(world, groupType)
    for number, (method, params) in enumerate([
        ("setGroupInfo", {"introduction": "new"}), ("setGroupInfo", {"customInfo": {"k": "v"}}),
        ("muteGroup", {"mode": "Ordinary"}), ("transferGroupOwner", {"userID": room.member.user}),
    ], start=1):
        await room.owner.call(method, groupID=room.group, **params)
        event = await room.told("onGroupInfoChanged", room.members)
        assert event["seq"] == number
        tip = await room.tip(event)
        assert tip["type"] == "GroupInfoChange" and tip["changeInfoList"] == event["changeInfoList"]
    await room.silent()


@pytest.mark.parametrize("groupType", STORING)
async def test_an_owner_who_leaves_is_told_as_a_change_of_the_group_only(world, groupType):
    room = await quiet_room(world, groupType, ownerQuitMode="Transfer")
    heir = room.member if groupType == "Work" else room.admin
    await room.owner.call("quitGroup", groupID=room.group)
    for client in room.sessions_but("owner", "outsider"):
        event = await client.expect("onGroupInfoChanged", groupID=room.group)
        assert event["changeInfoList"] == [{"type": "Owner", "value": heir.user}]
    await room.told("onQuitFromGroup", room.sessions("owner"))
    await room.untold("onMemberLeave")
    tips = [message["tips"]["type"] for message in await history_of(room.member, room.group)]
    assert tips == ["GroupInfoChange"]


@pytest.mark.parametrize("groupType", STORING)
async def test_handing_over_and_leaving_is_told_as_a_change_of_the_group_only(world, groupType):
    room = await quiet_room(world, groupType)
    await room.owner.call("transferGroupOwner", groupID=room.group, userID=room.other.user, quit=True)
    for client in room.sessions_but("owner", "outsider"):
        await client.expect("onGroupInfoChanged", groupID=room.group)
    await room.told("onQuitFromGroup", room.sessions("owner"))
    await room.untold("onMemberLeave")
    tips = [message["tips"]["type"] for message in await history_of(room.other, room.group)]
    assert tips == ["GroupInfoChange"]


@pytest.mark.parametrize("groupType", TYPES)
async def test_messages_and_the_end_of_the_group_are_told_all_the_same(world, groupType):
    room = await quiet_room(world, groupType)
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="x")
    await room.told("onRecvNewMessage", [client for client in room.members if client is not room.owner], message=has(text="x"))
    await room.administrator.call("dismissGroup", groupID=room.group)
    await room.told("onGroupDismissed", room.members)


@pytest.mark.parametrize("groupType", STORING)
async def test_the_switch_is_told_and_works_at_once(world, groupType):
    room = await Room.make(world, groupType)
    for value in (False, True):
        await room.owner.call("setGroupInfo", groupID=room.group, memberChangeNotification=value)
        event = await room.told("onGroupInfoChanged", room.members)
        assert event["changeInfoList"] == [{"type": "memberChangeNotification", "value": value}]
        await room.tip(event)
        await room.administrator.call("setGroupMemberInfo", groupID=room.group, userID=room.other.user, nameCard=f"is {value}")
        told = room.members if value else [room.other]
        assert ("seq" in await room.told("onGroupMemberInfoChanged", told)) == value


async def test_a_meeting_is_off_and_the_others_are_on_by_default(frozen_world):
    for groupType in TYPES:
        owner, member, other = await frozen_world.users("owner", "member", "other")
        group = await frozen_world.group(owner, groupType, [member, other])
        room = Room(frozen_world, group, groupType, owner=owner, member=member, other=other)
        if groupType == "AVChatRoom":
            # The notice waits for the second of the member's own to end.
            await frozen_world.server.advance(seconds=1)
            await member.expect("onMemberEnter", groupID=group, memberList=including(other.user))
            continue
        await room.settle()
        room.forget()
        await other.call("quitGroup", groupID=group)
        if groupType == "Meeting":
            await room.untold("onMemberLeave")
        else:
            await room.told("onMemberLeave", [owner, member])


@pytest.mark.parametrize("caller", ["owner", "administrator"])
async def test_an_avchatroom_tells_name_cards_to_the_two_also_when_on(world, caller):
    """What is not about a mute or a role: the one concerned and the operator (Protocol.md, "Member info")."""
    room = await Room.make(world, "AVChatRoom")
    await room.second("other")
    await room.actor(caller).call("setGroupMemberInfo", groupID=room.group, userID=room.other.user, nameCard="card")
    await room.told("onGroupMemberInfoChanged", room.sessions(*(["other"] + (["owner"] if caller == "owner" else []))))
