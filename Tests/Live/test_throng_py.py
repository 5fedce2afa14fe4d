"""What throng.py promises to programs in Python; its scenarios with a server are in test_clients.py."""
import asyncio
import json
import sys

import pytest
from websockets.asyncio.server import serve

from harness.client import PATIENCE
from harness.server import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "Scripts"))
from throng import ClientError, ThrongClient  # noqa: E402 - behind the path

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
    return await asyncio.wait_for(work, PATIENCE)


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

    client = ThrongClient(silent_url, token, proxy=None)
    connecting = asyncio.ensure_future(client.connect())
    await within_patience(asked.wait())
    # Sooner than the client gives up by itself.
    await asyncio.wait_for(client.close(), 15)
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
