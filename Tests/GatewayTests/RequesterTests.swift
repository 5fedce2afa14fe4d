import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Work whose requester has gone is dropped.
@Suite struct RequesterTests {
  /// Methods that look at several groups one after the other.
  static let lists = [
    "getJoinedGroupList": "", "getGroupUnreadCount": "", "getGroupsInfo": #""groupIDList":["a","b","c"]"#,
    "syncGroups": #""groups":[{"groupID":"a","epoch":"e","seq":0},{"groupID":"b","epoch":"e","seq":0}]"#,
    "searchGroups": #""keywordList":["a","b","c"]"#,
  ]

  /// A server with three groups of olga's, none of them in memory.
  private func withGroups(_ body: @escaping (LiveGateway) async throws -> Void) async throws {
    try await LiveGateway.with { live in
      for name in ["a", "b", "c"] { try await live.backend.create(name, "Meeting") }
      live.services.registry.retireGroups(unusedFor: .zero)
      try await live.backend.waitUntilUnloaded()
      try await body(live)
    }
  }

  @Test(arguments: lists.keys.sorted()) func aListStopsWhenItsSessionHasEnded(method: String) async throws {
    try await withGroups { live in
      let client = try await live.signIn("olga")
      let session = try #require(await live.openSessions().joined().first)
      let before = live.store.loads
      live.store.holdLoads()
      try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(RequesterTests.lists[method] ?? "")}}"#)
      try await live.store.arrival()
      await client.cut()
      try await live.gone("olga")
      live.store.release()
      // The request in flight retains the session.
      try await session.waitUntilReleased()
      #expect(live.store.loads - before <= 1, "only the group that was being loaded")
    }
  }

  @Test func storesAreToldForWhomTheyWork() async throws {
    try await withGroups { live in
      let client = try await live.signIn("olga")
      #expect(live.store.askedFor == nil, "a sign-in is the server's own work")
      _ = try await client.call("getJoinedGroupList")
      #expect(live.store.askedFor == "olga")
      _ = try await live.backend.result("getJoinedGroupList", as: "mary")
      #expect(live.store.askedFor == "mary")
    }
  }

  @Test func aWriteIsCompletedThoughItsSessionHasEnded() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Work")
      let client = try await live.signIn("olga")
      live.store.holdCounts()
      try await client.send(
        #"{"jsonrpc":"2.0","id":1,"method":"inviteUserToGroup","params":{"groupID":"g","userIDList":["mary"]}}"#)
      try await live.store.arrival()
      await client.cut()
      try await live.gone("olga")
      live.store.release()
      let members = #""groupID":"g","userIDList":["mary"]"#
      try await waitUntil("mary is a member") {
        try await !live.backend.result("getGroupMembersInfo", members)["memberList"].elements.isEmpty
      }
    }
  }
}
