"""The cost of an increment of a counter in a live room, durable when it is answered."""
import pytest

# Each turn takes one of the 20 increments that a user has in 5 s.
USERS = 40


@pytest.fixture(scope="module")
def room(server):
    members = server.sessions("liker", range(USERS))
    return server.group(members[0], members[1:]), members


def test_increment_alone_in_its_commit(server, room, bounded):
    group, members = room

    def work():
        for member in members:
            member.call("increaseGroupCounter", groupID=group, key="likes", value=1)

    cost = server.cost(work, USERS)
    bounded("increment", instructions=cost.instructions, allocations=cost.allocations)


def test_increments_that_share_commits(server, bounded):
    members = server.sessions("fan", range(USERS))
    group = server.group(members[0], members[1:])

    def work():
        for member in members:
            member.send(member.request("increaseGroupCounter", groupID=group, key="likes", value=1))
        for member in members:
            member.answer()

    cost = server.cost(work, USERS)
    bounded("increments", instructions=cost.instructions, allocations=cost.allocations)
