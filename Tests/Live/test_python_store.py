"""The store of the Python client by itself: the rules that all clients share, storages, and what becomes of a store that
fails, is full, or whose process is killed between any two changes."""
import asyncio
import json
import os
import random
import sqlite3
import sys

import pytest

from harness.server import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "Sources/Clients/python/src"))
from throng import MemoryStorage, SQLiteStorage, StorageError, StorageLimits, store_keys  # noqa: E402 - behind the path
from throng.conversation_rows import Context, Index, is_heard_in_part  # noqa: E402
from throng.local_store import LocalStore, StoreOwner  # noqa: E402
from throng.store_keys import escaped, message_key, unescaped  # noqa: E402
from throng.store_rules import changes_of, keys_of  # noqa: E402

VECTORS = json.loads((REPOSITORY / "Tests/Clients/store-vectors.json").read_text())


# The rules


def as_event(name, params):
    """A vector's event as the rules have it."""
    return name, {"info": None, **params} if name == "sync" else params


def context_of(vector):
    context = Context(vector["userID"], vector["limits"]["messagesPerGroup"])
    for key in sorted(vector["before"]):
        kind, group, *last = key.split("/")
        index = context.indexes.setdefault(unescaped(group), Index())
        if kind == "g" and is_heard_in_part(vector["before"][key]):
            context.heard_in_part.add(unescaped(group))
        if kind == "m":
            index.seqs.append(int(last[0]))
        elif kind == "u":
            index.members.add(unescaped(last[0]))
    return context


@pytest.mark.parametrize("vector", VECTORS, ids=[one["name"] for one in VECTORS])
def test_what_an_event_changes(vector):
    before = json.dumps(vector["before"])
    event, context = as_event(*vector["event"]), context_of(vector)
    keys = keys_of(event, context)
    values = {key: vector["before"][key] for key in keys if key in vector["before"]}
    rows, wanted = changes_of(event, values, context), vector["after"]
    assert {key for key, row in wanted.items() if row != "ANY"} <= set(rows) <= set(wanted)
    assert {key: row for key, row in rows.items() if wanted[key] != "ANY"} == {
        key: row for key, row in wanted.items() if row != "ANY"}
    assert set(rows) <= set(keys), "every row that changes was read before"
    assert json.dumps(vector["before"]) == before, "nothing that was given is changed"


@pytest.mark.parametrize("text", ["plain_A.-9", "@TGS#x", "a/b", "ü", "%2F", "a b", ""])
def test_an_id_is_a_part_of_a_key_and_comes_back(text):
    part = escaped(text)
    assert unescaped(part) == text and "/" not in part and part.isascii()


# Storages


@pytest.fixture(params=["memory", "sqlite"])
async def storage(request, tmp_path):
    one = MemoryStorage() if request.param == "memory" else SQLiteStorage(tmp_path)
    await one.open("ws://a/ws|ann")
    yield one
    await one.close()


def change(storage, *changes, keys=()):
    return storage.update([*keys], lambda _: [*changes])


async def test_rows_come_in_the_order_of_their_keys(storage):
    await change(storage, *(("put", key, f'"{key}"') for key in ("m/b/2", "m/a/1", "m/a", "n", "m/a/10", "m0")))
    assert [key for key, _ in await storage.scan("m/", "m0")] == ["m/a", "m/a/1", "m/a/10", "m/b/2"]
    assert [key for key, _ in await storage.scan("m/", "m0", limit=2)] == ["m/a", "m/a/1"]
    assert [key for key, _ in await storage.scan("m/", "m0", limit=2, is_descending=True)] == ["m/b/2", "m/a/10"]
    assert await storage.scan("x", "y") == [] and await storage.get("x") is None and await storage.get("n") == '"n"'


async def test_an_update_is_made_whole_or_not_at_all(storage):
    await change(storage, ("put", "a", "1"), ("put", "b", "2"))
    seen = []

    def decide(values):
        seen.append(values)
        raise ValueError("as the test says")

    with pytest.raises(ValueError):
        await storage.update(["a", "c"], decide)
    assert seen == [{"a": "1"}], "it is called once, with what there is"
    await storage.update(["a"], lambda values: [("put", "a", values["a"] + "1"), ("delete", "b"), ("put", "c", "3")])
    assert await storage.scan("", "z") == [("a", "11"), ("c", "3")]


@pytest.mark.parametrize("seed", range(20))
async def test_a_storage_is_an_ordered_map(storage, seed):
    """Random changes and scans against a dictionary."""
    chance, model = random.Random(seed), {}
    names = [f"{kind}/{number}" for kind in "ab" for number in range(12)]
    for _ in range(40):
        changes = []
        for _ in range(chance.randrange(4)):
            one = chance.choice(["put", "put", "delete", "deleteRange"])
            if one == "put":
                changes.append(("put", chance.choice(names), str(chance.random())))
                model[changes[-1][1]] = changes[-1][2]
            elif one == "delete":
                changes.append(("delete", chance.choice(names)))
                model.pop(changes[-1][1], None)
            else:
                start, end = chance.choice(names), chance.choice(names)
                changes.append(("deleteRange", start, end))
                model = {key: value for key, value in model.items() if not start <= key < end}
        await change(storage, *changes)
        start, end, limit, descends = chance.choice(names), chance.choice(names), chance.choice([None, 1, 5]), chance.random() < 0.5
        wanted = sorted(((key, value) for key, value in model.items() if start <= key < end), reverse=descends)[:limit]
        assert await storage.scan(start, end, limit, descends) == wanted


async def test_what_is_stored_is_there_the_next_time(tmp_path):
    storage = SQLiteStorage(tmp_path / "deep" / "below")
    await storage.open("a")
    await change(storage, ("put", "o/1", "1"), keys=["o/1"])
    await storage.close()
    for path in (tmp_path / "deep/below").iterdir():
        assert path.stat().st_mode & 0o077 == 0, "nobody else reads it"
    await storage.open("b")
    assert await storage.scan("", "z") == []
    await storage.open("a")
    assert await storage.get("o/1") == "1"
    await storage.destroy()
    await storage.open("a")
    assert await storage.get("o/1") is None
    await storage.destroy()
    assert [path.name for path in (tmp_path / "deep/below").iterdir() if path.name.startswith("a.")] == []


async def failing(work):
    with pytest.raises(StorageError) as failed:
        await work
    return failed.value.reason


async def test_a_store_lets_one_client_in(tmp_path):
    first, second = SQLiteStorage(tmp_path), SQLiteStorage(tmp_path)
    await first.open("a")
    assert await failing(second.open("a")) == "InUse"
    await second.open("b")
    await first.close()
    await second.open("a")
    assert await failing(first.open("a")) == "InUse"
    await second.destroy()
    await first.open("a")
    await first.close()


async def test_why_a_store_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("no directory")
    assert await failing(SQLiteStorage(tmp_path / "file").open("a")) == "Refused"
    assert await failing(SQLiteStorage(tmp_path).open("x" * 300)) == "Refused"
    (tmp_path / "noise.throng.sqlite3").write_bytes(random.Random(1).randbytes(20_000))
    storage = SQLiteStorage(tmp_path)
    assert await failing(storage.open("noise")) == "Corrupt"
    await storage.destroy()
    await storage.open("noise")
    await change(storage, ("put", "a", "1"))
    await storage.close()
    assert await failing(storage.get("a")) == "Failed", "it is closed"


async def test_a_full_disk_is_told_and_changes_nothing(tmp_path):
    storage = SQLiteStorage(tmp_path)
    await storage.open("a")
    await change(storage, ("put", "a", "1"))
    storage._connection.execute("PRAGMA max_page_count = 20")
    assert await failing(change(storage, ("put", "a", "2"), ("put", "b", "x" * 200_000))) == "Full"
    assert await storage.scan("", "z") == [("a", "1")]
    await change(storage, ("put", "a", "3"))
    assert await storage.get("a") == "3"
    await storage.close()


async def test_another_program_that_holds_the_file_is_waited_for(tmp_path):
    storage = SQLiteStorage(tmp_path)
    await storage.open("a")
    other = sqlite3.connect(next(tmp_path.glob("*.sqlite3")), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(change(storage, ("put", "a", "1")))
    await storage_is_busy(storage)
    other.execute("COMMIT")
    other.close()
    await writing
    assert await storage.get("a") == "1"
    await storage.close()


async def storage_is_busy(storage):
    """The thread of the storage has begun its work."""
    while storage._thread._work_queue.qsize() > 0:
        await asyncio.sleep(0)


# The client's store


class Told:
    """What the store has told."""

    def __init__(self):
        self.conversations, self.failures, self.doubts = [], [], set()
        self.owner = StoreOwner(self.conversations.append, self.failures.append, self.doubts.update)


def make_store(storage, told=None, **limits):
    return LocalStore(storage, "ws://a/ws|ann", "ann", StorageLimits(**limits), (told or Told()).owner, lambda: 1_000_000)


def info_of(group, seq=0, kind="Public", **more):
    return {"groupID": group, "groupType": kind, "groupName": group, "lastSeq": seq, "firstSeq": 1, "changeSeq": 0, "epoch": "e",
            "memberCount": 2, "lastMessageTime": 1000 + seq,
            "selfInfo": {"role": "Member", "readSeq": seq, "unreadCount": 0, "receiveMessageOpt": "Receive", "joinTime": 1}, **more}


def message_of(group, seq, text="hello", sender="bob", **more):
    return {"msgID": f"e-{seq}", "groupID": group, "seq": seq, "sender": sender, "timestamp": 1000 + seq, "type": "Text", "text": text,
            "priority": "Normal", "platform": "Web", **more}


def say(store, group, seq, **more):
    store.put("onRecvNewMessage", {"groupID": group, "opTime": 1000 + seq, "message": message_of(group, seq, **more)})


def outbox_row(order, text="hello", group="g"):
    key = store_keys.outbox_key(order, f"c{order}")
    return {key: {"clientMsgID": f"c{order}", "method": "sendGroupTextMessage", "createdAt": 1, "order": order, "owner": "",
                  "state": "sending", "params": {"clientMsgID": f"c{order}", "groupID": group, "text": text}}}


def size_of(rows):
    return sum(len(key) + len(json.dumps(row, ensure_ascii=False).encode()) for key, row in rows.items() if key not in ("meta", "s"))


def demand_consistent(rows):
    """What holds of every store between any two changes."""
    for key, place in rows.items():
        if not key.startswith("p/"):
            continue
        part, row = key[2:], rows[f"g/{key[2:]}"]
        seqs = [int(one.rsplit("/", 1)[1]) for one in rows if one.startswith(f"m/{part}/")]
        assert row["status"] == "member"
        # The test's groups have no gaps.
        assert set(range(row["firstStored"], place["seq"] + 1)) <= set(seqs), (key, row["firstStored"], place, seqs)
        assert min(seqs, default=row["firstStored"]) >= row["firstStored"]
        for seq in place["own"]:
            assert seq in seqs and seq > place["seq"]


def play(store, chance, steps):
    """Random news of three groups; a generator that stops behind each."""
    seqs = {group: 5 for group in ("g", "h", "@TGS#i")}
    store.list_groups([(info_of(group, 5), {"epoch": "e", "seq": 5, "changeSeq": 0}) for group in seqs])
    store.list_groups([(info_of("live", kind="AVChatRoom", firstSeq=None, epoch=None), None)])
    changes = dict.fromkeys(seqs, 0)
    order = 0
    for _ in range(steps):
        group = chance.choice([*seqs])
        what = chance.choice(["say"] * 6 + ["sent", "page", "change", "change", "mark", "clear", "member", "save", "save", "quit", "list", "live"])
        if what == "say":
            seqs[group] += 1
            say(store, group, seqs[group], text="x" * chance.randrange(300), nickName=chance.choice(["Bob", "Bobby"]))
        elif what == "sent":
            seqs[group] += 1
            order += 1
            store.save(outbox_row(order, group=group), order)
            store.settle(message_of(group, seqs[group], sender="ann"), group, store_keys.outbox_key(order, f"c{order}"))
        elif what == "page":
            rows = [message_of(group, seq) for seq in range(seqs[group] + 1, seqs[group] + chance.randrange(2, 9))]
            seqs[group] = rows[-1]["seq"]
            place = {"epoch": "e", "seq": seqs[group], "changeSeq": changes[group]}
            store.sync(group, place, {"messageList": rows, "changeList": []}, None, 10)
        elif what == "change":
            changes[group] += 1
            params = {"groupID": group, "opTime": 1, "seq": chance.randrange(1, seqs[group] + 1), "changeSeq": changes[group]}
            name = chance.choice(["onRecvMessageRevoked", "onGroupMessagePinned", "onRecvMessageReactionsChanged"])
            store.put(name, {**params, "isPinned": chance.random() < 0.5, "reactions": [{"reaction": "a", "count": 1}]})
        elif what == "mark":
            store.answered("markGroupMessageAsRead", {"groupID": group}, {}, None)
        elif what == "clear":
            store.answered("clearGroupHistory", {"groupID": group}, {"clearedSeq": seqs[group] - chance.randrange(3)}, None)
        elif what == "member":
            store.answered("getGroupMemberList", {"groupID": group}, {"memberList": [
                {"userID": f"u{chance.randrange(9)}", "role": "Member", "nickName": "N", "isOnline": True}], "nextSeq": 0}, None)
        elif what == "quit":
            store.put(chance.choice(["onQuitFromGroup", "onGroupDismissed"]), {"groupID": group, "opTime": 9})
            if chance.random() < 0.7:
                store.list_groups([(info_of(group, seqs[group]), {"epoch": "e", "seq": seqs[group], "changeSeq": changes[group]})])
        elif what == "list":
            # As the server has it, with what is before a place cleared; an ended conversation begins anew.
            info = info_of(group, seqs[group], firstSeq=max(1, seqs[group] - chance.randrange(20)), changeSeq=changes[group])
            store.list_groups([(info, {"epoch": "e", "seq": seqs[group], "changeSeq": changes[group]})])
        elif what == "live":
            store.answered("getGroupMemberList", {"groupID": "live"}, {"memberList": [{"userID": f"u{seqs[group]}"}]}, None)
            if chance.random() < 0.3:
                store.put("onQuitFromGroup", {"groupID": "live", "opTime": 9})
                store.list_groups([(info_of("live", kind="AVChatRoom", firstSeq=None, epoch=None), None)])
        else:
            order += 1
            store.save(outbox_row(order, text="x" * chance.randrange(300), group=group), order)
        yield


async def test_a_change_may_come_before_the_answer_to_its_own_message():
    store = make_store(MemoryStorage())
    await store.open()
    store.list_groups([(info_of("g", 5), {"epoch": "e", "seq": 5, "changeSeq": 0})])
    for change_seq, name in enumerate(("onRecvMessageReactionsChanged", "onRecvMessageRevoked"), 1):
        store.put(name, {"groupID": "g", "opTime": 1, "seq": 7, "changeSeq": change_seq, "reactions": [{"reaction": "a", "count": 1}]})
    store.settle(message_of("g", 7, sender="ann"), "g", None)
    say(store, "g", 6)
    rows = await store.dump()
    assert rows[message_key("g", 7)] == {
        **{name: value for name, value in message_of("g", 7, sender="ann").items() if name != "text"}, "isRevoked": True, "changeSeq": 2}
    info = rows["g/g"]["info"]
    assert info["lastMessage"] == rows[message_key("g", 7)] and info["selfInfo"]["unreadCount"] == 1, "the message before it is news"
    assert rows["p/g"] == {"epoch": "e", "seq": 7, "changeSeq": 2, "own": []}


@pytest.mark.parametrize("seed", range(12))
async def test_a_store_is_consistent_between_any_two_changes(seed):
    """As a process that is killed there leaves it; and its row `s` counts all bytes."""
    class Watched(MemoryStorage):
        async def update(self, keys, decide):
            await super().update(keys, decide)
            rows = {key: json.loads(text) for key, text in await self.scan("", "\x7f")}
            if "s" in rows:
                demand_consistent(rows)
                assert rows["s"]["bytes"] == sum(
                    len(key) + len(text.encode()) for key, text in await self.scan("", "\x7f") if key not in ("meta", "s"))

    storage, told = Watched(), Told()
    store = make_store(storage, told, messages_per_group=10, bytes=40_000)
    await store.open()
    for _ in play(store, random.Random(seed), 120):
        await store.flush()
    rows = await store.dump()
    assert not told.failures and rows["s"]["bytes"] <= 40_000
    for group in ("g", "h", "@TGS#i"):
        assert len([one for one in rows if one.startswith(f"m/{escaped(group)}/")]) <= 10


async def test_events_at_once_and_one_by_one_come_to_the_same():
    dumps = []
    for waits in (False, True):
        store = make_store(MemoryStorage(), messages_per_group=10)
        await store.open()
        for _ in play(store, random.Random(7), 100):
            if waits:
                await store.flush()
        dumps.append(await store.dump())
    assert dumps[0] == dumps[1]


class Failing(SQLiteStorage):
    """Fails with a reason from a number of calls on."""

    def __init__(self, directory, reason, number):
        super().__init__(directory)
        self.reason, self.left = reason, number

    async def get(self, key):
        self.count()
        return await super().get(key)

    async def scan(self, *arguments):
        self.count()
        return await super().scan(*arguments)

    async def update(self, keys, decide):
        self.count()
        await super().update(keys, decide)

    def count(self):
        self.left -= 1
        if self.left < 0:
            raise StorageError(self.reason, "as the test says")


class FailingInPart(Failing):
    """The same, but ranges of rows can still be removed."""

    async def update(self, keys, decide):
        await (super().update(keys, decide) if keys else SQLiteStorage.update(self, keys, decide))


@pytest.mark.parametrize("reason", ["Full", "Corrupt", "Failed", "Refused"])
@pytest.mark.parametrize("number", [0, 1, 3, 5, 6, 9, 14])
async def test_a_storage_that_fails_at_any_time_is_done_without(tmp_path, reason, number):
    """The groups, places and own messages are there as if nothing had happened, and so is what came since."""
    told = Told()
    store = make_store(Failing(tmp_path, reason, number), told)
    await store.open()
    store.list_groups([(info_of("g", 5), {"epoch": "e", "seq": 5, "changeSeq": 0})])
    store.save(outbox_row(1), 1)
    for seq in range(6, 12):
        say(store, "g", seq)
    await store.flush()
    for seq in range(12, 15):
        say(store, "g", seq)
    rows = await store.dump()
    assert [one["reason"] for one in told.failures][-1:] == [reason] and len(told.failures) <= 2
    assert rows["p/g"]["seq"] == 14 and rows["g/g"]["info"]["selfInfo"]["unreadCount"] == 9 and "o/0000000000000001/c1" in rows
    demand_consistent(rows)
    assert not store.is_durable
    await store.close()
    later = SQLiteStorage(tmp_path)
    await later.open("ws://a/ws|ann")
    assert await later.scan("o/", "o0") == [], "a later client would send once more what this one sends from memory"
    await later.close()


async def test_a_message_that_was_damaged_begins_the_store_anew(tmp_path):
    told = Told()
    store = make_store(SQLiteStorage(tmp_path), told)
    await store.open()
    store.list_groups([(info_of("g", 5), {"epoch": "e", "seq": 5, "changeSeq": 0})])
    say(store, "g", 6)
    store.save(outbox_row(1), 1)
    await store.poke(message_key("g", 6), '{"no": "message"}')
    assert await store.messages("g", None, 10) == []
    assert [(one["reason"], one["lostOutbox"]) for one in told.failures] == [("Corrupt", False)]
    say(store, "g", 7)
    assert [one["seq"] for one in await store.messages("g", None, 10)] == [7]
    assert [row["clientMsgID"] for _, row in store.outbox()] == ["c1"] and store.is_durable
    await store.close()
    again, told = make_store(SQLiteStorage(tmp_path), told := Told()), told
    await again.open()
    assert again.places() == [{"groupID": "g", "epoch": "e", "seq": 7, "changeSeq": 0, "own": []}] and told.failures == []
    await again.close()


async def test_a_store_of_an_earlier_version_is_made_one_of_this(tmp_path, monkeypatch):
    storage = SQLiteStorage(tmp_path)
    await storage.open("ws://a/ws|ann")
    old = {"groupID": "g", "info": info_of("g", 5)}
    await change(storage, ("put", "meta", json.dumps({"version": 1, "name": "ws://a/ws|ann"})), ("put", "g/g", json.dumps(old)),
                 ("put", "x/1", "{}"))
    await storage.close()

    def migrate(rows):
        return {"g/g": {"info": rows["g/g"]["info"], "status": "member", "firstStored": 6, "activeAt": 1005}, "x/1": None}

    monkeypatch.setattr("throng.stored_rows.VERSION", 2)
    monkeypatch.setitem(store_keys.MIGRATIONS, 1, migrate)
    store = make_store(storage, told := Told())
    await store.open()
    rows = await store.dump()
    assert told.failures == [] and rows["meta"]["version"] == 2 and "x/1" not in rows and rows["g/g"]["firstStored"] == 6
    assert rows["s"]["bytes"] == size_of(rows)
    await store.close()


async def test_what_goes_first_where_there_is_no_room():
    """Of long quiet conversations the messages but the newest 20, then members, ended conversations, profiles, all messages."""
    store = make_store(MemoryStorage(), told := Told(), bytes=42_000)
    await store.open()
    places = {"epoch": "e", "seq": 0, "changeSeq": 0}
    store.list_groups([(info_of(group), places) for group in ("old", "pinned", "new")])
    store.answered("setConversation", {"groupID": "pinned", "isPinned": True}, {}, None)
    for group, count in (("pinned", 30), ("old", 45), ("new", 30)):
        for seq in range(1, count + 1):
            say(store, group, seq, text="x" * 200, timestamp={"pinned": 0, "old": 1000, "new": 2000}[group] + seq)
    store.save(outbox_row(1, text="x" * 2000), 1)
    rows = await store.dump()
    counts = {group: sum(one.startswith(f"m/{group}/") for one in rows) for group in ("old", "pinned", "new")}
    assert rows["s"]["bytes"] <= 42_000 and counts["old"] == 20 and counts["new"] > 20 and "o/0000000000000001/c1" in rows
    store.put("onGroupDismissed", {"groupID": "new", "opTime": 5000})
    for seq in range(31, 70):
        say(store, "pinned", seq, text="x" * 1_100)
    rows = await store.dump()
    assert rows["s"]["bytes"] <= 42_000 and "g/new" not in rows and rows["g/old"]["status"] == "member"
    demand_consistent(rows)
    assert told.failures == []


async def test_a_store_that_nothing_can_be_taken_from_is_not_searched_at_each_event():
    class Counting(MemoryStorage):
        scans = 0

        async def scan(self, *arguments):
            self.scans += 1
            return await super().scan(*arguments)

    store = make_store(storage := Counting(), bytes=2_000)
    await store.open()
    store.list_groups([(info_of("g"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    for order in range(1, 31):
        await store.save(outbox_row(order, text="x" * 1000), order)
    await store.flush()
    before = storage.scans
    for seq in range(1, 20):
        say(store, "g", seq, text="")
    await store.flush()
    assert storage.scans - before <= 3
    assert sum(one.startswith("o/") for one in await store.dump()) == 30, "own messages never go"


async def test_members_and_profiles_have_bounds(monkeypatch):
    monkeypatch.setattr("throng.conversation_rows.MOST_STORED_MEMBERS", 3)
    monkeypatch.setattr("throng.store_rules.MOST_STORED_PROFILES", 2)
    store = make_store(MemoryStorage())
    await store.open()
    store.list_groups([(info_of("g"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    rows = [{"userID": f"u{number}", "role": "Member", "nickName": f"N{number}"} for number in range(5)]
    for _ in range(2):
        store.answered("getGroupMemberList", {"groupID": "g"}, {"memberList": rows, "nextSeq": 0}, None)
    assert [one["userID"] for one in await store.members("g")] == ["u0", "u1", "u2"]
    assert (await store.profile("u1"))["nickName"] == "N1" and await store.profile("u4") is None
    store.put("onMemberKicked", {"groupID": "g", "opTime": 5, "memberList": [{"userID": "u1"}]})
    store.put("onMemberEnter", {"groupID": "g", "opTime": 6, "memberList": [{"userID": "u9", "role": "Member"}], "memberCount": 7})
    assert [one["userID"] for one in await store.members("g")] == ["u0", "u2", "u9"]
    assert store.conversation("g")["info"]["memberCount"] == 7
    store.put("onGroupMemberInfoChanged", {"groupID": "g", "opTime": 1000, "changeInfoList": [
        {"userID": "u9", "muteTime": 60, "nameCard": "Card"}, {"userID": "ann", "role": "Admin"}, {"userID": "u7", "nameCard": "No"}]})
    assert (await store.member("g", "u9"))["muteUntil"] == 61_000 and (await store.member("g", "u9"))["nameCard"] == "Card"
    assert store.conversation("g")["info"]["selfInfo"]["role"] == "Admin" and await store.member("g", "u7") is None


async def test_what_the_group_says_of_itself_is_kept():
    store = make_store(MemoryStorage())
    await store.open()
    store.list_groups([(info_of("g", customInfo={"a": "1", "b": "2"}), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    store.put("onGroupInfoChanged", {"groupID": "g", "opTime": 9, "seq": 1, "msgID": "e-1", "opUser": {"userID": "bob"}, "changeInfoList": [
        {"type": "GroupName", "value": "Name"}, {"type": "CustomInfo", "key": "a", "value": ""}, {"type": "joinMode", "value": "Auth"},
        {"type": "Owner", "value": "carl"}, {"type": "Later", "value": 1}]})
    await store.flush()
    info = store.conversation("g")["info"]
    assert (info["groupName"], info["customInfo"], info["joinMode"], info["owner"], info["lastSeq"]) == ("Name", {"b": "2"}, "Auth", "carl", 1)
    (tip,) = await store.messages("g", None, 5)
    assert (tip["type"], tip["tips"]["type"], tip["sender"], info["lastMessage"]) == ("GroupTips", "GroupInfoChange", "bob", tip)


@pytest.mark.parametrize("params", [
    {"changeInfoList": 7}, {"changeInfoList": [7]}, {"memberList": [{"userID": "x"}], "opUser": 5}, {"memberCount": "many"},
    {"seq": 1, "msgID": 9}])
async def test_events_that_are_none_change_nothing(params):
    store = make_store(MemoryStorage(), told := Told())
    await store.open()
    store.list_groups([(info_of("g"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    await store.flush()
    before = await store.dump()
    for name in ("onGroupInfoChanged", "onMemberEnter", "onGroupMemberInfoChanged"):
        store.put(name, {"groupID": "g", "opTime": 1, **params})
    assert await store.dump() == before and told.failures == []


async def test_a_page_before_the_store_is_kept_as_far_as_there_is_room():
    store = make_store(MemoryStorage(), messages_per_group=10)
    await store.open()
    store.list_groups([(info_of("g", 50), {"epoch": "e", "seq": 50, "changeSeq": 0})])
    for seq in (51, 52):
        say(store, "g", seq)
    await store.flush()

    async def page(start, end, is_finished=False):
        store.answered("getGroupHistoryMessageList", {"groupID": "g", "fromSeq": end + 1}, {
            "messageList": [message_of("g", seq) for seq in range(end, start - 1, -1)], "isFinished": is_finished}, None)
        return [one["seq"] for one in await store.messages("g", None, 100)]

    assert await page(30, 40) == [51, 52], "it does not adjoin"
    assert await page(48, 50) == [48, 49, 50, 51, 52]
    assert await page(38, 47) == [*range(43, 53)], "ten at most"
    assert await page(33, 42) == [*range(43, 53)]
    say(store, "g", 53)
    assert [one["seq"] for one in await store.messages("g", None, 100)] == [*range(44, 54)]
    assert not store.is_whole("g")


async def test_the_first_page_of_a_history_makes_the_store_whole():
    store = make_store(MemoryStorage())
    await store.open()
    store.list_groups([(info_of("g", 5), {"epoch": "e", "seq": 5, "changeSeq": 0})])
    store.answered("getGroupHistoryMessageList", {"groupID": "g"}, {
        "messageList": [message_of("g", seq) for seq in (5, 4, 3)], "isFinished": True}, None)
    await store.flush()
    assert store.is_whole("g") and [one["seq"] for one in await store.messages("g", None, 9)] == [3, 4, 5]


async def test_nothing_is_stored_behind_forget(tmp_path):
    store = make_store(SQLiteStorage(tmp_path), told := Told())
    await store.open()
    store.list_groups([(info_of("g"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    for seq in range(1, 50):
        say(store, "g", seq)
    forgetting = asyncio.ensure_future(store.forget())
    await asyncio.sleep(0)
    say(store, "g", 50)
    store.list_groups([(info_of("h"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    await forgetting
    assert os.listdir(tmp_path) == [] and store.conversations() == [] and told.failures == []


@pytest.mark.parametrize("kind, keeps_files", [(Failing, False), (FailingInPart, True)])
async def test_a_store_that_has_failed_is_forgotten_as_well(tmp_path, kind, keeps_files):
    """Where not even the outbox could be removed from it, it has gone at once."""
    store = make_store(kind(tmp_path, "Failed", 6), told := Told())
    await store.open()
    store.list_groups([(info_of("g"), {"epoch": "e", "seq": 0, "changeSeq": 0})])
    for seq in range(1, 9):
        say(store, "g", seq)
    await store.flush()
    assert [one["reason"] for one in told.failures] == ["Failed"] and bool(os.listdir(tmp_path)) == keeps_files
    await store.forget()
    assert os.listdir(tmp_path) == [] and len(told.failures) == 1


async def test_forget_says_where_it_could_not(tmp_path):
    """Another client has the store open: its owner forgets it."""
    first, second = make_store(SQLiteStorage(tmp_path)), make_store(SQLiteStorage(tmp_path), told := Told())
    await first.open()
    await second.open()
    await second.forget()
    assert [one["reason"] for one in told.failures] == ["InUse", "InUse"] and os.listdir(tmp_path) != []
    await first.close()


async def test_a_store_that_was_closed_can_be_forgotten(tmp_path):
    store = make_store(SQLiteStorage(tmp_path))
    await store.open()
    await store.close()
    assert os.listdir(tmp_path) != []
    await store.forget()
    assert os.listdir(tmp_path) == []
    await make_store(SQLiteStorage(tmp_path)).forget()
    assert os.listdir(tmp_path) == []
