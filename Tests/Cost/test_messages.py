"""The cost of a message in a live room and in a group that stores messages."""
import pytest

from counting import Room


@pytest.fixture(scope="module")
def listener(server):
    return server.session("listener").welcomed()


@pytest.fixture(scope="module")
def room(server, owner, listener):
    return Room(server, owner, [listener])


def test_live_message(room, bounded):
    cost = room.message(40)
    bounded("live", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_of_many(room, bounded):
    cost = room.message(2, at_once=20)
    bounded("burst", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_under_the_limit(limited_server, bounded):
    owner, listener = limited_server.sessions("user", range(2))
    cost = Room(limited_server, owner, [listener]).message(40)
    bounded("limited", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_that_is_remembered(remembering_server, bounded):
    owner, listener = remembering_server.sessions("user", range(2))
    cost = Room(remembering_server, owner, [listener]).message(40)
    bounded("recent", instructions=cost.instructions, allocations=cost.allocations)


def test_live_message_of_a_sender_with_a_profile(server, listener, bounded):
    named = server.session("named").welcomed()
    named.call("setSelfInfo", nickName="n" * 20, faceURL="f" * 60)
    cost = Room(server, named, [listener]).message(40)
    bounded("profile", instructions=cost.instructions, allocations=cost.allocations)


def test_stored_message(server, owner, listener, bounded):
    cost = Room(server, owner, [listener], groupType="Public", joinMode="Any").message(30)
    bounded("stored", instructions=cost.instructions, allocations=cost.allocations)
