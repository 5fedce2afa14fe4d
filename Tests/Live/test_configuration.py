"""The command line and the configuration (Operations.md, "Command line")."""
import fcntl
import json
import os
import pty
import resource
import stat
import struct
import subprocess
import termios
import time

import jwt
import pytest

from harness.ports import reserve_port
from harness.server import BINARY, EXIT_PATIENCE, StartFailed, clean_environment, run_throng
from harness.tokens import OTHER_SECRET, SECRET, expiry_of, make_token


def check(*arguments, **options):
    return run_throng("config", "check", *arguments, **options)


def shown(key, *arguments, **options):
    """The line of `config show` for a key."""
    done = run_throng("config", "show", *arguments, **options)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.split() and line.split()[0].rstrip(":=") == key]
    return line


def test_help_everywhere_and_version():
    for arguments in (["--help"], ["serve", "--help"], ["token", "--help"], ["token", "make", "--help"], ["token", "check", "--help"], ["config", "--help"], ["config", "check", "--help"], ["config", "example", "--help"],
                      ["config", "show", "--help"], ["bench", "--help"], ["version", "--help"]):
        done = run_throng(*arguments)
        assert done.returncode == 0 and "USAGE" in done.stdout.upper(), arguments
    assert run_throng("version").returncode == 0 and run_throng("version").stdout.strip()


@pytest.mark.parametrize("arguments", [["fly"], ["serve", "--fly"], ["token"], ["token", "a", "b"], ["token", "check"], ["config", "fly"]])
def test_wrong_usage_is_64(arguments):
    done = run_throng(*arguments)
    assert done.returncode == 64 and done.stderr


def test_a_good_configuration_is_0(tmp_path):
    assert check(cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("setting, named", [
    ("limits.requestPerSecond=5", "limits.requestsPerSecond"),
    ("heartbeat.intervall=5", "heartbeat.interval"),
    ("limits.avChatRoom.messagePerSecond=5", "limits.avChatRoom.messagesPerSecond"),
    ("auth.secret=too-short", "auth.secret"),
    ("admin.apiKey=" + "k" * 31, "admin.apiKey"),
    ("limits.requestsPerSecond=many", "limits.requestsPerSecond"),
    ("listen=nowhere", "listen"),
    ("listen=127.0.0.1:65536", "listen"),
    ("log.format=xml", "log.format"),
    ("store.sync=never", "store.sync"),
    ("trustedProxies=10.0.0.0/40", "trustedProxies"),
    ("tls.keyFile=/nowhere/key.pem", "tls"),
    ("auth.jwksFile=/nowhere/keys.json", "auth.jwksFile"),
    ("demo=perhaps", "demo"),
])
def test_a_bad_setting_stops_with_1_and_names_the_key(tmp_path, setting, named):
    done = check("--set", setting, cwd=tmp_path)
    assert done.returncode == 1 and named in done.stderr, done
    done = run_throng("serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--set", setting, cwd=tmp_path)
    assert done.returncode == 1 and named in done.stdout + done.stderr, done


def test_an_unknown_variable_stops_and_names_the_nearest(tmp_path):
    done = check(cwd=tmp_path, environment={"THRONG_LIMITS_REQUEST_PER_SECOND": "5"})
    assert done.returncode == 1 and "THRONG_LIMITS_REQUESTS_PER_SECOND" in done.stderr
    for name in ("THRONG_SERVICE_HOST", "THRONG_SERVICE_PORT_HTTP", "THRONG_PORT", "THRONG_PORT_8080_TCP_ADDR",
                 "THRONG_INTERNAL_SERVICE_HOST", "THRONG_INTERNAL_SERVICE_PORT_HTTP", "THRONG_INTERNAL_PORT",
                 "THRONG_INTERNAL_PORT_8081_TCP"):
        assert check(cwd=tmp_path, environment={name: "x"}).returncode == 0, name


def test_an_unknown_key_in_the_file_stops_and_names_the_nearest(tmp_path):
    file = tmp_path / "throng.yaml"
    file.write_text("limits:\n  requestPerSecond: 5\n")
    done = check("--config", file, cwd=tmp_path)
    assert done.returncode == 1 and "limits.requestsPerSecond" in done.stderr


def test_one_mistake_is_one_line_and_a_far_key_is_not_offered(tmp_path):
    for arguments, line in [
            (["foo=1"], "foo: no such key; throng config example lists the keys (flag --set)"),
            (["webhook.url=http://127.0.0.1:1", "webhook.secrt=x"],
             "webhook.secrt: no such key; the nearest is webhook.secret (flag --set)"),
            (["allowedOrigins=https://chat.example.com/"],
             "allowedOrigins: expected an origin without the slash at its end, https://chat.example.com, "
             'found "https://chat.example.com/" (flag --set)')]:
        done = check(*(word for one in arguments for word in ("--set", one)), cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", line + "\n")
    file = tmp_path / "throng.yaml"
    file.write_text("limit:\n  connections: 5\n  requestBurst: 6\n  requestsPerSecond: 7\n")
    done = check("--config", file, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr == f"limit: no such section; the nearest is limits (file {file})\n"


@pytest.mark.parametrize("internal, told", [
    ("127.0.0.1:8081", None), ("10.1.2.3:8081", None), ("[fd00::1]:8081", None), ("unix:/run/throng/internal.sock", None),
    ("0.0.0.0:8081", "every address"), ("[::]:8081", "every address"), ("203.0.113.5:8081", "a public address")])
def test_config_check_warns_of_an_internal_listener_for_everybody(tmp_path, internal, told):
    done = check("--internal-listen", internal, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
    if told is None:
        assert done.stderr == ""
    else:
        assert done.stderr.startswith(f"warning: internalListen is {internal}, {told}") and done.stderr.count("\n") == 1


@pytest.mark.one_process("the balancer listens for all nodes")
def test_a_start_warns_of_an_internal_listener_for_everybody(make_server):
    def warnings(own):
        return [entry["message"] for entry in map(json.loads, own.log.splitlines())
                if entry["level"] == "warning" and "internalListen" in entry["message"]]
    everywhere, here = make_server(internal="0.0.0.0:0"), make_server()
    everywhere.wait_until(lambda: warnings(everywhere), "the warning")
    assert "every address" in warnings(everywhere)[0]
    assert here.stop() == 0
    assert not warnings(here)


@pytest.mark.parametrize("columns", [80, 100, 50])
def test_config_show_fits_a_terminal(tmp_path, columns):
    origins = ",".join(f"https://chat{number}.example.com" for number in range(9))
    arguments = ["config", "show", "--set", f"allowedOrigins={origins}"]
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = clean_environment({"THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND": "41"})
    process = subprocess.Popen([BINARY, *arguments], stdout=slave, stderr=slave, stdin=slave, env=environment, cwd=tmp_path)
    os.close(slave)
    shown = b""
    try:
        # Linux ends a terminal that nobody writes to any more with an error.
        while part := os.read(master, 65536):
            shown += part
    except OSError:
        pass
    os.close(master)
    assert process.wait(20) == 0
    lines = shown.decode().replace("\r", "").splitlines()
    assert max(map(len, lines)) <= columns
    piped = run_throng(*arguments, environment={"THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND": "41"}, cwd=tmp_path).stdout
    assert "".join(lines).replace(" ", "") == piped.replace("\n", "").replace(" ", ""), "nothing is cut off"
    assert max(map(len, piped.splitlines())) > 200, "a program gets one line for each key"


def test_a_short_flag_is_named_by_its_own_name(tmp_path):
    for flag in ("--listen", "--internal-listen"):
        done = check(flag, "127.0.0.1:99999", cwd=tmp_path)
        assert done.returncode == 1 and f"{flag})" in done.stderr and "65535" in done.stderr, done
    assert "--set" not in check("--data-dir", "", cwd=tmp_path).stderr
    assert "flag --demo" in shown("demo", "--demo", cwd=tmp_path)


def test_an_address_without_its_host_or_prefix_is_understood(tmp_path):
    assert "0.0.0.0:8080" in shown("listen", "--listen", ":8080", cwd=tmp_path)
    assert check("--set", "trustedProxies=10.0.0.1,::1,fd00::/8", cwd=tmp_path).returncode == 0


def test_throng_token_says_that_it_makes_a_secret(tmp_path):
    first = run_throng("token", "alice", "--data-dir", tmp_path / "new", cwd=tmp_path)
    assert first.returncode == 0 and str(tmp_path / "new" / "auth-secret") in first.stderr
    assert len(first.stdout.split()) == 1
    again = run_throng("token", "alice", "--data-dir", tmp_path / "new", cwd=tmp_path)
    assert again.returncode == 0 and not again.stderr


def test_a_file_that_cannot_be_read_stops(tmp_path):
    assert check("--config", tmp_path / "none.yaml", cwd=tmp_path).returncode == 1
    broken = tmp_path / "broken.yaml"
    broken.write_text("limits: [1, 2\n  x: {")
    assert check("--config", broken, cwd=tmp_path).returncode == 1


def test_defaults_file_environment_flags_the_later_wins(tmp_path):
    file = tmp_path / "throng.yaml"
    file.write_text("limits:\n  avChatRoom:\n    messagesPerSecond: 41\n")
    key, variable = "limits.avChatRoom.messagesPerSecond", "THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND"
    assert "40" in shown(key, cwd=tmp_path) and "default" in shown(key, cwd=tmp_path)
    assert "41" in shown(key, "--config", file, cwd=tmp_path) and "throng.yaml" in shown(key, "--config", file, cwd=tmp_path)
    environment = {variable: "42", "THRONG_CONFIG": str(file)}
    line = shown(key, cwd=tmp_path, environment=environment)
    assert "42" in line and variable in line
    assert "43" in shown(key, "--set", f"{key}=43", cwd=tmp_path, environment=environment)
    assert "41" in shown(key, cwd=tmp_path, environment={"THRONG_CONFIG": str(file)})


def test_the_file_may_be_json(tmp_path):
    file = tmp_path / "throng.json"
    file.write_text(json.dumps({"limits": {"revokeWindow": 77}, "allowedOrigins": ["https://a.example", "https://b.example"]}))
    assert "77" in shown("limits.revokeWindow", "--config", file, cwd=tmp_path)
    assert "b.example" in shown("allowedOrigins", "--config", file, cwd=tmp_path)


def test_lists_are_comma_separated(tmp_path):
    environment = {"THRONG_ALLOWED_ORIGINS": "https://a.example,https://b.example"}
    line = shown("allowedOrigins", cwd=tmp_path, environment=environment)
    assert "https://a.example" in line and "https://b.example" in line


def test_secrets_are_masked(tmp_path):
    done = run_throng("config", "show", "--set", f"auth.secret={SECRET}", "--set", "admin.apiKey=" + "k" * 40, cwd=tmp_path)
    assert done.returncode == 0 and SECRET not in done.stdout and "k" * 40 not in done.stdout
    assert "auth.secret" in done.stdout and "admin.apiKey" in done.stdout


async def test_the_configuration_reaches_the_server(make_server, make_world, tmp_path):
    file = tmp_path / "throng.yaml"
    file.write_text("limits:\n  revokeWindow: 77\n  public:\n    maxMemberNum: 5\n")
    own = make_server(arguments=["--config", str(file)], environment={"THRONG_LIMITS_SEND_QUEUE_BYTES": "2000000"})
    alice = await make_world(own).user("alice")
    limits = (await alice.call("getServerInfo"))["limits"]
    assert limits["limits.revokeWindow"] == 77 and limits["limits.public.maxMemberNum"] == 5
    assert limits["limits.sendQueueBytes"] == 2000000 and limits["limits.avChatRoom.messagesPerSecond"] == 40


async def test_throng_token_prints_a_token_for_the_servers_own_secret(make_server, make_world, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for ttl, seconds in (("30s", 30), ("15m", 900), ("7d", 604800), ("1h", 3600)):
        earliest = int(time.time()) + seconds
        done = run_throng("token", "alice", "--ttl", ttl, "--data-dir", data, cwd=tmp_path)
        assert done.returncode == 0 and len(done.stdout.split()) == 1, "the token alone"
        assert earliest * 1000 <= expiry_of(done.stdout.strip()) <= (time.time() + seconds) * 1000
    secret = data / "auth-secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    own = make_server(data_dir=data, secret=None)
    alice = await make_world(own).session("alice", token=done.stdout.strip())
    assert alice.welcome["tokenExpiresAt"] == expiry_of(done.stdout.strip())
    admin = run_throng("token", "backend", "--admin", "--data-dir", data, cwd=tmp_path).stdout.strip()
    assert own.post_rpc({"jsonrpc": "2.0", "id": 1, "method": "ping"}, admin).status == 200
    assert secret.read_text().strip() not in own.log


@pytest.mark.parametrize("ttl, words", [("7", "7s, 7m, 7h or 7d"), ("3600", "3600s"), ("0s", "at least a second"), ("week", "1h")])
def test_the_life_of_a_token_has_a_unit(tmp_path, ttl, words):
    done = run_throng("token", "alice", "--ttl", ttl, "--data-dir", tmp_path / "data", cwd=tmp_path)
    assert done.returncode == 64 and words in done.stderr and not done.stdout
    assert not (tmp_path / "data").exists(), "a wrong call makes no secret"


def test_a_user_may_be_called_like_a_subcommand(tmp_path):
    for user in ("check", "make"):
        made = run_throng("token", "make", user, "--data-dir", tmp_path, cwd=tmp_path)
        assert made.returncode == 0
        assert jwt.decode(made.stdout.strip(), options={"verify_signature": False})["sub"] == user


# Explaining a token

def explained(token, *arguments, cwd, text=None):
    """The finished `throng token check`, and its lines by name."""
    done = subprocess.run(
        # Nobody listens there, so that no other server of this machine has a word in it.
        [str(BINARY), "token", "check", token, "--internal-listen", f"127.0.0.1:{reserve_port()}", *map(str, arguments)],
        env=clean_environment(), cwd=cwd, input=text, capture_output=True, text=True, timeout=EXIT_PATIENCE)
    return done, dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def test_a_token_is_explained_against_the_configuration(tmp_path):
    secret = ("--set", f"auth.secret={SECRET}", "--data-dir", tmp_path / "none")
    done, said = explained(make_token("alice", iat=1_700_000_000), *secret, cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
    assert said["header"].startswith('alg "HS256"') and said["signature"] == "good" and said["sub"] == '"alice"'
    assert said["exp"].endswith(("in 60 minutes", "in 59 minutes")) and said["iat"].startswith("2023-11-14T22:13:20Z, ")
    assert said["verdict"] == "accepted: signs in alice"
    assert SECRET not in done.stdout and not (tmp_path / "none").exists(), "it changes nothing"


@pytest.mark.parametrize("make, settings, verdict", [
    (lambda: make_token("alice", exp=None), (), "refused with 70003: it has no exp"),
    (lambda: make_token("550e8400-e29b-41d4-a716-446655440000"), (), "has 36 bytes; a userID has 1 to 32"),
    (lambda: make_token("alice", ttl=-60), (), "refused with 70001: exp was "),
    (lambda: make_token("alice", algorithm="HS512"), (), 'refused with 70003: its alg is "HS512"; this server accepts HS256'),
    (lambda: make_token("alice", secret=OTHER_SECRET), (), "refused with 70009: this server's secret has not signed it"),
    (lambda: make_token("alice"), ("auth.audience=app",), 'refused with 70003: aud does not name "app" (auth.audience)'),
    (lambda: "nonsense", (), "refused with 70003: it is not three parts"),
    (lambda: "", (), "refused with 70003: it is empty"),
])
def test_a_refused_token_is_explained_and_is_1(tmp_path, make, settings, verdict):
    keys = [part for setting in (f"auth.secret={SECRET}", *settings) for part in ("--set", setting)]
    done, said = explained(make(), *keys, cwd=tmp_path)
    assert done.returncode == 1 and verdict in said["verdict"] and not done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_a_token_is_read_from_standard_input(tmp_path):
    data = tmp_path / "data"
    token = run_throng("token", "alice", "--data-dir", data, cwd=tmp_path).stdout
    done, said = explained("-", "--data-dir", data, cwd=tmp_path, text=token)
    assert done.returncode == 0 and said["verdict"] == "accepted: signs in alice" and not done.stderr
    done, said = explained("-", "--data-dir", data, cwd=tmp_path, text="")
    assert done.returncode == 1 and "it is empty" in said["verdict"]
    admin = run_throng("token", "backend", "--admin", "--data-dir", data, cwd=tmp_path).stdout
    done, said = explained("-", "--data-dir", data, cwd=tmp_path, text=admin)
    assert done.returncode == 0 and "internal listener" in said["verdict"]


def test_where_there_is_no_secret_yet_a_token_is_refused_and_none_is_made(tmp_path):
    done, said = explained(make_token("alice"), "--data-dir", tmp_path / "none", cwd=tmp_path)
    assert done.returncode == 1 and "70009" in said["verdict"]
    assert "no secret yet" in done.stderr and str(tmp_path / "none") in done.stderr and not (tmp_path / "none").exists()


def test_an_end_in_milliseconds_is_warned_of(tmp_path):
    token = make_token("alice", exp=int(time.time() * 1000))
    done, said = explained(token, "--set", f"auth.secret={SECRET}", cwd=tmp_path)
    assert done.returncode == 0 and "milliseconds" in done.stderr and said["exp"].startswith("the year 5")


def test_the_first_start_makes_a_secret_and_keeps_it(make_server, tmp_path):
    own = make_server(secret=None)
    file = own.data_dir / "auth-secret"
    secret = file.read_bytes()
    assert len(secret.strip()) >= 32 and stat.S_IMODE(file.stat().st_mode) == 0o600
    own.kill()
    own.start()
    assert file.read_bytes() == secret


@pytest.mark.parametrize("user", ["", "@alice", "administrator", "a b", "x" * 33])
def test_throng_token_refuses_what_is_no_user_id(tmp_path, user):
    done = run_throng("token", "--data-dir", tmp_path, "--", user, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr and not done.stdout


def test_config_check_looks_at_the_certificate(tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("garbage")
    done = check("--set", "tls.certificateFile=cert.pem", "--set", "tls.keyFile=key.pem", cwd=tmp_path)
    assert done.returncode == 1 and "cert.pem" in done.stderr and not done.stdout


def test_a_refusal_that_nobody_can_read_still_has_its_status(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(BINARY), "config", "check", "--set", "loops=none"], stderr=full, stdout=full)
    assert done.returncode == 1


def test_listening_is_said_in_one_line(make_server):
    own = make_server()
    lines = [json.loads(line) for line in own.lines if '"listening"' in line]
    assert len(lines) == 1 and lines[0]["message"] == "listening"
    for address in (lines[0]["listen"], lines[0]["internalListen"]):
        host, port = address.rsplit(":", 1)
        assert host == "127.0.0.1" and 0 < int(port) < 65536


@pytest.mark.parametrize("limit, hard, expected", [(0, None, 65536), (800, None, 4996), (0, 2000, 2000)])
def test_listening_says_how_many_files_may_be_open(make_server, limit, hard, expected):
    system = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    preexec = hard and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard)))
    own = make_server({"limits.connections": limit}, preexec=preexec)
    (line,) = [json.loads(line) for line in own.lines if '"listening"' in line]
    assert int(line["openFiles"]) == (expected if system == resource.RLIM_INFINITY else min(expected, system))


@pytest.mark.one_process("the balancer listens, and says it in its own words")
def test_a_port_that_is_taken_stops_the_start(make_server):
    own = make_server()
    with pytest.raises(StartFailed) as failure:
        make_server(internal=own.internal_address)
    assert failure.value.status == 1 and own.internal_address.rsplit(":", 1)[1] in failure.value.log


@pytest.mark.parametrize("place", ["absolute", "relative"])
async def test_the_store_is_where_its_url_says(make_server, make_world, tmp_path, place):
    data = tmp_path / "data"
    file = tmp_path / "elsewhere" / "a.db" if place == "absolute" else data / "in" / "a.db"
    settings = {"store.url": f"sqlite:{file if place == 'absolute' else 'in/a.db'}"}
    own = make_server(data_dir=data, settings=settings)
    world = make_world(own)
    alice = await world.user("alice")
    group = await world.group(alice)
    assert file.exists() and not (data / "throng.db").exists()
    own.kill()
    own.start()
    world.clients.clear()
    alice = await world.session(alice.user)
    assert (await alice.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["code"] == 0


@pytest.mark.files
def test_two_servers_on_one_database_are_refused(make_server, tmp_path):
    first = make_server(data_dir=tmp_path / "first")
    path = tmp_path / "first" / "throng.db"
    with pytest.raises(StartFailed) as failed:
        make_server(data_dir=tmp_path / "second", settings={"store.url": f"sqlite:{path}"})
    assert failed.value.status == 1 and f"{path} is in use by process {first.process.pid}" in failed.value.log


@pytest.mark.files
def test_a_start_that_fails_is_no_crash(make_server, tmp_path):
    """The next start finds the database as a clean end has left it."""
    other = make_server(data_dir=tmp_path / "other")
    for _ in range(2):
        with pytest.raises(StartFailed) as failed:
            make_server(data_dir=tmp_path / "data", listen=other.listening["listen"])
        assert failed.value.status == 1 and "cannot listen on" in failed.value.log
        assert "did not end cleanly" not in failed.value.log, failed.value.log
    own = make_server(data_dir=tmp_path / "data")
    assert "did not end cleanly" not in own.log and "lost" not in own.log


@pytest.mark.parametrize("url", ["postgres://h", "sqlite://h/a.db", "sqlite::memory:", "sqlite:a.db?mode=ro", "sqlite:a/"])
def test_a_store_url_that_is_no_path_stops_with_1(tmp_path, url):
    done = check("--set", f"store.url={url}", cwd=tmp_path)
    assert done.returncode == 1 and "store.url" in done.stderr


def test_the_example_file_holds_every_key(tmp_path):
    """As it is it changes nothing; uncommented as Configuration.md says, it sets each key to its default."""
    printed = run_throng("config", "example", cwd=tmp_path)
    assert printed.returncode == 0 and not printed.stderr
    (tmp_path / "throng.yaml").write_text(printed.stdout)
    subprocess.run("sed 's/^# \\{0,1\\}//' throng.yaml > all.yaml", shell=True, cwd=tmp_path, check=True)
    usual, as_it_is, everything = [
        run_throng("config", "show", *file, cwd=tmp_path).stdout.splitlines() for file in ([], ["--config", "throng.yaml"], ["--config", "all.yaml"])]
    assert as_it_is == usual
    assert [line.split()[:2] for line in everything] == [line.split()[:2] for line in usual]
    unset = [line.split()[0] for line in everything if line.endswith("  default")]
    follows = {"loops", "limits.deliveriesPerSecond", "limits.deliveredBytesPerSecond"}
    assert all("(none)" in line or line.split()[0] in follows for line in everything if line.split()[0] in unset)
    assert len(everything) - len(unset) > 30
    assert run_throng("config", "check", "--config", "all.yaml", cwd=tmp_path).stdout == "ok\n"
