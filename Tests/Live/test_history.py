"""getGroupHistoryMessageList (Protocol.md, "History")."""
import pytest

from harness.world import history_of, info_of

pytestmark = pytest.mark.store


async def written(world, count, groupType="Public", **fields):
    """A group with `count` messages, seq 1 to count, and its owner."""
    alice = await world.user("alice")
    group = await world.group(alice, groupType, **fields)
    under_way = [await alice.start("sendGroupTextMessage", groupID=group, text=f"m{n}") for n in range(1, count + 1)]
    assert [(await future)["result"]["seq"] for future in under_way] == list(range(1, count + 1))
    return alice, group


async def page(client, group, **params):
    answer = await client.call("getGroupHistoryMessageList", groupID=group, **params)
    return [message["seq"] for message in answer["messageList"]], answer["isFinished"]


async def test_older_descends_from_the_newest_or_from_seq_exclusive(world):
    alice, group = await written(world, 30)
    assert await page(alice, group) == (list(range(30, 10, -1)), False)
    assert await page(alice, group, fromSeq=11) == (list(range(10, 0, -1)), True)
    assert await page(alice, group, fromSeq=11, count=10, direction="Older") == (list(range(10, 0, -1)), True)
    assert await page(alice, group, fromSeq=11, count=9) == (list(range(10, 1, -1)), False)
    assert await page(alice, group, fromSeq=1) == ([], True)
    assert await page(alice, group, count=100) == (list(range(30, 0, -1)), True)


async def test_newer_ascends_from_the_oldest_or_from_seq_exclusive(world):
    alice, group = await written(world, 30)
    assert await page(alice, group, direction="Newer") == (list(range(1, 21)), False)
    assert await page(alice, group, direction="Newer", fromSeq=20) == (list(range(21, 31)), True)
    assert await page(alice, group, direction="Newer", fromSeq=20, count=9) == (list(range(21, 30)), False)
    assert await page(alice, group, direction="Newer", fromSeq=30) == ([], True)


async def test_an_empty_history(world):
    alice, group = await written(world, 0)
    for direction in ("Older", "Newer"):
        assert await page(alice, group, direction=direction) == ([], True)


async def test_the_parameters_have_their_domains(world):
    alice, group = await written(world, 1)
    for params in ({"count": 0}, {"count": 101}, {"direction": "Sideways"}, {"direction": "older"}):
        await alice.refused(10004, "getGroupHistoryMessageList", groupID=group, **params)
    await alice.refused(-32602, "getGroupHistoryMessageList", groupID=group, count="5")
    bob = await world.user("bob")
    await bob.refused(10007, "getGroupHistoryMessageList", groupID=group)


@pytest.mark.parametrize("groupType, first", [("Public", 4), ("Meeting", 1)])
async def test_history_from_before_joining_is_seen_in_a_meeting_only(world, groupType, first):
    alice, group = await written(world, 3, groupType, memberChangeNotification=True)
    bob = await world.user("bob")
    await bob.call("joinGroup", groupID=group)
    messages = await history_of(bob, group)
    assert [message["seq"] for message in messages] == list(range(first, 5))
    assert messages[-1]["tips"]["type"] == "Join", "a joiner's history begins with the own tip"


async def test_the_time_between_quitting_and_joining_again_stays_invisible(world):
    alice, group = await written(world, 1)
    bob = await world.user("bob")
    await bob.call("joinGroup", groupID=group)                                             # seq 2
    await alice.call("sendGroupTextMessage", groupID=group, text="seen")                   # 3
    await bob.call("quitGroup", groupID=group)                                             # 4
    await alice.call("sendGroupTextMessage", groupID=group, text="unseen")                 # 5
    await bob.call("joinGroup", groupID=group)                                             # 6
    await alice.call("sendGroupTextMessage", groupID=group, text="seen again")             # 7
    seen = [message["seq"] for message in await history_of(bob, group)]
    assert 5 not in seen and 1 not in seen
    assert {2, 3, 6, 7} <= set(seen) <= {2, 3, 4, 6, 7}
    assert [message["seq"] for message in await history_of(alice, group)] == [1, 2, 3, 4, 5, 6, 7]


async def test_what_was_received_is_what_history_tells(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for n in range(5):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"t{n}", clientMsgID=f"c{n}", priority="Low")
        await alice.call("sendGroupCustomMessage", groupID=group, data=f"d{n}", atUserIDList=[bob.user])
    received = [(await bob.expect("onRecvNewMessage", groupID=group))["message"] for _ in range(10)]
    assert await history_of(bob, group) == received


async def test_a_joiner_without_a_tip_sees_nothing_from_before(world):
    """With notification off there is no Join tip; history, lastMessage, sync and unread still begin
    with the joining."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, memberChangeNotification=False)
    await alice.call("sendGroupTextMessage", groupID=group, text="before")
    await bob.call("joinGroup", groupID=group)
    info = await info_of(bob, group)
    assert "lastMessage" not in info and info["selfInfo"]["unreadCount"] == 0
    assert await history_of(bob, group) == []
    (row,) = (await bob.call("syncGroups", groups=[{"groupID": group, "epoch": info["epoch"], "seq": 0}]))["groups"]
    assert row["messageList"] == []
    await alice.call("sendGroupTextMessage", groupID=group, text="after")
    assert [message["text"] for message in await history_of(bob, group)] == ["after"]
    assert (await info_of(bob, group))["selfInfo"]["unreadCount"] == 1
