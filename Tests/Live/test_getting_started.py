"""GettingStarted.md, run as it stands there: its blocks in bash, Python and JavaScript by `harness/tutorial.py`, the
frames of "Chat from two terminals" on two connections. What it says of proxies and containers is in test_deploy.py and
test_service.py. And what README.md shows: its frames, and that the files and commands which it names are there."""
import asyncio
import json
import re

import pytest
from websockets.asyncio.client import connect

from harness.client import PATIENCE
from harness.driven import has_node
from harness.server import REPOSITORY, run_throng
from harness.tokens import admin_token, make_token
from harness.tutorial import CATALOGUE
from harness.waiting import within

PAGE = (CATALOGUE / "GettingStarted.md").read_text()
README = (REPOSITORY / "README.md").read_text()
# These are others each time.
VOLATILE = {"sessionID", "serverTime", "tokenExpiresAt", "opTime", "timestamp", "msgID"}


def essence(value):
    """A frame without what differs each time."""
    if isinstance(value, dict):
        return {name: "…" if name in VOLATILE else essence(one) for name, one in value.items()}
    return [essence(one) for one in value] if isinstance(value, list) else value


class Person:
    """The interactive client of the page."""

    def __init__(self, socket):
        self.socket, self.frames = socket, []

    async def sees(self, frame):
        """Waits for the frame; events and replies may come in either order."""
        while essence(frame) not in map(essence, self.frames):
            try:
                self.frames.append(json.loads(await within(self.socket.recv(), PATIENCE)))
            except asyncio.TimeoutError:
                raise AssertionError(f"not seen: {frame}\nbut {self.frames}") from None


async def chat(page, reader):
    """Types what stands behind > and waits for what stands behind <, as the person named before the block."""
    people = {}
    for name in ("alice", "bob"):
        process = await asyncio.create_subprocess_exec(
            "throng", "token", name, cwd=reader.directory, env=reader.environment, stdout=asyncio.subprocess.PIPE)
        token = (await process.communicate())[0].decode().strip()
        url = f"ws://127.0.0.1:{reader.ports['8080']}/ws?token={token}"
        people[name] = Person(await connect(url, proxy=None, open_timeout=PATIENCE, ping_interval=None))
    shown = 0
    for words, block in re.findall(r"([^\n]*)\n\n```\n([<>].*?)```\n", page, re.DOTALL):
        person = people["bob" if words.startswith("Bob") else "alice"]
        for sign, text in re.findall(r"^([<>]) (.*(?:\n   .*)*)", block, re.MULTILINE):
            shown += 1
            frame = json.loads(re.sub(r"\n\s*", "", text))
            await (person.socket.send(json.dumps(frame)) if sign == ">" else person.sees(frame))
    for person in people.values():
        await person.socket.close()
    return shown


@pytest.mark.one_process("the page shows the output of one process")
@pytest.mark.timeout(300)
async def test_the_page_does_what_it_shows(reader):
    if not has_node():
        pytest.skip("there is no Node with a WebSocket")
    start, rest = PAGE.split("## Chat from two terminals\n")
    frames, rest = rest.split("## Listen in Python\n")
    await reader.read(start, is_whole=False)
    assert await chat(frames, reader) == 10
    await reader.read(rest, is_whole=False)
    assert reader.shown_by_git() == []


async def test_the_frames_of_the_readme(server):
    shown = re.findall(r"^    ([→←]) (.*)$", README, re.MULTILINE)
    assert len(shown) == 4
    url = f"{server.url}?token={make_token('reader-of-the-readme')}"
    async with connect(url, proxy=None, open_timeout=PATIENCE, ping_interval=None) as socket:
        person = Person(socket)
        for sign, text in shown:
            await (socket.send(text) if sign == "→" else person.sees(json.loads(text)))


@pytest.mark.one_process("its groupID is a fixed one")
def test_the_first_message_of_the_readme(make_server):
    own = make_server()
    bodies = [json.loads(text) for text in re.findall(r"^    rpc '(\{.*\})'$", README, re.MULTILINE)]
    assert [body["method"] for body in bodies] == ["createGroup", "sendGroupTextMessage", "getGroupHistoryMessageList"]
    results = []
    for body in bodies:
        answer = own.http("POST", "/rpc", body=json.dumps(body), headers={"Authorization": f"Bearer {admin_token()}"}).json()
        assert "error" not in answer, answer
        results.append(answer["result"])
    assert results[1]["status"] == "Stored" and results[2]["messageList"][0]["text"] == "Hello!"


def test_the_readme_names_the_files_of_this_version():
    """Those that Scripts/package makes, and the package's image."""
    version = re.search(r"\d+\.\d+\.\d+", run_throng("version").stdout)[0]
    named = re.findall(r"throng[_:-](\d+\.\d+\.\d+)", README)
    assert len(named) >= 5 and set(named) == {version}


def test_the_readme_names_what_is_there():
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]*)\)", README)]
    scripts = re.findall(r"`(Scripts/[a-z./-]+|Tests/[A-Za-z]+)", README)
    assert len(links) > 10 and len(scripts) > 8
    assert [name for name in {*links, *scripts} if not (REPOSITORY / name).exists()] == []


def test_the_readme_names_commands_that_are_there():
    commands = set(re.findall(r"`throng ((?:[a-z]+ ?)+)", README))
    assert {"token alice ", "config example", "store check", "health", "bench"} <= commands
    for command in commands:
        words = [word for word in command.split() if word not in ("alice",)]
        done = run_throng(*words, "--help")
        assert done.returncode == 0 and done.stdout.split("\n")[0], (command, done)
