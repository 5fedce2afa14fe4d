"""The three programs of WholeChat.md, as they stand there: what they print is the same, whatever happens to their
connections."""
import re
import shutil
import sys

import pytest

from harness.client import PATIENCE
from harness.driven import NODE, has_node
from harness.server import REPOSITORY
from harness.swift_app import BUILD_PATIENCE, SwiftApp, example_of
from harness.tcp_proxy import TCPProxy
from harness.terminal import Terminal
from harness.tokens import OTHER_SECRET, make_token

CATALOGUE = REPOSITORY / "Sources/ThrongServer/Documentation.docc"
PAGE = (CATALOGUE / "WholeChat.md").read_text()
MANIFEST = example_of((CATALOGUE / "SwiftClient.md").read_text(), "// swift-tools-version")


def block(language):
    """The one block of the page in this language."""
    blocks = re.findall(rf"\n```{language}\n(.*?)```\n", PAGE, re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


async def program(language, directory):
    """The command of the program, beside its library."""
    if language == "javascript":
        if not has_node():
            pytest.skip("there is no Node with a WebSocket")
        shutil.copy(REPOSITORY / "Sources/Clients/js/throng.js", directory / "throng.mjs")
        (directory / "chat.mjs").write_text(block(language))
        return [*NODE, directory / "chat.mjs"]
    if language == "python":
        shutil.copytree(REPOSITORY / "Sources/Clients/python/src/throng", directory / "throng")
        (directory / "chat.py").write_text(block(language))
        return [sys.executable, "-B", directory / "chat.py"]
    app = SwiftApp(directory, "chat")
    assert MANIFEST.count('"say"') == 2
    await app.build(
        MANIFEST.replace('"say"', '"chat"'), main=example_of(PAGE, "// main.swift"), Chat=example_of(PAGE, "// Chat.swift"))
    return [app.program]


@pytest.mark.timeout(BUILD_PATIENCE)
@pytest.mark.parametrize("language", ["javascript", "python", pytest.param("swift", marks=pytest.mark.heavy)])
async def test_a_whole_chat(server, world, tmp_path, language):
    command = await program(language, tmp_path)
    owner, user = await world.user("owner"), world.name("dave")
    # Its members see what was said before they came.
    group = await world.group(owner, "Meeting", groupID=f"chat-of-{user}")

    async def say(text):
        return (await owner.call("sendGroupTextMessage", groupID=group, text=text))["seq"]

    async def heard(text):
        message = (await owner.expect("onRecvNewMessage", groupID=group))["message"]
        assert message["text"] == text and message["sender"] == user
        return message["seq"]

    old, first = await say("old"), await say("first")
    proxy = await TCPProxy.start(server.address)
    terminal = await Terminal.open(command, proxy.url, make_token(user), group)
    try:
        # History, and what is said, edited and recalled.
        assert [await terminal.line() for _ in range(2)] == [f"{old} {owner.user}: old", f"{first} {owner.user}: first"]
        live = await say("live")
        assert await terminal.line() == f"{live} {owner.user}: live"
        await owner.call("modifyGroupMessage", groupID=group, seq=live, text="live, edited")
        assert await terminal.line() == f"{live} {owner.user}: live, edited"
        await owner.call("revokeGroupMessage", groupID=group, seq=first)
        assert await terminal.line() == f"{first} {owner.user}: (recalled)"
        # An own message, and one that the group does not let through.
        await terminal.type("mine")
        assert await terminal.line() == "> mine"
        mine = await heard("mine")
        assert await terminal.line() == f"{mine} {user}: mine"
        await owner.call("setGroupInfo", groupID=group, allMuted=True)
        await terminal.type("not now")
        assert await terminal.line() == "> not now"
        assert (await terminal.line()).startswith("! not now: ")
        await owner.call("setGroupInfo", groupID=group, allMuted=False)
        # Meanwhile: a message, an edit, a recall, and a message of its own.
        proxy.refuse()
        proxy.cut()
        assert re.fullmatch(rf"throng: not connected to {proxy.url}: \S.*; next try in \d+\.\d s", await terminal.complaint())
        await terminal.type("typed while away")
        assert await terminal.line() == "> typed while away"
        missed = await say("missed")
        await owner.call("modifyGroupMessage", groupID=group, seq=live, text="edited meanwhile")
        await owner.call("revokeGroupMessage", groupID=group, seq=old)
        proxy.refuse(False)
        told = {await terminal.line() for _ in range(4)}
        own = await heard("typed while away")
        assert told == {f"{missed} {owner.user}: missed", f"{live} {owner.user}: edited meanwhile", f"{old} {owner.user}: (recalled)",
                        f"{own} {user}: typed while away"}
        # What is typed last is sent before the end, and nothing was told twice.
        await terminal.type("the end")
        rest, status = await terminal.end()
        end = await heard("the end")
        assert (rest, status) == (f"> the end\n{end} {user}: the end\n", 0)
        # The second time it is a member already, and sees all of it as it is.
        terminal = await Terminal.open(command, proxy.url, make_token(user), group)
        seen = [await terminal.line()]
        while seen[-1] != f"{end} {user}: the end":
            seen.append(await terminal.line())
        assert seen[:3] == [f"{old} {owner.user}: (recalled)", f"{first} {owner.user}: (recalled)", f"{live} {owner.user}: edited meanwhile"]
        assert seen[3:] == [f"{seq} {who}: {text}" for seq, who, text in sorted(
            [(mine, user, "mine"), (missed, owner.user, "missed"), (own, user, "typed while away"), (end, user, "the end")])]
        # Another history under the same name, of which nothing can be caught up.
        proxy.refuse()
        proxy.cut()
        await terminal.complaint()
        await owner.call("dismissGroup", groupID=group)
        await owner.call("createGroup", groupType="Meeting", groupName="again", groupID=group, memberList=[{"userID": user}])
        new = await say("new")
        proxy.refuse(False)
        assert await terminal.line() == f"{new} {owner.user}: new"
        newer = await say("newer")
        assert await terminal.line() == f"{newer} {owner.user}: newer"
        assert await terminal.end() == ("", 0)
        # A token that no server takes ends it.
        terminal = await Terminal.open(command, server.url, make_token(user, secret=OTHER_SECRET), group)
        assert (await terminal.end()) == ("", 1)
    finally:
        await terminal.kill()
        await proxy.end()
