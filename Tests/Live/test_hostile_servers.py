"""Clients that face a server, or members, who send whatever they like (Clients.md, "Bounds"). Everything is counted in
frames, requests and timers; the players' time goes on from timer to timer. ThrongClient has tests of its own:
Tests/ThrongClientTests/HostileServerTests and the fuzzer of Tests/Fuzz/Client."""
import asyncio
import base64
import hashlib
import json
import subprocess
import sys

import pytest

from harness.driven import DRIVERS, NODE, Driven, has_node
from harness.hostile import ERROR, GROUP, RESULTS, Generator, message

PLAYERS = {"throng.js": [*NODE, DRIVERS / "hostile.mjs"], "Python": [sys.executable, "-B", DRIVERS / "hostile.py"]}
GOOD = {"group": GROUP, "session": RESULTS["login"]}
ROUNDS = 300
MANY_ROUNDS = 20_000


@pytest.fixture(params=PLAYERS)
def play(request):
    """Plays rounds against one client; gives what was found in each."""
    if request.param == "throng.js" and not has_node():
        pytest.skip("there is no Node with a WebSocket")

    def rounds(rounds):
        lines = "".join(json.dumps(one) + "\n" for one in [{"good": GOOD}, *rounds])
        done = subprocess.run([str(word) for word in PLAYERS[request.param]], input=lines, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr[-4000:]
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(found) == len(rounds), "the client's process has ended"
        return found
    return rounds


def result(method, **changes):
    """An answer that is good but for some members."""
    return {"text": json.dumps({"jsonrpc": "2.0", "id": "@"} | {"result": {**RESULTS[method], **changes}}).replace('"@"', "$id")}


def event(name, **params):
    return {"text": json.dumps({"jsonrpc": "2.0", "method": name, "params": params})}


def refused(**data):
    return {"text": json.dumps({"jsonrpc": "2.0", "id": "@", "error": {**ERROR, "data": data}}).replace('"@"', "$id")}


def one(play, endless=1, calls=0, **step):
    """What one round of such a server finds, which is the same over and over for so many connections."""
    (found,) = play([{"seed": 0, "steps": [step], "endless": endless, "calls": calls}])
    assert found["faults"] == [] and not found["isClosed"]
    return found


NUMBERS = [2 ** 31 - 1, 2 ** 31, 2 ** 53, -1, 1.5, "soon", "9e9", None, [], True]


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_any_wait_that_a_server_asks_for(play, number):
    """2³¹ ms are no delay at all to a timer of JavaScript, and neither is a text."""
    refusal = refused(temporary=True, retryAfterMs=number)
    for method in ("login", "sendGroupTextMessage", "getJoinedGroupList"):
        # A client that waits for a day asks for a sign of life meanwhile.
        steps = [{method: [refusal], "ping": [{"close": 1001}]}] * 40 + [{method: [{"close": 1001}]}] * 3
        (found,) = play([{"seed": 0, "steps": steps, "endless": 3}])
        assert found["faults"] == [] and all(100 <= wait <= 86_400_000 for wait in found["waits"])
        assert found["requests"] < 250 and found["connections"] == 4
    found = one(play, endless=3, login=[result("login"), event("onServerDraining", retryAfterMs=number), {"close": 4001}])
    assert all(100 <= wait <= 86_400_000 for wait in found["waits"]) and found["connections"] == 4


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_any_numbers_in_a_session(play, number):
    for name in ("heartbeat", "tokenExpiresAt", "serverTime"):
        found = one(play, login=[result("login", **{name: number})], ping=[{"close": 1001}])
        assert found["requests"] < 20 and found["tokens"] <= 4


@pytest.mark.parametrize("answer", [[], None, {}, "text", {"userID": 7}], ids=str)
@pytest.mark.parametrize("method", ["login", "getJoinedGroupList", "syncGroups", "sendGroupTextMessage"])
def test_any_answer_to_an_own_request(play, method, answer):
    text = {"text": json.dumps({"id": "@", "result": answer}).replace('"@"', "$id")}
    # The first connection tracks a group, which the second asks for.
    close = {"sendGroupTextMessage": [result("sendGroupTextMessage", status="Delivered"), {"close": 1001}]}
    steps = [{method: [text]}] if method != "syncGroups" else [close] * 4 + [{method: [text]}] * 10
    (found,) = play([{"seed": 0, "steps": steps, "endless": 2}])
    assert found["faults"] == [] and "BadAnswer" in found["errors"]


def test_pages_without_end(play):
    """Of groups: the same cursor, or ever new ones; of a history that does not advance, or does by a message each."""
    for cursor, pages in ((7, 2), ("$n", 1001)):
        page = {"text": json.dumps({"id": "@", "result": {"groupList": [], "leftGroupIDList": [], "nextSeq": "#"}})
                .replace('"@"', "$id").replace('"#"', str(cursor))}
        found = one(play, getJoinedGroupList=[page])
        assert found["errors"] == ["BadAnswer"] and pages <= found["requests"] <= pages + 6
    row = {"groupID": "g", "code": 0, "epoch": "e", "lastSeq": 10 ** 9, "recovered": True, "changeList": [], "changeSeq": 0,
           "messageList": [], "more": True}
    for seq, pages in ((None, 1), (11, 2), ("$n", 10_000)):
        text = json.dumps({"id": "@", "result": {"groups": [{**row, "messageList": [] if seq is None else [message("#")]}]}})
        page = {"text": text.replace('"@"', "$id").replace('"seq": "#"', f'"seq": 1{seq}' if seq == "$n" else f'"seq": {seq}')}
        lost = {"sendGroupTextMessage": [{"close": 1001}]}
        (found,) = play([{"seed": 0, "steps": [lost] * 4 + [{"syncGroups": [page]}] * 20_000, "endless": 2}])
        assert found["faults"] == [] and found["errors"][1] == "BadAnswer"
        assert pages <= found["requests"] <= pages + 15


def test_more_events_than_may_wait_without_end(play):
    """A server that floods a group whenever its history is asked for: with many events, or with long ones."""
    for times, text in ((10_001, ""), (9, "x" * 1_000_000)):
        flood = event("onRecvNewMessage", groupID="g", message={**message(1000), "text": text})
        row = {"groupID": "g", "code": 0, "epoch": "e", "lastSeq": 20, "recovered": True, "changeList": [], "changeSeq": 0,
               "messageList": [], "more": False}
        page = {"text": json.dumps({"id": "@", "result": {"groups": [row]}}).replace('"@"', "$id")}
        lost = {"sendGroupTextMessage": [{"close": 1001}]}
        (found,) = play([{"seed": 0, "steps": [lost] * 4 + [{"syncGroups": [{**flood, "times": times}, page]}] * 100, "endless": 2}])
        assert found["faults"] == [] and found["errors"][1] == "BadAnswer"
        assert 11 <= found["requests"] <= 30


def test_new_groups_without_end(play):
    created = {**event("onGroupCreated", groupID="new$k", opTime=1, platform="Web"), "times": 3000}
    found = one(play, login=[result("login"), created], getGroupsInfo=[], ping=[{"close": 1001}])
    assert 1000 <= found["requests"] <= 1050


def test_a_group_with_half_of_a_surrogate_pair_is_not_followed(play):
    """Its ID would go back as another one, and no row of a later sync would be the one that was asked for."""
    listed = result("getJoinedGroupList", groupList=[{**GROUP, "groupID": "\ud800"}])
    assert one(play, getJoinedGroupList=[listed])["errors"] == ["BadAnswer"]
    created = event("onGroupCreated", groupID="\ud800", opTime=1, platform="Web")
    found = one(play, login=[result("login"), created], ping=[{"close": 1001}])
    assert found["errors"] == [None] and found["connections"] == 2


def test_warnings_of_the_tokens_end_without_end(play):
    session = result("login", tokenExpiresAt=RESULTS["login"]["serverTime"] + 1000)
    warning = {**event("onUserSigExpired", expiresAt=1), "times": 1000}
    found = one(play, login=[session, warning], ping=[{"close": 1001}])
    assert found["tokens"] <= 4
    # Before there is a session.
    found = one(play, login=[warning, {"close": 1001}])
    assert found["tokens"] <= 2


def test_a_session_that_is_closed_at_once(play):
    """The delay never falls under its least, and grows; the player's chance is zero."""
    for code in (1000, 1005, 1006, 4001, 4006, 4499):
        found = one(play, endless=20, login=[result("login"), {"close": code}])
        assert found["waits"] == [100] * 20
    # A frame that is none, behind a session that lasted.
    found = one(play, endless=5, ping=[{"text": "no JSON"}])
    assert found["errors"] == ["BadAnswer"] * 5


def test_calls_that_are_never_answered(play):
    found = one(play, calls=1500, joinGroup=[], ping=[{"close": 1001}])
    assert found["refusals"]["QueueFull"] >= 500


def test_frames_that_are_too_long_or_too_deep(play):
    for value, isRead in (("x" * 1_000_000, True), ("x" * 1_100_000, False), (2 ** 53, True), (2 ** 53 + 2, False)):
        found = one(play, login=[result("login"), event("onSomethingNew", value=value)], ping=[{"close": 1001}])
        assert found["errors"] == [None if isRead else "BadAnswer"]
    for levels, isRead in ((32, True), (33, False), (100_000, False)):
        nested = f"{'[' * (levels - 2)}1{']' * (levels - 2)}"
        text = {"text": f'{{"method":"onSomethingNew","params":{{"value":{nested}}}}}'}
        found = one(play, login=[result("login"), text], ping=[{"close": 1001}])
        assert found["errors"] == [None if isRead else "BadAnswer"]


async def test_fragments_without_end():
    """Empty ones have no bytes to count. (FrameTests.fragmentsHaveAnEnd; throng.js leaves frames to its platform)"""
    async def serve(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        writer.write(f"HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
                     "Sec-WebSocket-Protocol: throng.v1.json\r\n\r\n".encode() + b"\x01\x00" + b"\x00\x00" * 100_000)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    client = await Driven.start("Python")
    try:
        await client.open("ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1], "a token", random=1)
        state = await client.expect("state", state="waiting")
        assert state["error"]["reason"] == "BadAnswer"
    finally:
        await client.end()
        server.close()
        await server.wait_closed()


def generate(play, first, count):
    found = play([Generator(seed).round() for seed in range(first, first + count)])
    faults = [(one["seed"], one["faults"]) for one in found if one["faults"]]
    assert not faults, (len(faults), faults[:3])
    # The generator reaches what lies behind a sign-in, and clients come back.
    assert sum(one["texts"] > 20 for one in found) > count / 4
    assert sum(not one["isClosed"] for one in found) > count / 2


def test_any_frames(play):
    generate(play, 0, ROUNDS)


@pytest.mark.campaign
def test_many_frames(play):
    for first in range(ROUNDS, MANY_ROUNDS, 1000):
        generate(play, first, 1000)
