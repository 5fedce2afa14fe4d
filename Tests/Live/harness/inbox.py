"""The events that a client has got, until a test takes them out."""
import asyncio

from .waiting import within


def matches(params, where):
    for name, wanted in where.items():
        value = params.get(name)
        if not (wanted(value) if callable(wanted) else value == wanted):
            return False
    return True


class Inbox:
    """A subclass has `patience`, the seconds that `expect` waits; `_reader`, the task that adds to `inbox` and sets `_changed`
    behind that; and `_ending`, what is known of the client where an event does not come."""

    def __init__(self):
        self.inbox = []
        self._changed = asyncio.Event()

    async def expect(self, event, patience=None, **where):
        """Takes the first such event out of the inbox, waiting for it; gives its params."""
        deadline = asyncio.get_running_loop().time() + (self.patience if patience is None else patience)
        while True:
            self._changed.clear()
            for index, (name, params) in enumerate(self.inbox):
                if name == event and matches(params, where):
                    del self.inbox[index]
                    return params
            left = deadline - asyncio.get_running_loop().time()
            if self._reader.done() or left <= 0:
                raise AssertionError(f"no {event} {where}; {self._ending}; inbox: {self.inbox}")
            try:
                await within(self._changed.wait(), left)
            except asyncio.TimeoutError:
                continue  # the next turn says what is missing
