import GroupModel
import GroupRuntime
import StoreTables

/// The queries of a dialect of SQL that the reads of all stores are made of, over one connection.
/// They throw where the connection fails, and where a row is damaged.
package protocol StoreQueries: SharedQueries {
  // MARK: Groups; lists come in pages, the next behind a key

  /// The number of a group; nil = there is none.
  func number(of group: GroupID) throws -> Int64?
  /// A group without what is read in pages, whose last message is its newest; nil = there is none of
  /// that number.
  func head(of group: GroupID, number: Int64) throws -> StoredGroup?
  /// The stamps of groups; those that are not there are absent.
  func stamps(of groups: [GroupID]) throws -> [GroupID: GroupStamp]
  /// Members of groups of a listed type since an instant.
  func recentMembers(since instant: WallInstant, limit: Int) throws -> [(GroupID, UserID)]
  /// Members by `userID`.
  func members(number: Int64, after user: String, limit: Int) throws -> [Member]
  /// Members who have left, with a ban or mute at an instant, by its end and `userID` descending.
  func restrictedMembers(number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int) throws
    -> [FormerMember]
  /// The others that are still remembered, by `memorableUntil` and `userID` descending.
  func freeMembers(number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int) throws -> [FormerMember]
  /// Undecided applications by their number.
  func openApplications(number: Int64, after application: Int64, limit: Int) throws -> [NumberedApplication]
  /// The groups of a user, by their number.
  func memberships(of user: UserID) throws -> [Membership]
  /// The ends of the last sessions that are stored of a page of members, by `userID`.
  func absences(of members: ClosedRange<String>, number: Int64) throws -> [UserID: WallInstant]

  // MARK: Messages, of a group by its number

  /// The first and the last message that are kept; nil = there is none.
  func seqBounds(number: Int64) throws -> ClosedRange<Int64>?
  /// The newest message that is kept; nil = there is none.
  func newestSeq(number: Int64) throws -> Int64?
  /// When a message was sent; nil = it is not there.
  func timestamp(of seq: Int64, number: Int64) throws -> WallInstant?
  /// The messages with a clientMsgID, by `seq`.
  func sentMessages(number: Int64, in range: ClosedRange<Int64>) throws -> [SentMessage]
  /// Those of one sender.
  func sentMessages(number: Int64, from sender: UserID, in range: ClosedRange<Int64>) throws -> [SentMessage]
  /// Messages by their `seq`, in that order; unknown ones are left out.
  func messages(of group: GroupID, number: Int64, seqs: [Int64]) throws -> [Message]
  /// The changes behind one, and the messages that were changed.
  func changes(number: Int64, after changeSeq: Int64, limit: Int) throws -> [(changeSeq: Int64, seq: Int64)]
  /// How messages were changed the last time; those of which nothing tells are absent.
  func changeOrigins(number: Int64, seqs: [Int64]) throws -> [Int64: StoredChangeOrigin]
  /// The reactions to messages; see `MessageStore.reactions`.
  func reactions(to seqs: [Int64], number: Int64, reader: UserID?, users: Int) throws -> [Int64: [StoredReaction]]
  /// Messages of a range that name others than a reader, by `seq`; see `MessageStore.hiddenSeqs`.
  func hiddenSeqs(
    number: Int64, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) throws -> [Int64]
  /// The replies of a range to a message that are for a reader and not recalled, by `seq`.
  func replySeqs(
    to seq: Int64, number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>, limit: Int
  ) throws -> [Int64]
  /// How many such replies each of the messages has in the range, at most `ReplyCount.max`; those
  /// without are absent.
  func replyCounts(
    to seqs: [Int64], number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>
  ) throws -> [Int64: Int]
  /// The number of a group of that epoch.
  func number(of group: GroupID, epoch: String) throws -> Int64?
  /// Those of the messages that a user may confirm and has not, ascending.
  func confirmable(_ seqs: [Int64], by reader: UserID, number: Int64) throws -> [Int64]
  /// The counts of messages with read receipts, by `seq`.
  func receiptCounts(of seqs: [Int64], number: Int64) throws -> [ReceiptCount]
  /// The readers of a message; nil = there is none.
  func readers(of seq: Int64, number: Int64) throws -> MessageReaders?

  // MARK: Users, and what is kept for them

  /// The groups, presence, profile and decisions that a sign-in needs, as of one instant.
  /// - Parameter update: the user's that was not durable before.
  func signInRecord(of user: UserID, _ update: PresenceUpdate?) throws -> SignInRecord
  /// The end of a user's last session; nil = there is one, or never was.
  func offlineSince(of user: UserID) throws -> WallInstant?
  /// Those of the users that are stored.
  func known(among users: [UserID]) throws -> Set<UserID>
  /// How many users are stored.
  func knownCount() throws -> Int
  /// The profiles of users; empty ones are absent.
  func profiles(of users: [UserID]) throws -> [UserID: UserProfile]
  /// The texts of those of the users that are stored or `known`, in the order given.
  func infos(of users: [UserID], known: Set<UserID>) throws -> [UserInfo]
  /// The statuses of those of the users that are stored or `known`, in the order given.
  func statuses(of users: [UserID], known: Set<UserID>) throws -> [StoredStatus]
  /// What was decided about a user's sign-ins, and whether there is a deletion, done or not.
  func access(of user: UserID) throws -> (access: UserAccess, hasDeletion: Bool)
  /// The user with a number among those about whom something was decided; nil = there is none.
  func decidedUser(number: Int64) throws -> String?
  /// Users with a block, ended or not, by `userID`.
  func blocks(behind user: String, limit: Int) throws -> [(number: Int64, user: BlockedUser)]
  /// Reports in a state, the newest first; nil = of all groups.
  func reports(
    state: MessageReport.State, in group: GroupID?, below number: Int64, limit: Int
  ) throws -> [NumberedReport]
  /// The report with an id; nil = there is none.
  func report(_ id: String) throws -> NumberedReport?
  /// How many reports are open.
  func openReports() throws -> Int
  /// How far a user has read; 0 = nothing.
  func readMark(_ kind: ReadMark, of user: UserID) throws -> Int64
  /// The marks of a group's managers; those without one are absent.
  func applicationMarks(ofManagersOf group: GroupID) throws -> [UserID: WallInstant]
  /// The newest notifications of a user, at most `SystemNotification.kept`.
  func newestNotifications(of user: UserID, since: WallInstant) throws -> [NumberedNotification]
  /// After-events that were given up, by their number.
  func webhookFailures(after number: Int64, limit: Int) throws -> [WebhookFailure]

  // MARK: Searches

  /// Gives the body groups by their number behind one, until it returns false.
  func visitGroups(
    _ scope: GroupScan.Scope, of reader: UserID?, after number: Int64, _ body: (SearchedGroup) throws -> Bool
  ) throws
  /// Gives the body the members of a group, until it returns false.
  /// - Parameters:
  ///   - user: nil = all.
  ///   - withNickNames: whether the body wants these.
  /// - Returns: the work, in members.
  func visitMembers(
    number: Int64, only user: UserID?, withNickNames: Bool, _ body: (SearchedMember) throws -> Bool
  ) throws -> Int
  /// The numbers of the groups that a user has joined, from one on; nil = of all groups.
  func groupNumbers(joinedBy user: UserID?, from number: Int64, limit: Int) throws -> [Int64]
  /// The numbers of groups, from one on, ascending.
  func groupNumbers(of groups: [GroupID], from number: Int64) throws -> [Int64]
  /// A group, and what a member of it sees; nil = there is none.
  func searchedGroup(number: Int64, reader: UserID?) throws -> SearchedHistory?
}

extension FormerMember {
  /// The beginning of a page, in descending order of instant and userID.
  package struct Position: Sendable {
    package let instant: WallInstant
    package let userID: String

    /// Precedes all users: no userID holds U+007F.
    static let first = Position(instant: .distantFuture, userID: "\u{7f}")

    private init(instant: WallInstant, userID: String) {
      self.instant = instant
      self.userID = userID
    }

    /// - Parameter instant: the member's instant that the order uses.
    init(behind former: FormerMember, _ instant: WallInstant) { self.init(instant: instant, userID: former.userID.rawValue) }
  }
}
