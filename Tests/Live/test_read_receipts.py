"""Read receipts (Protocol.md, "Read receipts")."""
import asyncio
import random

import pytest

from harness.client import has
from harness.world import World, history_of, info_of, kill_during

METHODS = {
    "sendMessageReadReceipts": {"seqList": [1]}, "getMessageReadReceipts": {"seqList": [1]},
    "getGroupMessageReadMemberList": {"seq": 1},
}


async def sent(client, group, **params):
    """Sends a text with receipts; gives its seq."""
    result = await client.call("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True, **params)
    assert result["status"] == "Stored"
    return result["seq"]


async def read(client, group, *seqs):
    assert await client.call("sendMessageReadReceipts", groupID=group, seqList=list(seqs)) == {}


async def receipts(client, group, *seqs):
    """{seq: (readCount, unreadCount)}"""
    rows = (await client.call("getMessageReadReceipts", groupID=group, seqList=list(seqs)))["receiptList"]
    assert all(set(row) == {"seq", "readCount", "unreadCount"} for row in rows)
    return {row["seq"]: (row["readCount"], row["unreadCount"]) for row in rows}


async def readers(client, group, seq, filter=None, count=100):
    """The userIDs of a list, page by page."""
    users, start = [], 0
    while True:
        more = {} if filter is None else {"filter": filter}
        page = await client.call(
            "getGroupMessageReadMemberList", groupID=group, seq=seq, nextSeq=start, count=count, **more)
        assert len(page["memberList"]) <= count
        users += [row["userID"] for row in page["memberList"]]
        start = page["nextSeq"]
        if start == 0:
            return users


async def told(client, group, seq, wanted):
    """Waits for the event with these counts of a message."""
    await client.expect(
        "onRecvMessageReadReceipts", groupID=group,
        receiptList=lambda rows: any((row["seq"], row["readCount"], row["unreadCount"]) == (seq, *wanted) for row in rows))


@pytest.mark.parametrize("groupType", ["Work", "Public"])
async def test_the_sender_learns_who_has_read(frozen_world, groupType):
    group, people = await frozen_world.group_of(groupType)
    owner, member = people["owner"], people["member"]
    phone = await frozen_world.session(member.user, platform="iOS")
    seq = await sent(member, group)
    assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["needReadReceipt"] is True
    assert [message.get("needReadReceipt") for message in await history_of(owner, group)] == [True]
    others = sorted(client.user for role, client in people.items() if role in ("owner", "admin"))
    assert await receipts(member, group, seq) == {seq: (0, len(others))}
    await read(owner, group, seq, seq)
    for client in (member, phone):
        await told(client, group, seq, (1, len(others) - 1))
    assert await receipts(phone, group, seq) == {seq: (1, len(others) - 1)}
    assert await readers(member, group, seq) == [owner.user]
    assert await readers(member, group, seq, "Read", count=1) == [owner.user]
    assert await readers(member, group, seq, "Unread", count=1) == [user for user in others if user != owner.user]
    # No other member is told, and the same again changes nothing.
    await read(owner, group, seq)
    await frozen_world.server.advance(seconds=1)
    await frozen_world.settle(group, owner, member, phone, *(people[role] for role in people if role == "admin"))
    for client in people.values():
        await client.quiet("onRecvMessageReadReceipts", group=group if client is not people["outsider"] else None)
    await phone.quiet("onRecvMessageReadReceipts")


async def test_who_was_a_member_counts(world):
    group, people = await world.group_of("Public")
    owner, admin, member, newcomer = (people[role] for role in ("owner", "admin", "member", "outsider"))
    seq = await sent(owner, group)
    await newcomer.call("joinGroup", groupID=group)
    await read(newcomer, group, seq)
    await read(member, group, seq)
    await owner.call("kickGroupMember", groupID=group, userIDList=[member.user, admin.user])
    assert await receipts(owner, group, seq) == {seq: (1, 1)}
    for filter, user in (("Read", member.user), ("Unread", admin.user)):
        (row,) = (await owner.call("getGroupMessageReadMemberList", groupID=group, seq=seq, filter=filter))["memberList"]
        assert has(userID=user, role="NotMember")(row)
    await member.refused(10007, "sendMessageReadReceipts", groupID=group, seqList=[seq])
    later = await sent(owner, group)
    assert await receipts(owner, group, later, seq) == {seq: (1, 1), later: (0, 1)}


async def test_what_is_not_a_message_with_receipts_is_ignored_or_refused(world):
    group, people = await world.group_of("Public", isMemberVisible=False)
    owner, admin, member, outsider = (people[role] for role in ("owner", "admin", "member", "outsider"))
    plain = (await member.call("sendGroupTextMessage", groupID=group, text="x"))["seq"]
    others = await sent(admin, group)
    own = await sent(member, group)
    await owner.call("setGroupInfo", groupID=group, introduction="a tip")
    await read(member, group, plain, own, 99)
    assert await receipts(member, group, plain, others, own, 99, 4) == {own: (0, 2)}
    ask = dict(method="getGroupMessageReadMemberList", groupID=group)
    await outsider.refused(10007, ask["method"], groupID=group, seq=own)
    await member.refused(10030, ask["method"], groupID=group, seq=99)
    await member.refused(10004, ask["method"], groupID=group, seq=0)
    for seq in (plain, others, 4):
        await member.refused(10032, ask["method"], groupID=group, seq=seq)
    assert await readers(member, group, own, "Unread") == sorted([owner.user, admin.user])
    await outsider.call("joinGroup", groupID=group)
    await outsider.refused(10030, ask["method"], groupID=group, seq=own)
    await member.call("revokeGroupMessage", groupID=group, seq=own)
    await member.refused(10030, ask["method"], groupID=group, seq=own)
    await read(admin, group, own)
    assert await receipts(member, group, own) == {}
    assert not member.received("onRecvMessageReadReceipts")
    for method, field in (("sendMessageReadReceipts", "seqList"), ("getMessageReadReceipts", "seqList")):
        assert (await member.refused(-32602, method, groupID=group))["field"] == field
        for bad in ([], list(range(1, 52)), [-1], [0]):
            assert (await member.refused(10004, method, groupID=group, seqList=bad))["field"] == field
        assert (await member.refused(-32602, method, groupID=group, seqList=["1"]))["field"] == field
    assert (await member.refused(10004, ask["method"], groupID=group, seq=1, filter="All"))["field"] == "filter"
    assert (await member.refused(10004, ask["method"], groupID=group, seq=1, count=101))["field"] == "count"


@pytest.mark.parametrize("groupType", ["Meeting", "AVChatRoom"])
async def test_other_types_have_no_receipts(world, groupType):
    owner, member, outsider = await world.users("owner", "member", "outsider")
    group = await world.group(owner, groupType, [member])
    data = await member.refused(10007, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)
    assert data["field"] == "needReadReceipt"
    await member.call("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=False)
    for method, params in METHODS.items():
        await outsider.refused(10007, method, groupID=group, **params)
        if groupType == "AVChatRoom":
            await member.refused(10033, method, groupID=group, **params)
    if groupType == "Meeting":
        await read(owner, group, 1)
        assert await receipts(member, group, 1) == {}
        await member.refused(10032, "getGroupMessageReadMemberList", groupID=group, seq=1)


async def test_the_errors_of_a_send_in_their_order(make_server, make_world):
    own = make_server({"limits.readReceiptMembers": 2})
    world = make_world(own)
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob])
    assert (await alice.call("getServerInfo"))["limits"]["limits.readReceiptMembers"] == 2
    both = await alice.refused(
        10004, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True, onlineUserOnly=True)
    assert both["field"] == "needReadReceipt"
    await carol.refused(10007, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)
    await carol.call("joinGroup", groupID=group)
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=60)
    await bob.refused(10017, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)
    await carol.call("sendGroupTextMessage", groupID=group, text="x")
    refused = await alice.refused(10054, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)
    assert refused["temporary"] is False
    assert own.rpc("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)["error"]["code"] == 10054
    await carol.call("quitGroup", groupID=group)
    first = await alice.call("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True, clientMsgID="c")
    await carol.call("joinGroup", groupID=group)
    again = await alice.call("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True, clientMsgID="c")
    assert again == first, "a repeated send answers the first result"


async def test_the_methods_mean_nothing_without_a_user(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "Work", members=[bob])
    seq = await sent(alice, group)
    for method, params in METHODS.items():
        for given in (params, {}):
            error = world.server.rpc(method, groupID=group, **given)["error"]
            assert error["code"] == -32602 and error["data"]["field"] == "asUser", (method, error)
    assert world.server.rpc("sendMessageReadReceipts", asUser=bob.user, groupID=group, seqList=[seq])["result"] == {}
    await told(alice, group, seq, (1, 0))
    counts = world.server.rpc("getMessageReadReceipts", asUser=alice.user, groupID=group, seqList=[seq])["result"]
    assert counts == {"receiptList": [{"seq": seq, "readCount": 1, "unreadCount": 0}]}
    # The application's own message can be confirmed, and nobody is told.
    seq = world.server.rpc("sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)["result"]["seq"]
    await read(bob, group, seq)
    await world.settle(group, bob, alice)
    await bob.quiet("onRecvMessageReadReceipts", group=group)
    await alice.quiet("onRecvMessageReadReceipts", group=group)


async def test_events_are_merged_and_the_last_state_arrives(frozen_world):
    """The first receipt is told at once, and every 250 ms the last state of the others."""
    owner, *members = await frozen_world.users("owner", *["member"] * 9)
    group = await frozen_world.group(owner, "Work", members=members)
    seqs = [await sent(owner, group) for _ in range(20)]
    await read(members[0], group, seqs[0])
    before = await owner.expect("onRecvMessageReadReceipts", groupID=group)
    assert before["receiptList"] == [{"seq": seqs[0], "readCount": 1, "unreadCount": 8}]
    for count in range(1, 10):
        for seq in seqs:
            await read(members[count - 1], group, seq)
        await frozen_world.server.advance(seconds=0.249)
        await owner.quiet("onRecvMessageReadReceipts", group=group)
        await frozen_world.server.advance(seconds=0.001)
        event = await owner.expect("onRecvMessageReadReceipts", groupID=group)
        expected = [{"seq": seq, "readCount": count, "unreadCount": 9 - count} for seq in seqs]
        rows = sorted(event["receiptList"], key=lambda row: row["seq"])
        # The first member has read the first message before.
        assert rows == (expected[1:] if count == 1 else expected)
        assert event["opTime"] - before["opTime"] == 250
        before = event
    await frozen_world.server.advance(seconds=1)
    await owner.quiet("onRecvMessageReadReceipts", group=group)
    assert await receipts(owner, group, *seqs) == {seq: (9, 0) for seq in seqs}


async def test_no_answered_receipt_is_lost_by_kill_9(make_server, record_property):
    own = make_server()
    random_ = random.Random(12)
    world = World(own)
    sender, *readers_ = [await world.session(f"user-{n}") for n in range(5)]
    group = await world.group(sender, "Work", readers_)
    seqs = [await sent(sender, group) for _ in range(40)]
    await world.close()
    confirmed = {f"user-{n}": set() for n in range(1, 5)}
    for _ in range(4):
        world = World(own)
        clients = [await world.session(user) for user in confirmed]
        enough = asyncio.Event()
        bound = sum(map(len, confirmed.values())) + random_.randint(5, 30)

        async def run(client):
            mine = confirmed[client.user]
            for seq in random_.sample(seqs, len(seqs)):
                if seq in mine:
                    continue
                await client.call("sendMessageReadReceipts", groupID=group, seqList=[seq])
                mine.add(seq)
                if sum(map(len, confirmed.values())) >= bound:
                    enough.set()

        world = await kill_during(world, [run(client) for client in clients], enough)
        asking = await world.session("user-0")
        for seq in seqs:
            found = set(await readers(asking, group, seq))
            assert {user for user, mine in confirmed.items() if seq in mine} <= found
            assert (await receipts(asking, group, seq))[seq] == (len(found), 4 - len(found))
            # A change that was stored and not answered counts, too.
            for user in found:
                confirmed[user].add(seq)
        await world.close()
    record_property("summary", f"receipts: {sum(map(len, confirmed.values()))} confirmations checked after kill -9")


async def test_a_batch_of_a_receipt_and_quitting_counts(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    seq = await sent(alice, group)
    answers = await bob.exchange([
        {"jsonrpc": "2.0", "id": "a", "method": "sendMessageReadReceipts", "params": {"groupID": group, "seqList": [seq]}},
        {"jsonrpc": "2.0", "id": "b", "method": "quitGroup", "params": {"groupID": group}},
    ])
    assert [answer["result"] for answer in answers] == [{}, {}]
    assert await receipts(alice, group, seq) == {seq: (1, 0)}
    assert (await info_of(alice, group))["memberCount"] == 1
