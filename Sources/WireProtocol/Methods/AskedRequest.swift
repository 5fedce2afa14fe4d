import GroupModel

/// A request that the application may be asked about before it is performed (Protocol.md,
/// "Webhooks").
public enum AskedRequest: Sendable {
  case creation(CreateGroup)
  case selfInfo(SetSelfInfo)
  case group(GroupID, AskedGroupRequest)

  /// The request itself.
  public var request: Request {
    switch self {
    case .creation(let request): .createGroup(request)
    case .selfInfo(let request): .setSelfInfo(request)
    case .group(let id, let request): .group(id, request.request)
    }
  }

  /// The request with another content, where it has one.
  /// - Parameter isText: the message holds a text, not the application's own data.
  public func replacingContent(with text: String, isText: Bool) -> AskedRequest {
    switch self {
    case .creation, .selfInfo, .group(_, .join), .group(_, .invitation), .group(_, .groupInfo), .group(_, .memberInfo): self
    case .group(let id, .message(let message)): .group(id, .message(message.replacingContent(with: text, isText: isText)))
    }
  }
}

/// A request to one group that the application may be asked about.
public enum AskedGroupRequest: Sendable {
  case join(JoinGroup)
  case invitation(InviteUserToGroup)
  case groupInfo(SetGroupInfo)
  case memberInfo(SetGroupMemberInfo)
  case message(AskedMessage)

  /// The request itself.
  public var request: GroupRequest {
    switch self {
    case .join(let request): .joinGroup(request)
    case .invitation(let request): .inviteUserToGroup(request)
    case .groupInfo(let request): .setGroupInfo(request)
    case .memberInfo(let request): .setGroupMemberInfo(request)
    case .message(.text(let request)): .sendGroupTextMessage(request)
    case .message(.custom(let request)): .sendGroupCustomMessage(request)
    case .message(.edit(let request)): .modifyGroupMessage(request)
    }
  }
}

/// A message whose content the application may replace, and which it may drop.
public enum AskedMessage: Sendable {
  case text(SendGroupTextMessage)
  case custom(SendGroupCustomMessage)
  case edit(ModifyGroupMessage)

  /// The message with another content of the same kind, which an edit of the extension alone does not
  /// name.
  fileprivate func replacingContent(with text: String, isText: Bool) -> AskedMessage {
    switch self {
    case .text(let request): .text(SendGroupTextMessage(text: text, options: request.options))
    case .custom(let request): .custom(SendGroupCustomMessage(data: text, options: request.options))
    case .edit(let request):
      .edit(
        ModifyGroupMessage(seq: request.seq, content: isText ? .text(text) : .custom(text), extension: request.extension))
    }
  }
}
