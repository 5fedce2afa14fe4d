"""Messages: the rate, the disk, the identifiers that are remembered, the fan-out of chat."""
import asyncio
import time

from harness.amplification import amplification

LONGEST = "x" * 12_288


def text_to(group, text="x", **options):
    return lambda n: ("sendGroupTextMessage", {"groupID": group, "text": text, **options})


@amplification(rows=1)
async def sends_short(attack):
    "sendGroupTextMessage of 1 B"
    group = attack.group()
    yield
    await attack.repeat(text_to(group))


@amplification(rows=1, written=160 * 1024)
async def sends_longest(attack):
    "sendGroupTextMessage of 12,288 B, stored"
    group = attack.group()
    yield
    await attack.repeat(text_to(group, LONGEST))


@amplification(rows=1)
async def sends_of_escapes(attack):
    "sendGroupTextMessage of 8,000 control characters, 6 bytes each in JSON"
    group = attack.group()
    yield
    await attack.repeat(text_to(group, "\u0001" * 8_000))


@amplification(rows=1, answered=100_000, small=0.2)
async def sends_of_20_sessions(attack):
    "sendGroupTextMessage of 4 KB from 20 sessions of the user"
    group = attack.group()
    yield
    await attack.repeat(text_to(group, "x" * 4096), sessions=20)


@amplification(rows=1)
async def sends_of_new_connections(attack):
    "sign in, send 100 messages of 1 KB, disconnect, and again, two connections at a time"
    group = attack.group()
    yield
    end = attack.deadline

    async def cycle():
        while time.monotonic() < end:
            socket = await attack.session()
            if not socket.is_open:
                await asyncio.sleep(0.01)  # as soon as anybody would
            for number in range(100):
                socket.request("sendGroupTextMessage", {"groupID": group, "text": "x" * 1024}, number)
            await socket.answers()
            socket.cut()

    await asyncio.gather(cycle(), cycle())


@amplification(rows=1)
async def sends_in_batches(attack):
    "batches of 20 sendGroupTextMessage of 3 KB"
    group = attack.group()
    yield
    await attack.repeat(text_to(group, "x" * 3000), batch=20)


@amplification(rows=1)
async def sends_without_id(attack):
    "sendGroupTextMessage without an id, which is not answered"
    group = attack.group()
    yield
    socket = await attack.session()
    start, sent = time.monotonic(), 0
    while (elapsed := time.monotonic() - start) < attack.seconds:
        while sent < 90 + 45 * elapsed:  # within the rate: that none is answered hides a refusal
            call = f'{{"jsonrpc":"2.0","method":"sendGroupTextMessage","params":{{"groupID":"{group}","text":"x"}}}}'
            socket.text(call.encode())
            sent += 1
        await asyncio.sleep(0.01)
    socket.request("ping", {})
    await socket.until(lambda: attack.tally.answered > 0)
    attack.tally.accepted += sent


@amplification(rows=1)
async def sends_with_client_ids(attack):
    "sendGroupTextMessage with a new clientMsgID of 64 B each, remembered for five minutes"
    group = attack.group()
    yield
    await attack.repeat(lambda n: text_to(group, clientMsgID=f"{n:064}")(n))


@amplification(rows=0)
async def sends_with_the_same_client_id(attack):
    "sendGroupTextMessage of 12,288 B with one clientMsgID again and again"
    group = attack.group()
    yield
    await attack.repeat(text_to(group, LONGEST, clientMsgID="once"))


@amplification(rows=0)
async def room_client_ids(attack):
    "sendGroupTextMessage to an AVChatRoom with a new clientMsgID of 64 B each"
    group = attack.group("AVChatRoom")
    yield
    await attack.repeat(lambda n: text_to(group, clientMsgID=f"{n:064}")(n))


@amplification(rows=0)
async def room_flood(attack):
    "sendGroupTextMessage of 12,288 B to an AVChatRoom with online members"
    group = attack.group("AVChatRoom")
    await attack.listen(attack.size(100, 5))
    for name in attack.names(len(attack.listeners), "member"):
        attack.rpc("joinGroup", asUser=name, groupID=group)
    yield
    await attack.repeat(text_to(group, LONGEST, priority="High"))


# Without a limit of messages a second the room remembers what is sent at once.
REMEMBERING = {"avChatRoom.recentMessages": "1000", "limits.avChatRoom.messagesPerSecond": "0"}


@amplification(settings=REMEMBERING, rows=0)
async def room_recalls(attack):
    "sendGroupTextMessage of 12,288 B to an AVChatRoom that remembers 1,000 messages, and revokeGroupMessage of it"
    group = attack.group("AVChatRoom")
    await attack.listen(attack.size(100, 5))
    for name in attack.names(len(attack.listeners), "member"):
        attack.rpc("joinGroup", asUser=name, groupID=group)
    yield
    await attack.repeat(lambda n: (
        ("revokeGroupMessage", {"groupID": group, "seq": n // 2 + 1}) if n % 2 else text_to(group, LONGEST)(n)))


@amplification(rows=0)
async def online_only_flood(attack):
    "sendGroupTextMessage of 12,288 B with onlineUserOnly to a Public group with online members"
    group = attack.group(members=attack.size(100, 5))
    await attack.listen(attack.size(100, 5))
    yield
    await attack.repeat(text_to(group, LONGEST, onlineUserOnly=True))


@amplification(rows=1)
async def mentions(attack):
    "sendGroupTextMessage with 30 mentions of 32 B"
    group = attack.group(members=attack.size(6000, 50))
    yield
    await attack.repeat(text_to(group, atUserIDList=[f"{n:032}" for n in range(30)]))


@amplification(rows=1)
async def revokes(attack):
    "sendGroupTextMessage of 4 KB and revokeGroupMessage of an earlier one"
    group = attack.group()
    for _ in range(40):
        attack.message(group, sender=attack.attacker)
    yield
    await attack.repeat(lambda n: (
        ("revokeGroupMessage", {"groupID": group, "seq": n // 2 + 1}) if n % 2 else text_to(group, "x" * 4096)(n)))


@amplification(rows=0)
async def sends_refused(attack):
    "sendGroupTextMessage at 500/s, of which nine in ten are over the rate"
    group = attack.group("AVChatRoom")
    yield
    await attack.repeat(text_to(group), rate=90, burst=400)
