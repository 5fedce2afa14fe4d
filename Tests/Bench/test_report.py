"""From canned figures to the ticks: the arithmetic that decides whether a target is met."""
import pytest

import report
from load import Measurement
from report import KEEPS_UP, Results
from servers import RawServer, Throng
from works import CPU, P99, Check, Rise, Run, Work


def measured(cpu=None, p99=None, uncounted=1.0, others=0.0, **figures):
    given = dict(figures)
    if cpu is not None:
        given["server"] = {**given.get("server", {}), "cpuMicrosecondsPerDelivery": cpu}
    if p99 is not None:
        given["latencyMs"] = {"p99": p99}
    return Measurement(given, others, uncounted)


def results_of(**runs):
    """`throng={1: measured(…)}, baseline={…}`, by round; of the work "room" unless a key says WORK__RUN."""
    results = Results()
    for key, rounds in runs.items():
        work, _, run = key.rpartition("__")
        for number, measurement in rounds.items():
            results.add(work.replace("_", "-") or "room", run, number, measurement)
    return results


def rounds(*values, **more):
    return {number: measured(value, **more) for number, value in enumerate(values, 1)}


def work(*checks, **fields):
    return Work("room", "a room", Run(Throng(), ("room",)), checks, Run(RawServer("batch"), ("room",)), **fields)


def row(check, **runs):
    return report._row(results_of(**runs), work(check), check)


# One target


@pytest.mark.parametrize("bounds, figure, met", [
    ({"most": 0.3}, 0.3, True), ({"most": 0.3}, 0.3001, False), ({"most": 0.3}, 0.1, True),
    ({"least": 20_000}, 20_000, True), ({"least": 20_000}, 19_999, False),
    ({"most": 2, "least": 1}, 1.5, True), ({"most": 2, "least": 1}, 0.5, False), ({"most": 2, "least": 1}, 2.5, False),
    ({}, 99, True),
])
def test_a_bound_is_met_when_the_figure_reaches_it_and_does_not_pass_it(bounds, figure, met):
    assert report._met(Check(*CPU, **bounds), [figure], []) is met


@pytest.mark.parametrize("ratios, met", [([1.4], True), ([1.41], False), ([1.0, 1.3, 9.0], True), ([1.0, 1.5, 1.6], False)])
def test_the_median_of_the_ratios_is_held_against_the_bound(ratios, met):
    assert report._met(Check(*CPU, most_ratio=1.4), [99], ratios) is met


def test_a_figure_may_be_throngs_own():
    found = row(Check("posted", "posted", unit="", is_throngs_own=True), throng={1: measured(posted=1)}, baseline=rounds(2))
    assert found.throng == [1] and found.baseline == [] and found.met is True


def test_a_figure_may_be_compared_with_another_of_the_same_run():
    check = Check("p99", "duringMs", unit="ms", most_ratio=2, beside="beforeMs", beside_label="that before")
    found = row(check, throng={1: measured(duringMs=6, beforeMs=2), 2: measured(duringMs=3, beforeMs=3)}, baseline=rounds(1))
    assert found.ratios == [3, 1] and found.met is True and found.target == "≤ 2 × that before"
    assert report._cells(found)[4] == "2.50 ms (2.00–3.00) that before"


def test_a_ratio_may_be_bounded_from_below():
    check = Check(*CPU, least_ratio=0.6)
    assert report._met(check, [99], [0.6, 0.7, 0.1]) is True
    assert report._met(check, [99], [0.5, 0.59, 0.9]) is False
    assert report._met(check, [99], []) is None
    assert row(check, throng=rounds(3), baseline=rounds(4)).target == "≥ 0.6 × raw-server batch"


def test_the_median_decides_and_neither_the_best_nor_the_worst_round():
    check = Check(*CPU, most=1)
    assert report._met(check, [0.5, 1, 50], []) is True
    assert report._met(check, [0.1, 1.1, 1.2], []) is False
    assert report._met(check, [0.9, 1.1], []) is True, "of two rounds it is the middle"


def test_both_bound_and_ratio_must_hold():
    check = Check(*CPU, most=0.3, most_ratio=1.4)
    assert report._met(check, [0.3], [1.4]) is True
    assert report._met(check, [0.31], [1.4]) is False
    assert report._met(check, [0.3], [1.5]) is False


def test_what_was_not_measured_is_neither_met_nor_missed():
    assert report._met(Check(*CPU, most=1), [], []) is None
    assert report._met(Check(*CPU, most=1, most_ratio=2), [0.5], []) is None, "no baseline, no ratio"


# From rounds to a row


def test_a_ratio_is_to_the_baseline_of_the_same_round():
    # The machine is twice as slow in the second round; the third of the baseline failed.
    found = row(Check(*CPU, most_ratio=1.5), throng=rounds(3, 6, 9), baseline=rounds(2, 4))
    assert found.ratios == [1.5, 1.5] and found.met is True
    assert found.throng == [3, 6, 9] and found.baseline == [2, 4] and found.baseline_label == "raw-server batch"
    assert found.target == "≤ 1.5 × raw-server batch"


def test_a_baseline_of_nothing_gives_no_ratio():
    found = row(Check(*CPU, most_ratio=2), throng=rounds(1, 1), baseline=rounds(0, 1))
    assert found.ratios == [1]
    assert row(Check(*CPU, most_ratio=2), throng=rounds(1), baseline=rounds(0)).met is None


def test_the_baseline_counts_what_the_generator_cannot():
    found = row(Check(*CPU, most_ratio=1.2), throng=rounds(1.2), baseline=rounds(1.1, uncounted=1.1))
    assert found.baseline == [pytest.approx(1)] and found.ratios == [pytest.approx(1.2)]


def test_figures_are_shown_and_judged_in_the_unit_of_the_target():
    check = Check("RSS", "server.rssBytesPerConnection", unit="KB", most=8)
    found = row(check, throng={1: measured(server={"rssBytesPerConnection": 8192})})
    assert found.throng == [8] and found.met is True and found.target == "≤ 8 KB"
    assert row(check, throng={1: measured(server={"rssBytesPerConnection": 8193})}).met is False


def test_a_fault_in_any_round_misses_the_target_and_is_told():
    throng = {1: measured(0.1), 2: measured(0.1, lost=2), 3: measured(0.1, lost=5, statuses={"errors": 1})}
    found = row(Check(*CPU, most=1), throng=throng)
    assert found.met is False and found.note == "errors 1, lost 5"
    assert report._cells(found)[-1] == "✘ errors 1, lost 5"


def test_faults_of_the_baseline_are_not_throngs():
    found = row(Check(*CPU, most=1), throng=rounds(0.1), baseline=rounds(0.1, lost=9))
    assert found.met is True and found.note == ""


def test_a_figure_that_is_missing_is_told_once_and_measures_nothing():
    results = results_of(throng={1: measured(), 2: measured()})
    check = Check(*CPU, most=1)
    for _ in range(2):
        found = report._row(results, work(check), check)
    assert found.met is None and report._cells(found)[-1] == "not measured"
    assert results.failures == ["room, throng: the generator reports no server.cpuMicrosecondsPerDelivery"]


@pytest.mark.parametrize("check, mark", [
    (Check(*CPU, most=1), "✔"), (Check(*CPU, most=0.1), "✘"), (Check(*CPU), "–")], ids=["met", "missed", "no target"])
def test_the_mark_of_a_row(check, mark):
    cells = report._cells(row(check, throng=rounds(0.4, 0.5, 0.6), baseline=rounds(0.4, 0.25, 0.3)))
    assert cells[3:] == ["0.50 µs (0.40–0.60)", "0.30 µs (0.25–0.40) raw-server batch", "2.00 (1.00–2.00)", mark]


# Cost against members

RISE = Rise("small", "large", "cost, small → large")


def rise(small, large, baseline_small, baseline_large):
    return report._rise_row(
        results_of(small__throng=small, large__throng=large, small__baseline=baseline_small, large__baseline=baseline_large), RISE)


@pytest.mark.parametrize("large, met", [(1.5, True), (1.4, True), (1.6, False)])
def test_throng_may_rise_as_much_as_the_baseline_and_no_more(large, met):
    found = rise(rounds(1.0), rounds(large), rounds(2.0), rounds(2.5))
    assert found.met is met and found.throng == [pytest.approx(large - 1)] and found.baseline == [0.5]


def test_falling_less_than_the_baseline_is_a_rise():
    assert rise(rounds(1.0), rounds(0.75), rounds(2.0), rounds(1.5)).met is False
    assert rise(rounds(1.0), rounds(0.5), rounds(2.0), rounds(1.5)).met is True


def test_rises_are_compared_round_by_round():
    # By medians of either Throng (0.2) would rise less than the baseline (0.3); in two rounds of three it rises more.
    throng, baseline = (0.2, 0.4, 0.1), (0.1, 0.3, 0.5)
    found = rise(rounds(0, 0, 0), rounds(*throng), rounds(0, 0, 0), rounds(*baseline))
    assert found.met is False


def test_only_rounds_with_all_four_figures_count():
    found = rise(rounds(1, 1), {1: measured(9), 2: measured(2)}, {2: measured(1)}, rounds(2, 2))
    assert found.throng == [1] and found.baseline == [1] and found.met is True
    assert rise(rounds(1), rounds(2), {}, rounds(2)) is None


def test_a_rise_is_shown_with_its_sign():
    found = rise(rounds(1.0), rounds(0.75), rounds(1.0), rounds(1.5))
    assert report._cells(found)[3:] == ["-0.25 µs (-0.25–-0.25)", "+0.50 µs (+0.50–+0.50) raw-server batch", "–", "✔"]


def test_rows_of_works_come_before_rises():
    checked = work(Check(*CPU, most=1), Check(*P99, most=2))
    results = results_of(
        throng=rounds(0.5, p99=3), room_100__throng=rounds(1.0), room_100__baseline=rounds(1.0), room_1000__throng=rounds(1.0),
        room_1000__baseline=rounds(1.0))
    assert [(one.measure, one.met) for one in report.rows(results, [checked])] == [
        (CPU[0], True), (P99[0], False), ("CPU-µs per delivery, 100 → 1,000", True)]


# Peers


def peer_row(**figures):
    compared = work(peers=(Run(RawServer("peer"), ("room",)),), deliveries=1000)
    results = results_of(throng=rounds(2), **{"raw-server peer": {1: measured(3, **figures)}})
    text = report.peer_table(results, [compared], {"raw-server peer": "Peer 1.0"}, {"raw-server peer": "as it comes"})
    (line,) = [line for line in text.splitlines() if line.startswith("| Peer 1.0 ")]
    return line.strip("| ").split(" | ")


@pytest.mark.parametrize("reached, keeps_up", [(1000, True), (1000 * KEEPS_UP, True), (1000 * KEEPS_UP - 1, False)])
def test_a_peer_that_falls_behind_is_told_so_and_has_no_latency(reached, keeps_up):
    cells = peer_row(deliveriesPerSecond=reached, p99=7)
    assert ("falls behind" in cells[3]) is not keeps_up
    assert cells[4] == ("7.00" if keeps_up else "–")


def test_a_peer_is_held_against_throng_in_the_same_round():
    cells = peer_row(deliveriesPerSecond=1000, p99=7, server={"rssBytesPerConnection": 2048})
    assert cells == ["Peer 1.0", "3.00 (3.00–3.00)", "1.50 ×", "1,000", "7.00", "2.00 KB", "as it comes"]


# Compression


def compressed(cpu, wire, share):
    figures = {"wireBytesPerDelivery": wire, "messageBytesPerDelivery": 380, "share": share}
    return {1: measured(cpu, p99=7, compression=figures)}


@pytest.mark.parametrize("scenario, p99", [(("room", "--rate", "40"), "7.00 (7.00–7.00)"), (("room", "--inflight", "8"), "–")])
def test_compression_is_shown_beside_the_plain_frames_and_those_deflated_alone(scenario, p99):
    system = RawServer("send", deflate=True)
    one = Work("room", "a room", Run(Throng(), scenario), (), Run(Throng(), scenario), compressed=(Run(system, scenario),))
    results = results_of(throng=compressed(2, 60, 0.987), baseline=compressed(3, 380, 0))
    assert report.compression_table(results, [one]).splitlines()[2:] == [
        f"| a room | shared (Throng) | 60.0 (60.0–60.0) | 380.0 | 98.7 % | 2.00 (2.00–2.00) | {p99} |",
        f"| a room | plain (Throng) | 380.0 (380.0–380.0) | 380.0 | 0.0 % | 3.00 (3.00–3.00) | {p99} |"], "what was not measured is left out"
    assert report.compression_table(results, [work()]) == ""


# Noise


def test_noise_is_what_the_baseline_differs_between_rounds():
    text = report.noise(results_of(baseline=rounds(2, 3, 2.5, others=0.5)), [work()])
    assert "1.50 in the median of the works, 1.50 at worst (room)" in text
    assert "0.50 s of CPU" in text
    assert "largest round" not in report.noise(results_of(baseline=rounds(2)), [work()]), "one round shows no noise"
