"""The server as a process: `throng serve` on free ports with a data directory of its own."""
import contextlib
import hashlib
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from .tokens import SECRET, admin_token

REPOSITORY = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("THRONG_BINARY") or REPOSITORY / ".build/debug/throng").resolve()
START_PATIENCE = 60
EXIT_PATIENCE = 60


def clean_environment(extra=None):
    """The environment without THRONG_ variables: one that names no key would stop the start."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}
    return {**base, **(extra or {})}


def run_throng(*arguments, environment=None, cwd=None, timeout=EXIT_PATIENCE):
    """Runs a subcommand to its end; gives the completed process with text output."""
    command = [str(BINARY), *map(str, arguments)]
    return subprocess.run(
        command, env=clean_environment(environment), cwd=cwd, timeout=timeout, capture_output=True, text=True
    )


class StartFailed(AssertionError):
    """The process ended before it said `listening`."""

    def __init__(self, status, log):
        super().__init__(f"throng serve ended with {status}:\n{log}")
        self.status = status
        self.log = log


class Response:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


CLUSTER = REPOSITORY / "Scripts/cluster"
# The suite then runs against clusters of three nodes, each behind one address.
IS_CLUSTER = BINARY == CLUSTER

# The directory of a PostgreSQL server's socket: the suite then runs against databases there.
POSTGRESQL = os.environ.get("THRONG_LIVE_POSTGRESQL")


def postgresql_database(data_dir):
    """The URL of the database that stands for a data directory; made where it is missing."""
    name = "live_" + hashlib.sha256(str(data_dir).encode()).hexdigest()[:16]
    create = ["psql", "-h", POSTGRESQL, "-U", "throng", "-d", "postgres", "-qc", f"CREATE DATABASE {name}"]
    done = subprocess.run(create, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and "already exists" not in done.stdout:
        raise RuntimeError(done.stdout)
    return f"postgres://throng@/{name}?host={POSTGRESQL}"


class Server:
    """One `throng serve`. `settings` are `--set` values; the rest is what a test needs to vary.
    With a `clock` its time stands still from the start, but for what the test lets pass."""

    def __init__(self, data_dir, settings=None, arguments=(), environment=None, secret=SECRET, preexec=None,
                 internal="127.0.0.1:0", binary=None, listen="127.0.0.1:0", clock=None):
        self.data_dir = Path(data_dir)
        self.settings = dict(settings or {})
        if secret is not None:
            self.settings.setdefault("auth.secret", secret)
        self.binary = binary or BINARY
        # A cluster has a PostgreSQL of its own.
        if POSTGRESQL and self.binary != CLUSTER and "store.url" not in self.settings:
            self.settings["store.url"] = postgresql_database(self.data_dir)
        self.arguments = list(arguments)
        self.clock = clock
        self.environment = environment or {}
        if clock:
            # Clients answer at their own pace, however far the server's time has moved.
            self.settings.setdefault("heartbeat.interval", "24h")
            self.settings.setdefault("heartbeat.timeout", "24h")
        self.preexec = preexec
        self.internal = internal
        self.listen = listen
        # A proxy before it, which clients connect to.
        self.front = None
        self.process = None
        self.lines = []
        self.listening = None
        self._news = threading.Condition()
        self._ended = False
        self._is_draining = False

    # Life

    def start(self):
        """Starts the process and returns when it has said where it listens."""
        command = [str(self.binary), "serve", "--listen", self.listen, "--internal-listen", self.internal]
        command += ["--data-dir", str(self.data_dir), *self.arguments]
        for key, value in self.settings.items():
            command += ["--set", f"{key}={value}"]
        environment = {**self.environment, **(self.clock.prepare() if self.clock else {})}
        with self._news:
            self.process, self.listening, self._ended = None, None, False
        self._is_draining = False
        self.process = subprocess.Popen(
            command, env=clean_environment(environment), cwd=str(self.data_dir.parent), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=self.preexec, restore_signals=self.preexec is None,
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        with self._news:
            self._news.wait_for(lambda: self.listening or self._ended, timeout=START_PATIENCE)
        if not self.listening:
            if self.process.poll() is None and not self._ended:
                self.kill()
            raise StartFailed(self.process.wait(EXIT_PATIENCE), self.log)
        return self

    # Time

    @property
    def now(self):
        """Unix seconds on the server's wall clock."""
        return self.clock.now if self.clock else time.time()

    async def advance(self, seconds):
        """Lets the server's time pass at once: returns when everything was performed that became due.
        Timers of connections come up to 0.1 s late. A server that drains may end meanwhile."""
        await self.clock.advance(seconds, may_end=self._is_draining)

    def resume(self):
        """Lets the server's time pass by itself from now on, for example so that a drain ends: if it has not yet."""
        self.clock.run(may_end=self._is_draining)

    def _read(self, process):
        with process.stdout as pipe:
            for raw in pipe:
                line = raw.decode(errors="replace").rstrip("\n")
                with self._news:
                    self.lines.append(line)
                    if self.listening is None and '"listening"' in line:
                        self.listening = json.loads(line)
                    self._news.notify_all()
        with self._news:
            # After a kill and a new start, the end of the old process is expected.
            if process is self.process:
                self._ended = True
                self._news.notify_all()

    @property
    def log(self):
        with self._news:
            return "\n".join(self.lines)

    def terminate(self):
        self._is_draining = True
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        """`kill -9`: no chance to finish anything."""
        self.process.kill()
        self.process.wait(EXIT_PATIENCE)

    @property
    def processes(self):
        """The numbers of all nodes' processes; of a server that is one process, its own."""
        return self.listening.get("processes") or [self.process.pid]

    def kill_nodes(self):
        """`kill -9` of the server, but not of a cluster's database: that ends in order."""
        for number in self.processes:
            # The first that ends ends the others, too.
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self.wait()

    def wait(self):
        status = self.process.wait(EXIT_PATIENCE)
        # `log` has its last words then. Engines of a cluster may keep the pipe for a moment.
        with self._news:
            self._news.wait_for(lambda: self._ended, timeout=10)
        return status

    def stop(self):
        """A drain to its end."""
        self.terminate()
        return self.wait()

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    # Addresses

    @property
    def address(self):
        return self.listening["listen"]

    @property
    def internal_address(self):
        return self.listening["internalListen"]

    @property
    def url(self):
        place = f"wss://{self.front.host}" if self.front else f"ws://{self.address}"
        return place + self.path

    @property
    def path(self):
        return self.settings.get("path", "/ws")

    # HTTP

    @property
    def node_addresses(self):
        """The internal listeners of all nodes; of a server that is one process, its own."""
        return self.listening.get("nodes") or [self.internal_address]

    def http(self, method, path, body=None, headers=None, public=False, address=None):
        """One request on a connection of its own, to the internal listener unless `public`."""
        connection = http.client.HTTPConnection(
            address or (self.address if public else self.internal_address), timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return Response(answer.status, dict((k.lower(), v) for k, v in answer.getheaders()), answer.read())
        finally:
            connection.close()

    def post_rpc(self, body, credential="admin", address=None):
        """POST /rpc with any JSON body; `credential` None sends none, `address` names a node."""
        headers = {"Content-Type": "application/json"}
        if credential is not None:
            headers["Authorization"] = "Bearer " + (admin_token(now=self.now) if credential == "admin" else credential)
        text = body if isinstance(body, (bytes, str)) else json.dumps(body)
        return self.http("POST", "/rpc", text, headers, address=address)

    def rpc(self, method, /, **params):
        """One administrator's call: the whole JSON-RPC answer."""
        response = self.post_rpc({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert response.status == 200, response.text
        return response.json()

    # State that others change: it is what is expected soon, not at once

    def metric_becomes(self, name, expected, address=None, patience=30, **labels):
        """Waits until the sum of all samples with these labels, of all nodes or of that at `address`, is `expected`, or is
        as this function says; gives the sum."""
        found = None

        def is_there():
            nonlocal found
            found = self._metric(name, address, **labels)
            return expected(found) if callable(expected) else found == expected

        wanted = "as wanted" if callable(expected) else expected
        self.wait_until(is_there, lambda: f"{name} {labels} is {found}, not {wanted}", patience)
        return found

    @contextlib.contextmanager
    def metric_grows(self, name, by, address=None, **labels):
        """Demands that a metric has grown by so much, or as this function says, soon after the body."""
        before = self._metric(name, address, **labels)
        yield
        self.metric_becomes(name, lambda now: by(now - before) if callable(by) else now - before == by, address, **labels)

    def cluster_becomes(self, condition, what, address=None, patience=30):
        """Waits until a node's table of the cluster is as the function says; gives it."""
        found = None

        def is_there():
            nonlocal found
            found = self.http("GET", "/cluster", address=address).json()
            return condition(found)

        self.wait_until(is_there, lambda: f"{what}: {found}", patience)
        return found

    def _metric(self, name, address=None, **labels):
        """The sum of all samples of a metric that carry these labels; 0 when there is none."""
        total = 0.0
        for node in [address] if address else self.node_addresses:
            for line in self.http("GET", "/metrics", address=node).text.splitlines():
                if line.startswith(name + "{") or line.startswith(name + " "):
                    if all(f'{label}="{value}"' in line for label, value in labels.items()):
                        total += float(line.rsplit(" ", 1)[1])
        return total

    def wait_until(self, condition, what, patience=30):
        """Waits for something that only polling can show (a metric, a file)."""
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f"not within {patience} s: {what() if callable(what) else what}"
            time.sleep(0.02)
