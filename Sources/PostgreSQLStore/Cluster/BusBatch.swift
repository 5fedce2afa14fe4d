import Cluster
import Foundation

/// Messages to one subject that leave together, as one value: each with its length before it.
struct BusBatch: Equatable {
  let subject: BusSubject
  private(set) var bytes: [UInt8] = []

  /// The messages by subject, in the order of each subject's first one.
  static func group(_ messages: [SendQueue.Outgoing]) -> [BusBatch] {
    var batches: [BusBatch] = []
    var places: [BusSubject: Int] = [:]
    for outgoing in messages {
      let place = places[outgoing.subject] ?? batches.count
      if place == batches.count {
        batches.append(BusBatch(subject: outgoing.subject))
        places[outgoing.subject] = place
      }
      batches[place].append(outgoing.message)
    }
    return batches
  }

  private mutating func append(_ message: [UInt8]) {
    // The longest message is far below 4 GiB.
    let count = UInt32(message.count)
    for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    bytes += message
  }

  /// The messages of a batch; nil where the bytes are none.
  static func messages(in bytes: [UInt8]) -> [[UInt8]]? {
    var messages: [[UInt8]] = []
    var place = 0
    while place < bytes.count {
      guard place + 4 <= bytes.count else { return nil }
      let count = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard place + 4 + count <= bytes.count else { return nil }
      messages.append(Array(bytes[place + 4..<place + 4 + count]))
      place += 4 + count
    }
    return messages
  }
}

/// The text of a notification: a small batch itself, or the row that has it.
enum BusNotification: Equatable {
  case batch([UInt8])
  case row(publisher: Int64, number: Int64)

  /// NOTIFY takes less than 8,000 bytes, and base64 makes four of three.
  static let maxBatchBytes = 5_900

  var text: String {
    switch self {
    case .batch(let bytes): "b" + Data(bytes).base64EncodedString()
    case .row(let publisher, let number): "r\(publisher).\(number)"
    }
  }

  /// Nil where the text is none.
  init?(_ text: String) {
    let rest = text.dropFirst()
    switch text.first {
    case "b":
      guard let data = Data(base64Encoded: String(rest)) else { return nil }
      self = .batch(Array(data))
    case "r":
      let numbers = rest.split(separator: ".").compactMap { Int64($0) }
      guard numbers.count == 2 else { return nil }
      self = .row(publisher: numbers[0], number: numbers[1])
    default: return nil
    }
  }

  init(batch bytes: [UInt8]) { self = .batch(bytes) }

  init(publisher: Int64, number: Int64) { self = .row(publisher: publisher, number: number) }
}
