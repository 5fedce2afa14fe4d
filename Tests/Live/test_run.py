"""Scripts/run, up to the first message: the commands that it prints, typed into terminals. A program called `swift`
takes the place of the build: it answers with the binary under test."""
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest

from harness.ports import reserve_port
from harness.server import BINARY, REPOSITORY, clean_environment

PATIENCE = 60


class Screen:
    """A program in a terminal of its own."""

    def __init__(self, command, **options):
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "bash", "-c", command], stdin=slave, stdout=slave, stderr=slave, **options)
        os.close(slave)
        self.shown = ""

    def sees(self, pattern):
        """Reads until it stands there; gives the match."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.shown)):
            assert time.monotonic() < deadline, f"not seen: {pattern}\n{self.shown[-4000:]}"
            if select.select([self._master], [], [], 0.5)[0]:
                self.shown += os.read(self._master, 65536).decode(errors="replace").replace("\r", "")
        return found

    def type(self, line):
        os.write(self._master, line.encode() + b"\n")

    def press(self, key):
        os.write(self._master, key.encode())

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def screen():
    made = []

    def make(command, **options):
        made.append(Screen(command, cwd=REPOSITORY, **options))
        return made[-1]
    yield make
    for one in reversed(made):
        one.end()


@pytest.fixture
def environment(tmp_path):
    swift = tmp_path / "bin" / "swift"
    swift.parent.mkdir()
    swift.write_text(f'#!/bin/sh\ncase "$*" in *--show-bin-path*) echo {shlex.quote(str(BINARY.parent))} ;; esac\n')
    swift.chmod(0o755)
    return clean_environment({"PATH": f"{swift.parent}:{os.environ['PATH']}", "NO_PROXY": "127.0.0.1"})


def command(*arguments):
    return f"exec Scripts/run {shlex.join(map(str, arguments))}"


@pytest.mark.one_process("it builds and runs the program")
@pytest.mark.timeout(300)
def test_two_people_chat_with_the_commands_that_it_prints(screen, environment, tmp_path):
    address = f"127.0.0.1:{reserve_port()}"
    arguments = ["--listen", address, "--internal-listen", "127.0.0.1:0", "--data-dir", tmp_path / "the data", "--demo"]
    server = screen(command(*arguments), env=environment)
    server.sees(r'"text":"Hello!"')

    printed = server.shown
    # In a terminal the log is text.
    assert re.search(rf"^\S+ info listening .* listen={address}", printed, re.MULTILINE)
    assert f"Throng serves ws://{address}/ws (" in printed and f"open http://{address}/ in two tabs" in printed
    commands = re.findall(r"^  (\.build-chat/bin/python .*)$", printed, re.MULTILINE)
    frames = [line.strip() for line in printed.splitlines() if line.startswith('  {"jsonrpc"')]
    assert [json.loads(frame)["method"] for frame in frames] == ["createGroup", "joinGroup", "sendGroupTextMessage"]
    (group,) = {json.loads(frame)["params"]["groupID"] for frame in frames}
    alice, bob = (screen(line.replace(".build-chat/bin/python", shlex.quote(sys.executable)), env=environment) for line in commands)
    for person, name in ((alice, "alice"), (bob, "bob")):
        person.sees(rf'"onConnectSuccess","params":{{"userID":"{name}"')
    alice.type(frames[0])
    alice.sees(rf'"id":1,"result":\{{"groupID":"{group}"')
    bob.type(frames[1])
    bob.sees(r'"id":1,"result":\{"status":"Joined"\}')
    alice.type(frames[2])
    alice.sees(r'"id":2,"result":.*"status":"Stored"')
    bob.sees(r'"onRecvNewMessage".*"sender":"alice".*"text":"Hello!"')
    # Ctrl-C reaches the server, which says its last words; the clients are closed within a second.
    server.press("\x03")
    server.sees(r"info stopped")
    assert server.process.wait(PATIENCE) == 0


@pytest.mark.one_process("it builds and runs the program")
@pytest.mark.files
def test_nothing_is_promised_where_the_start_fails(environment, make_server, tmp_path):
    own = make_server()
    arguments = ["--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", own.data_dir]
    done = subprocess.run(["bash", "-c", command(*arguments)], cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "cannot start" in done.stderr
    assert "Throng serves" not in done.stdout


@pytest.mark.one_process("it builds and runs the program")
@pytest.mark.parametrize("arguments, shown", [([], {"duration": 10000}), (["--set", "drain.duration=3"], {"duration": 3000})])
def test_a_signal_reaches_the_server(environment, tmp_path, arguments, shown):
    """Without --demo nothing but the form of the log differs from the server's own defaults, and that in a terminal alone."""
    arguments = ["--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data-dir", tmp_path / "data", *arguments]
    with subprocess.Popen(
            ["bash", "-c", command(*arguments)], cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout.readline, "")
        listening = json.loads(next(line for line in lines if '"listening"' in line))
        assert f"Throng serves ws://{listening['listen']}/ws (" in "".join(line for line, _ in zip(lines, range(2)))
        process.send_signal(signal.SIGTERM)
        draining, stopped = [json.loads(line) for line in lines if '"level"' in line]
    assert process.returncode == 0
    assert draining["message"] == "draining" and draining["duration"] == shown["duration"]
    assert stopped["message"] == "stopped"


@pytest.mark.one_process("it runs the program")
@pytest.mark.parametrize("arguments, listens, drains", [
    (["--demo"], "127.0.0.1:8080", "1s"), (["--demo", "--set", "listen=127.0.0.1:7777"], "127.0.0.1:7777", "1s"),
    (["--demo", "--listen", "127.0.0.1:7777", "--set", "drain.duration=4s"], "127.0.0.1:7777", "4s"), ([], None, None)])
def test_the_demo_is_for_this_machine(environment, tmp_path, arguments, listens, drains):
    """What it starts: a program in the server's place shows its arguments."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "throng").write_text(
        f'#!/bin/sh\n[ "$1" = serve ] || exec {shlex.quote(str(BINARY))} "$@"\nprintf "%s\\n" "$@"\n')
    (programs / "throng").chmod(0o755)
    swift = tmp_path / "bin" / "swift"
    swift.write_text(f'#!/bin/sh\ncase "$*" in *--show-bin-path*) echo {shlex.quote(str(programs))} ;; esac\n')
    done = subprocess.run(["bash", "-c", command(*arguments)], cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split("\n")[:-1]
    assert words[:len(arguments) + 1] == ["serve", *arguments]
    own = words[len(arguments) + 1:]
    shown = dict(word.split("=", 1) for word in own[1::2]) | dict(
        word.split("=", 1) for word in arguments if word.startswith(("listen=", "drain")))
    if "--listen" in arguments:
        shown["listen"] = arguments[arguments.index("--listen") + 1]
    assert (shown.get("listen"), shown.get("drain.duration")) == (listens, drains)
