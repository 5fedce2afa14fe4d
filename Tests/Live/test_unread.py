"""Unread counts, read marks, and receive options (Protocol.md, "Unread counts")."""
import asyncio

import pytest

from harness.backend import all_answers, denied, done, unread_of
from harness.client import has
from harness.world import history_of, info_of

OPTIONS = ["Receive", "NotReceive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"]
DEFAULTS = {"Work": "Receive", "Public": "Receive", "Meeting": "ReceiveNotNotify", "AVChatRoom": "ReceiveNotNotify"}


async def say(client, group, text="x", **params):
    return await client.call("sendGroupTextMessage", groupID=group, text=text, **params)


async def choose(client, group, opt):
    assert await client.call("setGroupReceiveMessageOpt", groupID=group, opt=opt) == {}


async def self_of(client, group):
    return (await info_of(client, group))["selfInfo"]


# Counted messages

@pytest.mark.parametrize("groupType", ["Work", "Public"])
async def test_text_and_custom_of_others_after_the_read_mark_count(server, world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    assert await unread_of(bob, group) == 0
    await say(alice, group)
    await alice.call("sendGroupCustomMessage", groupID=group, data="x")
    done(server, "sendGroupTextMessage", groupID=group, text="from above")
    assert await unread_of(bob, group) == 3
    await say(bob, group, "own")
    assert await unread_of(bob, group) == 3, "one's own do not count, nor do they mark anything as read"
    assert await unread_of(alice, group) == 2
    assert (await self_of(bob, group))["readSeq"] == 0


async def test_tips_and_online_messages_do_not_count(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob])
    await say(alice, group)
    await alice.call("setGroupInfo", groupID=group, groupName="tip")
    await carol.call("joinGroup", groupID=group)
    await carol.call("quitGroup", groupID=group)
    await say(alice, group, "now", onlineUserOnly=True)
    assert await unread_of(bob, group) == 1
    await say(alice, group)
    assert await unread_of(bob, group) == 2
    assert (await info_of(bob, group))["lastSeq"] == 5


@pytest.mark.parametrize("groupType", ["Meeting", "AVChatRoom"])
async def test_a_meeting_and_a_live_room_have_no_unread_count(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    await say(alice, group)
    await bob.expect("onRecvNewMessage", groupID=group)
    assert await unread_of(bob, group) == 0


async def test_a_mention_counts_like_any_other_message(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group, atUserIDList=[bob.user])
    message = (await bob.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["atUserIDList"] == [bob.user]
    await say(alice, group, atUserIDList=["@all"])
    assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["atUserIDList"] == ["@all"]
    assert await unread_of(bob, group) == 2
    assert [message["atUserIDList"] for message in await history_of(bob, group)] == [[bob.user], ["@all"]]


async def test_a_joiner_has_nothing_unread_and_a_returner_only_what_came_since(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    await say(alice, group, "before")
    await bob.call("joinGroup", groupID=group)
    assert await unread_of(bob, group) == 0
    await say(alice, group, "seen")
    assert await unread_of(bob, group) == 1
    await bob.call("markGroupMessageAsRead", groupID=group)
    await bob.call("quitGroup", groupID=group)
    await say(alice, group, "between")
    await bob.call("joinGroup", groupID=group)
    assert await unread_of(bob, group) == 0
    await say(alice, group, "after")
    assert await unread_of(bob, group) == 1


async def test_a_new_owner_and_a_new_admin_keep_their_counts(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group)
    await alice.call("setGroupMemberRole", groupID=group, userID=bob.user, role="Admin")
    await alice.call("transferGroupOwner", groupID=group, userID=bob.user)
    assert await unread_of(bob, group) == 1


# Read marks

async def test_marking_all_as_read_is_told_to_the_users_other_sessions(world):
    alice, bob = await world.users("alice", "bob")
    phone, web = await world.session(bob.user, platform="iOS"), await world.session(bob.user, platform="Web")
    group = await world.group(alice, members=[bob])
    for _ in range(3):
        await say(alice, group)
    assert await phone.call("markGroupMessageAsRead", groupID=group) == {}
    for client in (bob, web):
        event = await client.expect("onConversationRead", groupID=group)
        assert event["readSeq"] == 3 and event["opTime"] > 1_600_000_000_000
    for client in (bob, phone, web):
        assert await unread_of(client, group) == 0
    assert (await self_of(web, group))["readSeq"] == 3
    assert not phone.received("onConversationRead"), "the session that marked is not told"
    await world.settle(group, bob, alice)
    assert not alice.received("onConversationRead"), "it is nobody else's business"
    assert (await self_of(alice, group))["readSeq"] == 0


async def test_a_mark_moves_forward_only_and_at_most_to_the_last_seq(world):
    alice, bob = await world.users("alice", "bob")
    second = await world.session(bob.user)
    group = await world.group(alice, members=[bob])
    for _ in range(5):
        await say(alice, group)
    for seq, moved, unread in [(2, 2, 3), (4, 4, 1), (3, None, 1), (1, None, 1), (4, None, 1), (99, 5, 0), (5, None, 0),
                               (None, None, 0)]:
        await bob.call("markGroupMessageAsRead", groupID=group, **({} if seq is None else {"seq": seq}))
        assert await unread_of(bob, group) == unread
        await second.round_trip(group)
        assert [event["readSeq"] for event in second.received("onConversationRead")] == ([moved] if moved else []), seq
        second.forget()
    await say(alice, group)
    assert await unread_of(bob, group) == 1


async def test_the_count_is_exact_over_a_long_history(world):
    """Marks and recalls far behind the newest messages."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    answers = await all_answers(alice, [("sendGroupTextMessage", {"groupID": group, "text": "x"})] * 700)
    assert [answer["seq"] for answer in answers] == list(range(1, 701))
    assert await unread_of(bob, group) == 700
    for seq, mark, unread in [(3, None, 699), (None, 300, 400), (290, None, 400), (310, None, 399), (700, 650, 49)]:
        if seq:
            await alice.call("revokeGroupMessage", groupID=group, seq=seq)
        if mark:
            await bob.call("markGroupMessageAsRead", groupID=group, seq=mark)
        assert await unread_of(bob, group) == unread, (seq, mark)


async def test_a_mark_over_ones_own_messages_and_tips(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group)                                                     # 1
    await say(bob, group)                                                       # 2
    await alice.call("setGroupInfo", groupID=group, introduction="tip")         # 3
    await say(alice, group)                                                     # 4
    for seq, unread in [(1, 1), (2, 1), (3, 1), (4, 0)]:
        await bob.call("markGroupMessageAsRead", groupID=group, seq=seq)
        assert await unread_of(bob, group) == unread


@pytest.mark.parametrize("groupType", ["AVChatRoom", "BChatRoom"])
async def test_in_rooms_without_history_a_mark_is_a_success_that_does_nothing(server, world, groupType):
    alice = await world.user("alice")
    group = done(server, "createGroup", groupType=groupType, groupName="g", ownerUserID=alice.user)["groupID"]
    second = await world.session(alice.user)
    await say(alice, group)
    for params in ({}, {"seq": 1}, {"seq": 7}):
        assert await alice.call("markGroupMessageAsRead", groupID=group, **params) == {}
    await second.quiet("onConversationRead", group=group)
    done(server, "dismissGroup", groupID=group)


async def test_a_mark_in_a_meeting_moves_and_is_told(world):
    """Its unread count is always 0, the mark itself is there for the devices of a user."""
    alice, bob = await world.users("alice", "bob")
    second = await world.session(bob.user)
    group = await world.group(alice, "Meeting", [bob])
    await say(alice, group)
    await bob.call("markGroupMessageAsRead", groupID=group)
    assert (await second.expect("onConversationRead", groupID=group))["readSeq"] == 1
    assert (await self_of(second, group))["readSeq"] == 1


async def test_what_is_wrong_with_a_mark(server, world):
    alice, outsider = await world.users("alice", "outsider")
    group = await world.group(alice)
    await outsider.refused(10007, "markGroupMessageAsRead", groupID=group)
    await alice.refused(10010, "markGroupMessageAsRead", groupID=world.name("nowhere"))
    await alice.refused(10015, "markGroupMessageAsRead", groupID="a b")
    for below in (0, -1):
        await alice.refused(10004, "markGroupMessageAsRead", groupID=group, seq=below)
    await alice.refused(-32602, "markGroupMessageAsRead", groupID=group, seq="1")
    assert (await alice.refused(-32602, "markGroupMessageAsRead"))["field"] == "groupID"
    assert denied(server, -32602, "markGroupMessageAsRead", groupID=group)["field"] == "asUser"


async def test_a_mark_through_as_user_is_told_to_all_sessions(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group)
    done(server, "markGroupMessageAsRead", groupID=group, asUser=bob.user)
    assert (await bob.expect("onConversationRead", groupID=group))["readSeq"] == 1


# getGroupUnreadCount

async def test_the_counts_of_several_groups_and_their_sum(server, world):
    alice, bob = await world.users("alice", "bob")
    groups = {}
    for groupType, messages in [("Work", 1), ("Public", 2), ("Public", 0), ("Meeting", 3), ("AVChatRoom", 1)]:
        group = await world.group(alice, groupType, [bob])
        for _ in range(messages):
            await say(alice, group)
        groups[group] = messages if groupType in ("Work", "Public") else 0
    answer = await bob.call("getGroupUnreadCount", groupIDList=list(groups))
    assert {row["groupID"]: row["unreadCount"] for row in answer["groups"]} == groups
    assert answer["totalCount"] == 3
    for given in ({}, {"groupIDList": []}, {"groupIDList": None}):
        answer = await bob.call("getGroupUnreadCount", **given)
        counts = {row["groupID"]: row["unreadCount"] for row in answer["groups"]}
        assert answer["totalCount"] == 3 and set(counts) <= set(groups)
        assert {group: count for group, count in counts.items() if count} == {g: c for g, c in groups.items() if c}
    assert (await alice.call("getGroupUnreadCount"))["totalCount"] == 0
    assert done(server, "getGroupUnreadCount", asUser=bob.user)["totalCount"] == 3


async def test_a_group_that_was_left_or_disbanded_is_not_in_the_sum(world):
    alice, bob = await world.users("alice", "bob")
    left, gone, kept = [await world.group(alice, members=[bob]) for _ in range(3)]
    for group in (left, gone, kept):
        await say(alice, group)
    assert (await bob.call("getGroupUnreadCount"))["totalCount"] == 3
    await bob.call("quitGroup", groupID=left)
    await alice.call("dismissGroup", groupID=gone)
    answer = await bob.call("getGroupUnreadCount")
    assert answer["totalCount"] == 1 and not {left, gone} & {row["groupID"] for row in answer["groups"]}


async def test_the_list_errors_as_a_whole(server, world):
    alice, bob = await world.users("alice", "bob")
    group, foreign = await world.group(alice, members=[bob]), await world.group(alice)
    await bob.refused(10010, "getGroupUnreadCount", groupIDList=[group, world.name("nowhere")])
    await bob.refused(10007, "getGroupUnreadCount", groupIDList=[group, foreign])
    await bob.refused(10015, "getGroupUnreadCount", groupIDList=[group, "a b"])
    await bob.refused(10004, "getGroupUnreadCount", groupIDList=[group] + [f"g{n}" for n in range(200)])
    await bob.refused(-32602, "getGroupUnreadCount", groupIDList=group)
    assert denied(server, -32602, "getGroupUnreadCount")["field"] == "asUser"


# Receive options

@pytest.mark.parametrize("groupType", DEFAULTS)
async def test_the_option_is_kept_and_told_to_the_users_other_sessions(world, groupType):
    alice, bob = await world.users("alice", "bob")
    second = await world.session(bob.user)
    group = await world.group(alice, groupType, [bob])
    assert (await self_of(bob, group))["receiveMessageOpt"] == DEFAULTS[groupType]
    for opt in [option for option in OPTIONS if option != DEFAULTS[groupType]] + [DEFAULTS[groupType]]:
        await choose(bob, group, opt)
        event = await second.expect("onReceiveMessageOptChanged", groupID=group)
        assert event["opt"] == opt and event["opTime"] > 1_600_000_000_000
        assert (await self_of(second, group))["receiveMessageOpt"] == opt
        assert (await self_of(alice, group))["receiveMessageOpt"] == DEFAULTS[groupType]
    assert not bob.received("onReceiveMessageOptChanged") and not alice.received("onReceiveMessageOptChanged")
    assert (await info_of(alice, group))["lastSeq"] == 0, "a receive option is no change that members see"


async def test_what_is_wrong_with_an_option(server, world):
    alice, bob, outsider = await world.users("alice", "bob", "outsider")
    group = await world.group(alice, members=[bob])
    for opt in ("", "receive", "ReceiveAll"):
        await bob.refused(10004, "setGroupReceiveMessageOpt", groupID=group, opt=opt)
    await bob.refused(-32602, "setGroupReceiveMessageOpt", groupID=group, opt=1)
    assert (await bob.refused(-32602, "setGroupReceiveMessageOpt", groupID=group))["field"] == "opt"
    await outsider.refused(10007, "setGroupReceiveMessageOpt", groupID=group, opt="Receive")
    await bob.refused(10010, "setGroupReceiveMessageOpt", groupID=world.name("nowhere"), opt="Receive")
    await bob.refused(10015, "setGroupReceiveMessageOpt", groupID="a b", opt="Receive")
    assert denied(server, -32602, "setGroupReceiveMessageOpt", groupID=group, opt="Receive")["field"] == "asUser"
    assert (await self_of(bob, group))["receiveMessageOpt"] == "Receive"


@pytest.mark.parametrize("groupType", DEFAULTS)
async def test_not_receive_hears_no_message_but_every_control_event(server, world, groupType):
    group, people = await world.group_of(groupType)
    owner, member = people["owner"], people["member"]
    second = await world.session(member.user)
    await choose(member, group, "NotReceive")
    await say(owner, group, atUserIDList=[member.user])
    await say(owner, group, atUserIDList=["@all"])
    await say(owner, group, "now", onlineUserOnly=True, priority="High")
    done(server, "sendGroupTextMessage", groupID=group, text="from above")
    await say(member, group, "own")
    await owner.call("setGroupInfo", groupID=group, introduction="still told")
    for client in (member, second):
        await client.expect("onGroupInfoChanged", groupID=group)
        assert not client.received("onRecvNewMessage", groupID=group)
    assert await unread_of(member, group) == 0
    assert len((await owner.expect("onRecvNewMessage", groupID=group, message=has(text="own")))["message"]["msgID"]) > 0


async def test_not_receive_hides_nothing_from_history(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await choose(bob, group, "NotReceive")
    await say(alice, group, "kept")
    assert [message["text"] for message in await history_of(bob, group)] == ["kept"]
    assert (await info_of(bob, group))["lastMessage"]["text"] == "kept"
    epoch = (await info_of(bob, group))["epoch"]
    (row,) = (await bob.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": 0}]))["groups"]
    assert [message["text"] for message in row["messageList"]] == ["kept"]


@pytest.mark.parametrize("back", ["Receive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"])
async def test_what_came_under_not_receive_stays_read_and_what_was_unread_before_counts_again(world, back):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group, "unread before")
    assert await unread_of(bob, group) == 1
    await choose(bob, group, "NotReceive")
    assert await unread_of(bob, group) == 0
    await say(alice, group, "meanwhile")
    assert await unread_of(bob, group) == 0
    await choose(bob, group, back)
    assert await unread_of(bob, group) == 1
    await say(alice, group, "after")
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="after"))
    assert await unread_of(bob, group) == 2
    await bob.call("markGroupMessageAsRead", groupID=group)
    assert await unread_of(bob, group) == 0


@pytest.mark.parametrize("opt", ["Receive", "ReceiveNotNotify", "NotifyFromManagers"])
async def test_receive_and_receive_not_notify_are_alike_on_the_wire(world, opt):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    await choose(bob, group, opt)
    for client in (alice, carol):
        await say(client, group, client.user)
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=client.user))
    assert await unread_of(bob, group) == 2


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_receive_from_managers_hears_owner_admins_and_administrators(server, world, groupType):
    group, people = await world.group_of(groupType)
    hearer = await world.user("hearer")
    await hearer.call("joinGroup", groupID=group)
    await choose(hearer, group, "ReceiveFromManagers")
    for role in ("member", "owner", "admin"):
        await say(people[role], group, role, atUserIDList=[hearer.user])
        await say(people[role], group, f"{role} online", onlineUserOnly=True)
    done(server, "sendGroupTextMessage", groupID=group, text="from above")
    await say(people["member"], group, "member again")
    await people["owner"].call("setGroupInfo", groupID=group, introduction="the end")
    await hearer.expect("onGroupInfoChanged", groupID=group)
    heard = [event["message"]["text"] for event in hearer.received("onRecvNewMessage", groupID=group)]
    assert heard == ["owner", "owner online", "admin", "admin online", "from above"]
    assert await unread_of(hearer, group) == (3 if groupType == "Public" else 0), "messages of managers only"


async def test_receive_from_managers_counts_messages_of_managers_only(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    for client in (carol, carol, alice):
        await say(client, group)
    for opt, unread in [("ReceiveFromManagers", 1), ("Receive", 3), ("ReceiveFromManagers", 1)]:
        await choose(bob, group, opt)
        assert await unread_of(bob, group) == unread
    await carol.call("revokeGroupMessage", groupID=group, seq=1)
    assert await unread_of(bob, group) == 1
    await alice.call("revokeGroupMessage", groupID=group, seq=3)
    assert await unread_of(bob, group) == 0


async def test_receive_from_managers_asks_for_the_role_at_the_moment_of_sending(world):
    """Whether a sender is a manager is a question of the moment of sending."""
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    await choose(bob, group, "ReceiveFromManagers")
    await say(carol, group, "as member")
    assert await unread_of(bob, group) == 0
    await alice.call("setGroupMemberRole", groupID=group, userID=carol.user, role="Admin")
    await say(carol, group, "as admin")
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="as admin"))
    await alice.call("setGroupMemberRole", groupID=group, userID=carol.user, role="Member")
    await say(carol, group, "as member again")
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvNewMessage", groupID=group)


@pytest.mark.parametrize("opt", OPTIONS)
async def test_a_sender_whose_message_is_not_received_is_not_refused(world, opt):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await choose(bob, group, opt)
    assert (await say(bob, group))["status"] == "Stored"
    assert (await say(alice, group))["status"] == "Stored"


async def test_the_option_ends_with_the_membership(world):
    """A member who comes back begins like any new one."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await choose(bob, group, "NotReceive")
    await bob.call("quitGroup", groupID=group)
    await bob.call("joinGroup", groupID=group)
    assert (await self_of(bob, group))["receiveMessageOpt"] == "Receive"


# A restart

@pytest.mark.parametrize("how", ["drain", "kill -9"])
async def test_marks_options_and_counts_outlive_the_server(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    deaf = await world.group(alice, members=[bob])
    for _ in range(4):
        await say(alice, group)
    await bob.call("markGroupMessageAsRead", groupID=group, seq=3)
    await choose(carol, group, "ReceiveFromManagers")
    await say(bob, group)
    await say(alice, deaf)
    await choose(bob, deaf, "NotReceive")
    await say(alice, deaf)
    before = [await self_of(client, group) for client in (bob, carol)]
    assert [row["unreadCount"] for row in before] == [1, 4]
    await asyncio.to_thread(own.stop if how == "drain" else own.kill)
    own.start()
    world.clients.clear()
    alice, bob, carol = [await world.session(client.user) for client in (alice, bob, carol)]
    assert [await self_of(client, group) for client in (bob, carol)] == before
    assert (await self_of(bob, deaf))["receiveMessageOpt"] == "NotReceive" and await unread_of(bob, deaf) == 0
    assert (await bob.call("getGroupUnreadCount"))["totalCount"] == 1
    await say(bob, group)
    await say(alice, group, "end")
    await carol.expect("onRecvNewMessage", groupID=group, message=has(text="end"))
    assert not carol.received("onRecvNewMessage", groupID=group)
    await choose(bob, deaf, "Receive")
    assert await unread_of(bob, deaf) == 1, "what came before"
    await say(alice, deaf)
    assert await unread_of(bob, deaf) == 2


async def test_a_mark_changes_what_the_joined_list_tells(frozen_world):
    world = frozen_world
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await say(alice, group)
    await world.server.advance(0.001)
    since = (await bob.call("ping"))["serverTime"]
    assert (await bob.call("getJoinedGroupList", updatedSince=since))["groupList"] == []
    await bob.call("markGroupMessageAsRead", groupID=group)
    (info,) = (await bob.call("getJoinedGroupList", updatedSince=since))["groupList"]
    assert has(readSeq=1, unreadCount=0)(info["selfInfo"])


# limits.unreadCount: counts are exact up to it, and show that number beyond.

async def test_counts_are_exact_up_to_the_limit_and_that_beyond(make_server, make_world):
    server = make_server({"limits.unreadCount": 5})
    world = make_world(server)
    alice, bob = await world.users("alice", "bob")
    group, other = await world.group(alice, members=[bob]), await world.group(alice, members=[bob])
    await say(alice, other)

    async def expect(count):
        assert await unread_of(bob, group) == count
        assert (await self_of(bob, group))["unreadCount"] == count
        rows = (await bob.call("getJoinedGroupList"))["groupList"]
        assert {row["groupID"]: row["selfInfo"]["unreadCount"] for row in rows} == {group: count, other: 1}
        assert (await bob.call("getGroupUnreadCount"))["totalCount"] == count + 1

    for count in (1, 2, 3, 4, 5, 5, 5):
        await say(alice, group)
        await expect(count)
    await bob.call("markGroupMessageAsRead", groupID=group, seq=3)
    await expect(4)
    await alice.call("revokeGroupMessage", groupID=group, seq=6)
    await expect(3)
    await bob.call("markGroupMessageAsRead", groupID=group)
    await expect(0)
    for base, messages, count in [(2, 1, 3), (2, 3, 5), (2, 4, 5), (900, 0, 5), (0, 2, 2)]:
        done(server, "setUnreadCount", groupID=group, userID=bob.user, unreadCount=base)
        for _ in range(messages):
            await say(alice, group)
        await expect(count)
