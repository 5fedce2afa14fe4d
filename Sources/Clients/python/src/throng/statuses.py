# SPDX-License-Identifier: Apache-2.0
"""The users whose status the application watches."""
from __future__ import annotations

from collections.abc import Iterable

from .errors import ClientError
from .frames import Values
from .limits import MOST_WATCHED, USERS_PER_WATCH


class StatusWatch:
    """The users who are watched, with the last row of each. It decides what is asked; one request at a time."""

    def __init__(self) -> None:
        # The last row by userID; None = there is none.
        self.rows: dict[str, Values | None] = {}
        # Users that this session has to be told of, and those that it watches and the application does not any more:
        # dictionaries without values are sets that keep their order.
        self._to_watch: dict[str, None] = {}
        self._to_unwatch: dict[str, None] = {}
        # The request under way: whether it is an end, its users, and those whom an event has told of since it left.
        self._asked: tuple[bool, list[str], set[str]] | None = None
        self._is_open = False

    def add(self, user_ids: Iterable[str]) -> None:
        added = [one for one in dict.fromkeys(user_ids) if one not in self.rows]
        if len(self.rows) + len(added) > MOST_WATCHED:
            raise ClientError("QueueFull")
        self.rows.update(dict.fromkeys(added))
        self._to_watch.update(dict.fromkeys(added))

    def remove(self, user_ids: Iterable[str] | None = None) -> None:
        for user in [*self.rows] if user_ids is None else user_ids:
            if user not in self.rows:
                continue
            del self.rows[user]
            if user in self._to_watch:
                del self._to_watch[user]
            elif self._is_open:
                # Without a session there is nothing that one would watch.
                self._to_unwatch[user] = None

    def start_session(self) -> None:
        """A new session watches nobody."""
        self.end_session()
        self._is_open, self._to_watch = True, dict.fromkeys(self.rows)

    def end_session(self) -> None:
        self._is_open, self._asked = False, None
        self._to_unwatch.clear()

    def next(self) -> tuple[bool, list[str]] | None:
        """What is to be asked now, as whether it is an end and its users; None = nothing, or a request is under way."""
        users = self._to_unwatch or self._to_watch
        if not self._is_open or self._asked or not users:
            return None
        is_end, user_ids = bool(self._to_unwatch), [*users][:USERS_PER_WATCH]
        for user in user_ids:
            del users[user]
        self._asked = is_end, user_ids, set()
        return is_end, user_ids

    def _take_asked(self) -> tuple[bool, list[str], set[str]]:
        asked, self._asked = self._asked, None
        return asked or (True, [], set())

    def answered(self, rows: Iterable[Values]) -> Values:
        """Takes the rows of the answer, unless an event was newer; answers what is news."""
        is_end, user_ids, told = self._take_asked()
        if is_end:
            return {"userList": [], "unknownUserIDList": []}
        asked: dict[str, Values | None] = {one: None for one in user_ids if one in self.rows and one not in told}
        known = [row for row in rows if row["userID"] in asked]
        asked.update({row["userID"]: row for row in known})
        self.rows.update(asked)
        return {"userList": known, "unknownUserIDList": [user for user, row in asked.items() if row is None]}

    def put_back(self) -> None:
        """The request was refused for now, and is made again."""
        is_end, user_ids, _ = self._take_asked()
        if is_end:
            self._to_unwatch.update(dict.fromkeys(user_ids))
        else:
            self._to_watch.update(dict.fromkeys(one for one in user_ids if one in self.rows))

    def refused(self) -> list[str]:
        """The request was refused for good: answers the users who are not watched."""
        is_end, user_ids, _ = self._take_asked()
        failed = [] if is_end else [one for one in user_ids if one in self.rows]
        for user in failed:
            del self.rows[user]
        return failed

    def hear(self, rows: Iterable[Values]) -> Values:
        """Rows of an event; answers those of users who are watched."""
        known = [row for row in rows if row["userID"] in self.rows]
        for row in known:
            self.rows[row["userID"]] = row
            if self._asked:
                self._asked[2].add(row["userID"])
        return {"userList": known, "unknownUserIDList": []}
