"""The cost of a session's beginning and end, and of joining a live room of any size."""
import pytest

SMALL, LARGE = 100, 1000
GUESTS = 20


@pytest.fixture(scope="module")
def rooms(server, owner):
    """The members and the groupID of a small and of a large room."""
    made = {}
    for word, count in (("small", SMALL), ("large", LARGE)):
        members = server.sessions(word, range(count))
        made[word] = members, server.group(owner, members)
    return made


def growth(costs):
    """Instructions that each further member of the room adds to the function that grows most,
    outside and inside SQLite.

    Their sum varies by more. SQLite is apart, because it looks for a free place in its log's index,
    and how long that takes goes by how long the log is just then. """
    store, rest = [], []
    for (file, _), more in (costs["large"] - costs["small"]).own.items():
        (store if "libsqlite3" in file else rest).append(more / (LARGE - SMALL))
    return {"growth": max(rest), "storegrowth": max(store)}


def test_sign_in(server, settle, bounded):
    clients = []

    def come():
        for number in range(GUESTS):
            clients.append(server.session(f"guest-{number:04}").welcomed())

    def go():
        while clients:
            clients.pop().lose()
        settle()

    cost = server.cost(come, GUESTS, before=go, behind=settle)
    go()
    bounded("signin", instructions=cost.instructions, allocations=cost.allocations)


def test_join(server, settle, rooms, bounded):
    joiners = server.sessions("joiner", range(GUESTS))

    def cost(group):
        joined = []

        def join():
            for joiner in joiners:
                assert joiner.call("joinGroup", groupID=group) == {"status": "Joined"}
                joined.append(joiner)

        def quit():
            while joined:
                joined.pop().call("quitGroup", groupID=group)
            for joiner in joiners:
                joiner.forget()
            settle()

        return server.cost(join, GUESTS, before=quit, behind=settle)

    costs = {word: cost(group) for word, (_, group) in rooms.items()}
    bounded("join", instructions=costs["large"].instructions, allocations=costs["large"].allocations, **growth(costs))


def test_lost_connection(server, settle, rooms, bounded):
    def cost(word, members):
        def lose():
            for member in members[:GUESTS]:
                member.lose()

        def again():
            members[:GUESTS] = server.sessions(word, range(GUESTS))
            settle()

        lose()
        return server.cost(lose, GUESTS, before=again, behind=settle)

    costs = {word: cost(word, members) for word, (members, _) in rooms.items()}
    bounded("loss", instructions=costs["large"].instructions, allocations=costs["large"].allocations, **growth(costs))
