"""Methods for the application's backend alone (Protocol.md, "Application interface")."""
import json

import pytest

from harness.backend import denied, done
from harness.client import has
from harness.restarts import restart
from harness.tokens import admin_token
from harness.world import history_of, info_of

ADMINISTRATOR = {"userID": "administrator"}

# The methods of the backend but createGroup, with parameters that would be accepted.
ONLY_THERE = {
    "listGroups": lambda group, user: {},
    "sendGroupSystemNotification": lambda group, user: {"groupID": group, "content": "x"},
    "recycleGroup": lambda group, user: {"groupID": group},
    "listSessions": lambda group, user: {"userID": user},
    "kickUser": lambda group, user: {"userID": user},
    "setUserInfo": lambda group, user: {"userID": user, "nickName": "N"},
    "importUsers": lambda group, user: {"userIDList": [user]},
    "importGroup": lambda group, user: {"groupType": "Public", "groupName": "g", "ownerUserID": user},
    "importGroupMembers": lambda group, user: {"groupID": group, "memberList": [{"userID": user}]},
    "importGroupMessages": lambda group, user: {
        "groupID": group, "messageList": [{"sender": user, "timestamp": 1_700_000_000_000, "text": "x"}]},
    "setUnreadCount": lambda group, user: {"groupID": group, "userID": user, "unreadCount": 1},
    "getStats": lambda group, user: {},
    "listWebhookFailures": lambda group, user: {},
    "retryWebhooks": lambda group, user: {},
    "trace": lambda group, user: {"userID": user}, "listActiveGroups": lambda group, user: {},
    "listAdministratorActions": lambda group, user: {},
    "blockUser": lambda group, user: {"userID": user}, "unblockUser": lambda group, user: {"userID": user},
    "getBlockedUsers": lambda group, user: {}, "revokeTokens": lambda group, user: {"userID": user},
    "listReports": lambda group, user: {}, "closeReport": lambda group, user: {"reportID": "none"},
    "deleteUser": lambda group, user: {"userID": user}, "getUserDeletion": lambda group, user: {"userID": user},
    "exportUser": lambda group, user: {"userID": user},
}
NEEDS_A_USER = {
    "joinGroup": lambda group: {"groupID": group}, "quitGroup": lambda group: {"groupID": group},
    "getJoinedGroupList": lambda group: {},
    "syncGroups": lambda group: {"groups": [{"groupID": group, "epoch": "e", "seq": 0}]},
    "markGroupMessageAsRead": lambda group: {"groupID": group}, "getGroupUnreadCount": lambda group: {},
    "setGroupReceiveMessageOpt": lambda group: {"groupID": group, "opt": "Receive"},
    "getSystemNotificationList": lambda group: {}, "setSystemNotificationRead": lambda group: {},
    "setGroupApplicationRead": lambda group: {}, "setSelfInfo": lambda group: {"nickName": "N"},
    "setSelfStatus": lambda group: {"customStatus": "S"},
    "sendMessageReadReceipts": lambda group: {"groupID": group, "seqList": [1]},
    "getMessageReadReceipts": lambda group: {"groupID": group, "seqList": [1]},
    "getGroupMessageReadMemberList": lambda group: {"groupID": group, "seq": 1},
    "reportMessage": lambda group: {"groupID": group, "seq": 1},
}


@pytest.fixture
async def own(make_server, make_world):
    """A world on a server of one's own, where everything can be counted."""
    return make_world(make_server({"drain.duration": 0, "log.level": "debug"}))


# Callers

@pytest.mark.parametrize("method", ONLY_THERE)
async def test_over_websocket_it_does_not_exist_and_as_a_user_it_is_not_allowed(server, world, method):
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, members=[member])
    params = ONLY_THERE[method](group, member.user)
    before = await info_of(owner, group)
    for client in (owner, member):
        await client.refused(-32601, method, **params)
        denied(server, 10007, method, asUser=client.user, **params)
    assert await info_of(owner, group) == before
    await member.quiet("onGroupRecycled", group=group)


@pytest.mark.parametrize("method", NEEDS_A_USER)
async def test_what_means_nothing_without_a_user_names_as_user(server, world, method):
    alice = await world.user("alice")
    group = await world.group(alice)
    params = NEEDS_A_USER[method](group)
    assert denied(server, -32602, method, **params)["field"] == "asUser"
    user = world.name("backend-user")
    answer = server.rpc(method, **params, asUser=user)
    assert answer.get("error", {}).get("code") in (None, 10007), answer


async def test_as_user_over_websocket_is_an_unknown_member_of_params(world):
    """A client cannot speak for others: its asUser is ignored."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await alice.call("sendGroupTextMessage", groupID=group, text="x", asUser=bob.user)
    assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["sender"] == alice.user
    await bob.refused(10007, "dismissGroup", groupID=group, asUser=alice.user)
    answer = await bob.call("createGroup", groupType="Public", groupName="g", ownerUserID=alice.user)
    assert (await info_of(bob, answer["groupID"]))["owner"] == bob.user


@pytest.mark.parametrize("user, code", [("", 10004), ("x" * 33, 10004), ("a b", 10004), ("@a", 10004),
                                        ("administrator", 10004), (5, -32602), ([], -32602)])
async def test_as_user_is_a_user_id(server, user, code):
    denied(server, code, "getServerInfo", asUser=user)


async def test_as_user_makes_the_user_known(make_server):
    own = make_server({"users.requireKnown": "true"})
    denied(own, 10019, "createGroup", groupType="Public", groupName="g", ownerUserID="newcomer")
    done(own, "getJoinedGroupList", asUser="newcomer")
    assert done(own, "getStats")["users"] == 1
    done(own, "createGroup", groupType="Public", groupName="g", ownerUserID="newcomer")


async def test_an_administrators_token_opens_no_session_on_the_public_listener(frozen_world):
    client = await frozen_world.open()
    await client.refused(70003, "login", token=admin_token(now=frozen_world.server.now))
    await client.closed(4500)


# createGroup

@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"])
async def test_create_group_for_an_owner(server, world, groupType):
    owner, member = await world.users("owner", "member")
    second = await world.session(owner.user)
    rows = {"memberList": [{"userID": member.user}]} if groupType in ("Work", "Public", "Meeting") else {}
    answer = done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user, **rows)
    group = answer["groupID"]
    assert set(answer) == {"groupID", "groupType", "memberList"} and answer["groupType"] == groupType
    assert answer["memberList"] == [{"userID": member.user, "result": "Success"}] * len(rows)
    for client in (owner, second, member) if rows else (owner, second):
        await client.expect("onGroupCreated", groupID=group)
    info = await info_of(owner, group)
    assert has(owner=owner.user, groupType=groupType)(info) and info["selfInfo"]["role"] == "Owner"
    done(server, "dismissGroup", groupID=group)


async def test_create_group_errors(server, world):
    alice = await world.user("alice")
    base = {"groupType": "Public", "groupName": "g"}
    assert denied(server, -32602, "createGroup", **base)["field"] == "ownerUserID"
    denied(server, 10004, "createGroup", **base, ownerUserID="a b")
    group = done(server, "createGroup", **base, ownerUserID=alice.user, groupID=world.name("g"))["groupID"]
    denied(server, 10021, "createGroup", **base, ownerUserID=world.name("other"), groupID=group)
    denied(server, 8501, "createGroup", **base, ownerUserID=alice.user, groupID="@TGS#x")
    denied(server, 10007, "createGroup", groupType="AVChatRoom", groupName="g", ownerUserID=alice.user,
           memberList=[{"userID": "x"}])
    denied(server, 10007, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=alice.user, joinMode="Any")


# listGroups

async def test_list_groups(own):
    alice = await own.user("alice")
    groups = {}
    for groupType, number in (("Work", 2), ("Public", 3), ("Meeting", 1), ("AVChatRoom", 2)):
        groups[groupType] = {await own.group(alice, groupType) for _ in range(number)}
    news = done(own.server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=alice.user)["groupID"]
    groups["BChatRoom"] = {news}
    gone = await own.group(alice)
    await alice.call("dismissGroup", groupID=gone)

    def listed(**params):
        rows, nextSeq = [], 0
        while True:
            answer = done(own.server, "listGroups", nextSeq=nextSeq, **params)
            assert len(answer["groupList"]) <= params.get("count", 50)
            rows += answer["groupList"]
            nextSeq = answer["nextSeq"]
            if nextSeq == 0:
                assert answer["totalCount"] == len(rows)
                return [row["groupID"] for row in rows]

    everything = set().union(*groups.values())
    for count in (1, 4, 200):
        assert sorted(listed(count=count)) == sorted(everything)
    for groupType, expected in {**groups, "Private": groups["Work"], "ChatRoom": groups["Meeting"]}.items():
        assert sorted(listed(groupType=groupType)) == sorted(expected)
    (row,) = done(own.server, "listGroups", groupType="Meeting")["groupList"]
    assert {"groupID", "groupType", "owner", "lastSeq", "epoch", "mute", "notification", "joinMode"} <= set(row)
    assert "selfInfo" not in row
    for params in ({"count": 0}, {"count": 201}, {"groupType": "Secret"}):
        denied(own.server, 10004, "listGroups", **params)


async def test_list_groups_has_fifty_without_a_count(own):
    alice = await own.user("alice")
    for _ in range(51):
        await own.group(alice, "Public")
    answer = done(own.server, "listGroups")
    assert len(answer["groupList"]) == 50 and answer["totalCount"] == 51 and answer["nextSeq"] != 0


# sendGroupSystemNotification

@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_custom_data_reaches_all_members_or_the_named_ones(server, world, groupType):
    group, people = await world.group_of(groupType)
    second = await world.session(people["member"].user)
    await people["member"].call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    for params in ({}, {"userIDList": []}):
        content = world.name("{é\u0000}")
        assert done(server, "sendGroupSystemNotification", groupID=group, content=content, **params) == {}
        for client in (people["owner"], people["member"], second):
            event = await client.expect("onReceiveRESTCustomData", groupID=group)
            assert event["customData"] == content and event["opTime"] > 1_600_000_000_000
    named = [people["member"].user, people["outsider"].user, world.name("nobody")]
    done(server, "sendGroupSystemNotification", groupID=group, userIDList=named, content="named")
    for client in (people["member"], second):
        await client.expect("onReceiveRESTCustomData", groupID=group, customData="named")
    await people["owner"].quiet("onReceiveRESTCustomData", group=group)
    await people["outsider"].quiet("onReceiveRESTCustomData", group=group)
    info = await info_of(people["owner"], group)
    assert info["lastSeq"] == 0, "custom data is no message"


async def test_custom_data_in_a_bchatroom_reaches_everybody_signed_in(server, world):
    owner, user = await world.users("owner", "user")
    group = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    done(server, "sendGroupSystemNotification", groupID=group, content="x")
    for client in (owner, user):
        await client.expect("onReceiveRESTCustomData", groupID=group, customData="x")
    done(server, "sendGroupSystemNotification", groupID=group, userIDList=[user.user], content="y")
    await user.expect("onReceiveRESTCustomData", groupID=group, customData="y")
    await owner.quiet("onReceiveRESTCustomData", group=group)
    done(server, "dismissGroup", groupID=group)


async def test_custom_data_errors(server, world):
    alice = await world.user("alice")
    group = await world.group(alice)
    assert denied(server, -32602, "sendGroupSystemNotification", groupID=group)["field"] == "content"
    assert denied(server, -32602, "sendGroupSystemNotification", content="x")["field"] == "groupID"
    denied(server, -32602, "sendGroupSystemNotification", groupID=group, content={"a": 1})
    denied(server, -32602, "sendGroupSystemNotification", groupID=group, content="x", userIDList=alice.user)
    denied(server, 10004, "sendGroupSystemNotification", groupID=group, content="é" * 2048 + "x")
    denied(server, 10010, "sendGroupSystemNotification", groupID=world.name("nowhere"), content="x")
    denied(server, 10015, "sendGroupSystemNotification", groupID="a b", content="x")
    done(server, "sendGroupSystemNotification", groupID=group, content="é" * 2048)
    event = await alice.expect("onReceiveRESTCustomData", groupID=group)
    assert event["customData"] == "é" * 2048 and not alice.received("onReceiveRESTCustomData")


# recycleGroup

@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"])
async def test_recycling_is_disbanding_with_its_own_event(server, world, groupType):
    owner, member, outsider = await world.users("owner", "member", "outsider")
    if groupType == "BChatRoom":
        group = done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)["groupID"]
    else:
        group = await world.group(owner, groupType, [member])
    assert done(server, "recycleGroup", groupID=group) == {}
    for client in (owner, member):
        event = await client.expect("onGroupRecycled", groupID=group)
        assert event["opUser"] == ADMINISTRATOR and event["platform"] == "RESTful API"
        await client.refused(10010, "sendGroupTextMessage", groupID=group, text="x")
        assert not client.received("onGroupDismissed", groupID=group)
    if groupType != "BChatRoom":
        await outsider.quiet("onGroupRecycled", group=group)
    (row,) = (await owner.call("getGroupsInfo", groupIDList=[group]))["resultList"]
    assert row["code"] == 10010
    denied(server, 10010, "recycleGroup", groupID=group)


async def test_recycle_errors(server, world):
    denied(server, 10010, "recycleGroup", groupID=world.name("nowhere"))
    denied(server, 10015, "recycleGroup", groupID="")
    assert denied(server, -32602, "recycleGroup")["field"] == "groupID"


# listSessions and kickUser

async def test_list_sessions(server, world):
    user = world.name("user")
    assert done(server, "listSessions", userID=user) == {"sessionList": []}
    web = await world.session(user, platform="Web")
    before = (await web.call("ping"))["serverTime"]
    phone = await world.session(user, platform="iOS", deviceID="phone-1")
    rows = {row["sessionID"]: row for row in done(server, "listSessions", userID=user)["sessionList"]}
    assert set(rows) == {phone.welcome["sessionID"], web.welcome["sessionID"]}
    row = rows[phone.welcome["sessionID"]]
    assert has(platform="iOS", deviceID="phone-1")(row) and row["address"].startswith("127.0.0.1")
    assert before <= row["loginTime"] <= phone.welcome["serverTime"]
    assert rows[web.welcome["sessionID"]]["platform"] == "Web" and not rows[web.welcome["sessionID"]].get("deviceID")
    await web.call("logout")
    await web.closed(1000)

    def listed():
        return [row["sessionID"] for row in done(server, "listSessions", userID=user)["sessionList"]]

    server.wait_until(lambda: listed() == [phone.welcome["sessionID"]], "the session has ended on every node")
    denied(server, 10004, "listSessions", userID="a b")
    assert denied(server, -32602, "listSessions")["field"] == "userID"


@pytest.mark.parametrize("reason", [None, "spam é", "é" * 256])
async def test_kick_user_closes_all_sessions(server, world, reason):
    alice, bob = await world.users("alice", "bob")
    phone = await world.session(bob.user, platform="iOS")
    group = await world.group(alice, members=[bob])
    params = {} if reason is None else {"reason": reason}
    assert done(server, "kickUser", userID=bob.user, **params) == {"kicked": 2}
    for client in (bob, phone):
        event = await client.expect("onKickedOffline")
        assert event["reason"] == "Administrator" and event.get("message", "") == (reason or "")
        await client.closed(4503)
    assert done(server, "listSessions", userID=bob.user) == {"sessionList": []}
    assert done(server, "kickUser", userID=bob.user) == {"kicked": 0}
    assert (await alice.call("ping"))["serverTime"]
    again = await world.session(bob.user)
    assert (await info_of(again, group))["selfInfo"]["role"] == "Member", "a session ended, not a membership"
    await alice.quiet("onMemberLeave", group=group)


async def test_kick_user_errors(server, world):
    bob = await world.user("bob")
    denied(server, 10004, "kickUser", userID=bob.user, reason="é" * 256 + "x")
    denied(server, -32602, "kickUser", userID=bob.user, reason=1)
    assert denied(server, -32602, "kickUser")["field"] == "userID"
    denied(server, 10004, "kickUser", userID="")
    assert done(server, "kickUser", userID=world.name("nobody")) == {"kicked": 0}
    await bob.quiet("onKickedOffline")


async def test_requests_under_way_when_a_user_is_kicked(server, world):
    """A request is either answered or not run; what was acknowledged is stored."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    under_way = [await bob.start("sendGroupTextMessage", groupID=group, text=f"{n}") for n in range(50)]
    assert done(server, "kickUser", userID=bob.user) == {"kicked": 1}
    await bob.closed(4503)
    answered = [future.result()["result"]["msgID"] for future in under_way if not future.exception()]
    stored = [message["msgID"] for message in await history_of(alice, group)]
    assert stored[:len(answered)] == answered


# getStats

async def test_get_stats(own):
    assert done(own.server, "getStats")["groups"] == 0
    alice, bob = await own.users("alice", "bob")
    await own.session(alice.user)
    await own.group(alice, "Public", [bob])
    await own.group(alice, "Public")
    room = await own.group(alice, "AVChatRoom")
    gone = await own.group(alice, "Work")
    done(own.server, "dismissGroup", groupID=gone)
    done(own.server, "importUsers", userIDList=["imported", bob.user])
    done(own.server, "joinGroup", groupID=room, asUser="by-backend")
    stats = done(own.server, "getStats")
    assert has(sessions=3, users=4, groups=3)(stats), stats
    assert {groupType: count for groupType, count in stats["groupsByType"].items() if count} == {"Public": 2, "AVChatRoom": 1}
    assert stats["version"] == (await alice.call("getServerInfo"))["version"]
    assert isinstance(stats["uptime"], int) and 0 <= stats["uptime"] < 3600
    await bob.call("logout")
    await bob.closed(1000)
    own.server.wait_until(lambda: done(own.server, "getStats")["sessions"] == 2, "the session has ended on every node")
    await restart(own, "kill")
    stats = done(own.server, "getStats")
    assert has(sessions=0, users=4, groups=3)(stats), stats


# An administrator stands above the owner, and crosses no ×

CROSSED = [
    ("inviteUserToGroup", {"userIDList": ["someone"]}, ["AVChatRoom", "BChatRoom"]),
    ("kickGroupMember", {"userIDList": ["MEMBER"]}, ["AVChatRoom", "BChatRoom"]),
    ("muteGroupMember", {"userID": "MEMBER", "muteTime": 60}, ["BChatRoom"]),
    ("muteGroup", {"mode": "All"}, ["BChatRoom"]),
    ("setGroupMemberRole", {"userID": "MEMBER", "role": "Admin"}, ["Work", "AVChatRoom"]),
    ("transferGroupOwner", {"userID": "MEMBER"}, ["AVChatRoom", "BChatRoom"]),
]


@pytest.mark.parametrize("method, params, groupType", [(m, p, t) for m, p, types in CROSSED for t in types])
async def test_nobody_crosses_a_cell_of_nobody(server, world, method, params, groupType):
    owner, member = await world.users("owner", "member")
    if groupType == "BChatRoom":
        group = done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)["groupID"]
    else:
        group = await world.group(owner, groupType, [member])
    text = json.dumps(params).replace("MEMBER", member.user)
    denied(server, 10007, method, groupID=group, **json.loads(text))
    await owner.refused(10007, method, groupID=group, **json.loads(text))
    assert (await info_of(member, group))["owner"] == owner.user
    assert (await info_of(member, group))["selfInfo"]["role"] == "Member"
    done(server, "dismissGroup", groupID=group)


async def test_modes_do_not_bind_an_administrator(server, world):
    owner, member, guest = await world.users("owner", "member", "guest")
    group = await world.group(owner, members=[member], inviteMode="Nobody", beInviteMode="Auth", updateInfoMode="Owner")
    answer = done(server, "inviteUserToGroup", groupID=group, userIDList=[guest.user])
    assert answer["memberList"] == [{"userID": guest.user, "result": "Success"}]
    for client in (owner, member, guest):
        event = await client.expect("onMemberInvited", groupID=group)
        assert event["opUser"] == ADMINISTRATOR and event["platform"] == "RESTful API" and event["memberCount"] == 3
    done(server, "setGroupInfo", groupID=group, groupName="above")
    assert (await member.expect("onGroupInfoChanged", groupID=group))["opUser"] == ADMINISTRATOR


async def test_the_owner_is_neither_removed_nor_demoted(server, world):
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, members=[member])
    answer = done(server, "kickGroupMember", groupID=group, userIDList=[owner.user])
    assert answer["memberList"] == [{"userID": owner.user, "result": "Fail"}]
    denied(server, 10007, "setGroupMemberRole", groupID=group, userID=owner.user, role="Member")
    denied(server, 10007, "setGroupMemberInfo", groupID=group, userID=owner.user, role="Admin")
    assert (await info_of(owner, group))["selfInfo"]["role"] == "Owner"
    done(server, "transferGroupOwner", groupID=group, userID=member.user)
    answer = done(server, "kickGroupMember", groupID=group, userIDList=[owner.user])
    assert answer["memberList"] == [{"userID": owner.user, "result": "Success"}]
    event = await owner.expect("onMemberKicked", groupID=group)
    assert event["opUser"] == ADMINISTRATOR


async def test_an_administrator_mutes_owner_and_admins(server, world):
    """Above the owner: also where the cell is `admin` (Work)."""
    for groupType in ("Work", "Public", "Meeting", "AVChatRoom"):
        group, people = await world.group_of(groupType)
        for role in people.keys() - {"outsider"}:
            done(server, "muteGroupMember", groupID=group, userID=people[role].user, muteTime=3600)
            await people[role].refused(10017, "sendGroupTextMessage", groupID=group, text="x")
            done(server, "muteGroupMember", groupID=group, userID=people[role].user, muteTime=0)
            await people[role].call("sendGroupTextMessage", groupID=group, text="x")


# The audit log

def audited(server, method):
    """The audit lines of a method."""
    lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("message") == "audit" and line.get("method") == method]


async def test_every_write_leaves_an_audit_line(own):
    """A JSON line with message `audit`, the method and the code; refused writes too; never a
    content or a token. Those of messages are for debugging."""
    server = own.server
    alice, bob = await own.users("alice", "bob")
    group = await own.group(alice, members=[bob])
    imported = done(server, "importGroup", groupType="Public", groupName="g", ownerUserID=alice.user)["groupID"]
    writes = [
        ("createGroup", {"groupType": "Public", "groupName": "g", "ownerUserID": alice.user}),
        ("setGroupInfo", {"groupID": group, "groupName": "secret-word"}),
        ("inviteUserToGroup", {"groupID": group, "userIDList": ["guest"]}),
        ("setGroupMemberRole", {"groupID": group, "userID": "guest", "role": "Admin"}),
        ("setGroupMemberInfo", {"groupID": group, "userID": "guest", "nameCard": "secret-word"}),
        ("muteGroupMember", {"groupID": group, "userID": "guest", "muteTime": 5}),
        ("muteGroup", {"groupID": group, "mode": "None"}),
        ("kickGroupMember", {"groupID": group, "userIDList": ["guest"], "reason": "a rule"}),
        ("transferGroupOwner", {"groupID": group, "userID": bob.user}),
        ("sendGroupTextMessage", {"groupID": group, "text": "secret-word"}),
        ("sendGroupCustomMessage", {"groupID": group, "data": "secret-word"}),
        ("sendGroupSystemNotification", {"groupID": group, "content": "secret-word"}),
        ("importUsers", {"userIDList": ["someone"]}),
        ("importGroupMembers", {"groupID": imported, "memberList": [{"userID": bob.user}]}),
        ("importGroupMessages", {"groupID": imported, "messageList": [
            {"sender": bob.user, "timestamp": 1_700_000_000_000, "text": "secret-word"}]}),
        ("setUnreadCount", {"groupID": imported, "userID": bob.user, "unreadCount": 1}),
        ("revokeGroupMessage", {"groupID": imported, "seq": 1}),
        ("kickUser", {"userID": bob.user, "reason": "a rule"}),
        ("blockUser", {"userID": bob.user, "reason": "a rule"}), ("unblockUser", {"userID": bob.user}),
        ("revokeTokens", {"userID": bob.user}),
        ("recycleGroup", {"groupID": group}),
        ("dismissGroup", {"groupID": imported}),
    ]
    for method, params in writes:
        before = len(audited(server, method))
        done(server, method, **params)
        server.wait_until(lambda: len(audited(server, method)) > before, f"an audit line of {method}")
        (line,) = audited(server, method)[before:]
        assert str(line["code"]) == "0" and line["level"] == ("debug" if method.startswith("sendGroup") else "info"), line
    denied(server, 10010, "dismissGroup", groupID=imported)
    server.wait_until(lambda: len(audited(server, "dismissGroup")) == 2, "an audit line of a refused write")
    assert str(audited(server, "dismissGroup")[1]["code"]) == "10010"
    done(server, "joinGroup", groupID=await own.group(alice), asUser="carol")
    server.wait_until(lambda: len(audited(server, "joinGroup")) == 1, "an audit line of a write as a user")
    assert "secret-word" not in server.log and admin_token()[:20] not in server.log


async def test_the_audit_says_who_was_removed_and_why(own):
    server = own.server
    alice, bob, carol = await own.users("alice", "bob", "carol")
    group = await own.group(alice, members=[bob, carol])
    users = [bob.user, carol.user]
    done(server, "muteGroupMember", groupID=group, userIDList=users, muteTime=5)
    done(server, "kickGroupMember", groupID=group, userIDList=users, reason="they \"spam\"\n", banTime=60)
    server.wait_until(lambda: audited(server, "kickGroupMember"), "an audit line of a removal")
    (line,) = audited(server, "kickGroupMember")
    assert line["userIDList"] == users and line["userCount"] == 2 and line["reason"] == "they \"spam\"\n"
    assert audited(server, "muteGroupMember")[0]["userIDList"] == users
    kick, mute = done(server, "listAdministratorActions")["actionList"][:2]
    assert has(method="kickGroupMember", userIDList=users, userCount=2, reason="they \"spam\"\n")(kick)
    assert has(method="muteGroupMember", userIDList=users, userCount=2)(mute) and "reason" not in mute


async def test_a_batch_leaves_a_line_for_each_write(own):
    alice = await own.user("alice")
    group = await own.group(alice)
    batch = [{"jsonrpc": "2.0", "method": "setGroupInfo", "params": {"groupID": group, "introduction": f"{n}"}} for n in range(3)]
    assert own.server.post_rpc(batch).status == 204
    own.server.wait_until(lambda: len(audited(own.server, "setGroupInfo")) == 3, "three audit lines")


async def test_what_users_do_themselves_is_not_audited(own):
    alice = await own.user("alice")
    group = await own.group(alice)
    await alice.call("setGroupInfo", groupID=group, groupName="n")
    await alice.call("dismissGroup", groupID=group)
    done(own.server, "importUsers", userIDList=["x"])
    own.server.wait_until(lambda: audited(own.server, "importUsers"), "an audit line")
    assert not audited(own.server, "setGroupInfo") and not audited(own.server, "dismissGroup")


async def test_a_write_whose_parameters_are_refused_leaves_an_audit_line(own):
    refused = {
        "kickGroupMember": [{}, {"groupID": 5, "userIDList": ["bob"]}, {"groupID": "g", "userIDList": []}],
        "dismissGroup": [{"groupID": "g", "asUser": "a b"}],
        "joinGroup": [{"groupID": "g"}],
        "getGroupMemberList": [{"groupID": 5}],
    }
    codes = {method: [own.server.rpc(method, **params)["error"]["code"] for params in calls] for method, calls in refused.items()}
    assert codes["kickGroupMember"][0] == -32602 == codes["joinGroup"][0]
    own.server.wait_until(lambda: audited(own.server, "joinGroup"), "an audit line of the last write")
    for method, expected in codes.items():
        expected = [] if method == "getGroupMemberList" else expected
        assert [int(line["code"]) for line in audited(own.server, method)] == expected


# Known users

async def test_a_refused_call_makes_nobody_known(own):
    """A call without effect makes no user known, and neither does being named; imports do."""
    server = own.server
    alice, stranger = await own.users("alice", "stranger")
    group = await own.group(alice, "Work", groupID="mine")
    ghosts = [f"ghost-{n}" for n in range(100)]
    await alice.refused(10010, "inviteUserToGroup", groupID="nowhere", userIDList=ghosts)
    await stranger.refused(10007, "inviteUserToGroup", groupID=group, userIDList=ghosts)
    ghost_list = [{"userID": ghost} for ghost in ghosts]
    await stranger.refused(10021, "createGroup", groupType="Work", groupName="g", groupID=group, memberList=ghost_list)
    denied(server, 10010, "importGroupMembers", groupID="nowhere", memberList=ghost_list)
    for method in ("createGroup", "importGroup"):
        assert "error" in server.rpc(method, groupType="Work", groupName="g", groupID=group, ownerUserID="ghost-owner")
    assert done(server, "getStats")["users"] == 2
    await alice.call("inviteUserToGroup", groupID=group, userIDList=["bob"])
    imported = done(server, "importGroup", groupType="Work", groupName="g", ownerUserID="carol")["groupID"]
    done(server, "importGroupMembers", groupID=imported, memberList=[{"userID": "dave"}])
    await alice.call("createGroup", groupType="Work", groupName="g", memberList=[{"userID": "erin"}])
    done(server, "createGroup", groupType="Work", groupName="g", ownerUserID="frank")
    assert done(server, "getStats")["users"] == 4, "alice, stranger, carol and dave"
    await restart(own, "stop")
    assert done(server, "getStats")["users"] == 4
