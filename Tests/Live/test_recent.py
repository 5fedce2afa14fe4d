"""What a live room remembers (Protocol.md, "Messages that a live room remembers")."""
import asyncio
import re
from pathlib import Path

import pytest

from harness.backend import denied, done, lost
from harness.client import Gone, has
from harness.nodes import asked, share_all
from harness.restarts import restart
from harness.server import run_throng
from harness.tokens import SECRET
from harness.world import history_of, info_of

pytestmark = pytest.mark.nodes

REMEMBERING = {"avChatRoom.recentMessages": 100, "limits.avChatRoom.messagesPerSecond": 0, "drain.duration": 0}


@pytest.fixture
def remembering(make_server, make_world):
    """A world on a server whose live rooms remember 100 messages."""
    return make_world(make_server(REMEMBERING))


async def say(client, group, text="x", **params):
    """Sends a text, which is delivered; gives its seq and msgID."""
    result = await client.call("sendGroupTextMessage", groupID=group, text=text, **params)
    assert result["status"] == "Delivered", result
    return result["seq"], result["msgID"]


async def join(client, group):
    """Joins a live room; gives the position in it."""
    joined = await client.call("joinGroup", groupID=group)
    assert joined["status"] == "Joined"
    return {"groupID": group, "epoch": joined["epoch"], "seq": joined["lastSeq"], "changeSeq": 0}


async def sync(client, position):
    (row,) = (await client.call("syncGroups", groups=[position]))["groups"]
    assert row["code"] == 0, row
    return row


def texts(messages):
    return [message.get("text") for message in messages]


def is_recalled(message):
    return message.get("isRevoked") is True and not {"text", "data"} & set(message)


# Catching up

async def test_a_member_whose_connection_was_cut_gets_what_was_said(remembering):
    alice, bob = await remembering.users("alice", "bob")
    group = await remembering.group(alice, "AVChatRoom")
    position = await join(bob, group)
    for n in range(3):
        await say(alice, group, f"heard {n}")
        heard = await bob.expect("onRecvNewMessage", groupID=group)
        position["seq"] = heard["message"]["seq"]
    await lost(remembering, bob)
    remembering.clients.remove(bob)
    for n in range(30):
        await say(alice, group, f"missed {n}")
    await alice.call("revokeGroupMessage", groupID=group, seq=2)
    await alice.call("revokeGroupMessage", groupID=group, seq=10)
    back = await remembering.session(bob.user)
    row = await sync(back, position)
    assert row["recovered"] is True and row["more"] is False and (row["lastSeq"], row["changeSeq"]) == (33, 2)
    assert [message["seq"] for message in row["messageList"]] == list(range(4, 34))
    wanted = [None if n == 6 else f"missed {n}" for n in range(30)]
    assert texts(row["messageList"]) == wanted and is_recalled(row["messageList"][6])
    (change,) = row["changeList"]
    assert is_recalled(change) and (change["seq"], change["changeSeq"]) == (2, 1)
    # What follows has the next places.
    seq, msgID = await say(alice, group, "after")
    event = await back.expect("onRecvNewMessage", groupID=group, message=has(msgID=msgID))
    assert seq == event["message"]["seq"] == 34
    assert texts(await history_of(back, group))[-1] == "after"


async def test_who_joins_later_reads_what_was_said_and_others_nothing(remembering):
    alice, bob, oscar = await remembering.users("alice", "bob", "oscar")
    group = await remembering.group(alice, "AVChatRoom")
    for n in range(5):
        await say(alice, group, f"m{n}")
    result = await alice.call("sendGroupTextMessage", groupID=group, text="passing", onlineUserOnly=True)
    assert "seq" not in result
    position = await join(bob, group)
    assert position["seq"] == 5
    assert texts(await history_of(bob, group)) == [f"m{n}" for n in range(5)]
    page = await bob.call("getGroupHistoryMessageList", groupID=group, count=2)
    assert texts(page["messageList"]) == ["m4", "m3"] and page["isFinished"] is False
    await oscar.refused(10007, "getGroupHistoryMessageList", groupID=group)
    (row,) = (await oscar.call("syncGroups", groups=[position]))["groups"]
    assert row["code"] == 10007 and "messageList" not in row
    await oscar.refused(10007, "revokeGroupMessage", groupID=group, seq=1)
    info = await info_of(bob, group)
    assert (info["lastSeq"], info["changeSeq"], info["epoch"]) == (5, 0, position["epoch"])
    assert "firstSeq" not in info and "lastMessage" not in info
    assert done(remembering.server, "getGroupHistoryMessageList", groupID=group)["messageList"][0]["text"] == "m4"


async def test_extensions_replies_and_messages_by_seq(remembering):
    """As in stored types, where the room remembers the message."""
    alice, bob, oscar = await remembering.users("alice", "bob", "oscar")
    group = await remembering.group(alice, "AVChatRoom")
    position = await join(bob, group)
    first, _ = await say(alice, group, "first", extension="e", isExcludedFromLastMessage=True)
    reply, _ = await say(bob, group, "reply", replyTo=first, extension="r")
    event = await alice.expect("onRecvNewMessage", groupID=group, message=has(seq=reply))
    assert event["message"]["replyTo"] == {"seq": first, "sender": alice.user} and event["message"]["extension"] == "r"
    answer = await bob.call("getGroupMessages", groupID=group, seqList=[reply, first, 99, first])
    assert [message["seq"] for message in answer["messageList"]] == [reply, first]
    assert answer["messageList"] == (await history_of(bob, group))[::-1]
    assert "replyCount" not in answer["messageList"][1] and "isExcludedFromLastMessage" not in answer["messageList"][1]
    await oscar.refused(10007, "getGroupMessages", groupID=group, seqList=[first])
    await alice.refused(10030, "sendGroupTextMessage", groupID=group, text="x", replyTo=99)
    await alice.refused(10033, "getGroupMessageReplies", groupID=group, seq=first)
    await alice.refused(10007, "sendGroupTextMessage", groupID=group, text="x", toUserIDList=[bob.user])
    # A recall takes the extension, and nobody can answer what is recalled; the reply names it still.
    await alice.call("revokeGroupMessage", groupID=group, seq=first)
    await bob.refused(10030, "sendGroupTextMessage", groupID=group, text="x", replyTo=first)
    for messages in (await history_of(bob, group), (await sync(bob, position))["messageList"]):
        assert is_recalled(messages[0]) and "extension" not in messages[0]
        assert messages[1]["extension"] == "r" and messages[1]["replyTo"]["seq"] == first


async def test_everything_else_is_as_without_memory(remembering):
    """No edits, reactions, pins and receipts, no unread count, and not in the list of joined groups."""
    alice, bob = await remembering.users("alice", "bob")
    group = await remembering.group(alice, "AVChatRoom")
    await join(bob, group)
    seq, _ = await say(alice, group)
    for method, params in (
        ("modifyGroupMessage", {"seq": seq, "text": "y"}), ("addMessageReaction", {"seq": seq, "reaction": "r"}),
        ("removeMessageReaction", {"seq": seq, "reaction": "r"}), ("getMessageReactions", {"seqList": [seq]}),
        ("pinGroupMessage", {"seq": seq, "isPinned": True}), ("getPinnedGroupMessageList", {}),
        ("sendMessageReadReceipts", {"seqList": [seq]}),
    ):
        await alice.refused(10033, method, groupID=group, **params)
    for method, params in (("setConversation", {"isPinned": True}), ("clearGroupHistory", {})):
        await bob.refused(10007, method, groupID=group, **params)
    assert (await bob.call("getGroupUnreadCount"))["totalCount"] == 0
    assert (await info_of(bob, group))["selfInfo"]["unreadCount"] == 0
    assert (await bob.call("getJoinedGroupList"))["groupList"] == []
    # What happens in the room is told, and takes no seq.
    await alice.call("setGroupInfo", groupID=group, groupName="renamed")
    assert "seq" not in await bob.expect("onGroupInfoChanged", groupID=group)
    assert (await say(alice, group))[0] == seq + 1


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_restart_begins_anew(remembering, make_world, how):
    alice, bob = await remembering.users("alice", "bob")
    group = await remembering.group(alice, "AVChatRoom")
    position = await join(bob, group)
    seq, msgID = await say(alice, group)
    position["seq"] = seq
    await restart(remembering, how)
    world = make_world(remembering.server)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    row = await sync(bob, position)
    assert row["recovered"] is False and row["messageList"] == [] and (row["lastSeq"], row["changeSeq"]) == (0, 0)
    info = await info_of(bob, group)
    assert info["epoch"] == row["epoch"] != position["epoch"] and info["lastSeq"] == 0
    await bob.refused(10030, "revokeGroupMessage", groupID=group, msgID=msgID)
    assert await say(alice, group, "anew") == (1, (await history_of(bob, group))[0]["msgID"])


# Bounds

@pytest.mark.one_process("the memory is a node's")
async def test_the_oldest_of_all_rooms_goes_first(make_server, make_world):
    own = make_server({**REMEMBERING, "avChatRoom.recentBytes": 65536})
    world = make_world(own)
    alice = await world.user("alice")
    first, second = [await world.group(alice, "AVChatRoom") for _ in range(2)]
    for group in (first, second):
        for n in range(20):
            await say(alice, group, f"{n:02} " + "x" * 2000)
    kept = [texts(await history_of(alice, group)) for group in (first, second)]
    assert len(kept[1]) == 20, "the newest"
    assert 0 < len(kept[0]) < 10 and kept[0][-1].startswith("19 ")
    assert [text[:2] for text in kept[0]] == [f"{n:02}" for n in range(20 - len(kept[0]), 20)]
    own.metric_becomes("throng_recent_messages", len(kept[0]) + len(kept[1]))
    own.metric_becomes("throng_recent_message_bytes", lambda count: 50_000 < count <= 65536)
    done(own, "recycleGroup", groupID=first)
    own.metric_becomes("throng_recent_messages", 20)


@pytest.mark.one_process("a test's clock is that of one process")
async def test_messages_grow_old(make_server, make_world):
    own = make_server({**REMEMBERING, "avChatRoom.recentDuration": "10s"}, frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom")
    position = await join(bob, group)
    await say(alice, group, "a")
    await own.advance(seconds=9)
    await say(alice, group, "b")
    assert texts((await sync(bob, position))["messageList"]) == ["a", "b"]
    await own.advance(seconds=1)
    assert texts(await history_of(bob, group)) == ["b"]
    assert (await sync(bob, position))["recovered"] is False
    await alice.refused(10030, "revokeGroupMessage", groupID=group, seq=1)
    await own.advance(seconds=9)
    assert await history_of(bob, group) == [] and (await info_of(bob, group))["lastSeq"] == 2


# Recalls

async def test_recalls_by_seq_and_by_msgID(remembering):
    alice, bob, oscar = await remembering.users("alice", "bob", "oscar")
    group = await remembering.group(alice, "AVChatRoom")
    await join(bob, group)
    places = [await say(client, group, "secret") for client in (alice, bob, bob)]
    await alice.refused(10032, "revokeGroupMessage", groupID=group, seq=places[1][0])
    await bob.refused(-32602, "revokeGroupMessage", groupID=group, seq=2, msgID=places[1][1])
    await bob.refused(-32602, "revokeGroupMessage", groupID=group)
    assert await bob.call("revokeGroupMessage", groupID=group, msgID=places[1][1]) == {}
    done(remembering.server, "revokeGroupMessage", groupID=group, msgID=places[0][1])
    for client in (alice, bob):
        for changeSeq, (seq, msgID) in ((1, places[1]), (2, places[0])):
            event = await client.expect("onRecvMessageRevoked", groupID=group)
            assert has(seq=seq, msgID=msgID, changeSeq=changeSeq)(event)
    assert [is_recalled(message) for message in await history_of(bob, group)] == [True, True, False]
    denied(remembering.server, 10030, "revokeGroupMessage", groupID=group, msgID="none")
    await oscar.quiet("onRecvMessageRevoked")
    public = await remembering.group(alice)
    result = await alice.call("sendGroupTextMessage", groupID=public, text="x")
    await alice.refused(10004, "revokeGroupMessage", groupID=public, msgID=result["msgID"])


@pytest.mark.one_process("a test's clock is that of one process")
async def test_what_is_queued_is_dropped(make_server, make_world):
    own = make_server({**REMEMBERING, "limits.avChatRoom.messagesPerSecond": 1}, frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", memberChangeNotification=False)
    await join(bob, group)
    await say(alice, group, "first")
    queued = await alice.call("sendGroupTextMessage", groupID=group, text="taken back", clientMsgID="c")
    assert queued["status"] == "Queued" and "seq" not in queued
    await bob.refused(10032, "revokeGroupMessage", groupID=group, msgID=queued["msgID"])
    assert await alice.call("revokeGroupMessage", groupID=group, msgID=queued["msgID"]) == {}
    dropped = await alice.expect("onMessageDropped", groupID=group)
    assert has(msgID=queued["msgID"], clientMsgID="c", reason="Revoked", priority="Normal")(dropped)
    await alice.refused(10030, "revokeGroupMessage", groupID=group, msgID=queued["msgID"])
    await own.advance(seconds=1)
    assert (await say(alice, group, "second"))[0] == 2
    assert texts(await history_of(bob, group)) == ["first", "second"]
    await bob.quiet("onMessageDropped", group=group)
    await bob.quiet("onRecvMessageRevoked", group=group)
    assert [event["message"]["text"] for event in bob.received("onRecvNewMessage", groupID=group)] == ["first", "second"]


async def test_without_the_key_nothing_is_remembered(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom")
    assert await bob.call("joinGroup", groupID=group) == {"status": "Joined"}
    result = await alice.call("sendGroupTextMessage", groupID=group, text="x")
    assert result["status"] == "Delivered" and "seq" not in result
    await bob.refused(10007, "getGroupHistoryMessageList", groupID=group)
    for target in ({"seq": 1}, {"msgID": result["msgID"]}):
        await alice.refused(10033, "revokeGroupMessage", groupID=group, **target)


# Several nodes

# Of each node.
ROOMS = 4


async def test_every_node_answers_out_of_the_owners_memory_and_a_new_owner_begins_anew(make_cluster, make_world):
    """A node drains: its rooms begin anew, the others remember as before, and nobody takes one for the other."""
    own = make_cluster({**REMEMBERING, "drain.duration": 2}, CLUSTER_KEEP="1")
    # Shards that still move would take memories along.
    for address in own.node_addresses:
        await asyncio.to_thread(
            own.cluster_becomes, share_all("node1", "node2", "node3"), "all nodes share all shards", address=address)
    world = make_world(own)
    people = await world.users(*["user"] * 12)
    positions, led = [], {}
    for address in own.node_addresses:
        for _ in range(ROOMS):
            # A node leads the groups whose IDs it has made.
            made = asked(own, address, "createGroup", groupType="AVChatRoom", groupName="room", ownerUserID=people[0].user)
            group = made["groupID"]
            led[group] = address
            positions.append(await join(people[1], group))
            for client in people[2:]:
                await client.call("joinGroup", groupID=group)
    for position in positions:
        for n in range(3):
            assert (await say(people[n], position["groupID"], f"m{n}"))[0] == n + 1
    for client in people:
        rows = (await client.call("syncGroups", groups=positions))["groups"]
        assert [texts(row["messageList"]) for row in rows] == [["m0", "m1", "m2"]] * len(positions)
    for address in own.node_addresses:
        rows = asked(own, address, "syncGroups", asUser=people[1].user, groups=positions)["groups"]
        assert [texts(row["messageList"]) for row in rows] == [["m0", "m1", "m2"]] * len(positions)
        own.metric_becomes("throng_recent_messages", 3 * ROOMS, address=address)
    command = ["--internal-listen", own.internal_address, "--data-dir", own.data_dir, "--set", f"auth.secret={SECRET}"]
    draining = Path(f"/proc/{own.processes[1]}")
    drained = await asyncio.to_thread(run_throng, "cluster", "drain", "node2", *command)
    assert drained.returncode == 0 and re.fullmatch(r"node2 \(number \d+\) drains\n", drained.stdout), drained
    await asyncio.to_thread(own.wait_until, lambda: not draining.exists(), "node2 has ended")
    first, gone, third = own.node_addresses
    for address in (first, third):
        await asyncio.to_thread(
            own.cluster_becomes, share_all("node1", "node3"), "the others have its shards", address=address)
    witness = None
    for client in people[1:]:
        try:
            await client.call("ping")
            witness = client
        except Gone:
            await world.session(client.user)
    witness = witness or await world.session(people[1].user)
    rows = (await witness.call("syncGroups", groups=positions))["groups"]
    for position, row in zip(positions, rows):
        if led[position["groupID"]] == gone:
            assert row["epoch"] != position["epoch"]
            assert row["recovered"] is False and row["messageList"] == [] and row["lastSeq"] == 0
        else:
            assert row["epoch"] == position["epoch"]
            assert row["recovered"] is True and texts(row["messageList"]) == ["m0", "m1", "m2"]
        seq, _ = await say(witness, position["groupID"], "after")
        assert seq == row["lastSeq"] + 1
        assert texts(await history_of(witness, position["groupID"])) == texts(row["messageList"]) + ["after"]
