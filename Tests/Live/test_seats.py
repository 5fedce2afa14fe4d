"""Keys of a room that somebody holds, as seats are (Protocol.md, "Holders of attributes")."""
import asyncio

import pytest

from harness.backend import done, lost
from harness.client import has
from harness.receiver import Receiver
from harness.restarts import restart
from harness.server import IS_CLUSTER
from harness.waiting import within
from harness.world import eventually, info_of

pytestmark = pytest.mark.nodes

CHANGED = "onGroupAttributeChanged"
SHORT = 3


@pytest.fixture
async def short(make_server, make_world):
    """A world on a server with moderators in live rooms and a short grace. Its time stands still, except over nodes."""
    settings = {"avChatRoom.moderation": "true", "avChatRoom.offlineGrace": SHORT, "drain.duration": 0}
    return make_world(make_server(settings, frozen=not IS_CLUSTER))


def sitting(client, seat="seat1"):
    """The params of a call that takes a free seat until its holder leaves."""
    return {"attributes": {seat: client.user}, "expect": {seat: None}, "isDeleteAfterHolderLeft": True}


async def sit(client, group, seat="seat1"):
    await client.call("setGroupAttributes", groupID=group, **sitting(client, seat))


async def seats_of(client, group):
    """The attributes, and their holders."""
    found = await client.call("getGroupAttributes", groupID=group, withHolders=True)
    return found["attributes"], found["holders"]


async def merged(world):
    """Changes of attributes are told once a second; over nodes the time goes on by itself."""
    if not IS_CLUSTER:
        await world.server.advance(seconds=1)


async def told(client, group, attributes, **holders):
    """Waits until this state is told; what was told before is dropped with it."""
    event = await client.expect(CHANGED, groupID=group, groupAttributeMap=attributes)
    assert event.get("holders") == (holders or None), event


async def test_twenty_take_one_seat_and_one_has_it(world):
    """One 200, nineteen 10058; everybody is told of the one."""
    owner, *people = await world.users("owner", *["guest"] * 20)
    group = await world.group(owner, "AVChatRoom", people)
    under_way = [await client.start("setGroupAttributes", groupID=group, **sitting(client)) for client in people]
    frames = [await within(future, 60) for future in under_way]
    codes = [frame.get("error", {}).get("code", 0) for frame in frames]
    assert codes.count(0) == 1 and codes.count(10058) == 19
    holder = people[codes.index(0)]
    assert {frame["error"]["data"]["field"] for frame in frames if "error" in frame} == {"expect"}
    for client in (owner, *people):
        await told(client, group, {"seat1": holder.user}, seat1=holder.user)
    assert await seats_of(owner, group) == ({"seat1": holder.user}, {"seat1": holder.user})


async def test_who_stands_up_may_sit_elsewhere_and_others_see_who_holds_what(world):
    owner, alice, bob, stranger = await world.users("owner", "alice", "bob", "stranger")
    group = await world.group(owner, "AVChatRoom", [alice, bob])
    await sit(alice, group)
    await told(bob, group, {"seat1": alice.user}, seat1=alice.user)
    await bob.refused(10058, "setGroupAttributes", groupID=group, **sitting(bob))
    # From one seat to the other in one call.
    await alice.call("setGroupAttributes", groupID=group, attributes={"seat2": alice.user}, expect={"seat1": alice.user, "seat2": None})
    await alice.call("deleteGroupAttributes", groupID=group, keys=["seat1"])
    await told(bob, group, {"seat2": alice.user}, seat2=alice.user)
    await sit(bob, group)
    await told(owner, group, {"seat1": bob.user, "seat2": alice.user}, seat1=bob.user, seat2=alice.user)
    done(world.server, "setGroupAttributes", groupID=group, attributes={"topic": "tea"})
    await told(alice, group, {"seat1": bob.user, "seat2": alice.user, "topic": "tea"}, seat1=bob.user, seat2=alice.user)
    assert (await bob.call("getGroupAttributes", groupID=group, keys=["seat2", "topic"], withHolders=True)) == {
        "attributes": {"seat2": alice.user, "topic": "tea"}, "holders": {"seat2": alice.user}}
    assert set(await bob.call("getGroupAttributes", groupID=group)) == {"attributes"}
    await stranger.refused(10007, "getGroupAttributes", groupID=group, withHolders=True)
    await stranger.quiet(CHANGED)


async def test_with_holder_a_seat_is_its_holders_and_the_managers(short):
    owner, alice, bob = await short.users("owner", "alice", "bob")
    group = await short.group(owner, "AVChatRoom", [alice, bob])
    assert (await info_of(alice, group))["attributeMode"] == "Any"
    await owner.call("setGroupInfo", groupID=group, attributeMode="Holder")
    event = await bob.expect("onGroupInfoChanged", groupID=group)
    assert event["changeInfoList"] == [{"type": "attributeMode", "value": "Holder"}]
    await sit(alice, group)
    data = await bob.refused(10059, "setGroupAttributes", groupID=group, attributes={"seat1": bob.user})
    assert data["field"] == "attributes" and data["temporary"] is False
    await bob.refused(10059, "setGroupAttributes", groupID=group, attributes={"seat1": bob.user}, isTakeOver=True)
    assert (await bob.refused(10059, "deleteGroupAttributes", groupID=group, keys=["seat1"]))["field"] == "keys"
    await bob.refused(10059, "initGroupAttributes", groupID=group, attributes={})
    await bob.refused(10058, "setGroupAttributes", groupID=group, attributes={"seat1": "x"}, expect={"seat1": None})
    await bob.call("setGroupAttributes", groupID=group, attributes={"seat1": alice.user, "seat2": bob.user})
    assert await seats_of(alice, group) == (
        {"seat1": alice.user, "seat2": bob.user}, {"seat1": alice.user, "seat2": bob.user}), "nothing else has changed"
    # The owner takes bob's seat away, and alice's over.
    await owner.call("deleteGroupAttributes", groupID=group, keys=["seat2"])
    await owner.call("setGroupAttributes", groupID=group, attributes={"seat1": owner.user}, isTakeOver=True)
    await merged(short)
    await told(bob, group, {"seat1": owner.user}, seat1=owner.user)
    await alice.refused(10059, "deleteGroupAttributes", groupID=group, keys=["seat1"])
    done(short.server, "setGroupAttributes", groupID=group, attributes={"seat1": "closed"}, isTakeOver=True)
    await merged(short)
    await told(bob, group, {"seat1": "closed"})
    await alice.call("deleteGroupAttributes", groupID=group, keys=["seat1"])


async def test_a_seat_is_free_again_when_its_holder_has_left(short):
    """By quitting, by removal, and at the end of the grace: one event each, and not to who is gone."""
    owner, quits, removed, lost_one = await short.users("owner", "quits", "removed", "lost")
    group = await short.group(owner, "AVChatRoom", [quits, removed, lost_one])
    for number, client in enumerate((quits, removed, lost_one), 1):
        await sit(client, group, f"seat{number}")
    everything = {f"seat{n}": client.user for n, client in enumerate((quits, removed, lost_one), 1)}
    await merged(short)
    for client in (owner, quits, removed):
        await told(client, group, everything, **everything)
        client.forget()
    await quits.call("quitGroup", groupID=group)
    del everything["seat1"]
    await merged(short)
    await told(owner, group, everything, **everything)
    await told(removed, group, everything, **everything)
    await owner.call("kickGroupMember", groupID=group, userIDList=[removed.user])
    del everything["seat2"]
    await merged(short)
    await told(owner, group, everything, **everything)
    for client in (quits, removed):
        await client.quiet(CHANGED)
    owner.forget()
    await lost(short, lost_one)
    short.clients.remove(lost_one)
    if not IS_CLUSTER:
        await short.server.advance(seconds=SHORT)
    await told(owner, group, {})
    assert await seats_of(owner, group) == ({}, {})


async def test_a_key_without_the_flag_stays_and_its_holder_comes_back(short):
    owner, alice, bob = await short.users("owner", "alice", "bob")
    group = await short.group(owner, "AVChatRoom", [alice, bob])
    await owner.call("setGroupInfo", groupID=group, attributeMode="Holder")
    await sit(alice, group)
    # The holder's own call says it anew.
    await alice.call("setGroupAttributes", groupID=group, attributes={"seat1": alice.user})
    await alice.call("quitGroup", groupID=group)
    assert await seats_of(bob, group) == ({"seat1": alice.user}, {"seat1": alice.user})
    await bob.refused(10059, "deleteGroupAttributes", groupID=group, keys=["seat1"])
    await alice.call("joinGroup", groupID=group)
    await alice.call("deleteGroupAttributes", groupID=group, keys=["seat1"])


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_holders_outlive_a_restart(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    owner, alice = await world.users("owner", "alice")
    group = await world.group(owner, "AVChatRoom", [alice])
    await sit(alice, group)
    await alice.call("setGroupAttributes", groupID=group, attributes={"mic": "on"})
    names = owner.user, alice.user
    await restart(world, how)
    owner, alice = [await world.session(name) for name in names]
    assert await seats_of(owner, group) == (
        {"seat1": alice.user, "mic": "on"}, {"seat1": alice.user, "mic": alice.user})
    await alice.call("quitGroup", groupID=group)
    await eventually(lambda: seats_of(owner, group), ({"mic": "on"}, {"mic": alice.user}))


async def test_the_application_is_told_who_holds_what(make_server, make_world):
    with Receiver() as receiver:
        world = make_world(make_server(receiver.settings("attributesChanged")))
        owner, alice = await world.users("owner", "alice")
        group = await world.group(owner, "AVChatRoom", [alice])
        await sit(alice, group)
        await alice.call("quitGroup", groupID=group)
        done(world.server, "setGroupAttributes", groupID=group, attributes={"topic": "tea"})
        requests = await receiver.expect("attributesChanged", 3)
        assert [(request.data["groupAttributeMap"], request.data.get("holders")) for request in requests] == [
            ({"seat1": alice.user}, {"seat1": alice.user}), ({}, None), ({"topic": "tea"}, None)]


async def test_refused_calls_do_not_count(frozen_world):
    """10058 and 10059 come after 8511 and the sizes."""
    owner, alice, bob = await frozen_world.users("owner", "alice", "bob")
    group = await frozen_world.group(owner, "AVChatRoom", [alice, bob])
    await owner.call("setGroupInfo", groupID=group, attributeMode="Holder")
    await sit(alice, group)
    for _ in range(12):
        await bob.refused(10058, "setGroupAttributes", groupID=group, **sitting(bob))
        await bob.refused(10059, "setGroupAttributes", groupID=group, attributes={"seat1": "x"})
    too_many = {f"k{n}": "v" for n in range(17)}
    await bob.refused(10047, "setGroupAttributes", groupID=group, attributes=too_many, expect={"seat1": None})
    for _ in range(10):
        await bob.call("setGroupAttributes", groupID=group, attributes={"b": "1"})
    await bob.refused(8511, "setGroupAttributes", groupID=group, **sitting(bob))
    await bob.refused(8511, "setGroupAttributes", groupID=group, attributes={"seat1": "x"})
    await frozen_world.server.advance(seconds=5)
    await bob.refused(10058, "setGroupAttributes", groupID=group, **sitting(bob))


async def test_what_may_be_expected(world):
    owner = await world.user("owner")
    group = await world.group(owner, "AVChatRoom")
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "1"}, expect={f"k{n}": None for n in range(16)})
    data = await owner.refused(10004, "setGroupAttributes", groupID=group, attributes={}, expect={f"k{n}": None for n in range(17)})
    assert data["field"] == "expect"
    await owner.refused(10045, "setGroupAttributes", groupID=group, attributes={}, expect={"x" * 33: None})
    await owner.refused(10046, "setGroupAttributes", groupID=group, attributes={}, expect={"a": "x" * 4097})
    await owner.refused(-32602, "setGroupAttributes", groupID=group, attributes={}, expect={"a": 1})
    await owner.refused(-32602, "setGroupAttributes", groupID=group, attributes={}, expect=["a"])
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "2"}, expect={"a": "1"})
    await owner.expect(CHANGED, groupID=group, groupAttributeMap=has(a="2"))
