"""Sending, receiving, unread (Protocol.md, "Sending")."""
import pytest

from harness.client import has
from harness.world import history_of, info_of

pytestmark = pytest.mark.nodes

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
SENDERS = [("sendGroupTextMessage", "text", "Text"), ("sendGroupCustomMessage", "data", "Custom")]


@pytest.mark.parametrize("method, field, kind", SENDERS)
@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_a_message_is_stored_and_reaches_all_members_but_the_sending_session(world, groupType, method, field, kind):
    alice, bob = await world.users("alice", "bob")
    outsider = await world.user("outsider")
    group = await world.group(alice, groupType, [bob])
    phone = await world.session(alice.user, platform="iOS")
    result = await phone.call(method, groupID=group, **{field: "hé👋"}, clientMsgID="c1", atUserIDList=[bob.user])
    assert set(result) == {"msgID", "seq", "timestamp", "status"}
    assert result["status"] == "Stored" and result["seq"] == 1
    for client in (alice, bob):
        event = await client.expect("onRecvNewMessage", groupID=group)
        message = event["message"]
        wanted = {
            "msgID": result["msgID"], "groupID": group, "seq": 1, "sender": alice.user, "timestamp": result["timestamp"],
            "type": kind, field: "hé👋", "priority": "Normal", "clientMsgID": "c1", "atUserIDList": [bob.user],
            "platform": "iOS"}
        assert {k: v for k, v in message.items() if k in wanted} == wanted
        assert event["opTime"] >= message["timestamp"]
    await world.settle(group, bob, alice, phone)
    assert not phone.received("onRecvNewMessage", groupID=group)
    await outsider.quiet(group=group)


@pytest.mark.parametrize("method, field, kind", SENDERS)
async def test_an_avchatroom_delivers_and_does_not_store(world, method, field, kind):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    result = await bob.call(method, groupID=group, **{field: "hi"}, priority="High")
    assert result["status"] == "Delivered" and "seq" not in result and result["msgID"]
    message = (await alice.expect("onRecvNewMessage", groupID=group))["message"]
    assert has(type=kind, sender=bob.user, priority="High", msgID=result["msgID"])(message) and "seq" not in message
    info = await info_of(alice, group)
    assert info["lastSeq"] == 0 and info["selfInfo"]["unreadCount"] == 0


@pytest.mark.parametrize("method, field, kind", SENDERS)
async def test_the_content_is_bound_in_bytes(world, method, field, kind):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    full = "中" * 4096
    await alice.call(method, groupID=group, **{field: full})
    assert (await bob.expect("onRecvNewMessage", groupID=group))["message"][field] == full
    await alice.refused(80002, method, groupID=group, **{field: full + "x"})
    await alice.refused(80002, method, groupID=group, **{field: "中" * 4097})
    await alice.refused(10004, method, groupID=group, **{field: ""})
    assert (await alice.refused(-32602, method, groupID=group))["field"] == field
    await alice.refused(-32602, method, groupID=group, **{field: {"a": 1}})


async def test_every_character_comes_back_as_sent(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for text in (
        "a\u0000b", "\"\\/\b\f\n\r\t\u0001\u001f\u007f", "\u2028\u2029\ufeff", "👩‍👩‍👧‍👦 e\u0301 \U0010ffff", "<script>&amp;",
    ):
        await alice.call("sendGroupTextMessage", groupID=group, text=text)
        assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text
        assert (await history_of(bob, group))[-1]["text"] == text


async def test_the_options_have_their_domains(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    send = {"groupID": group, "text": "x"}
    for priority in ("High", "Normal", "Low", "Lowest"):
        await alice.call("sendGroupTextMessage", **send, priority=priority)
        assert (await bob.expect("onRecvNewMessage"))["message"]["priority"] == priority
    for priority in ("high", "", "Urgent"):
        await alice.refused(10004, "sendGroupTextMessage", **send, priority=priority)
    await alice.call("sendGroupTextMessage", **send, clientMsgID="é" * 32)
    await alice.refused(10004, "sendGroupTextMessage", **send, clientMsgID="é" * 32 + "x")
    people = [f"user{n}" for n in range(31)]
    await alice.call("sendGroupTextMessage", **send, atUserIDList=people[:30])
    await alice.refused(10053, "sendGroupTextMessage", **send, atUserIDList=people)
    await alice.refused(-32602, "sendGroupTextMessage", **send, onlineUserOnly="yes")


async def test_at_all_is_for_managers(world):
    group, people = await world.group_of("Public")
    for role in ("owner", "admin"):
        await people[role].call("sendGroupTextMessage", groupID=group, text="x", atUserIDList=["@all"])
        message = (await people["member"].expect("onRecvNewMessage"))["message"]
        assert message["atUserIDList"] == ["@all"]
    await people["member"].refused(10007, "sendGroupTextMessage", groupID=group, text="x", atUserIDList=["@all"])


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_only_members_send(world, groupType):
    group, people = await world.group_of(groupType)
    for method, field, _ in SENDERS:
        await people["outsider"].refused(10007, method, groupID=group, **{field: "x"})
        for role in people.keys() - {"outsider"}:
            await people[role].call(method, groupID=group, **{field: "x"})


async def test_online_user_only_is_delivered_and_not_stored(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    result = await alice.call("sendGroupTextMessage", groupID=group, text="now", onlineUserOnly=True)
    assert result["status"] == "Delivered" and "seq" not in result
    message = (await bob.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["text"] == "now" and "seq" not in message
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["seq"] == 1
    assert [m["text"] for m in await history_of(bob, group)] == ["kept"]
    assert (await info_of(bob, group))["selfInfo"]["unreadCount"] == 1


async def test_seq_starts_at_one_in_each_group_and_has_no_gap(world):
    alice, bob = await world.users("alice", "bob")
    for _ in range(2):
        group = await world.group(alice, members=[bob])
        under_way = []
        for n in range(20):
            under_way.append(await alice.start("sendGroupTextMessage", groupID=group, text=f"a{n}"))
            under_way.append(await bob.start("sendGroupCustomMessage", groupID=group, data=f"b{n}"))
            under_way.append(await alice.start("setGroupInfo", groupID=group, notification=f"n{n}"))
        for future in under_way:
            assert "result" in await future
        messages = await history_of(alice, group)
        assert [message["seq"] for message in messages] == list(range(1, 61))


async def test_unread_counts_text_and_custom_of_others(world):
    """Tips do not count, nor do one's own; a Meeting has no unread count (Protocol.md, "Unread
    counts")."""
    alice, bob = await world.users("alice", "bob")
    for groupType, expected in (("Work", 3), ("Public", 3), ("Meeting", 0)):
        group = await world.group(alice, groupType, [bob])
        await alice.call("sendGroupTextMessage", groupID=group, text="1")
        await alice.call("sendGroupCustomMessage", groupID=group, data="2")
        await bob.call("sendGroupTextMessage", groupID=group, text="own")
        await alice.call("setGroupInfo", groupID=group, groupName="tip")
        await alice.call("sendGroupTextMessage", groupID=group, text="3")
        assert (await info_of(bob, group))["selfInfo"]["unreadCount"] == expected, groupType


async def test_an_administrator_sends_as_administrator(server, world):
    """Sender `administrator`, platform `RESTful API`, not bound by membership (Protocol.md,
    "Application interface")."""
    alice = await world.user("alice")
    group = await world.group(alice)
    result = server.rpc("sendGroupTextMessage", groupID=group, text="from above")["result"]
    assert result["status"] == "Stored"
    message = (await alice.expect("onRecvNewMessage", groupID=group))["message"]
    assert has(sender="administrator", platform="RESTful API", text="from above", seq=result["seq"])(message)


async def test_both_spellings_come_back_as_they_were_sent(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for text in (COMPOSED, DECOMPOSED, "\u212b", "\u00c5", "\ufb01", "\u200b", "\u202eabc"):
        await alice.call("sendGroupTextMessage", groupID=group, text=text)
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=text))
        assert (await history_of(bob, group))[-1]["text"] == text
        frame = await alice.exchange({"jsonrpc": "2.0", "id": "!" + text, "method": "ping"})
        assert frame["id"] == "!" + text
