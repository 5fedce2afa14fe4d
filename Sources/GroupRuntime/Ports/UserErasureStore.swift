import GroupModel

/// Finds what a store keeps of a user, for its erasure and for its export (Protocol.md, "Deleting a
/// user" and "Exporting a user"). It is erased by `StoreChange.erase`.
public protocol UserErasureStore: Sendable {
  /// The deletion of a user, running or done; nil = there is none.
  func deletion(of user: UserID) async throws(StoreError) -> UserDeletion?

  /// Deletions that are not done, by userID.
  /// - Parameter after: only those behind this user; nil = from the first.
  func runningDeletions(after user: UserID?, limit: Int) async throws(StoreError) -> [UserDeletion]

  /// What a step has to erase next, behind a place. It looks at a bounded number of rows, so it may find
  /// nothing and still have a next place.
  /// - Parameters:
  ///   - deletion: tells the user, the step and the place, and whether texts go.
  ///   - scanning: about how many rows are looked at.
  func erasable(_ deletion: UserDeletion, scanning: Int) async throws(StoreError) -> ErasableChunk

  /// The first step that would find something in the tables that name users; nil = nothing is left.
  func remains(of user: UserID) async throws(StoreError) -> UserDeletion.Step?

  /// Returns when the files hold nothing of what was erased before, as far as the store sees to it.
  func reclaim() async throws(StoreError)

  /// What is kept of a user in an order of its own, for an export.
  /// - Parameters:
  ///   - place: where the last page has ended.
  ///   - limit: the most rows.
  func personalRows(of user: UserID, after place: PersonalPlace, limit: Int) async throws(StoreError) -> PersonalPage
}

/// A bounded part of a step.
public struct ErasableChunk: Sendable, Equatable {
  /// What groups erase, which have it in memory, too: before the rows.
  public var operations: [GroupErasureOrder]
  /// What is erased by statements.
  public var rows: [ErasedRow]
  /// Where the step goes on; nil = it is over.
  public var next: UserDeletion.Place?

  /// A chunk; it is empty, and the last, by default.
  public init(operations: [GroupErasureOrder] = [], rows: [ErasedRow] = [], next: UserDeletion.Place? = nil) {
    self.operations = operations
    self.rows = rows
    self.next = next
  }
}

/// Something that a group erases of a user.
public struct GroupErasureOrder: Sendable, Equatable {
  public let group: GroupID
  public let erasure: GroupErasure

  /// An order with everything given.
  public init(_ erasure: GroupErasure, in group: GroupID) {
    self.erasure = erasure
    self.group = group
  }
}

/// A row with something of a user, which goes or is written anew. Each is one statement by primary key:
/// done twice, or when its row is gone, it changes nothing.
public enum ErasedRow: Sendable, Equatable {
  /// A user's texts.
  case profile(UserID)
  /// The name card beside a message of the user.
  case nameCard(number: Int64, seq: Int64, sender: UserID)
  /// A tip that shows the user.
  case tips(number: Int64, seq: Int64, content: String)
  /// An application from or to the user.
  case application(number: Int64)
  /// The words of the user who has decided an application.
  case answer(ofApplication: Int64)
  /// A notification of the user.
  case notification(addressee: String, number: Int64)
  /// A notification of others about what the user did: the words and the profile go.
  case notice(addressee: String, number: Int64, opUser: String)
  /// What the user has read of a block of messages.
  case receipts(number: Int64, block: Int64, UserID)
  /// The members when a message was sent, without the user.
  case receiptList(number: Int64, seq: Int64, [UserID])
  /// The readers whom a message names, without the user.
  case targets(number: Int64, seq: Int64, [UserID])
  /// What is kept of a user who has left a group, and no group has in memory; a ban and a mute stay.
  case formerMember(number: Int64, UserID)
  /// The membership of a group that is disbanded, and not cleared away yet.
  case disbandedMember(number: Int64, UserID)
  /// A report by the user.
  case report(number: Int64)
  /// The message of a report, in which the user stands.
  case reportedMessage(number: Int64, message: [UInt8])
  /// An after-event that waits.
  case webhook(number: Int64, data: [UInt8])
  /// An after-event that was given up.
  case failure(number: Int64, data: [UInt8])
  /// That the user was ever in a group; stays where the user is in it again.
  case groupOfUser(number: Int64, UserID)
  /// The groups that the user has left lately.
  case departures(UserID)
  /// How far the user has read.
  case marks(UserID)
  /// That the user is known.
  case known(UserID)
}

/// A place in what is kept of a user.
public struct PersonalPlace: Sendable, Equatable {
  /// The kinds in their order.
  public enum Stage: Int64, CaseIterable, Sendable {
    case membership, settings, application, notification, message
  }

  public var stage: Stage
  /// The last row that was looked at: of memberships and settings the number of the group, of messages
  /// that of `messagePosition`; 0 = none.
  public var position: Int64

  /// Before everything.
  public static let start = PersonalPlace(.membership)

  /// A place with everything given.
  public init(_ stage: Stage, position: Int64 = 0) {
    self.stage = stage
    self.position = position
  }

  /// The position of a message, below 2⁵²; 0 where the group is not among the first 2²⁴.
  public static func messagePosition(group: Int64, seq: Int64) -> Int64 {
    group < 1 << 24 ? MessageSearch.place(group: group, seq: seq) : 0
  }

  /// The beginning of the next kind; nil = this is the last.
  public var nextStage: PersonalPlace? { Stage(rawValue: stage.rawValue + 1).map { PersonalPlace($0) } }
}

/// A page of what is kept of a user.
public struct PersonalPage: Sendable, Equatable {
  public var rows: [PersonalRow]
  /// Nil = there is no more.
  public var next: PersonalPlace?

  /// A page with everything given.
  public init(rows: [PersonalRow], next: PersonalPlace?) {
    self.rows = rows
    self.next = next
  }
}

/// Something that is kept of a user, and the place behind it.
public struct PersonalRow: Sendable, Equatable {
  /// The kinds.
  public enum Content: Sendable, Equatable {
    case membership(Membership, Member)
    case settings(Membership, Member)
    case application(GroupApplication)
    case notification(SystemNotification)
    case message(Message)
  }

  public let content: Content
  public let place: PersonalPlace

  /// A row with everything given.
  public init(_ content: Content, at place: PersonalPlace) {
    self.content = content
    self.place = place
  }
}
