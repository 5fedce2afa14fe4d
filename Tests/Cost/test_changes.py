"""The cost of an edit of a stored message and of a reaction to one, each alone in its transaction.
Their events merge by time, so the group has nobody else to be told."""
from itertools import count

import pytest

MESSAGES = 30


@pytest.fixture(scope="module")
def history(server, owner):
    group = server.group(owner, [], "Public")
    texts = ("x" * 100 for _ in range(MESSAGES))
    return group, [owner.call("sendGroupTextMessage", groupID=group, text=text)["seq"] for text in texts]


def test_edit(server, owner, history, bounded):
    group, seqs = history
    edits = count()

    def work():
        for seq in seqs:
            owner.call("modifyGroupMessage", groupID=group, seq=seq, text=f"{next(edits):0100}")

    cost = server.cost(work, MESSAGES)
    bounded("edit", instructions=cost.instructions, allocations=cost.allocations)


def test_reaction(server, owner, history, bounded):
    group, seqs = history
    rounds = count()

    def work():
        reaction = f"r{next(rounds)}"
        for seq in seqs:
            owner.call("addMessageReaction", groupID=group, seq=seq, reaction=reaction)

    cost = server.cost(work, MESSAGES)
    bounded("reaction", instructions=cost.instructions, allocations=cost.allocations)
