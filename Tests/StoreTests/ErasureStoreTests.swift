import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreTables
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore
@testable import StoreEngine

/// What the deletion of a user erases in the stores (Protocol.md, "Deleting a user"). Alice is deleted; each
/// text of hers begins with `secret`, each of others with `other`.
@Suite struct ErasureStoreTests {
  private static let secret = "secret"

  /// Everything that a store can keep of alice, and as much of bob.
  private func fill(_ store: any AnyStore) async throws {
    try await store.store([
      .putUserInfo(UserInfo(userID: alice, nickName: "secret name", faceURL: "secret face", customInfo: ["a": "secret"])),
      .putUserInfo(UserInfo(userID: bob, nickName: "other name")), .create(), .create(team), .join(alice), .join(bob),
      .join(carol), .join(bob, team), .noteGroup([alice, bob, carol], in: club), .noteGroup([alice, bob], in: team),
    ])
    var own = Message.sample(1, from: alice, .text("secret text"), needReadReceipt: true)
    own.nameCard = "secret card"
    let tip = #"{"type":"Join","opUser":{"userID":"alice","nameCard":"secret card","role":"Member"},"memberCount":3}"#
    var targeted = Message.sample(4, from: bob, .text("other, for alice"))
    targeted.extras = MessageExtras(toUserIDList: [alice])
    try await store.store([
      .append(own), .append(.sample(2, from: alice, .tips(tip))), .append(.sample(3, from: bob, .text("other text"))),
      .append(targeted), .append(.sample(1, in: team, from: alice, .custom("secret data"))),
      .putReceiptMembers([alice, bob, carol], from: 1, in: club), .addReadReceipts([3], of: alice, in: club),
      .putFormer(former(), in: team),
    ])
    try await store.store(
      [
        .updateReaction(reaction(of: alice, changeSeq: 1, number: 1)),
        .updateReaction(reaction(of: bob, changeSeq: 2, number: 1)),
        .apply(application("mine", from: alice)), .apply(application("decided", from: carol, handledBy: alice)),
        .apply(application("handled", from: alice, handledBy: bob)),
        .notify(.sample(data: "secret for alice"), .users([alice])), .notify(notice(by: alice), .users([bob])),
        .notify(notice(by: bob), .users([carol])), .markApplicationsRead(alice, through: 5),
        .appendWebhook(webhook("w1")), .giveUpWebhook(webhook("w2"), attempts: 1, lastError: "e"),
        .putReport(report("r1", by: alice, about: bob)), .putReport(report("r2", by: bob, about: alice)),
      ])
  }

  private func former() -> FormerMember {
    var former = FormerMember(userID: alice, visibleRanges: [1...1], bannedUntil: 5_000_000, leftTime: 900_000)
    former.banReason = "other reason"
    former.isListed = true
    former.clearedSeq = 1
    return former
  }

  private func reaction(of user: UserID, changeSeq: Int64, number: Int64) -> ReactionUpdate {
    ReactionUpdate(group: club, seq: 3, number: number, reaction: "+", user: user, isAdded: true, changeSeq: changeSeq)
  }

  private func application(_ id: String, from user: UserID, handledBy decider: UserID? = nil) -> GroupApplication {
    let words = user == alice ? "secret words" : "other words"
    var application = GroupApplication(
      id: id, groupID: club, epoch: "e1", kind: .join, fromUser: user, toUser: nil, addTime: 10, requestMsg: words)
    if let decider {
      let answer = decider == alice ? "secret answer" : "other answer"
      application.handling = GroupApplication.Handling(isAgreed: true, by: decider, time: 20, message: answer)
    }
    return application
  }

  private func notice(by user: UserID) -> SystemNotification {
    let words = user == alice ? "secret" : "other"
    return SystemNotification(
      kind: .kickedOff, groupID: club, opUser: #"{"userID":"\#(user)","nameCard":"\#(words) card","role":"Owner"}"#,
      reason: "\(words) reason", timestamp: user == alice ? 20 : 30)
  }

  private func webhook(_ id: String) -> WebhookEntry {
    let data =
      #"{"memberList":[{"userID":"alice","nickName":"secret name","nameCard":"secret"},{"userID":"bob","nickName":"other"}]}"#
    return WebhookEntry(
      id: id, .memberJoined, data: Array(data.utf8), in: .group(club), at: 10, since: 10, number: 0)
  }

  private func report(_ id: String, by reporter: UserID, about sender: UserID) -> MessageReport {
    let words = sender == alice ? "secret" : "other"
    let message =
      #"{"msgID":"m","sender":"\#(sender)","nickName":"\#(words) name","nameCard":"\#(words)","text":"\#(words) text"}"#
    return MessageReport(
      id: id, groupID: club, epoch: "e1", seq: 1, msgID: "m", reporter: reporter,
      category: nil, text: reporter == alice ? "secret complaint" : "other complaint", time: 10, message: Array(message.utf8))
  }

  // MARK: The steps

  private static let steps = UserDeletion.Step.allCases.filter { ![.sessions, .check, .file, .done].contains($0) }

  /// Does all steps, each chunk so many times: a crash behind a chunk does it again.
  private func erase(
    _ messages: UserDeletion.MessageFate, in store: any AnyStore, scanning: Int = 2000, times: Int = 1
  ) async throws {
    let erasure = try #require(store as? any UserErasureStore)
    var deletion = UserDeletion(userID: alice, messages: messages, requestTime: 1)
    for step in ErasureStoreTests.steps where step != .recalls || messages == .revoke {
      (deletion.step, deletion.place) = (step, .start)
      var chunks = 0
      while true {
        let chunk = try await erasure.erasable(deletion, scanning: scanning)
        for _ in 0..<times {
          for order in chunk.operations { try await perform(order, in: store) }
          try await store.store([.erase(chunk.rows), .putDeletion(deletion)])
        }
        chunks += 1
        try #require(chunks < 1000, "\(step) does not end")
        guard let next = chunk.next else { break }
        deletion.place = next
      }
    }
  }

  /// What a group does, as far as it changes the store.
  private func perform(_ order: GroupErasureOrder, in store: any AnyStore) async throws {
    switch order.erasure {
    case .leave:
      guard try await store.memberships(of: alice).contains(where: { $0.groupID == order.group }) else { return }
      try await store.store([.removeMember(alice, from: order.group, at: 900_000), .noteGroup([alice], in: order.group)])
    case .records:
      let open = try await store.group(order.group, sentSince: 0)?.openApplications.filter { $0.fromUser == alice } ?? []
      try await store.store([.removeApplications(open.map(\.id), in: order.group)])
    case .reaction(let seq, let text):
      let known = try await store.reactions(of: order.group, to: [seq], reader: alice, users: 0)[seq] ?? []
      guard let reaction = known.first(where: { $0.reaction == text && $0.isByReader }) else { return }
      try await store.store([
        .updateReaction(
          ReactionUpdate(
            group: order.group, seq: seq, number: reaction.number, reaction: text, user: alice, isAdded: false, changeSeq: 3))
      ])
    case .recall(let seq):
      guard var message = try await store.messages(of: order.group, seqs: [seq]).first, !message.isRevoked else { return }
      message.isRevoked = true
      if case .text = message.content { message.content = .text("") } else { message.content = .custom("") }
      try await store.store([.revise(message)])
    case .texts: break
    }
  }

  // MARK: What is left

  @Test(arguments: Backing.allCases, UserDeletion.MessageFate.allCases)
  func nothingOfTheUserIsLeft(backing: Backing, messages: UserDeletion.MessageFate) async throws {
    try await backing.withStore { store in
      try await fill(store)
      let erasure = try #require(store as? any UserErasureStore)
      #expect(try await erasure.remains(of: alice) == .profile)
      try await erase(messages, in: store)
      #expect(try await erasure.remains(of: alice) == nil)
      try await expectAliceGone(from: store, messages)
      try await expectOthersWhole(in: store)
    }
  }

  @Test(arguments: Backing.allCases) func eachChunkMayBeDoneTwice(backing: Backing) async throws {
    try await backing.withStore { store in
      try await fill(store)
      try await erase(.revoke, in: store, times: 2)
      try await expectAliceGone(from: store, .revoke)
      try await expectOthersWhole(in: store)
    }
  }

  /// A chunk looks at a bounded number of rows, and the next goes on behind it.
  @Test(arguments: Backing.allCases) func smallChunksFindTheSame(backing: Backing) async throws {
    try await backing.withStore { store in
      try await fill(store)
      try await erase(.revoke, in: store, scanning: 1)
      try await expectAliceGone(from: store, .revoke)
      try await expectOthersWhole(in: store)
    }
  }

  private func expectAliceGone(from store: any AnyStore, _ messages: UserDeletion.MessageFate) async throws {
    #expect(try await store.known(among: [alice]).isEmpty)
    #expect(try await store.infos(of: [alice]).isEmpty)
    #expect(try await store.memberships(of: alice).isEmpty)
    #expect(try await store.departures(of: alice, from: nil, since: 0).isEmpty)
    #expect(try await store.applications(sentBy: alice, before: 0, limit: 10).isEmpty)
    #expect(try await store.notifications(of: alice, since: 0, before: 0, limit: 10).isEmpty)
    let own = try await store.messages(of: club, seqs: [1, 2, 4])
    #expect(own.allSatisfy { $0.nameCard.isEmpty })
    #expect(own[0].sender == alice && own[0].isRevoked == (messages == .revoke))
    #expect(own[0].content == .text(messages == .revoke ? "" : "secret text"))
    #expect(own[2].extras?.toUserIDList == [bob], "a message that named alice alone is its sender's")
    let readers = try #require(try await store.readers(of: 1, in: club, epoch: "e1"))
    #expect(readers.members == [bob, carol])
    let reactions = try await store.reactions(of: club, to: [3], reader: alice, users: 5)[3]
    #expect(reactions?.first?.users == [bob] && reactions?.first?.count == 1)
    let former = try #require(try await store.group(team, sentSince: 0)?.former.first { $0.userID == alice })
    #expect(former.bannedUntil == 5_000_000 && former.banReason == "other reason")
    #expect(former.visibleRanges.isEmpty && !former.isListed && former.clearedSeq == 0)
    let decided = try await store.application("decided")
    #expect(decided?.application.handling?.message == "")
    let webhooks = try await store.webhooks(in: .group(club), after: 0, limit: 10, bytes: 1 << 20)
    let failures = try await store.webhookFailures(after: 0, limit: 10, bytes: 1 << 20).map(\.entry)
    for entry in webhooks + failures {
      let data = String(decoding: entry.data, as: UTF8.self)
      #expect(!data.contains("secret") && data.contains("alice") && data.contains("other"), "\(entry.id)")
    }
    #expect(try await store.report("r1") == nil)
    let reported = String(decoding: try #require(try await store.report("r2")).report.message, as: UTF8.self)
    #expect(!reported.contains("secret name") && reported.contains("secret text") == (messages == .keep))
  }

  private func expectOthersWhole(in store: any AnyStore) async throws {
    #expect(try await store.infos(of: [bob]).first?.nickName == "other name")
    #expect(try await store.memberships(of: bob).map(\.groupID) == [club, team])
    #expect(try await store.messages(of: club, seqs: [3]).first?.content == .text("other text"))
    let notice = try #require(try await store.notifications(of: carol, since: 0, before: 0, limit: 10).first).notification
    #expect(notice.reason == "other reason" && notice.opUser.contains("other card"))
    let about = try #require(try await store.notifications(of: bob, since: 0, before: 0, limit: 10).first).notification
    #expect(about.reason == nil && about.opUser == #"{"userID":"alice","nameCard":"","role":"Owner"}"#)
  }

  /// A commit has fifty rows, and a group recalls twenty messages a second.
  @Test(arguments: [Backing.sqlite, .postgresql]) func aChunkIsSmall(backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.store([.create(), .noteGroup([alice], in: club)])
      var messages: [StoreChange] = []
      for seq in 1...120 {
        var message = Message.sample(Int64(seq), from: alice)
        message.nameCard = "card"
        messages.append(.append(message))
      }
      try await store.store(messages)
      let erasure = try #require(store as? any UserErasureStore)
      var deletion = UserDeletion(userID: alice, messages: .revoke, step: .messages, requestTime: 1)
      var counts: [Int] = []
      var places: [Int64] = []
      while true {
        let chunk = try await erasure.erasable(deletion, scanning: 2000)
        counts.append(chunk.rows.count)
        guard let next = chunk.next else {
          #expect(chunk.operations == [GroupErasureOrder(.texts, in: club)], "behind its rows")
          break
        }
        #expect(chunk.operations.isEmpty)
        places.append(next.seq)
        deletion.place = next
      }
      #expect(counts == [50, 50, 20, 0] && places.prefix(2) == [50, 100])
      (deletion.step, deletion.place) = (.recalls, .start)
      let recalls = try await erasure.erasable(deletion, scanning: 2000)
      #expect(recalls.operations == (1...20).map { GroupErasureOrder(.recall(seq: $0), in: club) })
      #expect(recalls.next?.seq == 20 && recalls.rows.isEmpty)
    }
  }

  /// Also where many were notified in one instant.
  @Test(arguments: [Backing.sqlite, .postgresql]) func aChunkOfNotificationsIsSmall(backing: Backing) async throws {
    try await backing.withStore { store in
      let users = (0..<120).map { UserID("user\($0)")! }
      try await store.store([.notify(notice(by: alice), .users(users)), .notify(notice(by: bob), .users(users))])
      let erasure = try #require(store as? any UserErasureStore)
      var deletion = UserDeletion(userID: alice, messages: .keep, step: .notifications, requestTime: 1)
      var counts: [Int] = []
      while counts.count < 10 {
        let chunk = try await erasure.erasable(deletion, scanning: 2000)
        counts.append(chunk.rows.count)
        try await store.store([.erase(chunk.rows)])
        guard let next = chunk.next else { break }
        deletion.place = next
      }
      #expect(counts == [50, 50, 20])
      let notices = try await store.notifications(of: users[7], since: 0, before: 0, limit: 10).map(\.notification)
      #expect(notices.count == 2 && notices.allSatisfy { ($0.reason == nil) == $0.opUser.contains("alice") })
    }
  }

  /// A page of an export looks at a bounded number of rows, too.
  @Test(arguments: [Backing.sqlite, .postgresql]) func otherPeoplesMessagesArePassedOver(backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.store([.create(), .noteGroup([alice], in: club)])
      try await store.store((1...600).map { .append(.sample(Int64($0), from: $0 == 600 ? alice : bob)) })
      let erasure = try #require(store as? any UserErasureStore)
      let page = try await erasure.personalRows(of: alice, after: .start, limit: 10)
      #expect(page.rows.count == 1 && page.next == nil)
      let again = try await erasure.personalRows(of: alice, after: page.rows[0].place, limit: 10)
      #expect(again == PersonalPage(rows: [], next: nil))
    }
  }

  /// Every column of every table, whatever is added later.
  @Test func noColumnHoldsATextOfTheUser() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await fill(store)
        let before = try await columns(with: Self.secret, in: store)
        #expect(before.count > 12, "the world has one of each kind: \(before.sorted())")
        try await erase(.revoke, in: store)
        #expect(try await columns(with: Self.secret, in: store) == [])
        #expect(try await columns(with: "other", in: store).count > 8)
      }
    }
  }

  private func columns(with text: String, in store: SQLiteStore) async throws -> Set<String> {
    try await store.read { db in
      var found: Set<String> = []
      let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      for table in tables {
        for column in try db.columns(in: table) {
          let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \"\(table)\" WHERE instr(CAST(\"\(column.name)\" AS BLOB), CAST(? AS BLOB)) > 0",
            arguments: [text])
          if count ?? 0 > 0 { found.insert("\(table).\(column.name)") }
        }
      }
      return found
    }
  }

  // MARK: The files

  @Test func theFilesHoldNoByteOfItWhenTheyAreReclaimed() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await fill(store)
        // Long texts have pages of their own, which become free.
        for seq in 2...30 {
          let text = String(repeating: "secret and long ", count: 600)
          try await store.store([.append(.sample(Int64(seq), in: team, from: alice, .text(text)))])
        }
        await store.tick()
        #expect(try files(directory).contains("secret"))
        try await erase(.revoke, in: store)
        let isDone = Flag()
        let reclaim = Task {
          try await store.reclaim()
          isDone.set()
        }
        try await waitUntil("the store was asked") { store.writer.background.reclaims || isDone.isSet }
        for _ in 0..<100 where !isDone.isSet { await store.tick() }
        try await reclaim.value
        #expect(try !files(directory).contains("secret"))
      }
    }
  }

  /// The bytes of the database and its log.
  private func files(_ directory: String) throws -> FileBytes {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
      $0.hasPrefix("throng.db") && !$0.hasSuffix("-shm")
    }
    return FileBytes(data: try names.map { try Data(contentsOf: URL(fileURLWithPath: directory + "/" + $0)) })
  }

  private struct FileBytes {
    let data: [Data]

    func contains(_ text: String) -> Bool { data.contains { $0.range(of: Data(text.utf8)) != nil } }
  }

  private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  // MARK: Deletions

  @Test(arguments: Backing.allCases) func deletionsAreKeptUntilTheyAreForgotten(backing: Backing) async throws {
    try await backing.withStore { store in
      let erasure = try #require(store as? any UserErasureStore)
      var first = UserDeletion(
        userID: alice, messages: .revoke, step: .messages, place: UserDeletion.Place(number: 3, seq: 1 << 53), requestTime: 7,
        pass: 2)
      let second = UserDeletion(userID: bob, messages: .keep, requestTime: 5)
      try await store.store([.putDeletion(first), .putDeletion(second)])
      #expect(try await erasure.deletion(of: alice) == first)
      #expect(try await erasure.deletion(of: carol) == nil)
      #expect(try await erasure.runningDeletions(after: nil, limit: 10) == [first, second])
      #expect(try await erasure.runningDeletions(after: alice, limit: 10) == [second])
      #expect(try await erasure.runningDeletions(after: nil, limit: 1) == [first])
      try await store.store([.forgetDeletion(alice)])
      #expect(try await erasure.deletion(of: alice) == first, "one that runs stays")
      (first.step, first.endTime) = (.done, 9)
      try await store.store([.putDeletion(first)])
      #expect(try await erasure.deletion(of: alice) == first)
      #expect(try await erasure.runningDeletions(after: nil, limit: 10) == [second])
      try await store.store([.forgetDeletion(alice)])
      #expect(try await erasure.deletion(of: alice) == nil)
    }
  }

  // MARK: Export

  @Test(arguments: Backing.allCases, [1, 2, 100]) func anExportHasEachRowOnce(backing: Backing, limit: Int) async throws {
    try await backing.withStore { store in
      try await fill(store)
      let erasure = try #require(store as? any UserErasureStore)
      let rows = try await exported(alice, from: erasure, limit: limit)
      var kinds: [String: Int] = [:]
      for row in rows {
        let kind =
          switch row.content {
          case .membership: "membership"
          case .settings: "settings"
          case .application: "application"
          case .notification: "notification"
          case .message: "message"
          }
        kinds[kind, default: 0] += 1
        if case .message(let message) = row.content { #expect(message.sender == alice && message.isChat) }
      }
      #expect(kinds == ["membership": 1, "settings": 1, "application": 2, "notification": 1, "message": 2])
      let first = try #require(try await store.messages(of: team, seqs: [1]).first)
      #expect(rows.last?.content == .message(first))
      let nobody = try await erasure.personalRows(of: UserID("nobody")!, after: .start, limit: limit)
      #expect(nobody.rows.isEmpty)
    }
  }

  /// All rows of an export, read by pages of at most `limit`.
  private func exported(
    _ user: UserID, from erasure: any UserErasureStore, limit: Int
  ) async throws -> [PersonalRow] {
    var rows: [PersonalRow] = []
    var place: PersonalPlace? = .start
    for _ in 0..<100 {
      guard let start = place else { return rows }
      let page = try await erasure.personalRows(of: user, after: start, limit: limit)
      #expect(page.rows.count <= limit)
      rows += page.rows
      place = page.next
    }
    Issue.record("the pages do not end")
    return rows
  }
}
