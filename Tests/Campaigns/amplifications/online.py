"""Groups of 6,000 whose members are all online: what one user's requests cost everybody else.

The bystander's p50 and p99 are the figures; `answered` counts the bytes that the members received."""
from harness.amplification import amplification

LARGEST = 6000
# What the rate of deliveries lets one user send in a run: a second's worth at once, and then the
# rate, with one request more than that; times the longest run in a test, and what the setup told.
DELIVERED = 40_000_000 * 4
LONG = "x" * 12_288


async def audience(attack, groupType="Public", **fields):
    """A group with the attacker, all of whose members are online."""
    count = attack.size(LARGEST - 10, 20)
    options = {"owner": "owner", **fields} if groupType != "AVChatRoom" else fields
    group = attack.group(groupType, members=count if groupType != "AVChatRoom" else 0, **options)
    await attack.listen(count)
    if groupType == "AVChatRoom":
        for name in attack.names(count, "member"):
            attack.rpc("joinGroup", asUser=name, groupID=group)
    return group


def online(rows=4, **options):
    return amplification(rows=rows, answered=DELIVERED, memory=256 << 20, **options)


@online()
async def online_short_messages(attack):
    "sendGroupTextMessage of 1 B to 6,000 members, all online"
    group = await audience(attack)
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": "x"}))


@online(written=160 * 1024)
async def online_longest_messages(attack):
    "sendGroupTextMessage of 12,288 B to 6,000 members, all online"
    group = await audience(attack)
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": LONG}))


@online()
async def online_room_messages(attack):
    "sendGroupTextMessage of 12,288 B in an AVChatRoom of 6,000, all online"
    group = await audience(attack, "AVChatRoom")
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": LONG}))


@online()
async def online_name_cards(attack):
    "setGroupMemberInfo of the own nameCard in a group of 6,000, all online"
    group = await audience(attack)
    yield
    await attack.repeat(lambda n: ("setGroupMemberInfo", {"groupID": group, "userID": attack.attacker, "nameCard": f"card {n}"}))


@online(written=160 * 1024)
async def online_edits(attack):
    "modifyGroupMessage of 12,288 B, told to 6,000 members, all online"
    group = await audience(attack)
    attack.message(group, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {"groupID": group, "seq": 1, "text": f"{n:012288}"}))


@online()
async def online_reactions(attack):
    "addMessageReaction and removeMessageReaction, told to 6,000 members, all online"
    group = await audience(attack)
    attack.message(group)
    yield
    await attack.repeat(lambda n: (
        ("addMessageReaction", "removeMessageReaction")[n % 2], {"groupID": group, "seq": 1, "reaction": "like"}))


@online()
async def online_pins(attack):
    "pinGroupMessage of a message of 12,288 B and back, by the owner of a group of 6,000, all online"
    group = await audience(attack, owner=attack.attacker)
    attack.message(group, text=LONG, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: ("pinGroupMessage", {"groupID": group, "seq": 1, "isPinned": n % 2 == 0}))


@online(rows=5)
async def online_join_quit(attack):
    "joinGroup and quitGroup of a group of 6,000, all online"
    group = await audience(attack, joined=False)
    yield
    await attack.repeat(lambda n: (("joinGroup", "quitGroup")[n % 2], {"groupID": group}))


@online(written=256 * 1024)
async def online_info(attack):
    "setGroupInfo of ten values of customInfo, by the owner of a group of 6,000, all online"
    group = await audience(attack, owner=attack.attacker)
    yield
    await attack.repeat(lambda n: ("setGroupInfo", {
        "groupID": group, "customInfo": {f"key{key}": f"{n:0512}" for key in range(10)}}))


@online(written=160 * 1024)
async def online_attributes(attack):
    "initGroupAttributes of 16 KB in an AVChatRoom of 6,000, all online"
    group = await audience(attack, "AVChatRoom")
    yield
    await attack.repeat(lambda n: ("initGroupAttributes", {"groupID": group, "attributes": {
        f"{key:032}": f"{n}" + "x" * 3990 for key in range(4)}}))


@online()
async def online_counters(attack):
    "increaseGroupCounter in a group of 6,000, all online"
    group = await audience(attack)
    yield
    await attack.repeat(lambda n: ("increaseGroupCounter", {"groupID": group, "key": "k", "value": 1}))
