"""Lists, counts, pages and searches: what one request may read and answer."""
import asyncio
import random

from harness.amplification import amplification

PAGE = 600 * 1024  # half of limits.sendQueueBytes, and what is around it
LONG = "x" * 12_288


def messages(stage, count, text="hello", group=None, **options):
    """A group in which another user has sent so many messages."""
    group = group or stage.group(owner="owner", **options)
    stage.message(group, text)
    with stage.stopped() as rows:
        number = rows.number_of(group)
        rows.multiply("message", count - 1, "number = ?", [number], seq="seq + n", msgID="msgID || n")
    return group


@amplification(rows=1, answered=PAGE, cpu=0.01)
async def unread_of_one_group(stage):
    "getGroupsInfo of the same group 50 times, 64 times at once, then disconnect; a million unread"
    group = messages(stage, stage.size(1_000_000, 5_000))
    yield
    socket = await stage.session()
    for number in range(64):
        socket.request("getGroupsInfo", {"groupIDList": [group] * 50}, number)
    await asyncio.sleep(stage.seconds)


@amplification(rows=1, answered=PAGE)
async def unread_counts(stage):
    "getGroupUnreadCount of the same group 200 times, 64 times at once, then disconnect; a million unread"
    group = messages(stage, stage.size(1_000_000, 2_000))
    yield
    socket = await stage.session()
    for number in range(64):
        socket.request("getGroupUnreadCount", {"groupIDList": [group] * 200}, number)
    await asyncio.sleep(stage.seconds)


@amplification(rows=1, answered=PAGE)
async def unread_of_100_groups(stage):
    "getGroupUnreadCount of 100 groups with 10,000 unread each, 20 sessions"
    count, each = stage.size(100, 5), stage.size(10_000, 500)
    groups = [stage.group(owner="owner") for _ in range(count)]
    for group in groups:
        stage.message(group)
    with stage.stopped() as rows:
        rows.multiply("message", each, seq="seq + n", msgID="msgID || n")
    yield
    await stage.repeat(lambda n: ("getGroupUnreadCount", {}), sessions=stage.size(20, 2))


@amplification(rows=1, answered=65536, cpu=0.003)
async def applications_handled(stage):
    "getGroupApplicationList with a million handled applications"
    group = stage.group(joinMode="Auth")
    stage.rpc("joinGroup", asUser="applicant", groupID=group)
    (row,) = stage.rpc("getGroupApplicationList", asUser=stage.attacker)["applicationList"]
    stage.rpc("refuseGroupApplication", asUser=stage.attacker, applicationID=row["applicationID"])
    with stage.stopped() as rows:
        rows.multiply("application", stage.size(1_000_000, 60_000), id="id || '-' || n", addTime="addTime - n")
    yield
    await stage.repeat(lambda n: ("getGroupApplicationList", {"count": 50}))


@amplification(rows=1, answered=40_000)
async def departures_listed(stage):
    "getJoinedGroupList with updatedSince, 200,000 groups left"
    stage.group(groupID="left", owner="owner")
    stage.rpc("quitGroup", asUser=stage.attacker, groupID="left")
    with stage.stopped() as rows:
        count = stage.size(200_000, 5_000)
        rows.multiply("departure", count, "userID = ?", [stage.attacker], groupID="'left-' || n", groupNumber="1000 + n")
    yield
    await stage.repeat(lambda n: ("getJoinedGroupList", {"updatedSince": 1, "count": 1}))


def joined(stage, count):
    """The attacker is a member of so many groups with a message each."""
    stage.group(owner="owner", groupID="joined")
    stage.message("joined", "x" * 1000)
    with stage.stopped() as rows:
        number = rows.number_of("joined")
        rows.multiply(
            "groupRecord", count - 1, "number = ?", [number], groupID="'joined-' || n", epoch="epoch || n", number="number + n")
        for table in ("member", "message"):
            rows.multiply(table, count - 1, "number = ?", [number], number="number + n")
    return [f"joined-{n}" for n in range(1, count)]


@amplification(rows=1, answered=PAGE)
async def joined_list(stage):
    "getJoinedGroupList of 200 of 1,000 groups with a last message of 1 KB"
    joined(stage, stage.size(1000, 100))
    yield
    await stage.repeat(lambda n: ("getJoinedGroupList", {"count": 200}), window=2)


@amplification(rows=1, answered=PAGE)
async def joined_list_since(stage):
    "getJoinedGroupList with an updatedSince to come: 1,000 groups looked at for nothing"
    joined(stage, stage.size(1000, 100))
    yield
    await stage.repeat(lambda n: ("getJoinedGroupList", {"updatedSince": 1 << 52, "count": 1}))


@amplification(rows=1, answered=PAGE)
async def history_pages(stage):
    "getGroupHistoryMessageList of 100 messages of 12,288 B"
    group = messages(stage, stage.size(2000, 200), LONG, groupType="Meeting")
    yield
    await stage.repeat(
        lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100, "fromSeq": 101 + n % 100}), window=2)


@amplification(rows=1, answered=PAGE)
async def history_in_batches(stage):
    "batches of 20 getGroupHistoryMessageList of 100 messages of 12,288 B"
    group = messages(stage, stage.size(2000, 200), LONG, groupType="Meeting")
    yield
    await stage.repeat(lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100}), batch=20)


@amplification(rows=1, answered=PAGE)
async def history_of_20_sessions(stage):
    "getGroupHistoryMessageList of 100 messages of 12,288 B from 20 sessions of the user"
    group = messages(stage, stage.size(2000, 200), LONG, groupType="Meeting")
    yield
    await stage.repeat(lambda n: ("getGroupHistoryMessageList", {"groupID": group, "count": 100}), sessions=20)


@amplification(rows=1, answered=PAGE)
async def sync_of_50_groups(stage):
    "syncGroups of 50 groups with 100 messages of 12,288 B each"
    count = stage.size(50, 10)
    names = [stage.group(owner="owner") for _ in range(count)]
    groups = []
    for name in names:
        stage.message(name, LONG)
    with stage.stopped() as rows:
        rows.multiply("message", 99, seq="seq + n", msgID="msgID || n")
    for row in stage.rpc("getGroupsInfo", groupIDList=names)["resultList"]:
        groups.append({"groupID": row["groupID"], "epoch": row["info"]["epoch"], "seq": 0})
    yield
    await stage.repeat(lambda n: ("syncGroups", {"groups": groups}), window=2)


@amplification(rows=1, answered=PAGE)
async def sync_of_the_same_group(stage):
    "syncGroups of the same group 50 times"
    group = messages(stage, 100, LONG)
    (row,) = stage.rpc("getGroupsInfo", groupIDList=[group])["resultList"]
    entry = {"groupID": group, "epoch": row["info"]["epoch"], "seq": 0}
    yield
    await stage.repeat(lambda n: ("syncGroups", {"groups": [entry] * 50}), window=2)


@amplification(rows=1, answered=PAGE)
async def replies_behind_a_slow_one(stage):
    "getGroupUnreadCount of a million unread, and behind it 63 pages of history, in 8 sessions"
    pages = messages(stage, 200, LONG, groupType="Meeting")
    slow = messages(stage, stage.size(1_000_000, 2_000))
    yield
    sockets = [await stage.session() for _ in range(8)]
    for socket in sockets:
        socket.request("getGroupUnreadCount", {"groupIDList": [slow] * 200})
        for number in range(63):
            socket.request("getGroupHistoryMessageList", {"groupID": pages, "count": 100}, number)
    await asyncio.gather(*(socket.answers(stage.size(9, 2)) for socket in sockets))


@amplification(rows=1, answered=PAGE)
async def replies_behind_a_search(stage):
    "searchGroups that finds nothing in 20,000 groups, and behind it 63 pages of history, in 4 sessions"
    pages = messages(stage, 200, LONG, groupType="Meeting")
    searchable(stage, stage.size(20_000, 1000))
    yield
    sockets = [await stage.session() for _ in range(4)]
    for socket in sockets:
        socket.request("searchGroups", {"keywordList": ["ÄÖÜ" + "z" * 500] * 5})
        for number in range(63):
            socket.request("getGroupHistoryMessageList", {"groupID": pages, "count": 100}, number)
    await asyncio.gather(*(socket.answers(stage.size(9, 2)) for socket in sockets))


def searchable(stage, count):
    """Groups of others that can be found."""
    stage.group(owner="owner", joined=False, groupID="found", introduction="i" * 240)
    with stage.stopped() as rows:
        rows.multiply("groupRecord", count, "groupID = 'found'", groupID="'found-' || n", epoch="epoch || n", name="'name ' || n")


@amplification(rows=1, answered=65536)
async def searches_in_vain(stage):
    "searchGroups of 5 keywords that are nowhere in 20,000 groups, 4 sessions"
    searchable(stage, stage.size(20_000, 1000))
    words = [f"{n}zzzÄÖÜ" for n in range(5)]
    yield
    await stage.repeat(lambda n: ("searchGroups", {"keywordList": words, "count": 50}), sessions=4)


@amplification(rows=1, answered=65536)
async def searches_of_members(stage):
    "searchGroups of name cards in 20 joined groups of 6,000, 4 sessions"
    for _ in range(stage.size(20, 3)):
        stage.group(owner="owner", members=stage.size(5900, 50))
    yield
    await stage.repeat(lambda n: ("searchGroups", {
        "keywordList": ["zzz"] * 5, "matchFields": ["memberUserID", "memberNameCard"], "count": 50}), sessions=4)


@amplification(rows=1, answered=32768)
async def member_pages(stage):
    "getGroupMemberList of 50 of 6,000"
    group = stage.group(owner="owner", members=stage.size(5900, 300))
    yield
    await stage.repeat(lambda n: ("getGroupMemberList", {"groupID": group, "count": 50}))


@amplification(rows=1, answered=32768)
async def member_pages_anywhere(stage):
    "getGroupMemberList of 6,000 with an invented nextSeq and each filter"
    group = stage.group(owner="owner", members=stage.size(5900, 300))
    numbers = random.Random(9)
    yield
    await stage.repeat(lambda n: ("getGroupMemberList", {
        "groupID": group, "count": 50, "nextSeq": numbers.randrange(1, 1 << 50), "filter": ("All", "Admin", "Common")[n % 3]}))


@amplification(rows=1, answered=32768)
async def members_info(stage):
    "getGroupMembersInfo of 50 of 6,000"
    group = stage.group(owner="owner", members=stage.size(5900, 300))
    names = stage.names(50, "member")
    yield
    await stage.repeat(lambda n: ("getGroupMembersInfo", {"groupID": group, "userIDList": names}))


@amplification(rows=1, answered=32768)
async def member_inviters(stage):
    "getGroupMemberInviters of 200 of 6,000"
    group = stage.group(owner="owner", members=stage.size(5900, 300))
    names = stage.names(200, "member")
    yield
    await stage.repeat(lambda n: ("getGroupMemberInviters", {"groupID": group, "userIDList": names}))


@amplification(rows=1, answered=32768)
async def muted_members(stage):
    "getGroupMutedMembers of a group of 6,000 in which nobody is muted"
    group = stage.group(members=stage.size(5900, 300))
    yield
    await stage.repeat(lambda n: ("getGroupMutedMembers", {"groupID": group, "count": 50}))


@amplification(rows=1)
async def online_members_counted(stage):
    "getGroupOnlineMemberCount of a group of 6,000"
    group = stage.group(owner="owner", members=stage.size(5900, 300))
    yield
    await stage.repeat(lambda n: ("getGroupOnlineMemberCount", {"groupID": group}))


@amplification(rows=1, answered=131_072)
async def notification_pages(stage):
    "getSystemNotificationList of 100, each with a reason of 512 B"
    group = stage.group("Meeting", owner="owner", joined=False)
    for _ in range(stage.size(100, 10)):
        stage.rpc("inviteUserToGroup", groupID=group, userIDList=[stage.attacker])
        stage.rpc("kickGroupMember", groupID=group, userIDList=[stage.attacker], reason="r" * 500)
    yield
    await stage.repeat(lambda n: ("getSystemNotificationList", {"count": 100}))


@amplification(rows=1, answered=1 << 20)
async def discovery(stage):
    "rpc.discover, the longest answer without a parameter"
    yield
    await stage.repeat(lambda n: ("rpc.discover", {}), window=4)


@amplification(rows=1, answered=65536)
async def server_info(stage):
    "getServerInfo"
    yield
    await stage.repeat(lambda n: ("getServerInfo", {}))
