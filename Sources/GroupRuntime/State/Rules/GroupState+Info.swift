import GroupModel
import GroupPermissions
import WireProtocol

/// The group's info, and its changes by setGroupInfo and muteGroup (Protocol.md, "Group info",
/// "Joined groups", "Search" and "Group mute").
extension GroupState {
  // MARK: Rows of getGroupsInfo, getJoinedGroupList and searchGroups

  func info(_ turn: borrowing Turn) throws(WireError) -> InfoRow {
    switch principal(of: turn.caller) {
    case .administrator: return row(for: .administrator, turn)
    case .outsider:
      guard record.type.isVisibleToNonMembers else { throw WireError(.noRight, "Not a member") }
      return row(for: .outsider, turn)
    case .member: return memberRow(turn)
    }
  }

  /// "Groups whose info, last message or selfInfo changed at or after it."
  func joinedInfo(since: WallInstant, _ turn: borrowing Turn) -> InfoRow? {
    guard let member = turn.userID.flatMap({ roster[$0] }), lastChange(for: member, at: turn.wall) >= since else { return nil }
    return row(forMember: member, turn)
  }

  /// When the group or the member's own view of it last changed; the end of a mute is such a
  /// change, a message that the member does not receive is none.
  private func lastChange(for member: Member, at now: WallInstant) -> WallInstant {
    let muteEnds = [member.muteUntil, record.mute.muteUntil ?? .unset].filter { $0 <= now }
    let lastMessage = member.receiveOption == .notReceive ? .unset : messages.lastTime
    let changes = [record.lastInfoTime, record.changeTime, lastMessage, member.changeTime]
    return (changes + muteEnds).reduce(.unset, max)
  }

  /// The row of searchGroups: "joined groups, and other groups that are searchable (their public
  /// fields only)".
  func foundInfo(joinedOnly: Bool, _ turn: borrowing Turn) -> InfoRow? {
    guard principal(of: turn.caller) == .outsider else { return memberRow(turn) }
    guard !joinedOnly, record.policy.isSearchable, record.type.isVisibleToNonMembers else { return nil }
    return row(for: .outsider, turn)
  }

  private func memberRow(_ turn: borrowing Turn) -> InfoRow {
    turn.userID.flatMap { roster.member($0) }.map { row(forMember: $0, turn) } ?? row(for: .administrator, turn)
  }

  private func row(forMember member: Member, _ turn: borrowing Turn) -> InfoRow {
    let member = member.current(at: turn.wall)
    let unread = unread(of: member)
    var row = row(for: .member(GroupInfo.SelfInfo(member: member, unreadCount: unread.total())), turn)
    if !unread.ranges.isEmpty { row.uncounted = (member, unread) }
    return row
  }

  private func row(for reader: GroupInfo.Reader, _ turn: borrowing Turn) -> InfoRow {
    let lastMessage = messages.lastMessage.flatMap { isVisible($0, to: reader) ? $0 : nil }
    var row = InfoRow(
      info: GroupInfo(
        record: record, now: turn.wall, memberCount: roster.memberCount(usersSignedIn: turn.usersSignedIn),
        onlineCount: roster.onlineCount(usersSignedIn: turn.usersSignedIn), lastSeq: live?.lastSeq ?? messages.lastSeq,
        firstSeq: live == nil ? messages.firstSeq : nil, changeSeq: live?.changeSeq, epoch: live?.epoch,
        lastMessageTime: messages.lastTime, lastMessage: lastMessage.map { MessageInfo($0) }, reader: reader))
    // Replies are newer, and as a rule each becomes the last message.
    if record.messageFeatures.contains(.replies), let seq = lastMessage?.seq, seq < messages.lastSeq {
      row.replies = visibility(of: reader).map { scope(of: $0) }
    }
    return row
  }

  private func isVisible(_ message: Message, to reader: GroupInfo.Reader) -> Bool {
    switch reader {
    case .administrator: true
    case .outsider: false
    case .member(let selfInfo): visibleHistory(of: selfInfo.member).contains(message)
    }
  }

  /// The messages that a reader may see; nil = none at all.
  private func visibility(of reader: GroupInfo.Reader) -> Visibility? {
    switch reader {
    case .administrator: Visibility(ofApplicationThrough: messages.lastSeq)
    case .outsider: nil
    case .member(let selfInfo): visibility(of: selfInfo.member)
    }
  }

  // MARK: Changes

  mutating func setInfo(_ request: SetGroupInfo, _ turn: inout Turn) throws(WireError) {
    let (edited, changes) = try checkedInfo(request, turn)
    changeInfo(to: edited, changes, &turn)
  }

  /// The checks of setGroupInfo.
  /// - Returns: the record as it would be, and what would be different.
  func checkedInfo(
    _ request: SetGroupInfo, _ turn: borrowing Turn
  ) throws(WireError) -> (edited: GroupRecord, changes: [InfoChange]) {
    try requireMembership(turn)
    for action in actions(of: request) { try require(action, turn) }
    let wanted = try edit(by: request, turn)
    guard let words = rules.currentWords(for: turn) else { return wanted }
    return try edit(by: request.filtered(by: words), turn)
  }

  private func edit(
    by request: SetGroupInfo, _ turn: borrowing Turn
  ) throws(WireError) -> (edited: GroupRecord, changes: [InfoChange]) {
    var edited = record
    var changes: [InfoChange] = []
    let maxMemberNum = wantedMaxMemberNum(request)
    try edited.apply(request, maxMemberNum: maxMemberNum, at: turn.wall, by: rules.permissions, &changes)
    try checkLimits(of: edited, maxMemberNum: maxMemberNum)
    return (edited, changes)
  }

  /// "Absent or 0 = no end; muteUntil is absent then".
  /// - Returns: the end.
  mutating func muteGroup(_ request: MuteGroup, _ turn: inout Turn) throws(WireError) -> WallInstant? {
    try require(.muteGroup, turn)
    var mute = request.mute
    if mute.mode != .none, request.duration > 0 { mute.muteUntil = turn.wall + .seconds(request.duration) }
    var edited = record
    var changes: [InfoChange] = []
    edited.set(mute, at: turn.wall, &changes)
    changeInfo(to: edited, changes, &turn)
    return mute.muteUntil
  }

  /// Stores a changed record and announces the changes: one onGroupInfoChanged with all entries,
  /// and the tip that keeps it.
  mutating func changeInfo(to edited: GroupRecord, _ changes: [InfoChange], _ turn: inout Turn) {
    if changes.isEmpty { return }
    changeSlowMode(to: edited.policy.slowMode, at: turn.monotonic)
    record = edited
    if !record.policy.memberChangeNotification { removeNotices() }
    record.lastInfoTime = turn.now
    turn.store(recordChange())
    let tip = appendTips(.groupInfoChange(changes), always: true, &turn)
    let event = announce(.onGroupInfoChanged(changes, by: eventOperator(turn), tip), &turn)
    turn.post(.groupInfoChanged, .event(event))
  }

  /// The rows of the table of rights that apply to a request.
  private func actions(of request: SetGroupInfo) -> [GroupAction] {
    let fields = request.fields
    var actions: [GroupAction] = []
    if request.groupName != nil || fields.introduction != nil || fields.notification != nil || fields.faceURL != nil {
      actions.append(.editInfo)
    }
    if fields.customInfo != nil { actions.append(.editCustomInfo) }
    if fields.serverCustomInfo != nil { actions.append(.editServerCustomInfo) }
    if fields.maxMemberNum != nil || !fields.policy.isEmpty { actions.append(.editPolicy) }
    if request.allMuted != nil { actions.append(.muteGroup) }
    return actions
  }

  /// "setGroupInfo takes maxMemberNum 0 as the type's default"; nil where the request gives none.
  private func wantedMaxMemberNum(_ request: SetGroupInfo) -> Int? {
    request.fields.maxMemberNum.map { $0 == 0 ? rules.limits.maxMemberNum[record.type] ?? 0 : $0 }
  }

  private func checkLimits(of edited: GroupRecord, maxMemberNum wanted: Int?) throws(WireError) {
    try MapDomain.groupCustomInfo.check(count: edited.customInfo.count, in: "customInfo")
    guard let wanted else { return }
    guard let cap = rules.limits.maxMemberNum[record.type] else { throw .noMaxMemberNum(in: record.type) }
    guard wanted <= cap else { throw WireError(.tooManyMembers, field: "maxMemberNum") }
    guard wanted >= roster.count else { throw WireError(.maxMemberNumBelowCount, field: "maxMemberNum") }
  }
}

/// A group as one reader sees it.
struct InfoRow {
  let info: GroupInfo
  /// A member whose unread messages the store has to count; nil = memory holds all of the count.
  var uncounted: (member: Member, unread: UnreadMessages)?
  /// What the reader sees of the group, where its last message may have replies; nil = it has none.
  var replies: HistoryScope?
}

extension GroupRecord {
  /// Changes the fields that a request gives. "A field set to the value it has makes no entry."
  fileprivate mutating func apply(
    _ request: SetGroupInfo, maxMemberNum wanted: Int?, at now: WallInstant, by permissions: GroupPermissions,
    _ changes: inout [InfoChange]
  ) throws(WireError) {
    let fields = request.fields
    set(\.name, to: request.groupName, "GroupName", &changes)
    set(\.introduction, to: fields.introduction, "Introduction", &changes)
    set(\.notification, to: fields.notification, "Notification", &changes)
    set(\.faceURL, to: fields.faceURL, "FaceURL", &changes)
    changes += customInfo.mergeCustomInfo(fields.customInfo ?? [:]).map { .customInfo($0.key, $0.value) }
    set(\.serverCustomInfo, to: fields.serverCustomInfo, "ServerCustomInfo", &changes)
    if let wanted, wanted != maxMemberNum {
      maxMemberNum = wanted
      changes.append(.maxMemberNum(wanted))
    }
    for change in fields.policy where !PolicyTable.fields(of: type).contains(change.field) || policy[change.field] != change.value
    {
      try policy.apply(change, in: type, by: permissions)
      changes.append(.policy(change.field, change.value))
    }
    if let allMuted = request.allMuted { set(allMuted ? GroupMute(mode: .ordinary) : .none, at: now, &changes) }
  }

  private mutating func set(
    _ field: WritableKeyPath<GroupRecord, String>, to value: String?, _ name: String, _ changes: inout [InfoChange]
  ) {
    guard let value, !value.isSame(as: self[keyPath: field]) else { return }
    self[keyPath: field] = value
    changes.append(.text(name, value))
  }

  /// "`allMuted:true` is muteGroup Ordinary without end, `false` is None."
  fileprivate mutating func set(_ wanted: GroupMute, at now: WallInstant, _ changes: inout [InfoChange]) {
    guard mute.current(at: now) != wanted else { return }
    mute = wanted
    mutedAt = now
    changes += InfoChange.mute(wanted)
  }
}

extension GroupPolicy {
  /// "A fixed field may be set to the value it has; another is 10007."
  mutating func apply(
    _ change: PolicyChange, in type: GroupType, by permissions: GroupPermissions
  ) throws(WireError) {
    if permissions.denial(ofSetting: change.field, to: change.value, in: type) != nil {
      let reason = PolicyTable.fields(of: type).isEmpty ? "no policy" : "a fixed \(change.field.rawValue)"
      throw WireError(.noRight, "Groups of type \(type.rawValue) have \(reason)", field: change.field.rawValue)
    }
    guard set(change.field, to: change.value) else { throw WireError(.badValue, field: change.field.rawValue) }
  }
}
