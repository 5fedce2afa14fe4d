"""Read receipts in groups of 200, as many as may have them."""
from harness.amplification import amplification

BLOCK = 1024  # messages whose confirmations by one reader share a row


def names(attack, count):
    """The longest userIDs."""
    return [f"member-{n:025}" for n in range(count)]


def receipt_group(attack, groupType="Public", owner="owner", members=198):
    """A group of the largest size that has receipts."""
    group = attack.group(groupType, owner=owner)
    attack.rpc("importGroupMembers", groupID=group, memberList=[{"userID": name} for name in names(attack, members)])
    return group


def with_receipts(attack, count, sender):
    """A group with so many messages that ask for receipts; those of each block were read by all but
    the attacker."""
    group = receipt_group(attack, owner="owner" if sender != attack.attacker else attack.attacker)
    attack.message(group, sender=sender, needReadReceipt=True)
    attack.rpc("sendMessageReadReceipts", asUser=names(attack, 1)[0], groupID=group, seqList=[1])
    with attack.stopped() as rows:
        here = ("number = ?", [rows.number_of(group)])
        rows.multiply("message", count - 1, *here, seq="seq + n", msgID="substr(msgID, 1, length(msgID) - 1) || (seq + n)")
        rows.multiply("readReceipt", 197, *here, userID="printf('member-%025d', n)", seqs=f"randomblob({BLOCK // 8})")
        rows.multiply("readReceipt", count // BLOCK, *here, block="n")
    return group


@amplification(rows=2)
async def receipts_given(attack):
    "sendMessageReadReceipts of 50 messages in a group of 200, others each time, while the sender is online"
    await attack.listen(1, "owner")
    group = with_receipts(attack, attack.size(51_200, 10_240), "owner")
    yield
    await attack.repeat(lambda n: ("sendMessageReadReceipts", {"groupID": group, "seqList": [n * 50 + k + 1 for k in range(50)]}))


@amplification(rows=52, written=1 << 20)
async def receipts_given_in_50_blocks(attack):
    "sendMessageReadReceipts of 50 messages far apart, a row for each of them"
    blocks = attack.size(50, 10)
    group = with_receipts(attack, blocks * BLOCK, "owner")
    yield
    await attack.repeat(lambda n: ("sendMessageReadReceipts", {
        "groupID": group, "seqList": [block * BLOCK + n % 1000 + 1 for block in range(blocks)]}))


@amplification(rows=1, answered=8192)
async def receipts_asked(attack):
    "getMessageReadReceipts of 50 messages far apart, each read by 200, from 4 sessions"
    blocks = attack.size(50, 10)
    group = with_receipts(attack, blocks * BLOCK, attack.attacker)
    yield
    await attack.repeat(lambda n: ("getMessageReadReceipts", {
        "groupID": group, "seqList": [block * BLOCK + n % 1000 + 1 for block in range(blocks)]}), sessions=4)


@amplification(rows=1, answered=32768)
async def receipts_listed(attack):
    "getGroupMessageReadMemberList of 100 of 200 members, from 4 sessions"
    group = with_receipts(attack, 2 * BLOCK, attack.attacker)
    yield
    await attack.repeat(lambda n: ("getGroupMessageReadMemberList", {
        "groupID": group, "seq": n % 1000 + 2, "count": 100, "filter": ("Read", "Unread")[n % 2]}), sessions=4)


@amplification(rows=5, written=192 * 1024)
async def receipts_of_changing_members(attack):
    "sendGroupTextMessage with needReadReceipt in a group of 200, a member kicked or invited before each"
    group = receipt_group(attack, "Work", owner=attack.attacker)
    yield

    def call(n):
        if n % 2:
            return "sendGroupTextMessage", {"groupID": group, "text": "x", "needReadReceipt": True}
        return ("kickGroupMember", "inviteUserToGroup")[n // 2 % 2], {"groupID": group, "userIDList": names(attack, 1)}

    await attack.repeat(call)
