import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit
import WireProtocol

@testable import PostgreSQLStore
@testable import SQLiteStore

/// All stores answer alike.
/// The store in memory is the model of the others: all give equal answers after any changes.
@Suite struct ModelTests {
  @Test(arguments: 0..<12)
  func sqliteAfterRandomChangesContradictionsAmongThem(_ seed: Int) async throws {
    try await withDirectory { directory in
      // One row at a time, so that reads run while groups are being cleared.
      try await withSQLite(directory, { $0.cleanupRows = 1 }) { try await compare($0, seed) }
    }
  }

  @Test(arguments: 0..<6)
  func postgreSQLAfterRandomChangesContradictionsAmongThem(_ seed: Int) async throws {
    try await withPostgreSQL({ $0.cleanupRows = 1 }) { store in
      try await compare(store, seed) { step in if step.isMultiple(of: 5) { store.cleanup.runRound() } }
    }
  }

  private func compare(
    _ store: any AnyStore, _ seed: Int, between steps: (_ step: Int) -> Void = { _ in }
  ) async throws {
    let model = InMemoryStore()
    var changes = RandomChanges(seed: UInt64(seed))
    var refused = 0
    for step in 1...240 {
      let commit = changes.next()
      let (expected, answer) = (await model.put(commit).failure, await store.put(commit).failure)
      try #require(answer == expected, "\(step): \(commit)")
      if answer != nil {
        refused += 1
        changes.wasRefused()
      }
      if let (user, since) = changes.presence() {
        model.notePresence(of: user, offlineSince: since)
        store.notePresence(of: user, offlineSince: since)
      }
      if let (group, seq) = changes.removal() {
        for store in [model, store] as [any AnyStore] { try await removeMessages(of: group, before: seq, from: store) }
      }
      steps(step)
      guard step.isMultiple(of: 12) else { continue }
      let (wanted, got) = (try await Answers.all(of: model), try await Answers.all(of: store))
      for (wanted, got) in zip(wanted, got) { try #require(got == wanted, "step \(step)") }
    }
    #expect((10...200).contains(refused), "of 240 commits \(refused) were refused: the test says little")
  }

  /// Answers to one question about the whole store; without the numbers, which only have to grow.
  enum Answers: Equatable {
    case group(StoredGroup?, [Message], [Int64?])
    case changes([ChangedMessages], [Message], [Int64: [StoredReaction]])
    case user([GroupID], [[GroupID]], WallInstant?, [Int])
    case applications([GroupApplication], [GroupApplication], Int)
    case sent([GroupApplication], [GroupApplication])
    case marks([[UserID: WallInstant]])
    case notifications([SystemNotification], [SystemNotification], Int)
    case application(StoredApplication?)
    case lists([GroupID], [GroupType: Int], Set<UserID>, Int)
    case search([GroupID])
    case infos([UserInfo], [UserID: UserProfile], [UserProfile?])
    case decisions([UserAccess], [BlockedUser], [StoredStatus])
    case reports([[MessageReport]], Int)
    case receipts([[Int64]], [ReceiptCount], [MessageReaders?])
    case extras(hidden: [[Int64]], replies: [[Message]], counts: [[Int64: Int]], unread: [Int])

    static func all(of store: some AnyStore) async throws -> [Answers] {
      var answers: [Answers] = []
      for id in RandomChanges.groups {
        answers += [try await group(id, store), try await changes(id, store), try await receipts(in: id, store)]
        for user in RandomChanges.users { answers.append(try await extras(in: id, of: user, store)) }
      }
      for user in RandomChanges.users { answers += try await ofUser(user, store) }
      answers.append(try await applications(nil, store))
      for id in RandomChanges.applications { answers.append(.application(try await store.application(id))) }
      answers.append(try await marks(store))
      let groups = try await store.groups(ofType: nil, after: 0, limit: 100).map(\.groupID)
      let known = try await store.known(among: RandomChanges.users)
      answers.append(.lists(groups, try await store.groupCounts(), known, try await store.knownCount()))
      let users = RandomChanges.users
      var ofSignIns: [UserProfile?] = []
      for user in users { ofSignIns.append(try await store.signInRecord(of: user).profile) }
      answers.append(.infos(try await store.infos(of: users), try await store.profiles(of: users), ofSignIns))
      answers += [try await decisions(store), try await reports(store)]
      return answers + (try await searches(store))
    }

    private static func decisions(_ store: some AnyStore) async throws -> Answers {
      var access: [UserAccess] = []
      for user in RandomChanges.users {
        let ofUser = try await store.access(of: user)
        #expect(try await store.signInRecord(of: user).access == ofUser)
        access.append(ofUser)
      }
      var (blocked, place): ([BlockedUser], Int64) = ([], 0)
      repeat {
        let page = try #require(try await store.blockedUsers(after: place, at: 300, limit: 2))
        blocked += page.users
        place = page.next
      } while place != 0
      return .decisions(access, blocked, try await store.statuses(of: RandomChanges.users.reversed()))
    }

    private static func reports(_ store: some AnyStore) async throws -> Answers {
      var lists: [[MessageReport]] = []
      for state in MessageReport.State.allCases {
        for group in RandomChanges.groups + [nil] {
          let all = try await store.reports(state: state, in: group, before: 0, limit: 100)
          let before = all.dropFirst().first?.number ?? 0
          let page = try await store.reports(state: state, in: group, before: before, limit: 2)
          lists += [all.map(\.report), page.map(\.report)]
        }
      }
      return .reports(lists, try await store.openReports())
    }

    private static func group(_ id: GroupID, _ store: some AnyStore) async throws -> Answers {
      let messages = try await store.messages(of: id, in: 2...100, newestFirst: true, limit: 5)
      var numbers: [Int64?] = []
      for time: WallInstant in [0, 200, 500] { numbers.append(try await store.firstSeq(of: id, notBefore: time)) }
      return .group(try await store.group(id, sentSince: 150), messages, numbers)
    }

    private static func receipts(in id: GroupID, _ store: some AnyStore) async throws -> Answers {
      let (epoch, seqs) = (try await store.group(id, sentSince: 0)?.record.epoch ?? "e", Array(0...9 as ClosedRange<Int64>))
      var confirmable: [[Int64]] = []
      for user in RandomChanges.users {
        confirmable.append(try await store.confirmable(seqs, of: id, epoch: epoch, by: user))
      }
      var readers: [MessageReaders?] = []
      for seq in seqs { readers.append(try await store.readers(of: seq, in: id, epoch: epoch)) }
      let counts = try await store.receiptCounts(of: seqs.reversed(), in: id, epoch: epoch)
      #expect(try await store.receiptCounts(of: seqs, in: id, epoch: "another").isEmpty)
      return .receipts(confirmable, counts, readers)
    }

    /// What is read of messages that have more than most.
    private static func extras(in id: GroupID, of user: UserID, _ store: some AnyStore) async throws -> Answers {
      let joined = Visibility(of: user, from: 6, earlier: [1...3], clearedThrough: 1, through: 90, under: .joined)
      let visibilities = [
        joined, Visibility(of: user, from: 6, through: 90, under: .all), Visibility(ofApplicationThrough: 90),
        Visibility(ofApplicationThrough: 0),
      ]
      var (hidden, unread): ([[Int64]], [Int]) = ([], [])
      for (isNewestFirst, limit) in [(true, 100), (false, 2)] {
        hidden.append(try await store.hiddenSeqs(of: id, from: user, in: 2...80, newestFirst: isNewestFirst, limit: limit))
      }
      var (replies, counts): ([[Message]], [[Int64: Int]]) = ([], [])
      for visible in visibilities {
        counts.append(try await store.replyCounts(of: id, to: [3, 1, 2, 99], visible: visible))
        for seq in 1...3 as ClosedRange<Int64> {
          let page = try await store.replies(to: seq, in: id, visible: visible, after: 4, limit: 2)
          replies.append(page.messages)
          #expect(page.total == counts.last?[seq] ?? 0)
        }
      }
      for (skipsFlagged, limit) in [(false, 1000), (true, 1000), (false, 2), (true, 2)] {
        unread.append(
          try await store.unreadCount(
            of: id, in: 1...80, reader: user, managersOnly: false, skipsFlagged: skipsFlagged, limit: limit))
      }
      return .extras(hidden: hidden, replies: replies, counts: counts, unread: unread)
    }

    private static func changes(_ id: GroupID, _ store: some AnyStore) async throws -> Answers {
      var pages: [ChangedMessages] = []
      for (after, ranges, limit) in [(0, [1...100], 100), (3, [1...2, 4...100], 2), (0, [2...3], 1)]
        as [(Int64, [ClosedRange<Int64>], Int)]
      {
        pages.append(try await store.changedMessages(of: id, after: after, in: ranges, limit: limit))
      }
      let seqs: [Int64] = [3, 1, 99, 2]
      return .changes(
        pages, try await store.messages(of: id, seqs: seqs), try await store.reactions(of: id, to: seqs, reader: alice, users: 2))
    }

    private static func ofUser(_ user: UserID, _ store: some AnyStore) async throws -> [Answers] {
      var departures: [[GroupID]] = []
      for type in GroupType.allCases + [nil] { departures.append(try await store.departures(of: user, from: type, since: 100)) }
      var unread: [Int] = []
      for id in RandomChanges.groups {
        for managersOnly in [false, true] {
          unread.append(try await store.unreadCount(of: id, after: 1, reader: user, managersOnly: managersOnly))
        }
      }
      let memberships = try await store.memberships(of: user).map(\.groupID)
      return [
        .user(memberships, departures, try await store.offlineSince(of: user), unread),
        try await applications(user, store), try await sent(user, store), try await notifications(user, store),
      ]
    }

    private static func sent(_ user: UserID, _ store: some AnyStore) async throws -> Answers {
      let all = try await store.applications(sentBy: user, before: 0, limit: 100)
      let before = all.dropFirst().first?.number ?? 0
      let page = try await store.applications(sentBy: user, before: before, limit: 2)
      return .sent(all.map(\.application), page.map(\.application))
    }

    /// The marks of those who decide on a request to each group, and on an invitation of each user.
    private static func marks(_ store: some AnyStore) async throws -> Answers {
      var marks: [[UserID: WallInstant]] = []
      for id in RandomChanges.groups { marks.append(try await store.readMarks(ofDecidersOf: .sample("a", to: id))) }
      for user in RandomChanges.users {
        marks.append(try await store.readMarks(ofDecidersOf: .sample("a", .invite, inviting: user)))
      }
      return .marks(marks)
    }

    private static func applications(_ user: UserID?, _ store: some AnyStore) async throws -> Answers {
      let all = try await store.applications(decidableBy: user, before: 0, limit: 100)
      let before = all.dropFirst().first?.number ?? 0
      let page = try await store.applications(decidableBy: user, before: before, limit: 2)
      return .applications(all.map(\.application), page.map(\.application), try await store.unreadApplications(of: user))
    }

    private static func notifications(_ user: UserID, _ store: some AnyStore) async throws -> Answers {
      let all = try await store.notifications(of: user, since: 0, before: 0, limit: 1000)
      let before = all.dropFirst().first?.number ?? 0
      let page = try await store.notifications(of: user, since: 100, before: before, limit: 3)
      let unread = try await store.unreadNotifications(of: user, since: 100)
      return .notifications(all.map(\.notification), page.map(\.notification), unread)
    }

    private static func searches(_ store: some AnyStore) async throws -> [Answers] {
      var answers: [Answers] = []
      for reader in [nil, alice, carol] {
        for fields in [Set([SearchGroups.Field.groupName]), [.memberUserID], [.groupID, .memberNameCard], [.memberNickName]] {
          for joinedOnly in [false, true] {
            let query = GroupSearch(["2", "ar"], in: fields, ignoresCase: true, joinedOnly: joinedOnly, by: reader)
            let page = try await store.search(query, after: 0, limit: 100)
            #expect(page.next == 0)
            answers.append(.search(page.groups.map(\.groupID)))
          }
        }
      }
      return answers
    }
  }
}

/// Commits over a few groups, users and applications, valid ones and contradictions. Time goes on.
struct RandomChanges {
  static let groups = ["g1", "g2", "g3"].map { GroupID($0)! }
  static let users = [alice, bob, carol, UserID("dave")!]
  static let applications = (1...6).map { "application \($0)" }

  /// A valid change of a group.
  private struct Known {
    var epoch = "e"
    var type = GroupType.public
    var lastSeq: Int64 = 0
  }

  private var generator: SeededGenerator
  private var now: WallInstant = 0
  private var known: [GroupID: Known] = [:]
  private var knownBefore: [GroupID: Known] = [:]
  private var lastChange: Int64 = 0
  private var reactions: [(GroupID, Int64, Int64)] = []

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> [StoreChange] {
    now += 3
    knownBefore = known
    return (0..<pick(1...3)).map { _ in change() }
  }

  /// The last commit has changed nothing.
  mutating func wasRefused() { known = knownBefore }

  /// Sometimes changes the presence of a user.
  mutating func presence() -> (UserID, WallInstant?)? {
    chance(3) ? (one(Self.users), chance(2) ? now : nil) : nil
  }

  /// Sometimes removes the oldest messages of a group, or all of them.
  mutating func removal() -> (GroupID, Int64)? {
    let group = one(Self.groups)
    guard chance(20), let lastSeq = known[group]?.lastSeq, lastSeq > 0 else { return nil }
    return (group, Int64(pick(1...Int(lastSeq + 1))))
  }

  private mutating func change() -> StoreChange {
    let (group, user) = (one(Self.groups), one(Self.users))
    switch pick(0...36) {
    case 0...1: return create(group)
    case 2: return .putGroup(record(group), isNew: false)
    case 3...6: return .putMember(member(user), in: group)
    case 7: return .removeMember(user, from: group, at: now)
    case 8:
      var former = FormerMember(userID: user, visibleRanges: [1...2], muteUntil: now, bannedUntil: now + 1)
      former.banReason = chance(2) ? "reason \(pick(1...3))" : ""
      former.quitTime = former.banReason.isEmpty ? now : .unset
      former.isListed = chance(2)
      former.role = chance(3) ? one([Role.admin, .custom(100)]) : nil
      former.clearedSeq = chance(3) ? Int64(pick(1...5)) : 0
      return .putFormer(former, in: group)
    case 9: return .forgetFormer(user, in: group)
    case 10:
      let held = GroupAttributes.Entry(
        key: "k\(pick(1...2))", value: "\(now)", holder: chance(2) ? user : nil, isDeletedAfterHolderLeft: chance(2))
      return .putAttributes(GroupAttributes(chance(3) ? [] : [held]), in: group)
    case 11...12: return .putApplication(application(group, user), asNewest: !chance(3))
    case 13: return .notify(notification(group), .users(chance(4) ? Array(repeating: user, count: 2) : Self.users))
    case 14: return .markApplicationsRead(user, through: now - Int64(pick(0...200)))
    case 15: return .markNotificationsRead(user, through: Int64.max)
    case 16...17: return append(to: group)
    case 18: return revise(in: group)
    case 20...21: return .putUserInfo(info(user))
    case 22:
      return .putCounters(
        (0..<pick(1...3)).map { _ in .init(key: "c\(pick(1...4))", value: chance(4) ? nil : now.milliseconds) }, in: group)
    case 23: return .putReceiptMembers(Array(Self.users.prefix(pick(1...4))), from: Int64(pick(1...6)), in: group)
    case 24...25: return .addReadReceipts((0..<pick(1...3)).map { _ in Int64(pick(1...8)) }, of: user, in: group)
    case 26: return noteChange(in: group)
    case 27...29: return reaction(in: group, user)
    case 30: return .putLastShown(seq: Int64(pick(0...6)), at: now, in: group)
    case 31: return .endHidden(Array(Set((0..<pick(1...3)).map { _ in one(Self.users) })), at: now, in: group)
    case 32: return .putStatus(user, chance(3) ? "" : "status \(pick(1...3))")
    case 33:
      let end = now + Int64(pick(0...200))
      let block = UserAccess.Block(until: chance(2) ? end : nil, reason: "r\(pick(1...2))")
      return .putBlock(user, chance(2) ? block : nil, at: now)
    case 34: return .raiseTokensBefore(user, now - Int64(pick(0...2)), at: now)
    case 35: return .putReport(report(group, user))
    case 36: return .closeReport(report(group, user).id, note: chance(2) ? "note" : nil, at: now)
    default: return chance(2) ? .dismiss(group, at: now) : append(to: group)
    }
  }

  private mutating func report(_ group: GroupID, _ user: UserID) -> MessageReport {
    let msgID = "m\(pick(1...2))"
    return MessageReport(
      id: MessageReport.id(of: msgID, by: user), groupID: group, epoch: "e", seq: chance(2) ? 1 : nil, msgID: msgID,
      reporter: user, category: chance(2) ? "c" : nil, text: chance(2) ? "t\0" : nil, time: now, message: [0x7b, 0x7d])
  }

  private mutating func create(_ group: GroupID) -> StoreChange {
    known[group] = Known(epoch: "e\(now)", type: one(GroupType.allCases))
    return .putGroup(record(group), isNew: true)
  }

  private mutating func record(_ group: GroupID) -> GroupRecord {
    let known = known[group] ?? Known()
    var record = GroupRecord.sample(group, type: known.type, epoch: known.epoch)
    record.name = "name \(pick(1...3))"
    record.serverCustomInfo = chance(2) ? "server \(pick(1...3))" : ""
    record.policy.isSearchable = chance(2)
    record.policy.isMemberVisible = chance(2)
    record.policy.historyVisibility = one(HistoryVisibility.allCases)
    record.changeTime = now
    record.messageFeatures = MessageFeatures(rawValue: Int64(pick(0...7)))
    record.departuresSince = chance(2) ? now : nil
    return record
  }

  private mutating func member(_ user: UserID) -> Member {
    var member = Member.sample(user, at: now)
    member.role = one([.owner, .admin, .member, .custom(100)])
    member.nameCard = chance(2) ? "card \(pick(1...3))" : ""
    member.unreadBase = pick(0...5)
    member.unreadSinceSeq = Bool.random(using: &generator) ? nil : Int64(pick(0...5))
    if Bool.random(using: &generator) { member.setUnheardRanges([1...Int64(pick(1...5))]) }
    (member.infoTime, member.clearedSeq) = (now, Int64(pick(0...4)))
    member.conversation.isPinned = chance(2)
    member.conversation.isHidden = chance(2)
    member.conversation.marks = chance(2) ? ["mark \(pick(1...3))"] : []
    return member
  }

  private mutating func info(_ user: UserID) -> UserInfo {
    UserInfo(
      userID: user, nickName: chance(2) ? "car \(pick(1...3))" : "", faceURL: chance(2) ? "f\(now)" : "",
      customInfo: chance(3) ? ["k": "\(now)"] : [:])
  }

  private mutating func application(_ group: GroupID, _ user: UserID) -> GroupApplication {
    let index = pick(0...5)
    let application = GroupApplication.sample(
      Self.applications[index], to: group, epoch: chance(10) ? "other" : known[group]?.epoch ?? "e",
      index < 4 ? .join : .invite, from: user, inviting: Self.users[index % 3], at: now)
    return chance(2) ? application.handled(at: now) : application
  }

  private mutating func notification(_ group: GroupID) -> SystemNotification {
    SystemNotification(
      kind: one(SystemNotification.Kind.allCases), groupID: group, groupName: chance(2) ? "name" : nil,
      opUser: chance(4) ? "{}" : #"{"userID":"\#(one(Self.users))","nameCard":""}"#, data: "\(now)",
      timestamp: now - Int64(pick(0...50)), platform: chance(2) ? .web : nil)
  }

  private mutating func append(to group: GroupID) -> StoreChange {
    let seq = (known[group]?.lastSeq ?? 0) + (chance(12) ? 2 : 1)
    known[group]?.lastSeq = seq
    var message = Message.sample(
      seq, in: group, from: one(Self.users), at: now, chance(3) ? .tips("{}") : .text("\(now)"),
      clientMsgID: chance(2) ? "c\(now)" : nil, isFromManager: chance(2), needReadReceipt: chance(2))
    if message.isChat { message.extras = extras() }
    return .append(message)
  }

  /// Often none.
  private mutating func extras() -> MessageExtras? {
    guard chance(2) else { return nil }
    let targets = chance(3) ? Array(Self.users.shuffled(using: &generator).prefix(pick(1...3))) : []
    return MessageExtras(
      extension: chance(3) ? "data \(pick(1...9))" : nil,
      replyTo: chance(2) ? ReplyReference(seq: Int64(pick(1...3)), sender: one(Self.users)) : nil,
      isExcludedFromUnreadCount: chance(3), isExcludedFromLastMessage: chance(3), toUserIDList: targets)
  }

  private mutating func revise(in group: GroupID) -> StoreChange {
    var message = Message.sample(Int64(pick(1...4)), in: group)
    message.isRevoked = true
    message.extras = extras()
    number(&message)
    return .revise(message)
  }

  private mutating func noteChange(in group: GroupID) -> StoreChange {
    if chance(4) { return .putChangeSeq(Int64(pick(1...50)), at: now, in: group) }
    if chance(6) { return .removeReactions(seq: Int64(pick(1...4)), in: group) }
    var message = Message.sample(Int64(pick(1...4)), in: group)
    message.isPinned = chance(2)
    message.editTime = chance(2) ? now : .unset
    number(&message)
    return .noteChange(message)
  }

  /// Now and then a number that another change has.
  private mutating func number(_ message: inout Message) {
    if !chance(8) { lastChange += 1 }
    message.changeSeq = lastChange
  }

  /// A new reaction, one more user of a known one, or one fewer; seldom one that there is not.
  private mutating func reaction(in group: GroupID, _ user: UserID) -> StoreChange {
    lastChange += 1
    let isNew = chance(3) || reactions.isEmpty
    if isNew { reactions.append((group, Int64(pick(1...3)), lastChange)) }
    let (group, seq, number) = isNew ? reactions[reactions.count - 1] : one(Array(reactions.suffix(4)))
    return .updateReaction(
      ReactionUpdate(
        group: group, seq: seq, number: number, reaction: "r\(number)", user: user, isAdded: isNew || chance(2),
        changeSeq: lastChange))
  }

  private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  /// True once in so many times.
  private mutating func chance(_ times: Int) -> Bool { pick(1...times) == 1 }

  private mutating func one<Value>(_ values: [Value]) -> Value { values[pick(0...values.count - 1)] }
}
