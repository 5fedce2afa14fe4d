import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// `limits.groupsPerUser` and `limits.avChatRooms`, also for requests that come at once.
@Suite struct GroupQuotasTests {
  private func create(_ type: String, as user: String, _ backend: Backend) async throws -> Int64 {
    let reply = try await backend.rpc("createGroup", #"{"groupType":"\#(type)","groupName":"g","asUser":"\#(user)"}"#)
    return reply["error"]["code"].integer ?? 0
  }

  private func createAtOnce(_ count: Int, _ type: String, as user: String, _ backend: Backend) async throws -> [Int64] {
    try await withThrowingTaskGroup { group in
      for _ in 0..<count { group.addTask { try await create(type, as: user, backend) } }
      var codes: [Int64] = []
      for try await code in group { codes.append(code) }
      return codes.sorted()
    }
  }

  /// None too many, and none too few: one that has just been made is not counted twice.
  @Test func groupsOfAUserAreCountedExactlyAlsoAtOnce() async throws {
    let backend = Backend { $0.groupsPerUser = 5 }
    let codes = try await createAtOnce(12, "Public", as: "u", backend)
    #expect(codes == Array(repeating: 0, count: 5) + Array(repeating: 10037, count: 7))
    #expect(try await backend.store.memberships(of: "u").count == 5)
    #expect(try await create("Meeting", as: "v", backend) == 0, "another user")
    #expect(try await create("AVChatRoom", as: "u", backend) == 0, "these do not count")
  }

  @Test func roomsAreCountedOverAllUsers() async throws {
    let backend = Backend { $0.avChatRooms = 2 }
    #expect(try await createAtOnce(3, "AVChatRoom", as: "u", backend) == [0, 0, 10036])
    #expect(try await create("AVChatRoom", as: "v", backend) == 10036)
    #expect(try await create("Public", as: "u", backend) == 0)
  }

  @Test func leavingAGroupMakesRoom() async throws {
    let backend = Backend { $0.groupsPerUser = 1 }
    let id =
      try await backend.rpc("createGroup", #"{"groupType":"Public","groupName":"g","asUser":"u"}"#)["result"]["groupID"].string
      ?? ""
    #expect(try await create("Public", as: "u", backend) == 10037)
    #expect(try await backend.rpc("dismissGroup", #"{"groupID":"\#(id)","asUser":"u"}"#)["result"] == [:])
    #expect(try await create("Public", as: "u", backend) == 0)
  }

  @Test func withoutLimitsNothingIsCounted() async throws {
    let backend = Backend { $0.groupsPerUser = 0 }
    #expect(try await createAtOnce(8, "Work", as: "u", backend) == Array(repeating: 0, count: 8))
  }

  @Test func noRequestStaysQueued() async throws {
    let backend = Backend()
    var configuration = GatewayConfiguration()
    configuration.groupsPerUser = 1
    let quotas = GroupQuotas(groups: backend.store, configuration: configuration)
    await withTaskGroup { group in
      for number in 0..<20 {
        let users: [UserID] = number.isMultiple(of: 2) ? ["u", "v"] : ["v", "w", "u"]
        group.addTask { _ = try? await quotas.within(groupsOf: users) { _ in .empty } }
      }
    }
    #expect(quotas.scopeCount == 0 && quotas.userCount == 0)
    backend.store.release(failing: .init(.unavailable, "test"))
    await #expect(throws: (any Error).self) { try await quotas.within(groupsOf: ["u"]) { _ in .empty } }
    #expect(quotas.scopeCount == 0 && quotas.userCount == 0, "nor behind a failure")
  }

  // MARK: AVChatRooms of a user

  @Test func roomsOfAnOwnerAreCountedExactlyAlsoAtOnce() async throws {
    let backend = Backend { $0.avChatRoomsPerUser = 3 }
    #expect(try await createAtOnce(5, "AVChatRoom", as: "u", backend) == [0, 0, 0, 10036, 10036])
    #expect(try await create("AVChatRoom", as: "v", backend) == 0, "another owner")
    #expect(try await create("Meeting", as: "u", backend) == 0, "another type")
    let owned = #""groupType":"AVChatRoom","groupName":"r","ownerUserID":"u""#
    #expect(try await backend.code("createGroup", owned) == 0, "the application is not bound")
    try await backend.create("mine", "AVChatRoom", by: "w")
    for _ in 0..<2 { #expect(try await create("AVChatRoom", as: "w", backend) == 0) }
    #expect(try await create("AVChatRoom", as: "w", backend) == 10036)
    #expect(try await backend.code("dismissGroup", as: "w", #""groupID":"mine""#) == 0)
    #expect(try await create("AVChatRoom", as: "w", backend) == 0)
  }

  @Test func theLimitOfTheServerStandsBesideThatOfTheOwner() async throws {
    let backend = Backend {
      $0.avChatRooms = 2
      $0.avChatRoomsPerUser = 1
    }
    #expect(try await createAtOnce(2, "AVChatRoom", as: "u", backend) == [0, 10036])
    #expect(try await create("AVChatRoom", as: "v", backend) == 0)
    #expect(try await create("AVChatRoom", as: "w", backend) == 10036)
    #expect(try await backend.code("createGroup", #""groupType":"AVChatRoom","groupName":"r","ownerUserID":"w""#) == 10036)
  }

  // MARK: Who is not bound

  @Test func theApplicationAndImportsAreNotBound() async throws {
    let backend = Backend { $0.groupsPerUser = 1 }
    #expect(try await create("Public", as: "u", backend) == 0)
    try await backend.create("g", "Work", by: "o")
    try await backend.bring("u", into: "g")
    #expect(try await backend.code("createGroup", #""groupType":"Work","groupName":"h","ownerUserID":"u""#) == 0)
    let group = try await backend.result("importGroup", #""groupType":"Work","groupName":"i","ownerUserID":"u""#)["groupID"]
    let id = try #require(group.string)
    #expect(
      try await backend.result("importGroupMembers", #""groupID":"\#(id)",\#(memberList("o", "p"))"#)["memberList"]
        .column("result") == ["Success", "Success"])
    #expect(try await backend.store.memberships(of: "u").count == 4)
    #expect(try await create("Public", as: "u", backend) == 10037, "but what came so counts")
  }

  @Test func anApplicationOfSomebodyInTooManyGroupsStaysOpen() async throws {
    let backend = Backend { $0.groupsPerUser = 1 }
    try await backend.create("g", "Public", by: "o")
    try await backend.apply("u", to: "g")
    try await backend.create("own", "Work", by: "u")
    let list = try await backend.result("getGroupApplicationList", as: "o")["applicationList"]
    let accept = #""applicationID":"\#(list[0]["applicationID"].string ?? "")""#
    #expect(try await backend.code("acceptGroupApplication", as: "o", accept) == 10037)
    let after = try await backend.result("getGroupApplicationList", as: "o")["applicationList"]
    #expect(after[0]["handleStatus"] == "Unhandled")
    #expect(try await backend.code("acceptGroupApplication", accept) == 0, "the application is not bound")
  }

  // MARK: Users who are signed in

  /// A store is asked only when the limit may be near, and a session's requests to a group keep
  /// their order.
  @Test func joiningAsksTheStoreForNothingThatIsRemembered() async throws {
    try await LiveGateway.with {
      $0.groupsPerUser = 3
    } _: { live in
      for id in ["a", "b", "c", "d"] { try await live.backend.create(id, "Meeting", by: "owner-\(id)") }
      let asked = live.store.counts
      let mary = try await live.signIn("mary")
      live.store.holdCounts()
      for id in ["a", "b", "c"] { #expect(try await mary.call("joinGroup", #"{"groupID":"\#(id)"}"#)["error"] == nil) }
      #expect(live.store.counts == asked)
      live.store.release()
      #expect(try await mary.call("joinGroup", #"{"groupID":"d"}"#)["error"]["code"] == 10037)
      _ = try await mary.call("quitGroup", #"{"groupID":"a"}"#)
      #expect(try await mary.call("joinGroup", #"{"groupID":"d"}"#)["error"] == nil)
      #expect(try await mary.call("joinGroup", #"{"groupID":"a"}"#)["error"]["code"] == 10037)
      try await mary.leave()
      #expect(await live.remains() == [:])
    }
  }

  @Test func theApplicationsActsCountForSignedInUsers() async throws {
    try await LiveGateway.with {
      $0.groupsPerUser = 2
    } _: { live in
      for id in ["a", "b", "c"] { try await live.backend.create(id, "Meeting", by: "owner-\(id)") }
      let mary = try await live.signIn("mary")
      try await live.backend.bring("mary", into: "a")
      _ = try await live.backend.result("importGroup", #""groupType":"Work","groupName":"i","ownerUserID":"mary""#)
      #expect(try await mary.call("joinGroup", #"{"groupID":"b"}"#)["error"]["code"] == 10037)
      _ = try await mary.call("quitGroup", #"{"groupID":"a"}"#)
      #expect(try await mary.call("joinGroup", #"{"groupID":"b"}"#)["error"] == nil)
    }
  }

  @Test func aUserWhoWasInTooManyGroupsBeforeIsStillOverTheLimit() async throws {
    try await LiveGateway.with {
      $0.groupsPerUser = 2
    } _: { live in
      for id in ["a", "b", "c"] { try await live.backend.create(id, "Meeting", by: "owner-\(id)") }
      for id in ["a", "b"] { try await live.backend.bring("mary", into: id) }
      let mary = try await live.signIn("mary")
      #expect(try await mary.call("joinGroup", #"{"groupID":"c"}"#)["error"]["code"] == 10037)
    }
  }
}
