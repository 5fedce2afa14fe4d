import GroupModel

/// The order in which a user is deleted: a value decides what is done next, and what the row of the
/// deletion says when it is done (Protocol.md, "Deleting a user").
enum DeletionPlan {
  /// What is done next.
  enum Order: Equatable, Sendable {
    /// The sessions of all nodes end; nobody can sign in any more.
    case endSessions
    /// What the store finds is erased, by groups and by statements.
    case erase
    /// No node shows the user's texts from memory.
    case forget
    /// Live rooms recall what they remember.
    case recallRemembered
    /// Whether anything is left.
    case check
    /// The files are to hold nothing of it.
    case reclaim
  }

  /// What came of it.
  enum Outcome: Equatable, Sendable {
    /// The step is over.
    case done
    /// The step goes on.
    case more(at: UserDeletion.Place)
    /// Something was left, or has come since.
    case remains(UserDeletion.Step)
  }

  /// The place of the second part of a step.
  private static let secondPart = UserDeletion.Place(number: 0, seq: 1)

  /// What is done next; nil = the user is deleted.
  static func order(of deletion: UserDeletion) -> Order? {
    switch deletion.step {
    case .sessions: .endSessions
    case .profile: deletion.place == .start ? .erase : .forget
    case .recalls where deletion.place == .start: .recallRemembered
    case .check: .check
    case .file: .reclaim
    case .done: nil
    case .groups, .applications, .reactions, .recalls, .messages, .receipts, .receiptLists, .former, .notifications, .reports,
      .webhooks, .marks:
      .erase
    }
  }

  /// The deletion behind that.
  static func next(_ deletion: UserDeletion, after outcome: Outcome, at now: WallInstant) -> UserDeletion {
    var next = deletion
    switch outcome {
    case .more(at: let place): next.place = place
    case .remains(let step):
      next.step = step
      next.place = .start
      next.pass += 1
    case .done where hasSecondPart(deletion): next.place = secondPart
    case .done:
      next.step = deletion.step.next ?? .done
      next.place = .start
      if next.step == .recalls, next.messages == .keep { next.step = .messages }
      if next.step == .done { next.endTime = now }
    }
    return next
  }

  private static func hasSecondPart(_ deletion: UserDeletion) -> Bool {
    deletion.place == .start && (deletion.step == .profile || deletion.step == .recalls)
  }

  /// A deletion that is asked for while one is known: "Revoke wins over Keep", and one that is done begins
  /// anew.
  /// - Returns: nil = the known one stays as it is.
  static func request(
    _ messages: UserDeletion.MessageFate, of user: UserID, known: UserDeletion?, at now: WallInstant
  ) -> UserDeletion? {
    guard var running = known, running.isRunning else {
      return UserDeletion(userID: user, messages: messages, requestTime: now)
    }
    guard messages == .revoke, running.messages == .keep else { return nil }
    running.messages = .revoke
    if UserDeletion.Step.recalls.precedes(running.step) {
      running.step = .recalls
      running.place = .start
    }
    return running
  }
}
