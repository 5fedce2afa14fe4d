# SPDX-License-Identifier: Apache-2.0
"""Which transport the next connection takes (Clients.md, "Behind proxies")."""
from __future__ import annotations

from typing import Literal

from .limits import FAILURES_BEFORE_STREAM, FIRST_QUIET, LONGEST_QUIET, STREAMS_OFF

TransportName = Literal["websocket", "stream"]
TransportMode = Literal["auto", "websocket", "stream"]


class TransportChoice:
    """WebSockets; where they fail twice in a row a stream, and then the two by turns. A stream that works stays, until a quiet
    time is over. Instants are those of the client's clock."""

    def __init__(self, mode: TransportMode, has_streams: bool) -> None:
        self._mode, self._has_streams = mode, has_streams
        # WebSockets that have failed in a row, and what was tried last.
        self._failures = 0
        self._last: TransportName = "websocket"
        self._streams_off_until = 0.0
        # The client goes by streams, since when, and for how long before it looks for WebSockets.
        self._is_on_stream = self._looks_now = False
        self._quiet_since, self._quiet = 0.0, float(FIRST_QUIET)

    def next(self, moment: float) -> TransportName:
        self._last = self._next(moment)
        return self._last

    def _next(self, moment: float) -> TransportName:
        if self._mode != "auto":
            return self._mode
        looks, self._looks_now = self._looks_now, False
        if not self._has_streams or moment < self._streams_off_until or looks:
            return "websocket"
        if self._is_on_stream:
            return "websocket" if self.quiet_left(moment) <= 0 else "stream"
        return "stream" if self._failures >= FAILURES_BEFORE_STREAM and self._last == "websocket" else "websocket"

    @property
    def looks_for_websockets(self) -> bool:
        """Whether a session on a stream looks for WebSockets."""
        return self._mode == "auto"

    def quiet_left(self, moment: float) -> float:
        """How long a stream stays before a WebSocket is tried, in seconds."""
        return max(0.0, self._quiet_since + self._quiet - moment)

    def failed(self, moment: float) -> None:
        """The last try ended before the server had a word in it."""
        if self._last == "stream":
            self._is_on_stream = False
        elif self._is_on_stream:
            self.probe_failed(moment)
        else:
            self._failures += 1

    def is_unavailable(self, moment: float) -> None:
        """The server has no streams."""
        self._is_on_stream = False
        self._streams_off_until = moment + STREAMS_OFF

    def signed_in(self, moment: float) -> None:
        if self._last == "stream":
            if not self._is_on_stream:
                self._quiet_since = moment
            self._is_on_stream = True
        else:
            self._failures, self._is_on_stream, self._quiet = 0, False, float(FIRST_QUIET)

    def probe_failed(self, moment: float) -> None:
        """No WebSocket passes yet."""
        self._quiet_since, self._quiet = moment, min(2 * self._quiet, float(LONGEST_QUIET))

    def begin_anew(self) -> None:
        """The network may be another one, or a WebSocket passes: the next try is one."""
        self._failures, self._looks_now = 0, True
