"""Section 2: sign-in by unusual tokens, batches, and many at once."""
import asyncio
import base64
import hashlib
import hmac
import json
import time

import pytest

from harness.client import Gone
from harness.tokens import SECRET, make_token


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


async def test_many_logins_of_one_platform_at_once_leave_one_session(world):
    user = world.name("alice")
    clients = [await world.open(user=user) for _ in range(20)]
    under_way = [await client.start("login", token=make_token(user), platform="iOS") for client in clients]
    # A session may be replaced before its reply is sent: then the connection is closed with 4502 all the same.
    await asyncio.gather(*under_way, return_exceptions=True)
    living = []
    for client in clients:
        try:
            await client.call("ping")
            living.append(client)
        except Gone:
            assert client.socket.close_code == 4502, client.closing
    assert len(living) == 1


async def test_a_device_id_is_one_session_on_whatever_platform(world):
    user = world.name("alice")
    first = await world.session(user, platform="Web", deviceID="one")
    await world.session(user, platform="iOS", deviceID="one")
    await first.expect("onKickedOffline", reason="OtherDevice")
    await first.closed(4502)
