# SPDX-License-Identifier: Apache-2.0
# Generated from the server's declarations: Scripts/generate rewrites it.
"""The types, methods, events and codes of the server."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack

    from .emitter import Emitter
    from .errors import ThrongError
    from .events import (
        ConversationNews,
        ReadyNews,
        StateNews,
        StatusNews,
        StorageFailure,
        StoredNews,
        SyncNews,
        WatchFailure,
    )
    from .outbox import Message


class ErrorCode(IntEnum):
    """The codes of errors; a later server may have more."""

    parseError = -32700
    invalidRequest = -32600
    methodNotFound = -32601
    invalidParams = -32602
    internalError = -32603
    notSignedIn = 6014
    otherUserSignedIn = 6015
    requestRate = 7008
    tokenExpired = 70001
    tokenMalformed = 70003
    tokenWrongSignature = 70009
    userBlocked = 70020
    tokenRevoked = 70021
    badNewGroupID = 8501
    badGroupName = 8502
    introductionTooLong = 8503
    notificationTooLong = 8504
    faceURLTooLong = 8505
    nameCardTooLong = 8506
    tooManyMembers = 8507
    workNotJoinable = 8508
    ownerInMemberList = 8509
    emptyUserList = 8510
    attributeCallsTooOften = 8511
    temporary = 10002
    badValue = 10004
    noRight = 10007
    ownerMayNotQuit = 10009
    noSuchGroup = 10010
    alreadyMember = 10013
    groupFull = 10014
    badGroupID = 10015
    refusedByApplication = 10016
    muted = 10017
    userUnknown = 10019
    groupIDTaken = 10021
    groupMessageRate = 10023
    applicationHandled = 10024
    groupIDTakenByYourself = 10025
    messageUnknown = 10030
    recallTooLate = 10031
    recallNotYours = 10032
    recallUnsupported = 10033
    tooManyAVChatRooms = 10036
    tooManyGroups = 10037
    maxMemberNumBelowCount = 10038
    attributeKeyTooLong = 10045
    attributeValueTooLong = 10046
    tooManyAttributes = 10047
    attributesTooLarge = 10048
    attributeWritesTooOften = 10049
    attributeUnknown = 10050
    tooManyMentions = 10053
    tooManyForReceipts = 10054
    tooManyReactions = 10055
    tooManyPinned = 10056
    tooManyCounters = 10057
    expectationFailed = 10058
    attributeHeld = 10059
    tooManyWatched = 10060
    groupTooLargeForSignals = 10061
    application10120 = 10120
    application10121 = 10121
    application10122 = 10122
    application10123 = 10123
    application10124 = 10124
    application10125 = 10125
    application10126 = 10126
    application10127 = 10127
    application10128 = 10128
    application10129 = 10129
    application10130 = 10130
    messageTooLong = 80002


class CloseCode(IntEnum):
    """The codes with which the server closes a connection."""

    normal = 1000
    tryAgainLater = 1013
    draining = 4001
    slowConsumer = 4002
    noSignOfLife = 4003
    requestFlood = 4004
    connectionLimit = 4005
    tokenExpired = 4006
    notSignedIn = 4007
    lostTouch = 4008
    authenticationFailed = 4500
    badProtocol = 4501
    replaced = 4502
    removed = 4503


class GroupInfo(TypedDict):
    """A group. Non-members get what is always there, and joinMode; a BChatRoom has no policy
    fields."""

    groupID: str
    groupType: Literal["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
    groupName: str
    introduction: str
    notification: NotRequired[str]
    faceURL: str
    owner: str
    createTime: int
    lastInfoTime: NotRequired[int]
    lastMessageTime: NotRequired[int]
    lastSeq: NotRequired[int]
    firstSeq: NotRequired[int]
    changeSeq: NotRequired[int]
    epoch: NotRequired[str]
    memberCount: int
    onlineCount: int
    maxMemberNum: int
    allMuted: NotRequired[bool]
    mute: NotRequired[GroupMute]
    customInfo: dict[str, str]
    serverCustomInfo: NotRequired[str]
    joinMode: NotRequired[Literal["Any", "Auth", "Forbid"]]
    inviteMode: NotRequired[Literal["Any", "Admin", "Nobody"]]
    beInviteMode: NotRequired[Literal["None", "Auth"]]
    updateInfoMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    updateCustomMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    ownerQuitMode: NotRequired[Literal["Transfer", "Forbid"]]
    memberChangeNotification: NotRequired[bool]
    isSearchable: NotRequired[bool]
    isMemberVisible: NotRequired[bool]
    historyVisibility: NotRequired[Literal["Joined", "All"]]
    slowMode: NotRequired[int]
    attributeMode: NotRequired[Literal["Any", "Holder"]]
    lastMessage: NotRequired[GroupMessage]
    selfInfo: NotRequired[SelfInfo]


class SelfInfo(TypedDict):
    """The reader's own membership."""

    role: str
    joinTime: int
    nameCard: str
    muteUntil: int
    receiveMessageOpt: Literal["Receive", "NotReceive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"]
    readSeq: int
    unreadCount: int
    customInfo: dict[str, str]
    isPinned: NotRequired[bool]
    isHidden: NotRequired[bool]
    isMarkedUnread: NotRequired[bool]
    marks: NotRequired[list[str]]


class GroupMute(TypedDict):
    """The mute of a group; without muteUntil there is no end."""

    mode: Literal["None", "Ordinary", "All", "Custom"]
    roles: NotRequired[list[str]]
    muteUntil: NotRequired[int]


class MemberInfo(TypedDict):
    """A member. Events have the members up to role (an application administrator only userID),
    lists all; nickName and faceURL are left out where they are empty; inviter is for oneself.
    The role is NotMember for somebody who is no member, or no longer."""

    userID: str
    nickName: NotRequired[str]
    faceURL: NotRequired[str]
    nameCard: NotRequired[str]
    role: NotRequired[str]
    joinTime: NotRequired[int]
    muteUntil: NotRequired[int]
    customInfo: NotRequired[dict[str, str]]
    isOnline: NotRequired[bool]
    inviter: NotRequired[str]


class MemberChange(TypedDict):
    """A change to a member: muteTime in seconds (0 = may speak again), customInfo whole."""

    userID: str
    muteTime: NotRequired[int]
    nameCard: NotRequired[str]
    customInfo: NotRequired[dict[str, str]]
    role: NotRequired[str]


class UserInfo(TypedDict):
    """The texts of a user."""

    userID: str
    nickName: str
    faceURL: str
    customInfo: dict[str, str]


class UserStatusInfo(TypedDict):
    """Whether a user is online. platformList names each platform with a session once;
    lastOnlineTime is 0 for who is online or never was."""

    userID: str
    isOnline: bool
    platformList: list[str]
    customStatus: str
    lastOnlineTime: int


class GroupApplication(TypedDict):
    """A request to join that managers decide, or an invitation that the invited decides; toUser
    is empty for Join."""

    applicationID: str
    groupID: str
    type: Literal["Join", "Invite"]
    fromUser: str
    toUser: str
    addTime: int
    requestMsg: str
    attach: NotRequired[str]
    handleStatus: Literal["Unhandled", "HandledByOther", "HandledBySelf"]
    handleResult: NotRequired[Literal["Agree", "Refuse"]]
    handledMsg: NotRequired[str]
    handledBy: NotRequired[str]
    handledTime: NotRequired[int]
    isRead: bool


class GroupMessage(TypedDict):
    """A message: text, data or tips by its type, and extension; none of them when it is
    recalled."""

    msgID: str
    groupID: str
    seq: NotRequired[int]
    sender: str
    nickName: NotRequired[str]
    faceURL: NotRequired[str]
    nameCard: NotRequired[str]
    timestamp: int
    type: Literal["Text", "Custom", "GroupTips"]
    text: NotRequired[str]
    data: NotRequired[str]
    tips: NotRequired[GroupTips]
    extension: NotRequired[str]
    priority: Literal["High", "Normal", "Low", "Lowest"]
    clientMsgID: NotRequired[str]
    atUserIDList: NotRequired[list[str]]
    replyTo: NotRequired[GroupMessageReplyToRow]
    toUserIDList: NotRequired[list[str]]
    isExcludedFromUnreadCount: NotRequired[bool]
    isExcludedFromLastMessage: NotRequired[bool]
    isRevoked: NotRequired[bool]
    needReadReceipt: NotRequired[bool]
    changeSeq: NotRequired[int]
    editTime: NotRequired[int]
    isPinned: NotRequired[bool]
    reactions: NotRequired[list[GroupMessageReactionRow]]
    replyCount: NotRequired[int]
    platform: str


class GroupMessageReplyToRow(TypedDict):
    """A row of replyTo."""

    seq: int
    sender: str


class GroupMessageReactionRow(TypedDict):
    """A row of reactions."""

    reaction: str
    count: int
    byMe: bool


class GroupTips(TypedDict):
    """A change in the group, as its history keeps it."""

    type: Literal["Join", "Invite", "Quit", "Kicked", "SetAdmin", "CancelAdmin", "GroupInfoChange", "MemberInfoChange", "Create"]
    opUser: MemberInfo
    memberList: NotRequired[list[MemberInfo]]
    changeInfoList: NotRequired[list[GroupTipsChangeInfoRow] | list[MemberChange]]
    memberCount: int
    isAccepted: NotRequired[bool]


class GroupTipsChangeInfoRow(TypedDict):
    """A row of changeInfoList."""

    type: str
    key: NotRequired[str]
    value: Any


class SystemNotification(TypedDict):
    """An event in a group that concerned the user, kept for later."""

    notificationID: str
    type: Literal["AddGroupRequest", "AddGroupAccept", "AddGroupRefuse", "KickedOff", "GroupDismissed", "GroupCreated", "InvitedToGroup", "QuitGroup", "GrantAdmin", "CancelAdmin", "GroupRecycled", "InviteRequest", "InviteAccept", "InviteRefuse", "Custom"]
    groupID: str
    groupName: NotRequired[str]
    opUser: MemberInfo
    platform: NotRequired[str]
    applicationID: NotRequired[str]
    reason: NotRequired[str]
    data: NotRequired[str]
    timestamp: int
    isRead: bool


class SessionInfo(TypedDict):
    """A signed-in connection of a user."""

    sessionID: str
    platform: Literal["iOS", "Android", "Windows", "Mac", "Web", "Unknown"]
    deviceID: NotRequired[str]
    address: str
    loginTime: int


class NoResult(TypedDict):
    """The answer of methods that answer nothing."""


class LoginParams(TypedDict):
    """The parameters of login."""

    # A JWT that names the user in sub and its own end in exp.
    token: str
    # The client's platform: iOS, Android, Windows, Mac, Web or Unknown; absent = Unknown. Renewals
    # ignore it.
    platform: NotRequired[str]
    # The device, at most 512 bytes of UTF-8: a new session ends the one on the same device.
    # Renewals ignore it.
    deviceID: NotRequired[str]


class LoginResult(TypedDict):
    """The answer of login."""

    userID: str
    sessionID: str
    serverTime: int
    tokenExpiresAt: int
    heartbeat: int


class PingResult(TypedDict):
    """The answer of ping."""

    serverTime: int


class GetServerInfoResult(TypedDict):
    """The answer of getServerInfo."""

    name: str
    version: str
    protocol: str
    limits: dict[str, Any]
    groupTypes: list[dict[str, Any]]


class RPCDiscoverResult(TypedDict):
    """The answer of rpc.discover."""

    openrpc: str
    info: dict[str, Any]
    methods: list[dict[str, Any]]
    components: dict[str, Any]


class CreateGroupParams(TypedDict):
    """The parameters of createGroup."""

    # The group's type; the old names are taken too. One of Work, Public, Meeting, AVChatRoom,
    # BChatRoom.
    groupType: Literal["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
    # The group's name, for people. 1 to 30 bytes of UTF-8, no control characters.
    groupName: str
    # The new group's ID, not beginning with @TGS#; absent or empty = the server chooses one. At
    # most 48 bytes of UTF-8.
    groupID: NotRequired[str]
    # The group's subject, for people. At most 240 bytes of UTF-8.
    introduction: NotRequired[str]
    # An announcement to the members. At most 300 bytes of UTF-8.
    notification: NotRequired[str]
    # The address of the group's picture. At most 100 bytes of UTF-8.
    faceURL: NotRequired[str]
    # The most members that the group may have; 0, or absent for a new group = as many as its type
    # may. 0 or more.
    maxMemberNum: NotRequired[int]
    # The application's own texts about the group, by key; an empty text removes its key. At most 10
    # members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    customInfo: NotRequired[dict[str, str | None]]
    # The backend's own data: application administrators write it, members read it; empty = nothing.
    # At most 4096 bytes of UTF-8.
    serverCustomInfo: NotRequired[str]
    # Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid.
    joinMode: NotRequired[Literal["Any", "Auth", "Forbid"]]
    # The least role that may invite; Any = every member. One of Any, Admin, Nobody.
    inviteMode: NotRequired[Literal["Any", "Admin", "Nobody"]]
    # Whether an invited user is asked first (Auth). One of None, Auth.
    beInviteMode: NotRequired[Literal["None", "Auth"]]
    # The least role that may edit name, introduction, notification and faceURL. One of Any, Admin,
    # Owner.
    updateInfoMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    # The least role that may edit customInfo. One of Any, Admin, Owner.
    updateCustomMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    # Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid.
    ownerQuitMode: NotRequired[Literal["Transfer", "Forbid"]]
    # Whether all members hear of changes among them.
    memberChangeNotification: NotRequired[bool]
    # Whether others find the group by searchGroups.
    isSearchable: NotRequired[bool]
    # Whether ordinary members may list and read the members.
    isMemberVisible: NotRequired[bool]
    # The messages that members may read: those since joining, or all. One of Joined, All.
    historyVisibility: NotRequired[Literal["Joined", "All"]]
    # How many seconds an ordinary member's messages are apart at least; 0 = as the member likes. 0
    # to 86400.
    slowMode: NotRequired[int]
    # Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One of
    # Any, Holder.
    attributeMode: NotRequired[Literal["Any", "Holder"]]
    # The first members, besides the owner. At most 100 elements.
    memberList: NotRequired[list[CreateGroupParamsMemberRow]]
    # A remark that those read who are asked whether they want to be members. At most 512
    # characters.
    inviteMessage: NotRequired[str]
    # The owner of the group; an application administrator without asUser must give it. 1 to 32
    # bytes of UTF-8.
    ownerUserID: NotRequired[str]


class CreateGroupParamsMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    role: NotRequired[str]


class CreateGroupResult(TypedDict):
    """The answer of createGroup."""

    groupID: str
    groupType: Literal["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
    memberList: list[CreateGroupResultMemberRow]


class CreateGroupResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class JoinGroupParams(TypedDict):
    """The parameters of joinGroup."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # A word to those who decide, where joinMode is Auth. At most 512 characters.
    message: NotRequired[str]


class JoinGroupResult(TypedDict):
    """The answer of joinGroup."""

    status: Literal["Joined", "Pending"]
    lastSeq: NotRequired[int]
    epoch: NotRequired[str]


class QuitGroupParams(TypedDict):
    """The parameters of quitGroup."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str


class DismissGroupParams(TypedDict):
    """The parameters of dismissGroup."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str


class GetJoinedGroupListParams(TypedDict):
    """The parameters of getJoinedGroupList."""

    # Lists groups of this type only; absent = of every type that is listed. One of Work, Public,
    # Meeting, AVChatRoom, BChatRoom.
    groupType: NotRequired[Literal["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]]
    # Lists what has changed or was left since then, in milliseconds since 1970; absent = all. 0 or
    # more.
    updatedSince: NotRequired[int]
    # The most groups of the page, and the most that it names as left; absent = 50. 1 to 200.
    count: NotRequired[int]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]


class GetJoinedGroupListResult(TypedDict):
    """The answer of getJoinedGroupList."""

    groupList: list[GroupInfo]
    leftGroupIDList: list[str]
    nextSeq: int


class GetGroupsInfoParams(TypedDict):
    """The parameters of getGroupsInfo."""

    # The groups; each has a row in the answer. 1 to 50 elements.
    groupIDList: list[str]


class GetGroupsInfoResult(TypedDict):
    """The answer of getGroupsInfo."""

    resultList: list[GetGroupsInfoResultResultRow]


class GetGroupsInfoResultResultRow(TypedDict):
    """A row of resultList."""

    groupID: str
    code: int
    message: NotRequired[str]
    info: NotRequired[GroupInfo]


class SetGroupInfoParams(TypedDict):
    """The parameters of setGroupInfo."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The group's new name. 1 to 30 bytes of UTF-8, no control characters.
    groupName: NotRequired[str]
    # The group's subject, for people. At most 240 bytes of UTF-8.
    introduction: NotRequired[str]
    # An announcement to the members. At most 300 bytes of UTF-8.
    notification: NotRequired[str]
    # The address of the group's picture. At most 100 bytes of UTF-8.
    faceURL: NotRequired[str]
    # The most members that the group may have; 0, or absent for a new group = as many as its type
    # may. 0 or more.
    maxMemberNum: NotRequired[int]
    # The application's own texts about the group, by key; an empty text removes its key. At most 10
    # members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    customInfo: NotRequired[dict[str, str | None]]
    # The backend's own data: application administrators write it, members read it; empty = nothing.
    # At most 4096 bytes of UTF-8.
    serverCustomInfo: NotRequired[str]
    # Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid.
    joinMode: NotRequired[Literal["Any", "Auth", "Forbid"]]
    # The least role that may invite; Any = every member. One of Any, Admin, Nobody.
    inviteMode: NotRequired[Literal["Any", "Admin", "Nobody"]]
    # Whether an invited user is asked first (Auth). One of None, Auth.
    beInviteMode: NotRequired[Literal["None", "Auth"]]
    # The least role that may edit name, introduction, notification and faceURL. One of Any, Admin,
    # Owner.
    updateInfoMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    # The least role that may edit customInfo. One of Any, Admin, Owner.
    updateCustomMode: NotRequired[Literal["Any", "Admin", "Owner"]]
    # Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid.
    ownerQuitMode: NotRequired[Literal["Transfer", "Forbid"]]
    # Whether all members hear of changes among them.
    memberChangeNotification: NotRequired[bool]
    # Whether others find the group by searchGroups.
    isSearchable: NotRequired[bool]
    # Whether ordinary members may list and read the members.
    isMemberVisible: NotRequired[bool]
    # The messages that members may read: those since joining, or all. One of Joined, All.
    historyVisibility: NotRequired[Literal["Joined", "All"]]
    # How many seconds an ordinary member's messages are apart at least; 0 = as the member likes. 0
    # to 86400.
    slowMode: NotRequired[int]
    # Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One of
    # Any, Holder.
    attributeMode: NotRequired[Literal["Any", "Holder"]]
    # true silences ordinary members without end, as muteGroup does; false lets all speak.
    allMuted: NotRequired[bool]


class SearchGroupsParams(TypedDict):
    """The parameters of searchGroups."""

    # The texts to look for; a group is found by any of them. 1 to 5 elements, each 1 to 512 bytes
    # of UTF-8.
    keywordList: list[str]
    # Where to look; absent = groupID and groupName. At most 5 elements, each one of groupID,
    # groupName, memberUserID, memberNameCard, memberNickName.
    matchFields: NotRequired[list[Literal["groupID", "groupName", "memberUserID", "memberNameCard", "memberNickName"]]]
    # Whether upper and lower case are the same; absent = true.
    ignoreCase: NotRequired[bool]
    # true finds only groups of which the caller is a member.
    joinedOnly: NotRequired[bool]
    # The most groups of the page; absent = 20. 1 to 50.
    count: NotRequired[int]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]


class SearchGroupsResult(TypedDict):
    """The answer of searchGroups."""

    groupList: list[GroupInfo]
    nextSeq: int


class TransferGroupOwnerParams(TypedDict):
    """The parameters of transferGroupOwner."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The member who becomes the owner. 1 to 32 bytes of UTF-8.
    userID: str
    # true = the old owner leaves the group; absent = false.
    quit: NotRequired[bool]


class MuteGroupParams(TypedDict):
    """The parameters of muteGroup."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The silenced: nobody, ordinary members, everybody, or the roles that are named. One of None,
    # Ordinary, All, Custom.
    mode: Literal["None", "Ordinary", "All", "Custom"]
    # The roles that are silenced, for mode Custom only. At most 50 elements, each one of Admin,
    # Member, or 100 to 2147483647.
    roles: NotRequired[list[str]]
    # How long, in seconds; 0 or absent = without end. 0 to 4294967295.
    duration: NotRequired[int]


class MuteGroupResult(TypedDict):
    """The answer of muteGroup."""

    muteUntil: NotRequired[int]


class SetGroupReceiveMessageOptParams(TypedDict):
    """The parameters of setGroupReceiveMessageOpt."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The messages that the caller receives from now on. One of Receive, NotReceive,
    # ReceiveNotNotify, ReceiveFromManagers, NotifyFromManagers.
    opt: Literal["Receive", "NotReceive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"]


class InitGroupAttributesParams(TypedDict):
    """The parameters of initGroupAttributes."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The attributes that take the place of all there are. At most 16 members, keys 1 to 32 bytes,
    # values at most 4096 bytes of UTF-8.
    attributes: dict[str, str]


class SetGroupAttributesParams(TypedDict):
    """The parameters of setGroupAttributes."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The attributes that are set; the others stay as they are. At most 16 members, keys 1 to 32
    # bytes, values at most 4096 bytes of UTF-8.
    attributes: dict[str, str]
    # The values that these keys have to have, null = the key is not there: else 10058, and nothing
    # is set. At most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8, or null.
    expect: NotRequired[dict[str, str | None]]
    # true = the keys of this call that the caller holds go when the caller leaves the group; absent
    # = false.
    isDeleteAfterHolderLeft: NotRequired[bool]
    # true = the caller becomes the holder of the keys of this call; absent = false.
    isTakeOver: NotRequired[bool]


class DeleteGroupAttributesParams(TypedDict):
    """The parameters of deleteGroupAttributes."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The keys that are removed; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8.
    keys: NotRequired[list[str]]


class GetGroupAttributesParams(TypedDict):
    """The parameters of getGroupAttributes."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The keys that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8.
    keys: NotRequired[list[str]]
    # true = holders names the holder of each key that has one; absent = false.
    withHolders: NotRequired[bool]


class GetGroupAttributesResult(TypedDict):
    """The answer of getGroupAttributes."""

    attributes: dict[str, str]
    holders: NotRequired[dict[str, str]]


class SetGroupCountersParams(TypedDict):
    """The parameters of setGroupCounters."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The counters and their new values; null removes a counter. 1 to 20 members, keys
    # [A-Za-z0-9_]{1,32}, values integers within ±2⁵³; null removes a key.
    counters: dict[str, int | None]


class IncreaseGroupCounterParams(TypedDict):
    """The parameters of increaseGroupCounter."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The counter that is raised. 1 to 32 bytes of UTF-8, letters, digits and _ alone.
    key: str
    # How many are added. 1 to 2147483647.
    value: int


class IncreaseGroupCounterResult(TypedDict):
    """The answer of increaseGroupCounter."""

    value: int


class DecreaseGroupCounterParams(TypedDict):
    """The parameters of decreaseGroupCounter."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The counter that is lowered. 1 to 32 bytes of UTF-8, letters, digits and _ alone.
    key: str
    # How many are taken away. 1 to 2147483647.
    value: int


class DecreaseGroupCounterResult(TypedDict):
    """The answer of decreaseGroupCounter."""

    value: int


class GetGroupCountersParams(TypedDict):
    """The parameters of getGroupCounters."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The counters that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8,
    # letters, digits and _ alone.
    keys: NotRequired[list[str]]


class GetGroupCountersResult(TypedDict):
    """The answer of getGroupCounters."""

    counters: dict[str, Any]


class GetGroupMemberListParams(TypedDict):
    """The parameters of getGroupMemberList."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # Lists these members only; Common = neither owner nor admin. Absent = All. One of All, Owner,
    # Admin, Common.
    filter: NotRequired[Literal["All", "Owner", "Admin", "Common"]]
    # Lists who joined, or changed in role, nameCard, customInfo or mute, since then, in
    # milliseconds since 1970; absent = all. 0 or more.
    updatedSince: NotRequired[int]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most members of the page; absent = 50. 1 to 200.
    count: NotRequired[int]


class GetGroupMemberListResult(TypedDict):
    """The answer of getGroupMemberList."""

    memberList: list[MemberInfo]
    nextSeq: int
    leftUserIDList: NotRequired[list[str]]
    isComplete: NotRequired[bool]


class GetGroupMembersInfoParams(TypedDict):
    """The parameters of getGroupMembersInfo."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The users; those who are no members are left out of the answer. 1 to 50 elements, each 1 to 32
    # bytes of UTF-8.
    userIDList: list[str]


class GetGroupMembersInfoResult(TypedDict):
    """The answer of getGroupMembersInfo."""

    memberList: list[MemberInfo]


class GetGroupOnlineMemberCountParams(TypedDict):
    """The parameters of getGroupOnlineMemberCount."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str


class GetGroupOnlineMemberCountResult(TypedDict):
    """The answer of getGroupOnlineMemberCount."""

    count: int


class SetGroupMemberInfoParams(TypedDict):
    """The parameters of setGroupMemberInfo."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The member whose info changes, or the caller. 1 to 32 bytes of UTF-8.
    userID: str
    # The member's name in this group; empty = none. At most 50 bytes of UTF-8, no control
    # characters.
    nameCard: NotRequired[str]
    # The application's own texts about the member, by key; an empty text removes its key. At most 5
    # members, keys [A-Za-z0-9_]{1,16}, values at most 64 bytes of UTF-8; null removes a key.
    customInfo: NotRequired[dict[str, str | None]]
    # The member's new role. One of Admin, Member, or 100 to 2147483647.
    role: NotRequired[str]
    # When the member may speak again, in milliseconds since 1970; 0 = at once. 0 or more.
    muteUntil: NotRequired[int]


class MuteGroupMemberParams(TypedDict):
    """The parameters of muteGroupMember."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The member who is silenced. 1 to 32 bytes of UTF-8.
    userID: NotRequired[str]
    # The members who are silenced: this or userID. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    userIDList: NotRequired[list[str]]
    # How long, in seconds; 0 = no longer. A mute of the group holds besides. 0 to 4294967295.
    muteTime: int


class MuteGroupMemberResult(TypedDict):
    """The answer of muteGroupMember."""

    memberList: NotRequired[list[MuteGroupMemberResultMemberRow]]
    muteUntil: int


class MuteGroupMemberResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class GetGroupMutedMembersParams(TypedDict):
    """The parameters of getGroupMutedMembers."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most members of the page; absent = 50. 1 to 50.
    count: NotRequired[int]


class GetGroupMutedMembersResult(TypedDict):
    """The answer of getGroupMutedMembers."""

    memberList: list[MemberInfo]
    nextSeq: int


class GetGroupBannedMembersParams(TypedDict):
    """The parameters of getGroupBannedMembers."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most bans of the page; absent = 50. 1 to 50.
    count: NotRequired[int]


class GetGroupBannedMembersResult(TypedDict):
    """The answer of getGroupBannedMembers."""

    memberList: list[GetGroupBannedMembersResultMemberRow]
    nextSeq: int


class GetGroupBannedMembersResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    bannedUntil: int
    reason: str


class InviteUserToGroupParams(TypedDict):
    """The parameters of inviteUserToGroup."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The invited users. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]
    # A word to those who are asked. At most 512 characters.
    message: NotRequired[str]
    # The application's own data beside the invitation. At most 512 characters.
    attach: NotRequired[str]


class InviteUserToGroupResult(TypedDict):
    """The answer of inviteUserToGroup."""

    memberList: list[InviteUserToGroupResultMemberRow]


class InviteUserToGroupResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class KickGroupMemberParams(TypedDict):
    """The parameters of kickGroupMember."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The members who are removed. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]
    # The reason, which all members are told. At most 512 characters.
    reason: NotRequired[str]
    # How long they are kept out, in seconds; 0 or absent = not at all. 0 to 4294967295.
    banTime: NotRequired[int]


class KickGroupMemberResult(TypedDict):
    """The answer of kickGroupMember."""

    memberList: list[KickGroupMemberResultMemberRow]


class KickGroupMemberResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class UnbanGroupMemberParams(TypedDict):
    """The parameters of unbanGroupMember."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The users whose bans end. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class UnbanGroupMemberResult(TypedDict):
    """The answer of unbanGroupMember."""

    memberList: list[UnbanGroupMemberResultMemberRow]


class UnbanGroupMemberResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class SetGroupMemberRoleParams(TypedDict):
    """The parameters of setGroupMemberRole."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The member whose role changes. 1 to 32 bytes of UTF-8.
    userID: NotRequired[str]
    # The members whose roles change: this or userID. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    userIDList: NotRequired[list[str]]
    # The new role. One of Admin, Member, or 100 to 2147483647.
    role: str


class SetGroupMemberRoleResult(TypedDict):
    """The answer of setGroupMemberRole."""

    memberList: NotRequired[list[SetGroupMemberRoleResultMemberRow]]


class SetGroupMemberRoleResultMemberRow(TypedDict):
    """A row of memberList."""

    userID: str
    result: Literal["Fail", "Success", "Invalid", "Pending", "OverLimit"]


class GetGroupMemberInvitersParams(TypedDict):
    """The parameters of getGroupMemberInviters."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The users; each has a row in the answer. 1 to 200 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class GetGroupMemberInvitersResult(TypedDict):
    """The answer of getGroupMemberInviters."""

    inviterList: list[GetGroupMemberInvitersResultInviterRow]


class GetGroupMemberInvitersResultInviterRow(TypedDict):
    """A row of inviterList."""

    userID: str
    inviter: NotRequired[str]


class GetGroupMemberRolesParams(TypedDict):
    """The parameters of getGroupMemberRoles."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The users; each has a row in the answer. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class GetGroupMemberRolesResult(TypedDict):
    """The answer of getGroupMemberRoles."""

    roleList: list[GetGroupMemberRolesResultRoleRow]


class GetGroupMemberRolesResultRoleRow(TypedDict):
    """A row of roleList."""

    userID: str
    role: str


class SetSelfInfoParams(TypedDict):
    """The parameters of setSelfInfo."""

    # The user's name, for people. At most 100 bytes of UTF-8, no control characters.
    nickName: NotRequired[str]
    # The address of the user's picture. At most 500 bytes of UTF-8.
    faceURL: NotRequired[str]
    # The application's own texts about the user, by key; an empty text removes its key. At most 10
    # members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    customInfo: NotRequired[dict[str, str | None]]


class GetUsersInfoParams(TypedDict):
    """The parameters of getUsersInfo."""

    # The users whose texts are asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class GetUsersInfoResult(TypedDict):
    """The answer of getUsersInfo."""

    userList: list[UserInfo]


class SetSelfStatusParams(TypedDict):
    """The parameters of setSelfStatus."""

    # The user's own words about being there; empty = none. At most 100 bytes of UTF-8, no control
    # characters.
    customStatus: str


class GetUsersStatusParams(TypedDict):
    """The parameters of getUsersStatus."""

    # The users whose status is asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class GetUsersStatusResult(TypedDict):
    """The answer of getUsersStatus."""

    userList: list[UserStatusInfo]


class SubscribeUsersStatusParams(TypedDict):
    """The parameters of subscribeUsersStatus."""

    # The users whose status is watched from now on. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    userIDList: list[str]


class SubscribeUsersStatusResult(TypedDict):
    """The answer of subscribeUsersStatus."""

    userList: list[UserStatusInfo]


class UnsubscribeUsersStatusParams(TypedDict):
    """The parameters of unsubscribeUsersStatus."""

    # The users who are watched no longer; absent or empty = all. At most 100 elements, each 1 to 32
    # bytes of UTF-8.
    userIDList: NotRequired[list[str]]


class GetGroupApplicationListParams(TypedDict):
    """The parameters of getGroupApplicationList."""

    # Received: those that the caller may decide; Sent: those that the caller made. Absent =
    # Received. One of Received, Sent.
    box: NotRequired[Literal["Received", "Sent"]]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most applications of the page; absent = 50. 1 to 50.
    count: NotRequired[int]


class GetGroupApplicationListResult(TypedDict):
    """The answer of getGroupApplicationList."""

    applicationList: list[GroupApplication]
    unreadCount: int
    nextSeq: int


class AcceptGroupApplicationParams(TypedDict):
    """The parameters of acceptGroupApplication."""

    # The application or invitation that is decided.
    applicationID: str
    # A word to whoever asked. At most 512 characters.
    reason: NotRequired[str]


class RefuseGroupApplicationParams(TypedDict):
    """The parameters of refuseGroupApplication."""

    # The application or invitation that is decided.
    applicationID: str
    # A word to whoever asked. At most 512 characters.
    reason: NotRequired[str]


class SetGroupApplicationReadParams(TypedDict):
    """The parameters of setGroupApplicationRead."""

    # The instant up to which applications are read, in milliseconds since 1970; absent = now. 0 or
    # more.
    timestamp: NotRequired[int]


class SendGroupTextMessageParams(TypedDict):
    """The parameters of sendGroupTextMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The text that is sent. 1 to 12288 bytes of UTF-8.
    text: str
    # Which messages a group over its rate keeps and sends first; absent = Normal. One of High,
    # Normal, Low, Lowest.
    priority: NotRequired[Literal["High", "Normal", "Low", "Lowest"]]
    # The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64
    # bytes of UTF-8.
    clientMsgID: NotRequired[str]
    # The userIDs that the message mentions, or @all, which only managers may use. At most 30
    # elements.
    atUserIDList: NotRequired[list[str]]
    # true = only members who are online get it, and it is not stored; absent = false.
    onlineUserOnly: NotRequired[bool]
    # true = the sender learns who has read it, in a Work or Public group; absent = false.
    needReadReceipt: NotRequired[bool]
    # Data of the application's own beside the content; absent or empty = none. At most 4096 bytes
    # of UTF-8.
    extension: NotRequired[str]
    # The seq of the message that this one answers; absent = it is no reply. 1 or more.
    replyTo: NotRequired[int]
    # true = it does not count as unread, where messages are stored; absent = false.
    isExcludedFromUnreadCount: NotRequired[bool]
    # true = it does not become the group's lastMessage, where messages are stored; absent = false.
    isExcludedFromLastMessage: NotRequired[bool]
    # The only members who see the message, besides the sender, in a Work, Public or Meeting group;
    # absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    toUserIDList: NotRequired[list[str]]
    # When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for;
    # absent = it was not. 0 or more.
    firstSentAt: NotRequired[int]


class SendGroupTextMessageResult(TypedDict):
    """The answer of sendGroupTextMessage."""

    msgID: str
    seq: NotRequired[int]
    timestamp: int
    status: Literal["Stored", "Delivered", "Queued", "Dropped"]


class SendGroupCustomMessageParams(TypedDict):
    """The parameters of sendGroupCustomMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The data that is sent, in any form of the application's. 1 to 12288 bytes of UTF-8.
    data: str
    # Which messages a group over its rate keeps and sends first; absent = Normal. One of High,
    # Normal, Low, Lowest.
    priority: NotRequired[Literal["High", "Normal", "Low", "Lowest"]]
    # The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64
    # bytes of UTF-8.
    clientMsgID: NotRequired[str]
    # The userIDs that the message mentions, or @all, which only managers may use. At most 30
    # elements.
    atUserIDList: NotRequired[list[str]]
    # true = only members who are online get it, and it is not stored; absent = false.
    onlineUserOnly: NotRequired[bool]
    # true = the sender learns who has read it, in a Work or Public group; absent = false.
    needReadReceipt: NotRequired[bool]
    # Data of the application's own beside the content; absent or empty = none. At most 4096 bytes
    # of UTF-8.
    extension: NotRequired[str]
    # The seq of the message that this one answers; absent = it is no reply. 1 or more.
    replyTo: NotRequired[int]
    # true = it does not count as unread, where messages are stored; absent = false.
    isExcludedFromUnreadCount: NotRequired[bool]
    # true = it does not become the group's lastMessage, where messages are stored; absent = false.
    isExcludedFromLastMessage: NotRequired[bool]
    # The only members who see the message, besides the sender, in a Work, Public or Meeting group;
    # absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    toUserIDList: NotRequired[list[str]]
    # When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for;
    # absent = it was not. 0 or more.
    firstSentAt: NotRequired[int]


class SendGroupCustomMessageResult(TypedDict):
    """The answer of sendGroupCustomMessage."""

    msgID: str
    seq: NotRequired[int]
    timestamp: int
    status: Literal["Stored", "Delivered", "Queued", "Dropped"]


class SendGroupSignalParams(TypedDict):
    """The parameters of sendGroupSignal."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # What it means, in the application's own word. 1 to 32 bytes of UTF-8, letters, digits, _, .
    # and - alone.
    name: str
    # Data of the application's own; absent = none. At most 512 bytes of UTF-8.
    data: NotRequired[str]


class GetGroupHistoryMessageListParams(TypedDict):
    """The parameters of getGroupHistoryMessageList."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The most messages of the page; absent = 20. 1 to 100.
    count: NotRequired[int]
    # The page begins next to this seq; 0 or absent = at the newest message for Older, at the oldest
    # for Newer. 0 or more.
    fromSeq: NotRequired[int]
    # Whether the page goes back in time or forward; absent = Older. One of Older, Newer.
    direction: NotRequired[Literal["Older", "Newer"]]


class GetGroupHistoryMessageListResult(TypedDict):
    """The answer of getGroupHistoryMessageList."""

    messageList: list[GroupMessage]
    isFinished: bool


class GetGroupMessagesParams(TypedDict):
    """The parameters of getGroupMessages."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seqs of the messages. 1 to 20 elements, each 1 or more.
    seqList: list[int]


class GetGroupMessagesResult(TypedDict):
    """The answer of getGroupMessages."""

    messageList: list[GroupMessage]


class GetGroupMessageRepliesParams(TypedDict):
    """The parameters of getGroupMessageReplies."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message that they answer. 1 or more.
    seq: int
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most replies of the page; absent = 50. 1 to 50.
    count: NotRequired[int]


class GetGroupMessageRepliesResult(TypedDict):
    """The answer of getGroupMessageReplies."""

    messageList: list[GroupMessage]
    totalCount: int
    nextSeq: int


class SyncGroupsParams(TypedDict):
    """The parameters of syncGroups."""

    # The position in each group from which to go on. 1 to 50 elements.
    groups: list[SyncGroupsParamsGroupRow]


class SyncGroupsParamsGroupRow(TypedDict):
    """A row of groups."""

    groupID: str
    epoch: str
    seq: int
    changeSeq: NotRequired[int]


class SyncGroupsResult(TypedDict):
    """The answer of syncGroups."""

    groups: list[SyncGroupsResultGroupRow]


class SyncGroupsResultGroupRow(TypedDict):
    """A row of groups."""

    groupID: str
    code: int
    message: NotRequired[str]
    epoch: NotRequired[str]
    lastSeq: NotRequired[int]
    recovered: NotRequired[bool]
    changeList: NotRequired[list[GroupMessage]]
    changeSeq: NotRequired[int]
    messageList: NotRequired[list[GroupMessage]]
    more: NotRequired[bool]


# Members of SearchGroupMessagesParams whose names are words of Python's.
SearchGroupMessagesParamsKeywords = TypedDict("SearchGroupMessagesParamsKeywords", {
    # When they were sent at the earliest, in milliseconds since 1970; absent = any time. 0 or more.
    "from": "NotRequired[int]",
})


class SearchGroupMessagesParams(SearchGroupMessagesParamsKeywords):
    """The parameters of searchGroupMessages."""

    # The texts to look for, in upper or lower case; a message is found by any of them. 1 to 5
    # elements, each 1 to 512 bytes of UTF-8.
    keywordList: list[str]
    # Where to look; absent or empty = in all groups that the caller has joined. At most 50
    # elements, each 1 to 48 bytes of UTF-8.
    groupIDList: NotRequired[list[str]]
    # Whose messages are found; absent or empty = everybody's. At most 50 elements, each 1 to 32
    # bytes of UTF-8.
    senderUserIDList: NotRequired[list[str]]
    # When they were sent at the latest, in milliseconds since 1970; absent = any time. 0 or more.
    to: NotRequired[int]
    # The most messages of the page; absent = 20. 1 to 50.
    count: NotRequired[int]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]


class SearchGroupMessagesResult(TypedDict):
    """The answer of searchGroupMessages."""

    messageList: list[GroupMessage]
    nextSeq: int


class RevokeGroupMessageParams(TypedDict):
    """The parameters of revokeGroupMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message that is taken back, in place of msgID. 1 or more.
    seq: NotRequired[int]
    # The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128
    # bytes of UTF-8.
    msgID: NotRequired[str]


class ModifyGroupMessageParams(TypedDict):
    """The parameters of modifyGroupMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message. 1 or more.
    seq: int
    # The content that takes the place of what the message has, of its own kind. Not together with
    # data. 1 to 12288 bytes of UTF-8.
    text: NotRequired[str]
    # The content that takes the place of what the message has, of its own kind. Not together with
    # text. 1 to 12288 bytes of UTF-8.
    data: NotRequired[str]
    # The data beside the content; empty = it is removed, absent = it stays. At most 4096 bytes of
    # UTF-8.
    extension: NotRequired[str]


class ModifyGroupMessageResult(TypedDict):
    """The answer of modifyGroupMessage."""

    editTime: NotRequired[int]


class AddMessageReactionParams(TypedDict):
    """The parameters of addMessageReaction."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message. 1 or more.
    seq: int
    # The reaction, as a rule an emoji; compared byte for byte. 1 to 32 bytes of UTF-8, no control
    # characters.
    reaction: str


class RemoveMessageReactionParams(TypedDict):
    """The parameters of removeMessageReaction."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message. 1 or more.
    seq: int
    # The reaction that is removed. 1 to 32 bytes of UTF-8, no control characters.
    reaction: str


class GetMessageReactionsParams(TypedDict):
    """The parameters of getMessageReactions."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seqs of the messages. 1 to 20 elements, each 1 or more.
    seqList: list[int]
    # How many users of each reaction are named; absent = 0. 0 to 10.
    userCount: NotRequired[int]


class GetMessageReactionsResult(TypedDict):
    """The answer of getMessageReactions."""

    resultList: list[GetMessageReactionsResultResultRow]


class GetMessageReactionsResultResultRow(TypedDict):
    """A row of resultList."""

    seq: int
    reactions: list[GetMessageReactionsResultResultRowReactionRow]


class GetMessageReactionsResultResultRowReactionRow(TypedDict):
    """A row of reactions."""

    reaction: str
    count: int
    byMe: bool
    userIDList: list[str]


class PinGroupMessageParams(TypedDict):
    """The parameters of pinGroupMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message. 1 or more.
    seq: int
    # true = it is pinned, false = it is not any more.
    isPinned: bool


class GetPinnedGroupMessageListParams(TypedDict):
    """The parameters of getPinnedGroupMessageList."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str


class GetPinnedGroupMessageListResult(TypedDict):
    """The answer of getPinnedGroupMessageList."""

    messageList: list[GroupMessage]


class ReportMessageParams(TypedDict):
    """The parameters of reportMessage."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of the message that is reported, in place of msgID. 1 or more.
    seq: NotRequired[int]
    # The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128
    # bytes of UTF-8.
    msgID: NotRequired[str]
    # A word of the application's own for what is wrong; absent or empty = none. At most 32 bytes of
    # UTF-8.
    category: NotRequired[str]
    # The reporter's own words; absent or empty = none. At most 512 characters.
    text: NotRequired[str]


class ReportMessageResult(TypedDict):
    """The answer of reportMessage."""

    reportID: str


class MarkGroupMessageAsReadParams(TypedDict):
    """The parameters of markGroupMessageAsRead."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq up to which the caller has read; absent = all there is. 1 or more.
    seq: NotRequired[int]


class GetGroupUnreadCountParams(TypedDict):
    """The parameters of getGroupUnreadCount."""

    # The groups; absent or empty = all that getJoinedGroupList lists. At most 200 elements, each 1
    # to 48 bytes of UTF-8.
    groupIDList: NotRequired[list[str]]


class GetGroupUnreadCountResult(TypedDict):
    """The answer of getGroupUnreadCount."""

    totalCount: int
    groups: list[GetGroupUnreadCountResultGroupRow]


class GetGroupUnreadCountResultGroupRow(TypedDict):
    """A row of groups."""

    groupID: str
    unreadCount: int


class SendMessageReadReceiptsParams(TypedDict):
    """The parameters of sendMessageReadReceipts."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The messages that the caller has read; own ones and those without receipts are ignored. 1 to
    # 50 elements, each 1 or more.
    seqList: list[int]


class GetMessageReadReceiptsParams(TypedDict):
    """The parameters of getMessageReadReceipts."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The messages; others than own ones with receipts are left out of the answer. 1 to 50 elements,
    # each 1 or more.
    seqList: list[int]


class GetMessageReadReceiptsResult(TypedDict):
    """The answer of getMessageReadReceipts."""

    receiptList: list[GetMessageReadReceiptsResultReceiptRow]


class GetMessageReadReceiptsResultReceiptRow(TypedDict):
    """A row of receiptList."""

    seq: int
    readCount: int
    unreadCount: int


class GetGroupMessageReadMemberListParams(TypedDict):
    """The parameters of getGroupMessageReadMemberList."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # The seq of an own message that was sent with needReadReceipt. 1 or more.
    seq: int
    # Whether those are listed who have read it, or those who have not; absent = Read. One of Read,
    # Unread.
    filter: NotRequired[Literal["Read", "Unread"]]
    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most members of the page; absent = 50. 1 to 100.
    count: NotRequired[int]


class GetGroupMessageReadMemberListResult(TypedDict):
    """The answer of getGroupMessageReadMemberList."""

    memberList: list[MemberInfo]
    nextSeq: int


class SetConversationParams(TypedDict):
    """The parameters of setConversation."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str
    # Whether the group stands above others in the list.
    isPinned: NotRequired[bool]
    # Whether the group is left out of the list, until a message counts as unread or mentions the
    # caller.
    isHidden: NotRequired[bool]
    # Whether the group looks unread, until markGroupMessageAsRead.
    isMarkedUnread: NotRequired[bool]
    # The application's own words for the group, in the place of all earlier ones; an empty list
    # removes them. At most 8 elements, each 1 to 32 bytes of UTF-8.
    marks: NotRequired[list[str]]


class ClearGroupHistoryParams(TypedDict):
    """The parameters of clearGroupHistory."""

    # The group that the request is about. 1 to 48 bytes of UTF-8.
    groupID: str


class ClearGroupHistoryResult(TypedDict):
    """The answer of clearGroupHistory."""

    clearedSeq: int


class GetSystemNotificationListParams(TypedDict):
    """The parameters of getSystemNotificationList."""

    # Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more.
    nextSeq: NotRequired[int]
    # The most notifications of the page; absent = 50. 1 to 100.
    count: NotRequired[int]


class GetSystemNotificationListResult(TypedDict):
    """The answer of getSystemNotificationList."""

    notificationList: list[SystemNotification]
    unreadCount: int
    nextSeq: int


class SetSystemNotificationReadParams(TypedDict):
    """The parameters of setSystemNotificationRead."""

    # The newest notification that the caller has read; absent = all there are.
    notificationID: NotRequired[str]


class SendOptions(TypedDict):
    """What a message may have besides its group and content."""

    # Which messages a group over its rate keeps and sends first; absent = Normal. One of High,
    # Normal, Low, Lowest.
    priority: NotRequired[Literal["High", "Normal", "Low", "Lowest"]]
    # The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64
    # bytes of UTF-8.
    clientMsgID: NotRequired[str]
    # The userIDs that the message mentions, or @all, which only managers may use. At most 30
    # elements.
    atUserIDList: NotRequired[list[str]]
    # true = only members who are online get it, and it is not stored; absent = false.
    onlineUserOnly: NotRequired[bool]
    # true = the sender learns who has read it, in a Work or Public group; absent = false.
    needReadReceipt: NotRequired[bool]
    # Data of the application's own beside the content; absent or empty = none. At most 4096 bytes
    # of UTF-8.
    extension: NotRequired[str]
    # The seq of the message that this one answers; absent = it is no reply. 1 or more.
    replyTo: NotRequired[int]
    # true = it does not count as unread, where messages are stored; absent = false.
    isExcludedFromUnreadCount: NotRequired[bool]
    # true = it does not become the group's lastMessage, where messages are stored; absent = false.
    isExcludedFromLastMessage: NotRequired[bool]
    # The only members who see the message, besides the sender, in a Work, Public or Meeting group;
    # absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    toUserIDList: NotRequired[list[str]]


class MemberEnterEvent(TypedDict):
    """onMemberEnter: to all members, the new one included; notification off: the new member."""

    groupID: str
    opTime: int
    platform: NotRequired[str]
    memberList: list[MemberInfo]
    memberCount: int
    seq: NotRequired[int]
    msgID: NotRequired[str]


class MemberLeaveEvent(TypedDict):
    """onMemberLeave: to the other members; notification off: nobody."""

    groupID: str
    opTime: int
    platform: NotRequired[str]
    memberList: list[MemberInfo]
    memberCount: int
    seq: NotRequired[int]
    msgID: NotRequired[str]


class MemberInvitedEvent(TypedDict):
    """onMemberInvited: to all members, inviter and invited included; notification off: inviter
    and invited."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    memberList: list[MemberInfo]
    memberCount: int
    seq: NotRequired[int]
    msgID: NotRequired[str]
    isAccepted: NotRequired[bool]


class MemberKickedEvent(TypedDict):
    """onMemberKicked: to all members and the removed; notification off: the removed and the
    operator."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    memberList: list[MemberInfo]
    reason: str
    memberCount: int
    seq: NotRequired[int]
    msgID: NotRequired[str]


class GroupMemberInfoChangedEvent(TypedDict):
    """onGroupMemberInfoChanged: to all members, the one concerned included; notification off,
    and for nameCard and customInfo in an AVChatRoom: the one concerned and the operator."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    changeInfoList: list[MemberChange]
    seq: NotRequired[int]
    msgID: NotRequired[str]


class GroupCreatedEvent(TypedDict):
    """onGroupCreated: to all sessions of the creator, and the initial members."""

    groupID: str
    opTime: int
    platform: str
    seq: NotRequired[int]
    msgID: NotRequired[str]


class GroupDismissedEvent(TypedDict):
    """onGroupDismissed: to all members, the operator included."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str


class GroupRecycledEvent(TypedDict):
    """onGroupRecycled: to all members, the operator included."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str


class GroupInfoChangedEvent(TypedDict):
    """onGroupInfoChanged: to all members."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    changeInfoList: list[GroupInfoChangedEventChangeInfoRow]
    seq: NotRequired[int]
    msgID: NotRequired[str]


class GroupInfoChangedEventChangeInfoRow(TypedDict):
    """A row of changeInfoList."""

    type: str
    key: NotRequired[str]
    value: Any


class ReceiveJoinApplicationEvent(TypedDict):
    """onReceiveJoinApplication: to managers."""

    groupID: str
    opTime: int
    applicationID: str
    member: MemberInfo
    platform: str
    opReason: str


class ReceiveGroupInvitationEvent(TypedDict):
    """onReceiveGroupInvitation: to the invited user."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    applicationID: str
    opReason: str
    attach: str
    groupName: str
    groupType: Literal["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
    faceURL: str
    memberCount: int


class ApplicationProcessedEvent(TypedDict):
    """onApplicationProcessed: to the applicant; for an invitation, the inviter."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    applicationID: str
    isAgreeJoin: bool
    opReason: str


class GroupApplicationListChangedEvent(TypedDict):
    """onGroupApplicationListChanged: to everybody in whose list of received or sent applications
    it stands: the managers and the applicant, or the invited user and the inviter."""

    groupID: str
    opTime: int
    application: GroupApplication


class GrantAdministratorEvent(TypedDict):
    """onGrantAdministrator: to all members; notification off: the operator and the one
    concerned."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    memberList: list[MemberInfo]
    seq: NotRequired[int]
    msgID: NotRequired[str]


class RevokeAdministratorEvent(TypedDict):
    """onRevokeAdministrator: to all members; notification off: the operator and the one
    concerned."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    memberList: list[MemberInfo]
    seq: NotRequired[int]
    msgID: NotRequired[str]


class QuitFromGroupEvent(TypedDict):
    """onQuitFromGroup: to all sessions of the user who quit."""

    groupID: str
    opTime: int
    platform: str


class ReceiveMessageOptChangedEvent(TypedDict):
    """onReceiveMessageOptChanged: to the user's other sessions."""

    groupID: str
    opTime: int
    opt: str


class GroupAttributeChangedEvent(TypedDict):
    """onGroupAttributeChanged: to all members."""

    groupID: str
    opTime: int
    groupAttributeMap: dict[str, str]
    holders: NotRequired[dict[str, str]]


class GroupCounterChangedEvent(TypedDict):
    """onGroupCounterChanged: to all members."""

    groupID: str
    opTime: int
    counters: dict[str, Any]


class RecvNewMessageEvent(TypedDict):
    """onRecvNewMessage: to all members who may see the message but the sending session, as their
    receive option says."""

    groupID: str
    opTime: int
    message: GroupMessage


class RecvMessageRevokedEvent(TypedDict):
    """onRecvMessageRevoked: to all members who may see the message."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    msgID: str
    seq: int
    changeSeq: int


class RecvMessageModifiedEvent(TypedDict):
    """onRecvMessageModified: to all members who may see the message."""

    groupID: str
    opTime: int
    changeSeq: int
    message: GroupMessage


class RecvMessageReactionsChangedEvent(TypedDict):
    """onRecvMessageReactionsChanged: to all members who may see the message."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    seq: int
    changeSeq: int
    reactions: list[RecvMessageReactionsChangedEventReactionRow]
    reaction: str
    isAdded: bool


class RecvMessageReactionsChangedEventReactionRow(TypedDict):
    """A row of reactions."""

    reaction: str
    count: int


class GroupMessagePinnedEvent(TypedDict):
    """onGroupMessagePinned: to all members who may see the message."""

    groupID: str
    opTime: int
    opUser: MemberInfo
    platform: str
    seq: int
    isPinned: bool
    changeSeq: int
    message: NotRequired[GroupMessage]


class MessageDroppedEvent(TypedDict):
    """onMessageDropped: to the sending session."""

    groupID: str
    opTime: int
    msgID: str
    clientMsgID: NotRequired[str]
    priority: str
    reason: str


class ConversationReadEvent(TypedDict):
    """onConversationRead: to the user's other sessions, when it moved."""

    groupID: str
    opTime: int
    readSeq: int


class ConversationChangedEvent(TypedDict):
    """onConversationChanged: to the user's other sessions; all of them where a message ended
    isHidden."""

    groupID: str
    opTime: int
    isPinned: NotRequired[bool]
    isHidden: NotRequired[bool]
    isMarkedUnread: NotRequired[bool]
    marks: NotRequired[list[str]]
    clearedSeq: NotRequired[int]


class RecvMessageReadReceiptsEvent(TypedDict):
    """onRecvMessageReadReceipts: to the sessions of the messages' sender, at most 5 in any
    second."""

    groupID: str
    opTime: int
    receiptList: list[RecvMessageReadReceiptsEventReceiptRow]


class RecvMessageReadReceiptsEventReceiptRow(TypedDict):
    """A row of receiptList."""

    seq: int
    readCount: int
    unreadCount: int


class GroupSignalEvent(TypedDict):
    """onGroupSignal: to all members but the sending session and those who receive no messages."""

    groupID: str
    opTime: int
    name: str
    data: NotRequired[str]
    sender: str
    nameCard: NotRequired[str]
    nickName: NotRequired[str]


class ReceiveRESTCustomDataEvent(TypedDict):
    """onReceiveRESTCustomData: to the members named by the administrator, or all."""

    groupID: str
    opTime: int
    customData: str
    platform: str


class SelfInfoUpdatedEvent(TypedDict):
    """onSelfInfoUpdated: to the user's other sessions; after setUserInfo all."""

    opTime: int
    nickName: NotRequired[str]
    faceURL: NotRequired[str]
    customInfo: NotRequired[dict[str, str]]


class UsersStatusChangedEvent(TypedDict):
    """onUsersStatusChanged: to the sessions that watch the users, each at most once a second."""

    opTime: int
    userList: list[UserStatusInfo]


class ConnectSuccessEvent(TypedDict):
    """onConnectSuccess: to the session."""

    userID: str
    sessionID: str
    serverTime: int
    tokenExpiresAt: int
    heartbeat: int
    streamKey: NotRequired[str]


class KickedOfflineEvent(TypedDict):
    """onKickedOffline: to the session."""

    reason: str
    message: NotRequired[str]


class UserSigExpiredEvent(TypedDict):
    """onUserSigExpired: to the session."""

    expiresAt: int


class ServerDrainingEvent(TypedDict):
    """onServerDraining: to the session."""

    retryAfterMs: int


class ServerMethods:
    """The methods of the server; each raises a ThrongError or a ClientError."""

    async def call(self, method: str, params: Mapping[str, Any] | None = None, queue: bool = True) -> Any:
        """The result of a method."""
        raise NotImplementedError

    async def ping(self) -> PingResult:
        """Answers with the server's clock."""
        answer: PingResult = await self.call("ping")
        return answer

    async def getServerInfo(self) -> GetServerInfoResult:
        """Tells the server's name, version, limits, and what each group type allows."""
        answer: GetServerInfoResult = await self.call("getServerInfo")
        return answer

    async def rpcDiscover(self) -> RPCDiscoverResult:
        """Answers the OpenRPC document of this server."""
        answer: RPCDiscoverResult = await self.call("rpc.discover")
        return answer

    async def createGroup(self, **params: Unpack[CreateGroupParams]) -> CreateGroupResult:
        """Makes a group that the caller owns, or the user whom the application names as
        ownerUserID."""
        answer: CreateGroupResult = await self.call("createGroup", params)
        return answer

    async def joinGroup(self, **params: Unpack[JoinGroupParams]) -> JoinGroupResult:
        """Joins a group, or asks its managers to be let in where joinMode is Auth."""
        answer: JoinGroupResult = await self.call("joinGroup", params)
        return answer

    async def quitGroup(self, **params: Unpack[QuitGroupParams]) -> NoResult:
        """Leaves a group."""
        answer: NoResult = await self.call("quitGroup", params)
        return answer

    async def dismissGroup(self, **params: Unpack[DismissGroupParams]) -> NoResult:
        """Disbands a group."""
        answer: NoResult = await self.call("dismissGroup", params)
        return answer

    async def getJoinedGroupList(self, **params: Unpack[GetJoinedGroupListParams]) -> GetJoinedGroupListResult:
        """Lists the groups that the caller is a member of."""
        answer: GetJoinedGroupListResult = await self.call("getJoinedGroupList", params)
        return answer

    async def getGroupsInfo(self, **params: Unpack[GetGroupsInfoParams]) -> GetGroupsInfoResult:
        """Tells what the caller may know of up to 50 groups."""
        answer: GetGroupsInfoResult = await self.call("getGroupsInfo", params)
        return answer

    async def setGroupInfo(self, **params: Unpack[SetGroupInfoParams]) -> NoResult:
        """Changes a group's info, all of what is given or nothing."""
        answer: NoResult = await self.call("setGroupInfo", params)
        return answer

    async def searchGroups(self, **params: Unpack[SearchGroupsParams]) -> SearchGroupsResult:
        """Finds groups whose texts hold any of up to 5 keywords: joined ones, and others that
        are searchable."""
        answer: SearchGroupsResult = await self.call("searchGroups", params)
        return answer

    async def transferGroupOwner(self, **params: Unpack[TransferGroupOwnerParams]) -> NoResult:
        """Makes another member the owner; the old one becomes Member, or leaves."""
        answer: NoResult = await self.call("transferGroupOwner", params)
        return answer

    async def muteGroup(self, **params: Unpack[MuteGroupParams]) -> MuteGroupResult:
        """Silences a group or some of its roles, for a time or without end; mode None lets all
        speak."""
        answer: MuteGroupResult = await self.call("muteGroup", params)
        return answer

    async def setGroupReceiveMessageOpt(self, **params: Unpack[SetGroupReceiveMessageOptParams]) -> NoResult:
        """Chooses which messages of a group the caller receives."""
        answer: NoResult = await self.call("setGroupReceiveMessageOpt", params)
        return answer

    async def initGroupAttributes(self, **params: Unpack[InitGroupAttributesParams]) -> NoResult:
        """Replaces all attributes of a group."""
        answer: NoResult = await self.call("initGroupAttributes", params)
        return answer

    async def setGroupAttributes(self, **params: Unpack[SetGroupAttributesParams]) -> NoResult:
        """Sets some attributes of a group and leaves the others."""
        answer: NoResult = await self.call("setGroupAttributes", params)
        return answer

    async def deleteGroupAttributes(self, **params: Unpack[DeleteGroupAttributesParams]) -> NoResult:
        """Removes attributes of a group; one unknown key, and none is removed."""
        answer: NoResult = await self.call("deleteGroupAttributes", params)
        return answer

    async def getGroupAttributes(self, **params: Unpack[GetGroupAttributesParams]) -> GetGroupAttributesResult:
        """Reads attributes of a group; keys that are not there are left out."""
        answer: GetGroupAttributesResult = await self.call("getGroupAttributes", params)
        return answer

    async def setGroupCounters(self, **params: Unpack[SetGroupCountersParams]) -> NoResult:
        """Sets counters of a group, and removes those whose value is null; the others stay."""
        answer: NoResult = await self.call("setGroupCounters", params)
        return answer

    async def increaseGroupCounter(self, **params: Unpack[IncreaseGroupCounterParams]) -> IncreaseGroupCounterResult:
        """Raises a counter of a group, which starts at 0 where it is not there."""
        answer: IncreaseGroupCounterResult = await self.call("increaseGroupCounter", params)
        return answer

    async def decreaseGroupCounter(self, **params: Unpack[DecreaseGroupCounterParams]) -> DecreaseGroupCounterResult:
        """Lowers a counter of a group, which starts at 0 where it is not there."""
        answer: DecreaseGroupCounterResult = await self.call("decreaseGroupCounter", params)
        return answer

    async def getGroupCounters(self, **params: Unpack[GetGroupCountersParams]) -> GetGroupCountersResult:
        """Reads counters of a group; keys that are not there are left out."""
        answer: GetGroupCountersResult = await self.call("getGroupCounters", params)
        return answer

    async def getGroupMemberList(self, **params: Unpack[GetGroupMemberListParams]) -> GetGroupMemberListResult:
        """Lists the members of a group: owner, admins, others."""
        answer: GetGroupMemberListResult = await self.call("getGroupMemberList", params)
        return answer

    async def getGroupMembersInfo(self, **params: Unpack[GetGroupMembersInfoParams]) -> GetGroupMembersInfoResult:
        """Tells of up to 50 users what they are in a group; those who are no members are left
        out."""
        answer: GetGroupMembersInfoResult = await self.call("getGroupMembersInfo", params)
        return answer

    async def getGroupOnlineMemberCount(self, **params: Unpack[GetGroupOnlineMemberCountParams]) -> GetGroupOnlineMemberCountResult:
        """Counts the members with at least one signed-in session."""
        answer: GetGroupOnlineMemberCountResult = await self.call("getGroupOnlineMemberCount", params)
        return answer

    async def setGroupMemberInfo(self, **params: Unpack[SetGroupMemberInfoParams]) -> NoResult:
        """Changes name card, customInfo, role or mute of a member, all of what is given or
        nothing."""
        answer: NoResult = await self.call("setGroupMemberInfo", params)
        return answer

    async def muteGroupMember(self, **params: Unpack[MuteGroupMemberParams]) -> MuteGroupMemberResult:
        """Silences members, one or up to 50 by list, for a time; it survives leaving and coming
        back."""
        answer: MuteGroupMemberResult = await self.call("muteGroupMember", params)
        return answer

    async def getGroupMutedMembers(self, **params: Unpack[GetGroupMutedMembersParams]) -> GetGroupMutedMembersResult:
        """Lists the members that are silenced individually."""
        answer: GetGroupMutedMembersResult = await self.call("getGroupMutedMembers", params)
        return answer

    async def getGroupBannedMembers(self, **params: Unpack[GetGroupBannedMembersParams]) -> GetGroupBannedMembersResult:
        """Lists the removed users whose ban has not ended, the soonest end first."""
        answer: GetGroupBannedMembersResult = await self.call("getGroupBannedMembers", params)
        return answer

    async def inviteUserToGroup(self, **params: Unpack[InviteUserToGroupParams]) -> InviteUserToGroupResult:
        """Makes users members, or asks them first where beInviteMode is Auth."""
        answer: InviteUserToGroupResult = await self.call("inviteUserToGroup", params)
        return answer

    async def kickGroupMember(self, **params: Unpack[KickGroupMemberParams]) -> KickGroupMemberResult:
        """Removes members from a group, and keeps them out for a time where banTime says so."""
        answer: KickGroupMemberResult = await self.call("kickGroupMember", params)
        return answer

    async def unbanGroupMember(self, **params: Unpack[UnbanGroupMemberParams]) -> UnbanGroupMemberResult:
        """Ends the bans of users; no event tells of it."""
        answer: UnbanGroupMemberResult = await self.call("unbanGroupMember", params)
        return answer

    async def setGroupMemberRole(self, **params: Unpack[SetGroupMemberRoleParams]) -> SetGroupMemberRoleResult:
        """Makes members admins, ordinary members, or gives a custom role: one, or up to 50 by
        list."""
        answer: SetGroupMemberRoleResult = await self.call("setGroupMemberRole", params)
        return answer

    async def getGroupMemberInviters(self, **params: Unpack[GetGroupMemberInvitersParams]) -> GetGroupMemberInvitersResult:
        """Tells of up to 200 users who brought them into a group."""
        answer: GetGroupMemberInvitersResult = await self.call("getGroupMemberInviters", params)
        return answer

    async def getGroupMemberRoles(self, **params: Unpack[GetGroupMemberRolesParams]) -> GetGroupMemberRolesResult:
        """Tells of up to 100 users which role they have in a group, or NotMember."""
        answer: GetGroupMemberRolesResult = await self.call("getGroupMemberRoles", params)
        return answer

    async def setSelfInfo(self, **params: Unpack[SetSelfInfoParams]) -> NoResult:
        """Changes the caller's own nickName, faceURL and customInfo."""
        answer: NoResult = await self.call("setSelfInfo", params)
        return answer

    async def getUsersInfo(self, **params: Unpack[GetUsersInfoParams]) -> GetUsersInfoResult:
        """Tells the texts of up to 100 users; those whom nobody knows are left out."""
        answer: GetUsersInfoResult = await self.call("getUsersInfo", params)
        return answer

    async def setSelfStatus(self, **params: Unpack[SetSelfStatusParams]) -> NoResult:
        """Says something about the caller's presence; an empty text takes it back."""
        answer: NoResult = await self.call("setSelfStatus", params)
        return answer

    async def getUsersStatus(self, **params: Unpack[GetUsersStatusParams]) -> GetUsersStatusResult:
        """Tells which of up to 100 users are online; those whom nobody knows are left out."""
        answer: GetUsersStatusResult = await self.call("getUsersStatus", params)
        return answer

    async def subscribeUsersStatus(self, **params: Unpack[SubscribeUsersStatusParams]) -> SubscribeUsersStatusResult:
        """Tells the status of up to 100 users, and from now on of its changes by
        onUsersStatusChanged; unknown users may be watched, too."""
        answer: SubscribeUsersStatusResult = await self.call("subscribeUsersStatus", params)
        return answer

    async def unsubscribeUsersStatus(self, **params: Unpack[UnsubscribeUsersStatusParams]) -> NoResult:
        """Tells of changes of these users' statuses no longer."""
        answer: NoResult = await self.call("unsubscribeUsersStatus", params)
        return answer

    async def getGroupApplicationList(self, **params: Unpack[GetGroupApplicationListParams]) -> GetGroupApplicationListResult:
        """Lists the applications that the caller may decide, or has sent, handled ones included,
        newest first."""
        answer: GetGroupApplicationListResult = await self.call("getGroupApplicationList", params)
        return answer

    async def acceptGroupApplication(self, **params: Unpack[AcceptGroupApplicationParams]) -> NoResult:
        """Lets an applicant in, or follows an invitation."""
        answer: NoResult = await self.call("acceptGroupApplication", params)
        return answer

    async def refuseGroupApplication(self, **params: Unpack[RefuseGroupApplicationParams]) -> NoResult:
        """Turns an applicant away, or an invitation down."""
        answer: NoResult = await self.call("refuseGroupApplication", params)
        return answer

    async def setGroupApplicationRead(self, **params: Unpack[SetGroupApplicationReadParams]) -> NoResult:
        """Marks the applications up to an instant as read by the caller."""
        answer: NoResult = await self.call("setGroupApplicationRead", params)
        return answer

    async def sendGroupTextMessage(self, **params: Unpack[SendGroupTextMessageParams]) -> SendGroupTextMessageResult:
        """Sends a text to a group."""
        answer: SendGroupTextMessageResult = await self.call("sendGroupTextMessage", params)
        return answer

    async def sendGroupCustomMessage(self, **params: Unpack[SendGroupCustomMessageParams]) -> SendGroupCustomMessageResult:
        """Sends data of the application's own to a group."""
        answer: SendGroupCustomMessageResult = await self.call("sendGroupCustomMessage", params)
        return answer

    async def sendGroupSignal(self, **params: Unpack[SendGroupSignalParams]) -> NoResult:
        """Tells the members who are online something of the moment, which is kept nowhere."""
        answer: NoResult = await self.call("sendGroupSignal", params)
        return answer

    async def getGroupHistoryMessageList(self, **params: Unpack[GetGroupHistoryMessageListParams]) -> GetGroupHistoryMessageListResult:
        """Reads the messages that a group keeps, newest or oldest first."""
        answer: GetGroupHistoryMessageListResult = await self.call("getGroupHistoryMessageList", params)
        return answer

    async def getGroupMessages(self, **params: Unpack[GetGroupMessagesParams]) -> GetGroupMessagesResult:
        """Reads messages as they are now, in the order of seqList; those that the caller may not
        see are left out."""
        answer: GetGroupMessagesResult = await self.call("getGroupMessages", params)
        return answer

    async def getGroupMessageReplies(self, **params: Unpack[GetGroupMessageRepliesParams]) -> GetGroupMessageRepliesResult:
        """Reads the messages that answer a message and that the caller may see, oldest first;
        recalled ones are left out."""
        answer: GetGroupMessageRepliesResult = await self.call("getGroupMessageReplies", params)
        return answer

    async def syncGroups(self, **params: Unpack[SyncGroupsParams]) -> SyncGroupsResult:
        """Answers the messages of up to 50 groups that came, and those that changed, after a
        position, none missing, or says that this is not possible."""
        answer: SyncGroupsResult = await self.call("syncGroups", params)
        return answer

    async def searchGroupMessages(self, **params: Unpack[SearchGroupMessagesParams]) -> SearchGroupMessagesResult:
        """Finds Text messages with any of up to 5 keywords that the caller may see, if
        `search.messages` is on."""
        answer: SearchGroupMessagesResult = await self.call("searchGroupMessages", params)
        return answer

    async def revokeGroupMessage(self, **params: Unpack[RevokeGroupMessageParams]) -> NoResult:
        """Takes a message back: it keeps its place and loses its content."""
        answer: NoResult = await self.call("revokeGroupMessage", params)
        return answer

    async def modifyGroupMessage(self, **params: Unpack[ModifyGroupMessageParams]) -> ModifyGroupMessageResult:
        """Replaces the text or data of a message, its extension, or both; the same ones change
        nothing."""
        answer: ModifyGroupMessageResult = await self.call("modifyGroupMessage", params)
        return answer

    async def addMessageReaction(self, **params: Unpack[AddMessageReactionParams]) -> NoResult:
        """Adds a reaction of the caller's to a message; twice is once."""
        answer: NoResult = await self.call("addMessageReaction", params)
        return answer

    async def removeMessageReaction(self, **params: Unpack[RemoveMessageReactionParams]) -> NoResult:
        """Removes a reaction of the caller's from a message; one that is not there changes
        nothing."""
        answer: NoResult = await self.call("removeMessageReaction", params)
        return answer

    async def getMessageReactions(self, **params: Unpack[GetMessageReactionsParams]) -> GetMessageReactionsResult:
        """Reads the reactions to messages, the first reaction first; unknown messages are left
        out."""
        answer: GetMessageReactionsResult = await self.call("getMessageReactions", params)
        return answer

    async def pinGroupMessage(self, **params: Unpack[PinGroupMessageParams]) -> NoResult:
        """Pins a message for all who may see it, or unpins it."""
        answer: NoResult = await self.call("pinGroupMessage", params)
        return answer

    async def getPinnedGroupMessageList(self, **params: Unpack[GetPinnedGroupMessageListParams]) -> GetPinnedGroupMessageListResult:
        """Reads the pinned messages that the caller may see, the last pinned first."""
        answer: GetPinnedGroupMessageListResult = await self.call("getPinnedGroupMessageList", params)
        return answer

    async def reportMessage(self, **params: Unpack[ReportMessageParams]) -> ReportMessageResult:
        """Reports a message that the caller may see to the application; once more renews the
        report."""
        answer: ReportMessageResult = await self.call("reportMessage", params)
        return answer

    async def markGroupMessageAsRead(self, **params: Unpack[MarkGroupMessageAsReadParams]) -> NoResult:
        """Notes up to which message the caller has read a group; never goes back."""
        answer: NoResult = await self.call("markGroupMessageAsRead", params)
        return answer

    async def getGroupUnreadCount(self, **params: Unpack[GetGroupUnreadCountParams]) -> GetGroupUnreadCountResult:
        """Counts the messages of groups that the caller has not read."""
        answer: GetGroupUnreadCountResult = await self.call("getGroupUnreadCount", params)
        return answer

    async def sendMessageReadReceipts(self, **params: Unpack[SendMessageReadReceiptsParams]) -> NoResult:
        """Tells the senders of messages that the caller has read them."""
        answer: NoResult = await self.call("sendMessageReadReceipts", params)
        return answer

    async def getMessageReadReceipts(self, **params: Unpack[GetMessageReadReceiptsParams]) -> GetMessageReadReceiptsResult:
        """Tells how many members have read messages of the caller's own."""
        answer: GetMessageReadReceiptsResult = await self.call("getMessageReadReceipts", params)
        return answer

    async def getGroupMessageReadMemberList(self, **params: Unpack[GetGroupMessageReadMemberListParams]) -> GetGroupMessageReadMemberListResult:
        """Lists who has read a message of the caller's own, or who has not."""
        answer: GetGroupMessageReadMemberListResult = await self.call("getGroupMessageReadMemberList", params)
        return answer

    async def setConversation(self, **params: Unpack[SetConversationParams]) -> NoResult:
        """Pins, hides or marks a group in the caller's own list of conversations."""
        answer: NoResult = await self.call("setConversation", params)
        return answer

    async def clearGroupHistory(self, **params: Unpack[ClearGroupHistoryParams]) -> ClearGroupHistoryResult:
        """Makes all messages that a group has by now invisible to the caller, for good; nobody
        else notices."""
        answer: ClearGroupHistoryResult = await self.call("clearGroupHistory", params)
        return answer

    async def getSystemNotificationList(self, **params: Unpack[GetSystemNotificationListParams]) -> GetSystemNotificationListResult:
        """Lists what has happened to the caller in groups, newest first."""
        answer: GetSystemNotificationListResult = await self.call("getSystemNotificationList", params)
        return answer

    async def setSystemNotificationRead(self, **params: Unpack[SetSystemNotificationReadParams]) -> NoResult:
        """Marks a notification and older ones as read by the caller."""
        answer: NoResult = await self.call("setSystemNotificationRead", params)
        return answer


# What a handler can be told of, the client's own first.
EVENT_NAMES = (
    "state",
    "message",
    "sync",
    "ready",
    "renewed",
    "renewalFailed",
    "resumeFailed",
    "status",
    "watchFailed",
    "stored",
    "conversation",
    "storageFailed",
    "event",
    "frame",
    "onMemberEnter",
    "onMemberLeave",
    "onMemberInvited",
    "onMemberKicked",
    "onGroupMemberInfoChanged",
    "onGroupCreated",
    "onGroupDismissed",
    "onGroupRecycled",
    "onGroupInfoChanged",
    "onReceiveJoinApplication",
    "onReceiveGroupInvitation",
    "onApplicationProcessed",
    "onGroupApplicationListChanged",
    "onGrantAdministrator",
    "onRevokeAdministrator",
    "onQuitFromGroup",
    "onReceiveMessageOptChanged",
    "onGroupAttributeChanged",
    "onGroupCounterChanged",
    "onRecvNewMessage",
    "onRecvMessageRevoked",
    "onRecvMessageModified",
    "onRecvMessageReactionsChanged",
    "onGroupMessagePinned",
    "onMessageDropped",
    "onConversationRead",
    "onConversationChanged",
    "onRecvMessageReadReceipts",
    "onGroupSignal",
    "onReceiveRESTCustomData",
    "onSelfInfoUpdated",
    "onUsersStatusChanged",
    "onConnectSuccess",
    "onKickedOffline",
    "onUserSigExpired",
    "onServerDraining",
)


class TypedEvents:
    """Those who are told of events."""

    _emitter: Emitter

    @overload
    def on(self, name: Literal["onMemberEnter"], handler: Callable[[MemberEnterEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onMemberLeave"], handler: Callable[[MemberLeaveEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onMemberInvited"], handler: Callable[[MemberInvitedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onMemberKicked"], handler: Callable[[MemberKickedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupMemberInfoChanged"], handler: Callable[[GroupMemberInfoChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupCreated"], handler: Callable[[GroupCreatedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupDismissed"], handler: Callable[[GroupDismissedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupRecycled"], handler: Callable[[GroupRecycledEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupInfoChanged"], handler: Callable[[GroupInfoChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onReceiveJoinApplication"], handler: Callable[[ReceiveJoinApplicationEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onReceiveGroupInvitation"], handler: Callable[[ReceiveGroupInvitationEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onApplicationProcessed"], handler: Callable[[ApplicationProcessedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupApplicationListChanged"], handler: Callable[[GroupApplicationListChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGrantAdministrator"], handler: Callable[[GrantAdministratorEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRevokeAdministrator"], handler: Callable[[RevokeAdministratorEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onQuitFromGroup"], handler: Callable[[QuitFromGroupEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onReceiveMessageOptChanged"], handler: Callable[[ReceiveMessageOptChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupAttributeChanged"], handler: Callable[[GroupAttributeChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupCounterChanged"], handler: Callable[[GroupCounterChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRecvNewMessage"], handler: Callable[[RecvNewMessageEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRecvMessageRevoked"], handler: Callable[[RecvMessageRevokedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRecvMessageModified"], handler: Callable[[RecvMessageModifiedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRecvMessageReactionsChanged"], handler: Callable[[RecvMessageReactionsChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupMessagePinned"], handler: Callable[[GroupMessagePinnedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onMessageDropped"], handler: Callable[[MessageDroppedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onConversationRead"], handler: Callable[[ConversationReadEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onConversationChanged"], handler: Callable[[ConversationChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onRecvMessageReadReceipts"], handler: Callable[[RecvMessageReadReceiptsEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onGroupSignal"], handler: Callable[[GroupSignalEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onReceiveRESTCustomData"], handler: Callable[[ReceiveRESTCustomDataEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onSelfInfoUpdated"], handler: Callable[[SelfInfoUpdatedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onUsersStatusChanged"], handler: Callable[[UsersStatusChangedEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onConnectSuccess"], handler: Callable[[ConnectSuccessEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onKickedOffline"], handler: Callable[[KickedOfflineEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onUserSigExpired"], handler: Callable[[UserSigExpiredEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["onServerDraining"], handler: Callable[[ServerDrainingEvent], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["state"], handler: Callable[[StateNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["message"], handler: Callable[[Message], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["sync"], handler: Callable[[SyncNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["ready"], handler: Callable[[ReadyNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["renewed"], handler: Callable[[LoginResult], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["renewalFailed"], handler: Callable[[Exception], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["resumeFailed"], handler: Callable[[ThrongError], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["status"], handler: Callable[[StatusNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["watchFailed"], handler: Callable[[WatchFailure], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["stored"], handler: Callable[[StoredNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["conversation"], handler: Callable[[ConversationNews], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["storageFailed"], handler: Callable[[StorageFailure], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["event"], handler: Callable[[str, dict[str, Any]], object]) -> Callable[[], None]: ...

    @overload
    def on(self, name: Literal["frame"], handler: Callable[[Literal["in", "out"], dict[str, Any]], object]) -> Callable[[], None]: ...

    def on(self, name: str, handler: Callable[..., object]) -> Callable[[], None]:
        """Calls `handler(params)` at each event of that name; a handler may be async. `event`
        gets `(name, params)` of each of the server's, those of a later one included, `frame`
        a direction and each frame, tokens included. The answer ends that. Raises ValueError
        where there is no such event."""
        return self._emitter.on(name, handler)
