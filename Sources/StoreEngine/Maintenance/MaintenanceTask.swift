/// Work in the background that holds the writer for a bounded time, until nothing is left. The raw
/// value appears in metrics and the log.
package enum MaintenanceTask: String, Sendable {
  case clearDisbandedGroups = "purge"
  case deleteExpiredRows = "sweep"
  case clearReactions = "reactions"
  case removeMessages = "retention"
  /// Of stores in a file.
  case indexWebhooks = "webhookIndex"
  /// Of stores in a file.
  case indexMessages = "index"
  /// Of stores in a file.
  case shrinkFile = "shrink"
}
