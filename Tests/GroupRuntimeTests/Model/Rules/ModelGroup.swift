import ThrongTestKit

/// One membership, as the rules know it.
struct ModelMember {
  let name: String
  var role: String
  var joinTime: Int64
  var nameCard = ""
  var customInfo: [String: String] = [:]
  var option: String
  var readSeq = 0
  /// The number of unread messages that the application has said.
  var unreadSet = 0
  /// Messages up to this one, and all that were imported, do not count as unread: that number
  /// stands for them. Nil once a mark has ended the number: "what is
  /// behind the mark counts".
  var unreadFrom: Int? = 0
  /// Messages that came under NotReceive, and the last one before it where it lasts.
  var unheard: Set<Int> = []
  var unheardAfter: Int?
  var inviter: String?
  /// The settings of the own list of conversations, as selfInfo shows them.
  var conversation: [String: JSON] = [:]
  /// When something of the own view of the group last changed.
  var changeTime: Int64
  /// When the user joined, or role, name card, customInfo or mute was changed.
  var infoTime: Int64 = 0
  /// Since when a member of an AVChatRoom has no session; nil = has one, or has no grace.
  var awaySince: Int64?

  /// Owner 3, Admin 2, all others 1.
  var rank: Int { role == "Owner" ? 3 : role == "Admin" ? 2 : 1 }
  var isManager: Bool { rank > 1 }
}

/// One message of the history.
struct ModelMessage {
  let seq: Int?
  let id: JSON
  let sender: String
  var nameCard = ""
  let time: Int64
  /// Text, Custom or GroupTips, and what it holds.
  let type: String
  var content: JSON
  var priority = "Normal"
  var clientMsgID: String?
  var mentions: [String] = []
  let platform: String
  var isFromManager = false
  var isImported = false
  var isRevoked = false
  var changeSeq = 0
  var editTime: Int64 = 0
  var isPinned = false
  /// The users and their reactions, in the order in which they came.
  var reactions: [(reaction: String, users: [String])] = []
  /// The members when it was sent, who may see it under any policy.
  var seenBy: Set<String> = []
  /// The members when it was sent; nil = without needReadReceipt.
  var receiptMembers: Set<String>?
  /// The users who have confirmed it.
  var readBy: Set<String> = []
  /// The application's data beside the content; never empty.
  var extensionText: String?
  /// The message that it answers: its `seq`, and the member `replyTo`.
  var answered: (seq: Int, json: JSON)?
  var isExcludedFromUnreadCount = false
  var isExcludedFromLastMessage = false
  /// The only members who see it, besides its sender; empty = everybody.
  var targets: [String] = []

  var isChat: Bool { type != "GroupTips" }
  var countsAsUnread: Bool { isChat && !isExcludedFromUnreadCount && targets.isEmpty }
  var movesLastMessage: Bool { !isExcludedFromLastMessage && targets.isEmpty }
  func isFor(_ user: String) -> Bool { targets.isEmpty || targets.contains(user) || sender == user }

  var json: JSON {
    var message: [String: JSON] = [
      "msgID": id, "groupID": "g", "sender": .string(sender), "timestamp": .int(time), "type": .string(type),
      "priority": .string(priority), "platform": .string(platform),
    ]
    if let seq { message["seq"] = .int(seq) }
    if !nameCard.isEmpty { message["nameCard"] = .string(nameCard) }
    if let clientMsgID { message["clientMsgID"] = .string(clientMsgID) }
    if !mentions.isEmpty { message["atUserIDList"] = .strings(mentions) }
    if isRevoked { message["isRevoked"] = true }
    if receiptMembers != nil { message["needReadReceipt"] = true }
    if changeSeq > 0 { message["changeSeq"] = .int(changeSeq) }
    if editTime > 0, !isRevoked { message["editTime"] = .int(editTime) }
    if isPinned { message["isPinned"] = true }
    if let answered { message["replyTo"] = answered.json }
    if isExcludedFromUnreadCount { message["isExcludedFromUnreadCount"] = true }
    if isExcludedFromLastMessage { message["isExcludedFromLastMessage"] = true }
    if !targets.isEmpty { message["toUserIDList"] = .strings(targets) }
    if let extensionText { message["extension"] = .string(extensionText) }
    // "A recalled message keeps its place with isRevoked:true and no content."
    if !isRevoked { message[type == "Text" ? "text" : type == "Custom" ? "data" : "tips"] = content }
    return .object(message)
  }

  /// The message as a user reads it; nil = an application administrator.
  func json(for reader: String?) -> JSON {
    guard !reactions.isEmpty else { return json }
    var message = json.members
    message["reactions"] = .array(
      reactions.map { given in
        [
          "reaction": .string(given.reaction), "count": .int(given.users.count),
          "byMe": .bool(reader.map(given.users.contains) ?? false),
        ]
      })
    return .object(message)
  }
}

/// A change of a message, and its event.
struct ModelChange {
  let number: Int
  let index: Int
  let name: String
  /// Without `opTime`, and without profiles.
  let params: [String: JSON]

  /// Whether it merges with others, and counts for the rate.
  var isLimited: Bool { name == "onRecvMessageModified" || name == "onRecvMessageReactionsChanged" }
}

/// A request to join, or an invitation that asks first.
struct ModelApplication {
  let id: JSON
  let epoch: JSON
  let type: String
  var fromUser: String
  let toUser: String
  var addTime: Int64
  var message: String
  var attach: String?
  /// The decision: result, handler, message and time.
  var handling: [String: JSON]?

  /// The user who would become a member.
  var candidate: String { type == "Join" ? fromUser : toUser }

  /// The application as a user's list has it.
  func json(for user: String, isRead: Bool) -> JSON {
    var view: [String: JSON] = [
      "applicationID": id, "groupID": "g", "type": .string(type), "fromUser": .string(fromUser), "toUser": .string(toUser),
      "addTime": .int(addTime), "requestMsg": .string(message), "handleStatus": "Unhandled", "isRead": .bool(isRead),
    ]
    if let attach { view["attach"] = .string(attach) }
    if let handling {
      view["handleStatus"] = handling["by"] == .string(user) ? "HandledBySelf" : "HandledByOther"
      view["handleResult"] = handling["isAgreed"] == true ? "Agree" : "Refuse"
      view["handledMsg"] = handling["message"]
      view["handledBy"] = handling["by"]
      view["handledTime"] = handling["time"]
    }
    return .object(view)
  }
}

/// The roles that a group mute silences.
struct ModelMute: Equatable {
  var mode = "None"
  var roles: [String] = []
  var until: Int64?

  var isAllMuted: Bool { mode == "Ordinary" || mode == "All" }

  var json: JSON {
    var mute: [String: JSON] = ["mode": .string(mode)]
    if mode == "Custom" { mute["roles"] = .strings(roles) }
    if let until { mute["muteUntil"] = .int(until) }
    return .object(mute)
  }

  func silences(_ member: ModelMember) -> Bool {
    switch mode {
    case "Ordinary": !member.isManager
    case "All": true
    case "Custom": roles.contains(member.role)
    default: false
    }
  }
}

/// One group, as the rules know it.
struct ModelGroup {
  let type: String
  let epoch: JSON
  let createTime: Int64
  var texts: [String: String]
  var customInfo: [String: String] = [:]
  var serverCustomInfo = ""
  var maxMemberNum: Int
  var policy: [String: JSON]
  var mute = ModelMute()
  /// In the order of joining.
  var members: [ModelMember] = []
  /// By user, members or not: both outlive the membership.
  var mutedUntil: [String: Int64] = [:]
  var bannedUntil: [String: Int64] = [:]
  var banReasons: [String: String] = [:]
  /// Of a live room.
  var joins = ModelNotice()
  var leaves = ModelNotice()
  var memberNotices = ModelMemberNotices()
  /// The roles of users who are no members.
  var rolesOfAbsent: [String: String] = [:]
  /// Up to where users have cleared the history; it outlives the membership.
  var clearedThrough: [String: Int] = [:]
  /// When users have quit, who were not removed since.
  var quitTimes: [String: Int64] = [:]
  /// When users have left who are no members now.
  var leftTimes: [String: Int64] = [:]
  /// When the server made the group, however old it is.
  var madeTime: Int64 = 0
  /// All that were ever stored: the index is the seq - 1.
  var messages: [ModelMessage] = []
  /// The oldest that retention has left; the next one where it has left none.
  var firstSeq = 1
  /// The number of the last change of a message.
  var changeSeq = 0
  /// Each change, with the event that tells of it.
  var changes: [ModelChange] = []
  /// The indices of the pinned messages, the last pinned first.
  var pinned: [Int] = []
  var attributes: [String: String] = [:]
  /// The holders of the keys that somebody holds, and the keys that go with their holders.
  var holders: [String: String] = [:]
  var leavingKeys: Set<String> = []
  var counters: [String: Int64] = [:]
  /// When name, texts, policy, owner, customInfo or mute last changed.
  var infoTime: Int64
  /// When a message was recalled, or something was imported.
  var historyTime: Int64 = 0
  var marks: [String: ModelMark] = [:]
  /// Of a live room that remembers messages.
  var memory: ModelMemory?
  /// When messages were accepted, and when each user wrote and read attributes ("administrator" for
  /// all application administrators).
  var sendTimes: [Int64] = []
  var writeTimes: [String: [Int64]] = [:]
  var readTimes: [String: [Int64]] = [:]
  /// When each user changed counters.
  var counterTimes: [String: [Int64]] = [:]
  /// When each user sent signals.
  var signalTimes: [String: [Int64]] = [:]
  /// When each user wrote last, where the group has slow mode.
  var slowTimes: [String: Int64] = [:]

  /// Work, Public, Meeting: messages are stored, members bounded, the group is listed.
  var keepsHistory: Bool { ["Work", "Public", "Meeting"].contains(type) }
  var countsUnread: Bool { type == "Work" || type == "Public" }
  /// BChatRoom: "every user is a Member without a record".
  var isOfEveryone: Bool { type == "BChatRoom" }
  var defaultOption: String { type == "Work" || type == "Public" ? "Receive" : "ReceiveNotNotify" }
  var notifies: Bool { policy["memberChangeNotification"] != false }
  var lastSeq: Int { messages.count }
  /// The newest place, stored or remembered.
  var newestSeq: Int { memory?.lastSeq ?? lastSeq }
  var kept: ArraySlice<ModelMessage> { messages.dropFirst(firstSeq - 1) }
  var owner: ModelMember? { members.first { $0.role == "Owner" } }
  var managers: [String] { members.filter(\.isManager).map(\.name) }
  var isFull: Bool { keepsHistory && members.count >= maxMemberNum }

  func member(_ name: String) -> ModelMember? { members.first { $0.name == name } }

  /// A member, in a BChatRoom anybody.
  func anyMember(_ name: String) -> ModelMember? {
    member(name)
      ?? (isOfEveryone ? ModelMember(name: name, role: "Member", joinTime: 0, option: defaultOption, changeTime: 0) : nil)
  }

  /// A user who may be given a role: in a live room anybody.
  func roleTarget(_ name: String) -> ModelMember? {
    if let member = anyMember(name) { return member }
    guard type == "AVChatRoom" else { return nil }
    return ModelMember(
      name: name, role: rolesOfAbsent[name] ?? "Member", joinTime: 0, option: defaultOption, changeTime: 0)
  }

  /// Changes a member's record; in a BChatRoom makes one where there is none.
  mutating func update(_ name: String, at now: Int64, _ change: (inout ModelMember) -> Void) {
    if member(name) == nil, let new = anyMember(name) { members.append(new) }
    guard let index = members.firstIndex(where: { $0.name == name }) else { return }
    let before = members[index]
    change(&members[index])
    let member = members[index]
    let isSame = member.role == before.role && member.nameCard == before.nameCard && member.customInfo == before.customInfo
    if !isSame { members[index].infoTime = now }
    members[index].changeTime = now
  }

  /// The index of a message that is kept.
  func index(of seq: Int) -> Int? { (firstSeq..<lastSeq + 1).contains(seq) ? seq - 1 : nil }

  /// "Reactions, receipts and pins go with their messages, without event or changeSeq."
  mutating func retain(after seq: Int) {
    firstSeq = max(firstSeq, min(seq, lastSeq) + 1)
    pinned.removeAll { $0 < firstSeq - 1 }
  }

  func sees(_ member: ModelMember, _ message: ModelMessage) -> Bool {
    message.isFor(member.name) && seesPlace(of: message, member)
  }

  /// Whether a member sees a message, unless it names others.
  func seesPlace(of message: ModelMessage, _ member: ModelMember) -> Bool {
    let isShown = policy["historyVisibility"] == "All" || message.seenBy.contains(member.name)
    return isShown && message.seq ?? 0 > clearedThrough[member.name, default: 0]
  }

  /// The newest message that may be the last message, kept or not.
  var lastShown: ModelMessage? { messages.last(where: \.movesLastMessage) }
}

/// The answer to the first use of a clientMsgID.
struct ModelMark {
  let time: Int64
  let answer: JSON
  /// Remembered "across a restart for stored messages".
  let isStored: Bool
}

/// How a server is configured.
struct ModelServer: Sendable {
  var maxMemberNum = 5
  /// A new group begins with a tip.
  var creationTip = false
  /// The row "disband" reads Owner for Work.
  var ownerMayDisband = false
  var messagesPerSecond: Int?
  /// The types whose groups have attributes.
  var attributeTypes: Set<String> = ["AVChatRoom"]
  /// Whether AVChatRooms have admins.
  var moderation = false
  let readReceiptMembers = 4
  let signalMembers = 4
  let revokeWindow: Int64 = 120_000
  /// 0 = at any time.
  var editWindow: Int64 = 0
  let reactionsPerMessage = 3
  let offlineGrace: Int64 = 300_000
  /// How many messages a live room remembers.
  var recentMessages = 0
}
