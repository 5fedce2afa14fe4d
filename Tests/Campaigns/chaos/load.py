"""The users, their groups, and what they do all the time."""
import asyncio
import time

from .agreement import Agreement
from .checker import PROMISES, Violation, closed_elsewhere, only_who_missed_was_closed, violations
from .member import Member, Tally
from .people import People
from .records import GroupRecord, Record, Stored

from harness.waiting import within

SENDERS, WORK_GROUPS, WORK_MEMBERS = 10, 12, 4
# Messages of all senders a second; a live room's part of it stays under its limit of 40.
RATE = 40
SETTLE_PATIENCE = 45


class Journal:
    """Everything that clients have seen since the start, and the counts of a round."""

    def __init__(self):
        self.sessions, self.acks, self.faults, self.news = [], [], [], []
        self.tally = Tally()

    def fault(self, promise, evidence):
        self.faults.append(Violation(promise, evidence))


class Load:
    """Senders that choose nodes as a balancer does; scouts, one at each node, which measure; patient
    listeners, one at each node, which are still there when a node was stopped; visitors of the public group.
    `prefix` begins the names of all of them, so that several may follow each other on one server."""

    def __init__(self, cluster, random, application=None, prefix=""):
        self.cluster, self.random, self.application, self.prefix = cluster, random, application, prefix
        self.public, self.room = f"{prefix}public", f"{prefix}live"
        # Nodes of before do not know what people do besides talking.
        self.has_people = True
        self.journal = Journal()
        self.senders, self.scouts, self.listeners, self.visitors = [], [], [], []
        self.groups = []
        self.agreement = Agreement(self)
        self.people = People(self)
        self._works = []
        self._is_running = False

    @property
    def members(self):
        return self.senders + self.scouts + self.listeners + self.visitors

    async def prepare(self):
        senders = [f"{self.prefix}sender{number}" for number in range(SENDERS)]
        words = ("scout", "listener")
        pinned = [f"{self.prefix}{word}{number}" for word in words for number in range(len(self.cluster.nodes))]
        visitors = [f"{self.prefix}visitor{number}" for number in range(2)]
        for number in range(WORK_GROUPS):
            people = self.random.sample(senders, WORK_MEMBERS) + pinned
            await self._make(GroupRecord(f"{self.prefix}work{number}", set(people)), "Work", people)
        members = senders + pinned
        await self._make(GroupRecord(self.public, set(members), set(visitors)), "Public", members, joinMode="Any")
        await self._make(
            GroupRecord(self.room, set(senders + pinned), is_live=True), "AVChatRoom", senders[:1],
            **({"attributeMode": "Holder"} if self.has_people else {}))
        for user in senders:
            self.senders.append(self.make(user))
        for index, node in enumerate(self.cluster.nodes):
            watched = senders + visitors if self.has_people else ()
            self.scouts.append(self.make(f"{self.prefix}scout{index}", home=node, watched=watched))
            self.listeners.append(self.make(f"{self.prefix}listener{index}", home=node, is_patient=True))
        for user in visitors:
            self.visitors.append(self.make(user))
        for member in self.members:
            await within(member.there(), SETTLE_PATIENCE)
        for member in self.senders[1:] + self.scouts + self.listeners:
            await member.request("joinGroup", (10013,), groupID=self.room)
            member.session.log.resumed = time.monotonic()

    async def _make(self, group, groupType, people, **fields):
        answer = await self.cluster.nodes[0].call(
            "createGroup", groupID=group.groupID, groupName=group.groupID, groupType=groupType, ownerUserID=people[0],
            **({"memberList": [{"userID": user} for user in people[1:]]} if people[1:] else {}), **fields)
        assert "result" in answer, answer
        self.groups.append(group)

    def make(self, user, **options):
        groups = [group.groupID for group in self.groups if not group.is_live and user in group.members]
        return Member(user, self.choose, groups, self.journal, **options)

    def choose(self):
        """A node that is there, as a balancer chooses one; None where all are away."""
        there = [node for node in self.cluster.nodes if not node.is_down]
        return self.random.choice(there) if there else None

    # Running

    def start(self):
        self._is_running = True
        self._works = [asyncio.create_task(self._send(member)) for member in self.senders]
        self._works += [asyncio.create_task(self._visit(member)) for member in self.visitors]
        if self.has_people:
            # Not the owner, who may free the seats of others.
            self._works += [asyncio.create_task(self._sit(member)) for member in self.senders[1:5]]
            self._works.append(asyncio.create_task(self._block()))

    async def stop(self):
        """Everybody ends the request that is under way, however often it must be repeated."""
        self._is_running = False
        for work in self._works:
            await work

    async def _send(self, member):
        own = [group.groupID for group in self.groups if member.user in group.members]
        while self._is_running:
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * SENDERS / RATE)
            await member.send(self.random.choice(own))
            if self.random.random() < 0.1:
                await self.agreement.change(member)
            if self.has_people and self.random.random() < 0.1:
                await self.people.say(member)

    async def _visit(self, member):
        while self._is_running:
            await member.request("joinGroup", (10013,), groupID=self.public)
            await asyncio.sleep(self.random.uniform(0.1, 1))
            await member.request("quitGroup", (10007,), groupID=self.public)
            await asyncio.sleep(self.random.uniform(0.1, 1))

    async def _sit(self, member):
        while self._is_running:
            # A user may change attributes ten times in five seconds.
            await asyncio.sleep(self.random.uniform(1, 2))
            await self.people.sit(member)

    async def _block(self):
        while self._is_running:
            await asyncio.sleep(self.random.uniform(0.5, 2))
            await self.people.block()

    # Judging

    async def settle(self):
        """A last message in each group reaches everybody; who misses one before it misses it for good."""
        late = []
        for group in self.groups:
            scout = self.random.choice(self.scouts)
            ack = await scout.send(group.groupID, "last")
            # A live room that remembers messages numbers them, too.
            if ack and not group.is_live:
                late += [self._wait(member, group.groupID, ack.seq) for member in self.members if member.user in group.members]
        await asyncio.gather(*late)
        # Behind each node's events of the live room.
        for member in self.scouts + self.senders + self.listeners:
            await member.request("getGroupsInfo", groupIDList=[self.room])

    async def _wait(self, member, group, seq):
        try:
            await within(member.reaches(group, seq), SETTLE_PATIENCE)
        except TimeoutError:
            position, newest = member.position(group), max(member.views[group], default=0)
            session = member.session.log if member.session else None
            number, began = (session.number, session.began) if session else (None, 0)
            self.journal.fault(
                "Nobody misses silently",
                f"{member.user} has {group} up to {position}, then up to {newest} with holes, and not {seq}; session {number} at "
                f"{session and session.node}, {time.monotonic() - began:.1f} s old")

    async def record(self, fault=None):
        """What there is to judge: the server's history by a node at random, and everybody's view."""
        settled = time.monotonic()
        node = self.random.choice(self.cluster.nodes)
        for group in self.groups:
            if group.is_live:
                continue
            await self._read(group, node)
            group.views = {member.user: member.views[group.groupID] for member in self.members if group.groupID in member.views}
        if self.application:
            groups = [group for group in self.groups if not group.is_live]
            told = await self.application.wait_for(groups)
            for group in groups:
                group.told = told[group.groupID]
        seats = await node.call("getGroupAttributes", groupID=self.room)
        assert "result" in seats, seats
        people = self.people
        statuses = await people.statuses([session for session in self.journal.sessions if session.ended is None])
        # Without a fault no session was there when it began.
        sacrificed, began, ended = (fault.sacrificed, fault.began, fault.ended) if fault else (set(), 0, 0)
        return Record(
            self.groups, self.journal.acks, self.journal.sessions, settled, people.sittings, seats["result"]["attributes"],
            statuses, people.blocks, self.journal.news, sacrificed, began, ended, time.time() - time.monotonic())

    async def _read(self, group, node):
        reader, history, start = sorted(group.members)[0], [], {}
        while True:
            answer = await node.call(
                "getGroupHistoryMessageList", asUser=reader, groupID=group.groupID, direction="Newer", count=100, **start)
            assert "result" in answer, answer
            page = answer["result"]
            history += [as_stored(message) for message in page["messageList"]]
            if page["isFinished"]:
                break
            start = {"fromSeq": history[-1].seq}
        group.history = history

    async def judge(self, fault=None, counts_closes=False):
        """All violations since the last time, and how many sessions `fault` has closed on nodes that it spares: `Closes`.
        `counts_closes`: those without a reason are counted only."""
        await self.settle()
        record = await self.record(fault)
        promises = [one for one in PROMISES if not (counts_closes and one is only_who_missed_was_closed)]
        found = violations(record, promises)
        closes = closed_elsewhere(record)
        found += await self.agreement.violations()
        faults, self.journal.faults = self.journal.faults, []
        self.journal.news = []
        # Sessions that have ended were judged, and say nothing more.
        self.journal.sessions[:] = [session for session in self.journal.sessions if session.ended is None]
        self.people.sittings, self.people.blocks = [], []
        return faults + found, closes

    async def end(self):
        await asyncio.gather(*(member.leave() for member in self.members))


def as_stored(message):
    tips = message.get("tips") or {}
    users = tuple(row["userID"] for row in tips.get("memberList", []))
    if not users and "opUser" in tips:
        users = (tips["opUser"]["userID"],)
    return Stored(
        message["seq"], message["msgID"], message["sender"], message.get("clientMsgID"), tips.get("type"), users, message["timestamp"])
