"""Acknowledged writes survive; a write that fails changes nothing (Protocol.md, "Durability")."""
import hashlib
import os
import resource
import signal
import subprocess

import pytest

from harness.client import Refused, has
from harness.restarts import restart
from harness.server import StartFailed
from harness.world import history_of, info_of

SQLITE = b"SQLite format 3\x00"


def database_of(own):
    """The SQLite file in the data directory."""
    (file,) = [path for path in own.data_dir.rglob("*") if path.is_file() and path.read_bytes()[:16] == SQLITE]
    return file


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_restart_brings_everything_back(make_server, make_world, how):
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    groups = []
    for groupType in ("Work", "Public", "Meeting", "AVChatRoom"):
        group = await world.group(alice, groupType, [bob], introduction="i", customInfo={"k": "a\u0000b"}, updateInfoMode="Owner")
        await alice.call("sendGroupTextMessage", groupID=group, text="中文 \u0000", clientMsgID="c", atUserIDList=[bob.user])
        await alice.call("setGroupInfo", groupID=group, notification="n")
        groups.append(group)
    gone = await world.group(alice)
    await alice.call("dismissGroup", groupID=gone)

    def durable(info):
        return {k: v for k, v in info.items() if k != "onlineCount"}

    before = {group: durable(await info_of(bob, group)) for group in groups}
    messages = {group: await history_of(bob, group) for group in groups[:3]}
    members = {group: await bob.call("getGroupMemberList", groupID=group) for group in groups}
    await restart(world, how)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    assert {group: durable(await info_of(bob, group)) for group in groups} == before
    assert {group: await history_of(bob, group) for group in groups[:3]} == messages
    assert {group: await bob.call("getGroupMemberList", groupID=group) for group in groups} == members
    await alice.refused(10010, "quitGroup", groupID=gone)
    listed = await alice.call("getJoinedGroupList")
    assert {info["groupID"] for info in listed["groupList"]} == set(groups[:3])
    for group in groups[:3]:
        assert (await alice.call("sendGroupTextMessage", groupID=group, text="on"))["seq"] == before[group]["lastSeq"] + 1
        assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "on"


@pytest.mark.files
async def test_a_second_server_on_one_data_directory_is_refused(make_server, make_world):
    own = make_server()
    alice = await make_world(own).user("alice")
    with pytest.raises(StartFailed) as failure:
        make_server(data_dir=own.data_dir)
    assert failure.value.status == 1 and failure.value.log.strip()
    group = (await alice.call("createGroup", groupType="Public", groupName="g"))["groupID"]
    assert (await alice.call("sendGroupTextMessage", groupID=group, text="undisturbed"))["status"] == "Stored"
    own.kill()
    make_server(data_dir=own.data_dir)


@pytest.mark.files
def test_a_damaged_database_is_refused_and_not_overwritten(make_server):
    own = make_server()
    file = database_of(own)
    own.kill()
    for path in own.data_dir.glob(file.name + "-*"):
        path.unlink()
    junk = os.urandom(8192)
    file.write_bytes(junk)
    with pytest.raises(StartFailed) as failure:
        own.start()
    assert failure.value.status == 1 and failure.value.log.strip()
    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(junk).digest()


@pytest.mark.files
def test_a_database_of_a_later_schema_or_another_program_is_refused(make_server, tmp_path):
    own = make_server()
    file = database_of(own)
    own.kill()
    for path in own.data_dir.glob(file.name + "-*"):
        path.unlink()
    file.write_bytes(SQLITE + os.urandom(4096 * 4 - len(SQLITE)))
    before = file.read_bytes()
    with pytest.raises(StartFailed) as failure:
        own.start()
    assert failure.value.status == 1 and file.read_bytes() == before


def mount_small(directory):
    """A tmpfs of 6 MB; skips where the machine does not let us mount."""
    directory.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(directory)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no right to mount a small file system: {done.stderr.strip()}")


def limit_files():
    """In the child: no file grows beyond 3 MB, and the kernel says so by an error instead of a
    signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, resource.RLIM_INFINITY))


@pytest.fixture(params=["full file system", "file size limit"])
def cramped(request, make_server, tmp_path):
    """A server that soon cannot write any more, and how to give it room again."""
    if request.param == "file size limit":
        own = make_server(preexec=limit_files, frozen=True)
        wide = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        yield own, lambda: resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, wide)
        return
    directory = tmp_path / "small"
    if os.geteuid() != 0:
        pytest.skip("no right to mount a small file system: not root")
    mount_small(directory)
    try:
        own = make_server(data_dir=directory / "data", frozen=True)
        yield own, lambda: subprocess.run(["mount", "-o", "remount,size=64m", str(directory)], check=True)
        if own.running:
            own.kill()
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


async def fill(own, client, group):
    """Sends until there is no room even for the smallest message; gives the msgIDs of what was
    stored."""
    stored = []
    for size in (12000, 100, 1):
        refusals = 0
        while refusals < 3:
            assert len(stored) < 5000, "60 MB on 6 MB"
            if len(stored) % 40 == 0:
                # The bytes that a user may write at once are not many more (Protocol.md, "Write rate").
                await own.advance(seconds=0.001)
            try:
                stored.append((await client.call("sendGroupTextMessage", groupID=group, text="x" * size))["msgID"])
                refusals = 0
            except Refused as refusal:
                assert refusal.code == 10002 and refusal.data["temporary"] is True
                refusals += 1
    return stored


@pytest.mark.files
async def test_a_full_disk_changes_nothing_and_is_told(cramped, make_world):
    """A store that cannot be written answers 10002, temporarily and without a change; readyz is
    503."""
    own, give_room = cramped
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    stored = []
    # Each round of the store copies what it can out of its log, which makes room there.
    while more := await fill(own, alice, group):
        stored += more
        await own.advance(seconds=1)
    assert own.http("GET", "/readyz").status == 503, "not ready while unable to persist"
    assert own.http("GET", "/healthz").status == 200
    assert [message["msgID"] for message in await history_of(alice, group)] == stored
    give_room()
    await own.advance(seconds=1)
    own.wait_until(lambda: own.http("GET", "/readyz").status == 200, "ready again")
    stored.append((await alice.call("sendGroupTextMessage", groupID=group, text="room again"))["msgID"])
    await bob.expect("onRecvNewMessage", groupID=group, message=has(text="room again"))
    heard = [params["message"]["msgID"] for params in bob.received("onRecvNewMessage", groupID=group)]
    assert heard == stored[:-1], "what was refused was not delivered either"
    own.kill()
    own.preexec = None
    own.start()
    world.clients.clear()
    messages = await history_of(await world.session(alice.user), group)
    assert [message["msgID"] for message in messages] == stored
    assert [message["seq"] for message in messages] == list(range(1, len(stored) + 1))
