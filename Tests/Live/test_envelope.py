"""Requests, replies, and other texts (Protocol.md, "Requests and replies")."""
import json

import pytest

from harness.client import has

PING = {"jsonrpc": "2.0", "method": "ping"}


@pytest.mark.parametrize("id", [0, 17, -1, 2**53, -(2**53), "", "a-b", "日本", "17", "\u0000"])
async def test_an_id_comes_back_as_it_was_sent(world, id):
    alice = await world.user("alice")
    frame = await alice.exchange({**PING, "id": id})
    assert frame["id"] == id and type(frame["id"]) is type(id)
    assert isinstance(frame["result"]["serverTime"], int)


@pytest.mark.parametrize("id", [1.5, True, False, [1], {"a": 1}, 2**53 + 1, -(2**53) - 1, 10**30])
async def test_any_other_id_is_an_invalid_request(world, id):
    alice = await world.user("alice")
    frame = await alice.exchange({**PING, "id": id})
    assert frame["error"]["code"] == -32600 and frame["id"] is None


@pytest.mark.parametrize("request_", [
    {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"jsonrpc": 2.0, "id": 1, "method": "ping"},
    {"id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "id": 1, "method": 5},
    "ping", 5, True,
], ids=json.dumps)
async def test_a_wrong_version_or_no_method_is_an_invalid_request_without_id(world, request_):
    alice = await world.user("alice")
    frame = await alice.exchange(json.dumps(request_))
    assert frame["error"]["code"] == -32600 and frame["id"] is None


async def test_an_unknown_method_is_answered_as_such(world):
    alice = await world.user("alice")
    for method in ("noSuchMethod", "", "Ping", "ping "):
        data = await alice.refused(-32601, method)
        assert data["temporary"] is False


async def test_an_unknown_method_is_answered_with_the_nearest(server, world):
    alice = await world.user("alice")
    frame = await alice.exchange({**PING, "id": 1, "method": "joinGroups"})
    assert frame["error"]["code"] == -32601 and frame["error"]["message"].endswith("the nearest is joinGroup")
    frame = server.post_rpc({**PING, "id": 1, "method": "listSession"}).json()
    assert frame["error"]["code"] == -32601 and frame["error"]["message"].endswith("the nearest is listSessions")


async def test_a_request_without_id_runs_and_is_not_answered(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    params = {"groupID": group, "text": "unanswered"}
    await alice.send({"jsonrpc": "2.0", "method": "sendGroupTextMessage", "params": params})
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="unanswered"))
    await alice.send({"jsonrpc": "2.0", "method": "sendGroupTextMessage", "params": {"groupID": group}})
    await alice.send({"jsonrpc": "2.0", "method": "noSuchMethod"})
    await alice.round_trip(group)
    assert alice.unclaimed.empty(), alice.unclaimed


@pytest.mark.parametrize("params", ["absent", {}])
async def test_absent_params_are_an_empty_object(world, params):
    alice = await world.user("alice")
    request = {**PING, "id": "p"} if params == "absent" else {**PING, "id": "p", "params": params}
    assert "result" in await alice.exchange(request)


@pytest.mark.parametrize("params", [[], [1], "x", 5, True, None], ids=json.dumps)
async def test_params_that_are_no_object_are_invalid(server, world, params):
    alice, request = await world.user("alice"), {**PING, "id": "p", "params": params}
    (listed,) = await alice.exchange([request])
    called = server.post_rpc(request).json()
    for frame in (await alice.exchange(request), listed, called):
        assert frame["error"]["code"] == -32602 and frame["id"] == "p"
        assert frame["error"]["data"]["field"] == "params"


async def test_unknown_members_of_params_are_ignored(world):
    alice = await world.user("alice")
    await alice.call("createGroup", groupType="Public", groupName="g", colour="blue", nested={"a": [1]})
    frame = await alice.exchange({**PING, "id": "p", "meta": {"a": 1}})
    assert "result" in frame


async def test_an_optional_member_that_is_null_counts_as_absent(world):
    alice = await world.user("alice")
    answer = await alice.call(
        "createGroup", groupType="Public", groupName="g", groupID=None, introduction=None, maxMemberNum=None,
        customInfo=None, joinMode=None, memberList=None,
    )
    assert answer["groupID"].startswith("@TGS#")


@pytest.mark.parametrize("params, field", [
    ({"groupName": "g"}, "groupType"),
    ({"groupType": "Public"}, "groupName"),
    ({"groupType": "Public", "groupName": None}, "groupName"),
    ({"groupType": 5, "groupName": "g"}, "groupType"),
    ({"groupType": "Public", "groupName": ["g"]}, "groupName"),
    ({"groupType": "Public", "groupName": "g", "introduction": 5}, "introduction"),
    ({"groupType": "Public", "groupName": "g", "maxMemberNum": "5"}, "maxMemberNum"),
    ({"groupType": "Public", "groupName": "g", "maxMemberNum": 5.5}, "maxMemberNum"),
    ({"groupType": "Public", "groupName": "g", "customInfo": "x"}, "customInfo"),
    ({"groupType": "Public", "groupName": "g", "isSearchable": "true"}, "isSearchable"),
    ({"groupType": "Public", "groupName": "g", "memberList": {}}, "memberList"),
], ids=lambda value: value if isinstance(value, str) else None)
async def test_a_missing_member_or_a_wrong_json_type_is_named(world, params, field):
    """-32602, `data.field` names it."""
    alice = await world.user("alice")
    data = await alice.refused(-32602, "createGroup", **params)
    assert data["field"].split(".")[0].split("[")[0] == field


@pytest.mark.parametrize("text", [
    "", "{", "nope", '{"jsonrpc":"2.0","id":1,"method":"ping"} x', "[1,]", "{'a':1}", '{"a":01}', '{"a":"\n"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\udc00\\ud800"}}',
])
async def test_text_that_is_not_json_is_a_parse_error(world, text):
    alice = await world.user("alice")
    frame = await alice.exchange(text)
    assert frame["error"]["code"] == -32700 and frame["id"] is None
    await alice.call("ping")


async def test_a_parse_error_says_where_the_fault_is(world):
    alice = await world.user("alice")
    for text, place in [('{"a":01}', "at byte 6,"), ("[1,", "after 3 bytes"), ('["\\ud800"]', "at byte 2,")]:
        frame = await alice.exchange(text)
        assert frame["error"]["code"] == -32700 and place in frame["error"]["message"]


def nested(levels):
    """A request nested this deep; the envelope is level 1 and params level 2."""
    inner = "[" * (levels - 2) + "]" * (levels - 2)
    return '{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"a":%s}}' % inner


async def test_the_envelope_may_be_nested_32_levels_deep_and_no_deeper(world):
    alice = await world.user("alice")
    assert "result" in await alice.exchange(nested(32))
    assert (await alice.exchange(nested(33)))["error"]["code"] == -32700
    assert (await alice.exchange("[" * 5000))["error"]["code"] == -32700


async def test_the_array_of_a_batch_counts_as_a_level(world):
    alice = await world.user("alice")
    assert "result" in (await alice.exchange(f"[{nested(31)}]"))[0]
    assert (await alice.exchange(f"[{nested(32)}]"))["error"]["code"] == -32700


async def test_the_tenth_parse_error_in_a_row_is_answered_and_closes(world):
    alice = await world.user("alice")
    for _ in range(10):
        assert (await alice.exchange("{"))["error"]["code"] == -32700
    await alice.closed(4501)


async def test_a_request_between_parse_errors_ends_the_row(world):
    alice = await world.user("alice")
    for _ in range(3):
        for _ in range(9):
            await alice.exchange("{")
        await alice.call("ping")


async def test_replies_to_one_group_come_in_the_order_of_the_requests(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    under_way = [await alice.start("sendGroupTextMessage", groupID=group, text=str(n)) for n in range(50)]
    sequence = [(await future)["result"]["seq"] for future in under_way]
    assert sequence == list(range(1, 51))
    replied = [frame["result"]["seq"] for frame in alice.frames if "seq" in frame.get("result", {})]
    assert replied == sequence


async def test_events_of_one_group_reach_every_session_in_the_same_order(world):
    people = await world.users("a", "b", "c", "d")
    group = await world.group(people[0], members=people[1:])
    second = await world.session(people[3].user)
    for n in range(10):
        under_way = [await p.start("sendGroupTextMessage", groupID=group, text=f"{p.user}/{n}") for p in people]
        under_way.append(await people[0].start("setGroupInfo", groupID=group, notification=f"n{n}"))
        for future in under_way:
            assert "result" in await future
    await world.settle(group, people[0], *people[1:], second)

    def order(client, without):
        found = []
        for name, params in client.inbox:
            if name == "onRecvNewMessage" and params["message"]["sender"] not in without:
                found.append(params["message"]["seq"])
            elif name == "onGroupInfoChanged":
                found.append(params["seq"])
        return found

    senders = [client.user for client in people]
    complete = order(second, without=[])
    assert complete == sorted(complete) and len(complete) == 50
    for client in people:
        assert order(client, without=[client.user]) == order(second, without=[client.user]), senders
