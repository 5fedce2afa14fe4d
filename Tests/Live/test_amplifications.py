"""The arithmetic behind the table of amplifications: rows between two snapshots, bounds, the
printed table."""
import re

from amplifications import TABLE, report

from harness.amplification import BURST, RATE, Bounds, Measurement
from harness.footprint import MEBIBYTE, Table, rows_between
from harness.server import REPOSITORY


def found(**values):
    """A run in which nothing happened, but for these values."""
    empty = dict.fromkeys(Measurement.__dataclass_fields__, 0)
    phases = {"during": {"sends": [0.001, 0.004], "signIns": [0.002], "failed": []}}
    given = {"name": "one", "seconds": 2.0, "refused": {}, "closed": {}, "bystander": phases, "alive": True}
    return Measurement(**{**empty, **given, **values})


def test_rows_are_inserted_deleted_or_changed():
    before = {"kept": Table(3, 0, {(1,): 10, (2,): 20, (3,): 30})}
    after = {"kept": Table(3, 0, {(1,): 10, (2,): 21, (4,): 40}), "new": Table(2, 0, {(1,): 1, (2,): 2})}
    assert rows_between(before, after) == {"kept": 3, "new": 2}


def test_rows_that_came_and_went_are_counted_where_the_table_counts_them():
    assert rows_between({"inbox": Table(100, 100, None)}, {"inbox": Table(100, 350, None)}) == {"inbox": 250}


def test_of_large_tables_the_number_of_rows_is_compared():
    assert rows_between({"large": Table(50_000, 0, None)}, {"large": Table(48_000, 0, None)}) == {"large": 2000}


def test_bounds_are_for_each_accepted_request_and_one_more_whose_reply_came_too_late():
    bounds = Bounds(rows=2, spare_rows=10)
    assert found(accepted=100, sent=100, rows=212).excesses(bounds) == {}
    assert list(found(accepted=100, sent=100, rows=213).excesses(bounds)) == ["rows"]
    assert list(found(memory_peak=65 * MEBIBYTE).excesses(bounds)) == ["memory"]


def test_sign_ins_count_for_the_rate():
    most = BURST + 2 * RATE + 1
    assert found(accepted=most - 1, sign_ins=1).excesses(Bounds()) == {}
    assert list(found(accepted=most - 1, sign_ins=2).excesses(Bounds())) == ["requests"]


def test_an_attack_that_is_refused_is_none():
    assert found(accepted=1, refused={7008: 1000}).served == 1
    assert found(refused={-32602: 10}).served == 0


def test_the_table_shows_before_and_now():
    old, new = found(accepted=10, sent=10, rows=520).as_json(), found(accepted=10, sent=10, rows=10).as_json()
    head, rule, line = report.table([("one", "what is done", [old, new])]).splitlines()
    assert head.count("|") == rule.count("|") == line.count("|")
    assert "| `one` | what is done |" in line and "| 52.0 → 1.0 |" in line and "| 4.0 → 4.0 |" in line


def test_figures_are_written_where_a_page_awaits_them():
    run = found(accepted=10, sent=10, rows=25).as_json()
    page = "\n".join([
        "`one` is to be measured.", "", "| amplification | bound | rows | p99 of others' sends, ms |", "| --- | --- | ---: | ---: |",
        "| `one` | to be measured | to be measured | to be measured |", "| `two` | 3 | to be measured | to be measured |", "",
        "| amplification | seconds |", "| --- | ---: |", "| `one` | to be measured |"])
    expected = page.replace(
        "| `one` | to be measured | to be measured | to be measured |", "| `one` | to be measured | 2.5 | 4.0 |")
    assert report.fill(page, {"one": run}) == expected


def test_the_page_has_a_row_for_each_amplification():
    page = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/Benchmarks.md").read_text()
    assert set(re.findall(r"^\| `([a-z0-9_]+)` \|", page, re.MULTILINE)) == set(TABLE)
