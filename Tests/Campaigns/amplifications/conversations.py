"""What a user keeps about groups in the own list of conversations."""
from harness.amplification import amplification

from .reads import messages
from .sends import text_to


@amplification(rows=1)
async def conversations_marked(attack):
    "setConversation with eight marks of 32 B, others each time, of one group after the other, from 2 sessions"
    groups = [attack.group(owner="owner") for _ in range(attack.size(100, 5))]
    yield
    await attack.repeat(lambda n: ("setConversation", {
        "groupID": groups[n % len(groups)], "isPinned": n // len(groups) % 2 == 0,
        "marks": [f"{n + k:032}" for k in range(8)]}), sessions=2)


@amplification(rows=1)
async def histories_cleared(attack):
    "clearGroupHistory of a group with a million messages, each time behind a new one"
    group = messages(attack, attack.size(1_000_000, 5_000))
    yield
    await attack.repeat(lambda n: ("clearGroupHistory", {"groupID": group}) if n % 2 else text_to(group)(n))


@amplification(rows=2, spare_rows=6060)
async def sends_to_a_hidden_group(attack):
    "sendGroupTextMessage to a group that all of its 6,000 members have hidden, with some of them online"
    group = attack.group(members=attack.size(5900, 50))
    with attack.stopped() as rows:
        rows.update("member", "number = ?", [rows.number_of(group)], isHidden="1")
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(text_to(group))
