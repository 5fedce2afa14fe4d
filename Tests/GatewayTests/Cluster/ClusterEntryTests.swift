import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Entries of links come back as they were; the keys of sessions change with the node that reads.
@Suite struct ClusterEntryTests {
  private static let one = NodeNumber(1)
  private static let two = NodeNumber(2)
  private static let ownKey = SessionKey(on: nil, loop: 3, connection: 99)
  private static let foreignKey = SessionKey(on: two, loop: 1, connection: 5)
  private static let stamp = GroupStamp(epoch: "e5", seq: 7, changeSeq: 0, revision: 300, board: -1)
  private static let session = ClusterSession(
    key: ownKey, platform: .iOS, deviceID: "d", order: 7, isCompleted: true)

  /// The entry as node two reads what node one has sent.
  private func sent(_ entries: ClusterEntry..., to reader: NodeNumber = two) throws -> [ClusterEntry] {
    try ClusterEntry.all(in: entries.flatMap { $0.bytes(from: ClusterEntryTests.one) }, readBy: reader)
  }

  @Test func keysAreThoseOfTheReader() {
    #expect(ClusterEntryTests.ownKey.node == nil)
    #expect(ClusterEntryTests.ownKey == SessionKey(loop: 3, connection: 99))
    #expect(ClusterEntryTests.foreignKey.node == ClusterEntryTests.two)
    #expect(ClusterEntryTests.foreignKey.loopOnNode == 1)
    #expect(ClusterEntryTests.foreignKey != SessionKey(loop: 1, connection: 5))
  }

  @Test func aSessionOfTheSenderIsForeignToTheReader() throws {
    guard case .sessionEnded("mary", let key)? = try sent(.sessionEnded("mary", ClusterEntryTests.ownKey)).first else {
      return #expect(Bool(false), "another entry")
    }
    #expect(key == SessionKey(on: ClusterEntryTests.one, loop: 3, connection: 99))
  }

  @Test func aSessionOfTheReaderIsItsOwn() throws {
    guard case .replace("mary", let key)? = try sent(.replace("mary", ClusterEntryTests.foreignKey)).first else {
      return #expect(Bool(false), "another entry")
    }
    #expect(key == SessionKey(loop: 1, connection: 5))
  }

  /// Entries by their own text, which shows every value.
  private static let samples: [ClusterEntry] = [
    .snapshotBegan, .snapshotEnded, .sessionBegan("mary", session),
    .sessionBegan("mary", ClusterSession(key: foreignKey, platform: .unknown, deviceID: nil, order: 0)),
    .sessionCompleted("mary", ownKey), .sessionEnded("mary", ownKey), .replace("mary", foreignKey), .wantsGroups("mary"),
    .unit("g", TopicUnit()), .unit("g", TopicUnit(.change(StampChange(seq: 8)))),
    .unit("g", TopicUnit(.change(StampChange(seq: -1, changeSeq: 3, revision: .max, board: 1 << 40)), [.resetCompression])),
    .unit(
      "g",
      TopicUnit(
        .whole(stamp), [.follow([AttachedUser("mary", .receiveFromManagers), AttachedUser("olga", .receive)], term: 7)])),
    .unit("g", TopicUnit(.whole(stamp), [.follow([AttachedUser("mary", .receive)], term: 7, isRepeated: true)])),
    .unit("g", TopicUnit(nil, [.follow([], term: 0), .attach(AttachedUser("mary", .notReceive)), .detach("mary"), .close])),
    .unit(
      "g",
      TopicUnit(
        .change(StampChange(revision: 2)),
        [
          .publish(.control, except: nil, frame: [1, 2]), .publish(.notice, except: ownKey, frame: []),
          .publish(.storedChat(fromManager: true), except: foreignKey, frame: [1]),
          .publish(.storedChat(fromManager: false), except: nil, frame: [1]),
          .publish(.liveChat(fromManager: true), except: nil, frame: [1]),
          .publish(.liveChat(fromManager: false), except: nil, frame: [1]), .publish(.signal, except: ownKey, frame: [1]),
          .send(["mary", "olga"], except: ownKey, frame: [3]), .sendToSession(foreignKey, frame: [4]),
        ])),
    .request(number: 50, .following(.confirm("g", TopicUnit(.whole(stamp), [.follow([], term: 1)])))),
    .request(
      number: 51, .following(.compare([FollowQuestion(group: "g", stamp: stamp), FollowQuestion(group: "h", stamp: nil)]))),
    .request(number: 52, .following(.replay("g", from: nil, through: stamp))),
    .request(number: 53, .following(.replay("g", from: stamp, through: stamp))), .reply(number: 50, .following(.confirmed)),
    .reply(number: 51, .following(.compared([.same, .different, .gone, .moved]))),
    .reply(
      number: 52,
      .following(
        .replayed(
          .events([
            ReplayedEvent(frame: [1], kind: .storedChat(fromManager: false), sent: (sender: "mary", clientMsgID: "m1")),
            ReplayedEvent(frame: [], kind: .control, users: ["olga"]), ReplayedEvent(frame: [2], kind: .notice, users: []),
          ])))), .reply(number: 53, .following(.replayed(.impossible(.unknownChange)))),
    .expectFollow(
      [
        ExpectedFollow(group: "g", user: "mary", term: 0, lastOwner: NodeNumber(0)),
        ExpectedFollow(group: "h", user: "olga", term: .max, lastOwner: NodeNumber(.max)),
      ], before: 5), .expectFollow([], before: 0), .missed(["mary"]), .webhooksWait,
    .charged("mary", requests: 12), .charged("mary", requests: Int.max),
    .badToken(address: "2001:db8::1"), .badToken(address: ""), .statusChanged("mary", "at lunch"), .statusChanged("mary", ""),
    .request(
      number: 1,
      .rows(
        [
          RowRequest(operation: .sync(epoch: "e", seq: 5, changeSeq: nil, bytes: 100), group: "g"),
          RowRequest(operation: .joinedInfo(updatedSince: 5), group: "h"),
          RowRequest(operation: .foundInfo(joinedOnly: true), group: "g"),
          RowRequest(operation: .unreadCount, group: "g"), RowRequest(operation: .info, group: "g"),
          RowRequest(operation: .report(ReportMessage(groupID: "g", target: .seq(5)), mayPass: true), group: "g"),
          RowRequest(
            operation: .report(
              ReportMessage(groupID: "g", target: .msgID("m"), category: "spam", text: "why"), mayPass: false), group: "g"),
        ], by: .administrator)),
    .request(number: 2, .rows([], by: .administrator)),
    .request(number: 6, .presence(Group.Presence(of: "mary", awaySince: 5), in: [])),
    .request(
      number: 7,
      .presence(
        Group.Presence(of: "mary"), in: [Membership(groupID: "g", type: .avChatRoom, groupNumber: 3)])),
    .request(number: 8, .userInfo("mary", nil, frame: nil, except: nil)),
    .request(number: 9, .userInfo("mary", nil, frame: [1], except: ownKey)),
    .request(number: 10, .endSessions("mary", .administrator(message: "enough"))),
    .request(number: 10, .endSessions("mary", .administrator(message: nil))),
    .request(number: 10, .endSessions("mary", .blocked(message: "enough"))),
    .request(number: 10, .endSessions("mary", .blocked(message: nil))), .request(number: 10, .endSessions("mary", .deleted)),
    .request(number: 10, .endSessions("mary", .tokensRevoked(before: 5))), .request(number: 11, .sessions(of: "mary")),
    .request(number: 12, .beginTrace("1-a", .user("mary"), .milliseconds(2500))),
    .request(number: 13, .beginTrace("1-a", .group("g"), .seconds(600))),
    .request(number: 14, .traceEntries("1-a", from: 5)), .request(number: 15, .readTrace("1-a", from: 0, count: 200)),
    .request(number: 16, .endTrace("1-a")), .request(number: 17, .activeGroups),
    .request(number: 18, .administratorActions(51, through: .distantFuture)), .request(number: 19, .uptime),
    .request(number: 20, .metrics),
    .request(number: 30, .erase(.leave, of: "mary", in: "g")), .request(number: 31, .erase(.records, of: "mary", in: "g")),
    .request(number: 32, .erase(.reaction(seq: 5, "+"), of: "mary", in: "g")),
    .request(number: 33, .erase(.recall(seq: 1 << 40), of: "mary", in: "g")),
    .request(number: 34, .erase(.texts, of: "mary", in: "g")), .request(number: 35, .recallRecent("mary")),
    .request(number: 36, .forgetUser("mary", .keep)), .request(number: 37, .forgetUser("mary", .revoke)),
    .request(number: 38, .post([1, 2], key: "2.a.b", nil)), .request(number: 39, .post([], key: "", nil)),
    .request(
      number: 40, .post([3], key: "k", TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))),
    .reply(number: 38, .posted(.text([3]))), .reply(number: 39, .posted(.nothing)), .reply(number: 40, .posted(.gone)),
    .reply(number: 1, .moved), .reply(number: 2, .reply(.empty)), .reply(number: 3, .reply(.success(.unreadCount(-1)))),
    .reply(number: 4, .reply(.success(.groupInfo(nil)))), .reply(number: 5, .reply(.success(.encoded([1, 2])))),
    .reply(number: 6, .reply(.error(.temporary, "later", field: "x"))),
    .reply(number: 7, .reply(.failure(WireError.applicationSilent))),
    .reply(number: 8, .reply(.failure(WireError(.requestRate, retryAfterMs: 100)))),
    .reply(
      number: 9,
      .rows([.reply(.success(.encoded([1, 2]))), .moved, .reply(.success(.groupInfo(nil))), .reply(.error(.noSuchGroup))])),
    .reply(number: 10, .count(-5)), .reply(number: 11, .traceEntries(nil)),
    .reply(
      number: 12,
      .traceEntries(
        TraceBatch(
          entries: [
            TraceEntry(
              .event, "onRecvNewMessage", at: 5, userID: "mary", groupID: "g", sessionID: "s", code: 4001, bytes: 7,
              microseconds: 9),
            TraceEntry(.request, "ping", at: 6, unknownParameters: "nam (the nearest is name)"),
          ], next: 3, lost: 1, isOver: true))),
    .reply(
      number: 13, .activeGroups([ActiveGroup(groupID: "g", events: 1, deliveries: 2, bytes: 3, connections: 4)])),
    .reply(
      number: 14,
      .administratorActions([
        AdministratorAction(
          time: 5, method: "kickUser", by: "olga", code: 10007, groupID: "g", userID: "u", applicationID: "a", asUser: "v",
          userIDList: ["x", "y"], userCount: 102, reason: "r"),
        AdministratorAction(time: 6, method: "trace", by: "", code: 0),
      ])),
  ]

  @Test(arguments: samples.indices) func entriesComeBack(index: Int) throws {
    // Read by the sender itself, so that keys stay.
    let entry = ClusterEntryTests.samples[index]
    let back = try #require(try sent(entry, to: ClusterEntryTests.one).first)
    let isWithCaller = "\(entry)".contains("Caller")
    #expect(isWithCaller || "\(back)" == "\(entry)")
    #expect(back.bytes(from: ClusterEntryTests.one) == entry.bytes(from: ClusterEntryTests.one))
  }

  @Test(
    arguments: [
      nil, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
    ] as [String?])
  func aCallerKeepsItsTrace(traceparent: String?) throws {
    let trace = traceparent.flatMap { TraceContext(traceparent: $0) }
    for caller in [Caller.administrator, .user("mary", platform: .iOS, session: nil)] {
      let entry = ClusterEntry.request(number: 1, .rows([], by: caller.with(trace: trace)))
      guard case .request(_, .rows(_, let back))? = try sent(entry).first else {
        #expect(Bool(false), "another entry")
        continue
      }
      #expect(back.trace == trace && back.userID == caller.userID)
    }
  }

  @Test func theEntriesOfAFrameKeepTheirOrder() throws {
    let unit = TopicUnit(nil, [.publish(.control, except: nil, frame: [1])])
    let entries = try sent(.snapshotBegan, .unit("g", unit), .missed(["mary"]))
    #expect(entries.count == 3)
    guard case .snapshotBegan = entries[0], case .unit("g", unit) = entries[1], case .missed = entries[2] else {
      return #expect(Bool(false), "another order")
    }
  }

  @Test func aCallerComesWithItsProfileAndSession() throws {
    let caller = Caller.user(
      "mary", platform: .web, session: ClusterEntryTests.ownKey, profile: UserProfile.make(nickName: "M", faceURL: "u"))
    let text = RequestText(text: Array(#"{"a":1}"#.utf8), index: 2, servesApplication: true)
    let shard = Shard(of: "g" as GroupID)
    guard
      case .request(9, .call(let read, let by, let place))? = try sent(.request(number: 9, .call(text, by: caller, shard: shard)))
        .first
    else { return #expect(Bool(false), "another entry") }
    #expect(read.text == text.text && read.index == 2 && read.servesApplication && place == shard)
    #expect(by.userID == "mary" && by.platform == .web && by.profile == caller.profile)
    #expect(by.session == SessionKey(on: ClusterEntryTests.one, loop: 3, connection: 99))
  }

  /// A request that another node may have performed says so on its way.
  @Test func aCallerComesAsOneWhoseRequestIsRepeated() throws {
    let caller = Caller.user("mary", platform: .web, session: ClusterEntryTests.ownKey)
    for (given, isRepeated) in [(caller, false), (caller.repeating(), true)] {
      guard case .request(1, .rows(_, let back))? = try sent(.request(number: 1, .rows([], by: given))).first else {
        return #expect(Bool(false), "another entry")
      }
      #expect(back.isRepeated == isRepeated && back.userID == "mary")
    }
  }

  @Test func anUnknownPartOfAStampIsRefused() {
    for mask: UInt8 in [0x10, 0x40, 0x81, 0xff] {
      var writer = EntryWriter(own: ClusterEntryTests.one)
      writer.bytes.byte(mask)
      for _ in 0..<8 { writer.bytes.byte(0) }
      var reader = EntryReader(writer.bytes.bytes, own: ClusterEntryTests.two)
      #expect(throws: MalformedMessage.self) { _ = try reader.unit() }
    }
  }

  @Test func tooManyGroupsToCompareAreRefused() throws {
    func read(_ count: Int) throws -> [ClusterEntry] {
      let questions = Array(repeating: FollowQuestion(group: "g", stamp: nil), count: count)
      return try sent(.request(number: 1, .following(.compare(questions))))
    }
    #expect(try read(FollowedTopics.maxCompared).count == 1)
    #expect(throws: MalformedMessage.self) { _ = try read(FollowedTopics.maxCompared + 1) }
  }

  @Test func aTraceIsNoLongerThanItsMethodAllows() throws {
    let entry = ClusterEntry.request(number: 1, .beginTrace("1-a", .group("g"), .seconds(9_000_000)))
    guard case .request(1, .beginTrace("1-a", .group("g"), let duration))? = try sent(entry).first else {
      return #expect(Bool(false), "another entry")
    }
    #expect(duration == .seconds(600))
  }

  @Test func anAddressWithoutEndIsRefused() throws {
    let entry = ClusterEntry.badToken(address: String(repeating: "1", count: 129)).bytes(from: ClusterEntryTests.one)
    #expect(throws: MalformedMessage.self) { _ = try ClusterEntry.all(in: entry, readBy: ClusterEntryTests.two) }
  }

  @Test func aStatusIsNoLongerThanItsMethodAllows() throws {
    func sent(_ count: Int) throws -> Int {
      let entry = ClusterEntry.statusChanged("mary", String(repeating: "s", count: count)).bytes(from: ClusterEntryTests.one)
      return try ClusterEntry.all(in: entry, readBy: ClusterEntryTests.two).count
    }
    #expect(try sent(100) == 1)
    #expect(throws: MalformedMessage.self) { _ = try sent(101) }
  }

  @Test(arguments: 0..<300) func anyBytesAreReadOrRefused(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = ClusterEntryTests.samples.randomElement(using: &random)?.bytes(from: ClusterEntryTests.one) ?? []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0 where !bytes.isEmpty: bytes.remove(at: Int.random(in: bytes.indices, using: &random))
      case 1 where !bytes.isEmpty:
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
      default: bytes.append(.random(in: .min ... .max, using: &random))
      }
    }
    _ = try? ClusterEntry.all(in: bytes, readBy: ClusterEntryTests.two)
  }
}
