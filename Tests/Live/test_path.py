"""`path` and the demo page beside it (Protocol.md, "Public listener")."""
import re

import pytest

from harness.raw import RawSocket


@pytest.fixture
def below(make_server):
    return make_server({"path": "/chat/ws", "demo": "true"})


async def test_the_websocket_is_at_the_path_exactly(below, make_world):
    await make_world(below).user("alice")
    for path in ("/ws", "/chat/ws/", "/chat", "/chat/", "/chat/WS", "/chat/ws/x", "/"):
        raw = await RawSocket.open(below, path=path)
        assert raw.status == 404, path
        body = await raw.reader.readexactly(int(raw.headers["content-length"]))
        assert b"/chat/ws" in body
        await raw.cut()


def test_http_follows(below):
    statuses = {path: below.http("GET", path, public=True).status for path in ("/", "/ws", "/chat", "/chat/", "/chat/ws", "/chat/ws/")}
    assert statuses == {"/": 404, "/ws": 404, "/chat": 404, "/chat/": 200, "/chat/ws": 426, "/chat/ws/": 404}
    assert below.http("POST", "/chat/ws", public=True).status == 405
    assert "/chat/ws" in below.http("GET", "/ws", public=True).text


def test_the_demo_page_connects_relative_to_itself(below, make_server):
    assert '<meta name="socket" content="ws">' in below.http("GET", "/chat/", public=True).text
    top = make_server({"path": "/socket", "demo": "true"})
    assert '<meta name="socket" content="socket">' in top.http("GET", "/", public=True).text
    assert not re.search(r"location\.host\b", below.http("GET", "/chat/", public=True).text)


async def test_by_default_it_is_ws(server):
    for path, status in (("/ws", 101), ("/ws/", 404), ("/", 404)):
        raw = await RawSocket.open(server, path=path)
        assert raw.status == status, path
        await raw.cut()
