"""Drives the Python client for the scenarios of test_clients.py, test_client_storage.py and test_client_streams.py, see
harness/driven.py. THRONG_CLIENT_INSTALLED=1: the client that is installed is driven."""
import asyncio
import json
import logging
import os
import sys
import time
from pathlib import Path

if "THRONG_CLIENT_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "Sources/Clients/python/src"))
import throng.clock  # noqa: E402 - behind the path
from throng import (  # noqa: E402
    ClientError,
    MemoryStorage,
    SQLiteStorage,
    StorageError,
    StorageLimits,
    ThrongClient,
    ThrongError,
)


class Loop(asyncio.SelectorEventLoop):
    """The client's time: a test puts the clock forward; a frozen client's time stands still but for that, and its
    timers go by it."""

    frozen_at, passed = None, 0

    def time(self):
        return super().time() if self.frozen_at is None else self.frozen_at + self.passed

    def now(self, real=throng.clock.now):
        return (real() if self.frozen_at is None else self.frozen_at) + self.passed

    def freeze(self, isFrozen=True):
        self.frozen_at = super().time() if isFrozen else None


loop = Loop()
throng.clock.now = loop.now


class TimeOfDay:
    """The wall clock, which a test sets."""

    ahead = 0

    def __call__(self, real=time.time):
        return real() + self.ahead


time.time = TimeOfDay()


class RefusedStorage(SQLiteStorage):
    async def open(self, name):
        raise StorageError("Refused", "as the test says")


class FullStorage(SQLiteStorage):
    """Finds no room for the update of a number, nor for later ones."""

    def __init__(self, directory, number):
        super().__init__(directory)
        self.left = number - 1

    async def update(self, keys, decide):
        if self.left <= 0:
            raise StorageError("Full", "as the test says")
        self.left -= 1
        await super().update(keys, decide)


def storage_of(kind, directory):
    if kind == "refused":
        return RefusedStorage(directory)
    if kind.startswith("full:"):
        return FullStorage(directory, int(kind[5:]))
    return SQLiteStorage(directory) if kind == "disk" else MemoryStorage()


def error_of(error):
    if error is None:
        return None
    if isinstance(error, ThrongError):
        return {"code": error.code, "message": error.message, "temporary": error.temporary, "field": error.field,
                "retryAfterMs": round(error.retry_after * 1000)}
    return {"reason": error.reason if isinstance(error, ClientError) else str(error)}


def tell(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Lines(logging.Handler):
    """Tells what the client logs."""

    def emit(self, record):
        tell(event="log", params={"line": record.getMessage()})


logging.getLogger("throng").addHandler(Lines())


class Driver:
    def __init__(self):
        self.client = self.asked = None
        self.messages = {}

    def shown(self, message):
        self.messages[message.client_msg_id] = message
        return {"clientMsgID": message.client_msg_id, "groupID": message.group_id, "state": message.state,
                "seq": message.seq, "msgID": message.msg_id, "error": error_of(message.error), "createdAt": message.created_at,
                "extension": message.params.get("extension"), "replyTo": message.params.get("replyTo")}

    def ask(self):
        self.asked = asyncio.get_running_loop().create_future()
        tell(event="tokenWanted", params={})
        return self.asked

    async def open(self, url, token=None, random=None, frozen=False, platform=None, deviceID=None, positions=(), queueLimit=1000,
                   storage=None, directory=None, userID=None, limits=None, transport=None, tokenTimeout=None):
        loop.freeze(frozen)
        more = {"random": lambda: random} if random is not None else {}
        if storage:
            more["storage"] = storage_of(storage, directory)
        if limits:
            names = {"messagesPerGroup": "messages_per_group", "groups": "groups", "bytes": "bytes"}
            more["storage_limits"] = StorageLimits(**{names[name]: value for name, value in limits.items()})
        given = {"user_id": userID, "transport": transport, "token_timeout": tokenTimeout}
        more.update({name: value for name, value in given.items() if value is not None})
        self.client = ThrongClient(url, token or self.ask, platform, deviceID, positions, queueLimit, proxy=None, **more)
        self.client.on("event", lambda name, params: tell(event=name, params=params))
        for name in ("sync", "ready", "renewed", "status", "conversation", "storageFailed"):
            self.client.on(name, lambda params, name=name: tell(event=name, params=params))
        self.client.on("message", lambda message: tell(event="message", params=self.shown(message)))
        self.client.on("state", lambda state: tell(event="state", params={**state, "error": error_of(state.get("error"))}))
        self.client.on("stored", lambda news: tell(
            event="stored", params={**news, "outbox": [self.shown(one) for one in news["outbox"]]}))
        self.client.on("watchFailed", lambda failure: tell(
            event="watchFailed", params={**failure, "error": error_of(failure["error"])}))
        for name in ("renewalFailed", "resumeFailed"):
            self.client.on(name, lambda error, name=name: tell(event=name, params=error_of(error)))
        asyncio.ensure_future(self.client.connect()).add_done_callback(lambda done: done.exception())

    async def token(self, token=None):
        # The client may have given up what it asked.
        if self.asked.done():
            return
        if token:
            self.asked.set_result(token)
        else:
            self.asked.set_exception(RuntimeError("no token today"))

    async def call(self, method, params=None, queue=True):
        return await self.client.call(method, params, queue)

    async def send(self, groupID, text=None, data=None, **options):
        send = self.client.send_custom if text is None else self.client.send_text
        return self.shown(send(groupID, data if text is None else text, **options))

    async def resend(self, clientMsgID):
        return self.shown(self.client.resend(self.messages[clientMsgID]))

    async def discard(self, clientMsgID):
        self.client.discard(self.messages[clientMsgID])

    async def outbox(self):
        return [self.shown(one) for one in self.client.outbox()]

    async def conversations(self, hidden=False):
        return await self.client.conversations(hidden)

    async def conversation(self, groupID):
        return await self.client.conversation(groupID)

    async def messages_of(self, groupID, before=None, count=50):
        return await self.client.messages(groupID, before, count)

    async def members(self, groupID):
        return await self.client.stored_members(groupID)

    async def profile(self, userID):
        return await self.client.stored_profile(userID)

    async def flush(self):
        await self.client._store.flush()

    async def dump(self):
        return await self.client._store.dump()

    async def poke(self, key, value):
        await self.client._store.poke(key, value)

    async def watch(self, userIDList):
        self.client.watch_users(userIDList)

    async def unwatch(self, userIDList=None):
        self.client.unwatch_users(userIDList)

    async def statusOf(self, userID):
        return self.client.status_of(userID)

    async def signal(self, groupID, name, data=None):
        return await self.client.send_signal(groupID, name, data)

    async def typing(self, groupID):
        self.client.send_typing(groupID)

    async def mayWrite(self, groupID):
        return self.client.may_write_in(groupID) == 0

    async def connect(self):
        await self.client.connect()

    async def reconnectNow(self):
        self.client.reconnect_now()

    async def positions(self):
        return self.client.positions()

    async def logout(self, forget=False):
        await self.client.logout(forget)

    async def close(self):
        await self.client.close()

    async def step(self, seconds):
        time.time.ahead += seconds

    async def passing(self, seconds):
        loop.passed += seconds
        # Timers that have become due fire in the next turns of the loop.
        for _ in range(10):
            await asyncio.sleep(0)

    async def run(self, id, do, **values):
        # Words of Python's own, and of this class.
        name = {"pass": "passing", "messages": "messages_of"}.get(do, do)
        try:
            tell(id=id, result=await getattr(self, name)(**values))
        except Exception as error:
            tell(id=id, error=error_of(error))


async def main():
    lines, driver = asyncio.StreamReader(limit=1 << 24), Driver()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(0, "rb"))
    running = set()
    while line := await lines.readline():
        # Not awaited: the next command may be what the answer of this one waits for.
        task = asyncio.ensure_future(driver.run(**json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    if driver.client:
        # The connection's end may wait for its own timers.
        loop.freeze(False)
        await driver.client.close()


with asyncio.Runner(loop_factory=lambda: loop) as runner:
    runner.run(main())
