# SPDX-License-Identifier: Apache-2.0
"""Time. Waits go by `now`, which nobody sets; the time of day is for people."""
from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .limits import FIRST_BACKOFF, LEAST_BACKOFF, LONGEST_BACKOFF

Result = TypeVar("Result")


def now() -> float:
    """Seconds of a clock that goes on while the machine sleeps, as the server's does."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def time_of_day() -> int:
    """Milliseconds since 1970 by the machine's clock, which may be wrong."""
    return round(time.time() * 1000)


async def within(work: Awaitable[Result], seconds: float, error: Exception) -> Result:
    """Its result; where it takes longer it is cancelled, and the error is raised. `asyncio.wait_for` loses the cancellation
    of a task whose wait has just ended (Python 3.11, bpo-37658)."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise error
        return task.result()
    finally:
        task.cancel()


def backoff(random: Callable[[], float], count: int) -> float:
    """A random delay after so many failures, in seconds."""
    return max(LEAST_BACKOFF, random() * min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** min(count, 10)))
