#!/usr/bin/env python3
"""Makes the database of a released version, for Tests/Live/test_upgrade.py: the tables by the SQL that the version had, the rows by
people who use a server of today (scene.py), less what the version did not have.

Usage: make.py VERSION COMMIT        in Tests/Live, with the Python of the tests and THRONG_BINARY

COMMIT is the last one of the version. Writes databases/VERSION.db. Once, when a version is released; the file then stays as it is."""
import asyncio
import base64
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import scene  # noqa: E402
from harness.server import Server, run_throng  # noqa: E402
from harness.world import World  # noqa: E402

SCHEMA = "Sources/SQLiteStore/Opening/Schema.swift"
# What the SQL takes from Swift.
NUMBERS = {"FormerMember.lifetime.wholeMilliseconds": str(30 * 86_400_000)}


def migrations(commit):
    """The names and the SQL of the migrations of a commit, in their order."""
    source = subprocess.run(["git", "show", f"{commit}:{SCHEMA}"], capture_output=True, text=True, check=True, cwd=HERE).stdout
    names = re.findall(r'registerMigration\("(v\d+)"\)', source)
    for name in names:
        (sql,) = re.findall(rf'static let {name} = """\n(.*?)\n    """', source, re.S)
        sql = re.sub(r"\\\(([^)]*)\)", lambda found: NUMBERS[found[1]], sql)
        assert "\\" not in sql, "an escape of Swift"
        yield name, sql


def empty(file, commit):
    database = sqlite3.connect(file, isolation_level=None)
    # As the version makes a new file.
    database.executescript("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1416131175; PRAGMA journal_mode = DELETE;")
    database.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for name, sql in migrations(commit):
        database.executescript(sql)
        database.execute("INSERT INTO grdb_migrations VALUES (?)", [name])
    return database


async def play(directory):
    server = Server(directory / "data", scene.SETTINGS).start()
    try:
        world = World(server)
        await scene.play(world)
        await world.close()
        assert server.stop() == 0
    finally:
        if server.running:
            server.kill()
    done = run_throng("export", "-", "--data-dir", directory / "data")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def value_of(table, column, value):
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    if (table, column) == ("groupAttributes", "entries"):
        # A key and its value; later versions add who holds it.
        return json.dumps([entry[:2] for entry in json.loads(value)], ensure_ascii=False, separators=(",", ":"))
    return value


def fill(database, lines):
    for line in lines[1:-1]:
        ((table, row),) = line.items()
        columns = [info[1] for info in database.execute(f"PRAGMA table_info({table})")]
        used = [column for column in row if column in columns]
        if not used:
            continue
        places = ", ".join("?" for _ in used)
        database.execute(
            f"INSERT OR REPLACE INTO {table} ({', '.join(used)}) VALUES ({places})", [value_of(table, name, row[name]) for name in used])
    database.execute("VACUUM")


def main(version, commit):
    target = HERE / f"{version}.db"
    with tempfile.TemporaryDirectory() as directory:
        lines = asyncio.run(play(Path(directory)))
        target.unlink(missing_ok=True)
        database = empty(target, commit)
        fill(database, lines)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for (table,) in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()}
        database.close()
    print(target, target.stat().st_size, counts)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
