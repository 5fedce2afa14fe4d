"""What the scenarios of clients have in common: a server, a proxy before it, and a client behind that; a server that does
as a test says; a device that keeps a store from process to process."""
import asyncio
import json

import pytest
from websockets.asyncio.server import serve

from .driven import CAN, CLIENTS, Driven, View
from .tcp_proxy import TCPProxy
from .tokens import make_token
from .world import eventually, history_of


@pytest.fixture(params=CLIENTS)
async def spawn(request):
    """Starts clients of one kind, each in a process of its own."""
    made = []

    async def make():
        made.append(await Driven.start(request.param))
        return made[-1]

    make.abilities = CAN[request.param]
    yield make
    for one in made:
        await one.end()


@pytest.fixture
async def through():
    """Starts a proxy before a server."""
    made = []

    async def make(target):
        made.append(await TCPProxy.start(getattr(target, "address", target)))
        return made[-1]

    yield make
    for one in made:
        await one.end()


class Scene:
    """A server, a proxy before it, the client behind that, and another member who is not."""

    def __init__(self, own, world, proxy, client, user):
        self.own, self.world, self.proxy, self.client, self.user = own, world, proxy, client, user

    async def group(self, groupType="Public", **fields):
        """A group of the other member's, with the client in it."""
        self.other = await self.world.user("other")
        group = await self.world.group(self.other, groupType, **fields)
        await self.client.call("joinGroup", groupID=group)
        if groupType != "AVChatRoom":
            await eventually(lambda: self.is_in_step(group), True)
        return group

    async def is_in_step(self, group):
        return any(one["groupID"] == group for one in await self.client.do("positions"))

    def token(self, ttl=3600):
        return make_token(self.user, ttl=ttl, now=self.own.now)

    async def warned(self):
        """Waits for the server's warning that the token ends, which a timer sends."""
        await self.own.advance(seconds=0.2)
        await self.client.expect("onUserSigExpired")

    async def say(self, group, text):
        return await self.other.call("sendGroupTextMessage", groupID=group, text=text)

    async def lose(self):
        """Cuts the connection, and lets none through."""
        self.proxy.refuse()
        self.proxy.cut()
        await self.client.expect("state", state="waiting")

    async def reconnect(self, sign):
        """Lets connections through again, and has the client connect until there is a sign of it."""
        self.proxy.refuse(False)
        sign = asyncio.ensure_future(sign)
        while not sign.done():
            losses = self.client.told("state", state="waiting")
            await self.client.do("reconnectNow")
            # It does nothing while a try is under way, which is refused yet.
            lost = asyncio.ensure_future(
                self.client.until(lambda: self.client.told("state", state="waiting") != losses, "waiting again"))
            await asyncio.wait({sign, lost}, return_when=asyncio.FIRST_COMPLETED)
            lost.cancel()
        return await sign

    async def come_back(self):
        return await self.reconnect(self.client.expect("ready"))

    async def history(self, group):
        return await history_of(await self.world.session(self.user), group)

    async def demand_view(self, group):
        """The client has told everything that it could see, each once, as it is now."""
        history = await self.history(group)
        last = history[-1]["seq"]
        await self.client.until(
            lambda: any(one["seq"] >= last for one in View(group).take(self.client.events).messages.values()), f"{last} told")
        joined = next(one["seq"] for one in history if (one.get("tips") or {}).get("type") == "Join"
                      and self.user in [member["userID"] for member in one["tips"]["memberList"]])
        View(group).take(self.client.events).demand([one for one in history if one["seq"] >= joined])


class Device:
    """A device with a client whose store outlives its processes."""

    def __init__(self, here, spawn, directory, options):
        self.here, self.options = here, options
        self._spawn, self.directory = spawn, directory
        self._is_used = False
        # What the last start has shown before anything came from the server.
        self.stored = None

    async def begin(self, **options):
        """A new process that opens what the last one has stored; returns when that is shown."""
        if self._is_used:
            self.here.client = await self._spawn()
        self._is_used = True
        self.directory.mkdir(exist_ok=True)
        merged = {"storage": "disk", "directory": str(self.directory), "userID": self.here.user, "random": 0,
                  **self.options, **options}
        await self.here.client.open(self.here.proxy.url, self.here.token(), **merged)
        self.stored = await self.here.client.expect("stored")
        return self.here.client

    async def start(self, **options):
        """The same; returns when it is in step with its groups."""
        client = await self.begin(**options)
        await client.expect("ready")
        return client

    async def kill(self):
        """Ends the process, and the connection that it leaves behind."""
        await self.here.client.kill()

    async def restart(self, **options):
        await self.here.client.do("flush")
        await self.kill()
        return await self.start(**options)


@pytest.fixture
async def phone(scene, spawn, tmp_path):
    """A device with a client that is not running yet: `await phone(settings, frozen=…)`; `frozen` is the server's time."""
    async def make(settings=None, frozen=False, **options):
        here = await scene(settings, token=False, frozen=frozen)
        return Device(here, spawn, tmp_path / "store", options)
    return make


@pytest.fixture
async def scene(make_server, make_world, spawn, through):
    async def make(settings=None, token=True, frozen=False, frozen_client=False, **options):
        # No client gives a connection up by itself, however long the server takes.
        own = make_server({"heartbeat.interval": "24h", "heartbeat.timeout": "24h", **(settings or {})}, frozen=frozen)
        world = make_world(own)
        proxy, client, user = await through(own), await spawn(), world.name("client")
        here = Scene(own, world, proxy, client, user)
        if token:
            await client.sign_in(proxy.url, here.token(), **({"frozen": True} if frozen_client else {}), **options)
        return here
    return make


class Peer:
    """A server that does as a test says: after the sign-in it sends events and closes. `replies` are those to
    each method, one after the other."""

    def __init__(self, code=None, events=(), login_error=None, replies=None):
        self.code, self.events, self.login_error, self.replies = code, events, login_error, replies or {}
        self.tokens = []

    async def handle(self, socket):
        async for text in socket:
            request = json.loads(text)
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
            if request["method"] == "login" and self.login_error or request["method"] == "getJoinedGroupList" and self.code:
                for method, params in self.events:
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))
                return await socket.close(self.code, "as the test says")

    def answer(self, request):
        if request["method"] == "login":
            self.tokens.append(request["params"]["token"])
            if self.login_error:
                return {"error": self.login_error}
            return {"result": {"userID": "user", "sessionID": "one", "serverTime": 1_766_000_000_000,
                               "tokenExpiresAt": 1_766_003_600_000, "heartbeat": 86_400}}
        if replies := self.replies.get(request["method"]):
            return replies.pop(0)
        return {"result": {"groupList": [], "leftGroupIDList": [], "nextSeq": 0}}


@pytest.fixture
async def peer():
    """Starts a peer: gives it with its address."""
    made = []

    async def make(kind=Peer, **options):
        one = kind(**options)
        # A client may take long to get through what is sent to it: its pongs come behind that.
        server = await serve(
            one.handle, "127.0.0.1", 0, compression=None, ping_interval=None, subprotocols=["throng.v1.json"])
        made.append(server)
        return one, "ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1]

    yield make
    for server in made:
        server.close()
        await server.wait_closed()
