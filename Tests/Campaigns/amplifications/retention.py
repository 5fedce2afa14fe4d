"""Rows that outlive their use: departures, former members, disbanded groups, open applications."""
from harness.amplification import amplification

from .searches import INDEXED, texts


@amplification(rows=6)
async def departures(attack):
    "createGroup of a Work group and quitGroup, which disbands it"
    yield
    await attack.repeat(lambda n: (
        ("createGroup", {"groupType": "Work", "groupName": "g", "groupID": f"left-{n // 2}"}) if n % 2 == 0
        else ("quitGroup", {"groupID": f"left-{n // 2}"})))


@amplification(rows=60_000, written=64 << 20)
async def history_purged(attack):
    "dismissGroup of a group with 100,000 messages"
    group = attack.group()
    attack.message(group, sender=attack.attacker)
    with attack.stopped() as rows:
        rows.multiply("message", attack.size(100_000, 2_000), seq="seq + n", msgID="msgID || n")
    yield
    await attack.repeat(lambda n: ("dismissGroup", {"groupID": group}), rate=0, burst=1)


@amplification(rows=320, written=2 << 20, filled=768 << 10, answered=32768)
async def open_applications(attack):
    "inviteUserToGroup of 100 new users with consent until 10,000 are open, and beyond"
    group = attack.group(inviteMode="Any", beInviteMode="Auth")
    yield
    await attack.repeat(lambda n: ("inviteUserToGroup", {
        "groupID": group, "userIDList": attack.names(100, f"invited-{n}"), "message": "m" * 500, "attach": "a" * 500}),
        **attack.few)


@amplification(rows=4)
async def bans_and_mutes(attack):
    "muteGroupMember and kickGroupMember with a ban of one second, one member after the other"
    count = attack.size(3000, 100)
    group = attack.group("Meeting", members=count)
    yield
    await attack.repeat(lambda n: (
        ("muteGroupMember", {"groupID": group, "userID": f"member-{n // 2 % count}", "muteTime": 1}) if n % 2 == 0
        else ("kickGroupMember", {"groupID": group, "userIDList": [f"member-{n // 2 % count}"], "banTime": 1})))


@amplification(rows=4)
async def notifications_kept(attack):
    "transferGroupOwner, setGroupMemberRole and other acts that notify one user, over and over"
    group = attack.group("Meeting", members=3)
    yield
    await attack.repeat(lambda n: (
        ("setGroupMemberRole", {"groupID": group, "userID": "member-0", "role": ("Admin", "Member")[n % 2]})))


@amplification(rows=8)
async def group_ids_taken_again(attack):
    "createGroup and dismissGroup under the same groupID"
    yield
    await attack.repeat(lambda n: (
        ("createGroup", {"groupType": "Public", "groupName": "g", "groupID": "again"}) if n % 2 == 0
        else ("dismissGroup", {"groupID": "again"})))


@amplification({"history.maxMessages.public": "100"}, rows=3, written=192 * 1024, full=12)
async def retention_of_the_longest(attack):
    "sendGroupTextMessage of 12,288 B to a group that keeps 100 messages"
    group = attack.group()
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": "x" * 12_288}))


@amplification({"history.maxMessages.public": "100", "search.messages": "true"}, rows=3, written=1 << 20, filled=INDEXED, full=12)
async def retention_of_the_index(attack):
    "sendGroupTextMessage of 12,288 B in which no three characters are the same to a group that keeps 100 messages and is searched"
    group, chosen = attack.group(), texts(300)
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": chosen[n % len(chosen)]}))


@amplification({"history.maxMessages.public": "100"}, rows=8, full=12)
async def retention_of_reactions(attack):
    "sendGroupTextMessage and ten reactions to it, to a group that keeps 100 messages"
    group = attack.group()
    for _ in range(30):
        attack.message(group, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: (
        ("addMessageReaction", {"groupID": group, "seq": n // 11 + 1, "reaction": f"{n % 11:032}"}) if n % 11
        else ("sendGroupTextMessage", {"groupID": group, "text": "x"})))
