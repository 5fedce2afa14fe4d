# SPDX-License-Identifier: Apache-2.0
"""The port behind which a client keeps what it remembers (Clients.md, "Memory"), and its form in memory. A store is an
ordered map from text to text: keys are ASCII and ordered by byte, values are JSON."""
from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Union

# A change of a store: ("put", key, value), ("delete", key), or ("deleteRange", start, end) without the end.
Put = tuple[Literal["put"], str, str]
Delete = tuple[Literal["delete"], str]
DeleteRange = tuple[Literal["deleteRange"], str, str]
Change = Union[Put, Delete, DeleteRange]
Row = tuple[str, str]
Decision = Callable[[dict[str, str]], list[Change]]


class Storage(Protocol):
    """Where stores are kept. One object has one store open at a time. Each method fails with a StorageError and nothing
    else; `destroy` also works where `open` has failed with Corrupt."""

    async def open(self, name: str) -> None:
        """Opens a store, which is made where there is none."""

    async def get(self, key: str) -> str | None:
        """The value of a key."""

    async def scan(self, start: str, end: str, limit: int | None = None, is_descending: bool = False) -> list[Row]:
        """The rows with start <= key < end, ordered by key."""

    async def update(self, keys: list[str], decide: Decision) -> None:
        """Reads the values of keys, and makes the changes that `decide` answers: all of them or none. `decide` is called
        once, maybe on another thread, with those values that there are; nobody writes to the store meanwhile. Changes of
        keys that begin with `o/` outlive a power failure."""

    async def close(self) -> None:
        """Closes the store."""

    async def destroy(self) -> None:
        """Removes the store, and closes it."""


@dataclass(frozen=True)
class StorageLimits:
    """The bounds of a store: messages of a group, groups besides those that the user is in, and bytes of keys and values."""

    messages_per_group: int = 200
    groups: int = 1000
    bytes: int = 1 << 26

    def __post_init__(self) -> None:
        if min(self.messages_per_group, self.groups, self.bytes) < 1:
            raise ValueError("a bound of a store is 1 or more")


class MemoryStorage:
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        # The same keys, ordered.
        self._keys: list[str] = []

    async def open(self, name: str) -> None:
        pass

    async def get(self, key: str) -> str | None:
        return self._values.get(key)

    async def scan(self, start: str, end: str, limit: int | None = None, is_descending: bool = False) -> list[Row]:
        keys = self._keys[bisect.bisect_left(self._keys, start):bisect.bisect_left(self._keys, end)]
        if is_descending:
            keys.reverse()
        return [(key, self._values[key]) for key in keys[:limit]]

    async def update(self, keys: list[str], decide: Decision) -> None:
        for change in decide({key: self._values[key] for key in keys if key in self._values}):
            if change[0] == "put":
                self._put(change[1], change[2])
            elif change[0] == "delete":
                self._delete(change[1])
            else:
                start, end = change[1], change[2]
                for key in self._keys[bisect.bisect_left(self._keys, start):bisect.bisect_left(self._keys, end)]:
                    self._delete(key)

    def _put(self, key: str, value: str) -> None:
        if key not in self._values:
            bisect.insort(self._keys, key)
        self._values[key] = value

    def _delete(self, key: str) -> None:
        if self._values.pop(key, None) is not None:
            del self._keys[bisect.bisect_left(self._keys, key)]

    async def close(self) -> None:
        await self.destroy()

    async def destroy(self) -> None:
        self._values.clear()
        self._keys.clear()
