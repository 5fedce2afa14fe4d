"""Sessions of many users in one process, and the messages that they send each other."""
import asyncio
import itertools
import json
import time
from collections import Counter

from harness.flood import FloodSocket, Tally
from harness.tokens import make_token

from .judge import SessionView

# Sign-ins under way.
AT_ONCE = 50
EVENT = b'"method":"onRecvNewMessage"'


class Client(FloodSocket):
    """A signed-in user. It does no more with a frame than the judgement needs."""

    @classmethod
    async def begin(cls, server, node, user, groups):
        self = await cls.sign_in(server, Tally(), make_token(user), platform="Web")
        assert self.is_open, f"{user} was not signed in at {node}: {dict(self.tally.closed)}"
        self.view = SessionView(user, node, tuple(groups))
        self.numbers = itertools.count(1)
        # What each request in flight is.
        self.pending = {}
        self.on_text = self._take
        return self

    def send(self, group, done):
        """A stored message; `done(answer)` gets the reply."""
        number = next(self.numbers)
        self.pending[number] = group, done
        name = f"{self.view.user}-{number}"
        self.request("sendGroupTextMessage", {"groupID": group, "text": name, "clientMsgID": name}, number)

    def _take(self, text):
        if EVENT in text[:60]:
            message = json.loads(text)["params"]["message"]
            self.view.events.setdefault(message["groupID"], []).append(message["seq"])
        elif b'"method":' not in text[:40]:
            answer = json.loads(text)
            group, done = self.pending.pop(answer["id"], (None, None))
            if done:
                done(answer)

    def _read_frame(self, opcode, buffer, body, end):
        if opcode == 9:
            self.frame(0x8A, bytes(buffer[body:end]))
        super()._read_frame(opcode, buffer, body, end)
        if opcode == 8:
            self._end()

    def connection_lost(self, error):
        super().connection_lost(error)
        self._end()

    def _end(self):
        view = getattr(self, "view", None)
        if view and view.closed is None:
            # The only code; 1006 where the connection broke.
            (view.code,) = self.tally.closed
            view.closed, view.pending = time.time(), len(self.pending)


class Crowd:
    """The users, a session of each, and a traffic of messages by chance."""

    def __init__(self, cluster, random, members, rate):
        """`members`: users by group."""
        self.cluster, self.random, self.members, self.rate = cluster, random, members, rate
        self.clients = {}
        # The name of the node that is lost: its clients send nothing more.
        self.lost = None
        self.acks, self.refused = [], Counter()
        # The longest time between a request and its reply.
        self.late = 0.0
        self._is_running = False

    async def sign_in(self):
        groups = {}
        for group, users in self.members.items():
            for user in users:
                groups.setdefault(user, []).append(group)
        nodes, users, turn = self.cluster.nodes, sorted(groups), asyncio.Semaphore(AT_ONCE)

        async def begin(index, user):
            node = nodes[index % len(nodes)]
            async with turn:
                self.clients[user] = await Client.begin(node.server, node.name, user, groups[user])

        await asyncio.gather(*(begin(index, user) for index, user in enumerate(users)))

    @property
    def views(self):
        return [client.view for client in self.clients.values()]

    def start(self):
        self._is_running = True
        self._work = asyncio.create_task(self._run())

    async def stop(self, patience=15):
        """Waits for the replies of those that are still there."""
        self._is_running = False
        await self._work
        deadline = time.monotonic() + patience
        while self.unanswered and time.monotonic() < deadline:
            await asyncio.sleep(0.05)

    async def quiet(self, seconds, patience=60):
        """Waits until no event has come for so long."""
        seen, since, deadline = None, time.monotonic(), time.monotonic() + patience
        while time.monotonic() - since < seconds:
            assert time.monotonic() < deadline, f"events come still, {patience} s behind the last message"
            await asyncio.sleep(0.1)
            count = sum(client.tally.events for client in self.clients.values())
            if count != seen:
                seen, since = count, time.monotonic()

    @property
    def unanswered(self):
        return sum(len(client.pending) for client in self.clients.values() if self._is_there(client))

    def _is_there(self, client):
        return client.is_open and client.view.node != self.lost

    async def _run(self):
        names, start, count = sorted(self.members), time.monotonic(), 0
        while self._is_running:
            while count < self.rate * (time.monotonic() - start):
                count += 1
                self._send(self.random.choice(names))
            await asyncio.sleep(0.005)

    def _send(self, group):
        there = [client for user in self.members[group] if self._is_there(client := self.clients[user])]
        if there:
            sender, began = self.random.choice(there), time.monotonic()
            sender.send(group, lambda answer: self._note(answer, sender, group, began))

    def _note(self, answer, sender, group, began):
        now = time.monotonic()
        self.late = max(self.late, now - began)
        if "error" in answer:
            self.refused[answer["error"]["code"]] += 1
        else:
            self.acks.append((now, group, answer["result"]["seq"]))

    def end(self):
        for client in self.clients.values():
            client.cut()
