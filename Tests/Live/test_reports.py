"""Reports of messages (Protocol.md, "Reports")."""
import pytest

from harness.backend import denied, done
from harness.receiver import Receiver
from harness.restarts import restart
from harness.world import eventually

pytestmark = pytest.mark.nodes


async def said(client, group, text="t", **params):
    """Sends a text; gives its seq."""
    return (await client.call("sendGroupTextMessage", groupID=group, text=text, **params))["seq"]


async def report(client, group, seq, **params):
    return (await client.call("reportMessage", groupID=group, seq=seq, **params))["reportID"]


def listed(server, group, **params):
    """The reports of a group, all pages."""
    rows, place = [], 0
    for _ in range(100):
        page = done(server, "listReports", groupID=group, nextSeq=place, **params)
        rows += page["reportList"]
        place = page["nextSeq"]
        if place == 0:
            return rows
    raise AssertionError("the list does not end")


async def test_a_report_reaches_the_application_with_the_message_as_it_was(world):
    owner, bob, carol = await world.users("owner", "bob", "carol")
    done(world.server, "setUserInfo", userID=bob.user, nickName="Bobby")
    group = await world.group(owner, "Public", [bob, carol])
    phone = await world.session(carol.user, platform="iOS")
    seq = await said(bob, group, "something bad", extension="e")
    shown = (await carol.call("getGroupMessages", groupID=group, seqList=[seq]))["messageList"][0]
    await world.settle(group, bob, owner, carol, phone)
    for client in (owner, bob, carol, phone):
        client.forget()
    name = await report(carol, group, seq, category="spam", text="é" * 512)
    await bob.call("revokeGroupMessage", groupID=group, seq=seq)
    (row,) = listed(world.server, group)
    assert row["message"] == shown and shown["nickName"] == "Bobby" and shown["text"] == "something bad"
    assert {key: row[key] for key in ("reportID", "groupID", "reporter", "category", "text", "state")} == {
        "reportID": name, "groupID": group, "reporter": carol.user, "category": "spam", "text": "é" * 512, "state": "Open"}
    assert set(row) == {"reportID", "groupID", "reporter", "message", "category", "text", "time", "state"}
    # Nobody in the group has heard of it, the reporter's other sessions neither.
    for client in (owner, bob, carol, phone):
        await client.expect("onRecvMessageRevoked", groupID=group)
        await client.quiet(group=group)


async def test_once_more_renews_and_opens_a_closed_report(world):
    owner, bob, carol = await world.users("owner", "bob", "carol")
    group = await world.group(owner, "Public", [bob, carol])
    first, second = [await said(bob, group, text) for text in "ab"]
    name = await report(carol, group, first, category="spam")
    other = await report(carol, group, second)
    assert await report(owner, group, first) not in (name, other), "each reporter has one of their own"
    assert done(world.server, "closeReport", reportID=name, note="looked at") == {}
    (closed,) = listed(world.server, group, state="Closed")
    assert closed["reportID"] == name and closed["note"] == "looked at" and closed["state"] == "Closed"
    assert len(listed(world.server, group)) == 2
    done(world.server, "closeReport", reportID=name, note="and again")
    assert [row["note"] for row in listed(world.server, group, state="Closed")] == ["and again"]
    await bob.call("modifyGroupMessage", groupID=group, seq=first, text="harmless")
    assert await report(carol, group, first, text="still") == name
    newest = listed(world.server, group)[0]
    assert newest["reportID"] == name and newest["text"] == "still" and newest["message"]["text"] == "harmless"
    assert newest["category"] == "" and "note" not in newest and not listed(world.server, group, state="Closed")


async def test_what_may_be_reported_and_by_whom(world):
    owner, bob, carol, late, stranger = await world.users("owner", "bob", "carol", "late", "stranger")
    group = await world.group(owner, "Public", [bob, carol])
    seq = await said(bob, group)
    secret = await said(bob, group, toUserIDList=[owner.user])
    await stranger.refused(10007, "reportMessage", groupID=group, seq=seq)
    await stranger.refused(10010, "reportMessage", groupID=world.name("none"), seq=seq)
    await stranger.refused(10015, "reportMessage", groupID="a b", seq=seq)
    assert (await bob.refused(10004, "reportMessage", groupID=group, seq=seq))["field"] == "seq"
    await carol.refused(10030, "reportMessage", groupID=group, seq=secret)
    await report(owner, group, secret)
    await late.call("joinGroup", groupID=group)
    await late.refused(10030, "reportMessage", groupID=group, seq=seq)
    await carol.refused(10030, "reportMessage", groupID=group, seq=secret + 1)  # the tip of the join
    await carol.refused(10030, "reportMessage", groupID=group, seq=99)
    await carol.refused(10004, "reportMessage", groupID=group, seq=0)
    await carol.refused(10004, "reportMessage", groupID=group, msgID="m")
    for params in ({}, {"seq": seq, "msgID": "m"}):
        await carol.refused(-32602, "reportMessage", groupID=group, **params)
    await carol.refused(10004, "reportMessage", groupID=group, seq=seq, category="x" * 33)
    await carol.refused(10004, "reportMessage", groupID=group, seq=seq, text="x" * 513)
    await report(carol, group, seq, category="x" * 32)
    await bob.call("revokeGroupMessage", groupID=group, seq=seq)
    await carol.refused(10030, "reportMessage", groupID=group, seq=seq)
    # The methods of the application.
    denied(world.server, -32602, "reportMessage", groupID=group, seq=seq)
    other = await said(bob, group)
    assert done(world.server, "reportMessage", asUser=owner.user, groupID=group, seq=other)["reportID"]
    for method, params in (("listReports", {}), ("closeReport", {"reportID": "x"})):
        await carol.refused(-32601, method, **params)
        denied(world.server, 10007, method, asUser=carol.user, **params)
    assert denied(world.server, 10004, "closeReport", reportID="none")["field"] == "reportID"
    denied(world.server, 10004, "closeReport", reportID="x" * 201)
    assert done(world.server, "listReports", groupID=world.name("none")) == {"reportList": [], "nextSeq": 0}


async def test_live_rooms(make_server, make_world):
    """By seq or by msgID where the room remembers, else 10033."""
    world = make_world(make_server({"avChatRoom.recentMessages": 100, "limits.avChatRoom.messagesPerSecond": 0}))
    owner, bob = await world.users("owner", "bob")
    group = await world.group(owner, "AVChatRoom", [bob])
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="bad")
    name = await report(bob, group, sent["seq"])
    assert (await bob.call("reportMessage", groupID=group, msgID=sent["msgID"]))["reportID"] == name
    (row,) = listed(world.server, group)
    assert row["message"]["msgID"] == sent["msgID"] and row["message"]["text"] == "bad" and row["message"]["seq"] == sent["seq"]
    assert (await owner.refused(10004, "reportMessage", groupID=group, msgID=sent["msgID"]))["field"] == "msgID"
    await bob.refused(10030, "reportMessage", groupID=group, msgID="none")
    room = done(world.server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    await bob.refused(10033, "reportMessage", groupID=room, seq=1)


async def test_a_room_that_forgets_has_none(world):
    owner, bob = await world.users("owner", "bob")
    group = await world.group(owner, "AVChatRoom", [bob])
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="bad")
    for target in ({"seq": 1}, {"msgID": sent["msgID"]}):
        await bob.refused(10033, "reportMessage", groupID=group, **target)


async def test_ten_in_a_minute(frozen_world):
    owner, bob, carol = await frozen_world.users("owner", "bob", "carol")
    group = await frozen_world.group(owner, "Public", [bob, carol])
    own = frozen_world.server
    seqs = [await said(bob, group) for _ in range(11)]
    for _ in range(12):
        await carol.refused(10030, "reportMessage", groupID=group, seq=99)
    for seq in seqs[:9] + seqs[:1]:
        await report(carol, group, seq)
    # Without a session, which would have to answer pings meanwhile.
    last = {"asUser": carol.user, "groupID": group, "seq": seqs[10]}
    await own.advance(seconds=59)
    data = denied(own, 8511, "reportMessage", **last)
    assert data["retryAfterMs"] == 1000 and data["temporary"] is True
    denied(own, 10030, "reportMessage", **{**last, "seq": 99})
    done(own, "reportMessage", **{**last, "asUser": owner.user})
    await own.advance(seconds=1)
    done(own, "reportMessage", **last)


async def test_pages_hold_each_report_once(world):
    owner, bob = await world.users("owner", "bob")
    reporters = await world.users(*["reporter"] * 25)
    group = await world.group(owner, "Public", [bob, *reporters])
    seqs = [await said(bob, group) for _ in range(5)]
    names = [await report(client, group, seq) for client in reporters for seq in seqs]
    assert [row["reportID"] for row in listed(world.server, group, count=100)] == names[::-1]
    assert [row["reportID"] for row in listed(world.server, group, count=7)] == names[::-1]
    denied(world.server, 10004, "listReports", groupID=group, count=101)


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_reports_outlive_a_restart(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    owner, bob = await world.users("owner", "bob")
    group = await world.group(owner, "Public", [bob])
    seq = await said(owner, group)
    name = await report(bob, group, seq, text="why")
    before = listed(world.server, group)
    reporter = bob.user
    await restart(world, how)
    assert listed(world.server, group) == before
    bob = await world.session(reporter)
    assert await report(bob, group, seq) == name
    assert [row["reportID"] for row in listed(world.server, group)] == [name]


async def test_reports_go_when_their_time_is_over(make_server, make_world):
    """Counted from the last renewal; the group's end does not matter."""
    own = make_server({"reports.retention": "2h"}, frozen=True)
    world = make_world(own)
    owner, bob = await world.users("owner", "bob")
    group = await world.group(owner, "Public", [bob])
    first, second = await said(owner, group), await said(owner, group)
    old = await report(bob, group, first)
    renewed = await report(bob, group, second)
    await own.advance(seconds=3600)
    bob = await world.session(bob.user)
    await report(bob, group, second)
    done(own, "recycleGroup", groupID=group)
    await own.advance(seconds=3500)
    assert {row["reportID"] for row in listed(own, group)} == {old, renewed}
    await own.advance(seconds=200)

    async def names():
        return [row["reportID"] for row in listed(own, group)]

    await eventually(names, [renewed])


async def test_the_webhook_comes_in_the_groups_order(make_server, make_world):
    with Receiver() as receiver:
        world = make_world(make_server(receiver.settings("messageReported", "messageSent", "messageRevoked")))
        owner, bob = await world.users("owner", "bob")
        group = await world.group(owner, "Public", [bob])
        seq = await said(owner, group, "bad")
        name = await report(bob, group, seq, category="spam")
        await owner.call("revokeGroupMessage", groupID=group, seq=seq)
        await receiver.expect("messageRevoked")
        requests = receiver.of()
        assert [request.type for request in requests] == ["messageSent", "messageReported", "messageRevoked"]
        assert set(requests[1].data) == {"groupID", "report"} and requests[1].data["groupID"] == group
        assert requests[1].data["report"] == listed(world.server, group)[0]
        assert requests[1].data["report"]["reportID"] == name


async def test_reports_are_counted(make_server, make_world):
    own = make_server()
    world = make_world(own)
    owner, bob = await world.users("owner", "bob")
    group = await world.group(owner, "Public", [bob])
    name = await report(bob, group, await said(owner, group))
    await report(bob, group, await said(owner, group))
    # Each node counts those of the common store.
    first = own.node_addresses[0]
    own.metric_becomes("throng_reports_open", 2, address=first)
    done(own, "closeReport", reportID=name)
    own.metric_becomes("throng_reports_open", 1, address=first)
    own.metric_becomes("throng_reports_total", 2)
