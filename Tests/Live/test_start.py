"""Section 9: what a start says of the system that it runs on."""
import glob
import json
import resource
import subprocess

import pytest

from harness.server import BINARY, clean_environment

PLUGIN = glob.glob("/usr/lib/*/libwebsockets-evlib_ev.so")


def warnings(own):
    return [entry for entry in map(json.loads, own.log.splitlines()) if entry["level"] == "warning"]


def test_more_connections_than_the_system_allows_warn(make_server):
    own = make_server({"limits.connections": 5000},
                      preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000)))
    own.wait_until(lambda: any("limits.connections" in entry["message"] for entry in warnings(own)), "the warning")
    assert "2000" in warnings(own)[0]["message"]


def test_as_many_as_it_allows_do_not(make_server):
    own = make_server({"limits.connections": 1000},
                      preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000)))
    assert own.stop() == 0
    assert not warnings(own)


def in_namespace(tmp_path, script, *arguments):
    """Runs a shell script that may mount, unseen by everybody else."""
    return subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", *map(str, arguments)], cwd=tmp_path, timeout=60,
                          env=clean_environment(), capture_output=True, text=True)


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
