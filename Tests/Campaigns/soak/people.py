"""The users of a soak besides those whom chaos judges: they stay for hours, come and go, or read slowly."""
import asyncio
import itertools
import socket
import time
from collections import Counter, deque
from types import SimpleNamespace
from urllib.parse import urlencode

import websockets
from chaos.load import Journal
from chaos.member import CONNECT_PATIENCE, Member
from chaos.wall_clock import TOKEN_LIFETIME
from harness.event_stream import EventSocket, Refused
from harness.tokens import make_token
from harness.waiting import within
from websockets.asyncio.client import connect

REGULARS, VISITORS, SLOW = 12, 40, 3
# Of the visitors' sessions that end, and of others that begin, in a minute.
CHURN = 0.10
# The names of visitors come back: what is kept of a user must not be there for each session.
NAMES = 400
# Requests of all regulars a second.
RATE = 25
# What becomes of an HTTP request whose connection is lost before its answer, or in it.
LOST = (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError, IndexError)
# A message is edited, reacted to and taken back while it is among so many.
RECENT = 40


class LossySocket(EventSocket):
    """Whose server may be away between two requests: the stream ends then, as a lost WebSocket does."""

    @property
    def transport(self):
        """`Session.cut` ends a connection without a word."""
        return self.writer.transport

    async def _send(self, text, before):
        try:
            await super()._send(text, before)
        except LOST:
            self.transport.abort()


class StreamMember(Member):
    """On an event stream, in place of a WebSocket."""

    async def _open(self, node):
        place = node.url.removeprefix("ws://").removesuffix("/ws")
        server = SimpleNamespace(front=None, address=place, settings={}, path="/ws")
        query = {"token": make_token(self.user, ttl=TOKEN_LIFETIME), "platform": "Web"}
        try:
            return await within(LossySocket.open(server, query), CONNECT_PATIENCE)
        except (Refused, *LOST) as error:
            # By a proxy, or a server that drains.
            raise OSError("no event stream") from error


class CompressedMember(Member):
    compression = "deflate"


KINDS = [Member, CompressedMember, StreamMember]


class SlowReader:
    """Is a member of the busiest groups and reads nothing for a while, so that its queue fills; then it reads on, or is closed
    for that. Its own kernel keeps as little as may be."""

    def __init__(self, user, choose, pause):
        self.user, self.choose, self.pause = user, choose, pause
        # By close code.
        self.closed = Counter()

    async def run(self):
        while True:
            node = self.choose()
            if node is None:
                await asyncio.sleep(0.2)
                continue
            try:
                await self._visit(node)
            except (OSError, TimeoutError, websockets.WebSocketException):
                await asyncio.sleep(0.2)

    async def _visit(self, node):
        host, port = node.server.listen.rsplit(":", 1)
        query = urlencode({"token": make_token(self.user, ttl=TOKEN_LIFETIME), "platform": "Web"})
        with socket.socket() as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            own.setblocking(False)
            await within(asyncio.get_running_loop().sock_connect(own, (host, int(port))), CONNECT_PATIENCE)
            async with connect(
                    f"ws://{host}:{port}/ws?{query}", sock=own, max_size=None, max_queue=1, ping_interval=None, close_timeout=1,
                    open_timeout=CONNECT_PATIENCE, compression=None, proxy=None) as slow:
                await asyncio.sleep(self.pause)
                end = time.monotonic() + self.pause / 4
                while time.monotonic() < end:
                    try:
                        await within(slow.recv(), self.pause / 4)
                    except TimeoutError:
                        break
                    except websockets.ConnectionClosed:
                        self.closed[slow.close_code] += 1
                        return


class Group:
    """One that lasts. `recent`: (seq, sender) of its last messages."""

    def __init__(self, groupID, kind):
        self.groupID, self.kind = groupID, kind
        self.recent = deque(maxlen=RECENT)


class Everyday:
    """Groups of all types that last for all hours, and what people do in them. What is refused for good, but for what the
    page of each method says of such requests, is a violation."""

    GONE = (10030, 10031, 10032, 10033)

    def __init__(self, cluster, random, choose):
        self.cluster, self.random, self.choose = cluster, random, choose
        self.journal = Journal()
        self.regulars, self.visitors, self.slow = [], [], []
        # They ask nothing and listen, so that they wait for a server that stands still.
        self.waiters = []
        self.groups = {kind: Group(f"every-{kind}", kind) for kind in ("Work", "Public", "Meeting", "AVChatRoom", "BChatRoom")}
        # By what was done.
        self.counts = Counter()
        self._numbers = itertools.count(1)
        self._works = []

    # Beginning

    async def prepare(self):
        names = [f"regular{number}" for number in range(REGULARS)]
        for group in self.groups.values():
            is_live = group.kind in ("AVChatRoom", "BChatRoom")
            await self._make(group, names[0], [] if is_live else names[1:])
        for number, (name, kind) in enumerate(zip(names, itertools.cycle(KINDS))):
            self.regulars.append(kind(name, self.choose, [], self.journal, watched=names if number % 2 else ()))
        for node in self.cluster.nodes:
            for kind in KINDS:
                user = f"waiter{len(self.waiters)}"
                self.waiters.append(kind(user, self.choose, [], self.journal, home=node, is_patient=True))
        for member in self.regulars + self.waiters:
            await within(member.there(), 60)
            await member.request("joinGroup", (10013,), groupID=self.groups["AVChatRoom"].groupID)
        self.slow = [SlowReader(f"slow{number}", self.choose, 40) for number in range(SLOW)]
        for reader in self.slow:
            for kind in ("Meeting", "AVChatRoom"):
                await self._administer(
                    "joinGroup", (10013,), asUser=reader.user, groupID=self.groups[kind].groupID)

    async def _make(self, group, owner, people):
        fields = {"joinMode": "Any"} if group.kind in ("Public", "Meeting") else {}
        if people:
            fields["memberList"] = [{"userID": user} for user in people]
        # It may be there from an earlier run.
        await self._administer(
            "createGroup", (10021, 10025), groupID=group.groupID, groupName=group.groupID, groupType=group.kind,
            ownerUserID=owner, **fields)

    async def _administer(self, method, done_codes=(), **params):
        answer = await self.cluster.nodes[0].call(method, **params)
        if "error" in answer and answer["error"]["code"] not in done_codes:
            self.journal.fault("An administrator's request is done", f"{method} {params}: {answer['error']}")
        return answer.get("result")

    # Running

    def start(self):
        self._works = [asyncio.create_task(self._live(member)) for member in self.regulars]
        self._works += [asyncio.create_task(self._broadcast()), asyncio.create_task(self._churn())]
        self._works += [asyncio.create_task(reader.run()) for reader in self.slow]

    def violations(self):
        """Since the last time. A work that has ended tells why."""
        faults, self.journal.faults = self.journal.faults, []
        for work in self._works:
            if work.done():
                work.result()
        # Nobody judges the events of these.
        self.journal.acks.clear()
        self.journal.sessions[:] = [session for session in self.journal.sessions if session.ended is None]
        for session in self.journal.sessions:
            session.events.clear()
        return faults

    async def _live(self, member):
        acts = [self._talk, self._talk, self._talk, self._edit, self._react, self._unreact, self._pin, self._read, self._receipt,
                self._count, self._mark, self._say, self._signal, self._revoke, self._look, self._search, self._conversation,
                self._move]
        while True:
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * REGULARS / RATE)
            act = self.random.choice(acts)
            await act(member)
            self.counts[act.__name__[1:]] += 1

    def _group(self, *kinds):
        return self.groups[self.random.choice(kinds)]

    def _message(self, *kinds, sender=None):
        """(group, seq) of one of the last messages; None."""
        group = self._group(*kinds)
        found = [seq for seq, user in group.recent if sender in (None, user)]
        return (group, self.random.choice(found)) if found else None

    async def _talk(self, member):
        group = self._group("Work", "Public", "Meeting", "AVChatRoom")
        text = f"{member.user} {next(self._numbers)} " + "word " * self.random.randrange(1, 60)
        more = {"needReadReceipt": True} if group.kind in ("Work", "Public") and self.random.random() < 0.5 else {}
        answer = await member.request("sendGroupTextMessage", (10007,), groupID=group.groupID, text=text, **more)
        if answer and "seq" in answer and group.kind != "AVChatRoom":
            group.recent.append((answer["seq"], member.user))

    async def _edit(self, member):
        if found := self._message("Work", "Public", "Meeting", sender=member.user):
            group, seq = found
            await member.request(
                "modifyGroupMessage", self.GONE, groupID=group.groupID, seq=seq, text=f"edited {next(self._numbers)}")

    async def _react(self, member, method="addMessageReaction"):
        if found := self._message("Work", "Public", "Meeting"):
            group, seq = found
            await member.request(
                method, (*self.GONE, 10055, 10007), groupID=group.groupID, seq=seq, reaction=self.random.choice("👍😀🎉"))

    async def _unreact(self, member):
        await self._react(member, "removeMessageReaction")

    async def _pin(self, member):
        owner = self.regulars[0]
        if found := self._message("Work", "Public", "Meeting"):
            group, seq = found
            await owner.request(
                "pinGroupMessage", (*self.GONE, 10056), groupID=group.groupID, seq=seq, isPinned=self.random.random() < 0.5)

    async def _read(self, member):
        group = self._group("Work", "Public")
        await member.request("markGroupMessageAsRead", (10007,), groupID=group.groupID)

    async def _receipt(self, member):
        if found := self._message("Work", "Public"):
            group, seq = found
            await member.request("sendMessageReadReceipts", (*self.GONE, 10007), groupID=group.groupID, seqList=[seq])

    async def _count(self, member):
        await member.request(
            "increaseGroupCounter", (8511, 10057, 10007), groupID=self._group("Public", "AVChatRoom").groupID,
            key=f"key{self.random.randrange(8)}", value=1)

    async def _mark(self, member):
        await member.request(
            "setGroupAttributes", (8511, 10007, 10058), groupID=self._group("Public", "AVChatRoom").groupID,
            attributes={f"key{self.random.randrange(8)}": str(next(self._numbers))})

    async def _say(self, member):
        await member.request("setSelfStatus", customStatus=f"status {next(self._numbers)}")
        await member.request("setSelfInfo", nickName=f"{member.user} {self.random.randrange(100)}")

    async def _signal(self, member):
        await member.request(
            "sendGroupSignal", (10007, 10061), groupID=self._group("Work", "Public", "AVChatRoom").groupID, name="typing")

    async def _revoke(self, member):
        if found := self._message("Work", "Public", "Meeting", sender=member.user):
            group, seq = found
            await member.request("revokeGroupMessage", self.GONE, groupID=group.groupID, seq=seq)

    async def _look(self, member):
        group = self._group("Work", "Public", "Meeting").groupID
        await member.request("getGroupHistoryMessageList", (10007,), groupID=group, count=20)
        await member.request("getGroupUnreadCount", (10007,), groupIDList=[group])

    async def _search(self, member):
        await member.request("searchGroupMessages", (10007,), keywordList=["edited"])

    async def _conversation(self, member):
        await member.request(
            "setConversation", (10007,), groupID=self._group("Work", "Public").groupID, isPinned=self.random.random() < 0.5)

    async def _move(self, member):
        group = self.groups["Meeting"]
        if member is not self.regulars[0]:
            await member.request("quitGroup", (10007, 10010), groupID=group.groupID)
            await member.request("joinGroup", (10013,), groupID=group.groupID)

    async def _broadcast(self):
        """The application, to all users."""
        while True:
            await asyncio.sleep(2)
            node = self.choose()
            if node is None:
                continue
            try:
                answer = await node.call(
                    "sendGroupTextMessage", groupID=self.groups["BChatRoom"].groupID, text=f"news {next(self._numbers)}")
            except (OSError, AssertionError):
                continue  # the node is away, or draining
            if "error" in answer and not answer["error"]["data"]["temporary"]:
                self.journal.fault("The application reaches all users", str(answer["error"]))

    # Coming and going

    async def _churn(self):
        while True:
            if len(self.visitors) < VISITORS:
                await self._come()
                continue
            await asyncio.sleep(60 / (CHURN * VISITORS))
            going = self.visitors.pop(self.random.randrange(len(self.visitors)))
            if self.random.random() < 0.5 and going.session:
                # With a word; the other half just goes.
                await going.session.socket.close()
            await going.leave()
            await self._come()

    async def _come(self):
        kind = self.random.choice(KINDS)
        # Nobody has two sessions, which would end each other.
        taken = {member.user for member in self.visitors}
        user = self.random.choice([name for name in (f"visitor{number}" for number in range(NAMES)) if name not in taken])
        member = kind(user, self.choose, [], self.journal)
        self.visitors.append(member)
        await member.request("joinGroup", (10013,), groupID=self.groups["AVChatRoom"].groupID)
        await member.request("joinGroup", (10013,), groupID=self.groups["Public"].groupID)

    async def end(self):
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        await asyncio.gather(*(member.leave() for member in self.regulars + self.waiters + self.visitors))
