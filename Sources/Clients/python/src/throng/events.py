# SPDX-License-Identifier: Apache-2.0
"""What the client's own events tell, and the answers of its own methods."""
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from ._generated import GroupInfo, GroupMessage, UserStatusInfo
from .errors import ClientError, ThrongError
from .outbox import Message

if TYPE_CHECKING:
    from typing_extensions import NotRequired

State = Literal["connecting", "online", "waiting", "closed"]
Source = Literal["stored", "server"]


class Position(TypedDict):
    """Up to where the application was told of a group."""

    groupID: str
    epoch: str | None
    seq: int
    changeSeq: int


class StoredProfile(TypedDict):
    """The texts of a user, as they were seen last. `seenAt`: when, in milliseconds since 1970."""

    userID: str
    nickName: str
    faceURL: str
    seenAt: int


class StateNews(TypedDict):
    """A step of the connection. `code`: the close code; 1006 where the connection ended without one, 0 where there was
    none. `isOpen`: whether there was a connection. `retryInMs`: when the next one is tried."""

    state: State
    transport: NotRequired[Literal["websocket", "stream"]]
    code: NotRequired[int]
    reason: NotRequired[str | None]
    error: NotRequired[Exception | None]
    isOpen: NotRequired[bool]
    retryInMs: NotRequired[int]


class SyncNews(TypedDict):
    """A page of what was missed in a group. `messageList`: new messages, without those of this client. `changeList`: older
    ones as they are now. `more`: another page of the group follows. `info`: the group as it is now, if it has changed.
    `recovered` False: what is shown of the group is out of date."""

    groupID: str
    recovered: bool
    messageList: list[GroupMessage]
    changeList: list[GroupMessage]
    more: bool
    info: GroupInfo | None


class ReadyNews(TypedDict):
    """The session is in step with its groups. `groups`: those that have changed; the others are groupIDs."""

    isFirst: bool
    groups: list[GroupInfo]
    joined: list[str]
    left: list[str]
    recovered: list[str]
    notRecovered: list[str]
    source: Literal["server"]


class StatusNews(TypedDict):
    """Rows of users who are watched, as they are now, and users who were asked about and have none."""

    userList: list[UserStatusInfo]
    unknownUserIDList: list[str]


class WatchFailure(TypedDict):
    """Users who are not watched, because the server refused it."""

    userIDList: list[str]
    error: ThrongError | ClientError


class Conversation(TypedDict):
    """A group as the store has it. `status`: what the user is there; one that is no member's stays readable, and has no
    selfInfo. `source`: server once this session has confirmed it. `endedAt`: in milliseconds since 1970."""

    groupID: str
    info: GroupInfo
    status: Literal["member", "left", "removed", "dismissed"]
    canSend: bool
    source: Source
    endedAt: NotRequired[int]


class StoredNews(TypedDict):
    """What a start shows before there is a connection."""

    conversations: list[Conversation]
    outbox: list[Message]
    source: Literal["stored"]


class ConversationNews(TypedDict):
    """A conversation has changed, and is stored."""

    conversation: Conversation
    source: Literal["server"]


class StorageFailure(TypedDict):
    """The store has failed, and another one has taken its place. `reason`: that of a StorageError. `lostOutbox`: messages
    that were not sent may be lost."""

    reason: str
    message: str
    lostOutbox: bool


class StoredMessages(TypedDict):
    """Messages ascending. `isFinished`: there is nothing before them."""

    messageList: list[GroupMessage]
    source: Literal["stored", "server", "both"]
    isFinished: bool
