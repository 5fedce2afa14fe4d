"""Batches (Protocol.md, "Batches")."""
import pytest

from harness.client import has
from harness.tokens import make_token


def request(id, method="ping", **params):
    envelope = {"jsonrpc": "2.0", "method": method, "params": params}
    return envelope if id is None else {**envelope, "id": id}


async def test_a_batch_is_answered_by_one_array_in_the_order_of_its_requests(world):
    alice = await world.user("alice")
    ids = [f"r{n}" for n in range(20)]
    methods = ["ping", "getServerInfo", "getJoinedGroupList", "noSuchMethod"]
    frame = await alice.exchange([request(id, methods[n % 4]) for n, id in enumerate(ids)])
    assert [reply["id"] for reply in frame] == ids
    assert [("error" in reply) for reply in frame] == [n % 4 == 3 for n in range(20)]


@pytest.mark.parametrize("count", [0, 21, 100])
async def test_a_batch_outside_1_to_20_is_one_invalid_request(world, count):
    alice = await world.user("alice")
    frame = await alice.exchange([request(n) for n in range(count)])
    assert frame["error"]["code"] == -32600 and frame["id"] is None


async def test_a_batch_runs_in_order(world):
    alice = await world.user("alice")
    group = world.name("group")
    frame = await alice.exchange([
        request(1, "createGroup", groupType="Public", groupName="g", groupID=group),
        request(2, "sendGroupTextMessage", groupID=group, text="one"),
        request(3, "sendGroupCustomMessage", groupID=group, data="two"),
        request(4, "setGroupInfo", groupID=group, groupName="h"),
        request(5, "getGroupHistoryMessageList", groupID=group),
        request(6, "getGroupsInfo", groupIDList=[group]),
    ])
    results = [reply["result"] for reply in frame]
    assert [results[1]["seq"], results[2]["seq"]] == [1, 2]
    assert [message["seq"] for message in results[4]["messageList"]] == [3, 2, 1]
    assert results[5]["resultList"][0]["info"]["groupName"] == "h"


async def test_requests_without_id_in_a_batch_run_and_are_left_out(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    frame = await alice.exchange([
        request(None, "sendGroupTextMessage", groupID=group, text="silent"),
        request("only"),
        request(None, "sendGroupTextMessage", groupID=group),
    ])
    assert [reply["id"] for reply in frame] == ["only"]
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="silent"))


async def test_a_batch_without_any_id_is_not_answered(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await alice.send([request(None, "sendGroupTextMessage", groupID=group, text=text) for text in ("x", "y")])
    for text in ("x", "y"):
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=text))
    await alice.round_trip(group)
    assert alice.unclaimed.empty()


async def test_an_invalid_element_is_answered_in_its_place(world):
    alice = await world.user("alice")
    frame = await alice.exchange([request("a"), 5, {"jsonrpc": "2.0", "id": "x"}, request("b")])
    assert [reply["id"] for reply in frame] == ["a", None, None, "b"]
    assert [reply.get("error", {}).get("code") for reply in frame] == [None, -32600, -32600, None]


async def test_a_login_first_in_a_batch_signs_in_the_rest(frozen_world):
    client = await frozen_world.open()
    user = frozen_world.name("alice")
    frame = await client.exchange([
        request(1, "login", token=make_token(user, now=frozen_world.server.now)),
        request(2, "createGroup", groupType="Public", groupName="g"),
    ])
    assert frame[0]["result"]["userID"] == user
    assert frame[1]["result"]["groupID"]


async def test_a_batch_before_sign_in_is_refused_element_by_element(frozen_world):
    client = await frozen_world.open()
    frame = await client.exchange([request(1), request(2, "noSuchMethod"), request(3, "getServerInfo")])
    assert [reply["error"]["code"] for reply in frame] == [6014, -32601, 6014]
