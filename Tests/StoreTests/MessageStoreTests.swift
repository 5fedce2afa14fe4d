import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import SQLiteStore
@testable import StoreEngine

/// Messages and users, on every store.
@Suite struct MessageStoreTests {
  @Test(arguments: Backing.allCases)
  func aMessageComesBackWithEveryField(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var messages: [Message] = []
      for content in [Message.Content.text("t"), .custom("{\"a\":1}"), .tips("{\"type\":\"Join\"}")] {
        for (platform, priority) in zip(Platform.allCases, Priority.allCases + Priority.allCases) {
          messages.append(
            Message(
              msgID: "m\(messages.count)", groupID: club, seq: Int64(messages.count + 1), sender: .administrator,
              nameCard: "Köchin", timestamp: WallInstant(1 << 42), content: content, priority: priority,
              clientMsgID: "c\0\(messages.count)",
              atUserIDList: ["bob", "@all", "a\0\"b"], isRevoked: messages.count == 2, platform: platform,
              isFromManager: messages.count.isMultiple(of: 3)))
        }
      }
      try await store.put([.create()] + messages.map(StoreChange.append)).get()
      #expect(try await store.messages(of: club, in: 1...100, newestFirst: false, limit: 100) == messages)
    }
  }

  @Test(arguments: Backing.allCases)
  func anyTextComesBackByteByByte(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()]).get()
      for (index, text) in difficultTexts.enumerated() {
        let message = Message(
          msgID: "m\(index)", groupID: club, seq: Int64(index + 1), sender: alice, nameCard: text, timestamp: 1,
          content: index.isMultiple(of: 2) ? .text(text) : .custom(text), priority: .normal, clientMsgID: text,
          atUserIDList: [text], platform: .iOS)
        try await store.put([.append(message)]).get()
      }
      let stored = try await store.messages(of: club, in: 1...100, newestFirst: false, limit: 100)
      #expect(stored.count == difficultTexts.count)
      for (message, text) in zip(stored, difficultTexts) {
        #expect(message.text?.bytes == text.bytes)
        #expect(message.nameCard.bytes == text.bytes)
        #expect(message.clientMsgID?.bytes == text.bytes)
        #expect(message.atUserIDList.first?.bytes == text.bytes)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func messagesAreReadInBothDirectionsInsideARangeUpToALimit(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team)]).get()
      try await store.put((1...20).map { .append(.sample($0)) } + [.append(.sample(1, in: team))]).get()
      func seqs(_ range: ClosedRange<Int64>, _ newestFirst: Bool, _ limit: Int) async throws -> [Int64?] {
        try await store.messages(of: club, in: range, newestFirst: newestFirst, limit: limit).map(\.seq)
      }
      #expect(try await seqs(5...8, false, 9) == [5, 6, 7, 8])
      #expect(try await seqs(5...8, true, 9) == [8, 7, 6, 5])
      #expect(try await seqs(5...8, false, 2) == [5, 6])
      #expect(try await seqs(5...8, true, 2) == [8, 7])
      #expect(try await seqs(0...1, false, 9) == [1])
      #expect(try await seqs(19...Int64.max, true, 9) == [20, 19])
      #expect(try await seqs(21...30, false, 9).isEmpty)
      #expect(try await seqs(1...20, false, 0).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func unreadAreTextsAndCustomsOfOthersThatWereNotRecalled(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var recalled = Message.sample(5, from: bob)
      try await store.put([
        .create(), .append(.sample(1, from: bob)), .append(.sample(2, from: alice)), .append(.sample(3, from: bob, .tips("{}"))),
        .append(.sample(4, from: .administrator, .custom("x"))), .append(recalled),
      ]).get()
      #expect(try await store.unreadCount(of: club, after: 0, reader: alice, managersOnly: false) == 3)
      recalled.isRevoked = true
      recalled.content = .text("")
      try await store.put([.revise(recalled)]).get()
      #expect(try await store.unreadCount(of: club, after: 0, reader: alice, managersOnly: false) == 2)
      #expect(try await store.unreadCount(of: club, after: 1, reader: alice, managersOnly: false) == 1)
      #expect(try await store.unreadCount(of: club, after: 5, reader: alice, managersOnly: false) == 0)
      #expect(try await store.unreadCount(of: club, after: 0, reader: bob, managersOnly: false) == 2)
      #expect(try await store.unreadCount(of: team, after: 0, reader: bob, managersOnly: false) == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func whoReceivesFromManagersOnlyHasOnlyTheirMessagesUnread(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var recalled = Message.sample(4, from: bob, isFromManager: true)
      recalled.isRevoked = true
      try await store.put([
        .create(), .append(.sample(1, from: bob)), .append(.sample(2, from: bob, isFromManager: true)),
        .append(.sample(3, from: .administrator, isFromManager: true)), .append(recalled),
        .append(.sample(5, from: bob, .tips("{}"), isFromManager: true)),
        .append(.sample(6, from: alice, isFromManager: true)),
      ]).get()
      #expect(try await store.unreadCount(of: club, after: 0, reader: alice, managersOnly: true) == 2)
      #expect(try await store.unreadCount(of: club, after: 2, reader: alice, managersOnly: true) == 1)
      #expect(try await store.unreadCount(of: club, after: 0, reader: alice, managersOnly: false) == 3)
    }
  }

  @Test(arguments: Backing.allCases)
  func theFirstMessageFromAnInstantOnIsFound(_ backing: Backing) async throws {
    try await backing.withStore { store in
      #expect(try await store.firstSeq(of: club, notBefore: 0) == nil)
      try await store.put([.create(), .create(team)]).get()
      #expect(try await store.firstSeq(of: club, notBefore: 0) == nil)
      // Groups of 0, 1, 2, 3 and 4 messages of one instant, over and over.
      var times: [WallInstant] = []
      for instant in 1...30 { times += Array(repeating: WallInstant(instant * 10), count: instant % 5) }
      let messages = times.enumerated().map { StoreChange.append(.sample(Int64($0.offset + 1), at: $0.element)) }
      try await store.put(messages + [.append(.sample(1, in: team, at: 5_000))]).get()
      for instant in (0...310).map(WallInstant.init) {
        let expected = times.firstIndex { $0 >= instant }.map { Int64($0 + 1) }
        #expect(try await store.firstSeq(of: club, notBefore: instant) == expected, "\(instant)")
      }
    }
  }

  /// - Parameter rows: how many a read looks at; nil = as ever.
  private func withMessagesOfTwo(
    _ backing: Backing, rows: Int? = nil, _ body: (any AnyStore, [Message]) async throws -> Void
  ) async throws {
    let messages: [Message] = [
      .sample(1, from: alice, at: 100, clientMsgID: "a"), .sample(2, from: bob, at: 100, clientMsgID: "a"),
      .sample(3, from: alice, at: 200, clientMsgID: "\0n\0"), .sample(4, from: alice, at: 200, clientMsgID: "\u{e9}"),
      .sample(5, from: alice, at: 300), .sample(6, from: alice, at: 400, clientMsgID: "a"),
      .sample(7, from: .administrator, at: 400, clientMsgID: "b"),
    ]
    func run(_ store: any AnyStore) async throws {
      let other = Message.sample(1, in: team, from: alice, at: 500, clientMsgID: "t")
      try await store.put([.create(), .create(team)] + (messages + [other]).map(StoreChange.append)).get()
      try await body(store, messages)
    }
    guard let rows else { return try await backing.withStore(run) }
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.rowsPerRead = rows }) { store in try await run(store) }
    }
  }

  private func search(
    _ store: any AnyStore, _ clientMsgID: String, by sender: UserID = alice, since: WallInstant = 0, most: Int64 = 100,
    in group: GroupID = club, epoch: String = "e1"
  ) async throws -> SentSearch {
    try await store.sentMessage(of: group, epoch: epoch, from: sender, clientMsgID: clientMsgID, since: since, most: most)
  }

  private func found(_ message: Message) -> SentSearch { SentMessage(message).map(SentSearch.found) ?? .absent }

  @Test(arguments: Backing.allCases)
  func aMessageThatWasSentBeforeIsFoundByItsSenderAndID(_ backing: Backing) async throws {
    try await withMessagesOfTwo(backing) { store, messages async throws in
      #expect(try await search(store, "a") == found(messages[0]), "the first")
      #expect(try await search(store, "a", since: 101) == found(messages[5]))
      #expect(try await search(store, "a", by: bob) == found(messages[1]))
      #expect(try await search(store, "\0n\0") == found(messages[2]))
      #expect(try await search(store, "\u{e9}") == found(messages[3]))
      #expect(try await search(store, "b", by: .administrator, since: 400) == found(messages[6]))
      #expect(try await search(store, "t", in: team) != .absent)
      for absent in ["e\u{301}", "\0n", "t", "", "b"] { #expect(try await search(store, absent) == .absent, "\(absent)") }
      #expect(try await search(store, "a", since: 401) == .absent)
      #expect(try await search(store, "a", epoch: "e2") == .absent)
      #expect(try await search(store, "a", in: GroupID("nowhere")!) == .absent)
    }
  }

  @Test(arguments: Backing.allCases)
  func amongMoreMessagesThanAskedForNothingIsLookedFor(_ backing: Backing) async throws {
    try await withMessagesOfTwo(backing) { store, messages async throws in
      #expect(try await search(store, "a", most: 7) == found(messages[0]))
      #expect(try await search(store, "a", most: 6) == .tooMany)
      #expect(try await search(store, "a", since: 400, most: 2) == found(messages[5]))
      #expect(try await search(store, "a", since: 400, most: 1) == .tooMany)
      #expect(try await search(store, "a", since: 401, most: 0) == .absent)
    }
  }

  @Test(arguments: Backing.allCases)
  func aChangedMessageIsFoundAsItWasSent(_ backing: Backing) async throws {
    try await withMessagesOfTwo(backing) { store, messages in
      var recalled = messages[0]
      (recalled.isRevoked, recalled.content) = (true, .text(""))
      try await store.put([.revise(recalled)]).get()
      #expect(try await search(store, "a") == found(messages[0]))
    }
  }

  @Test(arguments: 1...8)
  func itIsLookedForAPageAtATime(rows: Int) async throws {
    try await withMessagesOfTwo(.sqlite, rows: rows) { store, messages async throws in
      #expect(try await search(store, "a", since: 101) == found(messages[5]))
      #expect(try await search(store, "b", by: .administrator) == found(messages[6]))
      #expect(try await search(store, "c") == .absent)
    }
  }

  @Test(arguments: Backing.allCases)
  func aRecalledMessageKeepsItsPlace(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var message = Message.sample(1, .text("secret"), clientMsgID: "c")
      try await store.put([.create(), .append(message), .append(.sample(2))]).get()
      message.isRevoked = true
      message.content = .custom("")
      try await store.put([.revise(message)]).get()
      #expect(try await store.messages(of: club, in: 1...2, newestFirst: false, limit: 9) == [message, .sample(2)])
    }
  }

  @Test(arguments: Backing.allCases)
  func aGroupComesWithItsNewestMessageAndWhatWasSentLately(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let messages: [Message] = [
        .sample(1, at: 100, clientMsgID: "a"), .sample(2, at: 200, clientMsgID: "b"), .sample(3, at: 200),
        .sample(4, at: 300, clientMsgID: "c"), .sample(5, at: 400, .tips("{}")),
      ]
      try await store.put([.create()] + messages.map(StoreChange.append)).get()
      let all = try #require(try await store.group(club, sentSince: 0))
      #expect(all.lastMessage == messages[4])
      #expect(all.recentlySent == [messages[0], messages[1], messages[3]].compactMap(SentMessage.init))
      #expect(
        try await store.group(club, sentSince: 200)?.recentlySent == [messages[1], messages[3]].compactMap(SentMessage.init))
      #expect(try await store.group(club, sentSince: 201)?.recentlySent == [messages[3]].compactMap(SentMessage.init))
      let none = try #require(try await store.group(club, sentSince: 999))
      #expect(none.recentlySent.isEmpty && none.lastMessage == messages[4])
    }
  }

  @Test(arguments: Backing.allCases)
  func usersAreKnownFromTheFirstTimeOn(_ backing: Backing) async throws {
    try await backing.withStore { store in
      #expect(try await store.known(among: [alice, bob]).isEmpty)
      store.remember([alice, bob])
      store.remember([bob])
      #expect(try await store.known(among: [alice, carol]) == [alice])
      #expect(try await store.knownCount() == 2)
      try await store.put([.create()]).get()
      store.remember([carol, alice])
      #expect(try await store.known(among: [alice, bob, carol]) == [alice, bob, carol])
      #expect(try await store.knownCount() == 3)
    }
  }
}

extension Message {
  fileprivate var text: String? {
    switch content {
    case .text(let text), .custom(let text), .tips(let text): text
    }
  }
}
