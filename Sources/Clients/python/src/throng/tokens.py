# SPDX-License-Identifier: Apache-2.0
"""The tokens of sign-ins and renewals."""
from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Union

from .clock import within
from .errors import ClientError
from .limits import LEAST_TOKEN_TIME

# A token, or a function that gives a new one, async or not.
TokenSource = Union[str, Callable[[], Union[str, Awaitable[str]]]]


class Tokens:
    """The token of the next sign-in. The token function is asked once at a time, and has a time in which to answer."""

    def __init__(self, source: TokenSource, timeout: float) -> None:
        self._source, self._timeout = source, timeout
        self._token: str | None = None
        # That of the session; a newer one may have come that is not used yet.
        self.used: str | None = None
        # The server has said that the token is none any more.
        self._is_refused = False
        self._reading: asyncio.Task[str] | None = None

    @property
    def may_renew(self) -> bool:
        return callable(self._source)

    @property
    def is_asking(self) -> bool:
        return self._reading is not None

    async def for_connection(self, left: float) -> str:
        """The token of the next sign-in; a new one where there is none that is good. `left`: how long that of the session
        holds, in seconds."""
        if isinstance(self._source, str):
            self._token = self._source
        elif self._token is None or self._is_refused or (self._token == self.used and left < LEAST_TOKEN_TIME):
            await self.renew()
        assert self._token is not None, "it was read"
        return self._token

    async def renew(self) -> str:
        """A new token."""
        # A renewal and the next connection may ask at the same time.
        reading = self._reading = self._reading or asyncio.ensure_future(self._ask())
        try:
            self._token = await asyncio.shield(reading)
        finally:
            if self._reading is reading:
                self._reading = None
        self._is_refused = False
        return self._token

    async def _ask(self) -> str:
        assert callable(self._source), "a fixed token is not asked for"
        token = self._source()
        if inspect.isawaitable(token):
            late = ClientError("TokenTimeout", f"the token function has not answered for {self._timeout:g} s")
            token = await within(token, self._timeout, late)
        if not isinstance(token, str):
            raise TypeError("the token function has not given a text")
        return token

    def note_refused(self) -> None:
        """The token of the session, or of its sign-in, is none any more."""
        if self._token == self.used:
            self._is_refused = True

    def note_renewal_refused(self) -> None:
        """The server did not take a new one; that of the session is as good as before."""
        self._token = self.used

    def abandon(self) -> None:
        """Nobody waits for the token function any more: the next one who needs a token asks anew."""
        reading, self._reading = self._reading, None
        if reading:
            reading.cancel()
