"""The Python client behind the proxies of its environment (Clients.md, "Behind proxies")."""
import ssl
import sys

import pytest
from websockets.asyncio.server import serve

from harness.client import PATIENCE
from harness.client_scene import Peer
from harness.http_proxy import HTTPProxy
from harness.proxy import make_certificate, trusting
from harness.server import REPOSITORY
from harness.stream_peer import StreamPeer
from harness.waiting import within

sys.path.insert(0, str(REPOSITORY / "Sources/Clients/python/src"))
from throng import ThrongClient  # noqa: E402 - behind the path

NAMES = ("http_proxy", "https_proxy", "ws_proxy", "wss_proxy", "socks_proxy", "all_proxy", "no_proxy")


@pytest.fixture
async def proxy(monkeypatch):
    """Starts a proxy, and makes it that of these variables; others are unset."""
    made = []
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    async def make(*variables, tunnels=True):
        made.append(await HTTPProxy.start(tunnels))
        for name in variables:
            monkeypatch.setenv(name, made[-1].url)
        return made[-1]

    yield make
    for one in made:
        await one.end()


@pytest.fixture
async def server():
    """The address of a server that signs everybody in: `await server(kind)` for ws, wss with a context, or streams."""
    ends = []

    async def make(kind="ws", certificate=None):
        if kind == "stream":
            peer = await StreamPeer.start()
            ends.append(peer.end)
            return peer.url
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate["tls.certificateFile"], certificate["tls.keyFile"])
        one = await serve(Peer().handle, "127.0.0.1", 0, compression=None, subprotocols=["throng.v1.json"], ssl=context)

        async def end():
            one.close()
            await one.wait_closed()
        ends.append(end)
        return "%s://127.0.0.1:%d/ws" % (kind, one.sockets[0].getsockname()[1])

    yield make
    for end in ends:
        await end()


async def signs_in(url, **options):
    """Signs in, calls a method, and leaves; gives the transport."""
    transports = []
    client = ThrongClient(url, "a token", random=lambda: 0, **options)
    client.on("state", lambda state: transports.append(state["transport"]) if state["state"] == "online" else None)
    try:
        await within(client.connect(), PATIENCE)
        await within(client.call("getServerInfo"), PATIENCE)
    finally:
        await client.close()
    return transports[-1]


async def test_a_websocket_goes_through_the_tunnel_of_the_proxy(proxy, server):
    url, one = await server(), await proxy("http_proxy")
    assert await signs_in(url) == "websocket"
    assert one.requests == [f"CONNECT {url[5:-3]} HTTP/1.1"]


async def test_and_so_does_one_over_tls(proxy, server, tmp_path):
    certificate = make_certificate(tmp_path)
    url, one, other = await server("wss", certificate), await proxy("https_proxy"), await proxy("http_proxy")
    assert await signs_in(url, ssl=trusting()) == "websocket"
    assert one.asked("CONNECT") == 1 and not other.requests, "the proxy for https is that for wss"


async def test_a_stream_asks_the_proxy_for_each_request(proxy, server):
    url, one = await server("stream"), await proxy("http_proxy")
    assert await signs_in(url, transport="stream") == "stream"
    assert one.requests[0].startswith(f"GET http://{url[5:-3]}/events") and one.asked("POST") >= 1


async def test_where_a_proxy_lets_no_tunnel_through_the_client_goes_by_streams(proxy, server):
    url, one = await server("stream"), await proxy("http_proxy", tunnels=False)
    assert await signs_in(url) == "stream"
    assert one.asked("CONNECT") == 2 and one.asked("GET") == 1


@pytest.mark.parametrize("kind", ["ws", "stream"])
async def test_hosts_without_a_proxy(proxy, server, monkeypatch, kind):
    url, one = await server(kind), await proxy("http_proxy", "https_proxy")
    monkeypatch.setenv("no_proxy", "127.0.0.1,elsewhere.test")
    await signs_in(url, transport="stream" if kind == "stream" else "websocket")
    assert not one.requests


@pytest.mark.parametrize("kind", ["ws", "stream"])
async def test_an_application_may_choose(proxy, server, kind):
    """None, or another one than that of the environment."""
    url, one, other = await server(kind), await proxy("http_proxy"), await proxy()
    transport = "stream" if kind == "stream" else "websocket"
    await signs_in(url, transport=transport, proxy=None)
    assert not one.requests
    await signs_in(url, transport=transport, proxy=other.url)
    assert not one.requests and other.requests
