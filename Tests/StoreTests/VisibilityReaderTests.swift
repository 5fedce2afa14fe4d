import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit
import WireProtocol

@testable import PostgreSQLStore
@testable import SQLiteStore

/// Random groups over each store: every reader of messages shows what an oracle says, which knows only
/// who was a member when a message was sent, whom the message names, who has cleared the history since,
/// and the group's policy of now (Protocol.md, "History"). Each is asked twice: of the group in memory,
/// and of one that was loaded again.
@Suite(.timeLimit(.minutes(10))) struct VisibilityReaderTests {
  @Test(arguments: Backing.allCases, [GroupType.public, .meeting])
  func everyReaderShowsWhatTheOracleSays(_ backing: Backing, type: GroupType) async throws {
    // A round trip for each question takes its time.
    let seeds: ClosedRange<UInt64> = backing == .postgresql ? 1...2 : 1...4
    for seed in seeds {
      try await withSearchableStore(backing) { store in
        let world = try await ReaderWorld(type, over: store, seed: seed)
        try await world.play(steps: 70)
        for isLoadedAgain in [false, true] {
          if isLoadedAgain {
            world.restart()
            // Messages that are indexed are found in another way.
            if let store = store as? SQLiteStore { for _ in 0..<3 { await store.tick() } }
          }
          try await world.checkReaders()
        }
        try await world.checkEvents()
      }
    }
  }

  /// What happens in the random groups is what the readers are about.
  @Test func everythingHappens() async throws {
    var messages: [Message] = []
    var (departures, clearings, returns, policies) = (0, 0, 0, 0)
    let seeds: ClosedRange<UInt64> = 1...8
    for seed in seeds {
      let world = try await ReaderWorld(.public, over: InMemoryStore(), seed: seed)
      try await world.play(steps: 70)
      messages += try await world.messages()
      departures += world.departures
      clearings += world.clearings
      returns += world.returnsAfterClearing
      policies += world.policyChanges
    }
    #expect(messages.contains { $0.isTargeted && $0.extras?.replyTo != nil && $0.isRevoked == false })
    #expect(messages.contains { $0.isTargeted && $0.isRevoked } && messages.contains { $0.isTargeted && $0.isPinned })
    #expect(messages.contains { $0.isTargeted && $0.needReadReceipt } && messages.contains { !$0.movesLastMessage })
    #expect(messages.contains { $0.extras?.isExcludedFromUnreadCount == true } && departures > 8)
    #expect(clearings > 8 && returns > 0 && policies > 8)
  }

  private func withSearchableStore(_ backing: Backing, _ body: (any AnyStore) async throws -> Void) async throws {
    switch backing {
    case .memory: try await body(InMemoryStore())
    case .sqlite:
      try await withDirectory { directory in
        try await withSQLite(directory, { $0.indexesMessages = true }) { try await body($0) }
      }
    case .postgresql: try await withPostgreSQL({ $0.indexesMessages = true }) { try await body($0) }
    }
  }
}

/// A group over a store, with an oracle beside it.
private final class ReaderWorld {
  private static let group = GroupID("g")!
  private static let owner = UserID("ann")!
  private static let users = ["ann", "bob", "cat", "dan"].map { UserID($0)! }

  private let type: GroupType
  private let store: any AnyStore
  private let clocks = ManualClocks()
  private let alarms = ManualAlarms()
  private let broker = RecordingBroker()
  private let executor = SerialTestExecutor()
  private var registry: GroupRegistry
  private var sessions: [UserID: SessionKey] = [:]
  private var random: SeededGenerator

  // The oracle.
  private var members: Set<UserID> = [owner]
  /// The newest message when a member came.
  private var joinedAt: [UserID: Int64] = [owner: 0]
  /// Who was a member when a message was sent.
  private var audience: [Int64: Set<UserID>] = [:]
  private var lastSeq: Int64 = 0
  /// The newest message when a user has cleared the history; it outlives the membership.
  private var clearedThrough: [UserID: Int64] = [:]
  private var policy: HistoryVisibility
  private(set) var departures = 0
  private(set) var clearings = 0
  private(set) var returnsAfterClearing = 0
  private(set) var policyChanges = 0

  init(_ type: GroupType, over store: any AnyStore, seed: UInt64) async throws {
    self.type = type
    self.store = store
    policy = type == .meeting ? .all : .joined
    random = SeededGenerator(seed: seed)
    registry = Self.registry(store, clocks, alarms, broker, executor)
    for user in Self.users { sessions[user] = broker.signIn(user) }
    let made = #"{"groupType":"\#(type.rawValue)","groupName":"n","groupID":"g","joinMode":"Any"}"#
    guard case .createGroup(let request) = try Self.request("createGroup", made) else { throw WireError(.internalError) }
    let reply = await registry.group(Self.group).ask(.create(request, owner: Self.owner, .none), by: caller(Self.owner))
    guard case .success = reply else { throw WireError(.internalError) }
  }

  private static func registry(
    _ store: any AnyStore, _ clocks: ManualClocks, _ alarms: ManualAlarms, _ broker: RecordingBroker,
    _ executor: SerialTestExecutor
  ) -> GroupRegistry {
    GroupRegistry(
      services: GroupServices(
        groups: store, messages: store, profiles: ProfileCache(store: store), broker: broker, clocks: clocks, alarms: alarms,
        rules: GroupRules(), observer: RecordingObserver()),
      executors: [executor])
  }

  /// The group leaves memory; its next request loads it from the store.
  func restart() { registry = Self.registry(store, clocks, alarms, broker, executor) }

  // MARK: Asking

  private func caller(_ user: UserID) -> Caller { .user(user, platform: .web, session: sessions[user]) }

  private static let methods = MethodTable()

  private static func request(_ method: String, _ params: String) throws -> Request {
    let text = Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#.utf8)
    let padded = text + [UInt8](repeating: 0, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes {
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: $0.prefix(text.count)), parser: JSONParser(), methods: methods,
        servesApplication: true)
    }
    guard case .single(let call) = envelope else { throw WireError(.parseError) }
    switch call.content {
    case .request(let request): return request
    case .badParameters(let error): throw error
    case .unknownMethod, .invalid: throw WireError(.invalidRequest)
    }
  }

  /// The code and the result; nil = an application administrator asks.
  private func ask(_ operation: GroupOperation, by user: UserID?) async throws -> (code: Int, result: JSON) {
    let reply = await registry.group(Self.group).ask(operation, by: user.map { caller($0) } ?? .administrator)
    executor.drain()
    switch reply {
    case .success(let value): return (0, try JSON(value.text))
    case .failure(let error): return (error.code.rawValue, .null)
    }
  }

  private func ask(_ method: String, _ members: String, by user: UserID?) async throws -> (code: Int, result: JSON) {
    let params = #"{"groupID":"g"\#(members.isEmpty ? "" : ",")\#(members)}"#
    guard case .group(_, let request) = try Self.request(method, params) else { throw WireError(.methodNotFound) }
    return try await ask(.request(request), by: user)
  }

  private func name(_ user: UserID?) -> String { user?.rawValue ?? "the application" }

  private func seqs(_ messages: JSON) -> [Int64] { messages.elements.compactMap { $0["seq"].integer } }

  /// All that is stored.
  func messages() async throws -> [Message] {
    lastSeq == 0 ? [] : try await store.messages(of: Self.group, in: 1...lastSeq, newestFirst: false, limit: Int(lastSeq))
  }

  // MARK: What happens

  private func one<Element>(of list: [Element]) -> Element? {
    list.isEmpty ? nil : list[Int.random(in: list.indices, using: &random)]
  }

  /// Lets random members do something.
  func play(steps: Int) async throws {
    for step in 0..<steps {
      guard let user = one(of: Self.users) else { return }
      // Events of changes do not merge, and no rate counts.
      clocks.advance(by: 1000)
      guard members.contains(user) else {
        try await join(user)
        continue
      }
      switch Int.random(in: 0..<16, using: &random) {
      case 0 where user != Self.owner: try await quit(user)
      case 1: try await change(by: user, chat: true) { ("revokeGroupMessage", #""seq":\#($0)"#) }
      case 2: try await change(by: user) { ("addMessageReaction", #""seq":\#($0),"reaction":"r""#) }
      case 3: try await change(by: Self.owner) { ("pinGroupMessage", #""seq":\#($0),"isPinned":true"#) }
      case 4: try await change(by: user) { ("modifyGroupMessage", #""seq":\#($0),"text":"word edited \#(step)""#) }
      case 5: try await clear(user)
      case 6: try await changePolicy()
      default: try await send(step, by: user)
      }
    }
  }

  /// Notes the messages that the last request has stored.
  private func noteMessages(heardBy audience: Set<UserID>) async throws {
    let newest = try await ask(.info, by: nil).result["lastSeq"].integer ?? 0
    while lastSeq < newest {
      lastSeq += 1
      self.audience[lastSeq] = audience
    }
  }

  private func join(_ user: UserID) async throws {
    let before = lastSeq
    #expect(try await ask("joinGroup", "", by: user).code == 0)
    if clearedThrough[user] != nil { returnsAfterClearing += 1 }
    members.insert(user)
    joinedAt[user] = before
    try await noteMessages(heardBy: members)
  }

  private func quit(_ user: UserID) async throws {
    #expect(try await ask("quitGroup", "", by: user).code == 0)
    members.remove(user)
    departures += 1
    try await noteMessages(heardBy: members)
  }

  private func clear(_ user: UserID) async throws {
    let reply = try await ask("clearGroupHistory", "", by: user)
    #expect(reply.code == 0 && reply.result["clearedSeq"].integer == lastSeq)
    clearedThrough[user] = lastSeq
    clearings += 1
  }

  /// It holds for what was sent before, too.
  private func changePolicy() async throws {
    policy = policy == .all ? .joined : .all
    policyChanges += 1
    #expect(try await ask("setGroupInfo", #""historyVisibility":"\#(policy.rawValue)""#, by: Self.owner).code == 0)
    try await noteMessages(heardBy: members)
  }

  private func send(_ step: Int, by user: UserID) async throws {
    var params = [#""text":"word \#(step)""#]
    if Bool.random(using: &random) {
      let others = members.filter { $0 != user }.sorted().filter { _ in Bool.random(using: &random) }
      if !others.isEmpty { params.append(#""toUserIDList":[\#(others.map { "\"\($0)\"" }.joined(separator: ","))]"#) }
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: params.append(#""isExcludedFromUnreadCount":true"#)
    case 1: params.append(#""isExcludedFromLastMessage":true,"extension":"e""#)
    case 2, 3:
      let answerable = try await messages().filter { sees(user, $0) && $0.isChat && !$0.isRevoked }
      if let answered = one(of: answerable)?.seq { params.append(#""replyTo":\#(answered)"#) }
    default: break
    }
    if type == .public, Bool.random(using: &random) { params.append(#""needReadReceipt":true"#) }
    #expect(try await ask("sendGroupTextMessage", params.joined(separator: ","), by: user).code == 0)
    try await noteMessages(heardBy: members)
  }

  /// A change of a message that the user may see; some are refused for other reasons.
  private func change(
    by user: UserID, chat: Bool = false, _ request: (Int64) -> (method: String, members: String)
  ) async throws {
    let visible = try await messages().filter { sees(user, $0) && $0.isChat }
    guard let seq = one(of: chat ? visible.filter { $0.sender == user } : visible)?.seq else { return }
    let (method, members) = request(seq)
    let code = try await ask(method, members, by: user).code
    let message = visible.first { $0.seq == seq }
    #expect(code != 10030 || message?.isRevoked == true, "\(method) \(seq) by \(user)")
  }

  // MARK: The oracle

  private func sees(_ user: UserID, _ message: Message) -> Bool {
    guard let seq = message.seq, seq > clearedThrough[user] ?? 0 else { return false }
    let named = message.extras?.toUserIDList ?? []
    let isThere = policy == .all || audience[seq]?.contains(user) == true
    return isThere && (named.isEmpty || named.contains(user) || message.sender == user)
  }

  // MARK: The readers

  func checkReaders() async throws {
    let all = try await messages()
    for user in members.sorted() {
      try await checkReaders(of: user, visible: all.filter { sees(user, $0) }, all)
    }
    try await checkReaders(of: nil, visible: all, all)
    for user in Self.users where !members.contains(user) { try await checkOutsider(user) }
  }

  /// Who has left sees nothing, whatever was seen before.
  private func checkOutsider(_ user: UserID) async throws {
    for (method, params) in [
      ("getGroupHistoryMessageList", ""), ("getGroupMessages", #""seqList":[1]"#), ("getGroupMessageReplies", #""seq":1"#),
      ("getMessageReactions", #""seqList":[1]"#), ("getPinnedGroupMessageList", ""),
    ] {
      #expect(try await ask(method, params, by: user).code == 10007, "\(method) by \(user)")
    }
    let search = MessageSearch(["word"], in: [Self.group], by: user)
    #expect(try await store.messages(matching: search, after: 0, limit: 10).found.isEmpty, "searched by \(user)")
  }

  private func checkReaders(of user: UserID?, visible: [Message], _ all: [Message]) async throws {
    let places = visible.compactMap(\.seq)
    try await checkHistory(places, by: user)
    try await checkLists(visible, all, by: user)
    try await checkReplies(visible, all, by: user)
    try await checkSearch(visible, by: user)
    guard let user else { return }
    try await checkSync(visible, by: user)
    try await checkCounts(visible, all, by: user)
  }

  private func checkHistory(_ places: [Int64], by user: UserID?) async throws {
    for direction in ["Older", "Newer"] {
      let expected: [Int64] = direction == "Older" ? places.reversed() : places
      for count in [1, 2, 7] {
        var (found, from, isFinished): ([Int64], Int64, Bool) = ([], 0, false)
        while !isFinished {
          let params = #""direction":"\#(direction)","count":\#(count),"fromSeq":\#(from)"#
          let page = try await ask("getGroupHistoryMessageList", params, by: user).result
          let list = seqs(page["messageList"])
          isFinished = page["isFinished"].bool ?? true
          #expect(isFinished || list.count == count, "only the last page is short")
          found += list
          from = list.last ?? 0
          #expect(isFinished == (found.count == expected.count), "\(direction), \(count) by \(name(user))")
          // A fault must not turn it into a loop without an end.
          if list.isEmpty || found.count > expected.count { break }
        }
        #expect(found == expected, "\(direction), \(count) by \(name(user))")
      }
    }
  }

  private func checkSync(_ visible: [Message], by user: UserID) async throws {
    let epoch = try await ask(.info, by: user).result["epoch"].string ?? ""
    let lastChange = try await ask(.info, by: user).result["changeSeq"].integer ?? 0
    for seq in stride(from: 0, through: lastSeq, by: 7) {
      let row = try await ask(.sync(epoch: epoch, seq: seq, changeSeq: lastChange / 2, bytes: 1 << 19), by: user).result
      #expect(row["recovered"] == true && row["more"] == false && row["lastSeq"].integer == lastSeq)
      #expect(seqs(row["messageList"]) == visible.compactMap(\.seq).filter { $0 > seq }, "behind \(seq) by \(user)")
      let changed = visible.filter { $0.seq ?? 0 <= seq && $0.changeSeq > lastChange / 2 }
        .sorted { $0.changeSeq < $1.changeSeq }
      #expect(seqs(row["changeList"]) == changed.compactMap(\.seq), "changes up to \(seq) by \(user)")
      #expect(row["changeSeq"].integer == lastChange)
    }
  }

  /// What takes lists of seqs, or a single one.
  private func checkLists(_ visible: [Message], _ all: [Message], by user: UserID?) async throws {
    let places = Set(visible.compactMap(\.seq))
    for first in stride(from: 1, through: lastSeq, by: 20) {
      let wanted = Array((first...min(lastSeq, first + 19)).reversed())
      let list = #""seqList":\#(wanted)"#
      let expected = wanted.filter(places.contains)
      #expect(seqs(try await ask("getGroupMessages", list, by: user).result["messageList"]) == expected, "\(wanted)")
      #expect(seqs(try await ask("getMessageReactions", list, by: user).result["resultList"]) == expected, "\(wanted)")
    }
    let pinned = seqs(try await ask("getPinnedGroupMessageList", "", by: user).result["messageList"])
    #expect(Set(pinned) == Set(visible.filter(\.isPinned).compactMap(\.seq)))
    for message in all {
      guard let seq = message.seq else { continue }
      let isKnown = places.contains(seq) && !message.isRevoked
      let readers = try await ask("getGroupMessageReadMemberList", #""seq":\#(seq)"#, by: user).code
      #expect((readers == 10030) == !isKnown, "readers of \(seq) by \(name(user))")
      // Nobody may edit a tip, so nothing is changed by asking.
      if !message.isChat {
        let edit = try await ask("modifyGroupMessage", #""seq":\#(seq),"text":"x""#, by: user).code
        #expect(edit == (places.contains(seq) ? 10032 : 10030), "edit of \(seq)")
      }
    }
  }

  private func checkReplies(_ visible: [Message], _ all: [Message], by user: UserID?) async throws {
    let places = Set(visible.compactMap(\.seq))
    let history = try await ask("getGroupHistoryMessageList", #""count":100"#, by: user).result["messageList"].elements
    for message in all {
      guard let seq = message.seq else { continue }
      let found = try await ask("getGroupMessageReplies", #""seq":\#(seq)"#, by: user)
      #expect((found.code == 10030) == !places.contains(seq), "replies to \(seq)")
      guard places.contains(seq) else { continue }
      let expected = visible.filter { $0.extras?.replyTo?.seq == seq && !$0.isRevoked }.compactMap(\.seq)
      #expect(seqs(found.result["messageList"]) == expected && found.result["totalCount"].integer == Int64(expected.count))
      guard let shown = history.first(where: { $0["seq"].integer == seq }) else { continue }
      #expect(shown["replyCount"].integer ?? 0 == Int64(expected.count), "replyCount of \(seq)")
    }
  }

  private func checkSearch(_ visible: [Message], by user: UserID?) async throws {
    var (found, place): ([Int64: Int], Int64) = ([:], 0)
    repeat {
      let search = MessageSearch(["word"], in: [Self.group], by: user)
      let page = try await store.messages(matching: search, after: place, limit: 10)
      for message in page.found { found[message.message.seq ?? 0] = message.replyCount }
      place = page.next
    } while place != 0
    let expected = visible.filter { message in
      if case .text(let text) = message.content { text.contains("word") && !message.isRevoked } else { false }
    }.compactMap(\.seq)
    #expect(found.keys.sorted() == expected, "searched by \(name(user))")
    for (seq, count) in found {
      #expect(count == visible.count { $0.extras?.replyTo?.seq == seq && !$0.isRevoked }, "replies to what was found: \(seq)")
    }
  }

  private func checkCounts(_ visible: [Message], _ all: [Message], by user: UserID) async throws {
    let since = max(joinedAt[user] ?? 0, clearedThrough[user] ?? 0)
    let unread = all.count { message in
      message.seq ?? 0 > since && message.sender != user && message.isChat && !message.isRevoked && message.countsAsUnread
    }
    #expect(try await ask(.unreadCount, by: user).result.integer == Int64(type == .public ? unread : 0), "unread of \(user)")
    let info = try await ask(.info, by: user).result
    #expect(info["firstSeq"].integer == (clearedThrough[user] ?? 0) + 1, "firstSeq of \(user)")
    let newest = all.last(where: \.movesLastMessage)
    let isShown = newest.map { sees(user, $0) } ?? false
    #expect(info["lastMessage"]["seq"].integer == (isShown ? newest?.seq : nil), "lastMessage of \(user)")
    #expect(info["lastMessageTime"].integer ?? 0 == newest?.timestamp.milliseconds ?? 0)
    // Receipts: who was a member and may see it, but its sender.
    let epoch = info["epoch"].string ?? ""
    let confirmable = try await store.confirmable(all.compactMap(\.seq), of: Self.group, epoch: epoch, by: user)
    let expected = all.filter { message in
      let named = message.extras?.toUserIDList ?? []
      let wasThere = audience[message.seq ?? 0]?.contains(user) == true && (named.isEmpty || named.contains(user))
      return message.needReadReceipt && wasThere && message.sender != user && !message.isRevoked
    }
    #expect(confirmable == expected.compactMap(\.seq), "receipts of \(user)")
  }

  /// The application edits every message: who is told is who may see it.
  func checkEvents() async throws {
    for message in try await messages() where message.isChat && !message.isRevoked {
      guard let seq = message.seq else { continue }
      clocks.advance(by: 1000)
      for session in sessions.values { _ = broker.takeFrames(of: session) }
      let code = try await ask("modifyGroupMessage", #""seq":\#(seq),"text":"told \#(seq)""#, by: nil).code
      #expect(code == 0)
      let told = try sessions.filter { user, session in
        try broker.takeFrames(of: session).contains { try JSON($0)["method"] == "onRecvMessageModified" }
      }
      let expected = members.filter { sees($0, message) }
      #expect(Set(told.keys) == expected, "the edit of \(seq)")
    }
  }
}
