"""The commands of an operator beside a server: doctor, top, backup and restore, export and import
(Operations.md)."""
import asyncio
import fcntl
import json
import os
import pty
import resource
import signal
import socket
import struct
import subprocess
import termios

import pytest

from harness.ports import reserve_port
from harness.postgresql import PostgreSQL, programs
from harness.proxy import make_certificate
from harness.server import BINARY, REPOSITORY, clean_environment, run_throng
from harness.waiting import within
from harness.world import history_of


def command(name, own, *arguments, internal=None):
    """Runs a subcommand with the server's configuration."""
    settings = [part for key, value in own.settings.items() for part in ("--set", f"{key}={value}")]
    return run_throng(
        name, *arguments, "--data-dir", own.data_dir, "--listen", own.address if own.listening else own.listen,
        "--internal-listen", internal or own.internal_address, *settings, cwd=own.data_dir.parent)


# Doctor


def lines(done):
    """The findings by subject: the severity and the whole line."""
    found = {}
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            severity, rest = line.split(None, 1)
            found[rest.split("  ")[0].strip()] = (severity, line)
    return found


def doctor(tmp_path, *arguments):
    return run_throng("doctor", "--data-dir", tmp_path / "data", *arguments, cwd=tmp_path)


def doctor_finds(own, condition):
    """Waits until the doctor of a running server finds this, and gives the findings: it gives a busy server two seconds."""
    done = None

    def is_found():
        nonlocal done
        done = command("doctor", own)
        return condition(lines(done))
    own.wait_until(is_found, lambda: done.stdout + done.stderr)
    return done


def free_listeners():
    return "--listen", f"127.0.0.1:{reserve_port()}", "--internal-listen", f"127.0.0.1:{reserve_port()}"


def test_a_machine_on_which_a_server_would_start_is_well(tmp_path):
    done = doctor(tmp_path, *free_listeners())
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines(done)
    assert {"server", "keys", "certificate", "listeners", "open files", "data directory", "disk", "clock", "database"} <= set(found)
    assert "FAILURE" not in done.stdout and found["listeners"][0] == "ok"
    assert not (tmp_path / "data").exists(), "nothing is changed"
    # Nothing is well that is not there: the path may be mistyped.
    assert found["data directory"][0] == "warning" and "--data-dir" in done.stdout
    assert "no secret for tokens yet" in found["keys"][1]


@pytest.mark.files
def test_a_running_server_is_well_and_stays_so(make_server):
    own = make_server()
    done = doctor_finds(own, lambda found: "is ready" in found["server"][1])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "listeners" not in lines(done) and "throng.db" in lines(done)["database"][1]
    own.rpc("createGroup", groupType="Public", groupName="g", groupID="after", ownerUserID="alice")
    assert own.stop() == 0


@pytest.mark.one_process("a node's limit is that of its own process")
def test_the_open_files_are_those_of_the_running_server(make_server):
    own = make_server(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000)))
    done = doctor_finds(own, lambda found: "may open 1000 files" in found["open files"][1])
    assert lines(done)["open files"][0] == "warning"


def test_a_port_that_is_taken_is_a_failure_with_its_remedy(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = doctor(tmp_path, "--listen", listen, "--internal-listen", f"127.0.0.1:{reserve_port()}")
    assert done.returncode == 1 and lines(done)["listeners"][0] == "FAILURE"
    assert listen in lines(done)["listeners"][1] and "→" in done.stdout


def test_an_internal_listener_for_everybody_is_a_warning(tmp_path):
    done = doctor(tmp_path, "--listen", f"127.0.0.1:{reserve_port()}", "--internal-listen", f"0.0.0.0:{reserve_port()}")
    assert done.returncode == 0 and lines(done)["internal listener"][0] == "warning" and "→" in done.stdout, done.stdout
    assert lines(doctor(tmp_path, *free_listeners()))["internal listener"][0] == "ok"


def test_a_certificate_that_expires_soon_is_a_warning(tmp_path):
    soon = make_certificate(tmp_path, days=5, name="soon")
    done = doctor(tmp_path, *free_listeners(), *(part for key, value in soon.items() for part in ("--set", f"{key}={value}")))
    assert done.returncode == 0 and lines(done)["certificate"][0] == "warning", done.stdout


def test_what_is_no_database_and_no_directory_is_a_failure(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/throng.db").write_text("no database, but longer than nothing")
    assert lines(doctor(tmp_path, *free_listeners()))["database"][0] == "FAILURE"
    (tmp_path / "file").write_text("")
    done = doctor(tmp_path, *free_listeners(), "--set", f"dataDir={tmp_path}/file/below")
    assert done.returncode in (0, 1)
    done = run_throng("doctor", "--data-dir", tmp_path / "file/below", *free_listeners(), cwd=tmp_path)
    assert done.returncode == 1, done.stdout


@pytest.mark.files
def test_a_database_in_use_by_another_configuration_is_a_failure(make_server):
    own = make_server()
    done = command("doctor", own, internal=f"127.0.0.1:{reserve_port()}")
    assert done.returncode == 1 and lines(done)["database"][0] == "FAILURE", done.stdout
    assert str(own.process.pid) in lines(done)["database"][1]


@pytest.mark.files
@pytest.mark.one_process("a cluster's nodes have addresses of their own")
def test_a_running_server_with_another_secret_and_database_is_a_warning(make_server, tmp_path):
    """The command was not given the server's configuration: it says so, and what is missing."""
    own = make_server(secret=None)
    here = tmp_path / "here"
    place = ("--data-dir", here, "--listen", own.address, "--internal-listen", own.internal_address)
    found = lines(run_throng("doctor", *place, cwd=tmp_path))
    assert found["keys"][0] == "warning" and f"there is no {here}/auth-secret" in found["keys"][1]
    assert found["database"][0] == "warning" and f"no database in {here}" in found["database"][1]
    assert not here.exists(), "nothing is made"

    assert run_throng("token", "alice", "--data-dir", here, cwd=tmp_path).returncode == 0
    copy = tmp_path / "copy.db"
    assert command("backup", own, copy).returncode == 0
    assert run_throng("restore", copy, "--data-dir", here, cwd=tmp_path).returncode == 0
    done = run_throng("doctor", *place, cwd=tmp_path)
    assert done.returncode == 0 and "--config FILE" in done.stdout, done.stdout
    assert lines(done)["keys"][0] == "warning" and "refuses tokens" in lines(done)["keys"][1]
    assert lines(done)["database"][0] == "warning" and f"{here}/throng.db" in lines(done)["database"][1]

    found = lines(command("doctor", own))
    assert found["keys"][0] == "ok" and found["database"][0] == "ok", found


@pytest.mark.one_process("a cluster's nodes have addresses of their own")
def test_a_verdict_on_a_token_says_that_it_is_not_the_running_servers(make_server, tmp_path):
    own = make_server(secret=None)
    token = run_throng("token", "alice", "--data-dir", own.data_dir, cwd=tmp_path).stdout.strip()
    place = ("--internal-listen", own.internal_address)
    good = run_throng("token", "check", token, "--data-dir", own.data_dir, *place, cwd=tmp_path)
    assert good.returncode == 0 and not good.stderr and "running server" not in good.stdout, good
    for make in (False, True):
        here = tmp_path / f"here-{make}"
        assert not make or run_throng("token", "alice", "--data-dir", here, cwd=tmp_path).returncode == 0
        done = run_throng("token", "check", token, "--data-dir", here, *place, cwd=tmp_path)
        verdict = next(line for line in done.stdout.splitlines() if line.startswith("verdict"))
        assert done.returncode == 1 and "70009" in verdict and "not that of the running server" in verdict, done
        assert f"a server runs at {own.internal_address}" in done.stderr and "--config FILE" in done.stderr
    # Without a server there is nothing to compare with.
    own.stop()
    done = run_throng("token", "check", token, "--data-dir", tmp_path / "here-True", *place, cwd=tmp_path)
    assert "running server" not in done.stdout and not done.stderr, done


def test_an_unreachable_postgresql_is_a_failure(tmp_path):
    done = doctor(tmp_path, *free_listeners(), "--set", f"store.url=postgres://throng:geheim@127.0.0.1:{reserve_port()}/throng")
    assert done.returncode == 1 and lines(done)["PostgreSQL"][0] == "FAILURE"
    assert "geheim" not in done.stdout + done.stderr


def test_an_unreachable_bus_is_a_failure(tmp_path):
    done = doctor(tmp_path, *free_listeners(), "--set", "cluster.enabled=true", "--set", "store.url=postgres://throng@127.0.0.1:1/throng",
                  "--set", f"bus.url=nats://throng:geheim@127.0.0.1:{reserve_port()}")
    assert done.returncode == 1 and lines(done)["NATS"][0] == "FAILURE" and "start nats-server" in done.stdout
    assert "geheim" not in done.stdout + done.stderr


# Top


def numbers_of(line):
    return dict(part.split("=") for part in line.split())


@pytest.mark.one_process("it watches a process")
def test_top_writes_a_line_of_numbers_for_each_interval(make_server):
    own = make_server()
    done = run_throng("top", "--internal-listen", own.internal_address, "--interval", "0.1", "--count", "3")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3, done.stderr
    for line in done.stdout.splitlines():
        fields = numbers_of(line)
        assert (fields["ready"], fields["sessions"], fields["accepted"], fields["sendP99Ms"]) == ("1", "0", "0", "-"), line
    assert "\x1b" not in done.stdout


@pytest.mark.one_process("it watches a process")
async def test_top_tells_of_messages(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    top = await asyncio.create_subprocess_exec(
        BINARY, "top", "--internal-listen", own.internal_address, "--interval", "0.1", stdout=asyncio.subprocess.PIPE,
        env=clean_environment())
    try:
        missing = {"accepted", "delivered", "sendP99Ms"}
        # Each line is about what came since the one before.
        while missing:
            fields = numbers_of((await within(top.stdout.readline(), 60)).decode())
            assert fields["ready"] == "1" and fields["sessions"] == "2", fields
            missing = {name for name in missing if fields[name] in ("0", "-")}
            await alice.call("sendGroupTextMessage", groupID=group, text="x")
    finally:
        top.terminate()
        await top.wait()


@pytest.mark.one_process("it watches a process")
async def test_top_adds_up_the_groups_of_all_types(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice = await world.user("alice")
    for kind, count in (("Work", 3), ("Public", 2), ("Meeting", 1), ("AVChatRoom", 1)):
        for _ in range(count):
            await world.group(alice, kind)
    shown = None

    def adds_up():
        nonlocal shown
        done = run_throng("top", "--internal-listen", own.internal_address, "--interval", "0.1", "--count", "1")
        shown = done.stdout + done.stderr
        return done.returncode == 0 and numbers_of(done.stdout)["groups"] == "7"
    await asyncio.to_thread(own.wait_until, adds_up, lambda: shown)


def test_top_draws_a_screen_in_a_terminal(make_server):
    own = make_server()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    process = subprocess.Popen(
        [BINARY, "top", "--internal-listen", own.node_addresses[0], "--interval", "0.2"], stdout=slave, stderr=slave, stdin=slave,
        env=clean_environment(),
        # A job in the background of a script ignores it, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(slave)
    text = ""
    while text.count("p99 of sends") < 2:
        text += os.read(master, 65536).decode()
    process.send_signal(signal.SIGINT)
    process.wait(20)
    os.close(master)
    assert "\x1b[H" in text and "ready" in text
    screen = text.split("\x1b[H")[1].replace("\x1b[K", "").split("\x1b[J")[0].replace("\r", "")
    assert all(len(line) <= 60 for line in screen.split("\n")) and len(screen.split("\n")) <= 20


def test_top_says_when_there_is_no_server(tmp_path):
    done = run_throng("top", "--internal-listen", f"127.0.0.1:{reserve_port()}", cwd=tmp_path)
    assert done.returncode == 1 and "nobody listens" in done.stderr
    assert run_throng("top", "--interval", "0").returncode == 64


# Backup and restore


@pytest.mark.files
async def test_a_backup_beside_a_busy_server_holds_what_was_acknowledged_before(make_server, make_world, tmp_path):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    acknowledged = (await alice.call("sendGroupTextMessage", groupID=group, text="before"))["seq"]
    file = tmp_path / "backup.db"
    backup = asyncio.create_task(asyncio.to_thread(command, "backup", own, file))
    last = acknowledged
    while not backup.done():
        last = (await alice.call("sendGroupTextMessage", groupID=group, text="meanwhile"))["seq"]
    done = await backup
    assert done.returncode == 0 and done.stdout.startswith("ok: "), done.stderr
    assert oct(file.stat().st_mode)[-3:] == "600"
    # Clients have seen this, and the backup has not.
    epoch = (await alice.call("syncGroups", groups=[{"groupID": group, "epoch": "", "seq": 0}]))["groups"][0]["epoch"]
    again = command("backup", own, file)
    assert again.returncode == 1 and "exists" in again.stderr
    assert own.stop() == 0

    restored = make_server(start=False)
    done = run_throng("restore", file, "--data-dir", restored.data_dir, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run_throng("store", "check", "--data-dir", restored.data_dir, cwd=tmp_path).stdout == "ok\n"
    restored.start()
    assert '"level":"warning"' not in restored.log and '"level":"error"' not in restored.log, restored.log
    again = await make_world(restored).session(alice.user)
    (row,) = (await again.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": last}]))["groups"]
    assert row["recovered"] is False and row["epoch"] != epoch, "the client must load the history anew"
    page = await again.call("getGroupHistoryMessageList", groupID=group, count=100)
    seqs = [message["seq"] for message in page["messageList"]]
    assert max(seqs) >= acknowledged and sorted(seqs) == list(range(min(seqs), max(seqs) + 1))
    await again.call("sendGroupTextMessage", groupID=group, text="after")


@pytest.mark.one_process("it has a database of its own")
async def test_groups_of_a_restored_postgresql_get_new_epochs(make_server, make_world, tmp_path):
    """pg_dump and pg_restore move the database; the script gives the epochs (Operations.md, "Copies")."""
    engine = PostgreSQL()
    try:
        there = ["-h", engine.directory, "-U", "throng"]

        def run(program, *words):
            subprocess.run([str(programs() / program), *there, *map(str, words)], check=True, capture_output=True, text=True)

        def url(name):
            return f"postgres://throng@/{name}?host={engine.directory}"
        own = make_server({"store.url": url("postgres")}, binary=BINARY)
        world = make_world(own)
        alice, bob = await world.users("alice", "bob")
        group = await world.group(alice, "Public", joinMode="Auth")
        sent = [await alice.call("sendGroupTextMessage", groupID=group, text=text) for text in ("kept", "kept, too")]
        await bob.call("joinGroup", groupID=group)
        epoch = (await alice.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["info"]["epoch"]
        run("pg_dump", "-Fc", "-f", tmp_path / "dump", "postgres")
        # The copy does not have this, and clients have seen it.
        lost = await alice.call("sendGroupTextMessage", groupID=group, text="lost")
        await world.close()
        assert own.stop() == 0
        run("createdb", "again")
        run("pg_restore", "-d", "again", tmp_path / "dump")
        run("psql", "-1", "-v", "ON_ERROR_STOP=1", "-f", REPOSITORY / "Scripts/deploy/renew-epochs.sql", "again")
        restored = make_server({"store.url": url("again")}, binary=BINARY)
        again = await make_world(restored).session(alice.user)
        other = await again.call("sendGroupTextMessage", groupID=group, text="another")
        assert other["seq"] == lost["seq"], "without new epochs a client would keep the lost one"
        (row,) = (await again.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": lost["seq"]}]))["groups"]
        assert row["recovered"] is False and row["epoch"] != epoch
        history = await history_of(again, group)
        assert [one["text"] for one in history if one["type"] == "Text"] == ["kept", "kept, too", "another"]
        assert all(one["msgID"].startswith(row["epoch"] + "-") for one in history)
        assert {one["msgID"] for one in history}.isdisjoint(one["msgID"] for one in sent)
        (waiting,) = (await again.call("getGroupApplicationList"))["applicationList"]
        await again.call("acceptGroupApplication", applicationID=waiting["applicationID"])
        restored.kill()
    finally:
        engine.stop()


@pytest.mark.files
def test_paths_are_relative_to_the_working_directory(make_server, tmp_path):
    own = make_server()
    own.rpc("createGroup", groupType="Public", groupName="g", groupID="kept", ownerUserID="alice")
    place = own.data_dir.parent
    (place / "below").mkdir()
    for name, file in (("backup", "a.db"), ("backup", "./below/b.db"), ("export", "c.jsonl"), ("export", "below/../d.jsonl")):
        done = command(name, own, file)
        assert done.returncode == 0, (file, done.stderr)
    for index, (name, file) in enumerate([("restore", "a.db"), ("restore", "below/b.db"), ("import", "c.jsonl"), ("import", "./d.jsonl")]):
        done = run_throng(name, file, "--data-dir", f"copy{index}", cwd=place)
        assert done.returncode == 0, (file, done.stderr)
        assert run_throng("store", "check", "--data-dir", f"copy{index}", cwd=place).stdout == "ok\n"


@pytest.mark.files
def test_a_restore_takes_no_place_that_is_taken(make_server, tmp_path):
    own = make_server()
    own.rpc("createGroup", groupType="Public", groupName="g", groupID="kept", ownerUserID="alice")
    file = tmp_path / "backup.db"
    assert command("backup", own, file).returncode == 0
    done = command("restore", own, file)
    assert done.returncode == 1 and f"process {own.process.pid}" in done.stderr
    assert own.stop() == 0
    done = command("restore", own, file)
    assert done.returncode == 1 and "move" in done.stderr and "-wal" in done.stderr
    own.start()
    assert own.rpc("getGroupsInfo", groupIDList=["kept"])["result"]["resultList"][0]["code"] == 0


@pytest.mark.files
async def test_tokens_stay_good_on_a_new_machine_where_the_copy_has_the_secret(make_server, make_world, tmp_path):
    own = make_server(secret=None)
    secret = (own.data_dir / "auth-secret").read_bytes().strip()
    token = run_throng("token", "alice", "--data-dir", own.data_dir, cwd=tmp_path).stdout.strip()
    alice = await make_world(own).session("alice", token=token)
    await alice.call("createGroup", groupType="Public", groupName="g", groupID="kept")
    plain, whole = tmp_path / "plain.db", tmp_path / "whole.db"
    done = command("backup", own, plain)
    assert done.returncode == 0 and "secret" not in done.stdout, done.stderr
    done = command("backup", own, "--with-secret", whole)
    assert done.returncode == 0 and "with the secret for tokens" in done.stdout, done.stderr
    assert oct(whole.stat().st_mode)[-3:] == "600"
    assert secret in whole.read_bytes() and secret not in plain.read_bytes()
    assert secret.decode() not in done.stdout + done.stderr

    there = make_server(start=False, secret=None)
    done = run_throng("restore", whole, "--data-dir", there.data_dir, cwd=tmp_path)
    made = there.data_dir / "auth-secret"
    assert (done.returncode, done.stdout) == (0, "ok\n") and str(made) in done.stderr, done
    assert made.read_bytes().strip() == secret and oct(made.stat().st_mode)[-3:] == "600"
    assert secret not in (there.data_dir / "throng.db").read_bytes()
    there.start()
    again = await make_world(there).session("alice", token=token)
    assert (await again.call("getGroupsInfo", groupIDList=["kept"]))["resultList"][0]["code"] == 0

    done = run_throng("restore", plain, "--data-dir", tmp_path / "other", cwd=tmp_path)
    assert done.returncode == 0 and "no secret for tokens" in done.stderr and "--with-secret" in done.stderr
    assert not (tmp_path / "other/auth-secret").exists()


@pytest.mark.files
def test_a_restore_does_not_replace_a_secret(make_server, tmp_path):
    """Tokens of one of the two would be refused without a word."""
    own = make_server(secret=None)
    whole = tmp_path / "whole.db"
    assert command("backup", own, "--with-secret", whole).returncode == 0
    there = tmp_path / "there"
    assert run_throng("token", "alice", "--data-dir", there, cwd=tmp_path).returncode == 0
    secret = (there / "auth-secret").read_bytes()
    refused = run_throng("restore", whole, "--data-dir", there, cwd=tmp_path)
    assert refused.returncode == 1 and "has another secret than the backup" in refused.stderr and "--keep-secret" in refused.stderr
    assert sorted(path.name for path in there.iterdir()) == ["auth-secret"], "nothing was made"
    configured = run_throng("restore", whole, "--data-dir", tmp_path / "configured", "--set", f"auth.secret={'s' * 40}", cwd=tmp_path)
    assert configured.returncode == 0 and "auth.secret is set" in configured.stderr
    assert not (tmp_path / "configured/auth-secret").exists()
    kept = run_throng("restore", whole, "--keep-secret", "--data-dir", there, cwd=tmp_path)
    assert (kept.returncode, kept.stdout, kept.stderr) == (0, "ok\n", "")
    assert (there / "auth-secret").read_bytes() == secret


@pytest.mark.files
@pytest.mark.parametrize("settings, reason", [
    ({"auth.secret": " " + "s" * 40}, "blank"), ({"auth.algorithms": "ES256", "auth.jwksFile": "keys.json"}, "HS256")])
def test_a_secret_that_cannot_be_copied_is_told(make_server, tmp_path, settings, reason):
    own = make_server()
    (tmp_path / "keys.json").write_text('{"keys":[]}')
    pairs = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    done = run_throng("backup", "--with-secret", tmp_path / "copy.db", "--data-dir", own.data_dir, *pairs, cwd=tmp_path)
    assert done.returncode == 1 and reason in done.stderr and not (tmp_path / "copy.db").exists(), done


# Export and import


@pytest.mark.files
async def test_an_import_of_an_export_is_the_same_state(make_server, make_world, tmp_path):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    texts = ["plain", "a NUL \0 in it", "😀 \u2028 \" \\ \n", "x" * 12000]
    for text in texts:
        await alice.call("sendGroupTextMessage", groupID=group, text=text)
    await bob.call("addMessageReaction", groupID=group, seq=1, reaction="👍")
    await world.group(alice, "AVChatRoom", members=[bob], groupID="room")
    await alice.call("setGroupCounters", groupID="room", counters={"likes": 7})

    def state(server):
        infos = server.rpc("getGroupsInfo", groupIDList=[group, "room"])["result"]["resultList"]
        for info in infos:
            info["info"].pop("onlineCount")
        return (infos, server.rpc("getGroupHistoryMessageList", groupID=group, count=100)["result"],
                server.rpc("getGroupMemberList", groupID=group)["result"]["memberList"],
                server.rpc("getGroupCounters", groupID="room")["result"],
                server.rpc("getMessageReactions", groupID=group, seqList=[1])["result"])

    await alice.call("logout")
    await bob.call("logout")
    own.metric_becomes("throng_sessions", 0)
    before = state(own)
    assert own.stop() == 0
    done = command("export", own, tmp_path / "export.jsonl")
    assert done.returncode == 0 and not done.stdout and done.stderr.startswith("ok: ")
    exported = (tmp_path / "export.jsonl").read_text().removesuffix("\n").split("\n")
    rows = [json.loads(line) for line in exported]
    assert rows[0]["throngExport"] == 1 and rows[-1] == {"end": {"rows": len(rows) - 2}}
    assert sum("message" in row for row in rows) >= len(texts)

    copy = make_server(start=False)
    copied = run_throng("import", tmp_path / "export.jsonl", "--data-dir", copy.data_dir, cwd=tmp_path)
    assert copied.returncode == 0 and copied.stdout == f"ok: {len(rows) - 2} rows\n", copied.stderr
    assert "no secret for tokens" in copied.stderr and str(copy.data_dir / "auth-secret") in copied.stderr
    again = run_throng("export", "-", "--data-dir", copy.data_dir, cwd=tmp_path)
    assert again.stdout.split("\n")[1:-1] == exported[1:], "the same text but for the head's time"
    copy.start()
    assert state(copy) == before


@pytest.mark.files
def test_an_import_beside_the_former_secret_says_nothing_of_it(make_server, tmp_path):
    own = make_server()
    whole = tmp_path / "whole.jsonl"
    assert command("export", own, whole).returncode == 0
    there = tmp_path / "there"
    assert run_throng("token", "alice", "--data-dir", there, cwd=tmp_path).returncode == 0
    for place, more in [(there, ()), (tmp_path / "configured", ("--set", f"auth.secret={'s' * 40}"))]:
        done = run_throng("import", whole, "--data-dir", place, *more, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.startswith("ok: ") and not done.stderr, done.stderr


@pytest.mark.files
def test_a_part_of_an_export_is_refused_and_leaves_nothing(make_server, tmp_path):
    own = make_server()
    own.rpc("createGroup", groupType="Public", groupName="g", groupID="kept", ownerUserID="alice")
    # Beside the running server, to standard output.
    whole = command("export", own, "-").stdout
    for part in (whole[:len(whole) // 2], whole[:whole.rindex("\n", 0, -1) + 1], whole.split("\n", 1)[1], "", "{}\n"):
        done = subprocess.run(
            [BINARY, "import", "-", "--data-dir", tmp_path / "part"], input=part, capture_output=True, text=True,
            env=clean_environment(), cwd=tmp_path)
        assert done.returncode == 1 and done.stderr, part[-100:]
        assert not (tmp_path / "part/throng.db").exists() and not (tmp_path / "part/throng.db-new").exists()
    done = command("import", own, tmp_path / "nothing")
    assert done.returncode == 1 and "nothing" in done.stderr


@pytest.mark.parametrize("name", ["backup", "restore", "export", "import"])
def test_a_store_in_postgresql_is_left_to_its_own_tools(name, tmp_path):
    done = run_throng(name, tmp_path / "file", "--set", "store.url=postgres://throng@127.0.0.1/throng", cwd=tmp_path)
    assert done.returncode == 1 and "PostgreSQL" in done.stderr and not done.stdout
    assert name != "backup" or "pg_dump" in done.stderr
