"""Proxies of the system under the files of Scripts/deploy, and people behind them. Where a proxy is not
installed its tests are skipped."""
import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from .ports import reserve_port
from .server import REPOSITORY
from .tokens import make_token
from .waiting import within

DEPLOY = REPOSITORY / "Scripts/deploy"
PROXIES = ["nginx", "haproxy", "caddy"]
# As in throng.yaml of that directory, which test_service.py compares.
SETTINGS = {"path": "/chat/ws", "trustedProxies": "127.0.0.1,::1", "forwardedHeader": "x-forwarded-for", "demo": "true",
            "limits.connectionsPerAddress": 0}


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_certificate(directory, days=365, name="tls"):
    """A certificate for localhost and its key."""
    files = directory / f"{name}-certificate.pem", directory / f"{name}-key.pem"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
            "-days", days, "-keyout", files[1], "-out", files[0])
    return {"tls.certificateFile": files[0], "tls.keyFile": files[1]}


def replaced(name, **changes):
    """The file's text with each of these replaced, which must be there."""
    text = (DEPLOY / name).read_text()
    for old, new in changes.values():
        assert old in text, (name, old)
        text = text.replace(old, new)
    return text


def trusting():
    # Not the default context, which reads the system's certificates each time.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Proxy:
    """A proxy under one of the files, as it is but for ports, paths and the certificate.

    `target` is the server's address, `unix:` before a path; `file` another file than the usual one;
    `edit` changes its text; `address` is where it listens."""

    def __init__(self, kind, directory, target, files, file=None, edit=lambda text: text, address="127.0.0.1"):
        self.program = shutil.which(kind, path="/usr/sbin:/usr/bin:/usr/local/bin")
        if not self.program:
            pytest.skip(f"there is no {kind}")
        self.kind, self.directory, self.port, self.address = kind, directory, reserve_port(), address
        self.host = f"localhost:{self.port}"
        self.edit = edit
        self.people = []
        directory.mkdir()
        self._bind = f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"
        write = {"nginx": self._nginx, "haproxy": self._haproxy, "caddy": self._caddy}[kind]
        self.command, self.variables = write(target, files, file)
        self.start()

    def _nginx(self, target, files, _):
        text = replaced(
            "nginx.conf", target=("server 127.0.0.1:8080;", f"server {target};"),
            listen=("listen 443 ssl;", f"listen {self._bind} ssl;"),
            certificate=("/etc/throng/certificate.pem", str(files["tls.certificateFile"])),
            key=("/etc/throng/key.pem", str(files["tls.keyFile"])), pid=("/run/nginx.pid", f"{self.directory}/pid"),
            log=("/var/log/nginx/access.log", f"{self.directory}/access.log"))
        (self.directory / "nginx.conf").write_text(self.edit(text))
        # Its workers' usual user is in no group of the server's.
        more = "daemon off; error_log stderr; user root;" if os.geteuid() == 0 else "daemon off; error_log stderr;"
        return [self.program, "-p", self.directory, "-e", "stderr", "-c", self.directory / "nginx.conf", "-g", more], {}

    def _haproxy(self, target, files, file):
        both = self.directory / "haproxy.pem"
        both.write_text(files["tls.certificateFile"].read_text() + files["tls.keyFile"].read_text())
        target = f"unix@{target[5:]}" if target.startswith("unix:") else target
        changes = {"target": ("server throng 127.0.0.1:8080", f"server throng {target}"), "bind": ("bind :443", f"bind {self._bind}")}
        if file is None:
            changes["certificate"] = ("/etc/throng/haproxy.pem", str(both))
        (self.directory / "haproxy.cfg").write_text(self.edit(replaced(file or "haproxy.cfg", **changes)))
        return [self.program, "-W", "-db", "-f", self.directory / "haproxy.cfg"], {}

    def _caddy(self, target, files, _):
        site = "{$CHAT_HOST:chat.example.com} {"
        text = replaced("Caddyfile", site=(site, f"{site}\n\ttls {files['tls.certificateFile']} {files['tls.keyFile']}"))
        file = self.directory / "Caddyfile"
        self._admin = f"127.0.0.1:{reserve_port()}"
        file.write_text(f"{{\n\tadmin {self._admin}\n\tauto_https disable_redirects\n}}\n" + self.edit(text))
        variables = {"CHAT_HOST": f"https://{self.host}", "THRONG": f"unix/{target[5:]}" if target.startswith("unix:") else target}
        return [self.program, "run", "--adapter", "caddyfile", "--config", file], variables

    def _environment(self):
        return {"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": str(self.directory), **self.variables}

    def start(self):
        """Starts it, or starts it again after `end`."""
        self.log = open(self.directory / "log", "a")
        self.process = subprocess.Popen(
            [str(word) for word in self.command], cwd=self.directory, stdout=self.log, stderr=subprocess.STDOUT,
            env=self._environment())
        self._wait_until(self._answers)

    def _answers(self):
        try:
            socket.create_connection((self.address, self.port), 1).close()
            return True
        except OSError:
            return False

    def _wait_until(self, condition, patience=60):
        deadline = time.monotonic() + patience
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.02)

    def reload(self):
        """Reloads the file, as an operator does after a change. Returns when new workers take the new connections."""
        if self.kind != "caddy":
            number = signal.SIGHUP if self.kind == "nginx" else signal.SIGUSR2
            # While HAProxy starts or reloads it ignores the signal.
            self._wait_until(lambda: self._workers() and self._catches(number))
            before = self._workers()
            self.process.send_signal(number)
            self._wait_until(lambda: (now := self._workers()) and not now & before)
            return
        done = subprocess.run(
            [self.program, "reload", "--force", "--adapter", "caddyfile", "--config", self.directory / "Caddyfile", "--address", self._admin],
            env=self._environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr

    def _catches(self, number):
        caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{self.process.pid}/status").read_text(), re.M)
        return int(caught[1], 16) >> (number - 1) & 1

    def _workers(self):
        """The processes that take new connections; those of before a reload serve theirs to the end."""
        if self.kind == "haproxy":
            log = (self.directory / "log").read_text()
            forked = set(re.findall(r"New worker \((\d+)\) forked", log))
            return forked - set(re.findall(r"\((\d+)\) : Proxy \S+ stopped", log))
        workers = set()
        for number in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                if "is shutting down" not in Path(f"/proc/{number}/cmdline").read_text():
                    workers.add(number)
        return workers

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def through(proxy, path, origin, headers=None, source=None):
    """A connection to the proxy, from an address of this machine's own."""
    options = {"local_addr": (source, 0)} if source else {}
    return connect(
        f"wss://{proxy.host}{path}", host=proxy.address, ssl=trusting(), proxy=None, compression=None, ping_interval=None,
        open_timeout=60, origin=origin, additional_headers=headers, **options)


class Person:
    """A signed-in browser behind the proxy."""

    def __init__(self, socket):
        self.socket, self.count = socket, 0

    @classmethod
    async def sign_in(cls, proxy, user, origin=None, path="/chat/ws", source=None, token=None, **headers):
        socket = await through(proxy, path, origin or f"https://{proxy.host}", headers, source)
        self = cls(socket)
        proxy.people.append(self)
        await self.call("login", token=token or make_token(user), platform="Web")
        return self

    async def call(self, method, **params):
        self.count += 1
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}))
        while True:
            frame = json.loads(await within(self.socket.recv(), 60))
            if frame.get("id") == self.count:
                assert "result" in frame, frame
                return frame["result"]

    async def event(self, method):
        while True:
            frame = json.loads(await within(self.socket.recv(), 60))
            if frame.get("method") == method:
                return frame["params"]


class Talk:
    """People who ask one thing after the other, from entering to leaving the block: none may be dropped."""

    def __init__(self, people):
        self.people = people

    async def __aenter__(self):
        self.until = asyncio.Event()
        self.tasks = [asyncio.create_task(self._talk(person)) for person in self.people]

    async def _talk(self, person):
        count = 0
        while not self.until.is_set():
            await person.call("ping")
            count += 1
        return count

    async def __aexit__(self, *_):
        self.until.set()
        assert all(count > 0 for count in await asyncio.gather(*self.tasks))


@pytest.fixture
async def start(make_server, tmp_path):
    """A server and a proxy before it: `start(kind)`. `unix` puts a Unix socket between them, `tls` leaves TLS to
    the server, `listen` is the server's address."""
    made = []

    def make(kind, settings=None, unix=False, tls=False, listen="127.0.0.1:0", **options):
        files = make_certificate(tmp_path, name=f"proxy-{len(made)}")
        listen = f"unix:{tmp_path}/s{len(made)}" if unix else listen
        own = make_server({**SETTINGS, **(settings or {}), **(files if tls else {})}, listen=listen)
        made.append(Proxy(kind, tmp_path / f"proxy-{len(made)}", own.address, files, **options))
        made[-1].files = files
        return own, made[-1]

    yield make
    for proxy in made:
        await asyncio.gather(*(person.socket.close() for person in proxy.people))
        if proxy.process.poll() is None:
            proxy.end()


def without_upgrades(text):
    """Of each proxy's file: the field by which an upgrade is asked for does not get through."""
    haproxy, caddy = "http-request del-header Forwarded", "header_up -Forwarded"
    changes = {
        "proxy_set_header Upgrade $http_upgrade;": "", "proxy_set_header Connection $connection_upgrade;": "",
        haproxy: f"{haproxy}\n    http-request del-header Upgrade", caddy: f"{caddy}\n\t\theader_up -Upgrade"}
    changed = text
    for old, new in changes.items():
        changed = changed.replace(old, new)
    assert changed != text
    return changed


def addresses(own, user):
    return [one["address"] for one in own.rpc("listSessions", userID=user)["result"]["sessionList"]]
