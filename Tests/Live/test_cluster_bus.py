"""What passes between nodes, and who is not heard (Operations.md, "Several nodes"; ThreatModel.md)."""
import subprocess

import pytest
from chaos.wall_clock import WallClock

from harness.limits import can_start_clusters
from harness.ports import reserve_port
from harness.postgresql import PostgreSQL
from harness.server import BINARY, StartFailed, run_throng

pytestmark = [
    pytest.mark.skipif(not can_start_clusters(), reason="PostgreSQL does not work for root, and user namespaces are off"),
    pytest.mark.one_process("it has a database of its own"),
    pytest.mark.heavy,
]
PASSWORD = "geheimes-wort"


@pytest.fixture
def engine():
    engine = PostgreSQL()
    yield engine
    engine.stop()


def url_of(engine, role="throng"):
    return f"postgres://{role}@/postgres?host={engine.directory}"


def psql(engine, sql, role="throng"):
    command = ["psql", "-XqAt", "-h", engine.directory, "-U", role, "-d", "postgres", "-c", sql]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class NATS:
    """A server that asks for a password, on a port that stays the same."""

    def __init__(self, directory):
        self.port, self.process = reserve_port(), None
        self.config = directory / "nats.conf"
        self.config.write_text(
            f'listen: "127.0.0.1:{self.port}"\nauthorization {{ user: throng, password: "{PASSWORD}" }}\n')
        self.url = f"nats://throng:{PASSWORD}@127.0.0.1:{self.port}"

    def start(self):
        self.process = subprocess.Popen(
            ["nats-server", "-c", str(self.config)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        assert any("Server is ready" in line for line in self.process.stdout)

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def nats(tmp_path):
    server = NATS(tmp_path)
    server.start()
    yield server
    server.kill()


def is_ready(own):
    return own.http("GET", "/readyz").status == 200


def becomes_unready(own, reason):
    own.wait_until(lambda: own.http("GET", "/readyz").text.startswith(reason), lambda: own.http("GET", "/readyz").text)
    assert own.http("GET", "/readyz").status == 503


def become_strangers(first, second):
    """Two nodes of one database that do not hear each other: both say so until one has gone."""
    for own, other in ((first, "second"), (second, "first")):
        becomes_unready(own, f"not heard on the bus: {other} (")
        own.metric_becomes("throng_link_missing", 1)
        own.wait_until(lambda: "a node renews its lease, and is not heard on the bus" in own.log, "a warning")
        arguments = ["--internal-listen", own.internal_address, "--data-dir", own.data_dir]
        rows = [line.split() for line in run_throng("cluster", "status", *arguments).stdout.splitlines()]
        assert sorted(" ".join(row[-3:]) for row in rows[1:3])[1] == "serving, not heard", rows
        assert own.metric_becomes("throng_link_silence_seconds", lambda silence: silence > 0) > 0
    assert second.stop() == 0
    first.wait_until(lambda: is_ready(first), "it is ready without the other")
    first.metric_becomes("throng_link_missing", 0)


def node(make_server, engine, name, environment=None, **settings):
    settings = {key.replace("_", "."): value for key, value in settings.items()}
    own = make_server(
        {"cluster.enabled": "true", "cluster.name": name, "store.url": url_of(engine), "drain.duration": 0, **settings},
        binary=BINARY, environment=environment)
    assert PASSWORD not in own.log
    return own


def test_nodes_with_different_secrets_are_not_ready(make_server, engine):
    first = node(make_server, engine, "first", cluster_secret="a" * 32)
    first.wait_until(lambda: is_ready(first), "it is ready")
    second = node(make_server, engine, "second", cluster_secret="b" * 32)
    first.metric_becomes("throng_link_refused_total", lambda count: count > 0, reason="seal")
    become_strangers(first, second)
    # Each node asks the other again and again: one line a minute is enough.
    assert first.log.count("messages on the bus do not open") == 1


def test_nodes_with_different_subjects_are_not_ready(make_server, engine, nats):
    first = node(make_server, engine, "first", bus_url=nats.url, bus_subject="one")
    first.wait_until(lambda: is_ready(first), "it is ready")
    become_strangers(first, node(make_server, engine, "second", bus_url=nats.url, bus_subject="two"))


def test_nodes_find_nats_again_though_the_wall_clock_steps_back(make_server, engine, nats, tmp_path):
    """It steps while the node waits for the next attempt."""
    clock = WallClock(tmp_path, "node")
    own = node(make_server, engine, "first", clock.environment, bus_url=nats.url)
    own.wait_until(lambda: is_ready(own), "it is ready")
    nats.kill()
    becomes_unready(own, "the bus is away")
    clock.set(-3600)
    nats.start()
    own.wait_until(lambda: is_ready(own), "it is ready again")
    own.metric_becomes("throng_bus_reconnects_total", 1)
    own.wait_until(lambda: "the bus is back" in own.log and PASSWORD not in own.log, "it says so, without the password")


def test_any_of_several_servers_will_do(make_server, engine, nats):
    own = node(make_server, engine, "first", bus_url=f"nats://127.0.0.1:{reserve_port()},{nats.url}")
    own.wait_until(lambda: is_ready(own), "it is ready")


def test_a_role_of_the_database_server_hears_nothing(make_server, engine):
    assert psql(engine, "CREATE ROLE stranger LOGIN").returncode == 0
    assert psql(engine, "SELECT 1", "stranger").returncode == 0
    own = node(make_server, engine, "first")
    assert "CONNECT was revoked from PUBLIC" in own.log
    refused = psql(engine, "SELECT 1", "stranger")
    assert refused.returncode and "permission denied for database" in refused.stderr
    # One that an operator lets in reads no table, the key's least of all.
    assert psql(engine, "GRANT CONNECT ON DATABASE postgres TO stranger").returncode == 0
    for table in ("clusterKey", "busMessage", "node"):
        assert "permission denied for table" in psql(engine, f"TABLE {table}", "stranger").stderr
    examined = run_throng("doctor", "--set", f"store.url={url_of(engine)}", "--set", "cluster.enabled=true", "--data-dir", own.data_dir)
    assert "PostgreSQL roles" in examined.stdout and "only roles to which that was granted" in examined.stdout, examined.stdout


def test_a_file_in_the_place_of_a_socket_stays(make_cluster, tmp_path):
    """Scripts/cluster refuses it as the server does, before anything has begun."""
    path = tmp_path / "precious"
    path.write_text("precious")
    own = make_cluster(start=False, listen=f"unix:{path}")
    with pytest.raises(StartFailed) as failure:
        own.start()
    assert failure.value.status == 1 and f"unix:{path}: it exists and is no socket" in failure.value.log
    assert path.read_text() == "precious"
