"""Deleted and exported users (Protocol.md, "Deleting a user" and "Exporting a user")."""
import asyncio
import json
import time

import pytest

from harness.backend import denied, done
from harness.client import Refused
from harness.restarts import restart
from harness.server import IS_CLUSTER, run_throng
from harness.tokens import make_token
from harness.world import World, eventually, history_of, info_of

SECRET_WORD = "secret-of-alice"
MANY = {"limits.requestsPerSecond": 100000, "limits.requestBurst": 100000}


async def deleted(server, user, patience=60):
    """Waits until the user is deleted."""
    async def state():
        return done(server, "getUserDeletion", userID=user)["state"]

    await eventually(state, "Done", patience)


def exported(server, user):
    """All rows of exportUser."""
    rows, place = [], 0
    while True:
        page = done(server, "exportUser", userID=user, nextSeq=place)
        assert len(page["rows"]) <= 200
        rows += page["rows"]
        place = page["nextSeq"]
        if place == 0:
            return rows


async def full_life(server, world):
    """A user with something of each kind, in groups with another who stays."""
    alice, bob = await world.users("alice", "bob")
    word = f"{SECRET_WORD} {alice.user}"
    await alice.call("setSelfInfo", nickName=word, faceURL=word, customInfo={"a": word})
    await alice.call("setSelfStatus", customStatus=word)
    group = await world.group(bob, members=[alice])
    own = await world.group(alice, members=[bob])
    await alice.call("setGroupMemberInfo", groupID=group, userID=alice.user, nameCard=word)
    await alice.call("sendGroupTextMessage", groupID=group, text=word, extension=word, needReadReceipt=True)
    sent = await bob.call("sendGroupTextMessage", groupID=group, text="of bob", needReadReceipt=True)
    await alice.call("addMessageReaction", groupID=group, seq=sent["seq"], reaction="+")
    await alice.call("sendMessageReadReceipts", groupID=group, seqList=[sent["seq"]])
    await alice.call("setConversation", groupID=group, isPinned=True, marks=["m"])
    return alice, bob, group, own, sent["seq"], word


# The deletion

async def test_the_user_leaves_everything(server, world):
    alice, bob, group, own, seq, word = await full_life(server, world)
    before = await info_of(bob, group)
    assert done(server, "deleteUser", userID=alice.user) == {}
    assert (await alice.expect("onKickedOffline"))["reason"] == "Administrator"
    await alice.closed(4503)
    event = await bob.expect("onMemberLeave", groupID=group)
    assert [member["userID"] for member in event["memberList"]] == [alice.user]
    assert event["memberList"][0]["nameCard"] == "" and "nickName" not in event["memberList"][0]
    change = await bob.expect("onGroupInfoChanged", groupID=own)
    assert change["changeInfoList"] == [{"type": "Owner", "value": bob.user}]
    assert change["opUser"] == {"userID": "administrator"}
    await deleted(server, alice.user)
    assert word not in json.dumps(await history_of(bob, own))
    messages = {message["seq"]: message for message in await history_of(bob, group)}
    mine = [message for message in messages.values() if message["sender"] == alice.user and message["type"] == "Text"]
    assert [message["text"] for message in mine] == [word], "texts stay"
    assert "nickName" not in mine[0] and "nameCard" not in mine[0]
    assert "reactions" not in messages[seq]
    assert (await info_of(bob, group))["changeSeq"] > before["changeSeq"], "a reaction that goes is a change"
    receipts = await bob.call("getMessageReadReceipts", groupID=group, seqList=[seq])
    assert [(row["readCount"], row["unreadCount"]) for row in receipts["receiptList"]] == [(0, 0)]
    await bob.quiet("onRecvMessageReactionsChanged", group=group, isAdded=False)
    assert done(server, "getUsersInfo", userIDList=[alice.user]) == {"userList": []}
    assert exported(server, alice.user) == []


async def test_signing_in_is_refused_meanwhile_and_makes_a_new_user_later(make_server):
    own = make_server(MANY)
    world = World(own)
    alice = await world.user("alice")
    group = await world.group(await world.user("bob"), members=[alice])
    for number in range(60):
        await alice.call("sendGroupTextMessage", groupID=group, text=str(number))
    done(own, "deleteUser", userID=alice.user, messages="Revoke")  # three seconds at least
    await alice.closed(4503)
    late = await world.open()
    with pytest.raises(Refused) as refused:
        await late.call("login", token=make_token(alice.user, now=own.now))
    assert refused.value.code == 70020 and refused.value.data["temporary"] is True
    assert done(own, "getUserDeletion", userID=alice.user) == {"state": "Running"}
    await deleted(own, alice.user)
    again = await world.session(alice.user)
    assert (await again.call("getJoinedGroupList"))["groupList"] == []
    assert done(own, "getUsersInfo", userIDList=[alice.user])["userList"][0]["nickName"] == ""
    assert done(own, "getUserDeletion", userID=alice.user) == {"state": "None"}
    await world.close()


async def test_messages_are_recalled_twenty_a_second_at_most(make_server):
    own = make_server(MANY)
    world = World(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(bob, members=[alice])
    for number in range(50):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"mine {number}")
    kept = await bob.call("sendGroupTextMessage", groupID=group, text="of bob")
    done(own, "deleteUser", userID=alice.user, messages="Revoke")
    times = []
    for _ in range(50):
        event = await bob.expect("onRecvMessageRevoked", groupID=group)
        assert event["opUser"] == {"userID": "administrator"}
        times.append(event["opTime"])
    assert all(later - earlier >= 1000 for earlier, later in zip(times, times[20:])), "21 recalls take a second"
    await deleted(own, alice.user)
    messages = await history_of(bob, group)
    assert all(message["isRevoked"] for message in messages if message["sender"] == alice.user and message["type"] != "GroupTips")
    assert [message["text"] for message in messages if message["seq"] == kept["seq"]] == ["of bob"]
    await world.close()


async def test_groups_without_another_member_and_live_rooms_are_disbanded(server, world):
    alice, bob = await world.users("alice", "bob")
    alone = await world.group(alice)
    room = await world.group(alice, "AVChatRoom")
    await bob.call("joinGroup", groupID=room)
    done(server, "deleteUser", userID=alice.user)
    assert (await bob.expect("onGroupDismissed", groupID=room))["opUser"] == {"userID": "administrator"}
    await deleted(server, alice.user)
    for group in (alone, room):
        assert denied(server, 10010, "getGroupMemberList", groupID=group)["temporary"] is False


async def test_an_unknown_user_ends_done_and_a_wrong_name_is_refused(server, world):
    user = world.name("nobody")
    assert done(server, "getUserDeletion", userID=user) == {"state": "None"}
    assert done(server, "deleteUser", userID=user) == {}
    await deleted(server, user)
    assert done(server, "getUsersInfo", userIDList=[user]) == {"userList": []}
    for method in ("deleteUser", "getUserDeletion", "exportUser"):
        assert denied(server, 10004, method, userID="@nobody")["field"] == "userID"


async def test_bans_and_blocks_stay(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(bob, members=[alice])
    await bob.call("kickGroupMember", groupID=group, userIDList=[alice.user], banTime=3600, reason="rude")
    done(server, "blockUser", userID=alice.user, reason="spam")
    done(server, "deleteUser", userID=alice.user)
    await deleted(server, alice.user)
    banned = (await bob.call("getGroupBannedMembers", groupID=group))["memberList"]
    assert [(row["userID"], row["reason"]) for row in banned] == [(alice.user, "rude")]
    rows = exported(server, alice.user)
    assert [row["kind"] for row in rows] == ["block"] and rows[0]["reason"] == "spam"


# What is left in the files

@pytest.mark.skipif(IS_CLUSTER, reason="PostgreSQL frees rows by itself")
async def test_no_byte_is_left_in_the_files(make_server):
    own = make_server({**MANY, "store.url": "sqlite:throng.db"})
    world = World(own)
    alice, _, _, _, _, word = await full_life(own, world)
    # Pages of their own, which become free.
    group = await world.group(await world.user("carol"), members=[alice])
    for _ in range(5):
        await alice.call("sendGroupTextMessage", groupID=group, text=word + "x" * 10_000)
    done(own, "deleteUser", userID=alice.user, messages="Revoke")
    await deleted(own, alice.user)
    files = [path for path in own.data_dir.iterdir() if path.name.startswith("throng.db") and not path.name.endswith("-shm")]
    assert len(files) >= 2
    for path in files:
        assert SECRET_WORD.encode() not in path.read_bytes(), path.name
    copy = own.data_dir / "export.jsonl"
    assert run_throng("export", copy, "--data-dir", own.data_dir).returncode == 0
    assert SECRET_WORD not in copy.read_text()
    await world.close()


# Crashes

@pytest.mark.parametrize("recalled", [0, 1, 12, 30])
async def test_a_killed_server_goes_on_where_it_was(make_server, recalled):
    """In the middle of any step: what is done twice does not show."""
    own = make_server({**MANY, "drain.duration": 0})
    world = World(own)
    alice, bob, group, _, _, word = await full_life(own, world)
    for number in range(30):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"{word} {number}")
    bobs_name = bob.user
    done(own, "deleteUser", userID=alice.user, messages="Revoke")
    for _ in range(recalled):
        await bob.expect("onRecvMessageRevoked", groupID=group)
    await restart(world, "kill")
    bob = await world.session(bobs_name)
    await deleted(own, alice.user)
    assert word not in json.dumps(await history_of(bob, group))
    assert exported(own, alice.user) == []
    await world.close()


# The export

async def test_an_export_holds_everything_once_and_nothing_of_others(server, world):
    alice, bob, group, own, _, word = await full_life(server, world)
    for number in range(250):
        await alice.call("sendGroupTextMessage", groupID=own, text=f"{number}")
    await bob.call("sendGroupTextMessage", groupID=own, text="words of bob")
    rows = exported(server, alice.user)
    kinds = [row["kind"] for row in rows]
    order = ["profile", "block", "membership", "settings", "application", "notification", "message"]
    assert [order.index(kind) for kind in kinds] == sorted(order.index(kind) for kind in kinds)
    profile = rows[0]
    assert profile["nickName"] == word and profile["customStatus"] == word and profile["lastOnlineTime"] == 0
    settings = {row["groupID"]: row for row in rows if row["kind"] == "settings"}
    assert settings[group]["isPinned"] is True and settings[group]["marks"] == ["m"]
    texts = [row["text"] for row in rows if row["kind"] == "message"]
    assert sorted(texts) == sorted([word] + [str(number) for number in range(250)])
    assert "words of bob" not in json.dumps(rows)
    assert denied(server, 10004, "exportUser", userID=alice.user, nextSeq=-1)["field"] == "nextSeq"


# Beside it

async def test_the_job_takes_little_of_the_server(make_server):
    """A fifth of the writer, in commits of a few milliseconds: others hardly notice."""
    own = make_server(MANY)
    world = World(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(bob, members=[alice])
    for _ in range(20):
        under_way = [await alice.start("sendGroupTextMessage", groupID=group, text="t") for _ in range(50)]
        for future in under_way:
            await future
    done(own, "deleteUser", userID=alice.user)
    slowest = 0
    for _ in range(50):
        start = time.monotonic()
        await bob.call("sendGroupTextMessage", groupID=group, text="of bob")
        slowest = max(slowest, time.monotonic() - start)
    assert slowest < 2, "a send waits for no step"
    await deleted(own, alice.user)
    own.metric_becomes("throng_user_deletions", 0)
    await world.close()
