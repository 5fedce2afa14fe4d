"""Nothing is refused without saying why: a line of the log, a counter, a body (Operations.md,
"Refusals")."""
import asyncio
import json

import pytest

from harness.raw import RawSocket
from harness.tokens import OTHER_SECRET, make_token


def entries(own, message):
    """The log's entries with this message, as they are."""
    found = [json.loads(line) for line in own.log.splitlines() if line.startswith("{")]
    return [entry for entry in found if entry["message"] == message]


async def entry(own, message, **fields):
    """The first entry with these fields; waits for it, because lines are written behind what they
    tell of."""
    def matching():
        return [one for one in entries(own, message) if all(one.get(name) == value for name, value in fields.items())]
    await asyncio.to_thread(own.wait_until, matching, f"{message} {fields}")
    return matching()[0]


@pytest.fixture
def telling(make_server):
    return make_server({"log.level": "debug"})


async def upgrade_body(own, *headers, path="/ws"):
    """Status and body of a refused upgrade."""
    raw = await RawSocket.open(own, path=path, headers=headers)
    body = await raw.reader.readexactly(int(raw.headers["content-length"]))
    raw.writer.close()
    return raw.status, body.decode()


async def test_a_foreign_origin_is_a_warning_once_a_minute_and_pair(make_server):
    own = make_server(frozen=True)

    async def is_refused(origin):
        status, body = await upgrade_body(own, f"Origin: {origin}")
        assert status == 403 and body.startswith("403: ") and "Origin" in body and "allowedOrigins" in body
    for origin in ("https://evil.example", "https://evil.example", "null"):
        await is_refused(origin)
    refused = await entry(own, "upgrade refused", origin="null")
    assert refused["level"] == "warning" and refused["host"] == own.address and "allowedOrigins" in refused["key"]
    await own.advance(seconds=59.9)
    await is_refused("null")
    await own.advance(seconds=0.1)
    await is_refused("https://evil.example")
    await is_refused("https://third.example")
    await entry(own, "upgrade refused", origin="https://third.example")
    assert [one["origin"] for one in entries(own, "upgrade refused")] == [
        "https://evil.example", "null", "https://evil.example", "https://third.example"]
    own.metric_becomes("throng_upgrades_refused_total", 6, reason="origin")


async def test_an_upgrade_elsewhere_or_of_another_kind_is_told(telling):
    status, body = await upgrade_body(telling, path="/chat?token=a-secret-token")
    assert status == 404 and "/ws" in body
    refused = await entry(telling, "upgrade refused", path="/chat")
    assert refused["status"] == 404 and refused["address"] == "127.0.0.1" and refused["level"] == "debug"
    assert "a-secret-token" not in telling.log
    status, body = await upgrade_body(telling, "Sec-WebSocket-Protocol: " + "x" * 200)
    assert status == 431 and "Sec-WebSocket-Protocol" in body
    assert "Sec-WebSocket-Protocol" in (await entry(telling, "upgrade refused", status=431))["reason"]
    for reason in ("path", "headers"):
        telling.metric_becomes("throng_upgrades_refused_total", 1, reason=reason)


async def test_a_refused_sign_in_is_told_without_its_token(make_server, make_world):
    own = make_server()
    world = make_world(own)
    tokens = {70001: make_token("alice", ttl=-60), 70003: "no-token-at-all", 70009: make_token("alice", secret=OTHER_SECRET)}
    for token in tokens.values():
        client = await world.open(query={"token": token})
        await client.closed(4500)
    alice = await world.user("alice")
    await alice.refused(6015, "login", token=make_token("somebody"))
    for code in (*tokens, 6015):
        refused = await entry(own, "sign-in refused", code=code)
        assert refused["level"] == "info" and refused["address"] == "127.0.0.1" and refused["reason"]
        own.metric_becomes("throng_sign_ins_refused_total", 1, code=code)
    assert (await entry(own, "sign-in refused", code=6015))["userID"] == alice.user
    assert (await entry(own, "sign-in refused", code=70001))["userID"] == "alice"
    assert "userID" not in await entry(own, "sign-in refused", code=70009), "nobody has shown to be alice"
    assert not [token for token in tokens.values() if token in own.log]


UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize("make, user, words", [
    (lambda: make_token("alice", exp=None), "alice", "it has no exp"),
    (lambda: make_token("alice", exp="soon"), "alice", "exp is text"),
    (lambda: make_token(UUID), None, f'sub "{UUID}" has 36 bytes; a userID has 1 to 32'),
    (lambda: make_token("alice", nbf=4_000_000_000), "alice", "nbf is 2096-10-02T07:06:40Z"),
    (lambda: make_token("alice", ttl=-60), "alice", "exp was "),
    (lambda: make_token("alice", adm=True), "alice", "internal listener"),
])
async def test_a_signed_token_is_refused_with_its_reason(make_server, make_world, make, user, words):
    own = make_server()
    world = make_world(own)
    client = await world.open()
    token = make()
    answer = await client.exchange({"jsonrpc": "2.0", "id": "t", "method": "login", "params": {"token": token}})
    code, message = answer["error"]["code"], answer["error"]["message"]
    assert words in message
    by_upgrade = await world.open(query={"token": token})
    reason = await by_upgrade.closed(4500)
    assert reason.startswith(f"{code} ") and words in reason
    refused = await entry(own, "sign-in refused", code=code)
    assert words in refused["reason"] and refused.get("userID") == user


@pytest.mark.parametrize("make, words", [
    (lambda: make_token("alice", algorithm="HS512"), 'its alg is "HS512"; this server accepts HS256'),
    (lambda: make_token("alice", secret=OTHER_SECRET), "this server's secret has not signed it"),
    (lambda: "no-token-at-all", "it is not three parts"),
    (lambda: make_token("alice") + "=", "base64url"),
])
async def test_the_reason_of_a_token_that_nobody_signed_is_in_the_log_alone(make_server, make_world, make, words):
    own = make_server()
    world = make_world(own)
    token = make()
    client = await world.open()
    answer = await client.exchange({"jsonrpc": "2.0", "id": "t", "method": "login", "params": {"token": token}})
    code, message = answer["error"]["code"], answer["error"]["message"]
    assert message == {70003: "The token cannot be accepted", 70009: "The token was signed with another key"}[code]
    by_upgrade = await world.open(query={"token": token})
    assert await by_upgrade.closed(4500) == f"{code} {message}"
    refused = await entry(own, "sign-in refused", code=code)
    assert words in refused["reason"] and "userID" not in refused and token not in own.log


@pytest.mark.one_process("each node has a line of its own")
async def test_a_token_in_milliseconds_signs_in_and_warns_once_a_minute(make_server, make_world):
    own = make_server(frozen=True)
    world = make_world(own)
    far = {"exp": int(own.now * 1000) + 3_600_000}
    for user in ("alice", "bob"):
        await world.session(user, token=make_token(user, **far))
    warning = await entry(own, "a token ends too far ahead", count=1)
    assert warning["level"] == "warning" and warning["userID"] == "alice" and "milliseconds" in warning["reason"]
    await own.advance(seconds=60)
    carol = await world.session("carol", token=make_token("carol", **far))
    assert (await entry(own, "a token ends too far ahead", count=2))["userID"] == "carol"
    await carol.call("login", token=make_token("carol", **far))
    assert len(entries(own, "a token ends too far ahead")) == 2


def test_the_credential_of_the_backend_is_refused_with_its_reason(make_server):
    own = make_server()
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = own.post_rpc(ping, make_token("backend", adm=True, exp=None))
    assert answer.status == 401 and "it has no exp" in answer.text
    answer = own.post_rpc(ping, make_token("backend", adm=True, algorithm="HS512"))
    assert answer.status == 401 and "HS512" not in answer.text
    answer = own.post_rpc(ping, make_token("alice"))
    assert answer.status == 401 and "this token is a user's" in answer.text
    own.wait_until(lambda: len(entries(own, "unauthorized call")) == 3, "three lines")
    signed, unsigned, of_user = entries(own, "unauthorized call")
    assert of_user["userID"] == "alice" and "this token is a user's" in of_user["reason"]
    assert signed["userID"] == "backend" and "it has no exp" in signed["reason"]
    assert "userID" not in unsigned and 'its alg is "HS512"' in unsigned["reason"]


@pytest.mark.one_process("limits of connections are those of a node")
async def test_what_the_server_closes_is_told_and_what_its_client_closes_is_not(make_server, make_world):
    # A connection that has not signed in would be closed.
    own = make_server({"log.level": "debug", "limits.connectionsPerAddress": 2}, frozen=True)
    world = make_world(own)
    alice = await world.user("alice")
    binary = await world.raw()
    binary.write(2, b"x")
    assert await binary.close_code() == 1003
    assert (await entry(own, "connection closed", code=1003))["address"] == "127.0.0.1"
    await binary.cut()
    own.metric_becomes("throng_connections", 1)
    own_wish = await world.open()
    more = await world.open()
    await more.closed(4005)
    assert (await entry(own, "connection closed", code=4005))["reason"] == "connection limit"
    await own_wish.socket.close(4003)
    assert own.rpc("kickUser", userID=alice.user)["result"]["kicked"] == 1
    await alice.closed(4503)
    assert (await entry(own, "connection closed", code=4503))["userID"] == alice.user
    own.metric_becomes("throng_connections", 0)
    assert not [one for one in entries(own, "connection closed") if one["code"] in (4003, 1000)]


async def test_a_refused_request_is_told(telling, make_world):
    alice = await make_world(telling).user("alice")
    await alice.refused(10010, "joinGroup", groupID="nowhere")
    refused = await entry(telling, "request refused", code=10010)
    assert refused["method"] == "joinGroup" and refused["userID"] == alice.user and refused["level"] == "debug"


async def test_nothing_is_told_at_info_of_what_any_client_can_do_all_day(make_server, make_world):
    own = make_server()
    alice = await make_world(own).user("alice")
    await alice.refused(10010, "joinGroup", groupID="nowhere")
    own.http("GET", "/nowhere", public=True)
    await alice.call("logout")
    assert own.stop() == 0
    assert not [message for message in ("request refused", "HTTP request refused", "connection closed") if entries(own, message)]


@pytest.mark.parametrize("method, path, public, status, words", [
    ("GET", "/nowhere", True, 404, "/ws"), ("GET", "/ws", True, 426, "WebSocket"), ("POST", "/ws", True, 405, "GET"),
    ("GET", "/nowhere", False, 404, "/metrics"), ("POST", "/healthz", False, 405, "GET"),
    ("POST", "/rpc", False, 401, "Bearer"),
])
async def test_the_body_of_a_refusal_is_a_sentence(telling, method, path, public, status, words):
    answer = telling.http(method, path + "?token=a-secret-token", public=public)
    assert answer.status == status and answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith(f"{status}: ") and words in answer.text and len(answer.text.split()) > 4
    telling.metric_becomes("throng_http_refused_total", 1, status=status)
    message = "unauthorized call" if status == 401 else "HTTP request refused"
    refused = await entry(telling, message)
    assert status == 401 or (refused["path"] == path and refused["method"] == method and refused["status"] == status)
    assert "a-secret-token" not in telling.log


async def test_a_body_that_is_too_large_or_in_chunks_is_told(telling):
    answer = telling.post_rpc(b"x" * ((1 << 20) + 1))
    assert answer.status == 413 and "1 MiB" in answer.text
    host, port = telling.internal_address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /rpc HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    answer = (await reader.read()).decode()
    writer.close()
    assert answer.startswith("HTTP/1.1 411 ") and "Content-Length" in answer.split("\r\n\r\n")[1]
    for status in (413, 411):
        telling.metric_becomes("throng_http_refused_total", 1, status=status)
        await entry(telling, "HTTP request refused", status=status)


@pytest.mark.parametrize("size", [24, 32])
async def test_headers_that_are_too_long_are_told(telling, size):
    status, body = await upgrade_body(telling, "Authorization: Bearer " + "x" * size * 1024)
    assert status == 431 and "20 KiB" in body
    telling.metric_becomes("throng_upgrades_refused_total", 1, reason="headers")
    answer = telling.http("GET", "/healthz", headers={"Cookie": "x" * size * 1024})
    assert answer.status == 431 and answer.text.startswith("431: ")
    telling.metric_becomes("throng_http_refused_total", 1, status=431)


async def test_the_name_of_an_unknown_method_stands_in_the_log_and_in_no_label(telling, make_world):
    alice = await make_world(telling).user("alice")
    for name, shown in (("addGroupMember", "addGroupMember"), ("a\u001b[2J", "a\u001b[2J"), ("é" * 40, "é" * 32)):
        await alice.refused(-32601, name)
        line = await entry(telling, "request refused", sentMethod=shown)
        assert line["method"] == "unknown" and line["code"] == -32601
    assert "\x1b" not in telling.log, "a terminal that shows the log obeys nobody"
    assert "addGroupMember" not in telling.http("GET", "/metrics").text


async def test_unknown_parameters_are_named_at_debug_and_ignored(telling, make_world):
    world = make_world(telling)
    alice = await world.user("alice")
    group = (await alice.call("createGroup", groupType="Public", groupName="g", members=["bob"]))["groupID"]
    line = await entry(telling, "unknown parameters", method="createGroup")
    assert line["parameters"] == "members (the nearest is memberList)"
    assert line["level"] == "debug" and line["userID"] == alice.user and line["address"] == "127.0.0.1"
    assert "result" in await asyncio.to_thread(telling.rpc, "getGroupMemberList", groupID=group, filtr="a secret")
    line = await entry(telling, "unknown parameters", method="getGroupMemberList")
    assert line["parameters"] == "filtr (the nearest is filter)" and "a secret" not in telling.log
    answer = await alice.exchange({"jsonrpc": "2.0", "id": 1, "method": "joinGroup", "parms": {"groupID": "a secret"}})
    assert answer["error"]["code"] == -32602 and answer["error"]["data"]["field"] == "groupID"
    line = await entry(telling, "unknown parameters", method="joinGroup")
    assert line["parameters"] == "parms of the request (the nearest is params)" and "a secret" not in telling.log


async def test_a_strict_server_refuses_unknown_parameters(make_server, make_world):
    own = make_server({"strictParameters": "true", "log.level": "debug"})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    data = await alice.refused(-32602, "setGroupInfo", groupID=group, name="other")
    assert data == {"temporary": False, "field": "name"}
    assert "the nearest is groupName" in (await entry(own, "request refused", field="name"))["reason"]
    rows = [{"userID": bob.user, "rol": "Admin"}]
    assert (await alice.refused(-32602, "createGroup", groupType="Public", groupName="g", memberList=rows))["field"] == "rol"
    assert (await asyncio.to_thread(own.rpc, "getStats", all=True))["error"]["data"]["field"] == "all"
    answer = await alice.exchange({"jsonrpc": "2.0", "id": "own", "method": "ping", "parms": {}})
    assert answer["id"] == "own" and answer["error"]["code"] == -32602 and answer["error"]["data"]["field"] == "parms"
    assert not entries(own, "unknown parameters"), "a refusal has a line of its own"
    # What clients send belongs to the protocol.
    await alice.call("setGroupInfo", groupID=group, groupName="other")
    await bob.expect("onGroupInfoChanged", groupID=group)
