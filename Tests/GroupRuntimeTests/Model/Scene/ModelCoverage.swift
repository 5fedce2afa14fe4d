import ThrongTestKit

/// Counts of the outcomes in sequences, to see that a run covers all of them.
struct ModelCoverage: Sendable {
  /// How many operations ran, looks at what can be observed included.
  private(set) var operations = 0
  /// How often each outcome occurred: each answer of each method ("joinGroup 10014"), event, tip
  /// and notification.
  private(set) var happenings: [String: Int] = [:]

  mutating func note(_ operation: Operation, _ expected: ModelExpectation, _ world: ModelWorld) {
    operations += 1
    note("\(operation.verb) \(expected.code)")
    note("\(expected.code)")
    for event in expected.events { note(event.name) }
    for notification in expected.notifications { note("notification " + (notification.content["type"].string ?? "?")) }
    if let tip = world.group?.messages.last?.content["type"].string { note("tip " + tip) }
  }

  mutating func note(_ happening: String, _ count: Int = 1) { if count > 0 { happenings[happening, default: 0] += count } }

  /// The clients whose view was the server's, and the pages of changes that they read.
  var resumed: String {
    "\(happenings["views of clients"] ?? 0) views of clients, \(happenings["pages of changes"] ?? 0) pages of changes"
  }

  mutating func add(_ other: ModelCoverage) {
    operations += other.operations
    happenings.merge(other.happenings, uniquingKeysWith: +)
  }

  /// The outcomes that a run over all types has to have: a success of every method, and every
  /// event, tip, notification and error of groups.
  var missing: [String] {
    let succeeded = Verb.allCases.map { "\($0) 0" }
    return (succeeded + ModelCoverage.wanted).filter { happenings[$0] == nil }
  }

  private static let wanted =
    words(
      """
      onMemberEnter onMemberLeave onMemberInvited onMemberKicked onGroupMemberInfoChanged onGroupCreated onGroupDismissed
      onGroupRecycled onGroupInfoChanged onReceiveJoinApplication onReceiveGroupInvitation onApplicationProcessed
      onGroupApplicationListChanged
      onGrantAdministrator onRevokeAdministrator onQuitFromGroup onReceiveMessageOptChanged onRecvNewMessage onRecvMessageRevoked
      onConversationRead onConversationChanged onRecvMessageReadReceipts onReceiveRESTCustomData onGroupMessagePinned
      onGroupSignal
      onRecvMessageModified onRecvMessageReactionsChanged
      8507 8508 8511 10004 10007 10009 10010 10013 10014 10017 10019 10021 10023 10024 10025 10030 10031 10032 10033 10036 10037 10038
      10047 10048 10049 10050 10054 10055 10057 10058 10059 10061
      """)
    + ["views of clients", "pages of changes"]
    + words("Join Invite Quit Kicked SetAdmin CancelAdmin GroupInfoChange MemberInfoChange Create").map { "tip " + $0 }
    + words(
      """
      AddGroupRequest AddGroupAccept AddGroupRefuse KickedOff GroupDismissed GroupCreated InvitedToGroup QuitGroup GrantAdmin
      CancelAdmin GroupRecycled InviteRequest InviteAccept InviteRefuse Custom
      """
    ).map { "notification " + $0 }

  private static func words(_ text: String) -> [String] { text.split { $0 == " " || $0 == "\n" }.map { String($0) } }
}
