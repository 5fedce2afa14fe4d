"""What users keep about a group for themselves: settings of their list of conversations, a cleared history, and how much
of a history members may read (Protocol.md, "Conversations" and "History")."""
import pytest

from harness.backend import denied, done, unread_of
from harness.client import has
from harness.restarts import restart
from harness.world import history_of, info_of

pytestmark = pytest.mark.store

STORED = ["Work", "Public", "Meeting"]
SETTINGS = {"isPinned": True, "isHidden": True, "isMarkedUnread": True, "marks": ["later", "\u00e9", "e\u0301"]}


async def say(client, group, text="x", **params):
    return await client.call("sendGroupTextMessage", groupID=group, text=text, **params)


async def self_of(client, group):
    return (await info_of(client, group))["selfInfo"]


async def chosen_of(client, group):
    """The settings that selfInfo shows."""
    own = await self_of(client, group)
    return {name: own[name] for name in SETTINGS if name in own}


async def seqs_of(client, group):
    return [message["seq"] for message in await history_of(client, group)]


async def pair(world, groupType="Public", **fields):
    """A group of alice's with bob, who has two sessions."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob], **fields)
    return alice, bob, await world.session(bob.user), group


# setConversation

@pytest.mark.parametrize("groupType", STORED)
async def test_settings_are_told_to_the_users_other_sessions_alone(world, groupType):
    alice, bob, second, group = await pair(world, groupType)
    assert await bob.call("setConversation", groupID=group, **SETTINGS) == {}
    event = await second.expect("onConversationChanged", groupID=group)
    assert {name: event[name] for name in SETTINGS} == SETTINGS and set(event) == {"groupID", "opTime", *SETTINGS}
    assert await chosen_of(second, group) == SETTINGS and await chosen_of(alice, group) == {}
    for again in (SETTINGS, {"isPinned": True}, {"marks": SETTINGS["marks"] + ["later"]}):
        assert await bob.call("setConversation", groupID=group, **again) == {}
    assert await bob.call("setConversation", groupID=group, isPinned=False, isHidden=True, marks=[]) == {}
    event = await second.expect("onConversationChanged", groupID=group)
    assert set(event) == {"groupID", "opTime", "isPinned", "marks"}, "the same again is no change"
    assert event["isPinned"] is False and event["marks"] == []
    assert await chosen_of(bob, group) == {"isHidden": True, "isMarkedUnread": True}
    for client in (alice, bob):
        await client.quiet("onConversationChanged", group)
    assert (await info_of(alice, group))["lastSeq"] == 0


async def test_what_is_wrong_with_a_conversation(server, world):
    alice, bob, _, group = await pair(world)
    outsider = await world.user("outsider")
    for params in ({}, {"isPinned": None}, {"isPinned": 1}, {"marks": "m"}, {"marks": [1]}, {"isHidden": "true"}):
        await bob.refused(-32602, "setConversation", groupID=group, **params)
    for marks in ([""], ["m" * 33], ["\u00e9" * 16 + "m"], [str(number) for number in range(9)]):
        await bob.refused(10004, "setConversation", groupID=group, marks=marks)
    for method, params in (("setConversation", {"isPinned": True}), ("clearGroupHistory", {})):
        await outsider.refused(10007, method, groupID=group, **params)
        await bob.refused(10010, method, groupID=world.name("nowhere"), **params)
        await bob.refused(10015, method, groupID="a b", **params)
        assert denied(server, -32602, method, groupID=group, **params)["field"] == "asUser"
    longest = [f"{number}" + "\u00e9" * 15 + "m" for number in range(8)]
    assert await bob.call("setConversation", groupID=group, marks=longest) == {}
    assert await chosen_of(bob, group) == {"marks": longest}


@pytest.mark.parametrize("groupType", ["AVChatRoom", "BChatRoom"])
async def test_live_types_are_in_no_list_of_conversations(server, world, groupType):
    alice = await world.user("alice")
    group = done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=alice.user)["groupID"]
    await alice.refused(10007, "setConversation", groupID=group, isPinned=True)
    await alice.refused(10007, "clearGroupHistory", groupID=group)


async def test_settings_end_with_the_membership(world):
    _, bob, _, group = await pair(world)
    await bob.call("setConversation", groupID=group, **SETTINGS)
    await bob.call("quitGroup", groupID=group)
    await bob.call("joinGroup", groupID=group)
    assert await chosen_of(bob, group) == {}


# isHidden and isMarkedUnread

@pytest.mark.parametrize("groupType", STORED)
async def test_a_message_ends_is_hidden_for_all_sessions_of_those_for_whom_it_counts(world, groupType):
    alice, bob, second, group = await pair(world, groupType)
    carol = await world.user("carol")
    await alice.call("setConversation", groupID=group, isHidden=True)
    await bob.call("setConversation", groupID=group, isHidden=True)
    await second.expect("onConversationChanged", groupID=group)
    await say(alice, group)
    if groupType == "Meeting":
        await world.settle(group, alice, bob, second)
        assert await chosen_of(bob, group) == {"isHidden": True}, "a Meeting counts no unread messages"
        await say(alice, group, atUserIDList=[bob.user])
    for client in (bob, second):
        assert (await client.expect("onConversationChanged", groupID=group))["isHidden"] is False
    assert await chosen_of(bob, group) == {} and await chosen_of(alice, group) == {"isHidden": True}
    await world.settle(group, alice, bob, second)
    for client in (alice, bob, second, carol):
        await client.quiet("onConversationChanged")


async def test_what_is_not_received_ends_is_hidden_by_a_mention_alone(world):
    alice, bob, second, group = await pair(world)
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    await bob.call("setConversation", groupID=group, isHidden=True)
    await second.expect("onConversationChanged", groupID=group)
    await say(alice, group)
    await say(alice, group, onlineUserOnly=True)
    await alice.call("setGroupInfo", groupID=group, groupName="tip")
    await second.expect("onGroupInfoChanged", groupID=group)
    await second.quiet("onConversationChanged", group)
    assert await chosen_of(bob, group) == {"isHidden": True}
    await say(alice, group, atUserIDList=["@all"])
    await second.expect("onConversationChanged", groupID=group, isHidden=False)


@pytest.mark.parametrize("groupType", STORED)
async def test_a_mention_for_those_online_ends_is_hidden_as_well(world, groupType):
    alice, bob, second, group = await pair(world, groupType)
    carol = await world.user("carol")
    await alice.call("setConversation", groupID=group, isHidden=True)
    await bob.call("setConversation", groupID=group, isHidden=True)
    await second.expect("onConversationChanged", groupID=group)
    await say(alice, group, "unread for nobody", onlineUserOnly=True)
    await second.expect("onRecvNewMessage", groupID=group, message=has(text="unread for nobody"))
    assert await chosen_of(bob, group) == {"isHidden": True}
    sent = await say(alice, group, "mention", onlineUserOnly=True, atUserIDList=[bob.user])
    assert sent["status"] == "Delivered" and "seq" not in sent
    for client in (bob, second):
        await client.expect("onRecvNewMessage", groupID=group, message=has(text="mention"))
        await client.expect("onConversationChanged", groupID=group, isHidden=False)
    assert await chosen_of(bob, group) == {} and await chosen_of(alice, group) == {"isHidden": True}
    assert await seqs_of(bob, group) == [] and (await self_of(bob, group))["unreadCount"] == 0
    await world.settle(group, alice, bob, second)
    for client in (alice, bob, second, carol):
        await client.quiet("onConversationChanged")


async def test_reading_ends_the_users_own_mark(world):
    alice, bob, second, group = await pair(world)
    await say(alice, group)
    await bob.call("markGroupMessageAsRead", groupID=group)
    await second.expect("onConversationRead", groupID=group, readSeq=1)
    await bob.call("setConversation", groupID=group, isMarkedUnread=True)
    await second.expect("onConversationChanged", groupID=group, isMarkedUnread=True)
    await bob.call("markGroupMessageAsRead", groupID=group)
    assert set(await second.expect("onConversationChanged", groupID=group)) == {"groupID", "opTime", "isMarkedUnread"}
    assert await chosen_of(bob, group) == {}
    for client in (alice, bob, second):
        await client.quiet("onConversationRead", group)
        await client.quiet("onConversationChanged", group)


# clearGroupHistory

@pytest.mark.parametrize("groupType", STORED)
async def test_a_cleared_history_is_invisible_to_one_user_alone(world, groupType):
    alice, bob, second, group = await pair(world, groupType)
    for number in range(3):
        await say(alice, group, f"{number}")
    before = await info_of(alice, group)
    assert await bob.call("clearGroupHistory", groupID=group) == {"clearedSeq": 3}
    event = await second.expect("onConversationChanged", groupID=group)
    assert set(event) == {"groupID", "opTime", "clearedSeq"} and event["clearedSeq"] == 3
    info = await info_of(bob, group)
    assert info["firstSeq"] == 4 and info["lastSeq"] == 3 and "lastMessage" not in info
    assert await unread_of(bob, group) == 0
    assert await seqs_of(bob, group) == []
    position = {"groupID": group, "epoch": info["epoch"], "seq": 0, "changeSeq": 0}
    (row,) = (await bob.call("syncGroups", groups=[position]))["groups"]
    assert row["recovered"] and row["messageList"] == [] and row["changeList"] == [] and row["lastSeq"] == 3
    for method, params in (("addMessageReaction", {"seq": 3, "reaction": "r"}), ("revokeGroupMessage", {"seq": 3})):
        await bob.refused(10030, method, groupID=group, **params)
    assert await bob.call("clearGroupHistory", groupID=group) == {"clearedSeq": 3}
    assert await info_of(alice, group) == before and await seqs_of(alice, group) == [1, 2, 3]
    # Changes of what is cleared are no news; what comes next is.
    await alice.call("modifyGroupMessage", groupID=group, seq=1, text="edited")
    await alice.expect("onRecvMessageModified", groupID=group)
    await say(alice, group, "new")
    await second.expect("onRecvNewMessage", groupID=group, message=has(text="new"))
    assert await seqs_of(second, group) == [4]
    for client in (alice, bob, second):
        await client.quiet("onConversationChanged", group)
    for client in (bob, second):
        assert not client.received("onRecvMessageModified", groupID=group)


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_a_history_stays_cleared_for_who_comes_back(world, groupType):
    alice, bob, _, group = await pair(world, groupType)
    await say(alice, group)
    await bob.call("clearGroupHistory", groupID=group)
    await bob.call("quitGroup", groupID=group)
    await say(alice, group)
    await bob.call("joinGroup", groupID=group)
    await say(alice, group)
    seen = await seqs_of(bob, group)
    assert seen and 1 not in seen and (await info_of(bob, group))["firstSeq"] == 2
    await bob.refused(10030, "addMessageReaction", groupID=group, seq=1, reaction="r")


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_conversations_outlive_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group, shown, mentioned = [await world.group(alice, members=[bob]) for _ in range(3)]
    for each in (group, shown, mentioned):
        await say(alice, each)
        await bob.call("setConversation", groupID=each, **SETTINGS)
    await bob.call("clearGroupHistory", groupID=group)
    await say(alice, shown)
    await bob.expect("onConversationChanged", groupID=shown, isHidden=False)
    await say(alice, mentioned, onlineUserOnly=True, atUserIDList=[bob.user])
    await bob.expect("onConversationChanged", groupID=mentioned, isHidden=False)
    names = [client.user for client in (alice, bob)]
    await restart(world, how)
    alice, bob = [await world.session(name) for name in names]
    assert await chosen_of(bob, group) == SETTINGS
    for each in (shown, mentioned):
        assert await chosen_of(bob, each) == {name: value for name, value in SETTINGS.items() if name != "isHidden"}
    for each, seqs in ((group, []), (shown, [1, 2]), (mentioned, [1])):
        assert await seqs_of(bob, each) == seqs
    await say(alice, group)
    await bob.expect("onConversationChanged", groupID=group, isHidden=False)


# historyVisibility

@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_a_policy_decides_how_much_members_read(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, memberChangeNotification=False)
    await say(alice, group)
    await bob.call("joinGroup", groupID=group)
    default, other = ("All", "Joined") if groupType == "Meeting" else ("Joined", "All")
    for value in (default, other, default):
        await alice.call("setGroupInfo", groupID=group, historyVisibility=value)
        info = await info_of(bob, group)
        assert info["historyVisibility"] == value
        assert (1 in await seqs_of(bob, group)) == (value == "All")
        assert info["selfInfo"]["unreadCount"] == 0, "unread counts begin with the join in any case"
        found = await bob.call("getMessageReactions", groupID=group, seqList=[1])
        assert [row["seq"] for row in found["resultList"]] == ([1] if value == "All" else [])
    await bob.call("setConversation", groupID=group, isPinned=True)
    await alice.refused(10004, "setGroupInfo", groupID=group, historyVisibility="Nobody")
    await bob.refused(10007, "setGroupInfo", groupID=group, historyVisibility=other)


async def test_events_of_changes_follow_the_policy(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, memberChangeNotification=False)
    await say(alice, group)
    await bob.call("joinGroup", groupID=group)
    await alice.call("modifyGroupMessage", groupID=group, seq=1, text="hidden")
    await alice.expect("onRecvMessageModified", groupID=group, message=has(text="hidden"))
    await alice.call("setGroupInfo", groupID=group, historyVisibility="All")
    await alice.call("modifyGroupMessage", groupID=group, seq=1, text="shown")
    event = await bob.expect("onRecvMessageModified", groupID=group)
    assert event["message"]["text"] == "shown", "and nothing before it"


# updatedSince, and receive options

async def test_a_message_that_is_not_received_is_no_change_of_the_list(frozen_world):
    world = frozen_world
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    await world.server.advance(seconds=1)
    stamp = (await say(alice, group))["timestamp"]

    async def listed(client):
        answer = await client.call("getJoinedGroupList", updatedSince=stamp)
        return [row["groupID"] for row in answer["groupList"]]

    assert await listed(bob) == [] and await listed(carol) == [group]
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt="Receive")
    assert await listed(bob) == [group], "the own view has changed"


async def test_notify_from_managers_receives_every_message(world):
    alice, bob, second, group = await pair(world)
    carol = await world.user("carol")
    await carol.call("joinGroup", groupID=group)
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt="NotifyFromManagers")
    await second.expect("onReceiveMessageOptChanged", groupID=group, opt="NotifyFromManagers")
    assert (await self_of(bob, group))["receiveMessageOpt"] == "NotifyFromManagers"
    third = await world.session(bob.user)
    for sender in (alice, carol):
        await say(sender, group, sender.user)
        for client in (bob, second, third):
            await client.expect("onRecvNewMessage", groupID=group, message=has(text=sender.user))
    assert await unread_of(bob, group) == 2
