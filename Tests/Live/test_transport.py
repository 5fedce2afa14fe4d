"""The WebSocket below the envelope, its close codes and its limits (Protocol.md, "Transport")."""
import json
import struct
from pathlib import Path

import pytest

from harness.client import has
from harness.limits import beyond_the_library
from harness.server import IS_CLUSTER
from harness.tokens import make_token

LIMIT = 65536


def padded_ping(size):
    """A ping that is exactly `size` bytes long, with characters of three bytes in it."""
    text = json.dumps({"jsonrpc": "2.0", "id": "big", "method": "ping", "params": {"pad": "中文"}}, ensure_ascii=False)
    return text.replace("中文", "中文" + "x" * (size - len(text.encode())))


async def test_a_subprotocol_that_is_offered_is_selected(world):
    alone = await world.raw(headers=["Sec-WebSocket-Protocol: throng.v1.json"])
    among = await world.raw(headers=["Sec-WebSocket-Protocol: other, throng.v1.json, third"])
    assert alone.status == among.status == 101
    assert alone.headers["sec-websocket-protocol"] == among.headers["sec-websocket-protocol"] == "throng.v1.json"


@pytest.mark.parametrize("headers", [[], ["Sec-WebSocket-Protocol: mqtt"], ["Sec-WebSocket-Protocol: mqtt, v12.stomp"]])
async def test_no_or_only_unknown_subprotocols_are_answered_with_none(world, headers):
    raw = await world.raw(headers=headers)
    assert raw.status == 101
    assert "sec-websocket-protocol" not in raw.headers


@pytest.mark.parametrize("offer", ["x" * 63, "x" * 63 + ", throng.v1.json", ", ".join(["x" * 20] * 6)])
async def test_an_offer_that_is_too_long_is_refused(world, offer):
    assert (await world.raw(headers=[f"Sec-WebSocket-Protocol: {offer}"])).status == 431
    assert (await world.raw(headers=["Sec-WebSocket-Protocol: " + "x" * 62])).status == 101


async def test_a_binary_frame_closes(world):
    alice = await world.user("alice")
    await alice.send(b"{}")
    await alice.closed(1003)


async def test_a_message_of_the_limit_passes_and_one_byte_more_closes(world):
    alice = await world.user("alice")
    assert "result" in await alice.exchange(padded_ping(LIMIT))
    await alice.send(padded_ping(LIMIT + 1))
    await alice.closed(1009)


async def test_the_limit_holds_for_all_fragments_together(world):
    alice = await world.user("alice")
    whole = padded_ping(LIMIT)
    await alice.socket.send([whole[:30000], whole[30000:50000], whole[50000:]])
    assert "result" in await alice.unclaimed.get()
    longer = padded_ping(LIMIT + 1)
    await alice.socket.send([longer[:30000], longer[30000:50000], longer[50000:]])
    await alice.closed(1009)


@pytest.mark.parametrize("junk", [b"\xff", b'"\xc3\x28"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xc0\xaf"'])
async def test_invalid_utf8_closes(world, junk):
    alice = await world.user("alice")
    await alice.socket.send(junk, text=True)
    await alice.closed(1007)


@pytest.mark.parametrize("frame", [
    {"opcode": 1, "payload": b"{}", "masked": False},
    {"opcode": 1, "payload": b"{}", "reserved": 0x40},
    {"opcode": 3},
    {"opcode": 9, "payload": b"x" * 126},
    {"opcode": 0, "payload": b"x"},
], ids=["unmasked", "reserved bit", "unknown opcode", "long ping", "stray continuation"])
async def test_a_protocol_breach_closes(world, frame):
    raw = await world.raw(path="/ws?token=" + make_token(world.name("alice")))
    raw.write(**frame)
    assert await raw.close_code() == 1002


async def test_a_ping_frame_is_answered_with_its_payload(world):
    raw = await world.raw()
    raw.write(9, b"are you there")
    assert await raw.read() == (10, b"are you there")


async def test_a_cross_origin_upgrade_is_refused(world):
    for origin in ("http://elsewhere.example", "null", f"http://{world.server.address}9", "http://127.0.0.1"):
        raw = await world.raw(headers=[f"Origin: {origin}"])
        assert raw.status == 403, origin


async def test_the_same_origin_and_no_origin_pass(world):
    assert (await world.raw(headers=[f"Origin: http://{world.server.address}"])).status == 101
    assert (await world.raw()).status == 101


async def test_allowed_origins_pass_and_others_do_not(make_server, make_world):
    world = make_world(make_server({"allowedOrigins": "https://chat.example,http://10.0.0.1:3000"}))
    assert (await world.raw(headers=["Origin: https://chat.example"])).status == 101
    assert (await world.raw(headers=["Origin: http://10.0.0.1:3000"])).status == 101
    assert (await world.raw(headers=["Origin: http://chat.example"])).status == 403
    assert (await world.raw(headers=["Origin: http://10.0.0.1"])).status == 403
    world = make_world(make_server({"allowedOrigins": "*"}))
    assert (await world.raw(headers=["Origin: https://anything.example"])).status == 101


# The first ping comes up to a quarter of the interval early.
HEARTBEAT = {"heartbeat.interval": 60, "heartbeat.timeout": 20}


def is_here(own):
    """Whether the session of alice lives."""
    return bool(own.rpc("listSessions", userID="alice")["result"]["sessionList"])


async def next_of(raw, wanted):
    """Reads on to a frame of this opcode; gives its payload."""
    while True:
        opcode, payload = await raw.read()
        if opcode == wanted:
            return payload
        assert opcode != 8, payload


async def test_the_server_pings_and_closes_a_connection_without_a_sign_of_life(make_server, make_world):
    own = make_server(HEARTBEAT, frozen=True)
    silent = await make_world(own).raw(path="/ws?token=" + make_token("alice"))
    await next_of(silent, 1)
    await own.advance(44.9)
    silent.write(9, b"are you there")
    assert await silent.read() == (10, b"are you there"), "no ping before"
    await own.advance(15.2)
    await next_of(silent, 9)
    await own.advance(4.7)
    assert is_here(own)
    await own.advance(15.4)
    assert await silent.close_code() == 4003
    own.wait_until(lambda: not is_here(own), "the end of the session")


@pytest.mark.parametrize("sign", ["pong", "any frame"])
async def test_a_connection_that_shows_life_is_kept(make_server, make_world, sign):
    """Any frame at all counts, not only the pong."""
    own = make_server(HEARTBEAT, frozen=True)
    raw = await make_world(own).raw(path="/ws?token=" + make_token("alice"))
    for number in range(4):
        await own.advance(60.1)
        payload = await next_of(raw, 9)
        raw.write(10, payload) if sign == "pong" else raw.write_json({"jsonrpc": "2.0", "id": number, "method": "ping"})
        # The server has it, because it has what was sent behind it.
        assert is_here(own)
    await own.advance(30)
    raw.write_json({"jsonrpc": "2.0", "id": "last", "method": "ping"})
    while json.loads(await next_of(raw, 1)).get("id") != "last":
        pass


async def test_login_tells_the_ping_interval_in_seconds(make_server, make_world, world):
    assert (await world.user("alice")).welcome["heartbeat"] == 25
    own = make_world(make_server({"heartbeat.interval": 7}))
    assert (await own.user("alice")).welcome["heartbeat"] == 7


async def test_requests_beyond_the_rate_are_refused_each_one_counted(make_server, make_world):
    """Each element of a batch counts, with or without id; 7008 tells when to try again
    (Protocol.md, "Request rate")."""
    own = make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 11}, frozen=True)
    world = make_world(own)
    alice = await world.user("alice")
    silent = {"jsonrpc": "2.0", "method": "ping"}
    frame = await alice.exchange([silent] * 10 + [{**silent, "id": n} for n in range(10)])
    assert len(frame) == 10, "the sign-in and the ten without id used up the burst"
    for reply in frame:
        assert reply["error"]["code"] == 7008 and reply["error"]["data"] == {"temporary": True, "retryAfterMs": 1000}
    await own.advance(0.999)
    assert (await alice.refused(7008, "ping"))["retryAfterMs"] == 1
    await own.advance(0.001)
    await alice.call("ping")
    assert (await alice.refused(7008, "ping"))["retryAfterMs"] == 1000
    bob = await world.user("bob")
    await bob.call("ping")


async def test_the_burst_is_a_hundred_by_default(make_server, make_world):
    """The sign-in counts as one of them."""
    world = make_world(make_server({"limits.requestsPerSecond": 50, "limits.requestBurst": 100}, frozen=True))
    alice = await world.user("alice")
    ping = {"jsonrpc": "2.0", "method": "ping"}
    for b in range(5):
        batch = await alice.exchange([{**ping, "id": f"{b}.{n}"} for n in range(20 - (b == 0))])
        assert all("result" in reply for reply in batch)
    assert (await alice.refused(7008, "ping"))["retryAfterMs"] == 20


async def test_the_rate_is_the_users_over_all_sessions_and_outlives_them(make_server, make_world):
    """The rate of a user counts over all sessions and outlives them; a sign-in counts as a request
    (Protocol.md, "Request rate"). Several nodes let a little more pass, as ClusterRateTests of GatewayTests say."""
    own = make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 40}, frozen=True)
    world = make_world(own)
    first = await world.user("alice")
    second = await world.session(first.user)
    pings = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(5)]
    answers = [reply for _ in range(5) for client in (first, second) for reply in await client.exchange(pings)]
    assert ["result" in answer for answer in answers] == [True] * 38 + [False] * 12
    assert {answer["error"]["code"] for answer in answers[38:]} == {7008}
    await first.close()
    await second.close()

    async def sign_in():
        return await world.open(query={"token": make_token(first.user, now=own.now)})
    assert await (await sign_in()).closed(4004) == "7008 retry after 1000 ms"
    await own.advance(1)
    await (await sign_in()).expect("onConnectSuccess")
    assert await (await sign_in()).closed(4004) == "7008 retry after 1000 ms"
    bob = await world.user("bob")
    await bob.call("ping")


async def test_a_thousand_refusals_in_ten_seconds_close(make_server, make_world):
    own = make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 1}, frozen=True)
    alice = await make_world(own).user("alice")

    async def refuse(count):
        for start in range(0, count, 20):
            answers = await alice.exchange([
                {"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(min(20, count - start))])
            assert {answer["error"]["code"] for answer in answers} == {7008}
    # The sign-in has taken the first request, and the ping takes the next.
    await refuse(999)
    await own.advance(10)
    await alice.call("ping")
    await refuse(999)
    await alice.refused(7008, "ping")
    await alice.closed(4004)


def most_kept():
    """The bytes that the system keeps for a client that does not read, also between a node and its balancer."""
    sent, received = (int(Path(f"/proc/sys/net/ipv4/tcp_{way}mem").read_text().split()[2]) for way in "wr")
    return 2 * sent + received if IS_CLUSTER else sent


async def test_a_slow_consumer_is_closed_and_nobody_else_is_delayed(make_server, make_world):
    """Replies and control events, and the chat of groups with history, are never skipped: what does
    not fit closes."""
    queue = 262144
    # Nor is it closed because it does not answer pings.
    own = make_server({"limits.sendQueueBytes": queue, "store.sync": "normal", "heartbeat.interval": "24h"})
    world = make_world(own)
    sender, reader = await world.users("sender", "reader")
    sleeper = world.name("sleeper")
    group = await world.group(sender, members=[reader], groupID="slow")
    raw = await world.raw(path="/ws?token=" + make_token(sleeper), receive_buffer=4096)
    raw.write_json({"jsonrpc": "2.0", "id": 1, "method": "joinGroup", "params": {"groupID": group}})
    await reader.expect("onMemberEnter", groupID=group)
    text = "x" * 12000
    beyond = (queue + most_kept()) // len(text) + 10
    for start in range(0, beyond, 50):
        under_way = [await sender.start("sendGroupTextMessage", groupID=group, text=text)
                     for _ in range(min(50, beyond - start))]
        for future in under_way:
            assert (await future)["result"]["status"] == "Stored"
    own.metric_becomes("throng_connections_closed_total", 1, code="4002")
    for _ in range(beyond):
        await reader.expect("onRecvNewMessage", groupID=group, message=has(text=text))


# Frames at the edge of RFC 6455: those that pass and those that close

PING = json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"}).encode()


def close_frame(code, reason=b""):
    return [{"opcode": 8, "payload": struct.pack(">H", code) + reason}]


async def signed_in(world):
    raw = await world.raw(path="/ws?token=" + make_token(world.name("alice")))
    assert await raw.read()
    return raw


def write(raw, frames):
    for frame in frames:
        raw.write(**frame)


ANSWERED = {
    "a ping between fragments": [
        {"opcode": 1, "payload": PING[:9], "final": False}, {"opcode": 9, "payload": b"mid"}, {"opcode": 0, "payload": PING[9:]}],
    "an unsolicited pong": [{"opcode": 10, "payload": b"x"}, {"opcode": 1, "payload": PING}],
    "empty fragments": [
        {"opcode": 1, "final": False}, {"opcode": 0, "final": False}, {"opcode": 0, "payload": PING, "final": False},
        {"opcode": 0}],
    "a character across fragments": [
        {"opcode": 1, "payload": PING[:-1] + b',"x":"\xe4\xb8', "final": False},
        {"opcode": 0, "payload": b'\xad"}'}],
    "white space around": [{"opcode": 1, "payload": b" \t\r\n" + PING + b"\n "}],
}


@pytest.mark.parametrize("name", ANSWERED)
async def test_what_the_rfc_allows_is_answered(world, name):
    raw = await signed_in(world)
    write(raw, ANSWERED[name])
    opcode, payload = await raw.read()
    if name == "a ping between fragments":
        assert (opcode, payload) == (10, b"mid")
        opcode, payload = await raw.read()
    assert opcode == 1 and json.loads(payload)["id"] == "p"


async def test_ten_thousand_fragments_are_one_message(world):
    raw = await signed_in(world)
    raw.write(1, b" ", final=False)
    for _ in range(10_000):
        raw.write(0, b" ", final=False)
    raw.write(0, PING)
    assert json.loads((await raw.read())[1])["id"] == "p"


async def test_fragments_of_one_byte_reach_the_limit_as_well(world):
    raw = await signed_in(world)
    raw.write(1, b" ", final=False)
    for _ in range(64):
        raw.write(0, b" " * 1023, final=False)
    for _ in range(64):
        raw.write(0, b" ", final=False)
    assert await raw.close_code() == 1009


CLOSED = {
    "a close of one byte": ([{"opcode": 8, "payload": b"x"}], 1002),
    **{f"a close with {code}": (close_frame(code), 1002) for code in (0, 999, 1004, 1005, 1006, 1015, 2999)},
    "a close whose reason is not UTF-8": (close_frame(1000, b"\xff\xfe"), 1007),
    "a long close": (close_frame(1000, b"x" * 124), 1002),
    "a close in fragments": ([{"opcode": 8, "payload": struct.pack(">H", 1000), "final": False}], 1002),
    "a ping in fragments": ([{"opcode": 9, "payload": b"x", "final": False}], 1002),
    "a ping without a mask": ([{"opcode": 9, "payload": b"x", "masked": False}], 1002),
    "a ping with a reserved bit": ([{"opcode": 9, "payload": b"x", "reserved": 0x40}], 1002),
    "a text inside a text": (
        [{"opcode": 1, "payload": PING[:9], "final": False}, {"opcode": 1, "payload": PING}], 1002),
    "the second reserved bit": ([{"opcode": 1, "payload": PING, "reserved": 0x20}], 1002),
    "the third reserved bit": ([{"opcode": 1, "payload": PING, "reserved": 0x10}], 1002),
    "a reserved bit on a continuation": (
        [{"opcode": 1, "payload": PING[:9], "final": False}, {"opcode": 0, "payload": PING[9:], "reserved": 0x40}], 1002),
    "a reserved control opcode": ([{"opcode": 11, "payload": b"x"}], 1002),
    "an empty binary frame": ([{"opcode": 2}], 1003),
    "a first binary fragment": ([{"opcode": 2, "payload": b"{", "final": False}], 1003),
    "a character cut at the end": ([{"opcode": 1, "payload": b'"\xe4\xb8'}], 1007),
    "invalid UTF-8 in a first fragment": (
        [{"opcode": 1, "payload": b'"\xff', "final": False}, {"opcode": 0, "payload": b'"'}], 1007),
}


@pytest.mark.parametrize("name", [
    beyond_the_library(name) if name == "a ping without a mask" else name
    for name in CLOSED
])
async def test_what_the_rfc_forbids_closes(world, name):
    frames, code = CLOSED[name]
    raw = await signed_in(world)
    write(raw, frames)
    opcode, payload = await raw.read()
    assert opcode == 8 and struct.unpack(">H", payload[:2])[0] == code, (opcode, payload)


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4999])
async def test_a_close_is_answered_with_its_code(world, code):
    raw = await signed_in(world)
    write(raw, close_frame(code))
    assert await raw.close_code() == code


@pytest.mark.parametrize("extension", ["x-webkit-deflate-frame", "permessage-bzip2", "permessage-deflate; unknown=1"])
async def test_an_unknown_extension_is_declined(world, extension):
    raw = await world.raw(headers=[f"Sec-WebSocket-Extensions: {extension}"])
    assert raw.status == 101 and "sec-websocket-extensions" not in raw.headers


@pytest.mark.parametrize("headers", [
    ["Sec-WebSocket-Protocol: Throng.v1.json"],
    ["Sec-WebSocket-Protocol: throng.v1.jsonx, xthrong.v1.json"],
])
async def test_a_subprotocol_is_compared_whole_and_in_case(world, headers):
    raw = await world.raw(headers=headers)
    assert raw.status == 101 and "sec-websocket-protocol" not in raw.headers


async def test_a_slow_reader_misses_chat_of_a_live_room_and_nothing_else(make_server, make_world):
    """Chat of rooms without history may be skipped for that connection, control events never are
    (Protocol.md, "Slow connections")."""
    queue, size = 65536, 8000
    own = make_server({
        "limits.sendQueueBytes": queue, "limits.avChatRoom.messagesPerSecond": 0, "heartbeat.interval": "24h"})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    raw = await world.raw(path="/ws?token=" + make_token("slow"), receive_buffer=4096)
    raw.write_json({"jsonrpc": "2.0", "id": 1, "method": "joinGroup", "params": {"groupID": group}})
    await bob.expect("onMemberEnter", groupID=group, memberList=lambda rows: rows[0]["userID"] == "slow")
    texts = []
    for turn in range(40):
        for _ in range((queue + most_kept()) // (40 * size) + 1):
            texts.append(f"{len(texts)} " + "x" * size)
            await alice.call("sendGroupTextMessage", groupID=group, text=texts[-1])
        await alice.call("setGroupInfo", groupID=group, introduction=f"{turn}")
    for text in texts:
        assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text
    told, seen = [], []
    while len(told) < 40:
        opcode, payload = await raw.read()
        assert opcode != 8, payload
        frame = json.loads(payload) if opcode == 1 else {}
        if frame.get("method") == "onGroupInfoChanged":
            told.append(frame["params"]["changeInfoList"][0]["value"])
        elif frame.get("method") == "onRecvNewMessage":
            seen.append(int(frame["params"]["message"]["text"].split()[0]))
    assert told == [str(turn) for turn in range(40)]
    assert seen == sorted(seen) and len(seen) < len(texts), "all of it cannot have waited"
