"""The dashboard and the alert rules of Scripts/deploy: against the metrics of running servers, and in a
Prometheus that scrapes them (Operations.md, "Metrics")."""
import asyncio
import http.client
import json
import re
import subprocess
import urllib.parse

import pytest
import yaml

from harness import alerts
from harness.collector import Collector
from harness.keys_server import KeysServer, TokenKey
from harness.ports import reserve_port
from harness.proxy import make_certificate
from harness.receiver import Receiver
from harness.server import REPOSITORY

DEPLOY = REPOSITORY / "Scripts/deploy"
OPERATIONS = REPOSITORY / "Sources/ThrongServer/Documentation.docc/Operations.md"
NAME = re.compile(r"\b(?:throng|process)_[a-z_]+\b")


def board():
    return json.loads((DEPLOY / "grafana-dashboard.json").read_text())


def queries():
    """The queries of the dashboard's panels, by title, as Grafana sends them."""
    found = [(panel["title"], target["expr"]) for panel in board()["panels"] for target in panel.get("targets", [])]
    return [(title, expr.replace("$instance", ".*").replace("$__rate_interval", "30s")) for title, expr in found]


def rules():
    return yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]


def families(own):
    """The families of a server's metrics, with the names of their samples."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", own.http("GET", "/metrics").text, re.M))
    return {name: {name, *(name + end for end in ("_bucket", "_sum", "_count") if kind == "histogram")}
            for name, kind in types.items()}


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def keys():
    with KeysServer(TokenKey("key")) as made:
        yield made


@pytest.fixture
def collector():
    with Collector() as made:
        yield made


@pytest.fixture
def servers(make_server, make_cluster, receiver, keys, collector, tmp_path):
    """Servers that have every metric between them: with a store in a file and live rooms that remember, with TLS,
    a list of words, keys at a URL, traces, and two nodes."""
    words = tmp_path / "words.txt"
    words.write_text("badword\n")
    plain = make_server({
        **receiver.settings("messageSent"), **keys.settings, "tracing.otlpEndpoint": collector.endpoint, "search.messages": "true", "store.url": "sqlite:throng.db",
        "avChatRoom.recentMessages": "100", "moderation.wordsFile": str(words)})
    return plain, make_server(make_certificate(tmp_path)), make_cluster(CLUSTER_NODES="2")


_known = {}


@pytest.fixture
def known(request):
    """Every family. The servers are started once for all these tests."""
    if not _known:
        for own in request.getfixturevalue("servers"):
            _known.update(families(own))
    return _known


@pytest.mark.heavy
def test_the_dashboard_asks_for_metrics_that_exist_and_for_all_of_them(known):
    text = json.dumps(board())
    asked = set(NAME.findall(text))
    assert asked <= set().union(*known.values()), "a query for nothing"
    shown = {name for name, samples in known.items() if samples & asked}
    # The name of 0.1.0 for throng_compression_resets_total, until 0.3.0 (Releases.md).
    old = {"throng_compression_epochs_total"}
    assert {name for name in known if name.startswith("throng_")} - old <= shown, "not on the dashboard"


@pytest.mark.heavy
def test_the_rules_ask_for_metrics_that_exist(known):
    exprs = " ".join(rule["expr"] for rule in rules())
    assert set(NAME.findall(exprs)) <= set().union(*known.values())
    told = " ".join(text for rule in rules() for text in rule["annotations"].values())
    assert {name for name in NAME.findall(told)} <= set(known)


@pytest.mark.heavy
def test_the_page_for_operators_names_every_metric_and_no_other(known):
    page = OPERATIONS.read_text()
    section = page.split("\n## Metrics\n")[1].split("\n## ")[0] + page.split("\n### Refusals\n")[1].split("\n## ")[0]
    named = set(NAME.findall(section)) - {"process_"}
    assert named <= set(known), "named, and not there"
    assert {name for name in known if name.startswith("throng_")} <= named, "there, and not named"


def test_every_panel_has_a_place_of_its_own_and_says_what_it_shows():
    panels = board()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [
        (x, y) for panel in panels for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])]
    assert len(set(places)) == len(places) and max(x for x, _ in places) == 23
    charts = [panel for panel in panels if panel["type"] != "row"]
    assert all(panel["fieldConfig"]["defaults"]["unit"] and panel["targets"] for panel in charts)


@pytest.mark.heavy
def test_promtool_takes_the_metrics(servers):
    """In 0.2 all but one name: that of 0.1 which is beside `group_type` (Releases.md)."""
    for own in servers:
        for address in own.node_addresses:
            text = own.http("GET", "/metrics", address=address).text
            assert 'group_type="Public"' in text
            text = re.sub(r'\bgroupType="[^"]*",', "", text)
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
            assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr


def test_promtool_takes_the_rules():
    done = subprocess.run(["promtool", "check", "rules", DEPLOY / "alerts.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules())} rules found" in done.stdout


def test_every_rule_fires_when_it_should_and_only_then(tmp_path):
    assert {rule["alert"] for rule in rules()} == set(alerts.CASES)
    # promtool compares annotations too; `check rules` has read them.
    bare = [{key: value for key, value in rule.items() if key != "annotations"} for rule in rules()]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "throng", "rules": bare}]}))
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(alerts.unit_tests(rules(), "rules.yaml")))
    done = subprocess.run(["promtool", "test", "rules", "tests.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_says_what_to_do():
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"].endswith((".", "`."))


def targets(servers):
    return [address for own in servers for address in own.node_addresses]


class Prometheus:
    """Prometheus with the rules, which scrapes servers every second."""

    def __init__(self, directory, servers):
        self.port = reserve_port()
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(DEPLOY / "alerts.yaml")],
            "scrape_configs": [{"job_name": "throng", "static_configs": [{"targets": targets(servers)}]}]}
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
        self.log = open(directory / "prometheus.log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={directory}/prometheus.yaml", f"--storage.tsdb.path={directory}/tsdb",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def get(self, path, **parameters):
        """The `data` of an answer; None while Prometheus starts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
            answer = json.loads(connection.getresponse().read())
        except (OSError, ValueError):
            return None
        finally:
            connection.close()
        assert answer["status"] == "success", (path, parameters, answer)
        return answer["data"]

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


@pytest.fixture
def prometheus(servers, tmp_path):
    made = Prometheus(tmp_path, servers)
    yield made
    made.end()


async def test_the_queries_and_rules_work_in_a_prometheus(servers, prometheus, make_world, receiver):
    own, other, _ = servers
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    room = await world.group(alice, "AVChatRoom", members=[bob])
    await alice.refused(10010, "joinGroup", groupID="nowhere")

    async def talk():
        for place in (group, room):
            await alice.call("sendGroupTextMessage", groupID=place, text="x")
            await bob.expect("onRecvNewMessage", groupID=place)
    await talk()
    await bob.call("logout")
    await bob.closed(1000)
    bob = await world.user("bob")
    await receiver.expect("messageSent")

    async def becomes(condition, what):
        # The sessions go on meanwhile.
        await asyncio.to_thread(own.wait_until, condition, what, 60)

    def unanswered():
        return [title for title, expr in queries() if not (prometheus.get("query", query=expr) or {}).get("result")]

    def is_value(expr, wanted):
        return [one["value"][1] for one in prometheus.get("query", query=expr)["result"]] == [str(wanted)]

    def states():
        return {rule["name"]: rule for rule in prometheus.get("rules")["groups"][0]["rules"]}
    await becomes(lambda: not unanswered(), "an answer to every query")
    assert states().keys() == {rule["alert"] for rule in rules()}
    await becomes(lambda: all(rule["health"] == "ok" for rule in states().values()), "every rule was evaluated")
    await becomes(lambda: is_value('sum(up{job="throng"})', len(targets(servers))), "all targets are up")
    await becomes(lambda: is_value("sum(throng_sessions)", 2), "two sessions")
    other.kill()
    await becomes(lambda: states()["ThrongDown"]["state"] == "pending", "the rule sees a server end")
