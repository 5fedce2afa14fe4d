"""A server of event streams that does as a test says (Protocol.md, "Event streams")."""
import asyncio
import json

from .tcp_server import TCPServer
from .waiting import within

PATIENCE = 60
SESSION = {"userID": "user", "sessionID": "one", "serverTime": 1_766_000_000_000, "tokenExpiresAt": 1_766_003_600_000, "heartbeat": 86_400}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"


def event(method, params):
    return b"data: " + json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n\n"


class StreamPeer(TCPServer):
    """`begin` gives the bytes that answer the Nth `GET`, `answer` the status and the body for the Nth `POST`. What is no
    stream is answered 404."""

    def __init__(self, begin=None, answer=None):
        super().__init__()
        self.begin = begin or (lambda number: STREAM + self.session())
        self.answer = answer or (lambda number, body: (200, self.honest(body)))
        # The request lines and headers of each GET, the bodies of each POST.
        self.streams, self.posts = [], []
        # While it is clear, no POST is answered.
        self.goes = asyncio.Event()
        self.goes.set()
        self._changed = asyncio.Condition()
        self._stream = None

    @classmethod
    async def start(cls, **options):
        self = cls(**options)
        self.url = f"ws://{await self._listen(limit=1 << 20)}/chat/ws"
        return self

    @staticmethod
    def session(**more):
        return event("onConnectSuccess", {**SESSION, "streamKey": "0.key", **more})

    @staticmethod
    def honest(body):
        """What a server without groups answers to a request, or a batch."""
        def one(request):
            results = {"getJoinedGroupList": {"groupList": [], "leftGroupIDList": [], "nextSeq": 0},
                       "sendGroupTextMessage": {"msgID": f"m{request['id']}", "timestamp": 1, "status": "Delivered"},
                       "ping": {"serverTime": 1}, "login": SESSION}
            return {"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}
        asked = json.loads(body)
        return json.dumps([one(each) for each in asked] if isinstance(asked, list) else one(asked)).encode()

    async def tell(self, data):
        """Sends bytes over the last stream."""
        self._stream.write(data)
        await self._stream.drain()

    async def until(self, condition):
        async with self._changed:
            await within(self._changed.wait_for(condition), PATIENCE)

    async def end(self):
        self.goes.set()
        await super().end()

    async def _serve(self, reader, writer):
        while await self._answer_one(reader, writer):
            pass

    async def _answer_one(self, reader, writer):
        """Answers one request; whether another may follow on the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (one.split(":", 1) for one in rest if one)}
        method, target, _ = line.split(" ")
        if method == "GET" and target.startswith("/chat/events"):
            writer.write(self.begin(len(self.streams)))
            self._stream = writer
            await self._note(self.streams, (line, headers))
            await reader.read()
            return False
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if method != "POST" or target != "/chat/rpc" or headers.get("authorization") != "Bearer 0.key":
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return True
        number = len(self.posts)
        await self._note(self.posts, body)
        await self.goes.wait()
        status, answer = self.answer(number, body)
        writer.write(b"HTTP/1.1 %d Status\r\nContent-Length: %d\r\n\r\n" % (status, len(answer)) + answer)
        return True

    async def _note(self, where, what):
        where.append(what)
        async with self._changed:
            self._changed.notify_all()
