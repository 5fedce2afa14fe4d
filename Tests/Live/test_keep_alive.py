"""Every HTTP answer closes its connection (Protocol.md, "Public listener"). The first test shows why: the
library keeps connections, but a client that sends the next request before the answer makes it loop.
When it fails, the library can do more, and so can the server. The others show what backends do."""
import http.client
import json
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from harness.tokens import admin_token
from test_unix_sockets import ask

SOURCE = Path(__file__).parent / "harness/keep_alive.c"
POST = b"POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_the_library_loops_over_a_request_that_comes_early(tmp_path):
    program = tmp_path / "keep_alive"
    subprocess.run(["cc", "-o", program, SOURCE, "-lwebsockets"], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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
