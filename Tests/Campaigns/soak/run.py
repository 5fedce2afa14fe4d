"""One run on one place: rounds of load, each with a fault, judged by chaos' checker, and measured at rest behind it."""
import asyncio
import http.client
import time
from collections import Counter
from random import Random

from chaos.application import Application
from chaos.checker import Violation
from chaos.load import Load

from harness.waiting import within

from . import faults, metrics
from .people import Everyday
from .places import PLACES, Balancer

# Seconds.
PATIENCE = 300
REST_PATIENCE = 180
# The shares of a run at whose ends processes are ended.
FIRST, LAST = 0.1, 0.05
# Gauges of what a round leaves to be done.
UNFINISHED = ("throng_user_deletions", "throng_webhooks_pending")


class RoundLoad(Load):
    """Of one round: its groups are dismissed and its users deleted at the end."""

    def __init__(self, run, prefix):
        super().__init__(run.cluster, Random(f"{run.seed} {prefix}"), run.application, prefix)
        self._balancer = run.balancer

    def make(self, user, **options):
        member = super().make(user, **options)
        # The longest stall, and what follows it.
        member.patience = max(faults.Stall.lengths) + 90
        return member

    def choose(self):
        return self._balancer.way_to(super().choose())


class Soak:
    """`quiet`: seconds without a fault at the beginning of each round, in which the durations are measured."""

    def __init__(self, place, state, seed, quiet=60, settings=None):
        self.state, self.seed, self.quiet, self.place = state, seed, quiet, place
        self.random = Random(f"{seed} {place}")
        self.application = Application(Random(f"{seed} application"))
        self.cluster = PLACES[place](state.directory, {**self.application.settings, **(settings or {})})
        self.balancer = Balancer()
        self.everyday = Everyday(self.cluster, Random(f"{seed} everyday"), self._choose)
        self.load, self.background, self.stalls = None, [], 0
        # Seconds: a ping that was due during a stall is answered within them, or the session would be ended.
        self.heartbeat = 20
        self._plans = {}

    def _choose(self):
        there = [node for node in self.cluster.nodes if not node.is_down]
        return self.balancer.way_to(self.random.choice(there) if there else None)

    @property
    def witnesses(self):
        """Those whose sessions end only by the server."""
        return self.everyday.waiters + self.load.listeners

    @property
    def keeps_sessions(self):
        """Whether a node that stood still for seconds goes on as the same node: several replace each other."""
        return len(self.cluster.nodes) == 1

    @property
    def _ended(self):
        return [node for node in self.cluster.nodes if not node.server.running]

    # Running

    async def start(self):
        self.application.receiver.start()
        await self.cluster.start()
        await self.everyday.prepare()
        self.everyday.start()

    async def run(self, hours, tell=lambda text: None):
        """Rounds for so many hours. Returns the violations; the first round with any is the last."""
        begin = time.monotonic()
        while (share := (time.monotonic() - begin) / (hours * 3600)) < 1:
            ends = share < FIRST or share > 1 - LAST
            kind = self._draw("ending" if ends else "quiet", (faults.ENDING if ends else faults.QUIET)[self.place])
            if found := await self.round(kind, tell):
                return found
        return []

    def _draw(self, name, kinds):
        """Each kind once, in an order by chance, then each once more."""
        if not self._plans.get(name):
            self._plans[name] = self.random.sample(kinds, len(kinds))
        return self._plans[name].pop()

    async def round(self, kind, tell=lambda text: None):
        """One fault under load, and rest. Returns the violations."""
        number, began = self.state.begin_round(), time.monotonic()
        self.load = RoundLoad(self, f"r{number}-")
        fault, words, found = kind(self), "", []
        try:
            await within(self.load.prepare(), PATIENCE)
            self.load.start()
            await self._measure(number)
            await fault.prepare()
            outcome = await fault.act()
            words = outcome.words
            found += [Violation(fault.name, evidence) for evidence in outcome.violations]
            if not self._ended:
                await self.cluster.wait_until_whole()
        except (TimeoutError, AssertionError) as error:
            found.append(Violation("A fault heals", f"{fault.name}: {error!r}"))
        ended = self._ended
        found += [Violation("A node lives on", f"{node.name} ended: {node.server.log[-2000:]}") for node in ended]
        if not ended:
            found += await self._judge()
        found += self.everyday.violations()
        acks = self.load.journal.tally.acks
        found += self._refused_webhooks(kind)
        if not found:
            await self._clear()
            await self._rest(number)
        seconds = time.monotonic() - began
        self.state.add_round(
            number=number, place=self.place, fault=fault.name, words=words, seconds=seconds, acks=acks, ended=time.time(),
            acts=dict(self.everyday.counts), slow=dict(sum((reader.closed for reader in self.everyday.slow), Counter())),
            violations=[str(one) for one in found])
        tell(f"{self.cluster.name} {number}: {fault.name}{f' ({words})' if words else ''}; {acks} messages in {seconds:.0f} s")
        return found

    async def _judge(self):
        try:
            async with asyncio.timeout(PATIENCE):
                await self.load.stop()
                background, self.background = self.background, []
                await asyncio.gather(*background)
                # Whether sessions were closed without need is asked by chaos, which knows whom a fault spares.
                found, _ = await self.load.judge(counts_closes=True)
                return found
        except TimeoutError:
            return [Violation("Clients are served after a fault", f"some wait still, {PATIENCE} s later")]

    async def _clear(self):
        """Everything of the round goes, so that the next one finds the server as this one did."""
        await self.load.end()
        node = self.cluster.nodes[0]
        for group in self.load.groups:
            await node.call("dismissGroup", groupID=group.groupID)
        # A deletion takes a second or two: of those who were blocked, whom nobody knew but for that, the block goes.
        for number in range(1, self.load.people._last + 1):
            await node.call("unblockUser", userID=f"{self.load.prefix}blocked{number}")
        for member in self.load.members:
            await node.call("deleteUser", userID=member.user)

    def _refused_webhooks(self, kind):
        """What the application could not verify; then it forgets everything of the round. By a clock that is wrong by more
        than minutes a webhook is too old or too new, and comes again."""
        receiver = self.application.receiver
        with receiver._news:
            refused, receiver.faults = receiver.faults, []
            receiver.requests.clear()
            receiver.accepted.clear()
        if kind is faults.ClockStep:
            refused = [one for one in refused if "Message timestamp too" not in one]
        return [Violation("Every webhook is signed", one) for one in refused]

    # Measuring

    async def _text(self, node):
        """None where nobody answers."""
        def ask():
            connection = http.client.HTTPConnection(node.server.internal, timeout=10)
            try:
                connection.request("GET", "/metrics")
                return connection.getresponse().read().decode()
            finally:
                connection.close()

        try:
            return await asyncio.to_thread(ask)
        except (OSError, http.client.HTTPException):
            return None

    async def _texts(self):
        return [text for text in await asyncio.gather(*(self._text(node) for node in self.cluster.nodes)) if text]

    async def _measure(self, number):
        """The durations of messages while nothing fails."""
        def read(texts):
            return metrics.merged(
                metrics.buckets(text, "throng_request_duration_seconds", method="sendGroupTextMessage") for text in texts)

        # What a process that has just begun is slow with comes before.
        await asyncio.sleep(self.quiet / 4)
        before = read(await self._texts())
        await asyncio.sleep(self.quiet)
        later = read(await self._texts())
        p99 = metrics.quantile(0.99, before, later)
        if p99 is not None:
            self.state.add_sample(
                number=number, node="all", life="all", at=time.time(), hours=self.state.hours,
                values={"p99 of messages, s": p99, "median of messages, s": metrics.quantile(0.5, before, later)})

    async def _rest(self, number):
        """The gauges of each node when nothing is left of the round."""
        deadline = time.monotonic() + REST_PATIENCE
        while time.monotonic() < deadline:
            texts = await self._texts()
            waiting = sum(metrics.value(text, name) for text in texts for name in UNFINISHED)
            if len(texts) == len(self.cluster.nodes) and not waiting:
                break
            await asyncio.sleep(1)
        now, database = time.time(), await self.cluster.database_bytes()
        for node in self.cluster.nodes:
            text = await self._text(node)
            if text is None:
                continue
            before = node.logged
            node.take_log()
            values, start = metrics.gauges(text), metrics.value(text, "process_start_time_seconds")
            seconds = now - getattr(node, "rested", now)
            if seconds:
                values["bytes of the log a minute"] = (node.logged - before) / seconds * 60
            node.rested = now
            if database is not None:
                values["bytes of the database"] = database
            self.state.add_sample(
                number=number, node=node.name, life=f"{node.name} {start:.0f}", at=now, hours=self.state.hours, values=values)

    async def end(self):
        await self.everyday.end()
        if self.load:
            await self.load.end()
        await self.cluster.end()
        self.application.receiver.stop()
