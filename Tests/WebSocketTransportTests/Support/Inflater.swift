import CInflate

/// The inflater of a client.
final class Inflater {
  private let stream = cinflate_create(15)

  deinit { cinflate_free(stream) }

  func inflate(_ message: [UInt8]) throws -> [UInt8] {
    var count = 0
    guard let result = cinflate_message(stream, message, message.count, &count) else {
      throw SocketClient.Failed(description: "invalid compressed data")
    }
    return Array(UnsafeBufferPointer(start: result, count: count))
  }
}

/// A message as a client may compress it.
func deflated(_ message: [UInt8]) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: message.count + message.count / 8 + 64) { buffer, count in
    count = cinflate_deflate(message, message.count, buffer.baseAddress, buffer.count)
  }
}
