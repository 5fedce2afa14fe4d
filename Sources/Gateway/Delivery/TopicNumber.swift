import Synchronization

/// Tells the topics of one group apart: where a later one has attached a user before an earlier one, which
/// is closed, has detached all of its users, the user stays attached.
struct TopicNumber: Sendable, Equatable {
  private static let last = Atomic<UInt64>(0)

  private let value: UInt64

  /// Another one than all before.
  init() { value = TopicNumber.last.wrappingAdd(1, ordering: .relaxed).newValue }
}
