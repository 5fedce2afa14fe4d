"""What the Python client promises to programs; its scenarios with a server are in test_clients.py."""
import asyncio
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest
from websockets.asyncio.server import serve

from harness.client import PATIENCE
from harness.server import REPOSITORY
from harness.tokens import make_token
from harness.waiting import within

SOURCES = REPOSITORY / "Sources/Clients/python/src"
sys.path.insert(0, str(SOURCES))
from throng import ClientError, MemoryStorage, SQLiteStorage, ThrongClient  # noqa: E402 - behind the path
from throng.client import store_name  # noqa: E402
from throng.clock import backoff  # noqa: E402
from throng.groups import TrackedGroup  # noqa: E402
from throng.transports import InvalidAddress, address_of  # noqa: E402

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


def test_a_reason_has_the_words_that_it_has_in_javascript():
    script = (REPOSITORY / "Sources/Clients/js/throng.js").read_text()
    (rows,) = re.findall(r"^const clientErrors = \{\n(.*?)^\};", script, re.M | re.S)
    words = dict(re.findall(r'^  (\w+): "([^"]+)",$', rows, re.M))
    assert len(words) == rows.count("\n") and {reason: str(ClientError(reason)) for reason in words} == words
    assert str(ClientError("BadAnswer", "no object")) == "no object"


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
                self._emitter.emit("onRecvNewMessage", {"groupID": group})

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


# Stores and what waits


def outbox_rows(directory):
    """The rows of own messages in the one store of a directory."""
    (path,) = directory.glob("*.sqlite3")
    with contextlib.closing(sqlite3.connect(path)) as store:
        return [json.loads(value) for (value,) in store.execute("SELECT value FROM rows WHERE key LIKE 'o/%' ORDER BY key")]


def test_a_store_belongs_to_somebody(tmp_path):
    with pytest.raises(TypeError, match="user_id"):
        ThrongClient("ws://127.0.0.1/ws", "a token", storage=SQLiteStorage(tmp_path))
    assert ThrongClient("ws://127.0.0.1/ws", "a token", storage=MemoryStorage()).user_id == ""
    assert ThrongClient("ws://127.0.0.1/ws", "a token", storage=SQLiteStorage(tmp_path), user_id="ann").user_id == "ann"


@pytest.mark.parametrize("url, user, name", [
    ("WSS://Chat.Example:443/ws?token=x#y", "ann", "wss://chat.example:443/ws|ann"),
    ("ws://user:secret@a/ws", "b c", "ws://a/ws|b c"), ("ws://a/ws", None, "memory")])
def test_a_store_is_named_by_its_server_and_user(url, user, name):
    assert store_name(url, user) == name


async def test_what_is_shown_first_is_what_was_stored(silent_url, tmp_path):
    """Before there is a connection; what was written before that waits behind it."""
    options = {"proxy": None, "open_timeout": None, "user_id": "user", "transport": "websocket"}
    client = ThrongClient(silent_url, "a token", storage=SQLiteStorage(tmp_path), **options)
    connecting = asyncio.ensure_future(client.connect())
    await asyncio.sleep(0)
    first = client.send_text("group", "first")
    await within_patience(client.conversations())
    second = client.send_text("group", "second")
    await within_patience(client.close())
    assert first.state == second.state == "sending" and first.done.done() and second.done.done()
    assert [row["params"]["text"] for row in outbox_rows(tmp_path)] == ["first", "second"]
    with pytest.raises(ClientError):
        await connecting
    client, told = ThrongClient(silent_url, "a token", storage=SQLiteStorage(tmp_path), **options), []
    client.on("stored", lambda news: told.append(("stored", [one.params["text"] for one in news["outbox"]])))
    client.on("state", lambda news: told.append(("state", news["state"])))
    third = client.send_text("group", "third", clientMsgID="mine")
    connecting = asyncio.ensure_future(client.connect())
    await asyncio.sleep(0)
    await within_patience(client.conversations())
    assert told == [("stored", ["first", "second", "third"]), ("state", "connecting")]
    assert client.outbox()[2] is third and client.send_text("group", "other", clientMsgID="mine") is third
    await within_patience(client.close())
    assert [row["params"]["text"] for row in outbox_rows(tmp_path)] == ["first", "second", "third"]
    with pytest.raises(ClientError):
        await connecting


async def test_a_store_that_nobody_has_opened_is_not_waited_for(tmp_path, url):
    client = ThrongClient(url, "a token", storage=SQLiteStorage(tmp_path), user_id="user", proxy=None)
    asked = [client.conversations, lambda: client.conversation("g"), lambda: client.stored_members("g"),
             lambda: client.stored_member("g", "u"), lambda: client.stored_profile("u"), lambda: client.messages("g")]
    for ask in asked:
        with pytest.raises(ClientError) as refused:
            await ask()
        assert refused.value.reason == "NotConnected"
    await within_patience(client.connect())
    # Messages would be read from this server, which has none.
    assert [await within_patience(ask()) for ask in asked[:-1]] == [[], None, [], None, None]
    await within_patience(client.close())
    assert await client.conversations() == []
    with pytest.raises(ClientError) as refused:
        await client.messages("g")
    assert refused.value.reason == "Closed"


async def test_close_before_the_store_is_open_leaves_it_to_others(url, tmp_path):
    client = ThrongClient(url, "a token", storage=SQLiteStorage(tmp_path), user_id="user", proxy=None)
    connecting = asyncio.ensure_future(client.connect())
    await asyncio.sleep(0)
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting
    other = SQLiteStorage(tmp_path)
    await other.open(store_name(url, "user"))
    await other.close()


async def test_a_client_remembers_in_memory_what_a_store_would_keep(server, world):
    """It knows whose store it is by the sign-in: own messages are not unread, and who is removed is told so."""
    owner = await world.user("owner")
    user, group = world.name("user"), await world.group(owner)
    client, changed = ThrongClient(server.url, make_token(user), proxy=None), asyncio.Event()
    client.on("conversation", lambda _: changed.set())

    async def until(condition):
        while not condition(one := await client.conversation(group)):
            changed.clear()
            await within_patience(changed.wait())
        return one

    await within_patience(client.connect())
    await client.joinGroup(groupID=group)
    await until(lambda one: one is not None)
    other = await world.session(user)
    await other.call("sendGroupTextMessage", groupID=group, text="from the other device")
    seq = (await owner.call("sendGroupTextMessage", groupID=group, text="hello"))["seq"]
    shown = await until(lambda one: one["info"]["lastSeq"] == seq)
    assert shown["info"]["selfInfo"]["unreadCount"] == 1 and shown["status"] == "member"
    page = await client.messages(group, count=2)
    assert [one["text"] for one in page["messageList"]] == ["from the other device", "hello"] and page["source"] == "stored"
    await owner.call("kickGroupMember", groupID=group, userIDList=[user])
    assert not (await until(lambda one: one["status"] == "removed"))["canSend"]
    assert (await within_patience(client.send_text(group, "too late").done)).error.reason == "ConversationEnded"
    await within_patience(client.close())


async def test_a_second_client_goes_on_in_memory(url, tmp_path):
    first, second = [ThrongClient(url, "a token", storage=SQLiteStorage(tmp_path), user_id="user", proxy=None) for _ in range(2)]
    failed = []
    second.on("storageFailed", failed.append)
    await within_patience(first.connect())
    await within_patience(second.connect())
    assert [one["reason"] for one in failed] == ["InUse"] and second.state == "online"
    await within_patience(first.close())
    await within_patience(second.close())


async def test_another_user_does_not_see_the_store(url, tmp_path):
    """The token of somebody else ends the client."""
    client = ThrongClient(url, "a token", storage=SQLiteStorage(tmp_path), user_id="ann", proxy=None)
    with pytest.raises(ClientError, match="another user"):
        await within_patience(client.connect())
    await within_patience(client.close())


async def test_as_many_failed_messages_are_kept_as_may_be(url, tmp_path, monkeypatch):
    monkeypatch.setattr("throng.outbox.MOST_FAILED", 3)
    client = ThrongClient(url, "a token", storage=SQLiteStorage(tmp_path), user_id="user", proxy=None)
    await within_patience(client.connect())
    for number in range(5):
        message = client.send_text("group", f"{number}", clientMsgID=f"c{number}")
        # The server of this test has no receipt for it, which ends the connection; the application gives up.
        client._outbox.settle(message, "failed", error=ClientError("Expired"))
    long = client.send_text("group", "x" * 70_000)
    assert long.error.reason == "TooLarge" and [one.client_msg_id for one in client.outbox()] == ["c2", "c3", "c4"]
    client.discard(client.outbox()[0])
    client.discard(long)
    await within_patience(client.close())
    assert [(row["clientMsgID"], row["state"], row["error"]["reason"]) for row in outbox_rows(tmp_path)] == [
        ("c3", "failed", "Expired"), ("c4", "failed", "Expired")]


async def test_a_store_that_breaks_its_promise_ends_the_client(url):
    """Storages fail with a StorageError; any other fault of one is told, and nothing waits for ever."""
    class Broken(SQLiteStorage):
        async def open(self, name):
            raise RuntimeError("as the test says")

    client = ThrongClient(url, "a token", storage=Broken("nowhere"), user_id="user", proxy=None)
    with pytest.raises(RuntimeError):
        await within_patience(client.connect())
    assert client.state == "closed"
    await within_patience(client.close())


# Tokens


async def test_a_token_function_that_takes_too_long_is_ended(url):
    ended, states = [], []

    async def token():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    client = ThrongClient(url, token, proxy=None, token_timeout=0.01, random=lambda: 0)
    waiting = asyncio.Event()

    def note(state):
        states.append(state)
        if state["state"] == "waiting":
            waiting.set()

    client.on("state", note)
    connecting = asyncio.ensure_future(client.connect())
    await within_patience(waiting.wait())
    assert states[-1]["error"].reason == "TokenTimeout" and ended == [True]
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting


@pytest.mark.parametrize("token", [None, b"bytes", 7])
async def test_a_token_is_a_text(url, token):
    client, waiting = ThrongClient(url, lambda: token, proxy=None), asyncio.get_running_loop().create_future()
    client.on("state", lambda state: state["state"] == "waiting" and waiting.done() or state.get("error") and waiting.set_result(state))
    connecting = asyncio.ensure_future(client.connect())
    assert isinstance((await within_patience(waiting))["error"], TypeError)
    await within_patience(client.close())
    with pytest.raises(ClientError):
        await connecting


async def test_a_handler_of_an_event_that_does_not_exist_is_refused():
    client = ThrongClient("ws://nowhere/ws", "a token")
    for name in ("onRecvNewMesage", "messages", "*", ""):
        with pytest.raises(ValueError, match=rf'no event "{re.escape(name)}"; there are state, .*onRecvNewMessage'):
            client.on(name, print)


async def test_an_event_of_a_later_server_is_heard():
    async def handle(socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "login":
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": SESSION}))
                event = {"jsonrpc": "2.0", "method": "onSomethingLater", "params": {"groupID": "group", "anything": [1]}}
                await socket.send(json.dumps(event))

    async with serve(handle, "127.0.0.1", 0, compression=None, subprotocols=["throng.v1.json"]) as server:
        client = ThrongClient("ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1], "a token", proxy=None)
        heard = asyncio.get_running_loop().create_future()
        client.on("event", lambda name, params: heard.set_result((name, params)))
        await within_patience(client.connect())
        assert await within_patience(heard) == ("onSomethingLater", {"groupID": "group", "anything": [1]})
        await within_patience(client.close())


async def test_the_address_of_http_stands_for_that_of_the_websocket(url, tmp_path):
    client = ThrongClient(url.replace("ws:", "HTTP:"), "a token", proxy=None, user_id="user", storage=SQLiteStorage(tmp_path))
    await within_patience(client.connect())
    assert client.url == url
    await within_patience(client.close())
    assert address_of("HttpS://chat.example/ws") == "wss://chat.example/ws" and address_of("httpx://a") == "httpx://a"


@pytest.mark.parametrize("url, shown, reason", [
    ("ftp://me:secret@host/ws?token=secret", "ftp://host/ws", "one is such as wss://chat.example/ws"),
    ("localhost:8080/ws", "localhost:8080/ws", "one is such as wss://chat.example/ws"),
    ("ws://host/ws#secret", "ws://host/ws", "fragment identifier is meaningless"),
])
async def test_an_address_that_is_none_is_refused(url, shown, reason):
    client = ThrongClient(url, "a token")
    with pytest.raises(InvalidAddress) as refused:
        await within_patience(client.connect())
    assert str(refused.value) == f"not a WebSocket's address: {shown}; {reason}" and isinstance(refused.value, ValueError)


async def test_a_redirection_to_a_page_is_no_end():
    """As from http: to https:, which a proxy answers to everything: the client says where to, and tries on."""
    async def redirect(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 301 Moved Permanently\r\nLocation: https://chat.example/ws\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(redirect, "127.0.0.1", 0) as server:
        client = ThrongClient("ws://127.0.0.1:%d/ws" % server.sockets[0].getsockname()[1], "a token", proxy=None, transport="websocket")
        waiting = asyncio.get_running_loop().create_future()
        client.on("state", lambda news: news["state"] == "waiting" and not waiting.done() and waiting.set_result(news))
        first = asyncio.ensure_future(client.connect())
        news = await within_patience(waiting)
        assert news["reason"] == "the server redirects to https://chat.example/ws"
        await within_patience(client.close())
        with pytest.raises(ClientError):
            await first


async def test_a_handler_that_raises_is_seen_and_stops_nobody(url):
    client, seen, told = ThrongClient(url, "a token", proxy=None), [], asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context["exception"]))

    def raises(_):
        raise ValueError("as the test says")

    client.on("ready", raises)
    client.on("ready", lambda _: told.set())
    await within_patience(client.connect())
    await within_patience(told.wait())
    assert [type(one) for one in seen] == [ValueError] and client.state == "online"
    await within_patience(client.close())


def program(*arguments):
    """Runs `python -m throng`."""
    return subprocess.run([sys.executable, "-B", "-m", "throng", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, "PYTHONPATH": str(SOURCES)})


def test_as_a_program_it_says_what_is_wrong():
    helped = program("--help")
    assert helped.returncode == 0 and "listen" in helped.stdout
    for arguments in ((), ("ws://127.0.0.1:1/ws", "token", "shout", "group")):
        refused = program(*arguments)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr and "python -m throng: error" in refused.stderr


def test_as_a_program_it_ends_with_one_line_where_it_is_refused(server):
    done = program(server.url, "no token", "say", "group", "hello")
    assert done.returncode == 1 and "70003" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = program("ftp://nowhere", "no token", "say", "group", "hello")
    assert done.returncode == 1 and "ftp://nowhere" in done.stderr and done.stderr.count("\n") == 1, done.stderr
