import GroupModel
import GroupRuntime
import WireProtocol

/// What is noted and erased for the deletion of a user.
extension StoreContents {
  mutating func put(_ deletion: UserDeletion) -> Undo {
    let before = deletions.updateValue(deletion, forKey: deletion.userID)
    return { $0.deletions[deletion.userID] = before }
  }

  mutating func forgetDeletion(_ user: UserID) -> Undo {
    guard let before = deletions[user], !before.isRunning else { return { _ in } }
    deletions[user] = nil
    return { $0.deletions[user] = before }
  }

  mutating func note(_ users: [UserID], _ group: GroupID) throws(StoreError) -> Undo {
    guard let number = groups[group]?.number else { throw StoreError(.inconsistent, "no group \(group) to be in") }
    let before = groupsOfUsers
    for user in users { groupsOfUsers[user, default: []].insert(number) }
    return { $0.groupsOfUsers = before }
  }

  mutating func removeApplications(_ ids: [String], _ group: GroupID) throws(StoreError) -> Undo {
    let before = applications
    for id in ids { applications[ExactText(id)] = nil }
    return { $0.applications = before }
  }

  /// Rows are named by numbers; those that are gone do not matter.
  mutating func erase(_ rows: [ErasedRow]) throws(StoreError) -> Undo {
    let before = self
    for row in rows { erase(row) }
    return { $0 = before }
  }

  private mutating func erase(_ row: ErasedRow) {
    switch row {
    case .profile(let user):
      userInfos[user] = nil
      statuses[user] = nil
    case .nameCard(let number, let seq, let sender):
      change(seq, of: number) { if $0.sender == sender { $0.nameCard = "" } }
    case .tips(let number, let seq, let content): change(seq, of: number) { $0.content = .tips(content) }
    case .application(let number): applications = applications.filter { $0.value.number != number }
    case .answer(let number): eraseAnswer(ofApplication: number)
    case .notification(let addressee, let number):
      guard let addressee = self.addressee(addressee) else { return }
      notifications[addressee]?.removeAll { $0.number == number }
    case .notice(let addressee, let number, let opUser): eraseNotice(addressee, number, opUser)
    case .receipts(let number, let block, let user):
      update(number) { group in
        for seq in group.readers.keys where SeqBlock.number(of: seq) == block { group.readers[seq]?.remove(user) }
      }
    case .receiptList(let number, let seq, let users): update(number) { $0.receiptMembers[seq] = users }
    case .targets(let number, let seq, let users):
      change(seq, of: number) { message in
        guard let extras = message.extras else { return }
        message.extras = MessageExtras(
          extension: extras.extension, replyTo: extras.replyTo,
          isExcludedFromUnreadCount: extras.isExcludedFromUnreadCount,
          isExcludedFromLastMessage: extras.isExcludedFromLastMessage, toUserIDList: users)
      }
    case .formerMember(let number, let user): update(number) { $0.eraseFormer(user) }
    // Nothing is left of a group that is disbanded.
    case .disbandedMember: break
    case .report(let number): reports = reports.filter { $0.value.number != number }
    case .reportedMessage(let number, let message): replaceReported(number, message)
    case .webhook(let number, let data):
      guard let index = webhooks.firstIndex(where: { $0.storedNumber == number }) else { return }
      webhooks[index] = webhooks[index].with(data: data)
    case .failure(let number, let data):
      guard let index = webhookFailures.firstIndex(where: { $0.number == number }) else { return }
      let known = webhookFailures[index]
      webhookFailures[index] = WebhookFailure(
        number: number, entry: known.entry.with(data: data), attempts: known.attempts, lastError: known.lastError)
    case .groupOfUser(let number, let user):
      let group = groups.values.first { $0.number == number }
      if group?.members[user] == nil, group?.former[user]?.isListed != true { groupsOfUsers[user]?.remove(number) }
    case .departures(let user): departures[user] = nil
    case .marks(let user):
      applicationMarks[user] = nil
      notificationMarks[user] = nil
    case .known(let user): users[user] = nil
    }
  }

  private mutating func update(_ number: Int64, _ body: (inout Group) -> Void) {
    guard let id = groups.first(where: { $0.value.number == number })?.key, var group = groups[id] else { return }
    body(&group)
    groups[id] = group
  }

  private mutating func change(_ seq: Int64, of number: Int64, _ body: (inout Message) -> Void) {
    update(number) { group in
      let index = Int(seq - group.firstSeq)
      if group.messages.indices.contains(index) { body(&group.messages[index]) }
    }
  }

  private mutating func eraseAnswer(ofApplication number: Int64) {
    guard let key = applications.first(where: { $0.value.number == number })?.key,
      let handling = applications[key]?.application.handling
    else { return }
    applications[key]?.application.handling = GroupApplication.Handling(
      isAgreed: handling.isAgreed, by: handling.by, time: handling.time, message: "")
  }

  private mutating func eraseNotice(_ addressee: String, _ number: Int64, _ opUser: String) {
    guard let addressee = self.addressee(addressee),
      let index = notifications[addressee]?.firstIndex(where: { $0.number == number }),
      let known = notifications[addressee]?[index].notification
    else { return }
    notifications[addressee]?[index] = NumberedNotification(
      number: number,
      notification: SystemNotification(
        kind: known.kind, groupID: known.groupID, groupName: known.groupName, opUser: opUser,
        applicationID: known.applicationID, timestamp: known.timestamp, platform: known.platform))
  }

  private mutating func replaceReported(_ number: Int64, _ message: [UInt8]) {
    guard let id = reports.first(where: { $0.value.number == number })?.key, var report = reports[id]?.report else { return }
    report.message = message
    reports[id] = NumberedReport(number: number, report: report)
  }

  // MARK: Addressees as the database names them

  func name(of addressee: Addressee) -> String {
    switch addressee {
    case .user(let user): user.rawValue
    case .managers(let number): "@managers:\(number)"
    }
  }

  private func addressee(_ name: String) -> Addressee? {
    let managers = "@managers:"
    guard name.hasPrefix(managers) else { return UserID(name).map { .user($0) } }
    return Int64(name.dropFirst(managers.count)).map { .managers(groupNumber: $0) }
  }
}

extension StoreContents.Group {
  /// A ban and a mute stay.
  fileprivate mutating func eraseFormer(_ user: UserID) {
    guard let known = former[user] else { return }
    var record = FormerMember(
      userID: user, muteUntil: known.muteUntil, bannedUntil: known.bannedUntil, leftTime: known.leftTime)
    (record.mutedAt, record.banReason) = (known.mutedAt, known.banReason)
    former[user] = record.restrictedUntil.isSet ? record : nil
  }
}

extension WebhookEntry {
  /// The same entry with another text.
  fileprivate func with(data: [UInt8]) -> WebhookEntry {
    WebhookEntry(id: id, type, data: data, in: lane, at: timestamp, since: since, number: storedNumber, trace: trace)
  }
}
