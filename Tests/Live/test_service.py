"""throng.yaml, throng.service and the compositions of Scripts/deploy, each checked by what reads it, and the server
under the unit's restrictions."""
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from harness.proxy import DEPLOY, SETTINGS
from harness.server import BINARY, REPOSITORY, run_throng
from harness.tokens import make_token
from test_unix_sockets import ask

UNIT = DEPLOY / "throng.service"
# For several applications on one machine: what systemd is asked about is one of them.
UNITS = {"throng.service": UNIT, "throng@shop.service": DEPLOY / "throng@.service"}
needs_analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")


def test_the_servers_file_is_right(tmp_path):
    done = run_throng("config", "check", "--config", DEPLOY / "throng.yaml", "--data-dir", tmp_path, cwd=tmp_path)
    assert done.stdout == "ok\n", done.stderr
    shown = run_throng("config", "show", "--config", DEPLOY / "throng.yaml", cwd=tmp_path).stdout
    assert re.search(r"^dataDir +/var/lib/throng +file ", shown, re.M), "the unit does not name it"
    for key in ("path", "trustedProxies", "forwardedHeader"):
        (value,) = re.findall(rf"^{key} +(\S+) +file ", shown, re.M)
        assert value == SETTINGS[key], "the proxies are tested with other settings"


def test_the_proxies_wait_longer_than_the_heartbeat(tmp_path):
    """A silent connection is pinged before any proxy gives it up."""
    shown = run_throng("config", "show", cwd=tmp_path).stdout
    heartbeat = sum(int(re.search(rf"^heartbeat.{part} +(\d+)s", shown, re.M)[1]) for part in ("interval", "timeout"))
    timeouts = {
        "nginx.conf": r"proxy_(?:read|send)_timeout (\d+)s", "haproxy.cfg": r"timeout (?:client|server|tunnel) (\d+)s",
        "haproxy-tcp.cfg": r"timeout (?:client|server) (\d+)s"}
    for name, pattern in timeouts.items():
        found = re.findall(pattern, (DEPLOY / name).read_text())
        assert found and all(int(seconds) > heartbeat for seconds in found), name


def installed(directory, name="throng.service"):
    """A unit as it is where the program is installed."""
    program = directory / "throng"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = directory / UNITS[name].name
    unit.write_text(UNITS[name].read_text().replace("/usr/local/bin/throng", str(program)))
    return unit.with_name(name)


@needs_analyze
@pytest.mark.parametrize("name", UNITS)
def test_systemd_understands_the_unit(name, tmp_path):
    unit = installed(tmp_path, name)
    # systemd finds a template only where it looks for units.
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}

    def verify():
        command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
        return subprocess.run(command, capture_output=True, text=True, env=environment)
    done = verify()
    assert done.returncode == 0 and "throng" not in done.stderr, done.stderr
    # It is read: a word that is none is found.
    file = tmp_path / UNITS[name].name
    file.write_text(file.read_text().replace("StateDirectory=", "StateDirectries="))
    assert "StateDirectries" in verify().stderr


@pytest.mark.parametrize("name", UNITS)
def test_systemd_starts_the_server_again_however_often_it_fails(name):
    """A disk that fails ends the server with 74 (Operations.md, "Failed writes")."""
    lines = UNITS[name].read_text().splitlines()
    assert {"Restart=on-failure", "RestartSec=2", "StartLimitIntervalSec=0"} <= set(lines)
    assert not [line for line in lines if line.startswith(("RestartPreventExitStatus=", "SuccessExitStatus="))]


@needs_analyze
@pytest.mark.parametrize("name", UNITS)
def test_systemd_finds_the_unit_well_confined(name, tmp_path):
    """systemd calls an exposure below 2 of 10 OK, its best word for a service on the network."""
    unit = tmp_path / name
    unit.write_text(UNITS[name].read_text())
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(unit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-300:]


@needs_analyze
def test_systemd_understands_the_drop_in_for_port_443(tmp_path):
    """Operations.md, "Port 443": what the page puts beside the unit."""
    page = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/Operations.md").read_text()
    (shown,) = re.findall(r"^ +\[Service\]\n(?: +\w+=.*\n)+", page, re.M)
    drop_in = textwrap.dedent(shown)
    assert set(re.findall(r"CAP_\w+", drop_in)) == {"CAP_NET_BIND_SERVICE"}, "no other right"
    # A right in a namespace of the unit's own would not be one over the machine's ports.
    assert "\nPrivateUsers=yes\n" in UNIT.read_text() and "\nPrivateUsers=no\n" in drop_in
    unit = installed(tmp_path)
    (tmp_path / "throng.service.d").mkdir()

    def complaints(text):
        (tmp_path / "throng.service.d/override.conf").write_text(text)
        command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
        return [line for line in subprocess.run(command, capture_output=True, text=True).stderr.splitlines() if "throng" in line]
    assert complaints(drop_in) == []
    assert complaints(drop_in + "AmbientCapability=CAP_NET_BIND_SERVICE\n") != [], "it is read"


@pytest.mark.parametrize("name", UNITS)
def test_the_units_commands_are_the_programs(name):
    """Each `throng …` of the unit is one that the program has, with the options that it takes."""
    commands = re.findall(r"/usr/local/bin/throng ((?:[a-z]+ )+)(.*?)(?:;|$)", UNITS[name].read_text(), re.M)
    assert [words.strip() for words, _ in commands] == ["serve", "health"]
    for words, options in commands:
        text = run_throng(*words.split(), "--help").stdout
        for option in re.findall(r"--[a-z-]+", options):
            assert option in text


@pytest.mark.one_process("it confines the process")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its rights up")
@needs_analyze
async def test_the_server_works_under_the_units_restrictions(make_server, make_world, tmp_path):
    """All that systemd would forbid is forbidden: the server signs in, stores, shows its metrics, reloads and drains."""
    data_dir = tmp_path / "state"
    data_dir.mkdir()
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(BINARY), "version"]
    if subprocess.run(as_nobody, capture_output=True, cwd="/").returncode != 0:
        pytest.skip("the program stands where another user cannot run it")
    # The same for the directory.
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_uid == 0 and directory.is_relative_to(tempfile.gettempdir()):
            directory.chmod(directory.stat().st_mode | 0o011)
    wrapper = tmp_path / "throng"
    confined = Path(__file__).parent / "harness/confined.py"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -B {confined} {UNIT} {data_dir} {BINARY} "$@"\n')
    wrapper.chmod(0o755)
    run = tmp_path / "run"
    run.mkdir()
    os.chown(run, 65534, 65534)
    settings = {"loops": 2, "drain.duration": "0"}
    own = make_server(settings, data_dir=data_dir, binary=wrapper, internal=f"unix:{run}/internal.sock", secret=None)
    assert "Seccomp:\t2" in Path(f"/proc/{own.process.pid}/status").read_text()
    assert oct((run / "internal.sock").stat().st_mode)[-3:] == "660", "whatever the umask is"
    assert oct((data_dir / "auth-secret").stat().st_mode)[-3:] == "600"
    secret = (data_dir / "auth-secret").read_text().strip()
    world = make_world(own)
    alice, bob = [await world.session(user, token=make_token(user, secret=secret)) for user in ("alice", "bob")]
    group = await world.group(alice, "Public", [bob])
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="confined")
    assert sent["status"] == "Stored"

    def metrics():
        status, body = ask(f"{run}/internal.sock", "GET", "/metrics")
        assert status == 200
        return body.decode()
    own.wait_until(lambda: "throng_sessions 2" in metrics(), "two sessions")
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds", "process_open_fds"):
        assert re.search(rf"^{name} [0-9.e+]+$", metrics(), re.M), name
    own.process.send_signal(signal.SIGHUP)
    await alice.call("ping")
    assert await asyncio.to_thread(own.stop) == 0
    assert not [line for line in own.lines if '"level":"error"' in line], own.log


# compose.yaml


def composition(name="compose.yaml", **variables):
    """A file as docker-compose understands it."""
    program = shutil.which("docker-compose")
    if not program:
        pytest.skip("there is no docker-compose")
    done = subprocess.run(
        [program, "-f", DEPLOY / name, "config"], capture_output=True, text=True, cwd=REPOSITORY,
        env={**os.environ, "CHAT_HOST": "chat.example.com", **variables})
    assert done.returncode == 0, done.stderr
    return json.loads(subprocess.run(
        ["/usr/bin/python3", "-c", "import json,sys,yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"], input=done.stdout,
        capture_output=True, text=True, check=True).stdout)


def test_compose_understands_the_composition():
    services = composition()["services"]
    assert set(services) == {"throng", "caddy"}
    assert services["caddy"]["environment"] == {"CHAT_HOST": "chat.example.com", "THRONG": "throng:8080"}
    assert services["caddy"]["volumes"][0].split(":")[0] == str(DEPLOY / "Caddyfile")
    assert services["throng"]["build"]["context"] == str(REPOSITORY) and (REPOSITORY / "Dockerfile").exists()


def test_the_composition_needs_the_certificates_name():
    program = shutil.which("docker-compose")
    if not program:
        pytest.skip("there is no docker-compose")
    environment = {name: value for name, value in os.environ.items() if name != "CHAT_HOST"}
    done = subprocess.run([program, "-f", DEPLOY / "compose.yaml", "config"], capture_output=True, text=True, env=environment)
    assert done.returncode != 0 and "the name that the certificate is for" in done.stderr


def test_the_compositions_server_starts(make_server):
    """The server with the variables that it has in the container, but for its port."""
    variables = composition()["services"]["throng"]["environment"]
    assert variables.pop("THRONG_LISTEN").endswith(":8080")
    own = make_server(environment=variables)
    assert own.http("GET", "/chat/ws", public=True).status == 426


def cluster():
    secrets = {"AUTH_SECRET": "secret-" * 6, "POSTGRES_PASSWORD": "password", "NATS_PASSWORD": "passwort"}
    return composition("compose-cluster.yaml", **secrets)["services"]


def test_compose_understands_the_cluster():
    services = cluster()
    nodes = ["node1", "node2", "node3"]
    assert set(services) == {*nodes, "postgresql", "nats", "haproxy"}
    assert [services[node]["environment"].pop("THRONG_CLUSTER_NAME") for node in nodes] == nodes
    assert services["node1"] == services["node2"] == services["node3"]
    environment = services["node1"]["environment"]
    assert environment["THRONG_STORE_URL"] == "postgres://throng:password@postgresql/throng"
    assert services["postgresql"]["environment"]["POSTGRES_PASSWORD"] == "password"
    # NATS believes the nodes alone.
    assert environment["THRONG_BUS_URL"] == "nats://throng:passwort@nats:4222"
    assert services["nats"]["environment"] == {"NATS_PASSWORD": "passwort"}
    assert services["nats"]["volumes"][0].split(":")[0] == str(DEPLOY / "nats-cluster.conf")
    assert services["haproxy"]["volumes"][0].split(":")[0] == str(DEPLOY / "haproxy-cluster.cfg")


def test_the_clusters_variables_are_right(tmp_path):
    done = run_throng("config", "check", environment=cluster()["node2"]["environment"], cwd=tmp_path)
    assert done.stdout == "ok\n", done.stderr


@pytest.mark.skipif(not shutil.which("nats-server"), reason="there is no nats-server")
def test_the_clusters_nats_asks_for_a_password():
    environment = {**os.environ, "NATS_PASSWORD": "passwort"}
    command = ["nats-server", "-t", "-c", DEPLOY / "nats-cluster.conf"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "is valid" in done.stdout + done.stderr, done.stderr
    text = (DEPLOY / "nats-cluster.conf").read_text()
    assert "user: throng, password: $NATS_PASSWORD" in text and 'publish: "throng.>", subscribe: "throng.>"' in text


@pytest.mark.skipif(not shutil.which("haproxy"), reason="there is no haproxy")
def test_the_clusters_balancer_is_right():
    """Its nodes, and the port that it asks, are those of the composition."""
    done = subprocess.run(["haproxy", "-c", "-f", DEPLOY / "haproxy-cluster.cfg"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text, services = (DEPLOY / "haproxy-cluster.cfg").read_text(), cluster()
    servers = dict(re.findall(r"^    server (\S+) (\S+)$", text, re.M))
    assert servers == {name: f"{name}:8080" for name in services if name.startswith("node")}
    assert services["node1"]["environment"]["THRONG_INTERNAL_LISTEN"].endswith(re.search(r"check port (\d+)", text)[1])


def test_the_image_is_what_the_page_says():
    """Operations.md and GettingStarted.md: the volume, the drain within Docker's ten seconds, the health check."""
    text = (REPOSITORY / "Dockerfile").read_text()
    variables = dict(re.findall(r"(THRONG_[A-Z_]+)=(\S+)", text))
    done = run_throng("config", "show", environment=variables)
    shown = dict(line.split()[:2] for line in done.stdout.splitlines())
    assert done.returncode == 0 and shown["dataDir"] == "/var/lib/throng" and shown["drain.duration"] == "7s"
    assert "throng" in re.search(r"HEALTHCHECK[\s\S]*?CMD (.*)", text)[1] and "health" in text
    assert shown["listen"].endswith(":8080")


# Packages of every Debian system.
BASE = {"libc6", "libgcc-s1", "zlib1g"}


@pytest.mark.one_process("it looks at the program")
@pytest.mark.skipif(not shutil.which("readelf") or not shutil.which("dpkg"), reason="there is no readelf, or no dpkg")
def test_the_image_has_the_programs_libraries():
    """But for Swift's own, which the image links statically."""
    needed = re.findall(r"NEEDED.*\[(\S+)\]", subprocess.run(["readelf", "-d", BINARY], capture_output=True, text=True).stdout)
    listed = subprocess.run(["dpkg", "-S", *(f"*/{name}" for name in needed)], capture_output=True, text=True).stdout
    packages = {line.split(":")[0] for line in listed.splitlines()} - BASE
    assert "libwebsockets17" in packages, listed
    (install,) = re.findall(r"FROM debian[\s\S]*?--no-install-recommends \\\n([\s\S]*?)\\\n", (REPOSITORY / "Dockerfile").read_text())
    assert packages <= set(install.split()), packages - set(install.split())
