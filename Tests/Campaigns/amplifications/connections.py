"""Connections and sign-ins: what costs before, or beside, requests."""
import asyncio
import time

from harness.amplification import amplification
from harness.footprint import MEBIBYTE
from harness.tokens import make_token

from .loading import copies


async def churn(attack, workers, **options):
    """Sign-ins and disconnections, so many at a time."""
    end = attack.deadline

    async def cycle():
        while time.monotonic() < end:
            socket = await attack.session(**options)
            if not socket.is_open:
                await asyncio.sleep(0.01)
            socket.cut()

    await asyncio.gather(*(cycle() for _ in range(workers)))


async def pour(attack, socket, payload, per_second):
    """Writes the same bytes at most so often, as fast as the server reads them."""
    end, start, count = attack.deadline, time.monotonic(), 0
    while time.monotonic() < end and socket.is_open:
        while count < per_second * (time.monotonic() - start) and socket.transport.get_write_buffer_size() < MEBIBYTE:
            socket.transport.write(payload)
            count += 1
        await asyncio.sleep(0.002)
    socket.request("ping", {})
    await socket.answers()


@amplification(rows=2)
async def sign_in_churn(attack):
    "sign in and disconnect, four connections at a time"
    attack.group()
    yield
    await churn(attack, 4)


@amplification(rows=2)
async def sign_in_replaces(attack):
    "sign in with one deviceID, which ends the session before, four connections at a time"
    attack.group()
    yield
    await churn(attack, 4, deviceID="device")


@amplification(rows=2, answered=8192)
async def sign_in_churn_with_groups(attack):
    "sign in and disconnect as a member of 1,000 groups that are in memory"
    groups = copies(attack, attack.size(1000, 20), 1, True)
    for start in range(0, len(groups), 50):
        attack.rpc("getGroupsInfo", groupIDList=groups[start:start + 50])
    yield
    await churn(attack, 4)


@amplification(rows=2)
async def sign_in_churn_with_rooms(attack):
    "sign in and disconnect as a member of 200 AVChatRooms, which keep a grace for the user"
    for _ in range(attack.size(200, 10)):
        group = attack.group("AVChatRoom", owner="owner")
        attack.rpc("joinGroup", asUser=attack.attacker, groupID=group)
    yield
    await churn(attack, 4)


@amplification(rows=1)
async def renewals(attack):
    "login on a signed-in session, a signature to check each"
    yield
    await attack.repeat(lambda n: ("login", {"token": attack.token}))


@amplification(rows=1, anonymous=True)
async def bad_tokens(attack):
    "login with a token that is signed with another key, each on a connection of its own"
    forged = make_token(attack.attacker, secret="x" * 64)
    yield
    end = attack.deadline
    while time.monotonic() < end:
        socket = await attack.connection(token=forged)
        attack.tally.sign_ins_refused += 1
        await socket.until(lambda: not socket.is_open, patience=0.05)


@amplification(rows=1, anonymous=True)
async def half_open_upgrades(attack):
    "500 connections with half of an upgrade"
    yield
    for _ in range(attack.size(500, 100)):
        socket = await attack.connection(upgrade=False)
        socket.transport.write(b"GET /ws HTTP/1.1\r\nHost: somewhere\r\nX-Long: " + b"x" * 2000)
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, anonymous=True)
async def connections_without_sign_in(attack):
    "500 connections that do not sign in, each with nine requests"
    yield
    for _ in range(attack.size(500, 100)):
        socket = await attack.connection()
        for number in range(9):
            socket.request("joinGroup", {"groupID": "x"}, number)
    await asyncio.gather(*(socket.answers() for socket in attack.sockets))
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, anonymous=True)
async def unfinished_messages(attack):
    "500 connections that do not sign in, each with 60,000 B of a message without an end"
    yield
    for _ in range(attack.size(500, 100)):
        socket = await attack.connection()
        socket.frame(0x01, b" " * 60_000)
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, anonymous=True)
async def paths_not_found(attack):
    "HTTP requests for a path that is not there, each on a connection of its own"
    yield
    end = attack.deadline
    while time.monotonic() < end:
        socket = await attack.connection(upgrade=False)
        socket.transport.write(b"GET /nothing HTTP/1.1\r\nHost: somewhere\r\n\r\n")
        await socket.until(lambda: socket.status is not None, patience=1)
        attack.tally.sent += 1
        attack.tally.refused[socket.status] += 1
        socket.cut()


@amplification(rows=2)
async def log_out_churn(attack):
    "sign in and logout, four connections at a time"
    yield
    end = attack.deadline

    async def cycle():
        while time.monotonic() < end:
            socket = await attack.session()
            if not socket.is_open:
                await asyncio.sleep(0.01)
            socket.request("logout", {})
            await socket.until(lambda: not socket.is_open, patience=1)
            socket.cut()

    await asyncio.gather(*(cycle() for _ in range(4)))


@amplification(rows=1, written=1 << 20, answered=4 << 20)
async def ping_frames(attack):
    "WebSocket pings of 125 B, which are no requests, at up to 20,000/s"
    yield
    await pour(attack, await attack.session(), b"\x89\xfd" + bytes(4) + bytes(125), 20_000)


@amplification(rows=1, written=1 << 20)
async def tiny_fragments(attack):
    "one request in fragments of one byte, up to 50,000 fragments a second"
    yield
    socket = await attack.session()
    for n, byte in enumerate(b'{"jsonrpc":"2.0","id":1,"method":"ping"}   '):
        socket.frame(0x01 if n == 0 else 0x00, bytes([byte]))
    await pour_fragments(attack, socket)


async def pour_fragments(attack, socket):
    end, space, sent = attack.deadline, b"\x00\x81" + bytes(4) + b" ", 43
    while time.monotonic() < end and socket.is_open:
        if socket.transport.get_write_buffer_size() < MEBIBYTE and sent < 60_000:
            socket.transport.write(space * 100)
            sent += 100
        await asyncio.sleep(0.002)
    socket.text(b"")  # a new message within one is against the protocol: the server closes
    await socket.until(lambda: not socket.is_open, patience=1)


@amplification(rows=1)
async def deep_json(attack):
    "texts of 65,000 B that are no request, nine and then a good one"
    yield
    socket = await attack.session()
    end, start, sent = attack.deadline, time.monotonic(), 0
    while time.monotonic() < end and socket.is_open:
        while sent < 100 + 50 * (time.monotonic() - start) and socket.outstanding < 20:
            if sent % 10 == 9:
                socket.request("ping", {})
            else:
                socket.text(b"[" * 65_000)
            sent += 1
        await asyncio.sleep(0.005)
    await socket.answers()


@amplification(rows=1)
async def unused_parameters(attack):
    "ping with 10,000 parameters that nobody asked for, 65,000 B"
    padding = {f"{n:x}": 1 for n in range(6000)}
    yield
    await attack.repeat(lambda n: ("ping", padding))


@amplification(rows=1, answered=1 << 20)
async def slow_reader(attack):
    "20 sessions ask for the longest pages of history and read nothing"
    group = attack.group(groupType="Meeting", owner="owner")
    attack.message(group, "x" * 12_288)
    with attack.stopped() as rows:
        rows.multiply("message", 200, seq="seq + n", msgID="msgID || n")
    yield
    for number in range(20):
        socket = await attack.session(receive_buffer=4096, **attack.platform(number))
        socket.transport.pause_reading()
        for n in range(60):
            socket.request("getGroupHistoryMessageList", {"groupID": group, "count": 100}, n)
    await asyncio.sleep(attack.seconds)


@amplification(rows=1, answered=1 << 20)
async def slow_listener(attack):
    "19 sessions of the user read nothing while the 20th sends 12,288 B to a group, online only"
    group = attack.group()
    yield
    for number in range(19):
        socket = await attack.session(receive_buffer=4096, **attack.platform(number + 1))
        socket.transport.pause_reading()
    await attack.repeat(lambda n: ("sendGroupTextMessage", {"groupID": group, "text": "x" * 12_288, "onlineUserOnly": True}))
