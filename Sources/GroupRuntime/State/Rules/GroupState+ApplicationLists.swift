import GroupModel
import WireProtocol

/// onGroupApplicationListChanged, which keeps lists of applications up to date (Protocol.md,
/// "Application lists").
extension GroupState {
  /// "To all sessions of everybody in whose Received or Sent list the application stands", each with
  /// the application as that user sees it.
  /// - Parameter readMarks: up to where deciders have read; a new or renewed application is unread.
  func announceListChange(
    of application: GroupApplication, readMarks: [UserID: WallInstant] = [:], in context: DecisionContext,
    into decision: inout Decision
  ) {
    var views: [(application: ApplicationInfo, users: [UserID])] = []
    func add(_ user: UserID, isRead: Bool) {
      let view = ApplicationInfo(application, reader: user, isRead: isRead)
      if let index = views.firstIndex(where: { $0.application == view }) {
        views[index].users.append(user)
      } else {
        views.append((view, [user]))
      }
    }
    let deciders = application.toUser.map { [$0] } ?? managers
    for user in deciders { add(user, isRead: readMarks[user].map { application.addTime <= $0 } ?? false) }
    let sender = application.fromUser
    // An applicant who has become a manager in another way decides the own request.
    if sender != .administrator, !deciders.contains(sender) { add(sender, isRead: true) }
    for view in views {
      decision.effects.append(.send(event(.onGroupApplicationListChanged(view.application), in: context), to: view.users))
    }
  }
}
