# SPDX-License-Identifier: Apache-2.0
"""Events and those who are told of them."""
from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from ._generated import EVENT_NAMES
from .frames import is_identifier
from .limits import LARGEST_QUEUE, MOST_LOST_GROUPS

Handler = Callable[..., object]


class EventQueue:
    """Events that wait for one reader, bounded by their number and their text."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = max(1, limit), 0
        self._events: deque[tuple[tuple[str, Any], int]] = deque()

    def __bool__(self) -> bool:
        return bool(self._events)

    def put(self, event: tuple[str, Any], size: int) -> bool:
        """Answers whether there is room. One event alone may be larger than all may be."""
        has_room = not self._events or (len(self._events) < self._limit and self._size + size <= LARGEST_QUEUE)
        if has_room:
            self._events.append((event, size))
            self._size += size
        return has_room

    def take(self) -> tuple[str, Any]:
        event, size = self._events.popleft()
        self._size -= size
        return event


class Tasks:
    """Work that goes on by itself."""

    def __init__(self) -> None:
        self.running: set[asyncio.Future[Any]] = set()

    def spawn(self, work: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(work)
        self.running.add(task)
        task.add_done_callback(self.running.discard)

    def spawn_later(self, work: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Callable[[], None]:
        return lambda: self.spawn(work(*arguments))


class Timers:
    """Timers by name."""

    def __init__(self) -> None:
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._timers

    def start(self, name: str, delay: float, act: Callable[[], None]) -> None:
        self.stop(name)
        self._timers[name] = asyncio.get_running_loop().call_later(delay, act)

    def stop(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()

    def stop_all(self) -> None:
        for name in [*self._timers]:
            self.stop(name)


class Emitter:
    """Calls the handlers of events."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}
        self._tasks = Tasks()

    def on(self, name: str, handler: Handler) -> Callable[[], None]:
        if name not in EVENT_NAMES:
            raise ValueError(f'there is no event "{name}"; there are {", ".join(EVENT_NAMES)}')
        self._handlers.setdefault(name, []).append(handler)
        return lambda: self._handlers[name].remove(handler)

    def emit(self, name: str, *values: Any, size: int = 0) -> None:
        """`size`: of the text that the event came with."""
        for handler in [*self._handlers.get(name, ())]:
            self._protect(handler, *values)
        if name not in ("event", "frame"):
            for handler in [*self._handlers.get("*", ())]:
                self._protect(handler, name, *values, size)

    def _protect(self, handler: Handler, *values: Any) -> None:
        """A fault of one handler must stop neither the others nor the client, and be seen."""
        try:
            answer = handler(*values)
            if inspect.isawaitable(answer):
                self._tasks.spawn(answer)
        except Exception as error:
            context = {"message": "a handler of ThrongClient failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    def events(self, limit: int, is_over: Callable[[], bool]) -> AsyncIterator[tuple[str, Any]]:
        """All events from now on, and `lost` where more than `limit` wait."""
        queue, news = EventQueue(limit), asyncio.Event()
        lost: dict[str, Any] = {}

        def note(name: str, params: Any, size: int) -> None:
            if lost or not queue.put((name, params), size):
                lost["count"] = lost.get("count", 0) + 1
                groups = lost.setdefault("groupIDs", {})
                group = params.get("groupID") if isinstance(params, dict) else getattr(params, "group_id", None)
                if group and is_identifier(group) and len(groups) < MOST_LOST_GROUPS:
                    groups[group] = True
            news.set()
        self._handlers.setdefault("*", []).append(note)
        return self._iterate(queue, lost, news, note, is_over)

    async def _iterate(
        self, queue: EventQueue, lost: dict[str, Any], news: asyncio.Event, note: Handler, is_over: Callable[[], bool],
    ) -> AsyncIterator[tuple[str, Any]]:
        try:
            while queue or lost or not is_over():
                while queue:
                    yield queue.take()
                if lost:
                    told = {**lost, "groupIDs": [*lost["groupIDs"]]}
                    lost.clear()
                    yield "lost", told
                    continue
                news.clear()
                if not is_over():
                    await news.wait()
        finally:
            self._handlers["*"].remove(note)
