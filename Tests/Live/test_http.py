"""HTTP: the internal listener, and requests as they come from the network on both (Protocol.md,
"HTTP")."""
import asyncio
import json

import pytest

from harness.client import has
from harness.limits import beyond_the_library
from harness.tokens import OTHER_SECRET, admin_token, make_token
from harness.waiting import within
from harness.world import info_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
METHODS = {
    "createGroup", "joinGroup", "quitGroup", "dismissGroup", "getJoinedGroupList", "getGroupsInfo", "setGroupInfo",
    "getGroupMemberList", "getGroupMembersInfo", "getGroupOnlineMemberCount", "sendGroupTextMessage",
    "sendGroupCustomMessage", "getGroupHistoryMessageList", "syncGroups", "getServerInfo", "ping", "login", "logout",
}


def test_health_and_readiness(server):
    assert server.http("GET", "/healthz").status == 200
    assert server.http("GET", "/readyz").status == 200


OPEN_PATHS = ["/metrics", "/openrpc.json", "/asyncapi.json", "/console", "/cluster"]


def test_a_host_that_somebody_may_have_registered_reads_nothing(make_server):
    """A page of evil.example lets its name point here (DNS rebinding), and has no credential."""
    own, evil = make_server(), {"Host": "evil.example:8081"}
    for path in OPEN_PATHS:
        answer = own.http("GET", path, headers=evil)
        assert answer.status == 421 and "internalHosts" in answer.text and "throng_" not in answer.text, path
        for host in (own.internal_address, "localhost:8081", "throng:8081", "throng.monitoring.svc.cluster.local"):
            assert own.http("GET", path, headers={"Host": host}).status in (200, 404), (path, host)
    own.wait_until(lambda: own.log.count("HTTP request refused") == len(OPEN_PATHS), "a line for each path")
    lines = [json.loads(line) for line in own.log.splitlines() if "HTTP request refused" in line]
    assert {line["path"] for line in lines} == set(OPEN_PATHS) and {line["key"] for line in lines} == {"internalHosts"}
    assert all(line["level"] == "warning" and line["host"] == "evil.example:8081" for line in lines)
    own.metric_becomes("throng_http_refused_total", len(OPEN_PATHS), status=421)
    # A balancer's questions, and calls that need a credential, are answered whatever they name.
    assert [own.http("GET", path, headers=evil).status for path in ("/healthz", "/readyz")] == [200, 200]
    called = own.http("POST", "/rpc", json.dumps(PING), {**evil, "Authorization": f"Bearer {admin_token()}"})
    assert called.status == 200 and "result" in called.json()
    assert own.http("POST", "/rpc", json.dumps(PING), evil).status == 401


def test_a_scraper_may_use_a_name_that_the_key_allows(make_server):
    own = make_server({"internalHosts": "metrics.example.com,*.corp.example", "trustedProxies": "127.0.0.1"})
    for host, status in [("metrics.example.com", 200), ("one.corp.example:8081", 200), ("corp.example", 421), ("example.com", 421)]:
        assert own.http("GET", "/metrics", headers={"Host": host}).status == status, host
    # Behind a proxy both hosts have to be good: a page can write the header, too.
    for host, told, status in [("localhost", "metrics.example.com", 200), ("localhost", "evil.example", 421),
                               ("evil.example", "localhost", 421)]:
        answer = own.http("GET", "/metrics", headers={"Host": host, "X-Forwarded-Host": told})
        assert answer.status == status, (host, told)
    assert make_server({"internalHosts": "*"}).http("GET", "/metrics", headers={"Host": "evil.example"}).status == 200


@pytest.mark.parametrize("method, path, allowed", [
    ("POST", "/healthz", "GET"), ("DELETE", "/readyz", "GET"), ("PUT", "/metrics", "GET"), ("POST", "/openrpc.json", "GET"),
    ("GET", "/rpc", "POST"), ("PATCH", "/rpc", "POST"), ("PUT", "/rpc", "POST"),
])
def test_a_wrong_method_is_405_with_allow_before_the_credential(server, method, path, allowed):
    response = server.http(method, path, body="{}" if method != "GET" else None)
    assert response.status == 405
    assert allowed in [name.strip() for name in response.headers["allow"].split(",")]


def test_a_wrong_path_is_404_before_the_method(server):
    for method in ("GET", "POST", "DELETE"):
        for path in ("/nowhere", "/rpc/x", "/healthzz"):
            assert server.http(method, path).status == 404


def test_the_public_listener_shows_nothing_internal(server):
    for path in ("/healthz", "/readyz", "/metrics", "/openrpc.json", "/nowhere"):
        assert server.http("GET", path, public=True).status == 404
    headers = {"Authorization": f"Bearer {admin_token()}"}
    assert server.http("POST", "/rpc", json.dumps(PING), headers, public=True).status == 404


@pytest.mark.parametrize("credential", [
    None, "", "abc", "user", "expired", "another key",
])
def test_a_missing_or_wrong_credential_is_401(server, credential):
    made = {
        "user": make_token("alice"), "expired": admin_token(ttl=-60), "another key": admin_token(secret=OTHER_SECRET),
    }
    answer = server.post_rpc(PING, made.get(credential, credential))
    assert answer.status == 401
    # What is wrong is told, as a sign-in does.
    error, words = {
        None: (None, "send Authorization"), "": (None, "send Authorization"), "abc": ("invalid_token", "neither the API key"),
        "user": ("insufficient_scope", "--admin"), "expired": ("invalid_token", "has expired"),
        "another key": ("invalid_token", "another key"),
    }[credential]
    assert answer.headers["www-authenticate"] == (f'Bearer error="{error}"' if error else "Bearer")
    assert words in answer.text


def test_the_credential_comes_before_the_size_of_the_body(server):
    large = json.dumps({**PING, "params": {"pad": "x" * (1 << 20)}})
    assert server.post_rpc(large, credential="abc").status == 401
    assert server.post_rpc(large).status == 413
    fitting = json.dumps({**PING, "params": {"pad": ""}})
    fitting = fitting.replace('"pad": ""', '"pad": "%s"' % ("x" * ((1 << 20) - len(fitting))))
    assert len(fitting) == 1 << 20
    assert server.post_rpc(fitting).json()["result"]["serverTime"]


def test_everything_else_is_200_with_a_json_rpc_answer(server):
    unknown = json.dumps({**PING, "method": "noSuchMethod"})
    for body, code in (("{", -32700), ("[]", -32600), ("5", -32600), (unknown, -32601)):
        response = server.post_rpc(body)
        assert response.status == 200 and response.json()["error"]["code"] == code
    response = server.post_rpc(PING)
    assert response.status == 200 and response.headers["content-type"].startswith("application/json")


def test_requests_without_id_are_204(server):
    silent = {"jsonrpc": "2.0", "method": "ping"}
    response = server.post_rpc(silent)
    assert (response.status, response.body) == (204, b"")
    assert server.post_rpc([silent, silent]).status == 204


def test_a_batch_over_http(server):
    answer = server.post_rpc([PING, {**PING, "id": 2, "method": "noSuchMethod"}, {"jsonrpc": "2.0", "method": "ping"}]).json()
    assert [reply["id"] for reply in answer] == [1, 2]


def test_there_is_no_session_rate_limit(make_server):
    own = make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 1})
    for _ in range(5):
        assert all("result" in reply for reply in own.post_rpc([PING] * 20).json())


def test_the_api_key_is_a_credential_as_well(make_server):
    own = make_server({"admin.apiKey": "an-api-key-of-the-live-tests-0123456789"})
    assert own.post_rpc(PING, "an-api-key-of-the-live-tests-0123456789").status == 200
    assert own.post_rpc(PING).status == 200
    assert own.post_rpc(PING, "an-api-key-of-the-live-tests-012345678").status == 401


async def test_as_user_runs_with_that_users_rights(server, world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    answer = server.rpc("setGroupInfo", groupID=group, groupName="x", asUser=bob.user)
    assert answer["error"]["code"] == 10007
    assert server.rpc("joinGroup", groupID=group, asUser=bob.user)["result"] == {"status": "Joined"}
    event = await bob.expect("onMemberEnter", groupID=group)
    assert event["memberList"][0]["userID"] == bob.user
    sent = server.rpc("sendGroupTextMessage", groupID=group, text="x", asUser=bob.user)["result"]
    for client in (alice, bob):
        message = (await client.expect("onRecvNewMessage", groupID=group))["message"]
        assert has(sender=bob.user, msgID=sent["msgID"])(message)
    assert server.rpc("quitGroup", groupID=group, asUser=bob.user)["result"] == {}


@pytest.mark.parametrize("method, params", [
    ("joinGroup", {"groupID": "g"}), ("quitGroup", {"groupID": "g"}), ("getJoinedGroupList", {}),
    ("syncGroups", {"groups": [{"groupID": "g", "epoch": "e", "seq": 0}]}),
])
def test_what_means_nothing_without_a_user_names_as_user(server, method, params):
    error = server.rpc(method, **params)["error"]
    assert error["code"] == -32602 and error["data"]["field"] == "asUser"


def test_login_and_logout_do_not_exist_over_http(server):
    assert server.rpc("login", token=make_token("alice"))["error"]["code"] == -32601
    assert server.rpc("logout")["error"]["code"] == -32601
    assert server.rpc("logout", asUser="alice")["error"]["code"] == -32601


async def test_an_administrator_creates_a_group_for_its_owner(server, world):
    alice, bob = await world.users("alice", "bob")
    assert server.rpc("createGroup", groupType="Public", groupName="g")["error"]["data"]["field"] == "ownerUserID"
    answer = server.rpc("createGroup", groupType="Public", groupName="g", ownerUserID=alice.user,
                        memberList=[{"userID": bob.user}])["result"]
    for client in (alice, bob):
        await client.expect("onGroupCreated", groupID=answer["groupID"])
    assert (await info_of(bob, answer["groupID"]))["owner"] == alice.user
    as_bob = server.rpc("createGroup", groupType="Work", groupName="g", asUser=bob.user)["result"]
    assert (await info_of(bob, as_bob["groupID"]))["selfInfo"]["role"] == "Owner"


async def test_an_administrator_is_not_bound_by_membership_or_modes(server, world):
    alice = await world.user("alice")
    group = await world.group(alice, "Work", updateInfoMode="Owner")
    assert server.rpc("setGroupInfo", groupID=group, groupName="by the backend")["result"] == {}
    event = await alice.expect("onGroupInfoChanged", groupID=group)
    assert event["opUser"] == {"userID": "administrator"} and event["platform"] == "RESTful API"
    row = server.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"][0]
    assert row["info"]["groupName"] == "by the backend"
    assert server.rpc("getGroupMemberList", groupID=group)["result"]["memberList"][0]["userID"] == alice.user


async def test_what_only_the_backend_may_call_does_not_exist_on_the_websocket(world):
    alice = await world.user("alice")
    for method in ("listGroups", "sendGroupSystemNotification", "recycleGroup", "listSessions", "kickUser", "setUserInfo",
                   "importUsers", "importGroup", "importGroupMembers", "importGroupMessages", "setUnreadCount", "getStats"):
        await alice.refused(-32601, method)


async def test_the_openrpc_document_names_every_method(server, world):
    document = server.http("GET", "/openrpc.json").json()
    assert document["openrpc"].startswith("1.") and document["info"]["title"]
    names = {method["name"] for method in document["methods"]}
    assert METHODS <= names
    alice = await world.user("alice")
    assert {method["name"] for method in (await alice.call("rpc.discover"))["methods"]} <= names
    for name in METHODS - {"login", "logout"}:
        frame = await alice.exchange({"jsonrpc": "2.0", "id": name, "method": name})
        assert frame.get("error", {}).get("code") != -32601, name


# As it comes from the network

PATIENCE = 20
GET = "GET /healthz HTTP/1.1\r\nHost: throng\r\n\r\n"


async def spoken(address, text, until=None):
    """A listener's answer to these bytes, up to its end or a number of status lines."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.encode("latin-1"))
    answer = b""
    try:
        while until is None or answer.count(b"HTTP/1.1 ") < until:
            part = await within(reader.read(65536), PATIENCE)
            if not part:
                break
            answer += part
    finally:
        writer.close()
    return answer.decode("latin-1")


def posted(body=json.dumps(PING), path="/rpc", credential=True, version="1.1", length=None, more=""):
    authorization = f"Authorization: Bearer {admin_token()}\r\n" if credential else ""
    return (f"POST {path} HTTP/{version}\r\nHost: throng\r\n{authorization}{more}"
            f"Content-Length: {len(body) if length is None else length}\r\n\r\n{body}")


def status_lines(answer):
    return [part.split(" ", 1)[0] for part in answer.split("HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("listener, request_, status", [
    ("internal", posted(), "200"),
    ("internal", posted(credential=False), "401"),
    ("public", posted("abcd", path="/nowhere", credential=False), "404"),
    ("public", posted("abcd", path="/ws", credential=False), "405"),
], ids=["rpc", "rpc without credential", "a path that is none", "the wrong method"])
async def test_requests_with_a_body_in_one_go_do_not_stop_the_server(make_server, listener, request_, status):
    """A server of its own: whether the second is answered or the connection ends, the others must
    be served on."""
    own = make_server()
    address = own.internal_address if listener == "internal" else own.address
    answer = await spoken(address, request_ * 3, until=3)
    assert status_lines(answer) in ([status], [status] * 3)
    assert (await asyncio.to_thread(own.http, "GET", "/healthz")).status == 200


@pytest.mark.parametrize("first, then", [(GET, posted()), (posted(), GET), (GET, GET)], ids=["get, post", "post, get", "gets"])
async def test_requests_in_one_go_do_not_stop_the_server(make_server, first, then):
    own = make_server()
    answer = await spoken(own.internal_address, first + then, until=2)
    assert status_lines(answer) in (["200"], ["200", "200"])
    assert (await asyncio.to_thread(own.http, "GET", "/healthz")).status == 200


async def test_http_1_0_is_answered_and_closed(server):
    answer = await spoken(server.internal_address, posted(version="1.0"))
    assert '"serverTime"' in answer


@pytest.mark.parametrize("length", ["-5", "abc", "+62", "99999999999999999999999", str(2**64 + 62)])
async def test_a_length_that_is_none_is_a_bad_request(server, length):
    answer = await spoken(server.internal_address, posted(length=length))
    assert status_lines(answer)[0] == "400"


async def test_two_lengths_are_a_bad_request(server):
    answer = await spoken(server.internal_address, posted(more="Content-Length: 5\r\n"))
    assert status_lines(answer)[0] == "400"


async def test_a_length_over_the_bound_is_refused(server):
    answer = await spoken(server.internal_address, posted(length=2**32 + len(json.dumps(PING))))
    assert status_lines(answer)[0] == "413"


@pytest.mark.parametrize("path", ["/healthz", "/rpc", "/metrics"])
@pytest.mark.parametrize("method", ["OPTIONS", "PATCH", beyond_the_library("TRACE"), beyond_the_library("PROPFIND")])
async def test_a_wrong_method_is_405_whatever_it_is(server, method, path):
    answer = await spoken(server.internal_address, f"{method} {path} HTTP/1.1\r\nHost: throng\r\nConnection: close\r\n\r\n")
    assert answer.split(" ")[1] == "405" and "allow:" in answer.lower()


async def test_a_wrong_method_with_an_upgrade_is_405_with_allow(server):
    request = (f"POST /ws HTTP/1.1\r\nHost: {server.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    answer = await spoken(server.address, request)
    assert answer.split(" ")[1] == "405" and "allow: get" in answer.lower()


@pytest.mark.parametrize("missing", [
    "Sec-WebSocket-Key", "Sec-WebSocket-Version", beyond_the_library("Connection"), "Upgrade"])
async def test_an_upgrade_without_its_headers_is_refused_with_a_4xx(server, missing):
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
               "Sec-WebSocket-Version": "13"}
    del headers[missing]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    answer = await spoken(server.address, f"GET /ws HTTP/1.1\r\nHost: {server.address}\r\n{lines}\r\n", until=1)
    assert answer.startswith("HTTP/1.1 4"), answer


@pytest.mark.parametrize("name", ["X-Request-ID", "Forwarded", "X-Authentication", beyond_the_library("X-Auth")])
async def test_a_header_of_any_name_is_passed_over(server, name):
    """The library knows x-auth-token, and does not see the end of a name that its own goes on from."""
    request = f"GET /healthz HTTP/1.1\r\nHost: throng\r\nConnection: close\r\n{name}: 1\r\n\r\n"
    answer = await spoken(server.internal_address, request)
    assert answer.startswith("HTTP/1.1 200")


@pytest.mark.parametrize("before, behind", [("", " "), (" ", "\t"), ("\t", ""), (" \t ", " \t ")])
async def test_blanks_around_a_value_are_no_part_of_it(world, before, behind):
    """RFC 9110, section 5.5."""
    fields = {"Host": world.server.address, "Origin": f"http://{world.server.address}", "Upgrade": "websocket",
              "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
              "Authorization": f"Bearer {make_token('blank')}"}
    lines = "".join(f"{name}:{before}{value}{behind}\r\n" for name, value in fields.items())
    answer = await spoken(world.server.address, f"GET /ws HTTP/1.1\r\n{lines}\r\n", until=1)
    assert answer.startswith("HTTP/1.1 101") and "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer
    body = '{"jsonrpc":"2.0","id":1,"method":"listSessions","params":{"userID":"blank"}}'
    request = (f"POST /rpc HTTP/1.1\r\nHost: a\r\nAuthorization:{before}Bearer {admin_token()}{behind}\r\n"
               f"Connection:{before}close{behind}\r\nContent-Length:{before}{len(body)}{behind}\r\n\r\n{body}")
    assert "sessionList" in await spoken(world.server.internal_address, request)


@pytest.mark.parametrize("target", ["/ws?deviceID=%00", "/ws?token=a%00b", "/%00"])
async def test_a_zero_in_the_target_is_a_bad_request(world, target):
    raw = await world.raw(path=target)
    assert raw.status == 400


@pytest.mark.parametrize("version", ["12", "8", "x"])
async def test_another_version_of_websocket_is_told_which_is_spoken(world, version):
    request = (f"GET /ws HTTP/1.1\r\nHost: {world.server.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: {version}\r\n\r\n")
    answer = await spoken(world.server.address, request)
    assert answer.split(" ")[1] == "426" and "sec-websocket-version: 13" in answer.lower()


@pytest.mark.parametrize("query", [
    beyond_the_library("token=%zz"), beyond_the_library("token=%"), "token", "token=a%20b"])
async def test_a_token_that_is_no_text_does_not_fail_the_upgrade(world, query):
    """The connection closes with 4500, because a browser could not see why an upgrade fails
    (Protocol.md, "Ways to sign in")."""
    raw = await world.raw(path="/ws?" + query)
    assert raw.status == 101
    assert await raw.close_code() == 4500
