"""Section 1: the WebSocket below the envelope, its close codes and its limits."""
import json

import pytest

from harness.client import has
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


async def test_the_server_pings_and_closes_a_connection_without_a_sign_of_life(make_server, make_world):
    world = make_world(make_server({"heartbeat.interval": 1, "heartbeat.timeout": 1}))
    token = make_token(world.name("alice"))
    silent = await world.raw(path=f"/ws?token={token}")
    assert await silent.close_code() == 4003


@pytest.mark.parametrize("sign", ["pong", "any frame"])
async def test_a_connection_that_shows_life_is_kept(make_server, make_world, sign):
    """Any frame at all counts, not only the pong."""
    own = make_server({"heartbeat.interval": 1, "heartbeat.timeout": 1})
    raw = await make_world(own).raw(path="/ws?token=" + make_token("alice"))
    pings = 0
    while pings < 4:
        opcode, payload = await raw.read()
        assert opcode != 8, payload
        if opcode == 9:
            pings += 1
            raw.write(10, payload) if sign == "pong" else raw.write_json({"jsonrpc": "2.0", "id": pings, "method": "ping"})
    raw.write_json({"jsonrpc": "2.0", "id": "last", "method": "ping"})
    while True:
        opcode, payload = await raw.read()
        assert opcode != 8, payload
        if opcode == 1 and json.loads(payload).get("id") == "last":
            return


async def test_login_tells_the_ping_interval_in_seconds(make_server, make_world, world):
    assert (await world.user("alice")).welcome["heartbeat"] == 25
    own = make_world(make_server({"heartbeat.interval": 7}))
    assert (await own.user("alice")).welcome["heartbeat"] == 7


async def test_requests_beyond_the_rate_are_refused_each_one_counted(make_server, make_world):
    """Section 6: each element of a batch counts, with or without id; 7008 tells when to try again."""
    world = make_world(make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 10}))
    alice = await world.user("alice")
    silent = {"jsonrpc": "2.0", "method": "ping"}
    frame = await alice.exchange([silent] * 10 + [{**silent, "id": n} for n in range(10)])
    refused = [reply["error"] for reply in frame if "error" in reply]
    assert len(refused) >= 9, "the ten without id used up the burst"
    assert all(error["code"] == 7008 and error["data"]["temporary"] is True for error in refused)
    assert all(0 < error["data"]["retryAfterMs"] <= 10000 for error in refused)
    bob = await world.user("bob")
    await bob.call("ping")


async def test_the_burst_is_a_hundred_by_default(make_server, make_world):
    world = make_world(make_server({"limits.requestsPerSecond": 50, "limits.requestBurst": 100}))
    alice = await world.user("alice")
    ping = {"jsonrpc": "2.0", "method": "ping"}
    under_way = [alice.exchange([{**ping, "id": f"{b}.{n}"} for n in range(20)]) for b in range(5)]
    for batch in under_way:
        assert all("result" in reply for reply in await batch)


async def test_a_thousand_refusals_in_ten_seconds_close(make_server, make_world):
    world = make_world(make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 1}))
    alice = await world.user("alice")
    batch = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(20)]
    for _ in range(60):
        await alice.send(batch)
    await alice.closed(4004)


async def test_a_slow_consumer_is_closed_and_nobody_else_is_delayed(make_server, make_world):
    """Replies and control events, and the chat of groups with history, are never skipped: what does not fit closes."""
    world = make_world(make_server({"limits.sendQueueBytes": 262144, "store.sync": "normal"}))
    sender, reader = await world.users("sender", "reader")
    sleeper = world.name("sleeper")
    group = await world.group(sender, members=[reader], groupID="slow")
    raw = await world.raw(path="/ws?token=" + make_token(sleeper), receive_buffer=4096)
    raw.write_json({"jsonrpc": "2.0", "id": 1, "method": "joinGroup", "params": {"groupID": group}})
    await reader.expect("onMemberEnter", groupID=group)
    text, sent = "x" * 12000, 0
    while not world.server.metric("throng_connections_closed_total", code="4002"):
        assert sent < 4000, "48 MB wait for a connection that may keep 256 KiB"
        under_way = [await sender.start("sendGroupTextMessage", groupID=group, text=text) for _ in range(50)]
        for future in under_way:
            assert (await future)["result"]["status"] == "Stored"
        sent += len(under_way)
    for _ in range(sent):
        await reader.expect("onRecvNewMessage", groupID=group, message=has(text=text))
