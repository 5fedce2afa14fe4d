# SPDX-License-Identifier: Apache-2.0
"""How events change the rows of one conversation: its group, its place, its messages and members."""
from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .frames import LIVE, TIPS, Values, counted, encoded, is_integer
from .limits import CHANGES_PER_MESSAGE, LARGEST_HELD, MOST_EARLY_CHANGES, MOST_OWN_MESSAGES, MOST_STORED_MEMBERS
from .store_keys import group_key, member_key, message_key, place_key

# The rows of a change: None = it goes.
Rows = dict[str, Any]
# What a change makes of a message.
Edit = Callable[[Values], Values]

COUNTING = {"Work", "Public"}
INFO_FIELDS = {
    "GroupName": "groupName", "Introduction": "introduction", "Notification": "notification", "FaceURL": "faceURL", "Owner": "owner",
    "ServerCustomInfo": "serverCustomInfo", "AllMuted": "allMuted", "Mute": "mute", "MaxMemberNum": "maxMemberNum",
}
POLICIES = {
    "joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode", "memberChangeNotification",
    "isSearchable", "isMemberVisible", "historyVisibility", "slowMode", "attributeMode",
}


@dataclass
class Index:
    """Which rows a group has: places of messages ascending, and members."""

    seqs: list[int] = field(default_factory=list)
    members: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class EarlyChange:
    change_seq: int
    edit: Edit
    # Of what told of it, as text.
    size: int


class EarlyChanges:
    """Changes of messages that are not here, by the keys of these. Beyond the bounds those of other messages go, the oldest
    first."""

    def __init__(self) -> None:
        self._changes: dict[str, list[EarlyChange]] = {}
        self._size = 0

    def of(self, key: str) -> list[EarlyChange]:
        return self._changes.get(key, [])

    def keep(self, key: str, change: EarlyChange) -> None:
        known = [one for one in self.of(key) if one.change_seq != change.change_seq]
        self.forget(key)
        self._changes[key] = [*known, change][-CHANGES_PER_MESSAGE:]
        self._size += sum(one.size for one in self._changes[key])
        while self._changes and (len(self._changes) > MOST_EARLY_CHANGES or self._size > LARGEST_HELD):
            self.forget(next(iter(self._changes)))

    def forget(self, key: str) -> None:
        self._size -= sum(one.size for one in self._changes.pop(key, ()))

    def clear(self) -> None:
        self._changes.clear()
        self._size = 0


@dataclass
class Context:
    """What the rules know of the client and its store."""

    user_id: str
    messages_per_group: int
    # The server's time, in milliseconds.
    now: int = 0
    indexes: dict[str, Index] = field(default_factory=dict)
    # Stored conversations that have ended.
    ended: set[str] = field(default_factory=set)
    # Groups where some messages of others do not come as events.
    heard_in_part: set[str] = field(default_factory=set)
    profile_count: int = 0
    # Groups whose counts cannot be told from what is stored: the server is asked. The rules add to them.
    doubtful: set[str] = field(default_factory=set)
    # Changes that came before the answers to own messages, by the keys of these. The rules add to them.
    early: EarlyChanges = field(default_factory=EarlyChanges)

    def index(self, group: str) -> Index:
        return self.indexes.get(group) or Index()


def is_newer(info: Values, other: Values) -> bool:
    """Whether an info tells the same of a group as another one, or more: an event may have been quicker than an answer."""
    if info.get("epoch") != other.get("epoch"):
        return True
    place, other_place = [(counted(one.get("lastSeq")), counted(one.get("changeSeq"))) for one in (info, other)]
    return place[0] >= other_place[0] and place[1] >= other_place[1]


def is_heard_in_part(row: Values) -> bool:
    """Whether some messages of others do not come as events: what lies between two that came is not known then."""
    own = row["info"].get("selfInfo") or {}
    return row["status"] == "member" and own.get("receiveMessageOpt") in ("NotReceive", "ReceiveFromManagers")


def active_at(info: Values) -> int:
    return max(counted(info.get("lastMessageTime")), counted((info.get("selfInfo") or {}).get("joinTime")))


class Draft:
    """The rows of one group while an event changes them."""

    def __init__(self, group: str, values: Values, rows: Rows, context: Context) -> None:
        self._group, self._values, self._rows, self._context = group, values, rows, context
        self._row: Values = dict(values[group_key(group)])
        self._info: Values = dict(self._row["info"])
        self._own: Values | None = dict(self._info["selfInfo"]) if isinstance(self._info.get("selfInfo"), dict) else None
        place = values.get(place_key(group))
        self._place: Values | None = dict(place) if place else None
        # The places of the messages that there are now.
        self._seqs: list[int] | None = None
        self._has_ended = False

    @property
    def _keeps(self) -> bool:
        """Whether the messages of the group are stored."""
        return self._info.get("firstSeq") is not None and self._info["groupType"] != LIVE

    @property
    def _counts(self) -> bool:
        return self._info["groupType"] in COUNTING

    def finish(self) -> None:
        if self._has_ended:
            return
        if self._own is not None:
            self._info["selfInfo"] = self._own
        self._trim()
        self._row["info"] = self._info
        self._rows[group_key(self._group)] = self._row
        if self._place:
            self._rows[place_key(self._group)] = self._place

    # Messages

    def _stored(self, seq: int) -> Values | None:
        key = message_key(self._group, seq)
        row: Values | None = self._rows[key] if key in self._rows else self._values.get(key)
        return row

    def _caught_up(self, message: Values) -> Values:
        """A message with the changes that came before it."""
        seq = counted(message.get("seq"))
        for change in () if self._stored(seq) else self._context.early.of(message_key(self._group, seq)):
            if change.change_seq > counted(message.get("changeSeq")):
                message = {**change.edit(message), "changeSeq": change.change_seq}
        return message

    def _close_gap(self, seq: int) -> None:
        """Where messages of others do not come, nobody knows what is in a gap: what is stored begins behind it."""
        if self._group not in self._context.heard_in_part:
            return
        seqs = self._context.index(self._group).seqs
        # Not the group's last place: the server may have told of it without the messages.
        last = max(self._place["seq"] if self._place else 0, seqs[-1] if seqs else 0)
        if seq > last + 1:
            self._drop_before(seq)

    def _put(self, message: Values) -> None:
        """A message that is new, or newer than what is stored."""
        seq = counted(message.get("seq"))
        stored = self._stored(seq)
        if seq < self._row["firstStored"] or (stored and counted(stored.get("changeSeq")) >= counted(message.get("changeSeq"))):
            return
        self._rows[message_key(self._group, seq)] = message
        if not stored:
            self._note(seq)

    def _note(self, seq: int) -> None:
        if self._seqs is None:
            self._seqs = [*self._context.index(self._group).seqs]
        at = bisect.bisect_left(self._seqs, seq)
        if self._seqs[at:at + 1] != [seq]:
            self._seqs.insert(at, seq)

    def _trim(self) -> None:
        """The oldest go where there are more than may be."""
        excess = len(self._seqs) - self._context.messages_per_group if self._seqs is not None else 0
        if self._seqs is not None and excess > 0:
            for seq in self._seqs[:excess]:
                self._rows[message_key(self._group, seq)] = None
            self._row["firstStored"] = self._seqs[excess]

    def _reach(self, seq: int, change_seq: int = 0) -> None:
        if not self._place:
            return
        own = [one for one in self._place["own"] if one > max(self._place["seq"], seq)]
        self._place["seq"] = max(self._place["seq"], seq)
        self._place["changeSeq"] = max(self._place["changeSeq"], change_seq)
        while own and own[0] == self._place["seq"] + 1:
            self._place["seq"] = own.pop(0)
        self._place["own"] = own

    def _is_behind_own(self, seq: int) -> bool:
        """Whether a message is news though the answer to an own message behind it, the last one that is known, came first."""
        last = counted(self._info.get("lastSeq"))
        return (self._place is not None and self._place["seq"] < seq < last and last in self._place["own"]
                and self._stored(seq) is None)

    def _count(self, message: Values, is_behind_own: bool = False) -> None:
        """What a message that is new to the group's info means for it: its place, the last message, what is unread."""
        seq = counted(message.get("seq"))
        is_last = seq > counted(self._info.get("lastSeq"))
        if not is_last and not is_behind_own:
            return
        self._info["lastSeq"] = max(counted(self._info.get("lastSeq")), seq)
        self._info["changeSeq"] = max(counted(self._info.get("changeSeq")), counted(message.get("changeSeq")))
        if is_last and not message.get("isExcludedFromLastMessage") and not message.get("toUserIDList"):
            self._info["lastMessage"], self._info["lastMessageTime"] = message, counted(message.get("timestamp"))
            self._row["activeAt"] = max(self._row["activeAt"], counted(message.get("timestamp")))
        if self._own is None:
            return
        is_unread = self._is_unread(message)
        if is_unread:
            self._own["unreadCount"] = counted(self._own.get("unreadCount")) + 1
        mentioned = message.get("atUserIDList") or ()
        is_mention = message["sender"] != self._context.user_id and (self._context.user_id in mentioned or "@all" in mentioned)
        if is_unread or is_mention:
            self._own.pop("isHidden", None)

    def _is_unread(self, message: Values) -> bool:
        return (self._counts and message.get("type") != "GroupTips" and message["sender"] != self._context.user_id
                and self._own is not None and self._own.get("receiveMessageOpt") != "NotReceive"
                and not message.get("isExcludedFromUnreadCount") and not message.get("toUserIDList") and not message.get("isRevoked"))

    def take_message(self, message: Values) -> None:
        seq = counted(message.get("seq"))
        if not self._keeps or seq == 0:
            return
        is_behind_own, message = self._is_behind_own(seq), self._caught_up(message)
        self._close_gap(seq)
        self._put(message)
        self._reach(seq)
        self._count(message, is_behind_own)

    def take_sent(self, message: Values | None) -> None:
        """An own message is stored."""
        if message is None or not self._keeps:
            return
        seq, replied = counted(message.get("seq")), message.get("replyTo")
        if isinstance(replied, dict) and "sender" not in replied:
            answered = self._stored(counted(replied.get("seq")))
            message = {**message, "replyTo": {**replied, **({"sender": answered["sender"]} if answered else {})}}
        message = self._caught_up(message)
        self._close_gap(seq)
        self._put(message)
        if self._place and seq > self._place["seq"]:
            own = [*self._place["own"]]
            if seq not in own:
                bisect.insort(own, seq)
            self._place["own"] = own[-MOST_OWN_MESSAGES:]
            self._reach(self._place["seq"])
        self._count(message)

    def take_tip(self, name: str, params: Values) -> None:
        seq = counted(params.get("seq"))
        self._take_members(TIPS[name], params, counted(params.get("opTime")))
        if seq == 0 or seq > counted(self._info.get("lastSeq")) or self._is_behind_own(seq):
            self._take_news(TIPS[name], params, counted(params.get("opTime")))
        if seq == 0 or not self._keeps:
            return
        operator = params.get("opUser") or next(iter(params.get("memberList") or ()), None) or {}
        tips = {"type": TIPS[name], "opUser": operator, **{
            key: params[key] for key in ("memberList", "changeInfoList", "isAccepted") if params.get(key) is not None}}
        tips["memberCount"] = counted(params.get("memberCount", self._info.get("memberCount")))
        tip = {"msgID": params.get("msgID", ""), "groupID": self._group, "seq": seq, "sender": operator.get("userID", ""),
               "timestamp": counted(params.get("opTime")), "type": "GroupTips", "tips": tips, "priority": "Normal",
               "platform": params.get("platform") or ""}
        self._close_gap(seq)
        self._put(tip)
        self._reach(seq)
        self._count(tip)

    def _take_news(self, kind: str, params: Values, at: int) -> None:
        """What a tip tells of the group as a whole, and of the user."""
        if is_integer(params.get("memberCount")):
            self._info["memberCount"] = counted(params["memberCount"])
        if kind == "GroupInfoChange":
            self._info["lastInfoTime"] = max(counted(self._info.get("lastInfoTime")), at)
            for change in params.get("changeInfoList") or ():
                self._change_info(change)
        for row in self._changed_members(kind, params, at):
            if row["userID"] == self._context.user_id and self._own is not None:
                self._own.update({key: row[key] for key in ("role", "nameCard", "customInfo", "muteUntil") if key in row})

    def _change_info(self, change: Values) -> None:
        kind, value = str(change.get("type")), change.get("value")
        if kind == "CustomInfo" and isinstance(change.get("key"), str):
            texts = {**(self._info.get("customInfo") or {}), change["key"]: value}
            self._info["customInfo"] = {key: text for key, text in texts.items() if text != ""}
        elif kind in INFO_FIELDS or kind in POLICIES:
            self._info[INFO_FIELDS.get(kind, kind)] = value

    @staticmethod
    def _changed_members(kind: str, params: Values, at: int) -> list[Values]:
        """What a tip tells of members, as members of MemberInfo."""
        if kind == "MemberInfoChange":
            rows = []
            for one in params.get("changeInfoList") or ():
                if isinstance(one, dict) and isinstance(one.get("userID"), str):
                    row = {key: one[key] for key in ("userID", "nameCard", "customInfo", "role") if key in one}
                    if is_integer(one.get("muteTime")):
                        row["muteUntil"] = counted(at + 1000 * one["muteTime"]) if one["muteTime"] > 0 else 0
                    rows.append(row)
            return rows
        roles = {"SetAdmin": {"role": "Admin"}, "CancelAdmin": {"role": "Member"}}
        return [{**one, **roles.get(kind, {})} for one in params.get("memberList") or ()
                if isinstance(one, dict) and isinstance(one.get("userID"), str)]

    def _take_members(self, kind: str, params: Values, at: int) -> None:
        rows = self._changed_members(kind, params, at)
        if kind in ("Quit", "Kicked"):
            self._rows.update({member_key(self._group, row["userID"]): None for row in rows})
        else:
            # A tip of a change has not all that a list of members has.
            self.see_members(rows, adds=kind in ("Join", "Invite"))

    def see_members(self, members: list[Values], adds: bool = True) -> None:
        index = self._context.index(self._group)
        count = len(index.members)
        for member in members:
            key = member_key(self._group, member["userID"])
            known = self._rows[key] if key in self._rows else self._values.get(key)
            if known is None and (not adds or count >= MOST_STORED_MEMBERS):
                continue
            count += known is None
            self._rows[key] = {**(known or {}), **{name: value for name, value in member.items() if name != "isOnline"}}

    # Changes

    def take_change(self, name: str, params: Values) -> None:
        news: Edit
        if name == "onRecvMessageRevoked":
            news = revoked
        elif name == "onRecvMessageModified":
            news = partial(modified, news=params["message"])
        elif name == "onRecvMessageReactionsChanged":
            news = partial(reacted, params=params, user=self._context.user_id)
        elif name == "onGroupMessagePinned":
            news = partial(pinned, is_pinned=params.get("isPinned") is True)
        else:
            return
        about = params["message"] if name == "onRecvMessageModified" else params
        self._change(counted(about.get("seq")), counted(params.get("changeSeq")), news, params)

    def _change(self, seq: int, change_seq: int, news: Edit, params: Values) -> None:
        if not self._keeps or seq == 0 or change_seq == 0:
            return
        stored, last = self._stored(seq), self._info.get("lastMessage")
        is_new = change_seq > counted(self._info.get("changeSeq"))
        if stored and change_seq > counted(stored.get("changeSeq")):
            changed = {**news(stored), "changeSeq": change_seq}
            self._rows[message_key(self._group, seq)] = changed
            if is_new:
                self._uncount(stored, changed)
        elif not stored:
            if seq >= self._row["firstStored"]:
                # The answer to an own message may come behind the news of its recall.
                change = EarlyChange(change_seq, news, len(encoded(params)))
                self._context.early.keep(message_key(self._group, seq), change)
            if is_new and self._may_be_unread(seq):
                # It may have been recalled.
                self._context.doubtful.add(self._group)
        if isinstance(last, dict) and counted(last.get("seq")) == seq and change_seq > counted(last.get("changeSeq")):
            self._info["lastMessage"] = {**news(last), "changeSeq": change_seq}
        self._info["changeSeq"] = max(counted(self._info.get("changeSeq")), change_seq)
        self._reach(0, change_seq)

    def _may_be_unread(self, seq: int) -> bool:
        return self._counts and self._own is not None and seq > counted(self._own.get("readSeq")) and bool(self._own.get("unreadCount"))

    def _uncount(self, before: Values, after: Values) -> None:
        if after.get("isRevoked") and self._is_unread(before) and self._own and counted(before.get("seq")) > counted(self._own.get("readSeq")):
            self._own["unreadCount"] = max(0, counted(self._own.get("unreadCount")) - 1)

    # What was missed

    def take_sync(self, params: Values) -> None:
        place, info = params["position"], params.get("info")
        if info and is_newer(info, self._info):
            self._take_info(info)
        if not params["recovered"]:
            return self._restart(place)
        if not self._keeps:
            return
        for message in params["messageList"]:
            tips = message.get("tips")
            if isinstance(tips, dict) and isinstance(tips.get("type"), str):
                self._take_members(tips["type"], tips, counted(message.get("timestamp")))
                if counted(message.get("seq")) > counted(self._info.get("lastSeq")):
                    self._take_news(tips["type"], tips, counted(message.get("timestamp")))
            self._put(message)
            self._count(message)
        for message in [*params["changeList"], *params["messageList"]]:
            if is_integer(message.get("changeSeq")):
                self._replace(message)
        self._reach(place["seq"], place["changeSeq"])

    def _replace(self, message: Values) -> None:
        """A message as it is now, where an older state of it is known."""
        seq, change_seq, last = counted(message.get("seq")), counted(message["changeSeq"]), self._info.get("lastMessage")
        stored = self._stored(seq)
        if stored and change_seq > counted(stored.get("changeSeq")):
            self._rows[message_key(self._group, seq)] = message
            if change_seq > counted(self._info.get("changeSeq")):
                self._uncount(stored, message)
        if isinstance(last, dict) and counted(last.get("seq")) == seq and change_seq > counted(last.get("changeSeq")):
            self._info["lastMessage"] = message
        self._info["changeSeq"] = max(counted(self._info.get("changeSeq")), change_seq)

    def _take_info(self, info: Values) -> None:
        self._info = dict(info)
        self._own = dict(info["selfInfo"]) if isinstance(info.get("selfInfo"), dict) else self._own
        self._row["activeAt"] = active_at(info)
        if self._keeps:
            # What is before is cleared, or the server keeps it no longer.
            self._drop_before(counted(info.get("firstSeq")))

    def _drop_before(self, first: int) -> None:
        if first <= self._row["firstStored"]:
            return
        seqs = self._context.index(self._group).seqs
        self._rows.update({message_key(self._group, seq): None for seq in seqs if seq < first})
        self._seqs = [seq for seq in seqs if seq >= first]
        self._row["firstStored"] = first

    def _restart(self, place: Values) -> None:
        """What came between is not to be had: the history begins anew."""
        self._rows.update({message_key(self._group, seq): None for seq in self._context.index(self._group).seqs})
        if not self._keeps:
            return
        known = self._info.get("epoch"), counted(self._info.get("lastSeq")), counted(self._info.get("changeSeq"))
        if known != (place["epoch"], place["seq"], place["changeSeq"]):
            self._context.doubtful.add(self._group)
        if known[0] != place["epoch"]:
            self._info.pop("lastMessage", None)
        self._info.update(epoch=place["epoch"], lastSeq=place["seq"], changeSeq=place["changeSeq"])
        self._row["firstStored"] = place["seq"] + 1
        self._place = {**place, "own": []}

    def take_page(self, params: Values) -> None:
        """A page of the history that the application has read: what lies directly before the store's end is kept, as far as
        there is room."""
        first = self._row["firstStored"]
        seqs = [*self._context.index(self._group).seqs]
        older = sorted((one for one in params["messageList"] if counted(one["seq"]) < first), key=lambda one: counted(one["seq"]))
        for message in params["messageList"]:
            if counted(message["seq"]) >= first and self._stored(counted(message["seq"])):
                self._put(message)
        # A page of the newest messages reaches up to all that is stored.
        if not self._keeps or (params.get("upTo") or first) < first:
            return
        room = max(0, self._context.messages_per_group - len(seqs))
        kept = older[-room:] if room else []
        if len(kept) == len(older) and params["isFinished"]:
            self._row["firstStored"] = min([first, counted(self._info.get("firstSeq")) or 1, *(counted(one["seq"]) for one in kept)])
        elif kept:
            self._row["firstStored"] = counted(kept[0]["seq"])
        for message in kept:
            self._put(message)

    # What the user keeps about the group

    def change_conversation(self, params: Values) -> None:
        info = {**self._info, **({"selfInfo": self._own} if self._own is not None else {})}
        change_conversation(info, params)
        self._info, self._own = info, info.get("selfInfo")
        if is_integer(params.get("clearedSeq")):
            cleared, index = counted(params["clearedSeq"]), self._context.index(self._group)
            for seq in index.seqs[:bisect.bisect_right(index.seqs, cleared)]:
                self._rows[message_key(self._group, seq)] = None
            if self._keeps:
                self._row["firstStored"] = max(self._row["firstStored"], cleared + 1)

    def change_option(self, option: Any) -> None:
        if self._own is None or not isinstance(option, str) or self._own.get("receiveMessageOpt") == option:
            return
        if "NotReceive" in (option, self._own.get("receiveMessageOpt")):
            # Under NotReceive nothing is unread; what was counts again afterwards.
            self._own["unreadCount"] = 0
            self._context.doubtful.add(self._group)
        self._own["receiveMessageOpt"] = option

    def mark(self, seq: int | None, ends_mark: bool) -> None:
        """The user has read the messages up to a place, or all that there are."""
        if self._own is None or not self._keeps:
            return
        if ends_mark:
            self._own.pop("isMarkedUnread", None)
        last = counted(self._info.get("lastSeq"))
        read = min(counted(seq), last) if is_integer(seq) else last
        if read <= counted(self._own.get("readSeq")):
            return
        self._own["readSeq"] = read
        if read == last:
            self._own["unreadCount"] = 0
        elif self._counts:
            behind = [self._stored(one) for one in self._context.index(self._group).seqs if one > read]
            count = sum(self._is_unread(one) for one in behind if one)
            if self._row["firstStored"] > read + 1:
                self._context.doubtful.add(self._group)
            self._own["unreadCount"] = min(count, counted(self._own.get("unreadCount")))

    def end(self, status: str, at: int) -> None:
        self._has_ended = True
        self._rows[place_key(self._group)] = None
        if self._info["groupType"] == LIVE:
            self._rows[group_key(self._group)] = None
            self._rows.update({member_key(self._group, user): None for user in self._context.index(self._group).members})
            return
        self._info.pop("selfInfo", None)
        self._row.update(info=self._info, status=status, endedAt=at)
        self._rows[group_key(self._group)] = self._row


# Messages as changes make them

def revoked(message: Values) -> Values:
    gone = {"text", "data", "extension", "reactions", "isPinned", "editTime"}
    return {**{name: value for name, value in message.items() if name not in gone}, "isRevoked": True}


def modified(message: Values, news: Values) -> Values:
    changed = {name: value for name, value in message.items() if name != "extension"}
    return {**changed, **{name: news[name] for name in ("text", "data", "extension", "editTime") if news.get(name) is not None}}


def reacted(message: Values, params: Values, user: str) -> Values:
    mine = {one.get("reaction"): one["byMe"] for one in message.get("reactions") or () if "byMe" in one}
    if isinstance(params.get("opUser"), dict) and params["opUser"].get("userID") == user:
        mine[params.get("reaction")] = params.get("isAdded") is True
    reactions = [{**one, **({"byMe": mine[one.get("reaction")]} if one.get("reaction") in mine else {})}
                 for one in params.get("reactions") or () if isinstance(one, dict)]
    rest = {name: value for name, value in message.items() if name != "reactions"}
    return {**rest, **({"reactions": reactions} if reactions else {})}


def pinned(message: Values, is_pinned: bool) -> Values:
    rest = {name: value for name, value in message.items() if name != "isPinned"}
    return {**rest, **({"isPinned": True} if is_pinned else {})}


def change_conversation(info: Values | None, change: Values) -> None:
    """Changes a group's info by what onConversationChanged tells: selfInfo has what is true, and marks where there are any."""
    if info is None or not isinstance(info.get("selfInfo"), dict):
        return
    own = info["selfInfo"] = dict(info["selfInfo"])
    news: Values = {name: change[name] for name in ("isPinned", "isHidden", "isMarkedUnread") if isinstance(change.get(name), bool)}
    if isinstance(change.get("marks"), list):
        news["marks"] = [*change["marks"]]
    for name, value in news.items():
        if value:
            own[name] = value
        else:
            own.pop(name, None)
    if is_integer(change.get("clearedSeq")):
        cleared, last = counted(change["clearedSeq"]), info.get("lastMessage")
        info["firstSeq"], own["unreadCount"] = max(counted(info.get("firstSeq")), cleared + 1), 0
        if isinstance(last, dict) and is_integer(last.get("seq")) and last["seq"] <= cleared:
            del info["lastMessage"]
