"""The cost of a message in a live room and in a group that stores messages."""
import pytest

from counting import Room


@pytest.fixture(scope="module")
def listener(server):
    return server.session("listener").welcomed()


@pytest.fixture(scope="module")
def room(server, owner, listener):
    return Room(server, owner, [listener])


@pytest.fixture
def timed(record_property):
    """Prints what goes by time: where a count has risen and these have, too, the machine was busy."""
    return lambda work, cost: record_property("compared", f"{work}: {cost.turns:.2f} turns of the loop, {cost.ticks:.3f} ticks")


def test_live_message(room, bounded, timed):
    cost = room.message(40)
    timed("a live message", cost)
    bounded("live", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_of_many(room, bounded, timed):
    cost = room.message(2, at_once=20)
    timed("one of twenty", cost)
    bounded("burst", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_under_the_limit(limited_server, bounded):
    owner, listener = limited_server.sessions("user", range(2))
    cost = Room(limited_server, owner, [listener]).message(40)
    bounded("limited", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_that_is_remembered(remembering_server, bounded):
    owner, listener = remembering_server.sessions("user", range(2))
    cost = Room(remembering_server, owner, [listener]).message(40)
    bounded("recent", instructions=cost.instructions, allocations=cost.allocations)


@pytest.mark.parametrize("work, text", [
    ("words", "The quick brown fox jumps over the lazy dog, and then it sleeps in the shade of an old tree at noon."),
    # Nearly 100 terms at each byte: the cost of a text does not depend on the terms.
    ("nearWords", "a" * 100),
])
def test_live_message_that_is_compared_with_words(worded_server, bounded, work, text):
    assert len(text) == 100
    owner, listener = worded_server.sessions(work, range(2))
    room = Room(worded_server, owner, [listener])
    room.text = text
    cost = room.message(40)
    bounded(work, instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_of_a_sender_with_a_profile(server, listener, bounded):
    named = server.session("named").welcomed()
    named.call("setSelfInfo", nickName="n" * 20, faceURL="f" * 60)
    cost = Room(server, named, [listener]).message(40)
    bounded("profile", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_with_slow_mode(server, owner, listener, bounded):
    cost = Room(server, owner, [listener], slowMode=60).message(40)
    bounded("slow", instructions=cost.instructions, allocations=cost.allocations)


def test_signal(server, owner, listener, bounded):
    """One in each of many groups: a user may send ten in five seconds to each."""
    rooms = [Room(server, owner, [listener], groupType="Public", joinMode="Any") for _ in range(20)]

    def work():
        for room in rooms:
            room.signal()

    cost = server.cost(work, len(rooms))
    bounded("signal", instructions=cost.instructions, allocations=cost.allocations)


def test_stored_message(server, owner, listener, bounded, timed):
    cost = Room(server, owner, [listener], groupType="Public", joinMode="Any").message(30)
    timed("a stored message", cost)
    bounded("stored", instructions=cost.instructions, allocations=cost.allocations)
