"""Section 1: frames at the edge of RFC 6455, those that pass and those that close."""
import json
import struct

import pytest

from harness.tokens import make_token
from harness.limits import beyond_the_library

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
    beyond_the_library(name) if name in ("a close whose reason is not UTF-8", "a ping without a mask") else name
    for name in CLOSED
])
async def test_what_the_rfc_forbids_closes(world, name):
    frames, code = CLOSED[name]
    raw = await signed_in(world)
    write(raw, frames)
    assert await raw.close_code() == code


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4999])
async def test_a_close_is_answered_with_its_code(world, code):
    raw = await signed_in(world)
    write(raw, close_frame(code))
    assert await raw.close_code() == code


async def test_a_compressing_extension_is_declined(world):
    raw = await world.raw(headers=["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"])
    assert raw.status == 101 and "sec-websocket-extensions" not in raw.headers


@pytest.mark.parametrize("headers", [
    ["Sec-WebSocket-Protocol: Throng.v1.json"],
    ["Sec-WebSocket-Protocol: throng.v1.jsonx, xthrong.v1.json"],
])
async def test_a_subprotocol_is_compared_whole_and_in_case(world, headers):
    raw = await world.raw(headers=headers)
    assert raw.status == 101 and "sec-websocket-protocol" not in raw.headers
