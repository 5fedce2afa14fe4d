import GroupModel
import GroupRuntime
import WebSocketTransport

/// Carries frames inside one process: from a group's executor to the loops that its members' connections live on.
final class LocalBroker: Broker {
  private let directory: SessionDirectory

  init(directory: SessionDirectory) { self.directory = directory }

  func openTopic(of group: GroupID) -> any GroupTopic { LocalTopic(group, directory: directory) }

  var usersSignedIn: Int { directory.userCount }

  func signedIn(among users: [UserID]) -> [UserID] { directory.signedIn(among: users) }

  func signedInUsers() -> [UserID] { directory.signedInUsers() }
}
