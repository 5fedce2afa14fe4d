# SPDX-License-Identifier: Apache-2.0
"""The groups of the user: what is told of them, and how what was missed is found (Protocol.md, "Reconnecting")."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .connection import Connection
from .conversation_rows import change_conversation
from .emitter import Emitter
from .errors import ClientError, ThrongError
from .frames import (
    ENDS,
    ENTRIES,
    GROUPS,
    HISTORY,
    INFOS,
    LIVE,
    Values,
    counted,
    is_identifier,
    place_of,
    read_page,
    refuse,
    remembers_messages,
)
from .groups import Held, TrackedGroup
from .limits import (
    GROUPS_PER_SYNC,
    HELD_LIMIT,
    LARGEST_HELD,
    LARGEST_LIST,
    LOOK_BACK,
    MOST_GROUPS,
    MOST_HISTORY_PAGES,
    MOST_LIST_PAGES,
    MOST_NEW_GROUPS,
    MOST_REPEATS,
)
from .local_store import LocalStore
from .outbox import Outbox

NO_SUCH_GROUP = 10010


class Found:
    """What a resume finds. Dictionaries without values are sets that keep their order."""

    def __init__(self) -> None:
        # Groups left, with the code that said so where there was one.
        self.left: dict[str, int | None] = {}
        self.recovered: dict[str, None] = {}
        self.not_recovered: dict[str, None] = {}
        # How often a group was asked for anew.
        self.repeats: dict[str, int] = {}
        # The infos of live rooms that a sync is asked about.
        self.rooms: dict[str, Values] = {}


class Asked:
    """A group whose history is read: the place that the application knows, and the entry of the request."""

    def __init__(self, group: TrackedGroup, ask: Values) -> None:
        self.group, self.ask = group, ask
        self.known = (group.seq, group.change_seq)


class Groups:
    """Follows the user's groups across connections."""

    def __init__(self, connection: Connection, emitter: Emitter, outbox: Outbox, store: LocalStore) -> None:
        self._connection, self._emitter, self._outbox, self._store = connection, emitter, outbox, store
        self._groups: dict[str, TrackedGroup] = {}
        # The events that wait in all groups, and their text.
        self._held_count = self._held_size = 0
        # `_entered`: groups entered in this session and not tracked yet, with the tries to read them; `_entered_before`: in
        # earlier ones.
        self._entered: dict[str, int] = {}
        self._entered_before: dict[str, None] = {}
        self._joined: dict[str, None] = {}
        # The last places of groups that are not tracked yet.
        self._untracked: dict[str, tuple[int, int]] = {}
        # The groups that the resume under way has read, which `ready` tells.
        self._infos: dict[str, Values] = {}
        # Groups whose infos are read anew, because the store cannot tell what is unread in them.
        self._doubtful: dict[str, None] = {}
        self._is_asking = False
        self._is_ready = False
        self._was_ready = False
        # The server's instant up to which everything is told.
        self._told_until = 0

    # Positions

    def begin(self, positions: Iterable[Mapping[str, Any]]) -> None:
        """Goes on where the store is, or else where the application says."""
        places: Iterable[Mapping[str, Any]] = self._store.places() or positions
        for one in places:
            group = TrackedGroup(one["groupID"], one["epoch"], one["seq"], one["changeSeq"], own=one.get("own"))
            group.hold()
            self._groups[group.group_id] = group
        self._entered_before.update(dict.fromkeys(self._store.live_rooms()[:MOST_NEW_GROUPS]))
        self._told_until = self._store.told_until

    def positions(self) -> list[Values]:
        return [{"groupID": one.group_id, **one.place} for one in self._groups.values() if not one.is_live]

    def tracked(self, group_id: str) -> TrackedGroup | None:
        return self._groups.get(group_id)

    def add_own(self, group_id: str, seq: int) -> None:
        """The place of an own message. What is told of a group that is not tracked yet begins behind it."""
        if group := self._groups.get(group_id):
            group.add_own(seq)
        else:
            self._note_untracked(group_id, seq, 0)

    def _note_untracked(self, group_id: str, seq: int, change_seq: int) -> None:
        if is_identifier(group_id) and (group_id in self._untracked or len(self._untracked) < MOST_NEW_GROUPS):
            known = self._untracked.get(group_id, (0, 0))
            self._untracked[group_id] = max(known[0], seq), max(known[1], change_seq)

    def disconnected(self) -> None:
        if self._is_ready:
            self._told_until = self._connection.server_time
        self._is_ready = False
        for group_id in [*self._entered][:max(0, MOST_NEW_GROUPS - len(self._entered_before))]:
            self._entered_before[group_id] = None
        self._entered.clear()
        self._untracked.clear()
        self._held_count = self._held_size = 0
        for group in self._groups.values():
            group.held, group.held_size, group.has_overflowed = None, 0, False
            group.hold()
        self._store.is_confirmed = self._is_asking = False

    # Events

    def receive(self, name: str, params: Values, size: int) -> None:
        group = self._groups.get(params.get("groupID") or "")
        # A resume that is under way finds it by itself.
        if self._is_ready and group and group.begins_anew(place_of(name, params)):
            group.hold()
            self._connection.tasks.spawn(self._reread_room(group))
        # A signal is of its moment, and no part of what a sync tells.
        if group and group.held is not None and name != "onGroupSignal":
            self._hold(group, group.held, (name, params, size))
        else:
            self._tell(name, params, size)

    def _hold(self, group: TrackedGroup, held: list[Held], event: Held) -> None:
        size = event[2]
        has_room = self._held_count < HELD_LIMIT and self._held_size + size <= LARGEST_HELD
        if has_room and not group.has_overflowed:
            held.append(event)
            group.held_size += size
            self._held_count += 1
            self._held_size += size
        else:
            self._take_held(group)
            group.held, group.has_overflowed = [], True

    def _take_held(self, group: TrackedGroup) -> list[Held]:
        held = group.held or []
        self._held_count -= len(held)
        self._held_size -= group.held_size
        group.held, group.held_size = None, 0
        return held

    def _forget(self, group_id: str) -> None:
        if group := self._groups.pop(group_id, None):
            self._take_held(group)

    def _tell(self, name: str, params: Values, size: int) -> None:
        group_id, place = params.get("groupID") or "", place_of(name, params)
        group = self._groups.get(group_id)
        if group:
            group.reach(*place)
        elif place != (0, 0):
            self._note_untracked(group_id, *place)
        if name == "onRecvNewMessage" and self._outbox.find(params["message"]):
            return
        if name == "onConversationChanged":
            # The list that the resume has read is told behind this event.
            change_conversation(self._infos.get(group_id), params)
        self._store.put(name, params, size)
        names_me = any(one["userID"] == self._connection.user_id for one in params.get("memberList") or ())
        has_ended = name in ENDS or (name == "onMemberKicked" and names_me)
        if has_ended:
            self._forget(group_id)
            self._outbox.end_group(group_id)
        self._emitter.emit(name, params, size=size)
        self._emitter.emit("event", name, params)
        if not has_ended and not group and name in ENTRIES and (names_me or name == "onGroupCreated"):
            self._connection.tasks.spawn(self._enter(group_id))

    def entered(self, group_id: Any) -> None:
        """A call of the application's has made the user a member: the event of it may be long in coming."""
        if is_identifier(group_id) and group_id not in self._groups:
            self._connection.tasks.spawn(self._enter(group_id))

    async def _enter(self, group_id: str, tries: int = 0) -> None:
        """The user is a member of one more group: its position is read once."""
        attempt = self._connection.attempt
        if tries == 0 and group_id in self._entered:
            return
        if not is_identifier(group_id) or (tries == 0 and len(self._entered) >= MOST_NEW_GROUPS):
            return  # the next resume finds the group
        self._entered[group_id] = tries + 1
        try:
            answer, size = await self._connection.request_sized("getGroupsInfo", {"groupIDList": [group_id]}, INFOS)
        except ThrongError as error:
            if self._connection.attempt is attempt:
                pause = max(2 ** min(tries + 1, 5), error.retry_after)
                self._connection.timers.start(
                    f"enter {group_id}", pause, self._connection.tasks.spawn_later(self._enter, group_id, tries + 1))
            return
        except ClientError:
            return  # the next resume looks at the group
        row: Values = next((row for row in answer["resultList"] if row["groupID"] == group_id), {"code": None})
        if row["code"] == 0 and row["info"].get("selfInfo") is not None and row["info"]["groupID"] == group_id:
            self._track(row["info"])
            self._list([row["info"]], size)
        self._entered.pop(group_id, None)

    def _track(self, info: Values) -> bool:
        """Begins with the group as it is: the application reads what is before from its history."""
        group_id = info["groupID"]
        if group_id in self._groups or len(self._groups) >= MOST_GROUPS:
            return False
        group = TrackedGroup(group_id, info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"),
                             info["groupType"] == LIVE, remembers_messages(info))
        untracked = self._untracked.pop(group_id, (0, 0))
        if untracked[0] > group.seq or untracked[1] > group.change_seq:
            # An event was quicker than the answer, and counts in what the store tells of the group.
            self._doubtful[group_id] = None
        group.reach(*untracked)
        self._groups[group_id] = group
        return True

    def _list(self, infos: Iterable[Values], size: int) -> None:
        """Stores groups as the server has answered them."""
        groups = [(info, self._groups.get(info["groupID"])) for info in infos if info.get("selfInfo") is not None]
        self._store.list_groups([(info, group.place if group and not group.is_live else None) for info, group in groups], size)
        self._ask_for_doubtful()

    def doubt(self, group_ids: Iterable[str]) -> None:
        """The infos of these groups are read anew."""
        self._doubtful.update(dict.fromkeys(group_ids))
        self._ask_for_doubtful()

    def _ask_for_doubtful(self) -> None:
        if self._doubtful and self._is_ready and not self._is_asking and "doubt" not in self._connection.timers:
            self._is_asking = True
            self._connection.tasks.spawn(self._reread(self._connection.attempt))

    async def _reread(self, attempt: object | None, tries: int = 0) -> None:
        asked = [*self._doubtful][:GROUPS_PER_SYNC]
        try:
            answer, size = await self._connection.request_sized("getGroupsInfo", {"groupIDList": asked}, INFOS)
        except ClientError:
            return  # they are asked for when there is a connection again
        except ThrongError as error:
            if self._connection.attempt is attempt:
                self._is_asking = False
                self._connection.timers.start(
                    "doubt", self._connection.next_delay(error.retry_after, tries),
                    self._connection.tasks.spawn_later(self._reread_again, attempt, tries + 1))
            return
        if self._connection.attempt is not attempt:
            return
        for group_id in asked:
            self._doubtful.pop(group_id, None)
        self._is_asking = False
        self._list([row["info"] for row in answer["resultList"] if row["code"] == 0 and row["groupID"] in asked], size)

    async def _reread_again(self, attempt: object | None, tries: int) -> None:
        self._connection.timers.stop("doubt")
        self._is_asking = True
        await self._reread(attempt, tries)

    # Resuming

    async def resume(self, attempt: object | None, tries: int = 0) -> None:
        """After each sign-in: finds the groups joined and left, and asks in all others for what was missed."""
        for group in self._groups.values():
            group.hold()  # a try before this one may have told the events of some
        session = self._connection.session or {}
        try:
            told = await self._catch_up(self._told_until)
        except ClientError as error:
            if error.reason == "TooLarge":
                return self._connection.end(0, "the positions are too long", error)
            # Any other comes with the end of the connection.
            if error.reason == "BadAnswer" and self._connection.attempt is attempt:
                self._connection.break_off(error)
            return
        except ThrongError as error:
            if self._connection.attempt is not attempt:
                return
            if error.temporary:
                delay = self._connection.next_delay(error.retry_after, tries)
                return self._connection.timers.start(
                    "resume", delay, self._connection.tasks.spawn_later(self.resume, attempt, tries + 1))
            # Nothing that a later try could mend: the application reads its groups anew.
            self._emitter.emit("resumeFailed", error)
            for group in [*self._groups.values()]:
                self._release(group)
            return self._outbox.open()
        self._is_ready = self._was_ready = True
        self._joined.clear()
        self._infos = {}
        self._store.note_ready(counted(session.get("serverTime")))
        self._emitter.emit("ready", told)
        if self._connection.attempt is attempt:
            self._outbox.open()
            self._ask_for_doubtful()

    async def _catch_up(self, since: int) -> Values:
        known = dict.fromkeys(self._groups)
        infos, gone, size = await self._read_joined(max(0, since - LOOK_BACK) if since else None)
        self._infos = infos
        found = Found()
        found.left = {one: None for one in gone if one in known}
        if not since:
            found.left.update({
                one: None for one in known if one not in infos and one in self._groups and not self._groups[one].is_live})
        for group_id, info in infos.items():
            if self._track(info):
                self._joined[group_id] = None
        self._list([info for group_id, info in infos.items() if group_id not in found.left], size)
        kept = [self._groups[one] for one in known if one in self._groups and one not in found.left]
        live = [one.group_id for one in kept if one.is_live] + [one for one in self._entered_before if one not in self._groups]
        for start in range(0, len(live), GROUPS_PER_SYNC):
            await self._check_live(live[start:start + GROUPS_PER_SYNC], found)
        in_sync = [one for one in kept if not one.is_live] + [self._groups[one] for one in found.rooms if one in self._groups]
        known_infos = {**infos, **found.rooms}
        for start in range(0, len(in_sync), GROUPS_PER_SYNC):
            await self._sync(in_sync[start:start + GROUPS_PER_SYNC], known_infos, found)
        await self._read_ends(found.left)
        for group_id, code in found.left.items():
            self._leave(group_id, code)
        return {"isFirst": not self._was_ready, "groups": [*infos.values()], "joined": [*self._joined], "left": [*found.left],
                "recovered": [*found.recovered], "notRecovered": [*found.not_recovered], "source": "server"}

    async def _read_joined(self, since: int | None) -> tuple[dict[str, Values], dict[str, None], int]:
        infos: dict[str, Values] = {}
        gone: dict[str, None] = {}
        ask: Values = {} if since is None else {"updatedSince": since}
        # `ends`: where each page ended.
        ends: set[int] = set()
        next_seq = size = 0
        while 0 not in ends:
            page, of_page = await self._connection.request_sized(
                "getJoinedGroupList", {**ask, "count": 200, "nextSeq": next_seq}, GROUPS)
            next_seq, size = page["nextSeq"], size + of_page
            if next_seq in ends or len(ends) >= MOST_LIST_PAGES:
                refuse("a list of groups without an end")
            ends.add(next_seq)
            infos.update({info["groupID"]: info for info in page["groupList"]})
            gone.update(dict.fromkeys(page["leftGroupIDList"]))
            if len(infos) > MOST_GROUPS or len(gone) > MOST_GROUPS or size > LARGEST_LIST:
                refuse("more groups than a user has")
        return infos, gone, size

    async def _check_live(self, group_ids: list[str], found: Found) -> None:
        """Live rooms forget members who stay away too long. Those that remember their last messages are left to a sync."""
        answer, size = await self._connection.request_sized("getGroupsInfo", {"groupIDList": group_ids}, INFOS)
        asked = set(group_ids)
        for row in answer["resultList"]:
            group_id = row["groupID"]
            if group_id not in asked:
                continue
            asked.discard(group_id)
            self._entered_before.pop(group_id, None)
            if row["code"] != 0 or row["info"].get("selfInfo") is None:
                found.left[group_id] = row["code"]
                continue
            is_new, info = self._track(row["info"]), row["info"]
            self._list([info], size // len(answer["resultList"]))
            group = self._groups.get(group_id)
            if group and group.is_live:
                has_remembered, group.remembers = not is_new and group.remembers, remembers_messages(info)
                if has_remembered and group.remembers:
                    found.rooms[group_id] = info
                    continue
                if not is_new:
                    # Its memory, or the lack of one, begins with the server's new configuration.
                    group.restart(info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"))
            found.not_recovered[group_id] = None
            self._tell_sync(group_id, info, size // len(answer["resultList"]), recovered=False)
            if group and group.is_live:
                self._release(group)

    async def _read_ends(self, left: dict[str, int | None]) -> None:
        """Which of the conversations that have ended are dismissed: of others there is a group still."""
        unknown = [one for one, code in left.items() if code is None and self._store.is_known(one)]
        for start in range(0, len(unknown), GROUPS_PER_SYNC):
            answer = await self._connection.request("getGroupsInfo", {"groupIDList": unknown[start:start + GROUPS_PER_SYNC]}, INFOS)
            left.update({row["groupID"]: row["code"] for row in answer["resultList"] if row["groupID"] in left})

    async def _reread_room(self, group: TrackedGroup, tries: int = 0) -> None:
        """The places of a room do not ascend: its memory was lost while the connection lived, or an answer overtook an
        event."""
        group_id, attempt = group.group_id, self._connection.attempt
        found = Found()
        group.hold()
        try:
            answer, size = await self._connection.request_sized("getGroupsInfo", {"groupIDList": [group_id]}, INFOS)
            if self._groups.get(group_id) is not group:
                return
            row = next((row for row in answer["resultList"] if row["groupID"] == group_id), None) or refuse("a row is missing")
            if row["code"] != 0 or row["info"].get("selfInfo") is None:
                return self._leave(group_id, row["code"])
            info = row["info"]
            self._list([info], size)
            is_same, group.remembers = info.get("epoch") == group.epoch, remembers_messages(info)
            if not is_same:
                group.restart(info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"))
                self._tell_sync(group_id, info, size, recovered=False)
            if not group.has_overflowed or not group.remembers:
                return self._release(group, tells_all=is_same)
            await self._sync([group], {group_id: info}, found)
            if group_id in found.left:
                self._leave(group_id, found.left[group_id])
        except ClientError as error:
            # Without a connection the next resume looks at the room.
            if error.reason == "BadAnswer" and self._connection.attempt is attempt:
                self._connection.break_off(error)
        except ThrongError as error:
            if self._connection.attempt is attempt:
                delay = self._connection.next_delay(error.retry_after, tries)
                self._connection.timers.start(
                    f"room {group_id}", delay, self._connection.tasks.spawn_later(self._reread_room, group, tries + 1))

    def _tell_sync(
        self, group_id: str, info: Values | None, size: int, recovered: bool, changes: Iterable[Values] = (),
        messages: Iterable[Values] = (), more: bool = False,
    ) -> None:
        self._emitter.emit("sync", {"groupID": group_id, "info": info, "recovered": recovered, "changeList": [*changes],
                                    "messageList": [*messages], "more": more}, size=size)

    async def _sync(self, groups: list[TrackedGroup], infos: dict[str, Values], found: Found) -> None:
        behind = [Asked(group, self._ask_for(group)) for group in groups]
        pages = dict.fromkeys((group.group_id for group in groups), 0)
        while behind:
            answer, size = await self._connection.request_sized("syncGroups", {"groups": [one.ask for one in behind]}, HISTORY)
            rows = {row["groupID"]: row for row in answer["groups"]}
            left: list[Asked] = []
            has_advanced = False
            for one in behind:
                ask, group_id = dict(one.ask), one.group.group_id
                if group_id not in rows:
                    refuse("a row is missing")
                more = self._take_row(one, rows[group_id], size // len(rows), infos, found)
                if more:
                    left.append(one)
                pages[group_id] = pages[group_id] + 1 if more == "page" else 0
                if pages[group_id] >= MOST_HISTORY_PAGES:
                    refuse("a history without an end")
                # A row alone may stay where it is: all rows share the bytes of an answer.
                has_advanced = has_advanced or more != "page" or one.ask != ask
            if not has_advanced:
                refuse("pages of a history that do not advance")
            behind = left

    def _ask_for(self, group: TrackedGroup) -> Values:
        return {"groupID": group.group_id, "epoch": group.epoch, "seq": self._outbox.start_of_sync(group), "changeSeq": group.change_seq}

    def _take_row(self, one: Asked, row: Values, size: int, infos: dict[str, Values], found: Found) -> str | None:
        """Takes one row of a sync; answers whether there is more: a "page", or the same "again"."""
        group, group_id, info = one.group, one.group.group_id, infos.get(one.group.group_id)
        if row["code"] != 0:
            found.left[group_id] = row["code"]
            return None
        if row.get("recovered") is not True:
            group.restart(row["epoch"], row["lastSeq"], row.get("changeSeq"))
            found.not_recovered[group_id] = None
            self._outbox.lose_places(group)
            self._store.sync(group_id, group.place, None, None, 0)
            self._tell_sync(group_id, info, size, recovered=False)
            return self._release_or_repeat(one, found)
        last, of_page = read_page(one.ask, row)
        more = row.get("more") is True
        changes, messages = self._sorted(one.known, row)
        # Before the group's own position a page tells of changes that its changeSeq does not cover.
        change_seq = of_page if not more or last >= one.known[0] else one.known[1]
        group.reach(last if more else counted(row["lastSeq"]), change_seq)
        one.ask.update(seq=last, changeSeq=of_page)
        self._store.sync(group_id, group.place, row, None, size)
        self._tell_sync(group_id, info, size, True, changes, messages, more)
        if more:
            return "page"
        self._outbox.prove_absent(group)
        if again := self._release_or_repeat(one, found):
            return again
        if group_id not in found.not_recovered:
            found.recovered[group_id] = None
        return None

    def _release_or_repeat(self, one: Asked, found: Found) -> str | None:
        """The group is in step, unless more events came than may wait: then it is asked for once more."""
        group = one.group
        if not group.has_overflowed:
            self._release(group)
            return None
        repeats = found.repeats[group.group_id] = found.repeats.get(group.group_id, 0) + 1
        if repeats > MOST_REPEATS:
            refuse("more events than the history of a group holds")
        group.has_overflowed = False
        one.known = group.seq, group.change_seq
        one.ask.update(self._ask_for(group))
        return "again"

    def _sorted(self, known: tuple[int, int], row: Values) -> tuple[list[Any], list[Any]]:
        """A page without what the application has: own messages, and those before its position that did not change."""
        changes, messages = [*(row.get("changeList") or ())], []
        for message in row["messageList"]:
            if not self._outbox.find(message) and message["seq"] > known[0]:
                messages.append(message)
            elif counted(message.get("changeSeq")) > known[1]:
                changes.append(message)
        return changes, messages

    def _release(self, group: TrackedGroup, tells_all: bool = False) -> None:
        """The group is in step: events that came meanwhile are told, those that the sync held are not unless all are."""
        held, group.has_overflowed = self._take_held(group), False
        for name, params, size in held:
            if tells_all or not group.knows(*place_of(name, params)):
                self._tell(name, params, size)

    def _leave(self, group_id: str, code: int | None) -> None:
        if group := self._groups.get(group_id):
            self._release(group)
        self._groups.pop(group_id, None)
        at = self._connection.session["serverTime"] if self._connection.session else 0
        self._store.end(group_id, "dismissed" if code == NO_SUCH_GROUP else "left", at)
        self._outbox.end_group(group_id)
