"""What a soak does to a place besides load: the faults of chaos that fit, and those that hours are for."""
import asyncio
import time

from chaos import faults as chaos
from chaos.engines import PATIENCE
from chaos.faults import Fault, Outcome
from chaos.member import Gone, Refused

from harness.waiting import within

# Seconds in which a session that was there before a stall answers behind it.
ANSWERED = 30


class LossyNetwork(Fault):
    name = "a proxy loses what is on its way"

    async def act(self):
        proxy = self.node.front
        await proxy.silence()
        try:
            seconds = await self.wait(0.5, 10)
            proxy.cut()
        finally:
            await proxy.open()
        return Outcome(f"{self.node.name}, {seconds:.1f} s")


class ClockStep(Fault):
    """Of the wall clock of a running node."""

    name = "the clock steps"

    async def act(self):
        lead = self.random.choice([-3600, -90, 90, 3600])
        self.node.clock.set(lead)
        try:
            seconds = await self.wait(5, 15)
        finally:
            self.node.clock.set(0)
        # Back again, by which it steps the other way.
        await self.wait(2, 5)
        return Outcome(f"{self.node.name} by {lead:+} s for {seconds:.0f} s")


class Stall(Fault):
    """The process stands still. Whoever has waited for it is served behind it, on the same session."""

    name = "SIGSTOP of the server"
    # Seconds; each comes once before one comes again.
    lengths = (5, 20, 60)

    async def act(self):
        length = self.lengths[self.run.stalls % len(self.lengths)]
        self.run.stalls += 1
        outcome = Outcome(f"{self.node.name}, {length} s")
        witnesses = [member for member in self.run.witnesses if member.home is self.node]
        sessions = [(member, await member.there()) for member in witnesses]
        self.node.pause()
        try:
            await asyncio.sleep(length)
        finally:
            self.node.resume()
        # Beyond its lease others decide for its groups: then its sessions begin anew.
        if self.run.keeps_sessions:
            answers = await asyncio.gather(*(self._answers(member, session) for member, session in sessions))
            outcome.violations += [found for found in answers if found]
            outcome.words += f", {len(sessions)} sessions go on"
        return outcome

    async def _answers(self, member, session):
        """What is wrong; None."""
        began = time.monotonic()
        try:
            await session.call("ping", ANSWERED)
        except Refused:
            pass  # it is there
        except Gone as error:
            return f"{member.user} had waited for the server, and lost its session ({session.log.code}, {error!r})"
        # As long as a ping takes that was due during the stall.
        await asyncio.wait([session.reader], timeout=self.run.heartbeat)
        if session.reader.done():
            return f"{member.user} was closed with {session.log.code} {time.monotonic() - began:.1f} s behind a stall"
        return None


class Drain(Fault):
    """Of the only node, as an upgrade does it."""

    name = "drain and restart"

    async def act(self):
        status = await within(self.node.drain(by_command=False), PATIENCE)
        outcome = Outcome(self.node.name)
        if status != 0:
            outcome.violations.append(f"{self.node.name} ended with {status}")
        await self.start_node()
        return outcome


# Those behind which the same process runs, and those that end one. The second come at the two ends of a run, so that
# a process lives for nearly all of its hours: what it would lose in them is what is looked for.
QUIET = {
    "one": [LossyNetwork, ClockStep, Stall],
    "postgresql": [LossyNetwork, ClockStep, Stall, chaos.RestartPostgreSQL],
    "cluster": [LossyNetwork, ClockStep, Stall, chaos.Stop, chaos.CutFromPostgreSQL, chaos.CutFromNATS, chaos.CutFromBoth,
                chaos.RestartNATS, chaos.RestartPostgreSQL, chaos.RestartEngines],
}
ENDING = {
    "one": [chaos.KillAndRestart, Drain],
    "postgresql": [chaos.KillAndRestart, Drain],
    "cluster": [chaos.Kill, chaos.KillAndRestart, chaos.DrainEach, chaos.KillAll],
}
