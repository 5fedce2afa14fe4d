/// The erasure of what is kept of a user (Protocol.md, "Deleting a user"): how far it has come. A store
/// keeps it in the transaction of what it erases, so a restart goes on where it ended.
public struct UserDeletion: Sendable, Equatable {
  /// What becomes of the user's messages.
  public enum MessageFate: String, CaseIterable, Sendable {
    /// Their texts stay, with the userID as sender.
    case keep = "Keep"
    /// They are recalled.
    case revoke = "Revoke"
  }

  /// The steps in their order. Each may be done twice: what is gone is not found again.
  public enum Step: String, CaseIterable, Sendable {
    case sessions, profile, groups, applications, reactions, recalls, messages, receipts, receiptLists, former, notifications
    case reports, webhooks, marks
    /// Looks whether anything is left, because the application acts for users who are being deleted, too.
    case check
    /// Waits until the files hold none of the old bytes.
    case file
    case done

    /// The step behind this one; nil = it is the last.
    public var next: Step? {
      let all = Step.allCases
      return all.firstIndex(of: self).flatMap { $0 + 1 < all.count ? all[$0 + 1] : nil }
    }

    /// Whether this step comes before another.
    public func precedes(_ other: Step) -> Bool {
      let all = Step.allCases
      guard let own = all.firstIndex(of: self), let place = all.firstIndex(of: other) else { return false }
      return own < place
    }
  }

  /// How far a step has come: the last group or row that it has finished, and the place inside it.
  public struct Place: Sendable, Equatable {
    public var number: Int64
    public var seq: Int64

    /// Before everything.
    public static let start = Place(number: 0)
    /// The place inside a group that is finished: behind every message.
    public static let endOfGroup: Int64 = 1 << 53

    /// A place with everything given.
    public init(number: Int64, seq: Int64 = 0) {
      self.number = number
      self.seq = seq
    }
  }

  /// How long a deletion that is done is told of.
  public static let lifetime = Duration.seconds(30 * 86_400)

  public let userID: UserID
  public var messages: MessageFate
  public var step: Step
  public var place: Place
  public let requestTime: WallInstant
  /// When it was done; nil = it is running.
  public var endTime: WallInstant?
  /// How often it has begun anew, because something was left.
  public var pass: Int

  /// A deletion; it begins by default.
  public init(
    userID: UserID, messages: MessageFate, step: Step = .sessions, place: Place = .start, requestTime: WallInstant,
    endTime: WallInstant? = nil, pass: Int = 0
  ) {
    self.userID = userID
    self.messages = messages
    self.step = step
    self.place = place
    self.requestTime = requestTime
    self.endTime = endTime
    self.pass = pass
  }

  /// Whether it is not done yet.
  public var isRunning: Bool { endTime == nil }
}
