# SPDX-License-Identifier: Apache-2.0
"""What a server says. Nothing else reads a frame: each value comes out typed and within its bounds, or the frame is no
answer at all. An optional member that is null counts as absent."""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from .errors import ClientError, ThrongError
from .limits import (
    DEEPEST_FRAME,
    LARGEST_EVENT,
    LARGEST_NUMBER,
    LONGEST_HEARTBEAT,
    LONGEST_IDENTIFIER,
    LONGEST_WAIT,
    LONGEST_WORDS,
)

# An object of JSON.
Values = dict[str, Any]
Check = Callable[[Any], bool]

# Events whose `seq` is that of a tip, which the history keeps, with the type of the tip.
TIPS = {
    "onGroupCreated": "Create", "onMemberEnter": "Join", "onMemberLeave": "Quit", "onMemberInvited": "Invite",
    "onMemberKicked": "Kicked", "onGrantAdministrator": "SetAdmin", "onRevokeAdministrator": "CancelAdmin",
    "onGroupInfoChanged": "GroupInfoChange", "onGroupMemberInfoChanged": "MemberInfoChange",
}
CHANGES = {"onRecvMessageRevoked", "onRecvMessageModified", "onRecvMessageReactionsChanged", "onGroupMessagePinned"}
# Events that end a membership, with what becomes of the conversation.
ENDS = {"onGroupDismissed": "dismissed", "onGroupRecycled": "dismissed", "onQuitFromGroup": "left"}
ENTRIES = {"onGroupCreated", "onMemberEnter", "onMemberInvited"}
LIVE = "AVChatRoom"


def refuse(detail: str) -> NoReturn:
    raise ClientError("BadAnswer", detail)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_identifier(value: Any) -> bool:
    # With half of a surrogate pair it would go back as another one (see `encoded`).
    return isinstance(value, str) and len(value) <= LONGEST_IDENTIFIER and not re.search("[\ud800-\udfff]", value)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def list_of(fits: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def optional(fits: Check) -> Check:
    return lambda value: value is None or fits(value)


def object_of(**members: Check) -> Check:
    """Whether an object has members of these types; others do not matter."""
    return lambda value: isinstance(value, dict) and all(fits(value.get(name)) for name, fits in members.items())


def counted(value: int | None) -> int:
    """A number of the server as one that can be counted on: an instant in milliseconds, a place in a history."""
    return min(max(0, value or 0), LARGEST_NUMBER)


def words(text: str) -> str:
    return text if len(text) <= LONGEST_WORDS else text[:LONGEST_WORDS] + "…"


is_message = object_of(
    msgID=is_identifier, sender=is_text, clientMsgID=optional(is_text), seq=optional(is_integer),
    changeSeq=optional(is_integer), timestamp=is_integer)
is_self_info = object_of(
    readSeq=optional(is_integer), unreadCount=optional(is_integer), receiveMessageOpt=optional(is_text),
    joinTime=optional(is_integer))
is_group_info = object_of(
    groupID=is_identifier, groupType=is_text, epoch=optional(is_identifier), lastSeq=optional(is_integer),
    firstSeq=optional(is_integer), changeSeq=optional(is_integer), lastMessageTime=optional(is_integer),
    lastMessage=optional(is_message), memberCount=optional(is_integer), customInfo=optional(is_object), selfInfo=optional(is_self_info))
is_error = object_of(code=is_integer, message=is_text, data=optional(object_of(
    temporary=optional(is_flag), field=optional(is_text), retryAfterMs=optional(is_integer))))
is_row = object_of(groupID=is_text, code=is_integer)
is_recovered = object_of(
    messageList=list_of(is_message), changeList=optional(list_of(is_message)), lastSeq=is_integer, changeSeq=optional(is_integer))
is_lost = object_of(epoch=is_identifier, lastSeq=is_integer, changeSeq=optional(is_integer))
is_status = object_of(
    userID=is_text, isOnline=is_flag, platformList=list_of(is_text), customStatus=is_text, lastOnlineTime=is_integer)
is_member = object_of(userID=is_text, nickName=optional(is_text), faceURL=optional(is_text))


def is_history(row: Any) -> bool:
    """A row of syncGroups."""
    if not is_row(row) or row["code"] != 0:
        return is_row(row)
    return is_recovered(row) if row.get("recovered") is True else is_lost(row)


# The results of the client's own requests.
SESSION = object_of(userID=is_identifier, sessionID=is_identifier, serverTime=is_integer, tokenExpiresAt=is_integer, heartbeat=is_integer)
TIME = object_of(serverTime=is_integer)
SENT = object_of(msgID=is_identifier, seq=optional(is_integer), timestamp=is_integer, status=is_text)
GROUPS = object_of(groupList=list_of(is_group_info), leftGroupIDList=list_of(is_identifier), nextSeq=is_integer)
INFOS = object_of(resultList=list_of(lambda row: is_row(row) and (row["code"] != 0 or is_group_info(row.get("info")))))
HISTORY = object_of(groups=list_of(is_history))
STATUSES = object_of(userList=list_of(is_status))
PAGE = object_of(messageList=list_of(object_of(seq=is_integer, msgID=is_identifier, sender=is_text)), isFinished=is_flag)
# The key with which the requests of a stream go: it stands in a header.
STREAM = object_of(streamKey=lambda value: isinstance(value, str) and re.fullmatch(r"[\x21-\x7e]{1,4096}", value) is not None)
END = object_of(code=is_integer, reason=optional(is_text))

# What the client reads in an event, whatever its name, and in those of these names.
ANY_EVENT = object_of(
    groupID=optional(is_text), opTime=optional(is_integer), seq=optional(is_integer), changeSeq=optional(is_integer),
    memberList=optional(list_of(object_of(userID=is_text))))
EVENTS = {
    "onRecvNewMessage": object_of(groupID=is_text, message=is_message),
    "onRecvMessageModified": object_of(groupID=is_text, message=is_object),
    "onServerDraining": object_of(retryAfterMs=is_integer),
    "onMessageDropped": object_of(msgID=is_identifier, clientMsgID=optional(is_text)),
    "onUsersStatusChanged": object_of(userList=list_of(is_status)),
    "onGroupSignal": object_of(groupID=is_text, name=is_text, data=optional(is_text), sender=is_text),
}


def fits_event(name: str, params: Values) -> bool:
    return ANY_EVENT(params) and (name not in EVENTS or EVENTS[name](params))


def check_value(frame: Any) -> None:
    """Bounds numbers and levels: what is deeper would end a recursion of the application's."""
    level, depth = [frame], 1
    while level:
        if any(isinstance(one, (int, float)) and not abs(one) <= LARGEST_NUMBER for one in level):
            refuse("a number beyond 2⁵³")
        outer = [one for one in level if isinstance(one, (dict, list))]
        if outer and depth > DEEPEST_FRAME:
            refuse(f"a frame of more than {DEEPEST_FRAME} levels")
        level = [one for value in outer for one in (value.values() if isinstance(value, dict) else value)]
        depth += 1


def read_value(text: str | bytes) -> Any:
    """A value of JSON, whatever it is."""
    if not isinstance(text, str):
        refuse("a binary message")
    try:
        # RecursionError is one of Python's own, long before the stack ends.
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        refuse(words(str(error)))


def read_frame(text: str | bytes) -> Values:
    """A frame: an event (`method`), or an answer (`id`, and `result` or `error`)."""
    frame = read_value(text)
    if not isinstance(frame, dict):
        refuse("a frame that is no object")
    check_value(frame)
    name = frame.get("method")
    if not optional(is_text)(name):
        refuse("an event without a name")
    if name is not None and not isinstance(frame.get("params"), dict):
        refuse("an event without parameters")
    if name is not None and len(text) > LARGEST_EVENT:
        refuse(f"an event of {len(text)} characters")
    return frame


def read_error(method: str, error: Any) -> ThrongError:
    """The error of an answer."""
    if not is_error(error):
        refuse("an error that is none of the protocol's")
    data = error.get("data") or {}
    wait = min(counted(data.get("retryAfterMs")), LONGEST_WAIT * 1000)
    field = data.get("field")
    data = {"temporary": data.get("temporary") or False, "field": words(field) if field else field, "retryAfterMs": wait}
    return ThrongError(method, {"code": error["code"], "message": words(error["message"]), "data": data})


def bounded_session(session: Values) -> Values:
    return {**session, "serverTime": counted(session["serverTime"]), "tokenExpiresAt": counted(session["tokenExpiresAt"]),
            "heartbeat": min(max(1, session["heartbeat"]), LONGEST_HEARTBEAT)}


def remembers_messages(info: Values) -> bool:
    """Whether a group is a live room that remembers its last messages: alone among groups it has no `firstSeq`."""
    return info["groupType"] == LIVE and info.get("epoch") is not None and info.get("firstSeq") is None


def read_page(ask: Values, row: Values) -> tuple[int, int]:
    """The place that a page of a history reaches; never one before the place that was asked from."""
    seq, change_seq = ask["seq"], counted(row.get("changeSeq", ask["changeSeq"]))
    for message in row["messageList"]:
        if counted(message.get("seq")) <= seq:
            refuse("a history that does not ascend")
        seq = counted(message["seq"])
    if change_seq < ask["changeSeq"]:
        refuse("changes that do not ascend")
    return seq, change_seq


def place_of(name: str, params: Values) -> tuple[int, int]:
    """The place of an event in the history of its group: seq and changeSeq, 0 where it has none."""
    if name == "onRecvNewMessage":
        return counted(params["message"].get("seq")), 0
    return (counted(params.get("seq")) if name in TIPS else 0, counted(params.get("changeSeq")) if name in CHANGES else 0)


def encoded(value: Any) -> str:
    """JSON as the server takes it: half of a surrogate pair, which UTF-8 does not hold, becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))


def one_line(text: str) -> str:
    """Words of others as part of a line: no character moves the cursor, or turns the line around."""
    return "".join(one if one.isprintable() else " " for one in text)
