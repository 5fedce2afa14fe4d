"""syncGroups – every message after seq that I may see, none missing, or `recovered:false` and none
(Protocol.md, "Reconnecting")."""
import pytest

from harness.client import has
from harness.world import info_of

pytestmark = pytest.mark.nodes


async def written(world, count):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    under_way = [await alice.start("sendGroupTextMessage", groupID=group, text=f"m{n}") for n in range(1, count + 1)]
    for future in under_way:
        assert "result" in await future
    return alice, bob, group, (await info_of(bob, group))["epoch"]


async def sync(client, *rows):
    return (await client.call("syncGroups", groups=[dict(zip(("groupID", "epoch", "seq"), row)) for row in rows]))["groups"]


def seqs(row):
    return [message["seq"] for message in row["messageList"]]


async def test_what_was_missed_comes_ascending(world):
    _, bob, group, epoch = await written(world, 5)
    (row,) = await sync(bob, (group, epoch, 2))
    assert row["groupID"] == group and row["code"] == 0 and row["epoch"] == epoch and row["lastSeq"] == 5
    assert row["recovered"] is True and row["more"] is False and seqs(row) == [3, 4, 5]
    (row,) = await sync(bob, (group, epoch, 5))
    assert row["recovered"] is True and row["more"] is False and seqs(row) == []


async def test_more_than_a_hundred_come_in_turns(world):
    _, bob, group, epoch = await written(world, 230)
    seen, rounds = [], 0
    while True:
        (row,) = await sync(bob, (group, epoch, seen[-1] if seen else 0))
        assert row["recovered"] is True and row["lastSeq"] == 230
        seen += seqs(row)
        rounds += 1
        if not row["more"]:
            break
    assert seen == list(range(1, 231)) and rounds == 3


async def test_another_epoch_is_not_recovered(world):
    _, bob, group, epoch = await written(world, 3)
    (row,) = await sync(bob, (group, epoch + "x", 1))
    assert row["code"] == 0 and row["recovered"] is False and row["messageList"] == [] and row["epoch"] == epoch


async def test_each_group_has_its_row_and_its_code(world):
    alice, bob, group, epoch = await written(world, 1)
    foreign = await world.group(alice)
    rows = await sync(bob, (group, epoch, 0), (foreign, epoch, 0), (world.name("nowhere"), epoch, 0), ("a b", epoch, 0))
    assert [row["code"] for row in rows] == [0, 10007, 10010, 10015]
    assert seqs(rows[0]) == [1]


async def test_the_bounds(world):
    alice = await world.user("alice")
    await alice.refused(10004, "syncGroups", groups=[])
    row = {"groupID": "g", "epoch": "e", "seq": 0}
    await alice.refused(10004, "syncGroups", groups=[{**row, "groupID": f"g{n}"} for n in range(51)])
    assert len(await sync(alice, *((f"g{n}", "e", 0) for n in range(50)))) == 50
    await alice.refused(-32602, "syncGroups")
    await alice.refused(-32602, "syncGroups", groups=[{"groupID": "g", "epoch": 5, "seq": 0}])


async def test_a_joiner_recovers_only_what_it_may_see(world):
    alice, _, group, epoch = await written(world, 3)
    carol = await world.user("carol")
    await carol.call("joinGroup", groupID=group)                                           # seq 4
    await alice.call("sendGroupTextMessage", groupID=group, text="5")
    (row,) = await sync(carol, (group, epoch, 0))
    if row["recovered"]:
        assert seqs(row) == [4, 5]
    else:
        assert row["messageList"] == []


async def test_after_a_lost_connection_events_and_sync_make_the_whole(world):
    alice, bob, group, epoch = await written(world, 3)
    await bob.socket.close()
    for n in range(4, 8):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"m{n}")
    back = await world.session(bob.user)
    (row,) = await sync(back, (group, epoch, 3))
    assert row["recovered"] is True and seqs(row) == [4, 5, 6, 7]
    await alice.call("sendGroupTextMessage", groupID=group, text="m8")
    assert (await back.expect("onRecvNewMessage", groupID=group))["message"]["seq"] == 8


async def test_a_seq_that_the_group_never_had_is_not_recovered(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    epoch = (await info_of(alice, group))["epoch"]
    (row,) = (await alice.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": 2}]))["groups"]
    assert has(code=0, recovered=False, messageList=[], lastSeq=1)(row)
