"""The output and options of `throng bench`."""
import json
import os
import subprocess

import pytest

from harness.bench import SHORT, Running, arguments, bench
from harness.server import BINARY, clean_environment, run_throng
from harness.tokens import SECRET


def test_a_condition_that_is_not_met_is_1_and_everything_is_printed(quick_server):
    figures, table = bench(
        quick_server, "room", "--members", 3, "--rate", 20, "--assert", "p99<1ns", "--assert", "lost<=0", *SHORT, status=1)
    assert [one["met"] for one in figures["conditions"]] == [False, True]
    assert figures["conditions"][0]["condition"] == "p99<1ns" and figures["conditions"][0]["value"] > 0
    assert "NOT MET" in table and figures["messages"] == 20


def test_the_json_goes_into_a_file_and_the_table_to_standard_output(quick_server, tmp_path):
    file = tmp_path / "figures.json"
    done = run_throng(*arguments(quick_server, "connect", "--connections", 3, "--json", file), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("connect: ") and done.stderr == ""
    assert json.loads(file.read_text())["connect"]["connections"] == 3


def test_a_json_file_that_cannot_be_written_is_told_before_the_run(tmp_path):
    # No server listens there: a run would say so.
    words = ["bench", "connect", "--connections", 3, "--url", "ws://127.0.0.1:1/ws", "--set", f"auth.secret={SECRET}"]
    done = run_throng(*words, "--json", tmp_path / "none" / "x", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"throng bench: {tmp_path}/none/x cannot be written: No such file or directory\n"


def test_the_figures_of_an_older_run_do_not_outlive_the_start_of_another(tmp_path):
    file = tmp_path / "figures.json"
    file.write_text("older")
    done = run_throng(
        "bench", "connect", "--connections", 3, "--url", "ws://127.0.0.1:1/ws", "--set", f"auth.secret={SECRET}", "--json", file)
    assert done.returncode == 1 and "cannot connect" in done.stderr
    assert file.read_text() == ""


@pytest.mark.parametrize("json_option", [[], ["--json"], ["--json", "figures.json"]], ids=["table", "json", "file"])
@pytest.mark.parametrize("place, reason", [("full", "No space left on device"), ("closed", "Bad file descriptor")])
def test_figures_that_cannot_be_told_are_1(quick_server, tmp_path, json_option, place, reason):
    call = [str(BINARY), *map(str, arguments(quick_server, "connect", "--connections", 3, *json_option))]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            call, env=clean_environment(), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            preexec_fn=(lambda: os.close(1)) if place == "closed" else None)
    assert done.returncode == 1
    assert done.stderr.endswith(f"throng bench: standard output cannot be written: {reason}\n"), done.stderr
    if place == "full" and len(json_option) == 2:
        assert json.loads((tmp_path / "figures.json").read_text())["connect"]["connections"] == 3, "the rest is told all the same"


def test_the_secret_is_only_read(quick_server, tmp_path):
    words = ["bench", "connect", "--connections", 2, "--url", quick_server.url, "--quiet"]
    done = run_throng(*words, "--data-dir", tmp_path / "mistyped", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"throng bench: there is no secret in {tmp_path}/mistyped/auth-secret"), done.stderr
    assert not (tmp_path / "mistyped").exists()
    (tmp_path / "right").mkdir()
    (tmp_path / "right" / "auth-secret").write_text(SECRET)
    done = run_throng(*words, "--data-dir", tmp_path / "right", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_help_lists_only_the_types_that_a_scenario_takes():
    durable = run_throng("bench", "durable", "--help").stdout
    assert "Work" in durable and "Meeting" in durable and "AVChatRoom" not in durable
    assert "AVChatRoom" in run_throng("bench", "groups", "--help").stdout


def test_progress_is_told_every_second(quick_server):
    run = Running(quick_server, "room", "--members", 3, "--rate", 20, "--duration", 600)
    lines = [run.progress(), run.progress()]
    run.interrupt()
    run.end()
    assert all("deliveries/s" in line and "generator" in line for line in lines), lines


@pytest.mark.parametrize("words", [
    ["room", "--members", "0", "--rate", "1"],
    ["room"],
    ["room", "--members", "5", "--rate", "1", "--inflight", "1"],
    ["room", "--members", "5", "--rate", "0"],
    ["room", "--members", "5", "--rate", "1e-11"],
    ["room", "--members", "5", "--rate", "0.0009"],
    ["room", "--members", "5", "--rate", "1000001"],
    ["room", "--members", "5", "--rate", "nan"],
    ["room", "--members", "5", "--rate", "inf"],
    ["room", "--members", "5", "--rate", "1", "--type", "BChatRoom"],
    ["room", "--members", "5", "--rate", "1", "--size", "20"],
    ["room", "--members", "5", "--rate", "1", "--url", "http://127.0.0.1:1/ws"],
    ["room", "--members", "5", "--rate", "1", "--insecure"],
    ["room", "--members", "5", "--rate", "1", "--hello", "x"],
    ["room", "--members", "5", "--rate", "1", "--publish", "no stamp"],
    ["room", "--members", "5", "--rate", "1", "--publish", "%t", "--ready", "x"],
    ["room", "--members", "5", "--rate", "1", "--publish", "%t%l"],
    ["room", "--members", "5", "--rate", "1", "--publish", "%t%p", "--texts", "x"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p98<1ms"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p99<1KB"],
    ["room", "--members", "5", "--rate", "1", "--assert", "p99=1ms"],
    ["room", "--members", "5", "--rate", "1", "--assert", "cpu/delivery<1us"],
    ["connect", "--connections", "5", "--assert", "p99<1ms"],
    ["groups", "--groups", "3", "--connections", "10", "--rate", "1"],
    ["groups", "--groups", "3", "--rate", "1"],
    ["groups", "--groups", "3", "--members", "1", "--rate", "1"],
    ["durable", "--senders", "1", "--members", "1", "--type", "AVChatRoom"],
    ["durable", "--senders", "4", "--senders-per-group", "3", "--members", "2"],
    ["groups", "--groups", "3", "--members", "2", "--rate", "1e-11"],
    ["durable", "--senders", "1", "--members", "1", "--rate", "1e-11"],
    ["connect", "--connections", "5", "--rate", "1e-11"],
    ["priority", "--members", "5"],
    ["priority", "--members", "5", "--high", "1", "--lowest", "1e-11"],
    ["priority", "--members", "5", "--high", "1", "--lowest=-1"],
    ["storm", "--connections", "1"],
    ["storm", "--connections", "5", "--established", "1"],
    ["fly"],
])
def test_wrong_usage_is_64_with_a_sentence(words, tmp_path):
    done = run_throng("bench", *words, cwd=tmp_path)
    assert done.returncode == 64 and done.stderr.startswith("Error: ") and done.stdout == ""


@pytest.mark.parametrize("contents", [None, "", "\n\n"])
def test_texts_that_cannot_be_read_are_1_with_a_sentence(contents, tmp_path):
    texts = tmp_path / "texts.txt"
    if contents is not None:
        texts.write_text(contents)
    done = run_throng("bench", "room", "--members", "5", "--rate", "1", "--texts", texts, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith(f"throng bench: --texts {texts}: ") and done.stdout == ""


def test_a_rate_that_no_run_can_keep_is_told_with_those_that_can(tmp_path):
    done = run_throng("bench", "priority", "--members", "5", "--high", "1", "--low", "1e-11", cwd=tmp_path)
    assert "--low takes 0.001 to 1000000 messages per second" in done.stderr
