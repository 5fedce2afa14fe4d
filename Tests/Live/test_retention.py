"""Messages beyond history.retention and history.maxMessages (Protocol.md, "Retention"). Time stands still, and the store
looks for them every 5 s of it."""
import asyncio
import contextlib
import random
import sqlite3

import pytest

from harness.backend import done, unread_of
from harness.world import World, eventually, history_of, info_of


async def written(world, count, groupType="Work", members=(), text="m"):
    owner = await world.user("owner")
    group = await world.group(owner, groupType, members)
    for first in range(0, count, 50):
        under_way = [await owner.start("sendGroupTextMessage", groupID=group, text=text) for _ in range(min(50, count - first))]
        for future in under_way:
            assert (await future)["result"]["status"] == "Stored"
    return owner, group


async def seqs_of(client, group):
    info = await info_of(client, group)
    return info["firstSeq"], info["lastSeq"]


async def row_of(client, group, epoch, seq):
    (row,) = (await client.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": seq}]))["groups"]
    return row["recovered"], [message["seq"] for message in row["messageList"]]


def limits(**keys):
    return {"limits.requestsPerSecond": 100000, "limits.requestBurst": 100000, **{
        "history." + key.replace("_", "."): value for key, value in keys.items()}}


async def test_the_newest_messages_stay(make_server):
    own = make_server(limits(maxMessages_work=5), frozen=True)
    world = World(own)
    reader, late = await world.users("reader", "late")
    owner, group = await written(world, 12, members=[reader])
    _, other = await written(world, 12, "Public")
    epoch = (await info_of(reader, group))["epoch"]
    await own.advance(seconds=6)
    await eventually(lambda: seqs_of(reader, group), (8, 12))
    assert [message["seq"] for message in await history_of(reader, group)] == list(range(8, 13))
    older = await reader.call("getGroupHistoryMessageList", groupID=group, fromSeq=9)
    assert [message["seq"] for message in older["messageList"]] == [8] and older["isFinished"] is True
    for seq in (1, 7):
        await owner.refused(10030, "revokeGroupMessage", groupID=group, seq=seq)
    await owner.call("revokeGroupMessage", groupID=group, seq=8)
    assert await row_of(reader, group, epoch, 6) == (False, [])
    assert await row_of(reader, group, epoch, 7) == (True, [8, 9, 10, 11, 12])
    assert await unread_of(reader, group) == 4, "of five kept one is recalled"
    await owner.call("inviteUserToGroup", groupID=group, userIDList=[late.user])  # the tip is 13
    await own.advance(seconds=6)
    await eventually(lambda: seqs_of(reader, group), (9, 13))
    assert await row_of(late, group, epoch, 0) == (True, [13]), "nothing that late may see has gone"
    own.metric_becomes("throng_messages_removed_total", 8)
    await world.close()
    own.stop()
    own.start()
    world = World(own)
    reader = await world.session(reader.user)
    assert await seqs_of(reader, group) == (9, 13)
    assert (await info_of(reader, group))["epoch"] == epoch
    await world.close()


async def test_old_messages_go_and_none_is_left(make_server):
    own = make_server(limits(retention_public="10s"), frozen=True)
    world = World(own)
    owner, group = await written(world, 3, "Public")
    sent = (await info_of(owner, group))["lastMessageTime"]
    await own.advance(seconds=9.9)
    assert await seqs_of(owner, group) == (1, 3)
    await own.advance(seconds=6)
    await eventually(lambda: seqs_of(owner, group), (4, 3))
    info = await info_of(owner, group)
    assert "lastMessage" not in info and info["lastMessageTime"] == sent
    assert await history_of(owner, group) == []
    assert await row_of(owner, group, info["epoch"], 2) == (False, [])
    assert await row_of(owner, group, info["epoch"], 3) == (True, [])
    assert (await owner.call("sendGroupTextMessage", groupID=group, text="x"))["seq"] == 4
    assert await seqs_of(owner, group) == (4, 4)
    await own.advance(seconds=16)
    await eventually(lambda: seqs_of(owner, group), (5, 4))
    await world.close()


async def test_imported_messages_that_are_too_old_go(make_server):
    own = make_server(limits(retention_work="1h"), frozen=True)
    world = World(own)
    owner = await world.user("owner")
    now = (await owner.call("ping"))["serverTime"]
    group = done(own, "importGroup", groupType="Work", groupName="g", ownerUserID=owner.user)["groupID"]
    times = [now - 7_200_000, now - 3_700_000, now - 60_000]
    done(own, "importGroupMessages", groupID=group, messageList=[
        {"sender": owner.user, "timestamp": time, "text": "x"} for time in times])
    await own.advance(seconds=6)
    await eventually(lambda: seqs_of(owner, group), (3, 3))
    await world.close()


@pytest.mark.files
async def test_the_files_shrink(make_server):
    own = make_server(limits())

    def size():
        return sum(path.stat().st_size for path in own.data_dir.iterdir() if path.name in ("throng.db", "throng.db-wal"))
    world = World(own)
    await written(world, 1000, text="x" * 4000)
    await world.close()
    own.stop()
    before = size()
    own.settings["history.maxMessages.work"] = 10
    own.start()
    own.metric_becomes("throng_messages_removed_total", 990, patience=60)
    own.metric_becomes("throng_store_bytes", lambda now: now < before / 4, patience=60)
    own.metric_becomes("throng_store_longest_hold_seconds", lambda seconds: seconds > 0)
    own.wait_until(lambda: size() < before / 4, lambda: f"the files have {size()} bytes, before {before}")


@pytest.mark.files
async def test_the_log_is_cut_though_a_reader_was_in_the_way(make_server):
    """A program beside the server, such as a copy of the database, reads while the log could be cut."""
    own = make_server(limits())
    world = World(own)
    await written(world, 1000, text="x" * 4000)
    await world.close()
    own.stop()
    own = make_server(limits(maxMessages_work=10), data_dir=own.data_dir, frozen=True)
    database, log = own.data_dir / "throng.db", own.data_dir / "throng.db-wal"
    before = database.stat().st_size
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as reader:
        rounds = 0
        # Some rounds beyond the last change of the file: the reader stands at the end of the log then.
        while rounds < 5:
            if reader.in_transaction:
                reader.execute("COMMIT")
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM message").fetchall()
            await own.advance(seconds=1)
            rounds = rounds + 1 if database.stat().st_size < before / 4 else 0
    await own.advance(seconds=5)
    own.wait_until(lambda: log.stat().st_size < before / 4, lambda: f"the log has {log.stat().st_size} bytes, before {before}")


async def test_kill_9_during_removal_leaves_a_whole_history(make_server):
    """Each kept history is whole, nothing acknowledged is lost, and nothing that had gone comes
    back."""
    own = make_server(limits(maxMessages_work=50), frozen=True)
    random_ = random.Random(5)
    world = World(own)
    owner, group = await written(world, 10)
    await world.close()
    first, sent = 1, 10
    for _ in range(4):
        world = World(own)
        owner = await world.session(owner.user)
        for _ in range(random_.randint(5, 30)):
            answers = await asyncio.gather(
                *(owner.call("sendGroupTextMessage", groupID=group, text="x") for _ in range(20)))
            sent = max(answer["seq"] for answer in answers)
        passing = asyncio.ensure_future(own.advance(seconds=6))
        # Anywhere in a round of removal.
        for _ in range(random_.randrange(200)):
            await owner.call("ping")
        first = max(first, (await info_of(owner, group))["firstSeq"])
        own.kill()
        # The server did not say how far it has come.
        with contextlib.suppress(AssertionError, OSError):
            await passing
        await world.close()
        own.start()
        world = World(own)
        owner = await world.session(owner.user)
        kept = await seqs_of(owner, group)
        assert kept[0] >= first and kept[1] == sent
        history = [message["seq"] for message in await history_of(owner, group)]
        assert history == list(range(history[0], sent + 1)) and history[0] >= kept[0]
        await own.advance(seconds=6)
        await eventually(lambda: seqs_of(owner, group), (max(1, sent - 49), sent))
        await world.close()
