"""The resources of a server process, read from outside: /proc, its SQLite file (read-only), its
metrics."""
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .bystander import USER

MEBIBYTE = 1 << 20
# Larger tables are compared by the number of rows only.
COMPARED_ROWS = 20_000
# Changed by every server in its own time.
OWN_TABLES = {"grdb_migrations", "probe", "sqlite_sequence"}


class Process:
    """A process by its ID."""

    def __init__(self, pid):
        self._path = Path(f"/proc/{pid}")

    @property
    def cpu(self):
        """Seconds of CPU of all threads that are there: nanoseconds from the scheduler, where it
        counts them, else ticks."""
        try:
            return sum(int(path.read_text().split()[0]) for path in self._path.glob("task/*/schedstat")) / 1e9
        except OSError:
            fields = (self._path / "stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def written(self):
        """Bytes that it caused to be written to a disk: the database, its log, and its
        checkpoints."""
        return self._field("io", "write_bytes")

    @property
    def memory(self):
        return self._field("status", "VmRSS") * 1024

    @property
    def peak(self):
        """The most memory since the last `forget_peak`."""
        return self._field("status", "VmHWM") * 1024

    def forget_peak(self):
        try:
            (self._path / "clear_refs").write_text("5")
        except OSError:
            pass  # not allowed here: the peak is then that of the whole life, and the figure too high

    def _field(self, file, name):
        for line in (self._path / file).read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise KeyError(name)


def metric_now(server, name, **labels):
    """The sum of a metric's samples at this moment: figures are differences of two. What a test waits for, the server
    tells by `metric_becomes`."""
    return server._metric(name, **labels)


@dataclass
class Table:
    count: int
    sequence: int  # how many rows were ever inserted, where the table counts them
    rows: dict | None  # by key, what each holds; None where there are too many


class Database:
    """The SQLite file of a running server."""

    def __init__(self, server):
        self.path = server.data_dir / "throng.db"

    @property
    def size(self):
        """Bytes of the database and its log."""
        log = self.path.with_name(self.path.name + "-wal")
        return self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    @property
    def used(self):
        """Bytes of the database in use, in its file or still in the log."""
        with closing(self._open()) as connection:
            names = ("page_size", "page_count", "freelist_count")
            size, pages, free = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
            return size * (pages - free)

    def _open(self):
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)

    def tables(self):
        """Everything that is stored, but for the bystander's messages and guests."""
        with closing(self._open()) as connection:
            connection.text_factory = bytes
            found = connection.execute("SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type = 'table'")
            names = [(name.decode(), is_virtual) for name, is_virtual in found]
            # A full-text index has no rows of its own, but the pages of its parts.
            left_out = ("sqlite_", *(name for name, is_virtual in names if is_virtual))
            connection.execute("BEGIN")
            return {name: self._table(connection, name) for name, _ in names
                    if name not in OWN_TABLES and not name.startswith(left_out)}

    def _table(self, connection, name):
        columns = [(column.decode(), key) for _, column, _, _, _, key in connection.execute(f"PRAGMA table_info({name})")]
        where = self._others([column for column, _ in columns])
        (count,) = connection.execute(f"SELECT count(*) FROM {name} {where}").fetchone()
        rows = None
        if count <= COMPARED_ROWS:
            keys = [n for n, (_, key) in enumerate(columns) if key > 0]
            found = connection.execute(f"SELECT * FROM {name} {where}")
            rows = {tuple(row[n] for n in keys): hash(row) for row in found}
        return Table(count, self._sequence(connection, name), rows)

    @staticmethod
    def _sequence(connection, name):
        """The last number given: SQLite's own, or that of a table beside it."""
        (own,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (f"{name}Number",)).fetchone()
        query = f"SELECT last FROM {name}Number" if own else f"SELECT seq FROM sqlite_sequence WHERE name = '{name}'"
        return (connection.execute(query).fetchone() or (0,))[0]

    @staticmethod
    def _others(columns):
        """Leaves out what the bystander does."""
        conditions = [f"{name} NOT LIKE '{USER}%'" for name in ("userID", "sender", "groupID") if name in columns]
        return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def rows_between(before, after):
    """How many rows were inserted, deleted or changed, by table, as far as the two snapshots show
    it."""
    found = {}
    for name, new in after.items():
        old = before.get(name, Table(0, 0, {}))
        if old.rows is not None and new.rows is not None:
            count = sum(old.rows.get(key) != content for key, content in new.rows.items())
            count += sum(key not in new.rows for key in old.rows)
        else:
            count = abs(new.count - old.count)
        found[name] = max(count, new.sequence - old.sequence)
    return {name: count for name, count in found.items() if count}


class SeedRows:
    """The SQLite file of a stopped server, to be filled with more than requests could in the
    time."""

    def __init__(self, server):
        self._connection = sqlite3.connect(server.data_dir / "throng.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("BEGIN")

    def close(self):
        self._connection.execute("COMMIT")
        self._connection.close()

    def multiply(self, table, count, where="true", values=(), /, **expressions):
        """Adds so many copies of each row that `where` finds. Some columns get the value of an SQL
        expression instead, in which `n` is the number of the copy; a name that is no column of this
        schema is passed over, and AUTOINCREMENT numbers anew."""
        columns = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
        (text,) = self._connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        if "AUTOINCREMENT" in text:
            columns = [column for column in columns if column in expressions or f"{column} INTEGER PRIMARY KEY" not in text]
        (found,) = self._connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()
        assert found, f"{table} has no row to copy"
        chosen = ", ".join(expressions.get(column, f"template.{column}") for column in columns)
        self._connection.execute(
            f"WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < {count}) "
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} "
            f"FROM (SELECT * FROM {table} WHERE {where}) AS template, counter", values)

    def update(self, table, where="true", values=(), /, **expressions):
        columns = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
        chosen = ", ".join(f"{name} = {expression}" for name, expression in expressions.items() if name in columns)
        if chosen:
            self._connection.execute(f"UPDATE {table} SET {chosen} WHERE {where}", values)

    def index_messages(self):
        """Puts every text into the index of messages (search.messages)."""
        self._connection.execute(
            "INSERT INTO messageSearch (rowid, text) SELECT number << 32 | seq, content FROM message WHERE kind = 'Text' "
            "AND seq > coalesce((SELECT seq FROM messageIndexed AS i WHERE i.number = message.number), 0) ORDER BY 1")
        self._connection.execute("INSERT OR REPLACE INTO messageIndexed SELECT number, max(seq) FROM message GROUP BY number")

    def number_of(self, group):
        (number,) = self._connection.execute("SELECT number FROM groupRecord WHERE groupID = ?", (group,)).fetchone()
        return number
