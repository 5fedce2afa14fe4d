"""Lists, counts, pages and searches: what one request may read and answer."""
import asyncio
import random

from harness.amplification import amplification

from .sends import REMEMBERING

PAGE = 600 * 1024  # half of limits.sendQueueBytes, and what is around it
LONG = "x" * 12_288


def messages(attack, count, text="hello", group=None, **options):
    """A group in which another user has sent so many messages."""
    group = group or attack.group(owner="owner", **options)
    attack.message(group, text)
    with attack.stopped() as rows:
        number = rows.number_of(group)
        rows.multiply("message", count - 1, "number = ?", [number], seq="seq + n", msgID="msgID || n")
    return group


@amplification(rows=1, answered=PAGE, cpu=0.01)
async def unread_of_one_group(attack):
    "getGroupsInfo of the same group 50 times, 64 times at once, then disconnect; a million unread"
    group = messages(attack, attack.size(1_000_000, 5_000))
    yield
    socket = await attack.session()
    for number in range(64):
        socket.request("getGroupsInfo", {"groupIDList": [group] * 50}, number)
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, answered=PAGE)
async def unread_counts(attack):
    "getGroupUnreadCount of the same group 200 times, 64 times at once, then disconnect; a million unread"
    group = messages(attack, attack.size(1_000_000, 2_000))
    yield
    socket = await attack.session()
    for number in range(64):
        socket.request("getGroupUnreadCount", {"groupIDList": [group] * 200}, number)
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, answered=PAGE)
async def unread_of_100_groups(attack):
    "getGroupUnreadCount of 100 groups with 10,000 unread each, 20 sessions"
    count, each = attack.size(100, 5), attack.size(10_000, 500)
    groups = [attack.group(owner="owner") for _ in range(count)]
    for group in groups:
        attack.message(group)
    with attack.stopped() as rows:
        rows.multiply("message", each, seq="seq + n", msgID="msgID || n")
    yield
    await attack.repeat(lambda n: ("getGroupUnreadCount", {}), sessions=attack.size(20, 2))


@amplification(rows=1, answered=65536, cpu=0.003)
async def applications_handled(attack):
    "getGroupApplicationList with a million handled applications"
    group = attack.group(joinMode="Auth")
    attack.rpc("joinGroup", asUser="applicant", groupID=group)
    (row,) = attack.rpc("getGroupApplicationList", asUser=attack.attacker)["applicationList"]
    attack.rpc("refuseGroupApplication", asUser=attack.attacker, applicationID=row["applicationID"])
    with attack.stopped() as rows:
        rows.multiply("application", attack.size(1_000_000, 60_000), id="id || '-' || n", addTime="addTime - n")
    yield
    await attack.repeat(lambda n: ("getGroupApplicationList", {"count": 50}))


@amplification(rows=1, answered=40_000)
async def departures_listed(attack):
    "getJoinedGroupList with updatedSince, 200,000 groups left"
    attack.group(groupID="left", owner="owner")
    attack.rpc("quitGroup", asUser=attack.attacker, groupID="left")
    with attack.stopped() as rows:
        count = attack.size(200_000, 5_000)
        rows.multiply("departure", count, "userID = ?", [attack.attacker], groupID="'left-' || n", groupNumber="1000 + n")
    yield
    await attack.repeat(lambda n: ("getJoinedGroupList", {"updatedSince": 1, "count": 1}))


def joined(attack, count):
    """The attacker is a member of so many groups with a message each."""
    attack.group(owner="owner", groupID="joined")
    attack.message("joined", "x" * 1000)
    with attack.stopped() as rows:
        number = rows.number_of("joined")
        rows.multiply(
            "groupRecord", count - 1, "number = ?", [number], groupID="'joined-' || n", epoch="epoch || n", number="number + n")
        for table in ("member", "message"):
            rows.multiply(table, count - 1, "number = ?", [number], number="number + n")
    return [f"joined-{n}" for n in range(1, count)]


@amplification(rows=1, answered=PAGE)
async def joined_list(attack):
    "getJoinedGroupList of 200 of 1,000 groups with a last message of 1 KB"
    joined(attack, attack.size(1000, 100))
    yield
    await attack.repeat(lambda n: ("getJoinedGroupList", {"count": 200}), window=2)


@amplification(rows=1, answered=PAGE)
async def joined_list_since(attack):
    "getJoinedGroupList with an updatedSince to come: 1,000 groups looked at for nothing"
    joined(attack, attack.size(1000, 100))
    yield
    await attack.repeat(lambda n: ("getJoinedGroupList", {"updatedSince": 1 << 52, "count": 1}))


@amplification(rows=1, answered=PAGE)
async def history_pages(attack):
    "getGroupHistoryMessageList of 100 messages of 12,288 B"
    group = messages(attack, attack.size(2000, 200), LONG, groupType="Meeting")
    yield
    await attack.repeat(
        lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100, "fromSeq": 101 + n % 100}), window=2)


@amplification(rows=1, answered=PAGE)
async def history_in_batches(attack):
    "batches of 20 getGroupHistoryMessageList of 100 messages of 12,288 B"
    group = messages(attack, attack.size(2000, 200), LONG, groupType="Meeting")
    yield
    await attack.repeat(lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100}), batch=20)


@amplification(rows=1, answered=PAGE)
async def history_of_20_sessions(attack):
    "getGroupHistoryMessageList of 100 messages of 12,288 B from 20 sessions of the user"
    group = messages(attack, attack.size(2000, 200), LONG, groupType="Meeting")
    yield
    await attack.repeat(lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100}), sessions=20)


@amplification(rows=1, answered=PAGE)
async def sync_of_50_groups(attack):
    "syncGroups of 50 groups with 100 messages of 12,288 B each"
    count = attack.size(50, 10)
    names = [attack.group(owner="owner") for _ in range(count)]
    groups = []
    for name in names:
        attack.message(name, LONG)
    with attack.stopped() as rows:
        rows.multiply("message", 99, seq="seq + n", msgID="msgID || n")
    for row in attack.rpc("getGroupsInfo", groupIDList=names)["resultList"]:
        groups.append({"groupID": row["groupID"], "epoch": row["info"]["epoch"], "seq": 0})
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": groups}), window=2)


@amplification(rows=1, answered=PAGE)
async def sync_of_the_same_group(attack):
    "syncGroups of the same group 50 times"
    group = messages(attack, 100, LONG)
    (row,) = attack.rpc("getGroupsInfo", groupIDList=[group])["resultList"]
    entry = {"groupID": group, "epoch": row["info"]["epoch"], "seq": 0}
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [entry] * 50}), window=2)


@amplification(settings=REMEMBERING, rows=1, answered=PAGE)
async def sync_of_a_room(attack):
    "syncGroups of an AVChatRoom's last messages of 12,288 B, as many as it remembers, from 4 sessions"
    group = attack.group("AVChatRoom")
    for _ in range(attack.size(90, 20)):
        attack.message(group, LONG, sender=attack.attacker)
    (row,) = attack.rpc("getGroupsInfo", groupIDList=[group])["resultList"]
    info = row["info"]
    newest = {"groupID": group, "epoch": info["epoch"], "seq": info["lastSeq"] - attack.size(80, 20)}
    yield
    await attack.repeat(lambda n: ("syncGroups", {"groups": [newest]}), sessions=4, window=4)


@amplification(settings=REMEMBERING, rows=1, answered=PAGE)
async def history_of_a_room(attack):
    "getGroupHistoryMessageList of 100 and getGroupMessages of 20 of what an AVChatRoom remembers, of 12,288 B, from 4 sessions"
    group = attack.group("AVChatRoom")
    count = attack.size(80, 20)
    for _ in range(count):
        attack.message(group, LONG, sender=attack.attacker)
    yield
    await attack.repeat(
        lambda n: (
            ("getGroupHistoryMessageList", {"groupID": group, "count": 100}) if n % 2
            else ("getGroupMessages", {"groupID": group, "seqList": [n % (count - 19) + k for k in range(1, 21)]})),
        sessions=4, window=4)


@amplification(rows=1, answered=PAGE)
async def replies_behind_a_slow_one(attack):
    "getGroupUnreadCount of a million unread, and behind it 63 pages of history, in 8 sessions"
    pages = messages(attack, 200, LONG, groupType="Meeting")
    slow = messages(attack, attack.size(1_000_000, 2_000))
    yield
    sockets = [await attack.session() for _ in range(8)]
    for socket in sockets:
        socket.request("getGroupUnreadCount", {"groupIDList": [slow] * 200})
        for number in range(63):
            socket.request("getGroupHistoryMessageList", {"groupID": pages, "count": 100}, number)
    await asyncio.gather(*(socket.answers(attack.size(9, 2)) for socket in sockets))


@amplification(rows=1, answered=PAGE)
async def replies_behind_a_search(attack):
    "searchGroups that finds nothing in 20,000 groups, and behind it 63 pages of history, in 4 sessions"
    pages = messages(attack, 200, LONG, groupType="Meeting")
    searchable(attack, attack.size(20_000, 1000))
    yield
    sockets = [await attack.session() for _ in range(4)]
    for socket in sockets:
        socket.request("searchGroups", {"keywordList": ["ÄÖÜ" + "z" * 500] * 5})
        for number in range(63):
            socket.request("getGroupHistoryMessageList", {"groupID": pages, "count": 100}, number)
    await asyncio.gather(*(socket.answers(attack.size(9, 2)) for socket in sockets))


def searchable(attack, count):
    """Groups of others that can be found."""
    attack.group(owner="owner", joined=False, groupID="found", introduction="i" * 240)
    with attack.stopped() as rows:
        rows.multiply("groupRecord", count, "groupID = 'found'", groupID="'found-' || n", epoch="epoch || n", name="'name ' || n")


@amplification(rows=1, answered=65536)
async def searches_in_vain(attack):
    "searchGroups of 5 keywords that are nowhere in 20,000 groups, 4 sessions"
    searchable(attack, attack.size(20_000, 1000))
    words = [f"{n}zzzÄÖÜ" for n in range(5)]
    yield
    await attack.repeat(lambda n: ("searchGroups", {"keywordList": words, "count": 50}), sessions=4)


@amplification(rows=1, answered=65536)
async def searches_of_members(attack):
    "searchGroups of name cards in 20 joined groups of 6,000, 4 sessions"
    for _ in range(attack.size(20, 3)):
        attack.group(owner="owner", members=attack.size(5900, 50))
    yield
    await attack.repeat(lambda n: ("searchGroups", {
        "keywordList": ["zzz"] * 5, "matchFields": ["memberUserID", "memberNameCard"], "count": 50}), sessions=4)


@amplification(rows=1, answered=32768)
async def member_pages(attack):
    "getGroupMemberList of 50 of 6,000"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    yield
    await attack.repeat(lambda n: ("getGroupMemberList", {"groupID": group, "count": 50}))


@amplification(rows=1, answered=32768)
async def member_pages_anywhere(attack):
    "getGroupMemberList of 6,000 with an invented nextSeq and each filter"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    numbers = random.Random(9)
    yield
    await attack.repeat(lambda n: ("getGroupMemberList", {
        "groupID": group, "count": 50, "nextSeq": numbers.randrange(1, 1 << 50), "filter": ("All", "Admin", "Common")[n % 3]}))


@amplification(rows=1, answered=65536)
async def member_changes(attack):
    "getGroupMemberList of 200 of 6,000 with updatedSince, in a group that 9,000 have left"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    for start in range(0, attack.size(9000, 100), 50):
        names = [f"leaver-{n}" for n in range(start, start + 50)]
        attack.rpc("importGroupMembers", groupID=group, memberList=[{"userID": name} for name in names])
        attack.rpc("kickGroupMember", groupID=group, userIDList=names)
    yield
    await attack.repeat(lambda n: ("getGroupMemberList", {"groupID": group, "count": 200, "updatedSince": 1}))


@amplification(rows=1, answered=32768)
async def members_info(attack):
    "getGroupMembersInfo of 50 of 6,000"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    names = attack.names(50, "member")
    yield
    await attack.repeat(lambda n: ("getGroupMembersInfo", {"groupID": group, "userIDList": names}))


@amplification(rows=1, answered=32768)
async def member_inviters(attack):
    "getGroupMemberInviters of 200 of 6,000"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    names = attack.names(200, "member")
    yield
    await attack.repeat(lambda n: ("getGroupMemberInviters", {"groupID": group, "userIDList": names}))


@amplification(rows=1, answered=32768)
async def muted_members(attack):
    "getGroupMutedMembers of a group of 6,000 in which nobody is muted"
    group = attack.group(members=attack.size(5900, 300))
    yield
    await attack.repeat(lambda n: ("getGroupMutedMembers", {"groupID": group, "count": 50}))


@amplification(rows=1)
async def online_members_counted(attack):
    "getGroupOnlineMemberCount of a group of 6,000"
    group = attack.group(owner="owner", members=attack.size(5900, 300))
    yield
    await attack.repeat(lambda n: ("getGroupOnlineMemberCount", {"groupID": group}))


@amplification(rows=1, answered=131_072)
async def notification_pages(attack):
    "getSystemNotificationList of 100, each with a reason of 512 B"
    group = attack.group("Meeting", owner="owner", joined=False)
    for _ in range(attack.size(100, 10)):
        attack.rpc("inviteUserToGroup", groupID=group, userIDList=[attack.attacker])
        attack.rpc("kickGroupMember", groupID=group, userIDList=[attack.attacker], reason="r" * 500)
    yield
    await attack.repeat(lambda n: ("getSystemNotificationList", {"count": 100}))


@amplification(rows=1, answered=1 << 20)
async def discovery(attack):
    "rpc.discover, the longest answer without a parameter"
    yield
    await attack.repeat(lambda n: ("rpc.discover", {}), window=4)


@amplification(rows=1, answered=65536)
async def server_info(attack):
    "getServerInfo"
    yield
    await attack.repeat(lambda n: ("getServerInfo", {}))
