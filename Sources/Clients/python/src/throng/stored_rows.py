# SPDX-License-Identifier: Apache-2.0
"""The rows of a store: opening it, changing it, keeping it within its bounds, and another one in its place where it fails."""
from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from .errors import StorageError
from .frames import Values, counted, encoded, is_integer
from .limits import LEAST_MESSAGES
from .storage import Change, MemoryStorage, Storage, StorageLimits
from .conversation_rows import Context, Index, Rows, is_heard_in_part
from .store_keys import (
    MIGRATIONS,
    ROW_CHECKS,
    VERSION,
    all_of,
    escaped,
    group_key,
    is_summary,
    member_key,
    message_key,
    place_key,
    unescaped,
)
from .store_rules import Event, groups_of, profiles_of, victims

Result = TypeVar("Result")

# Rows that are kept in memory, too, so that a store that fails loses none of them.
CACHED = ("g/", "p/", "o/")
# Behind all keys.
END = "\x7f"
# Users that are given up at once.
PROFILES_A_STEP = 500
# The bytes of a store in memory, where nothing else is said.
MEMORY_BYTES = 1 << 24
NEW_SUMMARY = {"toldUntil": 0, "bytes": 0, "order": 0}


class StoredRows:
    """`failed` is told where another store takes the place of one that cannot be used."""

    def __init__(
        self, storage: Storage, name: str, user_id: str, limits: StorageLimits, failed: Callable[[Values], None],
    ) -> None:
        self._storage, self._name, self._limits, self._failed = storage, name, limits, failed
        # That of the application: `_storage` unless it has failed.
        self._given = storage
        self.context = Context(user_id, limits.messages_per_group)
        # Groups, places and own messages as they are stored; and the row `s`.
        self._rows: dict[str, Values] = {}
        self.summary: Values = dict(NEW_SUMMARY)
        self._has_outbox = self._has_profiles = False
        self._was_corrupt = self._has_made_room = self._is_fallback = False
        # The bytes at which no more could be given up.
        self._full_at = 0
        self._is_open = False

    @property
    def is_durable(self) -> bool:
        """Whether what is stored outlives the client."""
        return not isinstance(self._storage, MemoryStorage)

    # Opening

    async def open(self) -> None:
        """Opens the storage, and another one in its place where that fails."""
        try:
            await self._load()
        except StorageError as error:
            await self._recover(error)
        self._is_open = True

    async def _load(self) -> None:
        """Opens the storage and reads what a start shows: neither messages nor members."""
        self.forget_all()
        await self._storage.open(self._name)
        meta = await self._storage.get("meta")
        if meta is None:
            self._has_outbox = True
            return await self._begin()
        for version in range(self._version_of(meta), VERSION):
            await self._migrate(version)
        for prefix in ("o/", "g/", "p/"):
            for key, text in await self._storage.scan(*all_of(prefix)):
                self._rows[key] = parsed(key, text)
            self._has_outbox = True
        self._note_groups()
        summary = await self._storage.get("s")
        self.summary = parsed("s", summary) if summary else dict(NEW_SUMMARY)

    def _version_of(self, meta: str) -> int:
        value = parsed("meta", meta)
        if not is_integer(value.get("version")) or value.get("name") != self._name:
            raise StorageError("Corrupt", "the store is not what it is named")
        version = int(value["version"])
        if version > VERSION:
            raise StorageError("TooNew", f"a later version of the client has written this store ({version})")
        if not all(one in MIGRATIONS for one in range(version, VERSION)):
            raise StorageError("Corrupt", f"no client has written a store of version {version}")
        return version

    async def _migrate(self, version: int) -> None:
        """Makes the rows of a version those of the next one."""
        texts = dict(await self._storage.scan("", END))
        rows = {key: value_of(key, text) for key, text in texts.items()}
        changed = MIGRATIONS[version](rows)
        rows.update(changed)
        size = sum(len(key) + len(encoded(row).encode()) for key, row in rows.items() if row is not None and key not in ("meta", "s"))
        changed = {**changed, "s": {**NEW_SUMMARY, **rows.get("s", {}), "bytes": size}, "meta": {"version": version + 1, "name": self._name}}

        def decide(_: dict[str, str]) -> list[Change]:
            return [("delete", key) if row is None else ("put", key, encoded(row)) for key, row in changed.items()]
        await self._storage.update([*changed], decide)

    async def _begin(self) -> None:
        """A new store, with the rows that are here already."""
        self.summary["bytes"] = sum(len(key) + len(encoded(row).encode()) for key, row in self._rows.items())
        rows = {"meta": {"version": VERSION, "name": self._name}, "s": self.summary, **self._rows}
        await self._storage.update([*rows], lambda _: [("put", key, encoded(row)) for key, row in rows.items()])

    def _note_groups(self) -> None:
        for row in self.rows_of("g/"):
            self._note_group(row["info"]["groupID"], row)

    def forget_all(self) -> None:
        self._rows, self.summary = {}, dict(NEW_SUMMARY)
        self.context.indexes.clear()
        self.context.ended.clear()
        self.context.heard_in_part.clear()
        self.context.early.clear()
        self.context.profile_count, self._has_profiles = 0, False

    # Failing

    async def _recover(self, error: StorageError) -> None:
        """After this there is a store again, at the worst in memory; the work is done once more."""
        if error.reason == "Full" and not self._has_made_room:
            self._has_made_room = True
            try:
                return await self._make_room(self.summary["bytes"] // 2)
            except StorageError as another:
                error = another
        if error.reason == "Corrupt" and not self._was_corrupt:
            self._was_corrupt = True
            if not self._is_open:
                # What was read may lack something: the server's list is read as a whole.
                self._rows = {key: row for key, row in self._rows.items() if key.startswith("o/")}
                self.context.ended.clear()
                self.summary = {**NEW_SUMMARY, "order": max([0, *(row["order"] for row in self.rows_of("o/"))])}
            try:
                await self._storage.destroy()
                await self._storage.open(self._name)
                return await self._take_over(self._storage, error)
            except StorageError as another:
                error = StorageError("Corrupt", f"{error}; {another}")
        if self._is_fallback:
            raise error
        self._is_fallback = True
        await self._leave()
        await self._take_over(MemoryStorage(), error)

    async def _leave(self) -> None:
        """What waits in the storage leaves from memory: a later client that found it there would send it once more."""
        if self._has_outbox:
            try:
                await self._storage.update([], lambda _: [("deleteRange", *all_of("o/"))])
            except StorageError:
                # What cannot be written may still be removed.
                with contextlib.suppress(StorageError):
                    await self._storage.destroy()
        with contextlib.suppress(StorageError):
            await self._storage.close()

    async def _take_over(self, storage: Storage, error: StorageError) -> None:
        """Another store goes on with what is known of groups, places and own messages; other messages begin anew."""
        lost = not self._has_outbox and error.reason == "Corrupt"
        self.context.indexes.clear()
        self.context.profile_count, self._has_profiles = 0, False
        for key, row in self._rows.items():
            if key.startswith("g/"):
                self._rows[key] = {**row, "firstStored": self._end_of(row) + 1}
        self._storage = storage
        if self._is_fallback:
            self._limits = replace(self._limits, bytes=min(self._limits.bytes, MEMORY_BYTES))
        await self._begin()
        self._has_outbox = True
        self._tell(error, lost)

    def _end_of(self, row: Values) -> int:
        """The place up to which a conversation is stored."""
        place = self._rows.get(place_key(row["info"]["groupID"]))
        return counted(place["seq"] if place else row["info"].get("lastSeq"))

    async def tried(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Does work with the store; where that fails, once more with the one that takes its place."""
        while True:
            try:
                result = await work()
                self._has_made_room = False
                return result
            except StorageError as error:
                await self._recover(error)

    async def close(self) -> None:
        await self._reported(self._storage.close)

    async def destroy(self) -> None:
        if self._is_fallback:
            # What is to be forgotten is in the store that has failed.
            await self.destroy_closed()
        else:
            await self._reported(self._storage.destroy)
        self.forget_all()

    async def destroy_closed(self) -> None:
        """The same of a store that is not open: it is opened once more."""
        if isinstance(self._given, MemoryStorage):
            return
        try:
            await self._given.open(self._name)
        except StorageError as error:
            if error.reason != "Corrupt":
                return self._tell(error)
        await self._reported(self._given.destroy)

    async def _reported(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except StorageError as error:
            self._tell(error)

    def _tell(self, error: StorageError, lost_outbox: bool = False) -> None:
        self._failed({"reason": error.reason, "message": str(error), "lostOutbox": lost_outbox})

    # Rows

    def get(self, key: str) -> Values | None:
        """The row of a group, a place or an own message."""
        return self._rows.get(key)

    def rows_of(self, prefix: str) -> list[Values]:
        """All such rows."""
        return [row for key, row in self._rows.items() if key.startswith(prefix)]

    def items_of(self, prefix: str) -> list[tuple[str, Values]]:
        """The same with their keys, ordered."""
        return sorted((key, row) for key, row in self._rows.items() if key.startswith(prefix))

    async def scan(self, start: str, end: str, limit: int | None = None, is_descending: bool = False) -> list[tuple[str, Values]]:
        return [(key, parsed(key, text)) for key, text in await self._storage.scan(start, end, limit, is_descending)]

    async def put_text(self, key: str, text: str) -> None:
        """Puts any text as a value."""
        await self._storage.update([key], lambda _: [("put", key, text)])

    async def prepare(self, event: Event) -> None:
        """Reads which messages and members there are of the event's groups, once."""
        for group in groups_of(event):
            if group not in self.context.indexes and group_key(group) in self._rows:
                part = escaped(group)
                seqs = [int(key.rsplit("/", 1)[1]) for key, _ in await self._storage.scan(*all_of(f"m/{part}/"))]
                users = {unescaped(key.rsplit("/", 1)[1]) for key, _ in await self._storage.scan(*all_of(f"u/{part}/"))}
                self.context.indexes[group] = Index(seqs, users)
        if not self._has_profiles and profiles_of(event):
            self.context.profile_count = len(await self._storage.scan(*all_of("U/")))
            self._has_profiles = True

    async def update(self, keys: list[str], decide: Callable[[Values], tuple[Rows, Values]]) -> Rows:
        """Makes changes of the rows `keys` and of the summary, together."""
        made: tuple[Rows, Values] = {}, self.summary
        known: set[str] = set()

        def decide_texts(texts: dict[str, str]) -> list[Change]:
            nonlocal made
            known.update(texts)
            values = {key: self._value(key, text) for key, text in texts.items() if key != "s"}
            summary = parsed("s", texts["s"]) if "s" in texts else dict(NEW_SUMMARY)
            rows, news = decide(values)
            changes: list[Change] = []
            size = summary["bytes"]
            for key, row in rows.items():
                size -= len(key) + len(texts[key].encode()) if key in texts else 0
                if row is None:
                    changes.append(("delete", key))
                else:
                    text = encoded(row)
                    size += len(key) + len(text.encode())
                    changes.append(("put", key, text))
            made = rows, {**summary, **news, "bytes": max(0, size)}
            if made[1] != summary:
                changes.append(("put", "s", encoded(made[1])))
            return changes

        await self._storage.update([*keys, "s"], decide_texts)
        rows, self.summary = made
        for key, row in rows.items():
            self._note(key, row, key in known)
        return rows

    def _value(self, key: str, text: str) -> Values:
        """A stored value. Those that are kept here are what was stored last: nobody else writes."""
        return self._rows.get(key) or parsed(key, text)

    def _note(self, key: str, row: Values | None, was_there: bool) -> None:
        """A row has changed."""
        kind = key[:2]
        if kind in CACHED:
            if row is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = row
        if kind == "g/":
            self._note_group(unescaped(key[2:]), row)
        elif kind == "U/":
            self.context.profile_count += (row is not None) - was_there
        elif kind in ("m/", "u/"):
            _, part, last = key.split("/")
            index = self.context.indexes.setdefault(unescaped(part), Index())
            if kind == "u/":
                (index.members.discard if row is None else index.members.add)(unescaped(last))
            elif row is None:
                index.seqs.remove(int(last))
            elif not index.seqs or int(last) > index.seqs[-1]:
                index.seqs.append(int(last))
            elif int(last) not in index.seqs:
                index.seqs.append(int(last))
                index.seqs.sort()

    def _note_group(self, group: str, row: Values | None) -> None:
        if row is None:
            self.context.indexes.pop(group, None)
        (self.context.ended.add if row is not None and row["status"] != "member" else self.context.ended.discard)(group)
        in_part = self.context.heard_in_part
        (in_part.add if row is not None and is_heard_in_part(row) else in_part.discard)(group)

    # Bounds

    async def keep_bounds(self, has_new_group: bool) -> None:
        if self.summary["bytes"] > max(self._limits.bytes, self._full_at):
            await self._make_room(self._limits.bytes * 9 // 10)
            # Where all is given up that can be, the next try waits until there is more.
            self._full_at = self.summary["bytes"] * 11 // 10 if self.summary["bytes"] > self._limits.bytes else 0
        groups = self._groups()
        if has_new_group and len(groups) > self._limits.groups:
            excess = victims(groups)[:len(groups) - self._limits.groups]
            for group in excess:
                if groups[group]["status"] == "member":
                    await self._empty(group, keeps=0)
                    await self._forget_members(group)
                else:
                    await self._forget_conversation(group)

    async def _make_room(self, size: int) -> None:
        """Gives up what is missed least, until so many bytes are left."""
        for step in (lambda group: self._empty(group, LEAST_MESSAGES), self._forget_members, self._forget_ended):
            for group in victims(self._groups()):
                if self.summary["bytes"] <= size:
                    return
                await step(group)
        await self._forget_profiles(size)
        for group in victims(self._groups()):
            if self.summary["bytes"] <= size:
                return
            await self._empty(group, keeps=0)

    def _groups(self) -> dict[str, Values]:
        return {row["info"]["groupID"]: row for row in self.rows_of("g/")}

    async def _empty(self, group: str, keeps: int) -> None:
        """Gives up the messages of a group but the newest."""
        await self.prepare(("", {"groupID": group}))
        seqs = self.context.index(group).seqs
        old, kept = (seqs[:-keeps], seqs[-keeps:]) if keeps else ([*seqs], [])
        row = self._rows[group_key(group)]
        first = kept[0] if kept else self._end_of(row) + 1
        if not old:
            return
        rows: Rows = {message_key(group, seq): None for seq in old}
        rows[group_key(group)] = {**row, "firstStored": max(row["firstStored"], first)}
        await self.update([*rows], lambda _: (rows, {}))

    async def _forget_members(self, group: str) -> None:
        await self.prepare(("", {"groupID": group}))
        await self._delete([member_key(group, user) for user in self.context.index(group).members])

    async def _forget_ended(self, group: str) -> None:
        if self._rows[group_key(group)]["status"] != "member":
            await self._forget_conversation(group)

    async def _forget_conversation(self, group: str) -> None:
        await self.prepare(("", {"groupID": group}))
        index = self.context.index(group)
        keys = [*(message_key(group, seq) for seq in index.seqs), *(member_key(group, user) for user in index.members),
                place_key(group), group_key(group)]
        await self._delete(keys)

    async def _delete(self, keys: list[str]) -> None:
        if keys:
            await self.update(keys, lambda values: ({key: None for key in keys if key in values}, {}))

    async def _forget_profiles(self, size: int) -> None:
        rows = [(key, parsed(key, text)) for key, text in await self._storage.scan(*all_of("U/"))]
        rows.sort(key=lambda one: int(one[1]["seenAt"]))
        for start in range(0, len(rows), PROFILES_A_STEP):
            if self.summary["bytes"] <= size:
                return
            await self._delete([key for key, _ in rows[start:start + PROFILES_A_STEP]])


def value_of(key: str, text: str) -> Any:
    """A stored value of any version; one that is none is Corrupt."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError("Corrupt", f"the value of {key} cannot be read") from error
    if not isinstance(value, dict):
        raise StorageError("Corrupt", f"the value of {key} is no object")
    return value


def parsed(key: str, text: str) -> Values:
    """A stored value; one that is none of its key is Corrupt."""
    value: Values = value_of(key, text)
    fits = is_summary if key == "s" else ROW_CHECKS.get(key[:2])
    if fits and not fits(value):
        raise StorageError("Corrupt", f"the value of {key} is none of its key")
    return value
