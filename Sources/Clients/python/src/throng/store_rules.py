# SPDX-License-Identifier: Apache-2.0
"""What an event changes in a client's store (Clients.md, "Memory"): pure functions from an event and the rows that it
concerns to changes. All clients follow the same rules: Tests/Clients/store-vectors.json. No argument is changed."""
from __future__ import annotations

import bisect
from collections.abc import Iterable

from .conversation_rows import Context, Draft, Rows, active_at, is_newer
from .frames import ENDS, LIVE, TIPS, Values, counted, is_integer
from .limits import MOST_STORED_PROFILES
from .store_keys import group_key, member_key, message_key, place_key, profile_key

# The name of an event, and its parameters. Besides the server's events and the client's `sync` there are `groups` (infos that
# the server has answered), `ended`, `sent` (an own message is stored), `outbox`, `ready`, and answers to the application's calls.
Event = tuple[str, Values]

BROADCAST = "BChatRoom"
# A profile is written again after a day.
PROFILE_TIME = 86_400_000


def groups_of(event: Event) -> list[str]:
    """The groups that an event concerns."""
    name, params = event
    if name == "groups":
        return [one["info"]["groupID"] for one in params["groups"]]
    group = params.get("groupID")
    return [group] if isinstance(group, str) else []


# Which rows an event concerns

def keys_of(event: Event, context: Context) -> list[str]:
    """The keys of all rows that the event may change, and of those that decide how."""
    return list(dict.fromkeys(_keys_of(event, context)))


def _keys_of(event: Event, context: Context) -> Iterable[str]:
    name, params = event
    for group in groups_of(event):
        yield group_key(group)
        yield place_key(group)
        yield from _message_keys(group, name, params, context)
        for user in _named_users(name, params):
            yield member_key(group, user)
    for user in profiles_of(event):
        yield profile_key(user)
    if name in ("outbox", "sent"):
        yield from params["keys"]


def _message_keys(group: str, name: str, params: Values, context: Context) -> Iterable[str]:
    index = context.index(group)
    if name == "groups":
        yield from _listed_keys(group, params, context)
        return
    if name in ENDS or name in ("ended", "onMemberKicked"):
        # Those of a live room go with it.
        for user in index.members:
            yield member_key(group, user)
    if name == "sync":
        first = counted((params["info"] or {}).get("firstSeq"))
        for seq in index.seqs:
            if not params["recovered"] or seq < first:
                yield message_key(group, seq)
    if name == "onConversationChanged" and is_integer(params.get("clearedSeq")):
        for seq in index.seqs[:bisect.bisect_right(index.seqs, params["clearedSeq"])]:
            yield message_key(group, seq)
    is_new = name == "onRecvNewMessage" or name == "sent" or name in TIPS
    if name in ("onConversationRead", "marked") or (is_new and group in context.heard_in_part):
        for seq in index.seqs:
            yield message_key(group, seq)
    seqs = {counted(one.get("seq")) for one in _messages(name, params)}
    for seq in seqs:
        yield message_key(group, seq)
    if name == "sent" and params.get("message") and is_integer((params["message"].get("replyTo") or {}).get("seq")):
        yield message_key(group, params["message"]["replyTo"]["seq"])
    # Those that make room.
    excess = len(index.seqs) + len(seqs.difference(index.seqs)) - context.messages_per_group
    for seq in index.seqs[:max(0, excess)]:
        yield message_key(group, seq)


def _listed_keys(group: str, params: Values, context: Context) -> Iterable[str]:
    """What goes where a membership begins anew, or where what is before the group's first message does."""
    index, info = context.index(group), next(one["info"] for one in params["groups"] if one["info"]["groupID"] == group)
    first, is_new = counted(info.get("firstSeq")), group in context.ended
    for seq in index.seqs:
        if is_new or seq < first:
            yield message_key(group, seq)
    for user in index.members if is_new else ():
        yield member_key(group, user)


def _messages(name: str, params: Values) -> list[Values]:
    """The messages that an event brings, or changes."""
    if name == "onRecvNewMessage" or name == "onRecvMessageModified":
        return [params["message"]]
    if name == "sync":
        return [*params["messageList"], *params["changeList"]]
    if name == "page":
        return [*params["messageList"]]
    if name == "sent":
        return [params["message"]] if params.get("message") else []
    if is_integer(params.get("seq")) and (name in TIPS or name.startswith(("onRecvMessage", "onGroupMessagePinned"))):
        return [params]
    return []


def _named_users(name: str, params: Values) -> list[str]:
    rows = [*(params.get("memberList") or ())] if name in TIPS or name in ("members", "onMemberKicked") else []
    if name == "onGroupMemberInfoChanged":
        rows += [one for one in params.get("changeInfoList") or () if isinstance(one, dict)]
    if name in ("sync", "page"):
        for message in params["messageList"]:
            tips = message.get("tips")
            if isinstance(tips, dict):
                rows += [one for one in [*(tips.get("memberList") or ()), *(tips.get("changeInfoList") or ())] if isinstance(one, dict)]
    return [one["userID"] for one in rows if isinstance(one.get("userID"), str)]


def profiles_of(event: Event) -> dict[str, Values]:
    """The profiles that an event shows, by userID."""
    name, params = event
    rows: list[Values] = []
    if name in ("onRecvNewMessage", "sync", "page"):
        rows = [{"userID": one["sender"], **{key: one[key] for key in ("nickName", "faceURL") if isinstance(one.get(key), str)}}
                for one in _messages(name, params) if isinstance(one.get("sender"), str)]
    elif name in ("members", "profiles"):
        rows = params["memberList" if name == "members" else "userList"]
    return {row["userID"]: row for row in rows if row.get("nickName") or row.get("faceURL")}


# What an event changes

def changes_of(event: Event, values: Values, context: Context) -> Rows:
    """The rows that are others behind the event, by key."""
    name, params = event
    rows: Rows = {}
    if name == "groups":
        for one in params["groups"]:
            _list_group(one["info"], one.get("place"), values, rows, context)
    for group in groups_of(event) if name not in ("groups", "outbox") else ():
        stored = values.get(group_key(group))
        if stored is not None and stored["status"] == "member":
            _change_group(group, event, values, rows, context)
        elif stored is not None and stored["status"] == "left" and ENDS.get(name) == "dismissed":
            # The last member who quits leaves no group behind.
            rows[group_key(group)] = {**stored, "status": "dismissed"}
    for user, profile in profiles_of(event).items():
        _see_profile(user, profile, values, rows, context)
    if name in ("outbox", "sent"):
        for key in params["keys"]:
            rows[key] = params.get("rows", {}).get(key)
    return {key: row for key, row in rows.items() if row != values.get(key)}


def _change_group(group: str, event: Event, values: Values, rows: Rows, context: Context) -> None:
    name, params = event
    draft = Draft(group, values, rows, context)
    if name == "onRecvNewMessage":
        draft.take_message(params["message"])
    elif name == "sync":
        draft.take_sync(params)
    elif name == "sent":
        draft.take_sent(params.get("message"))
    elif name == "page":
        draft.take_page(params)
    elif name == "members":
        draft.see_members(params["memberList"])
    elif name == "marked" or name == "onConversationRead":
        draft.mark(params.get("readSeq"), ends_mark=name == "marked")
    elif name == "onReceiveMessageOptChanged":
        draft.change_option(params.get("opt"))
    elif name == "onConversationChanged":
        draft.change_conversation(params)
    elif name == "ended":
        draft.end(params["status"], params["opTime"])
    elif name in ENDS:
        draft.end(ENDS[name], counted(params.get("opTime")))
    elif name == "onMemberKicked" and _names(params, context.user_id):
        draft.end("removed", counted(params.get("opTime")))
    elif name in TIPS:
        draft.take_tip(name, params)
    else:
        draft.take_change(name, params)
    draft.finish()


def _names(params: Values, user: str) -> bool:
    return any(one.get("userID") == user for one in params.get("memberList") or ())


def _list_group(info: Values, place: Values | None, values: Values, rows: Rows, context: Context) -> None:
    """A group of which the user is a member, as the server answers it. `place`: up to where its events have been told."""
    group = info["groupID"]
    if info["groupType"] == BROADCAST:
        return
    stored = values.get(group_key(group))
    if stored is not None and stored["status"] == "member":
        if is_newer(info, stored["info"]):
            # What is before is cleared, or the server keeps it no longer.
            first = max(stored["firstStored"], counted(info.get("firstSeq")))
            rows.update({message_key(group, seq): None for seq in context.index(group).seqs if seq < first})
            rows[group_key(group)] = {**stored, "info": info, "firstStored": first, "activeAt": active_at(info)}
        if place and info["groupType"] != LIVE and place_key(group) not in values:
            rows[place_key(group)] = {**place, "own": []}
        return
    index, keeps = context.index(group), info["groupType"] != LIVE
    # What is left of an earlier membership.
    rows.update({message_key(group, seq): None for seq in index.seqs})
    rows.update({member_key(group, user): None for user in index.members})
    place = place or {"epoch": info.get("epoch"), "seq": counted(info.get("lastSeq")), "changeSeq": counted(info.get("changeSeq"))}
    rows[group_key(group)] = {
        "info": info, "status": "member", "firstStored": place["seq"] + 1 if keeps else 0, "activeAt": active_at(info)}
    rows[place_key(group)] = {**place, "own": []} if keeps else None


def _see_profile(user: str, profile: Values, values: Values, rows: Rows, context: Context) -> None:
    known = values.get(profile_key(user))
    if known is None and context.profile_count + sum(key.startswith("U/") for key in rows) >= MOST_STORED_PROFILES:
        return
    names = {key: profile[key] for key in ("nickName", "faceURL") if isinstance(profile.get(key), str)}
    if known is None or any(known.get(key) != text for key, text in names.items()) or context.now - known["seenAt"] > PROFILE_TIME:
        rows[profile_key(user)] = {"nickName": "", "faceURL": "", **(known or {}), **names, "userID": user, "seenAt": context.now}


# Rows of own messages

def own_message(params: Values, kind: str, receipt: Values, user: str, platform: str | None) -> Values:
    """An own message as the group keeps it, from what was sent and the receipt."""
    message: Values = {"msgID": receipt["msgID"], "groupID": params["groupID"], "seq": receipt["seq"], "sender": user,
                       "timestamp": receipt["timestamp"], "type": kind}
    names = ("text", "data", "extension", "clientMsgID", "atUserIDList", "toUserIDList", "isExcludedFromUnreadCount",
             "isExcludedFromLastMessage", "needReadReceipt")
    message.update({name: params[name] for name in names if params.get(name)})
    if is_integer(params.get("replyTo")):
        message["replyTo"] = {"seq": params["replyTo"]}
    return {**message, "priority": params.get("priority") or "Normal", "platform": platform or "Unknown"}


# What goes where there is no room

def victims(groups: dict[str, Values]) -> list[str]:
    """Groups in the order in which they are given up: ended ones, then those long quiet, pinned ones last."""
    def order(one: tuple[str, Values]) -> tuple[bool, bool, int]:
        row = one[1]
        if row["status"] != "member":
            return False, False, counted(row.get("endedAt"))
        return True, bool((row["info"].get("selfInfo") or {}).get("isPinned")), row["activeAt"]
    return [group for group, _ in sorted(groups.items(), key=order)]
