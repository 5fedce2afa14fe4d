"""inviteUserToGroup: the right, the result of each user, and the events (Protocol.md,
"Invitations")."""
import pytest

from harness.client import has
from harness.room import Backend, Room, naming, names, notifications_of, results
from harness.world import history_of, info_of

RANK = {"outsider": 0, "member": 1, "admin": 2, "owner": 3, "administrator": 4}
LOWEST = {"Any": 1, "Admin": 2, "Nobody": 4}
CASES = [
    (groupType, inviteMode, beInviteMode, role)
    for groupType in ("Work", "Public", "Meeting") for inviteMode in LOWEST for beInviteMode in ("None", "Auth")
    for role in RANK if (groupType, role) != ("Work", "admin")
]


async def invite(caller, room, *clients, **params):
    answer = await caller.call(
        "inviteUserToGroup", groupID=room.group, userIDList=[client.user for client in clients], **params)
    return results(answer)


@pytest.mark.parametrize("groupType, inviteMode, beInviteMode, role", CASES)
async def test_who_may_invite_and_whether_consent_is_needed(world, groupType, inviteMode, beInviteMode, role):
    """The rights of Permissions.md, "Tables"; neither mode binds an application administrator."""
    room = await Room.make(world, groupType, inviteMode=inviteMode, beInviteMode=beInviteMode)
    caller, guest = room.actor(role), room.add("guest", await world.user("guest"))
    again = await room.second("guest")
    if RANK[role] < LOWEST[inviteMode]:
        await room.refuses(10007, caller, "inviteUserToGroup", userIDList=[guest.user])
        assert await room.role("guest") == "NotMember"
    elif beInviteMode == "Auth" and role != "administrator":
        async with room.unchanged():
            assert await invite(caller, room, guest, message="come") == {guest.user: "Pending"}
            for client in (guest, again):
                event = await client.expect("onReceiveGroupInvitation", groupID=room.group)
                assert event["opUser"]["userID"] == caller.user and event["opReason"] == "come"
            await room.listed([caller, guest, again])
    else:
        assert await invite(caller, room, guest) == {guest.user: "Success"}
        event = await room.told("onMemberInvited", room.sessions_but("outsider"))
        assert event["opUser"]["userID"] == caller.user and names(event["memberList"]) == [guest.user]
        assert event["memberCount"] == (await room.info())["memberCount"] == len(await room.rows())
        assert await room.role("guest") == "Member"
        await room.silent()


@pytest.mark.parametrize("role", ["owner", "member", "outsider", "administrator"])
async def test_nobody_invites_to_an_avchatroom(world, role):
    """× binds application administrators too."""
    room = await Room.make(world, "AVChatRoom")
    guest = room.add("guest", await world.user("guest"))
    await room.refuses(10007, room.actor(role), "inviteUserToGroup", userIDList=[guest.user])


async def test_a_backend_invites_in_the_name_of_a_member_with_that_members_rights(world):
    room = await Room.make(world, inviteMode="Admin")
    guest = room.add("guest", await world.user("guest"))
    await room.refuses(10007, room.actor("as member"), "inviteUserToGroup", userIDList=[guest.user])
    await room.refuses(10007, room.actor("as outsider"), "inviteUserToGroup", userIDList=[guest.user])
    assert await invite(room.actor("as admin"), room, guest) == {guest.user: "Success"}
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert event["opUser"] == {"userID": room.admin.user, "nameCard": "", "role": "Admin"}
    assert event["platform"] == "RESTful API"


async def test_a_custom_role_invites_as_a_member_does(world):
    room = await Room.make(world, inviteMode="Any")
    guest = await world.user("guest")
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="100")
    assert await invite(room.member, room, guest) == {guest.user: "Success"}
    await room.owner.call("setGroupInfo", groupID=room.group, inviteMode="Admin")
    await room.member.refused(10007, "inviteUserToGroup", groupID=room.group, userIDList=[room.outsider.user])


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_the_tip_the_history_and_the_inviter(world, groupType):
    room = await Room.make(world, groupType, inviteMode="Any")
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="before")
    guest = room.add("guest", await world.user("guest"))
    await invite(room.member, room, guest)
    event = await guest.expect("onMemberInvited", groupID=room.group)
    assert event["opUser"] == {"userID": room.member.user, "nameCard": "", "role": "Member"}
    assert event["memberList"] == [{"userID": guest.user, "nameCard": "", "role": "Member"}]
    tip = await room.tip(event)
    assert tip["type"] == "Invite" and tip["opUser"]["userID"] == room.member.user
    assert names(tip["memberList"]) == [guest.user] and tip["memberCount"] == event["memberCount"]
    seen = await history_of(guest, room.group)
    assert [message["type"] for message in seen] == (["Text", "GroupTips"] if groupType == "Meeting" else ["GroupTips"])
    info = await info_of(guest, room.group)
    assert info["selfInfo"]["unreadCount"] == 0 and info["selfInfo"]["role"] == "Member"
    answer = await guest.call("getGroupMemberInviters", groupID=room.group, userIDList=[guest.user])
    assert answer["inviterList"] == [{"userID": guest.user, "inviter": room.member.user}]
    await room.settle()
    for client in room.clients:
        assert not client.received("onRecvNewMessage", groupID=room.group, message=has(type="GroupTips"))
        assert not client.received("onMemberEnter", groupID=room.group)


async def test_everything_about_one_user_is_its_result(world):
    """Invalid: a member, oneself; Fail: a banned user; the rest become members by one event."""
    room = await Room.make(world, inviteMode="Any")
    banned, one, two = await world.users("banned", "one", "two")
    for name, client in (("banned", banned), ("one", one), ("two", two)):
        room.add(name, client)
    await banned.call("joinGroup", groupID=room.group)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[banned.user], banTime=3600)
    stranger = world.name("never-seen")
    users = [room.other.user, room.member.user, banned.user, one.user, stranger, two.user, one.user]
    answer = await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=users)
    assert results(answer) == {
        room.other.user: "Invalid", room.member.user: "Invalid", banned.user: "Fail",
        one.user: "Success", stranger: "Success", two.user: "Success"}
    event = await room.told("onMemberInvited", room.sessions_but("outsider", "banned"))
    assert naming(one.user, two.user, stranger)(event["memberList"]) and event["memberCount"] == 7
    tip = await room.tip(event)
    assert naming(one.user, two.user, stranger)(tip["memberList"])


async def test_when_nobody_succeeds_there_is_no_event_and_no_tip(world):
    room = await Room.make(world, inviteMode="Any")
    banned = room.add("banned", await world.user("banned"))
    await banned.call("joinGroup", groupID=room.group)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[banned.user], banTime=3600)
    for caller in (room.member, room.administrator):
        async with room.unchanged():
            answer = await caller.call("inviteUserToGroup", groupID=room.group, userIDList=[room.owner.user, banned.user])
            assert results(answer) == {room.owner.user: "Invalid", banned.user: "Fail"}


async def test_an_invitation_that_waits_and_results_side_by_side(world):
    room = await Room.make(world, inviteMode="Any", beInviteMode="Auth")
    guest = room.add("guest", await world.user("guest"))
    async with room.unchanged():
        assert await invite(room.member, room, guest, room.owner, room.member) == {
            guest.user: "Pending", room.owner.user: "Invalid", room.member.user: "Invalid"}
        await guest.expect("onReceiveGroupInvitation", groupID=room.group)
        await room.listed([room.member, guest])


async def test_more_users_than_seats(world):
    """OverLimit for those who find the group full; the others are members."""
    room = await Room.make(world, inviteMode="Any", maxMemberNum=6)
    guests = await world.users("guest-a", "guest-b", "guest-c", "guest-d")
    answer = await invite(room.member, room, *guests)
    assert [answer[guest.user] for guest in guests] == ["Success", "Success", "OverLimit", "OverLimit"]
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert naming(guests[0].user, guests[1].user)(event["memberList"]) and event["memberCount"] == 6
    async with room.unchanged():
        assert await invite(room.member, room, guests[2], room.owner) == {
            guests[2].user: "OverLimit", room.owner.user: "Invalid"}
    async with room.unchanged():
        assert await invite(room.administrator, room, guests[2]) == {guests[2].user: "OverLimit"}
    await room.owner.call("setGroupInfo", groupID=room.group, beInviteMode="Auth")
    async with room.unchanged():
        assert await invite(room.member, room, guests[3]) == {guests[3].user: "OverLimit"}


async def test_an_unknown_user_fails_where_users_must_be_known(make_server, make_world):
    world = make_world(make_server({"users.requireKnown": "true"}))
    room = await Room.make(world, inviteMode="Any")
    guest = room.add("guest", await world.user("guest"))
    answer = await room.member.call(
        "inviteUserToGroup", groupID=room.group, userIDList=["never-seen", guest.user])
    assert results(answer) == {"never-seen": "Fail", guest.user: "Success"}
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert names(event["memberList"]) == [guest.user]
    await room.administrator.call("importUsers", userIDList=["never-seen"])
    answer = await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=["never-seen"])
    assert results(answer) == {"never-seen": "Success"}


async def test_somebody_invited_while_away_finds_the_group(world):
    room = await Room.make(world, inviteMode="Any")
    user = world.name("away")
    await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[user])
    away = await world.session(user)
    (info,) = (await away.call("getJoinedGroupList"))["groupList"]
    assert info["groupID"] == room.group and info["selfInfo"]["role"] == "Member"
    await away.call("sendGroupTextMessage", groupID=room.group, text="here I am")


async def test_parameters(world):
    room = await Room.make(world, inviteMode="Any")
    guest = await world.user("guest")
    users = [world.name("u") for _ in range(101)]
    member = room.member
    await room.refuses(8510, member, "inviteUserToGroup", userIDList=[])
    await room.refuses(10004, member, "inviteUserToGroup", userIDList=users)
    for bad in ("", "x" * 33, "@x", "administrator", "é"):
        await room.refuses(10004, member, "inviteUserToGroup", userIDList=[guest.user, bad])
    for field in ("message", "attach"):
        await room.refuses(10004, member, "inviteUserToGroup", userIDList=[guest.user], **{field: "😀" * 513})
        await room.refuses(-32602, member, "inviteUserToGroup", userIDList=[guest.user], **{field: 1})
    assert (await room.refuses(-32602, member, "inviteUserToGroup"))["field"] == "userIDList"
    await room.refuses(-32602, member, "inviteUserToGroup", userIDList=guest.user)
    await member.refused(10010, "inviteUserToGroup", groupID=world.name("nowhere"), userIDList=[guest.user])
    await member.refused(10015, "inviteUserToGroup", groupID="a b", userIDList=[guest.user])
    answer = await member.call(
        "inviteUserToGroup", groupID=room.group, userIDList=users[:100], message="😀" * 512, attach="😀" * 512)
    assert set(results(answer).values()) == {"Success"} and len(answer["memberList"]) == 100
    assert (await room.info())["memberCount"] == 104


async def test_parameters_come_before_rights(world):
    """Errors come in their order (Protocol.md, "Order of errors")."""
    room = await Room.make(world, inviteMode="Nobody")
    for client in (room.owner, room.outsider):
        await room.refuses(8510, client, "inviteUserToGroup", userIDList=[])
    await room.refuses(10007, room.owner, "inviteUserToGroup", userIDList=[room.owner.user])


async def test_what_is_kept_as_system_notifications(world):
    """InvitedToGroup for those who are members at once, InviteRequest for those who are asked."""
    room = await Room.make(world, inviteMode="Any")
    guest, asked = await world.users("guest", "asked")
    await invite(room.member, room, guest)
    (kept,) = await notifications_of(guest, groupID=room.group)
    assert kept["type"] == "InvitedToGroup" and kept["opUser"]["userID"] == room.member.user and kept["isRead"] is False
    await room.owner.call("setGroupInfo", groupID=room.group, beInviteMode="Auth")
    await invite(room.member, room, asked, message="come", attach="data")
    (kept,) = await notifications_of(asked, groupID=room.group)
    assert kept["type"] == "InviteRequest" and kept["opUser"]["userID"] == room.member.user and kept["reason"] == "come"
    assert await notifications_of(room.member, groupID=room.group) == []


async def test_two_invitations_at_the_same_time_make_one_member(world):
    room = await Room.make(world, inviteMode="Any")
    guest = room.add("guest", await world.user("guest"))
    callers = [room.owner, room.admin, room.member, room.other]
    futures = [
        await caller.start("inviteUserToGroup", groupID=room.group, userIDList=[guest.user]) for caller in callers]
    answers = [results((await future)["result"])[guest.user] for future in futures]
    assert sorted(answers) == ["Invalid", "Invalid", "Invalid", "Success"]
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert event["memberCount"] == 5 == (await room.info())["memberCount"]


async def test_an_invitation_from_the_backend_by_an_outsider_user_is_refused(world):
    room = await Room.make(world, inviteMode="Any")
    unknown = Backend(world.server, world.name("fresh"))
    await room.refuses(10007, unknown, "inviteUserToGroup", userIDList=[room.outsider.user])
