"""`throng migrate` as an operator meets it (Operations.md, "From a file to PostgreSQL")."""
import pytest

from harness import server as harness
from harness.postgresql import PostgreSQL
from harness.server import run_throng
from harness.world import history_of, info_of


@pytest.fixture(scope="module")
def database():
    """Makes the URLs of empty databases."""
    own = None if harness.POSTGRESQL else PostgreSQL()
    directory, saved = own.directory if own else harness.POSTGRESQL, harness.POSTGRESQL
    harness.POSTGRESQL = directory
    make = harness.postgresql_database
    harness.POSTGRESQL = saved

    def empty(name):
        harness.POSTGRESQL = directory
        try:
            return make(name)
        finally:
            harness.POSTGRESQL = saved

    yield empty
    if own:
        own.stop()


def migrate(data_dir, url):
    return run_throng("migrate", "--from", "sqlite:", "--to", url, "--data-dir", str(data_dir))


async def test_a_server_goes_on_with_what_it_had(make_server, make_world, database, tmp_path):
    own = make_server({"store.url": "sqlite:throng.db"})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "Public", members=[bob])
    for text in ("one", "two\0", "three"):
        await alice.call("sendGroupTextMessage", groupID=group, text=text)
    await alice.call("setGroupInfo", groupID=group, groupName="Moved")
    history, info = await history_of(bob, group), await info_of(bob, group)
    url = database(tmp_path)

    refused = migrate(own.data_dir, url)
    assert refused.returncode == 1 and refused.stdout == "" and "in use" in refused.stderr.lower(), refused.stderr
    await world.close()
    own.stop()
    done = migrate(own.data_dir, url)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("message: verified") for line in lines)
    assert any("CONNECT was revoked from PUBLIC" in line for line in lines), "nobody hears what nodes would tell each other"
    assert lines[-1] == "done: a server may begin with the new database"
    again = migrate(own.data_dir, url)
    assert again.returncode == 1 and "finished" in again.stderr

    own.settings["store.url"] = url
    own.start()
    world = make_world(own)
    bob = await world.session(bob.user)
    assert await history_of(bob, group) == history
    now = await info_of(bob, group)
    assert (now["groupName"], now["epoch"], now["lastSeq"]) == (info["groupName"], info["epoch"], info["lastSeq"])
    sent = await bob.call("sendGroupTextMessage", groupID=group, text="four")
    assert sent["seq"] == info["lastSeq"] + 1


def test_what_cannot_be_copied_is_refused(make_server, database, tmp_path):
    own = make_server({"store.url": "sqlite:throng.db"})
    own.stop()
    url = database(tmp_path)
    wrong = run_throng("migrate", "--from", url, "--to", url, "--data-dir", str(own.data_dir))
    assert wrong.returncode == 1 and "--from" in wrong.stderr
    missing = run_throng("migrate", "--from", "sqlite:none.db", "--to", url, "--data-dir", str(own.data_dir))
    assert missing.returncode == 1 and "no database" in missing.stderr


def test_a_database_that_a_server_uses_is_refused(make_server, database, tmp_path):
    old = make_server({"store.url": "sqlite:throng.db"})
    old.stop()
    url = database(tmp_path)
    new = make_server({"store.url": url})
    refused = migrate(old.data_dir, url)
    assert refused.returncode == 1 and "uses" in refused.stderr
    new.stop()
