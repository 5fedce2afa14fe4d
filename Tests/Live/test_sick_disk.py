"""A failed write changes nothing, also where the disk fails in the middle and the process dies
before the next write (Protocol.md, "Durability")."""
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.world import history_of

pytestmark = pytest.mark.files

SOURCE = Path(__file__).parent / "harness" / "sick_disk.c"


@pytest.fixture
def sick_disk(tmp_path):
    """The environment of a server whose log cannot be synced while the second value, a file, is
    there."""
    compiler = shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the library that fails syncs")
    library, trigger = tmp_path / "sick_disk.so", tmp_path / "sick"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "SICK_DISK": str(trigger)}, trigger


@pytest.mark.parametrize("how", ["once", "until the end"])
async def test_a_write_refused_after_a_failed_sync_does_not_come_back(make_server, make_world, sick_disk, how):
    environment, trigger = sick_disk
    # Time stands still, so no checkpoint has the failed sync.
    own = make_server(environment=environment, frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    stored = [(await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["msgID"]]
    for _ in range(3):
        trigger.write_text(how)
        assert (await alice.refused(10002, "sendGroupTextMessage", groupID=group, text="maybe"))["temporary"] is True
        own.kill()
        trigger.unlink(missing_ok=True)
        own.start()
        world.clients.clear()
        alice = await world.session(alice.user)
        assert [message["msgID"] for message in await history_of(alice, group)] == stored
        stored.append((await alice.call("sendGroupTextMessage", groupID=group, text="on"))["msgID"])
