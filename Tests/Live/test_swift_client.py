"""SwiftClient.md as an app's author reads it: a package of its own that depends on ThrongClient alone."""
import asyncio
import re

import pytest

from harness.client import PATIENCE
from harness.ports import reserve_port
from harness.server import REPOSITORY
from harness.swift_app import BUILD_PATIENCE, RELEASE, SwiftApp, example_of
from harness.tcp_proxy import TCPProxy
from harness.terminal import Terminal
from harness.tokens import make_token
from harness.waiting import within

PAGE = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/SwiftClient.md").read_text()
PATH_DEPENDENCY = '.package(path: "../throng", traits: [])'


def example(mark):
    return example_of(PAGE, mark)


def release_dependency():
    """The dependency of the page that takes a release: its version is this one."""
    found = re.findall(r"dependencies: \[\s+(\.package\(url: .*)\n", example("upToNextMinor"))
    assert len(found) == 1 and f'from: "{RELEASE}"' in found[0] and '"https://git.example/throng"' in found[0]
    return found[0]


# An app in which the lines of a terminal stand for the events of a phone.
PHONE = """
import Foundation
import ThrongClient

func say(_ line: String) { FileHandle.standardOutput.write(Data("\\(line)\\n".utf8)) }

let (address, token, groupID) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
guard let url = URL(string: address) else { fatalError("no address: \\(address)") }
let session = ChatSession(url: url, token: { token }, deviceID: "phone") { event in
  switch event {
  case .server(.onRecvNewMessage(let event)): say("live: \\(event.message.text ?? "")")
  case .sync(let sync): for message in sync.messageList { say("missed: \\(message.text ?? "")") }
  case .message(let own): say("own: \\(own.state)\\(own.error.map { ", \\(words(for: $0))" } ?? "")")
  case .ready: say("ready")
  default: break
  }
}
while let line = readLine() {
  switch line {
  case "front": await session.start()
  case "background":
    await session.stop()
    say("stopped")
  default: if await session.send(line, to: groupID) == nil { say("not sent") }
  }
}
"""


@pytest.fixture
def app(tmp_path):
    return SwiftApp(tmp_path, "say")


async def end_of(*command):
    """The exit status of a program, what it prints, and what it complains of."""
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    said, complained = await within(process.communicate(), PATIENCE)
    return process.returncode, said.decode(), complained.decode()


# It builds with all processors.
@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_the_client_alone(server, world, app):
    """The page as it stands there, without a change."""
    manifest = example("// swift-tools-version")
    assert PATH_DEPENDENCY in manifest
    main = example("// main.swift")
    output = await app.build(
        manifest, main=main, Follow=example("func follow"), Words=example("func words"), Chats=example("func showChats"))
    assert app.checkouts == [], output
    say = app.program

    owner, user = await world.user("owner"), world.name("dave")
    group = await world.group(owner)
    for text in ("Hello from Swift", "Hello again"):
        assert await end_of(say, server.url, make_token(user), group, text) == (0, f"{user}: stored\n", "")
        assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text

    # What goes wrong is a line and an exit status, no crash.
    assert await end_of(say) == (1, "", "say: usage: say ADDRESS TOKEN GROUP TEXT\n")
    status, said, complained = await end_of(say, server.url, make_token(user), "no-such-group", "Hello")
    assert (status, said) == (1, "") and re.fullmatch(r"say: joinGroup: .+ \(10010\)\n", complained)
    status, said, complained = await end_of(say, server.url, "no token", group, "Hello")
    assert (status, said) == (1, "") and re.fullmatch(r"say: login: .+ \(70003\)\n", complained)
    status, said, complained = await end_of(say, "ftp://127.0.0.1/ws", "a token", group, "Hello")
    assert (status, said) == (1, "") and complained.startswith("say: ") and complained.count("\n") == 1

    nowhere = f"ws://127.0.0.1:{reserve_port()}/ws"
    process = await asyncio.create_subprocess_exec(say, nowhere, "a token", group, "Hello", stderr=asyncio.subprocess.PIPE)
    try:
        line = (await within(process.stderr.readline(), PATIENCE)).decode()
    finally:
        process.kill()
        await process.wait()
    assert re.fullmatch(rf"throng: not connected to {nowhere}: \S.*; next try in \d+\.\d s\n", line)
    assert main.count(".seconds(30)") == 1
    await app.build(manifest, main=main.replace(".seconds(30)", ".milliseconds(1)"))
    status, said, complained = await end_of(say, nowhere, "a token", group, "Hello")
    assert (status, said, complained.splitlines()[-1]) == (1, "", "say: given up after 30 s")


@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_a_release(app):
    """SwiftPM refuses unsafe flags in a dependency that has a version."""
    manifest = example("// swift-tools-version").replace(PATH_DEPENDENCY, release_dependency())
    output = await app.build(manifest.replace("https://git.example/throng", app.package.as_uri()), main=example("// main.swift"))
    assert app.checkouts == ["throng"], output


@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_that_comes_and_goes(server, world, app):
    """Nothing is lost or told twice from one client to the next."""
    await app.build(
        example("// swift-tools-version"), main=PHONE, ChatSession=example("actor ChatSession"), Words=example("func words"))
    owner, user = await world.user("owner"), world.name("dave")
    group = await world.group(owner, "Meeting", memberList=[{"userID": user}])
    proxy = await TCPProxy.start(server.address)
    phone = await Terminal.open([app.program], proxy.url, make_token(user), group)

    async def lines(count):
        return [await phone.line() for _ in range(count)]

    async def say(text):
        await owner.call("sendGroupTextMessage", groupID=group, text=text)

    async def heard():
        return (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"]

    try:
        await phone.type("front")
        assert await lines(1) == ["ready"]
        await say("first")
        assert await lines(1) == ["live: first"]
        await phone.type("mine")
        assert (await lines(2), await heard()) == (["own: sending", "own: stored"], "mine")
        await phone.type("background")
        assert await lines(1) == ["stopped"]
        await phone.type("nobody takes this")
        assert await lines(1) == ["not sent"]
        await say("second")
        await phone.type("front")
        assert await lines(2) == ["missed: second", "ready"]
        # What was typed without a network leaves with the next client, once.
        proxy.refuse()
        proxy.cut()
        assert (await phone.complaint()).startswith("throng: not connected to ")
        await phone.type("typed while away")
        assert await lines(1) == ["own: sending"]
        await phone.type("background")
        assert await lines(2) == ["own: failed, There is no connection.", "stopped"]
        await say("third")
        proxy.refuse(False)
        await phone.type("front")
        assert await lines(4) == ["own: sending", "missed: third", "ready", "own: stored"]
        assert await heard() == "typed while away"
        await phone.type("background")
        assert await lines(1) == ["stopped"]
        assert await phone.end() == ("", 0)
        page = await owner.call("getGroupHistoryMessageList", groupID=group)
        texts = [message["text"] for message in reversed(page["messageList"]) if message["type"] == "Text"]
        assert texts == ["first", "mine", "second", "third", "typed while away"]
    finally:
        await phone.kill()
        await proxy.end()
