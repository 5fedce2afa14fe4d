"""The headers by which proxies tell of a client: Forwarded, X-Forwarded-For, X-Forwarded-Host (Protocol.md, "Client
addresses" and "Origins"). The rules stand in ForwardedClientTests; these tests send real heads."""
import json

import pytest

from harness.raw import RawSocket
from harness.tokens import make_token

PROXIES = {"trustedProxies": "127.0.0.0/8,10.0.0.0/8", "log.level": "debug"}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    from conftest import SHARED
    from harness.server import Server

    server = Server(tmp_path_factory.mktemp("proxied") / "data", {**SHARED, **PROXIES}).start()
    yield server
    server.kill()


class Upgrade:
    """Status, body, and the address that the server has for the client."""

    count = 0

    @classmethod
    async def ask(cls, server, *headers):
        cls.count += 1
        self, user = cls(), f"client-{cls.count}"
        raw = await RawSocket.open(server, headers=[*headers, f"Authorization: Bearer {make_token(user)}"])
        self.status, self.address, self.body = raw.status, None, ""
        if raw.status == 101:
            await raw.read()
            (session,) = server.rpc("listSessions", userID=user)["result"]["sessionList"]
            self.address = session["address"]
        else:
            self.body = (await raw.reader.readexactly(int(raw.headers["content-length"]))).decode()
        await raw.cut()
        return self


@pytest.mark.parametrize("headers", [
    ["X-Forwarded-Host: chat.example"], ["X-Forwarded-Host: evil.example, chat.example"],
    ["X-Forwarded-Host: evil.example", "x-forwarded-host:chat.example"], ["Forwarded: host=chat.example"],
    ["Forwarded: for=192.0.2.1;host=chat.example"], ['forwarded: for="[2001:db8::1]:80" ; Host="chat.example:443"'],
    ["Forwarded: for=192.0.2.9;host=evil.example", "Forwarded: for=192.0.2.1;host=chat.example"],
    ["X-Forwarded-For: 192.0.2.1, 10.0.0.2", "X-Forwarded-Host: chat.example, inner.example"],
    ["X-Forwarded-Host: evil.example", "Forwarded: host=chat.example"],
])
async def test_the_forwarded_host_is_compared_with_the_origin(own, headers):
    assert (await Upgrade.ask(own, "Origin: https://chat.example", *headers)).status == 101
    assert (await Upgrade.ask(own, "Origin: https://evil.example", *headers)).status == 403


@pytest.mark.parametrize("headers", [
    [], ["Forwarded: for=192.0.2.1", "X-Forwarded-Host: chat.example"], ["Forwarded: host=other.example"],
    ["X-Forwarded-For: 192.0.2.1, 10.0.0.2", "X-Forwarded-Host: chat.example"], ['Forwarded: host="chat.example'],
])
async def test_where_the_hop_names_no_host_the_own_counts(own, headers):
    assert (await Upgrade.ask(own, "Origin: https://chat.example", *headers)).status == 403
    if "other" not in str(headers):
        assert (await Upgrade.ask(own, f"Origin: http://{own.address}", *headers)).status == 101


@pytest.mark.parametrize("headers, address", [
    (["Forwarded: for=192.0.2.1"], "192.0.2.1"), (['Forwarded: For="[2001:DB8::1]:4711";proto=https'], "2001:db8::1"),
    (["Forwarded: for=192.0.2.1, for=10.0.0.2"], "192.0.2.1"), (["Forwarded: for=unknown"], "127.0.0.1"),
    (["Forwarded: for=_hidden, for=10.0.0.2"], "10.0.0.2"), (["Forwarded: proto=https"], "127.0.0.1"),
    (["X-Forwarded-For: 192.0.2.9", "Forwarded: for=192.0.2.1"], "192.0.2.1"),
    (["X-Forwarded-For: 192.0.2.9", "Forwarded: host=a"], "127.0.0.1"),
    # A proxy may add a line of its own behind the client's.
    (["Forwarded: for=192.0.2.9", "Accept: */*", "Forwarded: for=192.0.2.1"], "192.0.2.1"),
    (["Forwarded: for=192.0.2.9", "X-B: b", "Cookie: c", "X-B: b", "FORWARDED:for=192.0.2.1"], "192.0.2.1"),
    (["X-Forwarded-For: 192.0.2.9", "X-Forwarded-For: 192.0.2.1"], "192.0.2.1"),
])
async def test_the_forwarded_address_is_the_clients(own, headers, address):
    assert (await Upgrade.ask(own, *headers)).address == address


FORWARDED = pytest.mark.parametrize("name", ["X-Forwarded-For: 192.0.2.", "Forwarded: for=192.0.2."])


@pytest.mark.parametrize("line", ["Hos: a", "X-Forwarded: a", "Odd : a"])
@FORWARDED
async def test_a_head_in_which_a_proxys_line_is_hidden_is_refused(own, line, name):
    """The library reads the line behind these as a part of it; it need not be one that counts."""
    refused = await Upgrade.ask(own, name + "9", line, name + "1", "Accept-Language: de")
    assert refused.status == 400 and "header field" in refused.body
    if line != "Odd : a":
        assert (await Upgrade.ask(own, name + "9", name + "1", line, "Accept-Language: de")).address == "192.0.2.1"


@pytest.mark.parametrize("line", [
    "Accept:", "Cookie: \t", "X-Long: " + "x" * 8200, "User-Agent: " + "x" * 8200], ids=lambda line: line[:20])
@FORWARDED
async def test_a_head_in_which_a_proxys_line_may_be_hidden_names_nobody(own, line, name):
    upgrade = await Upgrade.ask(own, name + "9", line, name + "1", "Accept-Language: de")
    assert upgrade.address in ("127.0.0.1", "192.0.2.1") and upgrade.status == 101


async def test_a_query_of_any_kind_does_not_hide_the_fields(own):
    for query in ("", "?", "?a", "?a=b&c=d", "?&&", "?a=%20%26&b", "?a=b;c=d"):
        raw = await RawSocket.open(own, path="/ws" + query, headers=[
            "Origin: https://chat.example", "Forwarded: for=192.0.2.1;host=chat.example"])
        assert raw.status == 101, query
        await raw.cut()


async def test_from_others_the_headers_do_not_count(make_server):
    own = make_server({"trustedProxies": "10.0.0.0/8"})
    forwarded = ["Forwarded: for=192.0.2.1;host=chat.example"]
    assert (await Upgrade.ask(own, *forwarded)).address == "127.0.0.1"
    refused = await Upgrade.ask(own, "Origin: https://chat.example", *forwarded)
    assert refused.status == 403 and "trustedProxies" in refused.body


async def test_a_refused_origin_names_the_key_that_would_allow_it(make_server):
    """A proxy that rewrites Host tells the host elsewhere, or not at all."""
    own = make_server()
    rewritten = await Upgrade.ask(own, "Origin: https://chat.example")
    assert rewritten.status == 403 and "allowedOrigins" in rewritten.body
    told = await Upgrade.ask(own, "Origin: https://told.example", "X-Forwarded-Host: told.example")
    assert told.status == 403 and "trustedProxies" in told.body
    own.wait_until(lambda: own.log.count("upgrade refused") == 2, "both lines")
    lines = [json.loads(line) for line in own.log.splitlines() if "upgrade refused" in line]
    assert [line["key"] for line in lines] == ["allowedOrigins", "trustedProxies"]
    assert [line["origin"] for line in lines] == ["https://chat.example", "https://told.example"]
    assert all(line["host"] == own.address and line["level"] == "warning" for line in lines)
    own.metric_becomes("throng_upgrades_refused_total", 2, reason="origin")
    # With that key it is allowed.
    assert (await Upgrade.ask(make_server({"allowedOrigins": "https://chat.example"}), "Origin: https://chat.example")).status == 101
    trusting = make_server({"trustedProxies": "127.0.0.1"})
    assert (await Upgrade.ask(trusting, "Origin: https://told.example", "X-Forwarded-Host: told.example")).status == 101


async def test_refused_http_tells_the_clients_address(make_server):
    # The lines of a second are few: no other test's come before this one's.
    own = make_server(PROXIES)
    answer = own.http("GET", "/nothing", headers={"Forwarded": "for=192.0.2.77"}, public=True)
    assert answer.status == 404
    own.wait_until(lambda: any('"192.0.2.77"' in line and "HTTP request refused" in line for line in own.log.splitlines()), "the line")
