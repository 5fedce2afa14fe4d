"""The log goes to standard output, and a reader of it that stands still stops nothing
(Operations.md, "Log")."""
import asyncio
import json
import os

import pytest
from harness.server import Server


class UnreadServer(Server):
    """Its log is read up to the line that says where it listens; from then on the pipe is full."""

    def _read(self, process):
        for line in process.stdout:
            if b'"listening"' in line:
                with self._news:
                    self.listening = json.loads(line)
                    self._ended = True
                    self._news.notify_all()
                return

    def start(self):
        super().start()
        pipe = os.open(f"/proc/{self.process.pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(pipe, b"\n")
        os.close(pipe)
        return self


@pytest.fixture
def unread(tmp_path):
    server = UnreadServer(tmp_path / "data", {"drain.duration": 0}).start()
    yield server
    if server.running:
        server.kill()
    server.process.stdout.close()


async def test_a_log_that_nobody_reads_stops_nothing(unread, make_world):
    world = make_world(unread)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for name in ("one", "two"):
        assert "result" in unread.rpc("setGroupInfo", groupID=group, groupName=name), "each leaves an entry `audit`"
        assert (await bob.expect("onGroupInfoChanged"))["groupID"] == group
    assert await asyncio.to_thread(unread.stop) == 0


async def test_what_waited_is_written_when_the_reader_goes_on(unread):
    groups = [unread.rpc("createGroup", groupType="Public", groupName="g", ownerUserID="alice") for _ in range(3)]
    entries = []
    while len(entries) < len(groups):
        line = unread.process.stdout.readline().strip()
        if line and (entry := json.loads(line))["message"] == "audit":
            entries.append(entry["groupID"])
    assert entries == [group["result"]["groupID"] for group in groups]


def test_numbers_are_numbers_and_addresses_are_text(make_server):
    own = make_server()
    assert "result" in own.rpc("createGroup", groupType="Public", groupName="g", ownerUserID="alice")
    assert own.stop() == 0
    log = {entry["message"]: entry for entry in map(json.loads, own.lines)}
    listening, audit, draining = log["listening"], log["audit"], log["draining"]
    assert type(listening["loops"]) is int and type(listening["openFiles"]) is int
    assert type(listening["listen"]) is str and type(listening["version"]) is str
    assert audit["code"] == 0 and audit["groupID"]
    assert draining["sessions"] == 0 and draining["duration"] == 10000
