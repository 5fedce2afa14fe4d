"""The Python client on event streams, with a server that does as a test says; and which transport it takes. Scenarios with
a real one are in test_client_streams.py."""
import asyncio
import json
import random
import sys

import pytest

from harness.client import PATIENCE
from harness.server import REPOSITORY
from harness.stream_peer import STREAM, StreamPeer, event
from harness.waiting import within

sys.path.insert(0, str(REPOSITORY / "Sources/Clients/python/src"))
from throng import ClientError, ThrongClient, ThrongError, stream  # noqa: E402 - behind the path
from throng.fallback import TransportChoice  # noqa: E402


# Which transport comes next


def play(choice, *steps):
    """The transports of a row of connections: F = failed by the network, U = no streams, OK = signed in (and lost later); a
    number lets so many seconds pass."""
    taken, moment = [], 0.0
    for step in steps:
        if isinstance(step, (int, float)):
            moment += step
            continue
        taken.append(choice.next(moment)[0])
        if step == "F":
            choice.failed(moment)
        elif step == "U":
            choice.is_unavailable(moment)
        else:
            choice.signed_in(moment)
    return "".join(taken)


@pytest.mark.parametrize("steps, taken", [
    # Two WebSockets, then by turns.
    (["F", "F", "F", "F", "F", "F"], "wwswsw"),
    # One that signs in begins the count anew.
    (["F", "OK", "F", "F", "F"], "wwwws"),
    # A stream that works stays, and is left where it works no more.
    (["F", "F", "OK", "OK", "OK", "F", "F", "OK"], "wwsssswsx"[:8]),
    # After its quiet time a WebSocket is tried; the next time is twice as long.
    (["F", "F", "OK", 299, "OK", 2, "F", "OK", 300, "OK", 301, "OK", "OK"], "wwsswssww"),
    # A server without streams is asked again after ten minutes.
    (["F", "F", "U", "F", "F", 599, "F", 2, "U", "F"], "wwswwwsw"),
])
def test_the_next_transport(steps, taken):
    assert play(TransportChoice("auto", True), *steps) == taken


def test_a_transport_that_is_chosen_stays():
    for mode in ("websocket", "stream"):
        assert set(play(TransportChoice(mode, True), *["F"] * 9, "U", "OK", 5000, "OK")) == {mode[0]}
    assert set(play(TransportChoice("auto", False), *["F"] * 9)) == {"w"}, "what is not installed is not tried"


def test_the_quiet_time_has_an_end():
    choice = TransportChoice("auto", True)
    play(choice, "F", "F", "OK")
    left = []
    for _ in range(6):
        choice.probe_failed(0)
        left.append(choice.quiet_left(0))
    assert left == [600, 1200, 2400, 3600, 3600, 3600]
    choice.begin_anew()
    assert choice.next(0) == "websocket"


# Reading


@pytest.mark.parametrize("seed", range(30))
def test_a_stream_may_come_in_any_pieces(seed):
    chance = random.Random(seed)
    line = "\r\n" if seed % 2 else "\n"
    texts = ['{"a": "ü: x"}', "", ":", "data: y", "x" * 5000]
    wanted, lines = [], []
    for _ in range(40):
        kind = chance.choice(["data", "data", "named", "several", "comment", "unknown"])
        if kind == "comment":
            wanted.append(None)
            lines += [":" + chance.choice(["", " a comment"])]
            continue
        text, name = chance.choice(texts), "close" if kind == "named" else ""
        lines += [*(["event: close"] if name else []), *(["id: 7", "retry"] if kind == "unknown" else []), f"data: {text}"]
        if kind == "several":
            lines.append("data:more")
            text += "\nmore"
        lines.append("")
        wanted.append((name, text.encode()))
    data, reader, found = (line.join(lines) + line).encode(), stream.EventReader(), []
    while data:
        size = chance.choice([1, 2, 7, 100, 20_000])
        found += reader.read(data[:size])
        data = data[size:]
    assert found == wanted


@pytest.mark.parametrize("data", [b"data: " + b"x" * (5 << 20), b"data: " + b"x" * 1000 + b"\n"])
def test_an_event_has_an_end(data):
    reader = stream.EventReader()
    with pytest.raises(ClientError) as refused:
        for _ in range(5000):
            reader.read(data)
    assert refused.value.reason == "BadAnswer"


@pytest.mark.parametrize("url, events, requests", [
    ("ws://a/ws", "http://a/events", "http://a/rpc"), ("wss://a:8/chat/ws?x=1#y", "https://a:8/chat/events", "https://a:8/chat/rpc"),
    ("ws://user:pass@a", "http://a/events", "http://a/rpc"), ("ws://[::1]:8/ws", "http://[::1]:8/events", "http://[::1]:8/rpc"),
])
def test_streams_are_beside_the_websocket(url, events, requests):
    assert stream.addresses(url) == (events, requests)


# With a server


@pytest.fixture
async def peer():
    made = []

    async def make(**options):
        made.append(await StreamPeer.start(**options))
        return made[-1]

    yield make
    for one in made:
        await one.end()


class App:
    """A client that goes by streams alone, and what it told."""

    def __init__(self, peer, token="a token", **options):
        options = {"transport": "stream", "proxy": None, "random": lambda: 0, **options}
        self.client, self.states, self.news = ThrongClient(peer.url, token, **options), [], asyncio.Event()
        self.client.on("state", lambda state: (self.states.append(state), self.news.set()))

    async def state(self, name, count=1):
        """The Nth such state."""
        while len(found := [one for one in self.states if one["state"] == name]) < count:
            self.news.clear()
            await within(self.news.wait(), PATIENCE)
        return found[count - 1]


@pytest.fixture
async def app():
    made = []

    def make(peer, **options):
        made.append(App(peer, **options))
        # Those that cannot connect are asked for their states.
        made[-1].connecting = asyncio.ensure_future(made[-1].client.connect())
        made[-1].connecting.add_done_callback(lambda one: one.cancelled() or one.exception())
        return made[-1]

    yield make
    for one in made:
        await within(one.client.close(), PATIENCE)


async def test_the_token_is_in_a_header_and_the_device_in_the_address(peer, app):
    here = await peer()
    one = app(here, platform="Web", device_id="a b")
    session = await within(one.connecting, PATIENCE)
    (line, headers), = here.streams
    assert headers["authorization"] == "Bearer a token" and "token" not in line
    assert line == "GET /chat/events?platform=Web&deviceID=a+b HTTP/1.1"
    assert "streamKey" not in session and one.client.session["sessionID"] == "one"
    assert (await one.state("online"))["transport"] == "stream"


async def test_requests_leave_one_at_a_time_and_those_that_wait_together(peer, app):
    """In their order, 20 and 60,000 bytes at most."""
    here = await peer()
    one = app(here)
    await within(one.connecting, PATIENCE)
    await here.until(lambda: len(here.posts) == 1)
    await within(one.client.ping(), PATIENCE)
    here.posts.clear()
    here.goes.clear()
    calls = [asyncio.ensure_future(one.client.call("ping", {"n": n})) for n in range(30)]
    await here.until(lambda: len(here.posts) == 1)
    long = [asyncio.ensure_future(one.client.call("ping", {"n": n, "text": "x" * 25_000})) for n in range(30, 34)]
    await asyncio.sleep(0)
    assert len(here.posts) == 1, "the others wait for it"
    here.goes.set()
    await within(asyncio.gather(*calls, *long), PATIENCE)
    bodies = [json.loads(body) for body in here.posts]
    batches = [body if isinstance(body, list) else [body] for body in bodies]
    assert [each["params"]["n"] for batch in batches for each in batch] == [*range(34)]
    assert all(len(batch) <= 20 and len(body) <= 60_000 for batch, body in zip(batches, here.posts)) and len(batches[0]) == 20


async def test_a_proxy_that_takes_less_gets_less(peer, app):
    """413: a batch is sent again in its parts; what is too long by itself is TooLarge."""
    here = await peer(answer=lambda number, body: (413, b"") if len(body) > 1000 else (200, StreamPeer.honest(body)))
    one = app(here)
    await within(one.connecting, PATIENCE)
    here.goes.clear()
    calls = [asyncio.ensure_future(one.client.call("ping", {"text": "x" * size})) for size in (10, 600, 700, 2000, 20)]
    await here.until(lambda: len(here.posts) >= 1)
    here.goes.set()
    answers = await within(asyncio.gather(*calls, return_exceptions=True), PATIENCE)
    assert [getattr(answer, "reason", "done") for answer in answers] == ["done", "done", "done", "TooLarge", "done"]
    assert one.client.state == "online"


@pytest.mark.parametrize("status", [401, 500, 502, 302])
async def test_a_post_that_fails_is_a_lost_connection(peer, app, status):
    here = await peer(answer=lambda number, body: (status, b"") if b"ping" in body else (200, StreamPeer.honest(body)))
    one = app(here)
    await within(one.connecting, PATIENCE)
    with pytest.raises(ClientError) as lost:
        await within(one.client.ping(), PATIENCE)
    assert lost.value.reason == "ConnectionLost"
    assert (await one.state("waiting"))["code"] == 1006
    await one.state("online", 2)


@pytest.mark.parametrize("answer", [b"no JSON", b"[]", b'{"id": 1, "result": ' + b"[" * 40 + b"]" * 40 + b"}", b"\xff"])
async def test_an_answer_that_is_none_ends_the_connection(peer, app, answer):
    here = await peer(answer=lambda number, body: (200, answer))
    one = app(here)
    waiting = await one.state("waiting")
    assert waiting["error"].reason == "BadAnswer"


async def test_an_answer_that_is_none_to_a_batch(peer, app):
    here = await peer(answer=lambda number, body: (200, b'{"id": 1, "result": {}}' if body[:1] == b"[" else StreamPeer.honest(body)))
    one = app(here)
    await within(one.connecting, PATIENCE)
    here.goes.clear()
    calls = [asyncio.ensure_future(one.client.ping()) for _ in range(3)]
    await here.until(lambda: len(here.posts) >= 1)
    here.goes.set()
    answers = await within(asyncio.gather(*calls, return_exceptions=True), PATIENCE)
    assert "ConnectionLost" in [getattr(answer, "reason", None) for answer in answers]
    assert (await one.state("waiting"))["error"].reason == "BadAnswer"


@pytest.mark.parametrize("begin, reason", [
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>!", "in place of an event stream"),
    (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "HTTP 503"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.test/\r\nContent-Length: 0\r\n\r\n", "HTTP 302"),
    (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "no event streams: HTTP 404"),
    (STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), "compressed"),
    (STREAM + b"data: {}\n\n", "cannot read"),
    (STREAM + event("onRecvNewMessage", {}), "cannot read"),
    (STREAM + StreamPeer.session(streamKey="two\nlines"), "cannot read"),
    (STREAM + StreamPeer.session(serverTime="now"), "cannot read"),
    (STREAM + b"event: close\ndata: 7\n\n", "cannot read"),
    (STREAM + b"event: close\ndata: {\"code\": 99}\n\n", "cannot read"),
    (STREAM + b"event: close\ndata: {\"code\": 1013, \"reason\": \"later\"}\n\n", "later"),
    (b"no HTTP\r\n\r\n", ""),
])
async def test_a_stream_that_does_not_begin_is_tried_again(peer, app, begin, reason):
    here = await peer(begin=lambda number: begin if number == 0 else STREAM + StreamPeer.session())
    one = app(here)
    assert reason in (await one.state("waiting"))["reason"]
    await within(one.connecting, PATIENCE)
    assert len(here.streams) == 2


async def test_events_comments_and_the_end_of_a_stream(peer, app):
    here = await peer()
    one, told = app(here), []
    one.client.on("onGroupSignal", told.append)
    await within(one.connecting, PATIENCE)
    signal = {"groupID": "g", "opTime": 1, "name": "n", "sender": "bob"}
    await here.tell(b":\n:\r\n" + event("onGroupSignal", signal) + b"event: later\ndata: {}\n\n" + event("onGroupSignal", signal))
    await here.tell(b'event: close\ndata: {"code": 4001, "reason": "server draining"}\n\n')
    waiting = await one.state("waiting")
    assert (waiting["code"], waiting["reason"], waiting["transport"]) == (4001, "server draining", "stream")
    assert told == [signal, signal]
    await one.state("online", 2)
    here.cut()
    assert (await one.state("waiting", 2))["code"] == 1006
    await one.state("online", 3)
    await here.tell(b'event: close\ndata: {"code": 4502, "reason": "replaced by another device"}\n\n')
    assert (await one.state("closed"))["code"] == 4502


@pytest.mark.parametrize("code", [70001, 70021])
async def test_a_token_that_has_ended_is_asked_for_anew(peer, app, code):
    refusal = f'event: close\ndata: {{"code": 4500, "reason": "{code} The token"}}\n\n'.encode()
    here = await peer(begin=lambda number: STREAM + (refusal if number == 0 else StreamPeer.session()))
    tokens = iter(["old", "new"])
    one = app(here, token=lambda: next(tokens))
    waiting = await one.state("waiting")
    assert isinstance(waiting["error"], ThrongError) and waiting["error"].code == code
    await within(one.connecting, PATIENCE)
    assert [headers["authorization"] for _, headers in here.streams] == ["Bearer old", "Bearer new"]


async def test_a_token_that_is_none_ends_the_client(peer, app):
    here = await peer(begin=lambda number: STREAM + b'event: close\ndata: {"code": 4500, "reason": "70003 None"}\n\n')
    one = app(here)
    with pytest.raises(ThrongError) as refused:
        await within(one.connecting, PATIENCE)
    assert refused.value.code == 70003 and one.client.state == "closed"


async def test_the_answer_to_logout_may_come_behind_the_end_of_the_stream(peer, app):
    here = await peer()
    one = app(here)
    await within(one.connecting, PATIENCE)
    await here.until(lambda: len(here.posts) == 1)
    here.goes.clear()
    leaving = asyncio.ensure_future(one.client.logout())
    await here.until(lambda: len(here.posts) == 2)
    await here.tell(b'event: close\ndata: {"code": 1000, "reason": "bye"}\n\n')
    here.goes.set()
    await within(leaving, PATIENCE)


async def test_a_stream_that_falls_silent_is_given_up(peer, app, monkeypatch):
    """What comes in answer to requests is no sign that events do."""
    monkeypatch.setattr("throng.connection.PING_TIMEOUT", 0.05)
    here = await peer(begin=lambda number: STREAM + StreamPeer.session(heartbeat=1))
    one = app(here)
    await within(one.connecting, PATIENCE)
    waiting = await one.state("waiting")
    assert waiting["code"] == 4003 and any(b'"ping"' in body for body in here.posts)


async def test_close_ends_a_stream_that_is_being_opened(peer, app):
    here = await peer(begin=lambda number: b"")
    one = app(here)
    await here.until(lambda: len(here.streams) == 1)
    await within(one.client.close(), PATIENCE)
    assert one.client.state == "closed" and not one.client._connection.tasks.running


async def test_streams_need_a_package(monkeypatch):
    monkeypatch.setattr("throng.client.has_streams", lambda: False)
    with pytest.raises(ImportError, match="httpx.+\\[stream\\]"):
        ThrongClient("ws://127.0.0.1/ws", "a token", transport="stream")
    assert ThrongClient("ws://127.0.0.1/ws", "a token").state == "idle"
    with pytest.raises(ValueError):
        ThrongClient("ws://127.0.0.1/ws", "a token", transport="pigeon")
