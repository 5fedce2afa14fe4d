"""The demo page of the public listener, and the console of the internal one (Protocol.md,
"Pages")."""
import json
import re

import jwt
import pytest
from websockets.sync.client import connect

from harness.client import has
from harness.tokens import SECRET, expiry_of
from harness.world import info_of


@pytest.fixture
def demo(make_server):
    return make_server({"demo": "true"})


def demo_page(server):
    response = server.http("GET", "/", public=True)
    assert response.status == 200
    return response


def token_in(page):
    return re.search(r'<meta name="guest-token" content="([^"]*)">', page.text)[1]


def demand_closed(page):
    """A policy that lets in the page's own style and script, and connections to the server it came
    from: nothing else."""
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    nonce = re.fullmatch(r"'nonce-([A-Za-z0-9+/]{20,}={0,2})'", policy["script-src"])[1]
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["style-src"] == f"'nonce-{nonce}'" and policy["connect-src"] == "'self'"
    scripts = re.findall(r"<script\b[^>]*>", page.text)
    assert scripts and all(f'nonce="{nonce}"' in script and "src=" not in script for script in scripts)
    return nonce


# The demo page


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_without_demo_there_is_no_page(server, method):
    assert server.http(method, "/", public=True).status == 404


def test_the_demo_page_is_closed_to_everything_else(demo):
    nonces = {demand_closed(demo_page(demo)) for _ in range(3)}
    assert len(nonces) == 3, "a nonce is for one load"


def test_the_flag_turns_it_on(make_server):
    own = make_server(arguments=["--demo"])
    assert token_in(demo_page(own))
    assert "no effect" not in own.log
    own.wait_until(lambda: "demo page is on" in own.log, "what the page means")


def test_its_methods(demo):
    page, head = demo_page(demo), demo.http("HEAD", "/", public=True)
    assert head.status == 200 and head.body == b""
    assert head.headers["content-type"] == page.headers["content-type"]
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        refused = demo.http(method, "/", public=True)
        assert refused.status == 405
        assert [name.strip() for name in refused.headers["allow"].split(",")] == ["GET", "HEAD"]
    assert demo.http("GET", "/", public=False).status == 404
    assert demo.http("GET", "/index.html", public=True).status == 404


async def test_each_load_signs_in_another_guest_for_an_hour(make_server, make_world):
    demo = make_server({"demo": "true"}, frozen=True)
    world = make_world(demo)
    guests = set()
    for _ in range(3):
        token = token_in(demo_page(demo))
        client = await world.open()
        welcome = await client.call("login", token=token, platform="Web")
        assert re.fullmatch(r"guest-[a-z0-9]+", welcome["userID"])
        # A token's dates are whole seconds.
        assert welcome["tokenExpiresAt"] == expiry_of(token) == (int(demo.now) + 3600) * 1000
        guests.add(welcome["userID"])
    assert len(guests) == 3


async def test_two_pages_chat(demo, make_world):
    world = make_world(demo)
    pages = []
    for _ in range(2):
        # As a browser does: with the Origin of the page.
        client = await world.open(origin=f"http://{demo.address}")
        client.user = (await client.call("login", token=token_in(demo_page(demo)), platform="Web"))["userID"]
        pages.append(client)
    first, second = pages
    group = (await first.call("createGroup", groupType="Meeting", groupName="Tea table", memberChangeNotification=True))["groupID"]
    assert await second.call("joinGroup", groupID=group) == {"status": "Joined"}
    assert (await first.expect("onMemberEnter", groupID=group))["memberList"][0]["userID"] == second.user
    await second.call("sendGroupTextMessage", groupID=group, text="hello")
    await first.expect("onRecvNewMessage", groupID=group, message=has(sender=second.user, text="hello"))
    assert (await info_of(first, group))["owner"] == first.user


def test_a_guest_is_no_administrator(demo):
    token = token_in(demo_page(demo))
    assert "adm" not in jwt.decode(token, SECRET, algorithms=["HS256"])
    assert demo.post_rpc({"jsonrpc": "2.0", "id": 1, "method": "ping"}, token).status == 401


def test_no_token_stands_in_the_log(make_server):
    own = make_server({"demo": "true", "log.level": "trace"})
    tokens = [token_in(demo_page(own)) for _ in range(3)]
    own.http("GET", "/healthz")
    assert own.stop() == 0
    assert not [token for token in tokens if token in own.log or token.split(".")[2] in own.log]


def test_the_token_names_audience_and_issuer(make_server):
    own = make_server({"demo": "true", "auth.audience": "chat", "auth.issuer": "here"})
    claims = jwt.decode(token_in(demo_page(own)), SECRET, algorithms=["HS256"], audience="chat", issuer="here")
    assert claims["exp"] - claims["iat"] == 3600


def test_where_others_sign_there_is_no_token(make_server, tmp_path):
    """With keys of a JWKS file alone the server can sign nothing: the page asks for a token."""
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [{
        "kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256",
        # The example of RFC 7517, appendix A.1.
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }]}))
    own = make_server({"demo": "true", "auth.jwksFile": str(keys), "auth.algorithms": "ES256"}, secret=None)
    page = demo_page(own)
    assert token_in(page) == ""
    demand_closed(page)
    assert not (own.data_dir / "auth-secret").exists()


def test_a_page_may_ask_why_its_upgrade_was_refused(make_server):
    """Browsers do not show it the answer; a POST has the page's Origin (Protocol.md, "Public listener")."""
    own = make_server({"drain.duration": "3600"})

    def ask(origin, method="POST"):
        answer = own.http(method, "/ws", headers={"Origin": origin} if origin else {}, public=True)
        return answer.status, answer.text
    for method, allowed in (("POST", 405), ("GET", 426), ("OPTIONS", 405)):
        status, text = ask("http://evil.example", method)
        assert status == 403 and text.startswith("403: the Origin does not match the Host; allowedOrigins names"), text
        assert ask(f"http://{own.address}", method)[0] == ask(None, method)[0] == allowed
    own.metric_becomes("throng_http_refused_total", 3, status="403")
    own.metric_becomes("throng_upgrades_refused_total", 0)  # none was asked for
    # It keeps the drain from its end.
    with connect(f"ws://{own.address}/ws", proxy=None, open_timeout=60, ping_interval=None):
        own.terminate()
        own.wait_until(lambda: ask(None)[0] == 503, "the drain")
        assert ask("http://evil.example") == (503, "503: the server is draining; try again later\n")


# The console


def test_the_console_is_closed_to_everything_else(server):
    page = server.http("GET", "/console")
    assert page.status == 200 and "Throng console" in page.text
    demand_closed(page)


def test_the_consoles_methods(server):
    head = server.http("HEAD", "/console")
    assert head.status == 200 and head.body == b"" and head.headers["content-type"] == "text/html; charset=utf-8"
    refused = server.http("POST", "/console", "{}")
    assert refused.status == 405 and [name.strip() for name in refused.headers["allow"].split(",")] == ["GET", "HEAD"]
    assert server.http("GET", "/console/x").status == 404


def test_the_console_is_not_on_the_public_listener(demo):
    for method in ("GET", "HEAD", "POST"):
        assert demo.http(method, "/console", public=True).status == 404


def test_the_console_holds_no_credential(make_server):
    own = make_server({"admin.apiKey": "an-api-key-of-the-live-tests-0123456789", "demo": "true"})
    page = own.http("GET", "/console")
    assert "an-api-key" not in page.text and "eyJ" not in page.text
