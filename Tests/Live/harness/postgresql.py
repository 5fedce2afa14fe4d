"""A PostgreSQL server of the tests' own, in a temporary directory, without a port.

`python -m harness.postgresql COMMAND…` runs a command with THRONG_LIVE_POSTGRESQL set to the
directory of its socket, and ends with the command's status. The server ends with this process,
however that ends: a shell waits for the end of its input.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Nothing in the live suite ends PostgreSQL, so it need not sync.
SCRIPT = r"""
set -u
directory=$1 programs=$2
cd "$directory"
"$programs/initdb" -D data -U throng -A trust -E UTF8 --locale=C.UTF-8 --no-sync >log 2>&1 || { tail -n 3 log; exit 1; }
"$programs/postgres" -D data -k "$directory" -c listen_addresses= -c fsync=off -c full_page_writes=off \
  -c max_connections=600 -c shared_buffers=128MB -c max_wal_size=1GB -c authentication_timeout=600 >>log 2>&1 &
server=$!
tries=0
until "$programs/pg_isready" -q -h "$directory" -U throng -d postgres; do
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] && kill -0 "$server" || { tail -n 3 log; exit 1; }
  sleep 0.1
done
echo ready
read -r end
kill -INT "$server"
wait "$server"
"""


def programs():
    """The directory of the newest PostgreSQL's programs, as Debian installs them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise FileNotFoundError("PostgreSQL is not installed: Scripts/install-packages tests")
    return found[-1].parent


class PostgreSQL:
    """A running server; `directory` has its socket."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="throng-live-pg-")
        # initdb refuses to work for root.
        account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if account:
            shutil.chown(self.directory, "postgres", "postgres")
        os.chmod(self.directory, 0o755)
        self._shell = subprocess.Popen(
            ["bash", "-c", SCRIPT, "postgresql", self.directory, str(programs())], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd="/", **account)
        answer = self._shell.stdout.readline()
        if answer != "ready\n":
            raise RuntimeError(f"PostgreSQL did not start: {answer}{self._shell.stdout.read()}")

    def stop(self):
        self._shell.stdin.close()
        self._shell.wait(60)
        self._shell.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def main(command):
    server = PostgreSQL()
    try:
        return subprocess.run(command, env={**os.environ, "THRONG_LIVE_POSTGRESQL": server.directory}).returncode
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
