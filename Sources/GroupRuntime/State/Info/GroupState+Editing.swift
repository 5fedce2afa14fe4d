import GroupModel
import GroupPermissions
import WireProtocol

/// setGroupInfo and muteGroup (Protocol.md, "Group info" and "Group mute").
extension GroupState {
  mutating func setInfo(_ request: SetGroupInfo, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    for action in actions(of: request) { try require(action, by: caller) }
    var edited = record
    var changes: [InfoChange] = []
    try edited.apply(request, at: context.wall, noting: &changes)
    try checkSize(request, of: edited)
    var decision = Decision(.empty)
    if !changes.isEmpty { commit(edited, changes, by: caller, in: context, into: &decision) }
    return decision
  }

  /// muteGroup: "absent or 0 = no end; muteUntil is absent then".
  mutating func muteGroup(_ request: MuteGroup, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.muteGroup, by: caller)
    var mute = request.mute
    if mute.mode != .none, request.duration > 0 { mute.muteUntil = context.wall + request.duration * 1000 }
    var decision = Decision(.groupMute(MuteGroup.Result(muteUntil: mute.muteUntil)))
    var changes: [InfoChange] = []
    record.set(mute, at: context.wall, &changes)
    if !changes.isEmpty { commit(record, changes, by: caller, in: context, into: &decision) }
    return decision
  }

  private mutating func commit(
    _ edited: GroupRecord, _ changes: [InfoChange], by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    record = edited
    record.lastInfoTime = context.now
    decision.changes.append(.putGroup(record, isNew: false))
    publishInfoChange(changes, by: caller, in: context, into: &decision)
  }

  /// The rows of the table that a request falls under.
  private func actions(of request: SetGroupInfo) -> [GroupAction] {
    let fields = request.fields
    var actions: [GroupAction] = []
    if request.groupName != nil || fields.introduction != nil || fields.notification != nil || fields.faceURL != nil {
      actions.append(.editInfo)
    }
    if fields.customInfo != nil { actions.append(.editCustomInfo) }
    if fields.maxMemberNum != nil || !fields.policy.isEmpty { actions.append(.editPolicy) }
    if request.allMuted != nil { actions.append(.muteGroup) }
    return actions
  }

  private func checkSize(_ request: SetGroupInfo, of edited: GroupRecord) throws(WireError) {
    guard edited.customInfo.count <= MapDomain.groupCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    guard let wanted = request.fields.maxMemberNum else { return }
    guard let cap = rules.limits.maxMemberNum[record.type] else { throw WireError(.noRight, field: "maxMemberNum") }
    guard wanted <= cap else { throw WireError(.tooManyMembers, field: "maxMemberNum") }
    guard wanted >= members.count else { throw WireError(.maxMemberNumBelowCount, field: "maxMemberNum") }
  }

  /// One onGroupInfoChanged with all entries, and the tip that keeps it.
  mutating func publishInfoChange(
    _ changes: [InfoChange], by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    let tip = appendTips(.groupInfoChange(changes), by: caller, in: context, always: true, into: &decision)
    let event = event(.onGroupInfoChanged(changes, by: eventOperator(caller), tip), in: context)
    decision.effects.append(.publish(event, .control, except: nil))
  }
}

extension GroupRecord {
  /// Takes what a request gives. "A field set to the value it has makes no entry."
  fileprivate mutating func apply(
    _ request: SetGroupInfo, at now: Instant, noting changes: inout [InfoChange]
  ) throws(WireError) {
    let fields = request.fields
    set(\.name, to: request.groupName, "GroupName", &changes)
    set(\.introduction, to: fields.introduction, "Introduction", &changes)
    set(\.notification, to: fields.notification, "Notification", &changes)
    set(\.faceURL, to: fields.faceURL, "FaceURL", &changes)
    changes += customInfo.mergeCustomInfo(fields.customInfo ?? [:]).map { .customInfo($0.key, $0.value) }
    if let wanted = fields.maxMemberNum, wanted != maxMemberNum {
      maxMemberNum = wanted
      changes.append(.maxMemberNum(wanted))
    }
    for change in fields.policy where type == .bChatRoom || policy[change.field] != change.value {
      try GroupState.apply(change, to: &policy, of: type)
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
  fileprivate mutating func set(_ wanted: GroupMute, at now: Instant, _ changes: inout [InfoChange]) {
    guard mute.current(at: now) != wanted else { return }
    mute = wanted
    mutedAt = now
    changes += InfoChange.mute(wanted)
  }
}
