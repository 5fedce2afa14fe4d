import GroupModel
import GroupRuntime
import Logging

/// Writes down what stores could not do, and counts messages.
final class StoreObserver: GroupObserver {
  private let logger: Logger
  private let messages = MessageMetrics()

  init(logger: Logger) { self.logger = logger }

  func storeFailed(_ error: StoreError, group: GroupID) {
    logger.error("store failed", metadata: ["group": "\(group)", "error": "\(error)"])
  }

  func storeFailed(_ error: StoreError) { logger.error("store failed", metadata: ["error": "\(error)"]) }

  func didCount(_ message: MessageCount) { messages.count(message) }
}
