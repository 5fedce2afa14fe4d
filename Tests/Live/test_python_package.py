"""The Python client as it is installed: its wheel in an environment of its own, and its types as a checker sees them."""
import asyncio
import email
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from harness.client import PATIENCE
from harness.driven import DRIVERS
from harness.server import BINARY, IS_CLUSTER, REPOSITORY, run_throng
from harness.tokens import make_token
from harness.waiting import within

PACKAGE = REPOSITORY / "Sources/Clients/python"
# PyPI may be slow.
INSTALLING = 300
PART_OF_THE_LIST, WHOLE_LIST = 500, 3600
# All tests share what one worker has installed.
pytestmark = pytest.mark.xdist_group("python-package")


def run(*command, environment=None, cwd=None, timeout=INSTALLING):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, cwd=cwd,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy: what lies beside the sources is not packed, and nothing is written there."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(PACKAGE, place / "python", ignore=shutil.ignore_patterns("__pycache__"))
    status, said = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
                       "--wheel-dir", place, place / "python")
    assert status == 0, said
    (built,) = place.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of a fresh environment with the wheel, and what it needs from PyPI."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    status, said = run(sys.executable, "-m", "venv", place)
    assert status == 0, said
    status, said = run(place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[stream]")
    assert status == 0, said
    return place / "bin/python"


def test_the_wheel_has_what_a_package_has(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = email.message_from_bytes(archive.read(next(name for name in names if name.endswith("/METADATA"))))
    modules = {f"throng/{path.name}" for path in (PACKAGE / "src/throng").glob("*.py")}
    assert modules | {"throng/py.typed"} == {name for name in names if name.startswith("throng/")}
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert about["Name"] == "throng-client" and about["License-Expression"] == "Apache-2.0"
    assert f"throng {about['Version']}" == run_throng("version").stdout.strip(), "the client has the server's version"
    assert about.get_all("Requires-Dist") == ["websockets>=15", "httpx>=0.27; extra == 'stream'"]
    assert wheel.name.endswith("-py3-none-any.whl") and wheel.stat().st_size < 130_000
    needs = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["requires-python"]
    assert about["Requires-Python"] == needs


# It works by itself, whatever lies in the working directory.


async def test_it_runs_as_a_program(python, server, world, tmp_path):
    owner, user = await world.user("owner"), world.name("frank")
    group = await world.group(owner)
    process = await asyncio.create_subprocess_exec(
        python, "-m", "throng", server.url, make_token(user), "say", group, "Hello", cwd=tmp_path, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT)
    said, _ = await within(process.communicate(), PATIENCE)
    assert (process.returncode, said.decode()) == (0, "stored\n")
    assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "Hello"


def test_without_the_extra_it_says_what_streams_need(wheel, tmp_path):
    status, said = run(sys.executable, "-m", "venv", tmp_path / "venv")
    assert status == 0, said
    status, said = run(tmp_path / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    assert status == 0, said
    program = "import throng; throng.ThrongClient('ws://a/ws', 'token'); throng.ThrongClient('ws://a/ws', 'token', transport='stream')"
    status, said = run(tmp_path / "venv/bin/python", "-c", program)
    assert status == 1 and 'pip install "httpx' in said and "[stream]" in said, said


@pytest.mark.skipif(IS_CLUSTER, reason="one server is enough")
@pytest.mark.parametrize("chosen, least, patience", [
    pytest.param(
        "test_connect or bad_token or start_shows or middle_of_a_send or test_forget or no_websocket_passes or comes_back_to", 9,
        PART_OF_THE_LIST, id="part"),
    pytest.param("", 120, WHOLE_LIST, id="all", marks=[pytest.mark.campaign, pytest.mark.timeout(WHOLE_LIST + 60)]),
])
def test_the_scenarios_pass_as_installed(python, chosen, least, patience):
    """A part of each list, and all of them, with the installed client behind the driver."""
    driver = {"name": "Python", "command": [str(python), "-B", str(DRIVERS / "driver.py")], "can": ["storage", "lock", "streams", "clock"]}
    status, said = run(
        sys.executable, "-B", "-m", "pytest", "-c", REPOSITORY / "Tests/Live/pytest.ini", "-p", "no:cacheprovider", "--no-header", "-rA",
        "test_clients.py", "test_client_storage.py", "test_client_streams.py", "-k", chosen, cwd=REPOSITORY / "Tests/Live",
        timeout=patience, environment={
            "THRONG_BINARY": str(BINARY), "THRONG_CLIENT_INSTALLED": "1", "PYTEST_XDIST_WORKER": "", "THRONG_CLIENT": json.dumps(driver)})
    passed, skipped = (int((re.search(rf"(\d+) {word}", said) or ["", "0"])[1]) for word in ("passed", "skipped"))
    # Browsers alone tell of their network.
    assert status == 0 and passed >= least and skipped <= (0 if chosen else 1), said


# Types


USE = '''
import asyncio

from throng import ErrorCode, Message, SQLiteStorage, StorageLimits, ThrongClient, ThrongError
from throng.types import Conversation, GroupInfo, GroupMessage, Position, RecvNewMessageEvent, SearchGroupMessagesParams, StateNews


async def main(saved: list[Position]) -> None:
    client = ThrongClient("wss://chat.example/ws", lambda: "a token", positions=saved, platform="iOS", queue_limit=5)
    ThrongClient("wss://chat.example/ws", "a token", user_id="ann", storage=SQLiteStorage("stores"),
                 storage_limits=StorageLimits(groups=5), transport="stream", token_timeout=5, proxy="http://proxy:3128")
    ThrongClient("wss://chat.example/ws", 7)  # error: arg-type
    session = await client.connect()
    until: int = session["tokenExpiresAt"]
    answer = await client.joinGroup(groupID="hello")
    is_pending: bool = answer["status"] == "Pending"
    await client.joinGroup()  # error: call-arg
    await client.joinGroup(groupID="hello", name="x")  # error: call-arg
    await client.joinGroups(groupID="hello")  # error: attr-defined
    await client.kickUser(userID="alice")  # error: attr-defined
    info: GroupInfo = (await client.getJoinedGroupList(count=200))["groupList"][0]
    unread: int = info["selfInfo"]["unreadCount"]
    search: SearchGroupMessagesParams = {"keywordList": ["a"], "from": 1}
    await client.searchGroupMessages(**search)

    def told(event: RecvNewMessageEvent) -> None:
        message: GroupMessage = event["message"]
        print(event["groupID"], message.get("text"), message["seq"] + 1)

    async def changed(news: StateNews) -> None:
        print(news["state"], news.get("retryInMs", 0) / 1000)

    stop = client.on("onRecvNewMessage", told)
    stop()
    client.on("state", changed)
    client.on("sync", lambda sync: print(sync["recovered"], [one["seq"] for one in sync["messageList"]]))
    client.on("message", lambda message: print(message.state, message.error))
    client.on("event", lambda name, params: print(name, params))
    client.on("state", told)  # error: call-overload
    client.on("onRecvMessage", told)  # error: call-overload
    message: Message = client.send_text("hello", "Hello!", priority="High", replyTo=1)
    client.send_text("hello", "Hello!", priority="Highest")  # error: arg-type
    client.send_text("hello", "Hello!", text="twice")  # error: misc
    state: str = (await message.done).state
    if isinstance(message.error, ThrongError) and message.error.code == ErrorCode.noSuchGroup:
        client.discard(message)
    conversations: list[Conversation] = await client.conversations(hidden=True)
    print(conversations[0]["info"]["groupName"], conversations[0]["canSend"], conversations[0].get("endedAt"))
    page = await client.messages("hello", before=7, count=20)
    print(page["source"], page["isFinished"], page["messageList"][0]["msgID"], until, is_pending, unread, state)
    async for name, params in client.events():
        print(name, params)
    await client.logout(forget=True)


asyncio.run(main([]))
'''


def check(python, path):
    return run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", path / "cache", path / "use.py")


def test_a_checker_finds_each_mistake_and_no_other(python, tmp_path):
    """Each line behind `# error` is a mistake."""
    (tmp_path / "use.py").write_text(USE)
    _, said = check(python, tmp_path)
    wanted = {number: line.split("# error: ")[1] for number, line in enumerate(USE.splitlines(), 1) if "# error: " in line}
    found = {}
    for number, kind in re.findall(r"use\.py:(\d+): error: .*\[([a-z-]+)\]", said):
        found.setdefault(int(number), kind)
    assert found == wanted, said


@pytest.mark.parametrize("version", ["3.10", "3.14"])
def test_the_package_itself_passes_the_strict_checks(version, tmp_path):
    status, said = run(sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--python-version", version,
                       "--cache-dir", tmp_path, cwd=PACKAGE)
    assert status == 0, said
