import GRDB
import GroupModel
import StoreTables
import Testing
import ThrongTestKit

/// What a reader may see, in SQL.
@Suite struct VisibilityConditionTests {
  private let ann: UserID
  private let group: GroupID

  init() throws {
    ann = try #require(UserID("ann"))
    group = try #require(GroupID("g"))
  }

  // MARK: Texts

  @Test func aUsersConditionNamesTheSenderAndTheTargets() {
    let sqlite = VisibilityCondition(.user(ann), in: .sqlite, after: 5)
    #expect(
      sqlite.sql == """
        (e.toUserIDs IS NULL OR e.sender = ?6 OR instr(' ' || e.toUserIDs || ' ', ' ' || ?6 || ' ') > 0)
        """)
    let postgreSQL = VisibilityCondition(.user(ann), in: .postgreSQL, after: 0)
    #expect(
      postgreSQL.sql == """
        (e.toUserIDs IS NULL OR e.sender = $1 OR strpos(' ' || e.toUserIDs || ' ', ' ' || $1 || ' ') > 0)
        """)
    #expect(sqlite.reader == ann && postgreSQL.reader == ann)
  }

  @Test func anAdministratorsConditionAsksForNoTargets() {
    for dialect in [VisibilityCondition.Dialect.sqlite, .postgreSQL] {
      let condition = VisibilityCondition(.application, in: dialect, after: 5)
      #expect(condition.sql == "TRUE" && condition.reader == nil)
    }
  }

  // MARK: Rows

  /// Names that a careless search takes for one another.
  private static let names = ["a", "ab", "b", "A", "a,b", "_", "%", "a'b", "abc"]

  private func randomMessages(_ count: Int64, _ users: [UserID], _ random: inout SeededGenerator) -> [Message] {
    (1...count).map { seq in
      var message = Message(
        msgID: "\(seq)", groupID: group, seq: seq, sender: users.randomElement(using: &random) ?? ann, nameCard: "",
        timestamp: .unset, content: .text("t"), priority: .normal, clientMsgID: nil, platform: .web)
      if Bool.random(using: &random) {
        let targets = users.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
        message.extras = MessageExtras(
          extension: Bool.random(using: &random) ? "data" : nil, toUserIDList: targets.filter { $0 != message.sender })
      }
      return message
    }
  }

  private func write(_ message: Message, to database: Database) throws {
    let targets = (message.extras?.toUserIDList ?? []).map(\.rawValue).joined(separator: " ")
    try database.execute(
      sql: "INSERT INTO messageExtras (number, seq, sender, toUserIDs) VALUES (1, ?, ?, ?)",
      arguments: [message.seq, message.sender.rawValue, targets.isEmpty ? nil : targets])
  }

  private func randomVisibility(of user: UserID, through newest: Int64, _ random: inout SeededGenerator) -> Visibility {
    // Bounds of past memberships and of the present one: an even number and one more, ascending.
    var bounds = Set((0..<Int.random(in: 0...8, using: &random)).map { _ in Int64.random(in: 1...newest, using: &random) })
      .sorted()
    let first = bounds.popLast() ?? 1
    let earlier = stride(from: 0, to: bounds.count - 1, by: 2).map { bounds[$0]...bounds[$0 + 1] }
    let cleared = Bool.random(using: &random) ? Int64.random(in: 0...newest, using: &random) : 0
    return Visibility(
      of: user, from: first, earlier: earlier, clearedThrough: cleared, through: newest,
      under: Int.random(in: 0..<4, using: &random) == 0 ? .all : .joined)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func rowsAreThoseThatTheValueContains(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let users = try Self.names.map { try #require(UserID($0)) }
    let messages = randomMessages(40, users, &random)
    let queue = try DatabaseQueue()
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE messageExtras (number INTEGER NOT NULL, seq INTEGER NOT NULL, sender TEXT NOT NULL, toUserIDs TEXT, \
          PRIMARY KEY (number, seq)) STRICT, WITHOUT ROWID;
          """)
      for message in messages { try write(message, to: database) }
    }
    let readers = users.map { randomVisibility(of: $0, through: 40, &random) } + [Visibility(ofApplicationThrough: 40)]
    for visibility in readers {
      let condition = VisibilityCondition(visibility.reader, in: .sqlite, after: 2)
      let found = try queue.read { database in
        try visibility.ranges.flatMap { range in
          var arguments: [(any DatabaseValueConvertible)?] = [range.lowerBound, range.upperBound]
          if let reader = condition.reader { arguments.append(reader.rawValue) }
          return try Int64.fetchAll(
            database,
            sql: """
              SELECT e.seq FROM messageExtras AS e
              WHERE e.number = 1 AND e.seq BETWEEN ?1 AND ?2 AND \(condition.sql) ORDER BY e.seq
              """,
            arguments: StatementArguments(arguments))
        }
      }
      #expect(found == messages.filter(visibility.contains).compactMap(\.seq), "seed \(seed), \(visibility)")
    }
  }
}
