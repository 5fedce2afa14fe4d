"""Others while a user with a hundred thousand messages is deleted (Protocol.md, "Deleting a user"): what they notice is
compared with the time before, within the same run."""
import asyncio
import statistics
import subprocess
import time

import pytest

from harness import server as harness
from harness.backend import done
from harness.bystander import GROUP, USER, Bystander
from harness.footprint import SeedRows, metric_now
from harness.postgresql import PostgreSQL
from harness.world import eventually

pytestmark = [pytest.mark.campaign, pytest.mark.one_process("it measures the time of a process")]

MESSAGES = 100_000
ROUNDS = 3
QUIET = 15  # seconds
PATIENCE = 300
MOST = 1.2
# Of a millisecond nobody notices a fifth.
UNNOTICED = 0.001
OFF = {"limits.requestsPerSecond": 100_000, "limits.requestBurst": 100_000}


class PostgreSQLRows:
    """As SeedRows, for a database of PostgreSQL."""

    def __init__(self, server):
        self._url = server.settings["store.url"]

    def _run(self, sql):
        command = ["psql", self._url, "-qtA", "-v", "ON_ERROR_STOP=1", "-c", sql]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    def number_of(self, group):
        (number,) = self._run(f"SELECT number FROM groupRecord WHERE groupID = '{group}'")
        return int(number)

    def multiply(self, table, count, where, values, /, **expressions):
        expressions = {name.lower(): expression for name, expression in expressions.items()}
        columns = self._run(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER'")
        chosen = ", ".join(expressions.get(column, f"template.{column}") for column in columns)
        for value in values:
            where = where.replace("?", str(value), 1)
        self._run(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM (SELECT * FROM {table} WHERE {where}) "
                  f"AS template, generate_series(1, {count}) AS n")

    def close(self):
        pass


@pytest.fixture(params=["sqlite", "postgresql"])
def own(request, make_server, tmp_path, monkeypatch):
    """A server on each kind of store."""
    if request.param == "sqlite":
        yield make_server({**OFF, "store.url": "sqlite:throng.db"})
        return
    engine = PostgreSQL()
    monkeypatch.setattr(harness, "POSTGRESQL", engine.directory)
    server = make_server(OFF)
    yield server
    server.kill()
    engine.stop()


def seed(server, users):
    """Each has sent so many messages, under a name card, in a group of its own among others."""
    groups = []
    for user in users:
        group = done(server, "createGroup", groupType="Public", groupName="g", ownerUserID="owner",
                     memberList=[{"userID": user}])["groupID"]
        done(server, "setGroupMemberInfo", groupID=group, userID=user, nameCard="a name card")
        # Its tips come before.
        sent = done(server, "sendGroupTextMessage", asUser=user, groupID=group, text="hello")
        groups.append((group, sent["seq"]))
    server.kill()
    rows = (SeedRows if server.settings["store.url"].startswith("sqlite") else PostgreSQLRows)(server)
    for group, seq in groups:
        rows.multiply("message", MESSAGES - 1, "number = ? AND seq = ?", [rows.number_of(group), seq], seq="seq + n",
                      msgID=f"substr(msgID, 1, length(msgID) - {len(str(seq))}) || (seq + n)")
    rows.close()
    server.start()


def p99(phase, what):
    assert not phase["failed"], phase["failed"]
    return statistics.quantiles(phase[what], n=100)[98]


async def state_of(server, user):
    return done(server, "getUserDeletion", userID=user)["state"]


async def test_others_hardly_notice_the_deletion_of_a_user_with_many_messages(own, record_property):
    done(own, "importGroup", groupID=GROUP, groupType="Public", groupName="bystanders", ownerUserID=USER)
    users = [f"writer-{n}" for n in range(ROUNDS)]
    seed(own, users)
    ratios, lines, bystander = [], [], Bystander()
    try:
        for user in users:
            bystander.begin(own)
            await asyncio.to_thread(bystander.last, QUIET)
            bystander.phase("during")
            start = time.monotonic()
            done(own, "deleteUser", userID=user)
            await eventually(lambda user=user: state_of(own, user), "Done", PATIENCE)
            seconds = time.monotonic() - start
            bystander.phase("after")
            phases = bystander.end()
            quiet, during = p99(phases["quiet"], "sends"), p99(phases["during"], "sends")
            ratios.append(1 if during - quiet < UNNOTICED else during / quiet)
            lines.append(f"{seconds:.0f} s, p99 {quiet * 1000:.2f} -> {during * 1000:.2f} ms")
    finally:
        bystander.close()
    record_property("summary", f"deleting {MESSAGES:,} messages on {own.settings['store.url'].split(':')[0]}: {'; '.join(lines)}")
    assert metric_now(own, "throng_user_deletion_rows_total", step="messages") >= ROUNDS * MESSAGES
    assert statistics.median(ratios) <= MOST, lines
