"""Every HTTP answer closes its connection (Protocol.md, "Public listener"). The first test shows why: the
library keeps connections, but a client that sends the next request before the answer makes it loop.
When it fails, the library can do more, and so can the server. The others show what backends do."""
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
from test_unix_sockets import ask

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


def test_an_answer_closes_its_connection(server):
    host, port = server.internal_address.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as plain:
        plain.settimeout(20)
        plain.sendall(POST * 3)
        answer = b""
        while got := plain.recv(4096):
            answer += got
    assert answer.count(b"HTTP/1.1 401") == 1 and b"Connection: close" in answer


def test_a_backend_on_a_unix_socket_takes_no_ports(make_server, tmp_path):
    """Each call is a connection of its own, and none is a TCP connection."""
    own = make_server(internal=f"unix:{tmp_path}/i")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getStats"})
    credential = f"Bearer {admin_token()}"
    for _ in range(1000):
        status, answer = ask(f"{tmp_path}/i", "POST", "/rpc", body, Authorization=credential)
        assert status == 200 and b"result" in answer
    assert own.internal_address == f"unix:{tmp_path}/i"


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
