"""The configurations of Scripts/deploy, as they are but for ports, paths and the certificate: what people do
through the proxies."""
import asyncio
import http.client
import json
import os
import re
import subprocess
import sys

import pytest

from harness.event_stream import ask
from harness.limits import IS_SHORT
from harness.proxy import PROXIES, Person, addresses, start, through, trusting  # noqa: F401 - a fixture
from harness.server import BINARY, REPOSITORY
from harness.waiting import within


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
    await within(alice.socket.wait_closed(), 20)
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


# What each file does about a Forwarded of the client.
REMOVALS = {"nginx": 'proxy_set_header Forwarded "";', "haproxy": "http-request del-header Forwarded", "caddy": "header_up -Forwarded"}
LIES = {"Forwarded": "for=203.0.113.9;host=evil.example", "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "evil.example"}


@pytest.mark.parametrize("kind", PROXIES)
async def test_behind_a_proxy_that_does_not_know_forwarded_the_key_keeps_the_client_from_choosing(start, kind):
    def naive(text):
        assert REMOVALS[kind] in text
        return text.replace(REMOVALS[kind], "")
    own, proxy = start(kind, edit=naive)
    await Person.sign_in(proxy, "alice", source="127.0.0.2", **LIES)
    assert addresses(own, "alice") == ["127.0.0.2"]
    with pytest.raises(Exception, match="403"):
        await Person.sign_in(proxy, "bob", origin="https://evil.example", **LIES)
    # Without the key the client's own header wins, which the start says.
    own, proxy = start(kind, {"forwardedHeader": "auto"}, edit=naive)
    await Person.sign_in(proxy, "alice", source="127.0.0.2", origin="https://evil.example", **LIES)
    assert addresses(own, "alice") == ["203.0.113.9"]
    own.wait_until(lambda: "forwardedHeader is auto" in own.log, "the warning")


# Proxies that tell by Forwarded, and pass on the rest.
FORWARDED = {
    "nginx": (r" *proxy_set_header (?:X-Forwarded|Forwarded)[^\n]*", 'proxy_set_header Forwarded "for=$remote_addr;host=$http_host";'),
    "haproxy": (r" *(?:http-request (?:del|set)-header \S*Forwarded[^\n]*|option forwardfor)",
                '    http-request set-header Forwarded "for=%[src];host=%[req.hdr(Host)]"')}


@pytest.mark.parametrize("kind", FORWARDED)
async def test_behind_a_proxy_that_tells_by_forwarded_nothing_else_counts(start, kind):
    pattern, line = FORWARDED[kind]

    def edit(text):
        lines = iter([line])
        return re.sub(pattern, lambda _: next(lines, ""), text)
    own, proxy = start(kind, {"forwardedHeader": "forwarded"}, edit=edit)
    await Person.sign_in(proxy, "alice", source="127.0.0.2", **LIES)
    assert addresses(own, "alice") == ["127.0.0.2"]
    with pytest.raises(Exception, match="403"):
        await Person.sign_in(proxy, "bob", origin="https://evil.example", **LIES)
    assert "forwardedHeader is auto" not in own.log


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


async def test_haproxy_passes_on_tls_behind_a_proxy_header(start):
    own, proxy = start("haproxy", {"proxyProtocol": "true"}, file="haproxy-tcp.cfg", tls=True)
    alice = await Person.sign_in(proxy, "alice", **{"X-Forwarded-For": "203.0.113.9"})
    # The announced source is 127.0.0.1, a trusted proxy here, so what it says counts.
    assert addresses(own, "alice") == ["203.0.113.9"]
    await alice.call("ping")


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


def snippet():
    """The `location` of GettingStarted.md, "Behind a proxy"."""
    page = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/GettingStarted.md").read_text()
    return re.search(r"```\n(location /chat/ \{.*?\n\})\n```", page, re.S)[1]


async def test_the_snippet_of_getting_started_works(start):
    """It maps a path to the server's own, and passes on `Host`."""
    def edit(text):
        return re.sub(r"location /chat/ \{.*?\n        \}", snippet().replace("http://127.0.0.1:8080/", "http://throng/"), text, flags=re.S)
    own, proxy = start("nginx", {"path": "/ws", "trustedProxies": "127.0.0.1"}, edit=edit)
    await Person.sign_in(proxy, "alice", source="127.0.0.2")
    assert addresses(own, "alice") == ["127.0.0.2"]
    with pytest.raises(Exception, match="403"):
        await Person.sign_in(proxy, "bob", origin="https://evil.example")
    own.front = proxy
    refused = await ask(own, "GET", "/chat/events")
    assert refused.headers["content-type"] == "text/event-stream" and "70003" in refused.text.split("event: close")[1]
    assert (await ask(own, "POST", "/chat/rpc")).status == 401


# One file of tests for each main flow; `server` of their fixtures is behind the proxy.
MAIN_FLOWS = ["messages"] if IS_SHORT else ["sign_in", "join_quit", "messages", "history", "sync", "attributes"]


@pytest.mark.one_process("it runs this suite again")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", PROXIES)
def test_the_main_flows_pass_through_the_proxy(kind, tmp_path):
    files = [f"Tests/Live/test_{name}.py" for name in MAIN_FLOWS]
    command = [sys.executable, "-B", "-m", "pytest", "-c", "Tests/Live/pytest.ini", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'flows'}"]
    environment = {**os.environ, "THRONG_BINARY": str(BINARY), "THRONG_LIVE_THROUGH": kind}
    done = subprocess.run([*command, *files], cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stdout[-6000:]
    if " passed" not in done.stdout:
        pytest.skip(f"there is no {kind}")
