/// Why the rights refuse an action. Each stands for one error of the wire (contract section 7).
public enum Refusal: Error, Sendable, Equatable, CaseIterable {
  /// The role is too low, the type does not support it, or the asker is not a member: 10007.
  case roleTooLow
  /// The owner may not quit: 10009.
  case ownerMayNotQuit
  /// joinGroup on Work: 8508.
  case workNotJoinable
  /// Recall of a message that is not one's own: 10032.
  case recallNotYours
  /// Recall where the type has none: 10033.
  case recallUnsupported
}
