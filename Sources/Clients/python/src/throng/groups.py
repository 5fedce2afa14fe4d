# SPDX-License-Identifier: Apache-2.0
"""How far the application has been told of a group."""
from __future__ import annotations

import bisect

from .frames import Values, counted
from .limits import MOST_OWN_MESSAGES

# An event that waits: its name, its parameters, the size of its text.
Held = tuple[str, Values, int]


class TrackedGroup:
    """The part of one group that the application has been told."""

    def __init__(
        self, group_id: str, epoch: str | None = None, seq: int | None = 0, change_seq: int | None = 0, is_live: bool = False,
        remembers: bool = False, own: list[int] | None = None,
    ) -> None:
        self.group_id, self.epoch, self.is_live = group_id, epoch, is_live
        # A live room whose last messages a sync brings.
        self.remembers = remembers
        self.seq, self.change_seq = counted(seq), counted(change_seq)
        # Events of this connection that wait until the group is in step; None = they do not wait.
        self.held: list[Held] | None = None
        # Their text, as they came.
        self.held_size = 0
        # More came than may wait: the group is synchronized once more.
        self.has_overflowed = False
        # Own messages beyond `seq`, which no event brings, ascending.
        self._own = sorted(own or ())

    @property
    def has_history(self) -> bool:
        """Whether a sync may bring what was missed."""
        return not self.is_live or self.remembers

    @property
    def place(self) -> Values:
        return {"epoch": self.epoch, "seq": self.seq, "changeSeq": self.change_seq}

    def reach(self, seq: int, change_seq: int = 0) -> None:
        """Events of a group come in their order: one tells that those before it have come."""
        self.seq, self.change_seq = max(self.seq, seq), max(self.change_seq, change_seq)
        del self._own[:bisect.bisect_right(self._own, self.seq)]
        while self._own and self._own[0] == self.seq + 1:
            self.seq = self._own.pop(0)

    def add_own(self, seq: int) -> None:
        if self.has_history and seq > self.seq:
            bisect.insort(self._own, seq)
            # Others' messages need not come: the next sync brings those before again, and the outbox knows them.
            del self._own[:-MOST_OWN_MESSAGES]
            self.reach(self.seq)

    def restart(self, epoch: str | None, seq: int | None, change_seq: int | None) -> None:
        """The history begins anew."""
        self.epoch, self.seq, self.change_seq, self._own = epoch, counted(seq), counted(change_seq), []

    def hold(self) -> None:
        """Events wait until the group is in step, unless no sync could bring anything."""
        if self.has_history and self.held is None:
            self.held = []

    def knows(self, seq: int, change_seq: int) -> bool:
        """Whether the application has been told of what an event at this place tells."""
        return 0 < seq <= self.seq or 0 < change_seq <= self.change_seq

    def begins_anew(self, place: tuple[int, int]) -> bool:
        """Whether an event shows that the room's memory was lost: its places begin anew, under another epoch."""
        return self.is_live and self.remembers and self.held is None and self.knows(*place)
