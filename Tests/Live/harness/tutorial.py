"""Runs a page of the documentation from its own blocks of code, in their order, as its reader would.

    ```bash                   is typed into a terminal; it ends with 0, or runs "until Ctrl-C", as the words before say
    ```text                   is what the terminal says then: all of it, each line in its order
    ```python, ```yaml, …     is a file, whose first line is a comment with its name

"Terminal 2" in the words before a block says which terminal is meant; otherwise it is the one of the block before.
In a text, … stands for anything within the line, and a line of it alone for any lines. White space does not count,
and an indented line goes on with the one before it. The terminals have `throng`, `python3` and `node` on their path,
the repository's Scripts beside them, and the Python client installed; 8080, 8081 and 9000 become free ports.
"""
import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from .driven import NODE
from .ports import reserve_port
from .server import BINARY, REPOSITORY, clean_environment
from .waiting import within

CATALOGUE = REPOSITORY / "Sources/ThrongServer/Documentation.docc"
PATIENCE = 60
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FILES = {"python", "javascript", "yaml", "html"}
DONE = "\x01done "


class Block:
    """A block of code, with the words before it."""

    def __init__(self, language, text, words, line):
        self.language, self.text, self.line = language, text, line
        named = re.findall(r"[Tt]erminal\s+(\d)", words)
        self.terminal = int(named[-1]) if named else None
        self.is_endless = bool(re.search(r"until\s+Ctrl-C", words))

    @property
    def file(self):
        """The name of the file that the block holds."""
        name = re.match(r"(?://|#|<!--) (\S+)", self.text)
        assert name, f"line {self.line}: the first line names no file"
        return name[1]


def blocks(page, is_whole=True):
    """The blocks of a page. `is_whole`: all its code can be run; otherwise indented code, and that of no language, is
    left out."""
    found, end = [], 0
    for fence in FENCE.finditer(page):
        line = page.count("\n", 0, fence.start()) + 1
        words, end = page[end:fence.start()], fence.end()
        if fence[1] in FILES | {"bash", "text"}:
            found.append(Block(fence[1], fence[2], words, line))
        else:
            assert not is_whole, f"line {line}: code in {fence[1] or 'no language'} is not run"
        assert not is_whole or not re.search(r"^    \S", words, re.MULTILINE), f"before line {line}: code that is not run"
    assert "```" not in page[end:] and (not is_whole or not re.search(r"^    \S", page[end:], re.MULTILINE))
    return found


def lines_of(text):
    """The lines without white space; an indented one, or a closing bracket, goes on with the line before."""
    lines = []
    for line in text.split("\n"):
        short = re.sub(r"\s+", "", line)
        if lines and short and (line[0].isspace() or short[0] in "}])"):
            lines[-1] += short
        elif short:
            lines.append(short)
    return lines


def pattern_of(text):
    """The regular expression of a text that is shown, over lines with an end each."""
    parts = []
    for line in lines_of(text):
        parts.append(r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n")
    return re.compile("".join(parts))


class Terminal:
    """A shell, and what it has said that no block has shown yet."""

    def __init__(self, process):
        self.process = process
        self.said, self.status, self.command = "", None, None
        # Whether the rest may be anything: the last text ended with a line of … alone.
        self.is_open_ended = False
        self._changed = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, directory, environment):
        return cls(await asyncio.create_subprocess_exec(
            "bash", "--noprofile", "--norc", cwd=directory, env=environment, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True, limit=1 << 24))

    async def _read(self):
        while raw := await self.process.stdout.readline():
            line = raw.decode(errors="replace")
            if line.startswith(DONE):
                self.status = int(line[len(DONE):])
            else:
                self.said += line
            self._changed.set()

    async def _until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            self._changed.clear()
            left = deadline - time.monotonic()
            assert left > 0 and not self._reader.done(), f"{what}\nthe terminal said:\n{self.said[-4000:]}"
            try:
                await within(self._changed.wait(), left)
            except asyncio.TimeoutError:
                continue  # the next turn says what is missing
        return found

    async def type(self, block, file):
        """Begins a command; the one before has ended, and all that it said was shown."""
        await self.end()
        self.command, self.status, self.said, self.is_open_ended = block, None, "", False
        # Its commands read nothing that is typed later.
        self.process.stdin.write(f"source {file} </dev/null\nprintf '\\n{DONE}%d\\n' $?\n".encode())
        await self.process.stdin.drain()

    async def show(self, block, text):
        """Waits until the terminal says this."""
        pattern, fault = pattern_of(text), f"line {block.line} is not what is said:\n{text}"

        def shown():
            complete = "".join(line + "\n" for line in lines_of(self.said.rpartition("\n")[0]))
            found = pattern.match(complete)
            assert found or self.status is None, f"{fault}\nthe command ended, and the terminal said:\n{self.said[-4000:]}"
            return found
        found = await self._until(shown, fault)
        self.said = found.string[found.end():]
        self.is_open_ended = text.rstrip().endswith("\n…") or text.strip() == "…"

    async def end(self):
        """Waits for the end of the command, which succeeds and says nothing more."""
        if self.command is None:
            return
        assert not self.command.is_endless, f"the command of line {self.command.line} runs until Ctrl-C"
        await self._until(lambda: self.status is not None, f"the command of line {self.command.line} does not end")
        assert self.status == 0, f"the command of line {self.command.line} ended with {self.status}:\n{self.said[-4000:]}"
        self.demand_all_shown()
        self.command = None

    def demand_all_shown(self):
        rest = self.said.strip()
        if self.command:
            assert self.is_open_ended or not rest, f"after line {self.command.line}, not shown:\n{rest}"

    async def close(self):
        """Ends the shell and all that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended by itself
        await self.process.wait()
        await self._reader


def command_line(words):
    """A program with its first arguments, for a shell."""
    found = shutil.which(words[0])
    return shlex.join(map(str, [found or words[0], *words[1:]]))


class Reader:
    """Does what a page says, in a directory of its own."""

    def __init__(self, directory):
        self.directory, self.terminals = directory, {}
        self.ports = {port: reserve_port() for port in ("8080", "8081", "9000")}
        programs = directory / ".programs"
        programs.mkdir()
        for name, command in {"throng": [BINARY], "python3": [sys.executable, "-B"], "node": NODE}.items():
            (programs / name).write_text(f'#!/bin/sh\nexec {command_line(command)} "$@"\n')
            (programs / name).chmod(0o755)
        (directory / "Scripts").symlink_to(REPOSITORY / "Scripts")
        self.environment = clean_environment({
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(directory), "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": str(REPOSITORY / "Sources/Clients/python/src"),
            "THRONG_LISTEN": f"127.0.0.1:{self.ports['8080']}", "THRONG_INTERNAL_LISTEN": f"127.0.0.1:{self.ports['8081']}"})

    def text_of(self, block):
        """A block with the ports of this reader."""
        return re.sub(r"\b(?:8080|8081|9000)\b", lambda found: str(self.ports[found[0]]), block.text)

    async def read(self, page, is_whole=True):
        """Runs all blocks; at the end every terminal has said what the page shows and nothing else."""
        current = 1
        for block in blocks(page, is_whole):
            text = self.text_of(block)
            if block.language in FILES:
                (self.directory / block.file).write_text(text)
                continue
            current = block.terminal or current
            if current not in self.terminals:
                self.terminals[current] = await Terminal.open(self.directory, self.environment)
            terminal = self.terminals[current]
            if block.language == "bash":
                file = self.directory / f".block-{block.line}.sh"
                file.write_text(text)
                await terminal.type(block, file)
            else:
                await terminal.show(block, text)
        for terminal in self.terminals.values():
            if terminal.command and not terminal.command.is_endless:
                await terminal.end()
            terminal.demand_all_shown()

    def shown_by_git(self):
        """What the page has made, and `git status` would show in a checkout."""
        shutil.copy(REPOSITORY / ".gitignore", self.directory)
        environment = {**self.environment, "GIT_CONFIG_GLOBAL": os.devnull}
        for words in (["init", "--quiet"], ["status", "--porcelain", "-z"]):
            done = subprocess.run(
                ["git", *words], cwd=self.directory, env=environment, check=True, capture_output=True, text=True)
        names = [entry[3:] for entry in done.stdout.split("\0") if entry]
        own = {".gitignore", ".programs/", "Scripts"}
        return [name for name in names if name not in own and not name.startswith(".block-")]

    async def close(self):
        for terminal in self.terminals.values():
            await terminal.close()


@pytest.fixture
async def reader(tmp_path):
    """Nobody listens at its ports before the page starts a server."""
    one = Reader(tmp_path)
    yield one
    await one.close()
