"""Signals: something of the moment, told to the members who are online and kept nowhere (Protocol.md, "Signals")."""
import pytest

from harness.backend import all_answers, denied, done
from harness.client import Refused
from harness.receiver import Receiver
from harness.restarts import restart
from harness.world import history_of, info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]
OPTIONS = ["Receive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"]


async def signal(client, group, name="typing", **params):
    return await client.call("sendGroupSignal", groupID=group, name=name, **params)


def codes(answers):
    return [answer.code if isinstance(answer, Refused) else 0 for answer in answers]


# Who hears it

@pytest.mark.parametrize("groupType", TYPES)
async def test_all_members_hear_but_the_sending_session(world, groupType):
    alice, bob, carol, outsider = await world.users("alice", "bob", "carol", "outsider")
    group = await world.group(alice, groupType, [bob, carol])
    second = await world.session(bob.user)
    assert await signal(bob, group, data='{"on": "\u00e9"}') == {}
    for client in (alice, carol, second):
        event = await client.expect("onGroupSignal", groupID=group)
        assert event.pop("opTime") > 0
        assert event == {"groupID": group, "name": "typing", "data": '{"on": "\u00e9"}', "sender": bob.user}
    for client in (alice, bob, carol, second):
        await client.quiet("onGroupSignal", group)
    await outsider.quiet("onGroupSignal")


@pytest.mark.parametrize("groupType", TYPES)
async def test_who_receives_no_messages_hears_no_signals(world, groupType):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, groupType, [bob, carol])
    for option in OPTIONS:
        await bob.call("setGroupReceiveMessageOpt", groupID=group, opt=option)
        await signal(carol, group, name=option)
        await bob.expect("onGroupSignal", name=option)
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    for client in (alice, carol):
        await signal(client, group, name="unheard")
    done(world.server, "sendGroupSignal", groupID=group, name="unheard")
    await bob.quiet("onGroupSignal", group)


async def test_who_was_removed_or_has_left_hears_nothing(world):
    alice, bob, carol, dave = await world.users("alice", "bob", "carol", "dave")
    group = await world.group(alice, members=[bob, carol, dave])
    await alice.call("kickGroupMember", groupID=group, userIDList=[bob.user])
    await carol.call("quitGroup", groupID=group)
    await signal(alice, group)
    await dave.expect("onGroupSignal", groupID=group)
    for client in (bob, carol):
        await client.round_trip()
        assert not client.received("onGroupSignal")
        await client.refused(10007, "sendGroupSignal", groupID=group, name="typing")


async def test_the_sender_is_named(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await bob.call("setSelfInfo", nickName="Bobby", faceURL="https://files.example/b.png")
    await bob.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard="B")
    await signal(bob, group)
    event = await alice.expect("onGroupSignal", groupID=group)
    assert {key: event[key] for key in ("sender", "nameCard", "nickName")} == {
        "sender": bob.user, "nameCard": "B", "nickName": "Bobby"}
    assert "faceURL" not in event and "data" not in event


async def test_the_application_signals_for_a_user_and_for_itself(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    assert done(world.server, "sendGroupSignal", asUser=bob.user, groupID=group, name="for") == {}
    for client in (alice, bob):
        assert (await client.expect("onGroupSignal", name="for"))["sender"] == bob.user
    for n in range(15):
        assert done(world.server, "sendGroupSignal", groupID=group, name="news") == {}, "no rate"
        for client in (alice, bob):
            event = await client.expect("onGroupSignal", name="news")
            assert event["sender"] == "administrator" and "nameCard" not in event and "nickName" not in event


# Nothing is kept

async def test_a_signal_leaves_nothing_behind(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    before = await info_of(alice, group)
    await signal(bob, group)
    await alice.expect("onGroupSignal", groupID=group)
    assert await info_of(alice, group) == before and await history_of(alice, group) == []
    late = await world.session(alice.user)
    await late.quiet("onGroupSignal", group)


async def test_the_application_is_neither_asked_nor_told(make_server, make_world):
    with Receiver() as receiver:
        world = make_world(make_server(receiver.settings("beforeSendMessage", "messageSent", "offlinePush", "groupInfoChanged")))
        alice, bob = await world.users("alice", "bob")
        group = await world.group(alice, members=[bob])
        await bob.call("logout")
        await signal(alice, group)
        await receiver.settle(alice, group)
        assert {request.type for request in receiver.of()} <= {"beforeSendMessage", "messageSent", "offlinePush"}
        assert len(receiver.of("beforeSendMessage")) == 1 and len(receiver.of("messageSent")) == 1


# Errors

@pytest.mark.parametrize("params, code, field", [
    ({}, -32602, "name"), ({"name": None}, -32602, "name"), ({"name": 5}, -32602, "name"), ({"name": ""}, 10004, "name"),
    ({"name": "a b"}, 10004, "name"), ({"name": "a/b"}, 10004, "name"), ({"name": "\u00e9"}, 10004, "name"),
    ({"name": "a\n"}, 10004, "name"), ({"name": "x" * 33}, 10004, "name"), ({"name": "n", "data": 5}, -32602, "data"),
    ({"name": "n", "data": "x" * 513}, 10004, "data"), ({"name": "n", "data": "\u00e9" * 256 + "x"}, 10004, "data"),
])
async def test_signals_that_are_none(world, params, code, field):
    alice = await world.user("alice")
    assert (await alice.refused(code, "sendGroupSignal", groupID="nowhere", **params))["field"] == field


async def test_the_longest_signal(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for name, data in (("x" * 32, "\u00e9" * 256), ("A.b-c_9", ""), ("_", "\x00" * 512)):
        await signal(alice, group, name=name, data=data)
        assert (await bob.expect("onGroupSignal", name=name))["data"] == data


async def test_where_signals_are_refused(server, world):
    alice, outsider = await world.users("alice", "outsider")
    group = await world.group(alice)
    await outsider.refused(10007, "sendGroupSignal", groupID=group, name="n")
    await alice.refused(10010, "sendGroupSignal", groupID=world.name("nowhere"), name="n")
    await alice.refused(10015, "sendGroupSignal", groupID="a b", name="n")
    everybody = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=alice.user)["groupID"]
    for client in (alice, outsider):
        await client.refused(10007, "sendGroupSignal", groupID=everybody, name="n")
    denied(server, 10007, "sendGroupSignal", groupID=everybody, name="n")


async def test_a_mute_silences_signals(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=60)
    await bob.refused(10017, "sendGroupSignal", groupID=group, name="n")
    await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=0)
    await signal(bob, group)
    await alice.call("muteGroup", groupID=group, mode="All")
    for client in (alice, bob):
        await client.refused(10017, "sendGroupSignal", groupID=group, name="n")
    assert done(world.server, "sendGroupSignal", groupID=group, name="n") == {}


async def test_ten_in_any_five_seconds_pass(frozen_world):
    server = frozen_world.server
    alice, bob = await frozen_world.users("alice", "bob")
    group = await frozen_world.group(alice, members=[bob])
    other = await frozen_world.group(alice, members=[bob])
    second = await frozen_world.session(bob.user)
    call = ("sendGroupSignal", {"groupID": group, "name": "n"})
    answers = await all_answers(bob, [call] * 6) + await all_answers(second, [call] * 7)
    assert codes(answers) == [0] * 10 + [10023] * 3, "sessions of a user count together"
    assert answers[-1].data == {"retryAfterMs": 5000, "temporary": True}
    assert await signal(bob, other) == {} and await signal(alice, group) == {}
    await server.advance(seconds=4.999)
    assert (await bob.refused(10023, *call[:1], **call[1]))["retryAfterMs"] == 1
    await server.advance(seconds=0.001)
    assert codes(await all_answers(bob, [call] * 11)) == [0] * 10 + [10023], "refused ones do not count"


async def test_the_message_rate_is_not_touched(make_server, make_world):
    world = make_world(make_server({"limits.public.messagesPerSecond": 1}, frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for _ in range(5):
        await signal(bob, group)
    await bob.call("sendGroupTextMessage", groupID=group, text="x")
    await bob.refused(10023, "sendGroupTextMessage", groupID=group, text="y")
    await signal(bob, group)


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_group_with_more_members_has_no_signals(make_server, make_world, groupType):
    """10017, 10061, 10023, in this order."""
    world = make_world(make_server({"limits.signalMembers": 3}, frozen=True))
    alice, bob, carol, dave = await world.users("alice", "bob", "carol", "dave")
    group = await world.group(alice, groupType, [bob, carol])
    assert codes(await all_answers(bob, [("sendGroupSignal", {"groupID": group, "name": "n"})] * 11)) == [0] * 10 + [10023]
    if groupType == "AVChatRoom":
        await dave.call("joinGroup", groupID=group)
    else:
        done(world.server, "inviteUserToGroup", groupID=group, userIDList=[dave.user])
    for client in (alice, bob, dave):
        await client.refused(10061, "sendGroupSignal", groupID=group, name="n")
    if groupType != "Work":
        await alice.call("muteGroupMember", groupID=group, userID=bob.user, muteTime=60)
        await bob.refused(10017, "sendGroupSignal", groupID=group, name="n")
    assert done(world.server, "sendGroupSignal", groupID=group, name="n") == {}, "administrators are not bound"
    denied(world.server, 10061, "sendGroupSignal", asUser=carol.user, groupID=group, name="n")
    assert (await alice.call("getServerInfo"))["limits"]["limits.signalMembers"] == 3


async def test_nobody_signals_where_the_limit_is_zero(make_server, make_world):
    world = make_world(make_server({"limits.signalMembers": 0}))
    alice = await world.user("alice")
    await alice.refused(10061, "sendGroupSignal", groupID=await world.group(alice), name="n")


# Many

async def test_beyond_a_hundred_a_second_the_newest_of_each_name_comes(make_server, make_world):
    own = make_server(frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    batch = [{"jsonrpc": "2.0", "id": n, "method": "sendGroupSignal", "params": {"groupID": group, "name": "n", "data": f"{n}"}}
             for n in range(20)]
    for _ in range(7):
        assert not [row for row in own.post_rpc(batch).json() if "error" in row]
    await bob.round_trip(group)
    assert len(bob.received("onGroupSignal")) == 100
    bob.forget()
    await own.advance(seconds=1)
    assert (await bob.expect("onGroupSignal"))["data"] == "19"
    await bob.quiet("onGroupSignal", group)
    own.metric_becomes("throng_signals_total", 101, result="delivered")
    own.metric_becomes("throng_signals_total", 39, result="merged")
    await alice.call("muteGroup", groupID=group, mode="All")
    await bob.refused(10017, "sendGroupSignal", groupID=group, name="n")
    own.metric_becomes("throng_signals_total", 1, result="refused")
    own.metric_becomes("throng_signals_total", 0, result="dropped")


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_signals_work_after_a_restart(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await signal(bob, group)
    await restart(world, how)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    await alice.quiet("onGroupSignal", group)
    await signal(bob, group, name="again")
    assert (await alice.expect("onGroupSignal"))["name"] == "again"
