import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The callers of each method, on the application interface and on a WebSocket (Protocol.md,
/// "Application interface").
@Suite(.serialized) struct CallersTests {
  private static let connection = ["login", "logout", "subscribeUsersStatus", "unsubscribeUsersStatus"]
  /// "A method that means nothing without a user."
  private static let user = [
    "joinGroup", "quitGroup", "getJoinedGroupList", "syncGroups", "markGroupMessageAsRead", "getGroupUnreadCount",
    "setGroupReceiveMessageOpt", "getSystemNotificationList", "setSystemNotificationRead", "setGroupApplicationRead",
    "setSelfInfo", "setSelfStatus", "addMessageReaction", "removeMessageReaction", "sendMessageReadReceipts",
    "getMessageReadReceipts", "getGroupMessageReadMemberList", "setConversation", "clearGroupHistory", "reportMessage",
  ]
  /// "Only there."
  private static let application = [
    "listGroups", "sendGroupSystemNotification", "recycleGroup", "listSessions", "kickUser", "setUserInfo", "importUsers",
    "importGroup", "importGroupMembers", "importGroupMessages", "setUnreadCount", "getStats", "listWebhookFailures",
    "retryWebhooks", "trace", "getTrace", "endTrace", "listActiveGroups", "listAdministratorActions",
    "blockUser", "unblockUser", "getBlockedUsers", "revokeTokens", "listReports", "closeReport",
    "deleteUser", "getUserDeletion", "exportUser",
  ]
  private static let all = MethodTable().entries.map(\.name)
  private static let anyone = Set(all).subtracting(connection + user + application).sorted()
  /// The errors of the callers' rule; a group answers others.
  private static let refusals: Set<JSON> = [-32601, -32602, -32600]

  private let backend = Backend { $0.searchesMessages = true }

  private func error(_ method: String, asUser: Bool) async throws -> JSON {
    let params = try #require(sampleCalls[method], "a method without a sample")
    return asUser
      ? try await backend.rpc(method, as: "olga", params)["error"] : try await backend.rpc(method, "{\(params)}")["error"]
  }

  @Test func everyMethodHasASample() { #expect(Set(sampleCalls.keys) == Set(Self.all)) }

  @Test(arguments: connection, [true, false]) func aConnectionsOwnIsNoMethodHere(method: String, asUser: Bool) async throws {
    #expect(try await error(method, asUser: asUser)["code"] == -32601)
    for params in ["[]", "{}"] { #expect(try await backend.rpc(method, params)["error"]["code"] == -32601, "\(params)") }
  }

  @Test(arguments: user) func aUsersNeedsAUser(method: String) async throws {
    let without = try await error(method, asUser: false)
    #expect(without["code"] == -32602 && without["data"]["field"] == "asUser" && without["data"]["temporary"] == false)
    #expect(!Self.refusals.contains(try await error(method, asUser: true)["code"]))
    #expect(try await backend.store.inner.known(among: ["olga"]) == ["olga"])
  }

  @Test(arguments: application) func theApplicationsIsForNoUser(method: String) async throws {
    #expect(try await error(method, asUser: true)["code"] == 10007)
    #expect(try await backend.store.inner.known(among: ["olga"]) == [], "nothing ran in the user's name")
    let without = try await error(method, asUser: false)["code"]
    let isUnknown = method.hasSuffix("Trace") || method == "closeReport"
    #expect(without == nil || without == 10010 || without == 10004 && isUnknown)
  }

  @Test(arguments: anyone, [true, false]) func therestIsForBoth(method: String, asUser: Bool) async throws {
    let code = try await error(method, asUser: asUser)["code"]
    #expect(code == nil || code == 10010 || code == 10004 && method.hasSuffix("Application"))
  }

  @Test func onAWebSocketTheApplicationsAreNoMethods() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      for method in Self.all where !Self.connection.contains(method) {
        let params = try #require(sampleCalls[method])
        let code = try await mary.call(method, "{\(params)}")["error"]["code"]
        #expect((code == -32601) == Self.application.contains(method), "\(method) \(code)")
      }
    }
  }

  /// On a WebSocket the members that mean something to the backend mean nothing.
  @Test func onAWebSocketNobodyActsForOthers() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      let made = try await mary.call(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","asUser":"olga","ownerUserID":"olga"}"#)
      #expect(made["error"] == nil)
      let info = try await live.backend.result("getGroupsInfo", #""groupIDList":["g"]"#)["resultList"][0]["info"]
      #expect(info["owner"] == "mary")
      #expect(try await mary.call("createGroup", #"{"groupType":"BChatRoom","groupName":"b"}"#)["error"]["code"] == 10007)
      #expect(try await mary.call("ping", #"{"asUser":5}"#)["error"] == nil)
    }
  }
}
