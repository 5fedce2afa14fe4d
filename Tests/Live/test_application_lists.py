"""Both lists of applications, the event that keeps them up to date, and initial members who are
asked first (Protocol.md, "Application lists" and "Creating a group")."""
import pytest

from harness.applications import apply, ask, asking_room, auth_room, managers
from harness.client import has
from harness.room import notifications_of, pages_of, results

LIST = "getGroupApplicationList"


async def box(client, name, group=None):
    rows, answers = await pages_of(client, LIST, "applicationList", box=name)
    if name == "Sent":
        assert all(answer["unreadCount"] == 0 for answer in answers) and all(row["isRead"] for row in rows)
    return [row for row in rows if group in (None, row["groupID"])]


# The lists


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_a_request_stands_in_both_lists(world, groupType):
    room = await auth_room(world, groupType)
    application = await apply(room, room.outsider)
    (sent,), (received,) = await box(room.outsider, "Sent"), await box(room.owner, "Received", room.group)
    assert {**sent, "isRead": False} == received and sent["applicationID"] == application
    for client in (room.member, room.owner):
        assert await box(client, "Sent") == []
    assert await box(room.outsider, "Received") == []
    await room.owner.call("refuseGroupApplication", applicationID=application, reason="no")
    (sent,) = await box(room.outsider, "Sent")
    assert has(handleStatus="HandledByOther", handleResult="Refuse", handledMsg="no", handledBy=room.owner.user)(sent)
    await room.administrator.call("recycleGroup", groupID=room.group)
    assert await box(room.outsider, "Sent") == [] and await box(room.owner, "Received", room.group) == []


async def test_the_sent_ones_are_newest_first_and_come_in_pages(world):
    room, guest = await asking_room(world)
    second, third = await world.users("second", "third")
    ids = [await ask(room, room.member, client) for client in (guest, second, third)]
    page = await room.member.call(LIST, box="Sent", count=2)
    assert [row["applicationID"] for row in page["applicationList"]] == ids[:0:-1] and page["nextSeq"] != 0
    page = await room.member.call(LIST, box="Sent", count=2, nextSeq=page["nextSeq"])
    assert [row["applicationID"] for row in page["applicationList"]] == ids[:1] and page["nextSeq"] == 0
    assert await ask(room, room.other, guest) == ids[0], "another inviter takes it over"
    assert [row["applicationID"] for row in await box(room.member, "Sent")] == ids[:0:-1]
    assert [row["applicationID"] for row in await box(room.other, "Sent")] == ids[:1]


async def test_the_boxes(world):
    room = await auth_room(world)
    await apply(room, room.outsider)
    assert await room.owner.call(LIST) == await room.owner.call(LIST, box="Received")
    for word in ("received", "All", ""):
        assert (await room.owner.refused(10004, LIST, box=word))["field"] == "box"
    await room.owner.refused(-32602, LIST, box=1)
    empty = {"applicationList": [], "unreadCount": 0, "nextSeq": 0}
    assert await room.administrator.call(LIST, box="Sent") == empty
    assert await room.actor("as outsider").call(LIST, box="Sent") == await room.outsider.call(LIST, box="Sent") != empty


# The event


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
@pytest.mark.parametrize("verb", ["acceptGroupApplication", "refuseGroupApplication"])
async def test_all_sessions_of_both_sides_hear_of_a_request(world, groupType, verb):
    room = await auth_room(world, groupType, memberChangeNotification=False)
    await room.second("owner")
    await room.second("outsider")
    both = managers(room) + room.sessions("outsider")
    for message in ("one", "two"):
        assert await room.outsider.call("joinGroup", groupID=room.group, message=message) == {"status": "Pending"}
        seen = await room.listed(both)
        assert all(has(requestMsg=message, handleStatus="Unhandled")(row) for row in seen)
        assert [row["isRead"] for row in seen] == [False] * (len(both) - 2) + [True] * 2
    await room.owner.call("setGroupApplicationRead")
    await room.owner.call(verb, applicationID=seen[0]["applicationID"])
    for client, row in zip(both, await room.listed(both)):
        assert row["handleStatus"] == ("HandledBySelf" if client.user == room.owner.user else "HandledByOther")
        assert row["isRead"] == (client.user in (room.owner.user, room.outsider.user))
        (listed,) = await box(client, "Sent" if client.user == room.outsider.user else "Received", room.group)
        assert listed == row


async def test_both_sides_of_an_invitation_hear_and_nobody_else(world):
    room, guest = await asking_room(world)
    await room.second("guest")
    await room.second("member")
    both = room.sessions("guest") + room.sessions("member")
    application = await ask(room, room.member, guest)
    assert all(row["toUser"] == guest.user for row in await room.listed(both))
    await ask(room, room.other, guest)
    await room.listed(room.sessions("guest") + [room.other])
    await guest.call("refuseGroupApplication", applicationID=application)
    seen = await room.listed(room.sessions("guest") + [room.other])
    assert [row["handleStatus"] for row in seen] == ["HandledBySelf", "HandledBySelf", "HandledByOther"]


async def test_who_becomes_a_manager_later_is_sent_none(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    await room.settle()
    room.forget()
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="Admin")
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.admin.user, role="Member")
    await room.untold("onGroupApplicationListChanged")
    assert [row["applicationID"] for row in await box(room.member, "Received")] == [application]
    await room.owner.call("dismissGroup", groupID=room.group)
    await room.untold("onGroupApplicationListChanged")


async def test_an_administrators_decision_is_anothers(world):
    room = await auth_room(world)
    application = await apply(room, room.outsider)
    await room.settle()
    room.forget()
    await room.administrator.call("acceptGroupApplication", applicationID=application)
    seen = await room.listed(managers(room) + [room.outsider])
    assert all(has(handleStatus="HandledByOther", handledBy="administrator")(row) for row in seen)


# Invitations and notifications name the group


async def test_an_invitation_tells_of_the_group(world):
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Work", groupName="Läufer", faceURL="https://f", beInviteMode="Auth")
    await owner.call("inviteUserToGroup", groupID=group, userIDList=[guest.user], message="come")
    event = await guest.expect("onReceiveGroupInvitation", groupID=group)
    assert has(groupName="Läufer", groupType="Work", faceURL="https://f", memberCount=1, opReason="come")(event)
    await owner.call("setGroupInfo", groupID=group, groupName="later")
    (kept,) = await notifications_of(guest, groupID=group)
    assert has(type="InviteRequest", groupName="Läufer", applicationID=event["applicationID"])(kept)
    await guest.call("acceptGroupApplication", applicationID=event["applicationID"])
    kept = await notifications_of(guest, groupID=group, type="InvitedToGroup")
    kept += await notifications_of(owner, groupID=group, type="InviteAccept")
    assert all(has(groupName="later", applicationID=event["applicationID"])(row) for row in kept) and len(kept) == 2
    (created,) = await notifications_of(owner, groupID=group, type="GroupCreated")
    assert created["groupName"] == "Läufer" and "applicationID" not in created


# Initial members who are asked first


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_initial_members_are_invited(world, groupType):
    owner, mary, carl = await world.users("owner", "mary", "carl")
    list_ = [{"userID": mary.user}, {"userID": carl.user, "role": "Member"}, {"userID": owner.user}]
    answer = await owner.call("createGroup", groupType=groupType, groupName="g", beInviteMode="Auth", memberList=list_,
                              inviteMessage="come")
    group = answer["groupID"]
    assert results(answer) == {mary.user: "Pending", carl.user: "Pending", owner.user: "Invalid"}
    for client in (mary, carl):
        event = await client.expect("onReceiveGroupInvitation", groupID=group)
        assert has(opReason="come", attach="", memberCount=1)(event)
        await client.quiet("onGroupCreated", group=group)
    assert {row["toUser"] for row in await box(owner, "Sent")} == {mary.user, carl.user}
    (row,) = await box(mary, "Received")
    await mary.call("acceptGroupApplication", applicationID=row["applicationID"])
    roles = await owner.call("getGroupMemberRoles", groupID=group, userIDList=[mary.user, carl.user])
    assert [row["role"] for row in roles["roleList"]] == ["Member", "NotMember"]


async def test_initial_members_of_the_application_and_without_auth_join_at_once(world):
    owner, mary = await world.users("owner", "mary")
    for rpc, mode in ((True, "Auth"), (False, "None")):
        params = dict(groupType="Public", groupName="g", beInviteMode=mode, inviteMessage="x", memberList=[{"userID": mary.user}])
        if rpc:
            answer = world.server.rpc("createGroup", ownerUserID=owner.user, **params)["result"]
        else:
            answer = await owner.call("createGroup", **params)
        assert results(answer) == {mary.user: "Success"}
        await mary.expect("onGroupCreated", groupID=answer["groupID"])
        assert await box(mary, "Received", answer["groupID"]) == []


async def test_what_is_refused_about_initial_members_who_are_asked(world):
    owner = await world.user("owner")
    mary, carl = world.name("mary"), world.name("carl")
    common = dict(groupName="g", beInviteMode="Auth")
    for groupType in ("Work", "Public", "Meeting"):
        for role in ("Admin", "200"):
            await owner.refused(10004, "createGroup", groupType=groupType, memberList=[{"userID": mary, "role": role}], **common)
    two = [{"userID": mary}, {"userID": carl}]
    await owner.refused(8507, "createGroup", groupType="Public", memberList=two, maxMemberNum=2, **common)
    await owner.refused(10004, "createGroup", groupType="Public", inviteMessage="😀" * 513, groupName="g")
    await owner.refused(10007, "createGroup", groupType="AVChatRoom", memberList=two, **common)
