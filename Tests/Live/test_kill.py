"""No acknowledged write is lost by `kill -9` (Protocol.md, "Durability")."""
import asyncio
import random

from harness.client import Gone
from harness.waiting import within
from harness.world import World, history_of

ROUNDS = 10
SENDERS = 4
GROUPS = 2
UNDER_WAY = 16
READERS = ["user-0", "user-1"]


def extras_of(message):
    """What a message has besides its text, as its sender gave it."""
    shown = {name: message[name] for name in ("extension", "toUserIDList") if name in message}
    return {**shown, **({"replyTo": message["replyTo"]["seq"]} if "replyTo" in message else {})}


class Sender:
    """One user who keeps messages under way until the connection is gone."""

    def __init__(self, client, groups, round_):
        self.client = client
        self.groups = groups
        self.round = round_
        self.acknowledged = {}
        self.open = {}
        self.last = {}

    def extras(self, group, name, number):
        """Some messages name their only reader, answer another, or have an extension: they are as durable."""
        other = READERS[1] if self.client.user == READERS[0] else READERS[0]
        answer = {"replyTo": self.last[group]} if group in self.last else {}
        return [{}, {"toUserIDList": [other]}, {"extension": name}, answer][number // len(self.groups) % 4]

    async def run(self, total):
        ends = await asyncio.gather(*(self._work(worker, total) for worker in range(UNDER_WAY)), return_exceptions=True)
        for end in ends:
            if not isinstance(end, Gone):  # Gone is the kill that the test is about
                raise end

    async def _work(self, worker, total):
        number = 0
        while True:
            group = self.groups[number % len(self.groups)]
            name = f"{self.round}/{self.client.user}/{worker}/{number}"
            extras = self.extras(group, name, number)
            self.open[name] = (group, extras)
            result = await self.client.call("sendGroupTextMessage", groupID=group, text=name, clientMsgID=name, **extras)
            assert result["status"] == "Stored"
            del self.open[name]
            self.last[group] = result["seq"]
            self.acknowledged[name] = (group, result["msgID"], result["seq"], extras)
            total.add()
            number += 1


class Total:
    """Counts acknowledgements and says when enough are there."""

    def __init__(self, enough):
        self.count = 0
        self.enough = enough
        self.reached = asyncio.Event()

    def add(self):
        self.count += 1
        if self.count >= self.enough:
            self.reached.set()


async def check_round(own, groups, acknowledged):
    """Every acknowledged message is there exactly once with its seq and all that it had, and the seq have
    no gap. Of those that name their reader others see nothing."""
    world = World(own)
    # user-0 has sent whatever does not name it.
    reader, other = [await world.session(user) for user in READERS]
    for group in groups:
        messages = await history_of(reader, group)
        seen = [m["seq"] for m in messages if other.user in m.get("toUserIDList", [other.user]) + [m["sender"]]]
        assert [message["seq"] for message in await history_of(other, group)] == seen
        assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))
        names = [message["clientMsgID"] for message in messages]
        assert len(set(names)) == len(names), "stored twice"
        stored = {m["clientMsgID"]: (group, m["msgID"], m["seq"], extras_of(m)) for m in messages}
        expected = {name: row for name, row in acknowledged.items() if row[0] == group}
        assert {name: stored.get(name) for name in expected} == expected
    await world.close()


async def send_again(own, sender, acknowledged):
    """Sends unacknowledged messages again under their clientMsgIDs, like a client."""
    world = World(own)
    client = await world.session(sender.client.user)
    for name, (group, extras) in sender.open.items():
        result = await client.call("sendGroupTextMessage", groupID=group, text=name, clientMsgID=name, **extras)
        acknowledged[name] = (group, result["msgID"], result["seq"], extras)
    await world.close()


async def test_ten_rounds_of_kill_9_under_load(make_server, record_property):
    own = make_server()
    random_ = random.Random(20)
    world = World(own)
    users = [await world.session(f"user-{n}") for n in range(SENDERS)]
    groups = [await world.group(users[0], "Work", users[1:]) for _ in range(GROUPS)]
    await world.close()
    acknowledged = {}
    for round_ in range(ROUNDS):
        world = World(own)
        senders = [Sender(await world.session(f"user-{n}"), groups, round_) for n in range(SENDERS)]
        total = Total(random_.randint(50, 500))
        running = [asyncio.ensure_future(sender.run(total)) for sender in senders]
        await within(total.reached.wait(), 60)
        own.kill()
        await asyncio.gather(*running)
        await world.close()
        for sender in senders:
            acknowledged.update(sender.acknowledged)
        own.start()
        await check_round(own, groups, acknowledged)
        for sender in senders:
            await send_again(own, sender, acknowledged)
        await check_round(own, groups, acknowledged)
    record_property("summary", f"kill-9: {ROUNDS} rounds, {len(acknowledged)} acknowledged messages checked")
