"""The database as an operator meets it: a full disk, `throng store check`, files that are removed,
what a crash has left."""
import errno
import os
import shutil
import subprocess

import pytest

from harness.restarts import end
from harness.server import StartFailed, run_throng
from harness.world import history_of
from test_durability import fill

pytestmark = pytest.mark.files


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a disk of 6 MB; skips where the machine does not let us mount."""
    if os.geteuid() != 0:
        pytest.skip("no right to mount a small file system: not root")
    directory = tmp_path / "small"
    directory.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(directory)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no right to mount a small file system: {done.stderr.strip()}")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def fill_disk(directory):
    """Another process takes the last byte."""
    with open(directory / "filler", "ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_server_starts_on_a_full_disk_and_recovers(make_server, make_world, small_disk, how):
    own = make_server({"drain.duration": 0}, data_dir=small_disk / "data", frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    stored = []
    # Each round of the store copies what it can out of its log, which makes room there.
    while more := await fill(own, alice, group):
        stored += more
        await own.advance(seconds=1)
    fill_disk(small_disk)
    await end(world, how)
    fill_disk(small_disk)
    own.start()
    try:
        alice = await world.session(alice.user)
        assert [message["msgID"] for message in await history_of(alice, group)] == stored
        # A log that could not be carried over keeps its room, and is used until it is full.
        stored += await fill(own, alice, group)
        ready = own.http("GET", "/readyz")
        assert ready.status == 503 and "cannot write to the store" in ready.text
        assert own.http("GET", "/healthz").status == 200
        assert [message["msgID"] for message in await history_of(alice, group)] == stored
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        await own.advance(seconds=1)
        own.wait_until(lambda: own.http("GET", "/readyz").status == 200, "ready again")
        stored.append((await alice.call("sendGroupTextMessage", groupID=group, text="room again"))["msgID"])
        assert [message["msgID"] for message in await history_of(alice, group)] == stored
    finally:
        own.kill()


async def test_a_server_that_starts_on_a_full_disk_is_not_ready(make_server, make_world, small_disk):
    own = make_server({"drain.duration": 0}, data_dir=small_disk / "data", frozen=True)
    world = make_world(own)
    alice = await world.user("alice")
    group = await world.group(alice)
    stored = [(await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["msgID"]]
    await end(world, "stop")
    fill_disk(small_disk)
    own.start()
    ready = own.http("GET", "/readyz")
    assert ready.status == 503 and "cannot write to the store" in ready.text
    alice = await world.session(alice.user)
    assert [message["msgID"] for message in await history_of(alice, group)] == stored
    await alice.refused(10002, "sendGroupTextMessage", groupID=group, text="no room")
    (small_disk / "filler").unlink()
    await own.advance(seconds=1)
    own.wait_until(lambda: own.http("GET", "/readyz").status == 200, "ready again")
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="room"))["status"] == "Stored"
    own.kill()


async def test_a_server_reads_from_a_read_only_disk(make_server, make_world, small_disk):
    own = make_server(data_dir=small_disk / "data")
    world = make_world(own)
    alice = await world.user("alice")
    group = await world.group(alice)
    stored = [(await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["msgID"]]
    own.kill()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    own.start()
    assert own.http("GET", "/readyz").status == 503
    world.clients.clear()
    alice = await world.session(alice.user)
    assert [message["msgID"] for message in await history_of(alice, group)] == stored
    await alice.refused(10002, "sendGroupTextMessage", groupID=group, text="no")
    own.wait_until(lambda: "read-only" in own.log, "the reason in the log")
    own.kill()
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    own.start()
    assert own.http("GET", "/readyz").status == 200
    own.kill()


def check(own):
    done = run_throng("store", "check", "--data-dir", own.data_dir)
    return done.returncode, done.stdout + done.stderr


async def test_store_check(make_server, make_world, tmp_path):
    done = run_throng("store", "check", "--data-dir", tmp_path / "nothing")
    assert done.returncode == 1 and f"there is no database {tmp_path}/nothing/throng.db" in done.stderr
    assert not (tmp_path / "nothing").exists()
    own = make_server()
    alice = await make_world(own).user("alice")
    group = (await alice.call("createGroup", groupType="Public", groupName="g"))["groupID"]
    for number in range(300):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"{number} " + "x" * 900)
    assert check(own) == (0, "ok\n"), "beside the server"
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="undisturbed"))["status"] == "Stored"
    own.kill()
    assert check(own) == (0, "ok\n"), "after a crash"
    own.start()
    assert own.stop() == 0
    assert check(own) == (0, "ok\n"), "after a drain"
    file = own.data_dir / "throng.db"
    content = bytearray(file.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle:] = os.urandom(len(content) - middle)
    file.write_bytes(content)
    status, text = check(own)
    assert status == 1 and "damaged" in text


async def test_removed_files_let_no_second_server_in(make_server, make_world, tmp_path):
    own = make_server(frozen=True)
    alice = await make_world(own).user("alice")
    (own.data_dir / "lock").unlink()
    os.link(own.data_dir / "throng.db", own.data_dir / "linked.db")
    other = tmp_path / "other"
    other.mkdir()
    os.link(own.data_dir / "throng.db", other / "throng.db")
    for directory, settings in [(own.data_dir, {}), (own.data_dir, {"store.url": "sqlite:linked.db"}), (other, {})]:
        with pytest.raises(StartFailed) as failure:
            make_server(settings, data_dir=directory)
        assert failure.value.status == 1 and "is in use by" in failure.value.log
    await own.advance(seconds=1)
    assert (own.data_dir / "lock").exists(), "the lock file is made again"
    assert (await alice.call("createGroup", groupType="Public", groupName="g"))["groupID"]


async def test_a_server_whose_database_is_taken_away_accepts_nothing(make_server, make_world):
    own = make_server(frozen=True)
    alice = await make_world(own).user("alice")
    group = (await alice.call("createGroup", groupType="Public", groupName="g"))["groupID"]
    file, away = own.data_dir / "throng.db", own.data_dir / "away.db"
    file.rename(away)
    await own.advance(seconds=1)
    assert own.http("GET", "/readyz").status == 503, "not ready"
    await alice.refused(10002, "sendGroupTextMessage", groupID=group, text="would be lost")
    own.wait_until(lambda: "was removed or replaced" in own.log, "the reason in the log")
    away.rename(file)
    await own.advance(seconds=1)
    own.wait_until(lambda: own.http("GET", "/readyz").status == 200, "ready again")
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="kept"))["status"] == "Stored"


async def test_a_start_says_what_a_crash_has_left_of_the_log(make_server, make_world):
    own = make_server()
    alice = await make_world(own).user("alice")
    group = (await alice.call("createGroup", groupType="Public", groupName="g"))["groupID"]
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    own.kill()
    shutil.copytree(own.data_dir, own.data_dir.parent / "copy")
    own.start()
    assert "did not end cleanly" in own.log
    assert not [line for line in own.log.splitlines() if "write-ahead log" in line and '"warning"' in line]
    (own.data_dir.parent / "copy" / "throng.db-wal").unlink()
    copy = make_server(data_dir=own.data_dir.parent / "copy")
    assert "the write-ahead log is missing" in copy.log
    copy.stop()
    copy.lines.clear()
    copy.start()
    assert "write-ahead log" not in copy.log and "did not end" not in copy.log
