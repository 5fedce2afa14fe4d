/// Something that a group forgets of a user who is deleted (Protocol.md, "Deleting a user").
public enum GroupErasure: Sendable, Equatable {
  /// The membership, with what the user has set.
  case leave
  /// What it remembers of a former member, and the user's open applications.
  case records
  /// A reaction of the user to a message.
  case reaction(seq: Int64, String)
  /// A message of the user, which is recalled.
  case recall(seq: Int64)
  /// Name cards of the user in messages that the group has in memory; the store has them no more.
  case texts
}
