import Glibc
import WireProtocol

/// Bytes of one connection that wait: the beginning of a frame that is not here to its end, or what a full socket did not take.
/// Owned by a `Connection` in the swarm's table; `discard` gives the memory back.
struct ByteStore {
  private(set) var count = 0
  private var capacity = 0
  private var memory: UnsafeMutableRawPointer?

  var isEmpty: Bool { count == 0 }

  /// The bytes; the parser's padding is readable behind them. Valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// Appends bytes from elsewhere.
  mutating func append(_ source: UnsafeRawPointer, _ length: Int) {
    reserve(count + length)
    // `reserve` has just made sure that there is memory.
    memcpy(memory! + count, source, length)
    count += length
  }

  /// Takes the first bytes away; without any left the memory is given back.
  mutating func removeFirst(_ length: Int) {
    guard length < count, let memory else { return discard() }
    memmove(memory, memory + length, count - length)
    count -= length
  }

  /// Gives the memory back.
  mutating func discard() {
    free(memory)
    self = ByteStore()
  }

  private mutating func reserve(_ length: Int) {
    guard length > capacity else { return }
    capacity = max(length, capacity * 2, 2048)
    guard let grown = realloc(memory, capacity + JSONParser.padding) else { fatalError("out of memory") }
    memory = grown
  }
}
