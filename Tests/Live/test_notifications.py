"""Personal happenings are kept as the user's system notifications (Protocol.md, "System
notifications")."""
import json

import pytest

from harness.backend import all_of, denied, done, notifications_of
from harness.client import has
from harness.restarts import restart

pytestmark = pytest.mark.store

FIELDS = {"notificationID", "type", "groupID", "groupName", "timestamp", "isRead", "platform"}
OPTIONAL = {"opUser", "applicationID", "reason", "data"}
OF_APPLICATIONS = {"AddGroupRequest", "AddGroupAccept", "AddGroupRefuse", "InviteRequest", "InviteAccept", "InviteRefuse"}


class People:
    """The owner, admin, member and outsider of one group."""

    def __init__(self, server, group, by_role):
        self.server = server
        self.group = group
        self.by_role = by_role

    def __getitem__(self, role):
        return self.by_role[role]

    async def kinds(self):
        """The types that each one has of this group, oldest first; users without any are left
        out."""
        found = {}
        for role, client in self.by_role.items():
            rows = await notifications_of(client, self.group)
            if rows:
                found[role] = [row["type"] for row in rows]
        return found

    async def newest(self, role):
        return (await notifications_of(self[role], self.group))[-1]


async def people_of(server, world, groupType="Public", **fields):
    group, by_role = await world.group_of(groupType, **fields)
    people = People(server, group, by_role)
    assert await people.kinds() == {"owner": ["GroupCreated"]}, "initial members are not told as invited"
    await people["owner"].call("setSystemNotificationRead")
    return people


# The fifteen types. A scenario gives what each role has got beyond the owner's GroupCreated, whose
# newest notification to look at, the role of its opUser (None: the administrator), and members of
# it.

async def add_group_request(people):
    await people["outsider"].call("joinGroup", groupID=people.group, message="please")
    return {"owner": ["AddGroupRequest"], "admin": ["AddGroupRequest"]}, "owner", "outsider", {"reason": "please"}


async def add_group_accept(people):
    await people["outsider"].call("joinGroup", groupID=people.group)
    await people["admin"].expect("onReceiveJoinApplication", groupID=people.group)
    (row,) = (await people["admin"].call("getGroupApplicationList"))["applicationList"]
    await people["admin"].call("acceptGroupApplication", applicationID=row["applicationID"], reason="welcome")
    request = ["AddGroupRequest"]
    return {"owner": request, "admin": request, "outsider": ["AddGroupAccept"]}, "outsider", "admin", {"reason": "welcome"}


async def add_group_refuse(people):
    await people["outsider"].call("joinGroup", groupID=people.group)
    (row,) = (await people["owner"].call("getGroupApplicationList"))["applicationList"]
    await people["owner"].call("refuseGroupApplication", applicationID=row["applicationID"], reason="sorry")
    request = ["AddGroupRequest"]
    return {"owner": request, "admin": request, "outsider": ["AddGroupRefuse"]}, "outsider", "owner", {"reason": "sorry"}


async def kicked_off(people):
    await people["admin"].call("kickGroupMember", groupID=people.group, userIDList=[people["member"].user], reason="noise")
    return {"member": ["KickedOff"]}, "member", "admin", {"reason": "noise"}


async def group_dismissed(people):
    await people["owner"].call("dismissGroup", groupID=people.group)
    everybody = ["GroupDismissed"]
    return {"owner": everybody, "admin": everybody, "member": everybody}, "member", "owner", {}


async def group_created(people):
    return {}, "owner", "owner", {}


async def invited_to_group(people):
    await people["admin"].call("inviteUserToGroup", groupID=people.group, userIDList=[people["outsider"].user])
    return {"outsider": ["InvitedToGroup"]}, "outsider", "admin", {}


async def quit_group(people):
    await people["member"].call("quitGroup", groupID=people.group)
    return {"member": ["QuitGroup"]}, "member", "member", {}


async def grant_admin(people):
    await people["owner"].call("setGroupMemberRole", groupID=people.group, userID=people["member"].user, role="Admin")
    return {"member": ["GrantAdmin"]}, "member", "owner", {}


async def cancel_admin(people):
    await people["owner"].call("setGroupMemberRole", groupID=people.group, userID=people["admin"].user, role="Member")
    return {"admin": ["CancelAdmin"]}, "admin", "owner", {}


async def group_recycled(people):
    done(people.server, "recycleGroup", groupID=people.group)
    everybody = ["GroupRecycled"]
    return {"owner": everybody, "admin": everybody, "member": everybody}, "member", None, {}


async def invite_request(people):
    await people["owner"].call("setGroupInfo", groupID=people.group, beInviteMode="Auth")
    await people["admin"].call("inviteUserToGroup", groupID=people.group, userIDList=[people["outsider"].user], message="come")
    return {"outsider": ["InviteRequest"]}, "outsider", "admin", {"reason": "come"}


async def decide_invitation(people, method):
    await invite_request(people)
    event = await people["outsider"].expect("onReceiveGroupInvitation", groupID=people.group)
    await people["outsider"].call(method, applicationID=event["applicationID"], reason="why")


async def invite_accept(people):
    await decide_invitation(people, "acceptGroupApplication")
    return {"outsider": ["InviteRequest", "InvitedToGroup"], "admin": ["InviteAccept"]}, "admin", "outsider", {"reason": "why"}


async def invite_refuse(people):
    await decide_invitation(people, "refuseGroupApplication")
    return {"outsider": ["InviteRequest"], "admin": ["InviteRefuse"]}, "admin", "outsider", {"reason": "why"}


async def custom(people):
    named = [people["member"].user, people["outsider"].user]
    done(people.server, "sendGroupSystemNotification", groupID=people.group, userIDList=named, content="a\u0000 {é}")
    return {"member": ["Custom"]}, "member", None, {"data": "a\u0000 {é}"}


SCENARIOS = {
    "AddGroupRequest": (add_group_request, {"joinMode": "Auth"}), "AddGroupAccept": (add_group_accept, {"joinMode": "Auth"}),
    "AddGroupRefuse": (add_group_refuse, {"joinMode": "Auth"}), "KickedOff": (kicked_off, {}),
    "GroupDismissed": (group_dismissed, {}), "GroupCreated": (group_created, {}),
    "InvitedToGroup": (invited_to_group, {"inviteMode": "Any"}), "QuitGroup": (quit_group, {}), "GrantAdmin": (grant_admin, {}),
    "CancelAdmin": (cancel_admin, {}), "GroupRecycled": (group_recycled, {}),
    "InviteRequest": (invite_request, {"inviteMode": "Any"}), "InviteAccept": (invite_accept, {"inviteMode": "Any"}),
    "InviteRefuse": (invite_refuse, {"inviteMode": "Any"}), "Custom": (custom, {}),
}


@pytest.mark.parametrize("kind", SCENARIOS)
async def test_who_is_told_what(server, world, kind):
    scenario, fields = SCENARIOS[kind]
    people = await people_of(server, world, "Public", **fields)
    told, reader, operator, expected = await scenario(people)
    kinds = await people.kinds()
    assert kinds.pop("owner") == ["GroupCreated", *told.pop("owner", [])]
    assert kinds == told
    row = await people.newest(reader)
    assert FIELDS <= set(row) <= FIELDS | OPTIONAL and has(type=kind, groupID=people.group, **expected)(row), row
    assert isinstance(row["notificationID"], str) and row["timestamp"] > 1_600_000_000_000
    assert row["opUser"]["userID"] == (people[operator].user if operator else "administrator")
    assert row["isRead"] == (kind == "GroupCreated")
    assert row["groupName"] == "group" and ("applicationID" in row) == (kind in OF_APPLICATIONS)


@pytest.mark.parametrize("groupType", ["Work", "Meeting"])
async def test_the_other_storing_types_keep_them_too(server, world, groupType):
    people = await people_of(server, world, groupType, inviteMode="Any")
    await people["owner"].call("inviteUserToGroup", groupID=people.group, userIDList=[people["outsider"].user])
    await people["owner"].call("kickGroupMember", groupID=people.group, userIDList=[people["outsider"].user])
    await people["member"].call("quitGroup", groupID=people.group)
    done(server, "sendGroupSystemNotification", groupID=people.group, content="to all")
    done(server, "dismissGroup", groupID=people.group)
    kinds = await people.kinds()
    assert kinds["owner"] == ["GroupCreated", "Custom", "GroupDismissed"]
    assert kinds["outsider"] == ["InvitedToGroup", "KickedOff"] and kinds["member"] == ["QuitGroup"]


async def test_memberships_of_live_rooms_keep_none(server, world):
    """Not for AVChatRoom and BChatRoom."""
    owner, member = await world.users("owner", "member")
    room = await world.group(owner, "AVChatRoom", joinMode="Auth")
    news = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    await member.call("joinGroup", groupID=room)
    event = await owner.expect("onReceiveJoinApplication", groupID=room)
    await owner.call("acceptGroupApplication", applicationID=event["applicationID"])
    await member.expect("onApplicationProcessed", groupID=room)
    done(server, "setGroupMemberRole", groupID=news, userID=member.user, role="Admin")
    done(server, "setGroupMemberRole", groupID=news, userID=member.user, role="Member")
    for group in (room, news):
        done(server, "sendGroupSystemNotification", groupID=group, content="x")
        await member.expect("onReceiveRESTCustomData", groupID=group)
    await member.call("quitGroup", groupID=room)
    await member.call("joinGroup", groupID=room)
    await owner.call("dismissGroup", groupID=room)
    done(server, "recycleGroup", groupID=news)
    await member.expect("onGroupRecycled", groupID=news)
    for client in (owner, member):
        answer = await client.call("getSystemNotificationList")
        assert answer == {"notificationList": [], "unreadCount": 0, "nextSeq": 0}


async def test_who_was_not_there_reads_them_later(server, world):
    """A user who never signed in finds them, and they are in the order of what happened."""
    owner, absent = await world.user("owner"), world.name("absent")
    group = await world.group(owner, inviteMode="Any")
    await owner.call("inviteUserToGroup", groupID=group, userIDList=[absent])
    await owner.call("setGroupMemberRole", groupID=group, userID=absent, role="Admin")
    await owner.call("setGroupMemberRole", groupID=group, userID=absent, role="Member")
    done(server, "sendGroupSystemNotification", groupID=group, content="to all")
    await owner.call("kickGroupMember", groupID=group, userIDList=[absent], reason="bye")
    rows = await notifications_of(await world.session(absent))
    assert [row["type"] for row in rows] == ["InvitedToGroup", "GrantAdmin", "CancelAdmin", "Custom", "KickedOff"]
    assert [row["timestamp"] for row in rows] == sorted(row["timestamp"] for row in rows)
    assert not any(row["isRead"] for row in rows) and len({row["notificationID"] for row in rows}) == 5


async def test_the_notification_mode_has_no_say_in_personal_happenings(server, world):
    people = await people_of(server, world, "Public", memberChangeNotification=False, inviteMode="Any")
    await people["owner"].call("setGroupMemberRole", groupID=people.group, userID=people["member"].user, role="Admin")
    await people["owner"].call("inviteUserToGroup", groupID=people.group, userIDList=[people["outsider"].user])
    await people["member"].call("quitGroup", groupID=people.group)
    kinds = await people.kinds()
    assert kinds["member"] == ["GrantAdmin", "QuitGroup"] and kinds["outsider"] == ["InvitedToGroup"]


async def test_what_did_not_succeed_is_no_happening(server, world):
    people = await people_of(server, world, "Public")
    owner, member = people["owner"], people["member"]
    await member.refused(10007, "kickGroupMember", groupID=people.group, userIDList=[people["admin"].user])
    await owner.call("kickGroupMember", groupID=people.group, userIDList=[people["outsider"].user])
    await owner.call("setGroupMemberRole", groupID=people.group, userID=member.user, role="Member")
    await owner.refused(10009, "quitGroup", groupID=people.group)
    denied(server, 10010, "sendGroupSystemNotification", groupID=world.name("nowhere"), content="x")
    assert await people.kinds() == {"owner": ["GroupCreated"]}


async def test_a_transfer_is_no_grant(server, world):
    """A transfer sends no grant or revoke event; nor is one kept."""
    people = await people_of(server, world, "Public")
    await people["owner"].call("transferGroupOwner", groupID=people.group, userID=people["admin"].user)
    kinds = await people.kinds()
    assert not {"GrantAdmin", "CancelAdmin"} & {kind for rows in kinds.values() for kind in rows}


# The list

async def with_notifications(world, count):
    """A user with `count` notifications, and their group IDs, oldest first."""
    client = await world.user("reader")
    return client, [await world.group(client, "Work") for _ in range(count)]


async def test_the_list_comes_newest_first_in_pages(world):
    client, groups = await with_notifications(world, 11)
    answer = await client.call("getSystemNotificationList")
    newest_first = [row["groupID"] for row in answer["notificationList"]]
    assert newest_first == groups[::-1] and answer["unreadCount"] == 11 and answer["nextSeq"] == 0
    for count in (1, 3, 11, 100):
        rows = await all_of(client, "getSystemNotificationList", "notificationList", count=count)
        assert [row["groupID"] for row in rows] == newest_first
    first = await client.call("getSystemNotificationList", count=4)
    assert len(first["notificationList"]) == 4 and first["unreadCount"] == 11 and first["nextSeq"] != 0


async def test_nothing_comes_twice_or_is_left_out_while_new_ones_arrive(world):
    client, groups = await with_notifications(world, 9)
    seen, nextSeq = [], 0
    for _ in range(20):
        answer = await client.call("getSystemNotificationList", count=2, nextSeq=nextSeq)
        seen += [row["groupID"] for row in answer["notificationList"]]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            break
        await client.call("createGroup", groupType="Work", groupName="newer")
    assert seen == groups[::-1]


async def test_the_last_hundred_are_kept(world):
    client, groups = await with_notifications(world, 107)
    answer = await client.call("getSystemNotificationList", count=100)
    assert [row["groupID"] for row in answer["notificationList"]] == groups[:6:-1]
    assert answer["unreadCount"] == 100 and answer["nextSeq"] == 0


async def test_the_parameters_of_the_list(server, world):
    client, _ = await with_notifications(world, 1)
    for count in (0, 101, -1):
        await client.refused(10004, "getSystemNotificationList", count=count)
    await client.refused(-32602, "getSystemNotificationList", count="5")
    await client.refused(-32602, "setSystemNotificationRead", notificationID=5)
    await client.refused(10004, "setSystemNotificationRead", notificationID="unknown")
    for method in ("getSystemNotificationList", "setSystemNotificationRead"):
        assert denied(server, -32602, method)["field"] == "asUser"
    assert len(done(server, "getSystemNotificationList", asUser=client.user)["notificationList"]) == 1


async def test_a_read_mark_covers_the_named_one_and_older(server, world):
    client, groups = await with_notifications(world, 6)
    rows = (await client.call("getSystemNotificationList"))["notificationList"]

    async def unread():
        answer = await client.call("getSystemNotificationList")
        found = [row["groupID"] for row in answer["notificationList"] if not row["isRead"]]
        assert answer["unreadCount"] == len(found)
        return found

    assert await client.call("setSystemNotificationRead", notificationID=rows[4]["notificationID"]) == {}
    assert await unread() == groups[:1:-1]
    await client.call("setSystemNotificationRead", notificationID=rows[5]["notificationID"])
    assert await unread() == groups[:1:-1], "an older mark takes nothing back"
    await client.call("setSystemNotificationRead", notificationID=rows[1]["notificationID"])
    assert await unread() == groups[:4:-1]
    await client.call("setSystemNotificationRead")
    assert await unread() == []
    await client.call("createGroup", groupType="Work", groupName="later", groupID=(later := world.name("later")))
    assert await unread() == [later]
    done(server, "setSystemNotificationRead", asUser=client.user)
    assert await unread() == []


async def test_a_mark_is_one_users_and_all_its_sessions(world):
    owner, member = await world.users("owner", "member")
    second = await world.session(member.user)
    group = await world.group(owner, members=[member])
    await owner.call("dismissGroup", groupID=group)
    await second.call("setSystemNotificationRead")
    assert (await member.call("getSystemNotificationList"))["unreadCount"] == 0
    assert (await owner.call("getSystemNotificationList"))["unreadCount"] == 2


async def test_a_mark_without_any_notification(world):
    client = await world.user("newcomer")
    assert await client.call("setSystemNotificationRead") == {}
    assert await client.call("getSystemNotificationList") == {"notificationList": [], "unreadCount": 0, "nextSeq": 0}


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_notifications_and_marks_outlive_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, members=[member])
    await owner.call("setGroupMemberRole", groupID=group, userID=member.user, role="Admin")
    await member.call("setSystemNotificationRead")
    done(own, "sendGroupSystemNotification", groupID=group, content="c")
    await owner.call("kickGroupMember", groupID=group, userIDList=[member.user], reason="r")
    before = [await notifications_of(client) for client in (owner, member)]
    assert [[(row["type"], row["isRead"]) for row in rows] for rows in before] == [
        [("GroupCreated", False), ("Custom", False)], [("GrantAdmin", True), ("Custom", False), ("KickedOff", False)]]
    await restart(world, how)
    after = [await notifications_of(await world.session(client.user)) for client in (owner, member)]
    assert json.dumps(after) == json.dumps(before)


async def test_a_request_is_found_by_whoever_manages_the_group_when_looking(server, world):
    """One notification for all managers: the promoted find it, the demoted do not, the others never
    did."""
    people = await people_of(server, world, joinMode="Auth")
    await people["outsider"].call("joinGroup", groupID=people.group, message="first")

    async def requests(role):
        return [row["reason"] for row in await notifications_of(people[role], people.group) if row["type"] == "AddGroupRequest"]

    assert [await requests(role) for role in ("owner", "admin", "member", "outsider")] == [["first"], ["first"], [], []]
    owner, admin, member = people["owner"], people["admin"], people["member"]
    await owner.call("setGroupMemberRole", groupID=people.group, userID=member.user, role="Admin")
    await owner.call("setGroupMemberRole", groupID=people.group, userID=admin.user, role="Member")
    assert [await requests(role) for role in ("owner", "admin", "member")] == [["first"], [], ["first"]]
    await people["outsider"].call("joinGroup", groupID=people.group, message="second")
    assert [await requests(role) for role in ("owner", "admin", "member", "outsider")] == [["second"], [], ["second"], []], \
        "a renewed application renews its notification"
    await owner.call("transferGroupOwner", groupID=people.group, userID=admin.user)
    assert [await requests(role) for role in ("owner", "admin", "member")] == [[], ["second"], ["second"]]
    await member.call("quitGroup", groupID=people.group)
    assert await requests("member") == []


async def test_members_find_the_end_of_a_group_once_and_so_do_those_in_the_next_of_that_name(server, world):
    people = await people_of(server, world, groupID=world.name("club"))
    owner, admin, member = people["owner"], people["admin"], people["member"]
    await owner.call("dismissGroup", groupID=people.group)

    async def ends():
        found = {}
        for role, client in people.by_role.items():
            rows = [row["notificationID"] for row in await notifications_of(client, people.group)
                    if row["type"] == "GroupDismissed"]
            if rows:
                found[role] = rows
        return found

    first = await ends()
    assert set(first) == {role for role in people.by_role if role != "outsider"}
    assert all(len(rows) == 1 for rows in first.values())
    done(server, "createGroup", groupID=people.group, groupType="Public", groupName="g", ownerUserID=member.user,
         memberList=[{"userID": admin.user}])
    # Another group goes behind it, so the first has been cleared away by then.
    other = await world.group(owner, members=[admin])
    await owner.call("dismissGroup", groupID=other)
    assert await ends() == first
