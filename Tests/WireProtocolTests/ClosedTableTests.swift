import Testing
import WireProtocol

/// The tables of Reference.md, "Events" and "Errors", written by hand: nothing is missing or added.
@Suite struct ClosedTableTests {
  /// Row by row.
  private static let table: Set<Int> = Set([-32700, -32600, -32601, -32602, -32603])
    .union([6014, 6015, 7008, 70001, 70003, 70009, 70020, 70021])
    .union(8501...8511)
    .union([10002, 10004, 10007, 10009, 10010, 10013, 10014, 10015, 10016, 10017])
    .union([10019, 10021, 10023, 10024, 10025])
    .union(10030...10033).union(10036...10038).union(10045...10050)
    .union(10053...10061).union([80002]).union(10120...10130)

  /// The errors of the envelope, sign-in, the rate and the store, whatever the method.
  private static let ofEveryMethod: Set<ErrorCode> = [
    .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError, .notSignedIn, .requestRate, .temporary,
  ]

  @Test func theErrorsAreThoseOfThePage() {
    #expect(Set(ErrorCode.allCases.map(\.rawValue)) == ClosedTableTests.table)
  }

  @Test func everyErrorIsNamedByAMethodOrOfEveryMethod() {
    let named = Set(MethodTable().entries.flatMap(\.specification.errors))
    for code in ErrorCode.allCases {
      #expect(named.contains(code) != ClosedTableTests.ofEveryMethod.contains(code), "\(code) \(code.rawValue)")
    }
  }

  @Test func theEventsAreThoseOfThePageInItsOrder() {
    #expect(
      EventName.allCases.map(\.rawValue) == [
        "onMemberEnter", "onMemberLeave", "onMemberInvited", "onMemberKicked", "onGroupMemberInfoChanged", "onGroupCreated",
        "onGroupDismissed", "onGroupRecycled", "onGroupInfoChanged", "onReceiveJoinApplication", "onReceiveGroupInvitation",
        "onApplicationProcessed", "onGroupApplicationListChanged", "onGrantAdministrator", "onRevokeAdministrator",
        "onQuitFromGroup",
        "onReceiveMessageOptChanged", "onGroupAttributeChanged", "onGroupCounterChanged", "onRecvNewMessage",
        "onRecvMessageRevoked", "onRecvMessageModified", "onRecvMessageReactionsChanged", "onGroupMessagePinned",
        "onMessageDropped", "onConversationRead", "onConversationChanged", "onRecvMessageReadReceipts",
        "onGroupSignal", "onReceiveRESTCustomData", "onSelfInfoUpdated", "onUsersStatusChanged",
        "onConnectSuccess",
        "onKickedOffline",
        "onUserSigExpired",
        "onServerDraining",
      ])
  }

  /// All but the events of a session carry groupID and opTime. `seq` and `msgID` are those of the
  /// tip that is stored for the event.
  @Test(arguments: [
    ("onMemberEnter", "platform? memberList memberCount seq? msgID?"),
    ("onMemberLeave", "platform? memberList memberCount seq? msgID?"),
    ("onMemberInvited", "opUser platform memberList memberCount seq? msgID? isAccepted?"),
    ("onMemberKicked", "opUser platform memberList reason memberCount seq? msgID?"),
    ("onGroupMemberInfoChanged", "opUser platform changeInfoList seq? msgID?"), ("onGroupCreated", "platform seq? msgID?"),
    ("onGroupDismissed", "opUser platform"), ("onGroupRecycled", "opUser platform"),
    ("onGroupInfoChanged", "opUser platform changeInfoList seq? msgID?"),
    ("onReceiveJoinApplication", "applicationID member platform opReason"),
    (
      "onReceiveGroupInvitation", "opUser platform applicationID opReason attach groupName groupType faceURL memberCount"
    ), ("onGroupApplicationListChanged", "application"),
    ("onApplicationProcessed", "opUser platform applicationID isAgreeJoin opReason"),
    ("onGrantAdministrator", "opUser platform memberList seq? msgID?"),
    ("onRevokeAdministrator", "opUser platform memberList seq? msgID?"), ("onQuitFromGroup", "platform"),
    ("onReceiveMessageOptChanged", "opt"), ("onGroupAttributeChanged", "groupAttributeMap holders?"),
    ("onGroupCounterChanged", "counters"), ("onRecvNewMessage", "message"),
    ("onRecvMessageRevoked", "opUser platform msgID seq changeSeq"), ("onConversationRead", "readSeq"),
    ("onRecvMessageModified", "changeSeq message"),
    ("onRecvMessageReactionsChanged", "opUser platform seq changeSeq reactions reaction isAdded"),
    ("onGroupMessagePinned", "opUser platform seq isPinned changeSeq message?"),
    ("onMessageDropped", "msgID clientMsgID? priority reason"), ("onConversationRead", "readSeq"),
    ("onConversationChanged", "isPinned? isHidden? isMarkedUnread? marks? clearedSeq?"),
    ("onRecvMessageReadReceipts", "receiptList"), ("onGroupSignal", "name data? sender nameCard? nickName?"),
    ("onReceiveRESTCustomData", "customData platform"),
  ])
  func anEventOfAGroupHasTheParamsOfThePage(name: String, params: String) throws {
    let fields = try #require(EventName(rawValue: name)).fields.map { $0.name + ($0.isOptional ? "?" : "") }
    #expect(fields == ["groupID", "opTime"] + params.split(separator: " ").map(String.init))
  }
}
