"""Keys of tokens that are read from a URL (Protocol.md, "Keys at a URL")."""
import asyncio
import json
import os
import signal
import threading

import pytest

from harness.http_peer import HTTPAnswer
from harness.keys_server import KeysServer, TokenKey
from harness.tokens import make_token

NOT_YET = "the keys of auth.jwksURL were not read yet"


@pytest.fixture
def key():
    return TokenKey("first")


@pytest.fixture
def keys(key):
    with KeysServer(key) as made:
        yield made


def lines(own, text):
    return [json.loads(line) for line in own.log.splitlines() if f'"{text}"' in line]


def reload(own):
    for process in own.processes:
        os.kill(process, signal.SIGHUP)


async def soon(own, condition, what):
    await asyncio.to_thread(own.wait_until, condition, what)


# The set


async def test_the_keys_at_the_url_and_the_secret_sign_in(make_server, make_world, key, keys):
    own = make_server(keys.settings)
    world = make_world(own)
    assert await world.login_code(key.token("alice")) == 0
    assert await world.login_code(make_token("alice")) == 0
    assert await world.login_code(key.token("alice", ttl=-60)) == 70001
    stranger = TokenKey(key.kid)
    assert await world.login_code(stranger.token("alice")) == 70009
    nodes = len(own.node_addresses)
    assert keys.count == nodes, "no token has caused a reading"
    own.metric_becomes("throng_jwks_reads_total", nodes, result="good")
    own.metric_becomes("throng_jwks_keys", nodes)
    own.metric_becomes("throng_jwks_age_seconds", lambda age: 0 <= age < 600)


async def test_a_backend_signs_in_by_them_too(make_server, key, keys):
    own = make_server(keys.settings)
    call = {"jsonrpc": "2.0", "id": 1, "method": "getStats"}
    assert "result" in own.post_rpc(call, key.token("backend", adm=True)).json()
    new = TokenKey("new")
    keys.keys.append(new)
    assert "result" in own.post_rpc(call, new.token("backend", adm=True)).json(), "it waits for the reading"
    assert own.post_rpc(call, new.token("backend")).status == 401


async def test_a_sign_in_waits_for_the_reading_that_it_caused(make_server, make_world, key, keys):
    own = make_server(keys.settings)
    world = make_world(own)
    session = await world.session("bob", token=key.token("bob"))
    before, keys.gate, new = keys.count, threading.Event(), TokenKey("second")
    keys.keys = [new]
    signing_in = asyncio.ensure_future(world.login_code(new.token("alice")))
    await asyncio.to_thread(keys.wait_for_requests, before + 1)
    # Others go on.
    await session.call("ping")
    assert await world.login_code(make_token("carl")) == 0 and not signing_in.done()
    keys.gate.set()
    assert await signing_in == 0
    assert await world.login_code(key.token("alice")) == 70009, "that key is gone"
    await session.call("ping")


@pytest.mark.one_process("readings are those of a node")
async def test_tokens_cause_one_reading_in_ten_seconds(make_server, make_world, key, keys):
    own = make_server(keys.settings, frozen=True)
    world = make_world(own)
    tokens = [TokenKey(f"unknown-{number}").token("alice", now=own.now) for number in range(12)]
    assert set(await asyncio.gather(*(world.login_code(token) for token in tokens))) == {70009}
    # A token that came while the reading of another was under way may not cause one of its own.
    assert keys.count == 2
    await own.advance(9)
    assert await world.login_code(tokens[0]) == 70009 and keys.count == 2
    new = TokenKey("new")
    keys.keys.append(new)
    await own.advance(1)
    assert await world.login_code(new.token("alice", now=own.now)) == 0 and keys.count == 3


@pytest.mark.one_process("readings are those of a node")
async def test_it_is_read_again_at_its_time(make_server, make_world, key, keys):
    own = make_server({**keys.settings, "auth.jwksRefresh": "60s"}, frozen=True)
    world, removed = make_world(own), key
    keys.keys = [TokenKey("other")]
    assert await world.login_code(removed.token("alice", now=own.now)) == 0
    await own.advance(59)
    assert keys.count == 1
    await own.advance(1)
    await soon(own, lambda: len(lines(own, "the keys of auth.jwksURL were read")) == 2, "the second set")
    assert await world.login_code(removed.token("alice", now=own.now)) == 70009


async def test_a_reload_reads_it(make_server, make_world, key, keys):
    own = make_server({**keys.settings, "auth.jwksRefresh": "7d"})
    world, nodes = make_world(own), len(own.node_addresses)
    keys.keys = [TokenKey("other")]
    reload(own)
    await soon(own, lambda: len(lines(own, "the keys of auth.jwksURL were read")) == 2 * nodes, "the second set")
    assert await world.login_code(key.token("alice")) == 70009


# Failures


def failures(own):
    return lines(own, "the keys of auth.jwksURL could not be read")


def documents(elsewhere):
    """What is no set, with a part of the reason."""
    oct_key = {"kty": "oct", "k": "AQAB", "kid": "o"}
    broken = {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "b"}
    return [
        (HTTPAnswer(b"", status=500), "the status is 500"),
        (HTTPAnswer(b"<html>Sign in</html>", content_type="text/html"), "no JSON Web Key Set"),
        (HTTPAnswer(b"{}"), "no JSON Web Key Set"),
        (HTTPAnswer(b'{"keys":[]}'), "holds no key"),
        (HTTPAnswer(json.dumps({"keys": [oct_key, broken]}).encode()), "holds no key"),
        (HTTPAnswer(b'{"keys":[],"x":"' + b"x" * (600 << 10) + b'"}'), "tooLarge"),
        (HTTPAnswer(b"", status=302, headers=[("location", elsewhere.url("/keys"))]), "no redirect is followed"),
        (HTTPAnswer(b"", status=301, headers=[("location", "file:///etc/passwd")]), "no redirect is followed"),
    ]


async def test_the_last_good_set_stays_while_it_cannot_be_read(make_server, make_world, key, keys):
    own = make_server({**keys.settings, "auth.jwksRefresh": "7d"})
    world = make_world(own)
    with KeysServer(TokenKey("theirs")) as elsewhere:
        for answer, reason in documents(elsewhere):
            before = len(failures(own))
            keys.given = answer
            reload(own)
            # A reading of the document before may end meanwhile.
            await soon(own, lambda: any(reason in line["error"] for line in failures(own)[before:]), reason)
            assert await world.login_code(key.token("alice")) == 0
        assert elsewhere.count == 0
    own.metric_becomes("throng_jwks_reads_total", lambda count: count >= 8, result="failed")
    assert all(own.http("GET", "/readyz", address=node).status == 200 for node in own.node_addresses)
    keys.given = None
    reload(own)
    await soon(own, lambda: len(lines(own, "the keys of auth.jwksURL were read")) > 1, "they are read again")


async def test_a_start_goes_on_without_them_and_is_not_ready(make_server, make_world, key):
    keys = KeysServer(key)
    own = make_server(keys.settings)
    try:
        world = make_world(own)
        assert lines(own, "the server starts without the keys of auth.jwksURL")
        ready = own.http("GET", "/readyz")
        assert ready.status == 503 and NOT_YET in ready.text
        assert own.http("GET", "/healthz").status == 200
        client = await world.open()
        frame = await client.exchange({"jsonrpc": "2.0", "id": "v", "method": "login", "params": {"token": key.token("alice")}})
        assert frame["error"]["code"] == 10002 and frame["error"]["data"]["temporary"]
        await client.closed(1013)
        own.metric_becomes("throng_jwks_keys", 0)
        keys.start()
        await soon(own, lambda: all(own.http("GET", "/readyz", address=a).status == 200 for a in own.node_addresses), "ready")
        assert await world.login_code(key.token("alice")) == 0
    finally:
        keys.stop()


def test_no_secret_of_the_url_is_told(make_server, key):
    with KeysServer(key) as keys:
        keys.given = HTTPAnswer(status=404)
        own = make_server({"auth.jwksURL": keys.url("/keys?key=hush")})
        assert failures(own) and "hush" not in own.log
