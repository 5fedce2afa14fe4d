"""The programs of Tests/Campaigns, as their scripts start them: with the server and the Python of this run."""
import asyncio
import os
import signal
import subprocess
import sys

from .server import BINARY, REPOSITORY


def run_script(name, *words):
    """Runs Scripts/NAME to its end; gives the completed process with text output."""
    environment = {**os.environ, "THRONG_BINARY": str(BINARY), "THRONG_PYTHON": sys.executable}
    command = [str(REPOSITORY / "Scripts" / name), *map(str, words)]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def numbers(text):
    """The value of an option such as `--members 1000,3000`."""
    return [int(word) for word in text.split(",")]


def run_campaign(work):
    """The result of a program's coroutine. SIGTERM cancels it, as SIGINT does, so that it ends what it has started."""
    async def main():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        return await work

    return asyncio.run(main())
