"""What the programs of the pages do where no server answers: they say so, and those that say one thing give up. Clients.md has
tests of its own (test_clients_page.py)."""
import asyncio
import re
import shutil

import pytest

from harness.client import PATIENCE
from harness.driven import has_node
from harness.server import REPOSITORY
from harness.tutorial import CATALOGUE, FILES, blocks
from harness.waiting import within


async def end_of(reader, page, file, *words, in_haste=None):
    """The exit status of a program of a page, and what it says; `in_haste` has what takes the place of its patience."""
    if file.endswith(".mjs") and not has_node():
        pytest.skip("there is no Node with a WebSocket")
    (block,) = [
        block for block in blocks((CATALOGUE / f"{page}.md").read_text(), is_whole=False)
        if block.language in FILES and re.match(rf"(?://|#) {re.escape(file)}\n", block.text)]
    text = reader.text_of(block)
    for patience, none in (in_haste or {}).items():
        assert text.count(patience) == 1
        text = text.replace(patience, none)
    (reader.directory / file).write_text(text)
    shutil.copy(REPOSITORY / "Sources/Clients/js/throng.js", reader.directory / "throng.mjs")
    process = await asyncio.create_subprocess_exec(
        "node" if file.endswith(".mjs") else "python3", file, *words, cwd=reader.directory,
        env=reader.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    said, _ = await within(process.communicate(), 3 * PATIENCE)
    return process.returncode, said.decode()


@pytest.mark.parametrize("page, file, words", [
    ("Tutorials/VoiceRoom", "room.mjs", ["alice", "a token", "open"]),
    ("Tutorials/VoiceRoom", "burst.mjs", ["a token", "another"]),
    ("Tutorials/Classroom", "act.py", ["a token", "say", "Hello"]),
    ("Tutorials/WorkChat", "comeback.py", ["a token"]),
    ("Tutorials/MovingFromTencent", "moved.py", ["a token", "Hello"]),
])
async def test_a_program_with_a_client_gives_up(reader, page, file, words):
    haste = {"30_000": "1"} if file.endswith(".mjs") else {"timeout=30)": "timeout=0.01)"}
    status, said = await end_of(reader, page, file, *words, in_haste=haste)
    assert (status, said.splitlines()[-1]) == (1, "given up after 30 s"), said


@pytest.mark.parametrize("page, file, words", [
    ("GettingStarted", "chat.py", ["URL", "a-token", "hello"]), ("GettingStarted", "say.mjs", ["URL", "a-token", "hello", "Hello"]),
    ("Tutorials/FirstMessage", "wire.py", ["URL", "a-token"]), ("SignIn", "signin.py", ["a-token"]),
])
async def test_a_program_without_one_says_that_no_server_answers(reader, page, file, words):
    url = f"ws://127.0.0.1:{reader.ports['8080']}/ws"
    status, said = await end_of(reader, page, file, *(url if word == "URL" else word for word in words))
    assert status == 1 and said.startswith("no server answers") and "Traceback" not in said, said
