import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreTables
import WireProtocol

/// The full-text index of messages: trigrams, so that any language is found. It is filled in the
/// background, in batches: that costs half of what a part of each commit would. A search reads the
/// messages that are not indexed yet one by one.
///
/// The texts are not stored again (`content=''`), nor where in them a trigram stands
/// (`detail=none`), which a search finds out from the message. What is recalled, changed or removed
/// is taken out in the background, too: a long text has 12,000 places, which take the writer 20 ms.
///
/// Texts and keywords are folded as `MessageSearch` does before FTS5 sees them, whose own folding
/// knows fewer letters.
enum MessageIndex {
  private static let tokenizer = "trigram case_sensitive 1"

  /// - A rowid is the group's number and the message's `seq`, neither of which is used again.
  /// - `messageIndexed.seq`: the messages of the group up to it are indexed.
  /// - `messageStale`: indexed texts that messages no longer have. A search looks at these messages.
  /// - Parts are merged by steps in the background alone: FTS5's own merges would delay a commit.
  private static let tables = """
    CREATE VIRTUAL TABLE messageSearch USING fts5(text, content='', columnsize=0, detail=none, tokenize='\(tokenizer)');
    INSERT INTO messageSearch (messageSearch, rank) VALUES ('automerge', 0);
    INSERT INTO messageSearch (messageSearch, rank) VALUES ('crisismerge', 64);
    CREATE TABLE messageIndexed (number INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
    CREATE TABLE messageStale (id INTEGER PRIMARY KEY, text ANY NOT NULL) STRICT;
    CREATE TRIGGER messageSearchRemove AFTER DELETE ON message
    WHEN OLD.kind = 'Text' AND NOT OLD.isRevoked AND OLD.seq <= (SELECT seq FROM messageIndexed WHERE number = OLD.number)
    BEGIN
      INSERT OR IGNORE INTO messageStale VALUES (OLD.number << 32 | OLD.seq, OLD.content);
    END;
    CREATE TRIGGER messageSearchRevise AFTER UPDATE OF kind, isRevoked, content ON message
    WHEN OLD.kind = 'Text' AND NOT OLD.isRevoked AND OLD.seq <= (SELECT seq FROM messageIndexed WHERE number = OLD.number)
    BEGIN
      INSERT OR IGNORE INTO messageStale VALUES (OLD.number << 32 | OLD.seq, OLD.content);
    END;
    CREATE TRIGGER messageSearchDisband AFTER DELETE ON dismissedGroup
    BEGIN
      DELETE FROM messageIndexed WHERE number = OLD.number;
    END;
    """

  private static let removal = """
    DROP TRIGGER messageSearchRemove;
    DROP TRIGGER messageSearchRevise;
    DROP TRIGGER messageSearchDisband;
    DROP TABLE messageStale;
    DROP TABLE messageIndexed;
    DROP TABLE messageSearch;
    """

  /// Makes the index where it is missing, or drops one that is switched off.
  static func prepare(_ pool: DatabasePool, isOn: Bool, _ logger: Logger) throws {
    let definition = try pool.read { try String.fetchOne($0, sql: "SELECT sql FROM sqlite_master WHERE name = 'messageSearch'") }
    // An earlier release let FTS5 fold.
    let isCurrent = definition.map { isOn && $0.contains(tokenizer) } ?? !isOn
    if isCurrent || pool.configuration.readonly { return }
    logger.notice(isOn ? "messages are indexed from now on, in the background" : "the index of messages is dropped")
    try pool.write { db in
      if definition != nil { try db.execute(sql: removal) }
      if isOn { try create(in: db) }
    }
  }

  /// Makes the tables and triggers.
  static func create(in db: Database) throws { try db.execute(sql: tables) }

  /// Messages of one step, and their bytes beyond the first: about a tenth of the time of a
  /// transaction.
  private static let (rowsPerStep, bytesPerStep) = (8, 1024)

  /// Indexes a few of the messages that a group has beyond the indexed ones.
  /// - Returns: false where there was none.
  static func addMessages(of number: Int64, in db: Database) throws -> Bool {
    let rows = try db.rows(
      """
      SELECT seq, kind = 'Text' AND NOT isRevoked, content FROM message
      WHERE number = ?1 AND seq > coalesce((SELECT seq FROM messageIndexed WHERE number = ?1), 0) ORDER BY seq LIMIT ?2
      """, [number, rowsPerStep]
    ) { (seq: try $0.integer(), isText: try $0.flag(), content: try $0.text()) }
    guard var last = rows.first?.seq else { return false }
    var bytes = 0
    for row in rows {
      if row.isText {
        bytes += row.content.utf8.count
        if row.seq > last, bytes > bytesPerStep { break }
        try insert(row.content, at: rowID(number, row.seq), in: db)
      }
      last = row.seq
    }
    try db.run("INSERT OR REPLACE INTO messageIndexed VALUES (?, ?)", [number, last])
    return true
  }

  /// Takes out one text that its message no longer has, and indexes what it has instead.
  /// - Returns: false where there was none.
  static func refreshMessage(in db: Database) throws -> Bool {
    let stale = try db.rows("SELECT id, text FROM messageStale LIMIT 1", []) { (id: try $0.integer(), text: try $0.text()) }
    guard let (id, text) = stale.first else { return false }
    try db.run(
      "INSERT INTO messageSearch (messageSearch, rowid, text) VALUES ('delete', ?, ?)", [id, text.lowercased().column])
    let contents = try db.rows(
      "SELECT content FROM message WHERE number = ? AND seq = ? AND kind = 'Text' AND NOT isRevoked", [id >> 32, seq(ofRow: id)]
    ) { try $0.text() }
    for content in contents { try insert(content, at: id, in: db) }
    try db.run("DELETE FROM messageStale WHERE id = ?", [id])
    return true
  }

  private static func insert(_ content: String, at id: Int64, in db: Database) throws {
    try db.run("INSERT INTO messageSearch (rowid, text) VALUES (?, ?)", [id, content.lowercased().column])
  }

  /// Merges a few pages of the index.
  /// - Returns: false where nothing is left to merge.
  static func merge(in db: Database) throws -> Bool {
    let before = db.totalChangesCount
    try db.run("INSERT INTO messageSearch (messageSearch, rank) VALUES ('merge', 8)", [])
    // As FTS5 documents it: fewer than two changes mean that nothing was done.
    return db.totalChangesCount - before >= 2
  }

  /// The last indexed message of a group; 0 = none is.
  static func indexedSeq(of number: Int64, in db: Database) throws -> Int64 {
    try db.rows("SELECT seq FROM messageIndexed WHERE number = ?", [number]) { try $0.integer() }.first ?? 0
  }

  static func rowID(_ number: Int64, _ seq: Int64) -> Int64 { number << 32 | seq }
  static func seq(ofRow id: Int64) -> Int64 { id & 0xFFFF_FFFF }

  /// The query that finds every message with one of the keywords, and some others; nil where a
  /// keyword is too short for the index.
  static func query(for keywords: [String]) -> String? {
    var terms: [String] = []
    for keyword in keywords {
      let scalars = Array(keyword.lowercased().unicodeScalars)
      // Nothing behind a NUL is indexed.
      guard scalars.count >= 3, !scalars.contains("\0") else { return nil }
      let trigrams = (0...scalars.count - 3).map { start in
        var trigram = String.UnicodeScalarView()
        trigram.append(contentsOf: scalars[start..<start + 3])
        return "\"" + String(trigram).replacing("\"", with: "\"\"") + "\""
      }
      terms.append("(" + trigrams.uniqued().prefix(maxTrigrams).joined(separator: " AND ") + ")")
    }
    return terms.joined(separator: " OR ")
  }

  /// More of them find hardly fewer others.
  private static let maxTrigrams = 12
}
