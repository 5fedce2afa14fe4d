"""`proxyProtocol`: the header before the connection (Protocol.md, "PROXY protocol"). Its grammar stands in
ProxyHeaderTests."""
import asyncio
import socket
import ssl
import struct
from pathlib import Path

import pytest

from harness.raw import RawSocket
from harness.tokens import make_token
from test_tls import certificate  # noqa: F401 - a fixture

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def version_1(source, port=40000):
    family = "TCP6" if ":" in source else "TCP4"
    target = "::1" if ":" in source else "127.0.0.1"
    return f"PROXY {family} {source} {target} {port} 8080\r\n".encode()


def version_2(source=None, extra=b"", command=0x21):
    if source is None:
        return SIGNATURE + bytes([command, 0]) + struct.pack(">H", len(extra)) + extra
    six = ":" in source
    target = "::1" if six else "127.0.0.1"
    addresses = b"".join(socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, one) for one in (source, target))
    body = addresses + struct.pack(">HH", 40000, 8080) + extra
    return SIGNATURE + bytes([command, 0x21 if six else 0x11]) + struct.pack(">H", len(body)) + body


@pytest.fixture
def own(make_server):
    return make_server({"proxyProtocol": "true", "trustedProxies": "127.0.0.0/8,10.0.0.0/8"})


_users = iter(range(10000))


def is_taken(plain):
    """Whether the process at the other end has taken everything that came from this socket."""
    ports = [f":{address[1]:04X}" for address in (plain.getpeername(), plain.getsockname())]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = line.split()
        if [local[-5:], remote[-5:]] == ports:
            return queues.endswith(":00000000")
    return True  # it has closed the connection


class Session(RawSocket):
    """An upgrade that signs in; `pieces` go before it, one at a time."""

    @classmethod
    async def open(cls, server, *pieces, headers=(), context=None):
        host, port = server.address.rsplit(":", 1)
        plain = socket.create_connection((host, int(port)))
        for number, piece in enumerate(pieces):
            if number:
                server.wait_until(lambda: is_taken(plain), "the piece before was read")
            plain.sendall(piece)
        if context:
            plain = await asyncio.to_thread(context.wrap_socket, plain, server_hostname="localhost")
        user = f"user-{next(_users)}"
        lines = ["GET /ws HTTP/1.1", f"Host: {server.address}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
                 f"Authorization: Bearer {make_token(user)}", *headers]
        plain.settimeout(20)
        self = cls(None, None)
        self.plain, self.user, self.server = plain, user, server
        self.answer = b""
        try:
            await asyncio.to_thread(plain.sendall, ("\r\n".join(lines) + "\r\n\r\n").encode())
            while b"onConnectSuccess" not in self.answer:
                got = await asyncio.to_thread(plain.recv, 4096)
                if not got:
                    break
                self.answer += got
        except ConnectionError:
            pass
        return self

    @property
    def address(self):
        if not self.answer.startswith(b"HTTP/1.1 101"):
            return None
        (session,) = self.server.rpc("listSessions", userID=self.user)["result"]["sessionList"]
        return session["address"]


@pytest.mark.parametrize("header, address", [
    (version_1("192.0.2.1"), "192.0.2.1"), (version_1("2001:db8::1"), "2001:db8::1"), (version_1("::ffff:192.0.2.1"), "192.0.2.1"),
    (version_2("192.0.2.1"), "192.0.2.1"), (version_2("2001:db8::1"), "2001:db8::1"),
    (version_2("192.0.2.1", extra=b"\x04\x00\x10" + bytes(16)), "192.0.2.1"),
    (version_2("192.0.2.1", extra=b"\x04\x0f\x00" + bytes(0xF00)), "192.0.2.1"),
    (b"PROXY UNKNOWN\r\n", "127.0.0.1"), (b"PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2\r\n", "127.0.0.1"),
    (version_2(command=0x20), "127.0.0.1"), (version_2("192.0.2.1", command=0x20), "127.0.0.1"), (version_2(), "127.0.0.1"),
], ids=repr)
async def test_the_announced_source_is_the_client(own, header, address):
    session = await Session.open(own, header)
    assert session.address == address
    session.plain.close()


async def test_it_may_come_in_pieces(own):
    for header in (version_1("192.0.2.1"), version_2("192.0.2.1", extra=bytes(20))):
        session = await Session.open(own, *(header[at:at + 3] for at in range(0, len(header), 3)))
        assert session.address == "192.0.2.1"
        session.plain.close()


@pytest.mark.parametrize("pieces", [
    (), (b"PROXY TCP4 192.0.2.1\r\n",), (b"PROXY TCP5 192.0.2.1 192.0.2.2 1 2\r\n",), (version_2("192.0.2.1", command=0x11),),
    (SIGNATURE + b"\x21\x11\x00\x04" + bytes(4),), (SIGNATURE + b"\x21\x11\xff\xff",), (b"PROXY " + b"x" * 200,),
    (version_1("192.0.2.1", port=99999),), (version_1("192.0.2.1")[:-2] + b"\n",),
], ids=repr)
async def test_without_a_good_one_the_connection_is_closed(own, pieces):
    session = await Session.open(own, *pieces)
    assert not session.answer
    session.plain.close()


async def test_one_that_does_not_come_is_not_awaited_for_long(make_server):
    own = make_server({"proxyProtocol": "true", "trustedProxies": "127.0.0.0/8", "loops": 1}, frozen=True)
    host, port = own.address.rsplit(":", 1)
    silent = [socket.create_connection((host, int(port)), timeout=20) for _ in range(5)]
    silent[0].sendall(b"PROXY TCP4 192.0.2.1")
    # The loop that serves a later connection has seen these.
    session = await Session.open(own, version_1("192.0.2.1"))
    await own.advance(seconds=4.8)
    in_time = silent.pop()
    in_time.sendall(version_1("192.0.2.1") + b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert (await asyncio.to_thread(in_time.recv, 4096)).startswith(b"HTTP/1.1 404")
    await own.advance(seconds=0.4)
    for connection in silent:
        assert await asyncio.to_thread(connection.recv, 1) == b""
    for connection in (*silent, in_time, session.plain):
        connection.close()


@pytest.mark.parametrize("settings", [{"proxyProtocol": "true", "trustedProxies": "10.0.0.0/8"}, {"trustedProxies": "127.0.0.0/8"}])
async def test_that_of_a_stranger_is_a_bad_request(make_server, settings):
    own = make_server(settings)
    for header in (version_1("192.0.2.1"), version_2("192.0.2.1"), b"PROXY UNKNOWN\r\n", version_2()):
        session = await Session.open(own, header)
        assert session.answer.startswith(b"HTTP/1.1 400 ") and b"PROXY header" in session.answer
        session.plain.close()
    session = await Session.open(own, b"")
    assert session.address == "127.0.0.1"
    session.plain.close()
    own.metric_becomes("throng_http_refused_total", 4, status="400")


async def test_forwarded_for_counts_only_if_the_announced_source_is_a_proxy(own):
    for source, address in (("192.0.2.1", "192.0.2.1"), ("10.0.0.9", "198.51.100.7")):
        session = await Session.open(own, version_1(source), headers=["X-Forwarded-For: 198.51.100.7"])
        assert session.address == address
        session.plain.close()


async def test_it_comes_before_tls(make_server, certificate):  # noqa: F811
    own = make_server({**certificate(), "proxyProtocol": "true", "trustedProxies": "127.0.0.1"})
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for header in (version_1("192.0.2.1"), version_2("192.0.2.1")):
        session = await Session.open(own, header, context=context)
        assert session.address == "192.0.2.1"
        session.plain.close()


async def test_the_internal_listener_has_none(own):
    assert own.http("GET", "/healthz").status == 200


@pytest.mark.one_process("the balancer makes the sockets")
async def test_the_peer_of_a_unix_socket_announces_too(make_server, tmp_path):
    own = make_server({"proxyProtocol": "true"}, listen=f"unix:{tmp_path}/p")

    def answer(head):
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(20)
            plain.connect(f"{tmp_path}/p")
            try:
                plain.sendall(head + b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return plain.recv(4096)
            except ConnectionError:
                return b""
    assert (await asyncio.to_thread(answer, version_1("192.0.2.1"))).startswith(b"HTTP/1.1 404")
    assert await asyncio.to_thread(answer, b"") == b""
