"""Scripts/install, without the build: a program called `swift` answers with one that runs the binary under test, and one
called `strip` notes that it was asked."""
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.server import BINARY, REPOSITORY, clean_environment

INSTALL = REPOSITORY / "Scripts/install"
pytestmark = pytest.mark.one_process("it runs the program")


class Machine:
    """A place where programs stand for those of the build, and their calls are noted."""

    def __init__(self, directory):
        self.directory, self.calls = directory, directory / "calls"
        programs, built = directory / "programs", directory / "built"
        programs.mkdir()
        built.mkdir()
        self._write(built / "throng", f'exec {shlex.quote(str(BINARY))} "$@"')
        note = f'echo "${{0##*/}} $*" >> {shlex.quote(str(self.calls))}'
        answer = f'case "$*" in *--show-bin-path*) echo {shlex.quote(str(built))} ;; esac'
        self._write(programs / "swift", f"{note}\n{answer}")
        self._write(programs / "strip", note)
        self._environment = clean_environment({"PATH": f"{programs}:{os.environ['PATH']}"})

    def _write(self, file, text):
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def install(self, *arguments):
        return subprocess.run(
            [INSTALL, *arguments], cwd=self.directory, env=self._environment, capture_output=True, text=True, timeout=120)

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_it_puts_the_program_the_unit_and_a_configuration_below_a_prefix(machine, tmp_path):
    done = machine.install("--prefix", "there")
    assert done.returncode == 0, done.stderr
    prefix = tmp_path / "there"
    program, unit, configuration = (
        prefix / name for name in ("bin/throng", "lib/systemd/system/throng.service", "etc/throng/throng.yaml"))
    assert sorted(file for file in prefix.rglob("*") if file.is_file()) == sorted([program, unit, configuration])
    assert [oct(file.stat().st_mode)[-3:] for file in (program, unit, configuration)] == ["755", "644", "644"]
    # It says what it put where.
    assert re.search(r"^Installed throng \d+\.\d+\.\d+:$", done.stdout, re.M)
    for file in (program, unit, configuration):
        assert f"\n  {file}" in done.stdout
    assert f"systemctl enable --now {unit}\n" in done.stdout

    text = unit.read_text()
    assert f"ExecStart={program} serve --config {configuration}\n" in text
    assert f"{program} health --config {configuration};" in text
    assert "/usr/local" not in text and " /etc/throng" not in text and "\nProtectHome=yes\n" in text
    checked = subprocess.run(
        [program, "config", "check", "--config", configuration, "--data-dir", tmp_path / "data"], env=clean_environment(),
        capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "ok\n"), checked.stderr
    # Whatever reads the file finds the data of the service; all else is as it is without a file.
    set_lines = [line for line in configuration.read_text().splitlines() if line and not line.startswith("#")]
    assert set_lines == ["dataDir: /var/lib/throng"]
    assert f"sudo -u throng {program} token alice --config {configuration}\n" in done.stdout
    assert "before the next start" not in done.stdout

    builds = [call for call in machine.called() if call.startswith("swift build")]
    assert len(builds) == 2 and all("-c release --product throng --static-swift-stdlib" in call for call in builds)
    assert any(call.startswith("strip ") for call in machine.called())


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_systemd_understands_the_unit(machine, tmp_path):
    assert machine.install(f"--prefix={tmp_path}/there").returncode == 0
    unit = tmp_path / "there/lib/systemd/system/throng.service"
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit], capture_output=True, text=True)
    assert done.returncode == 0 and "throng.service" not in done.stderr, done.stderr


def test_a_second_time_renews_all_but_the_configuration(machine, tmp_path):
    prefix = tmp_path / "there"
    assert machine.install("--prefix", prefix).returncode == 0
    program, unit, configuration = (
        prefix / name for name in ("bin/throng", "lib/systemd/system/throng.service", "etc/throng/throng.yaml"))
    before = unit.read_text()
    program.write_text("old")
    unit.write_text("old")
    configuration.write_text("listen: 127.0.0.1:7777\n")
    done = machine.install("--prefix", prefix)
    assert done.returncode == 0, done.stderr
    assert configuration.read_text() == "listen: 127.0.0.1:7777\n" and f"{configuration} (it was there" in done.stdout
    assert f"Set it in {configuration} before the next start:\n  dataDir: /var/lib/throng\n" in done.stdout
    configuration.write_text("dataDir: /srv/throng\n")
    done = machine.install("--prefix", prefix)
    assert done.returncode == 0 and "before the next start" not in done.stdout, done.stdout
    assert unit.read_text() == before and program.read_text().startswith("#!/bin/sh\n")
    assert not list(prefix.rglob("*.new"))


def test_where_nothing_can_be_written_nothing_is_built(machine, tmp_path):
    (tmp_path / "file").write_text("")
    done = machine.install("--prefix", tmp_path / "file/below")
    assert done.returncode == 1 and f"{tmp_path}/file cannot be written to" in done.stderr
    assert not [call for call in machine.called() if call.startswith("swift")]


def test_a_program_that_does_not_run_replaces_none(machine, tmp_path):
    assert machine.install("--prefix", tmp_path / "there").returncode == 0
    program = tmp_path / "there/bin/throng"
    before = program.read_text()
    (tmp_path / "built/throng").write_text("#!/bin/sh\nexit 3\n")
    assert machine.install("--prefix", tmp_path / "there").returncode == 3
    assert program.read_text() == before and not list(Path(tmp_path, "there").rglob("*.new"))


@pytest.mark.parametrize("arguments", [["--prefix", "/tmp/a b"], ["--prefix", "/tmp/100%"], ["--prefix"], ["--root"]])
def test_wrong_words_are_told(machine, arguments):
    done = machine.install(*arguments)
    assert done.returncode == 64 and done.stderr.startswith("install: ") and machine.called() == []


def test_the_page_names_the_libraries_that_the_container_has():
    page = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/Operations.md").read_text()
    wanted = re.search(r"apt-get install -y --no-install-recommends \\\n +(.*?) \\\n", (REPOSITORY / "Dockerfile").read_text())[1]
    told = re.search(r"\n    apt-get install (ca-certificates(?:[^\\\n]|\\\n)*)\n", page)[1]
    assert told.replace("\\\n", " ").split() == wanted.split()
