# SPDX-License-Identifier: Apache-2.0
"""The keys and values of a store (Clients.md, "Memory")."""
from __future__ import annotations

import re
from collections.abc import Callable

from .frames import CHANGES, ENDS, TIPS, Check, Values, is_integer, is_member, is_object, is_text, list_of, object_of, optional

# The version of what is stored, and the functions that make the rows of a version those of the next one.
VERSION = 1
MIGRATIONS: dict[int, Callable[[Values], Values]] = {}

MESSAGE_KINDS = {"sendGroupTextMessage": "Text", "sendGroupCustomMessage": "Custom"}

# What may be stored: events whose members do not fit are told alone.

is_stored_message = object_of(
    msgID=is_text, sender=is_text, seq=optional(is_integer), timestamp=is_integer, changeSeq=optional(is_integer),
    type=optional(is_text), atUserIDList=optional(list_of(is_text)), toUserIDList=optional(list_of(is_text)),
    replyTo=optional(is_object), reactions=optional(list_of(object_of(reaction=is_text))), tips=optional(object_of(
        type=is_text, opUser=optional(is_member), memberList=optional(list_of(is_member)), changeInfoList=optional(list_of(is_object)),
        memberCount=optional(is_integer))))
_tip = object_of(
    seq=optional(is_integer), msgID=optional(is_text), opUser=optional(is_member), memberList=optional(list_of(is_member)),
    changeInfoList=optional(list_of(is_object)), memberCount=optional(is_integer))
_change = object_of(
    seq=is_integer, changeSeq=is_integer, opUser=optional(is_object), reactions=optional(list_of(object_of(reaction=is_text))))
STORED_EVENTS: dict[str, Check] = {
    "onRecvNewMessage": object_of(message=is_stored_message),
    **{name: _tip for name in TIPS}, **{name: object_of() for name in ENDS}, **{name: _change for name in CHANGES},
    "onRecvMessageModified": object_of(changeSeq=is_integer, message=object_of(seq=is_integer)),
    "onConversationChanged": object_of(marks=optional(list_of(is_text)), clearedSeq=optional(is_integer)),
    "onConversationRead": object_of(readSeq=is_integer),
    "onReceiveMessageOptChanged": object_of(opt=is_text),
}

# What stored rows are, by the first two characters of their keys.
ROW_CHECKS: dict[str, Check] = {
    "g/": object_of(
        info=object_of(groupID=is_text, groupType=is_text, selfInfo=optional(is_object)), status=is_text, firstStored=is_integer,
        activeAt=is_integer),
    "p/": object_of(epoch=optional(is_text), seq=is_integer, changeSeq=is_integer, own=list_of(is_integer)),
    "m/": is_stored_message, "u/": is_member, "U/": object_of(userID=is_text, seenAt=is_integer),
    "o/": object_of(clientMsgID=is_text, method=lambda value: value in MESSAGE_KINDS, params=object_of(groupID=is_text, clientMsgID=is_text), createdAt=is_integer,
                    order=is_integer, state=is_text, firstSentAt=optional(is_integer), after=optional(is_integer),
                    error=optional(is_object)),
}
# The row `s`.
is_summary = object_of(toldUntil=is_integer, bytes=is_integer, order=is_integer)


# Keys

def escaped(text: str) -> str:
    """An ID as part of a key."""
    return re.sub(rb"[^A-Za-z0-9_.-]", lambda found: b"%%%02X" % found[0][0], text.encode(errors="replace")).decode()


def unescaped(part: str) -> str:
    return re.sub(rb"%([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), part.encode()).decode(errors="replace")


def group_key(group: str) -> str:
    return f"g/{escaped(group)}"


def place_key(group: str) -> str:
    return f"p/{escaped(group)}"


def message_key(group: str, seq: int) -> str:
    return f"m/{escaped(group)}/{seq:016d}"


def member_key(group: str, user: str) -> str:
    return f"u/{escaped(group)}/{escaped(user)}"


def profile_key(user: str) -> str:
    return f"U/{escaped(user)}"


def outbox_key(order: int, client_msg_id: str) -> str:
    return f"o/{order:016d}/{escaped(client_msg_id)}"


def all_of(prefix: str) -> tuple[str, str]:
    """The range of the keys that begin so; `prefix` ends in a slash."""
    return prefix, prefix[:-1] + "0"
