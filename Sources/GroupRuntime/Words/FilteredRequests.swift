import GroupModel
import WireProtocol

// The texts of requests that are compared with words, in the order of their methods' parameters; those
// that the application has written for itself (data, extension, customInfo) are not.

extension Message.Content {
  /// The content as it may go on.
  /// - Parameter counts: see `CurrentWords.filter`, here and below.
  /// - Throws: 10016, here and below.
  func filtered(by words: CurrentWords, counts: Bool = true) throws(WireError) -> Message.Content {
    guard case .text(let text) = self else { return self }
    return .text(try words.filter(text, .text, counts: counts))
  }
}

extension CreateGroup {
  func filtered(by words: CurrentWords, counts: Bool = true) throws(WireError) -> CreateGroup {
    CreateGroup(
      groupType: groupType, groupName: try words.filter(groupName, .groupName, counts: counts), groupID: groupID,
      fields: try fields.filtered(by: words, counts: counts), memberList: memberList, inviteMessage: inviteMessage,
      ownerUserID: ownerUserID)
  }
}

extension SetGroupInfo {
  func filtered(by words: CurrentWords, counts: Bool = true) throws(WireError) -> SetGroupInfo {
    SetGroupInfo(
      groupName: try words.filter(ifGiven: groupName, .groupName, counts: counts),
      fields: try fields.filtered(by: words, counts: counts), allMuted: allMuted)
  }
}

extension GroupFields {
  fileprivate func filtered(by words: CurrentWords, counts: Bool) throws(WireError) -> GroupFields {
    var fields = self
    fields.introduction = try words.filter(ifGiven: introduction, .introduction, counts: counts)
    fields.notification = try words.filter(ifGiven: notification, .notification, counts: counts)
    return fields
  }
}

extension SetGroupMemberInfo {
  func filtered(by words: CurrentWords, counts: Bool = true) throws(WireError) -> SetGroupMemberInfo {
    SetGroupMemberInfo(
      userID: userID, nameCard: try words.filter(ifGiven: nameCard, .nameCard, counts: counts), customInfo: customInfo,
      role: role, muteUntil: muteUntil)
  }
}

extension UserInfoFields {
  /// The texts as they may go on.
  public func filtered(by words: CurrentWords, counts: Bool = true) throws(WireError) -> UserInfoFields {
    var fields = self
    fields.nickName = try words.filter(ifGiven: nickName, .nickName, counts: counts)
    return fields
  }
}

extension AskedRequest {
  /// The request as the application is asked about it. Its checks have compared the same texts, so these
  /// are not counted again.
  public func filtered(by words: CurrentWords) throws(WireError) -> AskedRequest {
    switch self {
    case .creation(let request): return .creation(try request.filtered(by: words, counts: false))
    case .selfInfo(let request): return .selfInfo(SetSelfInfo(fields: try request.fields.filtered(by: words, counts: false)))
    case .group(let id, let request): return .group(id, try request.filtered(by: words))
    }
  }
}

extension AskedGroupRequest {
  fileprivate func filtered(by words: CurrentWords) throws(WireError) -> AskedGroupRequest {
    switch self {
    case .join, .invitation, .message(.custom): return self
    case .groupInfo(let request): return .groupInfo(try request.filtered(by: words, counts: false))
    case .memberInfo(let request): return .memberInfo(try request.filtered(by: words, counts: false))
    case .message(.text(let request)):
      let text = try words.filter(request.text, .text, counts: false)
      return .message(.text(SendGroupTextMessage(text: text, options: request.options)))
    case .message(.edit(let request)):
      guard let content = request.content else { return self }
      let filtered = try content.filtered(by: words, counts: false)
      return .message(.edit(ModifyGroupMessage(seq: request.seq, content: filtered, extension: request.extension)))
    }
  }
}
