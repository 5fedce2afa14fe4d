"""Scripts/chaos, Scripts/amplifications and Scripts/bench-cluster start, print and end, and their counts add up.
Their figures and bounds are those of an idle machine: tests of these are marked `campaign`."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from amplifications.report import number
from crowds.__main__ import known

from harness.campaigns import run_script
from harness.limits import can_start_clusters
from harness.server import BINARY, REPOSITORY

pytestmark = [
    pytest.mark.files,
    pytest.mark.timeout(900),
    pytest.mark.skipif(BINARY.name != "throng", reason="they start servers of their own, of single processes")]
needs_a_cluster = pytest.mark.skipif(
    not can_start_clusters(), reason="PostgreSQL does not work for root, and user namespaces are off")


def rows_of(table):
    """The cells of a Markdown table's rows."""
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("script", ["chaos", "soak", "amplifications", "bench-cluster", "rolling-upgrade"])
def test_the_help_needs_no_server(script):
    done = run_script(script, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: Scripts/{script} "), done


@needs_a_cluster
@pytest.mark.heavy
def test_a_round_of_chaos():
    done = run_script("chaos", "--rounds", 1, "--seed", 1, "--only", "KillAndRestart")
    assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
    assert done.stdout.startswith(f"seed 1, {BINARY}\n") and done.stdout.endswith("\nseed 1\n")
    (count,) = re.findall(r"^ +1 kill -9 a node, start it at once \(node\d\); (\d+) messages in ", done.stdout, re.MULTILINE)
    _, _, fault, total = rows_of(done.stdout)
    assert fault[:2] == ["kill -9 a node, start it at once", "1"] and total[:2] == ["all", "1"]
    assert int(count) > 0 and fault[-1] == total[-1] == count


@needs_a_cluster
@pytest.mark.campaign
@pytest.mark.heavy
def test_a_rolling_upgrade_and_the_way_back(tmp_path):
    """From the binary under test to a copy of it, which is another program to the system."""
    copy = shutil.copy(BINARY, tmp_path / "throng")
    done = run_script("rolling-upgrade", BINARY, copy, "--back", "--seed", 1)
    assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
    rows = rows_of(done.stdout)[2:]
    names = [f"{verb} node{number}" for verb, numbers in (("upgrade", (1, 2, 3)), ("take back", (3, 2, 1))) for number in numbers]
    assert [row[0] for row in rows] == [*names, "all"] and int(rows[-1][-1]) > 0


def test_a_rolling_upgrade_to_no_program(tmp_path):
    done = run_script("rolling-upgrade", BINARY, tmp_path / "missing")
    assert done.returncode == 2 and "is no program" in done.stderr


def test_an_amplification(tmp_path):
    file = tmp_path / "figures.json"
    done = run_script("amplifications", "--only", "load_unknown_groups", "--seconds", 0.4, "--json", file)
    assert done.returncode == 0, done.stderr
    _, _, row = rows_of(done.stdout)
    assert row[0] == "`load_unknown_groups`" and "Not measured" not in done.stdout
    (found,) = json.loads(file.read_text())["runs"]
    # The one session leaves without a word.
    assert found["alive"] and found["sign_ins"] == 1 and found["closed"] == {"1006": 1}
    assert row[2] == number(found["accepted"] / found["seconds"])
    assert 0 < found["accepted"] <= found["accepted"] + sum(found["refused"].values()) <= found["sent"]
    assert found["rows"] == sum(found["rows_by_table"].values())
    assert {"quiet", "during", "after"} == set(found["bystander"])
    assert not any(phase["failed"] for phase in found["bystander"].values())
    assert f"`load_unknown_groups` | {row[1]} | " in run_script("amplifications", "--table", file).stdout


def run_crowds(*words):
    environment = {**os.environ, "THRONG_BINARY": str(BINARY), "THRONG_PYTHON": sys.executable}
    command = [REPOSITORY / "Tests/Campaigns/run-package", "crowds", *map(str, words), "--rounds", "1"]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["now"]


def test_a_crowd_that_joins():
    found = run_crowds("joins", "--members", 30)
    assert 0 < found["CPU seconds"] <= found["CPU seconds, notices included"] and found["seconds"] > 0
    # Each hears at least of itself, and not of each.
    assert 1 <= found["notices per member"] < 30 and not any("refused" in name or "closed" in name for name in found)


def test_a_baseline_is_given_the_settings_that_it_has():
    assert known({"limits.signInsPerSecond": 0, "limits.ofTheFuture": 0}, BINARY) == {"limits.signInsPerSecond": 0}


@pytest.mark.parametrize("flagged, unread", [((), 10 * 20), (("--flagged",), 10 * 10)])
def test_a_sign_in_of_somebody_in_many_groups(flagged, unread):
    found = run_crowds("unread", "--groups", 10, "--messages", 20, *flagged)
    assert len(found) == 4 and {figures["unread"] for figures in found.values()} == {unread}


@needs_a_cluster
@pytest.mark.heavy
def test_a_measured_cluster():
    """One node, so that it is ready soon."""
    done = run_script("bench-cluster", "--setups", 0, "--only", "latency,signIns", "--sends", 10, "--connections", 20)
    assert done.returncode == 0, (done.stdout, done.stderr)
    head, _, *latencies, other_head, _, sign_ins = rows_of(done.stdout)
    assert head[0] == other_head[0] == "setup"
    assert [row[:3] for row in latencies] == [["one node", kind, "owner here"] for kind in ("stored", "live")]
    assert sign_ins[:2] == ["one node", "20"]
    # A line to each row, as soon as it is measured.
    assert len(re.findall(r"^(?:latency|signIns) \| one node \| ", done.stderr, re.MULTILINE)) == 3
