# SPDX-License-Identifier: Apache-2.0
"""What a client says by itself, with the logger `throng`: to stderr, unless the program has set `logging` up otherwise."""
from __future__ import annotations

import logging
import re

from .errors import ClientError, ThrongError
from .frames import Values, one_line

# Warnings without a handler go to stderr.
logger = logging.getLogger("throng")


def shown_address(url: str) -> str:
    """An address without what may be secret: a user, a password, a query."""
    return re.sub("//[^/]*@", "//", re.sub("[?#].*", "", str(url), flags=re.DOTALL), count=1)


def cause_of(code: int, reason: str | None, error: Exception | None) -> str:
    """Why a connection has ended."""
    words_of_error = error.message if isinstance(error, ThrongError) else str(error or "")
    # A refused sign-in has the same words twice, and a server without streams at the end of the reason.
    if reason and words_of_error and reason.endswith(words_of_error):
        words_of_error = ""
    text = ": ".join(filter(None, (reason, words_of_error))) or "the connection has ended"
    return one_line(f"{text} ({code})" if code not in (0, 1006) else text)


class Reporter:
    """A handler of `state` that logs a line where there is no connection, where there is one again, and where none will
    be."""

    def __init__(self, url: str) -> None:
        self._address = one_line(shown_address(url))
        self._was_online = self._is_away = False

    def __call__(self, news: Values) -> None:
        state, error = news["state"], news.get("error")
        if state == "waiting":
            self._is_away = True
            cause, delay = cause_of(news["code"], news["reason"], error), news["retryInMs"] / 1000
            logger.warning("throng: not connected to %s: %s; next try in %.1f s", self._address, cause, delay)
        elif state == "online":
            if self._is_away:
                way = " over an event stream" if news.get("transport") == "stream" else ""
                logger.warning("throng: connected to %s%s", self._address, way)
            self._was_online, self._is_away = True, False
        elif state == "closed" and self._was_online and not (isinstance(error, ClientError) and error.reason == "Closed"):
            # Before the first sign-in `connect` raises the reason.
            cause = cause_of(news["code"], news["reason"], error)
            logger.warning("throng: the connection to %s is closed for good: %s", self._address, cause)

    def store_failed(self, news: Values) -> None:
        """A handler of `storageFailed`."""
        lost = "; messages that were not sent are lost" if news["lostOutbox"] else ""
        logger.warning("throng: the store of %s failed: %s (%s)%s", self._address, one_line(news["message"]), news["reason"], lost)
