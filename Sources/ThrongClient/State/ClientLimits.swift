/// The bounds of what a client takes from a server, whoever runs it (Clients.md, "Bounds").
enum ClientLimits {
  /// A message of the WebSocket: 50 groups of a resume with 100 long messages each.
  static let messageBytes = 64 << 20
  /// A message has no more fragments; servers make some of a kilobyte at least.
  static let fragments = 65_536
  /// A frame that is an event: the longest that members can cause has 100 KB.
  static let eventBytes = 1 << 20
  /// The levels of JSON, as the server bounds those of requests.
  static let depth = 32
  /// Numbers are integers that a double holds: 2⁵³ is far enough from the end of Int to count on.
  static let largestNumber = 1 << 53
  /// An ID or epoch: the protocol's longest has 64 bytes.
  static let identifierBytes = 256

  /// What a server may ask for.
  static let longestWait = Duration.seconds(86_400)
  static let heartbeat = 1...86_400

  /// The groups of a user, the bytes that list them in a resume, and the pages that do.
  static let groups = 50_000
  static let listBytes = 64 << 20
  static let listPages = 1_000
  /// The pages of one group's history in a resume: a million messages. The next one goes on there.
  static let historyPages = 10_000
  /// How often a resume asks for a group anew because more events came than may wait.
  static let repeatedSyncs = 10

  /// Events that wait for syncs of their groups, or for one reader, and the bytes of their frames.
  static let waitingEvents = 10_000
  static let heldBytes = 8 << 20
  static let waitingBytes = 32 << 20
  /// Groups that are not tracked yet: those entered, and those of which the last place is kept.
  static let newGroups = 1_000
  /// Changes that wait for the store; the connection is read no further then.
  static let waitingChanges = 10_000
  /// Changes that are written at once.
  static let changesAtOnce = 256
  /// Own messages of a group beyond its place.
  static let ownMessages = 1_000
  /// Messages whose changes came before themselves, and changes of each.
  static let missedMessages = 1_000
  static let changesPerMessage = 10
  /// Own messages that wait at the server at the same time.
  static let queuedMessages = 100
  /// Calls of the application that the server has not answered.
  static let unansweredCalls = 1_000
  /// Users whose status is watched: the most that a server can be set up to allow; and those that one
  /// request names.
  static let watchedUsers = 10_000
  static let usersPerWatch = 100
  /// Groups of which it is remembered when they take the user's next message.
  static let slowGroups = 1_000
  /// Groups that `LostEvents` names.
  static let lostGroups = 10_000

  static func isIdentifier(_ text: String) -> Bool { text.utf8.count <= identifierBytes }
}

/// Numbers of the server within their bounds: whatever a client counts or waits by comes from here.
extension ClientLimits {
  /// A wait that the server asks for; nil or negative = none.
  static func wait(milliseconds: Int?) -> Duration {
    min(longestWait, .milliseconds(max(0, milliseconds ?? 0)))
  }

  /// An instant in milliseconds, or a place in a history.
  static func count(_ number: Int?) -> Int { min(max(0, number ?? 0), largestNumber) }
}

extension Session {
  /// The session as a client counts on it. Nil where no server answers so.
  var bounded: Session? {
    guard ClientLimits.isIdentifier(userID), ClientLimits.isIdentifier(sessionID) else { return nil }
    var session = self
    session.serverTime = ClientLimits.count(serverTime)
    session.tokenExpiresAt = ClientLimits.count(tokenExpiresAt)
    session.heartbeat = min(max(ClientLimits.heartbeat.lowerBound, heartbeat), ClientLimits.heartbeat.upperBound)
    return session
  }
}

extension String {
  /// Words of the server for a person: they may be as long as a frame.
  var shortened: String { utf8.count <= 1_024 ? self : String(decoding: utf8.prefix(1_024), as: UTF8.self) + "…" }
}
