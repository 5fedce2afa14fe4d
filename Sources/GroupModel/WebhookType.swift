/// The subject of a request to the application (Protocol.md, "Webhooks"); the raw value is its
/// `type`.
public enum WebhookType: String, CaseIterable, Sendable {
  case beforeCreateGroup, beforeJoinGroup, beforeInvite, beforeSendMessage, beforeModifyMessage
  case beforeSetGroupInfo, beforeSetMemberInfo, beforeSetSelfInfo
  case groupCreated, groupInfoChanged, groupDismissed, groupFull
  case memberJoined, memberLeft, memberInfoChanged
  case applicationMade, applicationHandled
  case messageSent, messageModified, messageRevoked, messageDropped, messageReported
  case attributesChanged, countersChanged
  case userOnline, userOffline
  case offlinePush

  /// Whether the receiver decides about a request, which waits for its answer.
  public var isQuestion: Bool {
    switch self {
    case .beforeCreateGroup, .beforeJoinGroup, .beforeInvite, .beforeSendMessage, .beforeModifyMessage,
      .beforeSetGroupInfo, .beforeSetMemberInfo, .beforeSetSelfInfo:
      true
    default: false
    }
  }

  /// All that tell of what has happened: the default of `webhook.events`.
  public static let notices = allCases.filter { !$0.isQuestion }
}

/// A set of types, in one word: asked for each message.
public struct WebhookTypes: Sendable, Equatable {
  private let bits: UInt32

  /// No type: webhooks are off.
  public static let none = WebhookTypes([])

  /// - Parameter types: may name one twice.
  public init(_ types: some Sequence<WebhookType>) {
    bits = types.reduce(0) { $0 | WebhookTypes.bit($1) }
  }

  /// Whether there is no type in it.
  public var isEmpty: Bool { bits == 0 }

  /// Whether the type is in it.
  public func contains(_ type: WebhookType) -> Bool { bits & WebhookTypes.bit(type) != 0 }

  /// Whether one of the types asks before something happens.
  public var asks: Bool { WebhookType.allCases.contains { $0.isQuestion && contains($0) } }

  private static func bit(_ type: WebhookType) -> UInt32 {
    switch type {
    case .beforeCreateGroup: 1
    case .beforeJoinGroup: 1 << 1
    case .beforeInvite: 1 << 2
    case .beforeSendMessage: 1 << 3
    case .beforeModifyMessage: 1 << 4
    case .groupCreated: 1 << 5
    case .groupInfoChanged: 1 << 6
    case .groupDismissed: 1 << 7
    case .groupFull: 1 << 8
    case .memberJoined: 1 << 9
    case .memberLeft: 1 << 10
    case .memberInfoChanged: 1 << 11
    case .applicationMade: 1 << 12
    case .applicationHandled: 1 << 13
    case .messageSent: 1 << 14
    case .messageModified: 1 << 15
    case .messageRevoked: 1 << 16
    case .messageDropped: 1 << 17
    case .attributesChanged: 1 << 18
    case .countersChanged: 1 << 19
    case .userOnline: 1 << 20
    case .userOffline: 1 << 21
    case .offlinePush: 1 << 22
    case .beforeSetGroupInfo: 1 << 23
    case .beforeSetMemberInfo: 1 << 24
    case .beforeSetSelfInfo: 1 << 25
    case .messageReported: 1 << 26
    }
  }
}
