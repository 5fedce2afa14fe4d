import GroupModel

/// The undecided applications of one group: at most one of each kind for each candidate.
struct OpenApplications: Sendable {
  /// How many a group has at most; further ones are rejected until some are decided.
  static let maxCount = 10_000

  private struct Key: Hashable, Sendable {
    let kind: GroupApplication.Kind
    let candidate: UserID
  }

  private var byKey: [Key: GroupApplication] = [:]

  /// The stored applications.
  init(_ applications: [GroupApplication]) {
    for application in applications { put(application) }
  }

  /// How many are open.
  var count: Int { byKey.count }

  /// Whether no further application fits.
  var isFull: Bool { byKey.count >= OpenApplications.maxCount }

  /// The open application of a candidate.
  func application(_ kind: GroupApplication.Kind, of candidate: UserID) -> GroupApplication? {
    byKey[Key(kind: kind, candidate: candidate)]
  }

  /// The newest state of an application; nil = it is not open any more.
  func open(_ application: GroupApplication) -> GroupApplication? {
    let known = self.application(application.kind, of: application.candidate)
    return known?.id == application.id ? known : nil
  }

  /// Removes the applications from or to a user.
  mutating func removeAll(of user: UserID) -> [GroupApplication] {
    let own = byKey.values.filter { $0.fromUser == user || $0.toUser == user }.sorted { $0.id < $1.id }
    for application in own { remove(application) }
    return own
  }

  mutating func put(_ application: GroupApplication) {
    byKey[Key(kind: application.kind, candidate: application.candidate)] = application
  }

  mutating func remove(_ application: GroupApplication) {
    byKey[Key(kind: application.kind, candidate: application.candidate)] = nil
  }
}
