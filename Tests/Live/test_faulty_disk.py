"""A sync that fails ends the process without an answer; the next start finds the write or not, and repeating it by
clientMsgID leaves exactly one (Protocol.md, "Durability")."""
import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.client import Gone, has
from harness.server import StartFailed
from harness.world import history_of

pytestmark = pytest.mark.files

SOURCE = Path(__file__).parent / "harness" / "faulty_disk.c"
DISK_FAILED = 74


class FaultyDisk:
    """A disk below one server, whose log cannot be synced while `trigger` is there."""

    def __init__(self, directory, library):
        self.trigger, self.platter = directory / "faulty", directory / "platter"
        self.environment = {
            "LD_PRELOAD": str(library), "FAULTY_DISK": str(self.trigger), "FAULTY_DISK_PLATTER": str(self.platter)}

    def fail(self, how="once"):
        self.trigger.write_text(how)

    def heal(self):
        self.trigger.unlink(missing_ok=True)

    def lose_power(self, own):
        """What the cache alone has is gone. The server has ended."""
        (log,) = own.data_dir.glob("*.db-wal")
        shutil.copyfile(self.platter, log)
        log.with_name(log.name.removesuffix("-wal") + "-shm").unlink()


@pytest.fixture
def faulty_disk(tmp_path):
    compiler = shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the library that fails syncs")
    library = tmp_path / "faulty_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return FaultyDisk(tmp_path, library)


@pytest.fixture
def faulty_server(make_server, faulty_disk):
    # Time stands still, so no checkpoint has the failed sync, or copies the log.
    return make_server(environment=faulty_disk.environment, frozen=True)


async def ended(own):
    """The process has ended as it should; gives its last words."""
    assert await asyncio.to_thread(own.wait) == DISK_FAILED
    entry = [json.loads(line) for line in own.lines if '"critical"' in line][-1]
    assert "the process ends" in entry["message"] and entry["errno"] == 5 and entry["error"] and entry["hint"]
    return entry


async def again(world, user):
    """The server starts again, and the user comes back."""
    world.server.start()
    return await world.session(user)


@pytest.mark.parametrize("after", ["crash", "power failure"])
async def test_a_failed_sync_gets_no_answer_and_a_repeated_send_is_stored_once(make_world, faulty_server, faulty_disk, after):
    own = faulty_server
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    stored = [(await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["msgID"]]
    for turn in range(3):
        params = {"groupID": group, "text": "maybe", "clientMsgID": f"maybe-{turn}"}
        faulty_disk.fail()
        with pytest.raises(Gone):
            await alice.call("sendGroupTextMessage", **params)
        await ended(own)
        await bob.closed(1006)
        assert not bob.received("onRecvNewMessage", message=has(clientMsgID=params["clientMsgID"])), "no event either"
        if after == "power failure":
            faulty_disk.lose_power(own)
        world.clients.clear()
        alice = await again(world, alice.user)
        found = [message["msgID"] for message in await history_of(alice, group)]
        assert found[:len(stored)] == stored and len(found) - len(stored) == (0 if after == "power failure" else 1)
        sent = await alice.call("sendGroupTextMessage", **params)
        assert found == stored or found[-1] == sent["msgID"], "it was the same message"
        stored.append(sent["msgID"])
        assert [message["msgID"] for message in await history_of(alice, group)] == stored
        bob = await world.session(bob.user)


async def test_what_is_answered_after_a_failed_sync_outlives_a_power_failure(make_world, faulty_server, faulty_disk):
    """The restart reads the system's cache, where the transaction is, and not the disk, where it is not."""
    own = faulty_server
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    params = {"groupID": group, "text": "maybe", "clientMsgID": "maybe"}
    faulty_disk.fail()
    with pytest.raises(Gone):
        await alice.call("sendGroupTextMessage", **params)
    await ended(own)
    world.clients.clear()
    alice = await again(world, alice.user)
    (found,) = await history_of(alice, group)
    # Answered from what was recovered, without a commit.
    answered = [(await alice.call("sendGroupTextMessage", **params))["msgID"]]
    assert answered == [found["msgID"]]
    answered.append((await alice.call("sendGroupTextMessage", groupID=group, text="on"))["msgID"])
    own.kill()
    faulty_disk.lose_power(own)
    world.clients.clear()
    alice = await again(world, alice.user)
    assert [message["msgID"] for message in await history_of(alice, group)] == answered


async def test_a_start_that_could_not_sync_its_first_commit_leaves_nothing_behind(make_world, faulty_server, faulty_disk):
    """After a clean end: the log is new, and the system's cache has what the disk has not."""
    own = faulty_server
    world = make_world(own)
    alice = await world.session("alice")
    group = await world.group(alice)
    own.terminate()
    own.resume()
    assert await asyncio.to_thread(own.wait) == 0
    world.clients.clear()
    # The log's header is synced, and its first transaction is not.
    faulty_disk.fail("next")
    with pytest.raises(StartFailed) as failure:
        own.start()
    assert failure.value.status == DISK_FAILED
    alice = await again(world, alice.user)
    sent = (await alice.call("sendGroupTextMessage", groupID=group, text="stored"))["msgID"]
    own.kill()
    faulty_disk.lose_power(own)
    world.clients.clear()
    alice = await again(world, alice.user)
    assert [message["msgID"] for message in await history_of(alice, group)] == [sent]


async def test_while_the_disk_stays_faulty_no_start_succeeds_and_nothing_is_lost(make_world, faulty_server, faulty_disk):
    own = faulty_server
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    kept = (await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["msgID"]
    faulty_disk.fail("until it heals")
    with pytest.raises(Gone):
        await alice.call("sendGroupTextMessage", groupID=group, text="maybe")
    await ended(own)
    world.clients.clear()
    for _ in range(2):
        with pytest.raises(StartFailed) as failure:
            own.start()
        assert failure.value.status == 1 and "after a crash" in failure.value.log.splitlines()[-1]
    faulty_disk.heal()
    alice = await again(world, alice.user)
    assert [message["msgID"] for message in await history_of(alice, group)][0] == kept
