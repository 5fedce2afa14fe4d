# SPDX-License-Identifier: Apache-2.0
"""The types of parameters, answers, events and stored things, for programs that are checked."""
from ._generated import *  # noqa: F403 - all of them are types
from .events import (
    Conversation as Conversation,
    ConversationNews as ConversationNews,
    Position as Position,
    ReadyNews as ReadyNews,
    StateNews as StateNews,
    StatusNews as StatusNews,
    StorageFailure as StorageFailure,
    StoredMessages as StoredMessages,
    StoredNews as StoredNews,
    StoredProfile as StoredProfile,
    SyncNews as SyncNews,
    WatchFailure as WatchFailure,
)
