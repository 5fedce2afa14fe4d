"""More in a message: extensions, replies, messages for a few members, and reading past all of these."""
from harness.amplification import amplification

from .changes import own_messages
from .reads import LONG, PAGE, messages
from .sends import LONGEST, text_to

TARGETS = 100  # messages that are answered


def sent_again(attack, group, seq, count, **extras):
    """Adds so many messages like the one at `seq`, with what most messages have not; `extras` are
    columns of that, as for `multiply`."""
    with attack.stopped() as rows:
        here = ("number = ? AND seq = ?", [rows.number_of(group), seq])
        name = f"substr(msgID, 1, length(msgID) - {len(str(seq))}) || (seq + n)"
        rows.multiply("message", count, *here, seq="seq + n", msgID=name)
        rows.multiply("messageExtras", count, *here, seq="seq + n", **extras)


def answered(attack, count):
    """A group with so many messages, each of which answers one of the first hundred."""
    group = attack.group(owner="owner")
    attack.message(group)
    attack.message(group, replyTo=1)
    answers = f"(seq + n) % {TARGETS} + 1"
    sent_again(attack, group, 2, count, replyTo=answers, countedReplyTo=answers)
    return group


def for_another(attack, count, **options):
    """A group with so many messages that the attacker does not see, behind one that all see."""
    group = attack.group(owner="owner", members=1, **options)
    attack.message(group)
    attack.message(group, toUserIDList=["member-0"])
    sent_again(attack, group, 2, count)
    return group


@amplification(rows=2, written=256 * 1024, filled=24 * 1024)
async def sends_with_everything(attack):
    "sendGroupTextMessage of 12,288 B to 50 of 6,000 members, in answer to another, with an extension of 4,096 B"
    group = attack.group(members=attack.size(5900, 50))
    attack.message(group, sender=attack.attacker)
    yield
    await attack.repeat(text_to(
        group, LONGEST, extension="e" * 4096, replyTo=1, toUserIDList=attack.names(50, "member")))


@amplification(rows=2, answered=8192)
async def targeted_flood(attack):
    "sendGroupTextMessage of 12,288 B to 50 members who are online"
    group = attack.group(members=50)
    await attack.listen(50)
    yield
    await attack.repeat(text_to(group, LONGEST, toUserIDList=attack.names(50, "member")))


@amplification(rows=4, written=160 * 1024, answered=8192)
async def edits_of_extensions(attack):
    "modifyGroupMessage of the extension alone, of 4,096 B, another message each, in a group of 6,000 with members online"
    count = attack.size(400, 50)
    group = own_messages(attack, count, members=attack.size(5900, 50))
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {"groupID": group, "seq": n % count + 1, "extension": f"{n:04096}"}))


@amplification(rows=1, answered=PAGE)
async def messages_by_seq(attack):
    "getGroupMessages of 20 messages of 12,288 B, from 4 sessions"
    group = messages(attack, attack.size(2000, 200), LONG, groupType="Meeting")
    yield
    await attack.repeat(
        lambda n: ("getGroupMessages", {"groupID": group, "seqList": [n % 100 + 5 * k + 1 for k in range(20)]}), sessions=4)


@amplification(rows=1, answered=32768)
async def replies_listed(attack):
    "getGroupMessageReplies of 50 of 1,000 replies, from 4 sessions"
    count = attack.size(100_000, 2_000)
    group = answered(attack, count)
    yield
    await attack.repeat(lambda n: ("getGroupMessageReplies", {
        "groupID": group, "seq": n % TARGETS + 1, "nextSeq": n * 97 % count, "count": 50}), sessions=4)


@amplification(rows=1, answered=PAGE)
async def history_with_replies(attack):
    "getGroupHistoryMessageList of 100 messages with 1,000 replies each, from 4 sessions"
    group = answered(attack, attack.size(100_000, 2_000))
    yield
    await attack.repeat(lambda n: (
        "getGroupHistoryMessageList", {"groupID": group, "count": 100, "fromSeq": TARGETS + 1}), sessions=4)


@amplification(rows=1, answered=PAGE)
async def history_past_targeted(attack):
    "getGroupHistoryMessageList past 100,000 messages that are for another member, from 4 sessions"
    group = for_another(attack, attack.size(100_000, 2_000))
    yield
    await attack.repeat(lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100}), sessions=4)


@amplification(rows=1, answered=PAGE)
async def sync_past_targeted(attack):
    "syncGroups of the same group 50 times, behind 100,000 messages that are for another member"
    group = for_another(attack, attack.size(100_000, 2_000))
    (row,) = attack.rpc("getGroupsInfo", groupIDList=[group])["resultList"]
    entry = {"groupID": group, "epoch": row["info"]["epoch"], "seq": 1}
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [entry] * 50}), window=4)


@amplification(rows=1, answered=PAGE)
async def unread_of_targeted(attack):
    "getGroupUnreadCount of the same group 200 times, 100,000 unread that do not count"
    group = for_another(attack, attack.size(100_000, 2_000))
    yield
    await attack.repeat(lambda n: ("getGroupUnreadCount", {"groupIDList": [group] * 200}), window=4)
