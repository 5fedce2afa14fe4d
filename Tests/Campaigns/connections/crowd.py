"""Idle sessions in processes of their own, by `crowd.c`."""
import asyncio
import json
import subprocess
from pathlib import Path

from harness.tokens import make_token

SOURCE = Path(__file__).with_name("crowd.c")
PATIENCE = 600


class CrowdFailed(Exception):
    """Some sessions could not be opened, or another command was not done."""


def build(directory):
    """The program."""
    program = Path(directory) / "crowd"
    subprocess.run(["cc", "-std=gnu11", "-O2", "-o", program, SOURCE], check=True)
    return program


class Crowd:
    """Users of one process at one address. `sources`: from so many addresses; 0: as the system chooses."""

    def __init__(self, program, directory, address, name, count, sources=0, group=None):
        self.program, self.directory, self.address, self.name = program, Path(directory), address, name
        self.count, self.sources, self.group = count, sources, group
        self.process = None

    async def start(self):
        tokens = self.directory / f"{self.name}.tokens"
        if not tokens.exists():
            lines = await asyncio.to_thread(lambda: [make_token(f"{self.name}-{number}") for number in range(self.count)])
            tokens.write_text("\n".join(lines) + "\n")
        host, port = self.address.rsplit(":", 1)
        words = [host, port, tokens, self.sources, *([self.group] if self.group else [])]
        self.process = await asyncio.create_subprocess_exec(
            self.program, *map(str, words), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        return self

    async def open(self, count, parallel=100):
        figures = await self._ask(f"open {count} {parallel}")
        if figures["failed"]:
            raise CrowdFailed(f"{self.name}: {figures['failed']} of {count} sessions were not opened: {figures['codes']}")
        return figures

    async def close(self, count):
        return await self._ask(f"close {count}")

    async def counts(self):
        return await self._ask("counts")

    async def _ask(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()
        async with asyncio.timeout(PATIENCE):
            answer = await self.process.stdout.readline()
        if not answer:
            raise CrowdFailed(f"{self.name} has ended with {await self.process.wait()}")
        figures = json.loads(answer)
        if figures["failure"]:
            raise CrowdFailed(f"{self.name}: {figures['failure']}")
        return figures

    async def kill(self):
        """All of its connections break."""
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
