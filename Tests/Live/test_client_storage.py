"""One list of scenarios for the store of every client library (Clients.md, "Memory"): what a start shows, what becomes of
messages when a process is killed, and what happens to a store that fails."""
import json
import random
import re

import pytest

from harness.client import Refused
from harness.client_scene import Peer
from harness.driven import Unanswered, clients_with
from harness.limits import IS_SHORT
from harness.restarts import end
from harness.world import eventually, history_of, info_of

pytestmark = pytest.mark.parametrize("spawn", clients_with("storage"), indirect=True)

DAY = 86_400


def essence(message):
    """What an application shows of a message. Of tips an event has the essentials alone."""
    if message["type"] == "GroupTips":
        return (message["seq"], message["msgID"], message["type"], (message.get("tips") or {}).get("type"))
    reactions = sorted((one["reaction"], one["count"]) for one in message.get("reactions") or [])
    return (message["seq"], message["msgID"], message["type"], message["sender"], message.get("text"), message.get("data"),
            message.get("extension"), bool(message.get("isRevoked")), bool(message.get("isPinned")), message.get("editTime"),
            (message.get("replyTo") or {}).get("seq"), reactions)


def demand_stored(shown, history):
    """The messages shown are those of the history from the first shown on, as they are."""
    assert shown, "nothing is shown"
    first = shown[0]["seq"]
    assert [essence(one) for one in shown] == [essence(one) for one in history if one["seq"] >= first]


def key(groupID):
    """A groupID as keys of the store have it."""
    return re.sub(rb"[^A-Za-z0-9_.-]", lambda found: b"%%%02X" % found[0][0], groupID.encode()).decode()


def rows(dump, prefix):
    return {name: value for name, value in dump.items() if name.startswith(prefix)}


def conversation_of(stored, group):
    return next((one for one in stored["conversations"] if one["groupID"] == group), None)


def texts_of(history, user):
    return [one["text"] for one in history if one["sender"] == user and one["type"] == "Text" and not one.get("isRevoked")]


async def said_and_changed(here, group):
    """Messages of the other member's of which one is recalled, one edited, one reacted to and one pinned, and one of the
    client's own between them."""
    seqs = [(await here.say(group, f"{number}"))["seq"] for number in range(4)]
    own = await here.client.settled(await here.client.do("send", groupID=group, text="own", extension="e", replyTo=seqs[0]))
    assert own["state"] == "stored"
    await here.say(group, "last")
    await here.other.call("revokeGroupMessage", groupID=group, seq=seqs[0])
    await here.other.call("modifyGroupMessage", groupID=group, seq=seqs[1], text="edited")
    await here.other.call("addMessageReaction", groupID=group, seq=seqs[2], reaction="👍")
    await here.other.call("pinGroupMessage", groupID=group, seq=seqs[3], isPinned=True)
    await here.client.expect("onGroupMessagePinned")


# Starting


async def test_a_start_shows_what_is_stored(phone):
    """Before there is a connection; and the same when there is one again."""
    device = await phone()
    await device.start()
    here = device.here
    assert device.stored == {"conversations": [], "outbox": [], "source": "stored"}
    group = await here.group()
    await said_and_changed(here, group)
    await here.client.call("getGroupMemberList", groupID=group)
    await here.client.do("flush")
    await device.kill()
    here.proxy.refuse()
    client = await device.begin()
    (shown,) = device.stored["conversations"]
    assert (shown["groupID"], shown["status"], shown["canSend"], shown["source"]) == (group, "member", True, "stored")
    history = await here.history(group)
    assert shown["info"]["groupName"] == "group" and shown["info"]["lastMessage"]["seq"] == history[-1]["seq"]
    order = [name for name, params in client.events if name == "stored" or (name, params.get("state")) == ("state", "connecting")]
    assert order[0] == "stored"
    answer = await client.do("messages", groupID=group)
    assert answer["source"] == "stored" and answer["isFinished"] is False
    demand_stored(answer["messageList"], history)
    assert {here.user, here.other.user} == {one["userID"] for one in await client.do("members", groupID=group)}
    ready = await here.come_back()
    assert ready["source"] == "server" and ready["isFirst"] is True
    await eventually(lambda: source_of(client, group), "server")
    demand_stored((await client.do("messages", groupID=group, count=6))["messageList"], history)


async def source_of(client, group):
    return (await client.do("conversation", groupID=group))["source"]


async def test_a_start_brings_what_was_missed_into_the_store(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await said_and_changed(here, group)
    await here.client.do("flush")
    await device.kill()
    for number in range(130):
        await here.say(group, f"meanwhile {number}")
    await here.other.call("revokeGroupMessage", groupID=group, seq=(await here.say(group, "gone again"))["seq"])
    client = await device.start()
    assert group in client.told("ready")[0]["recovered"]
    await client.do("flush")
    history = await here.history(group)
    demand_stored((await client.do("messages", groupID=group, count=200))["messageList"][-140:], history)
    info = (await client.do("conversation", groupID=group))["info"]
    server = await info_of(await here.world.session(here.user), group)
    assert info["selfInfo"]["unreadCount"] == server["selfInfo"]["unreadCount"] and info["lastSeq"] == server["lastSeq"]
    # And once more, without a connection.
    await device.kill()
    here.proxy.refuse()
    client = await device.begin()
    demand_stored((await client.do("messages", groupID=group, count=200))["messageList"][-140:], history)


async def test_where_messages_do_not_come_the_server_is_asked(phone):
    """And what is stored has no hole."""
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.say(group, "heard")
    await here.client.expect("onRecvNewMessage", groupID=group)
    await here.client.call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    for number in range(3):
        await here.say(group, f"unheard {number}")
    own = await here.client.settled(await here.client.do("send", groupID=group, text="own"))
    await here.client.do("flush")
    kept = rows(await here.client.do("dump"), f"m/{key(group)}/")
    assert [int(name.rsplit("/")[-1]) for name in kept] == [own["seq"]]
    history = await here.history(group)
    page = await here.client.do("messages", groupID=group)
    assert page["source"] == "server" and page["isFinished"]
    demand_stored(page["messageList"], history)
    await here.client.do("flush")
    await here.lose()
    demand_stored((await here.client.do("messages", groupID=group))["messageList"], history)


async def test_what_lies_before_is_read_from_the_server(phone):
    """A page behind the store's end, and the next one is stored, too."""
    device = await phone(limits={"messagesPerGroup": 20})
    await device.start()
    here = device.here
    here.other = await here.world.user("other")
    group = await here.world.group(here.other, "Meeting")
    for number in range(60):
        await here.say(group, f"{number}")
    await here.client.call("joinGroup", groupID=group)
    await eventually(lambda: here.is_in_step(group), True)
    history = await here.history(group)
    page = await here.client.do("messages", groupID=group, count=30)
    assert page["source"] in ("server", "both")
    demand_stored(page["messageList"], history)
    older = await here.client.do("messages", groupID=group, before=page["messageList"][0]["seq"], count=100)
    assert [one["seq"] for one in older["messageList"]] == list(range(1, page["messageList"][0]["seq"])) and older["isFinished"]
    await here.client.do("flush")
    kept = rows(await here.client.do("dump"), f"m/{key(group)}/")
    assert 0 < len(kept) <= 20
    await device.kill()
    here.proxy.refuse()
    client = await device.begin()
    demand_stored((await client.do("messages", groupID=group, count=100))["messageList"], history)


# The outbox


async def test_a_message_written_offline_is_sent_once_after_a_kill(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.lose()
    written = [await here.client.do("send", groupID=group, text=f"offline {number}", extension="e") for number in range(3)]
    await here.client.do("flush")
    await device.kill()
    client = await device.begin()
    assert [(one["clientMsgID"], one["state"], one["extension"]) for one in device.stored["outbox"]] == [
        (one["clientMsgID"], "sending", "e") for one in written]
    await here.come_back()
    for one in written:
        assert (await client.settled(one))["state"] == "stored"
    assert texts_of(await here.history(group), here.user) == ["offline 0", "offline 1", "offline 2"], "in their order"
    await client.do("flush")
    assert rows(await client.do("dump"), "o/") == {} and await client.do("outbox") == []
    # Nothing is sent once more.
    await device.restart()
    await here.say(group, "behind it")
    await here.client.expect("onRecvNewMessage", groupID=group)
    assert len(texts_of(await here.history(group), here.user)) == 3


@pytest.mark.parametrize("lost", ["to server", "to client"])
async def test_a_kill_in_the_middle_of_a_send(phone, lost):
    """The process ends with the request on its way, or with the answer."""
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    here.proxy.hold(lost)
    message = await here.client.do("send", groupID=group, text="once")
    await here.proxy.holds(lost, b"Stored" if lost == "to client" else b"")
    await device.kill()
    here.proxy.cut()
    here.proxy.hold()
    client = await device.start()
    assert (await client.settled(message))["state"] == "stored"
    history = await here.history(group)
    assert texts_of(history, here.user) == ["once"]
    await client.do("flush")
    assert rows(await client.do("dump"), "o/") == {}
    demand_stored((await client.do("messages", groupID=group, count=2))["messageList"], history)


@pytest.mark.parametrize("lost", ["to server", "to client"])
async def test_a_day_away(phone, lost):
    """Longer than the server remembers a clientMsgID, and much was said meanwhile."""
    device = await phone(frozen=True)
    await device.start()
    here = device.here
    group = await here.group()
    here.proxy.hold(lost)
    message = await here.client.do("send", groupID=group, text="once")
    await here.proxy.holds(lost, b"Stored" if lost == "to client" else b"")
    await device.kill()
    here.proxy.cut()
    here.proxy.hold()
    await after(here, DAY)
    for number in range(1, 250):
        await here.say(group, f"{number}")
    client = await device.start()
    assert (await client.settled(message))["state"] == "stored"
    assert texts_of(await here.history(group), here.user) == ["once"]


async def after(here, seconds):
    """The server is gone, and another is there so much later."""
    other = here.other.user
    await end(here.world, "kill")
    here.own.clock.frozen += seconds
    here.own.start()
    here.proxy.target = here.own.address
    here.other = await here.world.session(other)


async def test_a_message_that_was_recalled_meanwhile_is_not_sent_again(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    here.proxy.hold("to client")
    message = await here.client.do("send", groupID=group, text="once")
    await here.proxy.holds("to client", b"Stored")
    await device.kill()
    here.proxy.cut()
    here.proxy.hold()
    sent = next(one for one in await here.history(group) if one["sender"] == here.user and one["type"] == "Text")
    await here.other.call("revokeGroupMessage", groupID=group, seq=sent["seq"])
    client = await device.start()
    assert (await client.settled(message))["state"] == "stored"
    await client.do("flush")
    shown = (await client.do("messages", groupID=group, count=1))["messageList"][0]
    assert shown["seq"] == sent["seq"] and shown["isRevoked"] and not shown.get("text")
    assert [one["isRevoked"] for one in await here.history(group) if one["type"] == "Text"] == [True]


@pytest.mark.parametrize("was_sent", [False, True])
async def test_a_day_away_in_a_live_room(phone, was_sent):
    """Nobody waits for it any more, and nothing tells whether it was there."""
    device = await phone(frozen=True)
    await device.start()
    here = device.here
    room = await here.group("AVChatRoom")

    async def knows():
        return bool(await here.client.do("conversation", groupID=room))

    await eventually(knows, True)
    if was_sent:
        here.proxy.hold("to server")
        message = await here.client.do("send", groupID=room, text="now or never")
        await here.proxy.holds("to server")
    else:
        await here.lose()
        message = await here.client.do("send", groupID=room, text="now or never")
    await here.client.do("flush")
    await device.kill()
    here.proxy.cut()
    here.proxy.hold()
    here.proxy.refuse(False)
    await after(here, DAY)
    client = await device.start()
    failed = await client.settled(message)
    # What was sent: the server knows that it is late, or that the user is in no room any more.
    reasons = {"OutcomeUnknown", "ConversationEnded", 10007, 10010} if was_sent else {"Expired"}
    assert failed["state"] == "failed" and (failed["error"].get("reason") or failed["error"]["code"]) in reasons
    assert not here.other.received("onRecvNewMessage", groupID=room)


class Forgetful(Peer):
    """A server that closes without an answer as often as a test says, keeps the requests to send, and has one group, of
    which no history can be had."""

    def __init__(self, silences=1, **options):
        super().__init__(**options)
        self.silences, self.sent = silences, []

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "sendGroupTextMessage":
                self.sent.append(request["params"])
                if self.silences > 0:
                    self.silences -= 1
                    if self.silences == 0:
                        # The client comes back when the test says.
                        event = {"jsonrpc": "2.0", "method": "onServerDraining", "params": {"retryAfterMs": 3_600_000}}
                        await socket.send(json.dumps(event))
                    return await socket.close(4001)
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))


async def test_a_repeat_says_when_it_was_sent_first(spawn, peer, tmp_path):
    """By the server's clock, in every try after the first and across processes; where the server cannot tell either, the
    message has failed, and the application decides."""
    unknown = {"error": {"code": 10004, "message": "nobody knows", "data": {"temporary": False, "field": "firstSentAt"}}}
    stored = {"result": {"msgID": "m", "seq": 9, "timestamp": 1, "status": "Stored"}}
    one, url = await peer(kind=Forgetful, silences=2, replies={"sendGroupTextMessage": [unknown, stored]})

    async def start():
        client = await spawn()
        await client.open(url, "a token", userID="user", storage="disk", directory=str(tmp_path), random=0)
        return client, await client.expect("stored")

    client, _ = await start()
    await client.expect("ready")
    message = await client.do("send", groupID="elsewhere", text="perhaps")
    await client.until(lambda: len(one.sent) == 2, "a second try")
    await client.kill()
    client, shown = await start()
    assert [row["state"] for row in shown["outbox"]] == ["sending"]
    failed = await client.settled(message)
    assert failed["state"] == "failed" and failed["error"]["reason"] == "OutcomeUnknown"
    first, *others = one.sent
    assert "firstSentAt" not in first and len(others) == 2
    # The peer's clock stands still: the client's has gone on by a little.
    instants = {row["firstSentAt"] for row in others}
    assert len(instants) == 1 and 1_766_000_000_000 <= instants.pop() < 1_766_000_060_000
    assert {row["clientMsgID"] for row in one.sent} == {message["clientMsgID"]}
    await client.do("flush")
    await client.kill()
    client, shown = await start()
    assert [(row["state"], row["error"]["reason"]) for row in shown["outbox"]] == [("failed", "OutcomeUnknown")]
    await client.expect("ready")
    await client.do("resend", clientMsgID=message["clientMsgID"])
    assert (await client.settled(message))["state"] == "stored"
    assert "firstSentAt" not in one.sent[-1], "the user wants it sent, whatever became of the first"


async def test_a_failed_message_stays_until_it_is_discarded(phone):
    device = await phone()
    await device.start()
    here = device.here
    failed = await here.client.settled(await here.client.do("send", groupID="no-such-group", text="to nobody"))
    assert failed["error"]["code"] == 10010
    await device.restart()
    assert [(one["clientMsgID"], one["error"]["code"]) for one in device.stored["outbox"]] == [(failed["clientMsgID"], 10010)]
    await here.client.do("discard", clientMsgID=failed["clientMsgID"])
    assert await here.client.do("outbox") == []
    await device.restart()
    assert device.stored["outbox"] == []


async def test_what_is_said_right_after_joining_is_shown(phone):
    """The store may not know the group yet."""
    device = await phone()
    await device.start()
    here = device.here
    group = await here.world.group(await here.world.user("owner"))
    await here.client.call("joinGroup", groupID=group)
    own = await here.client.settled(await here.client.do("send", groupID=group, text="at once"))
    for _ in range(2):
        (shown,) = (await here.client.do("messages", groupID=group, count=1))["messageList"]
        assert (shown["seq"], shown["text"]) == (own["seq"], "at once")
        # By now it does.
        await here.client.call("getGroupsInfo", groupIDList=[group])
        await here.client.do("flush")


# Conversations that ended


@pytest.mark.parametrize("how", ["quit", "kicked", "dismissed", "kicked while away", "dismissed while away"])
async def test_a_conversation_that_ended(phone, how):
    """It stays readable, says so, and takes no message; others are unharmed."""
    device = await phone()
    await device.start()
    here = device.here
    other_group, group = await here.group(), await here.group()
    await said_and_changed(here, group)
    before = (await here.client.do("messages", groupID=group, count=5))["messageList"]
    if "away" in how:
        await here.lose()
    if how == "quit":
        await here.client.call("quitGroup", groupID=group)
    elif how.startswith("kicked"):
        await here.other.call("kickGroupMember", groupID=group, userIDList=[here.user])
    else:
        await here.other.call("dismissGroup", groupID=group)
    if "away" in how:
        await here.come_back()
    status = {"quit": "left", "kicked": "removed", "dismissed": "dismissed", "kicked while away": "left",
              "dismissed while away": "dismissed"}[how]

    async def state():
        one = await here.client.do("conversation", groupID=group)
        return one["status"], one["canSend"]

    await eventually(state, (status, False))
    await demand_ended(here.client, group, before)
    assert (await here.client.settled(await here.client.do("send", groupID=other_group, text="here")))["state"] == "stored"
    await device.restart()
    shown = conversation_of(device.stored, group)
    assert (shown["status"], shown["canSend"]) == (status, False) and shown["endedAt"] > 0 and "selfInfo" not in shown["info"]
    await demand_ended(here.client, group, before)
    if how in ("quit", "kicked"):
        await here.client.call("joinGroup", groupID=group)
        await eventually(state, ("member", True))
        assert (await here.client.settled(await here.client.do("send", groupID=group, text="back")))["state"] == "stored"


async def demand_ended(client, group, before):
    shown = (await client.do("messages", groupID=group, count=50))["messageList"]
    assert [essence(one) for one in before] == [essence(one) for one in shown if one["seq"] <= before[-1]["seq"]][-5:]
    failed = await client.settled(await client.do("send", groupID=group, text="nobody hears it"))
    assert failed["state"] == "failed" and failed["error"]["reason"] == "ConversationEnded"


async def test_a_message_to_a_conversation_that_ends_meanwhile_has_failed(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.lose()
    message = await here.client.do("send", groupID=group, text="too late")
    await here.client.do("flush")
    await device.kill()
    await here.other.call("dismissGroup", groupID=group)
    here.proxy.refuse(False)
    client = await device.start()
    failed = await client.settled(message)
    assert failed["state"] == "failed"
    assert failed["error"].get("reason") == "ConversationEnded" or failed["error"].get("code") == 10010


# Two users, two processes


async def test_each_user_has_a_store(phone, spawn):
    """The same directory, and nothing of the other's is shown."""
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await said_and_changed(here, group)
    await here.client.do("flush")
    await device.kill()
    here.client = await spawn()
    here.proxy.refuse()
    await here.client.open(
        here.proxy.url, "a token", userID="somebody-else", storage="disk", directory=str(device.directory), random=0)
    assert (await here.client.expect("stored"))["conversations"] == []
    assert await here.client.do("conversations") == []
    assert (await here.client.do("messages", groupID=group))["messageList"] == []
    assert rows(await here.client.do("dump"), "m/") == {}


async def test_a_second_process_goes_on_in_memory(phone, spawn):
    if "lock" not in spawn.abilities:
        pytest.skip("its store may have several processes")
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.client.do("flush")
    second = await spawn()
    await second.open(here.proxy.url, here.token(), userID=here.user, storage="disk", directory=str(device.directory), random=0)
    assert (await second.expect("storageFailed"))["reason"] == "InUse"
    await second.expect("ready")
    assert (await second.settled(await second.do("send", groupID=group, text="from the second")))["state"] == "stored"
    got = await here.client.expect("onRecvNewMessage", groupID=group)
    assert got["message"]["text"] == "from the second"
    await here.client.do("flush")
    await device.kill()
    client = await device.start()
    assert any(one.get("text") == "from the second" for one in (await client.do("messages", groupID=group))["messageList"])


# A store that fails


@pytest.mark.parametrize("storage", ["refused", "full:1", "full:4", "full:9"])
async def test_a_store_that_is_refused_or_full_is_done_without(phone, storage):
    """The client says so, and everything goes on in memory."""
    device = await phone()
    here = device.here
    device.directory.mkdir()
    await here.client.open(
        here.proxy.url, here.token(), storage=storage, directory=str(device.directory), userID=here.user, random=0)
    await here.client.expect("ready")
    group = await here.group()
    await said_and_changed(here, group)
    failed = await here.client.expect("storageFailed")
    assert failed["reason"] == ("Refused" if storage == "refused" else "Full") and isinstance(failed["message"], str)
    await here.lose()
    message = await here.client.do("send", groupID=group, text="from memory")
    await here.say(group, "meanwhile")
    await here.come_back()
    assert (await here.client.settled(message))["state"] == "stored"
    await here.demand_view(group)
    await here.client.do("flush")
    demand_stored((await here.client.do("messages", groupID=group, count=2))["messageList"], await here.history(group))
    assert len(here.client.told("storageFailed")) == 1


async def test_a_store_that_is_damaged_begins_anew(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await said_and_changed(here, group)
    await here.client.do("flush")
    await device.kill()
    for path in device.directory.rglob("*"):
        if path.is_file() and path.stat().st_size > 0:
            path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    client = await device.start()
    failed = client.told("storageFailed")
    assert [one["reason"] for one in failed] == ["Corrupt"] and failed[0]["lostOutbox"] is True
    assert device.stored["conversations"] == []
    assert (await client.settled(await client.do("send", groupID=group, text="anew")))["state"] == "stored"
    await device.restart()
    assert not here.client.told("storageFailed") and conversation_of(device.stored, group)["status"] == "member"


async def test_a_value_that_is_no_value_begins_the_store_anew(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.client.do("flush")
    await here.client.do("poke", key=f"g/{key(group)}", value="no JSON")
    await device.kill()
    client = await device.start()
    assert [one["reason"] for one in client.told("storageFailed")] == ["Corrupt"]
    assert (await client.do("conversation", groupID=group))["status"] == "member"


async def test_a_store_of_a_later_version_is_left_alone(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.client.do("flush")
    meta = (await here.client.do("dump"))["meta"]
    assert meta["version"] == 1
    await here.client.do("poke", key="meta", value=json.dumps({**meta, "version": 2}))
    await device.kill()
    client = await device.start()
    assert [one["reason"] for one in client.told("storageFailed")] == ["TooNew"]
    assert (await client.settled(await client.do("send", groupID=group, text="in memory")))["state"] == "stored"
    await device.kill()
    client = await device.begin()
    assert client.told("storageFailed")[0]["reason"] == "TooNew", "it was not written over"


async def test_forget(phone):
    """Nothing of the user is left, whether or not the server could be told."""
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await said_and_changed(here, group)
    await here.client.do("flush")
    await here.client.do("logout", forget=True)
    await device.kill()
    secret = [path for path in device.directory.rglob("*") if path.is_file() and b"edited" in path.read_bytes()]
    assert secret == []
    await device.start()
    assert device.stored == {"conversations": [], "outbox": [], "source": "stored"}
    await here.lose()
    await here.client.do("send", groupID=group, text="never sent")
    with pytest.raises(Unanswered):
        await here.client.do("logout", forget=True)
    await device.kill()
    here.proxy.refuse(False)
    client = await device.start()
    assert device.stored["outbox"] == [] and device.stored["conversations"] == []
    await client.do("flush")
    assert texts_of(await here.history(group), here.user) == ["own"]


async def test_the_end_of_a_client_keeps_its_store(phone):
    device = await phone()
    await device.start()
    here = device.here
    group = await here.group()
    await here.lose()
    message = await here.client.do("send", groupID=group, text="later")
    await here.client.do("flush")
    await here.client.do("close")
    assert here.client.told("message", clientMsgID=message["clientMsgID"])[-1]["state"] == "sending"
    await device.kill()
    here.proxy.refuse(False)
    client = await device.start()
    assert (await client.settled(message))["state"] == "stored"
    await client.do("logout")
    await device.kill()
    await device.start()
    assert conversation_of(device.stored, group)["status"] == "member", "signing out forgets nothing by itself"


# Bounds


async def test_the_newest_messages_are_kept(phone):
    device = await phone(limits={"messagesPerGroup": 10})
    await device.start()
    here = device.here
    group = await here.group()
    for number in range(25):
        await here.say(group, f"{number}")
    await here.client.settled(await here.client.do("send", groupID=group, text="own"))
    await here.client.do("flush")
    dump, history = await here.client.do("dump"), await here.history(group)
    kept = rows(dump, f"m/{key(group)}/")
    assert sorted(int(name.rsplit("/")[-1]) for name in kept) == [one["seq"] for one in history[-10:]]
    assert dump[f"g/{key(group)}"]["firstStored"] == history[-10]["seq"]
    await here.lose()
    page = await here.client.do("messages", groupID=group, count=50)
    demand_stored(page["messageList"], history)
    assert len(page["messageList"]) == 10 and page["isFinished"] is False


async def test_groups_beyond_the_bound_are_forgotten_ended_ones_first(phone):
    device = await phone(limits={"groups": 3})
    await device.start()
    here = device.here
    groups = []
    for number in range(3):
        groups.append(await here.group())
        await here.say(groups[-1], "hello")
        await here.client.expect("onRecvNewMessage", groupID=groups[-1])
    await here.client.call("quitGroup", groupID=groups[1])
    groups.append(await here.group())
    await here.client.do("flush")

    async def kept():
        return sorted(rows(await here.client.do("dump"), "g/"))

    await eventually(kept, sorted(f"g/{key(group)}" for group in (groups[0], groups[2], groups[3])))
    assert rows(await here.client.do("dump"), f"m/{key(groups[1])}/") == {}


async def test_a_store_has_a_size(phone):
    limit = 60_000
    device = await phone(limits={"bytes": limit})
    await device.start()
    here = device.here
    groups = []
    for _ in range(3):
        # Its other member says what comes.
        groups.append(group := await here.group())
        for _ in range(12):
            await here.say(group, "x" * 3_000)
        await here.client.settled(await here.client.do("send", groupID=group, text="own"))
    await here.client.do("flush")
    dump = await here.client.do("dump")
    assert dump["s"]["bytes"] <= limit
    assert rows(dump, f"m/{key(groups[2])}/"), "the conversation of last is there"
    assert all(f"g/{key(group)}" in dump for group in groups)
    await device.restart()
    for group in groups:
        await here.client.do("messages", groupID=group, count=5)
    assert not here.client.told("storageFailed")


# Whatever happens


@pytest.mark.parametrize("seed", range(1 if IS_SHORT else 3))
async def test_the_stored_state_equals_the_servers(phone, seed):
    """Random sends, changes, cuts and kills on both sides: in the end the store holds what the server does."""
    await Model(await phone(limits={"messagesPerGroup": 40}), random.Random(seed)).run(40 if IS_SHORT else 90)


class Model:
    def __init__(self, device, choice):
        self.device, self.here, self.choice = device, device.here, choice
        # The owner of each.
        self.groups = {}
        self.sent, self.step = [], 0

    async def run(self, steps):
        await self.device.start()
        for _ in range(2):
            group = await self.here.group()
            self.groups[group] = self.here.other
        # One member speaks in all of them.
        for group, owner in self.groups.items():
            if owner is not self.here.other:
                await self.here.other.call("joinGroup", groupID=group)
        # The user's other device.
        self.tablet = await self.here.world.session(self.here.user)
        actions = [self.say] * 5 + [self.send] * 4 + [self.change] * 5 + [self.own_change] * 2 + [
            self.mark, self.clear, self.cut, self.away, self.kill, self.kill_in_a_send]
        for self.step in range(steps):
            await self.choice.choice(actions)()
        await self.online()
        for message in self.sent:
            await self.demand_once(message)
        await self.here.client.do("flush")
        for group in self.groups:
            await eventually(lambda group=group: self.differences(group), [])

    @property
    def client(self):
        return self.here.client

    def group(self):
        return self.choice.choice([*self.groups])

    async def online(self):
        self.here.proxy.refuse(False)
        if self.client.told("state")[-1]["state"] != "online":
            # That of an earlier connection says nothing of the next.
            self.client.inbox = [event for event in self.client.inbox if event[0] != "ready"]
            await self.here.come_back()

    async def say(self):
        await self.here.say(self.group(), f"said {self.step}")

    async def send(self):
        self.sent.append(await self.client.do("send", groupID=self.group(), text=f"sent {self.step}"))

    async def recent(self, group, isOwn):
        history = [one for one in await history_of(self.tablet, group) if one["type"] == "Text" and not one.get("isRevoked")]
        found = [one["seq"] for one in history if (one["sender"] == self.here.user) == isOwn]
        return self.choice.choice(found[-5:]) if found else None

    async def change(self):
        group, what = self.group(), self.choice.choice(["recall", "edit", "react", "pin"])
        if (seq := await self.recent(group, isOwn=False)) is None:
            return
        if what == "recall":
            await self.groups[group].call("revokeGroupMessage", groupID=group, seq=seq)
        elif what == "edit":
            await self.here.other.call("modifyGroupMessage", groupID=group, seq=seq, text=f"edited {self.step}")
        elif what == "react":
            await self.here.other.call("addMessageReaction", groupID=group, seq=seq, reaction=self.choice.choice("abc"))
        else:
            try:
                await self.groups[group].call("pinGroupMessage", groupID=group, seq=seq, isPinned=self.choice.random() < 0.6)
            except Refused as refused:
                assert refused.code == 10056, refused

    async def own_change(self):
        group = self.group()
        if (seq := await self.recent(group, isOwn=True)) is None:
            return
        if self.choice.random() < 0.5:
            await self.tablet.call("modifyGroupMessage", groupID=group, seq=seq, text=f"mine {self.step}")
        else:
            await self.tablet.call("revokeGroupMessage", groupID=group, seq=seq)

    async def mark(self):
        await self.online()
        await self.client.call("markGroupMessageAsRead", groupID=self.group())

    async def clear(self):
        if self.choice.random() < 0.3:
            await self.online()
            await self.client.call("clearGroupHistory", groupID=self.group())

    async def cut(self):
        await self.online()
        losses = self.client.told("state", state="waiting")
        self.here.proxy.cut()
        await self.client.until(lambda: self.client.told("state", state="waiting") != losses, "the loss")

    async def away(self):
        await self.online()
        self.here.proxy.refuse()
        losses = self.client.told("state", state="waiting")
        self.here.proxy.cut()
        await self.client.until(lambda: self.client.told("state", state="waiting") != losses, "the loss")
        for _ in range(3):
            await self.choice.choice([self.say, self.change, self.send])()

    async def kill(self):
        await self.device.kill()
        self.here.proxy.cut()
        self.here.proxy.refuse(False)
        await self.device.start()

    async def kill_in_a_send(self):
        await self.online()
        self.here.proxy.hold(self.choice.choice(["to server", "to client"]))
        await self.send()
        await self.client.do("flush")
        await self.kill_with_what_is_held()

    async def kill_with_what_is_held(self):
        await self.device.kill()
        self.here.proxy.cut()
        self.here.proxy.hold()
        await self.device.start()

    async def demand_once(self, message):
        """A message that a process was killed with, before it was stored, is lost as its process is; any other is there."""
        under_way = [one["clientMsgID"] for one in await self.client.do("outbox") if one["state"] in ("sending", "queued")]
        if message["clientMsgID"] in under_way:
            assert (await self.client.settled(message))["state"] == "stored"
        history = await history_of(self.tablet, message["groupID"])
        found = [one for one in history if one.get("clientMsgID") == message["clientMsgID"]]
        assert len(found) <= 1, f"{message} was stored twice"

    async def differences(self, group):
        """Where the store is not what the server has."""
        dump, info = await self.client.do("dump"), await info_of(self.tablet, group)
        history = await history_of(self.tablet, group)
        row, place = dump[f"g/{key(group)}"], dump[f"p/{key(group)}"]
        kept = [essence(value) for _, value in sorted(rows(dump, f"m/{key(group)}/").items())]
        wanted = [essence(one) for one in history if one["seq"] >= row["firstStored"]]
        pairs = {
            "messages": (kept, wanted), "place": ((place["epoch"], place["seq"], place["changeSeq"]),
                                                  (info["epoch"], info["lastSeq"], info["changeSeq"])),
            "last": [one.get("lastMessage") and essence(one["lastMessage"]) for one in (row["info"], info)],
            "too many": (len(kept) > 40, False)}
        for name in ("lastSeq", "groupName", "memberCount"):
            pairs[name] = row["info"].get(name), info.get(name)
        for name in ("unreadCount", "readSeq"):
            pairs[name] = row["info"]["selfInfo"].get(name), info["selfInfo"].get(name)
        return [(name, one, other) for name, (one, other) in pairs.items() if one != other]
