# SPDX-License-Identifier: Apache-2.0
"""A session across connections: sign-ins, requests and their answers, signs of life, renewals of the token."""
from __future__ import annotations

import asyncio
import contextlib
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from . import clock
from .emitter import Emitter, Tasks, Timers
from .errors import ClientError, ThrongError
from .fallback import TransportChoice, TransportName
from .frames import SESSION, STREAM, TIME, Check, Values, bounded_session, counted, encoded, is_integer, is_object, read_error, read_frame, refuse
from .limits import (
    CONNECT_TIMEOUT,
    GOOD_SESSION,
    LARGEST_FRAME,
    LONGEST_WAIT,
    PING_TIMEOUT,
    RENEWAL_PAUSE,
    REVOCATION_PAUSE,
)
from .stream import StreamTransport
from .tokens import Tokens
from .transports import InvalidAddress, Received, StreamsUnavailable, TooLong, Transport, TransportClosed

Result = tuple[Values, int]
HELD_BACK = "the stream is held back: a proxy may buffer it (Clients, Behind proxies)"
NO_STREAM = "no answer in time: a proxy may hold the stream back (Clients, Behind proxies)"


@dataclass(frozen=True)
class Session:
    """Whom a connection tells."""

    # There is a session.
    signed_in: Callable[[], None]
    # An event of the server, with the size of its text.
    received_event: Callable[[str, Values, int], None]
    # The connection is gone; another one may follow.
    disconnected: Callable[[], None]
    # No other will follow.
    ended: Callable[[ClientError], None]
    # Waits until more can be taken.
    room: Callable[[], Awaitable[None]]


class Connection:
    """`user_id`: of whom the session has to be, None = anybody; `make`: makes a transport."""

    def __init__(
        self, owner: Session, emitter: Emitter, tokens: Tokens, choice: TransportChoice, make: Callable[[TransportName], Transport],
        random: Callable[[], float], platform: str | None, device_id: str | None, user_id: str | None,
    ) -> None:
        self._owner, self._emitter, self._tokens, self._choice, self._make = owner, emitter, tokens, choice, make
        self._random, self.platform, self._device_id, self._expected_user = random, platform, device_id, user_id
        self.timers, self.tasks = Timers(), Tasks()
        self.state = "idle"
        self.session: Values | None = None
        self._transport: Transport | None = None
        # Stands for the present connection.
        self.attempt: object | None = None
        self._pending: dict[int, tuple[asyncio.Future[Result], str, Check | None]] = {}
        self._number = 0
        self._is_renewing = False
        self._renewal_began: float | None = None
        self._losses, self._wait_at_least = 0, 0.0
        self._signed_in_at: float | None = None
        self._session_at = 0.0
        self._heard = self.is_logging_out = False
        # Which transport the present try is on, until the server has a word in it.
        self._trying: TransportName | None = None
        # A WebSocket has opened beside the stream, which is left as soon as nothing is under way.
        self._is_leaving = False
        # The last token was refused as revoked: one more is asked for.
        self._was_revoked = False
        # The latest instant of the server that was heard.
        self._server_time = 0
        self.first: asyncio.Future[Values] | None = None

    @property
    def user_id(self) -> str:
        return str(self.session["userID"]) if self.session else self._expected_user or ""

    @property
    def server_time(self) -> int:
        """The latest instant of the server that was heard, in milliseconds."""
        return self._server_time

    def server_now(self) -> int:
        """The server's time by its last sign-in, and what has passed since, in milliseconds."""
        return int(self.session["serverTime"] + 1000 * (clock.now() - self._session_at)) if self.session else 0

    def note_time(self, instant: int | None) -> None:
        self._server_time = max(self._server_time, counted(instant))

    def wait_at_least(self, milliseconds: int) -> None:
        """The server asks for a pause before the next connection."""
        self._wait_at_least = min(counted(milliseconds) / 1000, LONGEST_WAIT)

    def next_delay(self, least: float, count: int) -> float:
        return max(least, clock.backoff(self._random, count))

    # Making connections

    def begin(self) -> asyncio.Future[Values]:
        """The first sign-in, which raises where none can come."""
        if self.first is None:
            self.first = asyncio.get_running_loop().create_future()
        return self.first

    def open(self) -> None:
        self.timers.stop("retry")
        self.attempt = object()
        self._set_state("connecting")
        self.tasks.spawn(self._run(self.attempt))

    def open_now(self) -> None:
        """Tries now where it waits to, or where a token function has not answered yet."""
        if self.state == "connecting" and self._tokens.is_asking and self._trying is None:
            self._tokens.abandon()
        elif self.state != "waiting":
            return
        self._choice.begin_anew()
        self.open()

    def _set_state(self, state: str, **details: Any) -> None:
        self.state = state
        self._emitter.emit("state", {"state": state, **details})

    async def _run(self, attempt: object) -> None:
        """One connection, from its token to its end."""
        try:
            token = await self._tokens.for_connection(self._left)
        except Exception as error:
            if self.attempt is attempt:
                self._lose(0, "no token", error)
            return
        if self.attempt is not attempt:
            return
        name = self._trying = self._choice.next(clock.now())
        self.timers.start("connect", CONNECT_TIMEOUT, self._give_up)
        transport: Transport | None = None
        is_open, code = False, 1006
        reason: str | None = None
        fault: Exception | None = None
        try:
            transport = self._make(name)
            # A stream that begins has been answered.
            self._transport = transport if isinstance(transport, StreamTransport) else None
            await transport.open(token, self.platform, self._device_id)
            if self.attempt is not attempt:
                return
            self._transport, is_open = transport, True
            self._tokens.used = token
            if name == "websocket":
                self.tasks.spawn(self._sign_in(attempt, token))
            while True:
                received = await transport.receive()
                if self.attempt is not attempt:
                    return
                if self._take(received):
                    # Whoever waits for the answer goes on before the next frame is read.
                    await asyncio.sleep(0)
                await self._owner.room()
        except TransportClosed as end:
            code, reason, fault = end.code, end.reason, end.error
        except StreamsUnavailable as error:
            if self.attempt is attempt:
                self._choice.is_unavailable(clock.now())
                self._trying = None
            reason, fault = f"no event streams: {error}", error
        except ClientError as error:
            if self.attempt is attempt:
                self.break_off(error)
            return
        except InvalidAddress as error:
            if self.attempt is attempt:
                self.end(0, str(error), error)
            return
        except Exception as error:
            # A fault of the client's own is seen in `state`.
            reason, fault = str(error), error
        finally:
            if transport:
                await transport.close()
        if self.attempt is not attempt:
            return
        if name == "stream" and self._trying and code == 4500 and (found := re.match(r"(\d{4,5}) ?(.*)", reason or "", re.DOTALL)):
            # A sign-in that is refused, as the answer to a login would be.
            return self._refused(ThrongError("login", {"code": int(found[1]), "message": found[2] or reason}))
        self._lose(code, reason, fault, is_open=is_open)

    def _give_up(self) -> None:
        if self._trying == "stream":
            is_answered = isinstance(self._transport, StreamTransport) and self._transport.is_open
            return self._lose(1006, HELD_BACK if is_answered else NO_STREAM)
        self._lose(1006, "no answer in time")

    @property
    def _left(self) -> float:
        """How long the token of the session still holds, in seconds."""
        if self.session is None:
            return math.inf
        lifetime = (self.session["tokenExpiresAt"] - self.session["serverTime"]) / 1000
        return float(lifetime - (clock.now() - self._session_at))

    async def _sign_in(self, attempt: object, token: str) -> None:
        details = {"token": token, "platform": self.platform, "deviceID": self._device_id}
        try:
            session = await self.request("login", {name: value for name, value in details.items() if value is not None}, SESSION)
        except ClientError as error:
            if error.reason == "TooLarge":
                self.end(0, "the token is too long", error)
            return
        except ThrongError as error:
            if self.attempt is attempt:
                self._refused(error)
            return
        if self.attempt is attempt:
            self._signed_in(bounded_session(session))

    def _refused(self, error: ThrongError) -> None:
        """The sign-in was refused."""
        self._trying = None
        self._wait_at_least = max(self._wait_at_least, error.retry_after)
        is_revoked = error.code == 70021
        is_ended = error.code == 70001 or is_revoked
        if is_ended:
            self._tokens.note_refused()
        # A function whose second token is revoked as well has no other.
        may_ask_again = is_ended and self._tokens.may_renew and not (is_revoked and self._was_revoked)
        is_final = not error.temporary and not may_ask_again
        if is_revoked:
            self._was_revoked = True
            self._wait_at_least = max(self._wait_at_least, REVOCATION_PAUSE)
        self._lose(4500 if is_final else 0, error.message, error, is_final=is_final, is_open=True)

    def _signed_in(self, session: Values) -> None:
        self.timers.stop("connect")
        if self.user_id and self.user_id != session["userID"]:
            return self.end(0, f"the new token is of another user, {session['userID']}")
        moment = clock.now()
        self._trying = None
        self._choice.signed_in(moment)
        self.session, self._signed_in_at, self._session_at = session, moment, moment
        self._was_revoked = False
        self._watch(session["heartbeat"])
        self._look_for_websockets()
        self._set_state("online", transport=self._name)
        if self.first and not self.first.done():
            self.first.set_result(session)
        if self.state == "online":
            self._owner.signed_in()

    @property
    def _name(self) -> str:
        return self._transport.name if self._transport else "websocket"

    # Life

    def _watch(self, interval: float) -> None:
        """After a silent interval a request asks for a sign of life."""
        def look() -> None:
            self._watch(interval)
            was_heard, self._heard = self._heard, False
            if not was_heard and "ping" not in self.timers:
                self.timers.start("ping", PING_TIMEOUT, lambda: self._lose(4003, "no sign of life", is_open=True))
                self.tasks.spawn(self._ping())
        self.timers.start("life", interval, look)

    async def _ping(self) -> None:
        # An error is a sign of life too, and a connection that has ended needs none.
        with contextlib.suppress(ClientError, ThrongError):
            await self.request("ping", {}, TIME)

    # From a stream to a WebSocket

    def _look_for_websockets(self) -> None:
        if self._name == "stream" and self._choice.looks_for_websockets:
            self.timers.start("probe", max(1, self._choice.quiet_left(clock.now())), self._probe_soon)

    def _probe_soon(self) -> None:
        if self._pending:
            return self.timers.start("probe", 1, self._probe_soon)
        self.timers.stop("probe")
        self.tasks.spawn(self._probe(self.attempt))

    async def _probe(self, attempt: object | None) -> None:
        """Opens a WebSocket beside the stream, to see whether one passes."""
        transport = self._make("websocket")
        try:
            await clock.within(transport.open("", None, None), CONNECT_TIMEOUT, TransportClosed(1006, "no answer in time"))
            passes = True
        except (TransportClosed, InvalidAddress):
            passes = False
        finally:
            await transport.close()
        if self.attempt is not attempt:
            return
        if passes:
            self._is_leaving = True
            self._leave_stream()
        else:
            self._choice.probe_failed(clock.now())
            self._look_for_websockets()

    def _leave_stream(self) -> None:
        """A WebSocket passes: the next connection is one, as soon as nothing is under way."""
        if self._is_leaving and not self._pending:
            self._choice.begin_anew()
            self._disconnect()
            self.open()

    # Requests

    async def request(self, method: str, params: Values, fits: Check | None = None) -> Values:
        """`fits`: whether a result is one of the method, for the client's own requests: otherwise the connection is
        given up."""
        return (await self.request_sized(method, params, fits))[0]

    async def request_sized(self, method: str, params: Values, fits: Check | None = None) -> Result:
        """The result, and the size of its text."""
        if self._transport is None or (self._trying == "stream"):
            raise ClientError("NotConnected")
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        text = encoded(request)
        if len(text.encode()) > LARGEST_FRAME:
            raise ClientError("TooLarge")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        pending, number = self._pending, self._number
        pending[number] = future, method, fits
        self._emitter.emit("frame", "out", request)
        try:
            if self._transport is not None:
                await self._transport.send(number, text)
            return await future
        finally:
            # Nobody waits for the answer any more.
            pending.pop(number, None)

    def _take(self, received: Received | TooLong) -> bool:
        """Answers whether it was an answer."""
        if isinstance(received, TooLong):
            if found := self._pending.pop(received.number, None):
                fail(found[0], ClientError("TooLarge"))
            return True
        if received.is_life:
            self._heard = True
            self.timers.stop("ping")
        if received.text == "":
            return False
        frame, size = read_frame(received.text), len(received.text)
        if self._trying == "stream":
            self._begin_stream(frame)
            return True
        self._emitter.emit("frame", "in", frame)
        if frame.get("method") is not None:
            self._owner.received_event(frame["method"], frame["params"], size)
            return False
        if is_integer(frame.get("id")) and frame["id"] in self._pending:
            self._receive_answer(frame, size)
        return True

    def _begin_stream(self, frame: Values) -> None:
        """The first frame of a stream is the answer to its sign-in."""
        params = frame.get("params")
        if frame.get("method") != "onConnectSuccess" or not SESSION(params) or not STREAM(params):
            refuse("a stream that does not begin with a session")
        assert isinstance(params, dict) and isinstance(self._transport, StreamTransport), "it is one"
        self._emitter.emit("frame", "in", frame)
        self.note_time(params["serverTime"])
        self._trying = None
        self._transport.authorize(params["streamKey"])
        self._signed_in(bounded_session({name: value for name, value in params.items() if name != "streamKey"}))

    def _receive_answer(self, frame: Values, size: int) -> None:
        future, method, fits = self._pending[frame["id"]]
        error, result = frame.get("error"), frame.get("result")
        answer: ThrongError | ClientError | None = None
        if error is not None:
            answer = read_error(method, error)
        elif not (fits or is_object)(result):
            if fits:
                # It stays among those without an answer, which the end of the connection refuses.
                refuse(f"an answer that is none of {method}")
            answer = ClientError("BadAnswer", f"an answer that is none of {method}")
        del self._pending[frame["id"]]
        if answer is None and isinstance(result, dict) and is_integer(result.get("serverTime")):
            self.note_time(result["serverTime"])
        if answer is not None:
            fail(future, answer)
        elif not future.done() and isinstance(result, dict):
            future.set_result((result, size))
        self._leave_stream()

    def abandon_token(self) -> None:
        """Nobody waits for the token function any more."""
        self._tokens.abandon()

    def break_off(self, error: ClientError) -> None:
        """The server breaks the protocol: another connection may lead to a better one."""
        self._lose(0, "a frame that this client cannot read", error, is_open=True, is_breach=True)

    # Ends

    def _lose(
        self, code: int, reason: str | None, error: Exception | None = None, is_final: bool | None = None, is_open: bool = False,
        is_breach: bool = False,
    ) -> None:
        """The connection is gone, or given up: comes back unless a retry is pointless."""
        if self._trying and code in (0, 1006):
            self._choice.failed(clock.now())
        if code == 4006:
            self._tokens.note_refused()
        is_final = 4500 <= code < 5000 if is_final is None else is_final
        if is_final or (code == 4006 and not self._tokens.may_renew) or self.is_logging_out:
            return self.end(code, reason, error)
        name = self._name
        self._disconnect()
        if self._signed_in_at is not None and clock.now() - self._signed_in_at >= GOOD_SESSION and not is_breach:
            self._losses = 0
        self._signed_in_at = None
        delay = max(clock.backoff(self._random, self._losses), self._wait_at_least)
        self._losses += 1
        self._wait_at_least = 0
        self.timers.start("retry", delay, self.open)
        self._set_state("waiting", code=code, reason=reason, error=error, isOpen=is_open, retryInMs=round(delay * 1000), transport=name)

    def end(self, code: int, reason: str | None, error: Exception | None = None) -> None:
        if self.state == "closed":
            return
        self._disconnect()
        self.state = "closed"
        closed = ClientError("Closed", reason)
        self._owner.ended(closed)
        if self.first and not self.first.done():
            self.first.set_exception(error or closed)
            self.first.exception()  # it is no complaint of asyncio's when nobody awaits it
        self._emitter.emit("state", {"state": "closed", "code": code, "reason": reason, "error": error})

    def _disconnect(self) -> None:
        self.attempt = self._trying = None
        self._is_leaving = False
        transport, self._transport = self._transport, None
        self.timers.stop_all()
        if transport:
            self.tasks.spawn(transport.close())
        self._heard = False
        pending, self._pending = self._pending, {}
        self._owner.disconnected()
        for future, _, _ in pending.values():
            fail(future, ClientError("ConnectionLost"))

    # The token

    async def _renew(self) -> None:
        """A new token before the old one ends; without one the session ends with 4006, and the next begins with one."""
        if not self._tokens.may_renew or self._is_renewing or self.attempt is None:
            return
        self.timers.stop("renew")
        self._renewal_began = clock.now()
        self._is_renewing, attempt = True, self.attempt
        try:
            token = await self._tokens.renew()
            if self.attempt is attempt:
                await self._renew_with(token)
        except Exception as error:
            if isinstance(error, ThrongError):
                self._tokens.note_renewal_refused()
            self._emitter.emit("renewalFailed", error)
            if self.attempt is attempt:
                self._renew_later()
        finally:
            self._is_renewing = False

    async def _renew_with(self, token: str) -> None:
        session = bounded_session(await self.request("login", {"token": token}, SESSION))
        self._tokens.used = token
        self.session, self._session_at = session, clock.now()
        self._emitter.emit("renewed", session)
        if self._left < 60:
            # The server warns of it at once, and the application may have no better one.
            self._renew_later()

    def _renew_later(self) -> None:
        # Half of what is left, so that there are a few tries.
        if self._left > 2:
            self.timers.start("renew", min(RENEWAL_PAUSE, self._left / 2), self.tasks.spawn_later(self._renew))

    def renew_soon(self) -> None:
        """The token is about to end. A renewal that is under way, or planned, sees to it."""
        if self.state != "online" or self._is_renewing or "renew" in self.timers:
            return
        if self._renewal_began is not None and clock.now() - self._renewal_began < RENEWAL_PAUSE:
            self._renew_later()
        else:
            self.tasks.spawn(self._renew())


def fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # it is no complaint of asyncio's when nobody awaits it
