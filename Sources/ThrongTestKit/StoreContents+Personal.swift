import GroupModel
import GroupRuntime

extension StoreContents {
  /// An application with its numbers.
  struct Application {
    let number: Int64
    /// Identifies the group, because a groupID may be reused.
    let groupNumber: Int64
    var application: GroupApplication

    var numbered: NumberedApplication { NumberedApplication(number: number, application: application) }
  }

  /// Whether the group that an application is for has been disbanded.
  func isGroupGone(of application: Application) -> Bool {
    groups[application.application.groupID]?.number != application.groupNumber
  }

  /// The open applications of a group, by number.
  func openApplications(of group: Group) -> [GroupApplication] {
    let open = applications.values.filter { $0.groupNumber == group.number && $0.application.handling == nil }
    return open.sorted { $0.number < $1.number }.map(\.application)
  }

  /// The applications that a user may decide, newest first; nil = an application administrator.
  func applications(decidableBy user: UserID?) -> [NumberedApplication] {
    let decidable = applications.values.filter { application in
      if isGroupGone(of: application) { return false }
      let kind = application.application.kind
      guard let user else { return kind == .join }
      if kind == .invite { return application.application.toUser == user }
      return groups[application.application.groupID]?.members[user]?.role.isManager == true
    }
    return decidable.sorted { $0.number > $1.number }.map(\.numbered)
  }

  /// When the last session of users ended, for those who are offline.
  func offlineSince(among users: some Sequence<UserID>) -> [UserID: WallInstant] {
    var absent: [UserID: WallInstant] = [:]
    for user in users {
      if case .offline(let since) = self.users[user] { absent[user] = since }
    }
    return absent
  }

  mutating func put(_ application: GroupApplication, _ asNewest: Bool) throws(StoreError) -> Undo {
    let key = ExactText(application.id)
    guard let group = groups[application.groupID], group.record.epoch == application.epoch else {
      throw StoreError(.inconsistent, "no group \(application.groupID) to apply for")
    }
    let before = applications[key]
    try expect(before == nil ? asNewest : before?.groupNumber == group.number, "no application \(key.text) of that group")
    if asNewest { lastApplication += 1 }
    let number = asNewest ? lastApplication : before?.number ?? 0
    applications[key] = Application(number: number, groupNumber: group.number, application: application)
    return { $0.applications[key] = before }
  }

  func addressees(of recipients: NotificationRecipients) throws(StoreError) -> [Addressee] {
    switch recipients {
    case .users(let users): return users.map { .user($0) }
    case .managers(of: let group):
      guard let number = groups[group]?.number else { throw StoreError(.inconsistent, "no group \(group) to notify") }
      return [.managers(groupNumber: number)]
    }
  }

  mutating func notify(_ addressees: [Addressee], _ notification: SystemNotification) -> Undo {
    var before: [Addressee: [NumberedNotification]] = [:]
    lastNotification += 1
    for addressee in addressees where before[addressee] == nil {
      var own = notifications[addressee] ?? []
      before[addressee] = own
      if let application = notification.applicationID {
        own.removeAll { $0.notification.applicationID == application && $0.notification.kind == notification.kind }
      }
      own.append(NumberedNotification(number: lastNotification, notification: notification))
      notifications[addressee] = own.suffix(SystemNotification.kept)
    }
    return { [before] contents in
      for (addressee, own) in before { contents.notifications[addressee] = own }
    }
  }

  /// Notifications of a user, and of the managers of groups that the user manages, newest first.
  func newestNotifications(of user: UserID, since: WallInstant) -> [NumberedNotification] {
    let managed = groups.values.filter { $0.members[user]?.role.isManager == true }.map {
      Addressee.managers(groupNumber: $0.number)
    }
    let all = ([.user(user)] + managed).flatMap { notifications[$0] ?? [] }.filter { $0.notification.timestamp >= since }
    return Array(all.sorted { $0.number > $1.number }.prefix(SystemNotification.kept))
  }

  mutating func advance<Mark: Comparable & Sendable>(
    _ marks: any WritableKeyPath<StoreContents, [UserID: Mark]> & Sendable, _ user: UserID, _ mark: Mark
  ) -> Undo {
    let before = self[keyPath: marks][user]
    self[keyPath: marks][user] = max(before ?? mark, mark)
    return { $0[keyPath: marks][user] = before }
  }
}
