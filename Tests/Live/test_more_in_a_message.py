"""Extensions, flags, replies and targeted messages over real connections, above all who must not see
them (Protocol.md, "Extension", "Silent messages", "Replies" and "Targeted messages")."""
import pytest

from harness.client import has
from harness.receiver import Receiver
from harness.room import Backend, Room
from harness.world import history_of, info_of

pytestmark = pytest.mark.store

STORING = ["Work", "Public", "Meeting"]


async def said(client, group, text="t", **params):
    """Sends a text; gives its seq."""
    result = await client.call("sendGroupTextMessage", groupID=group, text=text, **params)
    assert result["status"] == "Stored"
    return result["seq"]


async def seqs_of(client, group, *wanted):
    """The seqs of getGroupMessages, in its order."""
    answer = await client.call("getGroupMessages", groupID=group, seqList=list(wanted))
    return [message["seq"] for message in answer["messageList"]]


async def epoch_of(client, group):
    return (await info_of(client, group))["epoch"]


async def unread_of(client, group):
    return (await client.call("getGroupUnreadCount", groupIDList=[group]))["totalCount"]


# Extension and flags


@pytest.mark.parametrize("groupType", STORING)
async def test_an_extension_is_shown_everywhere_and_edited(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    sent = await room.member.call("sendGroupCustomMessage", groupID=room.group, data="d", extension='{"a":"\u00e9"}')
    event = await room.owner.expect("onRecvNewMessage", groupID=room.group, message=has(extension='{"a":"\u00e9"}'))
    (message,) = [m for m in await history_of(room.other, room.group) if m["seq"] == sent["seq"]]
    assert message == event["message"] and (await info_of(room.other, room.group))["lastMessage"] == message
    answer = await room.member.call("modifyGroupMessage", groupID=room.group, seq=sent["seq"], extension="new")
    modified = await room.told("onRecvMessageModified", room.members)
    assert modified["message"] == {**message, "extension": "new", "changeSeq": 1, "editTime": answer["editTime"]}
    assert await room.member.call("modifyGroupMessage", groupID=room.group, seq=sent["seq"], data="d", extension="new") == {}
    await room.member.call("modifyGroupMessage", groupID=room.group, seq=sent["seq"], extension="")
    answer = await room.owner.call("getGroupMessages", groupID=room.group, seqList=[sent["seq"]])
    assert "extension" not in answer["messageList"][0] and answer["messageList"][0]["data"] == "d"
    for params in ({}, {"extension": None}):
        await room.refuses(-32602, room.member, "modifyGroupMessage", seq=sent["seq"], **params)
    await room.refuses(10004, room.member, "modifyGroupMessage", seq=sent["seq"], extension="x" * 4097)


async def test_the_longest_extension_and_one_byte_more(frozen_world):
    room = await Room.make(frozen_world)
    longest = "\u20ac" * 1365 + "x"
    assert len(longest.encode()) == 4096
    seq = await said(room.member, room.group, extension=longest)
    answer = await room.owner.call("getGroupMessages", groupID=room.group, seqList=[seq])
    assert answer["messageList"][0]["extension"] == longest
    for method, content in (("sendGroupTextMessage", {"text": "t"}), ("sendGroupCustomMessage", {"data": "d"})):
        await room.refuses(10004, room.member, method, extension=longest + "x", **content)
        await room.refuses(10004, room.administrator, method, extension=longest + "x", **content)
        await room.refuses(-32602, room.member, method, extension=5, **content)


@pytest.mark.parametrize("groupType", ["AVChatRoom", "BChatRoom"])
async def test_live_types_carry_the_extension_and_no_flags(frozen_world, groupType):
    owner, other = await frozen_world.users("owner", "other")
    backend = Backend(frozen_world.server)
    if groupType == "BChatRoom":
        answer = await backend.call("createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)
        group = answer["groupID"]
    else:
        group = await frozen_world.group(owner, groupType, members=[other])
    await owner.call(
        "sendGroupTextMessage", groupID=group, text="t", extension="e", isExcludedFromUnreadCount=True,
        isExcludedFromLastMessage=True)
    message = (await other.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["extension"] == "e"
    assert "isExcludedFromUnreadCount" not in message and "isExcludedFromLastMessage" not in message
    await owner.refused(10007, "sendGroupTextMessage", groupID=group, text="t", toUserIDList=[other.user])
    await owner.refused(10033, "sendGroupTextMessage", groupID=group, text="t", replyTo=1)
    await owner.refused(10033, "getGroupMessages", groupID=group, seqList=[1])
    await owner.refused(10033, "getGroupMessageReplies", groupID=group, seq=1)


async def test_flags_keep_counts_and_the_last_message_as_they_were(frozen_world):
    room = await Room.make(frozen_world)
    await said(room.member, room.group, "shown")
    before, unread = await info_of(room.owner, room.group), await unread_of(room.owner, room.group)
    await room.world.server.advance(5)
    now = (await room.owner.call("ping"))["serverTime"]
    seq = await said(room.member, room.group, isExcludedFromUnreadCount=True, isExcludedFromLastMessage=True)
    for client in room.sessions_but("member", "outsider"):
        message = (await client.expect("onRecvNewMessage", groupID=room.group, message=has(seq=seq)))["message"]
        assert message["isExcludedFromUnreadCount"] is True and message["isExcludedFromLastMessage"] is True
    after = await info_of(room.owner, room.group)
    assert after["lastMessage"] == before["lastMessage"] and after["lastMessageTime"] == before["lastMessageTime"]
    assert after["lastSeq"] == seq and await unread_of(room.owner, room.group) == unread
    listed = await room.owner.call("getJoinedGroupList", updatedSince=now)
    assert room.group not in [row["groupID"] for row in listed["groupList"]]
    await said(room.member, room.group)
    listed = await room.owner.call("getJoinedGroupList", updatedSince=now)
    assert room.group in [row["groupID"] for row in listed["groupList"]]


# Replies


@pytest.mark.parametrize("groupType", STORING)
async def test_replies_are_counted_and_listed(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    first = await said(room.member, room.group)
    replies = [await said(room.other, room.group, f"r{n}", replyTo=first) for n in range(5)]
    event = await room.owner.expect("onRecvNewMessage", groupID=room.group, message=has(seq=replies[0]))
    assert event["message"]["replyTo"] == {"seq": first, "sender": room.member.user} and "replyCount" not in event["message"]
    page = await room.owner.call("getGroupMessageReplies", groupID=room.group, seq=first, count=3)
    assert [m["seq"] for m in page["messageList"]] == replies[:3] and page["totalCount"] == 5
    rest = await room.owner.call("getGroupMessageReplies", groupID=room.group, seq=first, count=3, nextSeq=page["nextSeq"])
    assert [m["seq"] for m in rest["messageList"]] == replies[3:] and rest["nextSeq"] == 0
    shown = {m["seq"]: m.get("replyCount") for m in await history_of(room.owner, room.group)}
    assert shown[first] == 5 and all(shown[seq] is None for seq in replies)
    await room.other.call("revokeGroupMessage", groupID=room.group, seq=replies[0])
    await room.member.call("revokeGroupMessage", groupID=room.group, seq=first)
    page = await room.owner.call("getGroupMessageReplies", groupID=room.group, seq=first)
    assert [m["seq"] for m in page["messageList"]] == replies[1:] and page["totalCount"] == 4
    assert all(m["replyTo"]["seq"] == first for m in page["messageList"])
    await room.refuses(10030, room.member, "sendGroupTextMessage", text="t", replyTo=first)
    await room.refuses(10030, room.member, "getGroupMessageReplies", seq=replies[-1] + 100)
    await room.outsider.refused(10007, "getGroupMessageReplies", groupID=room.group, seq=first)


async def test_a_reply_is_refused_after_a_repeated_send_and_before_a_mute(frozen_world):
    room = await Room.make(frozen_world)
    first = await said(room.member, room.group)
    reply = {"groupID": room.group, "text": "r", "replyTo": first, "clientMsgID": "c"}
    sent = await room.other.call("sendGroupTextMessage", **reply)
    await room.member.call("revokeGroupMessage", groupID=room.group, seq=first)
    assert await room.other.call("sendGroupTextMessage", **reply) == sent
    await room.owner.call("muteGroup", groupID=room.group, mode="All")
    await room.refuses(10030, room.other, "sendGroupTextMessage", text="r", replyTo=first)
    await room.refuses(10017, room.other, "sendGroupTextMessage", text="r", replyTo=sent["seq"])
    await room.refuses(10004, room.other, "sendGroupTextMessage", text="r", toUserIDList=[room.outsider.user])
    await room.refuses(10017, room.other, "sendGroupTextMessage", text="r", toUserIDList=[room.owner.user])


# Targeted messages


@pytest.mark.parametrize("groupType", STORING)
async def test_a_targeted_message_reaches_those_named_alone(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    again = await room.second("member")
    before = await said(room.member, room.group, "before")
    await room.settle()
    room.forget()
    seq = await said(room.member, room.group, "secret", toUserIDList=[room.owner.user, room.owner.user, room.outsider.user])
    seen = await room.told("onRecvNewMessage", [room.owner, again], message=has(seq=seq))
    assert seen["message"]["toUserIDList"] == [room.owner.user]
    after = await said(room.member, room.group, "after")
    for client, sees in ((room.owner, True), (room.member, True), (room.administrator, True), (room.other, False)):
        expected = [before, seq, after] if sees else [before, after]
        history = await client.call("getGroupHistoryMessageList", groupID=room.group, count=len(expected))
        assert [m["seq"] for m in history["messageList"]] == expected[::-1]
        assert await seqs_of(client, room.group, after, seq, before) == ([after, seq, before] if sees else [after, before])
        if client is room.administrator:
            continue
        row, = (await client.call("syncGroups", groups=[{
            "groupID": room.group, "epoch": await epoch_of(client, room.group), "seq": before, "changeSeq": 0}]))["groups"]
        assert row["recovered"] and not row["more"] and row["lastSeq"] == after
        assert [m["seq"] for m in row["messageList"]] == expected[1:]
        assert (await info_of(client, room.group))["lastMessage"]["seq"] == after


async def test_changes_of_a_targeted_message_are_told_to_those_named(frozen_world):
    room = await Room.make(frozen_world)
    seq = await said(room.member, room.group, "secret", toUserIDList=[room.other.user])
    await room.settle()
    room.forget()
    those = [room.member, room.other]
    await room.member.call("modifyGroupMessage", groupID=room.group, seq=seq, text="changed")
    await room.told("onRecvMessageModified", those)
    await room.other.call("addMessageReaction", groupID=room.group, seq=seq, reaction="r")
    # It leaves 55 ms behind the event of the edit.
    await frozen_world.server.advance(seconds=0.055)
    await room.told("onRecvMessageReactionsChanged", those)
    # The owner may pin and recall what is said, and does not see this.
    await room.refuses(10030, room.owner, "pinGroupMessage", seq=seq, isPinned=True)
    await room.refuses(10030, room.admin, "revokeGroupMessage", seq=seq)
    await room.administrator.call("pinGroupMessage", groupID=room.group, seq=seq, isPinned=True)
    await room.told("onGroupMessagePinned", those)
    assert (await room.owner.call("getPinnedGroupMessageList", groupID=room.group))["messageList"] == []
    await room.member.call("revokeGroupMessage", groupID=room.group, seq=seq)
    await room.told("onRecvMessageRevoked", those)
    row, = (await room.owner.call("syncGroups", groups=[{
        "groupID": room.group, "epoch": await epoch_of(room.owner, room.group), "seq": seq, "changeSeq": 0}]))["groups"]
    assert row["changeList"] == [] and row["changeSeq"] == 4 and row["recovered"]


async def test_receipts_of_a_targeted_message_count_those_named(frozen_world):
    room = await Room.make(frozen_world)
    seq = await said(room.member, room.group, toUserIDList=[room.other.user, room.owner.user], needReadReceipt=True)
    await room.admin.call("sendMessageReadReceipts", groupID=room.group, seqList=[seq])
    await room.other.call("sendMessageReadReceipts", groupID=room.group, seqList=[seq])
    answer = await room.member.call("getMessageReadReceipts", groupID=room.group, seqList=[seq])
    assert answer["receiptList"] == [{"seq": seq, "readCount": 1, "unreadCount": 1}]
    listed = await room.member.call("getGroupMessageReadMemberList", groupID=room.group, seq=seq, filter="Unread")
    assert [row["userID"] for row in listed["memberList"]] == [room.owner.user]
    await room.refuses(10030, room.admin, "getGroupMessageReadMemberList", seq=seq)


async def test_bad_targets(frozen_world):
    room = await Room.make(frozen_world)
    named = {"toUserIDList": [room.owner.user]}
    for params in (
        {"toUserIDList": []}, {"toUserIDList": [f"u{n}" for n in range(51)]}, {"toUserIDList": ["@x"]},
        {"toUserIDList": [room.member.user]}, {"toUserIDList": [room.outsider.user, "nobody"]},
        {**named, "atUserIDList": [room.owner.user]}, {**named, "onlineUserOnly": True},
    ):
        await room.refuses(10004, room.member, "sendGroupTextMessage", text="t", **params)
    await room.refuses(-32602, room.member, "sendGroupTextMessage", text="t", toUserIDList="owner")
    fifty = [room.owner.user] + [f"u{n}" for n in range(49)]
    seq = await said(room.member, room.group, toUserIDList=fifty, atUserIDList=[], onlineUserOnly=False)
    answer = await room.owner.call("getGroupMessages", groupID=room.group, seqList=[seq])
    assert answer["messageList"][0]["toUserIDList"] == [room.owner.user]


# Over restarts, and for the application


async def test_everything_is_there_after_a_crash(make_server, make_world):
    own = make_server()
    world = make_world(own)
    room = await Room.make(world)
    first = await said(room.member, room.group, "first", extension="e")
    secret = await said(room.member, room.group, "secret", toUserIDList=[room.owner.user], replyTo=first)
    hidden = await said(room.member, room.group, "hidden", isExcludedFromLastMessage=True, isExcludedFromUnreadCount=True)
    unread = await unread_of(room.owner, room.group)
    users = {name: getattr(room, name).user for name in ("owner", "other")}
    await world.close()
    own.kill()
    own.start()
    again = make_world(own)
    owner, other = [await again.session(users[name]) for name in ("owner", "other")]
    messages = {m["seq"]: m for m in await history_of(owner, room.group)}
    assert messages[first]["extension"] == "e" and messages[first]["replyCount"] == 1
    assert messages[secret]["toUserIDList"] == [users["owner"]] and messages[secret]["replyTo"]["seq"] == first
    assert messages[hidden]["isExcludedFromLastMessage"] and messages[hidden]["isExcludedFromUnreadCount"]
    assert await unread_of(owner, room.group) == unread
    for client in (owner, other):
        info = await info_of(client, room.group)
        assert info["lastSeq"] == hidden and info["lastMessage"]["seq"] == first
    assert secret not in [m["seq"] for m in await history_of(other, room.group)]
    assert "replyCount" not in {m["seq"]: m for m in await history_of(other, room.group)}[first]


async def test_the_application_is_asked_and_told_with_everything(make_server, make_world):
    with Receiver() as receiver:
        own = make_server(receiver.settings("beforeSendMessage", "beforeModifyMessage", "messageSent", "offlinePush"))
        room = await Room.make(make_world(own))
        first = await said(room.member, room.group)
        # Somebody who is not here: devices are told.
        away = room.world.name("away")
        await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[away])
        seq = await said(
            room.member, room.group, "secret", extension="e", replyTo=first, isExcludedFromUnreadCount=True,
            toUserIDList=[away, room.other.user])
        asked = (await receiver.expect("beforeSendMessage", 2))[-1].data["message"]
        assert asked == {
            "type": "Text", "text": "secret", "priority": "Normal", "extension": "e", "replyTo": first,
            "isExcludedFromUnreadCount": True, "toUserIDList": [away, room.other.user]}
        sent = (await receiver.expect("messageSent", 2))[-1].data["message"]
        assert sent["seq"] == seq and sent["toUserIDList"] == [away, room.other.user] and sent["extension"] == "e"
        pushed = [request.data for request in await receiver.expect("offlinePush") if request.data["message"]["seq"] == seq]
        assert [data["userIDList"] for data in pushed] == [[away]]
        await room.member.call("modifyGroupMessage", groupID=room.group, seq=seq, extension="f")
        edit = (await receiver.expect("beforeModifyMessage"))[-1].data["message"]
        assert edit["text"] == "secret" and edit["extension"] == "f" and edit["seq"] == seq and edit["replyTo"] == first


async def test_an_import_keeps_the_extension(frozen_world):
    owner = await frozen_world.user("owner")
    backend = Backend(frozen_world.server)
    group = (await backend.call("importGroup", groupType="Public", groupName="g", ownerUserID=owner.user))["groupID"]
    rows = [{"sender": owner.user, "timestamp": 1_600_000_000_000, "text": "t", "extension": "e"}]
    answer = await backend.call("importGroupMessages", groupID=group, messageList=rows)
    assert answer["resultList"] == [{"seq": 1, "code": 0}]
    (message,) = await history_of(owner, group)
    assert message["extension"] == "e"
    rows[0]["extension"] = "x" * 4097
    await backend.refused(10004, "importGroupMessages", groupID=group, messageList=rows)
