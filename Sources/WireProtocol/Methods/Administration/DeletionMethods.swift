import GroupModel

/// Erases what is kept of a user.
public struct DeleteUser: ServerMethod {
  public let userID: UserID
  public let messages: UserDeletion.MessageFate

  public static let specification = MethodSpecification(
    .deleteUser, "Begins to delete a user; it is done in the background.", callers: .application, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .user($0.userID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user who is deleted.")
    messages =
      try reader.optionalWord(
        "messages", of: UserDeletion.MessageFate.allowedWords, "What becomes of the user's messages; absent = Keep."
      ) { UserDeletion.MessageFate(rawValue: $0) } ?? .keep
  }
}

/// How far the deletion of a user has come.
public struct GetUserDeletion: ServerMethod {
  public let userID: UserID

  public static let specification = MethodSpecification(
    .getUserDeletion, "Tells whether a user is being deleted.", callers: .application, result: Result.fields,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The state of a deletion.
  public enum State: String, CaseIterable, Sendable {
    case none = "None"
    case running = "Running"
    case done = "Done"
  }

  /// The state of the user's deletion.
  public struct Result: WireObject {
    public let state: State

    public static let example = Result(state: .none)

    /// With everything given.
    public init(state: State) { self.state = state }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("state", word: state)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user who was to be deleted.")
  }
}

/// What is kept of a user.
public struct ExportUser: ServerMethod {
  public let userID: UserID
  public let nextSeq: Int64

  public static let specification = MethodSpecification(
    .exportUser, "Lists everything that is kept of a user.", callers: .application, result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here, audit: .change)

  /// The most rows of a page.
  public static let maxRows = 200

  /// A page of rows.
  public struct Result: WireObject {
    /// Each has a `kind`, which tells its members.
    public let rows: [EncodedObject]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(rows: [], nextSeq: 0)

    /// With everything given.
    public init(rows: [EncodedObject], nextSeq: Int64) {
      self.rows = rows
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("rows", rows)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user whose data are exported.")
    nextSeq = try reader.nextSeq()
  }
}

extension UserDeletion.MessageFate {
  static var allowedWords: AllowedWords { AllowedWords(allCases.map(\.rawValue)) }
}
