"""Holds the Python client against the servers of harness/hostile.py: a round a line, and a line for what it has found."""
import asyncio
import json
import logging
import math
import selectors
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "Sources/Clients/python/src"))
import throng  # noqa: E402 - behind the path
import throng.clock  # noqa: E402
import websockets  # noqa: E402
from throng.emitter import Tasks  # noqa: E402

LEAST_DELAY, LONGEST_DELAY = 0.1, 86_400


class Selector(selectors.SelectSelector):
    """Time goes on only from timer to timer."""

    passed = 1000.0

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("nothing is left to happen")
        self.passed += max(0, timeout)
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    here = None

    def __init__(self):
        self.clock = Selector()
        super().__init__(self.clock)
        self.set_exception_handler(lambda _, context: self.fault(f"{context['message']}: {context.get('exception')!r}"))

    def time(self):
        return self.clock.passed

    def fault(self, text):
        if self.here:
            self.here.faults.append(text)

    def call_later(self, delay, *arguments, **options):
        if not (math.isfinite(delay) and 0 <= delay <= LONGEST_DELAY):
            self.fault(f"a timer of {delay}")
        if self.here:
            self.here.timers += 1
        return super().call_later(delay, *arguments, **options)


loop = Loop()
throng.clock.now = loop.time
# Nobody is to read of it; a line that could not be made would be a fault.
logging.getLogger("throng").addHandler(logging.NullHandler())


class Round:
    def __init__(self, script, good):
        self.script, self.good, self.faults = script, good, []
        self.step = self.texts = self.requests = self.connections = self.timers = self.tokens = 0
        self.lost_at = None
        self.waits, self.errors, self.refusals = [], [], {}
        self.calls = Tasks()

    @property
    def is_good(self):
        if endless := self.script.get("endless"):
            return len(self.waits) >= endless
        return self.step >= len(self.script["steps"])

    def note(self, client, state):
        if state["state"] == "waiting":
            error = state["error"]
            self.waits.append(state["retryInMs"])
            self.errors.append(getattr(error, "reason", getattr(error, "code", error and str(error))))
        if state["state"] == "online":
            for _ in range(self.script.get("calls", 0)):
                self.calls.spawn(self.call(client))

    async def call(self, client):
        try:
            await client.call("joinGroup", {"groupID": "g"})
        except (throng.ClientError, throng.ThrongError) as error:
            word = str(getattr(error, "reason", getattr(error, "code", None)))
            self.refusals[word] = self.refusals.get(word, 0) + 1

    async def connect(self, url, **options):
        if self.lost_at is not None and loop.time() - self.lost_at < LEAST_DELAY - 1e-6:
            self.faults.append(f"a connection {loop.time() - self.lost_at} s behind the last")
        self.connections += 1
        return Socket(self)

    def token(self):
        self.tokens += 1
        return "token"

    def honest(self, request):
        method, params, group = request["method"], request["params"], self.good["group"]
        results = {
            "login": lambda: self.good["session"],
            "getJoinedGroupList": lambda: {"groupList": [{**group, "groupID": "g"}], "leftGroupIDList": [], "nextSeq": 0},
            "getGroupsInfo": lambda: {"resultList": [
                {"groupID": one, "code": 0, "info": {**group, "groupID": one}} for one in params["groupIDList"]]},
            "syncGroups": lambda: {"groups": [
                {"groupID": one["groupID"], "code": 0, "epoch": one["epoch"], "lastSeq": one["seq"], "recovered": True, "changeList": [],
                 "changeSeq": one["changeSeq"], "messageList": [], "more": False} for one in params["groups"]]},
            "sendGroupTextMessage": lambda: {"msgID": f"n{request['id']}", "timestamp": 1, "status": "Delivered"},
            "ping": lambda: {"serverTime": self.good["session"]["serverTime"]},
        }
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": results.get(method, dict)()})


class Socket:
    """One connection, as `websockets` gives it."""

    def __init__(self, here):
        self.here, self.frames = here, asyncio.Queue()
        # A good server is another one: what the hostile one has left unanswered ends with its connection.
        self.is_good = here.is_good
        self.close_code = self.close_reason = None

    async def send(self, text):
        here, request = self.here, json.loads(text)
        here.requests += 1
        if self.close_code is not None:
            raise websockets.ConnectionClosedOK(None, None)
        for answer in self.answers(request):
            for times in range(answer.get("times", 1)):
                self.frames.put_nowait((answer, (request["id"], here.requests, times)))

    def answers(self, request):
        here = self.here
        if here.is_good:
            return [{"text": here.honest(request)} if self.is_good else {"close": 1001}]
        steps = here.script["steps"]
        step = steps[here.step % len(steps)]
        here.step += 1
        if request["method"] in step:
            return step[request["method"]]
        return [{"text": here.honest(request)}] if here.script.get("endless") else step["joinGroup"]

    async def recv_streaming(self):
        answer, numbers = (None, None) if self.close_code is not None else await self.frames.get()
        if answer is None or "close" in answer:
            await self.close(answer["close"] if answer else 1006)
            raise websockets.ConnectionClosedOK(None, None)
        self.here.texts += 1
        text = answer["text"]
        for mark, number in zip(("$id", "$n", "$k"), numbers):
            text = text.replace(mark, str(number))
        yield text

    async def close(self, code=1000):
        if self.close_code is None:
            self.close_code, self.here.lost_at = code, loop.time()
            self.frames.put_nowait((None, None))


def passing(seconds):
    """Virtual time, which passes at once."""
    passed = loop.create_future()
    loop.call_later(seconds, passed.set_result, None)
    return passed


async def play(script, good):
    here = Round(script, good)
    loop.here = here
    websockets.connect = here.connect
    client = throng.ThrongClient("ws://server.test/ws", here.token, random=lambda: 0, transport="websocket")
    readies = []
    client.on("ready", readies.append)
    client.on("state", lambda state: here.note(client, state))
    # What an application does with a message, a list of members, or anything at all.
    client.on("onRecvNewMessage", lambda event: (len(event["groupID"]), len(event["message"]["sender"])))
    client.on("onMemberEnter", lambda event: [len(one["userID"]) for one in event.get("memberList") or ()])
    client.on("sync", lambda sync: [len(one["sender"]) for one in sync["messageList"] + sync["changeList"]])
    client.on("event", lambda name, params: json.dumps(params))
    asyncio.ensure_future(client.connect()).add_done_callback(lambda done: done.cancelled() or done.exception())
    messages = [client.send_text("g", "text", clientMsgID=one) for one in ("first", "second")]
    call = asyncio.ensure_future(client.call("joinGroup", {"groupID": "g"}))
    call.add_done_callback(lambda done: done.cancelled() or done.exception())
    is_back = False
    for turn in range(200_000):
        is_back = (here.is_good and readies and client.state == "online"
                   and not any(one.state in ("sending", "queued") for one in messages))
        if is_back or client.state == "closed":
            break
        # A server may ask for a day.
        await passing(0.05 if turn < 5_000 else 60)
    is_closed = client.state == "closed"
    if not is_back and not is_closed:
        here.faults.append(f"not back: {client.state}, {len(readies)} times ready, {[one.state for one in messages]}")
    await client.close()
    call.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    loop.here = None
    if here.requests > 2 * (here.texts + here.timers) + (3 + script.get("calls", 0)) * here.connections + 10:
        here.faults.append(f"{here.requests} requests for {here.texts} texts and {here.timers} timers")
    if here.tokens > 2 * here.connections + here.timers:
        here.faults.append(f"{here.tokens} tokens for {here.connections} connections and {here.timers} timers")
    if client._connection.tasks.running:
        here.faults.append(f"{len(client._connection.tasks.running)} tasks are left")
    return {"seed": script["seed"], "faults": here.faults, "isClosed": is_closed, "texts": here.texts, "requests": here.requests,
            "connections": here.connections, "tokens": here.tokens, "waits": here.waits, "errors": here.errors,
            "refusals": here.refusals}


async def main():
    good = None
    for line in sys.stdin:
        one = json.loads(line)
        if "good" in one:
            good = one["good"]
        else:
            print(json.dumps(await play(one, good)), flush=True)


with asyncio.Runner(loop_factory=lambda: loop) as runner:
    runner.run(main())
