"""What happens to a cluster in a round. Each fault ends healed, and says what it measured."""
import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from .cluster import LEASE
from .engines import PATIENCE, until
from .wall_clock import WallClock

from harness.waiting import within

# Seconds after the end of a lease in which its shards must be served again.
TAKEOVER = 3


@dataclass
class Outcome:
    """Of a fault: words for the log, and what must not be."""

    words: str
    # Seconds from the end of the lease until the last of the shards was claimed, and until the last of
    # the groups took a message. Negative = before.
    claimed: float | None = None
    served: float | None = None
    violations: list = field(default_factory=list)


class Takeover:
    """Watches the shards and the groups of a node that is about to fail."""

    def __init__(self, run, node):
        self.run, self.node = run, node
        self.tables = run.cluster.tables

    async def prepare(self):
        groups = [group.groupID for group in self.run.load.groups if not group.is_live]
        self.groups = await self.run.cluster.owned_by(self.node, groups)
        self.number = (await self.tables.nodes())[self.node.name][0]
        return self

    async def watch(self, outcome):
        """Right behind the fault: returns when others serve all its shards and groups, which must be in time."""
        end = await self._last_heartbeat() + LEASE
        claimed, served = await self.wait_until_served()
        outcome.claimed, outcome.served = claimed - end, served and served - end
        if max(outcome.claimed, outcome.served or 0) > TAKEOVER:
            outcome.violations.append(
                f"the shards of {self.node.name} were claimed {outcome.claimed:.2f} s after the end of its lease, and its "
                f"groups ({len(self.groups)}) served after {outcome.served} s, not within {TAKEOVER} s")

    async def wait_until_served(self):
        """The Unix seconds at which others had claimed the last shard, and the last group took a message (None: it has none)."""
        served = [asyncio.create_task(self._serve(group)) for group in self.groups]
        try:
            await until(self._is_claimed, f"others have the shards of {self.node.name}", pause=0.02)
            claimed = time.time()
            return claimed, max(await asyncio.gather(*served), default=None)
        finally:
            for one in served:
                one.cancel()

    async def _last_heartbeat(self):
        """A renewal that was on its way may still come."""
        await asyncio.sleep(0.5)
        nodes = await self.tables.nodes()
        number, heartbeat = nodes[self.node.name]
        assert number == self.number, "the node is still the same"
        return heartbeat

    async def _is_claimed(self):
        rows = await self.tables.rows(
            "SELECT count(*) FROM shard AS s JOIN node AS n ON n.number = s.owner WHERE n.number <> " + str(self.number))
        return rows == [["1024"]]

    async def _serve(self, group):
        """Unix seconds of the first reply by others that began after the fault."""
        scouts = [scout for scout in self.run.load.scouts if scout.home is not self.node]
        sends = [asyncio.create_task(scout.send(group, "takeover")) for scout in scouts]
        await asyncio.wait(sends, return_when=asyncio.FIRST_COMPLETED)
        instant = time.time()
        # Messages are not given up: they are part of what is judged.
        self.run.background += sends
        return instant


class Fault:
    """`prepare` is called while everything is whole, `act` makes the fault and heals it."""

    name = ""
    needs_nats = False
    # Not in a network, where nothing knows of connections and messages.
    needs_proxies = False
    # The engines that it ends: no other fault may at the same time.
    engines = frozenset()

    def __init__(self, run, node=None):
        self.run, self.cluster = run, run.cluster
        # Faults that act at the same time draw from numbers of their own, so that a seed repeats them.
        self.random = Random(run.random.random())
        self.node = node or self.random.choice(self.cluster.nodes)
        # Beside another fault nothing is promised about the time of a takeover.
        self.is_alone = True
        # Monotonic: when `act` was called, and when all nodes served again.
        self.began, self.ended = None, float("inf")

    @property
    def sacrificed(self):
        """The names of the nodes whose own sessions it may close with 4008."""
        return set()

    async def prepare(self):
        pass

    async def act(self):
        raise NotImplementedError

    async def wait(self, least, most):
        seconds = self.random.uniform(least, most)
        await asyncio.sleep(seconds)
        return seconds

    async def start_node(self):
        await self.node.start(is_persistent=not self.is_alone)


class OwnLoss(Fault):
    """Its node alone loses what it has."""

    @property
    def sacrificed(self):
        return {self.node.name}


class LossOfAll(Fault):
    """All nodes may lose their leases."""

    @property
    def sacrificed(self):
        return {node.name for node in self.cluster.nodes}


class NodeLoss(OwnLoss):
    """Others take over what the node has."""

    async def prepare(self):
        self.takeover = await Takeover(self.run, self.node).prepare()

    async def wait_for_takeover(self, outcome):
        if self.is_alone:
            await self.takeover.watch(outcome)
        else:
            await self.takeover.wait_until_served()


class Kill(NodeLoss):
    name = "kill -9 a node"

    async def act(self):
        outcome = Outcome(self.node.name)
        self.node.kill()
        await self.wait_for_takeover(outcome)
        await self.start_node()
        return outcome


class KillAtCommit(NodeLoss):
    """Right behind the first reply to a burst of messages: others of it are stored, and told by nobody."""

    name = "kill -9 a node right behind a commit"

    async def act(self):
        outcome = Outcome(self.node.name)
        scouts = [scout for scout in self.run.load.scouts if scout.home is not self.node]
        burst = [asyncio.create_task(scout.send(group, "burst")) for group in self.takeover.groups for scout in scouts * 3]
        if burst:
            await asyncio.wait(burst, return_when=asyncio.FIRST_COMPLETED)
        self.node.kill()
        self.run.background += burst
        await self.wait_for_takeover(outcome)
        await self.start_node()
        return outcome


class KillAndRestart(OwnLoss):
    name = "kill -9 a node, start it at once"

    async def act(self):
        self.node.kill()
        await self.start_node()
        return Outcome(self.node.name)


class Stop(NodeLoss):
    name = "stop a node beyond its lease"

    async def act(self):
        outcome, groups, fenced = Outcome(""), self.takeover.groups, self.node.fenced
        # Some are under way to the database when it stops; the fence refuses them afterwards.
        early = asyncio.gather(*(self._write(group) for group in groups * 20))
        await asyncio.sleep(self.random.uniform(0.002, 0.02))
        self.node.pause()
        # These wait in its sockets, and it reads them before it knows that it has been replaced.
        late = asyncio.gather(*(self._write(group) for group in groups))
        await self.wait_for_takeover(outcome)
        await self.wait(0.2, 2)
        self.node.resume()
        answers = Counter(await early + await late)
        # Those that are acknowledged were stored before, or by the new owner: they are judged with all others.
        fates = ", ".join(f"{count} {fate}" for fate, count in answers.items())
        fenced = self.node.fenced - fenced
        outcome.words = f"{self.node.name}, its last writes: {fates or 'none'}; {fenced} groups stopped by the fence"
        query = f"SELECT isGone FROM writer WHERE node = {self.takeover.number}"
        rows = await until(lambda: self.cluster.tables.rows(query), "the database answers")
        if rows != [["t"]]:
            outcome.violations.append(f"{self.node.name} may still write as the node that was replaced: {rows}")
        return outcome

    async def _write(self, group):
        """By a client that is at the node and stays: what becomes of its message."""
        index = self.cluster.nodes.index(self.node)
        return await self.run.load.listeners[index].write_once(group)


class Cut(NodeLoss):
    """Of one node from engines: refused, or silent as in a split network."""

    cut_from = ()

    async def cut(self):
        self.how = "silent" if self.cluster.network else self.random.choice(["refused", "silent"])
        for proxy in self._proxies():
            if self.how == "refused":
                await proxy.refuse()
            else:
                await proxy.silence()

    async def heal(self):
        # Half of the silent ways lose what was sent meanwhile.
        is_lost = self.how == "silent" and self.random.random() < 0.5
        for proxy in self._proxies():
            if is_lost:
                proxy.cut()
            await proxy.open()

    def _proxies(self):
        return [proxy for engine in self.cut_from for proxy in self.node.proxies[engine]]

    async def act(self):
        outcome = Outcome("")
        await self.cut()
        outcome.words = f"{self.node.name}, {self.how}"
        try:
            await self.wait_for_takeover(outcome)
            await self.wait(0.2, 3)
        finally:
            await self.heal()
        return outcome


class CutFromPostgreSQL(Cut):
    name = "cut a node from PostgreSQL"
    cut_from = ("postgresql",)


class CutFromBoth(Cut):
    name = "cut a node from PostgreSQL and NATS"
    needs_nats = True
    cut_from = ("postgresql", "nats")


class CutFromNATS(Cut):
    name = "cut a node from NATS"
    needs_nats = True
    cut_from = ("nats",)

    async def act(self):
        await self.cut()
        try:
            seconds = await self.wait(1, 8)
        finally:
            await self.heal()
        return Outcome(f"{self.node.name}, {self.how}, {seconds:.1f} s")


class RestartNATS(Fault):
    name = "restart NATS"
    needs_nats = True
    engines = frozenset({"nats"})

    async def act(self):
        await self.cluster.nats.kill()
        seconds = await self.wait(0, 3)
        await self.cluster.nats.start()
        return Outcome(f"away for {seconds:.1f} s")


class LossyLink(Fault):
    """A node's network loses a part of the frames of links, in both directions, and nobody hears of it."""

    name = "lose one frame in a hundred"
    needs_nats = needs_proxies = True
    share = 0.01

    async def act(self):
        outcome, (proxy,) = Outcome(""), self.node.proxies["nats"]
        before = proxy.lost
        proxy.loses = lambda subject, is_to_engine: subject.endswith(".link") and self.random.random() < self.share
        try:
            seconds = await self.wait(3, 8)
        finally:
            proxy.loses = None
        outcome.words = f"{self.node.name}, {seconds:.1f} s, {proxy.lost - before} frames"
        return outcome


class OneWayLoss(Fault):
    """What a node sends to one other does not come; the other way is open."""

    name = "lose all frames from one node to another"
    needs_nats = needs_proxies = True

    async def prepare(self):
        self.other = self.random.choice([node for node in self.cluster.nodes if node is not self.node])
        self.number = (await self.cluster.tables.nodes())[self.other.name][0]

    async def act(self):
        (proxy,) = self.node.proxies["nats"]
        before = proxy.lost
        proxy.loses = lambda subject, is_to_engine: is_to_engine and subject.endswith(f".n{self.number}.link")
        try:
            # Links are lost behind 10 s.
            seconds = await self.wait(3, 8)
        finally:
            proxy.loses = None
        return Outcome(f"from {self.node.name} to {self.other.name}, {seconds:.1f} s, {proxy.lost - before} frames")


class RestartPostgreSQL(LossOfAll):
    name = "restart PostgreSQL, immediate"
    engines = frozenset({"postgresql"})

    async def act(self):
        began = time.monotonic()
        await self.cluster.primary.stop_immediately()
        await self.wait(0, self.random.choice([0.2, 4]))
        await self.cluster.primary.start()
        return Outcome(f"away for {time.monotonic() - began:.1f} s")


class RestartEngines(LossOfAll):
    """Both, and the nodes find them again one by one."""

    name = "restart PostgreSQL and NATS"
    needs_nats = True
    engines = frozenset({"postgresql", "nats"})

    async def act(self):
        engines = self.random.sample([self.cluster.nats, self.cluster.primary], 2)
        await self.cluster.nats.kill()
        await self.cluster.primary.stop_immediately()
        await self.wait(0, 4)
        await engines[0].start()
        seconds = await self.wait(0, 4)
        await engines[1].start()
        return Outcome(f"{type(engines[0]).__name__} {seconds:.1f} s before the other")


class PromoteReplica(LossOfAll):
    """The primary is lost, and the replica that each COMMIT has waited for takes its place."""

    name = "promote PostgreSQL's replica"
    needs_proxies = True
    engines = frozenset({"postgresql"})

    async def prepare(self):
        await self.cluster.start_replica()

    async def act(self):
        is_silent, moves = self.random.random() < 0.5, self.random.random() < 0.5
        lost = self.cluster.primary
        proxies = self.cluster.proxies_of(lost)
        if is_silent:
            for proxy in proxies:
                proxy.lose_target()
        await lost.stop_immediately()
        if not is_silent:
            for proxy in proxies:
                await proxy.lead_to(None)
        seconds = await self.wait(0, 2)
        await self.cluster.promote_replica()
        if moves:
            for proxy in proxies:
                await proxy.lead_to(self.cluster.primary.port)
        await self.cluster.wait_until_whole()
        for proxy in proxies:
            await proxy.lead_to(None)
        return Outcome(
            f"after {seconds:.1f} s, the old address is {'silent' if is_silent else 'refused'}"
            f"{' and then the new one' if moves else ''}")


class WrongClock(Fault):
    name = "start a node with a wrong wall clock, which jumps"

    # Seconds ahead.
    OFFSETS = (3600, -3600)
    # Of a reading on a busy machine.
    TOLERANCE = 60

    async def act(self):
        outcome, offsets = Outcome(""), self.random.sample(self.OFFSETS, 2)
        outcome.words = f"{self.node.name} by {offsets[0]:+} s, and then {offsets[1]:+} s"
        clock = WallClock(self.cluster.directory, self.node.name)
        clock.set(offsets[0])
        await self._restart(clock.environment, outcome)
        seen = [await self._lead_at("listening")]
        numbers = await self._numbers()
        await self._check_times(outcome)
        await self.wait(0.5, 3)
        clock.set(offsets[1])
        await self.wait(LEASE, LEASE + 2)
        later = await self._numbers()
        if later != numbers:
            outcome.violations.append(f"leases were lost by a wall clock: the nodes were {numbers}, and are {later}")
        await self._check_times(outcome)
        await self._restart({}, outcome)
        seen.append(await self._lead_at("draining"))
        assert seen == offsets, f"the node's clock was to be wrong by {offsets} s, and was by {seen} s"
        return outcome

    async def _restart(self, environment, outcome):
        self.entries = len(self.node.server.lines)
        status = await within(self.node.drain(by_command=False), PATIENCE)
        if status != 0:
            outcome.violations.append(f"{self.node.name} ended with {status}")
        self.node.server.environment = environment
        await self.node.start()
        await self.cluster.wait_until_whole()

    async def _lead_at(self, message):
        """Seconds by which the clock of the node was ahead at an entry of the log since the last restart."""
        async def find():
            return next((line for line in self.node.server.lines[self.entries:] if f'"message":"{message}"' in line), None)

        line = await until(find, f"{self.node.name} logs {message!r}")
        lead = datetime.fromisoformat(json.loads(line)["time"]).timestamp() - time.time()
        return round(lead / self.TOLERANCE) * self.TOLERANCE

    async def _check_times(self, outcome):
        """All nodes show the database's time."""
        for scout in self.run.load.scouts:
            answer = await scout.request("ping")
            error = answer["serverTime"] / 1000 - time.time()
            if abs(error) > self.TOLERANCE:
                outcome.violations.append(f"{scout.home.name} shows a time that is wrong by {error:.0f} s")

    async def _numbers(self):
        return {name: number for name, (number, _) in (await self.cluster.tables.nodes()).items()}


class KillAll(LossOfAll):
    name = "kill -9 all nodes"

    async def act(self):
        for node in self.cluster.nodes:
            node.kill()
        for node in self.cluster.nodes:
            await node.start()
        return Outcome("")


class DrainEach(Fault):
    name = "drain and restart each node"

    async def act(self):
        outcome = Outcome("")
        ways = []
        for node in self.random.sample(self.cluster.nodes, len(self.cluster.nodes)):
            by_command = self.random.random() < 0.5
            ways.append(f"{node.name} by {'command' if by_command else 'signal'}")
            status = await within(node.drain(by_command), PATIENCE)
            if status != 0:
                outcome.violations.append(f"{ways[-1]} ended with {status}")
            await node.start()
            await self.cluster.wait_until_whole()
        outcome.words = ", ".join(ways)
        return outcome


class Pair(Fault):
    """Two of `PAIRED` at once, of two nodes, or of a node and an engine."""

    name = "two faults at once"

    def __init__(self, run, kinds=None):
        super().__init__(run)
        nodes = self.random.sample(self.cluster.nodes, 2)
        self.parts = [kind(run, node) for kind, node in zip(kinds or self._draw(), nodes)]
        for part in self.parts:
            part.is_alone = False

    @property
    def sacrificed(self):
        return set().union(*(part.sacrificed for part in self.parts))

    def _draw(self):
        while True:
            kinds = self.random.sample(possible(PAIRED, self.cluster.nats is not None, not self.cluster.network), 2)
            if not kinds[0].engines & kinds[1].engines:
                return kinds

    async def prepare(self):
        for part in self.parts:
            await part.prepare()

    async def act(self):
        first, second = self.parts
        outcomes = await asyncio.gather(first.act(), self._follow(second), return_exceptions=True)
        for error in outcomes:
            if isinstance(error, BaseException):
                raise error
        words = " and ".join(f"{part.name} ({outcome.words})" for part, outcome in zip(self.parts, outcomes))
        return Outcome(words, violations=[violation for outcome in outcomes for violation in outcome.violations])

    async def _follow(self, part):
        await self.wait(0, 2)
        return await part.act()


def possible(kinds, has_nats, has_proxies=True):
    return [kind for kind in kinds if (has_nats or not kind.needs_nats) and (has_proxies or not kind.needs_proxies)]


PAIRED = [Kill, KillAndRestart, Stop, CutFromPostgreSQL, CutFromNATS, CutFromBoth, RestartNATS, RestartPostgreSQL, RestartEngines,
          PromoteReplica]
ALL = [Kill, Stop, CutFromPostgreSQL, CutFromNATS, CutFromBoth, RestartNATS, RestartPostgreSQL, PromoteReplica, DrainEach,
       KillAndRestart, RestartEngines, KillAll, WrongClock, Pair, KillAtCommit, LossyLink, OneWayLoss]
