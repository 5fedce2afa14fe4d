import GroupModel
import WireProtocol

/// What most messages have not: data beside the content, the message that a reply answers, what a
/// message does not count for, and the members who see it (Protocol.md, "Extension", "Silent messages" and
/// "Targeted messages").
extension GroupState {
  /// What a new message has besides its content; nil = nothing.
  /// - Parameter answered: what was looked up of the message that it answers.
  func extras(
    _ options: MessageOptions, answering answered: AnsweredMessage?, _ turn: borrowing Turn
  ) throws(WireError) -> MessageExtras? {
    guard let given = options.extras else { return nil }
    let replyTo = try replyReference(of: given, answered, turn)
    // "Live types ignore them."
    let isStored = record.type.storesMessages
    return MessageExtras(
      extension: given.extension, replyTo: replyTo, isExcludedFromUnreadCount: isStored && given.isExcludedFromUnreadCount,
      isExcludedFromLastMessage: isStored && given.isExcludedFromLastMessage, toUserIDList: try targets(of: given, turn))
  }

  /// The members named, without the sender: "those named who are no members are ignored, and when
  /// nobody is left it is 10004". Empty = the message is for everybody.
  private func targets(of given: SendExtras, _ turn: borrowing Turn) throws(WireError) -> [UserID] {
    guard !given.toUserIDList.isEmpty else { return [] }
    guard record.type.storesMessages else {
      throw WireError(.noRight, "In this type of group all members see every message", field: "toUserIDList")
    }
    let sender = turn.userID
    let targets = given.toUserIDList.filter { $0 != sender && roster.isMember($0) }
    guard !targets.isEmpty else {
      throw WireError(.badValue, "None of them is another member", field: "toUserIDList")
    }
    return targets
  }
}
