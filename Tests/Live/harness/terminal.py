"""A program that reads lines, and prints some."""
import asyncio

from harness.client import PATIENCE

from .waiting import within


class Terminal:
    """A program in a terminal."""

    def __init__(self, process):
        self.process = process

    @classmethod
    async def open(cls, command, *arguments):
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*map(str, command), *arguments, stdin=pipe, stdout=pipe, stderr=pipe))

    async def type(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def line(self):
        return (await within(self.process.stdout.readline(), PATIENCE)).decode().rstrip("\n")

    async def complaint(self):
        return (await within(self.process.stderr.readline(), PATIENCE)).decode().rstrip("\n")

    async def end(self):
        """The end of the input: what else was printed, and the exit status."""
        self.process.stdin.close()
        rest = await within(self.process.stdout.read(), PATIENCE)
        return rest.decode(), await within(self.process.wait(), PATIENCE)

    async def kill(self):
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
