/// Members and profiles: what the user has seen of others.
extension StoreDraft {
  /// Rows of members that a group has at most, and profiles of all; beyond them none is added.
  static let mostMembers = 1_000
  static let mostProfiles = 20_000
  /// A profile that is the same is written again after so long: the oldest go first where there is no room.
  private static let profileAge = 86_400_000

  /// What an event, or a tip, tells of a group and its members, besides its place.
  /// - Parameter isNews: the group as it is known does not have it yet.
  mutating func apply(_ news: GroupNews, in groupID: String, isNews: Bool, _ row: inout ConversationRow) {
    guard row.info.keepsMessages || news.isOfInfo else { return }
    // What is older than the group as it is known changes the rows of members alone.
    var known = row
    switch news.change {
    case .came(let members):
      for member in members { see(member, in: groupID) }
    case .left(let members):
      for member in members { forget(member.userID, in: groupID) }
    case .roles(let members):
      for member in members { setRole(member, in: groupID, &known) }
    case .members(let changes):
      for change in changes { apply(change, at: news.time, in: groupID, &known) }
    case .info(let changes):
      guard isNews else { return }
      for change in changes { apply(change, in: groupID, &known) }
      known.info.lastInfoTime = max(ClientLimits.count(known.info.lastInfoTime), ClientLimits.count(news.time))
    }
    guard isNews else { return }
    known.info.memberCount = news.memberCount ?? known.info.memberCount
    row = known
  }

  private mutating func setRole(_ member: MemberInfo, in groupID: String, _ row: inout ConversationRow) {
    see(member, in: groupID)
    if member.userID == state.userID, let role = member.role { row.info.selfInfo?.role = role }
  }

  private mutating func apply(
    _ change: MemberChange, at time: Int, in groupID: String, _ row: inout ConversationRow
  ) {
    // A duration in seconds; 0 = the member may speak again.
    let muteUntil = change.muteTime.map { seconds -> Int in
      let duration = min(max(0, seconds), ClientLimits.largestNumber / 1_000)
      return duration == 0 ? 0 : ClientLimits.count(time) + duration * 1_000
    }
    if var member = members[StoreKeys.member(change.userID, of: groupID)] {
      member.muteUntil = muteUntil ?? member.muteUntil
      member.nameCard = change.nameCard ?? member.nameCard
      member.customInfo = change.customInfo ?? member.customInfo
      member.role = change.role ?? member.role
      members[StoreKeys.member(change.userID, of: groupID)] = member
    }
    guard change.userID == state.userID, var own = row.info.selfInfo else { return }
    own.muteUntil = muteUntil ?? own.muteUntil
    own.nameCard = change.nameCard ?? own.nameCard
    own.customInfo = change.customInfo ?? own.customInfo
    own.role = change.role ?? own.role
    row.info.selfInfo = own
  }

  private mutating func apply(
    _ change: ServerEvent.GroupInfoChanged.ChangeInfoRow, in groupID: String, _ row: inout ConversationRow
  ) {
    if change.type == "Owner", case .string(let owner) = change.value {
      setRole("Member", of: row.info.owner, in: groupID, &row)
      setRole("Owner", of: owner, in: groupID, &row)
    }
    row.info.apply(change)
  }

  private mutating func setRole(_ role: String, of userID: String, in groupID: String, _ row: inout ConversationRow) {
    let key = StoreKeys.member(userID, of: groupID)
    if var member = members[key] {
      member.role = role
      members[key] = member
    }
    if userID == state.userID { row.info.selfInfo?.role = role }
  }

  // MARK: Rows

  /// A member as it is now; what is not told stays as it was.
  mutating func see(_ seen: MemberInfo, in groupID: String) {
    guard ClientLimits.isIdentifier(seen.userID) else { return }
    let key = StoreKeys.member(seen.userID, of: groupID)
    let known = members[key]
    // Where they were not counted yet, because the event came early, one more does not matter.
    if known == nil, let count = state.memberCounts[groupID] {
      guard count < StoreDraft.mostMembers else { return }
      state.memberCounts[groupID] = count + 1
    }
    var member = known ?? MemberInfo(userID: seen.userID)
    member.nickName = seen.nickName ?? member.nickName
    member.faceURL = seen.faceURL ?? member.faceURL
    member.nameCard = seen.nameCard ?? member.nameCard
    member.role = seen.role ?? member.role
    member.joinTime = seen.joinTime ?? member.joinTime
    member.muteUntil = seen.muteUntil ?? member.muteUntil
    member.customInfo = seen.customInfo ?? member.customInfo
    member.inviter = seen.inviter ?? member.inviter
    members[key] = member
  }

  /// The user is no member any more.
  mutating func forget(_ userID: String, in groupID: String) {
    let key = StoreKeys.member(userID, of: groupID)
    guard members[key] != nil else { return }
    members[key] = nil
    state.memberCounts[groupID] = state.memberCounts[groupID].map { max(0, $0 - 1) }
  }

  /// Texts of a user; nil = empty, where one of them is told.
  mutating func see(_ userID: String, _ nickName: String?, _ faceURL: String?, at time: Int) {
    guard nickName != nil || faceURL != nil, ClientLimits.isIdentifier(userID) else { return }
    let key = StoreKeys.profile(userID)
    let seen = StoredProfile(
      userID: userID, nickName: nickName ?? "", faceURL: faceURL ?? "", seenAt: ClientLimits.count(time))
    if let known = profiles[key] {
      let isSame = known.nickName == seen.nickName && known.faceURL == seen.faceURL
      guard seen.seenAt >= known.seenAt, !isSame || seen.seenAt - known.seenAt > StoreDraft.profileAge else { return }
    } else if let count = state.profileCount {
      guard count < StoreDraft.mostProfiles else { return }
      state.profileCount = count + 1
    }
    profiles[key] = seen
  }

  /// The user's own texts, of which an event has those that have changed.
  mutating func see(_ change: ServerEvent.SelfInfoUpdated) {
    let known = profiles[StoreKeys.profile(state.userID)]
    see(state.userID, change.nickName ?? known?.nickName, change.faceURL ?? known?.faceURL, at: change.opTime)
  }
}

extension GroupInfo {
  /// Takes over one entry of onGroupInfoChanged (Protocol.md, "Group info"); one that is not known changes nothing.
  fileprivate mutating func apply(_ change: ServerEvent.GroupInfoChanged.ChangeInfoRow) {
    switch (change.type, change.value) {
    case ("GroupName", .string(let text)): groupName = text
    case ("Introduction", .string(let text)): introduction = text
    case ("Notification", .string(let text)): notification = text
    case ("FaceURL", .string(let text)): faceURL = text
    case ("Owner", .string(let userID)): owner = userID
    case ("ServerCustomInfo", .string(let text)): serverCustomInfo = text
    case ("CustomInfo", .string(let text)):
      guard let key = change.key else { return }
      customInfo[key] = text.isEmpty ? nil : text
    case ("AllMuted", .boolean(let flag)): allMuted = flag
    case ("Mute", .object(let members)): mute = GroupMute(members)
    case ("MaxMemberNum", .integer(let number)): maxMemberNum = number
    case (_, .string(let word)): apply(change.type, word)
    case ("memberChangeNotification", .boolean(let flag)): memberChangeNotification = flag
    case ("isSearchable", .boolean(let flag)): isSearchable = flag
    case ("isMemberVisible", .boolean(let flag)): isMemberVisible = flag
    case ("slowMode", .integer(let number)): slowMode = number
    default: return
    }
  }

  /// A field of the policy that is a word.
  private mutating func apply(_ field: String, _ word: String) {
    switch field {
    case "joinMode": joinMode = JoinMode(rawValue: word)
    case "inviteMode": inviteMode = InviteMode(rawValue: word)
    case "beInviteMode": beInviteMode = BeInviteMode(rawValue: word)
    case "updateInfoMode": updateInfoMode = UpdateMode(rawValue: word)
    case "updateCustomMode": updateCustomMode = UpdateMode(rawValue: word)
    case "ownerQuitMode": ownerQuitMode = OwnerQuitMode(rawValue: word)
    case "historyVisibility": historyVisibility = HistoryVisibility(rawValue: word)
    case "attributeMode": attributeMode = AttributeMode(rawValue: word)
    default: return
    }
  }
}

extension GroupMute {
  /// Nil where no group is muted so.
  fileprivate init?(_ members: [String: JSONValue]) {
    guard case .string(let mode) = members["mode"] else { return nil }
    self.init(mode: MuteMode(rawValue: mode))
    if case .array(let words) = members["roles"] {
      roles = words.compactMap { word -> String? in if case .string(let role) = word { role } else { nil } }
    }
    if case .integer(let instant) = members["muteUntil"] { muteUntil = instant }
  }
}
