"""Users who are invited to a group with beInviteMode Auth are asked first (Protocol.md,
"Invitations")."""
import pytest

from harness.applications import VERBS, applications, apply, ask, asking_room
from harness.client import has
from harness.room import Room, later, names, notifications_of, results


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_an_invitation_is_told_to_the_invited_user_alone(world, groupType):
    room, guest = await asking_room(world, groupType)
    await room.second("guest")
    async with room.unchanged():
        answer = await room.member.call(
            "inviteUserToGroup", groupID=room.group, userIDList=[guest.user], message="come", attach="{}")
        assert results(answer) == {guest.user: "Pending"}
        event = await room.told("onReceiveGroupInvitation", room.sessions("guest"))
        await room.listed(room.sessions("guest") + [room.member])
    assert has(opReason="come", attach="{}", opUser={"userID": room.member.user, "nameCard": "", "role": "Member"})(event)
    (row,) = await applications(guest)
    wanted = has(applicationID=event["applicationID"], groupID=room.group, type="Invite", fromUser=room.member.user,
                 toUser=guest.user, requestMsg="come", attach="{}", handleStatus="Unhandled", isRead=False)
    assert wanted(row) and "handleResult" not in row
    for client in (room.owner, room.member, room.outsider):
        assert await applications(client, room.group) == [], "those I may decide"


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_accepting_an_invitation(world, groupType):
    room, guest = await asking_room(world, groupType)
    await room.second("guest")
    await room.second("member")
    application = await ask(room, room.member, guest)
    assert await guest.call("acceptGroupApplication", applicationID=application, reason="thanks") == {}
    processed = await room.told("onApplicationProcessed", room.sessions("member"))
    assert has(applicationID=application, isAgreeJoin=True, opReason="thanks")(processed)
    assert processed["opUser"]["userID"] == guest.user
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert event["opUser"]["userID"] == room.member.user and names(event["memberList"]) == [guest.user]
    tip = await room.tip(event)
    assert tip["type"] == "Invite" and tip["opUser"]["userID"] == room.member.user
    answer = await guest.call("getGroupMemberInviters", groupID=room.group, userIDList=[guest.user])
    assert answer["inviterList"] == [{"userID": guest.user, "inviter": room.member.user}]
    (row,) = await applications(guest)
    assert has(handleStatus="HandledBySelf", handleResult="Agree", handledMsg="thanks", handledBy=guest.user)(row)
    await guest.refused(10024, "refuseGroupApplication", applicationID=application)


async def test_refusing_an_invitation(world):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest)
    async with room.unchanged():
        await guest.call("refuseGroupApplication", applicationID=application, reason="no")
        event = await room.told("onApplicationProcessed", room.sessions("member"))
        assert has(applicationID=application, isAgreeJoin=False, opReason="no")(event)
        await room.listed([guest, room.member])
    await guest.refused(10024, "acceptGroupApplication", applicationID=application)
    assert await ask(room, room.member, guest) != application


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
async def test_an_invitation_is_decided_by_the_invited_user_only(world, verb):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest)
    for caller in (room.owner, room.admin, room.member, room.outsider):
        async with room.unchanged():
            await caller.refused(10007, verb, applicationID=application)
    (row,) = await applications(guest)
    assert row["handleStatus"] == "Unhandled"


async def test_an_invitation_again_renews_it_and_a_second_inviter_takes_it_over(world):
    room, guest = await asking_room(world)
    first = await ask(room, room.member, guest, message="one", attach="1")
    (before,) = await applications(guest)
    await later(guest, before["addTime"])
    assert await ask(room, room.member, guest, message="two", attach="2") == first
    (renewed,) = await applications(guest)
    assert has(requestMsg="two", attach="2", fromUser=room.member.user)(renewed) and renewed["addTime"] > before["addTime"]
    assert await ask(room, room.other, guest, message="three") == first
    (taken,) = await applications(guest)
    assert has(requestMsg="three", fromUser=room.other.user)(taken) and "attach" not in taken
    room.forget()
    await guest.call("acceptGroupApplication", applicationID=first)
    await room.told("onApplicationProcessed", [room.other])
    event = await room.told("onMemberInvited", room.sessions_but("outsider"))
    assert event["opUser"]["userID"] == room.other.user


async def test_an_invitation_outlives_its_inviters_membership_and_the_modes(world):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest)
    await room.member.call("quitGroup", groupID=room.group)
    await room.owner.call(
        "setGroupInfo", groupID=room.group, inviteMode="Nobody", beInviteMode="None", joinMode="Forbid")
    await guest.call("acceptGroupApplication", applicationID=application)
    await room.told("onApplicationProcessed", [room.member])
    event = await room.told("onMemberInvited", room.sessions_but("outsider", "member"))
    assert event["opUser"] == {"userID": room.member.user, "nameCard": "", "role": "NotMember"}
    assert names(event["memberList"]) == [guest.user] and event["memberCount"] == 4


async def test_an_invitation_of_a_member_by_now_closes_without_an_event(world):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest)
    await guest.call("joinGroup", groupID=room.group)
    async with room.unchanged():
        assert await guest.call("acceptGroupApplication", applicationID=application) == {}
        await room.listed([guest, room.member])
    (row,) = await applications(guest)
    assert row["handleStatus"] == "HandledBySelf" and row["handleResult"] == "Agree"


async def test_an_invitation_to_a_full_group_stays_open(world):
    room = await Room.make(world, inviteMode="Any", beInviteMode="Auth", maxMemberNum=5)
    guest = room.add("guest", await world.user("guest"))
    application = await ask(room, room.member, guest)
    await room.outsider.call("joinGroup", groupID=room.group)
    async with room.unchanged():
        await guest.refused(10014, "acceptGroupApplication", applicationID=application)
    (row,) = await applications(guest)
    assert row["handleStatus"] == "Unhandled"
    await room.outsider.call("quitGroup", groupID=room.group)
    await guest.call("acceptGroupApplication", applicationID=application)
    assert await room.role("guest") == "Member"


async def test_a_banned_user_may_refuse_an_invitation_and_not_accept_it(world):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest)
    await guest.call("joinGroup", groupID=room.group)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[guest.user], banTime=3600)
    async with room.unchanged():
        await guest.refused(10007, "acceptGroupApplication", applicationID=application)
    (row,) = await applications(guest)
    assert row["handleStatus"] == "Unhandled"
    await guest.call("refuseGroupApplication", applicationID=application)
    assert await room.role("guest") == "NotMember"


async def test_a_request_and_an_invitation_of_one_user_are_two(world):
    room = await Room.make(world, joinMode="Auth", inviteMode="Any", beInviteMode="Auth")
    request = await apply(room, room.outsider)
    invitation = await ask(room, room.member, room.outsider)
    assert request != invitation
    await room.outsider.refused(10007, "acceptGroupApplication", applicationID=request)
    await room.owner.refused(10007, "acceptGroupApplication", applicationID=invitation)
    await room.outsider.call("acceptGroupApplication", applicationID=invitation)
    async with room.unchanged():
        await room.owner.call("acceptGroupApplication", applicationID=request)
        await room.listed([room.owner, room.admin, room.outsider])


@pytest.mark.parametrize("verb, agreed, result", VERBS)
async def test_what_is_kept_of_an_invitation(world, verb, agreed, result):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest, message="come")
    await guest.call(verb, applicationID=application, reason="because")
    (kept,) = await notifications_of(room.member, groupID=room.group)
    assert kept["type"] == ("InviteAccept" if agreed else "InviteRefuse")
    assert kept["opUser"]["userID"] == guest.user and kept["reason"] == "because"
