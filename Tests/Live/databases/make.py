#!/usr/bin/env python3
"""Makes the databases of a released version, for Tests/Live/test_upgrade.py: the tables by the SQL that the version
had, the rows by people who use a server of today (scene.py), less what the version did not have.

Usage: make.py VERSION COMMIT        in Tests/Live, with the Python of the tests and THRONG_BINARY

COMMIT is the last one of the version. Writes databases/VERSION.db, of SQLite, and databases/VERSION.sql, a dump of
PostgreSQL. Once, when a version is released; the files then stay as they are."""
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
from harness.postgresql import PostgreSQL, programs  # noqa: E402
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


async def play(directory, settings=None):
    server = Server(directory / "data", {**scene.SETTINGS, **(settings or {})}).start()
    try:
        world = World(server)
        await scene.play(world)
        await world.close()
        assert server.stop() == 0
    finally:
        if server.running:
            server.kill()


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


def make_file(target, commit):
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(play(Path(directory)))
        done = run_throng("export", "-", "--data-dir", Path(directory) / "data")
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        target.unlink(missing_ok=True)
        database = empty(target, commit)
        fill(database, lines)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for (table,) in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()}
        database.close()
    print(target, target.stat().st_size, counts)


# PostgreSQL

# Rows of the processes that use the database, and not of what they keep.
OF_NODES = {"node", "writer", "shard", "clusterstate", "busmessage", "schemaversion", "clusterkey"}


def migrations_of_postgresql(commit):
    """The SQL of the migrations of a commit, in their order."""
    def shown(path):
        return subprocess.run(["git", "show", f"{commit}:{path}"], capture_output=True, text=True, check=True, cwd=HERE).stdout
    own = shown("Sources/PostgreSQLStore/Opening/Schema.swift")
    sources = {"": own, "ClusterSchema.": shown("Sources/PostgreSQLStore/Cluster/ClusterSchema.swift")}
    (listed,) = re.findall(r"static let migrations: \[String\] = \[([^\]]*)\]", own)
    # As Swift's constants have them.
    words = {"text": 'text COLLATE "C"', "channel": "throng_cluster"}
    for name in listed.split(", "):
        prefix, _, number = name.rpartition(".")
        (sql,) = re.findall(rf'static let {number} = """\n(.*?)\n    """', sources[prefix + "." if prefix else ""], re.S)
        sql = re.sub(r"\\\(([^)]*)\)", lambda found: words[found[1]], sql)
        assert "\\" not in sql, "an escape of Swift"
        yield sql


def make_dump(target, commit):
    server = PostgreSQL()
    place = ["-h", server.directory, "-U", "throng"]

    def psql(database, sql):
        command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *place, "-d", database, "-f", "-"]
        return subprocess.run(command, input=sql, capture_output=True, text=True, check=True).stdout

    def columns(database):
        rows = psql(database, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
                    " AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position").split()
        found = {}
        for row in rows:
            table, column = row.split("|")
            found.setdefault(table, []).append(column)
        return found
    try:
        for name in ("today", "then"):
            subprocess.run(["createdb", *place, name], check=True)
        with tempfile.TemporaryDirectory() as directory:
            asyncio.run(play(Path(directory), {"store.url": f"postgres://throng@/today?host={server.directory}"}))
        script = "CREATE TABLE schemaVersion (version bigint NOT NULL);"
        for number, sql in enumerate(migrations_of_postgresql(commit), 1):
            script += f"BEGIN; {sql}; INSERT INTO schemaVersion VALUES ({number}); COMMIT;\n"
        psql("then", script)
        had, today = columns("then"), columns("today")
        for table in sorted(set(had) & set(today) - OF_NODES):
            used = ", ".join(column for column in had[table] if column in today[table])
            rows = psql("today", f"COPY (SELECT {used} FROM {table}) TO STDOUT;")
            # What the version had made by itself is replaced; triggers have nothing to add.
            psql("then", f"SET session_replication_role = replica; DELETE FROM {table}; COPY {table} ({used}) FROM STDIN;\n{rows}\\.\n")
        psql("then", "UPDATE groupattributes SET entries = (SELECT jsonb_agg(jsonb_build_array(e -> 0, e -> 1)) FROM"
             " jsonb_array_elements(entries::jsonb) AS e)::text;")
        # Numbers go on behind those that are used.
        psql("then", "DO $$ DECLARE one record; BEGIN FOR one IN SELECT table_name, column_name FROM information_schema.columns WHERE"
             " table_schema = 'public' AND is_identity = 'YES' LOOP EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L),"
             " (SELECT coalesce(max(%I), 0) + 1 FROM %I))', one.table_name, one.column_name, one.column_name, one.table_name);"
             " END LOOP; END $$;")
        dump = subprocess.run(
            [programs() / "pg_dump", *place, "--no-owner", "--no-privileges", "then"], capture_output=True, text=True, check=True).stdout
        # Lines of the dumping program, and not of the database.
        target.write_text("".join(line for line in dump.splitlines(True) if not line.startswith(("--", "\\restrict", "\\unrestrict"))))
    finally:
        server.stop()
    print(target, target.stat().st_size)


def main(version, commit):
    make_file(HERE / f"{version}.db", commit)
    make_dump(HERE / f"{version}.sql", commit)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
