import GroupModel

/// The applications of one group that nobody has decided yet: at most one of a kind for each user who would become a member.
struct OpenApplications: Sendable {
  /// How many a group has at most; a group that has them takes no more until some are decided.
  static let most = 10_000

  private struct Place: Hashable, Sendable {
    let kind: GroupApplication.Kind
    let candidate: UserID
  }

  private var byPlace: [Place: GroupApplication] = [:]

  /// Those that the store keeps.
  init(_ applications: [GroupApplication]) {
    for application in applications { put(application) }
  }

  /// How many there are.
  var count: Int { byPlace.count }

  /// No more are taken.
  var isFull: Bool { byPlace.count >= OpenApplications.most }

  /// The open application by which a user would become a member.
  func application(_ kind: GroupApplication.Kind, of candidate: UserID) -> GroupApplication? {
    byPlace[Place(kind: kind, candidate: candidate)]
  }

  /// The application as it stands now, where it is still open.
  func open(_ application: GroupApplication) -> GroupApplication? {
    let known = self.application(application.kind, of: application.candidate)
    return known?.id == application.id ? known : nil
  }

  mutating func put(_ application: GroupApplication) {
    byPlace[Place(kind: application.kind, candidate: application.candidate)] = application
  }

  mutating func remove(_ application: GroupApplication) {
    byPlace[Place(kind: application.kind, candidate: application.candidate)] = nil
  }
}
