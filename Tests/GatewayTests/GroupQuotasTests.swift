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

  @Test func whatIsGivenUpMakesRoom() async throws {
    let backend = Backend { $0.groupsPerUser = 1 }
    let id =
      try await backend.rpc("createGroup", #"{"groupType":"Public","groupName":"g","asUser":"u"}"#)["result"]["groupID"].string
      ?? ""
    #expect(try await create("Public", as: "u", backend) == 10037)
    #expect(try await backend.rpc("dismissGroup", #"{"groupID":"\#(id)","asUser":"u"}"#)["result"] == [:])
    #expect(try await create("Public", as: "u", backend) == 0)
  }

  @Test func withoutLimitsNothingIsCounted() async throws {
    let backend = Backend()
    #expect(try await createAtOnce(8, "Work", as: "u", backend) == Array(repeating: 0, count: 8))
  }

  @Test func nobodyStaysInALine() async throws {
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
    #expect(quotas.lineCount == 0)
    backend.store.release(failing: .init(.unavailable, "test"))
    await #expect(throws: (any Error).self) { try await quotas.within(groupsOf: ["u"]) { _ in .empty } }
    #expect(quotas.lineCount == 0, "nor behind a failure")
  }
}
