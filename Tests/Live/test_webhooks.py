"""Webhooks over a real receiver: their contents, order, retries, dead letters, and the questions that
wait for an answer (Protocol.md, "Webhooks")."""
import asyncio
import json
import random
import re
import threading
from datetime import datetime

import pytest

from harness.backend import all_of, denied, done
from harness.client import has
from harness.push_example import FakeAPNs, FakeFCM, PushSender
from harness.receiver import SECRET, SILENCE, Answer, Receiver
from harness.server import run_throng
from harness.world import eventually, kill_during


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def hooked(make_server, make_world, receiver):
    """A server that posts to the receiver, and a world on it: `hooked("messageSent", retention="2s")`."""
    def make(*events, settings=None, frozen=False, **webhook):
        own = make_server({**receiver.settings(*events, **webhook), **(settings or {})}, frozen=frozen)
        return own, make_world(own)

    return make


class Backend:
    """The application interface as something with `call`."""

    def __init__(self, server):
        self.server = server

    async def call(self, method, /, **params):
        return done(self.server, method, **params)


@pytest.fixture
def gate():
    """Answers that have it for their `when` wait until it is set."""
    made = threading.Event()
    yield made
    made.set()


# Requests

async def test_a_request_is_signed_and_says_type_time_and_data(hooked, receiver):
    own, world = hooked("groupCreated", frozen=True)
    owner = await world.user("owner")
    group = await world.group(owner, "Work", groupName="name")
    (request,) = await receiver.expect("groupCreated")
    # The harness has verified the signature of each request with `standardwebhooks`.
    assert {"webhook-id", "webhook-timestamp", "webhook-signature"} <= set(request.headers)
    assert int(request.headers["webhook-timestamp"]) == int(own.now)
    assert re.fullmatch(r"v1,[A-Za-z0-9+/]{43}=", request.headers["webhook-signature"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", request.timestamp)
    assert abs(datetime.fromisoformat(request.timestamp).timestamp() - own.now) < 0.001
    assert request.data["groupID"] == group


async def test_redirects_are_not_followed(make_server, make_world):
    with Receiver() as other:
        moved = lambda request: Answer(status=307, headers=[("location", other.url)])
        with Receiver(moved) as receiver:
            own = make_server(receiver.settings("groupCreated"))
            await make_world(own).group(await make_world(own).user("owner"), "Work")
            own.metric_becomes("throng_webhooks_total", lambda count: count > 0, type="groupCreated", result="failed")
            assert receiver.requests and not other.requests


@pytest.mark.parametrize("settings, says", [
    ({"webhook.url": "http://127.0.0.1:9/"}, "webhook.url: set without webhook.secret"),
    ({"webhook.url": "http://127.0.0.1:9/", "webhook.secret": "whsec_short"}, "webhook.secret: expected whsec_"),
    ({"webhook.url": "http://127.0.0.1:9/", "webhook.secret": "0" * 44}, "webhook.secret: expected whsec_"),
    ({"webhook.events": "messageSent,messageGone"}, "webhook.events: expected"),
    ({"webhook.onFailure": "maybe"}, "webhook.onFailure: expected one of allow, refuse"),
])
def test_what_stops_the_start(tmp_path, settings, says):
    arguments = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    for command in (["serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0"], ["config", "check"]):
        ended = run_throng(*command, *arguments, "--set", f"dataDir={tmp_path}/data")
        assert ended.returncode == 1, ended
        assert says in ended.stderr + ended.stdout, ended
        assert "whsec_short" not in ended.stderr + ended.stdout


# After-events

def member(client, role="Member", nameCard=""):
    return {"userID": client.user, "nameCard": nameCard, "role": role}


async def test_events_of_groups_and_members(hooked, receiver):
    own, world = hooked()
    owner, admin, first, second = await world.users("owner", "admin", "first", "second")
    group = (await owner.call(
        "createGroup", groupType="Public", groupName="club", joinMode="Auth", inviteMode="Admin", maxMemberNum=3,
        memberList=[{"userID": admin.user, "role": "Admin"}]))["groupID"]
    (created,) = await receiver.expect("groupCreated")
    assert created.data == {
        "groupID": group, "groupType": "Public", "groupName": "club", "owner": owner.user, "opUser": member(owner, "Owner"),
        "platform": "Unknown", "memberList": [member(admin, "Admin")]}

    await first.call("joinGroup", groupID=group, message="please")
    (made,) = await receiver.expect("applicationMade")
    application = made.data["application"]
    assert made.data["groupID"] == group and application["type"] == "Join" and application["requestMsg"] == "please"
    assert application["fromUser"] == first.user and application["handleStatus"] == "Unhandled"
    await admin.call("acceptGroupApplication", applicationID=application["applicationID"])
    (handled,) = await receiver.expect("applicationHandled")
    assert handled.data["isAgreeJoin"] is True and handled.data["application"]["handledBy"] == admin.user
    (joined,) = await receiver.expect("memberJoined")
    assert joined.data == {
        "groupID": group, "memberList": [member(first)], "memberCount": 3, "how": "accepted",
        "opUser": member(admin, "Admin"), "platform": "Unknown"}
    (full,) = await receiver.expect("groupFull")
    assert full.data == {"groupID": group, "memberCount": 3}

    await second.refused(10014, "joinGroup", groupID=group)
    await admin.call("kickGroupMember", groupID=group, userIDList=[first.user], reason="why")
    (left,) = await receiver.expect("memberLeft")
    assert left.data == {
        "groupID": group, "memberList": [member(first)], "memberCount": 2, "how": "kicked", "reason": "why",
        "opUser": member(admin, "Admin"), "platform": "Unknown"}
    await owner.call("inviteUserToGroup", groupID=group, userIDList=[second.user])
    joined = (await receiver.expect("memberJoined", 2))[1]
    assert joined.data["how"] == "invited" and joined.data["opUser"] == member(owner, "Owner")
    await second.call("quitGroup", groupID=group)
    left = (await receiver.expect("memberLeft", 2))[1]
    assert left.data == {"groupID": group, "memberList": [member(second)], "memberCount": 2, "how": "quit"}

    await admin.call("setGroupMemberInfo", groupID=group, userID=admin.user, nameCard="Ad")
    event = await owner.expect("onGroupMemberInfoChanged", groupID=group)
    (changed,) = await receiver.expect("memberInfoChanged")
    assert changed.data == event and changed.data["changeInfoList"] == [{"userID": admin.user, "nameCard": "Ad"}]
    await owner.call("setGroupMemberRole", groupID=group, userID=admin.user, role="Member")
    changed = (await receiver.expect("memberInfoChanged", 2))[1]
    assert changed.data["changeInfoList"] == [{"userID": admin.user, "role": "Member"}]

    await owner.call("setGroupInfo", groupID=group, groupName="other", allMuted=True)
    event = await owner.expect("onGroupInfoChanged", groupID=group)
    (changed,) = await receiver.expect("groupInfoChanged")
    assert changed.data == event
    await owner.call("dismissGroup", groupID=group)
    event = await owner.expect("onGroupDismissed", groupID=group)
    (gone,) = await receiver.expect("groupDismissed")
    assert gone.data == event
    times = [request.timestamp for request in receiver.of() if request.data.get("groupID") == group]
    assert times == sorted(times)


async def test_applications_refused_and_the_last_to_quit(hooked, receiver):
    own, world = hooked()
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Work", beInviteMode="Auth")
    await owner.call("inviteUserToGroup", groupID=group, userIDList=[guest.user], message="come")
    (made,) = await receiver.expect("applicationMade")
    assert made.data["application"]["toUser"] == guest.user and made.data["application"]["type"] == "Invite"
    await guest.call("refuseGroupApplication", applicationID=made.data["application"]["applicationID"], reason="no")
    (handled,) = await receiver.expect("applicationHandled")
    assert handled.data["isAgreeJoin"] is False and handled.data["application"]["handledMsg"] == "no"
    await owner.call("quitGroup", groupID=group)
    (gone,) = await receiver.expect("groupDismissed")
    of_group = [r.type for r in receiver.of() if r.data.get("groupID") == group]
    assert of_group == ["groupCreated", "applicationMade", "applicationHandled", "memberLeft", "groupDismissed"]
    assert not receiver.of("memberJoined")


async def test_events_of_messages_and_attributes(hooked, receiver):
    own, world = hooked(settings={"attributes.groupTypes": "AVChatRoom,Public"})
    owner, reader = await world.users("owner", "reader")
    group = await world.group(owner, "Public", [reader])
    await owner.call("sendGroupTextMessage", groupID=group, text="hello", clientMsgID="c1")
    event = await reader.expect("onRecvNewMessage", groupID=group)
    (sent,) = await receiver.expect("messageSent")
    assert sent.data == {"groupID": group, "message": event["message"]}
    await owner.call("sendGroupTextMessage", groupID=group, text="hello", clientMsgID="c1")
    await owner.call("sendGroupCustomMessage", groupID=group, data="{}", onlineUserOnly=True)
    assert (await receiver.expect("messageSent", 2))[1].data["message"]["type"] == "Custom"
    await owner.call("revokeGroupMessage", groupID=group, seq=sent.data["message"]["seq"])
    event = await reader.expect("onRecvMessageRevoked", groupID=group)
    (revoked,) = await receiver.expect("messageRevoked")
    assert revoked.data == event
    await owner.call("setGroupAttributes", groupID=group, attributes={"a": "1"})
    event = await reader.expect("onGroupAttributeChanged", groupID=group)
    (attributes,) = await receiver.expect("attributesChanged")
    assert attributes.data == event
    await receiver.settle(owner, group)
    assert len(receiver.of("messageSent")) == 3, "a repeated clientMsgID is no message"


async def test_counters_of_a_live_room(hooked, receiver):
    """Each durable change is told; those of a tenth of a second share one request."""
    own, world = hooked("countersChanged", frozen=True)
    owner, reader = await world.users("owner", "reader")
    room = await world.group(owner, "AVChatRoom", [reader])
    await reader.call("increaseGroupCounter", groupID=room, key="likes", value=2)
    (first,) = await receiver.expect("countersChanged")
    assert first.data == await reader.expect("onGroupCounterChanged", groupID=room)
    assert first.data["counters"] == {"likes": 2}
    changes = [await reader.start("increaseGroupCounter", groupID=room, key="likes", value=1) for _ in range(15)]
    changes.append(await owner.start("setGroupCounters", groupID=room, counters={"votes": 7}))
    await reader.pong()
    await owner.pong()
    assert not any(change.done() for change in changes), "they are answered when they are durable"
    await own.advance(0.1)
    assert all("result" in answer for answer in await asyncio.gather(*changes))
    changes = [await owner.start("setGroupCounters", groupID=room, counters={"likes": None})]
    await owner.pong()
    await own.advance(0.1)
    assert "result" in await changes[0]
    requests = await receiver.expect("countersChanged", 3)
    assert [request.data["counters"] for request in requests[1:]] == [{"likes": 17, "votes": 7}, {"likes": None}]


async def test_a_live_room(hooked, receiver):
    own, world = hooked(
        settings={"limits.avChatRoom.messagesPerSecond": 2, "avChatRoom.offlineGrace": "20s"}, frozen=True)
    owner, guest = await world.users("owner", "guest")
    room = await world.group(owner, "AVChatRoom")
    await guest.call("joinGroup", groupID=room)
    (joined,) = await receiver.expect("memberJoined")
    assert joined.data["how"] == "join" and "opUser" not in joined.data
    # The notice of the join takes a place, too.
    await own.advance(1)
    receipts = [await owner.call("sendGroupTextMessage", groupID=room, text=f"m{n}") for n in range(8)]
    assert [receipt["status"] for receipt in receipts] == ["Delivered"] * 2 + ["Queued"] * 2 + ["Dropped"] * 4
    await own.advance(1)
    await receiver.expect("messageSent", 4)
    dropped = await receiver.expect("messageDropped", 4)
    assert all(request.data["reason"] == "RateLimit" for request in dropped)
    assert [request.data["message"]["msgID"] for request in receiver.of("messageSent") + dropped] == [
        receipt["msgID"] for receipt in receipts]
    await guest.close()
    own.metric_becomes("throng_sessions", 1)
    await own.advance(19.9)
    await receiver.settle(owner, room)
    assert not receiver.of("memberLeft")
    await own.advance(0.2)
    (left,) = await receiver.expect("memberLeft")
    assert left.data["how"] == "grace" and left.data["memberList"][0]["userID"] == guest.user


async def test_presence_is_told_with_the_first_and_the_last_session(hooked, receiver):
    own, world = hooked("userOnline", "userOffline")
    name = world.name("user")
    first = await world.session(name, platform="iOS")
    second = await world.session(name, platform="Web")
    await first.close()
    # On two nodes the later end may be known first.
    await asyncio.to_thread(
        own.wait_until, lambda: len(own.rpc("listSessions", userID=name)["result"]["sessionList"]) == 1, "the end of the first")
    await second.close()
    await receiver.expect("userOffline")
    assert [(r.type, r.data) for r in receiver.of()] == [
        ("userOnline", {"userID": name, "platform": "iOS"}), ("userOffline", {"userID": name, "platform": "Web"})]
    await world.session(name, platform="Mac")
    await receiver.expect("userOnline", 2)


async def test_a_crash_ends_sessions_too(hooked, receiver):
    own, world = hooked("userOnline", "userOffline", frozen=True)
    user = await world.user("user")
    await receiver.expect("userOnline")
    # Presence is durable within about a second.
    await own.advance(1.1)
    own.kill()
    own.start()
    (ended,) = await receiver.expect("userOffline")
    assert ended.data == {"userID": user.user, "platform": "Unknown"}


async def test_only_the_types_of_the_configuration_are_posted(hooked, receiver):
    own, world = hooked("messageSent")
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Public")
    await guest.call("joinGroup", groupID=group)
    await owner.call("setGroupInfo", groupID=group, groupName="other")
    await receiver.settle(owner, group)
    assert {request.type for request in receiver.of()} == {"messageSent"}


async def test_notification_off_posts_all_the_same(hooked, receiver):
    own, world = hooked("memberJoined", "memberLeft")
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Public", memberChangeNotification=False)
    await guest.call("joinGroup", groupID=group)
    await guest.call("quitGroup", groupID=group)
    await receiver.expect("memberLeft")
    assert [request.type for request in receiver.of()] == ["memberJoined", "memberLeft"]


async def test_imports_post_nothing(hooked, receiver):
    own, world = hooked()
    owner = await world.user("owner")
    done(own, "importUsers", userIDList=["u1", "u2"])
    group = done(own, "importGroup", groupType="Public", groupName="g", ownerUserID=owner.user)["groupID"]
    done(own, "importGroupMembers", groupID=group, memberList=[{"userID": "u1"}, {"userID": "u2"}])
    done(own, "importGroupMessages", groupID=group, messageList=[{"sender": "u1", "timestamp": 5, "text": "old"}])
    done(own, "setUnreadCount", groupID=group, userID="u1", unreadCount=3)
    await receiver.settle(owner, group)
    await receiver.expect("offlinePush")  # the marker's
    types = [request.type for request in receiver.of() if request.data.get("groupID") == group]
    assert types == ["messageSent", "offlinePush"], types
    assert len(receiver.of("messageSent")) == 1


# Offline push

async def test_offline_push_goes_to_whom_it_is_for(hooked, receiver):
    own, world = hooked("offlinePush", "messageSent")
    owner, online = await world.users("owner", "online")
    names = {word: world.name(word) for word in ("plain", "silent", "quiet", "managers", "notified", "mentioned")}
    rows = [{"userID": name} for name in (*names.values(), online.user)]
    group = (await owner.call("createGroup", groupType="Public", groupName="club", memberList=rows))["groupID"]
    for word, opt in (("silent", "NotReceive"), ("quiet", "ReceiveNotNotify"), ("managers", "ReceiveFromManagers"),
                      ("notified", "NotifyFromManagers"), ("mentioned", "NotReceive")):
        done(own, "setGroupReceiveMessageOpt", asUser=names[word], groupID=group, opt=opt)

    async def pushed(sender, **params):
        receipt = await sender.call("sendGroupTextMessage", groupID=group, text="hey", **params)
        await receiver.wait(lambda r: any(
            s.data["message"]["msgID"] == receipt["msgID"] for s in r.of("messageSent")))
        marker = await sender.call("sendGroupTextMessage", groupID=group, text="marker")
        await receiver.wait(lambda r: any(
            s.data["message"]["msgID"] == marker["msgID"] for s in r.of("messageSent")))
        rows = [r.data for r in receiver.of("offlinePush") if r.data["message"]["msgID"] == receipt["msgID"]]
        assert all(row["groupID"] == group and row["groupName"] == "club" for row in rows)
        return sorted(user for row in rows for user in row["userIDList"])

    def of(*words):
        return sorted(names[word] for word in words)

    assert await pushed(owner) == of("plain", "managers", "notified")
    assert await pushed(online) == of("plain")
    assert await pushed(online, atUserIDList=[names["mentioned"], online.user, owner.user]) == of("plain", "mentioned")
    assert await pushed(owner, atUserIDList=["@all"]) == sorted(names.values())
    assert await pushed(owner, onlineUserOnly=True) == []
    back = await world.session(names["plain"])
    assert await pushed(online) == []
    await back.close()
    await eventually(lambda: pushed(online), of("plain"))


async def test_offline_push_names_at_most_500_a_request(hooked, receiver):
    own, world = hooked("offlinePush")
    owner = await world.user("owner")
    group = await world.group(owner, "Public")
    names = [f"u{n:04}" for n in range(1100)]
    for start in range(0, len(names), 300):
        done(own, "importGroupMembers", groupID=group,
             memberList=[{"userID": name} for name in names[start:start + 300]])
    await owner.call("sendGroupTextMessage", groupID=group, text="hey")
    requests = await receiver.expect("offlinePush", 3)
    assert [len(request.data["userIDList"]) for request in requests] == [500, 500, 100]
    assert sorted(user for request in requests for user in request.data["userIDList"]) == names


async def test_a_broadcast_group_pushes_nothing(hooked, receiver):
    own, world = hooked("offlinePush", "messageSent")
    done(own, "importUsers", userIDList=["somebody"])
    group = done(own, "createGroup", groupType="BChatRoom", groupName="all", ownerUserID="owner")["groupID"]
    done(own, "sendGroupTextMessage", groupID=group, text="hey", atUserIDList=["@all", "somebody"])
    await receiver.expect("messageSent")
    done(own, "sendGroupTextMessage", groupID=group, text="hey")
    await receiver.expect("messageSent", 2)
    assert not receiver.of("offlinePush")


# Order, retries and dead letters

async def test_a_groups_events_come_in_order_and_groups_do_not_wait_for_each_other(hooked, receiver, gate):
    own, world = hooked("messageSent")
    owner = await world.user("owner")
    groups = [await world.group(owner, "Work") for _ in range(6)]
    slow = groups[0]
    receiver.answer = lambda request: Answer(when=gate) if request.data["groupID"] == slow else None
    await asyncio.gather(*(
        owner.call("sendGroupTextMessage", groupID=group, text=str(n)) for n in range(40) for group in groups))
    await receiver.expect("messageSent", 200)
    assert slow not in {request.data["groupID"] for request in receiver.of()}
    gate.set()
    await receiver.expect("messageSent", 240)
    for group in groups:
        of_group = [request.data["message"] for request in receiver.of() if request.data["groupID"] == group]
        assert [message["seq"] for message in of_group] == list(range(1, 41))
    assert receiver.most_open <= 8


async def test_failures_are_retried_with_increasing_intervals_before_what_is_behind_them(hooked, receiver):
    own, world = hooked("messageSent", frozen=True)
    owner = await world.user("owner")
    group, other = await world.group(owner, "Work"), await world.group(owner, "Work")
    failing = {"1": 3}

    def answer(request):
        text = request.data["message"]["text"]
        if failing.get(text, 0) > 0:
            failing[text] -= 1
            return Answer(status=500)
        return None

    receiver.answer = answer
    def attempts():
        return [request for request in receiver.requests if request.data["message"]["text"] == "1"]

    for n in range(4):
        await owner.call("sendGroupTextMessage", groupID=group, text=str(n))
    for count, interval in enumerate((1, 2, 4), 1):
        own.metric_becomes("throng_webhooks_total", count, result="failed")
        for part in (interval - 0.001, 0.001):
            await receiver.settle(owner, other)
            assert len(attempts()) == count
            await own.advance(part)
    await receiver.wait(lambda r: any(request.data["message"]["text"] == "3" for request in r.of()))
    times = [int(request.headers["webhook-timestamp"]) for request in attempts()]
    assert [later - earlier for earlier, later in zip(times, times[1:])] == [1, 2, 4]
    assert len({request.id for request in attempts()}) == len({request.body for request in attempts()}) == 1
    texts = [request.data["message"]["text"] for request in receiver.of() if request.data["groupID"] == group]
    assert texts == ["0", "1", "2", "3"]


async def test_a_receiver_that_was_killed_gets_everything_in_order(hooked, receiver):
    own, world = hooked("messageSent", frozen=True)
    owner = await world.user("owner")
    groups = [await world.group(owner, "Work") for _ in range(3)]
    for round_ in range(3):
        if round_ == 1:
            own.metric_becomes("throng_webhooks_pending", 0)
            receiver.stop()
        for n in range(10):
            for group in groups:
                await owner.call("sendGroupTextMessage", groupID=group, text=f"{round_}-{n}")
        if round_ == 1:
            own.metric_becomes("throng_webhooks_pending", 30)
            # One of each group.
            own.metric_becomes("throng_webhooks_total", 3, result="failed")
            own.wait_until(lambda: '"the receiver of webhooks does not answer"' in own.log, "a line")
            receiver.start()
    await own.advance(1.2)
    await receiver.expect("messageSent", 90)
    for group in groups:
        seqs = [request.data["message"]["seq"] for request in receiver.of() if request.data["groupID"] == group]
        assert seqs == list(range(1, 31))
    own.metric_becomes("throng_webhooks_pending", 0)
    own.wait_until(lambda: '"the receiver of webhooks answers again"' in own.log, "a line")


async def test_what_fails_for_too_long_is_kept_as_a_failure_and_can_be_retried(hooked, receiver):
    own, world = hooked("messageSent", "groupInfoChanged", retention="2s", frozen=True)
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    receiver.answer = lambda request: Answer(status=503) if request.type == "messageSent" else None
    for n in range(3):
        await owner.call("sendGroupTextMessage", groupID=group, text=str(n))
    await owner.call("setGroupInfo", groupID=group, groupName="later")
    for count in (1, 2):
        own.metric_becomes("throng_webhooks_total", count, result="failed")
        await own.advance(1.1)
    # Later entries overtake those that were given up.
    await receiver.expect("groupInfoChanged")
    backend = Backend(own)

    async def failures():
        return await all_of(backend, "listWebhookFailures", "failureList", count=2)

    async def failed():
        return [row["data"]["message"]["text"] for row in await failures()]

    await eventually(failed, ["0", "1", "2"])
    rows = await failures()
    ids = {request.id for request in receiver.requests if request.type == "messageSent"}
    assert {row["id"] for row in rows} == ids
    for row in rows:
        assert set(row) == {"id", "type", "timestamp", "data", "attempts", "lastError"}, row
        assert row["type"] == "messageSent" and row["lastError"] == "the status is 503"
        assert row["timestamp"] == row["data"]["message"]["timestamp"]
    # The time of the others was up when their turn came.
    assert [row["attempts"] for row in rows] == [3, 1, 1]
    own.metric_becomes("throng_webhooks_total", 3, type="messageSent", result="givenUp")
    own.kill()
    own.start()
    assert await failures() == rows, "they are durable"
    receiver.answer = lambda request: None
    assert done(own, "retryWebhooks") == {"retried": 3}
    found = await receiver.expect("messageSent", 3)
    assert [request.id for request in found] == [row["id"] for row in rows], "they keep their id"
    await eventually(failures, [])
    assert done(own, "retryWebhooks") == {"retried": 0}


async def test_what_waits_beyond_the_bound_is_given_up_the_oldest_first(hooked, receiver):
    own, world = hooked("messageSent", maxPending=10, frozen=True)
    receiver.stop()
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    for n in range(25):
        await owner.call("sendGroupTextMessage", groupID=group, text=str(n))
    backend = Backend(own)

    async def failed():
        rows = await all_of(backend, "listWebhookFailures", "failureList", count=100)
        return [row["data"]["message"]["text"] for row in rows]

    own.metric_becomes("throng_webhooks_pending", 10)
    # As many failures are kept, too; the one that is being tried may stay longer.
    await eventually(lambda: asyncio.to_thread(lambda: len(done(own, "listWebhookFailures")["failureList"]) <= 10), True)
    given_up = await failed()
    # The one that was being tried is given up behind later ones.
    without_one = [given_up[:place] + given_up[place + 1:] for place in range(len(given_up))]
    assert any(texts == sorted(texts, key=int) for texts in without_one) and "24" not in given_up
    receiver.start()
    await own.advance(1.2)
    await receiver.expect("messageSent", 10)
    assert [r.data["message"]["text"] for r in receiver.of()][-9:] == [str(n) for n in range(16, 25)]


async def test_only_administrators_see_and_retry_failures(hooked, receiver):
    own, world = hooked("messageSent")
    user = await world.user("user")
    for method in ("listWebhookFailures", "retryWebhooks"):
        await user.refused(-32601, method)
        denied(own, 10007, method, asUser=user.user)
    denied(own, 10004, "listWebhookFailures", count=101)
    assert done(own, "listWebhookFailures") == {"failureList": [], "nextSeq": 0}


async def test_without_a_receiver_there_is_nothing_to_retry(server):
    assert done(server, "listWebhookFailures") == {"failureList": [], "nextSeq": 0}
    assert done(server, "retryWebhooks") == {"retried": 0}


async def test_a_receiver_that_hangs_slows_nothing(hooked, receiver):
    own, world = hooked("messageSent")
    receiver.answer = lambda request: SILENCE
    owner, reader = await world.users("owner", "reader")
    groups = [await world.group(owner, "Work", [reader]) for _ in range(12)]
    for n in range(20):
        await asyncio.gather(*(owner.call("sendGroupTextMessage", groupID=group, text=str(n)) for group in groups))
    for group in groups:
        for n in range(20):
            await reader.expect("onRecvNewMessage", groupID=group, message=has(text=str(n)))
    # All of them were stored and delivered, and none has its answer.
    await receiver.wait(lambda r: r.open == 8)
    own.metric_becomes("throng_webhooks_pending", 240)
    assert receiver.most_open == 8 and not receiver.accepted


async def test_an_orderly_end_keeps_what_was_in_memory_only(hooked, receiver):
    own, world = hooked("messageSent", settings={"drain.duration": 0, "limits.avChatRoom.messagesPerSecond": 0})
    receiver.stop()
    owner = await world.user("owner")
    room = await world.group(owner, "AVChatRoom")
    for n in range(20):
        await owner.call("sendGroupTextMessage", groupID=room, text=str(n))
    assert await asyncio.to_thread(own.stop) == 0
    receiver.start()
    own.start()
    await receiver.expect("messageSent", 20)
    assert [request.data["message"]["text"] for request in receiver.of()] == [str(n) for n in range(20)]


async def test_ten_rounds_of_kill_9(hooked, receiver, record_property):
    """Every after-event of an acknowledged change arrives, in the order of its group."""
    own, world = hooked("messageSent", "groupCreated", "memberJoined", "groupInfoChanged", settings={"loops": 2})
    random_ = random.Random(10)
    receiver.answer = lambda request: Answer(status=500) if random_.random() < 0.01 else None
    names = [f"user-{n}" for n in range(3)]
    acknowledged = {}
    groups = []

    async def work(client, round_, worker, did_one):
        number = 0
        while True:
            if number % 20 == 5:
                result = await client.call("createGroup", groupType="Public", groupName="g", joinMode="Any")
                acknowledged[("groupCreated", result["groupID"])] = None
            elif number % 20 == 10:
                name = f"{round_}-{client.user[-1]}-{worker}-{number}"
                await client.call("setGroupInfo", groupID=groups[0], groupName=name)
                acknowledged[("groupInfoChanged", name)] = None
            else:
                group = random_.choice(groups)
                result = await client.call("sendGroupTextMessage", groupID=group, text="m")
                acknowledged[("messageSent", group, result["seq"])] = None
            did_one()
            number += 1

    def key(request):
        if request.type == "messageSent":
            return ("messageSent", request.data["groupID"], request.data["message"]["seq"])
        if request.type == "groupInfoChanged":
            return ("groupInfoChanged", request.data["changeInfoList"][0]["value"])
        return (request.type, request.data["groupID"])

    users = [await world.session(name) for name in names]
    for _ in range(3):
        groups.append(await world.group(users[0], "Meeting", users[1:], updateInfoMode="Any"))
    await world.close()
    for round_ in range(10):
        users = [await world.session(name) for name in names]
        reached, left = asyncio.Event(), iter(range(random_.randint(50, 300)))

        def did_one():
            if next(left, None) is None:
                reached.set()
        works = [work(user, round_, worker, did_one) for user in users for worker in range(6)]
        world = await kill_during(world, works, reached)
    await receiver.wait(lambda r: set(acknowledged) <= {key(request) for request in r.of()}, 120)
    for group in groups:
        order = [r.data["message"]["seq"] for r in receiver.of("messageSent") if r.data["groupID"] == group]
        assert order == sorted(order), "a group's events keep their order across restarts"
    record_property("summary", f"webhooks: 10 rounds of kill -9, {len(acknowledged)} acknowledged changes, "
                               f"{len(receiver.requests)} requests for {len(receiver.of())} entries")


# Before-events

ASKED = ("beforeCreateGroup", "beforeJoinGroup", "beforeInvite", "beforeSendMessage", "beforeModifyMessage")


def questions(receiver, type_=None):
    return [request for request in receiver.requests if request.type == type_ or type_ is None]


async def test_a_message_is_asked_about_and_sent(hooked, receiver):
    own, world = hooked(*ASKED)
    owner, reader = await world.users("owner", "reader")
    group = await world.group(owner, "Public", [reader])
    await owner.call(
        "sendGroupTextMessage", groupID=group, text="hi", priority="High", clientMsgID="c", atUserIDList=[reader.user])
    event = await reader.expect("onRecvNewMessage", groupID=group)
    assert event["message"]["text"] == "hi"
    (question,) = questions(receiver, "beforeSendMessage")
    assert question.data == {
        "userID": owner.user, "platform": "Unknown", "groupID": group, "message": {
            "type": "Text", "text": "hi", "priority": "High", "clientMsgID": "c", "atUserIDList": [reader.user]}}
    # The same clientMsgID is answered without a question.
    await owner.call("sendGroupTextMessage", groupID=group, text="hi", clientMsgID="c")
    assert len(questions(receiver, "beforeSendMessage")) == 1


async def test_an_edit_is_asked_about_with_what_the_message_was_sent_with(hooked, receiver):
    own, world = hooked(*ASKED)
    owner, reader = await world.users("owner", "reader")
    group = await world.group(owner, "Public", [reader])
    sent = await owner.call(
        "sendGroupTextMessage", groupID=group, text="at three", priority="High", clientMsgID="c", atUserIDList=[reader.user])
    await owner.call("modifyGroupMessage", groupID=group, seq=sent["seq"], text="at four")
    await reader.expect("onRecvMessageModified", groupID=group, message=has(text="at four"))
    (question,) = questions(receiver, "beforeModifyMessage")
    assert question.data == {
        "userID": owner.user, "platform": "Unknown", "groupID": group, "message": {
            "type": "Text", "text": "at four", "priority": "High", "clientMsgID": "c", "atUserIDList": [reader.user],
            "seq": sent["seq"]}}


async def test_an_answer_replaces_the_content(hooked, receiver):
    own, world = hooked("beforeSendMessage", "messageSent")
    owner, reader = await world.users("owner", "reader")
    group = await world.group(owner, "Public", [reader])

    def answer(request):
        if request.type != "beforeSendMessage":
            return None
        kind = "text" if request.data["message"]["type"] == "Text" else "data"
        return Answer({"action": "Allow", kind: request.data["message"][kind].upper()})

    receiver.answer = answer
    first = await owner.call("sendGroupTextMessage", groupID=group, text="word", clientMsgID="c1")
    await owner.call("sendGroupCustomMessage", groupID=group, data="data")
    await reader.expect("onRecvNewMessage", groupID=group, message=has(text="WORD", clientMsgID="c1"))
    await reader.expect("onRecvNewMessage", groupID=group, message=has(data="DATA"))
    sent = await receiver.expect("messageSent", 2)
    assert sent[0].data["message"]["text"] == "WORD"
    again = await owner.call("sendGroupTextMessage", groupID=group, text="word", clientMsgID="c1")
    assert again == first


@pytest.mark.parametrize("answer, code, message", [
    ({"action": "Refuse"}, 10016, None),
    ({"action": "Refuse", "code": 10016, "message": "bad word"}, 10016, "bad word"),
    ({"action": "Refuse", "code": 10120}, 10120, None),
    ({"action": "Refuse", "code": 10130, "message": "no"}, 10130, "no"),
])
async def test_a_refusal_is_the_answer(hooked, receiver, answer, code, message):
    own, world = hooked(*ASKED)
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Public")
    receiver.answer = lambda request: Answer(answer)
    for client, method, params in (
        (owner, "sendGroupTextMessage", {"groupID": group, "text": "x"}),
        (owner, "sendGroupCustomMessage", {"groupID": group, "data": "x"}),
        (guest, "joinGroup", {"groupID": group}),
        (owner, "createGroup", {"groupType": "Work", "groupName": "w"}),
    ):
        frame = await client.exchange({"jsonrpc": "2.0", "id": "r", "method": method, "params": params})
        assert frame["error"]["code"] == code and frame["error"]["data"] == {"temporary": False}, frame
        assert frame["error"]["message"] == (message or frame["error"]["message"])
    assert (await owner.call("getGroupHistoryMessageList", groupID=group))["messageList"] == []


async def test_every_code_of_the_application_is_answered(hooked, receiver):
    own, world = hooked("beforeSendMessage")
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    for code in (10016, *range(10120, 10131)):
        receiver.answer = lambda request: Answer({"action": "Refuse", "code": code})
        await owner.refused(code, "sendGroupTextMessage", groupID=group, text="x")


async def test_the_other_questions_hold_the_parameters(hooked, receiver):
    own, world = hooked(*ASKED)
    owner, guest, other = await world.users("owner", "guest", "other")
    await owner.call("createGroup", groupType="Public", groupName="g", groupID="room-1", joinMode="Auth", inviteMode="Any",
                     isSearchable=False, customInfo={"k": "v"}, memberList=[{"userID": guest.user, "role": "Admin"}])
    await other.call("joinGroup", groupID="room-1", message="please")
    await guest.call("inviteUserToGroup", groupID="room-1", userIDList=["x", "y"], message="m", attach="a")
    assert [(request.type, request.data) for request in questions(receiver)] == [
        ("beforeCreateGroup", {
            "userID": owner.user, "platform": "Unknown", "groupID": "room-1", "groupType": "Public", "groupName": "g",
            "customInfo": {"k": "v"}, "joinMode": "Auth", "inviteMode": "Any", "isSearchable": False,
            "memberList": [{"userID": guest.user, "role": "Admin"}]}),
        ("beforeJoinGroup", {"userID": other.user, "platform": "Unknown", "groupID": "room-1", "message": "please"}),
        ("beforeInvite", {"userID": guest.user, "platform": "Unknown", "groupID": "room-1", "userIDList": ["x", "y"],
                          "message": "m", "attach": "a"}),
    ]


async def test_a_refused_invitation_is_the_error_of_the_call(hooked, receiver):
    own, world = hooked("beforeInvite")
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    receiver.answer = lambda request: Answer({"action": "Refuse", "code": 10125})
    await owner.refused(10125, "inviteUserToGroup", groupID=group, userIDList=["a", "b"])
    assert len(receiver.requests) == 1, "once a call"


async def test_a_dropped_message_is_answered_as_if_it_were_sent(hooked, receiver):
    own, world = hooked("beforeSendMessage", "messageDropped", "messageSent")
    owner, reader = await world.users("owner", "reader")
    for group_type in ("Public", "AVChatRoom"):
        group = await world.group(owner, group_type, [reader])
        receiver.answer = lambda request: Answer({"action": "Drop"}) if request.type == "beforeSendMessage" else None
        receipt = await owner.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="c")
        assert receipt["status"] == "Dropped" and set(receipt) == {"msgID", "timestamp", "status"}
        await receiver.wait(lambda r: any(d.data["groupID"] == group for d in r.of("messageDropped")))
        (dropped,) = [d for d in receiver.of("messageDropped") if d.data["groupID"] == group]
        assert dropped.data["message"]["text"] == "x" and dropped.data["reason"] == "Webhook"
        assert dropped.data["message"]["msgID"] == receipt["msgID"]
        receiver.answer = lambda request: None
        # It is not remembered: the same clientMsgID is a new message.
        again = await owner.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="c")
        assert again["status"] in ("Stored", "Delivered") and again["msgID"] != receipt["msgID"]
        assert again.get("seq", 1) == 1
        await reader.expect("onRecvNewMessage", groupID=group, message=has(msgID=again["msgID"]))
        await owner.quiet("onMessageDropped", group=group)
        assert not reader.received("onRecvNewMessage", message=has(msgID=receipt["msgID"])), "nobody gets it"


NONSENSE = [
    Answer(status=500), Answer(status=302), Answer(text="{"), Answer(text="[]"), Answer(text=""),
    Answer({"action": "Maybe"}), Answer({"action": "refuse"}),
    Answer({"action": "Allow", "data": "of another kind"}), Answer({"action": "Allow", "text": ""}),
    Answer({"action": "Allow", "text": "x" * 12_289}), Answer({"action": "Allow", "text": 5}),
]


@pytest.mark.parametrize("policy", ["allow", "refuse"])
async def test_what_no_useful_answer_means(hooked, receiver, policy):
    own, world = hooked("beforeSendMessage", "beforeJoinGroup", onFailure=policy)
    owner, guest = await world.users("owner", "guest")
    group = await world.group(owner, "Public")
    for number, answer in enumerate(NONSENSE):
        receiver.answer = lambda request: answer
        frame = await owner.exchange({
            "jsonrpc": "2.0", "id": number, "method": "sendGroupTextMessage", "params": {"groupID": group, "text": "kept"}})
        if policy == "allow":
            assert frame["result"]["status"] == "Stored", (number, frame)
        else:
            assert frame["error"]["code"] == 10016 and frame["error"]["data"] == {"temporary": True}, (number, frame)
    receiver.answer = lambda request: Answer({"action": "Drop"})
    call = guest.call("joinGroup", groupID=group) if policy == "allow" else guest.refused(10016, "joinGroup", groupID=group)
    await call
    receiver.stop()
    if policy == "allow":
        await owner.call("sendGroupTextMessage", groupID=group, text="kept")
        messages = (await owner.call("getGroupHistoryMessageList", groupID=group, count=100))["messageList"]
        assert [m["text"] for m in messages if m["type"] == "Text"] == ["kept"] * (len(NONSENSE) + 1)
    else:
        await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="kept")
    own.wait_until(lambda: '"a before-event got no useful answer"' in own.log, "a line")


@pytest.mark.parametrize("code", [10007, 10131, 0, "10120", None, {}])
async def test_a_refusal_refuses_whatever_its_code(hooked, receiver, code):
    own, world = hooked("beforeSendMessage", onFailure="allow")
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    receiver.answer = lambda request: Answer({"action": "Refuse", "code": code, "message": 5})
    assert not (await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="x"))["temporary"]
    assert (await owner.call("getGroupHistoryMessageList", groupID=group))["messageList"] == []
    if code is not None:
        own.metric_becomes("throng_webhooks_total", 1, type="beforeSendMessage", result="unknownCode")
        own.wait_until(lambda: '"the application refused with a code that it may not give"' in own.log, "a line")


async def test_the_code_of_a_refusal_is_a_number_in_the_log(hooked, receiver):
    own, world = hooked("beforeSendMessage")
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    receiver.answer = lambda request: Answer({"action": "Refuse", "code": 10121})
    await owner.refused(10121, "sendGroupTextMessage", groupID=group, text="x")
    own.wait_until(lambda: '"the application refused"' in own.log, "a line")
    (line,) = [json.loads(line) for line in own.log.splitlines() if '"the application refused"' in line]
    assert line["code"] == 10121 and line["type"] == "beforeSendMessage"


@pytest.mark.parametrize("policy", ["allow", "refuse"])
async def test_no_answer_in_time_means_the_same(hooked, receiver, policy):
    own, world = hooked("beforeSendMessage", onFailure=policy, timeout="10ms")
    owner = await world.user("owner")
    group = await world.group(owner, "Public")
    receiver.answer = lambda request: SILENCE
    if policy == "allow":
        assert (await owner.call("sendGroupTextMessage", groupID=group, text="x"))["status"] == "Stored"
    else:
        assert (await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="x"))["temporary"]


FORBIDDEN = "forbidden"


def moderate(gate):
    """Answers that come late, and refuse some."""
    return lambda request: Answer({"action": "Refuse"}, when=gate) if request.data["message"]["text"] == FORBIDDEN else None


@pytest.mark.parametrize("policy", ["allow", "refuse"])
async def test_many_questions_of_one_user_keep_nobody_waiting_and_let_nothing_pass(hooked, receiver, gate, policy):
    """Half of four connections are one user's, 64 requests wait, and more are not asked about."""
    own, world = hooked("beforeSendMessage", onFailure=policy, settings={
        "limits.requestsPerSecond": 100000, "limits.requestBurst": 100000})
    flooder, other = await world.users("flooder", "other")
    # One session has 64 requests under way at most.
    devices = [flooder, await world.session(flooder.user, platform="iOS")]
    groups = [await world.group(flooder, "Public") for _ in range(100)]
    quiet = await world.group(other, "Public")
    receiver.answer = moderate(gate)
    # Two have a connection before the others come: where all come at once, these two may be among the 64.
    sends = [await device.start("sendGroupTextMessage", groupID=group, text=FORBIDDEN) for device, group in zip(devices, groups)]
    await receiver.wait(lambda r: r.open == 2)
    sends += [await devices[number % 2].start("sendGroupTextMessage", groupID=group, text=FORBIDDEN)
              for number, group in enumerate(groups[2:])]
    # No answer has come: these were not asked about.
    own.metric_becomes("throng_webhooks_total", 34, type="beforeSendMessage", result="notSent")
    assert (await other.call("sendGroupTextMessage", groupID=quiet, text="fine"))["status"] == "Stored"
    assert receiver.open == 2
    gate.set()
    errors = [answer["error"] for answer in await asyncio.gather(*sends)]
    assert sorted(error["code"] for error in errors) == [10002] * 34 + [10016] * 66
    assert all(error["data"] == {"temporary": True, "retryAfterMs": 1000} for error in errors if error["code"] == 10002)
    assert all(error["data"] == {"temporary": False} for error in errors if error["code"] == 10016)
    for group in groups:
        assert (await flooder.call("getGroupHistoryMessageList", groupID=group))["messageList"] == []
    own.metric_becomes("throng_webhooks_total", 0, type="beforeSendMessage", result="unanswered")
    own.wait_until(lambda: '"a before-event was not posted"' in own.log, "a line")


@pytest.mark.parametrize("policy", ["allow", "refuse"])
async def test_a_wait_for_a_connection_is_no_failure_of_the_receiver(hooked, receiver, gate, policy):
    """One connection asks. It is busy for as long as a request may wait: of the two behind it one at most has its turn."""
    own, world = hooked("beforeSendMessage", onFailure=policy, timeout="500ms", connections=2)
    users = await world.users("one", "two", "three")
    groups = [await world.group(user, "Public") for user in users]
    receiver.answer = lambda request: SILENCE
    first = await users[0].start("sendGroupTextMessage", groupID=groups[0], text="x")
    await receiver.wait(lambda r: r.open == 1)
    behind = [await user.start("sendGroupTextMessage", groupID=group, text="x") for user, group in zip(users[1:], groups[1:])]
    answers = await asyncio.gather(first, *behind)
    silence = [answer for answer in answers if "error" not in answer or answer["error"]["code"] == 10016]
    assert all(("error" in answer) == (policy == "refuse") for answer in silence)
    errors = [answer["error"] for answer in answers[1:] if "error" in answer and answer["error"]["code"] == 10002]
    assert answers[0] in silence and errors and len(errors) + len(silence) == 3
    assert all(error["data"] == {"temporary": True, "retryAfterMs": 500} for error in errors)


async def test_the_end_of_the_server_lets_nothing_pass(hooked, receiver):
    own, world = hooked("beforeSendMessage", onFailure="allow", settings={"drain.duration": 0})
    owner = await world.user("owner")
    group = await world.group(owner, "Public")
    receiver.answer = lambda request: SILENCE
    await owner.start("sendGroupTextMessage", groupID=group, text="x")
    await receiver.wait(lambda r: r.open == 1)
    assert await asyncio.to_thread(own.stop) == 0
    own.start()
    assert done(own, "getGroupHistoryMessageList", asUser=owner.user, groupID=group)["messageList"] == []


async def test_an_edit_is_asked_about_where_only_sends_are(hooked, receiver):
    """A receiver that knows sends alone judges every text that a member can put into a message."""
    own, world = hooked("beforeSendMessage", "messageDropped")
    owner, reader = await world.users("owner", "reader")
    group = await world.group(owner, "Public", [reader])
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="fine", priority="High", clientMsgID="c")

    def answer(request):
        if request.type != "beforeSendMessage":
            return None
        return {FORBIDDEN: Answer({"action": "Refuse"}), "word": Answer({"text": "****"}), "gone": Answer({"action": "Drop"})}.get(
            request.data["message"]["text"])

    receiver.answer = answer
    edit = {"groupID": group, "seq": sent["seq"]}
    await owner.refused(10016, "modifyGroupMessage", **edit, text=FORBIDDEN)
    assert questions(receiver)[-1].data == {
        "userID": owner.user, "platform": "Unknown", "groupID": group, "message": {
            "type": "Text", "text": FORBIDDEN, "priority": "High", "clientMsgID": "c", "seq": sent["seq"]}}
    assert set(await owner.call("modifyGroupMessage", **edit, text="gone")) == {"editTime"}
    (message,) = [m for m in (await owner.call("getGroupHistoryMessageList", groupID=group))["messageList"] if m["type"] == "Text"]
    assert message["text"] == "fine"
    await owner.call("modifyGroupMessage", **edit, text="word")
    await reader.expect("onRecvMessageModified", groupID=group, message=has(text="****"))
    # An application administrator is not asked about.
    asked = len(questions(receiver, "beforeSendMessage"))
    done(own, "modifyGroupMessage", groupID=group, seq=sent["seq"], text=FORBIDDEN)
    assert len(questions(receiver, "beforeSendMessage")) == asked


async def test_rights_and_state_come_before_the_question_and_again_after_it(hooked, receiver, gate):
    own, world = hooked(*ASKED)
    owner, speaker, outsider = await world.users("owner", "speaker", "outsider")
    group = await world.group(owner, "Public", [speaker], groupID=world.name("taken"))
    asked = len(receiver.requests)
    await outsider.refused(10007, "sendGroupTextMessage", groupID=group, text="x")
    await outsider.refused(10010, "joinGroup", groupID="nothing-here")
    await speaker.refused(10013, "joinGroup", groupID=group)
    await speaker.refused(10007, "inviteUserToGroup", groupID=group, userIDList=["a"])
    await outsider.refused(10021, "createGroup", groupType="Work", groupName="g", groupID=group)
    await owner.call("muteGroupMember", groupID=group, userID=speaker.user, muteTime=100)
    await speaker.refused(10017, "sendGroupTextMessage", groupID=group, text="x")
    assert len(receiver.requests) == asked, "nobody is asked about what cannot be"
    await owner.call("muteGroupMember", groupID=group, userID=speaker.user, muteTime=0)

    receiver.answer = lambda request: Answer(when=gate)
    sending = asyncio.ensure_future(speaker.refused(10017, "sendGroupTextMessage", groupID=group, text="x"))
    await receiver.wait(lambda r: len(r.requests) > asked)
    await owner.call("muteGroupMember", groupID=group, userID=speaker.user, muteTime=100)
    gate.set()
    await sending


async def test_other_requests_go_on_while_a_question_is_open_and_a_sessions_own_keep_their_order(hooked, receiver, gate):
    own, world = hooked("beforeSendMessage")
    owner, speaker = await world.users("owner", "speaker")
    group = await world.group(owner, "Public", [speaker])
    receiver.answer = lambda request: Answer(when=gate) if request.data["message"]["text"] == "slow" else None
    order = []

    async def call(name, client, method, **params):
        await client.call(method, **params)
        order.append(name)

    slow = asyncio.ensure_future(call("slow", speaker, "sendGroupTextMessage", groupID=group, text="slow"))
    await receiver.wait(lambda r: r.requests)
    behind = asyncio.ensure_future(call("behind", speaker, "sendGroupTextMessage", groupID=group, text="behind"))
    quitting = asyncio.ensure_future(call("quit", speaker, "quitGroup", groupID=group))
    await call("other user", owner, "sendGroupTextMessage", groupID=group, text="quick")
    await owner.call("setGroupInfo", groupID=group, groupName="went on")
    await speaker.pong()
    assert [request.data["message"]["text"] for request in receiver.requests] == ["slow", "quick"]
    assert order == ["other user"]
    gate.set()
    await asyncio.gather(slow, behind, quitting)
    assert order == ["other user", "slow", "behind", "quit"]
    messages = (await owner.call("getGroupHistoryMessageList", groupID=group, count=100))["messageList"]
    assert [m["text"] for m in reversed(messages) if m["type"] == "Text"] == ["quick", "slow", "behind"]


async def test_administrators_are_not_asked_about_but_whom_they_act_for_is(hooked, receiver):
    own, world = hooked(*ASKED)
    receiver.answer = lambda request: Answer({"action": "Refuse", "code": 10127})
    group = done(own, "createGroup", groupType="Public", groupName="g", ownerUserID="boss")["groupID"]
    done(own, "sendGroupTextMessage", groupID=group, text="x")
    done(own, "inviteUserToGroup", groupID=group, userIDList=["a"])
    assert not receiver.requests
    denied(own, 10127, "sendGroupTextMessage", asUser="boss", groupID=group, text="x")
    (question,) = receiver.requests
    assert question.data["userID"] == "boss" and question.data["platform"] == "RESTful API"


async def test_rates_count_once(hooked, receiver):
    own, world = hooked("beforeSendMessage", settings={"limits.public.messagesPerSecond": 3}, frozen=True)
    owner = await world.user("owner")
    group = await world.group(owner, "Public")
    frames = await asyncio.gather(*(owner.exchange({
        "jsonrpc": "2.0", "id": f"n{n}", "method": "sendGroupTextMessage", "params": {"groupID": group, "text": "x"}})
        for n in range(3)))
    assert all("result" in frame for frame in frames), frames
    assert (await owner.refused(10023, "sendGroupTextMessage", groupID=group, text="x"))["retryAfterMs"] == 1000
    await own.advance(1)
    await owner.call("sendGroupTextMessage", groupID=group, text="x")


async def test_the_first_of_two_sends_under_way_with_one_clientMsgID_counts(hooked, receiver, gate):
    own, world = hooked("beforeSendMessage", settings={"sessions.perPlatform.unknown": 10})
    owner = await world.user("owner")
    twin = await world.session(owner.user)
    group = await world.group(owner, "Public")
    receiver.answer = lambda request: Answer(when=gate)
    sends = [await client.start("sendGroupTextMessage", groupID=group, text="x", clientMsgID="c") for client in (owner, twin)]
    await receiver.wait(lambda r: len(r.requests) == 2)
    gate.set()
    one, two = await asyncio.gather(*sends)
    assert one["result"] == two["result"] and len(receiver.requests) == 2


# Metrics

async def test_metrics_count_by_type_and_result(hooked, receiver):
    own, world = hooked("messageSent", "beforeSendMessage")
    owner = await world.user("owner")
    group = await world.group(owner, "Work")
    answers = iter([Answer({}), Answer({"action": "Refuse"}), Answer({"action": "Drop"}), Answer(status=400)])
    receiver.answer = lambda request: next(answers) if request.type == "beforeSendMessage" else None
    await owner.call("sendGroupTextMessage", groupID=group, text="1")
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="2")
    await owner.call("sendGroupTextMessage", groupID=group, text="3")
    await owner.call("sendGroupTextMessage", groupID=group, text="4")
    await receiver.expect("messageSent", 2)
    own.metric_becomes("throng_webhooks_pending", 0)
    for result in ("allowed", "refused", "dropped", "unanswered"):
        own.metric_becomes("throng_webhooks_total", 1, type="beforeSendMessage", result=result)
    own.metric_becomes("throng_webhooks_total", 2, type="messageSent", result="delivered")
    own.metric_becomes("throng_webhook_duration_seconds_count", 6)
    assert json.dumps(SECRET) not in own.log


# The example of a push gateway

async def test_an_example_receiver_pushes_to_apns_and_fcm(make_server, make_world):
    phone, tablet, gone, android = "a1" * 32, "b2" * 32, "c3" * 32, "android-device-1"
    with FakeAPNs([phone, tablet]) as apns, FakeFCM([android]) as fcm:
        sender = PushSender(apns.url, fcm.url, apns.key, FakeFCM.TOKEN)
        with Receiver(sender) as receiver:
            own = make_server(receiver.settings("offlinePush"))
            world = make_world(own)
            owner = await world.user("owner")
            names = [world.name(word) for word in ("apple", "google", "nobody")]
            group = (await owner.call(
                "createGroup", groupType="Public", groupName="Köln", memberList=[{"userID": name} for name in names]))["groupID"]
            for token in (phone, gone, tablet):
                sender.register(names[0], "apns", token)
            sender.register(names[1], "fcm", android)
            await owner.call("sendGroupTextMessage", groupID=group, text="Grüße " * 900)
            receipt = await owner.call("sendGroupCustomMessage", groupID=group, data='{"kind":"order"}')
            await receiver.expect("offlinePush", 2)
            assert not apns.faults and not fcm.faults
            # The device that is gone was asked once, and is not asked any more.
            assert [token for token, _ in apns.taken] == [phone, tablet] * 2
            assert sender.devices[names[0]] == [("apns", phone), ("apns", tablet)]
            assert [token for token, _ in fcm.taken] == [android] * 2
            first, last = apns.taken[0][1], apns.taken[-1][1]
            assert first["aps"]["alert"]["title"] == "Köln" and first["aps"]["alert"]["body"].startswith(f"{owner.user}: Grüße")
            assert first["groupID"] == group and last["msgID"] == receipt["msgID"]
            assert fcm.taken[-1][1]["data"]["msgID"] == receipt["msgID"]


async def test_the_example_notifies_once_where_a_webhook_is_repeated(make_server, make_world):
    with FakeAPNs([]) as apns, FakeFCM(["device"]) as fcm:
        sender = PushSender(apns.url, fcm.url, apns.key, FakeFCM.TOKEN)
        first = {"pending": True}

        def answer(request):
            sender(request)
            return Answer(status=500) if first.pop("pending", False) else None

        with Receiver(answer) as receiver:
            own = make_server(receiver.settings("offlinePush"), frozen=True)
            world = make_world(own)
            owner = await world.user("owner")
            name = world.name("google")
            sender.register(name, "fcm", "device")
            group = (await owner.call(
                "createGroup", groupType="Public", groupName="g", memberList=[{"userID": name}]))["groupID"]
            await owner.call("sendGroupTextMessage", groupID=group, text="hey")
            own.metric_becomes("throng_webhooks_total", 1, type="offlinePush", result="failed")
            await own.advance(1.2)
            await receiver.expect("offlinePush")
            assert len(receiver.requests) == 2 and len(fcm.taken) == 1
