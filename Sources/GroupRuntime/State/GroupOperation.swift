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
  /// - Parameter found: as the store had it a moment ago; nil = there is none.
  indirect case found(MessageLookUp, FoundMessage?)
  /// - Parameter found: as the live room remembers it; nil = it does not.
  indirect case foundRecent(RecentLookUp, RecentMessage?)
  /// - Parameter seqs: those that the store says the caller may confirm.
  indirect case confirmFound(_ seqs: [Int64], epoch: String)
  /// - Parameter readers: as the store keeps them; nil = there is no such message.
  indirect case readersFound(_ readers: MessageReaders?, GetGroupMessageReadMemberList, epoch: String)
  /// - Parameter found: whether the store has the message.
  indirect case sentFound(SentLookUp, SentSearch)
  /// The checks of a request that the application is asked about; answers `.empty` where it is to be
  /// asked, and changes nothing.
  indirect case check(AskedGroupRequest, UserFacts)
  /// The checks of a creation, in the same way.
  indirect case checkCreation(CreateGroup, owner: UserID, UserFacts)
  /// A message that the application has dropped.
  indirect case dropMessage(AskedMessage)
  /// What the group forgets of a user who is deleted.
  indirect case erase(GroupErasure, of: UserID)
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
  /// - Parameters:
  ///   - changeSeq: nil = no changes are wanted.
  ///   - bytes: the most that its messages may have.
  indirect case sync(epoch: String, seq: Int64, changeSeq: Int64? = nil, bytes: Int)
  /// A report of a message.
  /// - Parameter mayPass: false = the reporter has made as many as may be; all other errors come before.
  indirect case report(ReportMessage, mayPass: Bool)

  /// Whether it is a request with what was read for it.
  var followsReading: Bool {
    switch self {
    case .found, .foundRecent, .confirmFound, .readersFound, .sentFound: true
    default: false
    }
  }
}

extension GroupOperation {
  /// Whether members may be told of it. Reads, and what concerns the caller's own sessions, are free.
  var sendsToMembers: Bool {
    switch self {
    case .request(let request, _): request.tellsMembers
    case .check, .create, .importGroup, .decide, .found, .foundRecent, .sentFound, .checkCreation, .dropMessage, .erase: true
    case .confirmFound, .readersFound, .info, .foundInfo, .joinedInfo, .unreadCount, .sync, .report: false
    }
  }
}

/// What is read before a request is decided.
enum LookUp: Sendable {
  case message(MessageLookUp)
  /// Which of the messages the caller may confirm.
  case confirmable([Int64], epoch: String)
  /// The readers of a message.
  case readers(GetGroupMessageReadMemberList, epoch: String)
  /// A message that may have been sent before.
  case sent(SentLookUp)

  /// The request with what was read.
  func read(
    from store: any MessageStore, in group: GroupID, for caller: Caller
  ) async throws(StoreError) -> GroupOperation {
    switch self {
    case .message(let lookUp): return .found(lookUp, try await lookUp.read(from: store, in: group, for: caller))
    case .confirmable(let seqs, let epoch):
      guard let reader = caller.userID else { return .confirmFound([], epoch: epoch) }
      // A confirmation goes on when its session has ended; a list is for nobody then.
      let found = try await Requester.asking(Requester(reader)) { () async throws(StoreError) in
        try await store.confirmable(seqs, of: group, epoch: epoch, by: reader)
      }
      return .confirmFound(found, epoch: epoch)
    case .readers(let request, let epoch):
      let found = try await Requester.asking(caller.requester) { () async throws(StoreError) in
        try await store.readers(of: request.seq, in: group, epoch: epoch)
      }
      return .readersFound(found, request, epoch: epoch)
    case .sent(let lookUp):
      // In the sender's turn, and to its end: like every message it goes on when its session has ended.
      let found = try await Requester.asking(Requester(caller.userID)) { () async throws(StoreError) in
        try await lookUp.read(from: store, in: group, for: caller)
      }
      return .sentFound(lookUp, found)
    }
  }
}

/// A message that may have been sent so long ago that its receipt is forgotten: it is looked for among
/// the stored ones first.
public struct SentLookUp: Sendable {
  let content: Message.Content
  /// Those of the message when it is a new one.
  let options: MessageOptions
  let clientMsgID: String
  /// Messages from before are not looked at.
  let since: WallInstant
  let epoch: String
  let step: MessageLookUp.Step

  /// The most messages that are looked through.
  static let mostMessages: Int64 = 200_000

  fileprivate func read(
    from store: any MessageStore, in group: GroupID, for caller: Caller
  ) async throws(StoreError) -> SentSearch {
    try await store.sentMessage(
      of: group, epoch: epoch, from: caller.senderID, clientMsgID: clientMsgID, since: since, most: Self.mostMessages)
  }
}

/// A request that is decided over a stored message, which is read first.
public struct MessageLookUp: Sendable {
  /// What is decided over the message.
  enum Purpose: Sendable {
    case revoke
    case modify(ModifyGroupMessage, Step)
    /// A new message answers it.
    case reply(Message.Content, MessageOptions, Step)
    case pin(Bool)
    case react(String, isAdded: Bool)
    case report(ReportMessage, mayPass: Bool)
    /// A user who is deleted gives it no more.
    case eraseReaction(String, of: UserID)
    /// Events that were lost with the state are made again.
    case announce(ChangeAnnouncements.Announcement)
  }

  /// How far a request goes that the application may be asked about.
  enum Step: Sendable {
    /// The checks before it is asked; an edit answers the message.
    case check
    /// - Parameter isFiltered: see `UserFacts.isFiltered`.
    case perform(isFiltered: Bool)
    /// The application does not want it.
    case drop

    /// Whether a text is compared with words: that of a drop was when the application was asked.
    var comparesWords: Bool {
      switch self {
      case .check, .perform(isFiltered: false): true
      case .perform(isFiltered: true), .drop: false
      }
    }
  }

  let seq: Int64
  let purpose: Purpose

  /// Reads the message, and what else the decision needs.
  func read(from store: any MessageStore, in group: GroupID, for caller: Caller) async throws(StoreError) -> FoundMessage? {
    guard let message = try await store.messages(of: group, seqs: [seq]).first else { return nil }
    switch purpose {
    case .revoke, .modify, .reply, .pin, .report: return FoundMessage(message: message)
    case .react, .announce: return try await found(message, of: store, in: group, reader: caller.userID)
    case .eraseReaction(_, let user): return try await found(message, of: store, in: group, reader: user)
    }
  }
}

extension MessageLookUp {
  /// The message with its reactions.
  private func found(
    _ message: Message, of store: any MessageStore, in group: GroupID, reader: UserID?
  ) async throws(StoreError) -> FoundMessage {
    let reactions = try await store.reactions(of: group, to: [seq], reader: reader, users: 0)
    return FoundMessage(message: message, reactions: reactions[seq] ?? [])
  }
}

/// A message as a store had it.
public struct FoundMessage: Sendable {
  let message: Message
  /// Empty where they are not needed.
  var reactions: [StoredReaction] = []
  /// Nil = empty, or not needed.
  var senderProfile: UserProfile?
}

extension GroupOperation {
  /// The same with the profile of a found message's sender, where the decision keeps the message as it is
  /// shown.
  func showingSender(_ profiles: ProfileCache) async throws(StoreError) -> GroupOperation {
    guard case .found(let lookUp, var found?) = self, case .report = lookUp.purpose else { return self }
    let sender = found.message.sender
    if sender != .administrator { found.senderProfile = try await profiles.profiles(of: [sender])[sender] }
    return .found(lookUp, found)
  }
}

/// Facts that only stores know of the users whom a request names, and whether its texts were compared
/// with words.
public struct UserFacts: Sendable {
  /// Boxed: the requests without facts, messages among them, carry one word.
  private final class Found: Sendable {
    let unknown: Set<UserID>
    let atGroupLimit: Set<UserID>
    let isAtRoomLimit: Bool
    let firstSeqs: [UserID: Int64]
    let readMarks: [UserID: WallInstant]
    let beyondStrangers: Set<UserID>
    let isFiltered: Bool

    init(
      unknown: Set<UserID>, atGroupLimit: Set<UserID>, isAtRoomLimit: Bool, firstSeqs: [UserID: Int64],
      readMarks: [UserID: WallInstant], beyondStrangers: Set<UserID>, isFiltered: Bool
    ) {
      self.isFiltered = isFiltered
      self.beyondStrangers = beyondStrangers
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

  /// Nothing is known but that the texts were compared.
  public static let filtered = UserFacts(isFiltered: true)

  private init(_ found: Found?) { self.found = found }

  /// Facts; each is empty by default.
  public init(
    unknown: Set<UserID> = [], atGroupLimit: Set<UserID> = [], isAtRoomLimit: Bool = false, firstSeqs: [UserID: Int64] = [:],
    readMarks: [UserID: WallInstant] = [:], beyondStrangers: Set<UserID> = [], isFiltered: Bool = false
  ) {
    self.init(
      Found(
        unknown: unknown, atGroupLimit: atGroupLimit, isAtRoomLimit: isAtRoomLimit, firstSeqs: firstSeqs, readMarks: readMarks,
        beyondStrangers: beyondStrangers, isFiltered: isFiltered))
  }

  /// The same facts, and the users whom the caller may not add without asking them.
  public func with(beyondStrangers users: Set<UserID>) -> UserFacts {
    users.isEmpty
      ? self
      : UserFacts(
        unknown: unknown, atGroupLimit: atGroupLimit, isAtRoomLimit: isAtRoomLimit, firstSeqs: firstSeqs, readMarks: readMarks,
        beyondStrangers: users, isFiltered: isFiltered)
  }

  /// The same facts for a request whose texts were compared.
  public func with(isFiltered: Bool) -> UserFacts {
    UserFacts(
      unknown: unknown, atGroupLimit: atGroupLimit, isAtRoomLimit: isAtRoomLimit, firstSeqs: firstSeqs, readMarks: readMarks,
      beyondStrangers: beyondStrangers, isFiltered: isFiltered)
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
  /// The users whom the caller may not add without asking them (`limits.strangersPerDay`).
  public var beyondStrangers: Set<UserID> { found?.beyondStrangers ?? [] }
  /// Whether the texts were compared with words before the application was asked, whose answer is not
  /// compared.
  public var isFiltered: Bool { found?.isFiltered ?? false }
  /// Up to where the deciders of an application have read their applications; absent = nothing.
  public var readMarks: [UserID: WallInstant] { found?.readMarks ?? [:] }
}
