# SPDX-License-Identifier: Apache-2.0
"""Stores as files of SQLite, one for each, beside a lock that lets one client in."""
from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import sqlite3
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from .errors import StorageError
from .storage import Change, Decision, Row

Result = TypeVar("Result")

# Longer names are none of a file on many systems.
LONGEST_NAME = 240
# The bytes of a file's name that stay as they are.
SAFE = "_.-"
# A reader from outside, such as a backup, may hold the file for so many seconds.
BUSY_TIMEOUT = 5
SCHEMA = "CREATE TABLE IF NOT EXISTS rows(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT"
# SQLite's primary codes PERM, READONLY, CORRUPT, FULL, CANTOPEN and NOTADB; Python 3.10 has the words of errors alone.
REASONS = {3: "Refused", 8: "Refused", 11: "Corrupt", 13: "Full", 14: "Refused", 26: "Corrupt"}
REASONS_BY_WORDS = {
    "full": "Full", "not a database": "Corrupt", "malformed": "Corrupt", "unable to open": "Refused", "readonly": "Refused"}


class SQLiteStorage:
    """Keeps stores in a directory, which is made where there is none. Nobody but the user may read them."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory).expanduser()
        self._path: Path | None = None
        self._lock: int | None = None
        self._connection: sqlite3.Connection | None = None
        # All work is done here, in its order: a disk may be slow.
        self._thread: ThreadPoolExecutor | None = None

    async def open(self, name: str) -> None:
        await self._run(lambda: self._open(name))

    async def get(self, key: str) -> str | None:
        rows = await self._run(lambda: self._rows("SELECT key, value FROM rows WHERE key = ?", (key,)))
        return rows[0][1] if rows else None

    async def scan(self, start: str, end: str, limit: int | None = None, is_descending: bool = False) -> list[Row]:
        order = "DESC" if is_descending else "ASC"
        query = f"SELECT key, value FROM rows WHERE key >= ? AND key < ? ORDER BY key {order} LIMIT ?"
        return await self._run(lambda: self._rows(query, (start, end, -1 if limit is None else limit)))

    async def update(self, keys: list[str], decide: Decision) -> None:
        await self._run(lambda: self._update(keys, decide))

    async def close(self) -> None:
        await self._run(self._close)
        self._end_thread()

    async def destroy(self) -> None:
        await self._run(self._destroy)
        self._end_thread()

    async def _run(self, work: Callable[[], Result]) -> Result:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "throng-store")
        return await asyncio.get_running_loop().run_in_executor(self._thread, reported, work)

    def _end_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread:
            thread.shutdown(wait=False)

    # On the thread

    @property
    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StorageError("Failed", "the store is closed")
        return self._connection

    def _open(self, name: str) -> None:
        self._close()
        file = "".join(one if one.isalnum() and one.isascii() or one in SAFE else quote(one, safe="") for one in name)
        if len(file) > LONGEST_NAME:
            raise StorageError("Refused", "the store's name is too long for a file")
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = self._directory / f"{file}.throng.sqlite3"
        self._lock = take_lock(self._path.with_name(self._path.name + ".lock"))
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            # All work is done by one thread at a time, which is another one after `close`.
            connection = sqlite3.connect(self._path, BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
            self._connection = connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(SCHEMA)
            # A file that is damaged further behind is found by its readers.
            connection.execute("SELECT key, value FROM rows LIMIT 1").fetchall()
        except BaseException as error:
            # What is damaged may be destroyed, so the lock stays.
            if not (isinstance(error, sqlite3.Error) and reason_of(error) == "Corrupt"):
                self._close()
            raise

    def _rows(self, query: str, values: tuple[object, ...]) -> list[Row]:
        return self._open_connection.execute(query, values).fetchall()

    def _update(self, keys: list[str], decide: Decision) -> None:
        connection = self._open_connection
        # The level of safety cannot change within a transaction, and what is decided is not known before.
        is_outbox = any(key.startswith("o/") for key in keys)
        connection.execute(f"PRAGMA synchronous = {'FULL' if is_outbox else 'NORMAL'}")
        connection.execute("BEGIN IMMEDIATE")
        try:
            values: dict[str, str] = {}
            for key in keys:
                values.update(connection.execute("SELECT key, value FROM rows WHERE key = ?", (key,)).fetchall())
            for change in decide(values):
                execute(connection, change)
            connection.execute("COMMIT")
        except BaseException:
            # SQLite has ended the transaction by itself after some errors, such as a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        try:
            if connection:
                connection.close()
        finally:
            lock, self._lock = self._lock, None
            if lock is not None:
                os.close(lock)

    def _destroy(self) -> None:
        if self._path is None:
            raise StorageError("Failed", "no store was opened")
        connection, self._connection = self._connection, None
        with contextlib.suppress(sqlite3.Error):
            if connection:
                connection.close()
        if self._lock is None:
            raise StorageError("Failed", "the store is closed")
        try:
            for suffix in ("-wal", "-shm", "-journal", ""):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            # Last: whoever comes meanwhile finds it taken. Windows keeps what is open.
            with contextlib.suppress(PermissionError):
                self._path.with_name(self._path.name + ".lock").unlink(missing_ok=True)
        finally:
            self._close()


def execute(connection: sqlite3.Connection, change: Change) -> None:
    if change[0] == "put":
        connection.execute("INSERT OR REPLACE INTO rows(key, value) VALUES (?, ?)", change[1:])
    elif change[0] == "delete":
        connection.execute("DELETE FROM rows WHERE key = ?", change[1:])
    else:
        connection.execute("DELETE FROM rows WHERE key >= ? AND key < ?", change[1:])


def take_lock(path: Path) -> int:
    """The lock of a store, as the descriptor of a file that is locked as long as it is open."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_file(lock)
            # The file may have been removed before it was locked: then it is nobody's lock any more.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(path)):
                    return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def lock_file(file: int) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            raise StorageError("InUse", "another client has the store open") from error
        raise


def reason_of(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return REASONS.get(code & 0xFF, "Failed")
    return next((reason for words, reason in REASONS_BY_WORDS.items() if words in str(error)), "Failed")


def reported(work: Callable[[], Result]) -> Result:
    """Does work of a thread; its errors become those of storages."""
    try:
        return work()
    except sqlite3.Error as error:
        raise StorageError(reason_of(error), str(error)) from error
    except OSError as error:
        reason = "Full" if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)) else "Refused"
        raise StorageError(reason, str(error)) from error
