"""Changes of messages: edits, pins, reactions, and reading and catching up with them."""
from harness.amplification import amplification

from .reads import PAGE
from .sends import LONGEST

REACTIONS = [f"{n:032}" for n in range(10)]


def own_messages(attack, count, group=None, **options):
    """A group with so many messages that the attacker has sent."""
    group = group or attack.group(**options)
    first = attack.message(group, sender=attack.attacker)["seq"]
    with attack.stopped() as rows:
        rows.multiply("message", count - 1, "number = ? AND seq = ?", [rows.number_of(group), first],
                      seq="seq + n", msgID=f"substr(msgID, 1, length(msgID) - {len(str(first))}) || (seq + n)")
    return group


def with_reactions(attack, messages, users=0, group=None):
    """A group with so many messages of another user, each with ten reactions of 32 bytes, of the
    attacker and of so many others."""
    group = group or attack.group(owner="owner")
    attack.message(group)
    for reaction in REACTIONS:
        attack.rpc("addMessageReaction", asUser=attack.attacker, groupID=group, seq=1, reaction=reaction)
    with attack.stopped() as rows:
        number = rows.number_of(group)
        here = ("number = ?", [number])
        if users:
            rows.multiply("reactionUser", users, *here, userID="'reader-' || n", time=f"time + n * {10 * messages}")
            rows.update("reaction", *here, count=f"{users + 1}")
        copies = messages - 1
        rows.multiply("message", copies, *here, seq="seq + n", msgID="substr(msgID, 1, length(msgID) - 1) || (seq + n)")
        rows.multiply("messageChange", copies, *here, seq="seq + n", changeSeq="changeSeq + n * 10")
        rows.multiply("reaction", copies, *here, seq="seq + n", kind="kind + n * 10")
        rows.multiply("reactionUser", copies, *here, kind="kind + n * 10")
        rows.update("groupRecord", *here, changeSeq=f"{10 * messages * (users + 1)}")
    return group


# An edit's event, with the text, comes back: once for each edit, or once for many that are quick.
@amplification(rows=4, written=192 * 1024, answered=16384)
async def edits_of_the_longest(attack):
    "modifyGroupMessage of 12,288 B, another message each, in a group of 6,000 with members online"
    count = attack.size(400, 50)
    group = own_messages(attack, count, members=attack.size(5900, 50))
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {"groupID": group, "seq": n % count + 1, "text": f"{n:012288}"}))


@amplification(rows=4)
async def edits_of_one_message(attack):
    "modifyGroupMessage of one message of 1 B, from 20 sessions"
    group = own_messages(attack, 2)
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {"groupID": group, "seq": 1, "text": "ab"[n % 2]}), sessions=20)


@amplification(rows=4, answered=24 * 1024)
async def pins(attack):
    "pinGroupMessage of ten messages of 12,288 B, on and off, in a group of 6,000 with members online, one of them new"
    group = attack.group(members=attack.size(5800, 50))
    for _ in range(10):
        attack.message(group, LONGEST, sender=attack.attacker)
    attack.rpc("joinGroup", asUser="newcomer", groupID=group)
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("pinGroupMessage", {"groupID": group, "seq": n % 10 + 1, "isPinned": n // 10 % 2 == 0}))


@amplification(rows=1, answered=1 << 20)
async def pinned_messages(attack):
    "getPinnedGroupMessageList of ten messages of 12,288 control characters, 6 bytes each in JSON, from 20 sessions"
    group = attack.group("Meeting", owner="owner")
    for seq in range(1, 11):
        attack.message(group, "\u0001" * 12_288)
        attack.rpc("pinGroupMessage", asUser="owner", groupID=group, seq=seq, isPinned=True)
    yield
    await attack.repeat(lambda n: ("getPinnedGroupMessageList", {"groupID": group}), sessions=attack.size(20, 4))


@amplification(rows=5)
async def reactions_churn(attack):
    "addMessageReaction and removeMessageReaction, another message each, in a group of 6,000 with members online"
    count = attack.size(400, 50)
    group = own_messages(attack, count, members=attack.size(5900, 50))
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: (("addMessageReaction", "removeMessageReaction")[n % 2], {
        "groupID": group, "seq": n // 2 % count + 1, "reaction": REACTIONS[0]}))


@amplification(rows=5)
async def reactions_of_many_messages(attack):
    "addMessageReaction of ten reactions of 32 B to one message after the other"
    group = own_messages(attack, attack.size(10_000, 200))
    yield
    await attack.repeat(lambda n: ("addMessageReaction", {"groupID": group, "seq": n // 10 + 1, "reaction": REACTIONS[n % 10]}))


@amplification(rows=1, answered=131_072)
async def reactions_read(attack):
    "getMessageReactions of 20 messages with ten reactions of 3,000 users each, ten users named"
    group = with_reactions(attack, 20, attack.size(3000, 30))
    yield
    await attack.repeat(lambda n: ("getMessageReactions", {"groupID": group, "seqList": list(range(1, 21)), "userCount": 10}))


@amplification(rows=1, answered=PAGE)
async def history_with_reactions(attack):
    "getGroupHistoryMessageList of 100 messages with ten reactions each, from 4 sessions"
    group = with_reactions(attack, attack.size(1000, 100))
    yield
    await attack.repeat(
        lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100, "fromSeq": 101 + n % 900}), sessions=4)


@amplification(rows=1, answered=PAGE)
async def joined_list_with_reactions(attack):
    "getJoinedGroupList of 200 of 1,000 groups with ten reactions to the last message"
    with_reactions(attack, 1, group=attack.group(owner="owner", groupID="joined"))
    with attack.stopped() as rows:
        count, here = attack.size(999, 50), ("number = ?", [rows.number_of("joined")])
        rows.multiply("groupRecord", count, *here, groupID="'joined-' || n", epoch="epoch || n", number="number + n")
        rows.multiply("message", count, *here, number="number + n", msgID="substr(msgID, 1, length(msgID) - 2) || n || '-1'")
        for table in ("member", "messageChange", "reaction", "reactionUser"):
            rows.multiply(table, count, *here, number="number + n")
    yield
    await attack.repeat(lambda n: ("getJoinedGroupList", {"count": 200}), window=2)


def changed(attack, count, groups=1):
    """Groups with so many messages, each of which was changed; their entries for syncGroups, less
    the `seq`."""
    names = [attack.group("Meeting", owner="owner") for _ in range(groups)]
    for name in names:
        attack.message(name)
        attack.rpc("modifyGroupMessage", asUser="owner", groupID=name, seq=1, text="changed")
    with attack.stopped() as rows:
        epoch = "substr(msgID, 1, length(msgID) - 1)"
        rows.multiply("message", count - 1, "seq = 1", seq="seq + n", msgID=f"{epoch} || (seq + n)")
        rows.multiply("messageChange", count - 1, "seq = 1", seq="seq + n", changeSeq="changeSeq + n")
        rows.update("groupRecord", "changeSeq = 1", changeSeq=f"{count}")
    listed = []
    for start in range(0, groups, 50):
        listed += attack.rpc("getGroupsInfo", groupIDList=names[start:start + 50])["resultList"]
    return [{"groupID": row["groupID"], "epoch": row["info"]["epoch"], "changeSeq": 0} for row in listed]


@amplification(rows=1, answered=PAGE)
async def sync_of_changes(attack):
    "syncGroups with changeSeq 0 of a group with 100,000 changes, from 20 sessions"
    count = attack.size(100_000, 1000)
    (entry,) = changed(attack, count)
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [{**entry, "seq": count}]}), sessions=20)


@amplification(rows=1, answered=PAGE)
async def sync_of_changes_of_50_groups(attack):
    "syncGroups with changeSeq 0 of 50 groups with 2,000 changes each, from 4 sessions"
    count = attack.size(2000, 200)
    entries = changed(attack, count, attack.size(50, 5))
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [{**entry, "seq": count} for entry in entries]}), sessions=4, window=4)


@amplification(rows=1, answered=PAGE)
async def sync_of_changes_in_vain(attack):
    "syncGroups with changeSeq 0 and seq 0, so that none of 2,000 changes is given, of 50 groups, from 4 sessions"
    entries = changed(attack, attack.size(2000, 200), attack.size(50, 5))
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [{**entry, "seq": 0} for entry in entries]}), sessions=4, window=4)
