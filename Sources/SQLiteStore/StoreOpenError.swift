/// Why a store could not be opened. Nothing of the database was changed where the kind is `.locked`, `.foreign`, `.corrupt`
/// or `.newer`.
public struct StoreOpenError: Error, Sendable, CustomStringConvertible {
  /// What stands in the way.
  public enum Kind: Sendable, Equatable {
    /// The directory of the database cannot be made, or not be written to.
    case directory
    /// There is no database, where one is only looked at.
    case missing
    /// Another process has the database open.
    case locked
    /// The database file is none of Throng's.
    case foreign
    /// The database file is damaged.
    case corrupt
    /// A newer version of Throng has written the database.
    case newer
    /// The disk refuses for the moment: full, read-only, or failing.
    case unavailable
  }

  /// What kind of obstacle it was.
  public let kind: Kind
  /// A sentence for the operator, which names the file or directory.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
