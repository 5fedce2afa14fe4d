import GroupModel
import Synchronization

/// The store's record that a user has left a group.
public enum DepartureRecord {
  /// The time for which it is kept.
  public static let lifetime = Duration.seconds(30 * 86_400)
}

/// Keeps groups and memberships, and makes changes durable.
public protocol GroupStore: Sendable {
  /// Makes changes durable. Commits complete in the order of the calls, and share transactions; one
  /// of a broken generation fails as `.abandoned`. Never blocks on the disk. A failure means that
  /// nothing was changed: while the store does not know, there is no completion.
  func commit(_ commit: Commit)

  /// The group; nil = the groupID is not in use.
  /// - Parameters:
  ///   - sentSince: the start of `recentlySent`.
  ///   - now: `former` has the members of whom something is still of use at this instant.
  ///   - mostFormer: the maximum of their number, and of rows read. Bans and mutes come first, the
  ///     longest before all; then the others, the latest to leave first.
  func group(_ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int) async throws(StoreError) -> StoredGroup?

  /// The groups a user is a member of, by `groupNumber` ascending.
  func memberships(of user: UserID) async throws(StoreError) -> [Membership]

  /// The number of groups of a listed type for each user; counting stops at `limit`.
  func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int]

  /// The number of groups of a type that a user owns; counting stops at `limit`.
  func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int

  /// The memberships, the presence, the profile and the decisions that a sign-in needs, read before
  /// other reads.
  func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord

  /// The same for a caller without a task: calls `completion` once, on any thread.
  func readSignInRecord(of user: UserID, _ completion: @escaping @Sendable (Result<SignInRecord, StoreError>) -> Void)

  /// The groups of a listed type (`GroupType.isListed`) that a user is a member of, by
  /// `groupNumber` ascending, at most `limit` behind `after`.
  /// - Parameters:
  ///   - type: nil = of any.
  ///   - changedSince: leaves out groups without a change for the user at or after it; some may
  ///     pass.
  func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership]

  /// The groups of a listed type that a user has left (and not joined again) or that were
  /// disbanded, at or after an instant, by `groupNumber` ascending, at most `limit` behind `after`.
  /// Records end after `DepartureRecord.lifetime`.
  /// - Parameter type: nil = of any.
  func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership]

  /// All groups of a type, by `groupNumber` ascending, at most `limit` behind `after`.
  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership]

  /// The number of groups of each type.
  func groupCounts() async throws(StoreError) -> [GroupType: Int]

  /// Groups that match a search, by `groupNumber` ascending behind `after`. A page looks at a
  /// bounded number of groups, so it may be empty and still have a next one.
  func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page

  /// The stamps of groups, at most 512, as of decisions whose fate is known; a groupID that is not in
  /// use is absent.
  func stamps(of groups: [GroupID]) async throws(StoreError) -> [GroupID: GroupStamp]

  /// Members of stored groups whose `joinTime` is at or after an instant, at most `limit`, in no order.
  func recentMembers(since instant: WallInstant, limit: Int) async throws(StoreError) -> [(GroupID, UserID)]
}

extension GroupStore {
  /// By a task.
  public func readSignInRecord(of user: UserID, _ completion: @escaping @Sendable (Result<SignInRecord, StoreError>) -> Void) {
    Task {
      let result: Result<SignInRecord, StoreError>
      do throws(StoreError) {
        result = .success(try await self.signInRecord(of: user))
      } catch {
        result = .failure(error)
      }
      completion(result)
    }
  }
}

/// Keeps messages by group and `seq`.
public protocol MessageStore: ReadReceiptStore {
  /// The messages of a group with `seq` in the range.
  /// - Parameters:
  ///   - newestFirst: descending by `seq`, else ascending.
  ///   - limit: the maximum of their number.
  func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message]

  /// Messages of a group by their `seq`, in that order; unknown ones are left out.
  func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message]

  /// The messages with `seq` in the ranges that were changed after a change, each once.
  /// - Parameter limit: the maximum of their number. A bounded number of changes is looked at.
  func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages

  /// How messages were changed the last time, by `seq`; a message is absent that never changed, or
  /// whose last change no node of a cluster has made.
  func changeOrigins(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Int64: StoredChangeOrigin]

  /// The reactions to messages, in the order in which they came; a message without any is absent.
  /// - Parameters:
  ///   - reader: for `isByReader`; nil = nobody's.
  ///   - users: how many users of each are named, in the order in which they gave it.
  func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]]

  /// The number of messages with `seq` in the range that are Text or Custom, not sent by `reader`
  /// and not recalled; counting stops at `limit`.
  /// - Parameters:
  ///   - managersOnly: only those with `isFromManager`.
  ///   - skipsFlagged: only those with `countsAsUnread`; false where all have it.
  func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, skipsFlagged: Bool, limit: Int
  ) async throws(StoreError) -> Int

  /// The `seq` of messages in the range that name others than `reader`, who did not send them
  /// either, at most `limit`.
  func hiddenSeqs(
    of group: GroupID, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Int64]

  /// The replies to a message that a reader may see and that are not recalled, ascending, at most
  /// `limit` behind `after`; and how many there are in all, at most `ReplyCount.max`.
  func replies(
    to seq: Int64, in group: GroupID, visible: Visibility, after: Int64, limit: Int
  ) async throws(StoreError) -> (messages: [Message], total: Int)

  /// How many such replies messages have, by `seq`; a message without any is absent.
  func replyCounts(
    of group: GroupID, to seqs: [Int64], visible: Visibility
  ) async throws(StoreError) -> [Int64: Int]

  /// The `seq` of the first message with a timestamp at or after an instant; nil = there is none.
  /// Timestamps never decrease with `seq`.
  func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64?

  /// Looks for a message that was sent before, among those accepted at or after an instant.
  /// - Parameters:
  ///   - epoch: the history's; another group may use the groupID by now.
  ///   - most: of so many messages; where more have come since it is not looked for.
  func sentMessage(
    of group: GroupID, epoch: String, from sender: UserID, clientMsgID: String, since: WallInstant, most: Int64
  ) async throws(StoreError) -> SentSearch

  /// Messages that match a search, at most `limit` behind a place in its order. A page looks at a
  /// bounded number of messages, so it may be empty and still have a next one.
  func messages(matching search: MessageSearch, after place: Int64, limit: Int) async throws(StoreError) -> MessageSearch.Page
}

/// What became of the look for a message that was sent before.
public enum SentSearch: Sendable, Equatable {
  case found(SentMessage)
  /// It was not stored.
  case absent
  /// Retention has removed messages of that time, and may have removed this one.
  case removed
  /// More messages have come since than are looked through.
  case tooMany
}

/// How far the replies to a message are counted.
public enum ReplyCount {
  public static let max = 1000
}

/// A failure of a store: the client gets 10002, the operator the description.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable, Equatable {
    /// The disk is full, read-only or does not answer. A later attempt may succeed.
    case unavailable
    /// The stored data is invalid, or the change contradicts it.
    case inconsistent
    /// The requester has left.
    case cancelled
    /// Not attempted: an earlier commit of the same generation failed, or this process may not write
    /// it.
    case abandoned
  }

  public let kind: Kind
  public let description: String

  /// - Parameter description: for the log, without message bodies.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Whether the store could write at its last attempt; `/readyz` reports it.
public protocol StoreHealth: Sendable {
  /// False from a failed write to the next success; the store retries about once a second by
  /// itself.
  var canPersist: Bool { get }
}

/// The user for whom a task works. Stores serve users in turns, and skip reads of requesters that
/// left.
public final class Requester: Sendable {
  /// The current task's; nil = it works for the server itself.
  @TaskLocal public static var current: Requester?

  /// Nil = an application administrator.
  public let userID: UserID?
  private let gone = Atomic(false)

  /// - Parameter userID: nil = an application administrator.
  public init(_ userID: UserID?) { self.userID = userID }

  /// Whether no client waits for the reply any more.
  public var isGone: Bool { gone.load(ordering: .relaxed) }

  /// The connection has ended, for good.
  public func leave() { gone.store(true, ordering: .relaxed) }

  /// Whether no client waits for the current task.
  public static var hasLeft: Bool { current?.isGone ?? false }
}
