import GroupModel
import GroupRuntime

/// The messages that retention leaves in groups at an instant.
package struct HistoryBounds: Sendable {
  /// The limits of the types whose groups do not keep all messages.
  package let limits: [GroupType: HistoryLimits]
  /// Messages from before it are too old, for each type; absent = no age.
  package let oldest: [GroupType: WallInstant]

  /// Between two rounds of removal.
  package static let interval = Duration.seconds(5)

  /// - Parameter trustsClock: whether messages may be removed for their age.
  package init(_ limits: [GroupType: HistoryLimits], at now: WallInstant, trustsClock: Bool) {
    self.limits = limits
    oldest = trustsClock ? limits.compactMapValues { $0.age.map { now - $0 } } : [:]
  }

  /// The last message that is one too many; nil = no number bounds the type's groups.
  /// - Parameter newest: the group's newest message.
  package func lastExcess(of type: GroupType, newest: Int64?) -> Int64? {
    limits[type]?.count.flatMap { count in newest.map { $0 - count } }
  }

  /// Those of a group's oldest messages that are too many or too old, ascending.
  package func excess(
    _ messages: [(seq: Int64, time: WallInstant)], of type: GroupType, newest: Int64?
  ) -> ArraySlice<(seq: Int64, time: WallInstant)> {
    let (lastExcess, oldest) = (lastExcess(of: type, newest: newest) ?? 0, oldest[type] ?? .distantPast)
    return messages.prefix { $0.seq <= lastExcess || $0.time < oldest }
  }
}
