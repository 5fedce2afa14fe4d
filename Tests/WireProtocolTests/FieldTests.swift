import GroupModel
import Testing
import ThrongTestKit

@testable import WireProtocol

/// The members of events and results in descriptions are those that the encoder writes, for
/// generated values.
@Suite struct FieldTests {
  /// Compares an object with the members that its description has: their names, their order, and
  /// their JSON types.
  private func expect(_ text: [UInt8], has fields: [ResultField], _ name: String) throws {
    let parser = JSONParser()
    let object = try #require(parser.parse(text), "\(name)")
    var written: [String] = []
    object.forEachMember { member, value in
      written.append(member)
      guard let field = fields.first(where: { $0.name == member }), let kinds = FieldTests.kinds(of: field.type) else { return }
      #expect(kinds.contains(value.kind), "\(name).\(member)")
    }
    #expect(written == fields.map(\.name).filter(written.contains), "\(name)")
    #expect(Set(fields.filter { !$0.isOptional }.map(\.name)).isSubset(of: written), "\(name)")
    withExtendedLifetime(parser) {}
  }

  /// The values that a notation allows; nil for a named type.
  private static func kinds(of type: String) -> [JSONValue.Kind]? {
    switch type {
    case "string": [.string]
    case "integer": [.integer]
    case "boolean": [.bool]
    case "map", "object": [.object]
    default: type.hasPrefix("[") ? [.array] : type.hasPrefix("\"") ? [.string] : type.hasPrefix("{") ? [.object] : nil
    }
  }

  /// The members of the results that a test has looked at.
  private final class Described {
    private(set) var members: Set<[String]> = []

    func add(_ fields: [ResultField]) { members.insert(Described.members(fields)) }

    func contains(_ fields: [ResultField]) -> Bool { members.contains(Described.members(fields)) }

    /// A method may call optional what is always there in the result of another.
    private static func members(_ fields: [ResultField]) -> [String] { fields.map { "\($0.name): \($0.type)" } }
  }

  private let described = Described()

  private func expectDescribed<Value: WireObject>(_ values: [Value]) throws {
    described.add(Value.fields)
    for value in values { try expect(Encoded(value).text, has: Value.fields, "\(Value.self)") }
  }

  @Test(arguments: EventName.allCases) func anEventHasTheMembersOfItsDescription(_ name: EventName) throws {
    var samples = Samples(seed: 1)
    var sizes: Set<Int> = []
    for _ in 0..<50 {
      let event = samples.event(name)
      #expect(event.name == name)
      let frame = event.frame
      let parser = JSONParser()
      let root = try #require(parser.parse(frame))
      #expect(root["method"]?.string == name.rawValue && root["id"] == nil)
      let params = JSONWriter.text { writer in writer.object { event.encodeFields(into: &$0) } }
      try expect(params, has: name.fields, name.rawValue)
      #expect(FieldRecorder.fields(of: event) == name.fields, "\(name)")
      #expect(String(decoding: frame, as: UTF8.self).hasSuffix(String(decoding: params, as: UTF8.self) + "}"))
      var count = 0
      root["params"]?.forEachMember { _, _ in count += 1 }
      sizes.insert(count)
      withExtendedLifetime(parser) {}
    }
    #expect(sizes.count > 1 || name.fields.allSatisfy { !$0.isOptional }, "optional members are tried with and without")
  }

  @Test func aResultHasTheMembersOfItsDescription() throws {
    for seed in 1...50 {
      var samples = Samples(seed: UInt64(seed))
      try expectDescribed([samples.session()])
      try expectDescribed([Ping.Result(serverTime: samples.instant())])
      let limits = NumberMap([("k", samples.number())])
      try expectDescribed([
        GetServerInfo.Result(
          name: samples.text(), version: "", protocolName: "p", limits: limits, groupTypes: [EncodedObject(Ping.Result.example)])
      ])
      let rows = samples.list { MemberResult(userID: $0.user(), result: $0.one()) }
      try expectDescribed(rows)
      try expectDescribed([MemberResults(memberList: rows)])
      try expectDescribed([CreateGroup.Result(groupID: .generate(), groupType: samples.one(), memberList: rows)])
      let (lastSeq, epoch) = (samples.optional { $0.number() }, samples.optional { $0.text() })
      try expectDescribed([JoinGroup.Result(status: samples.one(), lastSeq: lastSeq, epoch: epoch)])
      let infos = samples.list { Encoded($0.info()) }
      try expectDescribed([GetJoinedGroupList.Result(groupList: infos, leftGroupIDList: [samples.text()], nextSeq: 0)])
      try expectDescribed([SearchGroups.Result(groupList: infos, nextSeq: samples.number())])
      try expectDescribed([ListGroups.Result(groupList: infos, totalCount: 1, nextSeq: samples.number())])
      let groups = samples.list { $0.groupRow() }
      try expectDescribed(groups)
      try expectDescribed([GetGroupsInfo.Result(resultList: groups)])
      try expectDescribed([MuteGroup.Result(muteUntil: samples.optional { $0.instant() })])
      try expectDescribed([
        MuteGroupMember.Result(muteUntil: samples.instant()),
        MuteGroupMember.Result(muteUntil: samples.instant(), memberList: rows),
      ])
      try expectDescribed([
        GetGroupAttributes.Result(attributes: samples.map()),
        GetGroupAttributes.Result(attributes: samples.map(), holders: samples.map()),
      ])
      try expectDescribed([GetGroupCounters.Result(counters: samples.counters())])
      try expectDescribed([CounterValue(value: samples.number())])
      try expectDescribed([ClearGroupHistory.Result(clearedSeq: samples.number())])
      try expectDescribedMembers(&samples)
      try expectDescribedMessages(&samples)
      try expectDescribedBackend(&samples)
      try expectDescribedObservation(&samples)
    }
    // The document itself is tested elsewhere (DescriptionOpenRPCTests).
    for method in MethodTable().entries where method.name != "rpc.discover" && !method.specification.result.isEmpty {
      #expect(described.contains(method.specification.result), "no sample of the result of \(method.name)")
    }
  }

  private func expectDescribedMembers(_ samples: inout Samples) throws {
    let members = samples.list { samples in
      ShownMember(ListedMember(samples.member(), isOnline: samples.flag(), isReader: samples.flag()), profiles: [:])
    }
    let departures = GetGroupMemberList.Departures(users: samples.list { $0.user() }, isComplete: samples.flag())
    try expectDescribed([
      GetGroupMemberList.Result(memberList: members, nextSeq: samples.number()),
      GetGroupMemberList.Result(memberList: members, nextSeq: samples.number(), departures: departures),
    ])
    try expectDescribed([MemberPage(memberList: members, nextSeq: samples.number())])
    try expectDescribed([GetGroupMembersInfo.Result(memberList: members)])
    let banned = samples.list { samples in
      var former = FormerMember(userID: samples.user(), bannedUntil: samples.instant())
      former.banReason = samples.text()
      return BannedMember(former)
    }
    try expectDescribed(banned)
    try expectDescribed([GetGroupBannedMembers.Result(memberList: banned, nextSeq: samples.number())])
    let users = samples.list { UserInfo(userID: $0.user(), nickName: $0.text(), faceURL: $0.text()) }
    try expectDescribed(users)
    try expectDescribed([GetUsersInfo.Result(userList: users)])
    let statuses = samples.list { $0.status() }
    try expectDescribed(statuses)
    try expectDescribed([GetUsersStatus.Result(userList: statuses)])
    try expectDescribed([GetGroupOnlineMemberCount.Result(count: 3)])
    let inviters = samples.list { samples in
      GetGroupMemberInviters.Row(userID: samples.user(), inviter: samples.optional { $0.user() })
    }
    try expectDescribed(inviters)
    try expectDescribed([GetGroupMemberInviters.Result(inviterList: inviters)])
    let roles = samples.list { samples in
      GetGroupMemberRoles.Row(userID: samples.user(), role: samples.optional { $0.role() })
    }
    try expectDescribed(roles)
    try expectDescribed([GetGroupMemberRoles.Result(roleList: roles)])
  }

  private func expectDescribedMessages(_ samples: inout Samples) throws {
    try expectDescribed([
      MessageReceipt(
        msgID: samples.text(), seq: samples.optional { $0.number() }, timestamp: samples.instant(), status: samples.one())
    ])
    let messages = samples.list { Encoded($0.messageInfo()) }
    try expectDescribed([GetGroupHistoryMessageList.Result(messageList: messages, isFinished: samples.flag())])
    try expectDescribed([SearchGroupMessages.Result(messageList: messages, nextSeq: samples.number())])
    let groups = [
      SyncGroups.Row(groupID: "?", code: 10015, message: samples.text()),
      SyncGroups.Row(
        groupID: "g", code: 0, epoch: "e", lastSeq: samples.number(), recovered: samples.flag(),
        changeList: samples.flag() ? messages : nil, changeSeq: samples.optional { $0.number() }, messageList: messages,
        more: samples.flag()),
    ]
    try expectDescribed(groups)
    try expectDescribed([ModifyGroupMessage.Result(editTime: samples.optional { $0.instant() })])
    try expectDescribed([GetPinnedGroupMessageList.Result(messageList: messages)])
    try expectDescribed([GetGroupMessages.Result(messageList: messages)])
    try expectDescribed([GetGroupMessageReplies.Result(messageList: messages, totalCount: 7, nextSeq: samples.number())])
    let reactions = samples.list { samples in
      GetMessageReactions.Reaction(
        ReactionInfo(reaction: samples.text(), count: 1, byMe: samples.flag()), users: samples.list { $0.user() })
    }
    try expectDescribed(reactions)
    let reacted = [GetMessageReactions.Row(seq: samples.number(), reactions: reactions)]
    try expectDescribed(reacted)
    try expectDescribed([GetMessageReactions.Result(resultList: reacted)])
    try expectDescribed([SyncGroups.Result(groups: groups.map { Encoded($0) })])
    let counts = samples.list { GetGroupUnreadCount.Row(groupID: .generate(), unreadCount: Int($0.number())) }
    try expectDescribed(counts)
    try expectDescribed([GetGroupUnreadCount.Result(totalCount: 0, groups: counts)])
    let receipts = samples.list { ReadReceiptCount(seq: $0.number(), readCount: 1, unreadCount: Int($0.number())) }
    try expectDescribed(receipts)
    try expectDescribed([GetMessageReadReceipts.Result(receiptList: receipts)])
    let notifications = samples.list { samples in
      NotificationInfo(
        number: samples.number(),
        notification: SystemNotification(
          kind: samples.one(), groupID: .generate(), opUser: "{}", reason: samples.optional { $0.text() }, timestamp: 0),
        isRead: samples.flag())
    }
    try expectDescribed([
      GetSystemNotificationList.Result(notificationList: notifications, unreadCount: 1, nextSeq: samples.number())
    ])
    let applications = samples.list { $0.application() }
    try expectDescribed([
      GetGroupApplicationList.Result(applicationList: applications, unreadCount: 2, nextSeq: samples.number())
    ])
  }

  private func expectDescribedBackend(_ samples: inout Samples) throws {
    let sessions = samples.list { samples in
      SessionInfo(
        sessionID: samples.text(), platform: samples.one(), deviceID: samples.optional { $0.text() }, address: samples.text(),
        loginTime: samples.instant())
    }
    try expectDescribed(sessions)
    #expect(NamedType.named(SessionInfo.notation)?.fields.map(\.name) == SessionInfo.fields.map(\.name))
    try expectDescribed([ListSessions.Result(sessionList: sessions)])
    try expectDescribed([KickUser.Result(kicked: 1)])
    try expectDescribed([BlockUser.Result(blockedUntil: samples.instant())])
    let blocked = samples.list { BlockedUserInfo(userID: $0.user(), blockedUntil: $0.instant(), reason: $0.text()) }
    try expectDescribed(blocked)
    try expectDescribed([GetBlockedUsers.Result(userList: blocked, nextSeq: samples.number())])
    try expectDescribed([GetUserDeletion.Result(state: samples.one())])
    let kept = samples.list { EncodedObject(MemberResult(userID: $0.user(), result: $0.one())) }
    try expectDescribed([ExportUser.Result(rows: kept, nextSeq: samples.number())])
    try expectDescribed([ImportGroup.Result(groupID: .generate())])
    let rows = samples.list { ImportGroupMessages.Row(seq: $0.number(), code: 0) }
    try expectDescribed(rows)
    try expectDescribed([ImportGroupMessages.Result(resultList: rows)])
    try expectDescribed([
      GetStats.Result(
        sessions: 1, users: 2, groups: 3, groupsByType: NumberMap([("Work", samples.number())]), uptime: samples.number(),
        version: samples.text())
    ])
  }

  private func expectDescribedObservation(_ samples: inout Samples) throws {
    let failures = samples.list { samples in
      WebhookFailureInfo(
        id: samples.text(), type: samples.one(), timestamp: samples.instant(), data: Array("{}".utf8), attempts: 3,
        lastError: samples.text())
    }
    try expectDescribed(failures)
    try expectDescribed([ListWebhookFailures.Result(failureList: failures, nextSeq: samples.number())])
    try expectDescribed([RetryWebhooks.Result(retried: 2)])
    let reports = samples.list { samples in
      ReportInfo(
        MessageReport(
          id: samples.text(), groupID: .generate(), epoch: samples.text(), seq: samples.optional { $0.number() },
          msgID: samples.text(), reporter: samples.user(), category: samples.optional { $0.text() },
          text: samples.optional { $0.text() }, time: samples.instant(), state: samples.one(),
          note: samples.optional { $0.text() }, message: Encoded(samples.messageInfo()).text))
    }
    try expectDescribed(reports)
    try expectDescribed([ListReports.Result(reportList: reports, nextSeq: samples.number())])
    try expectDescribed([ReportMessage.Result(reportID: samples.text())])
    try expectDescribed([BeginTrace.Result(traceID: samples.text(), endTime: samples.instant())])
    let entries = samples.list { samples in
      TraceEntry(
        samples.one(), samples.text(), at: samples.instant(), userID: samples.optional { $0.user() },
        groupID: samples.optional { _ in .generate() }, sessionID: samples.optional { $0.text() },
        code: samples.optional { $0.number() }, bytes: samples.optional { $0.number() },
        microseconds: samples.optional { $0.number() }, unknownParameters: samples.optional { $0.text() })
    }
    try expectDescribed(entries)
    try expectDescribed([
      GetTrace.Result(entryList: entries, nextSeq: samples.number(), endTime: samples.instant(), lost: samples.number())
    ])
    let groups = samples.list { samples in
      ActiveGroup(
        groupID: samples.text(), events: samples.number(), deliveries: samples.number(), bytes: samples.number(),
        connections: samples.number())
    }
    try expectDescribed(groups)
    try expectDescribed([ListActiveGroups.Result(groupList: groups)])
    let actions = samples.list { samples in
      AdministratorAction(
        time: samples.instant(), method: samples.text(), by: samples.text(), code: samples.number(),
        groupID: samples.optional { $0.text() }, userID: samples.optional { $0.text() },
        applicationID: samples.optional { $0.text() }, asUser: samples.optional { $0.text() })
    }
    try expectDescribed(actions)
    try expectDescribed([ListAdministratorActions.Result(actionList: actions, nextSeq: samples.number())])
  }
}
