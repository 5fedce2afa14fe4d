import GroupModel

/// The platforms on which a user has sessions.
package struct PlatformSet: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One platform.
  init(platform: Platform) {
    let bit =
      switch platform {
      case .iOS: 0
      case .android: 1
      case .windows: 2
      case .mac: 3
      case .web: 4
      case .unknown: 5
      case .restAPI: 6
      }
    self.init(rawValue: 1 << UInt8(bit))
  }

  /// Each once, in the order of `Platform`.
  var platforms: [Platform] { Platform.allCases.filter { contains(PlatformSet(platform: $0)) } }
}

/// The part of a user's status that sessions decide.
package struct UserPresence: Sendable, Equatable {
  /// Empty = offline.
  var platforms: PlatformSet = []
  /// The end of the last session; unset while the user is online, and where it is not known.
  var lastOnline = WallInstant.unset

  var isOnline: Bool { !platforms.isEmpty }
}

/// Hears of the platforms on which users are signed in. Both functions are called within the lock of
/// the sessions: they must neither block nor call back.
package protocol SessionObserver: AnyObject, Sendable {
  /// The signed-in sessions of a user have changed. Called in the order of the changes.
  /// - Parameters:
  ///   - last: the platforms before.
  ///   - platforms: those from now on; empty = the last session has ended.
  func sessionsChanged(of user: UserID, from last: PlatformSet, to platforms: PlatformSet)

  /// Those of these users, who have no session, whose last one has ended a moment ago.
  func lingering(among users: [UserID]) -> [UserID: UserPresence]
}

extension SessionObserver {
  /// The presence of users in the order given, as far as sessions tell.
  /// - Parameter platforms: of the sessions of each, in the same order.
  func presences(of users: [UserID], on platforms: [PlatformSet]) -> [UserPresence] {
    let absent = zip(users, platforms).filter { $1.isEmpty }.map { $0.0 }
    let found = absent.isEmpty ? [:] : lingering(among: absent)
    return zip(users, platforms).map { user, platforms in
      platforms.isEmpty ? found[user] ?? UserPresence() : UserPresence(platforms: platforms)
    }
  }
}
