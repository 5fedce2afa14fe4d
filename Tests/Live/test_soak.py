"""Scripts/soak: what it takes for a rise, what it keeps, and a round of it in seconds."""
import os
import tempfile
import xml.dom.minidom
from pathlib import Path
from random import Random

import chaos.load
import pytest
import soak.run
from chaos.faults import Fault, Outcome
from soak import faults, metrics, people, report
from soak.places import PLACES
from soak.run import Soak
from soak.slope import LEAST, rises, trend
from soak.state import State

from harness.campaigns import run_script
from harness.server import BINARY


def measured(slope, noise, count=60, seed=1):
    """Two hours of readings around 100."""
    random = Random(seed)
    return [(place / 30, 100 + slope * place / 30 + random.gauss(0, noise)) for place in range(count)]


# Slopes


def test_what_only_varies_does_not_rise():
    assert sum(trend(measured(0, 5, seed=seed)).least > 0 for seed in range(200)) <= 4


def test_a_rise_is_found_and_outliers_are_not_one():
    assert all(rises(trend(measured(15, 5, seed=seed)), 0.05, 1) for seed in range(50))
    points = measured(0, 1)
    assert not rises(trend([*points[:-3], *((hours, 1000) for hours, _ in points[-3:])]), 0.05, 1)


def test_a_line_has_its_slope_between_its_bounds():
    found = trend([(place / 10, 3 + 2 * place / 10) for place in range(30)])
    assert found.least <= found.slope <= found.most and abs(found.slope - 2) < 1e-9
    assert abs(found.growth - 2 * 2.9) < 1e-9 and found.count == 30


def test_a_small_rise_or_a_fall_is_none():
    assert not rises(trend([(place, 100 + place / 100) for place in range(30)]), 0.05, 0)
    assert not rises(trend([(place, 100 + place) for place in range(30)]), 0, 40)
    assert not rises(trend([(place, 100 - place) for place in range(30)]), 0, 0)


def test_too_few_say_nothing():
    assert trend([(place, place) for place in range(LEAST - 1)]) is None
    assert trend([(1, place) for place in range(20)]) is None
    assert not rises(None, 0, 0)


# Readings


EXPOSITION = """# HELP throng_table_entries x
# TYPE throng_table_entries gauge
throng_table_entries{table="groups"} 4
throng_table_entries{table="users"} 2
# TYPE throng_connections gauge
throng_connections 7
# TYPE throng_store_disk_free_bytes gauge
throng_store_disk_free_bytes 9
# TYPE throng_requests_total counter
throng_requests_total{method="ping",code="0"} 5
# TYPE d histogram
d_bucket{method="a",le="0.1"} 90
d_bucket{method="a",le="1"} 99
d_bucket{method="a",le="+Inf"} 100
d_bucket{method="b",le="0.1"} 1
"""


def test_every_gauge_is_read_and_tables_one_by_one():
    assert metrics.gauges(EXPOSITION) == {
        "throng_table_entries groups": 4, "throng_table_entries users": 2, "throng_connections": 7}
    assert metrics.value(EXPOSITION, "throng_table_entries") == 6


def test_a_quantile_is_that_of_the_time_between():
    later = metrics.buckets(EXPOSITION, "d", method="a")
    assert later == {0.1: 90, 1: 99, float("inf"): 100}
    assert metrics.quantile(0.45, {}, later) == pytest.approx(0.05)
    assert metrics.quantile(0.99, {}, later) == pytest.approx(1) and metrics.quantile(1, {}, later) == 1
    # All that were slow came before.
    assert metrics.quantile(0.99, {0.1: 0, 1: 9, float("inf"): 10}, later) <= 0.1
    assert metrics.quantile(0.99, later, later) is None and metrics.quantile(0.99, {}, {}) is None
    assert metrics.merged([later, later])[0.1] == 180


# What is kept


def test_hours_of_several_runs_add_up(tmp_path):
    for run in range(3):
        state = State(tmp_path / "one")
        number = state.begin_round()
        state.add_round(number=number, seconds=1800, acks=10, fault="none", violations=[])
        # Broken off: its names are not given again.
        assert state.begin_round() == number + 1 == 2 * (run + 1)
    assert state.hours == 1.5 and len(state.rounds) == 3


def test_a_line_that_was_cut_costs_no_other(tmp_path):
    state = State(tmp_path)
    state.add_sample(number=1)
    with open(tmp_path / "samples.jsonl", "ab") as file:
        file.write(b'{"number": 2, "val')
    state.add_sample(number=3)
    assert [row["number"] for row in State(tmp_path).samples] == [1, 3]


def kept(directory, growth):
    """A state of four hours, in two lives of a process, in which a table grows by so much an hour."""
    state, random = State(directory), Random(1)
    for place in range(80):
        number, life = state.begin_round(), place // 40
        state.add_sample(number=number, node="node1", life=f"node1 {life}", hours=place / 20, at=place, values={
            "process_resident_memory_bytes": 60e6 + 20e6 * life + random.gauss(0, 4e5),
            "throng_table_entries groups": 500 + growth * (place % 40) / 20, "throng_store_bytes": 1e8})
        state.add_sample(number=number, node="all", life="all", hours=place / 20, at=place, values={"p99 of messages, s": 0.01})
        state.add_round(number=number, seconds=180, acks=5, fault="stall", violations=[])
    return state


def test_only_what_grows_within_a_life_rises(tmp_path):
    flat, growing = kept(tmp_path / "one", 0), kept(tmp_path / "two", 200)
    assert report.rising(flat.samples, 1) == {}
    assert set(report.rising(growing.samples, 1)) == {("throng_table_entries groups", f"node1 {life}") for life in (0, 1)}
    report.write(tmp_path, [("one node", flat), ("PostgreSQL", growing), ("three nodes", State(tmp_path / "none"))], 1)
    text = (tmp_path / "report.md").read_text()
    assert "4.00 hours, 80 rounds, 400 messages judged, 0 violations, 2 lives of processes." in text
    assert text.count("RISES") == 2 and "three nodes" not in text
    picture = xml.dom.minidom.parse(str(tmp_path / "curves.svg"))
    # Of each place: memory, the file, p99 and the tables; the first in two lives, the second in none of them.
    assert len(picture.getElementsByTagName("polyline")) == 2 * (2 + 2 + 1 + 2)


def test_the_warm_up_of_a_process_is_left_out():
    points = [(place / 10, 100.0 if place > 10 else place) for place in range(40)]
    assert rises(trend(points[:12]), 0, 1) and not rises(trend(report.settled(points, 1.2)), 0, 1)
    # Of a short life its first half.
    assert report.settled(points[:20], 24) == points[10:20]


def test_a_place_that_is_none_is_refused():
    done = run_script("soak", "--on", "one,nowhere")
    assert done.returncode == 2 and "there is no place 'nowhere'" in done.stderr
    assert run_script("soak", "--hours", "0").returncode == 2


# A round


class End(Fault):
    name = "a process that ends"

    async def act(self):
        self.node.kill()
        return Outcome("")


@pytest.fixture
async def soaked(monkeypatch):
    """A soak of one node with little load, which waits for nothing behind a round."""
    monkeypatch.setattr(chaos.load, "RATE", 20)
    monkeypatch.setattr(people, "VISITORS", 6)
    monkeypatch.setattr(soak.run, "REST_PATIENCE", 0)
    monkeypatch.setattr(faults.Stall, "lengths", (1,))
    with tempfile.TemporaryDirectory(prefix="throng-soak-", ignore_cleanup_errors=True) as directory:
        os.chmod(directory, 0o755)
        run = Soak("one", State(Path(directory) / "one"), seed=1, quiet=1)
        run.heartbeat = 1
        try:
            await run.start()
            yield run
        finally:
            await run.end()


@pytest.mark.heavy
@pytest.mark.files
@pytest.mark.timeout(600)
@pytest.mark.skipif(BINARY.name != "throng", reason="it starts a server of its own, of a single process")
async def test_rounds_are_judged_and_measured(soaked):
    told = []
    for kind in (faults.Stall, faults.LossyNetwork):
        assert await soaked.round(kind, told.append) == []
    assert len(told) == 2 and "SIGSTOP" in told[0]
    rounds, samples = soaked.state.rounds, soaked.state.samples
    assert [row["number"] for row in rounds] == [1, 2] and all(row["acks"] > 0 for row in rounds)
    assert "sessions go on" in rounds[0]["words"]
    values = [row["values"] for row in samples if row["node"] == "node1"]
    assert len(values) == 2
    for name in ("process_resident_memory_bytes", "process_open_fds", "throng_store_bytes", "throng_table_entries groups"):
        assert values[-1][name] > 0
    assert [row for row in samples if row["node"] == "all"]
    # The round's groups are gone, and those of everyday are there.
    assert values[-1]["throng_groups"] == len(soaked.everyday.groups)
    text = report.markdown([(PLACES["one"].name, soaked.state)], 1)
    assert "2 rounds" in text and "0 violations" in text
    # What is violated is told and noted.
    found = await soaked.round(End)
    assert [one.promise for one in found] == ["A node lives on"]
    assert soaked.state.rounds[-1]["violations"] and "1 violations" in report.markdown([("one", soaked.state)], 1)
