# SPDX-License-Identifier: Apache-2.0
"""The two errors of calls and messages: the server's, and the client's own."""
from __future__ import annotations

from typing import Any


class ThrongError(Exception):
    """An error that the server answered. `temporary`: the same request may succeed later; `retry_after`: in so many
    seconds, 0 = not told; `field`: the parameter that is wrong."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        super().__init__(f"{method}: {error['message']} ({error['code']})")
        data: dict[str, Any] = error.get("data") or {}
        self.method = method
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.temporary: bool = data.get("temporary", False)
        self.field: str | None = data.get("field")
        self.retry_after: float = data.get("retryAfterMs", 0) / 1000


# What a reason means, where neither the server nor the system has said more.
WORDS = {
    "NotConnected": "There is no connection to the server.",
    "ConnectionLost": "The connection ended before the answer came: whether the request was carried out is not known.",
    "OutcomeUnknown":
        "The connection ended before the answer came, and the server cannot tell any more what became of the message.",
    "ConversationEnded": "The user is in the group no more.",
    "Expired": "The message was for those who were there then.",
    "TokenTimeout": "The token function has not answered in time.",
    "QueueFull": "Too much waits for the connection already.",
    "TooLarge": "The request is larger than the server takes.",
    "BadAnswer": "The server has answered what no server of this protocol does.",
    "Closed": "The client is closed, and connects no more: make another one.",
}


class ClientError(Exception):
    """A request or message without an answer. `reason` is one of these.

    NotConnected: it was not sent. ConnectionLost: whether it was carried out is not known. OutcomeUnknown: the same of a
    message, and the server cannot tell either. QueueFull, TooLarge. BadAnswer: the server has answered what no server of
    this protocol does. Closed: the client has come to its end. ConversationEnded: the user is no member any more. Expired:
    the message waited for too long to be sent to a live room. TokenTimeout: the token function did not answer."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(detail or WORDS.get(reason, reason))
        self.reason = reason


class StorageError(Exception):
    """A store that cannot be used. `reason` is Full, Refused (it may not be opened), Corrupt, InUse (by another client),
    TooNew (a later version has written it) or Failed (anything else)."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(detail or reason)
        self.reason = reason
