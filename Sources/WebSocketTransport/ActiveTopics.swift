import CTransport

/// A topic in which something was published in the loop's last second.
public struct ActiveTopic: Sendable, Equatable {
  /// The name that it was made with.
  public let name: String
  /// Entries in that second.
  public let entries: Int
  /// Their bytes.
  public let bytes: Int
  /// Its connections.
  public let subscribers: Int

  /// Entries times connections.
  public var deliveries: Int { entries * subscribers }
}

extension EventLoop {
  /// The topics with the most deliveries of the last second, the busiest first.
  public func busiestTopics(_ count: Int) async -> [ActiveTopic] {
    await withCheckedContinuation { continuation in
      perform { continuation.resume(returning: self.collectBusiest(count)) }
    }
  }

  /// Like `busiestTopics`, on the loop's thread.
  func collectBusiest(_ count: Int) -> [ActiveTopic] {
    var found = [ct_topic_activity](repeating: ct_topic_activity(), count: max(0, count))
    let used = ct_loop_busiest_topics(pointer, &found, found.count)
    return found.prefix(used).map { topic in
      ActiveTopic(
        name: String(decoding: UnsafeRawBufferPointer(start: topic.name.bytes, count: topic.name.count), as: UTF8.self),
        entries: Int(topic.entries), bytes: Int(topic.bytes), subscribers: Int(topic.subscribers))
    }
  }
}
