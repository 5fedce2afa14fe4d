"""One request that is told, or written, to many: groups of 6,000 members, 100 users, thousands of
managers."""
from harness.amplification import amplification

LARGEST = 6000
CUSTOM = "v" * 512


def large(attack, **options):
    """A group of the largest size, of which the attacker is the owner."""
    return attack.group(members=attack.size(LARGEST - 10, 60), **options)


@amplification(rows=4)
async def join_with_5900_admins(attack):
    "joinGroup with approval, again and again, into a group with 5,900 admins"
    group = attack.group(owner="owner", joined=False, joinMode="Auth", admins=attack.size(5900, 50))
    yield
    await attack.repeat(lambda n: ("joinGroup", {"groupID": group, "message": f"{n} " + "x" * 500}))


@amplification(rows=4)
async def joins_of_many_groups(attack):
    "joinGroup with approval into one group after the other, each with 300 admins"
    admins = attack.size(300, 30)
    groups = [attack.group(owner="owner", joined=False, joinMode="Auth", admins=admins) for _ in range(attack.size(40, 5))]
    yield
    await attack.repeat(lambda n: ("joinGroup", {"groupID": groups[n % len(groups)], "message": "x" * 500}))


# Each invitation is told to the inviter, too, whose list of applications it changes.
LISTED = 100 * 1024


@amplification(rows=210, answered=8192 + LISTED)
async def invitations_renewed(attack):
    "inviteUserToGroup of the same 100 users with consent, again and again"
    group = attack.group(inviteMode="Any", beInviteMode="Auth")
    names = attack.names(100)
    yield
    await attack.repeat(
        lambda n: ("inviteUserToGroup", {"groupID": group, "userIDList": names, "message": f"{n}" + "x" * 500}), **attack.few)


@amplification(rows=320, written=512 << 10, filled=256 << 10, answered=8192 + LISTED)
async def invitations_of_strangers(attack):
    "inviteUserToGroup of 100 new users with consent"
    group = attack.group(inviteMode="Any", beInviteMode="Auth")
    yield
    await attack.repeat(lambda n: ("inviteUserToGroup", {
        "groupID": group, "userIDList": attack.names(100, f"s{n}"), "attach": "x" * 500}), **attack.few)


@amplification(rows=320, written=512 * 1024, answered=16384, full=9)
async def groups_of_strangers(attack):
    "createGroup with 100 users of whom nobody has heard"
    yield
    await attack.repeat(lambda n: ("createGroup", {"groupType": "Public", "groupName": "g", "memberList": [
        {"userID": name} for name in attack.names(100, f"stranger-of-{n}")]}), **attack.few)


@amplification(rows=320, answered=16384)
async def groups_of_online_users(attack):
    "createGroup with 100 users who are online"
    await attack.listen(attack.size(100, 20), "online")
    rows = [{"userID": name} for name in attack.names(len(attack.listeners), "online")]
    yield
    await attack.repeat(lambda n: ("createGroup", {"groupType": "Public", "groupName": "g", "memberList": rows}))


@amplification(rows=6)
async def groups(attack):
    "createGroup of a Public group with all its texts"
    custom = {f"key{n}": CUSTOM for n in range(10)}
    yield
    await attack.repeat(lambda n: ("createGroup", {
        "groupType": "Public", "groupName": "g" * 30, "introduction": "i" * 240, "notification": "n" * 300, "faceURL": "f" * 100,
        "customInfo": custom}))


@amplification(rows=6)
async def rooms(attack):
    "createGroup of AVChatRooms"
    yield
    await attack.repeat(lambda n: ("createGroup", {"groupType": "AVChatRoom", "groupName": "room"}))


@amplification(rows=130, written=512 * 1024, answered=8192)
async def groups_made_and_disbanded(attack):
    "createGroup with 20 members and dismissGroup"
    names = [{"userID": name} for name in attack.names(20)]
    yield
    await attack.repeat(lambda n: (
        ("createGroup", {"groupType": "Public", "groupName": "g", "groupID": f"made-{n // 2}", "memberList": names}) if n % 2 == 0
        else ("dismissGroup", {"groupID": f"made-{n // 2}"})))


@amplification(rows=14_000, written=16 << 20)
async def large_group_disbanded(attack):
    "dismissGroup of a group with 6,000 members"
    groups = [large(attack) for _ in range(attack.size(3, 1))]
    yield
    await attack.repeat(lambda n: ("dismissGroup", {"groupID": groups[n % len(groups)]}), rate=0, burst=len(groups))


@amplification(rows=250, written=1 << 20, filled=128 << 10, answered=32768)
async def kicks_of_50(attack):
    "inviteUserToGroup of 100, kickGroupMember of 50 and 50 with a ban, other users each time"
    group = attack.group("Meeting", inviteMode="Any")
    yield

    def call(n):
        names = attack.names(100, f"s{n // 3}")
        if n % 3 == 0:
            return "inviteUserToGroup", {"groupID": group, "userIDList": names}
        chosen = names[:50] if n % 3 == 1 else names[50:]
        return "kickGroupMember", {"groupID": group, "userIDList": chosen, "banTime": 60, "reason": "r" * 500}

    await attack.repeat(call, **attack.few)


@amplification(rows=250, written=1 << 20, answered=65536)
async def kicks_of_the_same(attack):
    "inviteUserToGroup of 100 into a Work group with 6,000 members, kickGroupMember of 50 and 50, again and again"
    group = attack.group("Work", members=attack.size(5800, 50))
    names = attack.names(100)
    yield
    await attack.repeat(lambda n: (
        ("inviteUserToGroup", {"groupID": group, "userIDList": names}) if n % 3 == 0
        else ("kickGroupMember", {"groupID": group, "userIDList": names[:50] if n % 3 == 1 else names[50:]})),
        **attack.few)


@amplification(rows=2)
async def mute_group_churn(attack):
    "muteGroup on and off in a group of 6,000"
    group = large(attack)
    yield
    await attack.repeat(lambda n: ("muteGroup", {"groupID": group, "mode": ("All", "None")[n % 2]}))


@amplification(rows=2)
async def names_churn(attack):
    "setGroupInfo of the name in a group of 6,000, with members online"
    group = large(attack)
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("setGroupInfo", {"groupID": group, "groupName": f"name {n}"}))


@amplification(rows=2, written=256 * 1024, answered=16384)
async def info_churn(attack):
    "setGroupInfo of every text and ten values of customInfo in a group of 6,000, with members online"
    group = large(attack)
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("setGroupInfo", {
        "groupID": group, "groupName": f"name {n}", "introduction": f"{n:0240}", "notification": f"{n:0300}",
        "faceURL": f"{n:0100}",
        "customInfo": {f"key{key}": f"{n:0512}" for key in range(10)}}))


@amplification(rows=2)
async def custom_info_merges(attack):
    "setGroupInfo of one key of a full customInfo"
    group = attack.group(customInfo={f"key{n}": CUSTOM for n in range(10)})
    yield
    await attack.repeat(lambda n: ("setGroupInfo", {"groupID": group, "customInfo": {f"key{n % 10}": f"{n:0512}"}}))


@amplification(rows=3)
async def name_card_churn(attack):
    "setGroupMemberInfo of the own nameCard and customInfo in a group of 6,000, with members online"
    group = large(attack, owner="owner")
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(lambda n: ("setGroupMemberInfo", {
        "groupID": group, "userID": attack.attacker, "nameCard": f"card {n}",
        "customInfo": {f"key{k}": f"{n:064}" for k in range(5)}}))


@amplification(rows=4)
async def role_churn(attack):
    "setGroupMemberRole of one member to Admin and back in a group of 6,000"
    group = large(attack)
    yield
    await attack.repeat(lambda n: ("setGroupMemberRole", {
        "groupID": group, "userID": "member-0", "role": ("Admin", "Member")[n % 2]}))


@amplification(rows=3)
async def mute_churn(attack):
    "muteGroupMember of one member after the other in a group of 6,000"
    group = large(attack)
    yield
    await attack.repeat(lambda n: ("muteGroupMember", {
        "groupID": group, "userID": f"member-{n % attack.size(5900, 50)}", "muteTime": 60 + n}))


MODERATED = {"avChatRoom.moderation": "true"}


async def moderated_room(attack):
    """A live room of the attacker's with many members, some of them online."""
    group = attack.group("AVChatRoom")
    members = attack.names(attack.size(3000, 120), "member")
    await attack.listen(attack.size(100, 5))
    for name in members:
        attack.rpc("joinGroup", asUser=name, groupID=group)
    return group, members


@amplification(settings=MODERATED, rows=55, written=512 * 1024, answered=16384)
async def live_room_roles(attack):
    "setGroupMemberRole of 50 users who are not in the AVChatRoom to Admin and back"
    group, _ = await moderated_room(attack)
    yield
    await attack.repeat(lambda n: ("setGroupMemberRole", {
        "groupID": group, "userIDList": attack.names(50, f"s{n // 2}"), "role": ("Admin", "Member")[n % 2]}), **attack.few)


@amplification(settings=MODERATED, rows=55, written=512 * 1024, answered=16384)
async def live_room_mutes(attack):
    "muteGroupMember of 50 after 50 members of an AVChatRoom"
    group, members = await moderated_room(attack)
    yield

    def call(n):
        start = 50 * n % (len(members) - 50)
        return "muteGroupMember", {"groupID": group, "userIDList": members[start:start + 50], "muteTime": 60 + n}

    await attack.repeat(call, **attack.few)


@amplification(settings=MODERATED, rows=110, written=1 << 20, answered=32768)
async def live_room_kicks(attack):
    "kickGroupMember of 50 after 50 members of an AVChatRoom with a ban"
    group, members = await moderated_room(attack)
    yield

    def call(n):
        start = 50 * n % len(members)
        return "kickGroupMember", {"groupID": group, "userIDList": members[start:start + 50], "banTime": 60, "reason": "r" * 500}

    await attack.repeat(call, **attack.few)


@amplification(rows=6)
async def owner_quits(attack):
    "transferGroupOwner with quit, one Work group of 300 after the other"
    groups = [attack.group("Work", members=attack.size(299, 5)) for _ in range(attack.size(60, 10))]
    yield
    await attack.repeat(lambda n: ("transferGroupOwner", {
        "groupID": groups[n % len(groups)], "userID": "member-0", "quit": True}), rate=0, burst=len(groups) / 1.1)


@amplification(rows=2, written=160 * 1024, answered=40_000)
async def attribute_writes(attack):
    "initGroupAttributes of 16 KB in 50 AVChatRooms, each at its own rate"
    rooms = [attack.group("AVChatRoom") for _ in range(50)]
    yield
    await attack.repeat(lambda n: ("initGroupAttributes", {"groupID": rooms[n % 50], "attributes": {
        f"{key:032}": f"{n}" + "x" * 3990 for key in range(4)}}))


@amplification(rows=1, answered=20_000)
async def attribute_reads(attack):
    "getGroupAttributes of 16 KB in 50 AVChatRooms, each at its own rate"
    rooms = [attack.group("AVChatRoom") for _ in range(50)]
    for room in rooms:
        attack.rpc("initGroupAttributes", groupID=room, attributes={f"{key:032}": "x" * 3990 for key in range(4)})
    yield
    await attack.repeat(lambda n: ("getGroupAttributes", {"groupID": rooms[n % 50]}))


@amplification(rows=2)
async def counter_increments(attack):
    "increaseGroupCounter in 50 groups with members online, each at its own rate"
    groups = [attack.group(members=2) for _ in range(50)]
    await attack.listen(2)
    yield
    await attack.repeat(lambda n: ("increaseGroupCounter", {"groupID": groups[n % 50], "key": "k" * 32, "value": 1}))


@amplification(rows=21, written=256 * 1024)
async def counters_set(attack):
    "setGroupCounters of 20 counters in 50 groups, each at its own rate"
    groups = [attack.group() for _ in range(50)]
    yield
    await attack.repeat(lambda n: ("setGroupCounters", {
        "groupID": groups[n % 50], "counters": {f"{key:032}": n * 20 + key for key in range(20)}}))


@amplification(rows=0.1)
async def signals(attack):
    "sendGroupSignal of 512 B to one group of 490 members after the other, with some of them online, from 2 sessions"
    groups = [attack.group(owner="owner", members=attack.size(488, 20)) for _ in range(attack.size(50, 10))]
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(
        lambda n: ("sendGroupSignal", {"groupID": groups[n % len(groups)], "name": "typing", "data": "x" * 512}), sessions=2)
