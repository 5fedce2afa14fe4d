"""Scripts/client-scenarios: the scenarios of clients as a program for anybody's client (documentation page
WriteYourOwnClient)."""
import asyncio
import os
import re
import sys

import pytest

from harness.driven import DRIVERS
from harness.server import BINARY, IS_CLUSTER, REPOSITORY
from harness.waiting import within

PROGRAM = REPOSITORY / "Scripts/client-scenarios"
PATIENCE = 300
pytestmark = [
    pytest.mark.skipif(not (REPOSITORY / ".build-live/bin/pytest").exists(), reason="Scripts/test has not made .build-live"),
    pytest.mark.skipif(IS_CLUSTER, reason="one server is enough")]


async def run(*words):
    environment = {**os.environ, "THRONG_BINARY": str(BINARY)}
    # What fails here is meant to, and is none of this run's tests.
    environment.pop("THRONG_FAILED", None)
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *map(str, words), env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT)
    said, _ = await within(process.communicate(), PATIENCE)
    return process.returncode, said.decode()


async def test_it_lists_the_scenarios():
    status, said = await run("--list")
    lines = said.splitlines()
    assert status == 0 and len(lines) > 100 and len(set(lines)) == len(lines)
    assert any(line.startswith("connect: A session") for line in lines)
    assert any(re.match(r"a start shows what is stored \[storage\]: ", line) for line in lines)


async def test_it_runs_them_against_a_client_of_anybodys():
    status, said = await run("mine", sys.executable, "-B", DRIVERS / "driver.py", "--", "-k", "test_connect or bad_token")
    assert status == 0, said
    assert "test_connect[mine]" in said and "2 passed" in said


async def test_a_client_that_does_not_as_it_should_fails(tmp_path):
    """It ends at its first command; and one that cannot be started at all is said to be none."""
    driver = tmp_path / "driver"
    driver.write_text("#!/bin/sh\nread line\n")
    driver.chmod(0o755)
    status, said = await run("mine", driver, "--", "-k", "bad_token")
    assert status == 1 and "1 failed" in said, said
    status, said = await run("mine", tmp_path / "nowhere")
    assert status == 1 and f"no program {tmp_path / 'nowhere'}" in said


@pytest.mark.parametrize("words", [[], ["mine"], ["--can", "fly", "mine", "sh"], ["--nonsense"]])
async def test_wrong_words_are_refused(words):
    status, said = await run(*words)
    assert status in (1, 64) and said and "Traceback" not in said
