import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

extension InMemoryStore: UserErasureStore {
  /// The deletion of a user, running or done.
  public func deletion(of user: UserID) async throws(StoreError) -> UserDeletion? { contents.withLock { $0.deletions[user] } }

  /// Deletions that are not done, by userID.
  public func runningDeletions(after user: UserID?, limit: Int) async throws(StoreError) -> [UserDeletion] {
    contents.withLock { contents in
      let running = contents.deletions.values.filter { deletion in
        deletion.isRunning && (user.map { deletion.userID > $0 } ?? true)
      }
      return Array(running.sorted { $0.userID < $1.userID }.prefix(max(0, limit)))
    }
  }

  /// Everything that a step has to erase, at once; of recalls as many as a chunk takes.
  public func erasable(_ deletion: UserDeletion, scanning _: Int) async throws(StoreError) -> ErasableChunk {
    contents.withLock { $0.erasable(deletion) }
  }

  /// The first step that would find something.
  public func remains(of user: UserID) async throws(StoreError) -> UserDeletion.Step? {
    contents.withLock { contents in
      if contents.userInfos[user] != nil || contents.statuses[user] != nil { return .profile }
      if contents.groups.values.contains(where: { $0.members[user] != nil }) { return .groups }
      let applications = contents.applications.values.map(\.application)
      if applications.contains(where: { $0.fromUser == user || $0.toUser == user }) { return .applications }
      if contents.groupsOfUsers[user]?.isEmpty == false { return .reactions }
      if contents.notifications[.user(user)]?.isEmpty == false { return .notifications }
      if contents.reports.values.contains(where: { $0.report.reporter == user }) { return .reports }
      let hasMarks = contents.applicationMarks[user] != nil || contents.notificationMarks[user] != nil
      let isKnown = contents.users[user] != nil || contents.departures[user]?.isEmpty == false
      return hasMarks || isKnown ? .marks : nil
    }
  }

  /// There are no files.
  public func reclaim() async throws(StoreError) {}

  /// What is kept of a user, in pages.
  public func personalRows(
    of user: UserID, after place: PersonalPlace, limit: Int
  ) async throws(StoreError) -> PersonalPage {
    contents.withLock { contents in
      let all = contents.personalRows(of: user).filter { row in
        (row.place.stage.rawValue, row.place.position) > (place.stage.rawValue, place.position)
      }
      let page = Array(all.prefix(max(0, limit)))
      return PersonalPage(rows: page, next: page.count < all.count ? page.last?.place ?? place : nil)
    }
  }
}

extension StoreContents {
  /// What a step has to erase.
  fileprivate func erasable(_ deletion: UserDeletion) -> ErasableChunk {
    let user = deletion.userID
    let ever = groups.values.filter { groupsOfUsers[user]?.contains($0.number) == true }.sorted { $0.number < $1.number }
    switch deletion.step {
    case .profile: return ErasableChunk(rows: [.profile(user)])
    case .groups:
      return ErasableChunk(operations: memberships(of: user).map { GroupErasureOrder(.leave, in: $0.groupID) })
    case .applications: return erasableApplications(of: user)
    case .reactions:
      return ErasableChunk(
        operations: ever.flatMap { group in
          group.reactions.sorted { $0.key < $1.key }.flatMap { seq, reactions in
            reactions.filter { $0.users.contains(user) }.map {
              GroupErasureOrder(.reaction(seq: seq, $0.reaction), in: group.record.id)
            }
          }
        })
    case .recalls:
      return ErasableChunk(
        operations: ever.flatMap { group in
          group.messages.filter { $0.sender == user && $0.isChat && !$0.isRevoked }.map {
            GroupErasureOrder(.recall(seq: $0.seq ?? 0), in: group.record.id)
          }
        })
    case .messages: return erasableTexts(of: user, in: ever, deletion.place)
    case .receipts:
      return ErasableChunk(
        rows: ever.flatMap { group in
          Set(group.readers.filter { $0.value.contains(user) }.keys.map(SeqBlock.number(of:))).sorted().map {
            ErasedRow.receipts(number: group.number, block: $0, user)
          }
        })
    case .receiptLists: return ErasableChunk(rows: ever.flatMap { $0.erasableLists(of: user) })
    case .former:
      let remembering = groups.values.filter { $0.former[user] != nil }.sorted { $0.number < $1.number }
      return ErasableChunk(
        operations: remembering.map { GroupErasureOrder(.records, in: $0.record.id) },
        rows: remembering.map { .formerMember(number: $0.number, user) })
    case .notifications: return ErasableChunk(rows: erasableNotifications(of: user))
    case .reports: return ErasableChunk(rows: erasableReports(of: user, deletion.messages))
    case .webhooks:
      func erased(_ data: [UInt8]) -> [UInt8]? { PersonalTexts.erase(user, in: data, messages: deletion.messages) }
      let waiting = webhooks.compactMap { entry in
        entry.messageSeq == nil ? erased(entry.data).map { ErasedRow.webhook(number: entry.storedNumber, data: $0) } : nil
      }
      let failed = webhookFailures.compactMap { failure in
        erased(failure.entry.data).map { ErasedRow.failure(number: failure.number, data: $0) }
      }
      return ErasableChunk(rows: waiting + failed)
    case .marks:
      let noted = groupsOfUsers[user, default: []].sorted().map { ErasedRow.groupOfUser(number: $0, user) }
      return ErasableChunk(rows: noted + [.departures(user), .marks(user), .known(user)])
    case .sessions, .check, .file, .done: return ErasableChunk()
    }
  }

  private func erasableApplications(of user: UserID) -> ErasableChunk {
    var chunk = ErasableChunk()
    for application in applications.values.sorted(by: { $0.number < $1.number }) {
      let content = application.application
      if content.fromUser == user || content.toUser == user {
        if content.handling == nil, !isGroupGone(of: application) {
          let order = GroupErasureOrder(.records, in: content.groupID)
          if !chunk.operations.contains(order) { chunk.operations.append(order) }
        } else {
          chunk.rows.append(.application(number: application.number))
        }
      } else if let handling = content.handling, handling.by == user, !handling.message.isEmpty {
        chunk.rows.append(.answer(ofApplication: application.number))
      }
    }
    return chunk
  }

  /// First the rows, then what groups have in memory.
  private func erasableTexts(of user: UserID, in ever: [Group], _ place: UserDeletion.Place) -> ErasableChunk {
    if place != .start { return ErasableChunk(operations: ever.map { GroupErasureOrder(.texts, in: $0.record.id) }) }
    var rows: [ErasedRow] = []
    for group in ever {
      for message in group.messages {
        let seq = message.seq ?? 0
        if message.sender == user, !message.nameCard.isEmpty {
          rows.append(.nameCard(number: group.number, seq: seq, sender: user))
        }
        if case .tips(let tips) = message.content,
          let erased = PersonalTexts.erase(user, in: Array(tips.utf8), messages: .keep)
        {
          rows.append(.tips(number: group.number, seq: seq, content: String(decoding: erased, as: UTF8.self)))
        }
      }
    }
    return ErasableChunk(rows: rows, next: UserDeletion.Place(number: 0, seq: 1))
  }

  private func erasableNotifications(of user: UserID) -> [ErasedRow] {
    notifications.flatMap { addressee, own -> [ErasedRow] in
      if addressee == .user(user) { return own.map { ErasedRow.notification(addressee: user.rawValue, number: $0.number) } }
      return own.compactMap { numbered -> ErasedRow? in
        let opUser = Array(numbered.notification.opUser.utf8)
        guard PersonalTexts.isInfo(of: user, opUser) else { return nil }
        let erased = PersonalTexts.erase(user, in: opUser, messages: .keep) ?? opUser
        return .notice(
          addressee: name(of: addressee), number: numbered.number, opUser: String(decoding: erased, as: UTF8.self))
      }
    }
  }

  private func erasableReports(of user: UserID, _ messages: UserDeletion.MessageFate) -> [ErasedRow] {
    reports.values.compactMap { numbered -> ErasedRow? in
      if numbered.report.reporter == user { return .report(number: numbered.number) }
      return PersonalTexts.erase(user, in: numbered.report.message, messages: messages).map {
        ErasedRow.reportedMessage(number: numbered.number, message: $0)
      }
    }
  }

  // MARK: Export

  /// Everything that is kept of a user, in its order.
  fileprivate func personalRows(of user: UserID) -> [PersonalRow] {
    var rows: [PersonalRow] = []
    for membership in memberships(of: user) {
      guard let member = groups[membership.groupID]?.members[user] else { continue }
      let number = membership.groupNumber
      rows.append(PersonalRow(.membership(membership, member), at: PersonalPlace(.membership, position: number)))
      rows.append(PersonalRow(.settings(membership, member), at: PersonalPlace(.settings, position: number)))
    }
    for application in applications.values
    where application.application.fromUser == user || application.application.toUser == user {
      let place = PersonalPlace(.application, position: application.number)
      rows.append(PersonalRow(.application(application.application), at: place))
    }
    for numbered in notifications[.user(user)] ?? [] {
      let place = PersonalPlace(.notification, position: numbered.number)
      rows.append(PersonalRow(.notification(numbered.notification), at: place))
    }
    for group in groups.values where groupsOfUsers[user]?.contains(group.number) == true {
      for message in group.messages where message.sender == user && message.isChat && !message.isRevoked {
        let place = PersonalPlace(.message, position: PersonalPlace.messagePosition(group: group.number, seq: message.seq ?? 0))
        rows.append(PersonalRow(.message(message), at: place))
      }
    }
    return rows.sorted {
      ($0.place.stage.rawValue, $0.place.position) < ($1.place.stage.rawValue, $1.place.position)
    }
  }
}

extension StoreContents.Group {
  fileprivate func erasableLists(of user: UserID) -> [ErasedRow] {
    let lists = receiptMembers.filter { $0.value.contains(user) }.map { seq, users in
      ErasedRow.receiptList(number: number, seq: seq, users.filter { $0 != user })
    }
    let targeted = messages.compactMap { message -> ErasedRow? in
      guard let users = message.extras?.toUserIDList, users.contains(user) else { return nil }
      let others = users.filter { $0 != user }
      return .targets(number: number, seq: message.seq ?? 0, others.isEmpty ? [message.sender] : others)
    }
    return lists + targeted
  }
}
