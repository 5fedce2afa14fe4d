"""The warnings of a start about its system (Operations.md, "Start")."""
import glob
import json
import resource
import subprocess

import pytest

from harness.ports import reserve_port
from harness.server import BINARY, clean_environment, run_throng

PLUGIN = glob.glob("/usr/lib/*/libwebsockets-evlib_ev.so")


def warnings(own):
    """Of connections: a store may have warnings of its own."""
    logged = map(json.loads, own.log.splitlines())
    return [entry["message"] for entry in logged if entry["level"] == "warning" and "limits.connections" in entry["message"]]


@pytest.mark.one_process("the balancer has limits of its own")
def test_more_connections_than_the_system_allows_warn(make_server):
    own = make_server({"limits.connections": 5000},
                      preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000)))
    own.wait_until(lambda: warnings(own), "the warning")
    assert "2000" in warnings(own)[0]


@pytest.mark.one_process("the balancer has limits of its own")
def test_as_many_as_it_allows_do_not(make_server):
    own = make_server({"limits.connections": 1000},
                      preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000)))
    assert own.stop() == 0
    assert not warnings(own)


def in_namespace(tmp_path, script, *arguments):
    """Runs a shell script that may mount, unseen by everybody else."""
    return subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", *map(str, arguments)], cwd=tmp_path, timeout=60,
                          env=clean_environment(), capture_output=True, text=True)


@pytest.mark.one_process("it replaces a library of the process")
@pytest.mark.skipif(not PLUGIN, reason="the plugin is elsewhere")
@pytest.mark.parametrize("how", [
    # The file is there and no library.
    'mount --bind /dev/null "$1"',
    # The file is not there: everything but it, linked from the directory as it was.
    'mkdir real rest; dir=${1%/*}; mount --bind "$dir" real; ln -s "$PWD"/real/* rest; rm rest/${1##*/}; mount --bind rest "$dir"',
], ids=["broken", "missing"])
def test_without_the_plugin_of_the_event_loop_the_start_names_its_package(tmp_path, how):
    if in_namespace(tmp_path, "mount --bind /dev/null /dev/zero").returncode:
        pytest.skip("mounts are not allowed here")
    serve = f'{BINARY} serve --listen 127.0.0.1:0 --internal-listen 127.0.0.1:0 --data-dir data'
    done = in_namespace(tmp_path, f"{how}; exec {serve}", PLUGIN[0])
    assert done.returncode == 1 and "libwebsockets-evlib-ev" in done.stdout + done.stderr, done


def serve(*arguments, cwd):
    return run_throng("serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", *arguments, cwd=cwd)


@pytest.mark.parametrize("arguments", [["--set", "store.url=sqlite:../file/a.db"], ["--set", "demo=perhaps", "--set", "loops=0"]],
                         ids=["start", "configuration"])
def test_a_start_that_fails_is_told_in_the_format_of_the_log(tmp_path, arguments):
    (tmp_path / "file").write_text("where a directory would be needed")
    told = serve(*arguments, cwd=tmp_path)
    assert told.returncode == 1 and told.stderr
    for line in told.stderr.splitlines():
        entry = json.loads(line)
        assert entry["level"] == "critical" and entry["message"] == "cannot start" and entry["error"]
    as_text = serve(*arguments, "--set", "log.format=text", cwd=tmp_path)
    assert as_text.returncode == 1 and as_text.stderr and "{" not in as_text.stderr


def test_a_format_that_is_none_is_told_as_text(tmp_path):
    told = serve("--set", "log.format=xml", cwd=tmp_path)
    assert told.returncode == 1 and told.stderr.startswith("log.format: expected")


def test_health_follows_the_configuration(make_server, tmp_path):
    # Nobody else listens there after its end.
    own = make_server(internal=f"127.0.0.1:{reserve_port()}")

    def health(condition, *arguments, **environment):
        """Waits for an answer of this kind: the command gives a busy server two seconds."""
        answers = []

        def is_right():
            done = run_throng("health", *arguments, environment=environment, cwd=tmp_path)
            answers.append((done.returncode, done.stdout, done.stderr))
            return condition(*answers[-1])
        own.wait_until(is_right, lambda: answers[-1])

    def is_alive(*answer):
        return answer == (0, "alive\n", "")
    address = own.internal_address
    health(is_alive, THRONG_INTERNAL_LISTEN=address)
    health(is_alive, "--internal-listen", f"0.0.0.0:{address.rsplit(':', 1)[1]}")
    file = tmp_path / "throng.yaml"
    file.write_text(f"internalListen: {address}\n")
    health(is_alive, THRONG_CONFIG=str(file))
    # The public listener has no /healthz.
    health(lambda status, out, fault: status == 1 and "404" in fault and not out, "--internal-listen", own.address)
    own.kill()
    done = run_throng("health", environment={"THRONG_INTERNAL_LISTEN": address}, cwd=tmp_path)
    assert done.returncode == 1 and address in done.stderr
    assert run_throng("health", "--help").returncode == 0
