"""Deleted and exported users (Protocol.md, "Deleting a user" and "Exporting a user")."""
import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time

import pytest

from harness.backend import denied, done
from harness.client import Refused
from harness.footprint import metric_now
from harness.nodes import asked, share_all
from harness.receiver import Receiver
from harness.restarts import restart
from harness.server import IS_CLUSTER, POSTGRESQL, run_throng
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


async def life_of_everything(server, world):
    """The same, and what waits for others: applications, reports, notifications, and the reason of a removal."""
    alice, bob, group, own, seq, word = await full_life(server, world)
    carol = await world.user("carol")
    asking = await world.group(bob, joinMode="Auth")
    await alice.call("joinGroup", groupID=asking, message=word)
    careful = await world.group(alice, inviteMode="Any", beInviteMode="Auth")
    await alice.call("inviteUserToGroup", groupID=careful, userIDList=[carol.user], message=word, attach=word)
    await carol.call("joinGroup", groupID=own)
    await alice.call("kickGroupMember", groupID=own, userIDList=[carol.user], reason=word)
    await alice.call("reportMessage", groupID=group, seq=seq, category="spam", text=word)
    mine = await alice.call("sendGroupCustomMessage", groupID=group, data=word)
    await bob.call("reportMessage", groupID=group, seq=mine["seq"], text="of bob")
    await bob.call("quitGroup", groupID=own)
    await alice.call("addMessageReaction", groupID=group, seq=mine["seq"], reaction="+")
    return alice, bob, group, own, seq, word


def step_of(server):
    """How far the deletion has come, by its row: the step and the place; None where there is none."""
    with contextlib.closing(sqlite3.connect(f"file:{server.data_dir / 'throng.db'}?mode=ro", uri=True, timeout=10)) as database:
        return database.execute("SELECT step, place, placeSeq, pass FROM userDeletion").fetchone()


def dumped(server):
    """The whole database as text: of SQLite the files' own bytes and an export, of PostgreSQL a dump."""
    if POSTGRESQL:
        url = server.settings["store.url"]
        return {"dump": subprocess.run(["pg_dump", "--inserts", url], check=True, capture_output=True).stdout}
    files = [path for path in server.data_dir.iterdir() if path.name.startswith("throng.db") and not path.name.endswith("-shm")]
    assert len(files) >= 2, "the database and its log"
    copy = server.data_dir / "export.jsonl"
    assert run_throng("export", copy, "--data-dir", server.data_dir).returncode == 0
    found = {path.name: path.read_bytes() for path in [*files, copy]}
    copy.unlink()
    return found


def secrets_in(text):
    """How often the word stands there; in a dump bytes are hexadecimal."""
    word = SECRET_WORD.encode()
    return text.count(word) + text.count(word.hex().encode())


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


async def test_an_owned_group_passes_on_whatever_its_owner_may_do(server, world):
    """"To the earliest-joined member, whatever ownerQuitMode is"; a BChatRoom has none who could own it."""
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "Public", ownerQuitMode="Forbid")
    await carol.call("joinGroup", groupID=group)
    await bob.call("joinGroup", groupID=group)
    await alice.refused(10009, "quitGroup", groupID=group)
    everybody = done(server, "createGroup", groupType="BChatRoom", groupName="news", ownerUserID=alice.user)["groupID"]
    done(server, "deleteUser", userID=alice.user)
    change = await bob.expect("onGroupInfoChanged", groupID=group)
    assert change["changeInfoList"] == [{"type": "Owner", "value": carol.user}]
    await bob.expect("onMemberLeave", groupID=group)
    assert (await bob.expect("onGroupDismissed", groupID=everybody))["opUser"] == {"userID": "administrator"}
    await deleted(server, alice.user)
    assert (await info_of(bob, group))["owner"] == carol.user


async def test_what_a_live_room_remembers_is_recalled(make_server, make_world):
    own = make_server({**MANY, "avChatRoom.recentMessages": 100})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    room = await world.group(bob, "AVChatRoom", [alice])
    kept = await bob.call("sendGroupTextMessage", groupID=room, text="of bob")
    mine = [(await alice.call("sendGroupTextMessage", groupID=room, text=f"mine {n}"))["seq"] for n in range(3)]
    await alice.call("quitGroup", groupID=room)
    done(own, "deleteUser", userID=alice.user, messages="Revoke")
    for seq in mine:
        event = await bob.expect("onRecvMessageRevoked", groupID=room, seq=seq)
        assert event["opUser"] == {"userID": "administrator"}
    await deleted(own, alice.user)
    messages = await history_of(bob, room)
    assert [message["seq"] for message in messages if message.get("isRevoked")] == mine
    assert [message["text"] for message in messages if "text" in message] == ["of bob"] and kept["seq"] not in mine


async def test_an_unknown_user_ends_done_and_a_wrong_name_is_refused(server, world):
    user = world.name("nobody")
    assert done(server, "getUserDeletion", userID=user) == {"state": "None"}
    assert done(server, "deleteUser", userID=user) == {}
    await deleted(server, user)
    assert done(server, "getUsersInfo", userIDList=[user]) == {"userList": []}
    for method in ("deleteUser", "getUserDeletion", "exportUser"):
        assert denied(server, 10004, method, userID="@nobody")["field"] == "userID"


async def test_bans_mutes_blocks_and_revocations_stay(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(bob, members=[alice])
    other = await world.group(bob, members=[alice])
    await bob.call("muteGroupMember", groupID=other, userID=alice.user, muteTime=3600)
    await bob.call("kickGroupMember", groupID=group, userIDList=[alice.user], banTime=3600, reason="rude")
    done(server, "blockUser", userID=alice.user, reason="spam")
    now = int(server.now)
    done(server, "revokeTokens", userID=alice.user, before=now * 1000)
    done(server, "deleteUser", userID=alice.user)
    await deleted(server, alice.user)
    banned = (await bob.call("getGroupBannedMembers", groupID=group))["memberList"]
    assert [(row["userID"], row["reason"]) for row in banned] == [(alice.user, "rude")]
    rows = exported(server, alice.user)
    assert [row["kind"] for row in rows] == ["block"] and rows[0]["reason"] == "spam"
    # The tokens of before are still revoked when the block is lifted, and the mute goes on.
    done(server, "unblockUser", userID=alice.user)
    late = await world.open()
    with pytest.raises(Refused) as refused:
        await late.call("login", token=make_token(alice.user, now=server.now, iat=now - 1))
    assert refused.value.code == 70021
    again = await world.session(alice.user, iat=now)
    await again.call("joinGroup", groupID=other)
    await again.refused(10017, "sendGroupTextMessage", groupID=other, text="x")
    await again.refused(10007, "joinGroup", groupID=group)


# What is left in the files

@pytest.mark.store
@pytest.mark.skipif(IS_CLUSTER, reason="its database has no address here")
@pytest.mark.parametrize("messages", ["Keep", "Revoke"])
async def test_nothing_of_the_user_is_left_in_files_exports_and_logs(make_server, make_world, messages):
    """What waits for the application is searched, too; with Keep, what the user has said to others stays, and that alone."""
    with Receiver() as receiver:
        own = make_server({**MANY, **receiver.settings()})
        receiver.stop()
        world = make_world(own)
        alice, bob, group, _, _, word = await life_of_everything(own, world)
        # Pages of their own, which become free.
        secret = await world.group(await world.user("dan"), members=[alice])
        if messages == "Revoke":
            for _ in range(5):
                await alice.call("sendGroupTextMessage", groupID=secret, text=word + "x" * 10_000)
        assert any(map(secrets_in, dumped(own).values())), "the search finds what there is"
        done(own, "deleteUser", userID=alice.user, messages=messages)
        await deleted(own, alice.user)
        texts = dumped(own)
        found = {name: secrets_in(text) for name, text in texts.items()}
        if messages == "Revoke":
            assert not any(found.values()), found
        else:
            mine = [message for message in await history_of(bob, group) if message["sender"] == alice.user]
            said = [message[key] for message in mine for key in ("text", "data", "extension") if key in message]
            assert said and set(said) == {word}, "texts stay"
            # Those, the report about one of them, and the webhooks of both that wait.
            lines = [line for line in texts["dump" if POSTGRESQL else "export.jsonl"].splitlines() if secrets_in(line)]
            tables = {line.split()[2].decode().rpartition(".")[2] if POSTGRESQL else next(iter(json.loads(line))) for line in lines}
            assert {name.lower() for name in tables} <= {"message", "messageextras", "report", "webhook", "webhookfailure"}, tables
        assert SECRET_WORD not in own.log


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


@pytest.mark.files
async def test_a_server_that_is_killed_behind_each_commit_of_the_job_ends_it(make_server, make_world):
    """Time stands still: a start does one part, which is a commit, and the next waits for a pause that never ends."""
    own = make_server({**MANY, "drain.duration": 0}, frozen=True)
    world = make_world(own)
    alice, bob, group, _, _, word = await life_of_everything(own, world)
    bobs_name = bob.user
    done(own, "deleteUser", userID=alice.user, messages="Revoke")
    seen, last = [], None
    # Of one pause, of the time between two recalls, and of what waits for the bytes of the files.
    pauses = {"recalls": 0.051, "file": 0.5}
    for _ in range(200):
        for _ in range(100):
            try:
                await asyncio.to_thread(own.wait_until, lambda: step_of(own) not in (None, last), "the next part", 1)
                break
            except AssertionError:
                # The place is the same where something was erased that is not found again.
                await own.advance(seconds=pauses.get(last and last[0], 0.005))
        last, before = step_of(own), last
        assert last != before, f"nothing happens behind {before}"
        seen.append(last[0])
        if last[0] == "done":
            break
        await restart(world, "kill")
    steps = list(dict.fromkeys(seen))
    assert steps[-1] == "done" and len(steps) >= 16, steps
    assert done(own, "getUserDeletion", userID=alice.user) == {"state": "Done"}
    bob = await world.session(bobs_name)
    messages = [message for message in await history_of(bob, group) if message["sender"] == alice.user]
    assert messages and all(message["isRevoked"] for message in messages if message["type"] != "GroupTips")
    assert word not in json.dumps(await history_of(bob, group)) and exported(own, alice.user) == []
    assert not any(map(secrets_in, dumped(own).values()))
    assert SECRET_WORD not in own.log


async def test_another_node_goes_on_when_the_one_that_deletes_is_killed(make_cluster, make_world):
    own = make_cluster({**MANY, "drain.duration": 0}, CLUSTER_KEEP="1")
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    members = [{"userID": alice.user}]
    # A node makes groups of its own shards.
    groups = [asked(own, address, "createGroup", groupType="Public", groupName="g", ownerUserID=bob.user, memberList=members)["groupID"]
              for address in own.node_addresses for _ in range(2)]
    for group in groups:
        for number in range(40):
            await alice.call("sendGroupTextMessage", groupID=group, text=f"mine {number}")
    done(own, "deleteUser", userID=alice.user, messages="Revoke")  # three seconds at least

    def at_work():
        return [number for number, address in enumerate(own.node_addresses)
                if metric_now(own, "throng_user_deletions", address=address) == 1]

    await asyncio.to_thread(own.wait_until, lambda: len(at_work()) == 1, "a node deletes the user")
    (number,) = at_work()
    os.kill(own.processes[number], signal.SIGKILL)
    left = [address for other, address in enumerate(own.node_addresses) if other != number]
    names = [f"node{other + 1}" for other in range(len(own.node_addresses)) if other != number]
    for address in left:
        await asyncio.to_thread(own.cluster_becomes, share_all(*names), "the others have its shards", address=address)

    async def state():
        return asked(own, left[0], "getUserDeletion", userID=alice.user)["state"]

    await eventually(state, "Done", 120)
    bob = await world.session(bob.user)
    for group in groups:
        mine = [message for message in await history_of(bob, group) if message["sender"] == alice.user and message["type"] == "Text"]
        assert len(mine) == 40 and all(message["isRevoked"] for message in mine)
    assert asked(own, left[1], "exportUser", userID=alice.user) == {"rows": [], "nextSeq": 0}


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
