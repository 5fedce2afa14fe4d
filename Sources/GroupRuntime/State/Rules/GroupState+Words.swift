import GroupModel
import WireProtocol

/// Texts of users that are compared with words: behind rights and state, before the application is
/// asked (Protocol.md, "Words").
extension GroupRules {
  /// The words with which the texts of a turn's request are compared; nil = with none.
  @inline(__always)
  func currentWords(for turn: borrowing Turn) -> CurrentWords? {
    guard let words else { return nil }
    // "Application administrators without asUser are not compared", and neither is the application's
    // answer.
    return turn.userID == nil || turn.facts.isFiltered ? nil : words
  }
}

extension GroupState {
  /// The content of a message as it may go on.
  /// - Throws: 10016 for a text that is refused.
  @inline(__always)
  func filtered(_ content: Message.Content, _ turn: borrowing Turn) throws(WireError) -> Message.Content {
    guard let words = rules.currentWords(for: turn) else { return content }
    return try content.filtered(by: words)
  }
}
