"""The same clientMsgID from the same user to the same group answers the first result and delivers
nothing twice (Protocol.md, "Repeated sends")."""
import pytest

from harness.client import has
from harness.restarts import restart
from harness.world import history_of

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
KINDS = {"Stored": "Public", "Delivered": "AVChatRoom"}


@pytest.mark.parametrize("status", KINDS)
async def test_a_repeated_id_answers_the_first_result_and_is_delivered_once(world, status):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, KINDS[status], [bob])
    first = await alice.call("sendGroupTextMessage", groupID=group, text="once", clientMsgID="same")
    assert first["status"] == status
    second = await world.session(alice.user)
    assert await alice.call("sendGroupTextMessage", groupID=group, text="once", clientMsgID="same") == first
    assert await second.call("sendGroupTextMessage", groupID=group, text="once", clientMsgID="same") == first
    await bob.expect("onRecvNewMessage", groupID=group, message=has(clientMsgID="same"))
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvNewMessage", groupID=group)


@pytest.mark.parametrize("status", KINDS)
async def test_also_while_the_first_is_under_way(world, status):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, KINDS[status], [bob])
    second = await world.session(alice.user)
    for turn in range(20):
        params = {"groupID": group, "text": "at once", "clientMsgID": f"twin-{turn}"}
        under_way = [await client.start("sendGroupTextMessage", **params) for client in (alice, second, alice)]
        results = [(await future)["result"] for future in under_way]
        assert results[0] == results[1] == results[2]
        await bob.expect("onRecvNewMessage", groupID=group, message=has(clientMsgID=f"twin-{turn}"))
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvNewMessage", groupID=group)


async def test_another_user_or_group_or_id_is_another_message(world):
    alice, bob = await world.users("alice", "bob")
    one, two = await world.group(alice, members=[bob]), await world.group(alice, members=[bob])
    sent = [
        await client.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID=name)
        for client in (alice, bob) for group in (one, two) for name in ("a", "b")
    ]
    assert len({result["msgID"] for result in sent}) == 8
    for group in (one, two):
        assert len(await history_of(alice, group)) == 4


async def test_without_an_id_equal_messages_are_different(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    sent = [await alice.call("sendGroupTextMessage", groupID=group, text="x") for _ in range(3)]
    assert len({result["msgID"] for result in sent}) == 3


async def test_errors_are_not_remembered(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    params = {"groupID": group, "text": "x", "clientMsgID": "again"}
    await bob.refused(10007, "sendGroupTextMessage", **params)
    await bob.call("joinGroup", groupID=group)
    await bob.refused(80002, "sendGroupTextMessage", **{**params, "text": "x" * 12289})
    assert (await bob.call("sendGroupTextMessage", **params))["status"] == "Stored"
    assert [m.get("clientMsgID") for m in await history_of(bob, group)] == [None, "again"]


async def test_a_stored_message_is_remembered_across_a_restart(make_server, make_world):
    world = make_world(make_server())
    alice = await world.session("alice")
    group = await world.group(alice)
    params = {"groupID": group, "text": "x", "clientMsgID": "kept"}
    first = await alice.call("sendGroupTextMessage", **params)
    await restart(world, "kill")
    alice = await world.session("alice")
    assert await alice.call("sendGroupTextMessage", **params) == first
    assert [message["msgID"] for message in await history_of(alice, group)] == [first["msgID"]]


async def test_a_client_msg_id_belongs_to_one_life_of_a_group(world):
    """A disbanded groupID used again is another group, so its messages are new ones."""
    alice = await world.user("alice")
    group, sent = world.name("g"), []
    for text in ("old", "new"):
        await world.group(alice, groupID=group)
        sent.append(await alice.call("sendGroupTextMessage", groupID=group, text=text, clientMsgID="same"))
        assert [message["text"] for message in await history_of(alice, group)] == [text]
        await alice.call("dismissGroup", groupID=group)
    assert sent[0]["msgID"] != sent[1]["msgID"] and sent[1]["seq"] == 1


async def test_one_client_msg_id_for_a_text_and_a_custom_message(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    first = await alice.call("sendGroupTextMessage", groupID=group, text="t", clientMsgID="same")
    assert await alice.call("sendGroupCustomMessage", groupID=group, data="d", clientMsgID="same") == first
    assert [message["type"] for message in await history_of(alice, group)] == ["Text"]


async def test_another_spelling_of_a_client_msg_id_is_another_message(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    sent = [
        await alice.call("sendGroupTextMessage", groupID=group, text=name, clientMsgID=name)
        for name in (COMPOSED, DECOMPOSED, COMPOSED + "\u0000a", COMPOSED + "\u0000b")
    ]
    assert [result["seq"] for result in sent] == [1, 2, 3, 4]
    assert [message["text"] for message in await history_of(bob, group)][:2] == [COMPOSED, DECOMPOSED]
