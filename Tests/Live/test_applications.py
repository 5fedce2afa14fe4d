"""Joining with the consent of a manager, and the list of applications (Protocol.md,
"Applications")."""
import pytest

from harness.applications import (
    CONSENTING, VERBS, applications, apply, ask, asking_room, auth_room, managers, unread_applications,
)
from harness.client import has
from harness.restarts import restart
from harness.room import Room, clock, including, later, notifications_of, pages_of
from harness.world import history_of, info_of


# Joining with consent


@pytest.mark.parametrize("groupType", CONSENTING)
async def test_an_application_is_told_to_the_managers_and_changes_nothing(world, groupType):
    room = await auth_room(world, groupType)
    await room.second("owner")
    async with room.unchanged():
        assert await room.outsider.call("joinGroup", groupID=room.group, message="let me in") == {"status": "Pending"}
        event = await room.told("onReceiveJoinApplication", managers(room))
        await room.listed(managers(room) + [room.outsider])
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
        await room.listed(managers(room) + room.sessions("outsider"))
    assert await room.role("outsider") == "NotMember"
    second = await apply(room, room.outsider)
    assert second != first
    rows = {row["applicationID"]: row["handleStatus"] for row in await applications(room.owner, room.group)}
    assert rows == {first: "HandledBySelf", second: "Unhandled"}


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
@pytest.mark.parametrize("groupType", CONSENTING)
async def test_who_may_not_decide(world, groupType, verb):
    """Admin in Public and Meeting, Owner in AVChatRoom (Permissions.md, "Tables")."""
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
            await room.owner.refused(10004, verb, applicationID=application, reason="😀" * 513)
            assert (await room.owner.refused(-32602, verb))["field"] == "applicationID"
            await room.owner.refused(-32602, verb, applicationID=7)
            await room.owner.refused(-32602, verb, applicationID=application, reason=7)
    await room.owner.call("acceptGroupApplication", applicationID=application, reason="😀" * 512)
    event = await room.outsider.expect("onApplicationProcessed", groupID=room.group)
    assert event["opReason"] == "😀" * 512


async def test_a_second_request_renews_the_first(world):
    room = await auth_room(world)
    first = await apply(room, room.outsider, "one")
    await room.admin.expect("onReceiveJoinApplication", groupID=room.group)
    (before,) = await applications(room.owner, room.group)
    await later(room.owner, before["addTime"])
    async with room.unchanged():
        assert await room.outsider.call("joinGroup", groupID=room.group, message="two") == {"status": "Pending"}
        event = await room.told("onReceiveJoinApplication", managers(room))
        await room.listed(managers(room) + [room.outsider])
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
    await room.refuses(10004, room.outsider, "joinGroup", message="😀" * 513)
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
        seen = await room.listed(managers(room) + [room.outsider])
    (row,) = await applications(room.owner, room.group)
    assert row == seen[0] and row["handleStatus"] == "HandledBySelf" and row["handleResult"] == "Agree"
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
    assert await unread_applications(decider) == 3


async def test_reading_is_each_deciders_own(world):
    room = await auth_room(world)
    stranger = await world.user("stranger")
    await apply(room, room.outsider)
    moment = (await applications(room.owner))[0]["addTime"]
    await later(room.owner, moment)
    await apply(room, stranger)
    assert await unread_applications(room.owner) == 2 == await unread_applications(room.admin)
    assert await room.owner.call("setGroupApplicationRead", timestamp=moment) == {}
    assert await unread_applications(room.owner) == 1 and await unread_applications(room.admin) == 2
    assert [row["isRead"] for row in await applications(room.owner)] == [False, True], "inclusive"
    assert await room.owner.call("setGroupApplicationRead") == {}
    assert await unread_applications(room.owner) == 0
    assert all(row["isRead"] for row in await applications(room.owner))
    assert not any(row["isRead"] for row in await applications(room.admin))


async def test_a_renewed_request_is_unread_again(world):
    room = await auth_room(world)
    await apply(room, room.outsider)
    await room.owner.call("setGroupApplicationRead")
    assert await unread_applications(room.owner) == 0
    await later(room.owner, await clock(room.owner))
    await apply(room, room.outsider)
    assert await unread_applications(room.owner) == 1 and (await applications(room.owner))[0]["isRead"] is False


async def test_reading_reaches_up_to_now_and_never_goes_back(world):
    """A mark in the future would read what has not come yet."""
    room = await auth_room(world)
    await apply(room, room.outsider)
    await room.owner.call("setGroupApplicationRead", timestamp=await clock(room.owner) + 3_600_000)
    assert await unread_applications(room.owner) == 0
    await room.owner.call("setGroupApplicationRead", timestamp=1)
    assert await unread_applications(room.owner) == 0
    await later(room.owner, await clock(room.owner))
    await apply(room, await world.user("stranger"))
    assert await unread_applications(room.owner) == 1


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
    fields = {"joinMode": "Auth", "inviteMode": "Any", "beInviteMode": "Auth"}
    await world.group(room.owner, members=[room.member], groupID=room.group, **fields)
    await room.owner.refused(10010, verb, applicationID=request)
    await guest.refused(10010, verb, applicationID=invitation)
    assert (await room.info())["memberCount"] == 2
    assert await apply(room, room.outsider) != request
    assert await ask(room, room.member, guest) != invitation


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_applications_outlive_the_server(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    room = await Room.make(world, joinMode="Auth", inviteMode="Any", beInviteMode="Auth")
    stranger, guest = await world.users("stranger", "guest")
    handled, request = await apply(room, stranger), await apply(room, room.outsider)
    await room.admin.call("refuseGroupApplication", applicationID=handled, reason="no")
    invitation = await ask(room, room.member, guest, message="come", attach="a")
    await room.owner.call("setGroupApplicationRead")
    before = [await applications(client) for client in (room.owner, room.admin, guest)]
    await restart(world, how)
    owner, admin, guest, outsider = [
        await world.session(client.user) for client in (room.owner, room.admin, guest, room.outsider)]
    assert [await applications(client) for client in (owner, admin, guest)] == before
    assert await unread_applications(owner) == 0 and await unread_applications(guest) == 1
    assert await unread_applications(admin) > 0
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


async def test_nothing_is_kept_of_an_avchatroom(world):
    room = await auth_room(world, "AVChatRoom")
    application = await apply(room, room.outsider)
    await room.owner.call("acceptGroupApplication", applicationID=application)
    for client in (room.owner, room.outsider):
        assert await notifications_of(client, groupID=room.group) == []
