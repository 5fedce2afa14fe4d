"""The counters of a group (Protocol.md, "Counters" and "Counter rate")."""
import asyncio
import itertools
import random

import pytest

from harness.backend import all_answers, denied, done, lost
from harness.client import has
from harness.world import World, kill_during

TYPES = ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
SETTERS = {"Work": "Owner", "Public": "Admin", "Meeting": "Admin", "AVChatRoom": "Owner", "BChatRoom": "Admin"}
LARGEST = 2**53


async def counters_of(client, group, **params):
    return (await client.call("getGroupCounters", groupID=group, **params))["counters"]


async def raise_(client, group, key="likes", value=1):
    return (await client.call("increaseGroupCounter", groupID=group, key=key, value=value))["value"]


async def told(client, group, counters):
    """Waits until events have told these values; gives the events."""
    events, seen = [], {}
    while any(seen.get(key, "untold") != value for key, value in counters.items()):
        event = await client.expect("onGroupCounterChanged", groupID=group)
        assert set(event) == {"groupID", "opTime", "counters"} and event["counters"]
        seen.update(event["counters"])
        events.append(event)
    return events


async def group_of(world, groupType):
    """A group with an owner, an Admin where the type has one, a member, and who is outside."""
    owner, admin, member, outsider = await world.users("owner", "admin", "member", "outsider")
    people = {"owner": owner, "member": member, "outsider": outsider}
    if groupType == "BChatRoom":
        group = done(world.server, "createGroup", groupType=groupType, groupName="g", ownerUserID=owner.user)["groupID"]
        await owner.call("setGroupMemberRole", groupID=group, userID=admin.user, role="Admin")
        people["admin"] = admin
    elif groupType in ("Public", "Meeting"):
        people["admin"] = admin
        group = await world.group(owner, groupType, [member], [admin])
    else:
        group = await world.group(owner, groupType, [member])
    for client in people.values():
        client.forget()
    return group, people


# The calls

async def test_set_increase_decrease_get(world):
    group, people = await group_of(world, "Public")
    owner, member = people["owner"], people["member"]
    assert await counters_of(member, group) == {}
    assert await owner.call("setGroupCounters", groupID=group, counters={"a": 5, "b": -7, "c": 0}) == {}
    assert await counters_of(member, group) == {"a": 5, "b": -7, "c": 0}
    assert await member.call("increaseGroupCounter", groupID=group, key="a", value=3) == {"value": 8}
    assert await member.call("decreaseGroupCounter", groupID=group, key="new", value=2147483647) == {"value": -2147483647}
    assert await owner.call("setGroupCounters", groupID=group, counters={"b": None, "none": None, "c": 1}) == {}
    assert await counters_of(member, group) == {"a": 8, "c": 1, "new": -2147483647}
    assert await counters_of(member, group, keys=["c", "b", "x"]) == {"c": 1}
    assert await counters_of(member, group, keys=[]) == {}
    assert await counters_of(member, group, keys=None) == {"a": 8, "c": 1, "new": -2147483647}


@pytest.mark.parametrize("groupType", TYPES)
async def test_who_may(world, groupType):
    """The row "set counters", every member for the others, and nobody from outside."""
    group, people = await group_of(world, groupType)
    allowed = {"owner"} | ({"admin"} if SETTERS[groupType] == "Admin" else set())
    everybody = groupType == "BChatRoom"
    for name, client in people.items():
        if name in allowed:
            assert await client.call("setGroupCounters", groupID=group, counters={"votes": 1}) == {}
        else:
            await client.refused(10007, "setGroupCounters", groupID=group, counters={"votes": 2})
        if name != "outsider" or everybody:
            assert isinstance(await raise_(client, group), int)
            assert (await counters_of(client, group))["votes"] == 1
            continue
        for method in ("increaseGroupCounter", "decreaseGroupCounter"):
            await client.refused(10007, method, groupID=group, key="likes", value=1)
        await client.refused(10007, "getGroupCounters", groupID=group)
    server = world.server
    assert done(server, "setGroupCounters", groupID=group, counters={"votes": 9}) == {}
    assert done(server, "increaseGroupCounter", groupID=group, key="votes", value=1) == {"value": 10}
    assert done(server, "getGroupCounters", groupID=group, keys=["votes"]) == {"counters": {"votes": 10}}
    member = people["member"].user
    denied(server, 10007, "setGroupCounters", groupID=group, counters={"votes": 2}, asUser=member)
    assert done(server, "decreaseGroupCounter", groupID=group, key="votes", value=1, asUser=member) == {"value": 9}


# Errors, in the order of the page

@pytest.mark.parametrize("counters, code", [
    ({}, 10004), ({f"k{n}": 1 for n in range(21)}, 10004), ({"": 1}, 10004), ({"a b": 1}, 10004), ({"é": 1}, 10004),
    ({"x" * 33: 1}, 10004), ({"a-b": None}, 10004), ({"a": LARGEST + 1}, 10004), ({"a": -LARGEST - 1}, 10004),
    ({"a": 10**40}, 10004), ({"a": "1"}, -32602), ({"a": 1.5}, -32602), ({"a": True}, -32602), ({"a": {}}, -32602),
    ([], -32602), ("a", -32602), (None, -32602),
])
async def test_counters_that_are_none(world, counters, code):
    owner = await world.user("owner")
    assert (await owner.refused(code, "setGroupCounters", groupID="nowhere", counters=counters))["field"] == "counters"


@pytest.mark.parametrize("method", ["increaseGroupCounter", "decreaseGroupCounter"])
@pytest.mark.parametrize("key, value, code, field", [
    ("", 1, 10004, "key"), ("x" * 33, 1, 10004, "key"), ("a.b", 1, 10004, "key"), (5, 1, -32602, "key"), (None, 1, -32602, "key"),
    ("a", 0, 10004, "value"), ("a", -1, 10004, "value"), ("a", 2**31, 10004, "value"), ("a", "1", -32602, "value"),
    ("a", 1.5, -32602, "value"), ("a", None, -32602, "value"),
])
async def test_steps_that_are_none(world, method, key, value, code, field):
    owner = await world.user("owner")
    assert (await owner.refused(code, method, groupID="nowhere", key=key, value=value))["field"] == field


async def test_the_order_of_errors(frozen_world):
    """Parameters, group, membership, rights, 10057 or 10004, 8511."""
    group, people = await group_of(frozen_world, "Public")
    owner, member, outsider = people["owner"], people["member"], people["outsider"]
    twenty = {f"k{n}": LARGEST for n in range(20)}
    await outsider.refused(10004, "increaseGroupCounter", groupID="nowhere", key="", value=1)
    await outsider.refused(10010, "increaseGroupCounter", groupID="nowhere", key="k", value=1)
    await owner.call("setGroupCounters", groupID=group, counters=twenty)
    await outsider.refused(10007, "increaseGroupCounter", groupID=group, key="more", value=1)
    await member.refused(10007, "setGroupCounters", groupID=group, counters={"more": 1})
    await member.refused(10057, "increaseGroupCounter", groupID=group, key="more", value=1)
    await owner.refused(10057, "setGroupCounters", groupID=group, counters={"more": 1, "k0": 1})
    await member.refused(10004, "increaseGroupCounter", groupID=group, key="k1", value=1)
    answers = await all_answers(member, [("decreaseGroupCounter", {"groupID": group, "key": "k2", "value": 1})] * 21)
    assert [getattr(answer, "code", 0) for answer in answers] == [0] * 20 + [8511]
    assert answers[-1].data == {"retryAfterMs": 5000, "temporary": True}
    await member.refused(10057, "increaseGroupCounter", groupID=group, key="more", value=1)
    await member.refused(10004, "increaseGroupCounter", groupID=group, key="k1", value=1)
    await member.refused(8511, "increaseGroupCounter", groupID=group, key="k2", value=1)
    assert await counters_of(member, group) == {**twenty, "k2": LARGEST - 20}


async def test_the_rate_is_of_a_user_and_a_group(frozen_world):
    server = frozen_world.server
    group, people = await group_of(frozen_world, "Public")
    owner, member = people["owner"], people["member"]
    other = await frozen_world.group(owner, members=[member])
    again = await frozen_world.session(member.user)
    step = ("increaseGroupCounter", {"groupID": group, "key": "a", "value": 1})
    answers = await all_answers(member, [step] * 15) + await all_answers(again, [step] * 15)
    assert [getattr(answer, "code", 0) for answer in answers] == [0] * 20 + [8511] * 10
    assert {answer.data["retryAfterMs"] for answer in answers[20:]} == {5000}
    assert await raise_(member, other) == 1
    assert await raise_(owner, group, "a") == 21
    batch = [{"jsonrpc": "2.0", "id": n, "method": "setGroupCounters", "params": {"groupID": group, "counters": {"b": n}}}
             for n in range(20)]
    for _ in range(2):
        assert not [row for row in server.post_rpc(batch).json() if "error" in row], "administrators are not limited"
    for _ in range(30):
        await counters_of(member, group)
    await server.advance(seconds=4.999)
    assert (await member.refused(8511, step[0], **step[1]))["retryAfterMs"] == 1
    await server.advance(seconds=0.001)
    assert await raise_(member, group, "a") == 22


# Events

@pytest.mark.parametrize("groupType", TYPES)
async def test_all_members_are_told_and_nobody_else(world, groupType):
    group, people = await group_of(world, groupType)
    members = [client for name, client in people.items() if name != "outsider" or groupType == "BChatRoom"]
    if groupType in ("Work", "Public"):
        await people["member"].call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    again = await world.session(people["member"].user)
    await raise_(people["owner"], group)
    for client in [*members, again]:
        (event,) = await told(client, group, {"likes": 1})
        assert event["counters"] == {"likes": 1}
    await people["owner"].call("setGroupCounters", groupID=group, counters={"likes": None, "votes": 3})
    for client in [*members, again]:
        assert (await told(client, group, {"likes": None, "votes": 3}))[-1]["counters"] == {"likes": None, "votes": 3}
    if groupType != "BChatRoom":
        await people["outsider"].quiet("onGroupCounterChanged", group=group)


async def test_who_has_left_is_told_nothing(world):
    group, people = await group_of(world, "AVChatRoom")
    await people["member"].call("quitGroup", groupID=group)
    await raise_(people["owner"], group)
    await told(people["owner"], group, {"likes": 1})
    await people["member"].quiet("onGroupCounterChanged", group=group)
    await people["member"].refused(10007, "increaseGroupCounter", groupID=group, key="likes", value=1)


async def test_what_changes_nothing_is_not_told(frozen_world):
    group, people = await group_of(frozen_world, "Public")
    owner, member = people["owner"], people["member"]
    await owner.call("setGroupCounters", groupID=group, counters={"a": 1})
    await told(member, group, {"a": 1})
    await owner.call("setGroupCounters", groupID=group, counters={"a": 1, "none": None})
    await frozen_world.server.advance(seconds=1)
    await frozen_world.settle(group, owner, member)
    await member.quiet("onGroupCounterChanged", group=group)


async def test_at_most_five_events_in_any_second_and_the_last_state(frozen_world):
    server = frozen_world.server
    group, people = await group_of(frozen_world, "AVChatRoom")
    writers = await frozen_world.users(*["writer"] * 12)
    for writer in writers:
        await writer.call("joinGroup", groupID=group)
    for _ in range(20):
        await asyncio.gather(*(raise_(writer, group) for writer in writers))
        await server.advance(seconds=0.1)
    await server.advance(seconds=1)
    total = 20 * len(writers)
    watcher = people["member"]
    events = await told(watcher, group, {"likes": total})
    assert await counters_of(watcher, group) == {"likes": total}
    assert [event["opTime"] - events[0]["opTime"] for event in events] == [220 * n for n in range(10)]
    await watcher.quiet("onGroupCounterChanged", group=group)


# An answered change is durable

async def test_every_answer_is_the_sum_so_far(world):
    """Many at the same time: the values are 1 to n, each once."""
    group, people = await group_of(world, "AVChatRoom")
    writers = await world.users(*["writer"] * 10)
    for writer in writers:
        await writer.call("joinGroup", groupID=group)
    step = ("increaseGroupCounter", {"groupID": group, "key": "likes", "value": 1})
    answers = await asyncio.gather(*(all_answers(writer, [step] * 20) for writer in writers))
    assert sorted(answer["value"] for answer in itertools.chain(*answers)) == list(range(1, 201))
    for own in answers:
        assert [answer["value"] for answer in own] == sorted(answer["value"] for answer in own)


async def test_ten_rounds_of_kill_9_under_load(make_server, record_property):
    own = make_server()
    random_ = random.Random(12)
    world = World(own)
    users = [await world.session(f"user-{n}") for n in range(30)]
    groups = [await world.group(users[0], "AVChatRoom", users[1:]), await world.group(users[0], "Work", users[1:])]
    await users[0].call("setGroupCounters", groupID=groups[1], counters={"gone": 1, "set": 0})
    await users[0].call("setGroupCounters", groupID=groups[1], counters={"gone": None})
    await world.close()
    sent, answered, highest = ({group: 0 for group in groups} for _ in range(3))
    lowest = {group: 0 for group in groups}
    for _ in range(10):
        world = World(own)
        clients = [await world.session(f"user-{n}") for n in range(30)]
        enough, count = random_.randint(50, 400), 0
        reached = asyncio.Event()

        async def write(client):
            nonlocal count
            for group in itertools.chain.from_iterable([groups] * 20):
                sent[group] += 1
                value = await raise_(client, group)
                answered[group] += 1
                highest[group] = max(highest[group], value)
                count += 1
                if count >= enough:
                    reached.set()

        world = await kill_during(world, [write(client) for client in clients], reached)
        reader = await world.session("user-0")
        for group in groups:
            counters = await counters_of(reader, group)
            assert max(highest[group], answered[group], lowest[group]) <= counters["likes"] <= sent[group]
            lowest[group] = highest[group] = counters["likes"]
            assert "gone" not in counters
        assert (await counters_of(reader, groups[1]))["set"] == 0
        await world.close()
    record_property("summary", f"kill-9: 10 rounds, {sum(answered.values())} acknowledged increments checked")


async def test_counters_end_with_their_group(world):
    owner = await world.user("owner")
    group = await world.group(owner, "Public", groupID=world.name("again"))
    await raise_(owner, group)
    await owner.call("dismissGroup", groupID=group)
    await owner.refused(10010, "getGroupCounters", groupID=group)
    await world.group(owner, "Public", groupID=group)
    assert await counters_of(owner, group) == {}


async def test_a_live_room_keeps_its_counters_without_sessions(world):
    group, people = await group_of(world, "AVChatRoom")
    await raise_(people["member"], group, value=5)
    for client in people.values():
        await lost(world, client)
    back = await world.session(people["member"].user)
    assert await counters_of(back, group) == {"likes": 5}


# Others

async def test_the_right_is_in_the_server_information(world):
    client = await world.user()
    types = {row["groupType"]: row["rights"] for row in (await client.call("getServerInfo"))["groupTypes"]}
    assert {name: rights["setCounters"] for name, rights in types.items()} == SETTERS


async def test_messages_do_not_wait_for_counters(world):
    """Both under way at once: each is answered, and the room has the chat in its order."""
    group, people = await group_of(world, "AVChatRoom")
    owner, member = people["owner"], people["member"]
    calls = []
    for number in range(15):
        calls.append(("increaseGroupCounter", {"groupID": group, "key": "likes", "value": 1}))
        calls.append(("sendGroupTextMessage", {"groupID": group, "text": f"{number}"}))
    answers = await all_answers(member, calls)
    assert [answer["value"] for answer in answers[::2]] == list(range(1, 16))
    for number in range(15):
        await owner.expect("onRecvNewMessage", groupID=group, message=has(text=f"{number}"))
