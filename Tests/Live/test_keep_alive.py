"""Connections of the internal listener are kept (Protocol.md, "Internal listener"); an answer of the public listener
closes its own. The first test shows why a request that comes before the answer to the last one is not answered: such a
client makes the library loop. When it fails, the library can do more, and so can the server."""
import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from harness.ports import reserve_port
from harness.proxy import replaced
from harness.tokens import admin_token
from test_unix_sockets import Connection, ask

SOURCE = Path(__file__).parent / "harness/keep_alive.c"
POST = b"POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_the_library_loops_over_a_request_that_comes_early(tmp_path):
    program = tmp_path / "keep_alive"
    subprocess.run(["cc", "-o", program, SOURCE, "-lwebsockets"], check=True, capture_output=True)
    port = reserve_port()
    library = subprocess.Popen([program, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert library.stdout.readline() == b"ready\n"
        # One after the other they are answered on one connection.
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.connect()
        kept = connection.sock
        for _ in range(20):
            connection.request("POST", "/rpc", "hello")
            assert connection.getresponse().read() == b"ok\n" and connection.sock is kept
        connection.close()
        with socket.create_connection(("127.0.0.1", port)) as early:
            early.sendall(POST * 2)
            assert library.wait(20) == 3
    finally:
        library.kill()
        library.wait()
        library.stdout.close()


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class Kept:
    """A backend's connection."""

    def __init__(self, own, connection=None):
        self.http = connection or http.client.HTTPConnection(own.internal_address, timeout=60)
        self.http.connect()
        self.socket = self.http.sock
        self.headers = {"Authorization": f"Bearer {admin_token()}"}

    def ask(self, method, path, body=None, headers=None):
        """The answer, and what it holds."""
        self.http.request(method, path, body, self.headers if headers is None else headers)
        answer = self.http.getresponse()
        return answer, answer.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    @property
    def is_kept(self):
        return self.http.sock is self.socket

    def call(self, number):
        answer, body = self.ask("POST", "/rpc", json.dumps({**PING, "id": number}))
        assert answer.status == 200 and json.loads(body)["id"] == number and self.is_kept, (number, answer.headers)


def test_ten_thousand_calls_go_over_one_connection(make_server):
    with Kept(make_server()) as backend:
        for number in range(10_000):
            backend.call(number)


def test_calls_of_all_kinds_go_over_one_connection(make_server):
    big = json.dumps({**PING, "params": {"x": "y" * 500_000}})
    calls = (
        ("GET", "/healthz", None, None, 200), ("HEAD", "/healthz", None, None, 200), ("POST", "/rpc", json.dumps(PING), None, 200),
        ("POST", "/rpc", json.dumps({"jsonrpc": "2.0", "method": "ping"}), None, 204), ("POST", "/rpc", big, None, 200),
        ("POST", "/rpc", "", None, 200), ("POST", "/rpc", json.dumps(PING), {}, 401), ("GET", "/openrpc.json", None, None, 200),
        ("GET", "/nowhere", None, None, 404), ("DELETE", "/rpc", None, None, 405), ("GET", "/metrics", None, None, 200))
    with Kept(make_server()) as backend:
        for method, path, body, headers, status in calls * 20:
            answer, _ = backend.ask(method, path, body, headers)
            assert answer.status == status and backend.is_kept, (method, path, answer.status, answer.headers.items())
            assert answer.getheader("keep-alive") == "timeout=120" and answer.getheader("connection") is None


@pytest.mark.parametrize("headers", [{"Connection": "close"}, {"Connection": "Close"}, {"Connection": "x, close"}])
def test_a_client_may_end_it(server, headers):
    with Kept(server) as backend:
        answer, _ = backend.ask("GET", "/healthz", headers=headers)
        assert answer.status == 200 and answer.getheader("connection") == "close" and not backend.is_kept


def test_the_public_listener_keeps_none(server):
    answer = server.http("GET", "/nowhere", public=True)
    assert answer.status == 404 and answer.headers["connection"] == "close"


def test_a_request_that_comes_early_ends_the_connection_behind_the_answer(make_server):
    """Bytes behind a request may be of it, as the library sees them: they are answered by nobody."""
    own = make_server()
    host, port = own.internal_address.rsplit(":", 1)
    for size in (1, len(POST), 3 * len(POST), 20_000):
        with socket.create_connection((host, int(port))) as plain:
            plain.settimeout(20)
            early = (POST * (size // len(POST) + 1))[:size]
            plain.sendall(POST + early)
            answer = b""
            while got := plain.recv(4096):
                answer += got
        assert answer.count(b"HTTP/1.1 ") == 1 and answer.startswith(b"HTTP/1.1 401"), size
    # The loop goes on.
    with Kept(own) as backend:
        backend.call(1)


def test_so_many_idle_connections_are_kept_and_no_more(make_server):
    own = make_server({"loops": 1})

    def stays(backend):
        return backend.ask("GET", "/healthz")[0].getheader("connection") != "close"

    with contextlib.ExitStack() as stack:
        backends = [stack.enter_context(Kept(own)) for _ in range(300)]
        kept = [stays(backend) for backend in backends]
        assert kept.count(True) == 256 and all(kept[:256])
        # Who is among them goes on, and when one has gone another one may stay.
        for backend in backends[:256]:
            backend.call(1)
        backends[0].http.close()

        def another_stays():
            with Kept(own) as another:
                return stays(another)

        own.wait_until(another_stays, "a place")


def test_the_end_of_the_server_does_not_wait_for_them(make_server):
    own = make_server()
    with Kept(own) as backend:
        backend.call(1)
        assert own.stop() == 0
        assert backend.socket.recv(1) == b""


def test_a_backend_on_a_unix_socket_takes_no_ports(make_server, tmp_path):
    """Each call is a connection of its own, and none is a TCP connection; or all are one."""
    own = make_server(internal=f"unix:{tmp_path}/i")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getStats"})
    credential = f"Bearer {admin_token()}"
    for _ in range(1000):
        status, answer = ask(f"{tmp_path}/i", "POST", "/rpc", body, Authorization=credential)
        assert status == 200 and b"result" in answer
    assert own.internal_address == f"unix:{tmp_path}/i"
    with Kept(own, Connection(f"{tmp_path}/i")) as backend:
        for number in range(1000):
            backend.call(number)


def can_connect(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_nginx_before_the_socket_keeps_connections(make_server, tmp_path):
    """Scripts/deploy/nginx-internal.conf: a thousand calls of a backend on one connection."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if not nginx:
        pytest.skip("there is no nginx")
    own, port = make_server(internal=f"unix:{tmp_path}/i"), reserve_port()
    block = replaced(
        "nginx-internal.conf", socket=("/run/throng/internal.sock", f"{tmp_path}/i"), listen=("127.0.0.1:8081", f"127.0.0.1:{port}"))
    user = "user root;" if os.geteuid() == 0 else ""
    (tmp_path / "nginx.conf").write_text(f"{user} daemon off; pid {tmp_path}/pid; events {{}} http {{ {block} }}")
    process = subprocess.Popen([nginx, "-p", tmp_path, "-e", "stderr", "-c", tmp_path / "nginx.conf"], stderr=subprocess.DEVNULL)
    try:
        own.wait_until(lambda: can_connect(port), "nginx")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.connect()
        kept = connection.sock
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getStats"})
        for _ in range(1000):
            connection.request("POST", "/rpc", body, {"Authorization": f"Bearer {admin_token()}"})
            answer = connection.getresponse()
            assert answer.status == 200 and b"result" in answer.read() and connection.sock is kept
        # The server's own refusal arrives.
        connection.request("POST", "/rpc", b" " * (1 << 20 | 1), {"Authorization": f"Bearer {admin_token()}"})
        assert connection.getresponse().read() == b"413: the body is over 1 MiB\n"
        connection.close()
    finally:
        process.terminate()
        process.wait(60)
