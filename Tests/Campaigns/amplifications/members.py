"""Members who come and go, and what each keeps for itself: options, marks, notifications."""
from harness.amplification import amplification


@amplification(rows=5)
async def join_quit_public(attack):
    "joinGroup and quitGroup, one Public group after the other"
    groups = [attack.group(owner="owner", joined=False) for _ in range(attack.size(100, 10))]
    yield
    await attack.repeat(lambda n: (("joinGroup", "quitGroup")[n % 2], {"groupID": groups[n // 2 % len(groups)]}))


@amplification(rows=5)
async def join_quit_large(attack):
    "joinGroup and quitGroup in a group of 6,000, with members online"
    group = attack.group(owner="owner", joined=False, members=attack.size(5900, 50))
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: (("joinGroup", "quitGroup")[n % 2], {"groupID": group}))


@amplification(rows=3)
async def join_quit_room(attack):
    "joinGroup and quitGroup in an AVChatRoom, with members online"
    group = attack.group("AVChatRoom", owner="owner")
    await attack.listen(attack.size(100, 5))
    for name in attack.names(len(attack.listeners), "member"):
        attack.rpc("joinGroup", asUser=name, groupID=group)
    yield
    await attack.repeat(lambda n: (("joinGroup", "quitGroup")[n % 2], {"groupID": group}))


@amplification(rows=3)
async def room_joins(attack):
    "joinGroup of thousands of AVChatRooms of others"
    count = attack.size(5000, 150)
    attack.group("AVChatRoom", owner="owner", groupID="room")
    with attack.stopped() as rows:
        rows.multiply("groupRecord", count, "groupID = 'room'", groupID="'room-' || n", epoch="epoch || n")
        rows.multiply("member", count, "number = ?", [rows.number_of("room")],
                      number="(SELECT number FROM groupRecord WHERE groupID = 'room-' || n)")
    yield
    await attack.repeat(lambda n: ("joinGroup", {"groupID": f"room-{n % count + 1}"}))


@amplification(rows=250, written=512 * 1024, answered=16384)
async def former_members(attack):
    "inviteUserToGroup of 100 new users into a Work group, kickGroupMember of 50 and 50, with a ban of a second"
    group = attack.group("Work")
    yield

    def call(n):
        names = attack.names(100, f"s{n // 3}")
        if n % 3 == 0:
            return "inviteUserToGroup", {"groupID": group, "userIDList": names}
        return "kickGroupMember", {"groupID": group, "userIDList": names[:50] if n % 3 == 1 else names[50:], "banTime": 1}

    await attack.repeat(call, **attack.few)


@amplification(rows=2)
async def receive_option_churn(attack):
    "setGroupReceiveMessageOpt back and forth in a group of 6,000"
    group = attack.group(owner="owner", members=attack.size(5900, 50))
    yield
    await attack.repeat(lambda n: ("setGroupReceiveMessageOpt", {"groupID": group, "opt": ("NotReceive", "Receive")[n % 2]}))


@amplification(rows=2)
async def read_mark_churn(attack):
    "markGroupMessageAsRead, one message on each"
    group = attack.group(owner="owner")
    attack.message(group)
    with attack.stopped() as rows:
        rows.multiply("message", 1000, seq="seq + n", msgID="msgID || n")
    yield
    await attack.repeat(lambda n: ("markGroupMessageAsRead", {"groupID": group, "seq": n % 1000 + 1}))


@amplification(rows=1)
async def application_marks(attack):
    "setGroupApplicationRead, a later time each"
    attack.group(joinMode="Auth")
    yield
    await attack.repeat(lambda n: ("setGroupApplicationRead", {"timestamp": n + 1}))


@amplification(rows=1)
async def notification_marks(attack):
    "setSystemNotificationRead"
    attack.group()
    yield
    await attack.repeat(lambda n: ("setSystemNotificationRead", {}))


@amplification(rows=6)
async def applications_decided(attack):
    "acceptGroupApplication of 300 applications, with a reason of 512 B"
    group = attack.group(joinMode="Auth")
    count = attack.size(300, 40)
    for name in attack.names(count, "applicant"):
        attack.rpc("joinGroup", asUser=name, groupID=group, message="m" * 500)
    rows, start = [], 0
    while True:
        page = attack.rpc("getGroupApplicationList", asUser=attack.attacker, nextSeq=start)
        rows += page["applicationList"]
        start = page["nextSeq"]
        if start == 0:
            break
    yield
    names = [row["applicationID"] for row in rows]
    await attack.repeat(lambda n: ("acceptGroupApplication", {"applicationID": names[n % len(names)], "reason": "r" * 500}))


@amplification(rows=4, answered=8192)
async def invitations_into_many(attack):
    "inviteUserToGroup of one user, accepted at once, into one group after the other, and kickGroupMember"
    groups = [attack.group("Work") for _ in range(attack.size(100, 10))]
    yield
    await attack.repeat(lambda n: (("inviteUserToGroup", "kickGroupMember")[n % 2], {
        "groupID": groups[n // 2 % len(groups)], "userIDList": ["victim"]}))
