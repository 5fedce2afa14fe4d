"""What the databases of released versions hold: four people, and groups that have used what version 0.1.0 had. `play`
makes it in a new server, and `look` finds it in an upgraded one, whenever that is."""

LONG = 4_294_967_295  # seconds, 136 years: mutes and bans that are there whenever a test runs
TEXT = "Naïve 😀 中文 \u0000 end"
SETTINGS = {"attributes.groupTypes": "AVChatRoom,Meeting"}
PEOPLE = ("alice", "bob", "carol", "dave")


async def play(world):
    server = world.server
    alice, bob, carol, dave = [await world.session(name) for name in PEOPLE]
    await alice.call("setSelfInfo", nickName="Alice", faceURL="https://example.com/a.png", customInfo={"city": "Ulm"})

    await world.group(alice, "Work", [bob, carol], groupID="work", groupName="Plans", introduction="What we do", customInfo={"k": "v"})
    for text in ("one", TEXT, "three", "four"):
        await alice.call("sendGroupTextMessage", groupID="work", text=text)
    await bob.call("sendGroupCustomMessage", groupID="work", data='{"kind":"poll"}')
    asked = await alice.call("sendGroupTextMessage", groupID="work", text="read this", atUserIDList=["bob"], needReadReceipt=True)
    first = asked["seq"] - 5
    await alice.call("revokeGroupMessage", groupID="work", seq=first + 2)
    await alice.call("modifyGroupMessage", groupID="work", seq=first + 3, text="four, better")
    for client in (bob, carol):
        await client.call("addMessageReaction", groupID="work", seq=first, reaction="👍")
    await alice.call("pinGroupMessage", groupID="work", seq=first + 1, isPinned=True)
    await bob.call("sendMessageReadReceipts", groupID="work", seqList=[asked["seq"]])
    await bob.call("markGroupMessageAsRead", groupID="work", seq=first + 1)
    await carol.call("setGroupReceiveMessageOpt", groupID="work", opt="ReceiveNotNotify")

    await world.group(alice, "Public", [carol], [bob], groupID="club", groupName="Club", joinMode="Auth")
    await dave.call("joinGroup", groupID="club", message="please")
    await alice.call("muteGroupMember", groupID="club", userIDList=["carol"], muteTime=LONG)
    await carol.call("setGroupMemberInfo", groupID="club", userID="carol", nameCard="Caro", customInfo={"team": "red"})
    await alice.call("sendGroupTextMessage", groupID="club", text="welcome")

    await world.group(alice, "Meeting", [bob, carol], groupID="meeting", groupName="Meeting")
    await alice.call("initGroupAttributes", groupID="meeting", attributes={"topic": "tea", "place": "Ulm"})
    await alice.call("setGroupCounters", groupID="meeting", counters={"visits": 12})
    await alice.call("kickGroupMember", groupID="meeting", userIDList=["bob"], reason="late", banTime=LONG)
    await carol.call("quitGroup", groupID="meeting")
    await world.group(alice, "AVChatRoom", groupID="room", groupName="Room")
    assert server.rpc("createGroup", groupType="BChatRoom", groupID="all", groupName="All", ownerUserID="alice")["result"]
    await world.group(dave, "Public", groupID="gone", groupName="Gone")
    await dave.call("dismissGroup", groupID="gone")


async def look(world):
    """Compares everything that the people see with what they did."""
    server = world.server
    alice, bob, carol, dave = [await world.session(name) for name in PEOPLE]
    groups = {row["groupID"]: row for row in (await alice.call("getJoinedGroupList"))["groupList"]}
    assert set(groups) == {"work", "club", "meeting"}
    work = groups["work"]
    assert (work["groupName"], work["introduction"], work["customInfo"], work["owner"]) == ("Plans", "What we do", {"k": "v"}, "alice")

    # Messages, with what was done to them.
    messages = (await bob.call("getGroupHistoryMessageList", groupID="work", count=50))["messageList"]
    messages = sorted((message for message in messages if message["type"] in ("Text", "Custom")), key=lambda row: row["seq"])
    first = messages[0]["seq"]
    told = {message["seq"] - first: message.get("text") or message.get("data") for message in messages if not message.get("isRevoked")}
    assert told == {0: "one", 1: TEXT, 3: "four, better", 4: '{"kind":"poll"}', 5: "read this"}
    assert [message["seq"] - first for message in messages if message.get("isRevoked")] == [2]
    assert messages[3]["editTime"] > messages[3]["timestamp"] and messages[5]["atUserIDList"] == ["bob"]
    (reactions,) = (await alice.call("getMessageReactions", groupID="work", seqList=[first], userCount=10))["resultList"]
    (reaction,) = reactions["reactions"]
    assert (reaction["reaction"], reaction["count"]) == ("👍", 2)
    (pinned,) = (await carol.call("getPinnedGroupMessageList", groupID="work"))["messageList"]
    assert pinned["seq"] == first + 1
    (receipt,) = (await alice.call("getMessageReadReceipts", groupID="work", seqList=[first + 5]))["receiptList"]
    assert (receipt["readCount"], receipt["unreadCount"]) == (1, 1)
    (unread,) = [row["unreadCount"] for row in (await bob.call("getGroupUnreadCount", groupIDList=["work"]))["groups"]]
    # His own does not count, nor a recalled one.
    assert unread == 2
    (own,) = [row["selfInfo"] for row in (await carol.call("getJoinedGroupList"))["groupList"] if row["groupID"] == "work"]
    assert own["receiveMessageOpt"] == "ReceiveNotNotify"

    # Members, rights, attributes, counters, applications.
    members = {row["userID"]: row for row in (await alice.call("getGroupMemberList", groupID="club"))["memberList"]}
    assert {user: row["role"] for user, row in members.items()} == {"alice": "Owner", "bob": "Admin", "carol": "Member"}
    assert members["carol"]["nameCard"] == "Caro" and members["carol"]["customInfo"] == {"team": "red"}
    assert await code_of(carol.call("sendGroupTextMessage", groupID="club", text="x")) == 10017
    assert (await alice.call("getGroupAttributes", groupID="meeting"))["attributes"] == {"topic": "tea", "place": "Ulm"}
    assert (await alice.call("getGroupCounters", groupID="meeting"))["counters"] == {"visits": 12}
    (application,) = (await bob.call("getGroupApplicationList"))["applicationList"]
    await bob.call("acceptGroupApplication", applicationID=application["applicationID"])
    await dave.call("sendGroupTextMessage", groupID="club", text="thanks")
    assert (await dave.call("getUsersInfo", userIDList=["alice"]))["userList"][0]["nickName"] == "Alice"
    (ban,) = (await alice.call("getGroupBannedMembers", groupID="meeting"))["memberList"]
    assert (ban["userID"], ban["reason"]) == ("bob", "late")
    # What is new works on what is old.
    await alice.call("setConversation", groupID="work", isPinned=True, marks=["later"])
    reply = await bob.call("sendGroupTextMessage", groupID="work", text="yes", replyTo=first)
    (answer,) = (await alice.call("getGroupMessageReplies", groupID="work", seq=first))["messageList"]
    assert answer["seq"] == reply["seq"]
    assert server.rpc("getGroupsInfo", groupIDList=["gone"])["result"]["resultList"][0]["code"] != 0


async def code_of(call):
    from harness.client import Refused
    try:
        await call
    except Refused as refused:
        return refused.code
    return 0
