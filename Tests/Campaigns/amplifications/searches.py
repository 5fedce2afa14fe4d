"""The index of messages (search.messages): searching it, and filling it."""
import random

from harness.amplification import amplification

from .reads import PAGE

ON = {"search.messages": "true"}
# A letter of the alphabets whose lower case costs most.
CYRILLIC = "АБВГДЕЖЗИК" * 614
# Bytes of the index that one of the longest texts takes, and the mark that takes it out.
INDEXED = 132 << 10
TRIGRAMS = "abcdefghijklmnopqrstuvwxyz"


def indexed(attack, count, text="'hello world ' || n", group=None, **options):
    """A group with so many messages of another user, all of them in the index; their texts by an SQL
    expression."""
    group = group or attack.group(owner="owner", **options)
    attack.message(group)
    with attack.stopped() as rows:
        number = rows.number_of(group)
        rows.multiply("message", count - 1, "number = ?", [number], seq="seq + n", content=text,
                      msgID="substr(msgID, 1, length(msgID) - 1) || (seq + n)")
        rows.index_messages()
    return group


def texts(count, seed=9):
    """Texts of 12,288 bytes of which no three characters are the same."""
    numbers = random.Random(seed)
    return ["".join(chr(numbers.randrange(0x4E00, 0x9FFF)) for _ in range(4096)) for _ in range(count)]


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_a_character(attack):
    "searchGroupMessages of 5 characters that are nowhere in 100,000 messages, 4 sessions"
    indexed(attack, attack.size(100_000, 2_000))
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": list("äöüßç"), "count": 50}), sessions=4)


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_long_texts(attack):
    "searchGroupMessages of 5 characters that are nowhere in 20,000 messages of 12,288 B, 4 sessions"
    indexed(attack, attack.size(20_000, 500), f"'{CYRILLIC}' || n")
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": list("äöüßç"), "count": 50}), sessions=4)


@amplification(ON, rows=1, answered=65536)
async def message_searches_in_vain(attack):
    "searchGroupMessages of 5 keywords of 512 B whose parts are in 100,000 messages, but never together, 20 sessions"
    halves = (TRIGRAMS[:13], TRIGRAMS[13:])
    indexed(attack, attack.size(100_000, 2_000), f"CASE WHEN n % 2 THEN '{halves[0]}' ELSE '{halves[1]}' END || n")
    words = [(halves[0][k:] + halves[1][:-k]) * 20 for k in range(1, 6)]
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": words, "count": 50}), sessions=20)


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_nearly(attack):
    "searchGroupMessages of 5 keywords whose parts are all in each of 100,000 messages of 1 KB, which have none of them, 4 sessions"
    parts = [TRIGRAMS[k:] + TRIGRAMS[:k + 2] for k in range(5)]
    indexed(attack, attack.size(100_000, 2_000), f"'{' '.join(parts) * 6}' || n")
    words = [TRIGRAMS[k:] + TRIGRAMS[:k + 3] + "zab" for k in range(3)] + [TRIGRAMS * 2, TRIGRAMS[1:] + TRIGRAMS]
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": words, "count": 50}), sessions=4)


@amplification(ON, rows=1, answered=PAGE)
async def message_searches_of_everything(attack):
    "searchGroupMessages that finds 50 of 5,000 messages of 12,288 B, 20 sessions"
    indexed(attack, attack.size(5_000, 200), "'" + "hello " * 2000 + "' || n")
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": ["hello"], "count": 50}), sessions=20)


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_nobody(attack):
    "searchGroupMessages of a word that all of 20,000 messages of 12,288 B hold, but of senders who sent none, 4 sessions"
    indexed(attack, attack.size(20_000, 500), "'" + "hello " * 2000 + "' || n")
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {
        "keywordList": ["hello"], "senderUserIDList": attack.names(50), "count": 50}), sessions=4)


def searched_groups(attack, count, messages):
    """So many joined groups with so many messages each."""
    attack.group(owner="owner", groupID="searched")
    attack.message("searched", "hello world")
    with attack.stopped() as rows:
        number = rows.number_of("searched")
        rows.multiply("groupRecord", count - 1, "number = ?", [number],
                      groupID="'searched-' || n", epoch="epoch || n", number="number + n")
        rows.multiply("member", count - 1, "number = ?", [number], number="number + n")
        rows.multiply("message", count - 1, "number = ?", [number],
                      number="number + n", msgID="substr(msgID, 1, length(msgID) - 2) || n || '-1'")
        rows.multiply("message", messages - 1, "seq = 1 AND number >= ?", [number],
                      seq="seq + n", msgID="substr(msgID, 1, length(msgID) - 1) || (seq + n)")
        rows.index_messages()
    return [f"searched-{n}" for n in range(1, count)]


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_1000_groups(attack):
    "searchGroupMessages of 5 keywords whose parts are in all of 1,000 groups with 200 messages each, 4 sessions"
    searched_groups(attack, attack.size(1000, 50), attack.size(200, 20))
    words = [f"hello world{n}" for n in range(5)]
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {"keywordList": words, "count": 50}), sessions=4)


@amplification(ON, rows=1, answered=65536)
async def message_searches_of_50_groups(attack):
    "searchGroupMessages of 5 keywords whose parts are in all of 1,000 groups, in 50 that are named, 20 sessions"
    groups = searched_groups(attack, attack.size(1000, 60), attack.size(200, 20))
    words = [f"hello world{n}" for n in range(5)]
    yield
    await attack.repeat(lambda n: ("searchGroupMessages", {
        "keywordList": words, "groupIDList": groups[:50], "count": 50}), sessions=20)


@amplification(ON, rows=2, written=1 << 20, filled=INDEXED, full=8)
async def sends_indexed(attack):
    "sendGroupTextMessage of 12,288 B in which no three characters are the same"
    group, chosen = attack.group(), texts(200)
    yield
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": chosen[n % len(chosen)]}))


@amplification(ON, rows=5, written=2 << 20, filled=INDEXED, answered=16_384, full=8)
async def edits_indexed(attack):
    "modifyGroupMessage of 12,288 B in which no three characters are the same"
    group, chosen = attack.group(), texts(100)
    count = attack.size(40, 10)
    for text in chosen[:count]:
        attack.message(group, text, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {
        "groupID": group, "seq": n % count + 1, "text": chosen[(n + n // count + 1) % len(chosen)]}))


@amplification(ON, rows=5, full=8)
async def short_edits_indexed(attack):
    "modifyGroupMessage of 100 B, each message in turn"
    group = attack.group()
    count = attack.size(100, 10)
    for number in range(count):
        attack.message(group, f"{number} " + "x" * 90, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: ("modifyGroupMessage", {"groupID": group, "seq": n % count + 1, "text": f"{n} hello world" * 8}))


@amplification(ON, rows=5, written=1 << 20, charged=30 * INDEXED, full=8)
async def recalls_indexed(attack):
    "revokeGroupMessage of messages of 12,288 B in which no three characters are the same"
    group, chosen = attack.group(), texts(100)
    for text in chosen[:attack.size(100, 30)] * attack.size(3, 1):
        attack.message(group, text, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: ("revokeGroupMessage", {"groupID": group, "seq": n % attack.size(300, 30) + 1}))
