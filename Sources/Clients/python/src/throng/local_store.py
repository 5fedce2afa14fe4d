# SPDX-License-Identifier: Apache-2.0
"""What a client remembers: it applies the rules of the store (store_rules.py) to events one after the other."""
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from .conversation_rows import is_heard_in_part
from .errors import ClientError
from .frames import ENDS, GROUPS, INFOS, LIVE, PAGE, Values, counted, is_integer, is_member, is_text, list_of, object_of
from .inbox import Inbox
from .storage import Storage, StorageLimits
from .store_keys import (
    MESSAGE_KINDS,
    STORED_EVENTS,
    all_of,
    escaped,
    group_key,
    is_stored_message,
    member_key,
    message_key,
    place_key,
    profile_key,
)
from .store_rules import (
    BROADCAST,
    Event,
    changes_of,
    groups_of,
    keys_of,
    own_message,
)
from .stored_rows import END, StoredRows

Result = TypeVar("Result")

# Groups of a list that are stored at once: a disk has a turn between them.
GROUPS_A_STEP = 100
MEMBERS = object_of(memberList=list_of(is_member))
PROFILES = object_of(userList=list_of(is_member))
SENT_BY_CALL = object_of(msgID=is_text, seq=is_integer, timestamp=is_integer, status=is_text)


@dataclass(frozen=True)
class StoreOwner:
    """Whom a store tells."""

    # The row of a conversation is another one.
    changed: Callable[[Values], None]
    # The store cannot be used any more; another one has taken its place.
    failed: Callable[[Values], None]
    # What is unread in these groups cannot be told from what is stored.
    doubts: Callable[[set[str]], None]


class LocalStore:
    """`clock` tells the server's time, in milliseconds."""

    def __init__(
        self, storage: Storage, name: str, user_id: str, limits: StorageLimits, owner: StoreOwner, clock: Callable[[], int],
    ) -> None:
        self._owner, self._clock = owner, clock
        self._rows, self._inbox = StoredRows(storage, name, user_id, limits, owner.failed), Inbox()
        # As of what waits in the inbox: groups of the user, live rooms among them, and conversations that have ended.
        self._known: set[str] = set()
        self._live: set[str] = set()
        self._ended: set[str] = set()
        self._has_begun = False
        # This session has confirmed what is stored.
        self.is_confirmed = False

    @property
    def is_durable(self) -> bool:
        """Whether what is stored outlives the client."""
        return self._rows.is_durable

    @property
    def told_until(self) -> int:
        return int(self._rows.summary["toldUntil"])

    @property
    def order(self) -> int:
        """That of the last own message."""
        return int(self._rows.summary["order"])

    async def open(self) -> None:
        if self._inbox.is_closed:
            return
        self._has_begun = True
        try:
            await self._rows.open()
        except BaseException:
            # A fault of the storage's: there is no store.
            self._has_begun = False
            self._inbox.clear()
            raise
        for row in self._rows.rows_of("g/"):
            group = row["info"]["groupID"]
            (self._known if row["status"] == "member" else self._ended).add(group)
            if row["info"]["groupType"] == LIVE:
                self._live.add(group)
        self._inbox.open()

    def sign_in(self, user_id: str) -> None:
        """Whose store it is, where a store in memory was not told."""
        self._rows.context.user_id = user_id

    async def _tried(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await self._rows.tried(work)

    async def room(self) -> None:
        """Waits while as much waits for the store as may."""
        await self._inbox.room()

    async def settled(self) -> None:
        """Waits until what is known here is what was told by now."""
        if self._has_begun and not self._inbox.is_closed:
            await self.flush()

    async def flush(self) -> None:
        """Waits until everything that was told by now is stored."""
        async def nothing() -> None:
            pass
        await self._inbox.submit(nothing)

    async def close(self) -> None:
        """Stores what was told by now, and closes the store."""
        done = self._inbox.close(self._rows.close)
        if self._has_begun:
            # It is passed over where the store could not be opened meanwhile.
            with contextlib.suppress(ClientError):
                await done

    async def forget(self) -> None:
        """Removes the store: nothing more is stored."""
        was_closed = self._inbox.is_closed or not self._has_begun
        self._inbox.clear()
        self._known.clear()
        self._live.clear()
        self._ended.clear()
        done = self._inbox.close(self._rows.destroy)
        await (self._rows.destroy_closed() if was_closed else done)

    # What happens

    def put(self, name: str, params: Values, size: int = 0) -> None:
        """An event of the server, as far as it concerns the store."""
        group = params.get("groupID")
        is_known = group in self._known or (group in self._ended and name in ENDS)
        if name not in STORED_EVENTS or not isinstance(group, str) or not is_known or not STORED_EVENTS[name](params):
            return
        if group in self._live and name == "onRecvNewMessage":
            return
        if name in ENDS or (name == "onMemberKicked" and any(
                one["userID"] == self._rows.context.user_id for one in params.get("memberList") or ())):
            self._note_end(group)
        self._apply((name, params), size)

    def _apply(self, event: Event, size: int = 0) -> None:
        self._inbox.put(lambda: self._tried(lambda: self._change(event)), size)

    def list_groups(self, groups: list[tuple[Values, Values | None]], size: int = 0) -> None:
        """Groups of the user as the server answers them, with the places up to which their events were told."""
        stored: list[Values] = []
        for info, place in groups:
            if info["groupType"] != BROADCAST:
                group = info["groupID"]
                self._known.add(group)
                self._ended.discard(group)
                (self._live.add if info["groupType"] == LIVE else self._live.discard)(group)
                stored.append({"info": info, "place": place})
        for start in range(0, len(stored), GROUPS_A_STEP):
            self._apply(("groups", {"groups": stored[start:start + GROUPS_A_STEP]}), size)
            size = 0

    def sync(self, group: str, place: Values, row: Values | None, info: Values | None, size: int) -> None:
        """A page of what was missed up to a place; without `row` the history begins anew there."""
        if group not in self._known:
            return
        messages, changes = [
            [one for one in ((row or {}).get(name) or ()) if is_stored_message(one)] for name in ("messageList", "changeList")]
        self._apply(("sync", {"groupID": group, "recovered": row is not None, "messageList": messages, "changeList": changes,
                              "position": place, "info": info}), size)

    def end(self, group: str, status: str, at: int) -> None:
        """The user is no member any more, as a resume has found."""
        if group in self._known:
            self._note_end(group)
            self._apply(("ended", {"groupID": group, "status": status, "opTime": at}))

    def _note_end(self, group: str) -> None:
        self._known.discard(group)
        if group not in self._live:
            self._ended.add(group)
        self._live.discard(group)

    def note_ready(self, told_until: int) -> None:
        self.is_confirmed = True
        self._inbox.put(lambda: self._tried(lambda: self._rows.update([], lambda _: ({}, {"toldUntil": told_until}))))

    def answered(self, method: str, params: Values, result: Values, platform: str | None) -> None:
        """What an answer to a call of the application tells."""
        group = params.get("groupID")
        if method in ("joinGroup", "createGroup"):
            # It may be written there at once.
            self._ended.discard(str(result.get("groupID", group)))
        elif method == "getUsersInfo" and PROFILES(result):
            self._apply(("profiles", {"userList": result["userList"]}))
        elif method in ("getGroupsInfo", "getJoinedGroupList"):
            infos = result["groupList"] if GROUPS(result) else [row.get("info") for row in result["resultList"]] if INFOS(result) else []
            known = [one for one in infos if one and one["groupID"] in self._known and one.get("selfInfo")]
            if known:
                self._apply(("groups", {"groups": [{"info": one} for one in known]}))
        if not isinstance(group, str) or group not in self._known:
            return
        if method in ("getGroupMemberList", "getGroupMembersInfo") and MEMBERS(result):
            self._apply(("members", {"groupID": group, "memberList": result["memberList"]}))
        elif method == "getGroupHistoryMessageList" and PAGE(result) and params.get("direction", "Older") == "Older":
            messages = [one for one in result["messageList"] if is_stored_message(one)]
            self._apply(("page", {"groupID": group, "messageList": messages, "isFinished": result["isFinished"],
                                  "upTo": params.get("fromSeq") or None}))
        elif method == "markGroupMessageAsRead":
            self._apply(("marked", {"groupID": group, "readSeq": params.get("seq")}))
        elif method == "setGroupReceiveMessageOpt":
            self.put("onReceiveMessageOptChanged", {"groupID": group, "opt": params.get("opt")})
        elif method == "setConversation":
            self.put("onConversationChanged", params)
        elif method == "clearGroupHistory":
            self.put("onConversationChanged", {"groupID": group, "clearedSeq": result.get("clearedSeq")})
        elif method in MESSAGE_KINDS and SENT_BY_CALL(result) and result["status"] == "Stored":
            message = own_message(params, MESSAGE_KINDS[method], result, self._rows.context.user_id, platform)
            self.settle(message, group, None)

    def settle(self, message: Values | None, group: str, key: str | None) -> None:
        """An own message is at its end: its row of the outbox goes, and the message comes where the group keeps it."""
        stored = message if group in self._known and message and is_stored_message(message) else None
        self._apply(("sent", {"groupID": group, "message": stored, "keys": [key] if key else []}))

    def save(self, rows: dict[str, Values | None], order: int) -> asyncio.Future[None]:
        """Rows of the outbox; the answer comes when they are stored."""
        event = "outbox", {"keys": [*rows], "rows": rows}
        return self._inbox.submit(lambda: self._tried(lambda: self._change(event, {"order": max(order, self.order)})))

    async def _change(self, event: Event, news: Values | None = None) -> None:
        await self._rows.prepare(event)
        context = self._rows.context
        context.now = self._clock()
        context.doubtful.clear()
        before = {group: self._rows.get(group_key(group)) for group in groups_of(event)}
        changed = await self._rows.update(keys_of(event, context), lambda values: (changes_of(event, values, context), news or {}))
        for key, row in changed.items():
            if row is not None:
                context.early.forget(key)
        for group, row in before.items():
            if group_key(group) in changed:
                self._tell(group, row, event)
        if context.doubtful:
            self._owner.doubts(set(context.doubtful))
        has_new_group = any(row is None and group_key(group) in changed for group, row in before.items())
        await self._rows.keep_bounds(has_new_group)

    def _tell(self, group: str, before: Values | None, event: Event) -> None:
        """A conversation is another one; a live room is not kept once it has ended."""
        if (row := self._rows.get(group_key(group))) is not None:
            self._owner.changed({**self._shown(row), "source": "server"})
        elif before is not None:
            name, params = event
            status = params["status"] if name == "ended" else ENDS.get(name, "removed")
            self._owner.changed({**self._shown(before), "source": "server", "status": status, "canSend": False})

    # What is stored

    def outbox(self) -> list[tuple[str, Values]]:
        """The rows of own messages, in their order, with their keys."""
        return self._rows.items_of("o/")

    def places(self) -> list[Values]:
        """The places of the user's groups, with the groupID."""
        rows = [(row["info"]["groupID"], self._rows.get(place_key(row["info"]["groupID"]))) for row in self._rows.rows_of("g/")]
        return [{"groupID": group, **place} for group, place in rows if place]

    def live_rooms(self) -> list[str]:
        return [*self._live]

    def has_ended(self, group: str) -> bool:
        """Whether a conversation has ended."""
        return group in self._ended

    def is_known(self, group: str) -> bool:
        """Whether the store takes what happens in a group."""
        return group in self._known

    def is_live(self, group: str) -> bool:
        return group in self._live

    def conversation(self, group: str) -> Values | None:
        row = self._rows.get(group_key(group))
        return None if row is None else self._shown(row)

    def _shown(self, row: Values) -> Values:
        shown = {"groupID": row["info"]["groupID"], "info": dict(row["info"]), "status": row["status"],
                 "canSend": row["status"] == "member", "source": "server" if self.is_confirmed else "stored"}
        return {**shown, **({"endedAt": row["endedAt"]} if "endedAt" in row else {})}

    def conversations(self, hidden: bool = False) -> list[Values]:
        def order(row: Values) -> tuple[bool, int]:
            return not (row["info"].get("selfInfo") or {}).get("isPinned"), -row["activeAt"]
        rows = [row for row in sorted(self._rows.rows_of("g/"), key=order)
                if hidden or not (row["info"].get("selfInfo") or {}).get("isHidden")]
        return [self._shown(row) for row in rows]

    def first_stored(self, group: str) -> int | None:
        """Where the stored messages of a group begin; None = it stores none, as live rooms do."""
        row = self._rows.get(group_key(group))
        if row is None or row["info"]["groupType"] == LIVE or row["info"].get("firstSeq") is None:
            return None
        return int(row["firstStored"])

    def is_heard_in_part(self, group: str) -> bool:
        """Whether messages may be missing that are newer than the stored ones."""
        row = self._rows.get(group_key(group))
        return row is not None and is_heard_in_part(row)

    def is_whole(self, group: str) -> bool:
        """Whether all that the user may read is stored."""
        row, first = self._rows.get(group_key(group)), self.first_stored(group)
        return row is not None and first is not None and first <= max(1, counted(row["info"].get("firstSeq")))

    async def messages(self, group: str, before: int | None, count: int) -> list[Values]:
        """Stored messages ascending, the newest ones before a place."""
        start, end = all_of(f"m/{escaped(group)}/")
        rows = await self._read(start, end if before is None else message_key(group, before), count, True)
        return [row for _, row in reversed(rows)]

    async def members(self, group: str) -> list[Values]:
        return [row for _, row in await self._read(*all_of(f"u/{escaped(group)}/"))]

    async def member(self, group: str, user: str) -> Values | None:
        return await self._one(member_key(group, user))

    async def profile(self, user: str) -> Values | None:
        return await self._one(profile_key(user))

    async def dump(self) -> Values:
        """All rows, for tests."""
        return dict(await self._read("", END))

    async def poke(self, key: str, text: str) -> None:
        """Puts any text as a value, for tests."""
        await self._inbox.submit(lambda: self._rows.put_text(key, text))

    async def _one(self, key: str) -> Values | None:
        rows = await self._read(key, key + "\0")
        return rows[0][1] if rows else None

    async def _read(self, start: str, end: str, limit: int | None = None, is_descending: bool = False) -> list[tuple[str, Values]]:
        return await self._inbox.submit(lambda: self._tried(lambda: self._rows.scan(start, end, limit, is_descending)))
