import GroupModel
import WireProtocol

/// An operation of one group: a client's request, or a part of one that the gateway or the group's
/// actor completes with stored data. The largest cases are indirect: every operation is passed on
/// in memory of one size.
public enum GroupOperation: Sendable {
  case request(GroupRequest, UserFacts = .none)
  indirect case create(CreateGroup, owner: UserID, UserFacts)
  indirect case importGroup(ImportGroup, owner: UserID, UserFacts)
  /// - Parameter application: as the store keeps it; the group may have a newer one.
  indirect case decide(GroupApplication, agrees: Bool, reason: String, UserFacts)
  /// - Parameter message: as the store keeps it; nil = there is none.
  indirect case revokeFound(seq: Int64, message: Message?)
  /// - Parameter seqs: those that the store says the caller may confirm.
  indirect case confirmFound(_ seqs: [Int64], epoch: String)
  /// - Parameter readers: as the store keeps them; nil = there is no such message.
  indirect case readersFound(_ readers: MessageReaders?, GetGroupMessageReadMemberList, epoch: String)
  /// The checks of a request that the application is asked about; answers `.empty` where it is to be
  /// asked, and changes nothing.
  indirect case check(GroupRequest, UserFacts)
  /// The checks of a creation, in the same way.
  indirect case checkCreation(CreateGroup, owner: UserID, UserFacts)
  /// A send that the application has dropped.
  indirect case dropMessage(GroupRequest)
  /// The row of getGroupsInfo.
  case info
  /// The row of searchGroups; nil where the caller may not find the group.
  case foundInfo(joinedOnly: Bool)
  /// The row of getJoinedGroupList; nil where nothing changed since the instant, or the caller is
  /// no member.
  case joinedInfo(updatedSince: WallInstant)
  /// The row of getGroupUnreadCount.
  case unreadCount
  /// The row of syncGroups.
  /// - Parameter bytes: the most that its messages may have.
  case sync(epoch: String, seq: Int64, bytes: Int)
}

/// Facts that only stores know of the users whom a request names.
public struct UserFacts: Sendable {
  /// Boxed: the requests without facts, messages among them, carry one word.
  private final class Found: Sendable {
    let unknown: Set<UserID>
    let atGroupLimit: Set<UserID>
    let isAtRoomLimit: Bool
    let firstSeqs: [UserID: Int64]
    let readMarks: [UserID: WallInstant]

    init(
      unknown: Set<UserID>, atGroupLimit: Set<UserID>, isAtRoomLimit: Bool, firstSeqs: [UserID: Int64],
      readMarks: [UserID: WallInstant]
    ) {
      self.unknown = unknown
      self.atGroupLimit = atGroupLimit
      self.isAtRoomLimit = isAtRoomLimit
      self.firstSeqs = firstSeqs
      self.readMarks = readMarks
    }
  }

  private let found: Found?

  /// Nothing is known, and no limit is reached.
  public static let none = UserFacts(nil)

  private init(_ found: Found?) { self.found = found }

  /// Facts; each is empty by default.
  public init(
    unknown: Set<UserID> = [], atGroupLimit: Set<UserID> = [], isAtRoomLimit: Bool = false, firstSeqs: [UserID: Int64] = [:],
    readMarks: [UserID: WallInstant] = [:]
  ) {
    self.init(
      Found(
        unknown: unknown, atGroupLimit: atGroupLimit, isAtRoomLimit: isAtRoomLimit, firstSeqs: firstSeqs, readMarks: readMarks))
  }

  /// The users that are not known, where they have to be (`users.requireKnown`).
  public var unknown: Set<UserID> { found?.unknown ?? [] }
  /// The users with as many groups as one may have (`limits.groupsPerUser`).
  public var atGroupLimit: Set<UserID> { found?.atGroupLimit ?? [] }
  /// There are as many AVChatRooms as there may be (`limits.avChatRooms`,
  /// `limits.avChatRoomsPerUser`).
  public var isAtRoomLimit: Bool { found?.isAtRoomLimit ?? false }
  /// The first message since each imported member joined, where there is one.
  public var firstSeqs: [UserID: Int64] { found?.firstSeqs ?? [:] }
  /// Up to where the deciders of an application have read their applications; absent = nothing.
  public var readMarks: [UserID: WallInstant] { found?.readMarks ?? [:] }
}
