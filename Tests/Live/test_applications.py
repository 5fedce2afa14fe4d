"""Section 4, "Applications and invitations": joining with consent of a manager, entering with consent of oneself."""
import pytest

from harness.client import has
from harness.room import Room, clock, including, later, names, notifications_of, pages_of, results
from harness.world import history_of, info_of

CONSENTING = ["Public", "Meeting", "AVChatRoom"]
VERBS = [("acceptGroupApplication", True, "Agree"), ("refuseGroupApplication", False, "Refuse")]


async def applications(client, group=None, **params):
    """All applications that this client may decide (of one group), newest first."""
    rows, _ = await pages_of(client, "getGroupApplicationList", "applicationList", **params)
    times = [row["addTime"] for row in rows]
    assert times == sorted(times, reverse=True), "newest first"
    return [row for row in rows if group in (None, row["groupID"])]


async def unread(client):
    return (await client.call("getGroupApplicationList"))["unreadCount"]


async def apply(room, client, message="let me in"):
    """A join request that waits; gives its applicationID as the owner is told it."""
    assert await client.call("joinGroup", groupID=room.group, message=message) == {"status": "Pending"}
    return (await room.owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"]


async def ask(room, inviter, client, **params):
    """An invitation that waits; gives its applicationID as the invited user is told it."""
    answer = await inviter.call("inviteUserToGroup", groupID=room.group, userIDList=[client.user], **params)
    assert results(answer) == {client.user: "Pending"}
    return (await client.expect("onReceiveGroupInvitation", groupID=room.group))["applicationID"]


async def asking_room(world, groupType="Public"):
    room = await Room.make(world, groupType, inviteMode="Any", beInviteMode="Auth")
    return room, room.add("guest", await world.user("guest"))


async def auth_room(world, groupType="Public", **fields):
    """A group that members enter by application; in an AVChatRoom they were there before the mode."""
    if groupType == "AVChatRoom":
        room = await Room.make(world, groupType, **fields)
        await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Auth")
        await room.settle()
        room.forget()
        return room
    return await Room.make(world, groupType, joinMode="Auth", **fields)


def managers(room):
    return room.sessions("owner", "admin") if hasattr(room, "admin") else room.sessions("owner")


# Joining with consent


@pytest.mark.parametrize("groupType", CONSENTING)
async def test_an_application_is_told_to_the_managers_and_changes_nothing(world, groupType):
    room = await auth_room(world, groupType)
    await room.second("owner")
    async with room.unchanged():
        assert await room.outsider.call("joinGroup", groupID=room.group, message="let me in") == {"status": "Pending"}
        event = await room.told("onReceiveJoinApplication", managers(room))
    assert event["member"] == {"userID": room.outsider.user, "nameCard": "", "role": "NotMember"}
    assert event["opReason"] == "let me in"
    for client in managers(room):
        (row,) = await applications(client, room.group)
        assert row["applicationID"] == event["applicationID"] and row["addTime"] > 0
        wanted = has(type="Join", fromUser=room.outsider.user, toUser="", requestMsg="let me in",
                     handleStatus="Unhandled", isRead=False)
        assert wanted(row), row
        assert not {"handleResult", "handledBy", "handledTime", "attach"} & set(row)
    for client in (room.member, room.outsider):
        answer = await client.call("getGroupApplicationList")
        assert answer == {"applicationList": [], "unreadCount": 0, "nextSeq": 0}


@pytest.mark.parametrize("decider", ["owner", "admin", "administrator", "as admin"])
@pytest.mark.parametrize("groupType", CONSENTING)
async def test_accepting_lets_the_applicant_in(world, groupType, decider):
    if (groupType, decider) in {("AVChatRoom", "admin"), ("AVChatRoom", "as admin")}:
        decider = "as owner"
    room = await auth_room(world, groupType)
    await room.second("outsider")
    caller, application = room.actor(decider), await apply(room, room.outsider)
    assert await caller.call("acceptGroupApplication", applicationID=application, reason="welcome") == {}
    processed = await room.told("onApplicationProcessed", room.sessions("outsider"))
    assert has(applicationID=application, isAgreeJoin=True, opReason="welcome")(processed)
    assert processed["opUser"]["userID"] == caller.user
    assert await room.role("outsider") == "Member"
    if groupType == "AVChatRoom":
        for client in room.clients:
            event = await client.expect("onMemberEnter", groupID=room.group, memberList=including(room.outsider.user))
            assert "seq" not in event
        return
    event = await room.told("onMemberEnter", room.clients)
    assert event["memberList"] == [{"userID": room.outsider.user, "nameCard": "", "role": "Member"}]
    assert event["memberCount"] == 5
    tip = await room.tip(event)
    assert tip["type"] == "Join" and tip["opUser"]["userID"] == room.outsider.user and tip["memberCount"] == 5
    assert (await history_of(room.outsider, room.group))[-1]["seq"] == event["seq"]
    answer = await room.outsider.call("getGroupMemberInviters", groupID=room.group, userIDList=[room.outsider.user])
    assert answer["inviterList"] == [{"userID": room.outsider.user}]


@pytest.mark.parametrize("groupType", CONSENTING)
async def test_refusing_leaves_the_applicant_outside_who_may_ask_again(world, groupType):
    room = await auth_room(world, groupType)
    await room.second("outsider")
    first = await apply(room, room.outsider)
    async with room.unchanged():
        await room.owner.call("refuseGroupApplication", applicationID=first, reason="not now")
        event = await room.told("onApplicationProcessed", room.sessions("outsider"))
        assert has(applicationID=first, isAgreeJoin=False, opReason="not now")(event)
        assert event["opUser"]["userID"] == room.owner.user
    assert await room.role("outsider") == "NotMember"
    second = await apply(room, room.outsider)
    assert second != first
    rows = {row["applicationID"]: row["handleStatus"] for row in await applications(room.owner, room.group)}
    assert rows == {first: "HandledBySelf", second: "Unhandled"}


DECIDERS = {"Public": ["owner", "admin"], "Meeting": ["owner", "admin"], "AVChatRoom": ["owner"]}


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
@pytest.mark.parametrize("groupType", CONSENTING)
async def test_who_may_not_decide(world, groupType, verb):
    """Section 3: Admin in Public and Meeting, Owner in AVChatRoom."""
    room = await auth_room(world, groupType)
    application, stranger = await apply(room, room.outsider), await world.user("stranger")
    for caller in (room.member, room.outsider, stranger, room.actor("as member")):
        async with room.unchanged():
            await caller.refused(10007, verb, applicationID=application)
    (row,) = await applications(room.owner, room.group)
    assert row["handleStatus"] == "Unhandled"


@pytest.mark.parametrize("verb, agreed, result", VERBS)
async def test_a_handled_application_is_done_with(world, verb, agreed, result):
    """10024; each manager sees who handled it, handled ones stay in the list."""
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    await room.admin.call(verb, applicationID=application, reason="because")
    for client in (room.owner, room.admin, room.administrator):
        for again, _, _ in VERBS:
            async with room.unchanged():
                await client.refused(10024, again, applicationID=application)
                await room.outsider.round_trip(room.group)
    for client, status in ((room.admin, "HandledBySelf"), (room.owner, "HandledByOther")):
        (row,) = await applications(client, room.group)
        wanted = has(applicationID=application, handleStatus=status, handleResult=result, handledMsg="because",
                     handledBy=room.admin.user, fromUser=room.outsider.user)
        assert wanted(row), row
        assert row["handledTime"] >= row["addTime"]


async def test_two_managers_at_the_same_time_handle_it_once(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    futures = [await client.start(verb, applicationID=application)
               for client, verb in ((room.owner, "acceptGroupApplication"), (room.admin, "refuseGroupApplication"))]
    answers = [await future for future in futures]
    codes = sorted(answer.get("error", {}).get("code", 0) for answer in answers)
    assert codes == [0, 10024]
    event = await room.told("onApplicationProcessed", [room.outsider])
    assert await room.role("outsider") == ("Member" if event["isAgreeJoin"] else "NotMember")


async def test_what_an_administrator_handled(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    await room.administrator.call("refuseGroupApplication", applicationID=application)
    (event,) = [await room.outsider.expect("onApplicationProcessed", groupID=room.group)]
    assert event["opUser"] == {"userID": "administrator"} and event["platform"] == "RESTful API"
    (row,) = await applications(room.owner, room.group)
    assert has(handleStatus="HandledByOther", handledBy="administrator", handleResult="Refuse")(row)


async def test_an_administrator_lists_what_waits(make_server, make_world):
    room = await auth_room(make_world(make_server()))
    application = await apply(room, room.outsider)
    (row,) = await applications(room.administrator)
    assert row["applicationID"] == application and row["handleStatus"] == "Unhandled"


async def test_parameters_of_a_decision(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    for verb, _, _ in VERBS:
        async with room.unchanged():
            for unknown in ("nothing", "", "0", "x" * 600):
                await room.owner.refused(10004, verb, applicationID=unknown)
            await room.owner.refused(10004, verb, applicationID=application, reason="é" * 256 + "x")
            assert (await room.owner.refused(-32602, verb))["field"] == "applicationID"
            await room.owner.refused(-32602, verb, applicationID=7)
            await room.owner.refused(-32602, verb, applicationID=application, reason=7)
    await room.owner.call("acceptGroupApplication", applicationID=application, reason="é" * 256)


async def test_a_second_request_renews_the_first(world):
    room = await auth_room(world)
    first = await apply(room, room.outsider, "one")
    await room.admin.expect("onReceiveJoinApplication", groupID=room.group)
    (before,) = await applications(room.owner, room.group)
    await later(room.owner, before["addTime"])
    async with room.unchanged():
        assert await room.outsider.call("joinGroup", groupID=room.group, message="two") == {"status": "Pending"}
        event = await room.told("onReceiveJoinApplication", managers(room))
    assert event["applicationID"] == first and event["opReason"] == "two"
    (after,) = await applications(room.owner, room.group)
    assert after == {**before, "requestMsg": "two", "addTime": after["addTime"]} and after["addTime"] > before["addTime"]


async def test_a_renewed_request_is_the_newest_again(world):
    room = await auth_room(world)
    stranger = await world.user("stranger")
    first = await apply(room, room.outsider)
    await later(room.owner, (await applications(room.owner, room.group))[0]["addTime"])
    second = await apply(room, stranger)
    assert [row["applicationID"] for row in await applications(room.owner, room.group)] == [second, first]
    await later(room.owner, (await applications(room.owner, room.group))[0]["addTime"])
    await apply(room, room.outsider)
    assert [row["applicationID"] for row in await applications(room.owner, room.group)] == [first, second]


async def test_a_member_does_not_apply(world):
    room = await auth_room(world)
    for client in (room.owner, room.admin, room.member):
        await room.refuses(10013, client, "joinGroup")
    await room.refuses(10004, room.outsider, "joinGroup", message="é" * 256 + "x")
    assert await applications(room.owner, room.group) == []
    assert (await room.administrator.refused(-32602, "joinGroup", groupID=room.group))["field"] == "asUser"


async def test_applying_in_the_name_of_a_user(world):
    room = await auth_room(world)
    assert await room.actor("as outsider").call("joinGroup", groupID=room.group) == {"status": "Pending"}
    event = await room.owner.expect("onReceiveJoinApplication", groupID=room.group)
    await room.actor("as owner").call("acceptGroupApplication", applicationID=event["applicationID"])
    assert await room.role("outsider") == "Member"


@pytest.mark.parametrize("mode", ["Any", "Forbid"])
async def test_open_requests_stay_valid_when_the_mode_changes(world, mode):
    room = await auth_room(world)
    stranger = room.add("stranger", await world.user("stranger"))
    first, second = await apply(room, room.outsider), await apply(room, stranger)
    await room.owner.call("setGroupInfo", groupID=room.group, joinMode=mode)
    await room.admin.call("acceptGroupApplication", applicationID=first)
    await room.admin.call("refuseGroupApplication", applicationID=second)
    assert await room.role("outsider") == "Member" and await room.role("stranger") == "NotMember"


@pytest.mark.parametrize("way", ["joins", "is invited"])
async def test_a_request_of_somebody_who_is_a_member_by_now_closes_without_an_event(world, way):
    room = await auth_room(world, inviteMode="Any")
    application = await apply(room, room.outsider)
    if way == "joins":
        await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Any")
        await room.outsider.call("joinGroup", groupID=room.group)
    else:
        await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[room.outsider.user])
    async with room.unchanged():
        assert await room.owner.call("acceptGroupApplication", applicationID=application) == {}
    (row,) = await applications(room.owner, room.group)
    assert row["handleStatus"] == "HandledBySelf" and row["handleResult"] == "Agree"
    await room.owner.refused(10024, "acceptGroupApplication", applicationID=application)


async def test_a_full_group_takes_no_request_and_keeps_an_open_one(world):
    room = await auth_room(world, maxMemberNum=5, inviteMode="Any")
    application = await apply(room, room.outsider)
    last, stranger = await world.users("last", "stranger")
    await room.owner.call("inviteUserToGroup", groupID=room.group, userIDList=[last.user])
    await room.refuses(10014, stranger, "joinGroup")
    async with room.unchanged():
        await room.owner.refused(10014, "acceptGroupApplication", applicationID=application)
        await room.outsider.quiet("onApplicationProcessed", group=room.group)
    (row,) = await applications(room.owner, room.group)
    assert row["handleStatus"] == "Unhandled"
    await last.call("quitGroup", groupID=room.group)
    await room.owner.call("acceptGroupApplication", applicationID=application)
    assert await room.role("outsider") == "Member"


async def test_a_banned_applicant_is_not_accepted(world):
    """The request was open when the user was invited, and removed with a ban."""
    room = await auth_room(world, inviteMode="Any")
    application = await apply(room, room.outsider)
    await room.owner.call("inviteUserToGroup", groupID=room.group, userIDList=[room.outsider.user])
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[room.outsider.user], banTime=3600)
    async with room.unchanged():
        await room.owner.refused(10007, "acceptGroupApplication", applicationID=application)
    await room.refuses(10007, room.outsider, "joinGroup")


async def test_a_new_manager_decides_what_waited_and_a_former_one_no_longer(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.admin.user, role="Member")
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="Admin")
    assert await applications(room.admin) == []
    await room.admin.refused(10007, "acceptGroupApplication", applicationID=application)
    (row,) = await applications(room.member)
    assert row["applicationID"] == application
    await room.member.call("acceptGroupApplication", applicationID=application)
    assert await room.role("outsider") == "Member"


# Entering with one's own consent


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_an_invitation_is_told_to_the_invited_user_alone(world, groupType):
    room, guest = await asking_room(world, groupType)
    await room.second("guest")
    async with room.unchanged():
        answer = await room.member.call(
            "inviteUserToGroup", groupID=room.group, userIDList=[guest.user], message="come", attach="{}")
        assert results(answer) == {guest.user: "Pending"}
        event = await room.told("onReceiveGroupInvitation", room.sessions("guest"))
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


# The list


async def test_the_list_is_paged_newest_first(world):
    room = await auth_room(world)
    applicants, expected = [world.name("applicant") for _ in range(7)], []
    for user in applicants:
        client = await world.session(user)
        expected.insert(0, await apply(room, client))
        await later(room.owner, (await applications(room.owner))[0]["addTime"])
    for count in (1, 3, 7, 50):
        rows, answers = await pages_of(room.owner, "getGroupApplicationList", "applicationList", count=count)
        assert [row["applicationID"] for row in rows] == expected
        assert all(len(answer["applicationList"]) <= count and answer["unreadCount"] == 7 for answer in answers)
    for bad in (0, 51, -1):
        await room.owner.refused(10004, "getGroupApplicationList", count=bad)


async def test_nobody_comes_twice_while_others_apply(world):
    room = await auth_room(world)
    for _ in range(6):
        await apply(room, await world.user("applicant"))
    waiting = {row["applicationID"] for row in await applications(room.owner)}
    seen, start, turn = [], 0, 0
    while turn == 0 or start:
        if turn < 3:
            await apply(room, await world.user("applicant"))
        answer = await room.owner.call("getGroupApplicationList", count=2, nextSeq=start)
        seen += [row["applicationID"] for row in answer["applicationList"]]
        start, turn = answer["nextSeq"], turn + 1
    assert len(seen) == len(set(seen)) and set(seen) >= waiting


async def test_the_list_covers_all_groups_and_both_kinds(world):
    one, two = await auth_room(world), await auth_room(world, "Meeting")
    three, _ = await asking_room(world)
    decider = one.owner
    await two.administrator.call("inviteUserToGroup", groupID=two.group, userIDList=[decider.user])
    await two.owner.call("setGroupMemberRole", groupID=two.group, userID=decider.user, role="Admin")
    first, second = await apply(one, one.outsider), await apply(two, two.outsider)
    third = await ask(three, three.member, decider)
    assert {row["applicationID"] for row in await applications(decider)} == {first, second, third}
    assert await unread(decider) == 3


async def test_reading_is_each_deciders_own(world):
    room = await auth_room(world)
    stranger = await world.user("stranger")
    await apply(room, room.outsider)
    moment = (await applications(room.owner))[0]["addTime"]
    await later(room.owner, moment)
    await apply(room, stranger)
    assert await unread(room.owner) == 2 == await unread(room.admin)
    assert await room.owner.call("setGroupApplicationRead", timestamp=moment) == {}
    assert await unread(room.owner) == 1 and await unread(room.admin) == 2
    assert [row["isRead"] for row in await applications(room.owner)] == [False, True], "inclusive (section 1)"
    assert await room.owner.call("setGroupApplicationRead") == {}
    assert await unread(room.owner) == 0
    assert all(row["isRead"] for row in await applications(room.owner))
    assert not any(row["isRead"] for row in await applications(room.admin))


async def test_a_renewed_request_is_unread_again(world):
    room = await auth_room(world)
    await apply(room, room.outsider)
    await room.owner.call("setGroupApplicationRead")
    assert await unread(room.owner) == 0
    await later(room.owner, await clock(room.owner))
    await apply(room, room.outsider)
    assert await unread(room.owner) == 1 and (await applications(room.owner))[0]["isRead"] is False


async def test_parameters_of_the_list(world):
    alice = await world.user("alice")
    await alice.refused(-32602, "getGroupApplicationList", count="3")
    await alice.refused(-32602, "setGroupApplicationRead", timestamp="now")
    server = world.server
    assert server.rpc("setGroupApplicationRead")["error"]["data"]["field"] == "asUser"


# The end of a group, and of a server


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
@pytest.mark.parametrize("ending", ["dismissGroup", "recycleGroup"])
async def test_applications_of_a_disbanded_group_are_gone_even_when_its_id_is_used_again(world, ending, verb):
    room = await Room.make(
        world, joinMode="Auth", inviteMode="Any", beInviteMode="Auth", groupID=world.name("again"))
    guest = await world.user("guest")
    request, invitation = await apply(room, room.outsider), await ask(room, room.member, guest)
    await room.administrator.call(ending, groupID=room.group)
    await room.owner.refused(10010, verb, applicationID=request)
    await guest.refused(10010, verb, applicationID=invitation)
    await world.group(room.owner, members=[room.member], groupID=room.group, joinMode="Auth", inviteMode="Any", beInviteMode="Auth")
    await room.owner.refused(10010, verb, applicationID=request)
    await guest.refused(10010, verb, applicationID=invitation)
    assert (await room.info())["memberCount"] == 2
    assert await apply(room, room.outsider) != request
    assert await ask(room, room.member, guest) != invitation


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_applications_outlive_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 1})
    world = make_world(own)
    room = await Room.make(world, joinMode="Auth", inviteMode="Any", beInviteMode="Auth")
    stranger, guest = await world.users("stranger", "guest")
    handled, request = await apply(room, stranger), await apply(room, room.outsider)
    await room.admin.call("refuseGroupApplication", applicationID=handled, reason="no")
    invitation = await ask(room, room.member, guest, message="come", attach="a")
    await room.owner.call("setGroupApplicationRead")
    before = [await applications(client) for client in (room.owner, room.admin, guest)]
    getattr(own, how)()
    own.start()
    world.clients.clear()
    owner, admin, guest, outsider = [
        await world.session(client.user) for client in (room.owner, room.admin, guest, room.outsider)]
    assert [await applications(client) for client in (owner, admin, guest)] == before
    assert await unread(owner) == 0 and await unread(admin) > 0 and await unread(guest) == 1
    await admin.refused(10024, "acceptGroupApplication", applicationID=handled)
    assert await outsider.call("joinGroup", groupID=room.group, message="again") == {"status": "Pending"}
    assert (await owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"] == request
    await owner.call("acceptGroupApplication", applicationID=request)
    await guest.call("acceptGroupApplication", applicationID=invitation)
    event = await owner.expect("onMemberInvited", groupID=room.group)
    assert event["opUser"]["userID"] == room.member.user and event["memberCount"] == 6
    assert (await info_of(outsider, room.group))["selfInfo"]["role"] == "Member"


# System notifications


@pytest.mark.parametrize("verb, agreed, result", VERBS)
async def test_what_is_kept_of_a_request(world, verb, agreed, result):
    room = await auth_room(world)
    application = await apply(room, room.outsider, "let me in")
    for client in managers(room):
        (kept,) = await notifications_of(client, groupID=room.group, type="AddGroupRequest")
        assert kept["opUser"]["userID"] == room.outsider.user and kept["reason"] == "let me in"
    await room.owner.call(verb, applicationID=application, reason="because")
    (kept,) = await notifications_of(room.outsider, groupID=room.group)
    assert kept["type"] == ("AddGroupAccept" if agreed else "AddGroupRefuse")
    assert kept["opUser"]["userID"] == room.owner.user and kept["reason"] == "because"


@pytest.mark.parametrize("verb, agreed, result", VERBS)
async def test_what_is_kept_of_an_invitation(world, verb, agreed, result):
    room, guest = await asking_room(world)
    application = await ask(room, room.member, guest, message="come")
    await guest.call(verb, applicationID=application, reason="because")
    (kept,) = await notifications_of(room.member, groupID=room.group)
    assert kept["type"] == ("InviteAccept" if agreed else "InviteRefuse")
    assert kept["opUser"]["userID"] == guest.user and kept["reason"] == "because"


async def test_nothing_is_kept_of_an_avchatroom(world):
    room = await auth_room(world, "AVChatRoom")
    application = await apply(room, room.outsider)
    await room.owner.call("acceptGroupApplication", applicationID=application)
    for client in (room.owner, room.outsider):
        assert await notifications_of(client, groupID=room.group) == []
