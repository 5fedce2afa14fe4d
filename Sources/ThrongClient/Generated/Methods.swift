// swift-format-ignore-file
// Generated from the server's declarations: Scripts/generate rewrites it.

/// The methods of the server, each with its parameters and its result.
public enum Methods {}

extension Methods {
  /// Signs in on this connection, or renews the session with a new token.
  public struct Login: ThrongMethod {
    public static let name = "login"

    /// A JWT that names the user in sub and its own end in exp.
    public var token: String
    /// The client's platform: iOS, Android, Windows, Mac, Web or Unknown; absent = Unknown.
    /// Renewals ignore it.
    public var platform: String?
    /// The device, at most 512 bytes of UTF-8: a new session ends the one on the same device.
    /// Renewals ignore it.
    public var deviceID: String?

    /// All members; those that may be absent are nil.
    public init(token: String, platform: String? = nil, deviceID: String? = nil) {
      self.token = token
      self.platform = platform
      self.deviceID = deviceID
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var userID: String
      public var sessionID: String
      public var serverTime: Int
      public var tokenExpiresAt: Int
      public var heartbeat: Int

      /// All members; those that may be absent are nil.
      public init(userID: String, sessionID: String, serverTime: Int, tokenExpiresAt: Int, heartbeat: Int) {
        self.userID = userID
        self.sessionID = sessionID
        self.serverTime = serverTime
        self.tokenExpiresAt = tokenExpiresAt
        self.heartbeat = heartbeat
      }
    }
  }
}

extension Methods {
  /// Ends the session; the server then closes with 1000.
  public struct Logout: ThrongMethod {
    public static let name = "logout"

    /// All members; those that may be absent are nil.
    public init() {}

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Answers with the server's clock.
  public struct Ping: ThrongMethod {
    public static let name = "ping"

    /// All members; those that may be absent are nil.
    public init() {}

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var serverTime: Int

      /// All members; those that may be absent are nil.
      public init(serverTime: Int) {
        self.serverTime = serverTime
      }
    }
  }
}

extension Methods {
  /// Tells the server's name, version, limits, and what each group type allows.
  public struct GetServerInfo: ThrongMethod {
    public static let name = "getServerInfo"

    /// All members; those that may be absent are nil.
    public init() {}

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var name: String
      public var version: String
      public var `protocol`: String
      public var limits: [String: JSONValue]
      public var groupTypes: [[String: JSONValue]]

      /// All members; those that may be absent are nil.
      public init(name: String, version: String, protocol: String, limits: [String: JSONValue], groupTypes: [[String: JSONValue]]) {
        self.name = name
        self.version = version
        self.protocol = `protocol`
        self.limits = limits
        self.groupTypes = groupTypes
      }
    }
  }
}

extension Methods {
  /// Answers the OpenRPC document of this server.
  public struct RPCDiscover: ThrongMethod {
    public static let name = "rpc.discover"

    /// All members; those that may be absent are nil.
    public init() {}

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var openrpc: String
      public var info: [String: JSONValue]
      public var methods: [[String: JSONValue]]
      public var components: [String: JSONValue]

      /// All members; those that may be absent are nil.
      public init(openrpc: String, info: [String: JSONValue], methods: [[String: JSONValue]], components: [String: JSONValue]) {
        self.openrpc = openrpc
        self.info = info
        self.methods = methods
        self.components = components
      }
    }
  }
}

extension Methods {
  /// Makes a group that the caller owns, or the user whom the application names as ownerUserID.
  public struct CreateGroup: ThrongMethod {
    public static let name = "createGroup"

    /// The group's type; the old names are taken too. One of Work, Public, Meeting, AVChatRoom,
    /// BChatRoom.
    public var groupType: GroupType
    /// The group's name, for people. 1 to 30 bytes of UTF-8, no control characters.
    public var groupName: String
    /// The new group's ID, not beginning with @TGS#; absent or empty = the server chooses one. At
    /// most 48 bytes of UTF-8.
    public var groupID: String?
    /// The group's subject, for people. At most 240 bytes of UTF-8.
    public var introduction: String?
    /// An announcement to the members. At most 300 bytes of UTF-8.
    public var notification: String?
    /// The address of the group's picture. At most 100 bytes of UTF-8.
    public var faceURL: String?
    /// The most members that the group may have; 0, or absent for a new group = as many as its type
    /// may. 0 or more.
    public var maxMemberNum: Int?
    /// The application's own texts about the group, by key; an empty text removes its key. At most
    /// 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    public var customInfo: [String: String?]?
    /// The backend's own data: application administrators write it, members read it; empty =
    /// nothing. At most 4096 bytes of UTF-8.
    public var serverCustomInfo: String?
    /// Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid.
    public var joinMode: JoinMode?
    /// The least role that may invite; Any = every member. One of Any, Admin, Nobody.
    public var inviteMode: InviteMode?
    /// Whether an invited user is asked first (Auth). One of None, Auth.
    public var beInviteMode: BeInviteMode?
    /// The least role that may edit name, introduction, notification and faceURL. One of Any,
    /// Admin, Owner.
    public var updateInfoMode: UpdateMode?
    /// The least role that may edit customInfo. One of Any, Admin, Owner.
    public var updateCustomMode: UpdateMode?
    /// Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid.
    public var ownerQuitMode: OwnerQuitMode?
    /// Whether all members hear of changes among them.
    public var memberChangeNotification: Bool?
    /// Whether others find the group by searchGroups.
    public var isSearchable: Bool?
    /// Whether ordinary members may list and read the members.
    public var isMemberVisible: Bool?
    /// The messages that members may read: those since joining, or all. One of Joined, All.
    public var historyVisibility: HistoryVisibility?
    /// How many seconds an ordinary member's messages are apart at least; 0 = as the member likes.
    /// 0 to 86400.
    public var slowMode: Int?
    /// Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One
    /// of Any, Holder.
    public var attributeMode: AttributeMode?
    /// The first members, besides the owner. At most 100 elements.
    public var memberList: [MemberRow]?
    /// A remark that those read who are asked whether they want to be members. At most 512
    /// characters.
    public var inviteMessage: String?
    /// The owner of the group; an application administrator without asUser must give it. 1 to 32
    /// bytes of UTF-8.
    public var ownerUserID: String?

    /// A row of memberList.
    public struct MemberRow: Codable, Hashable, Sendable {
      public var userID: String
      public var role: String?

      /// All members; those that may be absent are nil.
      public init(userID: String, role: String? = nil) {
        self.userID = userID
        self.role = role
      }
    }

    /// All members; those that may be absent are nil.
    public init(groupType: GroupType, groupName: String, groupID: String? = nil, introduction: String? = nil, notification: String? = nil, faceURL: String? = nil, maxMemberNum: Int? = nil, customInfo: [String: String?]? = nil, serverCustomInfo: String? = nil, joinMode: JoinMode? = nil, inviteMode: InviteMode? = nil, beInviteMode: BeInviteMode? = nil, updateInfoMode: UpdateMode? = nil, updateCustomMode: UpdateMode? = nil, ownerQuitMode: OwnerQuitMode? = nil, memberChangeNotification: Bool? = nil, isSearchable: Bool? = nil, isMemberVisible: Bool? = nil, historyVisibility: HistoryVisibility? = nil, slowMode: Int? = nil, attributeMode: AttributeMode? = nil, memberList: [MemberRow]? = nil, inviteMessage: String? = nil, ownerUserID: String? = nil) {
      self.groupType = groupType
      self.groupName = groupName
      self.groupID = groupID
      self.introduction = introduction
      self.notification = notification
      self.faceURL = faceURL
      self.maxMemberNum = maxMemberNum
      self.customInfo = customInfo
      self.serverCustomInfo = serverCustomInfo
      self.joinMode = joinMode
      self.inviteMode = inviteMode
      self.beInviteMode = beInviteMode
      self.updateInfoMode = updateInfoMode
      self.updateCustomMode = updateCustomMode
      self.ownerQuitMode = ownerQuitMode
      self.memberChangeNotification = memberChangeNotification
      self.isSearchable = isSearchable
      self.isMemberVisible = isMemberVisible
      self.historyVisibility = historyVisibility
      self.slowMode = slowMode
      self.attributeMode = attributeMode
      self.memberList = memberList
      self.inviteMessage = inviteMessage
      self.ownerUserID = ownerUserID
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var groupID: String
      public var groupType: GroupType
      public var memberList: [MemberRow]

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(groupID: String, groupType: GroupType, memberList: [MemberRow]) {
        self.groupID = groupID
        self.groupType = groupType
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Joins a group, or asks its managers to be let in where joinMode is Auth.
  public struct JoinGroup: ThrongMethod {
    public static let name = "joinGroup"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// A word to those who decide, where joinMode is Auth. At most 512 characters.
    public var message: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, message: String? = nil) {
      self.groupID = groupID
      self.message = message
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var status: JoinStatus
      public var lastSeq: Int?
      public var epoch: String?

      /// All members; those that may be absent are nil.
      public init(status: JoinStatus, lastSeq: Int? = nil, epoch: String? = nil) {
        self.status = status
        self.lastSeq = lastSeq
        self.epoch = epoch
      }
    }
  }
}

extension Methods {
  /// Leaves a group.
  public struct QuitGroup: ThrongMethod {
    public static let name = "quitGroup"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String

    /// All members; those that may be absent are nil.
    public init(groupID: String) {
      self.groupID = groupID
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Disbands a group.
  public struct DismissGroup: ThrongMethod {
    public static let name = "dismissGroup"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String

    /// All members; those that may be absent are nil.
    public init(groupID: String) {
      self.groupID = groupID
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Lists the groups that the caller is a member of.
  public struct GetJoinedGroupList: ThrongMethod {
    public static let name = "getJoinedGroupList"

    /// Lists groups of this type only; absent = of every type that is listed. One of Work, Public,
    /// Meeting, AVChatRoom, BChatRoom.
    public var groupType: GroupType?
    /// Lists what has changed or was left since then, in milliseconds since 1970; absent = all. 0
    /// or more.
    public var updatedSince: Int?
    /// The most groups of the page, and the most that it names as left; absent = 50. 1 to 200.
    public var count: Int?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?

    /// All members; those that may be absent are nil.
    public init(groupType: GroupType? = nil, updatedSince: Int? = nil, count: Int? = nil, nextSeq: Int? = nil) {
      self.groupType = groupType
      self.updatedSince = updatedSince
      self.count = count
      self.nextSeq = nextSeq
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var groupList: [GroupInfo]
      public var leftGroupIDList: [String]
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(groupList: [GroupInfo], leftGroupIDList: [String], nextSeq: Int) {
        self.groupList = groupList
        self.leftGroupIDList = leftGroupIDList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Tells what the caller may know of up to 50 groups.
  public struct GetGroupsInfo: ThrongMethod {
    public static let name = "getGroupsInfo"

    /// The groups; each has a row in the answer. 1 to 50 elements.
    public var groupIDList: [String]

    /// All members; those that may be absent are nil.
    public init(groupIDList: [String]) {
      self.groupIDList = groupIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var resultList: [ResultRow]

      /// A row of resultList.
      public struct ResultRow: Codable, Hashable, Sendable {
        public var groupID: String
        public var code: Int
        public var message: String?
        public var info: GroupInfo?

        /// All members; those that may be absent are nil.
        public init(groupID: String, code: Int, message: String? = nil, info: GroupInfo? = nil) {
          self.groupID = groupID
          self.code = code
          self.message = message
          self.info = info
        }
      }

      /// All members; those that may be absent are nil.
      public init(resultList: [ResultRow]) {
        self.resultList = resultList
      }
    }
  }
}

extension Methods {
  /// Changes a group's info, all of what is given or nothing.
  public struct SetGroupInfo: ThrongMethod {
    public static let name = "setGroupInfo"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The group's new name. 1 to 30 bytes of UTF-8, no control characters.
    public var groupName: String?
    /// The group's subject, for people. At most 240 bytes of UTF-8.
    public var introduction: String?
    /// An announcement to the members. At most 300 bytes of UTF-8.
    public var notification: String?
    /// The address of the group's picture. At most 100 bytes of UTF-8.
    public var faceURL: String?
    /// The most members that the group may have; 0, or absent for a new group = as many as its type
    /// may. 0 or more.
    public var maxMemberNum: Int?
    /// The application's own texts about the group, by key; an empty text removes its key. At most
    /// 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    public var customInfo: [String: String?]?
    /// The backend's own data: application administrators write it, members read it; empty =
    /// nothing. At most 4096 bytes of UTF-8.
    public var serverCustomInfo: String?
    /// Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid.
    public var joinMode: JoinMode?
    /// The least role that may invite; Any = every member. One of Any, Admin, Nobody.
    public var inviteMode: InviteMode?
    /// Whether an invited user is asked first (Auth). One of None, Auth.
    public var beInviteMode: BeInviteMode?
    /// The least role that may edit name, introduction, notification and faceURL. One of Any,
    /// Admin, Owner.
    public var updateInfoMode: UpdateMode?
    /// The least role that may edit customInfo. One of Any, Admin, Owner.
    public var updateCustomMode: UpdateMode?
    /// Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid.
    public var ownerQuitMode: OwnerQuitMode?
    /// Whether all members hear of changes among them.
    public var memberChangeNotification: Bool?
    /// Whether others find the group by searchGroups.
    public var isSearchable: Bool?
    /// Whether ordinary members may list and read the members.
    public var isMemberVisible: Bool?
    /// The messages that members may read: those since joining, or all. One of Joined, All.
    public var historyVisibility: HistoryVisibility?
    /// How many seconds an ordinary member's messages are apart at least; 0 = as the member likes.
    /// 0 to 86400.
    public var slowMode: Int?
    /// Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One
    /// of Any, Holder.
    public var attributeMode: AttributeMode?
    /// true silences ordinary members without end, as muteGroup does; false lets all speak.
    public var allMuted: Bool?

    /// All members; those that may be absent are nil.
    public init(groupID: String, groupName: String? = nil, introduction: String? = nil, notification: String? = nil, faceURL: String? = nil, maxMemberNum: Int? = nil, customInfo: [String: String?]? = nil, serverCustomInfo: String? = nil, joinMode: JoinMode? = nil, inviteMode: InviteMode? = nil, beInviteMode: BeInviteMode? = nil, updateInfoMode: UpdateMode? = nil, updateCustomMode: UpdateMode? = nil, ownerQuitMode: OwnerQuitMode? = nil, memberChangeNotification: Bool? = nil, isSearchable: Bool? = nil, isMemberVisible: Bool? = nil, historyVisibility: HistoryVisibility? = nil, slowMode: Int? = nil, attributeMode: AttributeMode? = nil, allMuted: Bool? = nil) {
      self.groupID = groupID
      self.groupName = groupName
      self.introduction = introduction
      self.notification = notification
      self.faceURL = faceURL
      self.maxMemberNum = maxMemberNum
      self.customInfo = customInfo
      self.serverCustomInfo = serverCustomInfo
      self.joinMode = joinMode
      self.inviteMode = inviteMode
      self.beInviteMode = beInviteMode
      self.updateInfoMode = updateInfoMode
      self.updateCustomMode = updateCustomMode
      self.ownerQuitMode = ownerQuitMode
      self.memberChangeNotification = memberChangeNotification
      self.isSearchable = isSearchable
      self.isMemberVisible = isMemberVisible
      self.historyVisibility = historyVisibility
      self.slowMode = slowMode
      self.attributeMode = attributeMode
      self.allMuted = allMuted
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Finds groups whose texts hold any of up to 5 keywords: joined ones, and others that are
  /// searchable.
  public struct SearchGroups: ThrongMethod {
    public static let name = "searchGroups"

    /// The texts to look for; a group is found by any of them. 1 to 5 elements, each 1 to 512 bytes
    /// of UTF-8.
    public var keywordList: [String]
    /// Where to look; absent = groupID and groupName. At most 5 elements, each one of groupID,
    /// groupName, memberUserID, memberNameCard, memberNickName.
    public var matchFields: [SearchField]?
    /// Whether upper and lower case are the same; absent = true.
    public var ignoreCase: Bool?
    /// true finds only groups of which the caller is a member.
    public var joinedOnly: Bool?
    /// The most groups of the page; absent = 20. 1 to 50.
    public var count: Int?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?

    /// All members; those that may be absent are nil.
    public init(keywordList: [String], matchFields: [SearchField]? = nil, ignoreCase: Bool? = nil, joinedOnly: Bool? = nil, count: Int? = nil, nextSeq: Int? = nil) {
      self.keywordList = keywordList
      self.matchFields = matchFields
      self.ignoreCase = ignoreCase
      self.joinedOnly = joinedOnly
      self.count = count
      self.nextSeq = nextSeq
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var groupList: [GroupInfo]
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(groupList: [GroupInfo], nextSeq: Int) {
        self.groupList = groupList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Makes another member the owner; the old one becomes Member, or leaves.
  public struct TransferGroupOwner: ThrongMethod {
    public static let name = "transferGroupOwner"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The member who becomes the owner. 1 to 32 bytes of UTF-8.
    public var userID: String
    /// true = the old owner leaves the group; absent = false.
    public var quit: Bool?

    /// All members; those that may be absent are nil.
    public init(groupID: String, userID: String, quit: Bool? = nil) {
      self.groupID = groupID
      self.userID = userID
      self.quit = quit
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Silences a group or some of its roles, for a time or without end; mode None lets all speak.
  public struct MuteGroup: ThrongMethod {
    public static let name = "muteGroup"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The silenced: nobody, ordinary members, everybody, or the roles that are named. One of None,
    /// Ordinary, All, Custom.
    public var mode: MuteMode
    /// The roles that are silenced, for mode Custom only. At most 50 elements, each one of Admin,
    /// Member, or 100 to 2147483647.
    public var roles: [String]?
    /// How long, in seconds; 0 or absent = without end. 0 to 4294967295.
    public var duration: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, mode: MuteMode, roles: [String]? = nil, duration: Int? = nil) {
      self.groupID = groupID
      self.mode = mode
      self.roles = roles
      self.duration = duration
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var muteUntil: Int?

      /// All members; those that may be absent are nil.
      public init(muteUntil: Int? = nil) {
        self.muteUntil = muteUntil
      }
    }
  }
}

extension Methods {
  /// Chooses which messages of a group the caller receives.
  public struct SetGroupReceiveMessageOpt: ThrongMethod {
    public static let name = "setGroupReceiveMessageOpt"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The messages that the caller receives from now on. One of Receive, NotReceive,
    /// ReceiveNotNotify, ReceiveFromManagers, NotifyFromManagers.
    public var opt: ReceiveOption

    /// All members; those that may be absent are nil.
    public init(groupID: String, opt: ReceiveOption) {
      self.groupID = groupID
      self.opt = opt
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Replaces all attributes of a group.
  public struct InitGroupAttributes: ThrongMethod {
    public static let name = "initGroupAttributes"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The attributes that take the place of all there are. At most 16 members, keys 1 to 32 bytes,
    /// values at most 4096 bytes of UTF-8.
    public var attributes: [String: String]

    /// All members; those that may be absent are nil.
    public init(groupID: String, attributes: [String: String]) {
      self.groupID = groupID
      self.attributes = attributes
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Sets some attributes of a group and leaves the others.
  public struct SetGroupAttributes: ThrongMethod {
    public static let name = "setGroupAttributes"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The attributes that are set; the others stay as they are. At most 16 members, keys 1 to 32
    /// bytes, values at most 4096 bytes of UTF-8.
    public var attributes: [String: String]
    /// The values that these keys have to have, null = the key is not there: else 10058, and
    /// nothing is set. At most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8,
    /// or null.
    public var expect: [String: String?]?
    /// true = the keys of this call that the caller holds go when the caller leaves the group;
    /// absent = false.
    public var isDeleteAfterHolderLeft: Bool?
    /// true = the caller becomes the holder of the keys of this call; absent = false.
    public var isTakeOver: Bool?

    /// All members; those that may be absent are nil.
    public init(groupID: String, attributes: [String: String], expect: [String: String?]? = nil, isDeleteAfterHolderLeft: Bool? = nil, isTakeOver: Bool? = nil) {
      self.groupID = groupID
      self.attributes = attributes
      self.expect = expect
      self.isDeleteAfterHolderLeft = isDeleteAfterHolderLeft
      self.isTakeOver = isTakeOver
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Removes attributes of a group; one unknown key, and none is removed.
  public struct DeleteGroupAttributes: ThrongMethod {
    public static let name = "deleteGroupAttributes"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The keys that are removed; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8.
    public var keys: [String]?

    /// All members; those that may be absent are nil.
    public init(groupID: String, keys: [String]? = nil) {
      self.groupID = groupID
      self.keys = keys
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Reads attributes of a group; keys that are not there are left out.
  public struct GetGroupAttributes: ThrongMethod {
    public static let name = "getGroupAttributes"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The keys that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8.
    public var keys: [String]?
    /// true = holders names the holder of each key that has one; absent = false.
    public var withHolders: Bool?

    /// All members; those that may be absent are nil.
    public init(groupID: String, keys: [String]? = nil, withHolders: Bool? = nil) {
      self.groupID = groupID
      self.keys = keys
      self.withHolders = withHolders
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var attributes: [String: String]
      public var holders: [String: String]?

      /// All members; those that may be absent are nil.
      public init(attributes: [String: String], holders: [String: String]? = nil) {
        self.attributes = attributes
        self.holders = holders
      }
    }
  }
}

extension Methods {
  /// Sets counters of a group, and removes those whose value is null; the others stay.
  public struct SetGroupCounters: ThrongMethod {
    public static let name = "setGroupCounters"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The counters and their new values; null removes a counter. 1 to 20 members, keys
    /// [A-Za-z0-9_]{1,32}, values integers within ±2⁵³; null removes a key.
    public var counters: [String: Int?]

    /// All members; those that may be absent are nil.
    public init(groupID: String, counters: [String: Int?]) {
      self.groupID = groupID
      self.counters = counters
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Raises a counter of a group, which starts at 0 where it is not there.
  public struct IncreaseGroupCounter: ThrongMethod {
    public static let name = "increaseGroupCounter"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The counter that is raised. 1 to 32 bytes of UTF-8, letters, digits and _ alone.
    public var key: String
    /// How many are added. 1 to 2147483647.
    public var value: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, key: String, value: Int) {
      self.groupID = groupID
      self.key = key
      self.value = value
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var value: Int

      /// All members; those that may be absent are nil.
      public init(value: Int) {
        self.value = value
      }
    }
  }
}

extension Methods {
  /// Lowers a counter of a group, which starts at 0 where it is not there.
  public struct DecreaseGroupCounter: ThrongMethod {
    public static let name = "decreaseGroupCounter"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The counter that is lowered. 1 to 32 bytes of UTF-8, letters, digits and _ alone.
    public var key: String
    /// How many are taken away. 1 to 2147483647.
    public var value: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, key: String, value: Int) {
      self.groupID = groupID
      self.key = key
      self.value = value
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var value: Int

      /// All members; those that may be absent are nil.
      public init(value: Int) {
        self.value = value
      }
    }
  }
}

extension Methods {
  /// Reads counters of a group; keys that are not there are left out.
  public struct GetGroupCounters: ThrongMethod {
    public static let name = "getGroupCounters"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The counters that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8,
    /// letters, digits and _ alone.
    public var keys: [String]?

    /// All members; those that may be absent are nil.
    public init(groupID: String, keys: [String]? = nil) {
      self.groupID = groupID
      self.keys = keys
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var counters: [String: Int?]

      /// All members; those that may be absent are nil.
      public init(counters: [String: Int?]) {
        self.counters = counters
      }
    }
  }
}

extension Methods {
  /// Lists the members of a group: owner, admins, others.
  public struct GetGroupMemberList: ThrongMethod {
    public static let name = "getGroupMemberList"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// Lists these members only; Common = neither owner nor admin. Absent = All. One of All, Owner,
    /// Admin, Common.
    public var filter: MemberFilter?
    /// Lists who joined, or changed in role, nameCard, customInfo or mute, since then, in
    /// milliseconds since 1970; absent = all. 0 or more.
    public var updatedSince: Int?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most members of the page; absent = 50. 1 to 200.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, filter: MemberFilter? = nil, updatedSince: Int? = nil, nextSeq: Int? = nil, count: Int? = nil) {
      self.groupID = groupID
      self.filter = filter
      self.updatedSince = updatedSince
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberInfo]
      public var nextSeq: Int
      public var leftUserIDList: [String]?
      public var isComplete: Bool?

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberInfo], nextSeq: Int, leftUserIDList: [String]? = nil, isComplete: Bool? = nil) {
        self.memberList = memberList
        self.nextSeq = nextSeq
        self.leftUserIDList = leftUserIDList
        self.isComplete = isComplete
      }
    }
  }
}

extension Methods {
  /// Tells of up to 50 users what they are in a group; those who are no members are left out.
  public struct GetGroupMembersInfo: ThrongMethod {
    public static let name = "getGroupMembersInfo"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The users; those who are no members are left out of the answer. 1 to 50 elements, each 1 to
    /// 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String]) {
      self.groupID = groupID
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberInfo]

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberInfo]) {
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Counts the members with at least one signed-in session.
  public struct GetGroupOnlineMemberCount: ThrongMethod {
    public static let name = "getGroupOnlineMemberCount"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String

    /// All members; those that may be absent are nil.
    public init(groupID: String) {
      self.groupID = groupID
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var count: Int

      /// All members; those that may be absent are nil.
      public init(count: Int) {
        self.count = count
      }
    }
  }
}

extension Methods {
  /// Changes name card, customInfo, role or mute of a member, all of what is given or nothing.
  public struct SetGroupMemberInfo: ThrongMethod {
    public static let name = "setGroupMemberInfo"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The member whose info changes, or the caller. 1 to 32 bytes of UTF-8.
    public var userID: String
    /// The member's name in this group; empty = none. At most 50 bytes of UTF-8, no control
    /// characters.
    public var nameCard: String?
    /// The application's own texts about the member, by key; an empty text removes its key. At most
    /// 5 members, keys [A-Za-z0-9_]{1,16}, values at most 64 bytes of UTF-8; null removes a key.
    public var customInfo: [String: String?]?
    /// The member's new role. One of Admin, Member, or 100 to 2147483647.
    public var role: String?
    /// When the member may speak again, in milliseconds since 1970; 0 = at once. 0 or more.
    public var muteUntil: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, userID: String, nameCard: String? = nil, customInfo: [String: String?]? = nil, role: String? = nil, muteUntil: Int? = nil) {
      self.groupID = groupID
      self.userID = userID
      self.nameCard = nameCard
      self.customInfo = customInfo
      self.role = role
      self.muteUntil = muteUntil
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Silences members, one or up to 50 by list, for a time; it survives leaving and coming back.
  public struct MuteGroupMember: ThrongMethod {
    public static let name = "muteGroupMember"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The member who is silenced. 1 to 32 bytes of UTF-8.
    public var userID: String?
    /// The members who are silenced: this or userID. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]?
    /// How long, in seconds; 0 = no longer. A mute of the group holds besides. 0 to 4294967295.
    public var muteTime: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, userID: String? = nil, userIDList: [String]? = nil, muteTime: Int) {
      self.groupID = groupID
      self.userID = userID
      self.userIDList = userIDList
      self.muteTime = muteTime
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]?
      public var muteUntil: Int

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow]? = nil, muteUntil: Int) {
        self.memberList = memberList
        self.muteUntil = muteUntil
      }
    }
  }
}

extension Methods {
  /// Lists the members that are silenced individually.
  public struct GetGroupMutedMembers: ThrongMethod {
    public static let name = "getGroupMutedMembers"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most members of the page; absent = 50. 1 to 50.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, nextSeq: Int? = nil, count: Int? = nil) {
      self.groupID = groupID
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberInfo]
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberInfo], nextSeq: Int) {
        self.memberList = memberList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Lists the removed users whose ban has not ended, the soonest end first.
  public struct GetGroupBannedMembers: ThrongMethod {
    public static let name = "getGroupBannedMembers"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most bans of the page; absent = 50. 1 to 50.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, nextSeq: Int? = nil, count: Int? = nil) {
      self.groupID = groupID
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]
      public var nextSeq: Int

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var bannedUntil: Int
        public var reason: String

        /// All members; those that may be absent are nil.
        public init(userID: String, bannedUntil: Int, reason: String) {
          self.userID = userID
          self.bannedUntil = bannedUntil
          self.reason = reason
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow], nextSeq: Int) {
        self.memberList = memberList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Makes users members, or asks them first where beInviteMode is Auth.
  public struct InviteUserToGroup: ThrongMethod {
    public static let name = "inviteUserToGroup"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The invited users. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]
    /// A word to those who are asked. At most 512 characters.
    public var message: String?
    /// The application's own data beside the invitation. At most 512 characters.
    public var attach: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String], message: String? = nil, attach: String? = nil) {
      self.groupID = groupID
      self.userIDList = userIDList
      self.message = message
      self.attach = attach
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow]) {
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Removes members from a group, and keeps them out for a time where banTime says so.
  public struct KickGroupMember: ThrongMethod {
    public static let name = "kickGroupMember"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The members who are removed. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]
    /// The reason, which all members are told. At most 512 characters.
    public var reason: String?
    /// How long they are kept out, in seconds; 0 or absent = not at all. 0 to 4294967295.
    public var banTime: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String], reason: String? = nil, banTime: Int? = nil) {
      self.groupID = groupID
      self.userIDList = userIDList
      self.reason = reason
      self.banTime = banTime
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow]) {
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Ends the bans of users; no event tells of it.
  public struct UnbanGroupMember: ThrongMethod {
    public static let name = "unbanGroupMember"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The users whose bans end. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String]) {
      self.groupID = groupID
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow]) {
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Makes members admins, ordinary members, or gives a custom role: one, or up to 50 by list.
  public struct SetGroupMemberRole: ThrongMethod {
    public static let name = "setGroupMemberRole"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The member whose role changes. 1 to 32 bytes of UTF-8.
    public var userID: String?
    /// The members whose roles change: this or userID. 1 to 50 elements, each 1 to 32 bytes of
    /// UTF-8.
    public var userIDList: [String]?
    /// The new role. One of Admin, Member, or 100 to 2147483647.
    public var role: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, userID: String? = nil, userIDList: [String]? = nil, role: String) {
      self.groupID = groupID
      self.userID = userID
      self.userIDList = userIDList
      self.role = role
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberRow]?

      /// A row of memberList.
      public struct MemberRow: Codable, Hashable, Sendable {
        public var userID: String
        public var result: MemberOutcome

        /// All members; those that may be absent are nil.
        public init(userID: String, result: MemberOutcome) {
          self.userID = userID
          self.result = result
        }
      }

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberRow]? = nil) {
        self.memberList = memberList
      }
    }
  }
}

extension Methods {
  /// Tells of up to 200 users who brought them into a group.
  public struct GetGroupMemberInviters: ThrongMethod {
    public static let name = "getGroupMemberInviters"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The users; each has a row in the answer. 1 to 200 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String]) {
      self.groupID = groupID
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var inviterList: [InviterRow]

      /// A row of inviterList.
      public struct InviterRow: Codable, Hashable, Sendable {
        public var userID: String
        public var inviter: String?

        /// All members; those that may be absent are nil.
        public init(userID: String, inviter: String? = nil) {
          self.userID = userID
          self.inviter = inviter
        }
      }

      /// All members; those that may be absent are nil.
      public init(inviterList: [InviterRow]) {
        self.inviterList = inviterList
      }
    }
  }
}

extension Methods {
  /// Tells of up to 100 users which role they have in a group, or NotMember.
  public struct GetGroupMemberRoles: ThrongMethod {
    public static let name = "getGroupMemberRoles"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The users; each has a row in the answer. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(groupID: String, userIDList: [String]) {
      self.groupID = groupID
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var roleList: [RoleRow]

      /// A row of roleList.
      public struct RoleRow: Codable, Hashable, Sendable {
        public var userID: String
        public var role: String

        /// All members; those that may be absent are nil.
        public init(userID: String, role: String) {
          self.userID = userID
          self.role = role
        }
      }

      /// All members; those that may be absent are nil.
      public init(roleList: [RoleRow]) {
        self.roleList = roleList
      }
    }
  }
}

extension Methods {
  /// Changes the caller's own nickName, faceURL and customInfo.
  public struct SetSelfInfo: ThrongMethod {
    public static let name = "setSelfInfo"

    /// The user's name, for people. At most 100 bytes of UTF-8, no control characters.
    public var nickName: String?
    /// The address of the user's picture. At most 500 bytes of UTF-8.
    public var faceURL: String?
    /// The application's own texts about the user, by key; an empty text removes its key. At most
    /// 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key.
    public var customInfo: [String: String?]?

    /// All members; those that may be absent are nil.
    public init(nickName: String? = nil, faceURL: String? = nil, customInfo: [String: String?]? = nil) {
      self.nickName = nickName
      self.faceURL = faceURL
      self.customInfo = customInfo
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Tells the texts of up to 100 users; those whom nobody knows are left out.
  public struct GetUsersInfo: ThrongMethod {
    public static let name = "getUsersInfo"

    /// The users whose texts are asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(userIDList: [String]) {
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var userList: [UserInfo]

      /// All members; those that may be absent are nil.
      public init(userList: [UserInfo]) {
        self.userList = userList
      }
    }
  }
}

extension Methods {
  /// Says something about the caller's presence; an empty text takes it back.
  public struct SetSelfStatus: ThrongMethod {
    public static let name = "setSelfStatus"

    /// The user's own words about being there; empty = none. At most 100 bytes of UTF-8, no control
    /// characters.
    public var customStatus: String

    /// All members; those that may be absent are nil.
    public init(customStatus: String) {
      self.customStatus = customStatus
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Tells which of up to 100 users are online; those whom nobody knows are left out.
  public struct GetUsersStatus: ThrongMethod {
    public static let name = "getUsersStatus"

    /// The users whose status is asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(userIDList: [String]) {
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var userList: [UserStatusInfo]

      /// All members; those that may be absent are nil.
      public init(userList: [UserStatusInfo]) {
        self.userList = userList
      }
    }
  }
}

extension Methods {
  /// Tells the status of up to 100 users, and from now on of its changes by onUsersStatusChanged;
  /// unknown users may be watched, too.
  public struct SubscribeUsersStatus: ThrongMethod {
    public static let name = "subscribeUsersStatus"

    /// The users whose status is watched from now on. 1 to 100 elements, each 1 to 32 bytes of
    /// UTF-8.
    public var userIDList: [String]

    /// All members; those that may be absent are nil.
    public init(userIDList: [String]) {
      self.userIDList = userIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var userList: [UserStatusInfo]

      /// All members; those that may be absent are nil.
      public init(userList: [UserStatusInfo]) {
        self.userList = userList
      }
    }
  }
}

extension Methods {
  /// Tells of changes of these users' statuses no longer.
  public struct UnsubscribeUsersStatus: ThrongMethod {
    public static let name = "unsubscribeUsersStatus"

    /// The users who are watched no longer; absent or empty = all. At most 100 elements, each 1 to
    /// 32 bytes of UTF-8.
    public var userIDList: [String]?

    /// All members; those that may be absent are nil.
    public init(userIDList: [String]? = nil) {
      self.userIDList = userIDList
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Lists the applications that the caller may decide, or has sent, handled ones included, newest
  /// first.
  public struct GetGroupApplicationList: ThrongMethod {
    public static let name = "getGroupApplicationList"

    /// Received: those that the caller may decide; Sent: those that the caller made. Absent =
    /// Received. One of Received, Sent.
    public var box: ApplicationBox?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most applications of the page; absent = 50. 1 to 50.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(box: ApplicationBox? = nil, nextSeq: Int? = nil, count: Int? = nil) {
      self.box = box
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var applicationList: [GroupApplication]
      public var unreadCount: Int
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(applicationList: [GroupApplication], unreadCount: Int, nextSeq: Int) {
        self.applicationList = applicationList
        self.unreadCount = unreadCount
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Lets an applicant in, or follows an invitation.
  public struct AcceptGroupApplication: ThrongMethod {
    public static let name = "acceptGroupApplication"

    /// The application or invitation that is decided.
    public var applicationID: String
    /// A word to whoever asked. At most 512 characters.
    public var reason: String?

    /// All members; those that may be absent are nil.
    public init(applicationID: String, reason: String? = nil) {
      self.applicationID = applicationID
      self.reason = reason
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Turns an applicant away, or an invitation down.
  public struct RefuseGroupApplication: ThrongMethod {
    public static let name = "refuseGroupApplication"

    /// The application or invitation that is decided.
    public var applicationID: String
    /// A word to whoever asked. At most 512 characters.
    public var reason: String?

    /// All members; those that may be absent are nil.
    public init(applicationID: String, reason: String? = nil) {
      self.applicationID = applicationID
      self.reason = reason
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Marks the applications up to an instant as read by the caller.
  public struct SetGroupApplicationRead: ThrongMethod {
    public static let name = "setGroupApplicationRead"

    /// The instant up to which applications are read, in milliseconds since 1970; absent = now. 0
    /// or more.
    public var timestamp: Int?

    /// All members; those that may be absent are nil.
    public init(timestamp: Int? = nil) {
      self.timestamp = timestamp
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Sends a text to a group.
  public struct SendGroupTextMessage: ThrongMethod {
    public static let name = "sendGroupTextMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The text that is sent. 1 to 12288 bytes of UTF-8.
    public var text: String
    /// Which messages a group over its rate keeps and sends first; absent = Normal. One of High,
    /// Normal, Low, Lowest.
    public var priority: MessagePriority?
    /// The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64
    /// bytes of UTF-8.
    public var clientMsgID: String?
    /// The userIDs that the message mentions, or @all, which only managers may use. At most 30
    /// elements.
    public var atUserIDList: [String]?
    /// true = only members who are online get it, and it is not stored; absent = false.
    public var onlineUserOnly: Bool?
    /// true = the sender learns who has read it, in a Work or Public group; absent = false.
    public var needReadReceipt: Bool?
    /// Data of the application's own beside the content; absent or empty = none. At most 4096 bytes
    /// of UTF-8.
    public var `extension`: String?
    /// The seq of the message that this one answers; absent = it is no reply. 1 or more.
    public var replyTo: Int?
    /// true = it does not count as unread, where messages are stored; absent = false.
    public var isExcludedFromUnreadCount: Bool?
    /// true = it does not become the group's lastMessage, where messages are stored; absent =
    /// false.
    public var isExcludedFromLastMessage: Bool?
    /// The only members who see the message, besides the sender, in a Work, Public or Meeting
    /// group; absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    public var toUserIDList: [String]?
    /// When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for;
    /// absent = it was not. 0 or more.
    public var firstSentAt: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, text: String, priority: MessagePriority? = nil, clientMsgID: String? = nil, atUserIDList: [String]? = nil, onlineUserOnly: Bool? = nil, needReadReceipt: Bool? = nil, extension: String? = nil, replyTo: Int? = nil, isExcludedFromUnreadCount: Bool? = nil, isExcludedFromLastMessage: Bool? = nil, toUserIDList: [String]? = nil, firstSentAt: Int? = nil) {
      self.groupID = groupID
      self.text = text
      self.priority = priority
      self.clientMsgID = clientMsgID
      self.atUserIDList = atUserIDList
      self.onlineUserOnly = onlineUserOnly
      self.needReadReceipt = needReadReceipt
      self.extension = `extension`
      self.replyTo = replyTo
      self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
      self.isExcludedFromLastMessage = isExcludedFromLastMessage
      self.toUserIDList = toUserIDList
      self.firstSentAt = firstSentAt
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var msgID: String
      public var seq: Int?
      public var timestamp: Int
      public var status: SendStatus

      /// All members; those that may be absent are nil.
      public init(msgID: String, seq: Int? = nil, timestamp: Int, status: SendStatus) {
        self.msgID = msgID
        self.seq = seq
        self.timestamp = timestamp
        self.status = status
      }
    }
  }
}

extension Methods {
  /// Sends data of the application's own to a group.
  public struct SendGroupCustomMessage: ThrongMethod {
    public static let name = "sendGroupCustomMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The data that is sent, in any form of the application's. 1 to 12288 bytes of UTF-8.
    public var data: String
    /// Which messages a group over its rate keeps and sends first; absent = Normal. One of High,
    /// Normal, Low, Lowest.
    public var priority: MessagePriority?
    /// The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64
    /// bytes of UTF-8.
    public var clientMsgID: String?
    /// The userIDs that the message mentions, or @all, which only managers may use. At most 30
    /// elements.
    public var atUserIDList: [String]?
    /// true = only members who are online get it, and it is not stored; absent = false.
    public var onlineUserOnly: Bool?
    /// true = the sender learns who has read it, in a Work or Public group; absent = false.
    public var needReadReceipt: Bool?
    /// Data of the application's own beside the content; absent or empty = none. At most 4096 bytes
    /// of UTF-8.
    public var `extension`: String?
    /// The seq of the message that this one answers; absent = it is no reply. 1 or more.
    public var replyTo: Int?
    /// true = it does not count as unread, where messages are stored; absent = false.
    public var isExcludedFromUnreadCount: Bool?
    /// true = it does not become the group's lastMessage, where messages are stored; absent =
    /// false.
    public var isExcludedFromLastMessage: Bool?
    /// The only members who see the message, besides the sender, in a Work, Public or Meeting
    /// group; absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8.
    public var toUserIDList: [String]?
    /// When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for;
    /// absent = it was not. 0 or more.
    public var firstSentAt: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, data: String, priority: MessagePriority? = nil, clientMsgID: String? = nil, atUserIDList: [String]? = nil, onlineUserOnly: Bool? = nil, needReadReceipt: Bool? = nil, extension: String? = nil, replyTo: Int? = nil, isExcludedFromUnreadCount: Bool? = nil, isExcludedFromLastMessage: Bool? = nil, toUserIDList: [String]? = nil, firstSentAt: Int? = nil) {
      self.groupID = groupID
      self.data = data
      self.priority = priority
      self.clientMsgID = clientMsgID
      self.atUserIDList = atUserIDList
      self.onlineUserOnly = onlineUserOnly
      self.needReadReceipt = needReadReceipt
      self.extension = `extension`
      self.replyTo = replyTo
      self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
      self.isExcludedFromLastMessage = isExcludedFromLastMessage
      self.toUserIDList = toUserIDList
      self.firstSentAt = firstSentAt
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var msgID: String
      public var seq: Int?
      public var timestamp: Int
      public var status: SendStatus

      /// All members; those that may be absent are nil.
      public init(msgID: String, seq: Int? = nil, timestamp: Int, status: SendStatus) {
        self.msgID = msgID
        self.seq = seq
        self.timestamp = timestamp
        self.status = status
      }
    }
  }
}

extension Methods {
  /// Tells the members who are online something of the moment, which is kept nowhere.
  public struct SendGroupSignal: ThrongMethod {
    public static let name = "sendGroupSignal"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// What it means, in the application's own word. 1 to 32 bytes of UTF-8, letters, digits, _, .
    /// and - alone.
    public var name: String
    /// Data of the application's own; absent = none. At most 512 bytes of UTF-8.
    public var data: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, name: String, data: String? = nil) {
      self.groupID = groupID
      self.name = name
      self.data = data
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Reads the messages that a group keeps, newest or oldest first.
  public struct GetGroupHistoryMessageList: ThrongMethod {
    public static let name = "getGroupHistoryMessageList"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The most messages of the page; absent = 20. 1 to 100.
    public var count: Int?
    /// The page begins next to this seq; 0 or absent = at the newest message for Older, at the
    /// oldest for Newer. 0 or more.
    public var fromSeq: Int?
    /// Whether the page goes back in time or forward; absent = Older. One of Older, Newer.
    public var direction: HistoryDirection?

    /// All members; those that may be absent are nil.
    public init(groupID: String, count: Int? = nil, fromSeq: Int? = nil, direction: HistoryDirection? = nil) {
      self.groupID = groupID
      self.count = count
      self.fromSeq = fromSeq
      self.direction = direction
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var messageList: [GroupMessage]
      public var isFinished: Bool

      /// All members; those that may be absent are nil.
      public init(messageList: [GroupMessage], isFinished: Bool) {
        self.messageList = messageList
        self.isFinished = isFinished
      }
    }
  }
}

extension Methods {
  /// Reads messages as they are now, in the order of seqList; those that the caller may not see are
  /// left out.
  public struct GetGroupMessages: ThrongMethod {
    public static let name = "getGroupMessages"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seqs of the messages. 1 to 20 elements, each 1 or more.
    public var seqList: [Int]

    /// All members; those that may be absent are nil.
    public init(groupID: String, seqList: [Int]) {
      self.groupID = groupID
      self.seqList = seqList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var messageList: [GroupMessage]

      /// All members; those that may be absent are nil.
      public init(messageList: [GroupMessage]) {
        self.messageList = messageList
      }
    }
  }
}

extension Methods {
  /// Reads the messages that answer a message and that the caller may see, oldest first; recalled
  /// ones are left out.
  public struct GetGroupMessageReplies: ThrongMethod {
    public static let name = "getGroupMessageReplies"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message that they answer. 1 or more.
    public var seq: Int
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most replies of the page; absent = 50. 1 to 50.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, nextSeq: Int? = nil, count: Int? = nil) {
      self.groupID = groupID
      self.seq = seq
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var messageList: [GroupMessage]
      public var totalCount: Int
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(messageList: [GroupMessage], totalCount: Int, nextSeq: Int) {
        self.messageList = messageList
        self.totalCount = totalCount
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Answers the messages of up to 50 groups that came, and those that changed, after a position,
  /// none missing, or says that this is not possible.
  public struct SyncGroups: ThrongMethod {
    public static let name = "syncGroups"

    /// The position in each group from which to go on. 1 to 50 elements.
    public var groups: [GroupRow]

    /// A row of groups.
    public struct GroupRow: Codable, Hashable, Sendable {
      public var groupID: String
      public var epoch: String
      public var seq: Int
      public var changeSeq: Int?

      /// All members; those that may be absent are nil.
      public init(groupID: String, epoch: String, seq: Int, changeSeq: Int? = nil) {
        self.groupID = groupID
        self.epoch = epoch
        self.seq = seq
        self.changeSeq = changeSeq
      }
    }

    /// All members; those that may be absent are nil.
    public init(groups: [GroupRow]) {
      self.groups = groups
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var groups: [GroupRow]

      /// A row of groups.
      public struct GroupRow: Codable, Hashable, Sendable {
        public var groupID: String
        public var code: Int
        public var message: String?
        public var epoch: String?
        public var lastSeq: Int?
        public var recovered: Bool?
        public var changeList: [GroupMessage]?
        public var changeSeq: Int?
        public var messageList: [GroupMessage]?
        public var more: Bool?

        /// All members; those that may be absent are nil.
        public init(groupID: String, code: Int, message: String? = nil, epoch: String? = nil, lastSeq: Int? = nil, recovered: Bool? = nil, changeList: [GroupMessage]? = nil, changeSeq: Int? = nil, messageList: [GroupMessage]? = nil, more: Bool? = nil) {
          self.groupID = groupID
          self.code = code
          self.message = message
          self.epoch = epoch
          self.lastSeq = lastSeq
          self.recovered = recovered
          self.changeList = changeList
          self.changeSeq = changeSeq
          self.messageList = messageList
          self.more = more
        }
      }

      /// All members; those that may be absent are nil.
      public init(groups: [GroupRow]) {
        self.groups = groups
      }
    }
  }
}

extension Methods {
  /// Finds Text messages with any of up to 5 keywords that the caller may see, if `search.messages`
  /// is on.
  public struct SearchGroupMessages: ThrongMethod {
    public static let name = "searchGroupMessages"

    /// The texts to look for, in upper or lower case; a message is found by any of them. 1 to 5
    /// elements, each 1 to 512 bytes of UTF-8.
    public var keywordList: [String]
    /// Where to look; absent or empty = in all groups that the caller has joined. At most 50
    /// elements, each 1 to 48 bytes of UTF-8.
    public var groupIDList: [String]?
    /// Whose messages are found; absent or empty = everybody's. At most 50 elements, each 1 to 32
    /// bytes of UTF-8.
    public var senderUserIDList: [String]?
    /// When they were sent at the earliest, in milliseconds since 1970; absent = any time. 0 or
    /// more.
    public var from: Int?
    /// When they were sent at the latest, in milliseconds since 1970; absent = any time. 0 or more.
    public var to: Int?
    /// The most messages of the page; absent = 20. 1 to 50.
    public var count: Int?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?

    /// All members; those that may be absent are nil.
    public init(keywordList: [String], groupIDList: [String]? = nil, senderUserIDList: [String]? = nil, from: Int? = nil, to: Int? = nil, count: Int? = nil, nextSeq: Int? = nil) {
      self.keywordList = keywordList
      self.groupIDList = groupIDList
      self.senderUserIDList = senderUserIDList
      self.from = from
      self.to = to
      self.count = count
      self.nextSeq = nextSeq
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var messageList: [GroupMessage]
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(messageList: [GroupMessage], nextSeq: Int) {
        self.messageList = messageList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Takes a message back: it keeps its place and loses its content.
  public struct RevokeGroupMessage: ThrongMethod {
    public static let name = "revokeGroupMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message that is taken back, in place of msgID. 1 or more.
    public var seq: Int?
    /// The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128
    /// bytes of UTF-8.
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.seq = seq
      self.msgID = msgID
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Replaces the text or data of a message, its extension, or both; the same ones change nothing.
  public struct ModifyGroupMessage: ThrongMethod {
    public static let name = "modifyGroupMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message. 1 or more.
    public var seq: Int
    /// The content that takes the place of what the message has, of its own kind. Not together with
    /// data. 1 to 12288 bytes of UTF-8.
    public var text: String?
    /// The content that takes the place of what the message has, of its own kind. Not together with
    /// text. 1 to 12288 bytes of UTF-8.
    public var data: String?
    /// The data beside the content; empty = it is removed, absent = it stays. At most 4096 bytes of
    /// UTF-8.
    public var `extension`: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, text: String? = nil, data: String? = nil, extension: String? = nil) {
      self.groupID = groupID
      self.seq = seq
      self.text = text
      self.data = data
      self.extension = `extension`
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var editTime: Int?

      /// All members; those that may be absent are nil.
      public init(editTime: Int? = nil) {
        self.editTime = editTime
      }
    }
  }
}

extension Methods {
  /// Adds a reaction of the caller's to a message; twice is once.
  public struct AddMessageReaction: ThrongMethod {
    public static let name = "addMessageReaction"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message. 1 or more.
    public var seq: Int
    /// The reaction, as a rule an emoji; compared byte for byte. 1 to 32 bytes of UTF-8, no control
    /// characters.
    public var reaction: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, reaction: String) {
      self.groupID = groupID
      self.seq = seq
      self.reaction = reaction
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Removes a reaction of the caller's from a message; one that is not there changes nothing.
  public struct RemoveMessageReaction: ThrongMethod {
    public static let name = "removeMessageReaction"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message. 1 or more.
    public var seq: Int
    /// The reaction that is removed. 1 to 32 bytes of UTF-8, no control characters.
    public var reaction: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, reaction: String) {
      self.groupID = groupID
      self.seq = seq
      self.reaction = reaction
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Reads the reactions to messages, the first reaction first; unknown messages are left out.
  public struct GetMessageReactions: ThrongMethod {
    public static let name = "getMessageReactions"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seqs of the messages. 1 to 20 elements, each 1 or more.
    public var seqList: [Int]
    /// How many users of each reaction are named; absent = 0. 0 to 10.
    public var userCount: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seqList: [Int], userCount: Int? = nil) {
      self.groupID = groupID
      self.seqList = seqList
      self.userCount = userCount
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var resultList: [ResultRow]

      /// A row of resultList.
      public struct ResultRow: Codable, Hashable, Sendable {
        public var seq: Int
        public var reactions: [ReactionRow]

        /// A row of reactions.
        public struct ReactionRow: Codable, Hashable, Sendable {
          public var reaction: String
          public var count: Int
          public var byMe: Bool
          public var userIDList: [String]

          /// All members; those that may be absent are nil.
          public init(reaction: String, count: Int, byMe: Bool, userIDList: [String]) {
            self.reaction = reaction
            self.count = count
            self.byMe = byMe
            self.userIDList = userIDList
          }
        }

        /// All members; those that may be absent are nil.
        public init(seq: Int, reactions: [ReactionRow]) {
          self.seq = seq
          self.reactions = reactions
        }
      }

      /// All members; those that may be absent are nil.
      public init(resultList: [ResultRow]) {
        self.resultList = resultList
      }
    }
  }
}

extension Methods {
  /// Pins a message for all who may see it, or unpins it.
  public struct PinGroupMessage: ThrongMethod {
    public static let name = "pinGroupMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message. 1 or more.
    public var seq: Int
    /// true = it is pinned, false = it is not any more.
    public var isPinned: Bool

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, isPinned: Bool) {
      self.groupID = groupID
      self.seq = seq
      self.isPinned = isPinned
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Reads the pinned messages that the caller may see, the last pinned first.
  public struct GetPinnedGroupMessageList: ThrongMethod {
    public static let name = "getPinnedGroupMessageList"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String

    /// All members; those that may be absent are nil.
    public init(groupID: String) {
      self.groupID = groupID
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var messageList: [GroupMessage]

      /// All members; those that may be absent are nil.
      public init(messageList: [GroupMessage]) {
        self.messageList = messageList
      }
    }
  }
}

extension Methods {
  /// Reports a message that the caller may see to the application; once more renews the report.
  public struct ReportMessage: ThrongMethod {
    public static let name = "reportMessage"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of the message that is reported, in place of msgID. 1 or more.
    public var seq: Int?
    /// The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128
    /// bytes of UTF-8.
    public var msgID: String?
    /// A word of the application's own for what is wrong; absent or empty = none. At most 32 bytes
    /// of UTF-8.
    public var category: String?
    /// The reporter's own words; absent or empty = none. At most 512 characters.
    public var text: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int? = nil, msgID: String? = nil, category: String? = nil, text: String? = nil) {
      self.groupID = groupID
      self.seq = seq
      self.msgID = msgID
      self.category = category
      self.text = text
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var reportID: String

      /// All members; those that may be absent are nil.
      public init(reportID: String) {
        self.reportID = reportID
      }
    }
  }
}

extension Methods {
  /// Notes up to which message the caller has read a group; never goes back.
  public struct MarkGroupMessageAsRead: ThrongMethod {
    public static let name = "markGroupMessageAsRead"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq up to which the caller has read; absent = all there is. 1 or more.
    public var seq: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int? = nil) {
      self.groupID = groupID
      self.seq = seq
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Counts the messages of groups that the caller has not read.
  public struct GetGroupUnreadCount: ThrongMethod {
    public static let name = "getGroupUnreadCount"

    /// The groups; absent or empty = all that getJoinedGroupList lists. At most 200 elements, each
    /// 1 to 48 bytes of UTF-8.
    public var groupIDList: [String]?

    /// All members; those that may be absent are nil.
    public init(groupIDList: [String]? = nil) {
      self.groupIDList = groupIDList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var totalCount: Int
      public var groups: [GroupRow]

      /// A row of groups.
      public struct GroupRow: Codable, Hashable, Sendable {
        public var groupID: String
        public var unreadCount: Int

        /// All members; those that may be absent are nil.
        public init(groupID: String, unreadCount: Int) {
          self.groupID = groupID
          self.unreadCount = unreadCount
        }
      }

      /// All members; those that may be absent are nil.
      public init(totalCount: Int, groups: [GroupRow]) {
        self.totalCount = totalCount
        self.groups = groups
      }
    }
  }
}

extension Methods {
  /// Tells the senders of messages that the caller has read them.
  public struct SendMessageReadReceipts: ThrongMethod {
    public static let name = "sendMessageReadReceipts"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The messages that the caller has read; own ones and those without receipts are ignored. 1 to
    /// 50 elements, each 1 or more.
    public var seqList: [Int]

    /// All members; those that may be absent are nil.
    public init(groupID: String, seqList: [Int]) {
      self.groupID = groupID
      self.seqList = seqList
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Tells how many members have read messages of the caller's own.
  public struct GetMessageReadReceipts: ThrongMethod {
    public static let name = "getMessageReadReceipts"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The messages; others than own ones with receipts are left out of the answer. 1 to 50
    /// elements, each 1 or more.
    public var seqList: [Int]

    /// All members; those that may be absent are nil.
    public init(groupID: String, seqList: [Int]) {
      self.groupID = groupID
      self.seqList = seqList
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var receiptList: [ReceiptRow]

      /// A row of receiptList.
      public struct ReceiptRow: Codable, Hashable, Sendable {
        public var seq: Int
        public var readCount: Int
        public var unreadCount: Int

        /// All members; those that may be absent are nil.
        public init(seq: Int, readCount: Int, unreadCount: Int) {
          self.seq = seq
          self.readCount = readCount
          self.unreadCount = unreadCount
        }
      }

      /// All members; those that may be absent are nil.
      public init(receiptList: [ReceiptRow]) {
        self.receiptList = receiptList
      }
    }
  }
}

extension Methods {
  /// Lists who has read a message of the caller's own, or who has not.
  public struct GetGroupMessageReadMemberList: ThrongMethod {
    public static let name = "getGroupMessageReadMemberList"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// The seq of an own message that was sent with needReadReceipt. 1 or more.
    public var seq: Int
    /// Whether those are listed who have read it, or those who have not; absent = Read. One of
    /// Read, Unread.
    public var filter: ReadFilter?
    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most members of the page; absent = 50. 1 to 100.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, seq: Int, filter: ReadFilter? = nil, nextSeq: Int? = nil, count: Int? = nil) {
      self.groupID = groupID
      self.seq = seq
      self.filter = filter
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var memberList: [MemberInfo]
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(memberList: [MemberInfo], nextSeq: Int) {
        self.memberList = memberList
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Pins, hides or marks a group in the caller's own list of conversations.
  public struct SetConversation: ThrongMethod {
    public static let name = "setConversation"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String
    /// Whether the group stands above others in the list.
    public var isPinned: Bool?
    /// Whether the group is left out of the list, until a message counts as unread or mentions the
    /// caller.
    public var isHidden: Bool?
    /// Whether the group looks unread, until markGroupMessageAsRead.
    public var isMarkedUnread: Bool?
    /// The application's own words for the group, in the place of all earlier ones; an empty list
    /// removes them. At most 8 elements, each 1 to 32 bytes of UTF-8.
    public var marks: [String]?

    /// All members; those that may be absent are nil.
    public init(groupID: String, isPinned: Bool? = nil, isHidden: Bool? = nil, isMarkedUnread: Bool? = nil, marks: [String]? = nil) {
      self.groupID = groupID
      self.isPinned = isPinned
      self.isHidden = isHidden
      self.isMarkedUnread = isMarkedUnread
      self.marks = marks
    }

    public typealias Result = NoResult
  }
}

extension Methods {
  /// Makes all messages that a group has by now invisible to the caller, for good; nobody else
  /// notices.
  public struct ClearGroupHistory: ThrongMethod {
    public static let name = "clearGroupHistory"

    /// The group that the request is about. 1 to 48 bytes of UTF-8.
    public var groupID: String

    /// All members; those that may be absent are nil.
    public init(groupID: String) {
      self.groupID = groupID
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var clearedSeq: Int

      /// All members; those that may be absent are nil.
      public init(clearedSeq: Int) {
        self.clearedSeq = clearedSeq
      }
    }
  }
}

extension Methods {
  /// Lists what has happened to the caller in groups, newest first.
  public struct GetSystemNotificationList: ThrongMethod {
    public static let name = "getSystemNotificationList"

    /// Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or
    /// more.
    public var nextSeq: Int?
    /// The most notifications of the page; absent = 50. 1 to 100.
    public var count: Int?

    /// All members; those that may be absent are nil.
    public init(nextSeq: Int? = nil, count: Int? = nil) {
      self.nextSeq = nextSeq
      self.count = count
    }

    /// The answer.
    public struct Result: Codable, Hashable, Sendable {
      public var notificationList: [SystemNotification]
      public var unreadCount: Int
      public var nextSeq: Int

      /// All members; those that may be absent are nil.
      public init(notificationList: [SystemNotification], unreadCount: Int, nextSeq: Int) {
        self.notificationList = notificationList
        self.unreadCount = unreadCount
        self.nextSeq = nextSeq
      }
    }
  }
}

extension Methods {
  /// Marks a notification and older ones as read by the caller.
  public struct SetSystemNotificationRead: ThrongMethod {
    public static let name = "setSystemNotificationRead"

    /// The newest notification that the caller has read; absent = all there are.
    public var notificationID: String?

    /// All members; those that may be absent are nil.
    public init(notificationID: String? = nil) {
      self.notificationID = notificationID
    }

    public typealias Result = NoResult
  }
}
