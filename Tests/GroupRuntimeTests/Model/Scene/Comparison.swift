import GroupModel
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Runs the same operations on the rules and on a group, and compares after each of them.
struct Comparison {
  private(set) var world: ModelWorld
  private var scene: GroupScene
  private var tokens = ModelTokens()
  private var attributesTold = AttributeTold()
  private var countersTold = CounterTold()
  private var changesTold = ChangesTold()
  private var clients = ResumingClients()
  private(set) var seen = ModelCoverage()

  init(server: ModelServer) {
    world = ModelWorld(server: server)
    scene = GroupScene(server: server)
  }

  /// Runs one operation.
  /// - Returns: what went otherwise than the rules say; nil = nothing.
  mutating func run(_ given: Operation) async -> String? {
    for _ in 0..<given.times {
      let operation = world.resolved(given)
      guard world.canHappen(operation) else { return nil }
      do {
        if let fault = try await fault(operation) { return "\(operation): \(fault)" }
      } catch {
        return "\(operation): \(error)"
      }
    }
    return nil
  }

  private mutating func fault(_ operation: Operation) async throws -> String? {
    let expected = world.apply(operation)
    seen.note(operation, expected, world)
    if operation.verb == .restart { changesTold.forget(world) }
    if operation["$failed"] != .null { changesTold.expectAgain(world) }
    var named = operation
    named.params = tokens.resolved(.object(operation.params)).members
    let outcome = try await scene.perform(named)
    if outcome.code != expected.code { return "answered \(outcome.code), not \(expected.code)" }
    if outcome.code == 0, !tokens.match(Comparison.sorted(outcome.result), Comparison.sorted(expected.result)) {
      return "answered\n    \(outcome.result.text), not\n    \(expected.result.text)"
    }
    if outcome.retryAfterMs != expected.retryAfterMs { return "retryAfterMs \(outcome.retryAfterMs ?? 0)" }
    if outcome.delivers != expected.delivers { return "delivered: \(outcome.delivers)" }
    if let fault = fault(in: outcome, expected) { return fault }
    try await clients.advance(operation, outcome, world, &scene)
    return faultInHistory() ?? faultInApplications() ?? storedOtherwise()
  }

  // MARK: Events and notifications

  private mutating func fault(in outcome: GroupScene.Outcome, _ expected: ModelExpectation) -> String? {
    let ofAttributes = outcome.events.filter { $0.name == "onGroupAttributeChanged" }
    let nextWake = scene.state?.nextWake?.milliseconds
    if let fault = attributesTold.fault(ofAttributes, world, nextWake: nextWake) { return fault }
    let ofCounters = outcome.events.filter { $0.name == "onGroupCounterChanged" }
    if let fault = countersTold.fault(ofCounters, world, nextWake: nextWake) { return fault }
    // A live room tells of its recalls at once.
    let changes = world.group?.memory == nil ? ChangesTold.names : []
    let ofChanges = outcome.events.filter { changes.contains($0.name) }.map { named($0) }
    if let fault = changesTold.fault(ofChanges, world, nextWake: nextWake) { return fault }
    for event in ofChanges { seen.note(event.name) }
    var left = expected.events
    let merged = changes.union(["onGroupAttributeChanged", "onGroupCounterChanged"])
    for event in outcome.events where !merged.contains(event.name) && !event.receivers.isEmpty {
      if event.isSkippable, !maySkip(event) { return "a slow connection may miss \(described(event))" }
      guard let index = left.firstIndex(where: { isSame(event, $0) }) else {
        return "not expected: \(described(event)); expected: \(left.map { described($0) })"
      }
      left.remove(at: index)
    }
    if let missing = left.first { return "missing: \(described(missing))" }
    return faultInOrder(of: outcome.events) ?? fault(in: outcome.notifications, expected.notifications)
  }

  /// The event with the model's tokens instead of the server's names.
  private func named(_ event: GroupScene.Outcome.Event) -> GroupScene.Outcome.Event {
    GroupScene.Outcome.Event(
      name: event.name, params: tokens.tokenized(event.params), receivers: event.receivers, isSkippable: event.isSkippable)
  }

  /// "Chat of rooms without history may be skipped", join and leave notices among it (sections 1
  /// and 6).
  private func maySkip(_ event: GroupScene.Outcome.Event) -> Bool {
    if event.name == "onGroupSignal" { return true }
    guard let group = world.group, !group.keepsHistory else { return false }
    return ["onRecvNewMessage", "onMemberEnter", "onMemberLeave"].contains(event.name)
  }

  private mutating func isSame(_ event: GroupScene.Outcome.Event, _ expected: ModelExpectation.Event) -> Bool {
    guard event.name == expected.name, event.receivers == expected.receivers else { return false }
    var attempt = tokens
    // Members whose grace ends at the same instant are in no specified order.
    let byName = event.name == "onMemberLeave"
    let (params, wanted) = (Comparison.sorted(event.params, members: byName), Comparison.sorted(expected.params, members: byName))
    guard attempt.match(params, wanted) else { return false }
    tokens = attempt
    return true
  }

  /// The value with its lists of changes sorted, because their order is not specified; and with its
  /// `memberList` where wanted.
  private static func sorted(_ value: JSON, members sortsMembers: Bool = false) -> JSON {
    switch value {
    case .array(let elements): return .array(elements.map { sorted($0) })
    case .object(var members):
      for (name, member) in members {
        let isSorted = name == "changeInfoList" || (sortsMembers && name == "memberList")
        let member = sorted(member)
        members[name] = isSorted ? .array(member.elements.sorted { key($0) < key($1) }) : member
      }
      return .object(members)
    default: return value
    }
  }

  private static func key(_ entry: JSON) -> String {
    (entry["type"].string ?? "") + (entry["key"].string ?? "") + (entry["userID"].string ?? "")
  }

  private func described(_ event: GroupScene.Outcome.Event) -> String {
    "\(event.name) \(event.params.text) to \(event.receivers.sorted())"
  }

  private func described(_ event: ModelExpectation.Event) -> String {
    "\(event.name) \(event.params.text) to \(event.receivers.sorted())"
  }

  /// Events leave in the order of `seq`.
  private func faultInOrder(of events: [GroupScene.Outcome.Event]) -> String? {
    let seqs = events.filter { !ChangesTold.names.contains($0.name) }.compactMap { $0.params["seq"].integer }
    return seqs == seqs.sorted() ? nil : "events leave in the order \(seqs)"
  }

  private mutating func fault(
    in notifications: [ModelExpectation.Notification], _ expected: [ModelExpectation.Notification]
  ) -> String? {
    var left = expected
    for notification in notifications {
      guard let index = left.firstIndex(where: { isSame(notification, $0) }) else {
        return "notification \(notification.content.text) of \(notification.users), expected \(expected)"
      }
      left.remove(at: index)
    }
    return left.first.map { "missing notification \($0.content.text) of \($0.users)" }
  }

  private mutating func isSame(
    _ notification: ModelExpectation.Notification, _ expected: ModelExpectation.Notification
  ) -> Bool {
    guard notification.users == expected.users else { return false }
    var attempt = tokens
    guard attempt.match(notification.content, expected.content) else { return false }
    tokens = attempt
    return true
  }

  // MARK: What is stored

  private var comparedThrough = 0

  private mutating func faultInHistory() -> String? {
    let messages = Array(world.group?.kept ?? [])
    if let group = world.group, scene.picture.firstSeq != group.firstSeq { return "messages from \(scene.picture.firstSeq) on" }
    if let group = world.group, !tokens.match(.string(scene.picture.record?.epoch ?? ""), group.epoch) { return "another epoch" }
    if let memory = world.group?.memory, !tokens.match(.string(scene.state?.live?.epoch ?? ""), memory.epoch) {
      return "another epoch of what is remembered"
    }
    if scene.picture.messages.count != messages.count { return "\(scene.picture.messages.count) messages, not \(messages.count)" }
    let count = world.group?.lastSeq ?? 0
    let first = comparedThrough > count ? 0 : max(0, messages.count - (count - comparedThrough))
    defer { comparedThrough = count }
    for index in first..<messages.count {
      let text = JSONWriter.text { $0.value(MessageInfo(scene.picture.messages[index])) }
      guard let stored = try? JSON(reading: text) else { return "no JSON: \(String(decoding: text, as: UTF8.self))" }
      if !tokens.match(Comparison.sorted(stored), Comparison.sorted(messages[index].json)) {
        return "stored\n    \(stored.text), not\n    \(messages[index].json.text)"
      }
    }
    return nil
  }

  private mutating func faultInApplications() -> String? {
    let stored = JSON.array(scene.picture.applications.map { Comparison.json($0) })
    let expected = JSON.array(world.applications.map { Comparison.json($0) })
    return tokens.match(stored, expected) ? nil : "applications\n    \(stored.text), not\n    \(expected.text)"
  }

  private static func json(_ application: GroupApplication) -> JSON {
    let handling = application.handling.map { handling -> [String: JSON] in
      [
        "isAgreed": .bool(handling.isAgreed), "by": .string(handling.by.rawValue), "time": .int(handling.time.milliseconds),
        "message": .string(handling.message),
      ]
    }
    return [
      "id": .string(application.id), "epoch": .string(application.epoch), "type": .string(application.kind.rawValue),
      "from": .string(application.fromUser.rawValue), "to": .string(application.toUser?.rawValue ?? ""),
      "addTime": .int(application.addTime.milliseconds), "message": .string(application.requestMsg),
      "attach": application.attach.map { .string($0) } ?? .null, "handling": .object(handling ?? [:]),
    ]
  }

  private static func json(_ application: ModelApplication) -> JSON {
    [
      "id": application.id, "epoch": application.epoch, "type": .string(application.type), "from": .string(application.fromUser),
      "to": .string(application.toUser), "addTime": .int(application.addTime), "message": .string(application.message),
      "attach": application.attach.map { .string($0) } ?? .null, "handling": .object(application.handling ?? [:]),
    ]
  }

  /// The store holds the same as memory, so that a restart changes nothing; and the same
  /// departures.
  private func storedOtherwise() -> String? {
    let departures = Dictionary(uniqueKeysWithValues: scene.picture.departures.map { ($0.key.rawValue, $0.value.milliseconds) })
    if departures != world.departures { return "departures \(departures), not \(world.departures)" }
    let picture = scene.picture
    let reports = Set(world.reports.compactMap { world.reportNames[$0]?.string }.compactMap { tokens.name(of: $0) })
    if Set(picture.reports.keys) != reports { return "reports \(picture.reports.keys.sorted()), not \(reports.sorted())" }
    guard let state = scene.state else { return picture.record == nil ? nil : "still stored" }
    guard var record = picture.record else { return "not stored" }
    // Counted again from the members when the group is loaded.
    record.nextOrdinal = state.record.nextOrdinal
    if record != state.record { return "stored \(record), in memory \(state.record)" }
    let members = Dictionary(uniqueKeysWithValues: state.roster.all.map { ($0.userID, $0) })
    if picture.members != members { return "stored \(picture.members), in memory \(members)" }
    // Both sides delete ended records, but not at the same time.
    let former = [picture.former, state.roster.former.byUser].map { $0.filter { $0.value.isMemorable(at: scene.now) } }
    if former[0] != former[1] { return "stored \(former[0]), in memory \(former[1])" }
    if picture.lastMessage != state.messages.lastMessage { return "another last message is stored" }
    if picture.pinned != state.pinned { return "pinned \(picture.pinned) are stored, in memory \(state.pinned)" }
    if picture.attributes != state.attributes.values { return "other attributes are stored" }
    if picture.counters != state.counters.values { return "other counters are stored" }
    let isOpen = picture.openApplications.allSatisfy { state.applications.open($0) == $0 }
    return isOpen ? nil : "other applications are stored"
  }

  // MARK: What can be observed

  /// Reads as each user what shows most, or everything.
  mutating func look(atAll isThorough: Bool) async -> String? {
    if isThorough {
      // The event that waits for its turn arrives.
      if let fault = await run(Operation(.world, .wait, ["ms": 60_000])) { return fault }
      do {
        if let fault = try await clients.finish(world, &scene) { return fault }
        seen.note("views of clients", clients.views)
        seen.note("pages of changes", clients.pagesWithChanges)
      } catch {
        return "\(error)"
      }
    }
    guard let group = world.group else { return nil }
    let users = JSON.strings(ModelWorld.users)
    var reads: [(Verb, [String: JSON])] = [(.getGroupsInfo, [:])]
    if group.keepsHistory || group.memory != nil { reads.append((.getGroupHistoryMessageList, ["count": 100])) }
    if isThorough {
      reads += [
        (.getGroupOnlineMemberCount, [:]), (.getGroupMemberList, [:]), (.getGroupMutedMembers, [:]),
        (.getGroupMemberRoles, ["userIDList": users]), (.getGroupMemberInviters, ["userIDList": users]),
        (.getGroupMembersInfo, ["userIDList": users]),
      ]
    }
    for who in ModelWorld.users.map({ Operator.user($0, session: nil) }) {
      for (verb, params) in reads {
        if let fault = await run(Operation(who, verb, params)) { return fault }
      }
    }
    for verb in [
      Verb.getGroupMemberList, .getGroupMutedMembers, .getGroupBannedMembers, .getGroupAttributes, .getGroupCounters,
      .getGroupsInfo,
    ] {
      if let fault = await run(Operation(.administrator, verb)) { return fault }
    }
    return nil
  }
}
