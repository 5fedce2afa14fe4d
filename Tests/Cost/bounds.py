"""The bounds of the server's cost. Instructions in user space: about 15 % above the count;
allocations: the count, and little more.

Counted on 2026-11-21, 2026-11-22 and 2026-11-27 (x86-64 with AVX2, Swift 6.3.1,
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
    # The same as before in a room that remembers 20 messages, and forgets one with each.
    "recent.instructions": Bound(38_700, 33_630),
    "recent.allocations": Bound(11, 10.03),
    # The same as the first where a text of 100 bytes is compared with 10,000 words: an English sentence,
    # and one that is made of beginnings of words.
    "words.instructions": Bound(42_500, 36_940),
    "words.allocations": Bound(12, 11),
    "nearWords.instructions": Bound(48_600, 42_300),
    "nearWords.allocations": Bound(12, 11),
    # The same as the first by a sender with a nickName of 20 bytes and a faceURL of 60.
    "profile.instructions": Bound(33_700, 29_300),
    "profile.allocations": Bound(12.5, 12),
    # The same in a Public group, stored, each alone in its transaction.
    "stored.instructions": Bound(107_800, 93_700),
    "stored.allocations": Bound(35, 32.3),
    # The same as the first in a room with slow mode, by its owner, whom it does not slow; and a signal in
    # a Public group, which is not stored.
    "slow.instructions": Bound(35_700, 31_020),
    "slow.allocations": Bound(11, 10),
    "signal.instructions": Bound(35_200, 30_640),
    "signal.allocations": Bound(9, 8),
    # One more receiver of a live message that finds the connection idle: a system call, no memory,
    # no Swift, no lock.
    "delivery.instructions": Bound(209, 181.6),
    "delivery.allocations": Bound(0.005, 0),
    # Instructions of the busiest Swift function: a swift_retain has 19. Ticks of the loop, which come ten
    # times a second, add up to 9 where the machine is busy.
    "delivery.swift": Bound(15, 0),
    "delivery.locks": Bound(0.005, 0),
    # One more receiver where twenty messages come at once and share system calls (sends: for each
    # message).
    "coalesced.instructions": Bound(8, 2.1),
    "coalesced.allocations": Bound(0.005, 0),
    "coalesced.swift": Bound(15, 0),
    "coalesced.locks": Bound(0.005, 0),
    "coalesced.sends": Bound(0.06, 0.04),
    # A sign-in by ?token= of a known user, from accept to onConnectSuccess, and the user's row in
    # the store.
    "signin.instructions": Bound(209_200, 181_900),
    "signin.allocations": Bound(80, 77.5),
    # Joining an AVChatRoom of 1000, durably, without an event. growth: the instructions that each
    # member adds to the function that grows most; storegrowth: the same for SQLite, where reading a
    # row takes 290.
    "join.instructions": Bound(161_900, 140_800),
    # With the profiles of the members that the event shows.
    "join.allocations": Bound(56, 54),
    "join.growth": Bound(3, 0),
    "join.storegrowth": Bound(30, 0),
    # A connection that is lost by a member of that room, and the user's row in the store.
    "loss.instructions": Bound(96_600, 84_000),
    "loss.allocations": Bound(12.5, 11.1),
    "loss.growth": Bound(3, 0),
    "loss.storegrowth": Bound(30, 0),
    # An increment of a counter in an AVChatRoom, alone in its commit, and where 40 come at once and
    # share commits.
    "increment.instructions": Bound(92_900, 80_800),
    "increment.allocations": Bound(32, 30.05),
    "increments.instructions": Bound(32_000, 27_480),
    "increments.allocations": Bound(10.5, 9.25),
    # An edit of a stored message, and a reaction to one, each alone in its transaction.
    "edit.instructions": Bound(350_800, 305_000),
    "edit.allocations": Bound(150, 146),
    "reaction.instructions": Bound(462_800, 402_400),
    "reaction.allocations": Bound(188, 183.5),
}

# The debug build, which CI counts: far dearer, and as repeatable.
DEBUG_BOUNDS = {
    "live.instructions": Bound(282_000, 245_600),
    "live.allocations": Bound(33, 29.8),
    "stored.instructions": Bound(515_000, 447_860),
    "stored.allocations": Bound(72, 64.4),
    "delivery.instructions": Bound(607, 528),
    "delivery.allocations": Bound(0.005, 0),
    "delivery.swift": Bound(15, 0),
    "delivery.locks": Bound(0.005, 0),
}
