import GroupModel
import GroupRuntime
import StoreTables

/// One pass over messages for one page of a search, which does a bounded amount of work. A dialect
/// finds the messages of a group that may be looked for; `MessageSearch.matches` has the last word.
package struct MessageScan {
  package let search: MessageSearch
  private let limit: Int
  /// The work that the page may still do, in rows that are read.
  package var work: Int
  private let clocks: any Clocks
  /// The page ends: long texts, and trigrams that are everywhere, take longer than the work tells.
  private let deadline: MonotonicInstant
  private static let time = Duration.milliseconds(100)
  /// Each page looks at a message at least.
  package var hasLooked = false
  private var found: [MessageSearch.Found] = []

  /// The work of looking up a group.
  private static let groupWork = 5
  private static let groupsPerRead = 64

  /// - Parameter limit: the most messages that are found.
  package init(_ search: MessageSearch, limit: Int, _ options: EngineOptions) {
    self.search = search
    self.limit = limit
    work = options.searchedMessages
    clocks = options.clocks
    deadline = clocks.monotonic + Self.time
  }

  /// How many more messages the page takes.
  package var wanted: Int { limit - found.count }

  /// Whether the page has found enough, or taken too long.
  package var isFullOrLate: Bool { wanted <= 0 || hasLooked && clocks.monotonic >= deadline }

  /// Whether the page has done enough.
  package var isOver: Bool { hasLooked && work <= 0 || isFullOrLate }

  /// Adds a message if it is looked for.
  package mutating func add(_ message: Message, of group: Group) {
    guard let seq = message.seq, group.visibility.contains(message), search.matches(message) else { return }
    found.append(MessageSearch.Found(message: message, place: MessageSearch.place(group: group.number, seq: seq)))
  }

  /// A group that is searched.
  package struct Group {
    package let id: GroupID
    package let number: Int64
    /// The messages to search, ascending. Some may be targeted at others than the reader.
    let ranges: [ClosedRange<Int64>]
    let visibility: Visibility
    /// Whether some of its messages are replies.
    let hasReplies: Bool
  }

  /// Finds messages behind a place.
  /// - Parameter look: looks at the newest messages of a range, and adds those that match.
  ///   - Returns: the last message that it has not looked at.
  package mutating func page(
    after place: Int64, in db: some StoreQueries,
    _ look: (inout MessageScan, Group, ClosedRange<Int64>) throws -> Int64
  ) throws -> MessageSearch.Page {
    let (first, below) = MessageSearch.position(at: place)
    let named = search.groups.isEmpty ? [] : try db.groupNumbers(of: search.groups, from: first)
    var next = first
    while true {
      let groups =
        search.groups.isEmpty
        ? try db.groupNumbers(joinedBy: search.reader, from: next, limit: Self.groupsPerRead) : named
      for number in groups {
        let bound = number == first ? below ?? .max : .max
        if let stop = try searchGroup(number, below: bound, in: db, look) {
          return MessageSearch.Page(found: found, next: MessageSearch.place(group: number, seq: stop))
        }
      }
      guard search.groups.isEmpty, groups.count == Self.groupsPerRead, let last = groups.last else {
        return MessageSearch.Page(found: found, next: 0)
      }
      next = last + 1
    }
  }

  /// - Returns: the `seq` below which the next page goes on; nil where the group is finished.
  private mutating func searchGroup(
    _ number: Int64, below bound: Int64, in db: some StoreQueries,
    _ look: (inout MessageScan, Group, ClosedRange<Int64>) throws -> Int64
  ) throws -> Int64? {
    work -= Self.groupWork
    guard let group = try group(number, below: bound, in: db) else { return nil }
    let first = found.count
    let stop = try lookThrough(group, look)
    if group.hasReplies, found.count > first { try countReplies(from: first, of: group, in: db) }
    return stop
  }

  /// Counts the replies to the messages that were found in a group.
  private mutating func countReplies(from first: Int, of group: Group, in db: some StoreQueries) throws {
    let counts = try db.replyCounts(
      to: found[first...].compactMap(\.message.seq), number: group.number, visible: group.visibility)
    for index in first..<found.count { found[index].replyCount = counts[found[index].message.seq ?? 0] ?? 0 }
  }

  /// - Returns: the `seq` below which the next page goes on; nil where the group is finished.
  private mutating func lookThrough(
    _ group: Group, _ look: (inout MessageScan, Group, ClosedRange<Int64>) throws -> Int64
  ) throws -> Int64? {
    for range in group.ranges.reversed() {
      var high = range.upperBound
      while high >= range.lowerBound {
        if isOver { return high + 1 }
        high = try look(&self, group, range.lowerBound...high)
        hasLooked = true
      }
    }
    return nil
  }

  private func group(_ number: Int64, below bound: Int64, in db: some StoreQueries) throws -> Group? {
    guard let row = try db.searchedGroup(number: number, reader: search.reader), row.type.storesMessages,
      search.reader == nil || row.isMember, let newest = try db.newestSeq(number: number)
    else { return nil }
    var (first, last) = (Int64(1), min(newest, bound - 1))
    if let from = search.from {
      guard let seq = try db.firstSeq(number: number, notBefore: from) else { return nil }
      first = seq
    }
    if let to = search.to, let seq = try db.firstSeq(number: number, notBefore: to + .milliseconds(1)) {
      last = min(last, seq - 1)
    }
    let visibility = row.visibility(for: search.reader, newest: newest)
    let ranges = visibility.ranges.compactMap { range in
      let (low, high) = (max(range.lowerBound, first), min(range.upperBound, last))
      return low <= high ? low...high : nil
    }
    return Group(
      id: row.id, number: number, ranges: ranges, visibility: visibility, hasReplies: row.features.contains(.replies))
  }
}
