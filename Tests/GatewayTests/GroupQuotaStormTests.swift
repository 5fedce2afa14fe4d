import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Many who want the same users at once, some of them several users, in any order: nobody waits for
/// ever, and the number of a user's groups is exactly what it may be.
@Suite(.serialized) struct GroupQuotaStormTests {
  private static let limit = 3
  private let users = (0..<6).map { "u\($0)" }
  private let backend = Backend(executors: [SerialTestExecutor(), SerialTestExecutor(), SerialTestExecutor()]) {
    $0.groupsPerUser = limit
  }

  private func groups(of user: String) async throws -> Int {
    try await backend.store.inner.memberships(of: try #require(UserID(user))).count
  }

  // MARK: Nobody leaves

  /// Where nobody leaves, a user ends up in as many groups as were tried, or in as many as one may
  /// be: none too many, and none refused that had room. With odd seeds it is remembered how many
  /// groups they are in, as if they were signed in.
  @Test(arguments: 0..<12) func everyUserBelowTheLimitJoins(seed: UInt64) async throws {
    remember(users, seed)
    for group in 0..<5 {
      try await backend.create("open\(group)", "Public", by: "a\(group)", #""joinMode":"Any","inviteMode":"Any""#)
      try await backend.create("asks\(group)", "Public", by: "b\(group)")
      for user in users { try await backend.apply(user, to: "asks\(group)") }
    }
    let applications = try await backend.result("getGroupApplicationList")["applicationList"]
    let tried = try await withThrowingTaskGroup { tasks in
      for task in 0..<8 {
        tasks.addTask {
          var random = SeededGenerator(seed: seed * 100 + UInt64(task))
          var tried: [String: Set<String>] = [:]
          for _ in 0..<4 { tried.merge(try await bringSomebody(applications, &random)) { $0.union($1) } }
          return tried
        }
      }
      return try await tasks.reduce(into: [String: Set<String>]()) { all, tried in all.merge(tried) { $0.union($1) } }
    }
    for user in users {
      #expect(try await groups(of: user) == min(Self.limit, tried[user]?.count ?? 0), "\(user) \(tried[user] ?? [])")
    }
    #expect(backend.services.dispatcher.quotas.scopeCount == 0)
  }

  /// - Returns: in which groups each of the users was to come.
  private func bringSomebody(_ applications: JSON, _ random: inout SeededGenerator) async throws -> [String: Set<String>] {
    let some = Array(users.shuffled(using: &random).prefix(.random(in: 1...4, using: &random)))
    let number = Int.random(in: 0..<5, using: &random)
    let group = "open\(number)"
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let code = try await backend.code("joinGroup", as: some[0], #""groupID":"\#(group)""#)
      #expect([0, 10037, 10013].contains(code))
      return [some[0]: [group]]
    case 1:
      let names = some.map { "\"\($0)\"" }.joined(separator: ",")
      _ = try await backend.result("inviteUserToGroup", as: "a\(number)", #""groupID":"\#(group)","userIDList":[\#(names)]"#)
      return Dictionary(uniqueKeysWithValues: some.map { ($0, [group]) })
    case 2:
      let id = "new\(random.next())"
      let members = some.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
      try await backend.create(id, "Meeting", by: "o\(random.next())", #""memberList":[\#(members)]"#)
      return Dictionary(uniqueKeysWithValues: some.map { ($0, [id]) })
    default:
      guard let application = applications.elements.randomElement(using: &random) else { return [:] }
      let decider = "b" + (application["groupID"].string?.suffix(1) ?? "")
      let code = try await backend.code(
        "acceptGroupApplication", as: decider, #""applicationID":"\#(application["applicationID"].string ?? "")""#)
      #expect([0, 10037, 10024].contains(code))
      return [application["fromUser"].string ?? "": [application["groupID"].string ?? ""]]
    }
  }

  private func remember(_ users: [String], _ seed: UInt64) {
    guard !seed.isMultiple(of: 2) else { return }
    for user in users.compactMap({ UserID($0) }) {
      backend.services.dispatcher.quotas.startCounting(user)
      backend.services.dispatcher.quotas.record(user, groups: 0)
    }
  }

  // MARK: People come and go

  @Test(arguments: 0..<12) func noUserIsEverInTooManyGroups(seed: UInt64) async throws {
    remember(users, seed)
    for group in 0..<6 {
      try await backend.create("g\(group)", "Public", by: "owner\(group)", #""joinMode":"Any","inviteMode":"Any""#)
    }
    try await withThrowingTaskGroup { tasks in
      for task in 0..<8 {
        tasks.addTask {
          var random = SeededGenerator(seed: seed * 100 + UInt64(task))
          for _ in 0..<8 { try await comeOrGo(&random) }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(backend.services.dispatcher.quotas.scopeCount == 0)
    for group in 0..<Self.limit { try await backend.create("last\(group)", "Work", by: "last\(group)") }
    for user in users {
      var count = try await groups(of: user)
      for group in 0..<Self.limit {
        let rows = try await backend.result(
          "inviteUserToGroup", as: "last\(group)", #""groupID":"last\#(group)","userIDList":["\#(user)"]"#)
        #expect(rows["memberList"][0]["result"] == (count < Self.limit ? "Success" : "OverLimit"))
        count = min(Self.limit, count + 1)
      }
    }
  }

  private func comeOrGo(_ random: inout SeededGenerator) async throws {
    let some = Array(users.shuffled(using: &random).prefix(.random(in: 1...4, using: &random)))
    let names = some.map { "\"\($0)\"" }.joined(separator: ",")
    let group = Int.random(in: 0..<6, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: _ = try await backend.code("joinGroup", as: some[0], #""groupID":"g\#(group)""#)
    case 1: _ = try await backend.code("quitGroup", as: some[0], #""groupID":"g\#(group)""#)
    case 2: _ = try await backend.code("kickGroupMember", #""groupID":"g\#(group)","userIDList":[\#(names)]"#)
    default:
      let members = #""groupID":"g\#(group)","userIDList":[\#(names)]"#
      _ = try await backend.code("inviteUserToGroup", as: "owner\(group)", members)
    }
    for user in users { #expect(try await groups(of: user) <= Self.limit, "\(user)") }
  }
}
