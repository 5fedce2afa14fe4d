import Cluster

/// The parts of a message that is longer than the server takes. Their names travel as the reply's
/// subject, which is not used otherwise: so a whole message is not copied.
struct MessageParts {
  private let publisher: String
  private var lastNumber: UInt64 = 0

  /// - Parameter publisher: no other one has it.
  init(publisher: String) { self.publisher = publisher }

  /// Divides a message.
  /// - Parameter limit: the most bytes of a part.
  /// - Returns: the parts with their names; the only one of a short message has none.
  mutating func divide(_ message: [UInt8], limit: Int) -> [(name: String?, bytes: ArraySlice<UInt8>)] {
    if message.count <= limit { return [(nil, message[...])] }
    lastNumber += 1
    let starts = Array(stride(from: 0, to: message.count, by: limit))
    return starts.enumerated().map { index, start in
      ("part.\(publisher).\(lastNumber).\(index).\(starts.count)", message[start..<min(start + limit, message.count)])
    }
  }
}

/// Puts the parts of messages together again, for one subscription.
struct MessageAssembler {
  enum Outcome: Equatable {
    case whole([UInt8])
    /// Other parts are to come.
    case waits
    /// A part is missing, or this is none.
    case broken
  }

  private struct Key: Hashable {
    let publisher: Substring
    let number: Substring
  }

  private struct Partial {
    var bytes: [UInt8]
    var nextIndex: Int
    /// Larger than that of each partial that got its last part before.
    var age: UInt64
  }

  private var partials: [Key: Partial] = [:]
  private var lastAge: UInt64 = 0
  /// A publisher sends the parts of a message together, so there are few at a time. Beyond these bounds
  /// those go that have waited for longest.
  private static let maxPartials = 64
  private static let maxBytes = 2 * BusLimits.messageBytes

  var isEmpty: Bool { partials.isEmpty }

  /// - Parameter name: the name of a part; "" for a whole message.
  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, _ name: String) -> Outcome {
    if name.isEmpty { return .whole(Array(bytes)) }
    let words = name.split(separator: ".")
    guard words.count == 5, words[0] == "part", let index = Int(words[3]), let count = Int(words[4]), index < count
    else { return .broken }
    let key = Key(publisher: words[1], number: words[2])
    var partial = partials.removeValue(forKey: key) ?? Partial(bytes: [], nextIndex: 0, age: 0)
    guard partial.nextIndex == index, partial.bytes.count + bytes.count <= BusLimits.messageBytes else { return .broken }
    partial.bytes += bytes
    if index == count - 1 { return .whole(partial.bytes) }
    lastAge += 1
    (partial.nextIndex, partial.age) = (index + 1, lastAge)
    partials[key] = partial
    removeOldest()
    return .waits
  }

  private mutating func removeOldest() {
    while partials.count > MessageAssembler.maxPartials
      || partials.values.reduce(0, { $0 + $1.bytes.count }) > MessageAssembler.maxBytes
    {
      guard let oldest = partials.min(by: { $0.value.age < $1.value.age }) else { return }
      partials[oldest.key] = nil
    }
  }

  /// Forgets what waits for parts: messages may be missing.
  mutating func reset() { partials = [:] }
}
