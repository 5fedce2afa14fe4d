import GroupModel
import GroupPermissions
import WireProtocol

/// The group's info, and its changes by setGroupInfo and muteGroup (Protocol.md, "Group info",
/// "Joined groups", "Search" and "Group mute").
extension GroupState {
  // MARK: Rows of getGroupsInfo, getJoinedGroupList and searchGroups

  func info(for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    switch principal(of: caller) {
    case .administrator: return infoReply(for: .administrator, by: caller, in: context)
    case .outsider:
      guard record.type.isVisibleToNonMembers else { throw WireError(.noRight, "Not a member") }
      return infoReply(for: .outsider, by: caller, in: context)
    case .member: return memberInfoReply(for: caller, in: context)
    }
  }

  /// "Groups whose info, last message or selfInfo changed at or after it."
  func joinedInfo(for caller: Caller, since: WallInstant, in context: DecisionContext) -> Decision {
    guard let user = caller.userID, let member = roster[user],
      lastChange(for: member, in: context) >= since
    else { return .noRow }
    return infoReply(forMember: member, by: caller, in: context)
  }

  /// When the group or the member's own view of it last changed; the end of a mute is such a
  /// change.
  private func lastChange(for member: Member, in context: DecisionContext) -> WallInstant {
    let muteEnds = [member.muteUntil, record.mute.muteUntil ?? .unset].filter { $0 <= context.wall }
    let changes = [record.lastInfoTime, record.changeTime, messages.lastTime, member.changeTime]
    return (changes + muteEnds).reduce(.unset, max)
  }

  /// The row of searchGroups: "joined groups, and other groups that are searchable (their public
  /// fields only)".
  func foundInfo(joinedOnly: Bool, for caller: Caller, in context: DecisionContext) -> Decision {
    guard principal(of: caller) == .outsider else { return memberInfoReply(for: caller, in: context) }
    if joinedOnly { return .noRow }
    return record.policy.isSearchable && record.type.isVisibleToNonMembers
      ? infoReply(for: .outsider, by: caller, in: context) : .noRow
  }

  private func memberInfoReply(for caller: Caller, in context: DecisionContext) -> Decision {
    guard let member = caller.userID.flatMap({ roster.member($0) }) else {
      return infoReply(for: .administrator, by: caller, in: context)
    }
    return infoReply(forMember: member, by: caller, in: context)
  }

  /// The unread count needs the store, unless memory holds all of it.
  private func infoReply(forMember member: Member, by caller: Caller, in context: DecisionContext) -> Decision {
    let member = member.current(at: context.wall)
    let unread = unread(of: member)
    let reader = GroupInfo.Reader.member(GroupInfo.SelfInfo(member: member, unreadCount: unread.total()))
    guard !unread.ranges.isEmpty else { return infoReply(for: reader, by: caller, in: context) }
    return .answer(.stored(.info(groupInfo(for: reader, in: context), of: member, unread), for: caller.requester))
  }

  private func infoReply(for reader: GroupInfo.Reader, by caller: Caller, in context: DecisionContext) -> Decision {
    let info = groupInfo(for: reader, in: context)
    return info.lastMessage == nil
      ? Decision(.groupInfo(info)) : .answer(.stored(.shown(.groupInfo(info)), for: caller.requester))
  }

  private func groupInfo(for reader: GroupInfo.Reader, in context: DecisionContext) -> GroupInfo {
    let lastMessage = messages.lastMessage
    return GroupInfo(
      record: record, now: context.wall, memberCount: roster.memberCount(usersSignedIn: context.usersSignedIn),
      onlineCount: roster.onlineCount(usersSignedIn: context.usersSignedIn), lastSeq: messages.lastSeq,
      firstSeq: messages.firstSeq, lastMessageTime: messages.lastTime,
      lastMessage: lastMessage.flatMap { isVisible($0, to: reader) ? MessageInfo($0) : nil },
      reader: reader)
  }

  private func isVisible(_ message: Message, to reader: GroupInfo.Reader) -> Bool {
    switch reader {
    case .administrator: true
    case .outsider: false
    case .member(let selfInfo): visibleHistory(of: selfInfo.member).contains(message.seq ?? 0)
    }
  }

  // MARK: Changes

  mutating func setInfo(_ request: SetGroupInfo, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    for action in actions(of: request) { try require(action, by: caller) }
    var edited = record
    var changes: [InfoChange] = []
    try edited.apply(request, at: context.wall, &changes)
    try checkLimits(of: request, on: edited)
    var decision = Decision(.empty)
    if !changes.isEmpty { changeInfo(to: edited, changes, by: caller, in: context, into: &decision) }
    return decision
  }

  /// "Absent or 0 = no end; muteUntil is absent then".
  mutating func muteGroup(_ request: MuteGroup, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.muteGroup, by: caller)
    var mute = request.mute
    if mute.mode != .none, request.duration > 0 { mute.muteUntil = context.wall + .seconds(request.duration) }
    var decision = Decision(.groupMute(MuteGroup.Result(muteUntil: mute.muteUntil)))
    var edited = record
    var changes: [InfoChange] = []
    edited.set(mute, at: context.wall, &changes)
    if !changes.isEmpty { changeInfo(to: edited, changes, by: caller, in: context, into: &decision) }
    return decision
  }

  /// Stores a changed record and announces the changes: one onGroupInfoChanged with all entries,
  /// and the tip that keeps it.
  mutating func changeInfo(
    to edited: GroupRecord, _ changes: [InfoChange], by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) {
    record = edited
    if !record.policy.memberChangeNotification { removeNotices() }
    record.lastInfoTime = context.now
    decision.changes.append(recordChange())
    let tip = appendTips(.groupInfoChange(changes), by: caller, in: context, always: true, into: &decision)
    let event = event(.onGroupInfoChanged(changes, by: eventOperator(caller), tip), in: context)
    charge(event, in: context, into: &decision)
    decision.effects.append(.publish(event, .control, except: nil))
    post(.groupInfoChanged, .event(event), at: context.now, into: &decision)
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

  private func checkLimits(of request: SetGroupInfo, on edited: GroupRecord) throws(WireError) {
    guard edited.customInfo.count <= MapDomain.groupCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    guard let wanted = request.fields.maxMemberNum else { return }
    guard let cap = rules.limits.maxMemberNum[record.type] else { throw .noMaxMemberNum(in: record.type) }
    guard wanted <= cap else { throw WireError(.tooManyMembers, field: "maxMemberNum") }
    guard wanted >= roster.count else { throw WireError(.maxMemberNumBelowCount, field: "maxMemberNum") }
  }
}

extension Decision {
  /// The caller gets no row of this group.
  fileprivate static var noRow: Decision { Decision(.groupInfo(nil)) }
}

extension GroupRecord {
  /// Changes the fields that a request gives. "A field set to the value it has makes no entry."
  fileprivate mutating func apply(
    _ request: SetGroupInfo, at now: WallInstant, _ changes: inout [InfoChange]
  ) throws(WireError) {
    let fields = request.fields
    set(\.name, to: request.groupName, "GroupName", &changes)
    set(\.introduction, to: fields.introduction, "Introduction", &changes)
    set(\.notification, to: fields.notification, "Notification", &changes)
    set(\.faceURL, to: fields.faceURL, "FaceURL", &changes)
    changes += customInfo.mergeCustomInfo(fields.customInfo ?? [:]).map { .customInfo($0.key, $0.value) }
    set(\.serverCustomInfo, to: fields.serverCustomInfo, "ServerCustomInfo", &changes)
    if let wanted = fields.maxMemberNum, wanted != maxMemberNum {
      maxMemberNum = wanted
      changes.append(.maxMemberNum(wanted))
    }
    for change in fields.policy where !PolicyTable.fields(of: type).contains(change.field) || policy[change.field] != change.value
    {
      try policy.apply(change, in: type)
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
  mutating func apply(_ change: PolicyChange, in type: GroupType) throws(WireError) {
    if PolicyTable.denial(ofSetting: change.field, to: change.value, in: type) != nil {
      let reason = PolicyTable.fields(of: type).isEmpty ? "no policy" : "a fixed \(change.field.rawValue)"
      throw WireError(.noRight, "Groups of type \(type.rawValue) have \(reason)", field: change.field.rawValue)
    }
    guard set(change.field, to: change.value) else { throw WireError(.badValue, field: change.field.rawValue) }
  }
}
