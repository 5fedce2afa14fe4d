"""What throng.py promises to programs in Python; its scenarios with a server are in test_clients.py."""
import asyncio
import json
import subprocess
import sys

import pytest
from websockets.asyncio.server import serve

from harness.client import PATIENCE
from harness.server import REPOSITORY
from harness.waiting import within

sys.path.insert(0, str(REPOSITORY / "Scripts"))
from throng import ClientError, ThrongClient, TrackedGroup, backoff  # noqa: E402 - behind the path

SESSION = {"userID": "user", "sessionID": "one", "serverTime": 1, "tokenExpiresAt": 3_600_001, "heartbeat": 25}


@pytest.fixture
async def url():
    """A server that signs everybody in, and knows no groups."""
    async def handle(socket):
        async for line in socket:
            request = json.loads(line)
            result = SESSION if request["method"] == "login" else {"groupList": [], "leftGroupIDList": [], "nextSeq": 0}
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))

    server = await serve(handle, "127.0.0.1", 0, compression=None, subprotocols=["throng.v1.json"])
    yield "ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


@pytest.fixture
async def silent_url():
    """An address that takes connections and says nothing."""
    writers = []

    async def take(reader, writer):
        writers.append(writer)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    yield "ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1]
    for writer in writers:
        writer.transport.abort()
    server.close()


async def within_patience(work):
    return await within(work, PATIENCE)


async def test_close_does_not_wait_for_handlers(url):
    client, began = ThrongClient(url, "a token", proxy=None), asyncio.Event()

    async def never_ends(_):
        began.set()
        await asyncio.Event().wait()

    client.on("ready", never_ends)
    await within_patience(client.connect())
    await within_patience(began.wait())
    await within_patience(client.close())
    assert client.state == "closed"


async def test_a_handler_may_close(url):
    client, closed = ThrongClient(url, "a token", proxy=None), asyncio.Event()

    async def close(_):
        await client.close()
        closed.set()

    for _ in range(2):
        client.on("ready", close)
    await within_patience(client.connect())
    await within_patience(closed.wait())


@pytest.mark.parametrize("silent", ["token", "server"])
async def test_close_ends_a_connection_that_is_being_made(silent, silent_url):
    asked = asyncio.Event()

    async def token():
        asked.set()
        if silent == "token":
            await asyncio.Event().wait()
        return "a token"

    # It would not give up by itself.
    client = ThrongClient(silent_url, token, proxy=None, open_timeout=None)
    connecting = asyncio.ensure_future(client.connect())
    await within_patience(asked.wait())
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting
    assert asyncio.all_tasks() - {asyncio.current_task()} <= {connecting}


async def test_what_json_does_not_hold_is_refused_at_once(url):
    client = ThrongClient(url, "a token", proxy=None)
    await within_patience(client.connect())
    with pytest.raises(TypeError):
        client.send_text("group", b"bytes")
    with pytest.raises(ValueError):
        client.send_text("group", "text", priority=float("nan"))
    with pytest.raises(ValueError):
        await client.setGroupAttributes(groupID="group", attributes={"key": float("nan")})
    await within_patience(client.close())


def test_the_delay_has_a_bound_however_often_it_fails():
    assert [backoff(lambda: 1, count) for count in (0, 1, 5, 6, 5000)] == [0.5, 1, 16, 20, 20]


def test_own_messages_fill_their_places_in_their_epoch_alone():
    group = TrackedGroup("g", "one", 10)
    for seq in (13, 12):
        group.add_own(seq)
    group.reach(11)
    assert group.seq == 13
    group.add_own(17)
    group.restart("two", 3, 0)
    group.reach(16)
    assert group.seq == 16, "17 is of an epoch before"


async def test_a_call_that_is_given_up_leaves_its_place(silent_url):
    client = ThrongClient(silent_url, "a token", proxy=None, queue_limit=1, open_timeout=None)
    connecting = asyncio.ensure_future(client.connect())
    await asyncio.sleep(0)
    for _ in range(3):
        call = asyncio.ensure_future(client.call("ping"))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting


async def test_options_that_do_not_go_together_are_told(url):
    client, states = ThrongClient(url, "a token", proxy=None, ssl=True), []
    told = asyncio.Event()

    def note(state):
        states.append(state)
        if state["state"] == "waiting":
            told.set()
    client.on("state", note)
    connecting = asyncio.ensure_future(client.connect())
    await within_patience(told.wait())
    assert isinstance(states[-1]["error"], ValueError)
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting


async def test_a_reader_that_is_too_slow_is_told_what_is_lost(url):
    """As many events as the limit wait; `lost` stands for the others, and then it goes on."""
    class Peer(ThrongClient):
        def happen(self, *groups):
            for group in groups:
                self._emit("onRecvNewMessage", {"groupID": group})

    client = Peer(url, "a token", proxy=None)
    events = client.events(limit=2)
    client.happen("a", "b", "c", "d", "c")
    assert [(await anext(events)) for _ in range(3)] == [
        ("onRecvNewMessage", {"groupID": "a"}), ("onRecvNewMessage", {"groupID": "b"}), ("lost", {"count": 3, "groupIDs": ["c", "d"]})]
    client.happen("e")
    assert await anext(events) == ("onRecvNewMessage", {"groupID": "e"})
    await client.close()
    # The news of the end is an event, too.
    assert [name async for name, _ in events] == ["state"]


def test_as_a_program_it_says_what_is_wrong():
    def run(*arguments):
        return subprocess.run([sys.executable, "-B", REPOSITORY / "Scripts/throng.py", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE)
    assert run("--help").returncode == 0 and "listen" in run("--help").stdout
    for arguments in ((), ("ws://127.0.0.1:1/ws", "token", "shout", "group")):
        refused = run(*arguments)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr and "throng.py: error" in refused.stderr


def test_as_a_program_it_ends_with_one_line_where_it_is_refused(server):
    done = subprocess.run([sys.executable, "-B", REPOSITORY / "Scripts/throng.py", server.url, "no token", "say", "group", "hello"],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "70003" in done.stderr and done.stderr.count("\n") == 1, done.stderr
