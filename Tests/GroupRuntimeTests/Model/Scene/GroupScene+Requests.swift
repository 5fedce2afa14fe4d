import GroupModel
import Synchronization
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Asking the group, and completing answers from the store.
extension GroupScene {
  mutating func ask(_ operation: Operation) async throws {
    let caller = caller(operation.by)
    if operation.verb == .actTogether {
      try actTogether(operation)
    } else if let other = operation["$with"].string {
      outcome.result = try await revokeTogether([caller, self.caller(Operator(other))], seq: operation["seq"].integer!)
    } else if GroupScene.pagedVerbs.contains(operation.verb) {
      try await readPages(operation, by: caller)
    } else {
      note(try await answer(try request(operation), by: caller))
    }
  }

  /// Changes of a crowd, each by a user's first session.
  mutating func actTogether(_ operation: Operation) throws {
    let named: [(String, Verb)] =
      operation["joins"].strings.map { ($0, .joinGroup) } + operation["edits"].strings.map { ($0, .setGroupMemberInfo) }
      + operation["quits"].strings.map { ($0, .quitGroup) }
    let requests = try named.compactMap { name, verb -> CrowdRequest? in
      let who = Operator.user(name, session: 1)
      let params: [String: JSON] =
        verb == .setGroupMemberInfo ? ["userID": .string(name), "nameCard": operation["nameCard"]] : [:]
      return state?.crowdRequest(try request(Operation(who, verb, params)), by: caller(who))
    }
    let now = reading
    guard let decided = state?.decideTogether(requests, at: now) else { return }
    try apply(decided.decision)
    outcome.result = .array(
      decided.replies.map { if case .failure(let error) = $0 { .int(error.code.rawValue) } else { 0 } })
  }

  private static let pagedVerbs: [Verb] = [
    .getGroupMemberList, .getGroupMutedMembers, .getGroupBannedMembers, .getGroupMessageReadMemberList,
    .getGroupMessageReplies,
  ]

  /// A list from its beginning to its end.
  mutating func readPages(_ operation: Operation, by caller: Caller) async throws {
    var operation = operation
    let list = operation.verb == .getGroupMessageReplies ? "messageList" : "memberList"
    var listed: [JSON] = []
    var departures: [String: JSON] = [:]
    var pages = 0
    repeat {
      pages += 1
      if pages > 100 { throw Fault(text: "the pages of \(operation) never end: \(outcome.result)") }
      note(try await answer(try request(operation), by: caller))
      listed += outcome.result[list].elements
      let given = outcome.result.members.filter { ["leftUserIDList", "isComplete"].contains($0.key) }
      if pages > 1, !given.isEmpty { throw Fault(text: "page \(pages) of \(operation) tells who has left") }
      departures.merge(given) { $1 }
      operation.params["nextSeq"] = outcome.result["nextSeq"]
    } while outcome.code == 0 && outcome.result["nextSeq"] != 0 && listed.count < 100
    // "In no order that anybody promises."
    if operation.verb == .getGroupMutedMembers { listed.sort { $0["userID"].string! < $1["userID"].string! } }
    if outcome.code == 0 {
      var whole = departures.merging([list: .array(listed), "nextSeq": 0]) { $1 }
      whole["totalCount"] = outcome.result.members["totalCount"]
      outcome.result = .object(whole)
    }
  }

  func caller(_ who: Operator) -> Caller {
    guard let name = who.name else { return .administrator }
    let key = who.session.map { SessionKey(loop: $0.number, connection: GroupScene.number(of: name)) }
    return .user(user(name), platform: Platform(rawValue: who.platform)!, session: key, profile: profiles[user(name)])
  }

  static func number(of user: String) -> UInt64 { UInt64(ModelWorld.users.firstIndex(of: user)!) }

  func request(_ operation: Operation) throws -> GroupOperation {
    var application = picture.applications.first { $0.id == operation["applicationID"].string }
    if operation["$stale"] != .null { application?.handling = nil }
    return try parser.request(operation, application: application, picture)
  }

  mutating func answer(_ request: GroupOperation, by caller: Caller) async throws -> Reply {
    defer { state?.messages.recentChanges.removeAll() }
    return try await finish(try decide(request, by: caller))
  }

  mutating func finish(_ decision: Decision) async throws -> Reply {
    try apply(decision)
    let counted = Mutex<(Int, UnreadMessages)?>(nil)
    let reader = StoredAnswerReader(
      group: GroupScene.group, messages: picture, profiles: ProfileCache(store: StoredProfiles(profiles: profiles)),
      observer: RecordingObserver(),
      pageBytes: rules.limits.pageBytes,
      didCount: { count, unread in counted.withLock { $0 = (count, unread) } })
    // As the actor notes it: later questions build upon it.
    defer {
      if let (count, unread) = counted.withLock({ $0 }), !unread.ranges.isEmpty {
        state?.messages.recordUnread(count, through: unread.through, for: unread.reader, unread.question)
      }
    }
    switch decision.answer {
    case .reply(let reply): return reply
    case .counters(let value, _):
      try commitCounters()
      return .success(value)
    case .stored(let answer, _): return await reader.reply(to: answer)
    case .recent(let question, _):
      guard let found = recentRoom?.answer(to: question, at: reading.monotonic) else { return .error(.temporary) }
      return await reader.reply(to: found)
    case .recentLookUp(let lookUp, let caller):
      return try await finish(try decide(.foundRecent(lookUp, remembered(lookUp)), by: caller))
    case .lookUp(let lookUp, let caller):
      let operation = try await lookUp.read(from: picture, in: GroupScene.group, for: caller)
      return try await finish(try decide(operation, by: caller))
    }
  }

  private func remembered(_ lookUp: RecentLookUp) -> RecentMessage? {
    recentRoom?.message(for: lookUp, at: reading.monotonic)
  }

  /// Both find the message before either has recalled it.
  mutating func revokeTogether(_ callers: [Caller], seq: Int64) async throws -> JSON {
    var codes: [JSON] = []
    let first = try callers.map { try decide(.request(.revokeGroupMessage(RevokeGroupMessage(seq: seq))), by: $0) }
    let before = picture
    for (caller, decision) in zip(callers, first) {
      var decision = decision
      switch decision.answer {
      case .lookUp(let lookUp, _):
        decision = try decide(try await lookUp.read(from: before, in: GroupScene.group, for: caller), by: caller)
      // Nothing comes between this look and the decision.
      case .recentLookUp(let lookUp, _): decision = try decide(.foundRecent(lookUp, remembered(lookUp)), by: caller)
      default: break
      }
      if case .failure(let error) = try await finish(decision) {
        codes.append(.int(error.code.rawValue))
      } else {
        codes.append(0)
      }
    }
    state?.messages.recentChanges.removeAll()
    return .array(codes)
  }

  mutating func note(_ reply: Reply) {
    switch reply {
    case .success(let value):
      let text = Encoded(value).text
      outcome.result = (try? JSON(reading: text)) ?? .string("no JSON: " + String(decoding: text, as: UTF8.self))
    case .failure(let error): (outcome.code, outcome.retryAfterMs) = (error.code.rawValue, error.retryAfterMs)
    }
  }

  mutating func decide(_ request: GroupOperation, by caller: Caller) throws -> Decision {
    let (now, users) = (reading, usersSignedIn)
    if let decision = state?.decide(request, by: caller, at: now, usersSignedIn: users) { return decision }
    do throws(WireError) {
      let made = try GroupState.create(request, id: GroupScene.group, by: caller, at: now, rules: rules)
      state = made.state
      openRecentRoom()
      return made.decision
    } catch {
      return Decision(answer: .reply(.failure(error)))
    }
  }
}
