"""A client on the network: tells replies from events, waits for events, and proves that one did not
come."""
import asyncio
import itertools
import json
from urllib.parse import urlencode

import websockets
from websockets.asyncio.client import connect

from .inbox import Inbox, matches
from .proxy import trusting
from .tokens import make_token
from .waiting import within

PATIENCE = 20

# The events of a session rather than a group.
SESSION_EVENTS = {
    "onSelfInfoUpdated", "onUsersStatusChanged", "onConnectSuccess", "onKickedOffline", "onUserSigExpired", "onServerDraining",
}


class Refused(Exception):
    """An error reply."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error}")
        self.code = error["code"]
        self.data = error["data"]


class Gone(Exception):
    """The connection closed while an answer was awaited."""


def has(**fields):
    """A condition for `expect`: an object with at least these members."""
    return lambda value: isinstance(value, dict) and all(value.get(name) == wanted for name, wanted in fields.items())


class Client(Inbox):
    """One WebSocket connection, signed in or not."""

    patience = PATIENCE

    def __init__(self, socket, user=None):
        super().__init__()
        self.socket = socket
        self.user = user
        self.welcome = None
        self.frames = []
        self.unclaimed = asyncio.Queue()
        self.violations = []
        self._ids = itertools.count(1)
        self._pending = {}
        self._reader = asyncio.ensure_future(self._read())

    # Connecting

    @classmethod
    async def open(cls, server, headers=None, query=None, user=None, **options):
        """A connection with nothing but what is given."""
        url = server.url + ("?" + urlencode(query) if query else "")
        options.setdefault("proxy", None)
        # As browsers and most libraries do; compression=None offers none.
        options.setdefault("compression", "deflate")
        if server.front:
            options.update(host=server.front.address, ssl=trusting())
        socket = await connect(
            url, additional_headers=headers, max_size=None, max_queue=None, ping_interval=None,
            open_timeout=PATIENCE, close_timeout=PATIENCE, **options,
        )
        return cls(socket, user)

    @classmethod
    async def sign_in(
        cls, server, user, token=None, via="query", platform=None, deviceID=None, compression="deflate", **claims
    ):
        """A session of `user`, signed in by the query, the header, or the `login` method."""
        token = token or make_token(user, now=server.now, **claims)
        options = {"user": user, "compression": compression}
        details = {k: v for k, v in {"platform": platform, "deviceID": deviceID}.items() if v is not None}
        if via == "login":
            client = await cls.open(server, **options)
            client.welcome = await client.call("login", token=token, **details)
            return client
        if via == "header":
            client = await cls.open(server, headers={"Authorization": f"Bearer {token}"}, query=details, **options)
        else:
            client = await cls.open(server, query={"token": token, **details}, **options)
        client.welcome = await client.expect("onConnectSuccess")
        return client

    async def close(self):
        await self.socket.close()
        await self._reader

    # Reading

    async def _read(self):
        try:
            async for text in self.socket:
                self._take(json.loads(text))
        except websockets.ConnectionClosed:
            pass  # the code is read from the socket: `closed`
        finally:
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(Gone(f"closed with {self.socket.close_code} {self.socket.close_reason}"))
                    future.exception()  # asked for once, it is no complaint of asyncio's when nobody awaits it
            self._changed.set()

    def _take(self, frame):
        self.frames.append(frame)
        for part in frame if isinstance(frame, list) else [frame]:
            self._check(part)
        if isinstance(frame, dict) and "method" in frame:
            self.inbox.append((frame["method"], frame.get("params", {})))
            self._changed.set()
            return
        future = self._pending.pop(frame.get("id"), None) if isinstance(frame, dict) else None
        if future is None:
            self.unclaimed.put_nowait(frame)
        elif not future.done():
            future.set_result(frame)

    def _check(self, frame):
        """Checks the rules of every frame; `close` of the world reports the violations."""
        def demand(truth, rule):
            if not truth:
                self.violations.append(f"{rule}: {json.dumps(frame)[:600]}")

        demand(frame.get("jsonrpc") == "2.0", "every frame is JSON-RPC 2.0")
        if "method" in frame:
            params = frame.get("params", {})
            demand("id" not in frame, "an event has no id")
            if frame["method"] not in SESSION_EVENTS:
                demand(isinstance(params.get("groupID"), str), "an event carries groupID")
                demand(isinstance(params.get("opTime"), int), "an event carries opTime")
            if "opUser" in params:
                demand("platform" in params, "the operator's platform stands beside opUser")
                operator = params["opUser"]
                if operator.get("userID") == "administrator":
                    demand(operator == {"userID": "administrator"}, "an administrator as opUser is its userID alone")
                else:
                    shown = set(operator) & {"nickName", "faceURL"}
                    demand(set(operator) - shown == {"userID", "nameCard", "role"}, "opUser is a MemberInfo")
                    demand(all(operator[name] for name in shown), "an empty profile is left out")
        else:
            demand(("result" in frame) != ("error" in frame), "a reply has a result or an error")
            demand("id" in frame, "a reply has an id")
            if "error" in frame:
                error = frame["error"]
                demand(isinstance(error.get("code"), int) and isinstance(error.get("message"), str), "code and message")
                demand(isinstance(error.get("data", {}).get("temporary"), bool), "data.temporary is always there")

    # Calling

    async def start(self, method, /, **params):
        """Sends a request and gives the future of its reply: for requests under way at the same
        time."""
        number = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return future

    async def call(self, method, /, **params):
        """The result of a request; an error raises `Refused`."""
        future = await self.start(method, **params)
        if self._reader.done() and not future.done():
            raise Gone("the connection is closed")
        frame = await within(future, PATIENCE)
        if "error" in frame:
            raise Refused(method, frame["error"])
        return frame["result"]

    async def refused(self, code, method, /, **params):
        """Demands that a request is answered with this error code; gives the error's data."""
        try:
            result = await self.call(method, **params)
        except Refused as refusal:
            assert refusal.code == code, f"{method} answered {refusal}, not {code}"
            return refusal.data
        raise AssertionError(f"{method} succeeded with {result}, not {code}")

    async def send(self, value):
        """Sends a JSON value, or text, or bytes as they are."""
        if not isinstance(value, (str, bytes)):
            value = json.dumps(value, ensure_ascii=False)
        try:
            await self.socket.send(value)
        except websockets.ConnectionClosed as closed:
            raise Gone(str(closed)) from closed

    async def exchange(self, value):
        """Sends anything and gives the next frame that is neither an event nor the reply of a
        `call`."""
        await self.send(value)
        return await within(self.unclaimed.get(), PATIENCE)

    # Events

    def received(self, event=None, **where):
        """The params of all such events that wait in the inbox."""
        return [params for name, params in self.inbox if event in (None, name) and matches(params, where)]

    def forget(self):
        """Empties the inbox."""
        self.inbox.clear()

    async def round_trip(self, group=None):
        """Replies that come after everything the server had for this session: of the group, then of
        the session."""
        if group is not None:
            await self.call("getGroupsInfo", groupIDList=[group])
        await self.call("ping")

    async def pong(self):
        """Waits for the answer to a WebSocket ping: the server has what was sent before, and what it had sent is here,
        also while it owes replies."""
        await within(await self.socket.ping(), PATIENCE)

    async def quiet(self, event=None, group=None, **where):
        """Proves by a round trip that no such event is here."""
        await self.round_trip(group)
        if group is not None:
            where["groupID"] = group
        found = self.received(event, **where)
        assert not found, f"{self.user} received {event or 'events'}: {found}"

    # The end

    @property
    def _ending(self):
        return f"{self.user}: {self.closing}"

    @property
    def closing(self):
        return f"close {self.socket.close_code} {self.socket.close_reason!r}"

    async def closed(self, code, patience=PATIENCE):
        """Waits until the server has closed, demands the close code, gives the reason."""
        await within(asyncio.shield(self._reader), patience)
        assert self.socket.close_code == code, self.closing
        return self.socket.close_reason
