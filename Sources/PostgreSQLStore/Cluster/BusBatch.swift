import Cluster

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

/// The text of a notification: the row that has a batch. Any role of the database hears it, and may send one.
struct BusNotification: Hashable {
  let publisher: Int64
  let number: Int64

  var text: String { "\(publisher).\(number)" }

  /// A row of a publisher.
  init(publisher: Int64, number: Int64) { (self.publisher, self.number) = (publisher, number) }

  /// Nil where the text is none.
  init?(_ text: String) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
    guard numbers.count == 2, let publisher = numbers[0], let number = numbers[1] else { return nil }
    self.init(publisher: publisher, number: number)
  }
}
