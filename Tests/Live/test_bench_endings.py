"""The end of `throng bench` where the server refuses or dies, or on Ctrl-C: a sentence, and no
groups left."""
import json
import signal
import socket
import subprocess
import threading

import pytest

from harness.bench import Running, another_server, bench, demand_groups, failed, groups_of, until_interrupted
from harness.server import BINARY, clean_environment
from harness.tokens import OTHER_SECRET, SECRET


def test_a_server_that_refuses_is_a_sentence(server):
    room = ["room", "--members", "2", "--rate", "1"]
    assert "4500" in failed(server, *room, secret=OTHER_SECRET)
    assert "404" in failed(server, *room, url=f"ws://{server.address}/nowhere")
    assert "there is no process" in failed(server, *room, "--pid", "999999999")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        address = f"ws://127.0.0.1:{deaf.getsockname()[1]}/ws"
        assert "refused" in failed(server, *room, url=address)
        deaf.listen()
        assert "for the upgrade" in failed(server, *room, "--timeout", "0.5", url=address), "it has a limit for every wait"


def test_an_interrupted_run_prints_what_it_has_and_tidies_up(quick_server):
    run = Running(quick_server, "room", "--members", 4, "--rate", 30, "--duration", 600)
    run.progress()
    assert groups_of(quick_server) == 1
    run.interrupt()
    status, figures, table = run.end()
    assert status == 1 and 0 < figures["seconds"] < 600 and figures["messages"] > 0 and figures["lost"] == 0
    assert any("interrupted" in sentence for sentence in figures["failures"])
    assert "failed: interrupted" in table
    demand_groups(quick_server, 0)


@pytest.mark.parametrize("words", [
    ["room", "--members", 4, "--rate", 30],
    ["room", "--members", 4, "--inflight", 2],
    ["groups", "--groups", 1, "--members", 5, "--rate", 30],
    ["durable", "--senders", 2, "--senders-per-group", 2, "--members", 5],
    ["durable", "--senders", 2, "--senders-per-group", 2, "--members", 5, "--rate", 30],
], ids=lambda words: "-".join(map(str, words)))
def test_a_server_that_dies_ends_the_run(make_server, words):
    server = make_server({"limits.avChatRoom.messagesPerSecond": 0})
    run = Running(server, *words, "--duration", 600, "--pid", server.process.pid)
    run.progress()
    # Not waited for: its parent, this process, leaves it a zombie, which has no memory and must not
    # be told to have 0 bytes.
    server.process.kill()
    status, figures, table = run.end()
    assert status == 1 and figures["seconds"] < 600
    assert "no connection is left to send from" in figures["failures"] or "--inflight" in words and figures["failures"]
    ended = sum(figures["endings"].values())
    # The balancer cuts the last ones when the run may have noticed its own end already.
    assert ended == 5 or 0 < ended < 5 and len(server.node_addresses) > 1
    assert "server" not in figures and "the server's process is gone" in figures["failures"]
    assert not any(line.startswith("server ") for line in table.splitlines())
    (note,) = figures["notes"]
    assert "may remain on the server: 1 (" in note


def test_a_refusal_while_the_groups_are_made_leaves_none(make_server):
    server = make_server({"limits.avChatRooms": 3})
    assert "10036" in failed(server, "groups", "--groups", 10, "--members", 2, "--rate", 1)
    demand_groups(server, 0)


@pytest.mark.parametrize("type", ["Public", "Work"])
def test_groups_go_though_the_server_has_closed_their_creators_connections(make_server, type):
    """1,000 refusals close a connection: the owner has to sign in again."""
    server = make_server({"limits.requestsPerSecond": 5, "limits.requestBurst": 5})
    figures, _ = bench(
        server, "room", "--members", 2, "--rate", 5000, "--type", type, "--warm-up", 0, "--duration", 30, status=1)
    assert figures["endings"] == {"4004": 1} and figures["notes"] == []
    demand_groups(server, 0)


def test_groups_under_way_when_the_run_is_interrupted_are_taken_away(tmp_path):
    """A stand-in for the server answers createGroup only after Ctrl-C; what is made then has to go
    all the same."""
    held, interrupted = threading.Semaphore(0), threading.Event()
    made, dismissed = set(), set()

    def greet(socket):
        socket.send(json.dumps({"jsonrpc": "2.0", "method": "onConnectSuccess", "params": {}}))

    def handle(socket, text, everyone):
        request = json.loads(text)
        group = request["params"]["groupID"]

        def answer():
            if request["method"] == "createGroup":
                held.release()
                assert interrupted.wait(60)
                made.add(group)
            else:
                assert request["method"] == "dismissGroup" and group in made
                dismissed.add(group)
            socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"groupID": group}}))

        threading.Thread(target=answer).start()

    with another_server(handle, greet) as url:
        process = subprocess.Popen(
            [str(BINARY), "bench", "groups", "--groups", "40", "--members", "2", "--rate", "1", "--parallel", "7", "--url", url,
             "--set", f"auth.secret={SECRET}", "--quiet"],
            env=clean_environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(7):
            assert held.acquire(timeout=60)
        process.send_signal(signal.SIGINT)
        until_interrupted(process)
        interrupted.set()
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and output == ""
    assert errors.startswith("throng bench: interrupted while the connections came in (") and "remain" not in errors
    assert len(made) == 7 and dismissed == made
