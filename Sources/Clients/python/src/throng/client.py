# SPDX-License-Identifier: Apache-2.0
"""The client that applications use."""
from __future__ import annotations

import asyncio
import contextlib
import random as chance
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from . import clock
from ._generated import LoginResult, MemberInfo, SendOptions, ServerMethods, TypedEvents, UserStatusInfo
from .connection import Connection, Session
from .emitter import Emitter
from .errors import ClientError, ThrongError
from .events import Conversation, ConversationNews, Position, StoredMessages, StoredProfile
from .fallback import TransportChoice, TransportMode, TransportName
from .frames import PAGE, STATUSES, Values, fits_event, is_identifier, is_object
from .limits import CLOSE_TIMEOUT, MOST_CALLS, TOKEN_TIMEOUT, TYPING_PAUSE
from .local_store import LocalStore, StoreOwner
from .outbox import Message, Outbox
from .reporting import Reporter
from .resume import Groups
from .statuses import StatusWatch
from .storage import MemoryStorage, Storage, StorageLimits
from .store_keys import is_stored_message
from .stored_rows import MEMORY_BYTES
from .stream import StreamTransport, has_streams
from .tokens import Tokens, TokenSource
from .transports import ProxyOption, Transport, WebSocketTransport, address_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The messages that one page of a history has.
LARGEST_PAGE = 100


class ThrongClient(ServerMethods, TypedEvents):
    """A session that outlives its connections.

        client = ThrongClient("ws://127.0.0.1:8080/ws", token=fetch_token)
        client.on("onRecvNewMessage", lambda event: print(event["message"]["sender"], event["message"].get("text")))
        await client.connect()
        await client.joinGroup(groupID="hello")
        message = client.send_text("hello", "Hello!")
        print((await message.done).state)

    It connects again after a loss, asks for everything that was missed, and sends no message twice. Methods of the server
    are methods here, with its parameters by name.

    `url`: the address of the WebSocket, such as wss://chat.example/ws; https:// and http:// stand for wss:// and ws://.
    `token`: a text, or a function, async or not, that gives a new one within `token_timeout` seconds. `positions`: those of
    an earlier client, where no store has any. `queue_limit`: the most messages, and the most calls, that wait for a
    connection. `random`: gives numbers from 0 to 1, which spread the delays. `storage`: where the client remembers groups,
    messages and what was not sent; then `user_id` says whose store it is. `transport`: "auto" falls back to streams where
    no WebSocket passes, which needs `httpx`, the extra `stream`. `proxy`: True = that of the environment
    (http_proxy, https_proxy, no_proxy), None = none, or an address. Other options are those of `websockets.connect`."""

    def __init__(
        self, url: str, token: TokenSource, platform: str | None = None, device_id: str | None = None,
        positions: Iterable[Position] = (), queue_limit: int = 1000, random: Callable[[], float] = chance.random, *,
        storage: Storage | None = None, user_id: str | None = None, storage_limits: StorageLimits | None = None,
        transport: TransportMode = "auto", token_timeout: float = TOKEN_TIMEOUT, proxy: ProxyOption = True, **connecting: Any,
    ) -> None:
        if storage is not None and not isinstance(storage, MemoryStorage) and user_id is None:
            raise TypeError("a store belongs to one user: user_id is missing")
        if transport not in ("auto", "websocket", "stream"):
            raise ValueError(f"transport is auto, websocket or stream, not {transport!r}")
        if transport == "stream" and not has_streams():
            raise ImportError('streams need httpx: pip install "httpx>=0.27", or this package\'s file with the extra [stream]')
        if not isinstance(token, str) and not callable(token):
            # As a variable of the environment that is not set.
            raise TypeError(f"token is a text or a function, not {token!r}")
        self.url = url = address_of(url)
        self.platform, self.device_id = platform, device_id
        self._positions, self._queue_limit = [*positions], queue_limit
        self._proxy, self._connecting = proxy, connecting
        self._emitter = Emitter()
        reporter = Reporter(url)
        self._emitter.on("state", reporter)
        self._emitter.on("storageFailed", reporter.store_failed)
        self._tells_stored = storage is not None and not isinstance(storage, MemoryStorage)
        limits = storage_limits or (StorageLimits() if self._tells_stored else StorageLimits(bytes=MEMORY_BYTES))
        session = Session(self._signed_in, self._received_event, self._disconnected, self._ended, lambda: self._store.room())
        self._connection = Connection(
            session, self._emitter, Tokens(token, token_timeout), TransportChoice(transport, has_streams()), self._make_transport,
            random, platform, device_id, user_id)
        owner = StoreOwner(
            self._store_changed, lambda news: self._emitter.emit("storageFailed", news), lambda groups: self._groups.doubt(groups))
        self._store = LocalStore(
            storage or MemoryStorage(), store_name(url, user_id), user_id or "", limits, owner, self._connection.server_now)
        self._outbox = Outbox(
            self._connection, self._emitter, self._store, lambda group: self._groups.tracked(group),
            lambda group, seq: self._groups.add_own(group, seq), queue_limit)
        self._groups = Groups(self._connection, self._emitter, self._outbox, self._store)
        self._statuses, self._status_refusals = StatusWatch(), 0
        # Calls that wait for a connection, and the number of those without an answer.
        self._calls: list[asyncio.Future[None]] = []
        self._call_count = 0
        # When the last signal "typing" left, by group, the oldest first.
        self._typed: dict[str, float] = {}
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    # The session

    @property
    def state(self) -> str:
        """idle, connecting, online, waiting or closed."""
        return self._connection.state

    @property
    def session(self) -> LoginResult | None:
        """The result of the last sign-in or renewal."""
        return cast("LoginResult | None", self._connection.session)

    @property
    def user_id(self) -> str:
        return self._connection.user_id

    def events(self, limit: int = 10_000) -> AsyncIterator[tuple[str, Any]]:
        """All events of the server and of the client from now on as (name, params), until the client is closed; for
        `async for`. Where more than `limit` wait, or more than 32 MiB of text, the rest is counted, and told as `lost`
        behind those: {"count", "groupIDs"}."""
        return self._emitter.events(limit, lambda: self.state == "closed")

    async def connect(self) -> LoginResult:
        """Connects and stays connected. Returns at the first sign-in, raises where none can come."""
        if self.state == "closed":
            raise ClientError("Closed")
        first = self._connection.begin()
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        return cast("LoginResult", await asyncio.shield(first))

    async def _open(self) -> None:
        """Shows what is stored, and then connects."""
        try:
            await self._store.open()
            if self.state == "closed":
                return
            self._outbox.load()
            self._groups.begin(self._positions)
        except Exception as error:
            # A fault that no storage should have; `connect` raises it.
            return self._connection.end(0, "the store cannot be opened", error)
        if self._tells_stored:
            self._emitter.emit("stored", {
                "conversations": self._store.conversations(), "outbox": self._outbox.messages(), "source": "stored"})
        self._outbox.expire()
        if self.state == "idle":
            self._connection.open()

    def reconnect_now(self) -> None:
        """Tries now where the client waits to, or for a token function that does not answer."""
        self._connection.open_now()

    async def close(self) -> None:
        """Ends the connection for good. Messages under way fail, unless a store keeps them for the next client. Does not
        wait for handlers."""
        self._connection.end(1000, "closed by the application", ClientError("Closed"))
        self._connection.abandon_token()
        tasks = self._connection.tasks.running - {asyncio.current_task()}
        if tasks:
            # A server that does not answer holds none of them for longer.
            _, late = await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._opening and self._opening is not asyncio.current_task():
            await self._opening
        if self._closing:
            await asyncio.shield(self._closing)

    async def logout(self, forget: bool = False) -> None:
        """Signs out: the server forgets the session, and the client is closed. `forget`: its store is removed, too, also
        where the server could not be told."""
        self._connection.is_logging_out = True
        try:
            await self._connection.request("logout", {}, is_object)
        finally:
            if forget:
                self._connection.end(1000, "closed by the application", ClientError("Closed"))
                if self._closing:
                    await asyncio.shield(self._closing)
                await self._store.forget()
                self._outbox.forget(ClientError("Closed"))
            await self.close()

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
            """A method of a later server."""
            if name.startswith("_"):
                raise AttributeError(name)

            async def method(**params: Any) -> Any:
                return await self.call(name, params)
            method.__qualname__ = f"ThrongClient.{name}"
            return method

    async def call(self, method: str, params: Mapping[str, Any] | None = None, queue: bool = True) -> Any:
        """The result of a method; without a connection it waits for one unless `queue` is False."""
        if self.state == "closed":
            raise ClientError("Closed")
        if self.state != "online":
            if not queue or self._opening is None:
                raise ClientError("NotConnected")
            await self._turn()
        if self._call_count >= MOST_CALLS:
            raise ClientError("QueueFull")
        self._call_count += 1
        given = dict(params or {})
        try:
            result = await self._connection.request(method, given)
        finally:
            self._call_count -= 1
        self._store.answered(method, given, result, self.platform)
        if method == "joinGroup" and result.get("status") == "Joined":
            self._groups.entered(given.get("groupID"))
        elif method == "createGroup":
            self._groups.entered(result.get("groupID"))
        return result

    async def _turn(self) -> None:
        """Waits for a connection."""
        if len(self._calls) >= self._queue_limit:
            raise ClientError("QueueFull")
        turn = asyncio.get_running_loop().create_future()
        self._calls.append(turn)
        try:
            await turn
        finally:
            if turn in self._calls:
                self._calls.remove(turn)

    def positions(self) -> list[Position]:
        """How far the application has been told, by group: given to the next client, it resumes there."""
        return cast("list[Position]", self._groups.positions())

    # Own messages

    def send_text(self, group_id: str, text: str, **options: Unpack[SendOptions]) -> Message:
        """Sends a text, as often as it takes; the answer, a `Message`, says at any time what became of it."""
        return self._send("sendGroupTextMessage", {"clientMsgID": secrets.token_urlsafe(16), **options, "groupID": group_id, "text": text})

    def send_custom(self, group_id: str, data: str, **options: Unpack[SendOptions]) -> Message:
        """Sends data of the application."""
        return self._send("sendGroupCustomMessage", {"clientMsgID": secrets.token_urlsafe(16), **options, "groupID": group_id, "data": data})

    def resend(self, message: Message, **changes: Any) -> Message:
        """Sends a message again that failed or was dropped, as a new one; not on a closed client."""
        if self.state == "closed" or message.state not in ("failed", "dropped"):
            return message
        message.params.update(changes)
        message.state, message.error = "sending", None
        return self._hand_over(message)

    def discard(self, message: Message) -> None:
        """Takes a message that failed or was dropped out of the outbox."""
        self._outbox.discard(message)

    def outbox(self) -> list[Message]:
        """Own messages that are not at their end, and those that failed, in their order."""
        return self._outbox.messages()

    def _send(self, method: str, params: Values) -> Message:
        known = self._outbox.by_id.get(params["clientMsgID"])
        if known and known.state not in ("failed", "dropped"):
            return known
        return self._hand_over(Message(method, params))

    def _hand_over(self, message: Message) -> Message:
        self._outbox.start(message)
        if self.state == "closed":
            self._outbox.refuse(ClientError("Closed"))
        return message

    def may_write_in(self, group_id: str) -> float:
        """In how many seconds the group takes the user's next message, as the last refusal with 10023 said; 0 = it is
        not known to wait."""
        return max(0, self._outbox.write_times.get(group_id, 0) - clock.now())

    # What is stored

    async def conversations(self, hidden: bool = False) -> list[Conversation]:
        """The user's conversations, those that have ended included: pinned ones first, then the most active first. Hidden
        ones are left out unless asked for."""
        await self._settled()
        return cast("list[Conversation]", self._store.conversations(hidden))

    async def conversation(self, group_id: str) -> Conversation | None:
        """One of them; None = it was never known, or is forgotten."""
        await self._settled()
        return cast("Conversation | None", self._store.conversation(group_id))

    async def _settled(self) -> None:
        """Waits until the store is open, which `connect` does, and has what was told by now."""
        if self.state == "idle" and self._opening is None:
            raise ClientError("NotConnected")
        if self._opening:
            await asyncio.shield(self._opening)
        await self._store.settled()

    async def messages(self, group_id: str, before: int | None = None, count: int = 50) -> StoredMessages:
        """Messages of a group ascending, the newest ones, or those before a `seq`: from the store, and what is older from
        the server where there is a connection and the user is a member. `isFinished`: there is nothing before them."""
        if count < 1:
            raise ValueError("count is 1 or more")
        await self._settled()
        stored = await self._store.messages(group_id, before, count)
        first = self._store.first_stored(group_id)
        if self.state == "online" and self._store.is_heard_in_part(group_id):
            # What did not come as an event is not in the store.
            with contextlib.suppress(ClientError, ThrongError):
                read, is_finished = await self._read_older(group_id, before, count, False)
                if is_finished or len(read) >= count:
                    return {"messageList": cast(Any, read), "source": "server", "isFinished": is_finished}
        if len(stored) >= count:
            return {"messageList": cast(Any, stored), "source": "stored", "isFinished": False}
        if first is not None and self._store.is_whole(group_id):
            return {"messageList": cast(Any, stored), "source": "stored", "isFinished": True}
        if self.state != "online" or self._store.has_ended(group_id):
            return {"messageList": cast(Any, stored), "source": "stored", "isFinished": False}
        end = before if first is None else first if before is None else min(before, first)
        older, is_finished = await self._read_older(group_id, end, count - len(stored), bool(stored))
        source = "both" if stored and older else "server" if older or not stored else "stored"
        return {"messageList": cast(Any, [*older, *stored]), "source": cast(Any, source), "isFinished": is_finished}

    async def _read_older(self, group_id: str, before: int | None, count: int, has_stored: bool) -> tuple[list[Values], bool]:
        """Messages of the server's history before a place, ascending, and whether they are all."""
        found: list[Values] = []
        while len(found) < count:
            ask: Values = {"groupID": group_id, "count": min(LARGEST_PAGE, count - len(found))}
            try:
                page = await self.call("getGroupHistoryMessageList", {**ask, "fromSeq": before} if before else ask, queue=False)
            except (ClientError, ThrongError):
                if has_stored or found:
                    break  # what there is is shown; the next call tells what is wrong
                raise
            if not PAGE(page):
                raise ClientError("BadAnswer", "an answer that is none of getGroupHistoryMessageList")
            messages = [one for one in page["messageList"] if is_stored_message(one)]
            found += messages
            if page["isFinished"]:
                return found[::-1], True
            if not messages or (before and messages[-1]["seq"] >= before):
                break
            before = messages[-1]["seq"]
        return found[::-1], False

    async def stored_members(self, group_id: str) -> list[MemberInfo]:
        """Members of a group that were seen, as they were then."""
        await self._settled()
        return cast("list[MemberInfo]", await self._store.members(group_id))

    async def stored_member(self, group_id: str, user_id: str) -> MemberInfo | None:
        await self._settled()
        return cast("MemberInfo | None", await self._store.member(group_id, user_id))

    async def stored_profile(self, user_id: str) -> StoredProfile | None:
        """The profile of a user that was seen last."""
        await self._settled()
        return cast("StoredProfile | None", await self._store.profile(user_id))

    # Presence and signals

    def watch_users(self, user_ids: Iterable[str]) -> None:
        """Watches users' statuses until `unwatch_users`, across connections: the event `status` tells of their rows, as
        {"userList", "unknownUserIDList"}. What the server refuses is told as `watchFailed`: {"userIDList", "error"}."""
        user_ids = [*user_ids]
        if not all(map(is_identifier, user_ids)):
            raise TypeError("a userID is a text of at most 256 characters")
        self._statuses.add(user_ids)
        self._connection.tasks.spawn(self._pump_statuses())

    def unwatch_users(self, user_ids: Iterable[str] | None = None) -> None:
        """Watches these users no longer; without a list, nobody."""
        self._statuses.remove(user_ids)
        self._connection.tasks.spawn(self._pump_statuses())

    def status_of(self, user_id: str) -> UserStatusInfo | None:
        """The last row of a user who is watched, or None. Without a connection it may be out of date."""
        return cast("UserStatusInfo | None", self._statuses.rows.get(user_id))

    async def send_signal(self, group_id: str, name: str, data: str | None = None) -> None:
        """Tells the members who are online something of the moment. It is sent once, now or never."""
        params = {"groupID": group_id, "name": name} if data is None else {"groupID": group_id, "name": name, "data": data}
        await self.call("sendGroupSignal", params, queue=False)

    def send_typing(self, group_id: str) -> None:
        """Tells the members that the user writes, with the signal "typing", every three seconds at most."""
        moment = clock.now()
        for group in [one for one, at in self._typed.items() if moment - at >= TYPING_PAUSE]:
            del self._typed[group]
        if group_id not in self._typed:
            self._typed[group_id] = moment
            self._connection.tasks.spawn(self._hint(group_id))

    async def _hint(self, group_id: str) -> None:
        # Nobody waits for a hint: the next one may come through.
        with contextlib.suppress(ClientError, ThrongError):
            await self.send_signal(group_id, "typing")

    async def _pump_statuses(self) -> None:
        attempt = self._connection.attempt
        while self.state == "online" and "statuses" not in self._connection.timers and (ask := self._statuses.next()):
            is_end, user_ids = ask
            method, fits = ("unsubscribeUsersStatus", is_object) if is_end else ("subscribeUsersStatus", STATUSES)
            try:
                answer = await self._connection.request(method, {"userIDList": user_ids}, fits)
            except (ThrongError, ClientError) as error:
                is_refused = isinstance(error, ThrongError) or error.reason == "TooLarge"
                if not is_refused or self._connection.attempt is not attempt:
                    return  # the next session begins with all of them
                if isinstance(error, ThrongError) and error.temporary:
                    return self._pump_statuses_later(error)
                if failed := self._statuses.refused():
                    self._emitter.emit("watchFailed", {"userIDList": failed, "error": error})
                continue
            if self._connection.attempt is not attempt:
                return
            self._status_refusals = 0
            self._tell_statuses(self._statuses.answered(answer.get("userList") or ()))

    def _pump_statuses_later(self, error: ThrongError) -> None:
        self._statuses.put_back()
        delay = self._connection.next_delay(error.retry_after, self._status_refusals)
        self._status_refusals += 1

        def again() -> None:
            self._connection.timers.stop("statuses")
            self._connection.tasks.spawn(self._pump_statuses())
        self._connection.timers.start("statuses", delay, again)

    def _tell_statuses(self, news: Values) -> None:
        if news["userList"] or news["unknownUserIDList"]:
            self._emitter.emit("status", news)

    # What the connection tells

    def _signed_in(self) -> None:
        self._store.sign_in(self.user_id)
        self._statuses.start_session()
        calls, self._calls = self._calls, []
        for turn in calls:
            if not turn.done():
                turn.set_result(None)
        self._connection.tasks.spawn(self._pump_statuses())
        self._connection.tasks.spawn(self._groups.resume(self._connection.attempt))

    def _received_event(self, name: str, params: Values, size: int) -> None:
        if not fits_event(name, params):
            # Of a later server, if of any: handlers of the name expect other parameters.
            return self._emitter.emit("event", name, params)
        self._connection.note_time(params.get("opTime"))
        if name == "onServerDraining":
            self._connection.wait_at_least(params["retryAfterMs"])
        if name == "onUserSigExpired":
            self._connection.renew_soon()
        if name == "onMessageDropped":
            self._outbox.drop(params)
        self._groups.receive(name, params, size)
        if name == "onUsersStatusChanged":
            self._tell_statuses(self._statuses.hear(params["userList"]))

    def _disconnected(self) -> None:
        self._groups.disconnected()
        self._statuses.end_session()
        self._status_refusals = 0
        self._outbox.shut()

    def _ended(self, error: ClientError) -> None:
        calls, self._calls = self._calls, []
        for turn in calls:
            if not turn.done():
                turn.set_exception(error)
        self._outbox.end(error)
        if self._opening:
            # The store is free for the next client.
            self._closing = asyncio.ensure_future(self._store.close())

    def _store_changed(self, conversation: Values) -> None:
        news: ConversationNews = {"conversation": cast(Conversation, conversation), "source": "server"}
        self._emitter.emit("conversation", news)

    def _make_transport(self, name: TransportName) -> Transport:
        if name == "stream":
            return StreamTransport(self.url, self._proxy, self._connecting)
        return WebSocketTransport(self.url, self._proxy, self._connecting)


def store_name(url: str, user_id: str | None) -> str:
    """The name of a user's store at a server."""
    if user_id is None:
        return "memory"
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[-1].lower()
    return f"{parts.scheme.lower()}://{host}{parts.path}|{user_id}"

