import GroupModel

/// The messages that a reader may see, as a condition in SQL that says what `Visibility.contains`
/// says. It stands in statements over `message AS m LEFT JOIN messageExtras AS e`.
public struct VisibilityCondition: Sendable {
  /// The spelling of a database.
  public enum Dialect: Sendable {
    case sqlite
    case postgreSQL

    /// Begins the number of an argument.
    fileprivate var sign: String {
      switch self {
      case .sqlite: "?"
      case .postgreSQL: "$"
      }
    }

    /// The function that tells where in a text another begins, from 1 on; 0 = nowhere.
    fileprivate var position: String {
      switch self {
      case .sqlite: "instr"
      case .postgreSQL: "strpos"
      }
    }
  }

  /// The condition, to be joined with others by AND. There are as many texts as ranges can be.
  public let sql: String
  private let visibility: Visibility

  /// - Parameter count: the arguments that the statement has before those of the condition.
  public init(_ visibility: Visibility, in dialect: Dialect, after count: Int) {
    self.visibility = visibility
    var last = count
    func argument() -> String {
      last += 1
      return "\(dialect.sign)\(last)"
    }
    let places = visibility.ranges.map { _ in "m.seq BETWEEN \(argument()) AND \(argument())" }
    if places.isEmpty {
      sql = "FALSE"
      return
    }
    let isThere = places.count == 1 ? places[0] : "(\(places.joined(separator: " OR ")))"
    switch visibility.reader {
    case .application: sql = isThere
    case .user:
      let reader = argument()
      // UserIDs have no spaces, and one stands between two.
      let isNamed = "\(dialect.position)(' ' || e.toUserIDs || ' ', ' ' || \(reader) || ' ') > 0"
      sql = "\(isThere) AND (e.toUserIDs IS NULL OR m.sender = \(reader) OR \(isNamed))"
    }
  }

  /// Appends the arguments of the condition.
  public func appendArguments(to writer: inout some ColumnWriter) {
    if visibility.ranges.isEmpty { return }
    for range in visibility.ranges {
      writer.append(range.lowerBound)
      writer.append(range.upperBound)
    }
    if case .user(let user) = visibility.reader { writer.append(user.rawValue) }
  }
}
