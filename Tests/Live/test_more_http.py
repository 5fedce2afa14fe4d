"""Section 8: HTTP as it comes from the network, on both listeners."""
import asyncio
import json

import pytest

from harness.tokens import admin_token
from harness.limits import beyond_the_library

PATIENCE = 20
GET = "GET /healthz HTTP/1.1\r\nHost: throng\r\n\r\n"
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})


async def spoken(address, text, until=None):
    """What a listener answers to these bytes: up to its end, or until there are this many status lines."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.encode("latin-1"))
    answer = b""
    try:
        while until is None or answer.count(b"HTTP/1.1 ") < until:
            part = await asyncio.wait_for(reader.read(65536), PATIENCE)
            if not part:
                break
            answer += part
    finally:
        writer.close()
    return answer.decode("latin-1")


def posted(body=PING, path="/rpc", credential=True, version="1.1", length=None, more=""):
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
    """A server of its own: whether the second is answered or the connection ends, the others must be served on."""
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
    answer = await spoken(server.internal_address, posted(length=2**32 + len(PING)))
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


@pytest.mark.parametrize("version", ["12", "8", "x"])
async def test_another_version_of_websocket_is_told_which_is_spoken(world, version):
    request = (f"GET /ws HTTP/1.1\r\nHost: {world.server.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: {version}\r\n\r\n")
    answer = await spoken(world.server.address, request)
    assert answer.split(" ")[1] == "426" and "sec-websocket-version: 13" in answer.lower()


@pytest.mark.parametrize("query", [
    beyond_the_library("token=%zz"), beyond_the_library("token=%"), "token", "token=a%20b"])
async def test_a_token_that_is_no_text_does_not_fail_the_upgrade(world, query):
    """Section 2: the connection closes with 4500, because a browser could not see why an upgrade fails."""
    raw = await world.raw(path="/ws?" + query)
    assert raw.status == 101
    assert await raw.close_code() == 4500
