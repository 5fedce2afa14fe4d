"""The cost of each further receiver of a message: a system call, and little else."""
import pytest

from counting import Room

FEW, MANY = 10, 110


@pytest.fixture(scope="module")
def rooms(server, owner):
    listeners = server.sessions("receiver", range(MANY))
    return [Room(server, owner, listeners[:count]) for count in (FEW, MANY)]


def slope(rooms, **messages):
    """The cost that each further receiver of a message adds."""
    few, many = (room.message(**messages) for room in rooms)
    return (many - few) / (MANY - FEW)


def test_delivery(rooms, bounded):
    cost = slope(rooms)
    assert cost.calls_to("send") == pytest.approx(1, abs=0.01), "one system call for each delivery"
    bounded("delivery", instructions=cost.instructions, allocations=cost.allocations, swift=max(cost.swift), locks=cost.locks)


def test_delivery_of_many(rooms, bounded):
    cost = slope(rooms, count=1, at_once=20)
    bounded(
        "coalesced", instructions=cost.instructions, allocations=cost.allocations, swift=max(cost.swift), locks=cost.locks,
        sends=cost.calls_to("send"),
    )


def test_a_signal_to_many_is_cheaper_than_a_message(server, owner, rooms, record_property):
    """In one group: eight are sent, and a user may send ten in five seconds."""
    room = Room(server, owner, rooms[-1].listeners, groupType="Public", joinMode="Any")
    signal, message = server.cost(room.signal, 1), room.message(4)
    record_property("compared", f"to {len(room.listeners)} members: a signal {signal.instructions:,.0f} instructions, "
                                f"a stored message {message.instructions:,.0f}")
    assert signal.calls_to("send") == pytest.approx(len(room.listeners), rel=0.05)
    assert signal.instructions < message.instructions
    assert signal.allocations < message.allocations
