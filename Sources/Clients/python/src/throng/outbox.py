# SPDX-License-Identifier: Apache-2.0
"""Own messages from writing to their end."""
from __future__ import annotations

import asyncio
import bisect
import secrets
from collections.abc import Callable

from . import clock
from .connection import Connection
from .emitter import Emitter
from .errors import ClientError, ThrongError
from .frames import SENT, TIME, Values, counted, encoded
from .groups import TrackedGroup
from .limits import (
    LARGEST_FRAME,
    LONGEST_LIVE_WAIT,
    LONGEST_QUEUED,
    LONGEST_REFUSAL,
    MOST_FAILED,
    MOST_QUEUED,
    MOST_SLOW_GROUPS,
    REMEMBERED,
    WINDOW,
)
from .local_store import LocalStore
from .store_keys import MESSAGE_KINDS, outbox_key
from .store_rules import own_message

# The error of a stored message that the room was too busy for.
DROPPED = "Dropped"


class Message:
    """An own message. `state` is sending, queued (waits at the server), stored, delivered, dropped or failed (with
    `error`); `await message.done` waits for one of the last four, or for the end of a client that keeps its messages.
    `created_at`: when it was written, in milliseconds since 1970 by the machine's clock."""

    def __init__(self, method: str, params: Values) -> None:
        self.method, self.params = method, params
        self.state = "sending"
        self.error: ThrongError | ClientError | None = None
        self.msg_id: str | None = None
        self.seq: int | None = None
        self.timestamp: int | None = None
        self.created_at = clock.time_of_day()
        self.done: asyncio.Future[Message]
        self._restart(0)

    def _restart(self, order: int) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._order = order
        # The key of its row in the store.
        self._key: str | None = None
        self._written_at = clock.now()
        # When a try may have come to the server that was not answered, by the server's clock, and the place of the group then.
        self._first_sent_at: int | None = None
        self._after: int | None = None
        self._refused_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._flight: object | None = None
        # Whether this try is the first one, and whether it has left.
        self._is_first_try = self._has_left = False
        # It waited in a store.
        self._is_from_store = False

    @property
    def client_msg_id(self) -> str:
        return str(self.params["clientMsgID"])

    @property
    def group_id(self) -> str:
        return str(self.params["groupID"])


class Outbox:
    """Own messages in the order in which they leave. Each is stored before it leaves."""

    def __init__(
        self, connection: Connection, emitter: Emitter, store: LocalStore, tracked: Callable[[str], TrackedGroup | None],
        add_own: Callable[[str, int], None], limit: int,
    ) -> None:
        self._connection, self._emitter, self._store, self._tracked, self._limit = connection, emitter, store, tracked, limit
        self._add_own = add_own
        # In rows of the store: which client wrote them.
        self._owner = secrets.token_urlsafe(9)
        self.by_id: dict[str, Message] = {}
        self._waiting: list[Message] = []
        self._in_flight: set[Message] = set()
        # Those that wait at the server, and those that failed, the oldest first.
        self._queued: set[Message] = set()
        self._failed: dict[Message, None] = {}
        self._is_open = self._is_loaded = False
        self._pause: asyncio.TimerHandle | None = None
        self._refusals = self._order = 0
        # Timers of groups that take no message of the user's yet; other groups do.
        self._group_pauses: dict[str, asyncio.TimerHandle] = {}
        # When a group takes the user's next message, as its last refusal said.
        self.write_times: dict[str, float] = {}

    def load(self) -> None:
        """Takes what the store holds: it leaves before what was written since."""
        self._is_loaded, new = True, self._waiting
        self._waiting, self._order = [], self._store.order
        for key, row in self._store.outbox():
            self._order = max(self._order, row["order"])
            message = self.by_id.get(row["clientMsgID"]) or Message(row["method"], row["params"])
            if message in new:
                new.remove(message)
            self._take_row(message, key, row)
        for message in new:
            self._order += 1
            message._order = self._order
            self._waiting.append(message)
            self._save(message)

    def expire(self) -> None:
        """What a store held for a live room comes too late."""
        for message in [one for one in self._waiting if one._is_from_store and self._has_expired(one)]:
            self._waiting.remove(message)
            self.settle(message, "failed", error=ClientError("Expired"))

    def _take_row(self, message: Message, key: str, row: Values) -> None:
        message.method, message.params, message.created_at = row["method"], row["params"], row["createdAt"]
        message._order, message._key, message._is_from_store = row["order"], key, True
        message._first_sent_at, message._after = row.get("firstSentAt"), row.get("after")
        self.by_id[message.client_msg_id] = message
        if row["state"] == "sending":
            self._waiting.append(message)
            return
        message.state, message.error = "failed", error_of(row["method"], row.get("error") or {})
        if isinstance(message.error, ClientError) and message.error.reason == DROPPED:
            message.state, message.error = "dropped", None
        message.done.set_result(message)
        self._failed[message] = None

    def messages(self) -> list[Message]:
        """Messages that are not at their end, and those that failed, in their order."""
        under_way = [one for one in self.by_id.values() if one.state in ("sending", "queued")]
        return sorted([*under_way, *self._failed], key=lambda one: one._order)

    # What the application does

    def start(self, message: Message) -> None:
        is_long = len(encoded(message.params).encode()) > LARGEST_FRAME - 256
        old_key = message._key
        self._order += 1
        self._in_flight.discard(message)
        self._failed.pop(message, None)
        message._restart(self._order)
        message._key = old_key
        self.by_id[message.client_msg_id] = message
        if len(self._waiting) >= self._limit:
            self.settle(message, "failed", error=ClientError("QueueFull"))
        elif is_long:
            self.settle(message, "failed", error=ClientError("TooLarge"))
        elif self._store.has_ended(message.group_id):
            self.settle(message, "failed", error=ClientError("ConversationEnded"))
        else:
            self._waiting.append(message)
            self._emitter.emit("message", message)
            self.pump()
            if message in self._waiting:
                self._save(message)

    def discard(self, message: Message) -> None:
        """Takes a message out that failed or was dropped."""
        if message in self._failed:
            del self._failed[message]
            self.by_id.pop(message.client_msg_id, None)
            self._unsave(message)

    # The store

    def _save(self, message: Message) -> asyncio.Future[None] | None:
        """Stores a message as it is; the answer comes when it is stored."""
        if not self._is_loaded:
            return None
        old, message._key = message._key, outbox_key(message._order, message.client_msg_id)
        row: Values = {
            "clientMsgID": message.client_msg_id, "method": message.method, "params": dict(message.params), "createdAt": message.created_at,
            "order": message._order, "owner": self._owner, "state": "failed" if message in self._failed else "sending"}
        if message._first_sent_at is not None:
            row["firstSentAt"] = message._first_sent_at
            if message._after is not None:
                row["after"] = message._after
        if message in self._failed:
            row["error"] = row_of(message.error)
        gone: dict[str, Values | None] = {old: None} if old and old != message._key else {}
        return self._store.save({**gone, message._key: row}, message._order)

    def _unsave(self, message: Message) -> None:
        key, message._key = message._key, None
        if key:
            self._store.save({key: None}, 0)

    # Leaving

    def open(self) -> None:
        self._is_open = True
        self.pump()

    def shut(self) -> None:
        """There is no connection: what has no answer waits for the next."""
        self._is_open, self._refusals = False, 0
        if self._pause:
            self._pause.cancel()
            self._pause = None
        for timer in self._group_pauses.values():
            timer.cancel()
        self._group_pauses.clear()
        # Whether a queued one was dropped is told to the session that is gone; sending it again asks.
        for message in [*(one for one in self._in_flight if one.state == "sending"), *self._queued]:
            if message._is_first_try and not message._has_left:
                self._forget_try(message)
            self.wait(message)
        self._in_flight.clear()

    def _forget_try(self, message: Message) -> None:
        """No try has come to the server: the message is a new one."""
        if message._first_sent_at is not None:
            message._first_sent_at = message._after = None
            self._save(message)

    def pump(self) -> None:
        while self._is_open and not self._pause and len(self._in_flight) < WINDOW and len(self._queued) < MOST_QUEUED:
            index = next((at for at, one in enumerate(self._waiting) if one.group_id not in self._group_pauses), None)
            if index is None:
                return
            message = self._waiting.pop(index)
            if self._has_expired(message):
                self.settle(message, "failed", error=ClientError("Expired"))
                continue
            self._in_flight.add(message)
            flight = message._flight = object()
            message._is_first_try, message._has_left = message._first_sent_at is None, False
            self._connection.tasks.spawn(self._transmit(message, flight))

    def _is_passing(self, message: Message) -> bool:
        """Whether the message is for those alone who are there."""
        group = self._tracked(message.group_id)
        is_live = self._store.is_live(message.group_id) or (group is not None and group.is_live)
        return is_live or bool(message.params.get("onlineUserOnly"))

    def _has_expired(self, message: Message) -> bool:
        if message._first_sent_at is not None or not self._is_passing(message):
            return False
        return message._is_from_store or clock.now() - message._written_at > LONGEST_LIVE_WAIT

    async def _transmit(self, message: Message, flight: object) -> None:
        params = message.params
        if message._first_sent_at is not None:
            params = {**params, "firstSentAt": message._first_sent_at}
        else:
            group = self._tracked(message.group_id)
            # The history never holds what is for those online alone.
            is_kept = group and not message.params.get("onlineUserOnly")
            message._first_sent_at, message._after = self._connection.server_now(), group.seq if group and is_kept else None
            if saved := self._save(message):
                try:
                    await saved
                except ClientError:
                    return  # the client has come to its end meanwhile
            if message._flight is not flight or message not in self._in_flight:
                return  # the connection's end has put it back
        message._has_left = True
        result, error = None, None
        try:
            result = await self._connection.request(message.method, params, SENT)
        except (ThrongError, ClientError) as failure:
            error = failure
        # One that the connection's end has put back waits already, or is under way again: a sync, or the repeat, tells.
        if message._flight is flight and message in self._in_flight:
            if result is not None:
                self._answered(message, result)
            elif isinstance(error, ThrongError):
                self._refused(message, error)
            elif error and error.reason == "TooLarge":
                self.settle(message, "failed", error=error)
            if message._flight is flight:
                self._in_flight.discard(message)
        self.pump()

    def _answered(self, message: Message, result: Values) -> None:
        if message.state != "sending":
            return  # a drop, or a sync, was quicker
        self._refusals = 0
        if result.get("seq") is not None:
            self._add_own(message.group_id, counted(result["seq"]))
        message.msg_id, message.seq, message.timestamp = result["msgID"], result.get("seq"), result["timestamp"]
        if result["status"] != "Queued":
            state = {"Stored": "stored", "Dropped": "dropped"}.get(result["status"], "delivered")
            stored = None
            if state == "stored" and message.seq is not None:
                stored = own_message(message.params, MESSAGE_KINDS[message.method], result, self._connection.user_id, self._connection.platform)
            return self.settle(message, state, stored=stored)
        message.state = "queued"
        self._queued.add(message)
        self._emitter.emit("message", message)
        self._confirm_in(LONGEST_QUEUED, message)

    def _confirm_in(self, delay: float, message: Message) -> None:
        loop = asyncio.get_running_loop()
        message._timer = loop.call_later(delay, lambda: self._connection.tasks.spawn(self._confirm(message)))

    async def _confirm(self, message: Message) -> None:
        """A queued message that nothing was heard of has left: the server tells of drops alone."""
        try:
            await self._connection.request("ping", {}, TIME)
        except ClientError:
            return  # the connection is gone, and `shut` has seen to it
        except ThrongError as error:
            # A refusal, for the rate as a rule, says nothing: asked again.
            if message.state == "queued":
                self._confirm_in(max(LONGEST_QUEUED, error.retry_after), message)
            return
        if message.state == "queued":
            self.settle(message, "delivered")
            self.pump()

    def _refused(self, message: Message, error: ThrongError) -> None:
        if message.state != "sending":
            return
        if error.field == "firstSentAt":
            # The server cannot tell either what became of the first try.
            unknown = ClientError("OutcomeUnknown")
            unknown.__cause__ = error
            return self.settle(message, "failed", error=unknown)
        message._refused_at = message._refused_at or clock.now()
        refused_for = clock.now() - message._refused_at
        if not error.temporary or refused_for > LONGEST_REFUSAL:
            return self.settle(message, "failed", error=error)
        # It was not taken; an earlier try that was not answered may have been.
        if message._is_first_try:
            self._forget_try(message)
        if error.code == 10023:
            return self._slow(message, error, refused_for)
        self.wait(message)
        if not self._pause:
            self._pause = asyncio.get_running_loop().call_later(self._next_delay(error), self._go_on)

    def _slow(self, message: Message, error: ThrongError, refused_for: float) -> None:
        """The group takes no message of the user's yet, because of its slow mode as a rule. That holds nothing up
        elsewhere."""
        group = message.group_id
        self.write_times.pop(group, None)
        self.write_times[group] = clock.now() + error.retry_after
        if len(self.write_times) > MOST_SLOW_GROUPS:
            del self.write_times[next(iter(self.write_times))]
        # A wait of hours is the user's: the message would come when nobody expects it.
        if refused_for + error.retry_after > LONGEST_REFUSAL:
            return self.settle(message, "failed", error=error)
        self.wait(message)
        if group not in self._group_pauses:
            timer = asyncio.get_running_loop().call_later(self._next_delay(error), self._go_on, group)
            self._group_pauses[group] = timer

    def _next_delay(self, error: ThrongError) -> float:
        self._refusals += 1
        return self._connection.next_delay(error.retry_after, self._refusals - 1)

    def _go_on(self, group: str | None = None) -> None:
        """`group`: whose pause is over; None = the pause of all."""
        if group is None:
            self._pause = None
        else:
            self._group_pauses.pop(group, None)
        self.pump()

    def wait(self, message: Message) -> None:
        """Puts a message back to its place among those that wait."""
        if message._timer:
            message._timer.cancel()
        self._queued.discard(message)
        bisect.insort(self._waiting, message, key=lambda one: one._order)
        if message.state != "sending":
            message.state = "sending"
            self._emitter.emit("message", message)

    # What a resume finds

    def find(self, message: Values) -> bool:
        """Whether a message of the user's is one of this client's. The history holds it, or an event brings it: its answer
        was lost, or the server kept it back until the session that sent it was gone."""
        own = self.by_id.get(message.get("clientMsgID") or "") if message["sender"] == self._connection.user_id else None
        # Others of the user's devices may have used the same ID elsewhere.
        if own is None or message.get("groupID", own.group_id) != own.group_id:
            return False
        if own.state not in ("stored", "delivered"):
            self._found(own, message)
        return True

    def _found(self, message: Message, stored: Values) -> None:
        if message in self._waiting:
            self._waiting.remove(message)
        message.msg_id, message.seq, message.timestamp = stored["msgID"], stored.get("seq"), stored["timestamp"]
        # A live room's messages have a place as well, where it remembers them.
        group = self._tracked(message.group_id)
        if message.seq is None or (group and group.is_live):
            return self.settle(message, "delivered")
        self.settle(message, "stored", stored=stored)

    def _unanswered(self, group: str) -> list[Message]:
        return [one for one in self._waiting if one._first_sent_at is not None and one.group_id == group]

    def start_of_sync(self, group: TrackedGroup) -> int:
        """Where a sync of the group has to begin so that it holds whatever is under way."""
        return min([group.seq, *(one._after for one in self._unanswered(group.group_id) if one._after is not None)])

    def prove_absent(self, group: TrackedGroup) -> None:
        """The group is in step: what its history does not hold was never stored, so it is a new message. In a live room
        it may still wait for its place; there the server is asked by sending it again."""
        for message in self._unanswered(group.group_id):
            if message._after is not None and not group.is_live:
                self._forget_try(message)

    def lose_places(self, group: TrackedGroup) -> None:
        """The history of the group cannot be had: no place in it tells of a message any more."""
        for message in self._unanswered(group.group_id):
            if message._after is not None:
                message._after = None
                self._save(message)

    def end_group(self, group: str) -> None:
        """The user is no member any more: nothing leaves for the group."""
        for message in [one for one in self._waiting if one.group_id == group]:
            self._waiting.remove(message)
            self.settle(message, "failed", error=ClientError("ConversationEnded"))

    def drop(self, params: Values) -> None:
        """A drop that is told counts, also where `_confirm` had given up waiting for it."""
        message = self.by_id.get(params.get("clientMsgID") or "")
        if message and message.state in ("sending", "queued", "delivered"):
            message.msg_id = params["msgID"]
            self.settle(message, "dropped")
            self.pump()

    # Ends

    def end(self, error: ClientError) -> None:
        """The client has come to its end. A store keeps what has not left for the next one."""
        self.shut()
        if not self._store.is_durable or not self._is_loaded:
            return self.refuse(error)
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            if not message.done.done():
                message.done.set_result(message)

    def refuse(self, error: ClientError) -> None:
        """The client has come to its end already."""
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            self.settle(message, "failed", error=error)

    def forget(self, error: ClientError) -> None:
        """The store is gone, and with it the messages that it kept for a next client."""
        for message in [one for one in self.by_id.values() if one.state in ("sending", "queued")]:
            message.state, message.error = "failed", error
            self._emitter.emit("message", message)
        self._failed.clear()

    def settle(
        self, message: Message, state: str, error: ThrongError | ClientError | None = None, stored: Values | None = None,
    ) -> None:
        """A message comes to its end; `stored`: as its group keeps it."""
        if message._timer:
            message._timer.cancel()
        self._queued.discard(message)
        message.state, message.error = state, error
        message._first_sent_at = message._after = None
        if state in ("failed", "dropped"):
            self._keep_failed(message)
        elif state == "stored":
            key, message._key = message._key, None
            self._store.settle(stored, message.group_id, key)
        else:
            self._unsave(message)
        # Before a handler sends it again.
        if not message.done.done():
            message.done.set_result(message)
        self._emitter.emit("message", message)
        if len(self.by_id) > self._limit + 2 * REMEMBERED:
            settled = [key for key, one in self.by_id.items() if one.state not in ("sending", "queued") and one not in self._failed]
            for key in settled[:-REMEMBERED]:
                del self.by_id[key]

    def _keep_failed(self, message: Message) -> None:
        if isinstance(message.error, ClientError) and message.error.reason == "TooLarge":
            # No store should hold what no server takes.
            return self._unsave(message)
        self._failed[message] = None
        self._save(message)
        while len(self._failed) > MOST_FAILED:
            oldest = next(iter(self._failed))
            del self._failed[oldest]
            self.by_id.pop(oldest.client_msg_id, None)
            self._unsave(oldest)


def row_of(error: ThrongError | ClientError | None) -> Values:
    """An error as a store keeps it."""
    if isinstance(error, ThrongError):
        return {"code": error.code, "message": error.message, "temporary": error.temporary, "field": error.field,
                "retryAfterMs": round(error.retry_after * 1000)}
    return {"reason": error.reason if error else DROPPED, "message": str(error or "")}


def error_of(method: str, row: Values) -> ThrongError | ClientError:
    if isinstance(row.get("code"), int):
        message = str(row.get("message", ""))
        data = {name: row.get(name) for name in ("field",)}
        return ThrongError(method, {"code": row["code"], "message": message, "data": {
            **data, "temporary": row.get("temporary") is True, "retryAfterMs": row.get("retryAfterMs") or 0}})
    return ClientError(str(row.get("reason", "Closed")), str(row.get("message", "")) or None)
