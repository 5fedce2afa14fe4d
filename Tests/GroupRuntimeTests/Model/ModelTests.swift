import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Random sequences of operations by several users, against a second statement of the rules. What fails is shrunk and
/// printed with its seed.
@Suite struct ModelTests {
  private static let length = 60

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom], 1...25 as ClosedRange<UInt64>)
  func everySequenceComesToWhatTheRulesSay(type: GroupType, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let operations = (0..<ModelTests.length).map { _ in Operation.random(type, using: &random) }
    guard let (fault, count) = try await firstFault(of: operations, type) else { return }
    let short = try await shrink(Array(operations.prefix(count)), type)
    let last = try await firstFault(of: short, type)?.fault ?? fault
    Issue.record("seed \(seed), \(type.rawValue): \(last)\n\(short.map { "  \($0)" }.joined(separator: "\n"))")
  }

  /// The shortest failing prefix, less every operation without which it fails as well.
  private func shrink(_ operations: [Operation], _ type: GroupType) async throws -> [Operation] {
    var short = operations
    var index = 0
    while index < short.count {
      var without = short
      without.remove(at: index)
      if let (_, count) = try await firstFault(of: without, type) { short = Array(without.prefix(count)) } else { index += 1 }
    }
    return short
  }

  /// What went otherwise than the rules say, and after how many operations; nil = nothing.
  private func firstFault(of operations: [Operation], _ type: GroupType) async throws -> (fault: String, count: Int)? {
    let scene = Scene(users: Operation.users)
    var model = GroupModelOfRules(type: type)
    var results: [JSON] = []
    for (index, operation) in operations.enumerated() {
      let expected = model.apply(operation)
      let outcome = try perform(operation, in: scene, type)
      results.append(outcome?.result ?? .null)
      if let outcome, let fault = fault(outcome, expected, results) { return (fault, index + 1) }
      if let fault = fault(scene, model) { return (fault, index + 1) }
      if let fault = try await storedOtherwise(scene) { return (fault, index + 1) }
    }
    return nil
  }

  private func perform(_ operation: Operation, in scene: Scene, _ type: GroupType) throws -> Scene.Outcome? {
    switch operation {
    case .wait(let milliseconds):
      scene.clock.advance(by: milliseconds)
      return nil
    case .create(let user, let members):
      let list = members.map { #"{"userID":"\#($0.name)","role":"\#($0.role.wireName)"}"# }.joined(separator: ",")
      return try scene.ask("createGroup", #"{"groupType":"\#(type.rawValue)","groupName":"n","memberList":[\#(list)]}"#, by: user)
    case .join(let user): return try scene.ask("joinGroup", by: user)
    case .quit(let user): return try scene.ask("quitGroup", by: user)
    case .dismiss(let user): return try scene.ask("dismissGroup", by: user)
    case .send(let user, let mark, let onlineUserOnly):
      let marked = mark.map { #","clientMsgID":"\#($0)""# } ?? ""
      return try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":\#(onlineUserOnly)\#(marked)}"#, by: user)
    case .set(let user, let field, let value): return try scene.ask("setGroupInfo", #"{"\#(field)":\#(value)}"#, by: user)
    }
  }

  private func fault(_ outcome: Scene.Outcome, _ expected: GroupModelOfRules.Expectation, _ results: [JSON]) -> String? {
    if outcome.code != expected.code { return "answered \(outcome.code), not \(expected.code)" }
    var events: [String: Set<String>] = [:]
    for (session, list) in outcome.events {
      for event in list {
        let isFirst = events[event["method"].string ?? "?", default: []].insert(session).inserted
        if !isFirst { return "\(session) got \(event["method"]) twice" }
      }
    }
    if events != expected.events { return "events \(events), not \(expected.events)" }
    if let first = expected.repeats, outcome.result != results[first] {
      return "answered \(outcome.result), first \(results[first])"
    }
    return nil
  }

  private func fault(_ scene: Scene, _ model: GroupModelOfRules) -> String? {
    guard let state = scene.state else { return model.exists ? "the group is gone" : nil }
    if !model.exists { return "the group is still there" }
    let roles = Dictionary(uniqueKeysWithValues: model.members.map { (UserID(stringLiteral: $0.name), $0.role) })
    if state.members.mapValues(\.role) != roles { return "members \(state.members.mapValues(\.role)), not \(roles)" }
    if state.record.owner.rawValue != model.owner { return "owner \(state.record.owner), not \(model.owner ?? "none")" }
    if state.lastSeq != Int64(model.lastSeq) { return "lastSeq \(state.lastSeq), not \(model.lastSeq)" }
    if scene.messages.compactMap(\.seq) != (0..<model.lastSeq).map({ Int64($0 + 1) }) { return "a gap in seq" }
    if state.online != Set(state.members.keys) { return "online \(state.online)" }
    return nil
  }

  /// What is stored is what is in memory, so that a restart changes nothing.
  private func storedOtherwise(_ scene: Scene) async throws -> String? {
    let stored = try await scene.store.group("g", sentSince: 0)
    guard let state = scene.state else { return stored == nil ? nil : "still stored" }
    guard var stored else { return "not stored" }
    // Counted again from the members when the group is loaded.
    stored.record.nextOrdinal = state.record.nextOrdinal
    if stored.record != state.record { return "stored \(stored.record), in memory \(state.record)" }
    let members = Dictionary(uniqueKeysWithValues: stored.members.map { ($0.userID, $0) })
    if members != state.members { return "stored \(members), in memory \(state.members)" }
    return stored.lastMessage == state.lastMessage ? nil : "another last message is stored"
  }
}
