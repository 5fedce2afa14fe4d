"""From what clients have seen in a run to its figures: plain values, without a cluster."""
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class SessionView:
    """One session, as its client saw it."""

    user: str
    node: str
    # The groups that the user is a member of.
    groups: tuple
    # By group: the seqs of the events that came, in their order, and of the own messages that were acknowledged.
    events: dict = field(default_factory=dict)
    acks: dict = field(default_factory=dict)
    code: int | None = None
    # Unix seconds.
    closed: float | None = None
    # Requests that had no answer when it was closed.
    pending: int = 0


@dataclass
class Stored:
    """A message in a group's history; `time` in Unix seconds, by the server."""

    seq: int
    sender: str
    time: float


@dataclass
class Judgement:
    """Of the sessions on nodes that were not lost. Counts of sessions, but for `missed`."""

    survivors: int = 0
    codes: Counter = field(default_factory=Counter)
    # Closed sessions that had got all that was stored, and waited for no answer.
    needless: int = 0
    # Closed with a request in flight; and without one, having missed something.
    in_flight: int = 0
    missing: int = 0
    # Messages that a session which is still open did not get.
    missed: int = 0
    # Sessions whose events of a group were out of order, or came twice.
    disordered: int = 0
    # Seconds from the loss to the last close.
    last_close: float = 0

    @property
    def closed(self):
        return self.codes.total()

    @property
    def share(self):
        return self.closed / self.survivors if self.survivors else 0


def judge(views, histories, lost_node, lost_at):
    """`histories`: `Stored` by group. `lost_node` is a name; None where all nodes live."""
    found = Judgement()
    for view in views:
        if view.node == lost_node:
            continue
        found.survivors += 1
        if any(later <= earlier for seqs in view.events.values() for earlier, later in zip(seqs, seqs[1:])):
            found.disordered += 1
        missing = sum(len(unseen(view, group, histories.get(group, ()))) for group in view.groups)
        if view.closed is None:
            found.missed += missing
            continue
        found.codes[view.code] += 1
        found.last_close = max(found.last_close, view.closed - lost_at)
        if view.pending:
            found.in_flight += 1
        elif missing:
            found.missing += 1
        else:
            found.needless += 1
    return found


def unseen(view, group, history):
    """The seqs of others' messages that were stored while the session was there, and that it did not get."""
    known = set(view.events.get(group, ()))
    end = float("inf") if view.closed is None else view.closed
    return [one.seq for one in history if one.sender != view.user and one.time < end and one.seq not in known]
