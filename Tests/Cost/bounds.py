"""The bounds of the server's cost. Instructions in user space: about 15 % above the count;
allocations: the count, and little more.

Counted on 2026-11-21 and 2026-11-22 (x86-64 with AVX2, Swift 6.3.1,
libwebsockets 4.1.6, SQLite 3.40.1). A change that saves cost lowers its bound.
"""
from typing import NamedTuple


class Bound(NamedTuple):
    most: float
    counted: float


BOUNDS = {
    # A message of 100 bytes in an AVChatRoom, from its bytes on the wire to the reply and one
    # delivery, without a limit on its rate.
    "live.instructions": Bound(32_200, 27_990),
    "live.allocations": Bound(11, 10),
    # The same where twenty come in one segment.
    "burst.instructions": Bound(29_500, 25_630),
    "burst.allocations": Bound(10.5, 9.65),
    # The same as the first under a limit that is not reached: the cost of the rate limiter.
    "limited.instructions": Bound(36_300, 31_590),
    "limited.allocations": Bound(11, 10),
    # The same as before in a room that remembers 20 messages, and forgets one with each. Reckoned, and
    # not counted yet: 5 % more than without.
    "recent.instructions": Bound(38_100, 33_170),
    "recent.allocations": Bound(11.5, 10.1),
    # The same as the first where the text is compared with 10,000 words: at most 5 us more. Reckoned, and
    # not counted yet: 100 more for each of its bytes, and 200 where every byte falls back.
    "words.instructions": Bound(45_500, 38_000),
    "words.allocations": Bound(13, 12),
    "nearWords.instructions": Bound(57_500, 48_000),
    "nearWords.allocations": Bound(13, 12),
    # The same as the first by a sender with a nickName of 20 bytes and a faceURL of 60.
    "profile.instructions": Bound(33_700, 29_300),
    "profile.allocations": Bound(12.5, 12),
    # The same in a Public group, stored, each alone in its transaction.
    "stored.instructions": Bound(104_200, 90_570),
    "stored.allocations": Bound(35, 32.3),
    # The same as the first in a room with slow mode, by its owner, whom it does not slow; and a signal in
    # a Public group, which is not stored. Reckoned, and not counted yet: 2 % more than without, and four
    # fifths of a live message.
    "slow.instructions": Bound(32_900, 28_550),
    "slow.allocations": Bound(11, 10),
    "signal.instructions": Bound(26_000, 22_400),
    "signal.allocations": Bound(12, 10.5),
    # One more receiver of a live message that finds the connection idle: a system call, no memory,
    # no Swift, no lock.
    "delivery.instructions": Bound(247, 215),
    "delivery.allocations": Bound(0.005, 0),
    "delivery.swift": Bound(5, 0),  # instructions of the busiest Swift function; a swift_retain has 19
    "delivery.locks": Bound(0.005, 0),
    # One more receiver where twenty messages come at once and share system calls (sends: for each
    # message).
    "coalesced.instructions": Bound(12, 6.6),
    "coalesced.allocations": Bound(0.005, 0),
    "coalesced.swift": Bound(5, 0),
    "coalesced.locks": Bound(0.005, 0),
    "coalesced.sends": Bound(0.06, 0.04),
    # A sign-in by ?token= of a known user, from accept to onConnectSuccess, and the user's row in
    # the store.
    "signin.instructions": Bound(393_500, 349_500),
    "signin.allocations": Bound(168, 165.4),
    # Joining an AVChatRoom of 1000, durably, without an event. growth: the instructions that each
    # member adds to the function that grows most; storegrowth: the same for SQLite, where reading a
    # row takes 290.
    "join.instructions": Bound(178_500, 155_160),
    # With the profiles of the members that the event shows.
    "join.allocations": Bound(75, 71.4),
    "join.growth": Bound(3, 0),
    "join.storegrowth": Bound(30, 0),
    # A connection that is lost by a member of that room, and the user's row in the store.
    "loss.instructions": Bound(85_000, 76_400),
    "loss.allocations": Bound(15, 13),
    "loss.growth": Bound(3, 0),
    "loss.storegrowth": Bound(30, 0),
    # An increment of a counter in an AVChatRoom, alone in its commit, and where 40 come at once and
    # share commits.
    "increment.instructions": Bound(120_000, 104_320),
    "increment.allocations": Bound(50, 46.1),
    "increments.instructions": Bound(32_000, 27_480),
    "increments.allocations": Bound(12, 10.4),
    # An edit of a stored message, and a reaction to one, each alone in its transaction.
    "edit.instructions": Bound(412_000, 357_470),
    "edit.allocations": Bound(190, 177.5),
    "reaction.instructions": Bound(596_000, 518_060),
    "reaction.allocations": Bound(305, 284.3),
}

# The debug build, which CI counts: far dearer, and as repeatable.
DEBUG_BOUNDS = {
    "live.instructions": Bound(257_000, 223_070),
    "live.allocations": Bound(33, 29.8),
    "stored.instructions": Bound(515_000, 447_860),
    "stored.allocations": Bound(83, 75.8),
    "delivery.instructions": Bound(607, 528),
    "delivery.allocations": Bound(0.005, 0),
    "delivery.swift": Bound(5, 0),
    "delivery.locks": Bound(0.005, 0),
}
