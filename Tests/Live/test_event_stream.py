"""Sessions over event streams (Protocol.md, "Event streams"): for networks that let no WebSocket pass."""
import asyncio
import json
import re

import pytest
from websockets.exceptions import InvalidHandshake, InvalidMessage

from harness.client import Client, has
from harness.event_stream import EventSocket, Refused, ask, open_stream
from harness.proxy import PROXIES, Person, addresses, make_certificate, start, without_upgrades  # noqa: F401 - a fixture
from harness.tokens import make_token
from harness.waiting import within

PING = json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"})


@pytest.fixture
async def streams():
    """`streams(server, user, …)` opens one that has signed in; all are closed at the end."""
    made = []

    async def make(server, user, **query):
        client = await open_stream(server, {"token": make_token(user, now=server.now), **query}, user=user)
        made.append(client)
        client.welcome = await client.expect("onConnectSuccess")
        return client

    yield make
    await asyncio.gather(*(client.close() for client in made))
    violations = [line for client in made for line in client.violations]
    assert not violations, "\n".join(violations)


async def test_a_stream_is_a_session_like_any_other(server, world, streams):
    alice = await streams(server, world.name(), platform="Web", deviceID="d")
    assert set(alice.welcome) == {"userID", "sessionID", "serverTime", "tokenExpiresAt", "heartbeat", "streamKey"}
    head = alice.socket.headers
    assert head["content-type"] == "text/event-stream" and head["cache-control"] == "no-store"
    bob = await world.user()
    group = await world.group(alice, "Public", [bob])
    await bob.call("sendGroupTextMessage", groupID=group, text="two\nlines")
    await alice.expect("onRecvNewMessage", message=has(text="two\nlines"))
    await alice.call("sendGroupTextMessage", groupID=group, text="back")
    await bob.expect("onRecvNewMessage", message=has(text="back", sender=alice.user))
    await alice.refused(10010, "joinGroup", groupID="no-such-group")
    (row,) = server.rpc("listSessions", userID=alice.user)["result"]["sessionList"]
    assert row["platform"] == "Web" and row["deviceID"] == "d" and row["sessionID"] == alice.welcome["sessionID"]


async def test_a_stream_gets_what_a_websocket_gets(server, world, streams):
    """The same events, byte for byte, whatever their texts hold, and in the same order."""
    user = world.name()
    stream, socket = await streams(server, user, platform="Web"), await world.session(user, platform="Web")
    owner = await world.user()
    groups = [await world.group(owner, kind, [stream]) for kind in ("Public", "Meeting", "AVChatRoom")]
    texts = ["", " ", "data: x\n\n", "\r\n", ": ", "event: close\ndata: {}", "\u2028\u2029\u0085", "\0", "é😀", "x" * 9000]
    for number in range(60):
        group, text = groups[number % 3], texts[number % len(texts)] + str(number)
        await owner.call("sendGroupTextMessage", groupID=group, text=text)
        await owner.call("setGroupInfo", groupID=group, introduction=f"{number}")
    for group in groups:
        await world.settle(group, owner, stream, socket)

    def told(client):
        return {group: [json.dumps(frame) for frame in client.frames if frame.get("params", {}).get("groupID") == group]
                for group in groups}
    assert told(stream) == told(socket)
    assert all(len(frames) > 40 for frames in told(stream).values())


async def test_requests_of_one_client_run_in_their_order(server, world, streams):
    """Each waits for the answer before, or they share a batch."""
    alice, bob = await streams(server, world.name()), await world.user()
    group = await world.group(alice, "Public", [bob])
    for number in range(20):
        await alice.start("sendGroupTextMessage", groupID=group, text=f"{number}")
    batch = [{"jsonrpc": "2.0", "id": f"b{n}", "method": "sendGroupTextMessage", "params": {"groupID": group, "text": f"b{n}"}}
             for n in range(20)]
    answers = await alice.exchange(batch)
    assert [answer["id"] for answer in answers] == [f"b{n}" for n in range(20)]
    heard = [await bob.expect("onRecvNewMessage", message=lambda message: "text" in message) for _ in range(40)]
    assert [params["message"]["text"] for params in heard] == [f"{n}" for n in range(20)] + [f"b{n}" for n in range(20)]


@pytest.mark.nodes
async def test_any_node_takes_the_requests_of_a_stream(server, world, streams):
    """Over several nodes the balancer chooses one for each of these."""
    alice, bob = await streams(server, world.name()), await streams(server, world.name())
    group = await world.group(alice, "Public", [bob])
    for number in range(30):
        speaker, listener = (alice, bob) if number % 2 else (bob, alice)
        await speaker.call("sendGroupTextMessage", groupID=group, text=f"{number}")
        await listener.expect("onRecvNewMessage", message=has(text=f"{number}"))
    answers = await asyncio.gather(*(alice.socket.post(PING) for _ in range(40)))
    assert all(answer.status == 200 and answer.json()["id"] == "p" for answer in answers)
    silent = await asyncio.gather(*(alice.socket.post(json.dumps({"jsonrpc": "2.0", "method": "ping"})) for _ in range(10)))
    assert {answer.status for answer in silent} == {204}


@pytest.mark.nodes
async def test_a_key_ends_with_its_stream_on_all_nodes(server, world, streams):
    alice = await streams(server, world.name())
    key = alice.socket.key
    await alice.call("logout")
    await alice.closed(1000)
    for number in range(12):
        for credential in (key, key[:-1] + ("0" if key[-1] != "0" else "1"), "nonsense"):
            answer = await alice.socket.post(PING, credential)
            assert answer.status == 401 and "invalid_token" in answer.headers["www-authenticate"], credential


@pytest.mark.nodes
@pytest.mark.parametrize("query, code", [
    ({}, 70003), ({"token": "nonsense"}, 70003), ({"token": "alice"}, 70003), ({"token": "expired"}, 70001),
    ({"token": "good", "platform": "Amiga"}, 10004),
])
async def test_a_refused_sign_in_is_told_by_the_last_event(server, world, query, code):
    now = server.now
    tokens = {"expired": make_token("alice", now=now, exp=int(now) - 60), "good": make_token(world.name(), now=now)}
    query = {name: tokens.get(value, value) for name, value in query.items()}
    stream = await open_stream(server, query)
    reason = await stream.closed(4500)
    assert reason.startswith(f"{code} ") and not stream.frames


async def test_the_end_of_a_session_is_told(server, world, streams):
    alice = await streams(server, world.name(), platform="iOS")
    await world.session(alice.user, platform="iOS")
    await alice.expect("onKickedOffline", reason="OtherDevice")
    await alice.closed(4502)
    bob = await streams(server, world.name())
    assert server.rpc("kickUser", userID=bob.user, reason="enough")["result"] == {"kicked": 1}
    await bob.expect("onKickedOffline", reason="Administrator", message="enough")
    await bob.closed(4503)
    assert (await bob.socket.post(PING)).status == 401


async def test_a_token_ends_and_is_renewed(make_server, streams):
    own = make_server(frozen=True)
    token = make_token("alice", now=own.now, exp=int(own.now) + 100)
    alice = await open_stream(own, {"token": token}, user="alice")
    await own.advance(seconds=45)
    await alice.expect("onUserSigExpired")
    await alice.call("login", token=make_token("alice", now=own.now, exp=int(own.now) + 100))
    await own.advance(seconds=60)
    await alice.call("ping")
    await own.advance(seconds=60)
    await alice.closed(4006)


@pytest.mark.one_process("the metric is one node's")
async def test_a_client_that_hangs_up_is_gone(make_server, streams):
    own = make_server()
    alice = await streams(own, "alice")
    own.metric_becomes("throng_event_streams", 1)
    own.metric_becomes("throng_connections", 1)
    await alice.close()
    own.metric_becomes("throng_event_streams", 0)
    own.metric_becomes("throng_connections_closed_total", 1, code=1005)
    own.metric_becomes("throng_sessions", 0)


async def test_comments_keep_a_stream_open(make_server, streams):
    """None of them is an event, and nothing is sent to the server."""
    own = make_server({"heartbeat.interval": 1, "heartbeat.timeout": 1})
    alice = await streams(own, "alice")
    assert alice.welcome["heartbeat"] == 1
    await asyncio.to_thread(own.wait_until, lambda: alice.socket.comments >= 4, "four comments")
    await alice.call("ping")


@pytest.mark.parametrize("path, directory", [("/chat/ws", "/chat/"), ("/deep/er/socket", "/deep/er/"), ("/ws", "/")])
async def test_the_paths_follow_the_websockets(make_server, streams, path, directory):
    own = make_server({"path": path})
    alice = await streams(own, "alice")
    await alice.call("ping")
    for method, wrong in (("GET", "/events"), ("POST", "/rpc"), ("GET", f"{directory}events/"), ("POST", f"{directory}rpc/")):
        if wrong not in (f"{directory}events", f"{directory}rpc"):
            assert (await ask(own, method, wrong)).status == 404, wrong


async def test_it_can_be_turned_off(make_server):
    own = make_server({"eventStream": "false"})
    for method, path in (("GET", "/events"), ("POST", "/rpc"), ("OPTIONS", "/rpc"), ("OPTIONS", "/events")):
        assert (await ask(own, method, path)).status == 404, path
    with pytest.raises(Refused, match="404"):
        await open_stream(own)


async def test_refusals_of_http_in_their_order(server, world, streams):
    alice = await streams(server, world.name())
    foreign, bearer = {"Origin": "https://evil.example"}, {"Authorization": f"Bearer {alice.socket.key}"}
    large = b" " * 65537
    expected = [
        ("POST", "/rpc/", {**foreign, **bearer}, large, 404), ("PUT", "/rpc", {**foreign, **bearer}, b"", 405),
        ("POST", "/rpc", foreign, large, 403), ("POST", "/rpc", {}, large, 401), ("POST", "/rpc", bearer, large, 413),
        ("POST", "/rpc", bearer, large[1:], 200), ("GET", "/events?token=x", foreign, b"", 403),
        ("POST", "/events", foreign, b"", 405),
    ]
    for method, path, headers, body, status in expected:
        answer = await ask(server, method, path, headers, body)
        assert answer.status == status, (method, path)
        if status == 405:
            assert answer.headers["allow"] == ("GET, OPTIONS" if path == "/events" else "POST, OPTIONS")
        assert "access-control-allow-origin" not in answer.headers


async def test_pages_of_allowed_origins(make_server, streams):
    page = {"Origin": "https://page.example"}
    own = make_server({"allowedOrigins": "https://page.example"})
    alice = await streams(own, "alice")
    for path in ("/events", "/rpc"):
        answer = await ask(own, "OPTIONS", path, {**page, "Access-Control-Request-Headers": "authorization"})
        assert answer.status == 204 and answer.headers["access-control-allow-origin"] == page["Origin"]
        assert {"authorization", "content-type"} <= set(answer.headers["access-control-allow-headers"].lower().split(", "))
        assert (await ask(own, "OPTIONS", path, {"Origin": "null"})).status == 403
    answer = await alice.socket.post(PING, headers=page)
    assert answer.status == 200 and answer.headers["access-control-allow-origin"] == page["Origin"]
    gone = await alice.socket.post(PING, "nonsense", page)
    assert gone.status == 401 and gone.headers["access-control-allow-origin"] == page["Origin"]
    stream = await EventSocket.open(own, {"token": make_token("bob", now=own.now)}, page)
    assert stream.headers["access-control-allow-origin"] == page["Origin"] and stream.headers["vary"] == "Origin"
    await stream.close()


@pytest.mark.one_process("limits of connections are those of a node")
async def test_a_stream_is_a_connection_and_its_requests_are_none(make_server, streams):
    own = make_server({"limits.connections": 1, "limits.connectionsPerAddress": 1})
    alice = await streams(own, "alice")
    answers = await asyncio.gather(*(alice.socket.post(PING) for _ in range(8)))
    assert {answer.status for answer in answers} == {200}
    second = await open_stream(own, {"token": make_token("bob", now=own.now)})
    await second.closed(4005)
    await alice.call("ping")


async def test_a_flood_of_refused_requests_ends_the_stream(make_server, streams):
    own = make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 1}, frozen=True)
    alice = await streams(own, "alice")
    batch = json.dumps([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(20)])
    codes = set()
    for _ in range(60):
        answer = await alice.socket.post(batch)
        if answer.status == 401:
            break
        codes |= {one["error"]["code"] for one in answer.json()}
    assert codes == {7008}
    await alice.closed(4004)


@pytest.mark.one_process("the metric is one node's")
async def test_a_slow_client_is_closed_and_others_are_not_delayed(make_server, streams, make_world):
    own = make_server({"limits.sendQueueBytes": 65536, "limits.text.message": 60000})
    world = make_world(own)
    owner, reader = await world.users("owner", "reader")
    slow = await streams(own, "slow")
    group = await world.group(owner, "Public", [slow, reader])
    # It reads no further: what its system and the server's hold fills up.
    slow.socket.writer.transport.pause_reading()
    text, number = "x" * 50000, 0
    while own._metric("throng_connections_closed_total", code=4002) == 0:
        await owner.call("sendGroupTextMessage", groupID=group, text=text)
        await reader.expect("onRecvNewMessage", groupID=group)
        number += 1
        assert number < 2000
    assert (await slow.socket.post(PING)).status == 401
    slow.socket.writer.transport.resume_reading()
    await slow.closed(4002)


@pytest.mark.one_process("a drain of one process ends them all")
async def test_a_drain_lets_streams_come_back_elsewhere(make_server, streams):
    own = make_server({"drain.duration": 4}, frozen=True)
    alice = await streams(own, "alice")
    own.terminate()
    assert (await alice.expect("onServerDraining"))["retryAfterMs"] >= 0
    await alice.call("ping")
    with pytest.raises(Refused, match="503"):
        await open_stream(own, {"token": make_token("bob", now=own.now)})
    await own.advance(seconds=4.5)
    await alice.closed(4001)
    own.resume()
    assert own.wait() == 0


async def test_refusals_can_be_found_out(make_server):
    own = make_server({"log.level": "debug"})
    with pytest.raises(Refused, match="403"):
        await open_stream(own, {"token": "x"}, {"Origin": "https://evil.example"})
    assert (await ask(own, "POST", "/rpc", {"Authorization": "Bearer x"})).status == 401
    await (await open_stream(own)).closed(4500)
    own.metric_becomes("throng_upgrades_refused_total", 1, reason="origin")
    own.metric_becomes("throng_http_refused_total", 1, status=401)
    own.metric_becomes("throng_sign_ins_refused_total", 1, code=70003)
    lines = [json.loads(line) for line in own.log.splitlines()]
    (origin,) = [line for line in lines if line["message"] == "upgrade refused"]
    assert origin["origin"] == "https://evil.example" and origin["key"] == "allowedOrigins"
    (http,) = [line for line in lines if line["message"] == "HTTP request refused"]
    assert http["status"] == 401 and http["path"] == "/rpc" and http["method"] == "POST"
    (sign_in,) = [line for line in lines if line["message"] == "sign-in refused"]
    assert "without a token" in sign_in["reason"]
    assert "Bearer x" not in own.log


# Listeners and proxies

async def test_over_tls(make_server, tmp_path, streams, make_world):
    own = make_server(make_certificate(tmp_path))
    alice = await streams(own, "alice")
    bob = await streams(own, "bob")
    group = await make_world(own).group(alice, "Public", [bob])
    for number in range(3):
        await alice.call("sendGroupTextMessage", groupID=group, text="x" * 10000)
        await bob.expect("onRecvNewMessage", groupID=group)
    await alice.call("logout")
    await alice.closed(1000)
    await bob.call("ping")


async def test_over_a_unix_socket(make_server, tmp_path, streams):
    own = make_server({"heartbeat.interval": 1, "heartbeat.timeout": 1}, listen=f"unix:{tmp_path}/s")
    alice = await streams(own, "alice")
    await asyncio.to_thread(own.wait_until, lambda: alice.socket.comments >= 3, "three comments")
    await alice.call("ping")


@pytest.mark.parametrize("kind", PROXIES)
async def test_through_a_proxy_that_breaks_upgrades(start, streams, kind):  # noqa: F811
    own, proxy = start(kind, edit=without_upgrades)
    with pytest.raises((InvalidHandshake, InvalidMessage)):
        await Person.sign_in(proxy, "mallory")
    own.front = proxy
    alice, bob = await streams(own, "alice", platform="Web"), await streams(own, "bob", platform="Web")
    assert addresses(own, "alice") == ["127.0.0.1"]
    group = (await alice.call("createGroup", groupType="Public", groupName="g", joinMode="Any"))["groupID"]
    await bob.call("joinGroup", groupID=group)
    for number in range(20):
        # Each waits for the event before: one that a proxy kept for more to come would never arrive.
        await alice.call("sendGroupTextMessage", groupID=group, text=f"{number}")
        await bob.expect("onRecvNewMessage", message=has(text=f"{number}"))
    page = {"Origin": f"https://{proxy.host}"}
    assert (await alice.socket.post(PING, headers=page)).status == 200
    assert (await alice.socket.post(PING, headers={"Origin": "https://evil.example"})).status == 403
    own.rpc("kickUser", userID="bob")
    await bob.closed(4503)


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_quiet_stream_stays_open_behind_a_proxy(start, streams, kind):  # noqa: F811
    """Comments come more often than the proxy's patience ends: both are in the files of Scripts/deploy and by default."""
    shorter = {
        "nginx": (r"proxy_(read|send)_timeout 90s", r"proxy_\1_timeout 3s"),
        "haproxy": (r"timeout (client|server) 90s", r"timeout \1 3s"), "caddy": (r"$^", "")}[kind]

    def edit(text):
        changed = re.sub(*shorter, text)
        assert changed != text or kind == "caddy"
        return changed

    own, proxy = start(kind, {"heartbeat.interval": 1}, edit=edit)
    own.front = proxy
    alice = await streams(own, "alice")
    await asyncio.to_thread(own.wait_until, lambda: alice.socket.comments >= 8, "eight comments")
    assert alice.socket.close_code is None
    await alice.call("ping")


async def test_behind_the_proxy_protocol_and_tls(start, streams):  # noqa: F811
    own, proxy = start("haproxy", {"proxyProtocol": "true"}, file="haproxy-tcp.cfg", tls=True)
    own.front = proxy
    alice = await open_stream(own, {"token": make_token("alice")}, user="alice", source="127.0.0.7")
    await alice.expect("onConnectSuccess")
    assert addresses(own, "alice") == ["127.0.0.7"]
    await alice.call("logout")
    await alice.closed(1000)


async def test_websockets_and_streams_of_a_crowd(server, world, streams):
    """One event of a room reaches all of both kinds."""
    owner = await world.user()
    room = await world.group(owner, "AVChatRoom")
    people = [*await asyncio.gather(*(streams(server, world.name()) for _ in range(20))),
              *await asyncio.gather(*(world.user() for _ in range(20)))]
    await asyncio.gather(*(one.call("joinGroup", groupID=room) for one in people))
    await owner.call("sendGroupTextMessage", groupID=room, text="to all", priority="High")
    heard = await within(
        asyncio.gather(*(one.expect("onRecvNewMessage", groupID=room, message=has(text="to all")) for one in people)), 60)
    assert all(params == heard[0] for params in heard)
    assert isinstance(people[-1], Client)
