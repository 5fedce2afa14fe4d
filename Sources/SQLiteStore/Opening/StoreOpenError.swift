/// The reason why a store could not be opened. The database is unchanged where the kind is
/// `.locked`, `.foreign`, `.corrupt` or `.newer`.
public struct StoreOpenError: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// The directory of the database cannot be created, or not be written to.
    case directory
    /// There is no database, and the caller only reads.
    case missing
    /// There is a file already where a new one is to be made.
    case exists
    /// Another process has the database open.
    case locked
    /// The file is not a database of Throng's.
    case foreign
    /// The database file is damaged.
    case corrupt
    /// A newer version of Throng has written the database.
    case newer
    /// The disk cannot be written to at the moment: full, read-only, or failing.
    case unavailable
  }

  public let kind: Kind
  /// A sentence for the operator that names the file or directory.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
