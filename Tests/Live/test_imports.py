"""Moving in from another system. Imports send no events and store no tips (Protocol.md,
"Imports")."""
import json
import time

import pytest

from harness.backend import all_of, denied, done, notifications_of, unread_of
from harness.client import has
from harness.restarts import restart
from harness.world import history_of, info_of

STORING = ["Work", "Public", "Meeting"]
LIVE = ["AVChatRoom", "BChatRoom"]
THEN = 1_700_000_000_000
DAY = 86_400_000


def soon():
    """An instant that has not come yet."""
    return int(time.time() * 1000) + DAY


def imported(server, owner, groupType="Public", members=(), **fields):
    """An imported group with these users as imported members."""
    params = {"groupType": groupType, "groupName": "old", "ownerUserID": owner, "createTime": THEN, **fields}
    group = done(server, "importGroup", **params)["groupID"]
    if members:
        rows = done(server, "importGroupMembers", groupID=group, memberList=list(members))["memberList"]
        assert {row["result"] for row in rows} == {"Success"}, rows
    return group


def message(number, sender="gone", **fields):
    """The `number`th message of an imported history: a day after the one before."""
    return {"sender": sender, "timestamp": THEN + number * DAY, "text": f"m{number}", **fields}


def messages(server, group, *rows):
    """Imports these; gives their seqs."""
    answer = done(server, "importGroupMessages", groupID=group, messageList=list(rows))["resultList"]
    assert [row["code"] for row in answer] == [0] * len(rows)
    return [row["seq"] for row in answer]


async def texts_of(client, group):
    return [row.get("text") for row in await history_of(client, group)]


def live_room(server, owner, groupType):
    return done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=owner)["groupID"]


# Users

def test_imported_users_are_known(make_server):
    """Only with users.requireKnown; in bulk methods Fail (Protocol.md, "Known users")."""
    own = make_server({"users.requireKnown": "true"})
    base = {"groupType": "Public", "groupName": "g", "inviteMode": "Any"}
    for method in ("createGroup", "importGroup"):
        denied(own, 10019, method, **base, ownerUserID="owner")
    assert done(own, "importUsers", userIDList=["owner", "friend", "owner"]) == {}
    assert done(own, "getStats")["users"] == 2
    group = done(own, "createGroup", **base, ownerUserID="owner", memberList=[{"userID": "friend"}, {"userID": "stranger"}])
    assert [row["result"] for row in group["memberList"]] == ["Success", "Fail"]
    old = done(own, "importGroup", **base, ownerUserID="owner")["groupID"]
    rows = done(own, "importGroupMembers", groupID=old, memberList=[{"userID": "friend"}, {"userID": "stranger"}])["memberList"]
    assert rows == [{"userID": "friend", "result": "Success"}, {"userID": "stranger", "result": "Fail"}]
    rows = done(own, "inviteUserToGroup", groupID=group["groupID"], userIDList=["stranger"], asUser="owner")["memberList"]
    assert rows == [{"userID": "stranger", "result": "Fail"}]
    done(own, "importUsers", userIDList=["stranger"])
    rows = done(own, "inviteUserToGroup", groupID=group["groupID"], userIDList=["stranger"], asUser="owner")["memberList"]
    assert rows == [{"userID": "stranger", "result": "Success"}]
    own.kill()
    own.start()
    assert done(own, "getStats")["users"] == 3
    done(own, "createGroup", **base, ownerUserID="friend")


async def test_who_signed_in_is_known_and_who_was_refused_is_not(make_server, make_world):
    own = make_server({"users.requireKnown": "true"})
    world = make_world(own)
    alice = await world.user("alice")
    answer = await alice.call("createGroup", groupType="Public", groupName="g", memberList=[{"userID": "stranger"}])
    assert answer["memberList"] == [{"userID": "stranger", "result": "Fail"}]
    assert (await info_of(alice, answer["groupID"]))["memberCount"] == 1
    assert done(own, "getStats")["users"] == 1
    await world.session("stranger")
    assert done(own, "getStats")["users"] == 2


def test_import_users_errors(server):
    assert denied(server, -32602, "importUsers")["field"] == "userIDList"
    denied(server, -32602, "importUsers", userIDList="x")
    denied(server, 8510, "importUsers", userIDList=[])
    denied(server, 10004, "importUsers", userIDList=[f"u{n}" for n in range(101)])
    for wrong in ("", "a b", "x" * 33, "@a", "administrator"):
        denied(server, 10004, "importUsers", userIDList=["fine", wrong])
    done(server, "importUsers", userIDList=[f"u{n}" for n in range(100)])


# Groups

@pytest.mark.parametrize("groupType", STORING)
async def test_an_imported_group(server, world, groupType):
    """The fields of createGroup, the time it was made; the owner hears nothing and is a member."""
    owner, outsider = await world.users("owner", "outsider")
    fields = {"introduction": "i", "notification": "n", "faceURL": "f", "customInfo": {"k": "v"}, "maxMemberNum": 50,
              "updateInfoMode": "Owner", "memberChangeNotification": False, "groupID": world.name("old")}
    group = imported(server, owner.user, groupType, **fields)
    info = await info_of(owner, group)
    assert has(**fields, groupType=groupType, groupName="old", owner=owner.user, createTime=THEN)(info)
    assert has(memberCount=1, lastSeq=0, lastMessageTime=0)(info) and info["selfInfo"]["role"] == "Owner"
    assert info["selfInfo"]["unreadCount"] == 0 and info["epoch"]
    assert group in [row["groupID"] for row in (await owner.call("getJoinedGroupList"))["groupList"]]
    await owner.quiet(group=group)
    assert await notifications_of(owner) == [] and await history_of(owner, group) == []
    await outsider.refused(10007, "sendGroupTextMessage", groupID=group, text="x")
    assert (await owner.call("sendGroupTextMessage", groupID=group, text="x"))["seq"] == 1


async def test_legacy_type_names_are_imported_as_the_current_ones(server, world):
    owner = await world.user("owner")
    for legacy, current in (("Private", "Work"), ("ChatRoom", "Meeting")):
        assert (await info_of(owner, imported(server, owner.user, legacy)))["groupType"] == current


async def test_import_group_errors(server, world):
    owner = world.name("owner")
    base = {"groupType": "Public", "groupName": "g", "ownerUserID": owner}
    for field in base:
        assert denied(server, -32602, "importGroup", **{k: v for k, v in base.items() if k != field})["field"] == field
    for groupType in LIVE:
        denied(server, 10007, "importGroup", **{**base, "groupType": groupType})
    group = done(server, "importGroup", **base, groupID=world.name("g"))["groupID"]
    denied(server, 10021, "importGroup", **{**base, "ownerUserID": world.name("other")}, groupID=group)
    for code, wrong in [
        (8501, {"groupID": "@TGS#x"}), (8501, {"groupID": "a b"}), (8502, {"groupName": ""}), (8503, {"introduction": "x" * 241}),
        (8504, {"notification": "x" * 301}), (8505, {"faceURL": "x" * 101}), (8507, {"maxMemberNum": 6001}),
        (10004, {"groupType": "Secret"}), (10004, {"joinMode": "Some"}), (10004, {"ownerUserID": "a b"}),
        (10004, {"createTime": -1}), (-32602, {"createTime": "then"}), (10004, {"customInfo": {"a b": "x"}}),
        (10007, {"groupType": "Work", "joinMode": "Any"}),
    ]:
        denied(server, code, "importGroup", **{**base, **wrong})
    assert done(server, "importGroup", **base, memberList=[{"userID": "ignored"}])["groupID"]


# Members

@pytest.mark.parametrize("groupType", STORING)
async def test_imported_members(server, world, groupType):
    owner, member, second = await world.users("owner", "member", "second")
    group = imported(server, owner.user, groupType)
    role = "Member" if groupType == "Work" else "Admin"
    rows = done(server, "importGroupMembers", groupID=group, memberList=[
        {"userID": member.user, "role": role, "joinTime": THEN + DAY}, {"userID": second.user}, {"userID": owner.user},
        {"userID": second.user, "role": role}, {"userID": world.name("absent")}])["memberList"]
    assert [row["result"] for row in rows] == ["Success", "Success", "Invalid", "Success"]
    assert [row["userID"] for row in rows[:3]] == [member.user, second.user, owner.user], "one row per distinct userID"
    mine = (await info_of(member, group))["selfInfo"]
    assert has(role=role, joinTime=THEN + DAY, unreadCount=0)(mine)
    info = await info_of(second, group)
    assert info["memberCount"] == 4 and info["selfInfo"]["role"] == "Member" and info["lastSeq"] == 0
    again = done(server, "importGroupMembers", groupID=group, memberList=[{"userID": member.user, "role": "Member"}])
    assert again["memberList"] == [{"userID": member.user, "result": "Invalid"}]
    assert (await info_of(member, group))["selfInfo"]["role"] == role, "a second import changes nothing"
    for client in (owner, member, second):
        await client.quiet(group=group)
        assert await notifications_of(client) == []
    assert group in [row["groupID"] for row in (await member.call("getJoinedGroupList"))["groupList"]]
    await owner.call("sendGroupTextMessage", groupID=group, text="to all")
    for client in (member, second):
        await client.expect("onRecvNewMessage", groupID=group, message=has(text="to all", seq=1))


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_a_custom_role_is_imported(server, world, groupType):
    owner, member = await world.users("owner", "member")
    group = imported(server, owner.user, groupType, [{"userID": member.user, "role": "200"}])
    assert (await info_of(member, group))["selfInfo"]["role"] == "200"


async def test_members_bring_name_card_custom_info_and_mute_and_a_later_import_goes_on(server, world):
    """No tip is made, so messages follow; a bad row is Fail; who is there is Invalid and stays."""
    owner, member = await world.users("owner", "member")
    muted, bad = world.name("muted"), world.name("bad")
    group = imported(server, owner.user, members=[
        {"userID": member.user, "nameCard": "Bobby", "customInfo": {"seat": "7"}}, {"userID": muted, "muteUntil": soon()}])
    assert messages(server, group, message(1)) == [1]
    rows = done(server, "importGroupMembers", groupID=group, memberList=[
        {"userID": member.user, "nameCard": "Other"}, {"userID": bad, "nameCard": "x" * 51},
        {"userID": bad, "nameCard": "fine"}])["memberList"]
    assert rows == [{"userID": member.user, "result": "Invalid"}, {"userID": bad, "result": "Fail"}]
    assert messages(server, group, message(2)) == [2], "the second import"
    listed = await all_of(owner, "getGroupMemberList", "memberList", groupID=group)
    assert [row["userID"] for row in listed] == [owner.user, *sorted([member.user, muted])]
    found = next(row for row in listed if row["userID"] == member.user)
    assert has(nameCard="Bobby", customInfo={"seat": "7"})(found)
    listed = await all_of(owner, "getGroupMutedMembers", "memberList", groupID=group)
    assert [row["userID"] for row in listed] == [muted]
    assert denied(server, 10017, "sendGroupTextMessage", groupID=group, text="x", asUser=muted)["temporary"] is False
    denied(server, -32602, "importGroupMembers", groupID=group, memberList=[{"userID": "x", "nameCard": 5}])
    for client in (owner, member):
        await client.quiet(group=group)


def test_instants_in_seconds_are_taken_and_warned_of(make_server):
    own = make_server()
    seconds = THEN // 1000
    base = {"groupType": "Public", "groupName": "g", "ownerUserID": "olga", "groupID": "g"}
    done(own, "importGroup", **base, createTime=seconds)
    done(own, "importGroupMembers", groupID="g", memberList=[{"userID": "mary", "joinTime": seconds + 1}])
    messages(own, "g", {"sender": "mary", "timestamp": seconds + 2, "text": "old"})
    done(own, "importGroup", **{**base, "groupID": "h"}, createTime=THEN)

    def warnings():
        lines = [json.loads(line) for line in own.log.splitlines() if '"an import has very old instants"' in line]
        return [(line["method"], line["field"], line["groupID"]) for line in lines if "seconds?" in line["reason"]]
    own.wait_until(lambda: len(warnings()) == 3, warnings)
    assert warnings() == [
        ("importGroup", "createTime", "g"), ("importGroupMembers", "joinTime", "g"), ("importGroupMessages", "timestamp", "g")]


async def test_members_are_listed_in_the_order_of_their_join_times(server, world):
    owner = await world.user("owner")
    names = [world.name("m") for _ in range(4)]
    group = imported(server, owner.user, "Public", [
        {"userID": name, "joinTime": THEN + (4 - number) * DAY} for number, name in enumerate(names)])
    rows = await all_of(owner, "getGroupMemberList", "memberList", groupID=group, count=3)
    assert [row["userID"] for row in rows] == [owner.user, *reversed(names)]


async def test_members_are_imported_into_a_group_in_use_without_a_word(server, world):
    owner, member, guest = await world.users("owner", "member", "guest")
    group = await world.group(owner, members=[member], maxMemberNum=3)
    answer = done(server, "importGroupMembers", groupID=group, memberList=[{"userID": guest.user}, {"userID": "late"}])
    assert [row["result"] for row in answer["memberList"]] == ["Success", "OverLimit"]
    await owner.call("sendGroupTextMessage", groupID=group, text="x")
    for client in (member, guest):
        await client.expect("onRecvNewMessage", groupID=group, message=has(seq=1))
        assert not client.received("onMemberEnter", groupID=group) and not client.received("onMemberInvited", groupID=group)


async def test_three_hundred_members_are_the_bound(server, world):
    owner = await world.user("owner")
    group = imported(server, owner.user)
    names = [world.name("m") for _ in range(301)]
    denied(server, 10004, "importGroupMembers", groupID=group, memberList=[{"userID": name} for name in names])
    assert (await info_of(owner, group))["memberCount"] == 1
    rows = done(server, "importGroupMembers", groupID=group, memberList=[{"userID": name} for name in names[:300]])["memberList"]
    assert [row["userID"] for row in rows] == names[:300] and {row["result"] for row in rows} == {"Success"}
    assert (await info_of(owner, group))["memberCount"] == 301
    rows = await all_of(owner, "getGroupMemberList", "memberList", groupID=group, count=50)
    assert {row["userID"] for row in rows} == {owner.user, *names[:300]}


async def test_import_member_errors(server, world):
    owner = await world.user("owner")
    group = imported(server, owner.user)
    assert denied(server, -32602, "importGroupMembers", groupID=group)["field"] == "memberList"
    denied(server, -32602, "importGroupMembers", groupID=group, memberList=["x"])
    denied(server, -32602, "importGroupMembers", groupID=group, memberList=[{"role": "Admin"}])
    denied(server, 8510, "importGroupMembers", groupID=group, memberList=[])
    denied(server, 8509, "importGroupMembers", groupID=group, memberList=[{"userID": "x", "role": "Owner"}])
    for wrong in ({"userID": "a b"}, {"role": "King"}, {"role": "99"}, {"unreadCount": -1}, {"unreadCount": 2 ** 32},
                  {"joinTime": -1}):
        denied(server, 10004, "importGroupMembers", groupID=group, memberList=[{"userID": "fine"}, {"userID": "x", **wrong}])
    denied(server, 10010, "importGroupMembers", groupID=world.name("nowhere"), memberList=[{"userID": "x"}])
    denied(server, 10015, "importGroupMembers", groupID="a b", memberList=[{"userID": "x"}])
    work = imported(server, owner.user, "Work")
    denied(server, 10007, "importGroupMembers", groupID=work, memberList=[{"userID": "x", "role": "Admin"}])
    for groupType in LIVE:
        room = live_room(server, owner.user, groupType)
        denied(server, 10007, "importGroupMembers", groupID=room, memberList=[{"userID": "x"}])
        done(server, "dismissGroup", groupID=room)
    for untouched in (group, work):
        assert (await info_of(owner, untouched))["memberCount"] == 1


# Messages

@pytest.mark.parametrize("groupType", STORING)
async def test_imported_messages_keep_sender_time_and_order(server, world, groupType):
    owner, member = await world.users("owner", "member")
    group = imported(server, owner.user, groupType, [{"userID": member.user}])
    rows = [message(1), message(2, owner.user), message(2, "somebody-else", text="same time"),
            {"sender": member.user, "timestamp": THEN + 3 * DAY, "data": "d\u0000", "clientMsgID": "c"}]
    assert messages(server, group, *rows) == [1, 2, 3, 4]
    assert messages(server, group, message(4), message(5)) == [5, 6], "further ones go on"
    seen = await history_of(member, group)
    assert [row["seq"] for row in seen] == [1, 2, 3, 4, 5, 6]
    for row, given in zip(seen, rows):
        assert has(**given, groupID=group, type="Text" if "text" in given else "Custom", priority="Normal")(row), row
    info = await info_of(member, group)
    assert has(lastSeq=6, lastMessageTime=THEN + 5 * DAY)(info) and info["lastMessage"] == seen[-1]
    sync = (await member.call("syncGroups", groups=[{"groupID": group, "epoch": info["epoch"], "seq": 2}]))["groups"]
    assert sync[0]["recovered"] and sync[0]["messageList"] == seen[2:]
    for client in (owner, member):
        await client.quiet(group=group)
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="first of its own")
    assert sent["seq"] == 7
    await member.expect("onRecvNewMessage", groupID=group, message=has(seq=7))
    assert not member.received("onRecvNewMessage", groupID=group)


async def test_once_the_group_has_messages_of_its_own_nothing_is_imported(server, world):
    """10007, after a text and after a tip (a message too); recalling the text does not help."""
    owner = await world.user("owner")
    written, tipped = imported(server, owner.user), imported(server, owner.user)
    for group in (written, tipped):
        messages(server, group, message(1))
    seq = (await owner.call("sendGroupTextMessage", groupID=written, text="x"))["seq"]
    await owner.call("setGroupInfo", groupID=tipped, introduction="x")
    await owner.call("revokeGroupMessage", groupID=written, seq=seq)
    for group in (written, tipped):
        denied(server, 10007, "importGroupMessages", groupID=group, messageList=[message(2)])
        assert (await info_of(owner, group))["lastSeq"] == 2


async def test_messages_are_imported_into_a_group_that_was_created_here_and_is_still_empty(server, world):
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, members=[member])
    assert messages(server, group, message(1)) == [1]
    assert await texts_of(owner, group) == ["m1"], "the owner sees everything imported"
    await member.quiet("onRecvNewMessage", group=group)


@pytest.mark.parametrize("count", [1, 3])
async def test_a_repeated_client_msg_id_is_answered_again_and_stored_once(server, world, count):
    """Protocol.md, "Repeated sends": the same clientMsgID from the same user to the same group
    within 5 minutes answers the first result again: a mover whose answer was lost sends the batch
    again."""
    owner = await world.user("owner")
    group = imported(server, owner.user)
    batch = [message(1, clientMsgID="a"), message(2, clientMsgID="b"), message(3, "other", clientMsgID="a")][:count]
    for _ in range(2):
        assert messages(server, group, *batch) == [1, 2, 3][:count]
    assert await texts_of(owner, group) == ["m1", "m2", "m3"][:count]


async def test_imported_client_msg_ids_come_back_in_the_history(server, world):
    owner = await world.user("owner")
    group = imported(server, owner.user)
    messages(server, group, message(1, clientMsgID="é" * 32), message(2))
    administrators = server.rpc("getGroupHistoryMessageList", groupID=group, direction="Newer")["result"]["messageList"]
    for first, second in (await history_of(owner, group), administrators):
        assert first["clientMsgID"] == "é" * 32 and "clientMsgID" not in second


async def test_a_hundred_messages_are_the_bound(server, world):
    owner = await world.user("owner")
    group = imported(server, owner.user)
    denied(server, 10004, "importGroupMessages", groupID=group, messageList=[message(n) for n in range(101)])
    assert messages(server, group, *(message(n) for n in range(100))) == list(range(1, 101))
    assert await texts_of(owner, group) == [f"m{n}" for n in range(100)]


async def test_import_message_errors(server, world):
    owner = await world.user("owner")
    group = imported(server, owner.user)
    assert denied(server, -32602, "importGroupMessages", groupID=group)["field"] == "messageList"
    denied(server, -32602, "importGroupMessages", groupID=group, messageList=["x"])
    for missing in ("sender", "timestamp", "text"):
        row = {k: v for k, v in message(1).items() if k != missing}
        denied(server, -32602, "importGroupMessages", groupID=group, messageList=[row])
    for wrong in ([], [message(2), message(1)], [message(1, timestamp=soon())], [message(1, sender="a b")],
                  [message(1, text="")], [message(1, timestamp=-1)], [message(1, clientMsgID="x" * 65)]):
        denied(server, 10004, "importGroupMessages", groupID=group, messageList=wrong)
    denied(server, 10010, "importGroupMessages", groupID=world.name("nowhere"), messageList=[message(1)])
    denied(server, 10015, "importGroupMessages", groupID="a b", messageList=[message(1)])
    for groupType in LIVE:
        room = live_room(server, owner.user, groupType)
        denied(server, 10007, "importGroupMessages", groupID=room, messageList=[message(1)])
        done(server, "dismissGroup", groupID=room)
    assert (await info_of(owner, group))["lastSeq"] == 0 and await history_of(owner, group) == []


async def test_a_message_that_is_too_long_is_told_and_not_stored(server, world):
    """80002, for the call or in the row of the message."""
    owner = await world.user("owner")
    group = imported(server, owner.user)
    assert messages(server, group, message(1, text="中" * 4096)) == [1]
    answer = server.rpc("importGroupMessages", groupID=group, messageList=[message(2, text="中" * 4096 + "x")])
    assert 80002 in (answer.get("error", {}).get("code"), *(row["code"] for row in answer.get("result", {}).get("resultList", [])))
    assert (await info_of(owner, group))["lastSeq"] == 1


# Visible messages

async def test_who_sees_the_imported_history(server, world):
    """Without joinTime: all of it; with one: what was written at or after it; the owner:
    everything; a joiner: nothing."""
    owner, all_along, middle, late, joiner = await world.users("owner", "always", "middle", "late", "joiner")
    group = imported(server, owner.user, "Public", [
        {"userID": all_along.user}, {"userID": middle.user, "joinTime": THEN + 2 * DAY},
        {"userID": late.user, "joinTime": THEN + 9 * DAY}], joinMode="Any")
    messages(server, group, *(message(n) for n in (1, 2, 3)))
    await joiner.call("joinGroup", groupID=group)
    everything = ["m1", "m2", "m3", None]
    for client, seen in [(owner, everything), (all_along, everything), (middle, everything[1:]), (late, everything[3:]),
                         (joiner, everything[3:])]:
        assert await texts_of(client, group) == seen, client.user
    for client in (late, joiner):
        assert (await info_of(client, group))["lastMessage"]["type"] == "GroupTips"


async def test_members_imported_after_the_messages_see_the_same(server, world):
    owner, all_along, middle = await world.users("owner", "always", "middle")
    group = imported(server, owner.user)
    messages(server, group, *(message(n) for n in (1, 2, 3)))
    done(server, "importGroupMembers", groupID=group, memberList=[
        {"userID": all_along.user}, {"userID": middle.user, "joinTime": THEN + 3 * DAY}])
    assert await texts_of(all_along, group) == ["m1", "m2", "m3"]
    assert await texts_of(middle, group) == ["m3"]


async def test_in_a_meeting_everybody_sees_everything(server, world):
    owner, late, joiner = await world.users("owner", "late", "joiner")
    group = imported(server, owner.user, "Meeting", [{"userID": late.user, "joinTime": THEN + 9 * DAY}])
    messages(server, group, message(1), message(2))
    await joiner.call("joinGroup", groupID=group)
    for client in (owner, late, joiner):
        assert await texts_of(client, group) == ["m1", "m2"]


# Unread

@pytest.mark.parametrize("order", ["members first", "messages first"])
async def test_the_imported_unread_count_is_what_is_unread(server, world, order):
    """Whatever was imported before or after; without one nothing is unread."""
    owner, some, none = await world.users("owner", "some", "none")
    group = imported(server, owner.user)
    steps = [
        lambda: done(server, "importGroupMembers", groupID=group, memberList=[
            {"userID": some.user, "unreadCount": 2}, {"userID": none.user}]),
        lambda: messages(server, group, message(1), message(2), message(3)),
    ]
    for step in steps if order == "members first" else reversed(steps):
        step()
    assert [await unread_of(client, group) for client in (owner, some, none)] == [0, 2, 0]
    await owner.call("sendGroupTextMessage", groupID=group, text="x")
    assert [await unread_of(client, group) for client in (owner, some, none)] == [0, 3, 1]
    await some.call("markGroupMessageAsRead", groupID=group)
    assert await unread_of(some, group) == 0


async def test_set_unread_count(server, world):
    owner, member, second = await world.users("owner", "member", "second")
    group = await world.group(owner, members=[member, second])
    for _ in range(3):
        await owner.call("sendGroupTextMessage", groupID=group, text="x")
    for count in (1, 0, 2, 500):
        assert done(server, "setUnreadCount", groupID=group, userID=member.user, unreadCount=count) == {}
        assert await unread_of(member, group) == count
    assert await unread_of(second, group) == 3 and await unread_of(owner, group) == 0
    assert not member.received("onConversationRead")
    await owner.call("sendGroupTextMessage", groupID=group, text="x")
    assert await unread_of(member, group) == 501
    await member.call("markGroupMessageAsRead", groupID=group)
    assert await unread_of(member, group) == 0
    assert (await info_of(owner, group))["lastSeq"] == 4


async def test_a_read_mark_counts_what_is_left_after_it(server, world):
    """Unread are the messages of others after readSeq; a count that was set or imported ends with
    the next mark (Protocol.md, "Unread counts")."""
    owner, member, mover = await world.users("owner", "member", "mover")
    group = await world.group(owner, members=[member])
    for _ in range(4):
        await owner.call("sendGroupTextMessage", groupID=group, text="x")
    done(server, "setUnreadCount", groupID=group, userID=member.user, unreadCount=2)
    await member.call("markGroupMessageAsRead", groupID=group, seq=3)
    assert await unread_of(member, group) == 1
    old = imported(server, owner.user, "Public", [{"userID": mover.user, "unreadCount": 2}])
    messages(server, old, message(1), message(2), message(3))
    await mover.call("markGroupMessageAsRead", groupID=old, seq=2)
    assert await unread_of(mover, old) == 1


async def test_an_imported_message_is_recalled_like_any_other(server, world):
    """Its window is over (10031), managers take it back at any time; unread counts go by the
    rule."""
    owner, member = await world.users("owner", "member")
    group = imported(server, owner.user, "Public", [{"userID": member.user}])
    messages(server, group, message(1, member.user), message(2))
    await member.refused(10031, "revokeGroupMessage", groupID=group, seq=1)
    await member.refused(10032, "revokeGroupMessage", groupID=group, seq=2)
    for seq in (1, 2):
        await owner.call("revokeGroupMessage", groupID=group, seq=seq)
        await member.expect("onRecvMessageRevoked", groupID=group, seq=seq)
    assert await texts_of(member, group) == [None, None]


def test_imports_are_not_bound_by_the_groups_of_a_user(make_server):
    """limits.groupsPerUser binds neither application administrators nor imports (Protocol.md,
    "Exemptions")."""
    own = make_server({"limits.groupsPerUser": 1})
    base = {"groupType": "Public", "groupName": "g"}
    group = done(own, "importGroup", **base, ownerUserID="owner")["groupID"]
    done(own, "importGroup", **base, ownerUserID="owner")
    done(own, "createGroup", **base, ownerUserID="owner")
    done(own, "importGroup", **base, ownerUserID="busy")
    rows = done(own, "importGroupMembers", groupID=group, memberList=[{"userID": "busy"}, {"userID": "free"}])["memberList"]
    assert [row["result"] for row in rows] == ["Success", "Success"]
    denied(own, 10037, "createGroup", **base, asUser="owner")


async def test_set_unread_count_errors(server, world):
    owner, outsider = await world.users("owner", "outsider")
    group = await world.group(owner)
    base = {"groupID": group, "userID": owner.user, "unreadCount": 1}
    for field in base:
        assert denied(server, -32602, "setUnreadCount", **{k: v for k, v in base.items() if k != field})["field"] == field
    denied(server, -32602, "setUnreadCount", **{**base, "unreadCount": "1"})
    denied(server, 10004, "setUnreadCount", **{**base, "unreadCount": -1})
    denied(server, 10004, "setUnreadCount", **{**base, "unreadCount": 2 ** 32})
    denied(server, 10010, "setUnreadCount", **{**base, "groupID": world.name("nowhere")})
    denied(server, 10015, "setUnreadCount", **{**base, "groupID": "a b"})
    denied(server, 10007, "setUnreadCount", **{**base, "userID": outsider.user})
    denied(server, 10007, "setUnreadCount", **{**base, "groupID": await world.group(owner, "Meeting")})
    for groupType in LIVE:
        room = live_room(server, owner.user, groupType)
        denied(server, 10007, "setUnreadCount", **{**base, "groupID": room})
        done(server, "dismissGroup", groupID=room)
    assert await unread_of(owner, group) == 0


# A restart

@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_what_was_imported_outlives_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    owner, member, middle = await world.users("owner", "member", "middle")
    group = imported(own, owner.user, "Public", [
        {"userID": member.user, "unreadCount": 2, "role": "Admin"}, {"userID": middle.user, "joinTime": THEN + 2 * DAY}])
    messages(own, group, message(1), message(2, clientMsgID="c"), message(3))
    done(own, "setUnreadCount", groupID=group, userID=middle.user, unreadCount=1)

    async def everything():
        infos = [await info_of(client, group) for client in (owner, member, middle)]
        return infos, [await history_of(client, group) for client in (owner, member, middle)]

    before = await everything()
    await restart(world, how)
    owner, member, middle = [await world.session(client.user) for client in (owner, member, middle)]
    assert await everything() == before
    assert [len(rows) for rows in before[1]] == [3, 3, 2]
    assert [await unread_of(client, group) for client in (owner, member, middle)] == [0, 2, 1]
    assert messages(own, group, message(4)) == [4]
