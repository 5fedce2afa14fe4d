import GroupModel

/// The messages that are for a reader, as a condition in SQL that says what `Visibility.isAddressed`
/// says. It stands in statements over `messageExtras AS e`, each for one range of the reader's places.
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

  /// The condition, to be joined with others by AND. There are two texts.
  public let sql: String
  /// The argument of the condition; nil = it takes none.
  public let reader: UserID?

  /// - Parameter count: the arguments that the statement has before that of the condition.
  public init(_ reader: Visibility.Reader, in dialect: Dialect, after count: Int) {
    switch reader {
    case .application:
      sql = "TRUE"
      self.reader = nil
    case .user(let user):
      let argument = "\(dialect.sign)\(count + 1)"
      // UserIDs have no spaces, and one stands between two.
      let isNamed = "\(dialect.position)(' ' || e.toUserIDs || ' ', ' ' || \(argument) || ' ') > 0"
      sql = "(e.toUserIDs IS NULL OR e.sender = \(argument) OR \(isNamed))"
      self.reader = user
    }
  }
}
