"""Section 9: `throng bench`, against a server with small numbers. What the figures mean is in Bench.md."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading

import pytest

from harness.server import BINARY, clean_environment, run_throng
from harness.tokens import OTHER_SECRET, SECRET

LATENCIES = {"p50", "p90", "p99", "p99.9", "max", "mean", "count"}
SHORT = ["--warm-up", "0.2", "--duration", "1"]


def arguments(server, *words, secret=SECRET):
    return ["bench", *words, "--url", server.url, "--set", f"auth.secret={secret}", "--quiet"]


def bench(server, *words, status=0, **options):
    """A run to its end; demands its exit status and gives its figures and its table."""
    done = run_throng(*arguments(server, *words, "--json"), cwd=server.data_dir.parent, timeout=120, **options)
    assert done.returncode == status, (done.stdout, done.stderr)
    return json.loads(done.stdout), done.stderr


def groups_of(server):
    return server.rpc("getStats")["result"]["groups"]


def demand_groups(server, count):
    server.wait_until(lambda: groups_of(server) == count, f"there are {count} groups")


@pytest.fixture
def quick_server(make_server):
    return make_server({"limits.avChatRoom.messagesPerSecond": 0})


def test_a_room_in_the_open_loop(quick_server):
    figures, table = bench(
        quick_server, "room", "--members", 10, "--publishers", 3, "--rate", 60, "--pid", quick_server.process.pid, *SHORT)
    assert figures["scenario"] == "room"
    assert figures["parameters"] == {
        "members": 10, "publishers": 3, "rate": 60, "type": "AVChatRoom", "size": 250, "warmUp": 0.2, "duration": 1}
    assert figures["messages"] == 60 and figures["lost"] == 0 and figures["surplus"] == 0
    # 10 members, and each message reaches two of the three publishers.
    assert figures["latencyMs"]["count"] == 60 * 12
    assert set(figures["latencyMs"]) == LATENCIES
    assert 0 < figures["latencyMs"]["p50"] <= figures["latencyMs"]["p99"] <= figures["latencyMs"]["max"]
    assert figures["statuses"] == {
        "Delivered": 60, "Stored": 0, "Queued": 0, "Dropped": 0, "droppedLater": 0, "errors": 0, "unanswered": 0}
    server = figures["server"]
    assert server["pid"] == quick_server.process.pid and server["cpuSeconds"] >= 0
    assert server["rssPeakBytes"] >= server["rssBytes"] > 1_000_000 and server["rssBytesBefore"] > 1_000_000
    assert {"cpuMicrosecondsPerDelivery", "cpuMicrosecondsPerMessage", "rssBytesPerConnection"} <= set(server)
    assert figures["generator"]["cpuSeconds"] > 0 and figures["generator"]["busy"] > 0
    assert set(figures["generator"]["sendDelayMs"]) == LATENCIES
    assert figures["conditions"] == [] and figures["failures"] == [] and figures["endings"] == {}
    assert "latency, ms" in table and "deliveries" in table
    demand_groups(quick_server, 0)


@pytest.mark.parametrize("type, status", [("AVChatRoom", "Delivered"), ("Public", "Stored"), ("Meeting", "Stored"), ("Work", "Stored")])
def test_a_room_of_any_type_in_the_closed_loop(quick_server, type, status):
    figures, table = bench(
        quick_server, "room", "--members", 5, "--publishers", 2, "--inflight", 4, "--type", type, *SHORT)
    assert figures["messages"] > 10 and figures["lost"] == 0 and figures["surplus"] == 0
    assert figures["statuses"][status] == figures["messages"]
    assert "queueing, ms" in table
    demand_groups(quick_server, 0)


def test_members_that_never_read_hurt_nobody(make_server):
    server = make_server({"limits.avChatRoom.messagesPerSecond": 0, "limits.sendQueueBytes": 65536})
    figures, _ = bench(
        server, "room", "--members", 5, "--publishers", 1, "--inflight", 16, "--stalled", 2, "--size", 8000, *SHORT)
    assert figures["lost"] == 0 and figures["messages"] > 10
    assert figures["parameters"]["stalled"] == 2


def test_many_groups(quick_server):
    figures, _ = bench(quick_server, "groups", "--groups", 6, "--connections", 24, "--rate", 90, *SHORT)
    assert figures["parameters"]["members"] == 4 and figures["parameters"]["connections"] == 24
    assert figures["messages"] == 90 and figures["latencyMs"]["count"] == 90 * 3 and figures["lost"] == 0
    demand_groups(quick_server, 0)


def test_stored_messages(quick_server):
    figures, table = bench(quick_server, "durable", "--senders", 4, "--members", 3, *SHORT)
    assert figures["messages"] > 10 and figures["lost"] == 0
    assert figures["statuses"]["Stored"] > 10 and figures["statuses"]["Delivered"] == 0
    assert "send to Stored, ms" in table and figures["latencyMs"]["p50"] > 0
    shared, _ = bench(quick_server, "durable", "--senders", 5, "--senders-per-group", 2, "--members", 3, *SHORT)
    assert shared["parameters"]["groups"] == 3 and shared["lost"] == 0 and shared["deliveries"] > 0
    figures, table = bench(quick_server, "durable", "--senders", 4, "--members", 3, "--rate", 40, *SHORT)
    assert figures["statuses"]["Stored"] == 40 and figures["latencyMs"]["count"] == 40 and "due to Stored, ms" in table


def test_connecting(quick_server):
    figures, _ = bench(quick_server, "connect", "--connections", 60, "--pid", quick_server.process.pid, "--assert", "connections/s>1")
    assert figures["connect"]["connections"] == 60 and figures["connect"]["connectionsPerSecond"] > 1
    assert figures["conditions"][0]["met"] is True
    assert "messages" not in figures and "lost" not in figures
    slow, _ = bench(quick_server, "connect", "--connections", 11, "--rate", 10)
    assert slow["connect"]["seconds"] >= 1, "the eleventh begins a second after the first"


def test_everybody_comes_back(quick_server):
    figures, table = bench(quick_server, "storm", "--connections", 40, "--pid", quick_server.process.pid)
    assert figures["storm"]["connections"] == 40 and figures["storm"]["seconds"] > 0
    assert figures["connect"]["connections"] == 40
    assert "all back" in table
    demand_groups(quick_server, 0)


def test_an_overload_by_priority(server):
    figures, table = bench(
        server, "priority", "--members", 4, "--high", 20, "--normal", 10, "--low", 30, "--lowest", 30, "--warm-up", 2, "--duration", 3)
    high, normal, low, lowest = (figures["priorities"][name] for name in ("High", "Normal", "Low", "Lowest"))
    assert [one["sent"] for one in (high, normal, low, lowest)] == [60, 30, 90, 90]
    for one in (high, normal):
        assert one["dropped"] == one["onMessageDropped"] == 0, "30 a second are within the limit of 40"
        # 4 members, and three of the four publishers.
        assert one["deliveries"] == one["sent"] * 7
    assert lowest["dropped"] + lowest["onMessageDropped"] > 0
    for one in (high, normal, low, lowest):
        kept = one["delivered"] + one["queued"] - one["onMessageDropped"]
        assert kept + one["dropped"] + one["onMessageDropped"] == one["sent"] and one["deliveries"] == kept * 7
    assert figures["lost"] == 0
    assert "Lowest" in table
    total = sum(one["deliveries"] for one in figures["priorities"].values())
    assert re.search(rf"^deliveries of these messages +{total:,}$", table, re.MULTILINE), table


def test_the_servers_limits_are_told_and_not_counted_as_losses(make_server):
    server = make_server({"limits.requestsPerSecond": 5, "limits.requestBurst": 5})
    figures, table = bench(server, "room", "--members", 3, "--publishers", 1, "--rate", 40, *SHORT)
    assert figures["statuses"]["errors"] > 0 and figures["lost"] == 0
    assert any(error.startswith("7008 ") for error in figures["errors"])
    assert "error 7008" in table
    # The publisher's next request is refused too; the group goes later.
    assert figures["notes"] == []
    demand_groups(server, 0)


def test_a_condition_that_is_not_met_is_1_and_everything_is_printed(quick_server):
    figures, table = bench(
        quick_server, "room", "--members", 3, "--rate", 20, "--assert", "p99<1ns", "--assert", "lost<=0", *SHORT, status=1)
    assert [one["met"] for one in figures["conditions"]] == [False, True]
    assert figures["conditions"][0]["condition"] == "p99<1ns" and figures["conditions"][0]["value"] > 0
    assert "NOT MET" in table and figures["messages"] == 20


def test_the_json_goes_into_a_file_and_the_table_to_standard_output(quick_server, tmp_path):
    file = tmp_path / "figures.json"
    done = run_throng(*arguments(quick_server, "connect", "--connections", 3, "--json", file), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("connect: ") and done.stderr == ""
    assert json.loads(file.read_text())["connect"]["connections"] == 3


def test_a_json_file_that_cannot_be_written_is_told_before_the_run(tmp_path):
    # Nobody listens there: a run would say so.
    words = ["bench", "connect", "--connections", 3, "--url", "ws://127.0.0.1:1/ws", "--set", f"auth.secret={SECRET}"]
    done = run_throng(*words, "--json", tmp_path / "none" / "x", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"throng bench: {tmp_path}/none/x cannot be written: No such file or directory\n"


def test_the_figures_of_an_older_run_do_not_outlive_the_start_of_another(tmp_path):
    file = tmp_path / "figures.json"
    file.write_text("older")
    done = run_throng(
        "bench", "connect", "--connections", 3, "--url", "ws://127.0.0.1:1/ws", "--set", f"auth.secret={SECRET}", "--json", file)
    assert done.returncode == 1 and "cannot connect" in done.stderr
    assert file.read_text() == ""


@pytest.mark.parametrize("json_option", [[], ["--json"], ["--json", "figures.json"]], ids=["table", "json", "file"])
@pytest.mark.parametrize("place, reason", [("full", "No space left on device"), ("closed", "Bad file descriptor")])
def test_figures_that_cannot_be_told_are_1(quick_server, tmp_path, json_option, place, reason):
    call = [str(BINARY), *map(str, arguments(quick_server, "connect", "--connections", 3, *json_option))]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            call, env=clean_environment(), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            preexec_fn=(lambda: os.close(1)) if place == "closed" else None)
    assert done.returncode == 1
    assert done.stderr.endswith(f"throng bench: standard output cannot be written: {reason}\n"), done.stderr
    if place == "full" and len(json_option) == 2:
        assert json.loads((tmp_path / "figures.json").read_text())["connect"]["connections"] == 3, "the rest is told all the same"


def test_the_secret_is_only_read(quick_server, tmp_path):
    words = ["bench", "connect", "--connections", 2, "--url", quick_server.url, "--quiet"]
    done = run_throng(*words, "--data-dir", tmp_path / "mistyped", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"throng bench: there is no secret in {tmp_path}/mistyped/auth-secret"), done.stderr
    assert not (tmp_path / "mistyped").exists()
    (tmp_path / "right").mkdir()
    (tmp_path / "right" / "auth-secret").write_text(SECRET)
    done = run_throng(*words, "--data-dir", tmp_path / "right", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_help_lists_only_the_types_that_a_scenario_takes():
    durable = run_throng("bench", "durable", "--help").stdout
    assert "Work" in durable and "Meeting" in durable and "AVChatRoom" not in durable
    assert "AVChatRoom" in run_throng("bench", "groups", "--help").stdout


def test_progress_is_told_every_second(quick_server, tmp_path):
    words = [word for word in arguments(quick_server, "room", "--members", 3, "--rate", 20, "--duration", 2) if word != "--quiet"]
    done = run_throng(*words, cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) >= 2 and all("deliveries/s" in line and "generator" in line for line in lines), lines


@pytest.mark.parametrize("words", [
    ["room", "--members", "0", "--rate", "1"],
    ["room", "--members", "5"],
    ["room", "--members", "5", "--rate", "1", "--inflight", "1"],
    ["room", "--members", "5", "--rate", "0"],
    ["room", "--members", "5", "--rate", "1e-11"],
    ["room", "--members", "5", "--rate", "0.0009"],
    ["room", "--members", "5", "--rate", "1000001"],
    ["room", "--members", "5", "--rate", "nan"],
    ["room", "--members", "5", "--rate", "inf"],
    ["room", "--members", "5", "--rate", "1", "--type", "BChatRoom"],
    ["room", "--members", "5", "--rate", "1", "--size", "20"],
    ["room", "--members", "5", "--rate", "1", "--url", "http://127.0.0.1:1/ws"],
    ["room", "--members", "5", "--rate", "1", "--url", "wss://127.0.0.1:1/ws"],
    ["room", "--members", "5", "--rate", "1", "--hello", "x"],
    ["room", "--members", "5", "--rate", "1", "--publish", "no stamp"],
    ["room", "--members", "5", "--rate", "1", "--publish", "%t", "--ready", "x"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p98<1ms"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p99<1KB"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p99=1ms"],
    ["room", "--members", "5", "--rate", "1", "--assert", "cpu/delivery<1us"],
    ["connect", "--connections", "5", "--assert", "p99<1ms"],
    ["groups", "--groups", "3", "--connections", "10", "--rate", "1"],
    ["groups", "--groups", "3", "--rate", "1"],
    ["groups", "--groups", "3", "--members", "1", "--rate", "1"],
    ["durable", "--senders", "1", "--members", "1", "--type", "AVChatRoom"],
    ["durable", "--senders", "4", "--senders-per-group", "3", "--members", "2"],
    ["groups", "--groups", "3", "--members", "2", "--rate", "1e-11"],
    ["durable", "--senders", "1", "--members", "1", "--rate", "1e-11"],
    ["connect", "--connections", "5", "--rate", "1e-11"],
    ["priority", "--members", "5"],
    ["priority", "--members", "5", "--high", "1", "--lowest", "1e-11"],
    ["priority", "--members", "5", "--high", "1", "--lowest=-1"],
    ["storm", "--connections", "1"],
    ["fly"],
])
def test_wrong_usage_is_64_with_a_sentence(words, tmp_path):
    done = run_throng("bench", *words, cwd=tmp_path)
    assert done.returncode == 64 and done.stderr.startswith("Error: ") and done.stdout == ""


def test_a_rate_that_no_run_can_keep_is_told_with_those_that_can(tmp_path):
    done = run_throng("bench", "priority", "--members", "5", "--high", "1", "--low", "1e-11", cwd=tmp_path)
    assert "--low takes 0.001 to 1000000 messages per second" in done.stderr


def failed(server, *words, url=None, **options):
    """The sentence of a run that must end with 1."""
    call = arguments(server, *words, "--timeout", "5", **options)
    if url:
        call[call.index("--url") + 1] = url
    done = run_throng(*call, cwd=server.data_dir.parent)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("throng bench: "), done.stderr
    return done.stderr


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
        assert "for the upgrade" in failed(server, *room, url=address), "it has a limit for every wait"


class Running:
    """A run under way that tells its progress."""

    def __init__(self, server, *words):
        call = [word for word in arguments(server, *words, "--json") if word != "--quiet"]
        self.process = subprocess.Popen(
            [str(BINARY), *map(str, call)], env=clean_environment(), cwd=server.data_dir.parent, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def until(self, part):
        """Waits for a line of progress that contains this."""
        for line in self.process.stderr:
            if part in line:
                return
        raise AssertionError(f"it ended without a line with {part}")

    def end(self):
        try:
            output, errors = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, json.loads(output), errors


def test_an_interrupted_run_prints_what_it_has_and_tidies_up(quick_server):
    run = Running(quick_server, "room", "--members", 4, "--rate", 30, "--duration", 60)
    run.until("1 s ")
    assert groups_of(quick_server) == 1
    run.process.send_signal(signal.SIGINT)
    status, figures, table = run.end()
    assert status == 1 and 0 < figures["seconds"] < 60 and figures["messages"] > 0 and figures["lost"] == 0
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
    run.until("1 s ")
    # Not waited for: its parent, this process, leaves it a zombie, which has no memory and must not be told to have 0 bytes.
    server.process.kill()
    status, figures, table = run.end()
    assert status == 1 and figures["seconds"] < 60
    assert "no connection is left to send from" in figures["failures"] or "--inflight" in words and figures["failures"]
    assert sum(figures["endings"].values()) == 5
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
    """1,000 refusals close a connection (section 5): the owner has to sign in again."""
    server = make_server({"limits.requestsPerSecond": 5, "limits.requestBurst": 5})
    figures, _ = bench(
        server, "room", "--members", 2, "--rate", 5000, "--type", type, "--warm-up", 0, "--duration", 30, status=1)
    assert figures["endings"] == {"4004": 1} and figures["notes"] == []
    demand_groups(server, 0)


def has_taken(process, number):
    """The process's handler of the signal has been called: it is one for a single time, and SigCgt names it no more (proc(5))."""
    with open(f"/proc/{process.pid}/status") as status:
        (caught,) = [int(line.split()[1], 16) for line in status if line.startswith("SigCgt:")]
    return not caught >> (number - 1) & 1


def test_groups_under_way_when_the_run_is_interrupted_are_taken_away(tmp_path):
    """A stand-in for the server answers createGroup only after Ctrl-C; what is made then has to go all the same."""
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
        while not has_taken(process, signal.SIGINT):
            assert process.poll() is None
        interrupted.set()
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and output == ""
    assert errors.startswith("throng bench: interrupted while the connections came in (") and "remain" not in errors
    assert len(made) == 7 and dismissed == made


@contextlib.contextmanager
def another_server(handle, greet=lambda socket: None):
    """A server that is no Throng: `handle(socket, text, everyone)` for each text; `everyone` are the connections that have said something."""
    from websockets.sync.server import serve

    everyone, lock = [], threading.Lock()

    def listen(socket):
        greet(socket)
        for text in socket:
            with lock:
                if socket not in everyone:
                    everyone.append(socket)
                handle(socket, text, everyone)

    with serve(listen, "127.0.0.1", 0, compression=None) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{other.socket.getsockname()[1]}"
        finally:
            other.shutdown()
            thread.join()


def test_another_server_is_measured_with_its_own_words():
    """A server that greets, and sends every message to everyone, its publisher too."""
    def handle(socket, text, everyone):
        assert isinstance(text, bytes)
        if text.startswith(b"hello "):
            socket.send(b"welcome " + text[6:])
        else:
            for other in everyone:
                other.send(text)

    with another_server(handle) as url:
        done = run_throng(
            "bench", "room", "--members", 4, "--publishers", 2, "--rate", 40, "--url", f"{url}/x%d",
            "--hello", "hello %d", "--ready", "welcome", "--publish", '{"say":"%t%p"}', "--size", 100, "--binary", "--quiet",
            "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["messages"] == 40 and figures["latencyMs"]["count"] == 160 and figures["lost"] == 0
    assert "statuses" not in figures and "type" not in figures["parameters"]


def test_a_closed_loop_goes_on_when_its_clock_misses_messages():
    """A server that sends connection 0 every fifth message only: a window of four that gets no place back ends with its first four."""
    sent = 0

    def handle(socket, text, everyone):
        nonlocal sent
        if text.startswith("hello "):
            socket.send("welcome")
            return
        sent += 1
        everyone[1].send(text)
        if sent % 5 == 0:
            everyone[0].send(text)

    with another_server(handle) as url:
        done = run_throng(
            "bench", "room", "--members", 2, "--inflight", 4, "--url", url, "--hello", "hello %d", "--ready", "welcome",
            "--publish", "%t", "--parallel", 1, "--quiet", "--json", "--warm-up", 0, "--duration", 4)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["messages"] > 4 and figures["lost"] > 0
    (note,) = figures["notes"]
    assert "did not come back to connection 0" in note and f"note: {note}" in done.stderr
