"""The configurations of Scripts/deploy, as they are but for ports, paths and the certificate: the
proxies of the system in front of the server. Without them the tests are skipped."""
import asyncio
import http.client
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

from harness.server import REPOSITORY
from harness.tokens import make_token
from test_tls import certificate  # noqa: F401 - a fixture

DEPLOY = REPOSITORY / "Scripts/deploy"
SETTINGS = {"path": "/chat/ws", "trustedProxies": "127.0.0.1,::1", "demo": "true", "limits.connectionsPerAddress": 0}
PROXIES = ["nginx", "haproxy", "caddy"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def replaced(name, **changes):
    """The file's text with each of these replaced, which must be there."""
    text = (DEPLOY / name).read_text()
    for old, new in changes.values():
        assert old in text, (name, old)
        text = text.replace(old, new)
    return text


class Proxy:
    """A proxy under one of the files; `reload` is what an operator does after a change."""

    def __init__(self, kind, directory, server, files, file=None, unix=None, edit=lambda text: text):
        self.program = shutil.which(kind, path="/usr/sbin:/usr/bin:/usr/local/bin")
        if not self.program:
            pytest.skip(f"there is no {kind}")
        self.kind, self.directory, self.port = kind, directory, free_port()
        self.host = f"localhost:{self.port}"
        self.edit = edit
        self.people = []
        directory.mkdir()
        write = {"nginx": self._nginx, "haproxy": self._haproxy, "caddy": self._caddy}[kind]
        write(server, files, file, unix)

    def _nginx(self, server, files, _, unix):
        target = ("server 127.0.0.1:8080;", f"server {unix or server.address};")
        text = replaced(
            "nginx.conf", target=target, listen=("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
            certificate=("/etc/throng/certificate.pem", str(files["tls.certificateFile"])),
            key=("/etc/throng/key.pem", str(files["tls.keyFile"])), pid=("/run/nginx.pid", f"{self.directory}/pid"),
            log=("/var/log/nginx/access.log", f"{self.directory}/access.log"))
        (self.directory / "nginx.conf").write_text(self.edit(text))
        # Its workers' usual user is in no group of the server's.
        more = "daemon off; error_log stderr; user root;" if os.geteuid() == 0 else "daemon off; error_log stderr;"
        self._run(self.program, "-p", self.directory, "-e", "stderr", "-c", self.directory / "nginx.conf", "-g", more)

    def _haproxy(self, server, files, file, unix):
        both = self.directory / "haproxy.pem"
        both.write_text(files["tls.certificateFile"].read_text() + files["tls.keyFile"].read_text())
        changes = {"target": ("server throng 127.0.0.1:8080", f"server throng {('unix@' + unix[5:]) if unix else server.address}"),
                   "bind": ("bind :443", f"bind 127.0.0.1:{self.port}")}
        if file is None:
            changes["certificate"] = ("/etc/throng/haproxy.pem", str(both))
        (self.directory / "haproxy.cfg").write_text(replaced(file or "haproxy.cfg", **changes))
        self._run(self.program, "-W", "-db", "-f", self.directory / "haproxy.cfg")

    def _caddy(self, server, files, _, unix):
        site = "{$CHAT_HOST:chat.example.com} {"
        text = replaced("Caddyfile", site=(site, f"{site}\n\ttls {files['tls.certificateFile']} {files['tls.keyFile']}"))
        file = self.directory / "Caddyfile"
        file.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text)
        self._run(self.program, "run", "--adapter", "caddyfile", "--config", file, CHAT_HOST=f"https://{self.host}",
                  THRONG=f"unix/{unix[5:]}" if unix else server.address)

    def _run(self, *command, **variables):
        self.log = open(self.directory / "log", "w")
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=self.directory, stdout=self.log, stderr=subprocess.STDOUT,
            env={"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": str(self.directory), **variables})
        deadline = time.monotonic() + 30
        while True:
            assert self.process.poll() is None and time.monotonic() < deadline, (self.directory / "log").read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def reload(self):
        self.process.send_signal(signal.SIGHUP if self.kind == "nginx" else signal.SIGUSR2)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@pytest.fixture
async def start(make_server, certificate, tmp_path):  # noqa: F811
    """A server and a proxy before it: `start(kind)`."""
    made = []

    def make(kind, settings=None, unix=False, file=None, tls=False, **options):
        files = certificate(name=f"proxy-{len(made)}")
        listen = f"unix:{tmp_path}/s{len(made)}" if unix else "127.0.0.1:0"
        own = make_server({**SETTINGS, **(settings or {}), **(files if tls else {})}, listen=listen)
        made.append(Proxy(kind, tmp_path / f"proxy-{len(made)}", own, files, file, listen if unix else None, **options))
        return own, made[-1]

    yield make
    for proxy in made:
        await asyncio.gather(*(person.socket.close() for person in proxy.people))
        if hasattr(proxy, "process"):
            proxy.end()


def trusting():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def through(proxy, path, origin, headers=None):
    return connect(
        f"wss://{proxy.host}{path}", host="127.0.0.1", ssl=trusting(), proxy=None, compression=None, ping_interval=None,
        open_timeout=60, origin=origin, additional_headers=headers)


class Person:
    """A signed-in browser behind the proxy."""

    def __init__(self, socket):
        self.socket, self.count = socket, 0

    @classmethod
    async def sign_in(cls, proxy, user, origin=None, path="/chat/ws", **headers):
        socket = await through(proxy, path, origin or f"https://{proxy.host}", headers)
        self = cls(socket)
        proxy.people.append(self)
        await self.call("login", token=make_token(user), platform="Web")
        return self

    async def call(self, method, **params):
        self.count += 1
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}))
        while True:
            frame = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
            if frame.get("id") == self.count:
                assert "result" in frame, frame
                return frame["result"]

    async def event(self, method):
        while True:
            frame = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
            if frame.get("method") == method:
                return frame["params"]


def addresses(own, user):
    return [one["address"] for one in own.rpc("listSessions", userID=user)["result"]["sessionList"]]


@pytest.mark.parametrize("unix", [False, True], ids=["tcp", "unix"])
@pytest.mark.parametrize("kind", PROXIES)
async def test_two_people_talk_through_the_proxy(start, kind, unix):
    own, proxy = start(kind, unix=unix)
    alice, bob = [await Person.sign_in(proxy, user) for user in ("alice", "bob")]
    group = (await alice.call("createGroup", groupType="Public", groupName="g", joinMode="Any"))["groupID"]
    await bob.call("joinGroup", groupID=group)
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="x" * 12000)
    got = await bob.event("onRecvNewMessage")
    assert got["message"]["msgID"] == sent["msgID"] and got["message"]["text"] == "x" * 12000
    assert addresses(own, "alice") == ["127.0.0.1"]
    await alice.call("logout")
    await asyncio.wait_for(alice.socket.wait_closed(), 20)
    assert alice.socket.close_code == 1000


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_client_cannot_choose_its_address_or_host(start, kind):
    own, proxy = start(kind)
    lies = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9;host=evil.example", "X-Forwarded-Host": "evil.example"}
    await Person.sign_in(proxy, "alice", **lies)
    assert addresses(own, "alice") == ["127.0.0.1"]
    with pytest.raises(Exception, match="403"):
        await Person.sign_in(proxy, "bob", origin="https://evil.example", **lies)
    own.wait_until(lambda: "upgrade refused" in own.log, "the line")
    line = next(json.loads(line) for line in own.log.splitlines() if "upgrade refused" in line)
    assert line["origin"] == "https://evil.example" and line["host"] == proxy.host and line["address"] == "127.0.0.1"


@pytest.mark.parametrize("kind", PROXIES)
async def test_the_demo_page_is_below_the_path(start, kind):
    own, proxy = start(kind)

    def get(path):
        connection = http.client.HTTPSConnection("localhost", proxy.port, timeout=20, context=trusting())
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
    status, page = await asyncio.to_thread(get, "/chat/")
    assert status == 200 and '<meta name="socket" content="ws">' in page
    token = re.search(r'<meta name="guest-token" content="([^"]*)">', page)[1]
    guest = await through(proxy, f"/chat/ws?token={token}", f"https://{proxy.host}")
    assert json.loads(await guest.recv())["method"] == "onConnectSuccess"
    await guest.close()
    log = proxy.directory / "access.log"
    if kind == "nginx":
        own.wait_until(lambda: "/chat/ws" in log.read_text(), "the line of the access log")
        assert token not in log.read_text()


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_thousand_connections(start, kind):
    own, proxy = start(kind, {"limits.signInsPerSecond": 0, "heartbeat.timeout": 60})
    people = []
    for _ in range(20):
        people += await asyncio.gather(*(Person.sign_in(proxy, f"user-{len(people) + n}") for n in range(50)))
    assert own.metric("throng_sessions") == 1000
    for result in await asyncio.gather(*(person.call("ping") for person in people)):
        assert result["serverTime"]
    await asyncio.gather(*(person.socket.close() for person in people))


@pytest.mark.parametrize("kind", ["nginx", "haproxy"])
async def test_a_reload_of_the_proxy_under_traffic(start, kind):
    """Connections of before go on through the old process, new ones come through the new."""
    own, proxy = start(kind)
    people = [await Person.sign_in(proxy, f"user-{number}") for number in range(20)]
    until = asyncio.Event()

    async def talk(person):
        count = 0
        while not until.is_set():
            await person.call("ping")
            count += 1
        return count
    talking = [asyncio.create_task(talk(person)) for person in people]
    for number in range(3):
        proxy.reload()
        await asyncio.sleep(0.5)  # the proxy says nothing when it has done so
        late = await Person.sign_in(proxy, f"late-{number}")
        await late.call("ping")
    until.set()
    assert all(count > 0 for count in await asyncio.gather(*talking))
    assert own.metric("throng_sessions") == 23


async def test_haproxy_passes_on_tls_behind_a_proxy_header(start):
    own, proxy = start("haproxy", {"proxyProtocol": "true"}, file="haproxy-tcp.cfg", tls=True)
    alice = await Person.sign_in(proxy, "alice", **{"X-Forwarded-For": "203.0.113.9"})
    # The announced source is 127.0.0.1, a trusted proxy here, so what it says counts.
    assert addresses(own, "alice") == ["203.0.113.9"]
    await alice.call("ping")


@pytest.mark.parametrize("kind", PROXIES)
async def test_the_limit_of_an_address_is_the_clients(start, kind):
    own, proxy = start(kind, {"limits.connectionsPerAddress": 2})
    await Person.sign_in(proxy, "alice")
    await Person.sign_in(proxy, "bob")
    with pytest.raises(Exception, match="4005|connection limit"):
        await Person.sign_in(proxy, "carol")


async def test_a_naive_nginx_is_told_which_setting_mends_it(start):
    """`proxy_pass` without more rewrites Host."""
    def naive(text):
        return re.sub(r"\n *proxy_set_header (X-Forwarded|Forwarded)[^\n]*", "", text)
    for edit, key in ((naive, "allowedOrigins"), (lambda text: text, "trustedProxies")):
        own, proxy = start("nginx", {"trustedProxies": ""}, edit=edit)
        with pytest.raises(Exception, match="403"):
            await Person.sign_in(proxy, "alice")
        own.wait_until(lambda: "upgrade refused" in own.log, "the line")
        line = next(json.loads(line) for line in own.log.splitlines() if "upgrade refused" in line)
        assert line["key"] == key and line["origin"] == f"https://{proxy.host}" and line["host"] == "throng"
        assert line["level"] == "warning"


def test_the_servers_file_is_right(tmp_path):
    from harness.server import run_throng
    done = run_throng("config", "check", "--config", DEPLOY / "throng.yaml", "--data-dir", tmp_path, cwd=tmp_path)
    assert done.stdout == "ok\n", done.stderr


def test_the_unit_is_one():
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(DEPLOY / "throng.service")], capture_output=True, text=True)
    # The program may not be installed here.
    faults = [line for line in done.stderr.splitlines() if "throng.service" in line and "is not executable" not in line]
    assert not faults, done.stderr


def test_the_composition_is_yaml_with_known_keys():
    text = (DEPLOY / "compose.yaml").read_text()
    for variable in re.findall(r"(THRONG_[A-Z_]+):", text):
        assert variable in ("THRONG_LISTEN", "THRONG_PATH", "THRONG_TRUSTED_PROXIES")
    assert Path(DEPLOY / "../../Dockerfile").exists()
