/// What a request tells or asks (Protocol.md, "Webhooks"); the raw value is its `type`.
public enum WebhookType: String, CaseIterable, Sendable {
  case beforeCreateGroup, beforeJoinGroup, beforeInvite, beforeSendMessage, beforeModifyMessage
  case groupCreated, groupInfoChanged, groupDismissed, groupFull
  case memberJoined, memberLeft, memberInfoChanged
  case applicationMade, applicationHandled
  case messageSent, messageModified, messageRevoked, messageDropped
  case attributesChanged, countersChanged
  case userOnline, userOffline
  case offlinePush

  /// Whether the receiver decides about a request, which waits for its answer.
  public var isQuestion: Bool {
    switch self {
    case .beforeCreateGroup, .beforeJoinGroup, .beforeInvite, .beforeSendMessage, .beforeModifyMessage: true
    default: false
    }
  }
}
