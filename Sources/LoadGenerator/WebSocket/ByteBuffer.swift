import Glibc
import WireProtocol

/// Kept bytes of one connection: an incomplete frame, or bytes that a full socket refused.
/// A `Connection` in the pool's table owns it; `discard` frees the memory.
struct ByteBuffer {
  private(set) var count = 0
  private var capacity = 0
  private var memory: UnsafeMutableRawPointer?

  var isEmpty: Bool { count == 0 }

  /// The bytes, with the parser's padding behind them. Valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// Appends bytes that lie outside this buffer.
  mutating func append(_ source: UnsafeRawPointer, _ length: Int) {
    reserve(count + length)
    // `reserve` has just allocated the memory, or an earlier call has.
    memcpy(memory! + count, source, length)
    count += length
  }

  /// Puts bytes that lie outside this buffer in the place of its own.
  mutating func replace(_ source: UnsafeRawPointer, _ length: Int) {
    reserve(max(1, length))
    count = 0
    append(source, length)
  }

  /// Removes the first bytes; without any left, frees the memory.
  mutating func removeFirst(_ length: Int) {
    guard length < count, let memory else { return discard() }
    memmove(memory, memory + length, count - length)
    count -= length
  }

  /// Frees the memory.
  mutating func discard() {
    free(memory)
    self = ByteBuffer()
  }

  private mutating func reserve(_ length: Int) {
    guard length > capacity else { return }
    capacity = max(length, capacity * 2, 2048)
    guard let grown = realloc(memory, capacity + JSONParser.padding) else { fatalError("out of memory") }
    memory = grown
  }
}
