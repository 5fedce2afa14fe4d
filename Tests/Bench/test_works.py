"""The targets themselves: each can be judged."""
import pathlib

from servers import RawServer, word_list
from works import RISES, WORKS


def test_names_are_unique():
    names = [work.name for work in WORKS]
    assert len(set(names)) == len(names)


def test_a_ratio_has_a_baseline():
    for work in WORKS:
        assert work.baseline or not any(check.bounds_ratio and not check.beside for check in work.checks), work.name


def test_a_figure_beside_another_has_a_name():
    assert all(bool(check.beside) == bool(check.beside_label) for work in WORKS for check in work.checks)


def test_storms_differ_by_the_rate_of_sign_ins_alone():
    works = [work for work in WORKS if work.name.startswith("storm-")]
    assert len(works) > 2 and len({work.throng.scenario for work in works}) == 1
    for work in works:
        assert work.throng.system.settings == {"limits.signInsPerSecond": int(work.name.removeprefix("storm-"))}


def test_a_rise_is_between_works_that_have_a_baseline():
    works = {work.name: work for work in WORKS}
    for rise in RISES:
        assert works[rise.smaller].baseline and works[rise.larger].baseline, rise.measure


def test_where_peers_keep_up_with_a_rate_it_is_that_of_the_scenario():
    for work in WORKS:
        if work.deliveries:
            options = dict(zip(work.throng.scenario[1::2], work.throng.scenario[2::2]))
            assert work.deliveries == int(options["--members"]) * int(options["--rate"]), work.name
            for run in (work.baseline, *work.peers):
                assert {"--rate", options["--rate"]} < set(run.scenario), (work.name, run.system.label)


def test_groups_are_compared_with_rooms_of_the_same_size_at_the_same_rate():
    for work in WORKS:
        if work.throng.scenario[0] == "groups":
            assert isinstance(work.baseline.system, RawServer) and work.baseline.system.rooms, work.name
            assert set(work.throng.scenario) - set(work.baseline.scenario) == {"--type", "AVChatRoom"}, work.name


def test_what_goes_over_tls_is_compared_over_tls():
    assert any(work.throng.system.tls for work in WORKS)
    for work in WORKS:
        if work.throng.system.tls:
            assert work.baseline.system.tls and work.throng.scenario[1:5] == work.baseline.scenario[1:5], work.name


def test_webhooks_are_measured_against_the_same_without_them():
    works = [work for work in WORKS if work.name.startswith("webhooks")]
    assert {work.throng.system.receiver for work in works} == {"answers", "hangs"}
    for work in works:
        system = work.baseline.system
        assert not system.receiver and system.settings == work.throng.system.settings, work.name
        assert work.throng.scenario == work.baseline.scenario, work.name


def test_compression_is_compared_with_the_same_server_and_load_without_it():
    works = [work for work in WORKS if work.compressed]
    assert len(works) == 12
    for work in works:
        assert work.baseline.system.settings == {"compression": "off"} and work.baseline.scenario == work.throng.scenario
        for run in work.runs.values():
            assert run.has_texts and "--compress" in run.scenario, work.name
            assert getattr(run.system, "tls", False) is work.throng.system.tls, work.name


def test_what_words_cost_is_compared_with_the_same_texts_without_them(tmp_path):
    (work,) = [work for work in WORKS if getattr(work.throng.system, "words", 0)]
    assert work.baseline.scenario == work.throng.scenario and work.baseline.has_texts and work.throng.has_texts
    assert work.baseline.system.settings == work.throng.system.settings and not work.baseline.system.words
    lines = pathlib.Path(word_list(tmp_path, work.throng.system.words)).read_text().split("\n")
    # A line that begins with # or = would mean something else.
    assert len(set(lines[:-1])) == work.throng.system.words and all(line.isalpha() for line in lines[:-1])
