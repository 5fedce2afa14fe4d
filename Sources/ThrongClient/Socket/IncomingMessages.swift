#if canImport(Glibc)
  import FoundationEssentials

  /// Messages that were read and not received yet.
  struct IncomingMessages {
    /// With more than that the connection's thread reads nothing until one is received.
    private static let limit = 1 << 20
    /// What a message takes beside its bytes: empty ones are not free.
    private static let overhead = 64

    private var messages: [Data] = []
    private var first = 0
    private var bytes = 0

    var hasRoom: Bool { bytes < IncomingMessages.limit }

    mutating func append(_ message: Data) {
      messages.append(message)
      bytes += message.count + IncomingMessages.overhead
    }

    mutating func next() -> Data? {
      guard first < messages.count else { return nil }
      let message = messages[first]
      messages[first] = Data()
      bytes -= message.count + IncomingMessages.overhead
      first += 1
      // Moving the rest down costs a step for each message that was taken.
      if first * 2 > messages.count {
        messages.removeFirst(first)
        first = 0
      }
      return message
    }
  }
#endif
