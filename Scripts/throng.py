#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of Throng for asyncio, in one file; it needs PyPI's `websockets`.

    client = ThrongClient("ws://127.0.0.1:8080/ws", token=fetch_token)
    client.on("onRecvNewMessage", lambda event: print(event["message"]["sender"], event["message"].get("text")))
    await client.connect()
    await client.joinGroup(groupID="hello")
    message = client.send_text("hello", "Hello!")
    print((await message.done).state)

It connects again after a loss, asks for everything that was missed, and sends no message twice, as
Protocol.md, "Reconnecting" describes. Events of the server have its names and parameters; the
client's own are `state`, `message`, `sync`, `ready`, `renewed`, `renewalFailed`, `resumeFailed`, `status` and `watchFailed`.

Where no server answers it says so with the logger `throng`, which prints to stderr unless the program has set `logging`
up otherwise: `logging.getLogger("throng").disabled = True` silences it.

As a program:  throng.py URL TOKEN listen GROUP    |    throng.py URL TOKEN say GROUP TEXT
"""
import argparse
import asyncio
import bisect
import inspect
import json
import logging
import random
import re
import secrets
import sys
import time
from collections import deque

import websockets

# Warnings without a handler go to stderr.
logger = logging.getLogger("throng")

# The least delay before the next connection, and the bounds of a random one, in seconds.
LEAST_BACKOFF = 0.1
FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 20
# A session that lived this long was a good one: the next loss begins with the first delay again.
GOOD_SESSION = 10
CONNECT_TIMEOUT = 20
PING_TIMEOUT = 10
# How long `close` waits for the end of the connection.
CLOSE_TIMEOUT = 2
# The shortest time from a renewal of the token to the next.
RENEWAL_PAUSE = 10
# Messages under way at the same time; more wait here.
WINDOW = 32
# The server knows a clientMsgID for 5 minutes; this leaves it time to answer.
REPEATABLE = 270
# How long a message is sent again that the server refuses as temporary.
LONGEST_REFUSAL = 120
# A message that waits at the server leaves or is dropped within 1.1 s (Protocol.md, "Waiting messages").
LONGEST_QUEUED = 1.5
# Settled messages that are remembered, so that no history brings them a second time.
REMEMBERED = 1000
# The server takes no longer message (Protocol.md, "Frames").
LARGEST_FRAME = 65_536
GROUPS_PER_SYNC = 50
# A resume looks back so much farther, in milliseconds, because the server's clock may be off.
LOOK_BACK = 60_000

# The bounds of what a client takes from a server, whoever runs it (Clients.md, "Bounds").

# What a server may ask for, in seconds.
LONGEST_WAIT = 86_400
LONGEST_HEARTBEAT = 86_400
# A message of the WebSocket: 50 groups of a resume with 100 long messages each. An event is much shorter.
LARGEST_MESSAGE = 1 << 26
LARGEST_EVENT = 1 << 20
MOST_FRAGMENTS = 65_536
DEEPEST_FRAME = 32
LARGEST_NUMBER = 1 << 53
# An ID or epoch: the protocol's longest has 64 bytes.
LONGEST_IDENTIFIER = 256
LONGEST_WORDS = 1024
# The groups of a user; the text that lists them in a resume, and the pages that do.
MOST_GROUPS = 50_000
LARGEST_LIST = 1 << 26
MOST_LIST_PAGES = 1000
# The pages of one group's history in a resume: a million messages. The next one goes on there.
MOST_HISTORY_PAGES = 10_000
# How often a resume asks for a group anew because more events came than may wait.
MOST_REPEATS = 10
# Events that wait for the syncs of their groups, and their text; the text of those that wait for one reader.
HELD_LIMIT = 10_000
LARGEST_HELD = 1 << 23
LARGEST_QUEUE = 1 << 25
MOST_LOST_GROUPS = 10_000
# Groups that are not tracked yet: those entered, and those of which the last place is kept.
MOST_NEW_GROUPS = 1000
# Own messages of a group beyond its place.
MOST_OWN_MESSAGES = 1000
# Own messages that wait at the server at the same time.
MOST_QUEUED = 100
# Calls of the application that the server has not answered.
MOST_CALLS = 1000
# Users whose status is watched: the most that a server can be set up to allow; and those that one request names.
MOST_WATCHED = 10_000
USERS_PER_WATCH = 100
# The shortest time from one signal "typing" in a group to the next.
TYPING_PAUSE = 3
# Groups of which it is remembered when their slow mode lets the user write.
MOST_SLOW_GROUPS = 1000
# A token's `iat` has whole seconds, so that one of the second of a revocation may be refused as well.
REVOCATION_PAUSE = 1

# Events whose `seq` is that of a tip, which the history keeps.
TIPS = {"onGroupCreated", "onMemberEnter", "onMemberLeave", "onMemberInvited", "onMemberKicked", "onGrantAdministrator",
        "onRevokeAdministrator", "onGroupInfoChanged", "onGroupMemberInfoChanged"}
CHANGES = {"onRecvMessageRevoked", "onRecvMessageModified", "onRecvMessageReactionsChanged", "onGroupMessagePinned"}
ENDS = {"onGroupDismissed", "onGroupRecycled", "onQuitFromGroup"}
ENTRIES = {"onGroupCreated", "onMemberEnter", "onMemberInvited"}
LIVE = "AVChatRoom"


class ThrongError(Exception):
    """An error that the server answered. `temporary`: the same request may succeed later."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error['message']} ({error['code']})")
        data = error.get("data") or {}
        self.method, self.code, self.message = method, error["code"], error["message"]
        self.temporary, self.field = data.get("temporary", False), data.get("field")
        self.retry_after = data.get("retryAfterMs", 0) / 1000


class ClientError(Exception):
    """A request or message without an answer; `reason` is NotConnected, ConnectionLost (whether it was carried out is
    not known), OutcomeUnknown (the same, too long ago to send it again), QueueFull, TooLarge, BadAnswer (the server has
    answered what no server of this protocol does) or Closed."""

    def __init__(self, reason, detail=None):
        super().__init__(detail or reason)
        self.reason = reason


# What a server says. Nothing else reads a frame: each value comes out typed and within its bounds, or the frame is no
# answer at all. An optional member that is null counts as absent.

def refuse(detail):
    raise ClientError("BadAnswer", detail)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def is_identifier(value):
    # With half of a surrogate pair it would go back as another one (see `encoded`).
    return isinstance(value, str) and len(value) <= LONGEST_IDENTIFIER and not re.search("[\ud800-\udfff]", value)


def is_object(value):
    return isinstance(value, dict)


def list_of(fits):
    return lambda value: isinstance(value, list) and all(map(fits, value))


def optional(fits):
    return lambda value: value is None or fits(value)


def object_of(**members):
    """Whether an object has members of these types; others do not matter."""
    return lambda value: isinstance(value, dict) and all(fits(value.get(name)) for name, fits in members.items())


def counted(value):
    """A number of the server as one that can be counted on: an instant in milliseconds, a place in a history."""
    return min(max(0, value or 0), LARGEST_NUMBER)


def words(text):
    return text if len(text) <= LONGEST_WORDS else text[:LONGEST_WORDS] + "…"


is_message = object_of(
    msgID=is_identifier, sender=is_text, clientMsgID=optional(is_text), seq=optional(is_integer),
    changeSeq=optional(is_integer), timestamp=is_integer)
is_group_info = object_of(
    groupID=is_identifier, groupType=is_text, epoch=optional(is_identifier), lastSeq=optional(is_integer),
    firstSeq=optional(is_integer), changeSeq=optional(is_integer), selfInfo=optional(is_object))
is_error = object_of(code=is_integer, message=is_text, data=optional(object_of(
    temporary=optional(lambda value: isinstance(value, bool)), field=optional(is_text), retryAfterMs=optional(is_integer))))
is_row = object_of(groupID=is_text, code=is_integer)
is_recovered = object_of(
    messageList=list_of(is_message), changeList=optional(list_of(is_message)), lastSeq=is_integer, changeSeq=optional(is_integer))
is_lost = object_of(epoch=is_identifier, lastSeq=is_integer, changeSeq=optional(is_integer))


is_status = object_of(
    userID=is_text, isOnline=lambda value: isinstance(value, bool), platformList=list_of(is_text), customStatus=is_text,
    lastOnlineTime=is_integer)


def is_history(row):
    """A row of syncGroups."""
    if not is_row(row) or row["code"] != 0:
        return is_row(row)
    return is_recovered(row) if row.get("recovered") is True else is_lost(row)


# The results of the client's own requests.
SESSION = object_of(userID=is_identifier, sessionID=is_identifier, serverTime=is_integer, tokenExpiresAt=is_integer, heartbeat=is_integer)
TIME = object_of(serverTime=is_integer)
SENT = object_of(msgID=is_identifier, seq=optional(is_integer), timestamp=is_integer, status=is_text)
GROUPS = object_of(groupList=list_of(is_group_info), leftGroupIDList=list_of(is_identifier), nextSeq=is_integer)
INFOS = object_of(resultList=list_of(lambda row: is_row(row) and (row["code"] != 0 or is_group_info(row.get("info")))))
HISTORY = object_of(groups=list_of(is_history))
STATUSES = object_of(userList=list_of(is_status))

# What the client reads in an event, whatever its name, and in those of these names.
ANY_EVENT = object_of(
    groupID=optional(is_text), opTime=optional(is_integer), seq=optional(is_integer), changeSeq=optional(is_integer),
    memberList=optional(list_of(object_of(userID=is_text))))
EVENTS = {
    "onRecvNewMessage": object_of(groupID=is_text, message=is_message),
    "onRecvMessageModified": object_of(groupID=is_text, message=is_object),
    "onServerDraining": object_of(retryAfterMs=is_integer),
    "onMessageDropped": object_of(msgID=is_identifier, clientMsgID=optional(is_text)),
    "onUsersStatusChanged": object_of(userList=list_of(is_status)),
    "onGroupSignal": object_of(groupID=is_text, name=is_text, data=optional(is_text), sender=is_text),
}


def check_value(frame):
    """Bounds numbers and levels: what is deeper would end a recursion of the application's."""
    level, depth = [frame], 1
    while level:
        if any(isinstance(one, (int, float)) and not abs(one) <= LARGEST_NUMBER for one in level):
            refuse("a number beyond 2⁵³")
        outer = [one for one in level if isinstance(one, (dict, list))]
        if outer and depth > DEEPEST_FRAME:
            refuse(f"a frame of more than {DEEPEST_FRAME} levels")
        level = [one for value in outer for one in (value.values() if isinstance(value, dict) else value)]
        depth += 1


def read_frame(text):
    """A frame: an event (`method`), or an answer (`id`, and `result` or `error`)."""
    if not isinstance(text, str):
        refuse("a binary message")
    try:
        # RecursionError is one of Python's own, long before the stack ends.
        frame = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        refuse(words(str(error)))
    if not isinstance(frame, dict):
        refuse("a frame that is no object")
    check_value(frame)
    name = frame.get("method")
    if not optional(is_text)(name):
        refuse("an event without a name")
    if name is not None and not isinstance(frame.get("params"), dict):
        refuse("an event without parameters")
    if name is not None and len(text) > LARGEST_EVENT:
        refuse(f"an event of {len(text)} characters")
    return frame


async def read_message(socket):
    """The next message, whose fragments must have an end."""
    parts = []
    async for part in socket.recv_streaming():
        parts.append(part)
        if len(parts) > MOST_FRAGMENTS:
            refuse(f"a message of more than {MOST_FRAGMENTS} fragments")
    return "".join(parts) if all(isinstance(part, str) for part in parts) else b""


def read_error(method, error):
    """The error of an answer."""
    if not is_error(error):
        refuse("an error that is none of the protocol's")
    data = error.get("data") or {}
    wait = min(counted(data.get("retryAfterMs")), LONGEST_WAIT * 1000)
    field = data.get("field")
    data = {"temporary": data.get("temporary") or False, "field": words(field) if field else field, "retryAfterMs": wait}
    return ThrongError(method, {"code": error["code"], "message": words(error["message"]), "data": data})


def bounded_session(session):
    return {**session, "serverTime": counted(session["serverTime"]), "tokenExpiresAt": counted(session["tokenExpiresAt"]),
            "heartbeat": min(max(1, session["heartbeat"]), LONGEST_HEARTBEAT)}


def remembers_messages(info):
    """Whether a group is a live room that remembers its last messages: alone among groups it has no `firstSeq`."""
    return info["groupType"] == LIVE and info.get("epoch") is not None and info.get("firstSeq") is None


def change_conversation(info, change):
    """A group's info with what onConversationChanged tells: selfInfo has what is true, and marks where there are any."""
    own = info.get("selfInfo") if info else None
    if own is None:
        return
    news = {name: change[name] for name in ("isPinned", "isHidden", "isMarkedUnread") if isinstance(change.get(name), bool)}
    if isinstance(change.get("marks"), list):
        news["marks"] = [*change["marks"]]
    for name, value in news.items():
        if value:
            own[name] = value
        else:
            own.pop(name, None)
    if is_integer(change.get("clearedSeq")):
        cleared, last = counted(change["clearedSeq"]), info.get("lastMessage")
        info["firstSeq"], own["unreadCount"] = max(counted(info.get("firstSeq")), cleared + 1), 0
        if isinstance(last, dict) and is_integer(last.get("seq")) and last["seq"] <= cleared:
            del info["lastMessage"]


def read_page(ask, row):
    """The place that a page of a history reaches; never one before the place that was asked from."""
    seq, change_seq = ask["seq"], counted(row.get("changeSeq", ask["changeSeq"]))
    for message in row["messageList"]:
        if counted(message.get("seq")) <= seq:
            refuse("a history that does not ascend")
        seq = counted(message["seq"])
    if change_seq < ask["changeSeq"]:
        refuse("changes that do not ascend")
    return seq, change_seq


def fits_event(name, params):
    return ANY_EVENT(params) and (name not in EVENTS or EVENTS[name](params))


def place_of(name, params):
    """The place of an event in the history of its group: seq and changeSeq, 0 where it has none."""
    if name == "onRecvNewMessage":
        return counted(params["message"].get("seq")), 0
    return (counted(params.get("seq")) if name in TIPS else 0, counted(params.get("changeSeq")) if name in CHANGES else 0)


def now():
    """Seconds of a clock that goes on while the machine sleeps, as the server's does."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def backoff(random, count):
    """A random delay after so many failures."""
    return max(LEAST_BACKOFF, random() * min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(count, 10)))


def encoded(value):
    """JSON as the server takes it: half of a surrogate pair, which UTF-8 does not hold, becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))


def shown_address(url):
    """An address without what may be secret: a user, a password, a query."""
    return re.sub("//[^/]*@", "//", re.sub("[?#].*", "", str(url), flags=re.DOTALL), count=1)


def one_line(text):
    """Words of others as part of a line: no character moves the cursor, or turns the line around."""
    return "".join(one if one.isprintable() else " " for one in text)


def cause_of(code, reason, error):
    """Why a connection has ended."""
    words_of_error = error.message if isinstance(error, ThrongError) else str(error or "")
    # A refused sign-in has the same words twice.
    text = ": ".join(dict.fromkeys(filter(None, (reason, words_of_error)))) or "the connection has ended"
    return one_line(f"{text} ({code})" if code not in (0, 1006) else text)


class Reporter:
    """A handler of `state` that logs a line where there is no connection, where there is one again, and where none will
    be."""

    def __init__(self, url):
        self.address, self.was_online, self.is_away = one_line(shown_address(url)), False, False

    def __call__(self, news):
        state, error = news["state"], news.get("error")
        if state == "waiting":
            self.is_away = True
            cause, delay = cause_of(news["code"], news["reason"], error), news["retryInMs"] / 1000
            logger.warning("throng: not connected to %s: %s; next try in %.1f s", self.address, cause, delay)
        elif state == "online":
            if self.is_away:
                logger.warning("throng: connected to %s", self.address)
            self.was_online, self.is_away = True, False
        elif state == "closed" and self.was_online and not (isinstance(error, ClientError) and error.reason == "Closed"):
            # Before the first sign-in `connect` raises the reason.
            cause = cause_of(news["code"], news["reason"], error)
            logger.warning("throng: the connection to %s is closed for good: %s", self.address, cause)


class EventQueue:
    """Events that wait for one reader, bounded by their number and their text."""

    def __init__(self, limit):
        self._limit, self._events, self._size = max(1, limit), deque(), 0

    def __bool__(self):
        return bool(self._events)

    def put(self, event, size):
        """Answers whether there is room. One event alone may be larger than all may be."""
        has_room = not self._events or (len(self._events) < self._limit and self._size + size <= LARGEST_QUEUE)
        if has_room:
            self._events.append((event, size))
            self._size += size
        return has_room

    def take(self):
        event, size = self._events.popleft()
        self._size -= size
        return event


class TrackedGroup:
    """The part of one group that the application has been told."""

    def __init__(self, group_id, epoch=None, seq=0, changeSeq=0, is_live=False, remembers=False):
        self.group_id, self.epoch, self.is_live = group_id, epoch, is_live
        # A live room whose last messages a sync brings.
        self.remembers = remembers
        self.seq, self.change_seq = counted(seq), counted(changeSeq)
        # Events of this connection that wait until the group is in step; None = they do not wait.
        self.held = None
        # Their text, as they came.
        self.held_size = 0
        # More came than may wait: the group is synchronized once more.
        self.has_overflowed = False
        # Own messages of this session beyond `seq`, which no event brings, ascending.
        self._own = []

    @property
    def has_history(self):
        """Whether a sync may bring what was missed."""
        return not self.is_live or self.remembers

    def reach(self, seq, change_seq=0):
        """Events of a group come in their order: one tells that those before it have come."""
        self.seq, self.change_seq = max(self.seq, seq), max(self.change_seq, change_seq)
        del self._own[:bisect.bisect_right(self._own, self.seq)]
        while self._own and self._own[0] == self.seq + 1:
            self.seq = self._own.pop(0)

    def add_own(self, seq):
        if self.has_history and seq > self.seq:
            bisect.insort(self._own, seq)
            # Others' messages need not come: the next sync brings those before again, and the outbox knows them.
            del self._own[:-MOST_OWN_MESSAGES]
            self.reach(self.seq)

    def restart(self, epoch, seq, change_seq):
        """The history begins anew."""
        self.epoch, self.seq, self.change_seq, self._own = epoch, counted(seq), counted(change_seq), []

    def hold(self):
        """Events wait until the group is in step, unless no sync could bring anything."""
        if self.has_history and self.held is None:
            self.held = []

    def knows(self, seq, change_seq):
        """Whether the application has been told of what an event at this place tells."""
        return 0 < seq <= self.seq or 0 < change_seq <= self.change_seq

    def begins_anew(self, place):
        """Whether an event shows that the room's memory was lost: its places begin anew, under another epoch."""
        return self.is_live and self.remembers and self.held is None and self.knows(*place)


class Message:
    """An own message. `state` is sending, queued (waits at the server), stored, delivered, dropped or failed (with
    `error`); `await message.done` waits for one of the last four."""

    def __init__(self, method, params):
        self.method, self.params = method, params
        self.state, self.error = "sending", None
        self.msg_id = self.seq = self.timestamp = None
        self._restart(0)

    def _restart(self, order):
        self.done = asyncio.get_running_loop().create_future()
        self._order, self._sent_at, self._refused_at, self._after, self._timer = order, None, None, None, None
        # An earlier try was not answered.
        self._is_uncertain = False
        self._flight = None

    @property
    def client_msg_id(self):
        return self.params["clientMsgID"]

    @property
    def group_id(self):
        return self.params["groupID"]


class Outbox:
    """Own messages from sending to their end, in the order in which they leave."""

    def __init__(self, client, limit):
        self.client, self.limit = client, limit
        self.waiting, self.in_flight, self.by_id = [], set(), {}
        # Those that wait at the server.
        self.queued = set()
        self.is_open, self.pause, self.refusals, self.order = False, None, 0, 0
        # Timers of groups that take no message of the user's yet; other groups do.
        self.group_pauses = {}
        # When a group takes the user's next message, as its last refusal said.
        self.write_times = {}

    def start(self, message):
        is_long = len(encoded(message.params).encode()) > LARGEST_FRAME - 256
        self.order += 1
        self.in_flight.discard(message)
        message._restart(self.order)
        self.by_id[message.client_msg_id] = message
        if len(self.waiting) >= self.limit:
            self.settle(message, "failed", error=ClientError("QueueFull"))
        elif is_long:
            self.settle(message, "failed", error=ClientError("TooLarge"))
        else:
            self.waiting.append(message)
            self.client._emit("message", message)
            self.pump()

    def open(self):
        self.is_open = True
        self.pump()

    def shut(self):
        """There is no connection: what has no answer waits for the next."""
        self.is_open, self.refusals = False, 0
        if self.pause:
            self.pause.cancel()
            self.pause = None
        for timer in self.group_pauses.values():
            timer.cancel()
        self.group_pauses.clear()
        # Whether a queued one was dropped is told to the session that is gone; sending it again asks.
        for message in [*(one for one in self.in_flight if one.state == "sending"), *self.queued]:
            message._is_uncertain = True
            self.wait(message)
        self.in_flight.clear()

    def pump(self):
        while self.is_open and not self.pause and len(self.in_flight) < WINDOW and len(self.queued) < MOST_QUEUED:
            index = next((at for at, one in enumerate(self.waiting) if one.group_id not in self.group_pauses), None)
            if index is None:
                return
            message = self.waiting.pop(index)
            if self._is_uncertain(message):
                self.settle(message, "failed", error=ClientError("OutcomeUnknown"))
                continue
            self.in_flight.add(message)
            self.client._spawn(self.transmit(message))

    async def transmit(self, message):
        flight = message._flight = object()
        if message._sent_at is None:
            group = self.client._groups.get(message.group_id)
            # The history never holds what is for those online alone.
            is_kept = group and not message.params.get("onlineUserOnly")
            message._sent_at, message._after = now(), group.seq if is_kept else None
        try:
            result, error = await self.client._request(message.method, message.params, SENT), None
        except (ThrongError, ClientError) as failure:
            result, error = None, failure
        # One that the connection's end has put back waits already, or is under way again: a sync, or the repeat, tells.
        if message._flight is flight and message in self.in_flight:
            if error is None:
                self.answered(message, result)
            elif isinstance(error, ThrongError):
                self.refused(message, error)
            elif error.reason == "TooLarge":
                self.settle(message, "failed", error=error)
            if message._flight is flight:
                self.in_flight.discard(message)
        self.pump()

    def answered(self, message, result):
        if message.state != "sending":
            return  # a drop, or a sync, was quicker
        self.refusals = 0
        group = self.client._groups.get(message.group_id)
        if group and result.get("seq") is not None:
            group.add_own(counted(result["seq"]))
        message.msg_id, message.seq, message.timestamp = result["msgID"], result.get("seq"), result["timestamp"]
        if result["status"] != "Queued":
            return self.settle(message, {"Stored": "stored", "Dropped": "dropped"}.get(result["status"], "delivered"))
        message.state = "queued"
        self.queued.add(message)
        self.client._emit("message", message)
        message._timer = asyncio.get_running_loop().call_later(LONGEST_QUEUED, self.client._spawn_later(self.confirm, message))

    async def confirm(self, message):
        """A queued message that nothing was heard of has left: the server tells of drops alone."""
        try:
            await self.client._request("ping", {}, TIME)
        except ClientError:
            return  # the connection is gone, and `shut` has seen to it
        except ThrongError as error:
            # A refusal, for the rate as a rule, says nothing: asked again.
            if message.state == "queued":
                delay = max(LONGEST_QUEUED, error.retry_after)
                message._timer = asyncio.get_running_loop().call_later(delay, self.client._spawn_later(self.confirm, message))
            return
        if message.state == "queued":
            self.settle(message, "delivered")
            self.pump()

    def refused(self, message, error):
        if message.state != "sending":
            return
        # It was not taken, so it may be sent at any later time; an earlier try that was not answered may have been.
        if not message._is_uncertain:
            message._sent_at = None
        message._refused_at = message._refused_at or now()
        refused_for = now() - message._refused_at
        if not error.temporary or refused_for > LONGEST_REFUSAL:
            return self.settle(message, "failed", error=error)
        if error.code == 10023:
            return self._slow(message, error, refused_for)
        self.wait(message)
        if not self.pause:
            self.pause = asyncio.get_running_loop().call_later(self._next_delay(error), self._go_on)

    def _slow(self, message, error, refused_for):
        """The group takes no message of the user's yet, because of its slow mode as a rule. That holds nothing up
        elsewhere."""
        group = message.group_id
        self.write_times.pop(group, None)
        self.write_times[group] = now() + error.retry_after
        if len(self.write_times) > MOST_SLOW_GROUPS:
            del self.write_times[next(iter(self.write_times))]
        # A wait of hours is the user's: the message would come when nobody expects it.
        if refused_for + error.retry_after > LONGEST_REFUSAL:
            return self.settle(message, "failed", error=error)
        self.wait(message)
        if group not in self.group_pauses:
            timer = asyncio.get_running_loop().call_later(self._next_delay(error), self._go_on, group)
            self.group_pauses[group] = timer

    def _next_delay(self, error):
        delay = max(error.retry_after, backoff(self.client._random, self.refusals))
        self.refusals += 1
        return delay

    def _go_on(self, group=None):
        """`group`: whose pause is over; None = the pause of all."""
        if group is None:
            self.pause = None
        else:
            self.group_pauses.pop(group, None)
        self.pump()

    def wait(self, message):
        """Puts a message back to its place among those that wait."""
        if message._timer:
            message._timer.cancel()
        self.queued.discard(message)
        index = next((at for at, other in enumerate(self.waiting) if other._order > message._order), len(self.waiting))
        self.waiting.insert(index, message)
        if message.state != "sending":
            message.state = "sending"
            self.client._emit("message", message)

    def found(self, message, stored):
        """The history holds the message, or an event brings it: its answer was lost."""
        if message.state in ("stored", "delivered"):
            return
        if message in self.waiting:
            self.waiting.remove(message)
        message.msg_id, message.seq, message.timestamp = stored["msgID"], stored.get("seq"), stored["timestamp"]
        # A live room's messages have a place as well, where it remembers them.
        group = self.client._groups.get(message.group_id)
        self.settle(message, "delivered" if message.seq is None or (group and group.is_live) else "stored")

    def _unanswered(self, group_id):
        return [one for one in self.waiting if one._sent_at is not None and one.group_id == group_id]

    def start_of_sync(self, group):
        """Where a sync of the group has to begin so that it holds whatever is under way."""
        return min([group.seq, *(one._after for one in self._unanswered(group.group_id) if one._after is not None)])

    def prove_absent(self, group):
        """The group is in step: what its history does not hold was never stored, so it is a new message. In a live room
        it may still wait for its place; there the server is asked by sending it again."""
        for message in self._unanswered(group.group_id):
            if message._after is not None and not group.is_live:
                message._sent_at, message._is_uncertain = None, False

    def fail_uncertain(self):
        """Fails what was sent so long ago that the server would take it for a new message."""
        for message in [one for one in self.waiting if self._is_uncertain(one)]:
            self.waiting.remove(message)
            self.settle(message, "failed", error=ClientError("OutcomeUnknown"))

    @staticmethod
    def _is_uncertain(message):
        return message._sent_at is not None and now() - message._sent_at > REPEATABLE

    def drop(self, params):
        """A drop that is told counts, also where `confirm` had given up waiting for it."""
        message = self.by_id.get(params.get("clientMsgID"))
        if message and message.state in ("sending", "queued", "delivered"):
            message.msg_id = params["msgID"]
            self.settle(message, "dropped")
            self.pump()

    def fail_all(self, error):
        self.shut()
        waiting, self.waiting = self.waiting, []
        for message in waiting:
            self.settle(message, "failed", error=error)

    def settle(self, message, state, error=None):
        if message._timer:
            message._timer.cancel()
        self.queued.discard(message)
        message.state, message.error = state, error
        # Before a handler sends it again.
        if not message.done.done():
            message.done.set_result(message)
        self.client._emit("message", message)
        if len(self.by_id) > self.limit + 2 * REMEMBERED:
            for key in [key for key, one in self.by_id.items() if one.state not in ("sending", "queued")][:-REMEMBERED]:
                del self.by_id[key]


class StatusWatch:
    """The users whose status the application watches, with the last row of each. It decides what is asked; one request
    at a time."""

    def __init__(self):
        # The last row by userID; None = there is none.
        self.rows = {}
        # Users that this session has to be told of, and those that it watches and the application does not any more:
        # dictionaries without values are sets that keep their order.
        self._to_watch, self._to_unwatch = {}, {}
        # The request under way: whether it is an end, its users, and those whom an event has told of since it left.
        self._asked, self._is_open = None, False

    def add(self, user_ids):
        added = [one for one in dict.fromkeys(user_ids) if one not in self.rows]
        if len(self.rows) + len(added) > MOST_WATCHED:
            raise ClientError("QueueFull")
        self.rows.update(dict.fromkeys(added))
        self._to_watch.update(dict.fromkeys(added))

    def remove(self, user_ids=None):
        for user in [*self.rows] if user_ids is None else user_ids:
            if user not in self.rows:
                continue
            del self.rows[user]
            if user in self._to_watch:
                del self._to_watch[user]
            elif self._is_open:
                # Without a session there is nothing that one would watch.
                self._to_unwatch[user] = None

    def start_session(self):
        """A new session watches nobody."""
        self.end_session()
        self._is_open, self._to_watch = True, dict.fromkeys(self.rows)

    def end_session(self):
        self._is_open, self._asked = False, None
        self._to_unwatch.clear()

    def next(self):
        """What is to be asked now, as whether it is an end and its users; None = nothing, or a request is under way."""
        users = self._to_unwatch or self._to_watch
        if not self._is_open or self._asked or not users:
            return None
        is_end, user_ids = bool(self._to_unwatch), [*users][:USERS_PER_WATCH]
        for user in user_ids:
            del users[user]
        self._asked = is_end, user_ids, set()
        return is_end, user_ids

    def answered(self, rows):
        """Takes the rows of the answer, unless an event was newer; answers what is news."""
        (is_end, user_ids, told), self._asked = self._asked, None
        if is_end:
            return {"userList": [], "unknownUserIDList": []}
        asked = {one: None for one in user_ids if one in self.rows and one not in told}
        known = [row for row in rows if row["userID"] in asked]
        asked.update({row["userID"]: row for row in known})
        self.rows.update(asked)
        return {"userList": known, "unknownUserIDList": [user for user, row in asked.items() if row is None]}

    def put_back(self):
        """The request was refused for now, and is made again."""
        (is_end, user_ids, _), self._asked = self._asked, None
        if is_end:
            self._to_unwatch.update(dict.fromkeys(user_ids))
        else:
            self._to_watch.update(dict.fromkeys(one for one in user_ids if one in self.rows))

    def refused(self):
        """The request was refused for good: answers the users who are not watched."""
        (is_end, user_ids, _), self._asked = self._asked, None
        failed = [] if is_end else [one for one in user_ids if one in self.rows]
        for user in failed:
            del self.rows[user]
        return failed

    def hear(self, rows):
        """Rows of an event; answers those of users who are watched."""
        known = [row for row in rows if row["userID"] in self.rows]
        for row in known:
            self.rows[row["userID"]] = row
            if self._asked:
                self._asked[2].add(row["userID"])
        return {"userList": known, "unknownUserIDList": []}


class ThrongClient:
    """A session that outlives its connections. `token` is a text, or a function (async or not) that gives a new one.
    Methods of the server are methods here: `await client.joinGroup(groupID="hello")`."""

    def __init__(self, url, token, platform=None, device_id=None, positions=(), queue_limit=1000, random=random.random,
                 **connecting):
        self.url, self._token_source, self.platform, self.device_id = url, token, platform, device_id
        # For `websockets.connect`, such as `ssl`.
        self._connecting = {"max_size": LARGEST_MESSAGE, "compression": None, "open_timeout": CONNECT_TIMEOUT, **connecting}
        self._queue_limit, self._random = queue_limit, random
        self.state, self.session = "idle", None
        self._handlers, self._timers, self._pending, self._calls = {}, {}, {}, []
        self.on("state", Reporter(url))
        # The client's own, and the application's handlers.
        self._tasks, self._handler_tasks = set(), set()
        self._groups = {one["groupID"]: TrackedGroup(one["groupID"], one["epoch"], one["seq"], one["changeSeq"]) for one in positions}
        for group in self._groups.values():
            group.hold()
        # The events that wait in all groups, and their text.
        self._held_count = self._held_size = 0
        # `_entered`: groups entered in this session and not tracked yet, with the tries to read them;
        # `_entered_before`: in earlier ones.
        self._entered, self._entered_before, self._joined, self._untracked = {}, set(), set(), {}
        # The groups that the resume under way has read, which `ready` tells.
        self._infos = {}
        self._socket, self._attempt, self._number, self._call_count = None, None, 0, 0
        # `_used`: the token of the session; a newer one may have come that is not used yet.
        self._token, self._used, self._is_stale, self._reading, self._is_renewing = None, None, False, None, False
        self._renewal_began = None
        self._losses, self._signed_in_at, self._session_at, self._wait_at_least = 0, None, 0, 0
        self._heard = self._is_ready = self._is_logging_out = False
        self._server_time = self._told_until = 0
        self._connected = None
        self._outbox = Outbox(self, queue_limit)
        self._statuses, self._status_refusals = StatusWatch(), 0
        # When the last signal "typing" left, by group, the oldest first.
        self._typed = {}
        # The last token was refused as revoked: one more is asked for.
        self._was_revoked = False

    # For the application

    @property
    def user_id(self):
        return self.session["userID"] if self.session else ""

    def on(self, name, handler):
        """Calls `handler(params)` at each event of that name; `event` gets `(name, params)` of each of the server's,
        `frame` a direction and each frame, tokens included. The answer ends that."""
        self._handlers.setdefault(name, []).append(handler)
        return lambda: self._handlers[name].remove(handler)

    def events(self, limit=10_000):
        """All events of the server and of the client from now on as (name, params), until the client is closed; for
        `async for`. Where more than `limit` wait, or more than 32 MiB of text, the rest is counted, and told as `lost`
        behind those: {"count", "groupIDs"}."""
        queue, lost, news = EventQueue(limit), {}, asyncio.Event()

        def note(name, params, size):
            if lost or not queue.put((name, params), size):
                lost["count"] = lost.get("count", 0) + 1
                groups = lost.setdefault("groupIDs", {})
                group = params.get("groupID") if isinstance(params, dict) else getattr(params, "group_id", None)
                if group and is_identifier(group) and len(groups) < MOST_LOST_GROUPS:
                    groups[group] = True
            news.set()
        self._handlers.setdefault("*", []).append(note)
        return self._iterate(queue, lost, news, note)

    async def _iterate(self, queue, lost, news, note):
        try:
            while queue or lost or self.state != "closed":
                while queue:
                    yield queue.take()
                if lost:
                    told = {**lost, "groupIDs": [*lost["groupIDs"]]}
                    lost.clear()
                    yield "lost", told
                    continue
                news.clear()
                if self.state != "closed":
                    await news.wait()
        finally:
            self._handlers["*"].remove(note)

    async def connect(self):
        """Connects and stays connected. Returns at the first sign-in, raises where none can come."""
        if self.state == "closed":
            raise ClientError("Closed")
        if self._connected is None:
            self._connected = asyncio.get_running_loop().create_future()
            self._open()
        return await asyncio.shield(self._connected)

    def reconnect_now(self):
        """Tries now where the client waits to."""
        if self.state == "waiting":
            self._open()

    async def close(self):
        """Ends the connection for good; messages under way fail. Does not wait for handlers."""
        self._end(1000, "closed by the application", ClientError("Closed"))
        if self._reading:
            self._reading.cancel()
        tasks = self._tasks - {asyncio.current_task()}
        if tasks:
            # A server that does not answer holds none of them for longer.
            _, late = await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def logout(self):
        """Signs out: the server forgets the session, and the client is closed."""
        self._is_logging_out = True
        try:
            await self._request("logout", {}, is_object)
        finally:
            await self.close()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        async def method(**params):
            return await self.call(name, params)
        method.__qualname__ = f"ThrongClient.{name}"
        return method

    async def call(self, method, params=None, queue=True):
        """The result of a method; without a connection it waits for one unless `queue` is False."""
        if self.state == "closed":
            raise ClientError("Closed")
        if self.state != "online":
            if not queue or self.state == "idle":
                raise ClientError("NotConnected")
            if len(self._calls) >= self._queue_limit:
                raise ClientError("QueueFull")
            turn = asyncio.get_running_loop().create_future()
            self._calls.append(turn)
            try:
                await turn
            finally:
                if turn in self._calls:
                    self._calls.remove(turn)
        if self._call_count >= MOST_CALLS:
            raise ClientError("QueueFull")
        self._call_count += 1
        try:
            return await self._request(method, params or {})
        finally:
            self._call_count -= 1

    def send_text(self, group_id, text, **options):
        """Sends a text, as often as it takes; the answer, a `Message`, says at any time what became of it."""
        return self._send("sendGroupTextMessage", {"clientMsgID": secrets.token_urlsafe(16), **options, "groupID": group_id, "text": text})

    def send_custom(self, group_id, data, **options):
        """Sends data of the application."""
        return self._send("sendGroupCustomMessage", {"clientMsgID": secrets.token_urlsafe(16), **options, "groupID": group_id, "data": data})

    def resend(self, message, **changes):
        """Sends a message again that failed or was dropped; not on a closed client."""
        if self.state == "closed" or message.state not in ("failed", "dropped"):
            return message
        message.params.update(changes)
        message.state, message.error = "sending", None
        return self._hand_over(message)

    def _send(self, method, params):
        known = self._outbox.by_id.get(params["clientMsgID"])
        if known and known.state not in ("failed", "dropped"):
            return known
        return self._hand_over(Message(method, params))

    def _hand_over(self, message):
        self._outbox.start(message)
        if self.state == "closed":
            self._outbox.fail_all(ClientError("Closed"))
        return message

    def positions(self):
        """How far the application has been told, by group: given to the next client, it resumes there."""
        return [{"groupID": one.group_id, "epoch": one.epoch, "seq": one.seq, "changeSeq": one.change_seq}
                for one in self._groups.values() if not one.is_live]

    def watch_users(self, user_ids):
        """Watches users' statuses until `unwatch_users`, across connections: the event `status` tells of their rows, as
        {"userList", "unknownUserIDList"}. What the server refuses is told as `watchFailed`: {"userIDList", "error"}."""
        user_ids = [*user_ids]
        if not all(map(is_identifier, user_ids)):
            raise TypeError("a userID is a text of at most 256 characters")
        self._statuses.add(user_ids)
        self._spawn(self._pump_statuses())

    def unwatch_users(self, user_ids=None):
        """Watches these users no longer; without a list, nobody."""
        self._statuses.remove(user_ids)
        self._spawn(self._pump_statuses())

    def status_of(self, user_id):
        """The last row of a user who is watched, or None. Without a connection it may be out of date."""
        return self._statuses.rows.get(user_id)

    async def send_signal(self, group_id, name, data=None):
        """Tells the members who are online something of the moment. It is sent once, now or never."""
        params = {"groupID": group_id, "name": name} if data is None else {"groupID": group_id, "name": name, "data": data}
        return await self.call("sendGroupSignal", params, queue=False)

    def send_typing(self, group_id):
        """Tells the members that the user writes, with the signal "typing", every three seconds at most."""
        moment = now()
        for group in [one for one, at in self._typed.items() if moment - at >= TYPING_PAUSE]:
            del self._typed[group]
        if group_id not in self._typed:
            self._typed[group_id] = moment
            self._spawn(self._hint(group_id))

    async def _hint(self, group_id):
        try:
            await self.send_signal(group_id, "typing")
        except (ClientError, ThrongError):
            pass  # nobody waits for a hint: the next one may come through

    def may_write_in(self, group_id):
        """In how many seconds the group takes the user's next message, as the last refusal with 10023 said; 0 = it is
        not known to wait."""
        return max(0, self._outbox.write_times.get(group_id, 0) - now())

    def _emit(self, name, *values, size=0):
        """`size`: of the text that the event came with."""
        for handler in [*self._handlers.get(name, ())]:
            self._protect(handler, *values)
        if name not in ("event", "frame"):
            for handler in [*self._handlers.get("*", ())]:
                self._protect(handler, name, *values, size)

    def _protect(self, handler, *values):
        """A fault of one handler must stop neither the others nor the client, and be seen."""
        try:
            answer = handler(*values)
            if inspect.isawaitable(answer):
                self._keep(self._handler_tasks, answer)
        except Exception as error:
            context = {"message": "a handler of ThrongClient failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    def _spawn(self, work):
        self._keep(self._tasks, work)

    def _keep(self, tasks, work):
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _spawn_later(self, work, *arguments):
        return lambda: self._spawn(work(*arguments))

    # The connection

    def _start(self, name, delay, act):
        self._stop(name)
        self._timers[name] = asyncio.get_running_loop().call_later(delay, act)

    def _stop(self, name):
        if timer := self._timers.pop(name, None):
            timer.cancel()

    def _set_state(self, state, **details):
        self.state = state
        self._emit("state", {"state": state, **details})

    @property
    def _may_renew(self):
        return callable(self._token_source)

    def _open(self):
        self._stop("retry")
        self._set_state("connecting")
        self._attempt = object()
        self._spawn(self._run(self._attempt))

    async def _run(self, attempt):
        """One connection, from its token to its end."""
        try:
            await self._read_token()
        except Exception as error:
            if self._attempt is attempt:
                self._lose(0, "no token", error)
        if self._attempt is not attempt:
            return
        socket, is_open, fault = None, False, None
        self._start("connect", CONNECT_TIMEOUT, lambda: self._lose(1006, "no answer in time"))
        try:
            socket = await websockets.connect(
                self.url, subprotocols=["throng.v1.json"], ping_interval=None, close_timeout=1, **self._connecting)
            if self._attempt is not attempt:
                return
            self._socket, is_open = socket, True
            self._spawn(self._sign_in(attempt))
            while True:
                text = await read_message(socket)
                if self._attempt is not attempt:
                    return
                self._receive(text)
        except websockets.ConnectionClosed:
            code, reason = socket.close_code or 1006, socket.close_reason
        except ClientError as error:
            return self._break(error)
        except websockets.InvalidURI as error:
            return self._end(0, str(error), error)
        except Exception as error:
            # No connection, options that do not go together, or a frame that is none of the protocol's.
            code, reason, fault = 1006, str(error), error
        finally:
            if socket:
                await socket.close()
        if self._attempt is attempt:
            self._lose(code, reason, fault, is_open=is_open)

    async def _read_token(self):
        """Asks the application for a token where there is none, or where it is at its end."""
        if not self._may_renew:
            self._token = self._token_source
        elif self._token is None or self._is_stale or self._ends_soon:
            # A renewal and the next connection may ask at the same time.
            if self._reading is None:
                self._reading = asyncio.ensure_future(self._ask_token())
            try:
                self._token = await asyncio.shield(self._reading)
            finally:
                self._reading = None
            self._is_stale = False

    async def _ask_token(self):
        token = self._token_source()
        return await token if inspect.isawaitable(token) else token

    @property
    def _left(self):
        """How long the token still holds, in seconds."""
        if self.session is None:
            return 0
        lifetime = (self.session["tokenExpiresAt"] - self.session["serverTime"]) / 1000
        return lifetime - (now() - self._session_at)

    @property
    def _ends_soon(self):
        return self._token == self._used and self.session is not None and self._left < 5

    async def _sign_in(self, attempt):
        self._used = self._token
        details = {"token": self._token, "platform": self.platform, "deviceID": self.device_id}
        try:
            session = await self._request("login", {name: value for name, value in details.items() if value is not None}, SESSION)
        except ClientError as error:
            return self._end(0, "the token is too long", error) if error.reason == "TooLarge" else None
        except ThrongError as error:
            if self._attempt is not attempt:
                return
            self._wait_at_least = max(self._wait_at_least, error.retry_after)
            is_revoked = error.code == 70021
            self._is_stale = error.code == 70001 or is_revoked
            # A function whose second token is revoked as well has no other.
            may_ask_again = self._is_stale and self._may_renew and not (is_revoked and self._was_revoked)
            is_final = not error.temporary and not may_ask_again
            if is_revoked:
                self._was_revoked = True
                self._wait_at_least = max(self._wait_at_least, REVOCATION_PAUSE)
            return self._lose(4500 if is_final else 0, error.message, error, is_final=is_final, is_open=True)
        if self._attempt is attempt:
            self._signed_in(bounded_session(session))

    def _signed_in(self, session):
        self._stop("connect")
        if self.session and self.session["userID"] != session["userID"]:
            return self._end(0, f"the new token is of another user, {session['userID']}")
        self.session, self._signed_in_at = session, now()
        self._session_at = self._signed_in_at
        self._was_revoked = False
        self._statuses.start_session()
        self._watch(session["heartbeat"])
        self._set_state("online")
        if not self._connected.done():
            self._connected.set_result(session)
        calls, self._calls = self._calls, []
        for turn in calls:
            if not turn.done():
                turn.set_result(None)
        self._spawn(self._pump_statuses())
        self._spawn(self._resume(self._attempt))

    async def _pump_statuses(self):
        attempt = self._attempt
        while self.state == "online" and "statuses" not in self._timers and (ask := self._statuses.next()):
            is_end, user_ids = ask
            method, fits = ("unsubscribeUsersStatus", is_object) if is_end else ("subscribeUsersStatus", STATUSES)
            try:
                answer = await self._request(method, {"userIDList": user_ids}, fits)
            except (ThrongError, ClientError) as error:
                is_refused = isinstance(error, ThrongError) or error.reason == "TooLarge"
                if not is_refused or self._attempt is not attempt:
                    return  # the next session begins with all of them
                if isinstance(error, ThrongError) and error.temporary:
                    return self._pump_statuses_later(error)
                if failed := self._statuses.refused():
                    self._emit("watchFailed", {"userIDList": failed, "error": error})
                continue
            if self._attempt is not attempt:
                return
            self._status_refusals = 0
            self._tell_statuses(self._statuses.answered(answer.get("userList") or ()))

    def _pump_statuses_later(self, error):
        self._statuses.put_back()
        delay = max(error.retry_after, backoff(self._random, self._status_refusals))
        self._status_refusals += 1

        def again():
            self._stop("statuses")
            self._spawn(self._pump_statuses())
        self._start("statuses", delay, again)

    def _tell_statuses(self, news):
        if news["userList"] or news["unknownUserIDList"]:
            self._emit("status", news)

    def _watch(self, interval):
        """After a silent interval a request asks for a sign of life."""
        def look():
            self._watch(interval)
            was_heard, self._heard = self._heard, False
            if not was_heard and "ping" not in self._timers:
                self._start("ping", PING_TIMEOUT, lambda: self._lose(4003, "no sign of life", is_open=True))
                self._spawn(self._ping())
        self._start("life", interval, look)

    async def _ping(self):
        try:
            await self._request("ping", {}, TIME)
        except (ClientError, ThrongError):
            pass  # an error is a sign of life too, and a connection that has ended needs none

    async def _request(self, method, params, fits=None):
        """`fits`: whether a result is one of the method, for the client's own requests: otherwise the connection is
        given up."""
        return (await self._request_sized(method, params, fits))[0]

    async def _request_sized(self, method, params, fits=None):
        """The result, and the size of its text."""
        if self._socket is None:
            raise ClientError("NotConnected")
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        text = encoded(request)
        if len(text.encode()) > LARGEST_FRAME:
            raise ClientError("TooLarge")
        future = asyncio.get_running_loop().create_future()
        pending, number = self._pending, self._number
        pending[number] = future, method, fits
        self._emit("frame", "out", request)
        try:
            try:
                await self._socket.send(text)
            except websockets.ConnectionClosed:
                pass  # the end of the connection answers
            return await future
        finally:
            # Nobody waits for the answer any more.
            pending.pop(number, None)

    def _receive(self, text):
        self._heard = True
        self._stop("ping")
        frame = read_frame(text)
        self._emit("frame", "in", frame)
        if frame.get("method") is not None:
            self._receive_event(frame["method"], frame["params"], len(text))
        elif is_integer(frame.get("id")) and frame["id"] in self._pending:
            self._receive_answer(frame, len(text))

    def _receive_answer(self, frame, size):
        future, method, fits = self._pending[frame["id"]]
        error, result = frame.get("error"), frame.get("result")
        if error is not None:
            answer = read_error(method, error)
        elif (fits or is_object)(result):
            answer = None
        elif fits:
            # It stays among those without an answer, which the end of the connection refuses.
            refuse(f"an answer that is none of {method}")
        else:
            answer = ClientError("BadAnswer", f"an answer that is none of {method}")
        del self._pending[frame["id"]]
        if answer is None and is_integer(result.get("serverTime")):
            self._note_time(result["serverTime"])
        if future.done():
            return
        if answer is None:
            future.set_result((result, size))
        else:
            future.set_exception(answer)
            future.exception()

    def _break(self, error):
        """The server breaks the protocol: another connection may lead to a better one."""
        self._lose(0, "a frame that this client cannot read", error, is_open=True, is_breach=True)

    def _note_time(self, instant):
        self._server_time = max(self._server_time, counted(instant))

    def _lose(self, code, reason, error=None, is_final=None, is_open=False, is_breach=False):
        """The connection is gone, or given up: comes back unless a retry is pointless."""
        if code == 4006:
            self._is_stale = self._token == self._used
        is_final = 4500 <= code < 5000 if is_final is None else is_final
        if is_final or (code == 4006 and not self._may_renew) or self._is_logging_out:
            return self._end(code, reason, error)
        self._disconnect()
        if self._signed_in_at is not None and now() - self._signed_in_at >= GOOD_SESSION and not is_breach:
            self._losses = 0
        self._signed_in_at = None
        delay = max(backoff(self._random, self._losses), self._wait_at_least)
        self._losses += 1
        self._wait_at_least = 0
        self._start("retry", delay, self._open)
        self._set_state("waiting", code=code, reason=reason, error=error, isOpen=is_open, retryInMs=round(delay * 1000))

    def _end(self, code, reason, error=None):
        if self.state == "closed":
            return
        self._disconnect()
        self.state = "closed"
        closed = ClientError("Closed", reason)
        for turn in self._calls:
            if not turn.done():
                turn.set_exception(closed)
        self._calls = []
        self._outbox.fail_all(closed)
        if self._connected and not self._connected.done():
            self._connected.set_exception(error or closed)
            self._connected.exception()  # it is no complaint of asyncio's when nobody awaits it
        self._emit("state", {"state": "closed", "code": code, "reason": reason, "error": error})

    def _disconnect(self):
        self._attempt = None
        socket, self._socket = self._socket, None
        for name in [*self._timers]:
            self._stop(name)
        if socket:
            self._spawn(socket.close())
        if self._is_ready:
            self._told_until = self._server_time
        self._heard = self._is_ready = False
        self._entered_before.update([*self._entered][:max(0, MOST_NEW_GROUPS - len(self._entered_before))])
        self._entered.clear()
        self._untracked.clear()
        self._held_count = self._held_size = 0
        for group in self._groups.values():
            group.held, group.held_size, group.has_overflowed = None, 0, False
            group.hold()
        pending, self._pending = self._pending, {}
        self._statuses.end_session()
        self._status_refusals = 0
        self._outbox.shut()
        for future, _, _ in pending.values():
            if not future.done():
                future.set_exception(ClientError("ConnectionLost"))
                future.exception()

    async def _renew(self):
        """A new token before the old one ends; without one the session ends with 4006, and the next begins with one."""
        if not self._may_renew or self._is_renewing or self._attempt is None:
            return
        self._stop("renew")
        self._renewal_began = now()
        self._is_renewing, self._is_stale, attempt = True, True, self._attempt
        try:
            await self._read_token()
            if self._attempt is attempt:
                session = bounded_session(await self._request("login", {"token": self._token}, SESSION))
                self._used = self._token
                self.session, self._session_at = session, now()
                self._emit("renewed", session)
                if self._left < 60:
                    # The server warns of it at once, and the application may have no better one.
                    self._renew_later()
        except Exception as error:
            # A token that the server has not seen is a good one.
            self._is_stale = not isinstance(error, ClientError)
            self._emit("renewalFailed", error)
            if self._attempt is attempt:
                self._renew_later()
        finally:
            self._is_renewing = False

    def _renew_later(self):
        # Half of what is left, so that there are a few tries.
        if self._left > 2:
            self._start("renew", min(RENEWAL_PAUSE, self._left / 2), self._spawn_later(self._renew))

    def _renew_soon(self):
        """The token is about to end. A renewal that is under way, or planned, sees to it."""
        if self.state != "online" or self._is_renewing or "renew" in self._timers:
            return
        if self._renewal_began is not None and now() - self._renewal_began < RENEWAL_PAUSE:
            self._renew_later()
        else:
            self._spawn(self._renew())

    # Events

    def _receive_event(self, name, params, size):
        if not fits_event(name, params):
            # Of a later server, if of any: handlers of the name expect other parameters.
            return self._emit("event", name, params)
        self._note_time(params.get("opTime"))
        if name == "onServerDraining":
            self._wait_at_least = min(counted(params["retryAfterMs"]) / 1000, LONGEST_WAIT)
        if name == "onUserSigExpired":
            self._renew_soon()
        if name == "onMessageDropped":
            self._outbox.drop(params)
        group = self._groups.get(params.get("groupID"))
        # A resume that is under way finds it by itself.
        if self._is_ready and group and group.begins_anew(place_of(name, params)):
            group.hold()
            self._spawn(self._reread_room(group))
        # A signal is of its moment, and no part of what a sync tells.
        if group and group.held is not None and name != "onGroupSignal":
            self._hold(group, (name, params, size))
        else:
            self._tell(name, params, size)
        if name == "onUsersStatusChanged":
            self._tell_statuses(self._statuses.hear(params["userList"]))

    def _hold(self, group, event):
        size = event[-1]
        has_room = self._held_count < HELD_LIMIT and self._held_size + size <= LARGEST_HELD
        if has_room and not group.has_overflowed:
            group.held.append(event)
            group.held_size += size
            self._held_count += 1
            self._held_size += size
        else:
            self._take_held(group)
            group.held, group.has_overflowed = [], True

    def _take_held(self, group):
        held = group.held or []
        self._held_count -= len(held)
        self._held_size -= group.held_size
        group.held, group.held_size = None, 0
        return held

    def _forget(self, group_id):
        if group := self._groups.pop(group_id, None):
            self._take_held(group)

    def _tell(self, name, params, size):
        group_id, place = params.get("groupID"), place_of(name, params)
        group = self._groups.get(group_id)
        if group:
            group.reach(*place)
        elif place != (0, 0) and is_identifier(group_id) and (
                group_id in self._untracked or len(self._untracked) < MOST_NEW_GROUPS):
            self._untracked[group_id] = tuple(map(max, self._untracked.get(group_id, (0, 0)), place))
        if name == "onRecvNewMessage" and self._find_own(params["message"]):
            return
        if name == "onConversationChanged":
            # The list that the resume has read is told behind this event.
            change_conversation(self._infos.get(group_id), params)
        self._emit(name, params, size=size)
        self._emit("event", name, params)
        names_me = any(one["userID"] == self.user_id for one in params.get("memberList") or ())
        if name in ENDS or (name == "onMemberKicked" and names_me):
            self._forget(group_id)
        elif not group and name in ENTRIES and (names_me or name == "onGroupCreated"):
            self._spawn(self._enter(group_id))

    def _find_own(self, message):
        """Whether it is a message of this client's: the server may have kept it back until the session that sent it
        was gone. `message` tells of it."""
        own = self._outbox.by_id.get(message.get("clientMsgID")) if message["sender"] == self.user_id else None
        if own:
            self._outbox.found(own, message)
        return own is not None

    async def _enter(self, group_id):
        """The user is a member of one more group: its position is read once."""
        tries, attempt = self._entered.get(group_id, 0), self._attempt
        if not is_identifier(group_id) or (tries == 0 and len(self._entered) >= MOST_NEW_GROUPS):
            return  # the next resume finds the group
        self._entered[group_id] = tries + 1
        try:
            rows = (await self._request("getGroupsInfo", {"groupIDList": [group_id]}, INFOS))["resultList"]
        except ThrongError as error:
            if self._attempt is not attempt:
                return
            pause = max(2 ** min(tries + 1, 5), error.retry_after)
            return self._start(f"enter {group_id}", pause, self._spawn_later(self._enter, group_id))
        except ClientError:
            return  # the next resume looks at the group
        row = next((row for row in rows if row["groupID"] == group_id), {"code": None})
        if row["code"] == 0 and row["info"].get("selfInfo") is not None and row["info"]["groupID"] == group_id:
            self._track(row["info"])
        self._entered.pop(group_id, None)

    def _track(self, info):
        """Begins with the group as it is: the application reads what is before from its history."""
        group_id = info["groupID"]
        if group_id in self._groups or len(self._groups) >= MOST_GROUPS:
            return False
        group = TrackedGroup(group_id, info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"),
                             info["groupType"] == LIVE, remembers_messages(info))
        group.reach(*self._untracked.pop(group_id, (0, 0)))
        self._groups[group_id] = group
        return True

    # Resuming

    async def _resume(self, attempt, tries=0):
        """After each sign-in: finds the groups joined and left, and asks in all others for what was missed."""
        for group in self._groups.values():
            group.hold()  # a try before this one may have told the events of some
        try:
            told = await self._catch_up(self._told_until)
        except ClientError as error:
            if error.reason == "TooLarge":
                return self._end(0, "the positions are too long", error)
            # Any other comes with the end of the connection.
            return self._break(error) if error.reason == "BadAnswer" and self._attempt is attempt else None
        except ThrongError as error:
            if self._attempt is not attempt:
                return
            if error.temporary:
                delay = max(error.retry_after, backoff(self._random, tries))
                return self._start("resume", delay, self._spawn_later(self._resume, attempt, tries + 1))
            # Nothing that a later try could mend: the application reads its groups anew.
            self._emit("resumeFailed", error)
            for group in [*self._groups.values()]:
                self._release(group)
            return self._outbox.open()
        self._is_ready = True
        self._joined.clear()
        self._infos = {}
        self._outbox.fail_uncertain()
        self._emit("ready", told)
        if self._attempt is attempt:
            self._outbox.open()

    async def _catch_up(self, since):
        is_first, known = since == 0, dict.fromkeys(self._groups)
        infos, gone = await self._read_joined(None if is_first else max(0, since - LOOK_BACK))
        self._infos = infos
        # Dictionaries without values are sets that keep their order.
        left = dict.fromkeys(one for one in gone if one in known)
        if is_first:
            left.update(dict.fromkeys(one for one in known if one not in infos and one in self._groups and not self._groups[one].is_live))
        for group_id, info in infos.items():
            if self._track(info):
                self._joined.add(group_id)
        kept = [self._groups[one] for one in known if one in self._groups and one not in left]
        # `rooms`: the infos of live rooms that a sync is asked about.
        told = {"left": left, "recovered": {}, "notRecovered": {}, "repeats": {}, "rooms": {}}
        live = [one.group_id for one in kept if one.is_live] + [one for one in self._entered_before if one not in self._groups]
        for start in range(0, len(live), GROUPS_PER_SYNC):
            await self._check_live(live[start:start + GROUPS_PER_SYNC], told)
        in_sync = [one for one in kept if not one.is_live] + [self._groups[one] for one in told["rooms"] if one in self._groups]
        known_infos = {**infos, **told["rooms"]}
        for start in range(0, len(in_sync), GROUPS_PER_SYNC):
            await self._sync(in_sync[start:start + GROUPS_PER_SYNC], known_infos, told)
        for group_id in left:
            self._leave(group_id)
        return {"isFirst": is_first, "groups": [*infos.values()], "joined": [*self._joined], "left": [*left],
                "recovered": [*told["recovered"]], "notRecovered": [*told["notRecovered"]]}

    async def _read_joined(self, since):
        infos, gone, ask = {}, {}, {} if since is None else {"updatedSince": since}
        # `ends`: where each page ended.
        ends, next_seq, size = set(), 0, 0
        while 0 not in ends:
            page, of_page = await self._request_sized("getJoinedGroupList", {**ask, "count": 200, "nextSeq": next_seq}, GROUPS)
            next_seq, size = page["nextSeq"], size + of_page
            if next_seq in ends or len(ends) >= MOST_LIST_PAGES:
                refuse("a list of groups without an end")
            ends.add(next_seq)
            infos.update({info["groupID"]: info for info in page["groupList"]})
            gone.update(dict.fromkeys(page["leftGroupIDList"]))
            if len(infos) > MOST_GROUPS or len(gone) > MOST_GROUPS or size > LARGEST_LIST:
                refuse("more groups than a user has")
        return infos, gone

    async def _check_live(self, group_ids, told):
        """Live rooms forget members who stay away too long. Those that remember their last messages are left to a sync."""
        asked, (answer, size) = set(group_ids), await self._request_sized("getGroupsInfo", {"groupIDList": group_ids}, INFOS)
        for row in answer["resultList"]:
            group_id = row["groupID"]
            if group_id not in asked:
                continue
            asked.discard(group_id)
            self._entered_before.discard(group_id)
            if row["code"] != 0 or row["info"].get("selfInfo") is None:
                told["left"][group_id] = None
                continue
            is_new, info = self._track(row["info"]), row["info"]
            group = self._groups.get(group_id)
            if group and group.is_live:
                has_remembered, group.remembers = not is_new and group.remembers, remembers_messages(info)
                if has_remembered and group.remembers:
                    told["rooms"][group_id] = info
                    continue
                if not is_new:
                    # Its memory, or the lack of one, begins with the server's new configuration.
                    group.restart(info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"))
            told["notRecovered"][group_id] = None
            self._tell_sync(group_id, info, size // len(answer["resultList"]), recovered=False)
            if group and group.is_live:
                self._release(group)

    async def _reread_room(self, group, tries=0):
        """The places of a room do not ascend: its memory was lost while the connection lived, or an answer overtook an
        event."""
        group_id, attempt = group.group_id, self._attempt
        told = {"left": {}, "recovered": {}, "notRecovered": {}, "repeats": {}}
        group.hold()
        try:
            answer, size = await self._request_sized("getGroupsInfo", {"groupIDList": [group_id]}, INFOS)
            if self._groups.get(group_id) is not group:
                return
            row = next((row for row in answer["resultList"] if row["groupID"] == group_id), None) or refuse("a row is missing")
            if row["code"] != 0 or row["info"].get("selfInfo") is None:
                return self._leave(group_id)
            info = row["info"]
            is_same, group.remembers = info.get("epoch") == group.epoch, remembers_messages(info)
            if not is_same:
                group.restart(info.get("epoch"), info.get("lastSeq"), info.get("changeSeq"))
                self._tell_sync(group_id, info, size, recovered=False)
            if not group.has_overflowed or not group.remembers:
                return self._release(group, tells_all=is_same)
            await self._sync([group], {group_id: info}, told)
            if group_id in told["left"]:
                self._leave(group_id)
        except ClientError as error:
            # Without a connection the next resume looks at the room.
            if error.reason == "BadAnswer" and self._attempt is attempt:
                self._break(error)
        except ThrongError as error:
            if self._attempt is attempt:
                delay = max(error.retry_after, backoff(self._random, tries))
                self._start(f"room {group_id}", delay, self._spawn_later(self._reread_room, group, tries + 1))

    def _tell_sync(self, group_id, info, size, recovered, changes=(), messages=(), more=False):
        self._emit("sync", {"groupID": group_id, "info": info, "recovered": recovered, "changeList": [*changes],
                            "messageList": [*messages], "more": more}, size=size)

    async def _sync(self, groups, infos, told):
        behind = [(group, [group.seq, group.change_seq], {
            "groupID": group.group_id, "epoch": group.epoch, "seq": self._outbox.start_of_sync(group),
            "changeSeq": group.change_seq}) for group in groups]
        pages = dict.fromkeys((group.group_id for group in groups), 0)
        while behind:
            answer, size = await self._request_sized("syncGroups", {"groups": [ask for _, _, ask in behind]}, HISTORY)
            rows, left, has_advanced = {row["groupID"]: row for row in answer["groups"]}, [], False
            for one in behind:
                ask, group_id = dict(one[2]), one[0].group_id
                if group_id not in rows:
                    refuse("a row is missing")
                more = self._take_row(*one, rows[group_id], size // len(rows), infos, told)
                if more:
                    left.append(one)
                pages[group_id] = pages[group_id] + 1 if more == "page" else 0
                if pages[group_id] >= MOST_HISTORY_PAGES:
                    refuse("a history without an end")
                # A row alone may stay where it is: all rows share the bytes of an answer.
                has_advanced = has_advanced or more != "page" or one[2] != ask
            if not has_advanced:
                refuse("pages of a history that do not advance")
            behind = left

    def _take_row(self, group, known, ask, row, size, infos, told):
        """Takes one row of a sync; answers whether there is more: a "page", or the same "again"."""
        group_id, info = group.group_id, infos.get(group.group_id)
        if row["code"] != 0:
            told["left"][group_id] = None
            return None
        if row.get("recovered") is not True:
            group.restart(row["epoch"], row["lastSeq"], row.get("changeSeq"))
            told["notRecovered"][group_id] = None
            self._tell_sync(group_id, info, size, recovered=False)
            return self._release_or_repeat(group, known, ask, told)
        last, of_page = read_page(ask, row)
        more = row.get("more") is True
        changes, messages = self._sorted(known, row)
        # Before the group's own position a page tells of changes that its changeSeq does not cover.
        change_seq = of_page if not more or last >= known[0] else known[1]
        group.reach(last if more else counted(row["lastSeq"]), change_seq)
        ask.update(seq=last, changeSeq=of_page)
        self._tell_sync(group_id, info, size, True, changes, messages, more)
        if more:
            return "page"
        self._outbox.prove_absent(group)
        if again := self._release_or_repeat(group, known, ask, told):
            return again
        if group_id not in told["notRecovered"]:
            told["recovered"][group_id] = None
        return None

    def _release_or_repeat(self, group, known, ask, told):
        """The group is in step, unless more events came than may wait: then it is asked for once more."""
        if not group.has_overflowed:
            self._release(group)
            return None
        repeats = told["repeats"][group.group_id] = told["repeats"].get(group.group_id, 0) + 1
        if repeats > MOST_REPEATS:
            refuse("more events than the history of a group holds")
        group.has_overflowed = False
        known[:] = group.seq, group.change_seq
        ask.update(epoch=group.epoch, seq=self._outbox.start_of_sync(group), changeSeq=group.change_seq)
        return "again"

    def _sorted(self, known, row):
        """A page without what the application has: own messages, and those before its position that did not change."""
        changes, messages = [*(row.get("changeList") or ())], []
        for message in row["messageList"]:
            if not self._find_own(message) and message["seq"] > known[0]:
                messages.append(message)
            elif counted(message.get("changeSeq")) > known[1]:
                changes.append(message)
        return changes, messages

    def _release(self, group, tells_all=False):
        """The group is in step: events that came meanwhile are told, those that the sync held are not unless all are."""
        held, group.has_overflowed = self._take_held(group), False
        for name, params, size in held:
            if tells_all or not group.knows(*place_of(name, params)):
                self._tell(name, params, size)

    def _leave(self, group_id):
        if group := self._groups.get(group_id):
            self._release(group)
        self._groups.pop(group_id, None)


async def join(client, group):
    """Joins, again where the answer was lost or the server is busy: a second join is refused, and does no harm."""
    while True:
        try:
            return await client.joinGroup(groupID=group)
        except ClientError as error:
            if error.reason != "ConnectionLost":
                raise
        except ThrongError as error:
            if error.code == 10013:
                return
            if not error.temporary:
                raise
            await asyncio.sleep(error.retry_after or 1)


def seconds(text):
    value = float(text)
    if not 0 < value <= LONGEST_WAIT:
        raise ValueError
    return value


def arguments():
    parser = argparse.ArgumentParser(description="Listens in a group of a Throng server, or says something there.")
    parser.add_argument("url", help="of the WebSocket, such as ws://127.0.0.1:8080/ws")
    parser.add_argument("token", help="of a user; `throng token NAME` makes one")
    verbs = parser.add_subparsers(dest="verb", required=True)
    listen = verbs.add_parser("listen", help="prints what is said in a group, until Ctrl-C")
    say = verbs.add_parser("say", help="says one thing, and prints what became of it")
    for verb in (listen, say):
        verb.add_argument("group", help="the groupID")
    say.add_argument("text")
    say.add_argument("--timeout", type=seconds, default=30, metavar="SECONDS",
                     help="gives up after so many seconds, with the exit status 1 (default: 30)")
    return parser.parse_args()


async def listen(client, group):
    await client.connect()
    await join(client, group)
    print(f"[in {group}]", flush=True)
    async for name, params in client.events():
        if name == "onRecvNewMessage":
            print(f'{params["message"]["sender"]}: {params["message"].get("text")}', flush=True)
        if name == "sync":
            for message in params["messageList"]:
                print(f'{message["sender"]}: {message.get("text")}', flush=True)


async def say(client, group, text):
    """Answers why the message is not there, or None."""
    await client.connect()
    await join(client, group)
    message = await client.send_text(group, text).done
    print(message.state, flush=True)
    return message.error or ("the room was too busy" if message.state == "dropped" else None)


async def main(url, token, verb, group, text=None, timeout=None):
    """Answers the exit status, or the words for stderr that go with the exit status 1."""
    client = ThrongClient(url, token)
    try:
        return await asyncio.wait_for(listen(client, group) if verb == "listen" else say(client, group, text), timeout)
    except asyncio.TimeoutError:
        return f"given up after {timeout:g} s"
    finally:
        await client.close()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(**vars(arguments()))))
    except (ThrongError, ClientError, websockets.InvalidURI) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
