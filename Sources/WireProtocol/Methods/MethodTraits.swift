import GroupModel

/// What the server has to know of a method's requests before it performs them. A method says all of
/// it: nothing has a default, so a forgotten trait does not compile.
public struct MethodTraits<Parameters: Sendable>: Sendable {
  /// A fact that the parameters of a request tell.
  public typealias Fact<Value> = @Sendable (_ parameters: Parameters) -> Value

  /// The rows that a request may add to the store.
  public enum Rows: Sendable {
    case always(WrittenRows)
    case by(Fact<WrittenRows>)

    /// A member, a tip and a notification: no request that has no rows of its own kind brings more.
    public static var membership: Rows { .always(.membership(reasonBytes: 0)) }
  }

  /// The node that performs a request, among several.
  public enum Place: Sendable {
    /// The one that has got it: it reads the store, or asks several groups.
    case here
    /// The owner of what it is for.
    /// - Parameter mayWait: see `Request.mayWait`.
    case owner(mayWait: Bool, of: Fact<RequestSubject>)

    fileprivate var mayWait: Bool {
      switch self {
      case .here: false
      case .owner(let mayWait, _): mayWait
      }
    }
  }

  /// The users of whom the stores know what the group does not.
  public enum Users: Sendable {
    /// None, or members alone, whom the group knows.
    case nobody
    /// The caller, who may become a member: of so many groups at most (`limits.groupsPerUser`).
    case caller
    /// They may have to be known (`users.requireKnown`).
    case known(Fact<[UserID]>)
    /// They may become members without being asked: they may have to be known, may be in so many
    /// groups, and count for the caller's day (`limits.strangersPerDay`).
    case added(Fact<[UserID]>)
  }

  /// Whether the application may be asked about a request first (Protocol.md, "Webhooks").
  public enum Asks<Asked>: Sendable {
    case never
    case before(Fact<Asked>)
  }

  /// Whether it can change something that outlives the request: such calls of the application's
  /// backend are logged, and a user's are charged for what they write.
  let writes: Bool
  let rows: Rows
  let place: Place
  let users: Users
  let asksGroup: Asks<AskedGroupRequest>
  let asks: Asks<AskedRequest>
  let tellsMembers: Bool
  let mayWait: Bool
  let audit: AuditLevel?
}

extension MethodTraits where Parameters: GroupMethod {
  /// A method that only reads.
  /// - Parameter mayWait: see `Request.mayWait`.
  public static func reads(mayWait: Bool) -> Self {
    Self(
      writes: false, rows: .always(.nothing), place: .here, users: .nobody, asksGroup: .never, asks: .never, tellsMembers: false,
      mayWait: mayWait, audit: nil)
  }

  /// A method that may change something.
  /// - Parameters:
  ///   - tellsMembers: see `GroupRequest.tellsMembers`.
  ///   - mayWait: see `Request.mayWait`.
  public static func writes(
    _ rows: Rows, users: Users, asks: Asks<AskedGroupRequest>, tellsMembers: Bool, mayWait: Bool, audit: AuditLevel
  ) -> Self {
    Self(
      writes: true, rows: rows, place: .here, users: users, asksGroup: asks, asks: .never, tellsMembers: tellsMembers,
      mayWait: mayWait, audit: audit)
  }
}

extension MethodTraits where Parameters: ServerMethod {
  /// A method that only reads.
  /// - Parameter audit: nil = it is not logged; what is read of one user for somebody else is.
  public static func reads(at place: Place, audit: AuditLevel? = nil) -> Self {
    Self(
      writes: false, rows: .always(.nothing), place: place, users: .nobody, asksGroup: .never, asks: .never, tellsMembers: false,
      mayWait: place.mayWait, audit: audit)
  }

  /// A method that may change something.
  public static func writes(_ rows: Rows, at place: Place, asks: Asks<AskedRequest>, audit: AuditLevel) -> Self {
    Self(
      writes: true, rows: rows, place: place, users: .nobody, asksGroup: .never, asks: asks, tellsMembers: false,
      mayWait: place.mayWait, audit: audit)
  }
}

/// How the audit log notes a call of the application's backend that may change something
/// (Protocol.md, "Audit log").
public enum AuditLevel: Sendable {
  case change
  /// A backend calls it for each message: among the changes it would hide all others.
  case message
}

/// The rows that a request may add to the store for good, at most: known before it runs. What each
/// takes of the disk is the gateway's to know.
public enum WrittenRows: Sendable, Equatable {
  case nothing
  /// A member, a tip and a notification, each once, and a reason in the notification and the application.
  case membership(reasonBytes: Int)
  /// - Parameters:
  ///   - textBytes: of content, mentions and clientMsgID.
  ///   - searchableBytes: of the content, where a search may find it.
  ///   - listsMembers: the members at the message are stored with it, for its receipts.
  ///   - extrasBytes: of the row of what most messages have not; nil = there is no such row.
  case message(textBytes: Int, searchableBytes: Int, listsMembers: Bool, extrasBytes: Int?)
  /// The new content of a message; nil = it stays, and its event carries it all the same. The rest as
  /// for a message.
  case edit(textBytes: Int?, searchableBytes: Int, extrasBytes: Int?)
  case reaction
  /// The change of a message without a new content.
  case messageChange
  /// The same, told by an event that carries the whole message.
  case pin
  /// Messages that a user has read, by their blocks.
  case readReceipts(blocks: Int)
  /// A user asks to be let in, or is.
  case application(textBytes: Int)
  /// Users are asked whether they want to be let in, or are.
  case invitations(users: Int, textBytes: Int)
  /// A group with its owner and first members, who may be asked.
  case group(textBytes: Int, members: Int, inviteBytes: Int)
  /// The record of a group.
  case groupInfo(textBytes: Int)
  case attributes(bytes: Int)
  case counters(Int)
  case removals(users: Int, reasonBytes: Int)
  /// Each user may get a row, in a group of everybody, and a notification; one tip names all.
  case memberChanges(users: Int)
  case profile(textBytes: Int)
  /// A report with a copy of its message.
  case report(textBytes: Int)
}

extension Optional where Wrapped == String {
  /// 0 where there is none.
  var byteCount: Int { self?.utf8.count ?? 0 }
}

extension String {
  /// The bytes of the text in JSON: a control character takes six.
  var bytesInJSON: Int {
    utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : 1) }
  }
}
