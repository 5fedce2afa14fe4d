"""The examples of Clients.md, run as they stand there."""
import asyncio
import http.server
import re
import sys
import threading
from functools import partial

import pytest

from harness.client import PATIENCE
from harness.driven import NODE, has_node
from harness.ports import reserve_port
from harness.server import REPOSITORY
from harness.tcp_proxy import TCPProxy
from harness.tokens import make_token
from harness.waiting import within

PAGE = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/Clients.md").read_text()


def example(language, mark):
    """The one block of code in this language that holds the mark."""
    blocks = [block for block in re.findall(rf"\n```{language}\n(.*?)```\n", PAGE, re.DOTALL) if mark in block]
    assert len(blocks) == 1, (mark, len(blocks))
    return blocks[0]


@pytest.fixture
def node(server, tmp_path):
    """A folder with the library, as a reader of the page has it."""
    if not has_node():
        pytest.skip("there is no Node with a WebSocket")
    answer = server.http("GET", "/throng.js", public=True)
    assert answer.status == 200 and answer.headers["content-type"] == "text/javascript; charset=utf-8"
    (tmp_path / "throng.mjs").write_bytes(answer.body)
    for name in ("send.mjs", "follow.mjs"):
        (tmp_path / name).write_text(example("javascript", f"// {name}"))
    return tmp_path


async def run(*command, cwd):
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    text, _ = await within(process.communicate(), 3 * PATIENCE)
    return process.returncode, text.decode()


async def test_a_message_is_sent_from_node(server, world, node):
    owner = await world.user("owner")
    group, user = await world.group(owner), world.name("dave")
    # The second time the user is a member already.
    for text in ("Hello from Node", "Hello again"):
        assert await run(*NODE, "send.mjs", server.url, make_token(user), group, text, cwd=node) == (0, f"{user}: stored\n")
        assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text


async def test_without_a_websocket_the_library_says_which_node_has_one(node):
    (node / "old.mjs").write_text(
        'import { ThrongClient } from "./throng.mjs";\n'
        "delete globalThis.WebSocket;\n"
        'try { new ThrongClient({ url: "ws://127.0.0.1/ws", token: "a token" }); } catch (error) { console.log(`${error}`); }\n')
    status, said = await run(*NODE, "old.mjs", cwd=node)
    assert (status, said) == (
        0, "TypeError: There is no global WebSocket: Node has one from 22 on, or with --experimental-websocket; others need a class as "
        "the option WebSocket.\n")


@pytest.fixture
def nowhere():
    """An address at which no server listens."""
    return f"ws://127.0.0.1:{reserve_port()}/ws"


async def first_line(*command, cwd):
    """The first line that a program writes to stderr, which then is killed."""
    process = await asyncio.create_subprocess_exec(*map(str, command), cwd=cwd, stderr=asyncio.subprocess.PIPE)
    try:
        return (await within(process.stderr.readline(), PATIENCE)).decode()
    finally:
        process.kill()
        await process.wait()


NOT_CONNECTED = r"throng: not connected to {}: \S.*; next try in \d+\.\d s\n"


async def test_send_says_that_no_server_answers_and_gives_up(node, nowhere):
    command = (*NODE, "send.mjs", nowhere, "a token", "hello", "Hello")
    assert re.fullmatch(NOT_CONNECTED.format(nowhere), await first_line(*command, cwd=node))
    hasty = (node / "send.mjs").read_text()
    assert hasty.count("30_000") == 1
    (node / "send.mjs").write_text(hasty.replace("30_000", "1"))
    status, said = await run(*command, cwd=node)
    assert (status, said.splitlines()[-1]) == (1, "given up after 30 s")


async def test_send_says_why_it_was_refused(server, world, node):
    user = world.name("dave")
    status, said = await run(*NODE, "send.mjs", server.url, make_token(user), "no-such-group", "Hello", cwd=node)
    assert status == 1 and "ThrongError" in said and "10010" in said


@pytest.fixture
def python(monkeypatch):
    """Python as a reader of the page has it: the package is installed."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "Sources/Clients/python/src"))
    return [sys.executable, "-B"]


async def test_say_says_that_no_server_answers_and_gives_up(nowhere, tmp_path, python):
    (tmp_path / "tell.py").write_text(example("python", "# tell.py"))
    for command in (["-m", "throng", nowhere, "a token", "say", "hello", "Hello"], ["-m", "throng", nowhere, "a token", "listen", "hello"],
                    ["tell.py", nowhere, "a token", "hello"]):
        assert re.fullmatch(NOT_CONNECTED.format(nowhere), await first_line(*python, *command, cwd=tmp_path))
    given_up = await run(*python, "-m", "throng", nowhere, "a token", "say", "hello", "Hello", "--timeout", "0.01", cwd=tmp_path)
    assert given_up[0] == 1 and given_up[1].splitlines()[-1] == "given up after 0.01 s"
    hasty = (tmp_path / "tell.py").read_text()
    assert hasty.count("timeout=30") == 1
    (tmp_path / "tell.py").write_text(hasty.replace("timeout=30", "timeout=0.01"))
    given_up = await run(*python, "tell.py", nowhere, "a token", "hello", cwd=tmp_path)
    assert given_up[0] == 1 and given_up[1].splitlines()[-1] == "given up after 30 s"


async def test_a_group_is_followed_across_connections(server, world, node):
    owner = await world.user("owner")
    user = world.name("erin")
    group = await world.group(owner)
    server.rpc("joinGroup", asUser=user, groupID=group)
    proxy = await TCPProxy.start(server.address)
    process = await asyncio.create_subprocess_exec(
        *NODE, "follow.mjs", proxy.url, make_token(user), group, cwd=node, stdout=asyncio.subprocess.PIPE)

    async def line():
        return (await within(process.stdout.readline(), PATIENCE)).decode().rstrip()
    try:
        assert [await line() for _ in range(3)] == ["[connecting]", "[online]", "[ready]"]
        seq = (await owner.call("sendGroupTextMessage", groupID=group, text="live"))["seq"]
        assert await line() == f"{owner.user}: live"
        proxy.refuse()
        proxy.cut()
        await owner.call("sendGroupTextMessage", groupID=group, text="missed")
        await owner.call("revokeGroupMessage", groupID=group, seq=seq)
        proxy.refuse(False)
        told = []
        while told[-1:] != ["[back, 0 groups left]"]:
            told.append(await line())
        assert told[-4:] == ["[online]", f"{owner.user}: recalled", f"{owner.user}: missed", "[back, 0 groups left]"]
    finally:
        process.kill()
        await process.wait()
        await proxy.end()


async def test_python(server, world, tmp_path, python):
    owner, user = await world.user("owner"), world.name("frank")
    group = await world.group(owner)
    (tmp_path / "tell.py").write_text(example("python", "# tell.py"))
    listener = await asyncio.create_subprocess_exec(
        *python, "-m", "throng", server.url, make_token(world.name("listener")), "listen", group, cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE)
    try:
        assert (await within(listener.stdout.readline(), PATIENCE)).decode() == f"[in {group}]\n"
        assert await run(*python, "tell.py", server.url, make_token(user), group, cwd=tmp_path) == (0, "stored\nmembers: 3\n")
        said = await run(*python, "-m", "throng", server.url, make_token(user), "say", group, "Hello from Python", cwd=tmp_path)
        assert said == (0, "stored\n")
        for text in ("Hello from asyncio", "Hello from Python"):
            assert (await within(listener.stdout.readline(), PATIENCE)).decode() == f"{user}: {text}\n"
    finally:
        listener.kill()
        await listener.wait()


async def test_python_with_a_store(server, world, tmp_path, python):
    """A start shows what the last one has left, also without a server; what is written then the next one sends."""
    owner, user = await world.user("owner"), world.name("frank")
    group = await world.group(owner)
    server.rpc("joinGroup", asUser=user, groupID=group)
    program = example("python", "# remember.py")
    assert program.count("timeout=10)") == 1
    proxy = await TCPProxy.start(server.address)

    async def remember(text, patience):
        (tmp_path / "remember.py").write_text(program.replace("timeout=10)", f"timeout={patience})"))
        status, said = await run(*python, "remember.py", proxy.url, make_token(user), user, group, text, cwd=tmp_path)
        assert status == 0, said
        return [line for line in said.splitlines() if not line.startswith("throng: ")]

    try:
        first, *said = await remember("one", PATIENCE)
        # The connection may be there as soon as the store.
        assert first.startswith("[") and said == ["[None, 'one'] from both", "stored"]
        stored, first, *said = await remember("two", PATIENCE)
        assert stored == f"stored: {group} member" and first.startswith("[None, 'one'] from ")
        assert said == ["['one', 'two'] from stored", "stored"]
        proxy.refuse()
        assert await remember("three", 0.01) == [
            stored, "['one', 'two'] from stored", "no server answers: what is not sent waits in the store", "sending"]
        proxy.refuse(False)
        shown = await remember("four", PATIENCE)
        assert shown[:2] == [stored, "not sent yet: three"] and shown[-2:] == ["['three', 'four'] from stored", "stored"]
    finally:
        await proxy.end()


async def test_somebody_is_let_in(server, world, tmp_path, python):
    group, owner, applicant = world.name("invited"), world.name("olga"), world.name("paul")
    for name in ("owner.py", "applicant.py"):
        (tmp_path / name).write_text(example("python", f"# {name}"))
    owning = asyncio.create_task(run(*python, "owner.py", server.url, make_token(owner), group, cwd=tmp_path))
    await asyncio.to_thread(
        server.wait_until, lambda: server.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"][0]["code"] == 0, "a group")
    applied = await run(*python, "applicant.py", server.url, make_token(applicant), group, cwd=tmp_path)
    assert applied == (0, "Pending\nlet in\n")
    assert await owning == (0, f"{applicant} asks: I bring cake\n")


@pytest.mark.heavy
async def test_a_page_of_another_origin(make_server, make_world, browser, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{site.server_port}"
    own = make_server({"allowedOrigins": origin})
    text = example("html", "throng.js")
    assert text.count("127.0.0.1:8080") == 2
    (folder / "index.html").write_text(text.replace("127.0.0.1:8080", own.address))
    owner = await make_world(own).user("owner")
    group = await make_world(own).group(owner)
    try:
        page = await browser.open(f"{origin}/#{make_token('reader')},{group}")
        await page.sees(f"In {group}", "#last")
        await owner.call("sendGroupTextMessage", groupID=group, text="Hello, page")
        await page.sees("Hello, page", "#last")
    finally:
        site.shutdown()
        site.server_close()
