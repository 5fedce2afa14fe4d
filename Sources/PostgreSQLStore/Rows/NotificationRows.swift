import Foundation
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Parts of statements of `notification` rows. An addressee is a user, the managers of a group, or the members of a
/// disbanded group. The users behind it are resolved when a list is read: a notification is one row
/// however large the group is.
enum NotificationRows {
  static let columns = SystemNotification.columns + SystemNotification.profileColumns

  /// Where the addressees of a statement come from, as a table `named` with the column `addressee`.
  /// No userID begins with "@". The addressee is NULL without the group, and the insertion fails.
  enum Addressees: String {
    case users = "unnest($1) AS named (addressee)"
    case managers =
      "(SELECT '@managers:' || g.number AS addressee FROM (SELECT 1) AS one LEFT JOIN groupRecord AS g ON g.groupID = $1) AS named"
    case members =
      "(SELECT '@members:' || g.number AS addressee FROM (SELECT 1) AS one LEFT JOIN groupRecord AS g ON g.groupID = $1) AS named"
  }
}

extension WriteTransaction {
  func put(_ notification: SystemNotification, for recipients: NotificationRecipients) throws {
    switch recipients {
    // A repeated user gets one.
    case .users(let users):
      let names = Set(users).map(\.rawValue).sorted()
      if !names.isEmpty { try put(notification, for: .users, names) }
    case .managers(of: let group): try put(notification, for: .managers, group.rawValue)
    }
  }

  /// Notifies the members of a group of its end.
  func put(_ notification: SystemNotification, forMembersOf group: GroupID) throws {
    try put(notification, for: .members, group.rawValue)
  }

  private func put(
    _ notification: SystemNotification, for addressees: NotificationRows.Addressees, _ names: any StatementValue
  ) throws {
    let named = addressees.rawValue
    if let application = notification.applicationID {
      try run(
        """
        DELETE FROM notification AS n USING \(named) WHERE n.addressee = named.addressee AND n.kind = $2 AND n.applicationID = $3
        """, [names, notification.kind.rawValue, application])
    }
    // One number for all addressees. The operator's profile is that of this transaction.
    try run(
      """
      WITH numbered AS (SELECT nextval('notificationNumber') AS number)
      INSERT INTO notification (addressee, number, \(NotificationRows.columns.names))
      SELECT named.addressee, numbered.number, \(SystemNotification.columns.places("$", from: 3)), op.nickName, op.faceURL
      FROM numbered CROSS JOIN \(named) LEFT JOIN userInfo AS op ON op.userID = $2
      """
    ) { arguments in
      names.append(to: &arguments)
      arguments.append(userID(inEncoded: notification.opUser))
      try notification.write(to: &arguments)
    }
    try trim(named, names)
  }

  private func trim(_ named: String, _ names: any StatementValue) throws {
    try run(
      """
      DELETE FROM notification AS old USING \(named) WHERE old.addressee = named.addressee AND old.number <= (
        SELECT kept.number FROM notification AS kept WHERE kept.addressee = named.addressee
        ORDER BY kept.number DESC LIMIT 1 OFFSET \(SystemNotification.kept))
      """, [names])
  }

  private struct EncodedOperator: Decodable { let userID: String? }

  private func userID(inEncoded member: String) -> String? {
    (try? JSONDecoder().decode(EncodedOperator.self, from: Data(member.utf8)))?.userID
  }

  // MARK: Disbanded groups

  /// Moves the end of a disbanded group to the own notifications of some members, with its number.
  func deliver(membersOf group: Int64, _ users: [String]) throws {
    try run(
      """
      INSERT INTO notification (addressee, number, \(NotificationRows.columns.names))
      SELECT named.addressee, n.number, \(NotificationRows.columns.names(of: "n"))
      FROM unnest($1) AS named (addressee) CROSS JOIN notification AS n WHERE n.addressee = '@members:' || $2::bigint
      ON CONFLICT DO NOTHING
      """, [users, group])
    try trim(NotificationRows.Addressees.users.rawValue, users)
  }

  /// Removes what a group that is gone has notified.
  func forgetNotifications(of group: Int64) throws {
    try run("DELETE FROM notification WHERE addressee = ANY ($1)", [["@managers:\(group)", "@members:\(group)"]])
  }
}

extension PostgreSQLConnection {
  package func newestNotifications(of user: UserID, since: WallInstant) throws -> [NumberedNotification] {
    try rows(
      """
      WITH named (addressee) AS (
        SELECT $1 UNION ALL SELECT '@managers:' || managed.number FROM (\(MemberRows.managedGroupsSQL)) AS managed
        UNION ALL SELECT '@members:' || d.number FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = $1)
      SELECT \(NumberedNotification.columns.names(of: "found"))
      FROM named CROSS JOIN LATERAL (
        SELECT * FROM notification AS n WHERE n.addressee = named.addressee AND n.timestamp >= $2
        ORDER BY n.number DESC LIMIT \(SystemNotification.kept)) AS found
      ORDER BY found.number DESC LIMIT \(SystemNotification.kept)
      """, [user.rawValue, since], NumberedNotification.read)
  }
}

/// The order of notifications where several processes write to a database. A list is compared with
/// a mark by numbers, so a number must not become visible behind a larger one that its reader has
/// seen.
enum NotificationOrder {
  private static let (lockName, classes) = (0x5468_726A, 1024)

  /// Waits for transactions that have numbered a notification for the same users, until the end of
  /// this one. All locks are taken in one order, so that no two processes wait for each other.
  static func lock(_ changes: some Sequence<StoreChange>, _ transaction: WriteTransaction) throws {
    var users: Set<String> = []
    var (managed, disbanded): (Set<String>, Set<String>) = ([], [])
    for change in changes {
      switch change {
      case .notify(_, .users(let recipients)): users.formUnion(recipients.map(\.rawValue))
      case .notify(_, .managers(of: let group)): managed.insert(group.rawValue)
      // The same transaction may notify the new manager.
      case .putMember(let member, in: _, isKnown: _) where member.role.isManager: users.insert(member.userID.rawValue)
      case .dismiss(let group, _, notifying: .some): disbanded.insert(group.rawValue)
      default: continue
      }
    }
    if users.isEmpty, managed.isEmpty, disbanded.isEmpty { return }
    try transaction.run(
      """
      SELECT pg_advisory_xact_lock(\(lockName), class) FROM (
        SELECT DISTINCT hashtext(userID) & \(classes - 1) AS class FROM (
          SELECT userID FROM unnest($1) AS named (userID) UNION ALL
          SELECT m.userID FROM groupRecord AS g JOIN member AS m ON m.number = g.number
          WHERE g.groupID = ANY ($2) AND m.role IN ('Owner', 'Admin') OR g.groupID = ANY ($3)) AS reader
        ORDER BY class) AS ordered
      """, [users.sorted(), managed.sorted(), disbanded.sorted()])
  }
}
