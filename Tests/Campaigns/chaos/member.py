"""A user with a client that connects again, resumes by syncGroups, and repeats messages by clientMsgID."""
import asyncio
import itertools
import json
import time
from collections import Counter
from urllib.parse import urlencode

import websockets
from harness.tokens import make_token
from harness.waiting import within
from websockets.asyncio.client import connect

from .records import Ack, Event, News, Request, SessionLog
from .wall_clock import TOKEN_LIFETIME

# Seconds.
CONNECT_PATIENCE = 4
REPLY_PATIENCE = 6
PING_INTERVAL = 1.5
# Of these every node must hear before they are answered.
TOLD_TO_ALL = {"setSelfInfo"}
_numbers = itertools.count(1)


class Refused(Exception):
    def __init__(self, error):
        super().__init__(str(error))
        self.code = error["code"]
        self.is_temporary = error["data"]["temporary"]
        self.retry_after = error["data"].get("retryAfterMs", 0) / 1000


class Gone(Exception):
    """The session ended, or does not answer: whether a request was performed is unknown."""


class Session:
    """One connection, signed in by its address."""

    def __init__(self, member, node, socket):
        self.member, self.node, self.socket = member, node, socket
        self.log = SessionLog(next(_numbers), member.user, node.name, time.monotonic())
        self._ids = itertools.count(1)
        self._pending, self._requests = {}, {}
        self.welcome = asyncio.get_running_loop().create_future()
        self.reader = asyncio.create_task(self._read())

    async def call(self, method, patience=REPLY_PATIENCE, **params):
        number = next(self._ids)
        future = self._pending[number] = asyncio.get_running_loop().create_future()
        self._requests[number] = Request(method, params.get("groupID"), params.get("clientMsgID"))
        try:
            await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            if self.reader.done():
                raise Gone
            answer = await within(future, patience)
        except (TimeoutError, OSError, websockets.ConnectionClosed) as error:
            raise Gone from error
        finally:
            self._pending.pop(number, None)
            self._requests.pop(number, None)
        if "error" in answer:
            refusal = Refused(answer["error"])
            self.member.tally.refused[refusal.code] += 1
            raise refusal
        return answer["result"]

    async def _read(self):
        try:
            async for text in self.socket:
                self._take(json.loads(text))
        except (OSError, websockets.ConnectionClosed):
            pass  # the code is in the log
        finally:
            self.log.ended, self.log.code = time.monotonic(), self.socket.close_code
            self.log.pending = [self._requests[number] for number, future in self._pending.items() if not future.done()]
            for future in [*self._pending.values(), self.welcome]:
                if not future.done():
                    future.set_exception(Gone())
                    future.exception()

    def _take(self, frame):
        if "method" not in frame:
            future = self._pending.get(frame["id"])
            if future and not future.done():
                future.set_result(frame)
            return
        name, params = frame["method"], frame["params"]
        if name == "onConnectSuccess":
            self.log.welcomed = time.monotonic()
            self.welcome.set_result(params)
        if name == "onUsersStatusChanged":
            self.log.statuses.update({row["userID"]: row for row in params["userList"]})
        if name == "onGroupAttributeChanged":
            self.log.seats = params["groupAttributeMap"]
        if "groupID" not in params:
            return
        message = params.get("message") or {}
        event = Event(name, params["groupID"], params.get("seq", message.get("seq")), params.get("msgID", message.get("msgID")),
                      name == "onRecvNewMessage")
        self.log.events.append(event)
        if event.seq is not None:
            self.member.note(event.group, event.seq, event.msgID)

    def cut(self):
        self.socket.transport.abort()


class Tally:
    """Counts of one round."""

    def __init__(self):
        self.closed, self.refused = Counter(), Counter()
        self.acks = 0
        # Seconds between the first attempt and the reply.
        self.longest = 0


class Member:
    """`home`: the node that it always connects to. A patient client waits for ever for replies of its
    keep-alive: a server that was stopped finds it still there."""

    # Seconds in which a message must be taken; more where a fault lasts longer.
    patience = 60
    # As `websockets` has it: None, or "deflate".
    compression = None

    def __init__(self, user, choose, groups, journal, home=None, is_patient=False, watched=()):
        self.user, self.choose, self.journal = user, choose, journal
        self.home, self.is_patient, self.watched = home, is_patient, watched
        # The stored groups that it is a member of all the time.
        self.groups = groups
        self.views = {group: {} for group in groups}
        self._positions = dict.fromkeys(groups, 0)
        self.epochs = {}
        self.session = None
        # How often no reply came, or a temporary refusal: the request may have been performed.
        self.doubts = 0
        self._is_there = asyncio.Event()
        self._news = asyncio.Event()
        self._names = itertools.count(1)
        self._running = asyncio.create_task(self._run())

    @property
    def tally(self):
        return self.journal.tally

    # The view

    def note(self, group, seq, msgID):
        if group in self.views:
            known = self.views[group].setdefault(seq, msgID)
            if known != msgID:
                self.journal.fault("A seq is one message", f"{self.user}: {group}/{seq} is {known}, and then {msgID}")
            self._news.set()

    def position(self, group):
        """The last seq up to which nothing is missing."""
        view, last = self.views[group], self._positions[group]
        while last + 1 in view:
            last += 1
        self._positions[group] = last
        return last

    async def reaches(self, group, seq):
        while self.position(group) < seq:
            self._news.clear()
            await self._news.wait()

    # The connection

    async def _run(self):
        pause = 0.05
        while True:
            session = await self._connect()
            if session is None:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.8)
                continue
            try:
                await self._resume(session)
                await self._watch(session)
                pause = 0.05
                self.session = session
                self._is_there.set()
                await self._keep(session)
            except Gone:
                session.cut()
            self._is_there.clear()
            self.session = None
            await session.reader
            self.tally.closed[session.log.code] += 1

    async def _open(self, node):
        """The socket; raises where nobody answers."""
        url = f"{node.url}?{urlencode({'token': make_token(self.user, ttl=TOKEN_LIFETIME), 'platform': 'Web'})}"
        return await connect(
            url, max_size=None, max_queue=None, ping_interval=None, open_timeout=CONNECT_PATIENCE, close_timeout=1,
            compression=self.compression, proxy=None)

    async def _connect(self):
        node = self.home or self.choose()
        if node is None:
            return None
        asked = time.monotonic()
        try:
            socket = await self._open(node)
        except (OSError, TimeoutError, websockets.WebSocketException):
            return None
        session = Session(self, node, socket)
        session.log.asked = asked
        self.journal.sessions.append(session.log)
        try:
            await within(asyncio.shield(session.welcome), CONNECT_PATIENCE)
            return session
        except (Gone, TimeoutError):
            session.cut()
            await session.reader
            self.tally.closed[session.log.code] += 1
            return None

    async def _resume(self, session):
        """Gets what it has missed. Groups whose owner is away are asked for again."""
        left = set(self.groups)
        while left:
            wanted = [
                {"groupID": group, "epoch": self.epochs.get(group, ""), "seq": self.position(group)} for group in sorted(left)]
            try:
                answer = await session.call("syncGroups", groups=wanted)
            except Refused as refusal:
                if not refusal.is_temporary:
                    self.journal.fault("A cut client resumes", f"{self.user}: syncGroups was refused with {refusal}")
                    return
                answer = {"groups": []}
            is_late = not answer["groups"]
            for row, asked in zip(answer["groups"], wanted):
                if row["code"] == 10002:
                    self.tally.refused[10002] += 1
                    is_late = True
                elif row["code"] != 0 or (asked["epoch"] and not row["recovered"]):
                    self.journal.fault("A cut client resumes", f"{self.user}: asked {asked}, got {row}")
                    left.discard(row["groupID"])
                else:
                    self.epochs[row["groupID"]] = row["epoch"]
                    for message in row["messageList"]:
                        self.note(row["groupID"], message["seq"], message["msgID"])
                    # The first time there is no epoch to resume with.
                    if asked["epoch"] and not row.get("more"):
                        left.discard(row["groupID"])
            if is_late:
                await asyncio.sleep(0.1)
        session.log.resumed = time.monotonic()

    async def _watch(self, session):
        """A new session watches nobody."""
        while self.watched:
            try:
                answer = await session.call("subscribeUsersStatus", userIDList=list(self.watched))
            except Refused as refusal:
                if not refusal.is_temporary:
                    self.journal.fault("Users may be watched", f"{self.user}: {refusal}")
                    return
                await asyncio.sleep(0.1)
                continue
            rows = {row["userID"]: row for row in answer["userList"]}
            # The events of changes come behind the answer.
            session.log.statuses = {user: session.log.statuses.get(user, rows.get(user)) for user in self.watched}
            return

    async def _keep(self, session):
        while not session.reader.done():
            await asyncio.wait([session.reader], timeout=PING_INTERVAL)
            if not session.reader.done() and not self.is_patient:
                try:
                    await session.call("ping")
                except Refused:
                    pass  # it is there

    async def there(self):
        """The session, when there is one."""
        # One that came may have gone before this goes on.
        while self.session is None:
            await self._is_there.wait()
        return self.session

    async def leave(self):
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        if self.session:
            self.session.cut()

    # Requests

    async def send(self, group, word="c"):
        """Sends a message until it is acknowledged. Only temporary refusals are repeated."""
        name, began, sessions = f"{word}-{self.user}-{next(self._names)}", time.monotonic(), set()
        while True:
            session = await self.there()
            sessions.add(session.log.number)
            try:
                answer = await session.call("sendGroupTextMessage", groupID=group, text=name, clientMsgID=name)
                break
            except Gone:
                session.cut()
                # Its end is noticed by the loop that connects.
                await asyncio.wait([session.reader])
            except Refused as refusal:
                if not refusal.is_temporary:
                    self.journal.fault("A member's message is taken", f"{name} to {group}: {refusal}")
                    return None
                await asyncio.sleep(max(refusal.retry_after, 0.05))
            if time.monotonic() - began > self.patience:
                self.journal.fault("Messages are taken after a fault", f"{name} to {group} was not within {self.patience} s")
                return None
        ack = Ack(self.user, group, name, answer["msgID"], answer.get("seq"), answer["status"], began, time.monotonic(), sessions)
        self.journal.acks.append(ack)
        self.tally.acks += 1
        self.tally.longest = max(self.tally.longest, ack.ended - ack.began)
        if ack.seq is not None:
            self.note(group, ack.seq, ack.msgID)
        return ack

    async def write_once(self, group):
        """Sends a message and does not repeat it; gives what became of it in a word."""
        name, began = f"once-{self.user}-{next(self._names)}", time.monotonic()
        session = await self.there()
        try:
            answer = await session.call("sendGroupTextMessage", 60, groupID=group, text=name, clientMsgID=name)
        except Gone:
            return f"closed {session.log.code}"
        except Refused as refusal:
            return str(refusal.code)
        self.journal.acks.append(Ack(
            self.user, group, name, answer["msgID"], answer.get("seq"), answer["status"], began, time.monotonic(),
            {session.log.number}))
        self.note(group, answer["seq"], answer["msgID"])
        return "acknowledged"

    async def request(self, method, done_codes=(), **params):
        """A change of the user itself, repeated until it is done; `done_codes` say that it was done before."""
        while True:
            session, news = await self.there(), None
            if method in TOLD_TO_ALL:
                self.journal.news.append(news := News(self.user, time.monotonic()))
            try:
                answer = await session.call(method, **params)
                if news:
                    news.ended = time.monotonic()
                return answer
            except Gone:
                self.doubts += 1
                session.cut()
                await asyncio.wait([session.reader])
            except Refused as refusal:
                if refusal.code in done_codes:
                    return None
                if not refusal.is_temporary:
                    self.journal.fault("A user's request is done", f"{method} of {self.user} {params}: {refusal}")
                    return None
                await asyncio.sleep(0.1)
