import Foundation
import GroupRuntime

/// The lines of a file or pipe, read a part at a time.
struct LineReader {
  private static let partBytes = 1 << 20
  private let input: FileHandle
  private let maxBytes: Int
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  /// The number of the last line, from 1.
  private(set) var number = 0

  /// - Parameter maxBytes: of one line.
  init(_ input: FileHandle, maxBytes: Int) {
    self.input = input
    self.maxBytes = maxBytes
  }

  /// The next line without its end; nil behind the last one.
  mutating func next() throws -> ArraySlice<UInt8>? {
    var searched = position
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { position = end + 1 }
        number += 1
        return buffer[position..<end]
      }
      if isAtEnd {
        guard position < buffer.count else { return nil }
        defer { position = buffer.count }
        number += 1
        return buffer[position...]
      }
      guard buffer.count - position <= maxBytes else {
        throw StoreOpenError(.corrupt, "line \(number + 1) is longer than \(maxBytes) bytes")
      }
      searched = buffer.count - position
      try fill()
    }
  }

  private mutating func fill() throws {
    buffer.removeFirst(position)
    position = 0
    let part: Data?
    do { part = try input.read(upToCount: Self.partBytes) } catch { throw StoreError(.unavailable, "cannot read: \(error)") }
    guard let part, !part.isEmpty else {
      isAtEnd = true
      return
    }
    buffer.append(contentsOf: part)
  }
}
