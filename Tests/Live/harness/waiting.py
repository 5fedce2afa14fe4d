"""Waits that end."""
import asyncio


async def within(awaitable, patience):
    """Its result; TimeoutError where it takes longer than so many seconds. asyncio.wait_for loses the cancellation of a task
    whose wait has just ended (Python 3.11, bpo-37658): the task goes on, and whoever waits for its end waits for ever."""
    async with asyncio.timeout(patience):
        return await awaitable
