"""Edits, pins and reactions, and a resume that misses none of them (Protocol.md, "Changes of messages",
"Edits", "Pinned messages", "Reactions", "Events of changes" and "Reconnecting")."""
import asyncio
import random

import pytest
from websockets import ConnectionClosed

from harness.backend import all_answers
from harness.client import Gone, Refused
from harness.server import IS_CLUSTER
from harness.world import World, history_of, info_of

REACTIONS = ["👍", "❤️", "a", "b"]


async def talking(world, type_="Public", count=3):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, type_, members=[bob])
    for n in range(1, count + 1):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"m{n}")
    return alice, bob, group


async def message_of(client, group, seq):
    return {message["seq"]: message for message in await history_of(client, group)}[seq]


@pytest.mark.parametrize("type_", ["Work", "Public", "Meeting"])
async def test_an_edit_is_told_and_read(world, type_):
    alice, bob, group = await talking(world, type_)
    answer = await alice.call("modifyGroupMessage", groupID=group, seq=2, text="edited")
    for client in (alice, bob):
        event = await client.expect("onRecvMessageModified", groupID=group)
        assert event["message"]["text"] == "edited" and event["message"]["seq"] == 2 and event["message"]["changeSeq"] == 1
        assert event["message"]["editTime"] == answer["editTime"]
    message = await message_of(bob, group, 2)
    assert message["text"] == "edited" and message["editTime"] == answer["editTime"] and message["changeSeq"] == 1
    assert (await info_of(bob, group))["changeSeq"] == 1
    assert await alice.call("modifyGroupMessage", groupID=group, seq=2, text="edited") == {}
    await bob.refused(10032, "modifyGroupMessage", groupID=group, seq=2, text="x")
    await alice.refused(10030, "modifyGroupMessage", groupID=group, seq=9, text="x")
    await alice.refused(10004, "modifyGroupMessage", groupID=group, seq=2, data="x")
    await alice.refused(10004, "modifyGroupMessage", groupID=group, seq=2, data="x", text="x")
    await alice.refused(-32602, "modifyGroupMessage", groupID=group, seq=2)
    assert (await info_of(bob, group))["changeSeq"] == 1


async def test_pins_are_told_and_listed(world):
    alice, bob, group = await talking(world)
    for seq in (1, 3):
        assert await alice.call("pinGroupMessage", groupID=group, seq=seq, isPinned=True) == {}
        event = await bob.expect("onGroupMessagePinned", groupID=group, seq=seq)
        assert event["isPinned"] is True and event["message"]["text"] == f"m{seq}" and event["opUser"]["userID"] == alice.user
    listed = (await bob.call("getPinnedGroupMessageList", groupID=group))["messageList"]
    assert [message["seq"] for message in listed] == [3, 1] and all(message["isPinned"] for message in listed)
    await bob.refused(10007, "pinGroupMessage", groupID=group, seq=2, isPinned=True)
    await alice.call("revokeGroupMessage", groupID=group, seq=3)
    assert (await bob.expect("onRecvMessageRevoked", groupID=group, seq=3))["changeSeq"] == 3
    assert [m["seq"] for m in (await bob.call("getPinnedGroupMessageList", groupID=group))["messageList"]] == [1]
    await alice.refused(-32602, "pinGroupMessage", groupID=group, seq=1)


async def test_reactions_are_told_and_read_by_each(world):
    alice, bob, group = await talking(world)
    await bob.call("addMessageReaction", groupID=group, seq=1, reaction="👍")
    event = await alice.expect("onRecvMessageReactionsChanged", groupID=group, seq=1)
    assert event["reactions"] == [{"reaction": "👍", "count": 1}] and event["isAdded"] is True and event["reaction"] == "👍"
    assert (await message_of(bob, group, 1))["reactions"] == [{"reaction": "👍", "count": 1, "byMe": True}]
    assert (await message_of(alice, group, 1))["reactions"] == [{"reaction": "👍", "count": 1, "byMe": False}]
    (row,) = (await alice.call("getMessageReactions", groupID=group, seqList=[1], userCount=10))["resultList"]
    assert row == {"seq": 1, "reactions": [{"reaction": "👍", "count": 1, "byMe": False, "userIDList": [bob.user]}]}
    await bob.call("removeMessageReaction", groupID=group, seq=1, reaction="👍")
    assert "reactions" not in await message_of(bob, group, 1)
    for bad in ("", "x" * 33, "a\n"):
        await bob.refused(10004, "addMessageReaction", groupID=group, seq=1, reaction=bad)


async def test_a_recall_leaves_nothing_of_reactions_by_many(world):
    alice, *others = await world.users("alice", *(f"user{n}" for n in range(12)))
    group = await world.group(alice, members=others)
    seq = (await alice.call("sendGroupTextMessage", groupID=group, text="x"))["seq"]
    for user in others:
        await user.call("addMessageReaction", groupID=group, seq=seq, reaction="👍")
    assert (await message_of(alice, group, seq))["reactions"][0]["count"] == 12
    await alice.call("revokeGroupMessage", groupID=group, seq=seq)
    message = await message_of(alice, group, seq)
    assert message["isRevoked"] and "reactions" not in message
    assert (await alice.call("getMessageReactions", groupID=group, seqList=[seq]))["resultList"] == [{"seq": seq, "reactions": []}]


async def test_merged_events_end_with_the_last_state(frozen_world):
    """The first leaves at once, the next ones 55 ms apart."""
    server = frozen_world.server
    alice, bob, group = await talking(frozen_world)
    total = 120
    for start in range(0, total, 12):
        edits = [f"edit {n}" for n in range(start, start + 12)]
        calls = [await alice.start("modifyGroupMessage", groupID=group, seq=1, text=text) for text in edits]
        for call in calls:
            assert "result" in await call
        await server.advance(seconds=0.02)
    await server.advance(seconds=1)
    await frozen_world.settle(group, alice, bob)
    events = bob.received("onRecvMessageModified", groupID=group)
    assert [event["opTime"] - events[0]["opTime"] for event in events] == [0, 55, 110, 165, 220]
    assert events[-1]["message"]["text"] == f"edit {total - 1}"
    assert [event["message"]["changeSeq"] for event in events] == [1, 36, 72, 108, 120]


# The resume


class Reader:
    """A client that keeps the messages of a group, as the page says."""

    def __init__(self, user, group):
        self.user, self.group = user, group
        self.epoch, self.seq, self.changeSeq = None, 0, 0
        self.messages = {}
        self.client = None

    async def connect(self, own):
        self.client = await World(own).session(self.user)
        if self.epoch is None:
            self.epoch = (await info_of(self.client, self.group))["epoch"]
        applied = 0
        seq, number = self.seq, self.changeSeq
        while True:
            answer = await self.client.call(
                "syncGroups", groups=[{"groupID": self.group, "epoch": self.epoch, "seq": seq, "changeSeq": number}])
            (row,) = answer["groups"]
            assert row["recovered"] is True, row
            assert len(row["changeList"]) + len(row["messageList"]) <= 100
            for message in row["changeList"] + row["messageList"]:
                if message.get("changeSeq", 0) >= self.messages.get(message["seq"], {}).get("changeSeq", 0):
                    self.messages[message["seq"]] = message
            applied += len(row["changeList"])
            seq, number = max([seq] + [m["seq"] for m in row["messageList"]]), row["changeSeq"]
            if not row["more"]:
                break
        self.seq, self.changeSeq = max(seq, row["lastSeq"]), number
        return applied

    def take(self):
        """Applies what has come; what comes later is lost with the connection."""
        for name, params in self.client.inbox:
            if params.get("groupID") == self.group:
                self.apply(name, params)
        self.client.inbox.clear()

    def apply(self, name, params):
        if name == "onRecvNewMessage":
            message = params["message"]
            if message["seq"] == self.seq + 1:
                self.seq = message["seq"]
            self.messages.setdefault(message["seq"], message)
            return
        number = params.get("changeSeq")
        if number is None:
            return
        seq = params["message"]["seq"] if name == "onRecvMessageModified" else params["seq"]
        self.changeSeq = max(self.changeSeq, number)
        known = self.messages.get(seq)
        if known is None or number <= known.get("changeSeq", 0):
            return
        known = dict(known, changeSeq=number)
        if name == "onRecvMessageModified":
            known = {**params["message"], **{k: known[k] for k in ("reactions",) if k in known}}
        elif name == "onRecvMessageReactionsChanged":
            known["reactions"] = params["reactions"]
        elif name == "onGroupMessagePinned":
            known["isPinned"] = params["isPinned"]
        elif name == "onRecvMessageRevoked":
            for gone in ("text", "data", "reactions", "isPinned", "editTime"):
                known.pop(gone, None)
            known["isRevoked"] = True
        self.messages[seq] = known


def view(message):
    """A message without what events do not say."""
    message = dict(message)
    if not message.get("isPinned"):
        message.pop("isPinned", None)
    counts = [(r["reaction"], r["count"]) for r in message.pop("reactions", [])]
    return message, counts


class Progress:
    """Counts requests that were answered, up to a wanted number and beyond."""

    def __init__(self, wanted):
        self.count, self.wanted = 0, wanted
        self.reached = asyncio.Event()

    def add(self):
        self.count += 1
        if self.count >= self.wanted:
            self.reached.set()


async def change(writer, group, last, random_, progress):
    """Changes messages until the connection is gone."""
    while True:
        seq = random_.randint(max(1, last - 30), last)
        kind = random_.random()
        try:
            if kind < 0.3:
                await writer.call("modifyGroupMessage", groupID=group, seq=seq, text=f"edit {random_.random()}")
            elif kind < 0.6:
                await writer.call("addMessageReaction", groupID=group, seq=seq, reaction=random_.choice(REACTIONS))
            elif kind < 0.75:
                await writer.call("removeMessageReaction", groupID=group, seq=seq, reaction=random_.choice(REACTIONS))
            elif kind < 0.9:
                await writer.call("pinGroupMessage", groupID=group, seq=seq, isPinned=random_.random() < 0.5)
            elif kind < 0.94:
                await writer.call("revokeGroupMessage", groupID=group, seq=seq)
            else:
                last = max(last, (await writer.call("sendGroupTextMessage", groupID=group, text="new"))["seq"])
        except Refused as refusal:
            # Of several nodes the killed one may be another.
            assert refusal.code in (10007, 10030, 10031, 10032, 10055, 10056, 10023) or IS_CLUSTER and refusal.code == 10002, refusal
        progress.add()


async def test_a_client_resumes_with_the_servers_view_whatever_the_cuts(make_server, record_property):
    own = make_server()
    random_ = random.Random(7)
    world = World(own)
    users = [await world.session(f"user-{n}") for n in range(3)]
    group = await world.group(users[0], "Public", users[1:])
    for n in range(40):
        await users[n % 3].call("sendGroupTextMessage", groupID=group, text=f"m{n}")
    await world.close()
    readers = [Reader("user-1", group), Reader("user-2", group)]
    rounds, changes, resumed, kills = 12, 0, 0, 0
    for round_ in range(rounds):
        world = World(own)
        for reader in readers:
            resumed += await reader.connect(own)
        progress = Progress(random_.randint(20, 150))
        writers = [await world.session(f"user-{n}") for n in range(3)]
        tasks = [asyncio.ensure_future(change(writer, group, 40, random_, progress)) for writer in writers for _ in range(2)]
        reached = asyncio.ensure_future(progress.reached.wait())
        await asyncio.wait([reached, *tasks], timeout=60, return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        # One reader is cut earlier than the other, with events on their way.
        readers[round_ % 2].take()
        await readers[round_ % 2].client.close()
        if round_ % 2:
            own.kill()
            kills += 1
        else:
            await world.close()
        for task in tasks:
            with pytest.raises((Gone, ConnectionClosed)):
                await task
        readers[1 - round_ % 2].take()
        await readers[1 - round_ % 2].client.close()
        await world.close()
        if round_ % 2:
            own.start()
        changes += progress.count
    for reader in readers:
        resumed += await reader.connect(own)
        expected = {m["seq"]: view(m) for m in await history_of(reader.client, group)}
        kept = {seq: view(message) for seq, message in reader.messages.items()}
        wrong = {seq: (kept.get(seq), expected.get(seq)) for seq in kept.keys() | expected.keys() if kept.get(seq) != expected.get(seq)}
        assert not wrong
        await reader.client.close()
    record_property("summary", f"resume: {rounds} cuts, {kills} of them kill -9, {changes} requests, {resumed} changes by syncGroups")


async def test_acknowledged_changes_survive_kill_9(make_server):
    own = make_server()
    world = World(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for n in range(1, 4):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"m{n}")
    await alice.call("modifyGroupMessage", groupID=group, seq=1, text="edited")
    await bob.call("addMessageReaction", groupID=group, seq=2, reaction="👍")
    await alice.call("pinGroupMessage", groupID=group, seq=2, isPinned=True)
    await alice.call("revokeGroupMessage", groupID=group, seq=3)
    own.kill()
    await world.close()
    own.start()
    world = World(own)
    back = await world.session(bob.user)
    messages = {message["seq"]: message for message in await history_of(back, group)}
    assert messages[1]["text"] == "edited" and messages[1]["changeSeq"] == 1
    assert messages[2]["reactions"] == [{"reaction": "👍", "count": 1, "byMe": True}] and messages[2]["isPinned"] is True
    assert messages[2]["changeSeq"] == 3 and messages[3]["isRevoked"] is True and messages[3]["changeSeq"] == 4
    assert (await info_of(back, group))["changeSeq"] == 4
    assert [m["seq"] for m in (await back.call("getPinnedGroupMessageList", groupID=group))["messageList"]] == [2]
    await world.close()


async def test_a_session_reads_its_own_changes_behind_them(world):
    """Requests of one session to one group, sent without waiting for replies."""
    alice = await world.user("alice")
    group = await world.group(alice)
    last = (await alice.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["info"]["lastSeq"]
    for seq in range(last + 1, last + 11):
        sent, edited, _, given, pinned, history, reactions, pins = await all_answers(alice, [
            ("sendGroupTextMessage", {"groupID": group, "text": "x"}),
            ("modifyGroupMessage", {"groupID": group, "seq": seq, "text": "y"}),
            ("modifyGroupMessage", {"groupID": group, "seq": seq, "text": "z"}),
            ("addMessageReaction", {"groupID": group, "seq": seq, "reaction": "a"}),
            ("pinGroupMessage", {"groupID": group, "seq": seq, "isPinned": True}),
            ("getGroupHistoryMessageList", {"groupID": group, "count": 1}),
            ("getMessageReactions", {"groupID": group, "seqList": [seq]}),
            ("getPinnedGroupMessageList", {"groupID": group}),
        ])
        assert sent["seq"] == seq and edited["editTime"] > 0 and given == pinned == {}
        (message,) = history["messageList"]
        assert message["text"] == "z" and message["isPinned"] and message["reactions"][0]["byMe"]
        assert reactions["resultList"][0]["reactions"][0]["count"] == 1
        assert pins["messageList"][0]["seq"] == seq
        _, history = await all_answers(alice, [
            ("revokeGroupMessage", {"groupID": group, "seq": seq}), ("getGroupHistoryMessageList", {"groupID": group, "count": 1})])
        (message,) = history["messageList"]
        assert message["isRevoked"] and not {"text", "editTime", "isPinned", "reactions"} & set(message)
