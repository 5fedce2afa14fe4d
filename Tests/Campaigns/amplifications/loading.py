"""Groups that are not in memory: what it costs to bring them there, and whether they leave
again."""
import asyncio

from harness.amplification import amplification


@amplification(rows=3, memory=16 << 20, small=0.3)
async def load_client_ids(attack):
    "one request to a group with 43,000 messages of 12,288 B with a clientMsgID in the last five minutes"
    group = attack.group(owner="owner")
    attack.message(group, "x" * 12_288, clientMsgID="once")
    with attack.stopped() as rows:
        count = attack.size(43_000, 2_000)
        rows.multiply("message", count, seq="seq + n", msgID="msgID || n", clientMsgID="clientMsgID || n")
    yield
    await attack.repeat(lambda n: ("getGroupOnlineMemberCount", {"groupID": group}), rate=0, burst=1)
    await asyncio.sleep(attack.seconds)


@amplification(rows=3, small=0.3)
async def load_former_members(attack):
    "one request to a group that 533,000 have left"
    group = attack.group(members=2)
    attack.rpc("kickGroupMember", groupID=group, userIDList=["member-0"], banTime=3600)
    with attack.stopped() as rows:
        rows.multiply("formerMember", attack.size(533_000, 5_000), userID="'former-' || n")
    yield
    await attack.repeat(lambda n: ("getGroupOnlineMemberCount", {"groupID": group}), rate=0, burst=1)
    await asyncio.sleep(attack.seconds)


def copies(attack, groups, members, joined):
    """Groups with so many members each, none of them in memory."""
    attack.group(owner="owner", joined=joined, members=members, groupID="cold")
    with attack.stopped() as rows:
        number = rows.number_of("cold")
        rows.multiply(
            "groupRecord", groups, "number = ?", [number], groupID="'cold-' || n", epoch="epoch || n", number="number + n")
        rows.multiply("member", groups, "number = ?", [number], number="number + n")
    return [f"cold-{n}" for n in range(1, groups + 1)]


@amplification(rows=1, answered=65536)
async def load_large_groups(attack):
    "getGroupOnlineMemberCount of 100 groups of 6,000 that are not in memory"
    groups = copies(attack, attack.size(100, 5), attack.size(5900, 300), True)
    yield
    await attack.repeat(lambda n: ("getGroupOnlineMemberCount", {"groupID": groups[n % len(groups)]}))


@amplification(rows=1, answered=65536)
async def load_groups_of_others(attack):
    "getGroupsInfo of 50 groups of 6,000 in which the user is not, none of them in memory"
    groups = copies(attack, attack.size(100, 10), attack.size(5900, 300), False)
    yield
    await attack.repeat(lambda n: ("getGroupsInfo", {"groupIDList": [groups[(n * 50 + k) % len(groups)] for k in range(50)]}))


@amplification(rows=1, answered=65536)
async def load_unknown_groups(attack):
    "getGroupsInfo of 50 groups that are not there"
    yield
    await attack.repeat(lambda n: ("getGroupsInfo", {"groupIDList": [f"none-{n}-{k}" for k in range(50)]}))


@amplification(rows=2, answered=8192)
async def load_joined_groups(attack):
    "sendGroupTextMessage to one group of 1,000 after the other, none of them in memory"
    groups = copies(attack, attack.size(1000, 100), attack.size(100, 10), True)
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": groups[n % len(groups)], "text": "x"}))


@amplification(rows=2, answered=4 << 20)
async def load_many_rooms(attack):
    "sign in as a member of 20,000 AVChatRooms, and getGroupsInfo of them"
    count = attack.size(20_000, 500)
    attack.group("AVChatRoom", owner="owner", groupID="room")
    attack.rpc("joinGroup", asUser=attack.attacker, groupID="room")
    with attack.stopped() as rows:
        number = rows.number_of("room")
        rows.multiply(
            "groupRecord", count, "number = ?", [number], groupID="'room-' || n", epoch="epoch || n", number="number + n")
        rows.multiply("member", count, "number = ?", [number], number="number + n")
    yield
    await attack.repeat(lambda n: ("getGroupsInfo", {"groupIDList": [f"room-{(n * 50 + k) % count + 1}" for k in range(50)]}))
