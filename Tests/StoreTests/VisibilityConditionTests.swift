import Foundation
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

  private func arguments(_ condition: VisibilityCondition) -> [StoredValue] {
    var values = StoredValues()
    condition.appendArguments(to: &values)
    return values.row
  }

  // MARK: Texts

  @Test func aMembersConditionNamesItsRangesAndTheTargets() {
    let visibility = Visibility(of: ann, from: 8, earlier: [2...4], through: 9, under: .joined)
    let sqlite = VisibilityCondition(visibility, in: .sqlite, after: 3)
    #expect(
      sqlite.sql == """
        (m.seq BETWEEN ?4 AND ?5 OR m.seq BETWEEN ?6 AND ?7) AND (e.toUserIDs IS NULL OR m.sender = ?8 \
        OR instr(' ' || e.toUserIDs || ' ', ' ' || ?8 || ' ') > 0)
        """)
    let postgreSQL = VisibilityCondition(visibility, in: .postgreSQL, after: 0)
    #expect(
      postgreSQL.sql == """
        (m.seq BETWEEN $1 AND $2 OR m.seq BETWEEN $3 AND $4) AND (e.toUserIDs IS NULL OR m.sender = $5 \
        OR strpos(' ' || e.toUserIDs || ' ', ' ' || $5 || ' ') > 0)
        """)
    for condition in [sqlite, postgreSQL] {
      #expect(arguments(condition) == [.integer(2), .integer(4), .integer(8), .integer(9), .text("ann")])
    }
  }

  @Test func anAdministratorsConditionAsksForNoTargets() {
    let condition = VisibilityCondition(Visibility(ofApplicationThrough: 7), in: .postgreSQL, after: 1)
    #expect(condition.sql == "m.seq BETWEEN $2 AND $3")
    #expect(arguments(condition) == [.integer(1), .integer(7)])
  }

  @Test func whoSeesNothingHasAConditionWithoutArguments() {
    for nothing in [
      Visibility(of: ann, from: 1, clearedThrough: 5, through: 5, under: .all), Visibility(ofApplicationThrough: 0),
    ] {
      let condition = VisibilityCondition(nothing, in: .sqlite, after: 2)
      #expect(condition.sql == "FALSE")
      #expect(arguments(condition) == [])
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
    try database.execute(
      sql: "INSERT INTO message (number, seq, sender) VALUES (1, ?, ?)", arguments: [message.seq, message.sender.rawValue])
    guard let extras = message.extras else { return }
    let targets = extras.toUserIDList.map(\.rawValue).joined(separator: " ")
    try database.execute(
      sql: "INSERT INTO messageExtras (number, seq, toUserIDs) VALUES (1, ?, ?)",
      arguments: [message.seq, targets.isEmpty ? nil : targets])
  }

  private func databaseValue(_ value: StoredValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .flag(let flag): flag.databaseValue
    case .text(let text): text.databaseValue
    case .bytes(let bytes): Data(bytes).databaseValue
    }
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
          CREATE TABLE message (number INTEGER NOT NULL, seq INTEGER NOT NULL, sender TEXT NOT NULL, PRIMARY KEY (number, seq)) \
          STRICT, WITHOUT ROWID;
          CREATE TABLE messageExtras (number INTEGER NOT NULL, seq INTEGER NOT NULL, toUserIDs TEXT, PRIMARY KEY (number, seq)) \
          STRICT, WITHOUT ROWID;
          """)
      for message in messages { try write(message, to: database) }
    }
    let readers = users.map { randomVisibility(of: $0, through: 40, &random) } + [Visibility(ofApplicationThrough: 40)]
    for visibility in readers {
      let condition = VisibilityCondition(visibility, in: .sqlite, after: 1)
      let values = ([.integer(1)] + arguments(condition)).map(databaseValue)
      let found = try queue.read { database in
        try Int64.fetchAll(
          database,
          sql: """
            SELECT m.seq FROM message AS m LEFT JOIN messageExtras AS e ON e.number = m.number AND e.seq = m.seq
            WHERE m.number = ?1 AND \(condition.sql) ORDER BY m.seq
            """,
          arguments: StatementArguments(values))
      }
      #expect(found == messages.filter(visibility.contains).compactMap(\.seq), "seed \(seed), \(visibility)")
    }
  }
}
