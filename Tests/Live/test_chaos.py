"""A part of Scripts/chaos: three nodes under load, and three rounds of faults."""
import os
import tempfile
from pathlib import Path

import pytest
from chaos import faults
from chaos.run import Run, table

from harness.server import BINARY

ROUNDS = [faults.Stop, faults.RestartNATS, faults.PromoteReplica]


@pytest.mark.campaign
@pytest.mark.heavy
@pytest.mark.files
@pytest.mark.skipif(BINARY.name != "throng", reason="it makes a cluster of its own, of single processes")
async def test_promises_hold_under_faults():
    with tempfile.TemporaryDirectory(prefix="throng-chaos-", ignore_cleanup_errors=True) as directory:
        # PostgreSQL's account works in it.
        os.chmod(directory, 0o755)
        run, rounds = Run(Path(directory), seed=1), []
        try:
            await run.start()
            for make in ROUNDS:
                rounds.append(await run.round(make))
                assert not rounds[-1].violations, "\n".join(map(str, [*rounds[-1].violations[:10], table(rounds)]))
        finally:
            await run.end()
