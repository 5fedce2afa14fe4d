import GroupModel
import Testing
import WireProtocol

/// The callers of each method, and the parameters that only the application's backend may give.
@Suite struct CallerTests {
  private static let backend = MethodPage.all.filter { $0.callers == .application }
  private static let others = MethodPage.all.filter { $0.callers != .application }

  @Test func theSetsAreThoseOfThePage() {
    let sets = Dictionary(grouping: MethodTable().entries, by: \.specification.callers).mapValues { Set($0.map(\.name)) }
    #expect(sets[.connection] == ["login", "logout", "subscribeUsersStatus", "unsubscribeUsersStatus"])
    #expect(
      sets[.user] == [
        "joinGroup", "quitGroup", "getJoinedGroupList", "syncGroups", "markGroupMessageAsRead", "getGroupUnreadCount",
        "setGroupReceiveMessageOpt", "getSystemNotificationList", "setSystemNotificationRead", "setGroupApplicationRead",
        "setSelfInfo", "setSelfStatus", "addMessageReaction", "removeMessageReaction", "sendMessageReadReceipts",
        "getMessageReadReceipts", "getGroupMessageReadMemberList", "setConversation", "clearGroupHistory", "reportMessage",
      ])
    #expect(
      sets[.application] == [
        "listGroups", "sendGroupSystemNotification", "recycleGroup", "listSessions", "kickUser", "setUserInfo", "importUsers",
        "importGroup", "importGroupMembers", "importGroupMessages", "setUnreadCount", "getStats", "listWebhookFailures",
        "retryWebhooks", "trace", "getTrace", "endTrace", "listActiveGroups", "listAdministratorActions",
        "blockUser", "unblockUser", "getBlockedUsers", "revokeTokens", "listReports", "closeReport",
        "deleteUser", "getUserDeletion", "exportUser",
      ])
  }

  @Test(arguments: MethodPage.all)
  func everyMethodSaysWhoMayCallIt(method: MethodPage) throws {
    #expect(try #require(MethodTable()[method.name]).specification.callers == method.callers)
  }

  @Test(arguments: backend)
  func aMethodOfTheApplicationIsUnknownOnAWebSocketWhateverItsParams(method: MethodPage) {
    let broken = method.fields.flatMap { field in field.domain.wrongType.prefix(1).map { method.params([field.name: $0]) } }
    for params in [method.params(), "{}", "[]", "5", "null", #"{"asUser":"u"}"#, #"{"asUser":5}"#] + broken {
      #expect(outline(read(request(method.name, params))) == "?#1", "\(params.prefix(60))")
    }
    #expect(outline(read(request(method.name, method.params()), servesApplication: true)) == "\(method.name)#1")
  }

  @Test(arguments: others)
  func anyOtherMethodIsReadOnBothInterfaces(method: MethodPage) {
    let owner = method.name == "createGroup" ? ["ownerUserID": #""u""#] : [:]
    for serves in [false, true] {
      let text = request(method.name, (method.fields + [.may("ownerUserID", .userID)]).object(owner))
      #expect(outline(read(text, servesApplication: serves)) == "\(method.name)#1")
    }
  }

  private func createGroup(_ member: String, servesApplication: Bool) -> Call? {
    let params = #"{"groupType":"Work","groupName":"n",\#(member)}"#
    guard case .single(let call) = read(request("createGroup", params), servesApplication: servesApplication) else { return nil }
    return call
  }

  @Test func asUserMeansSomethingOnTheApplicationsInterfaceAlone() {
    #expect(createGroup(#""asUser":"u""#, servesApplication: true)?.asUser == UserID("u"))
    #expect(createGroup(#""asUser":null"#, servesApplication: true)?.asUser == nil)
    for value in [#""u""#, "5", "null", #""@u""#] {
      let call = createGroup(#""asUser":\#(value)"#, servesApplication: false)
      #expect(call?.asUser == nil)
      #expect(call?.methodName == "createGroup")
    }
  }

  @Test(arguments: ["asUser", "ownerUserID"])
  func aUserIDOfTheApplicationIsJudged(name: String) throws {
    for (value, code) in [("5", -32602), ("[]", -32602)] + Domain.userID.outside {
      let call = try #require(createGroup(#""\#(name)":\#(value)"#, servesApplication: true))
      #expect(outline(.single(call)) == "createGroup!\(code):\(name)#1", "\(value)")
      let onSocket = try #require(createGroup(#""\#(name)":\#(value)"#, servesApplication: false))
      #expect(outline(.single(onSocket)) == "createGroup#1", "an unknown member there: \(value)")
    }
  }

  @Test func onlyTheApplicationNamesTheOwner() throws {
    for (serves, owner) in [(true, UserID("o")), (false, nil)] {
      let call = try #require(createGroup(#""ownerUserID":"o""#, servesApplication: serves))
      guard case .request(.createGroup(let create)) = call.content else { return fail("createGroup is read") }
      #expect(create.ownerUserID == owner)
    }
  }
}
