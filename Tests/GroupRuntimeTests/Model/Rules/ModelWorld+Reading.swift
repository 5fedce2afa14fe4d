import ThrongTestKit

/// The methods that only read. Lists are read page by page to the end; of methods over several
/// groups it is the group's own row.
extension ModelWorld {
  mutating func read() throws(ModelRefusal) -> JSON {
    switch operation.verb {
    case .getGroupsInfo: return try info()
    case .searchGroups:
      // "Joined groups, and other groups that are searchable (their public fields only)."
      let isOpen = operation["joinedOnly"] != true && g.policy["isSearchable"] == true && g.type != "Work"
      let isFound = rank > 0 || isOpen
      return isFound ? try info() : .null
    case .getJoinedGroupList: return try joined()
    case .syncGroups: return try sync()
    case .getGroupHistoryMessageList: return try history()
    default: break
    }
    try requireMembership()
    switch operation.verb {
    case .getGroupMessages: return try readMessages()
    case .getGroupMessageReplies: return try readReplies()
    case .getGroupUnreadCount: return .int(g.member(operation.by.name!).map { unreadCount(of: $0) } ?? 0)
    case .getGroupOnlineMemberCount: return ["count": .int(onlineCount)]
    case .getGroupBannedMembers: return try readBans()
    default: return try readMembers()
    }
  }

  // MARK: The group's info

  private var onlineCount: Int { everybody.count { user in sessions.contains { $0.user == user } } }

  private func info() throws(ModelRefusal) -> JSON {
    let member = asker
    if operation.by != .administrator, member == nil {
      if g.type == "Work" { throw ModelRefusal(10007) }
      return .object(publicInfo)
    }
    var info = publicInfo.merging(innerInfo) { $1 }
    let seesAll = operation.by == .administrator
    if let last = g.lastShown, g.index(of: last.seq!) != nil, seesAll || member.map({ g.sees($0, last) }) == true {
      info["lastMessage"] = read(last)
    }
    if let member {
      info["selfInfo"] = selfInfo(of: member)
      // A live room that remembers messages has none, and nobody clears its history.
      if g.memory == nil { info["firstSeq"] = .int(max(g.firstSeq, g.clearedThrough[member.name, default: 0] + 1)) }
    }
    return .object(info)
  }

  /// "A non-member may read of a group: …".
  private var publicInfo: [String: JSON] {
    var info: [String: JSON] = [
      "groupID": "g", "groupType": .string(g.type), "owner": .string(g.owner!.name), "createTime": .int(g.createTime),
      "maxMemberNum": .int(g.maxMemberNum), "memberCount": .int(everybody.count), "onlineCount": .int(onlineCount),
      "customInfo": .texts(g.customInfo),
    ]
    for text in ["groupName", "introduction", "faceURL"] { info[text] = .string(g.texts[text]!) }
    info["joinMode"] = g.policy["joinMode"]
    return info
  }

  private var innerInfo: [String: JSON] {
    let inner: [String: JSON] = [
      "notification": .string(g.texts["notification"]!), "lastInfoTime": .int(g.infoTime),
      "lastMessageTime": .int(g.lastShown?.time ?? 0), "lastSeq": .int(g.lastSeq), "firstSeq": .int(g.firstSeq),
      "changeSeq": .int(g.changeSeq), "epoch": g.epoch,
      "serverCustomInfo": .string(g.serverCustomInfo), "allMuted": .bool(currentMute.isAllMuted), "mute": currentMute.json,
    ]
    return infoOfMemory(inner).merging(g.policy) { $1 }
  }

  private func selfInfo(of member: ModelMember) -> JSON {
    let info: [String: JSON] = [
      "role": .string(member.role), "joinTime": .int(member.joinTime), "nameCard": .string(member.nameCard),
      "muteUntil": .int(muteUntil(member.name)), "receiveMessageOpt": .string(member.option),
      "readSeq": .int(member.readSeq), "unreadCount": .int(unreadCount(of: member)), "customInfo": .texts(member.customInfo),
    ]
    return .object(info.merging(member.conversation) { $1 })
  }

  /// "Groups whose info, last message or selfInfo changed at or after it."
  private func joined() throws(ModelRefusal) -> JSON {
    guard let member = g.member(operation.by.name!) else { return .null }
    // The end of a mute changes what is read, too.
    let mutesEnded = [g.mutedUntil[member.name] ?? 0, g.mute.until ?? 0].filter { $0 <= now }
    // "With NotReceive a message does not make the group appear."
    let lastMessage = member.option == "NotReceive" ? 0 : g.lastShown?.time ?? 0
    let changed = ([g.infoTime, g.historyTime, lastMessage, member.changeTime] + mutesEnded).max()!
    return changed >= operation["updatedSince"].integer ?? 0 ? try info() : .null
  }

  // MARK: Messages

  private func visible() throws(ModelRefusal) -> [ModelMessage] {
    try requireMembership()
    guard let member = asker else { return Array(g.kept) }
    return g.kept.filter { g.sees(member, $0) }
  }

  private func history() throws(ModelRefusal) -> JSON {
    let visible = try visible()
    if let memory = g.memory { return history(of: memory) }
    guard g.keepsHistory else { throw ModelRefusal(10007) }
    let from = operation["fromSeq"].int ?? 0
    let isNewer = operation["direction"] == "Newer"
    let matching = isNewer ? visible.filter { $0.seq! > from } : visible.reversed().filter { from == 0 || $0.seq! < from }
    let page = matching.prefix(operation["count"].int ?? 20)
    let list = page.map { read($0) }
    return ["messageList": .array(list), "isFinished": .bool(page.count == matching.count)]
  }

  /// "Every message after seq that I may see, none missing, or recovered:false and none."
  private func sync() throws(ModelRefusal) -> JSON {
    let visible = try visible()
    if let memory = g.memory { return sync(with: memory) }
    let seq = operation["seq"].int!
    let after = operation["changeSeq"].int
    // "recovered:true where nothing that the reader may see is gone"; whom it named is gone with it.
    let gone = g.messages.prefix(g.firstSeq - 1).dropFirst(seq)
    let isComplete = asker.map { member in !gone.contains { g.seesPlace(of: $0, member) } } ?? gone.isEmpty
    let isOfGroup = g.keepsHistory && operation["epoch"] == g.epoch && seq <= g.lastSeq && after ?? 0 <= g.changeSeq
    let isKnown = isOfGroup && isComplete
    // "≤100 together with messageList, more covering both": the first page holds changes before
    // messages.
    let changed = visible.filter { isKnown && $0.seq! <= seq && $0.changeSeq > after ?? g.changeSeq }
    let changes = changed.sorted { $0.changeSeq < $1.changeSeq }.prefix(100)
    let isCut = changes.count < changed.count
    let matching = isKnown ? visible.filter { $0.seq! > seq } : []
    let page = isCut ? [] : matching.prefix(100 - changes.count)
    var row: [String: JSON] = [
      "groupID": "g", "code": 0, "epoch": g.epoch, "lastSeq": .int(g.lastSeq), "recovered": .bool(isKnown),
      "messageList": .array(page.map { read($0) }), "more": .bool(isCut || page.count < matching.count),
    ]
    if after != nil {
      row["changeList"] = .array(changes.map { read($0) })
      row["changeSeq"] = .int(isCut ? changes.last!.changeSeq : g.changeSeq)
    }
    return .object(row)
  }

  // MARK: Members

  /// "Soonest end first, ties by userID", by the row "remove members".
  private func readBans() throws(ModelRefusal) -> JSON {
    try require(.remove)
    let bans = g.bannedUntil.filter { $0.value > now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    let rows = bans.map { ban in
      JSON.object([
        "userID": .string(ban.key), "bannedUntil": .int(ban.value), "reason": .string(g.banReasons[ban.key]!),
      ])
    }
    return ["memberList": .array(rows), "nextSeq": 0]
  }

  private func readMembers() throws(ModelRefusal) -> JSON {
    let named = operation.users
    try requireSight(of: named)
    switch operation.verb {
    case .getGroupMemberList:
      let listed = inOrder.filter { takes(operation["filter"].string ?? "All", $0) }
      guard let since = operation["updatedSince"].integer else { return list(listed) }
      if g.type == "AVChatRoom" { throw ModelRefusal(10004) }
      return .object(list(listed.filter { $0.infoTime >= since }).members.merging(departures(since: since)) { $1 })
    case .getGroupMutedMembers:
      // "Individually muted only", in no order that anybody promises.
      let muted = g.members.filter { muteUntil($0.name) > 0 }
      return list(muted.sorted { $0.name < $1.name })
    case .getGroupMembersInfo: return ["memberList": .array(named.compactMap { g.member($0) }.map { listed($0) })]
    case .getGroupMemberInviters:
      let rows = named.map { user in
        g.member(user)?.inviter.map { ["userID": .string(user), "inviter": .string($0)] }
          ?? JSON.object(["userID": .string(user)])
      }
      return ["inviterList": .array(rows)]
    default:
      let rows = named.map { user in
        JSON.object(["userID": .string(user), "role": .string(g.anyMember(user)?.role ?? "NotMember")])
      }
      return ["roleList": .array(rows)]
    }
  }

  /// "With isMemberVisible false only managers may list or read other members"; a BChatRoom has no
  /// lists, only roles.
  private func requireSight(of named: [String]) throws(ModelRefusal) {
    if g.isOfEveryone, operation.verb != .getGroupMemberRoles { throw ModelRefusal(10007) }
    let isOnlySelf = !named.isEmpty && named.allSatisfy { $0 == operation.by.name }
    if g.policy["isMemberVisible"] == false, rank < 2, !isOnlySelf { throw ModelRefusal(10007) }
  }

  /// "Owner, admins, others, each by joinTime then userID"; of an AVChatRoom the others "newest first".
  private var inOrder: [ModelMember] {
    let sorted = g.members.sorted { ($1.rank, $0.joinTime, $0.name) < ($0.rank, $1.joinTime, $1.name) }
    guard g.type == "AVChatRoom" else { return sorted }
    return sorted.filter(\.isManager) + g.members.reversed().filter { !$0.isManager }
  }

  private func takes(_ filter: String, _ member: ModelMember) -> Bool {
    switch filter {
    case "Owner": member.rank == 3
    case "Admin": member.rank == 2
    case "Common": member.rank == 1
    default: true
    }
  }

  /// "leftUserIDList (who left since and is no member now)", the latest first, and whether it is whole.
  private func departures(since: Int64) -> [String: JSON] {
    let left = g.leftTimes.filter { $0.value >= since }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let isComplete = since >= g.madeTime && since > now - 30 * 86_400_000
    return ["leftUserIDList": .strings(left.map(\.key)), "isComplete": .bool(isComplete)]
  }

  private func list(_ members: [ModelMember]) -> JSON {
    ["memberList": .array(members.map { listed($0) }), "nextSeq": 0]
  }

  func listed(_ member: ModelMember) -> JSON {
    var info: [String: JSON] = [
      "userID": .string(member.name), "nameCard": .string(member.nameCard), "role": .string(member.role),
      "joinTime": .int(member.joinTime), "muteUntil": .int(muteUntil(member.name)),
      "customInfo": .texts(member.customInfo), "isOnline": .bool(!sessions(of: [member.name]).isEmpty),
    ]
    if member.name == operation.by.name, let inviter = member.inviter { info["inviter"] = .string(inviter) }
    return .object(info)
  }
}
