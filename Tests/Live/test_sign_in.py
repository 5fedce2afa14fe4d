"""Tokens and the three ways to bring them (Protocol.md, "Sign-in")."""
import base64
import hashlib
import hmac
import json
import time

import pytest

from harness.client import PATIENCE, Gone, Refused
from harness.tokens import OTHER_SECRET, SECRET, expiry_of, make_token, unsigned_token
from harness.waiting import within


def check_welcome(result, user, token):
    assert result["userID"] == user
    assert isinstance(result["sessionID"], str) and result["sessionID"]
    assert abs(result["serverTime"] - time.time() * 1000) < 60_000
    assert result["tokenExpiresAt"] == expiry_of(token)
    assert result["heartbeat"] == 25


@pytest.mark.parametrize("via", ["query", "header", "login"])
async def test_a_token_signs_in_in_three_ways(world, via):
    user = world.name("alice")
    token = make_token(user)
    alice = await world.session(user, token=token, via=via, platform="Web", deviceID="d1")
    check_welcome(alice.welcome, user, token)
    await alice.call("ping")


@pytest.mark.parametrize("via", ["query", "header"])
async def test_the_first_frame_after_an_upgrade_with_a_token_is_on_connect_success(world, via):
    alice = await world.user("alice", via=via)
    assert alice.frames[0]["method"] == "onConnectSuccess"


@pytest.mark.parametrize("platform", ["iOS", "Android", "Windows", "Mac", "Web", "Unknown", None])
async def test_every_platform_of_the_list_signs_in(world, platform):
    await world.user("alice", via="login", platform=platform)


async def test_another_platform_or_a_long_device_id_leaves_the_connection_open(world):
    client = await world.open()
    token = make_token(world.name("alice"))
    await client.refused(10004, "login", token=token, platform="Amiga")
    await client.refused(10004, "login", token=token, platform="ios")
    await client.refused(10004, "login", token=token, deviceID="é" * 256 + "x")
    await client.call("login", token=token, deviceID="é" * 256)


@pytest.mark.parametrize("query", [{"platform": "Amiga"}, {"deviceID": "x" * 513}])
async def test_a_bad_platform_or_device_id_on_the_upgrade_closes(world, query):
    client = await world.open(query={"token": make_token(world.name("alice")), **query})
    assert (await client.closed(4500)).startswith("10004")


async def test_before_sign_in_every_other_method_is_refused(world):
    client = await world.open()
    await client.refused(6014, "ping")
    await client.refused(6014, "createGroup", groupType=5)
    await client.refused(-32601, "noSuchMethod")
    await client.refused(-32602, "login")
    await client.call("login", token=make_token(world.name("alice")))
    await client.call("ping")


async def test_before_sign_in_a_connection_may_send_ten_requests(world):
    client = await world.open()
    for _ in range(10):
        await client.refused(6014, "ping")
    await client.refused(6014, "ping")
    await client.closed(4004)


async def test_the_eleventh_is_no_sign_in_either(world):
    client = await world.open()
    for _ in range(10):
        await client.refused(6014, "ping")
    await client.refused(7008, "login", token=make_token(world.name("alice")))
    await client.closed(4004)


async def test_a_connection_that_does_not_sign_in_within_ten_seconds_closes(frozen_world):
    client = await frozen_world.open()
    await frozen_world.server.advance(9.9)
    await client.refused(6014, "ping")
    await frozen_world.server.advance(0.3)
    await client.closed(4007)


def bad_tokens():
    """By name: a function that makes a refused token of a user, and its code (Protocol.md,
    "Tokens")."""
    return {
        "no JWT": (lambda user: "abc", 70003),
        "empty": (lambda user: "", 70003),
        "three dots": (lambda user: "...", 70003),
        "padding": (lambda user: make_token(user) + "=", 70003),
        "alg none": (unsigned_token, 70003),
        "an algorithm that is not configured": (lambda user: make_token(user, algorithm="HS512"), 70003),
        "no exp": (lambda user: make_token(user, exp=None), 70003),
        "exp no number": (lambda user: make_token(user, exp="soon"), 70003),
        "nbf to come": (lambda user: make_token(user, nbf=int(time.time()) + 600), 70003),
        "no sub": (lambda user: make_token(None), 70003),
        "an administrator on the public listener": (lambda user: make_token(user, adm=True), 70003),
        "expired": (lambda user: make_token(user, ttl=-60), 70001),
        "another key": (lambda user: make_token(user, secret=OTHER_SECRET), 70009),
        "a changed signature": (lambda user: make_token(user)[:-6] + "AAAAAA", 70009),
        "expired and another key": (lambda user: make_token(user, ttl=-60, secret=OTHER_SECRET), 70009),
    }


@pytest.mark.parametrize("name", bad_tokens())
async def test_a_bad_token_is_answered_with_its_code_and_closes(world, name):
    make, code = bad_tokens()[name]
    client = await world.open()
    await client.refused(code, "login", token=make(world.name("alice")))
    await client.closed(4500)


@pytest.mark.parametrize("name", ["no JWT", "expired", "another key", "an administrator on the public listener"])
async def test_a_bad_token_on_the_upgrade_closes_with_the_code_as_reason(world, name):
    make, code = bad_tokens()[name]
    token = make(world.name("alice"))
    by_query = await world.open(query={"token": token})
    by_header = await world.open(headers={"Authorization": f"Bearer {token}"})
    assert (await by_query.closed(4500)).startswith(str(code))
    assert (await by_header.closed(4500)).startswith(str(code))
    assert not by_query.frames and not by_header.frames


@pytest.mark.parametrize("user", ["x" * 33, "", "@alice", "administrator", "a b", "a\u007f", "ä", "a\nb"])
async def test_a_sub_outside_its_domain_is_malformed(world, user):
    client = await world.open()
    await client.refused(70003, "login", token=make_token(user))


@pytest.mark.parametrize("user", ["x" * 32, "!~{}\"'\\/?&=%", "Administrator", "a@b"])
async def test_a_sub_inside_its_domain_signs_in(world, user):
    alice = await world.session(user, platform="Web")
    assert alice.welcome["userID"] == user


async def test_clock_leeway_is_five_seconds(frozen_world):
    world, now = frozen_world, int(frozen_world.server.now)
    await world.user("soon", nbf=now + 5)
    await world.user("late", ttl=-4)
    for claims, code in (({"nbf": now + 6}, 70003), ({"ttl": -5}, 70001)):
        client = await world.open()
        await client.refused(code, "login", token=make_token(world.name("alice"), now=now, **claims))


async def test_aud_and_iss_are_ignored_unless_configured(world):
    await world.user("alice", aud="anything", iss="anybody")


async def test_aud_and_iss_are_demanded_when_configured(make_server, make_world):
    world = make_world(make_server({"auth.audience": "throng", "auth.issuer": "shop"}))
    await world.user("alice", aud="throng", iss="shop")
    await world.user("alice", aud=["other", "throng"], iss="shop")
    for claims in ({}, {"aud": "other", "iss": "shop"}, {"aud": "throng", "iss": "other"}, {"aud": "throng"}):
        client = await world.open()
        await client.refused(70003, "login", token=make_token("alice", **claims))


@pytest.fixture
def strict_world(make_server, make_world):
    """A world whose time stands still, on a server that delays the answers to bad tokens by two seconds."""
    # Of one loop: it checks tokens in the order in which they come.
    return make_world(make_server({"auth.failureDelay": 2, "loops": 1}, frozen=True))



async def demand_delay(world, client):
    """One more bad token is answered after two seconds, and so is what was sent behind it."""
    answers = [await client.start("login", token="abc"), await client.start("ping")]
    await client.pong()
    await world.user("behind")
    await world.server.advance(1.9)
    await client.pong()
    assert not any(answer.done() for answer in answers)
    await world.server.advance(0.3)
    assert (await within(answers[0], PATIENCE))["error"]["code"] == 70003
    return answers[1]


async def test_after_twenty_failures_each_further_answer_waits(strict_world):
    for _ in range(20):
        await (await strict_world.open()).refused(70003, "login", token="abc")
    for _ in range(2):
        client = await strict_world.open()
        behind = await demand_delay(strict_world, client)
        await client.closed(4500)
        with pytest.raises(Gone):
            await behind
    await strict_world.server.advance(10)
    await (await strict_world.open()).refused(70003, "login", token="abc")


async def test_bad_renewals_are_failures_too_and_the_answer_to_one_more_waits(strict_world):
    """On a session that is signed in: it lives on, and what was sent behind the renewal keeps its
    place."""
    alice = await strict_world.user("alice")
    for _ in range(20):
        await alice.refused(70003, "login", token="abc")
    behind = await demand_delay(strict_world, alice)
    assert (await within(behind, PATIENCE))["result"]["serverTime"] > alice.welcome["serverTime"] + 2000
    assert "sessionID" in await alice.call("login", token=make_token(alice.user, now=strict_world.server.now))
    # The address has failed, not the connection.
    await demand_delay(strict_world, await strict_world.open())


async def test_login_again_renews_and_keeps_the_session(world):
    user = world.name("alice")
    alice = await world.session(user, ttl=600, platform="iOS", deviceID="one")
    token = make_token(user, ttl=7200)
    again = await alice.call("login", token=token, platform="Amiga", deviceID="x" * 600)
    check_welcome(again, user, token)
    assert again["sessionID"] == alice.welcome["sessionID"]


async def test_a_renewed_session_outlives_its_old_token(frozen_world):
    renewed, witness = await frozen_world.user("alice", ttl=4), await frozen_world.user("bob", ttl=4)
    await renewed.call("login", token=make_token(renewed.user, now=frozen_world.server.now))
    await frozen_world.server.advance(4.2)
    await witness.closed(4006)
    await renewed.call("ping")


async def test_a_bad_renewal_is_an_error_and_the_session_lives_on(world):
    alice = await world.user("alice")
    await alice.refused(70001, "login", token=make_token(alice.user, ttl=-60))
    await alice.refused(70009, "login", token=make_token(alice.user, secret=OTHER_SECRET))
    await alice.refused(70003, "login", token="abc")
    await alice.refused(6015, "login", token=make_token(world.name("bob")))
    await alice.call("ping")


async def test_the_session_is_told_a_minute_before_its_token_ends_and_closed_when_it_does(frozen_world):
    server = frozen_world.server
    alice = await frozen_world.user("alice", ttl=90)
    end = alice.welcome["tokenExpiresAt"]
    await server.advance(end / 1000 - 60.1 - server.now)
    await alice.quiet("onUserSigExpired")
    await server.advance(0.3)
    assert await alice.expect("onUserSigExpired") == {"expiresAt": end}
    await server.advance(59.7)
    await alice.call("ping")
    await server.advance(0.3)
    await alice.closed(4006)


async def test_logout_answers_and_closes(world):
    alice = await world.user("alice")
    assert await alice.call("logout") == {}
    await alice.closed(1000)


async def test_a_token_is_never_written_to_the_log(make_server, make_world):
    own = make_server({"log.level": "debug"})
    world = make_world(own)
    good, bad = make_token("alice"), make_token("alice", secret=OTHER_SECRET)
    alice = await world.session("alice", token=good)
    group = await world.group(alice)
    await alice.call("sendGroupTextMessage", groupID=group, text="a very private sentence")
    client = await world.open(query={"token": bad})
    await client.closed(4500)
    await alice.call("logout")
    await alice.closed(1000)
    assert own.stop() == 0
    for secret in (good, bad, good.split(".")[2], bad.split(".")[2], SECRET, "a very private sentence"):
        assert secret not in own.log


async def test_a_closed_session_takes_no_requests(world):
    alice = await world.user("alice")
    await alice.call("logout")
    await alice.closed(1000)
    with pytest.raises((Gone, Refused)):
        await alice.call("ping")


# Unusual tokens, batches, and several at once

def login(id, token):
    return {"jsonrpc": "2.0", "id": id, "method": "login", "params": {"token": token}}


PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}


MALFORMED = {
    "an exp beyond every clock": {"exp": 10**30},
    "an exp that is true": {"exp": True},
    "an nbf that is text": {"nbf": "now"},
    "an nbf beyond every clock": {"nbf": 10**30},
    "a sub that is a number": {"sub": 5},
    "a sub that is a list": {"sub": ["alice"]},
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_claim_of_a_wrong_kind_is_malformed(world, name):
    payload = {"sub": world.name("alice"), "exp": int(time.time()) + 600, **MALFORMED[name]}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "HS256"}, payload)]
    signature = hmac.new(SECRET.encode(), b".".join(parts), hashlib.sha256).digest()
    token = b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()
    client = await world.open()
    await client.refused(70003, "login", token=token)
    await client.closed(4500)


async def test_a_critical_header_that_is_not_understood_is_malformed(world):
    client = await world.open()
    await client.refused(70003, "login", token=make_token(world.name("alice"), headers={"crit": ["x"], "x": 1}))


async def test_a_token_expired_for_ages_is_expired(world):
    for exp in (0, -1):
        client = await world.open()
        await client.refused(70001, "login", token=make_token(world.name("alice"), exp=exp))
        await client.closed(4500)


async def test_a_login_without_id_signs_in(world):
    client = await world.open()
    await client.send({"jsonrpc": "2.0", "method": "login", "params": {"token": make_token(world.name("alice"))}})
    await client.call("ping")
    assert client.unclaimed.empty()


async def test_a_login_in_the_middle_of_a_batch_signs_in_what_follows(world):
    client = await world.open()
    frame = await client.exchange([PING, login(1, make_token(world.name("alice"))), PING])
    assert [reply.get("error", {}).get("code") for reply in frame] == [6014, None, None]


@pytest.mark.parametrize("rest", ["ping", "a good login", "a bad login"])
async def test_a_bad_login_in_a_batch_is_answered_before_the_close(world, rest):
    client = await world.open()
    following = {"ping": PING, "a good login": login(2, make_token(world.name("alice"))), "a bad login": login(2, "y")}
    frame = await client.exchange([login(1, "x"), following[rest]])
    assert frame[0]["id"] == 1 and frame[0]["error"]["code"] == 70003
    await client.closed(4500)


async def test_two_users_at_once_on_one_connection(world):
    client = await world.open()
    first, second = world.name("first"), world.name("second")
    under_way = [await client.start("login", token=make_token(user)) for user in (first, second)]
    one, two = [await future for future in under_way]
    assert one["result"]["userID"] == first and two["error"]["code"] == 6015


async def test_ten_requests_before_sign_in_are_counted_inside_a_batch_too(world):
    client = await world.open()
    await client.send([{**PING, "id": n} for n in range(11)])
    await client.closed(4004)
