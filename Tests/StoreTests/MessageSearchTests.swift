import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore

/// Search of messages.
@Suite struct MessageSearchTests {
  /// Runs the body with an empty store whose messages can be searched.
  private func withStore(_ backing: Backing, _ body: (any AnyStore) async throws -> Void) async throws {
    switch backing {
    case .memory: try await body(InMemoryStore())
    case .sqlite:
      try await withDirectory { directory in
        try await withSQLite(directory, { $0.indexesMessages = true }) { try await body($0) }
      }
    case .postgresql: try await withPostgreSQL({ $0.indexesMessages = true }) { try await body($0) }
    }
  }

  private func group(_ name: String) -> GroupID { GroupID(name)! }

  /// Indexes everything.
  private func index(_ store: any AnyStore) async throws {
    guard let store = store as? SQLiteStore else { return }
    for _ in 0..<3 { await store.tick() }
    let behind = try await store.pool.read { db in
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM message LEFT JOIN messageIndexed USING (number)
          WHERE message.seq > coalesce(messageIndexed.seq, 0)
          """)
    }
    #expect(behind == 0)
  }

  private func found(
    _ keywords: [String], in groups: [GroupID] = [], by reader: UserID? = bob, senders: Set<UserID> = [],
    from: WallInstant? = nil, to: WallInstant? = nil, limit: Int = 100, _ store: any AnyStore
  ) async throws -> [String] {
    let search = MessageSearch(keywords, in: groups, by: reader, senders: senders, from: from, to: to)
    var (all, place): ([String], Int64) = ([], 0)
    repeat {
      let page = try await store.messages(matching: search, after: place, limit: limit)
      #expect(page.found.count <= limit)
      all += page.found.map { "\($0.message.groupID)/\($0.message.seq ?? 0)" }
      place = page.next
    } while place != 0
    return all
  }

  @Test(arguments: Backing.allCases, [false, true])
  func lettersOfAnyLanguageAreFoundInEitherCase(_ backing: Backing, isIndexed: Bool) async throws {
    try await withStore(backing) { store in
      let texts = PostgreSQLSearchTests.foldedTexts
      try await store.put(
        [.create(), .join(bob)] + texts.enumerated().map { .append(.sample(Int64($0.offset + 1), .text($0.element))) }
      ).get()
      if isIndexed { try await index(store) }
      for keyword in texts {
        let search = MessageSearch([keyword], by: bob)
        let expected = texts.enumerated().filter { search.matches($0.element, from: alice) }.map { "club/\($0.offset + 1)" }
        #expect(try await found([keyword], store) == expected.reversed(), "\(keyword)")
      }
      // The index is told of changes in the same letters.
      for seq in 1...Int64(texts.count) { try await store.put([.revise(.sample(seq, .text("gone")))]).get() }
      if isIndexed { try await index(store) }
      for keyword in texts { #expect(try await found([keyword], store).isEmpty, "\(keyword)") }
    }
  }

  @Test func anIndexOfAnEarlierReleaseIsMadeAnew() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.indexesMessages = true }) { store in
        try await store.put([.create(), .join(bob), .append(.sample(1, .text("\u{1C90}\u{1C91}\u{1C92}")))]).get()
        try await store.pool.write { db in
          try db.execute(
            sql: """
              DROP TABLE messageSearch;
              CREATE VIRTUAL TABLE messageSearch USING fts5(text, content='', columnsize=0, detail=none, tokenize='trigram');
              """)
        }
        try await index(store)
      }
      try await withSQLite(directory, { $0.indexesMessages = true }) { store in
        try await index(store)
        #expect(try await found(["აბგ"], store) == ["club/1"])
      }
      try await withSQLite(directory) { store in
        let isThere = try await store.pool.read { try $0.tableExists("messageSearch") }
        #expect(!isThere)
      }
    }
  }

  @Test(arguments: Backing.allCases, [false, true])
  func textsAreFoundInAnyLanguageByLongAndShortKeywords(_ backing: Backing, isIndexed: Bool) async throws {
    try await withStore(backing) { store in
      let texts = [
        "Hello World", "你好，世界", "こんにちは世界", "Größe und STRASSE", "100% \"quoted\" * AND (b)", "a\0b hidden", "ab", "x",
        "Привет, мир", "👩‍👩‍👧‍👦 family",
      ]
      try await store.put(
        [.create(), .join(bob)] + texts.enumerated().map { .append(.sample(Int64($0.offset + 1), .text($0.element))) }
      ).get()
      if isIndexed { try await index(store) }
      for (keyword, expected) in [
        ("hello", [1]), ("LO WO", [1]), ("o w", [1]), ("世界", [3, 2]), ("世", [3, 2]), ("你好，", [2]), ("こんに", [3]),
        ("größe", [4]), ("GRÖSSE", []), ("straSSe", [4]), ("0% \"", [5]), ("\"quoted\"", [5]), ("* AND (", [5]), ("a\0b", [6]),
        ("ab", [7]), ("x", [8]), ("ПРИВЕТ", [9]), ("ир", [9]), ("👩‍👩", [10]), ("nothing", []), ("hello world!", []),
      ] as [(String, [Int])] {
        #expect(try await found([keyword], store) == expected.map { "club/\($0)" }, "\(keyword)")
      }
      #expect(try await found(["hello", "family", "世界"], store) == ["club/10", "club/3", "club/2", "club/1"])
      #expect(try await found(["hello", "こん"], store) == ["club/3", "club/1"], "a short one beside a long one")
    }
  }

  @Test(arguments: Backing.allCases, [false, true])
  func whatIsRecalledChangedRemovedOrNoTextIsNotFound(_ backing: Backing, isIndexed: Bool) async throws {
    try await withStore(backing) { store in
      try await store.put(
        [.create(), .join(bob)] + (1...6 as ClosedRange<Int64>).map { .append(.sample($0, .text("needle \($0)"))) } + [
          .append(.sample(7, .custom("needle"))), .append(.sample(8, .tips("{\"needle\":1}"))),
        ]
      ).get()
      if isIndexed { try await index(store) }
      var recalled = Message.sample(2, .text(""))
      recalled.isRevoked = true
      try await store.put([.revise(recalled), .revise(.sample(4, .text("thread")))]).get()
      #expect(try await found(["needle"], store) == ["club/6", "club/5", "club/3", "club/1"])
      #expect(try await found(["thread"], store) == ["club/4"])
      try await removeMessages(of: club, before: 4, from: store)
      #expect(try await found(["needle"], store) == ["club/6", "club/5"])
      #expect(try await found(["ne"], store) == ["club/6", "club/5"])
      try await store.put([.dismiss(club, at: 100)]).get()
      #expect(try await found(["needle"], store) == [])
      #expect(try await found(["needle"], by: nil, store) == [])
    }
  }

  @Test(arguments: Backing.allCases)
  func aReaderFindsWhatTheReaderMaySee(_ backing: Backing) async throws {
    try await withStore(backing) { store in
      let rooms: [(String, GroupType)] = [("w", .work), ("m", .meeting), ("p", .public), ("o", .public)]
      for (name, type) in rooms {
        let group = self.group(name)
        try await store.put(
          [.create(group, type: type)] + (1...6 as ClosedRange<Int64>).map { .append(.sample($0, in: group, .text("word"))) }
        ).get()
      }
      var member = Member.sample(bob)
      member.firstVisibleSeq = 5
      member.earlierVisibleRanges = [2...3]
      for group in ["w", "m", "p"].map(group) { try await store.put([.putMember(member, in: group)]).get() }
      try await index(store)
      let (work, meeting, open) = (
        ["w/6", "w/5", "w/3", "w/2"], (1...6).reversed().map { "m/\($0)" }, ["p/6", "p/5", "p/3", "p/2"]
      )
      for keyword in ["word", "wo"] {
        #expect(try await found([keyword], store) == work + meeting + open)
        #expect(try await found([keyword], in: ["p", "o", "w", "none"].map(group), store) == work + open)
        #expect(try await found([keyword], by: carol, store) == [])
        #expect(try await found([keyword], by: nil, store).count == 24)
        for limit in [1, 2, 3, 7] { #expect(try await found([keyword], limit: limit, store) == work + meeting + open) }
      }
    }
  }

  /// "It decides at the moment of reading", and a cleared history stays cleared.
  @Test(arguments: Backing.allCases, [GroupType.public, .meeting])
  func theGroupsPolicyAndAClearedHistoryDecideWhatIsFound(_ backing: Backing, _ type: GroupType) async throws {
    try await withStore(backing) { store in
      var member = Member.sample(bob)
      member.firstVisibleSeq = 4
      let messages = (1...6 as ClosedRange<Int64>).map { StoreChange.append(.sample($0, .text("word"))) }
      try await store.put([.create(type: type), .putMember(member, in: club)] + messages).get()
      try await index(store)
      func seqs() async throws -> [Int] { try await found(["word"], store).compactMap { Int($0.dropFirst(5)) } }
      var record = GroupRecord.sample(type: type)
      for (policy, cleared, expected) in [
        (HistoryVisibility.joined, 0, [6, 5, 4]), (.all, 0, [6, 5, 4, 3, 2, 1]), (.all, 2, [6, 5, 4, 3]), (.all, 5, [6]),
        (.joined, 2, [6, 5, 4]), (.joined, 6, []),
      ] as [(HistoryVisibility, Int64, [Int])] {
        (record.policy.historyVisibility, member.clearedSeq) = (policy, cleared)
        try await store.put([.putGroup(record, isNew: false), .putMember(member, in: club, isKnown: true)]).get()
        #expect(try await seqs() == expected, "\(policy), cleared through \(cleared)")
        #expect(try await found(["word"], by: nil, store).count == 6)
      }
    }
  }

  @Test(arguments: Backing.allCases, [false, true])
  func sendersAndInstantsNarrowASearch(_ backing: Backing, isIndexed: Bool) async throws {
    try await withStore(backing) { store in
      let senders = [alice, bob, carol]
      try await store.put(
        [.create(), .join(bob)]
          + (1...9 as ClosedRange<Int64>).map {
            .append(.sample($0, from: senders[Int($0) % 3], at: WallInstant($0 / 2 * 100), .text("word")))
          }
      ).get()
      if isIndexed { try await index(store) }
      func seqs(_ senders: Set<UserID> = [], from: WallInstant? = nil, to: WallInstant? = nil) async throws -> [Int] {
        try await found(["word"], senders: senders, from: from, to: to, store).compactMap { Int($0.dropFirst(5)) }
      }
      #expect(try await seqs([alice]) == [9, 6, 3])
      #expect(try await seqs([alice, carol]) == [9, 8, 6, 5, 3, 2])
      #expect(try await seqs(from: 300) == [9, 8, 7, 6])
      #expect(try await seqs(to: 200) == [5, 4, 3, 2, 1])
      #expect(try await seqs(from: 101, to: 200) == [5, 4])
      #expect(try await seqs(from: 401) == [])
      #expect(try await seqs(to: 0) == [1])
      #expect(try await seqs([bob], from: 100, to: 300) == [7, 4])
    }
  }

  @Test(arguments: [false, true]) func aPageDoesBoundedWork(isIndexed: Bool) async throws {
    try await withDirectory { directory in
      let tune: (inout StoreOptions) -> Void = {
        $0.indexesMessages = true
        $0.searchedMessages = 40
      }
      try await withSQLite(directory, tune) { store in
        for group in ["a", "b", "c"].map(group) {
          try await store.put(
            [.create(group), .join(bob, group)]
              + (1...700 as ClosedRange<Int64>).map { .append(.sample($0, in: group, .text($0 == 7 ? "rare" : "often"))) }
          ).get()
        }
        if isIndexed { try await index(store) }
        let expected = ["a/7", "b/7", "c/7"]
        #expect(try await found(["rare"], store) == expected)
        #expect(try await found(["ra"], store) == expected)
        let page = try await store.messages(matching: MessageSearch(["ra"], by: bob), after: 0, limit: 9)
        #expect(page.found.isEmpty && page.next != 0)
        #expect(try await found(["often"], limit: 50, store).count == 3 * 699)
      }
    }
  }

  /// Clocks on which time passes with each look at them.
  private final class SteppingClocks: Clocks {
    let step = Atomic<Int64>(0)
    private let clocks = ManualClocks()

    var wall: WallInstant { clocks.wall }
    var monotonic: MonotonicInstant {
      clocks.advance(by: step.load(ordering: .relaxed))
      return clocks.monotonic
    }
  }

  @Test(arguments: [false, true]) func aPageEndsWhenItsTimeIsOver(isIndexed: Bool) async throws {
    try await withDirectory { directory in
      let clocks = SteppingClocks()
      let tune: (inout StoreOptions) -> Void = {
        $0.indexesMessages = true
        $0.clocks = clocks
      }
      try await withSQLite(directory, tune) { store in
        for group in ["a", "b"].map(group) {
          try await store.put(
            [.create(group), .join(bob, group)]
              + (1...20 as ClosedRange<Int64>).map { .append(.sample($0, in: group, .text("often"))) }
          ).get()
        }
        if isIndexed { try await index(store) }
        clocks.step.store(100, ordering: .relaxed)
        for keyword in ["often", "of", "rare", "ra"] {
          let search = MessageSearch([keyword], by: bob)
          var (pages, found, place): (Int, Int, Int64) = (0, 0, 0)
          repeat {
            let page = try await store.messages(matching: search, after: place, limit: 100)
            (pages, found, place) = (pages + 1, found + page.found.count, page.next)
          } while place != 0
          #expect(found == (keyword.hasPrefix("of") ? 40 : 0))
          #expect(pages > 1, "\(keyword)")
        }
      }
    }
  }

  @Test func anEditARecallAndARemovalLeaveTheIndexToTheBackground() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.indexesMessages = true }) { store in
        let texts = ["first", "second", "third"]
        try await store.put(
          [.create(), .join(bob)] + texts.enumerated().map { .append(.sample(Int64($0.offset + 1), .text($0.element))) }
        ).get()
        try await index(store)
        var recalled = Message.sample(3, .text(""))
        recalled.isRevoked = true
        try await store.put([.revise(.sample(2, .text("other"))), .revise(recalled)]).get()
        try await store.put([.revise(.sample(2, .text("last")))]).get()
        try await removeMessages(of: club, before: 2, from: store)
        func stale() async throws -> [String] {
          try await store.pool.read { try String.fetchAll($0, sql: "SELECT text FROM messageStale ORDER BY id") }
        }
        func indexed(_ text: String) async throws -> Int? {
          try await store.pool.read {
            try Int.fetchOne(
              $0, sql: "SELECT count(*) FROM messageSearch WHERE messageSearch MATCH ?", arguments: [String(text.prefix(3))])
          }
        }
        #expect(try await stale() == texts)
        #expect(try await indexed("second") == 1)
        #expect(try await indexed("last") == 0)
        #expect(try await found(["last"], store) == ["club/2"])
        for text in ["second", "other"] { #expect(try await found([text], store) == []) }
        await store.tick()
        #expect(try await stale() == [])
        for text in texts + ["other"] { #expect(try await indexed(text) == 0) }
        #expect(try await indexed("last") == 1)
        #expect(try await found(["last"], store) == ["club/2"])
      }
    }
  }

  @Test func switchingItOnIndexesWhatIsStoredSwitchingItOffDropsTheIndex() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(
          [.create(), .join(bob)] + (1...40 as ClosedRange<Int64>).map { .append(.sample($0, .text("word \($0)"))) }
        ).get()
        let error = await failure { () async throws(StoreError) in
          try await store.messages(matching: MessageSearch(["word"], by: bob), after: 0, limit: 9)
        }
        #expect(error?.kind == .unavailable)
      }
      for _ in 0..<2 {
        try await withSQLite(directory, { $0.indexesMessages = true }) { store in
          #expect(try await found(["word 7"], store) == ["club/7"], "not indexed yet")
          try await index(store)
          #expect(try await found(["word 7"], store) == ["club/7"])
        }
        #expect(try StoreCheck.faults(directory: directory, database: nil).isEmpty)
        try await withSQLite(directory) { store in
          let tables = try await store.pool.read {
            try String.fetchAll(
              $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'messageS%' OR name = 'messageIndexed'")
          }
          #expect(tables.isEmpty)
        }
      }
    }
  }

  @Test func theIndexHasWhatTheMessagesHave() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.indexesMessages = true }) { store in
        var generator = SeededGenerator(seed: 7)
        let letters = ["a", "b", "世", "界", " "]
        try await store.put([.create(), .join(bob)]).get()
        for seq in 1...300 as ClosedRange<Int64> {
          let text = (0..<Int.random(in: 1...12, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
            .joined()
          try await store.put([.append(.sample(seq, .text(text)))]).get()
          if seq.isMultiple(of: 40) { try await index(store) }
          if seq.isMultiple(of: 7) {
            var old = Message.sample(Int64.random(in: 1...seq, using: &generator), .text(letters.joined()))
            old.isRevoked = Bool.random(using: &generator)
            try await store.put([.revise(old)]).get()
          }
        }
        try await removeMessages(of: club, before: 50, from: store)
        try await index(store)
        try await store.pool.write { db in
          let texts = try String.fetchAll(
            db, sql: "SELECT content FROM message WHERE kind = 'Text' AND NOT isRevoked ORDER BY seq")
          for first in letters {
            for (second, third) in zip(letters, letters.reversed()) {
              let trigram = first + second + third
              let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM messageSearch WHERE messageSearch MATCH ?", arguments: ["\"\(trigram)\""])
              #expect(count == texts.count { $0.contains(trigram) }, "\(trigram)")
            }
          }
        }
      }
    }
  }
}
