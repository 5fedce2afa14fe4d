"""TLS, proxies, and the number of connections. Where connections are counted time stands still: those that do not sign in
would be closed."""
import contextlib
import datetime
import ipaddress
import json
import resource
import socket
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from websockets.asyncio.client import connect

from harness.server import StartFailed
from harness.tokens import make_token


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for 127.0.0.1 and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "throng test")])
    start = datetime.datetime(2020, 1, 1)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(start).not_valid_after(start + datetime.timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate_file.write_bytes(made.public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate_file, key_file


async def test_tls_on_the_public_listener_only(make_server, certificate):
    certificate_file, key_file = certificate
    own = make_server({"tls.certificateFile": certificate_file, "tls.keyFile": key_file})
    trust = ssl.create_default_context(cafile=str(certificate_file))
    url = f"wss://{own.address}/ws?token={make_token('alice')}"
    async with connect(url, ssl=trust, proxy=None, compression=None, open_timeout=60, ping_interval=None) as socket:
        assert json.loads(await socket.recv())["method"] == "onConnectSuccess"
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"pad": "x" * 60000}}))
        assert json.loads(await socket.recv())["result"]["serverTime"]
    assert own.http("GET", "/healthz").status == 200


def test_a_certificate_that_does_not_fit_stops_the_start(make_server, certificate, tmp_path):
    certificate_file, key_file = certificate
    junk = tmp_path / "junk.pem"
    junk.write_text("no key")
    with pytest.raises(StartFailed) as failure:
        make_server({"tls.certificateFile": certificate_file, "tls.keyFile": junk})
    assert failure.value.status == 1 and failure.value.log.strip()


@pytest.mark.one_process("limits of connections are those of a node")
@pytest.mark.parametrize("key", ["limits.connections", "limits.connectionsPerAddress"])
async def test_the_connection_limits_close_with_4005(make_server, make_world, key):
    world = make_world(make_server({key: 2}, frozen=True))
    first, second = await world.users("a", "b")
    third = await world.open()
    await third.closed(4005)
    await first.call("ping")
    await second.call("logout")
    await second.closed(1000)
    world.server.metric_becomes("throng_connections", 1)
    await world.user("c")


@pytest.mark.one_process("limits of connections are those of a node")
async def test_behind_a_trusted_proxy_the_forwarded_address_counts(make_server, make_world):
    """The address is the right-most entry of X-Forwarded-For that is not a trusted proxy."""
    world = make_world(make_server({"limits.connectionsPerAddress": 1, "trustedProxies": "127.0.0.0/8,10.0.0.0/8"}, frozen=True))
    for forwarded in ("203.0.113.1", "203.0.113.2", "203.0.113.1, 203.0.113.3", "203.0.113.1, 203.0.113.4, 10.1.2.3"):
        client = await world.open(headers={"X-Forwarded-For": forwarded})
        await client.refused(6014, "ping")
    for forwarded in ("203.0.113.2", "198.51.100.9, 203.0.113.4", "203.0.113.3, 10.9.9.9"):
        client = await world.open(headers={"X-Forwarded-For": forwarded})
        await client.closed(4005)


@pytest.mark.one_process("limits of connections are those of a node")
async def test_one_forwarded_address_is_one_however_it_is_spelled(make_server, make_world):
    world = make_world(make_server({"limits.connectionsPerAddress": 1, "trustedProxies": "127.0.0.0/8,10.0.0.0/8"}))
    addresses = {}
    for user, forwarded in {"four": "203.0.113.9:1111", "six": "[2001:DB8:0::1]:80", "proxy": "198.51.100.7, 10.0.0.1:5",
                            "none": "198.51.100.8, unknown, 10.0.0.2"}.items():
        client = await world.open(headers={"X-Forwarded-For": forwarded})
        await client.call("login", token=make_token(user))
        (session,) = world.server.rpc("listSessions", userID=user)["result"]["sessionList"]
        addresses[user] = session["address"]
    assert addresses == {"four": "203.0.113.9", "six": "2001:db8::1", "proxy": "198.51.100.7", "none": "10.0.0.2"}
    for forwarded in ("203.0.113.9", "203.0.113.9:2222", "::ffff:203.0.113.9", "2001:db8:0:0:0:0:0:1", "[2001:db8::1]",
                      "198.51.100.7:99, 127.0.0.1:5", "203.0.113.77, 203.0.113:80, 10.0.0.2"):
        client = await world.open(headers={"X-Forwarded-For": forwarded})
        await client.closed(4005)


@pytest.mark.one_process("limits of connections are those of a node")
async def test_without_a_trusted_proxy_the_header_is_ignored(make_server, make_world):
    world = make_world(make_server({"limits.connectionsPerAddress": 1}, frozen=True))
    first = await world.open(headers={"X-Forwarded-For": "203.0.113.1"})
    await first.refused(6014, "ping")
    second = await world.open(headers={"X-Forwarded-For": "203.0.113.2"})
    await second.closed(4005)


@pytest.mark.one_process("limits of connections are those of a node")
async def test_one_address_keeps_nobody_else_out(make_server, make_world):
    """Half a head, nothing at all, an upgrade that is never closed: each costs a file of the server."""
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    own = make_server({"limits.connectionsPerAddress": 10, "loops": 1}, frozen=True, preexec=few_files)
    host, port = own.address.rsplit(":", 1)
    upgrade = (f"GET /ws HTTP/1.1\r\nHost: {own.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()
    taken = []
    try:
        for text in (b"GET /ws HTTP/1.1\r\nHost:", b"", upgrade):
            for _ in range(300):
                one = socket.create_connection((host, int(port)), source_address=("127.0.0.2", 0))
                with contextlib.suppress(ConnectionError):
                    one.sendall(text)
                taken.append(one)
            own.metric_becomes("throng_connections_dropped_total", lambda count: count > 200, reason="address")
            world = make_world(own)
            for number in range(20):
                await (await world.session(f"user-{number}")).close()
    finally:
        for one in taken:
            one.close()
    own.metric_becomes("throng_connections_waiting", 0)
    own.metric_becomes("throng_upgrades_refused_total", lambda count: count > 100, reason="connections")
    warning = [json.loads(line) for line in own.log.splitlines() if "connections without a request were dropped" in line][0]
    assert warning["level"] == "warning" and warning["address"] == "127.0.0.2" and "connectionsPerAddress" in warning["hint"]


@pytest.mark.one_process("limits of connections are those of a node")
async def test_idle_connections_leave_the_internal_listener_its_descriptors(make_server):
    """The server's health does not depend on the number of clients."""
    own = make_server(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)))
    host, port = own.address.rsplit(":", 1)
    idle = []
    try:
        for _ in range(260):
            idle.append(socket.create_connection((host, int(port))))
        for _ in range(20):
            assert own.http("GET", "/healthz").status == 200
        assert own.rpc("createGroup", groupType="Public", groupName="g", ownerUserID="alice")["result"]["groupID"]
    finally:
        for connection in idle:
            connection.close()
