"""One run: a cluster, its load, and rounds of one fault each."""
import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from .application import Application
from .checker import Closes, Violation
from .cluster import Cluster
from .load import Load
from .member import Tally


# Seconds in which all that clients have begun must be done, and judged.
PATIENCE = 240


@dataclass
class Round:
    """What one round has shown."""

    fault: str
    words: str = ""
    seconds: float = 0
    claimed: float | None = None
    served: float | None = None
    tally: Tally = field(default_factory=Tally)
    violations: list = field(default_factory=list)
    closes: Closes = Closes()


class Run:
    """`counts_closes`: sessions that were closed without a reason are counted, and are no violations."""

    def __init__(self, directory, seed, bus="nats", counts_closes=False, network=None):
        self.counts_closes = counts_closes
        self.random = Random(seed)
        # The order of faults does not depend on how often others draw.
        # A network has no way to the webhooks' receiver.
        self.application = None if network else Application(Random(f"{seed} application"))
        settings = self.application.settings if self.application else {}
        self.cluster = Cluster(directory, bus=bus, settings=settings, network=network)
        self.load = Load(self.cluster, Random(f"{seed} load"), self.application)
        # Messages that a fault has left under way.
        self.background = []

    async def start(self, binary=None, has_people=None):
        """With the nodes of another binary. `has_people(run)`: whether its nodes know more than those of version 0.1.0."""
        if self.application:
            self.application.receiver.start()
        await self.cluster.start(binary)
        if has_people:
            self.load.has_people = await has_people(self)
        await self.load.prepare()

    def plan(self, count, kinds):
        """The faults of all rounds: each kind once, in an order by chance, then each once more."""
        order = []
        while len(order) < count:
            order += self.random.sample(kinds, len(kinds))
        return order[:count]

    async def round(self, make):
        """One fault under load. `make`: a kind of fault, or another function from this run to one."""
        began = time.monotonic()
        self.load.journal.tally = Tally()
        fault = make(self)
        done = Round(fault.name)
        try:
            await self.cluster.wait_until_whole()
            self.load.start()
            await fault.prepare()
            await fault.wait(0.3, 1.5)
            fault.began = time.monotonic()
            outcome = await fault.act()
            done.words, done.claimed, done.served = outcome.words, outcome.claimed, outcome.served
            done.violations += [Violation(fault.name, evidence) for evidence in outcome.violations]
            await self.cluster.wait_until_whole()
            fault.ended = time.monotonic()
            await asyncio.sleep(0.5)
        except (TimeoutError, AssertionError) as error:
            done.violations.append(Violation("A fault heals", f"{fault.name}: {error}"))
        ended = [node for node in self.cluster.nodes if not node.server.running]
        done.violations += [Violation("A node lives on", f"{node.name} ended: {node.server.log[-2000:]}") for node in ended]
        if not ended:
            # Clients of a node that has ended wait for it.
            await self._judge(fault, done)
        done.seconds, done.tally = time.monotonic() - began, self.load.journal.tally
        return done

    async def _judge(self, fault, done):
        # Where the fault has not come to be, nothing is said of what it closes.
        if fault.began is None:
            fault = None
        try:
            async with asyncio.timeout(PATIENCE):
                await self.load.stop()
                background, self.background = self.background, []
                await asyncio.gather(*background)
                violations, done.closes = await self.load.judge(fault, self.counts_closes)
                done.violations += violations
        except TimeoutError:
            done.violations += [Violation("Clients are served after a fault", f"some wait still, {PATIENCE} s later")]

    async def end(self):
        await self.load.end()
        await self.cluster.end()
        if self.application:
            self.application.receiver.stop()


def table(rounds):
    """Markdown: a row for each fault."""
    head = ["fault", "rounds", "claimed, s after the lease", "served, s after the lease", "closes by code", "refused by code",
            "longest wait, s", "closed elsewhere", "without a reason", "came later, closed without one", "acknowledged"]
    rows = [head, ["---"] * len(head)]
    for name in dict.fromkeys(one.fault for one in rounds):
        same = [one for one in rounds if one.fault == name]
        closed, refused = (sum((getattr(one.tally, field) for one in same), Counter()) for field in ("closed", "refused"))
        rows.append([
            name, len(same), spread([one.claimed for one in same]), spread([one.served for one in same]), counts(closed),
            counts(refused), f"{max(one.tally.longest for one in same):.1f}", *shares(same), sum(one.tally.acks for one in same)])
    rows.append(["all", len(rounds), "", "", "", "", "", *shares(rounds), sum(one.tally.acks for one in rounds)])
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def shares(rounds):
    """Of the sessions on nodes that were spared: those that were closed with 4008 of all, how many of them for nothing, and
    how many that came later."""
    closes = sum((one.closes for one in rounds), Closes())
    return [f"{closes.closed} of {closes.there}" if closes.there else "–", closes.needless, closes.came]


def spread(values):
    values = sorted(value for value in values if value is not None)
    return f"{values[0]:.2f} to {values[-1]:.2f}" if values else "–"


def counts(counter):
    """By code, or by a word."""
    return ", ".join(f"{code}: {count}" for code, count in sorted(counter.items(), key=lambda item: str(item[0]))) or "–"
