"""The attributes of a group (Protocol.md, "Attributes")."""
import pytest

from harness.backend import all_answers, denied, done, lost
from harness.client import Refused
from harness.restarts import restart
from harness.world import history_of, info_of

WRITES = [
    ("initGroupAttributes", {"attributes": {"k": "v"}}),
    ("setGroupAttributes", {"attributes": {"k": "v"}}),
    ("deleteGroupAttributes", {"keys": []}),
]
CALLS = [*WRITES, ("getGroupAttributes", {})]


async def attributes_of(client, group):
    return (await client.call("getGroupAttributes", groupID=group))["attributes"]


async def room_of(world, groupType="AVChatRoom", members=1):
    """A room, its owner, and further members."""
    people = await world.users("owner", *["member"] * members)
    return await world.group(people[0], groupType, people[1:]), *people


async def told(client, group, attributes):
    """Waits until the whole set is told to this client; what was told before is dropped with it."""
    return await client.expect("onGroupAttributeChanged", groupID=group, groupAttributeMap=attributes)


# The calls

async def test_init_replaces_set_merges_delete_removes(world):
    group, owner, member = await room_of(world)
    assert await attributes_of(member, group) == {}
    assert await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1", "b": "2"}) == {}
    assert await attributes_of(member, group) == {"a": "1", "b": "2"}
    assert await member.call("setGroupAttributes", groupID=group, attributes={"b": "two", "c": "3"}) == {}
    assert await attributes_of(owner, group) == {"a": "1", "b": "two", "c": "3"}
    assert await owner.call("deleteGroupAttributes", groupID=group, keys=["a", "c"]) == {}
    assert await attributes_of(member, group) == {"b": "two"}
    assert await member.call("initGroupAttributes", groupID=group, attributes={"z": ""}) == {}
    assert await attributes_of(owner, group) == {"z": ""}
    assert await member.call("initGroupAttributes", groupID=group, attributes={}) == {}
    assert await attributes_of(owner, group) == {}


async def test_keys_absent_means_all_and_an_empty_list_none(world):
    group, owner, _ = await room_of(world)
    everything = {"a": "1", "b": "2", "c": "3"}
    await owner.call("initGroupAttributes", groupID=group, attributes=everything)
    assert (await owner.call("getGroupAttributes", groupID=group, keys=[]))["attributes"] == {}
    assert (await owner.call("getGroupAttributes", groupID=group, keys=None))["attributes"] == everything
    assert (await owner.call("getGroupAttributes", groupID=group, keys=["a", "c"]))["attributes"] == {"a": "1", "c": "3"}
    assert (await owner.call("getGroupAttributes", groupID=group, keys=["a", "nothing"]))["attributes"] == {"a": "1"}
    assert await owner.call("deleteGroupAttributes", groupID=group, keys=[]) == {}
    assert await attributes_of(owner, group) == everything
    assert await owner.call("deleteGroupAttributes", groupID=group) == {}
    assert await attributes_of(owner, group) == {}


async def test_deleting_one_unknown_key_deletes_nothing(world):
    """10050, and the known keys stay."""
    group, owner, member = await room_of(world)
    await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1", "b": "2"})
    await told(member, group, {"a": "1", "b": "2"})
    await owner.refused(10050, "deleteGroupAttributes", groupID=group, keys=["a", "nothing", "b"])
    assert await attributes_of(owner, group) == {"a": "1", "b": "2"}
    await world.settle(group, owner, member)
    assert not member.received("onGroupAttributeChanged", groupID=group)


async def test_values_come_back_as_sent(world):
    group, owner, member = await room_of(world)
    odd = {"é中👋": "a\u0000b\n\"\\", "with space": "\u2028\ufeff", "x" * 32: "é" * 2048}
    await owner.call("setGroupAttributes", groupID=group, attributes=odd)
    await told(member, group, odd)
    assert await attributes_of(member, group) == odd


async def test_the_byte_limits(world):
    """10045 key over 32 B (empty 10004), 10046 value over 4096 B, in multi-byte text too; nothing
    is changed by a refusal."""
    group, owner, _ = await room_of(world)
    before = {"é" * 16: "中" * 1365 + "x"}
    for method in ("initGroupAttributes", "setGroupAttributes"):
        await owner.call(method, groupID=group, attributes=before)
        for code, wrong in [(10045, {"é" * 16 + "x": "v"}), (10004, {"": "v"}), (10046, {"k": "中" * 1366}),
                            (10046, {"k": "x" * 4097})]:
            await owner.refused(code, method, groupID=group, attributes={"fine": "v", **wrong})
            assert await owner.call("getGroupAttributes", groupID=group) == {"attributes": before}


async def test_sixteen_keys_are_the_bound_of_the_result(world):
    group, owner, member = await room_of(world)
    sixteen = {f"k{n}": "v" for n in range(16)}
    await owner.refused(10047, "initGroupAttributes", groupID=group, attributes={**sixteen, "more": "v"})
    assert await attributes_of(owner, group) == {}
    await owner.call("initGroupAttributes", groupID=group, attributes=sixteen)
    await owner.refused(10047, "setGroupAttributes", groupID=group, attributes={"more": "v"})
    await owner.refused(10047, "setGroupAttributes", groupID=group, attributes={"k1": "changed", "more": "v"})
    await owner.call("setGroupAttributes", groupID=group, attributes={"k1": "changed"})
    await owner.call("initGroupAttributes", groupID=group, attributes={f"other{n}": "v" for n in range(16)})
    await member.call("deleteGroupAttributes", groupID=group, keys=["other3"])
    await member.call("setGroupAttributes", groupID=group, attributes={"more": "v"})
    assert len(await attributes_of(owner, group)) == 16


async def test_sixteen_kibibytes_are_the_bound_in_all(world):
    """10048: keys and values together, of the result."""
    group, owner, _ = await room_of(world)
    full = {"a": "x" * 4095, "b": "é" * 2047 + "x", "c": "x" * 4095, "d": "x" * 4095}
    await owner.refused(10048, "initGroupAttributes", groupID=group, attributes={**full, "d": "x" * 4096})
    assert await attributes_of(owner, group) == {}
    await owner.call("initGroupAttributes", groupID=group, attributes=full)
    await owner.refused(10048, "setGroupAttributes", groupID=group, attributes={"e": ""})
    await owner.refused(10048, "setGroupAttributes", groupID=group, attributes={"a": "x" * 4096})
    assert await attributes_of(owner, group) == full
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "short", "e": "x" * 4000})
    assert (await attributes_of(owner, group))["a"] == "short"


async def test_the_parameters(world):
    group, owner, _ = await room_of(world)
    for method in ("initGroupAttributes", "setGroupAttributes"):
        assert (await owner.refused(-32602, method, groupID=group))["field"] == "attributes"
        for wrong in ([], "x", {"k": 1}, {"k": {}}):
            await owner.refused(-32602, method, groupID=group, attributes=wrong)
    for method in ("deleteGroupAttributes", "getGroupAttributes"):
        await owner.refused(-32602, method, groupID=group, keys="a")
        await owner.refused(-32602, method, groupID=group, keys=[1])
    for method, params in CALLS:
        await owner.refused(10010, method, groupID=world.name("nowhere"), **params)
        await owner.refused(10015, method, groupID="a b", **params)
        assert (await owner.refused(-32602, method, **params))["field"] == "groupID"


# Rights

@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_other_types_have_no_attributes_even_for_an_administrator(server, world, groupType):
    group, people = await world.group_of(groupType)
    for method, params in CALLS:
        for client in people.values():
            await client.refused(10007, method, groupID=group, **params)
        denied(server, 10007, method, groupID=group, **params)
        denied(server, 10007, method, groupID=group, asUser=people["owner"].user, **params)


async def test_a_bchatroom_has_no_attributes(server, world):
    owner, user = await world.users("owner", "user")
    group = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    for method, params in CALLS:
        for client in (owner, user):
            await client.refused(10007, method, groupID=group, **params)
        denied(server, 10007, method, groupID=group, **params)
    done(server, "dismissGroup", groupID=group)


async def test_a_non_member_neither_reads_nor_writes(server, world):
    group, owner, member = await room_of(world)
    outsider = await world.user("outsider")
    await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1"})
    await member.call("quitGroup", groupID=group)
    for method, params in CALLS:
        for client in (outsider, member):
            await client.refused(10007, method, groupID=group, **params)
        denied(server, 10007, method, groupID=group, asUser=outsider.user, **params)
    assert await attributes_of(owner, group) == {"a": "1"}


async def test_an_administrator_reads_and_writes_without_membership(server, world):
    group, owner, member = await room_of(world)
    assert done(server, "initGroupAttributes", groupID=group, attributes={"a": "1"}) == {}
    for client in (owner, member):
        await told(client, group, {"a": "1"})
    done(server, "setGroupAttributes", groupID=group, attributes={"b": "2"})
    assert done(server, "getGroupAttributes", groupID=group) == {"attributes": {"a": "1", "b": "2"}}
    done(server, "deleteGroupAttributes", groupID=group, keys=["a"])
    await told(owner, group, {"b": "2"})
    done(server, "setGroupAttributes", groupID=group, attributes={"c": "3"}, asUser=member.user)
    await told(owner, group, {"b": "2", "c": "3"})


async def test_attributes_of_a_disbanded_group_are_gone(world):
    owner = await world.user("owner")
    group = await world.group(owner, "AVChatRoom", groupID=world.name("again"))
    await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1"})
    await owner.call("dismissGroup", groupID=group)
    for method, params in CALLS:
        await owner.refused(10010, method, groupID=group, **params)
    await world.group(owner, "AVChatRoom", groupID=group)
    assert await attributes_of(owner, group) == {}


# Events

async def test_the_whole_set_is_told_to_all_members_the_writer_included(world):
    group, owner, member = await room_of(world)
    second, outsider = await world.session(owner.user), await world.user("outsider")
    gone = await world.user("gone")
    await gone.call("joinGroup", groupID=group)
    await gone.call("quitGroup", groupID=group)
    await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1", "b": "2"})
    for client in (owner, second, member):
        event = await told(client, group, {"a": "1", "b": "2"})
        assert event["opTime"] > 1_600_000_000_000
    await member.call("setGroupAttributes", groupID=group, attributes={"c": "3"})
    for client in (owner, second, member):
        await told(client, group, {"a": "1", "b": "2", "c": "3"})
    await member.call("deleteGroupAttributes", groupID=group)
    for client in (owner, second, member):
        await told(client, group, {})
    for client in (outsider, gone):
        await client.quiet("onGroupAttributeChanged", group=group)


async def test_a_refused_write_is_told_to_nobody(world):
    group, owner, member = await room_of(world)
    await owner.refused(10045, "setGroupAttributes", groupID=group, attributes={"x" * 33: "v"})
    await owner.refused(10050, "deleteGroupAttributes", groupID=group, keys=["nothing"])
    await owner.call("setGroupAttributes", groupID=group, attributes={"mark": "er"})
    for client in (owner, member):
        await told(client, group, {"mark": "er"})
        assert not client.received("onGroupAttributeChanged", groupID=group)


async def test_many_writes_are_merged_and_the_last_state_arrives(frozen_world):
    """At most 20 events a second per group, each the whole set as it was at one moment, the last
    one always (Protocol.md, "Attribute rate")."""
    server = frozen_world.server
    group, owner, *writers = await room_of(frozen_world, members=12)
    for number in range(10):
        under_way = [await client.start("setGroupAttributes", groupID=group, attributes={client.user: f"{number}"})
                     for client in writers]
        assert all(["result" in await future for future in under_way])
        await server.advance(seconds=0.02)
    final = {client.user: "9" for client in writers}
    assert await attributes_of(owner, group) == final
    await server.advance(seconds=1)
    await frozen_world.settle(group, owner, writers[0])
    heard = owner.received("onGroupAttributeChanged", groupID=group)
    assert [event["opTime"] - heard[0]["opTime"] for event in heard] == [0, 50, 100, 150, 200]
    assert heard[-1]["groupAttributeMap"] == final
    for client in writers:
        values = [int(event["groupAttributeMap"].get(client.user, -1)) for event in heard]
        assert values == sorted(values), "an older state came after a newer one"
        await told(client, group, final)


# Rates

@pytest.mark.parametrize("mixture", [1, 2, 3])
async def test_ten_writes_in_five_seconds_are_a_users_share(frozen_world, mixture):
    """8511: init, set and delete together; another user, another group and reads are not touched;
    after retryAfterMs it goes."""
    world = frozen_world
    group, owner, member = await room_of(world)
    other = await world.group(owner, "AVChatRoom")
    second = await world.session(owner.user)
    answers = await all_answers(owner, [(*WRITES[n % mixture][:1], {"groupID": group, **WRITES[n % mixture][1]})
                                        for n in range(10)])
    assert answers == [{}] * 10
    for client in (owner, second):
        for method, params in WRITES:
            data = await client.refused(8511, method, groupID=group, **params)
            assert data == {"retryAfterMs": 5000, "temporary": True}
    await member.call("setGroupAttributes", groupID=group, attributes={"m": "1"})
    await owner.call("setGroupAttributes", groupID=other, attributes={"o": "1"})
    assert await attributes_of(owner, group) == {"k": "v", "m": "1"}
    await world.server.advance(seconds=4.999)
    assert (await owner.refused(8511, "setGroupAttributes", groupID=group, attributes={"late": "1"}))["retryAfterMs"] == 1
    await world.server.advance(seconds=0.001)
    await owner.call("setGroupAttributes", groupID=group, attributes={"late": "1"})


async def test_twenty_reads_in_five_seconds_are_a_users_share(frozen_world):
    group, owner, member = await room_of(frozen_world)
    answers = await all_answers(owner, [("getGroupAttributes", {"groupID": group})] * 21)
    assert answers[:20] == [{"attributes": {}}] * 20
    assert isinstance(answers[20], Refused) and answers[20].code == 8511 and answers[20].data["retryAfterMs"] == 5000
    assert await attributes_of(member, group) == {}
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "1"})
    await frozen_world.server.advance(seconds=4.999)
    assert (await owner.refused(8511, "getGroupAttributes", groupID=group))["retryAfterMs"] == 1
    await frozen_world.server.advance(seconds=0.001)
    assert await attributes_of(owner, group) == {"a": "1"}


async def test_only_writes_that_would_succeed_count(frozen_world):
    group, owner, _ = await room_of(frozen_world)
    refused = [(10045, "setGroupAttributes", {"attributes": {"x" * 33: "v"}}),
               (10050, "deleteGroupAttributes", {"keys": ["nothing"]}),
               (10047, "initGroupAttributes", {"attributes": {f"{n}": "" for n in range(17)}})]
    calls = [(method, {"groupID": group, **params}) for _, method, params in refused for _ in range(5)]
    answers = await all_answers(owner, calls)
    assert [answer.code for answer in answers] == [code for code, _, _ in refused for _ in range(5)]
    writes = [("setGroupAttributes", {"groupID": group, "attributes": {"k": f"{n}"}}) for n in range(11)]
    answers = await all_answers(owner, writes)
    assert answers[:10] == [{}] * 10 and answers[10].code == 8511
    assert (await all_answers(owner, calls[:1]))[0].code == 10045, "parameters come before state"


async def test_five_writes_in_a_second_are_the_administrators_share(frozen_world):
    """10049, per group, all administrators together, and not on top of what users do."""
    server = frozen_world.server
    group, owner, _ = await room_of(frozen_world)
    other = await frozen_world.group(owner, "AVChatRoom")
    batch = [{"jsonrpc": "2.0", "id": n, "method": "setGroupAttributes",
              "params": {"groupID": group, "attributes": {"k": f"{n}"}}} for n in range(7)]
    answers = server.post_rpc([*batch, {**batch[0], "id": 7, "params": {"groupID": other, "attributes": {"k": "v"}}}]).json()
    assert all(answer.get("result") == {} for answer in answers[:5]), answers
    for answer in answers[5:7]:
        assert answer["error"]["code"] == 10049
        assert answer["error"]["data"] == {"retryAfterMs": 1000, "temporary": True}
    assert answers[7]["result"] == {}
    assert await attributes_of(owner, group) == {"k": "4"}
    await owner.call("setGroupAttributes", groupID=group, attributes={"u": "1"})
    await server.advance(seconds=0.999)
    assert denied(server, 10049, "setGroupAttributes", groupID=group, attributes={"k": "early"})["retryAfterMs"] == 1
    await server.advance(seconds=0.001)
    done(server, "setGroupAttributes", groupID=group, attributes={"k": "later"})


async def test_an_administrators_failed_writes_do_not_count(frozen_world):
    group, *_ = await room_of(frozen_world)
    failing = {"jsonrpc": "2.0", "id": 0, "method": "deleteGroupAttributes", "params": {"groupID": group, "keys": ["no"]}}
    writing = {"jsonrpc": "2.0", "id": 1, "method": "setGroupAttributes",
               "params": {"groupID": group, "attributes": {"k": "v"}}}
    answers = frozen_world.server.post_rpc([failing] * 8 + [writing] * 6).json()
    codes = [answer.get("error", {}).get("code", 0) for answer in answers]
    assert codes == [10050] * 8 + [0] * 5 + [10049]


async def test_as_user_an_administrators_write_counts_for_the_user(frozen_world):
    server = frozen_world.server
    group, owner, member = await room_of(frozen_world)
    batch = [{"jsonrpc": "2.0", "id": n, "method": "setGroupAttributes",
              "params": {"groupID": group, "attributes": {"k": f"{n}"}, "asUser": member.user}} for n in range(11)]
    codes = [answer.get("error", {}).get("code", 0) for answer in server.post_rpc(batch).json()]
    assert codes == [0] * 10 + [8511]
    await member.refused(8511, "setGroupAttributes", groupID=group, attributes={"k": "v"})
    done(server, "setGroupAttributes", groupID=group, attributes={"k": "admin"})
    await owner.call("setGroupAttributes", groupID=group, attributes={"k": "owner"})


# Other types, and a restart

@pytest.fixture
def everywhere(make_server):
    return make_server({"attributes.groupTypes": "AVChatRoom,Work,Public,Meeting", "drain.duration": 0})


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_a_type_named_by_the_configuration_has_attributes(everywhere, make_world, groupType):
    """The × becomes Member. An attribute is no message: it takes no seq."""
    world = make_world(everywhere)
    group, people = await world.group_of(groupType)
    outsider = people.pop("outsider")
    for role, client in people.items():
        await client.call("setGroupAttributes", groupID=group, attributes={role: client.user})
    final = {role: client.user for role, client in people.items()}
    for client in people.values():
        await told(client, group, final)
    await outsider.quiet("onGroupAttributeChanged", group=group)
    for method, params in CALLS:
        await outsider.refused(10007, method, groupID=group, **params)
    done(everywhere, "deleteGroupAttributes", groupID=group, keys=["owner"])
    assert set(await attributes_of(people["member"], group)) == set(final) - {"owner"}
    assert (await info_of(people["owner"], group))["lastSeq"] == 0 and await history_of(people["owner"], group) == []


async def test_a_type_that_is_not_named_has_none(make_server, make_world):
    own = make_server({"attributes.groupTypes": "Public"})
    world = make_world(own)
    owner = await world.user("owner")
    public, room = await world.group(owner, "Public"), await world.group(owner, "AVChatRoom")
    await owner.call("setGroupAttributes", groupID=public, attributes={"k": "v"})
    await owner.refused(10007, "setGroupAttributes", groupID=room, attributes={"k": "v"})


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_attributes_outlive_the_server(everywhere, make_world, how):
    world = make_world(everywhere)
    owner = await world.user("owner")
    groups = [await world.group(owner, groupType) for groupType in ("AVChatRoom", "Public")]
    for group in groups:
        await owner.call("initGroupAttributes", groupID=group, attributes={"a": "1", "b": "2\u0000", "c": "3"})
        await owner.call("setGroupAttributes", groupID=group, attributes={"b": "two"})
        await owner.call("deleteGroupAttributes", groupID=group, keys=["c"])
    await restart(world, how)
    owner = await world.session(owner.user)
    for group in groups:
        assert await attributes_of(owner, group) == {"a": "1", "b": "two"}
        await owner.call("deleteGroupAttributes", groupID=group, keys=["a", "b"])


async def test_who_comes_back_in_grace_reads_what_was_set_meanwhile(world):
    group, owner, member = await room_of(world)
    await lost(world, member)
    world.clients.remove(member)
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "1"})
    back = await world.session(member.user)
    assert await attributes_of(back, group) == {"a": "1"}
    await back.call("setGroupAttributes", groupID=group, attributes={"b": "2"})
    await told(back, group, {"a": "1", "b": "2"})
