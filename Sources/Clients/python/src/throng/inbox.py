# SPDX-License-Identifier: Apache-2.0
"""Work that waits for the store, bounded by its number and its text."""
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import ClientError
from .limits import LARGEST_QUEUE, MOST_UNSTORED

Result = TypeVar("Result")

# Entries that are worked off before others have a turn, where no disk gives them one.
ENTRIES_A_TURN = 100


@dataclass
class Entry:
    work: Callable[[], Awaitable[Any]]
    done: asyncio.Future[Any] | None
    size: int


class Inbox:
    """Does work piece by piece, in its order, once it is open."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self._size = 0
        self._worker: asyncio.Task[None] | None = None
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_open = self._is_closed = False

    def open(self) -> None:
        self._is_open = True
        self._work()

    def put(self, work: Callable[[], Awaitable[Any]], size: int = 0) -> None:
        """Work that nobody waits for. A closed inbox passes it over."""
        if not self._is_closed:
            self._add(Entry(work, None, size))

    def submit(self, work: Callable[[], Awaitable[Result]]) -> asyncio.Future[Result]:
        """The result of work; ClientError Closed where the inbox is closed."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        # Not everybody waits for it.
        done.add_done_callback(lambda one: one.cancelled() or one.exception())
        if self._is_closed:
            done.set_exception(ClientError("Closed"))
        else:
            self._add(Entry(work, done, 0))
        return done

    async def room(self) -> None:
        """Waits while as much waits as may."""
        await self._has_room.wait()

    def close(self, work: Callable[[], Awaitable[Result]]) -> asyncio.Future[Result]:
        """The last work."""
        done = self.submit(work)
        self._is_closed = True
        return done

    def clear(self) -> None:
        """Forgets what waits."""
        for entry in self._entries:
            if entry.done and not entry.done.done():
                entry.done.set_exception(ClientError("Closed"))
        self._entries.clear()
        self._size = 0
        self._has_room.set()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._size += entry.size
        if len(self._entries) >= MOST_UNSTORED or self._size > LARGEST_QUEUE:
            self._has_room.clear()
        self._work()

    def _work(self) -> None:
        if self._is_open and self._entries and self._worker is None:
            self._worker = asyncio.ensure_future(self._work_off())

    async def _work_off(self) -> None:
        count = 0
        try:
            while self._entries:
                entry = self._entries.popleft()
                self._size -= entry.size
                if len(self._entries) < MOST_UNSTORED and self._size <= LARGEST_QUEUE:
                    self._has_room.set()
                await self._do(entry)
                count += 1
                if count % ENTRIES_A_TURN == 0:
                    await asyncio.sleep(0)
        finally:
            self._worker = None
            self._work()

    @staticmethod
    async def _do(entry: Entry) -> None:
        try:
            result = await entry.work()
        except Exception as error:
            # A fault of the client's own: who waits for the entry is told, or else the loop.
            if entry.done and not entry.done.done():
                entry.done.set_exception(error)
            elif not entry.done:
                context = {"message": "the store of ThrongClient failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)
        else:
            if entry.done and not entry.done.done():
                entry.done.set_result(result)
