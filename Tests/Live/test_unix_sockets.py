"""Listeners that are Unix sockets (Operations.md, "Listeners")."""
import asyncio
import http.client
import json
import os
import socket
import stat
from pathlib import Path

import pytest
from websockets.asyncio.client import unix_connect

from harness.server import StartFailed, run_throng
from harness.tokens import admin_token, make_token


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target, body=None, **headers):
    connection = Connection(path)
    try:
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture
def places(tmp_path):
    # A socket's path has 107 bytes at most.
    directory = tmp_path / "s"
    directory.mkdir()
    return {"listen": f"unix:{directory}/public", "internal": f"unix:{directory}/internal"}


def path_of(address):
    return address.removeprefix("unix:")


async def ping(path, user, **headers):
    """Signs in through the socket; gives the frames that came, and the connection."""
    client = await unix_connect(
        path, f"ws://localhost/ws?token={make_token(user)}", compression=None, additional_headers=headers, open_timeout=60,
        ping_interval=None)
    assert json.loads(await client.recv())["method"] == "onConnectSuccess"
    await client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    assert "result" in json.loads(await client.recv())
    return client


@pytest.mark.one_process("the balancer makes the sockets")
@pytest.mark.parametrize("loops", [1, 3])
async def test_both_listeners_serve_and_leave_nothing_behind(make_server, places, loops, tmp_path):
    own = make_server({"loops": loops}, **places)
    public, internal = path_of(own.address), path_of(own.internal_address)
    assert (own.address, own.internal_address) == (places["listen"], places["internal"])
    for path in (public, internal):
        mode = os.stat(path).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
    clients = [await ping(public, f"user-{number}") for number in range(8)]

    def sessions():
        status, body = ask(internal, "POST", "/rpc", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getStats"}),
                           Authorization=f"Bearer {admin_token()}")
        assert status == 200, body
        return json.loads(body)["result"]["sessions"]

    def health():
        return run_throng("health", "--internal-listen", own.internal_address, cwd=tmp_path)
    own.wait_until(lambda: sessions() == 8, "eight sessions")
    own.wait_until(lambda: health().stdout == "alive\n", "an answer within the two seconds that the command gives")
    for client in clients:
        await client.close()
    assert await asyncio.to_thread(own.stop) == 0
    assert os.listdir(os.path.dirname(public)) == []


@pytest.mark.one_process("the balancer makes the sockets")
async def test_its_peer_is_a_trusted_proxy(make_server, places):
    own = make_server({"limits.connectionsPerAddress": 1}, listen=places["listen"])
    path = path_of(own.address)
    named = await ping(path, "alice", **{"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "chat.example",
                                        "Origin": "https://chat.example"})
    (session,) = own.rpc("listSessions", userID="alice")["result"]["sessionList"]
    assert session["address"] == "192.0.2.1"
    plain = await ping(path, "bob")
    (session,) = own.rpc("listSessions", userID="bob")["result"]["sessionList"]
    assert session["address"] == "unix"
    await named.close()
    await plain.close()


def test_a_stale_socket_is_replaced(make_server, places):
    own = make_server(**places)
    before = os.stat(path_of(own.address)).st_ino
    own.kill()
    assert os.path.exists(path_of(own.address))
    own.start()
    own.wait_until(lambda: ask(path_of(own.internal_address), "GET", "/readyz")[0] == 200, "ready")
    assert os.stat(path_of(own.address)).st_ino != before or own.stop() == 0


@pytest.mark.one_process("the balancer makes the sockets")
def test_another_file_is_not_and_stops_the_start(make_server, places):
    path = path_of(places["listen"])
    Path(path).write_text("precious")
    with pytest.raises(StartFailed) as failure:
        make_server(**places)
    assert failure.value.status == 1 and f"unix:{path}" in failure.value.log and "no socket" in failure.value.log
    assert Path(path).read_text() == "precious"
    assert not os.path.exists(path_of(places["internal"]))


@pytest.mark.one_process("the balancer makes the sockets")
def test_neither_is_a_socket_that_is_in_use(make_server, places):
    make_server(**places)
    with pytest.raises(StartFailed) as failure:
        make_server(listen=places["listen"])
    assert "a process listens there" in failure.value.log
    assert ask(path_of(places["internal"]), "GET", "/healthz")[0] == 200


@pytest.mark.one_process("the balancer makes the sockets")
def test_a_socket_that_is_anothers_by_now_stays(make_server, places):
    own = make_server(**places)
    path = path_of(own.address)
    os.unlink(path)
    other = socket.socket(socket.AF_UNIX)
    other.bind(path)
    other.listen()
    assert own.stop() == 0
    assert os.path.exists(path)
    other.close()


@pytest.mark.one_process("the balancer makes the sockets")
def test_a_directory_that_is_not_there_stops_the_start(make_server, tmp_path):
    with pytest.raises(StartFailed) as failure:
        make_server(listen=f"unix:{tmp_path}/nowhere/public")
    assert "No such file or directory" in failure.value.log
