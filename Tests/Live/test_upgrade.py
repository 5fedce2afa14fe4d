"""The databases of released versions (databases/VERSION.db, and VERSION.sql of PostgreSQL), opened by the server of
today: everything that people had is there, and what is new works on it. databases/make.py has made them."""
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from databases import scene
from harness.postgresql import PostgreSQL, programs
from harness.server import REPOSITORY, StartFailed, run_throng

DATABASES = Path(__file__).parent / "databases"
RELEASES = REPOSITORY / "Sources/ThrongServer/Documentation.docc/Releases.md"
VERSIONS = sorted(file.stem for file in DATABASES.glob("*.db"))

pytestmark = [pytest.mark.files, pytest.mark.one_process("it opens a file")]


@pytest.fixture(params=VERSIONS)
def data_dir(request, tmp_path):
    directory = tmp_path / "data"
    directory.mkdir()
    shutil.copyfile(DATABASES / f"{request.param}.db", directory / "throng.db")
    return directory


def migrations(data_dir):
    with sqlite3.connect(f"file:{data_dir}/throng.db?mode=ro", uri=True) as database:
        return {name for (name,) in database.execute("SELECT identifier FROM grdb_migrations")}


def test_there_is_one_of_every_released_version():
    page, version = RELEASES.read_text(), re.search(r"\d+\.\d+\.\d+", run_throng("version").stdout)[0]
    released = [found for found in re.findall(r"^## (\d+\.\d+\.\d+)$", page, re.M)
                if found != version or "In the making" not in page.split(f"## {found}\n")[1][:80]]
    assert VERSIONS == sorted(released) == sorted(file.stem for file in DATABASES.glob("*.sql"))


async def test_people_find_everything_that_they_had(data_dir, make_server, make_world):
    before = migrations(data_dir)
    own = make_server(scene.SETTINGS, data_dir=data_dir)
    await scene.look(make_world(own))
    assert own.stop() == 0
    assert migrations(data_dir) > before
    done = run_throng("store", "check", "--data-dir", data_dir)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr


async def test_a_second_start_changes_nothing_more(data_dir, make_server):
    texts = []
    for _ in range(2):
        own = make_server(data_dir=data_dir)
        assert own.stop() == 0
        done = run_throng("export", "-", "--data-dir", data_dir)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout.split("\n", 1)[1])
    # The first line has the time of the export.
    assert texts[0] == texts[1]


async def test_a_copy_from_before_is_the_way_back(data_dir, make_server, make_world, tmp_path):
    """A copy by the program of today, of the file as it was: neither changes it."""
    untouched = (data_dir / "throng.db").read_bytes()
    before = migrations(data_dir)
    copy = tmp_path / "copy.db"
    done = run_throng("backup", copy, "--data-dir", data_dir)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(f"file:{copy}?mode=ro", uri=True) as database:
        assert {name for (name,) in database.execute("SELECT identifier FROM grdb_migrations")} == before
    assert (data_dir / "throng.db").read_bytes() == untouched
    # And today's program goes on from it as from the file.
    restored = tmp_path / "restored"
    done = run_throng("restore", copy, "--data-dir", restored)
    assert done.returncode == 0, done.stderr
    own = make_server(scene.SETTINGS, data_dir=restored)
    await scene.look(make_world(own))


def test_newer_tables_are_refused_and_stay_as_they_are(data_dir, make_server):
    """What a server says of a database of the release behind it, as 0.1.0 does of one of 0.2."""
    with sqlite3.connect(data_dir / "throng.db") as database:
        database.execute("INSERT INTO grdb_migrations VALUES ('v999')")
    database.close()
    untouched = (data_dir / "throng.db").read_bytes()
    with pytest.raises(StartFailed, match="newer"):
        make_server(data_dir=data_dir)
    assert (data_dir / "throng.db").read_bytes() == untouched


@pytest.fixture(scope="module")
def postgresql():
    try:
        programs()
    except FileNotFoundError:
        pytest.skip("there is no PostgreSQL")
    server = PostgreSQL()
    yield server
    server.stop()


@pytest.fixture(params=VERSIONS)
def database(request, postgresql):
    """The URL of a database of a version, and how to ask it."""
    name = f"of_{request.param.replace('.', '_')}"
    place = ["-h", postgresql.directory, "-U", "throng"]
    subprocess.run(["createdb", *place, name], check=True)

    def ask(*words):
        command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *place, "-d", name, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ask("-f", str(DATABASES / f"{request.param}.sql"))
    yield f"postgres://throng@/{name}?host={postgresql.directory}", ask
    subprocess.run(["dropdb", *place, "--force", name], check=True)


async def test_people_find_everything_that_they_had_in_postgresql(database, make_server, make_world):
    url, ask = database
    before = int(ask("-c", "SELECT max(version) FROM schemaVersion"))
    own = make_server({**scene.SETTINGS, "store.url": url})
    await scene.look(make_world(own))
    assert own.stop() == 0
    after = int(ask("-c", "SELECT max(version) FROM schemaVersion"))
    assert after > before
    # The release before refuses newer tables, and changes nothing.
    ask("-c", "INSERT INTO schemaVersion VALUES (999)")
    with pytest.raises(StartFailed, match="newer version"):
        make_server({**scene.SETTINGS, "store.url": url})
    assert int(ask("-c", "SELECT max(version) FROM schemaVersion")) == 999
