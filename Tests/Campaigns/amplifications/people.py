"""Presence, signals, reports, words and seats: what tells others, or costs the server, without a message."""
from harness.amplification import amplification

from .connections import churn

# The longest text, what each term of the list begins with, and how many terms it has.
LONG, NEARLY = 12_288, "almost a word of the list"
TERMS = 10_000


async def watchers(attack, count, users):
    """Accomplices who watch these users."""
    await attack.listen(count)
    for listener in attack.listeners:
        for start in range(0, len(users), 100):
            listener.request("subscribeUsersStatus", {"userIDList": users[start:start + 100]})
    for listener in attack.listeners:
        await listener.answers()


@amplification(rows=2, settings={"presence.grace": "0s"})
async def presence_flaps(attack):
    "sign in and disconnect, four connections at a time, watched by 10,000 sessions; without a grace"
    attack.group()
    await watchers(attack, attack.size(10_000, 40), [attack.attacker])
    yield
    await churn(attack, 4)


@amplification(rows=2)
async def presence_words(attack):
    "setSelfStatus of 100 B, watched by 10,000 sessions"
    attack.group()
    await watchers(attack, attack.size(10_000, 40), [attack.attacker])
    yield
    await attack.repeat(lambda n: ("setSelfStatus", {"customStatus": f"{n:0100}"}))


@amplification(rows=0, answered=16_384)
async def presence_subscriptions(attack):
    "subscribeUsersStatus of 100 known users three times, and unsubscribeUsersStatus of all"
    attack.group(members=attack.size(300, 300))
    users = attack.names(300, "member")
    yield

    def call(n):
        if n % 4 == 3:
            return "unsubscribeUsersStatus", {}
        return "subscribeUsersStatus", {"userIDList": users[n % 4 * 100:n % 4 * 100 + 100]}

    await attack.repeat(call)


@amplification(rows=0, answered=32_768)
async def presence_reads(attack):
    "getUsersStatus of 100 users with a status of 100 B each, half of them online, from 4 sessions"
    attack.group(members=100)
    users = attack.names(100, "member")
    for user in users:
        attack.rpc("setSelfStatus", asUser=user, customStatus="s" * 100)
    await attack.listen(50)
    yield
    await attack.repeat(lambda n: ("getUsersStatus", {"userIDList": users}), sessions=4)


@amplification(rows=0, anonymous=True)
async def blocked_sign_ins(attack):
    "sign in as a blocked user, four connections at a time"
    attack.rpc("blockUser", userID=attack.attacker, reason="spam")
    yield
    await churn(attack, 4)


@amplification(rows=0, memory=256 << 20)
async def signals_in_groups(attack):
    "sendGroupSignal of 512 B in 50 groups of 500, all online, one after the other"
    count = attack.size(490, 20)
    groups = [attack.group(owner="owner", members=count) for _ in range(attack.size(50, 5))]
    await attack.listen(count)
    yield
    await attack.repeat(lambda n: ("sendGroupSignal", {"groupID": groups[n % len(groups)], "name": "typing", "data": "x" * 512}))


@amplification(rows=4)
async def reports_renewed(attack):
    "reportMessage of a message of 12,288 B, with a text of 512 characters, again and again"
    group = attack.group(owner="owner")
    attack.message(group, text="x" * LONG)
    yield
    await attack.repeat(lambda n: ("reportMessage", {"groupID": group, "seq": 1, "category": "spam", "text": f"{n:0512}"}))


@amplification(written=160 * 1024)
async def words_nearly(attack):
    "sendGroupTextMessage of 12,288 B that are nearly words of a list of 10,000, again and again"
    group = attack.group(owner="owner")
    # Of each term the text has everything but the end.
    words = attack.server.data_dir.parent / "words.txt"
    words.write_text("".join(f"{NEARLY}{number:05}!\n" for number in range(TERMS)))
    attack.server.settings["moderation.wordsFile"] = str(words)
    with attack.stopped():
        pass
    text = (NEARLY * LONG)[:LONG]
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": text}))


@amplification(rows=5, written=160 * 1024, answered=16_384)
async def seats_left(attack):
    "joinGroup, setGroupAttributes of 4 KB that go when their holder leaves, and quitGroup, one AVChatRoom after the other"
    rooms = [attack.group("AVChatRoom", owner="owner") for _ in range(attack.size(50, 5))]
    await attack.listen(attack.size(100, 5))
    for room in rooms:
        for name in attack.names(len(attack.listeners), "member"):
            attack.rpc("joinGroup", asUser=name, groupID=room)
    yield

    def call(n):
        room = rooms[n // 3 % len(rooms)]
        if n % 3 != 1:
            return ("joinGroup", None, "quitGroup")[n % 3], {"groupID": room}
        return "setGroupAttributes", {
            "groupID": room, "attributes": {"seat": f"{n:04000}"}, "expect": {"seat": None}, "isDeleteAfterHolderLeft": True}

    await attack.repeat(call)


@amplification(rows=2)
async def seats_contested(attack):
    "setGroupAttributes that expects a seat to be free which is taken, in an AVChatRoom of 6,000, all online; each tenth is a ping"
    group = attack.group("AVChatRoom", owner="owner")
    count = attack.size(5990, 20)
    await attack.listen(count)
    for name in [attack.attacker, *attack.names(count, "member")]:
        attack.rpc("joinGroup", asUser=name, groupID=group)
    attack.rpc("setGroupAttributes", asUser="member-0", groupID=group, attributes={"seat": "member-0"})
    yield
    taken = {"groupID": group, "attributes": {"seat": attack.attacker}, "expect": {"seat": None}}
    # Refused requests alone would say nothing of what the server still does.
    await attack.repeat(lambda n: ("ping", {}) if n % 10 == 0 else ("setGroupAttributes", taken))
