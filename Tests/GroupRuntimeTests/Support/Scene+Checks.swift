import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The state that tests compare besides answers.
extension Scene {
  /// All that the group is, to see whether something changed.
  var fingerprint: String {
    guard let state else { return "none" }
    let members = state.roster.all.sorted { $0.ordinal < $1.ordinal }
    let former = state.roster.former.byUser.values.sorted { $0.userID < $1.userID }
    let applications = Scene.users.flatMap { user in
      GroupApplication.Kind.allCases.compactMap { state.applications.application($0, of: user) }
    }
    return [
      "\(state.record)", "\(members)", "\(former)", "\(state.messages)",
      "\(members.map { state.roster.isOnline($0.userID) })", "\(applications)", "\(state.attributes.values.entries)",
      "\(state.attributes.writes)",
      "\(state.attributes.administratorWrites)", "\(members.map { state.roster.absentSince($0.userID) })",
      String(describing: state.messageRate), String(describing: state.signals), String(describing: state.slow),
      String(describing: state.live), "\(state.counters.values.entries)",
      "\(state.counters.writes)",
    ].joined(separator: "\n")
  }

  /// The users that scenes have, and some more.
  private static let users: [UserID] = ["olga", "adam", "mary", "carl", "oscar", "petra", "quinn", "administrator"]

  /// Sends a request that must be refused: without an event, and without a change.
  func expectRefused(
    _ code: Int, _ method: String, _ params: String = "{}", by name: String, _ facts: UserFacts = .none,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = fingerprint
    let outcome = try ask(method, params, by: name, facts)
    expectNothingDone(outcome, code: code, before: before, "\(method) \(params) by \(name)", sourceLocation)
  }

  /// Sends a request that must succeed without an event and without a change.
  @discardableResult
  func expectNothing(
    _ method: String, _ params: String = "{}", by name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> JSON {
    let before = fingerprint
    let outcome = try ask(method, params, by: name)
    expectNothingDone(outcome, code: 0, before: before, "\(method) \(params) by \(name)", sourceLocation)
    return outcome.result
  }

  func expectNothingDone(
    _ outcome: Outcome, code: Int, before: String, _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome.code == code, "\(what)", sourceLocation: sourceLocation)
    #expect(outcome.events.isEmpty && outcome.decision.effects.isEmpty, "\(what)", sourceLocation: sourceLocation)
    #expect(outcome.decision.changes.isEmpty && !outcome.decision.disbands, "\(what)", sourceLocation: sourceLocation)
    #expect(fingerprint == before, "\(what)", sourceLocation: sourceLocation)
  }

  /// The role of each recorded member.
  var roles: [UserID: Role] {
    Dictionary(uniqueKeysWithValues: state.map { $0.roster.all.map { ($0.userID, $0.role) } } ?? [])
  }

  /// The `tips` of the stored messages, in order.
  var tips: [JSON] {
    get throws {
      try messages.compactMap { message in
        if case .tips(let text) = message.content { try JSON(text) } else { nil }
      }
    }
  }

  /// Loads the group again, as after a restart of the server.
  func reload() async throws {
    let sentSince = clocks.wall - RecentlySent.retentionMilliseconds
    var stored = try #require(try await store.group("g", sentSince: sentSince, at: 0, mostFormer: .max))
    stored.sentSince = sentSince
    state = GroupState(stored, at: clocks.now, rules: rules)
    forgetRecentRoom()
    openRecentRoom()
    if let corrections = state?.corrections.popAll(), !corrections.isEmpty { try commit(corrections) }
    for session in sessions.keys { refreshPresence(of: String(session.prefix { $0 != "/" })) }
  }

  /// A decision on an application.
  @discardableResult
  func decide(
    _ application: GroupApplication, _ agrees: Bool, reason: String = "", by name: String, _ facts: UserFacts = .none
  ) throws -> Outcome {
    try ask(.decide(application, agrees: agrees, reason: reason, facts), by: caller(name))
  }

  /// The list of those who are to be members, for a creation or an import.
  static func memberList(_ names: [String]) -> String {
    #""memberList":[\#(names.map { #"{"userID":"\#($0)"}"# }.joined(separator: ","))]"#
  }

  /// The params that an invitation or a removal gives for these users.
  static func users(_ names: [String], _ more: String = "") -> String {
    #"{"userIDList":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]\#(more.isEmpty ? "" : "," + more)}"#
  }
}

extension Scene.Outcome {
  /// The sessions that each event went to.
  var heard: [String: [String]] {
    let names = Set(events.values.joined().compactMap { $0["method"].string })
    return Dictionary(uniqueKeysWithValues: names.map { ($0, receivers(of: $0)) })
  }

  /// The same without onGroupApplicationListChanged (ApplicationListEventTests).
  var heardBesidesLists: [String: [String]] { heard.filter { $0.key != "onGroupApplicationListChanged" } }

  /// The rows of a bulk answer: what became of each user.
  var rows: [String] {
    result["memberList"].elements.map { "\($0["userID"].string ?? "?") \($0["result"].string ?? "?")" }
  }

  /// The notifications that are kept, with those they are for, each once.
  var notifications: [SystemNotification.Kind: Set<UserID>] {
    notified.reduce(into: [:]) { found, notified in
      let (notification, users) = notified
      for user in users {
        let isFirst = found[notification.kind, default: []].insert(user).inserted
        #expect(isFirst, "\(notification.kind) twice for \(user)")
      }
    }
  }

  /// The notification of a kind, where there is one.
  func notification(_ kind: SystemNotification.Kind) throws -> SystemNotification {
    let found = notified.map(\.notification).filter { $0.kind == kind }
    try #require(found.count == 1)
    return found[0]
  }

  /// The applications that are remembered with this.
  var applications: [GroupApplication] {
    decision.changes.compactMap { if case .putApplication(let application, _) = $0 { application } else { nil } }
  }

  /// The only application that is remembered with this.
  func application() throws -> GroupApplication {
    try #require(applications.count == 1)
    return applications[0]
  }
}

/// How events name people.
enum Person {
  static let olga: JSON = ["userID": "olga", "nameCard": "", "role": "Owner"]
  static let adam: JSON = ["userID": "adam", "nameCard": "", "role": "Admin"]
  static let mary: JSON = ["userID": "mary", "nameCard": "", "role": "Member"]
  static let carl: JSON = ["userID": "carl", "nameCard": "", "role": "200"]
  static let oscar: JSON = ["userID": "oscar", "nameCard": "", "role": "Member"]
  static let administrator: JSON = ["userID": "administrator"]

  static func outside(_ name: String) -> JSON { ["userID": .string(name), "nameCard": "", "role": "NotMember"] }
}
