"""One list of scenarios for clients that fall back to streams where no WebSocket passes (Clients.md, "Behind proxies"), and
for what has hurt clients of others: a token function that never answers, a clock that is set."""
import asyncio

import pytest

from harness.client import has
from harness.driven import Unanswered, clients_with
from harness.upgrade_breaker import WAYS, UpgradeBreaker

with_streams = pytest.mark.parametrize("spawn", clients_with("streams"), indirect=True)
with_both = pytest.mark.parametrize("spawn", clients_with("streams", "clock"), indirect=True)
with_clock = pytest.mark.parametrize("spawn", clients_with("clock"), indirect=True)


@pytest.fixture
async def broken(scene):
    """A scene whose client is behind a proxy that breaks upgrades, and not connected yet."""
    made = []

    async def make(way="refused", settings=None):
        here = await scene(settings, token=False)
        made.append(await UpgradeBreaker.start(here.own.address, way))
        return here, made[-1]

    yield make
    for one in made:
        await one.end()


async def online(client, transport):
    return await client.expect("state", state="online", transport=transport)


@with_streams
@pytest.mark.parametrize("way", [way for way in WAYS if way != "silent"])
async def test_where_no_websocket_passes_the_client_goes_by_streams(broken, way):
    """After two upgrades that failed. Calls, errors, messages in both directions and in their order are as ever."""
    here, breaker = await broken(way)
    client = here.client
    await client.open(breaker.url, here.token(), random=0)
    await online(client, "stream")
    await client.expect("ready")
    assert breaker.asked("/ws") == 2 and breaker.asked("/events") == 1
    assert not any(here.token() in line for line in breaker.requests), "no token stands in an address"
    group = await here.group()
    await here.say(group, "hello")
    assert (await client.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "hello"
    sent = [await client.do("send", groupID=group, text=f"{number}") for number in range(60)]
    for message in sent:
        assert (await client.settled(message))["state"] == "stored"
    texts = [one["text"] for one in await here.history(group) if one["sender"] == here.user and one["type"] == "Text"]
    assert texts == [f"{number}" for number in range(60)]
    with pytest.raises(Unanswered) as refused:
        await client.call("joinGroup", groupID="no-such-group")
    assert refused.value.error["code"] == 10010
    await here.demand_view(group)
    await client.do("logout")
    await client.expect("state", state="closed")


@with_both
async def test_an_upgrade_that_is_never_answered_has_failed(broken):
    """After 20 s, as one that is refused."""
    here, breaker = await broken("silent")
    client = here.client
    await client.open(breaker.url, here.token(), random=0, frozen=True)
    for count in (1, 2):
        await breaker.until_asked("/ws", count)
        await client.do("pass", seconds=21)
        await client.expect("state", state="waiting")
        await client.do("pass", seconds=1)
    await online(client, "stream")
    await client.expect("ready")
    await client.call("ping")


@with_streams
async def test_a_stream_that_is_cut_resumes(broken):
    here, breaker = await broken()
    await here.client.open(breaker.url, here.token(), random=0)
    await here.client.expect("ready")
    group = await here.group()
    for number in range(3):
        losses = len(here.client.told("state", state="waiting"))
        breaker.cut()
        await here.client.until(lambda: len(here.client.told("state", state="waiting")) > losses, "the loss")
        message = await here.client.do("send", groupID=group, text=f"cut {number}")
        await here.say(group, f"meanwhile {number}")
        await here.client.expect("ready")
        assert (await here.client.settled(message))["state"] == "stored"
    await here.demand_view(group)
    texts = [one["text"] for one in await here.history(group) if one["sender"] == here.user and one["type"] == "Text"]
    assert texts == ["cut 0", "cut 1", "cut 2"]


@with_streams
async def test_a_client_may_be_told_to_use_streams_alone(broken):
    here, breaker = await broken(way=None)
    await here.client.open(breaker.url, here.token(), transport="stream")
    await online(here.client, "stream")
    await here.client.expect("ready")
    assert breaker.asked("/ws") == 0
    with pytest.raises(Unanswered):
        await here.client.call("joinGroup", groupID="no-such-group")


@with_streams
async def test_a_client_may_be_told_to_use_none(broken):
    here, breaker = await broken()
    await here.client.open(breaker.url, here.token(), transport="websocket", random=0)
    for _ in range(4):
        await here.client.expect("state", state="waiting")
        await here.client.do("reconnectNow")
    assert breaker.asked("/events") == 0


@with_streams
async def test_a_server_without_streams_is_not_asked_in_a_row(broken):
    here, breaker = await broken(settings={"eventStream": "false"})
    await here.client.open(breaker.url, here.token(), random=0)
    for _ in range(6):
        await here.client.expect("state", state="waiting")
    assert breaker.asked("/events") == 1 and breaker.asked("/ws") >= 5


@with_streams
async def test_a_refusal_of_the_stream_is_that_of_the_session(broken):
    """The close codes of a stream mean what those of WebSockets do."""
    here, breaker = await broken()
    await here.client.open(breaker.url, "no token", random=0)
    closed = await here.client.expect("state", state="closed")
    assert closed["code"] == 4500


@with_both
async def test_it_comes_back_to_websockets_after_a_quiet_time(broken):
    """Nothing is missed or sent twice on the way, and a try that fails costs nothing."""
    here, breaker = await broken()
    client = here.client
    await client.open(breaker.url, here.token(), random=0, frozen=True)
    await client.expect("state", state="waiting")
    await client.do("pass", seconds=1)
    await client.expect("state", state="waiting")
    await client.do("pass", seconds=1)
    await online(client, "stream")
    await client.expect("ready")
    group = await here.group()
    await client.do("pass", seconds=300)
    await breaker.until_asked("/ws", 3)
    await here.say(group, "still by the stream")
    await client.expect("onRecvNewMessage", groupID=group)
    assert not client.told("state", state="waiting")[2:], "a probe that fails is no loss"
    await client.call("ping")
    breaker.way = None
    await client.do("pass", seconds=300)
    await client.call("ping")
    assert breaker.asked("/ws") == 3, "the quiet time has doubled"
    await client.do("pass", seconds=301)
    await online(client, "websocket")
    message = await client.do("send", groupID=group, text="by the WebSocket")
    assert (await client.settled(message))["state"] == "stored"
    await here.say(group, "behind it")
    await client.expect("onRecvNewMessage", groupID=group, message=has(text="behind it"))
    await here.demand_view(group)


@with_both
async def test_a_proxy_that_holds_the_stream_back_is_said_to(broken):
    here, breaker = await broken()
    breaker.holds_back = True
    client = here.client
    await client.open(breaker.url, here.token(), random=0, frozen=True)
    for _ in range(2):
        await client.expect("state", state="waiting")
        await client.do("pass", seconds=1)
    await breaker.until_asked("/events", 1)
    await client.do("pass", seconds=21)
    lost = await client.expect("state", state="waiting")
    assert "proxy" in lost["reason"]


# A token function that never answers


async def answered(client, token, sign):
    """The sign of a client that gets the token each time it asks: an answer may come too late for the limit."""
    sign = asyncio.ensure_future(sign)
    while not sign.done():
        asked = asyncio.ensure_future(client.expect("tokenWanted"))
        await asyncio.wait({sign, asked}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            await client.do("token", token=token)
        asked.cancel()
    return await sign


async def test_a_token_function_that_never_answers_is_asked_again(scene):
    here = await scene(token=False)
    await here.client.open(here.proxy.url, random=0, tokenTimeout=0.5)
    await here.client.expect("tokenWanted")
    waiting = await here.client.expect("state", state="waiting")
    assert waiting["error"]["reason"] == "TokenTimeout" and len(here.proxy.links) == 0
    await answered(here.client, here.token(), here.client.expect("ready"))


async def test_reconnect_now_does_not_wait_for_the_token_function(scene):
    here = await scene(token=False)
    await here.client.open(here.proxy.url, random=0, tokenTimeout=3600)
    await here.client.expect("tokenWanted")
    await here.client.do("reconnectNow")
    await here.client.expect("tokenWanted")
    await here.client.do("token", token=here.token())
    await here.client.expect("ready")


async def test_the_old_token_is_used_while_it_is_good(scene):
    """A renewal that hangs ends in renewalFailed; the session goes on, and so does the next one."""
    here = await scene(token=False, frozen=True)
    client = here.client
    await client.open(here.proxy.url, random=0, tokenTimeout=0.5)
    await answered(client, here.token(ttl=50), client.expect("ready"))
    # One that was answered already.
    client.inbox = [event for event in client.inbox if event[0] != "tokenWanted"]
    await here.warned()
    await client.expect("tokenWanted")
    failed = await client.expect("renewalFailed")
    assert failed["reason"] == "TokenTimeout"
    await client.call("ping")
    await here.lose()
    await here.come_back()
    assert client.told("state")[-1]["state"] == "online", "by the token that it had"
    await client.call("ping")


# A clock that is set


@with_clock
@pytest.mark.parametrize("seconds", [86_400, -86_400])
async def test_a_clock_that_is_set_changes_no_wait(scene, seconds):
    """Neither the next connection nor a message depends on the time of day."""
    here = await scene(frozen_client=True)
    client = here.client
    group = await here.group()
    await here.lose()
    lost = client.told("state", state="waiting")[-1]
    tries = len(here.proxy.links)
    here.proxy.refuse(False)
    message = await client.do("send", groupID=group, text="once")
    await client.do("step", seconds=seconds)
    await client.do("pass", seconds=lost["retryInMs"] / 1000 - 0.01)
    assert len(here.proxy.links) == tries, "it does not come early"
    await client.do("pass", seconds=0.02)
    await client.expect("ready")
    assert (await client.settled(message))["state"] == "stored"
    here.proxy.hold("to client")
    second = await client.do("send", groupID=group, text="twice")
    await here.proxy.holds("to client", b"Stored")
    await client.do("step", seconds=seconds)
    here.proxy.cut()
    here.proxy.hold()
    lost = await client.expect("state", state="waiting")
    await client.do("pass", seconds=lost["retryInMs"] / 1000 + 0.01)
    await client.expect("ready")
    assert (await client.settled(second))["state"] == "stored"
    texts = [one["text"] for one in await here.history(group) if one["sender"] == here.user and one["type"] == "Text"]
    assert texts == ["once", "twice"]
