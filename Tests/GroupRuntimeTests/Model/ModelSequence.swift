import ThrongTestKit

/// A server and what is done to a group of it.
struct ModelSequence: Sendable {
  var server = ModelServer()
  var operations: [Operation]

  /// A failure, and how many operations it takes.
  struct Failure: Sendable {
    let fault: String
    let count: Int
  }

  /// A sequence written by hand, one operation a line.
  init(_ text: String) throws {
    operations = try text.split(separator: "\n").map { try Operation($0.drop { $0 == " " }) }
  }

  /// A random sequence. Some servers bound the rate of messages, some let all groups have
  /// attributes, most have moderated live rooms, which remember nothing, a little or much, some begin
  /// groups with a tip, and some let the owner of a Work group disband it.
  init(type: String, seed: UInt64, length: Int) {
    if seed % 3 == 0 { server.messagesPerSecond = 3 }
    if seed % 4 == 0 { server.attributeTypes = ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"] }
    if seed % 3 == 1 { server.editWindow = 120_000 }
    if seed % 4 != 1 { server.moderation = true }
    server.recentMessages = [0, 3, 100, 12][Int(seed % 4)]
    server.creationTip = seed % 2 == 0
    server.ownerMayDisband = seed % 7 == 0
    var random = SequenceRandom(type: type, seed: seed)
    operations = random.sequence(length: length)
  }

  /// Runs all operations, and now and then looks at all that can be observed.
  func run() async -> (failure: Failure?, seen: ModelCoverage) {
    var comparison = Comparison(server: server)
    for (index, operation) in operations.enumerated() {
      var fault = await comparison.run(operation)
      let isLast = index == operations.count - 1
      if fault == nil, isLast || index % 20 == 19 { fault = await comparison.look(atAll: isLast) }
      if let fault { return (Failure(fault: fault, count: index + 1), comparison.seen) }
    }
    return (nil, comparison.seen)
  }

  /// The fault of the shortest failing beginning, less every operation without which it fails as
  /// well, and these operations.
  func shrunk(_ failure: Failure) async -> String {
    var (short, fault) = (self, failure.fault)
    short.operations = Array(operations.prefix(failure.count))
    var size = short.operations.count / 2
    while size > 0 {
      let before = short.operations.count
      await short.drop(size, &fault)
      if size > 1 || short.operations.count == before { size /= 2 }
    }
    return fault + "\n" + short.operations.map { "  \($0)" }.joined(separator: "\n")
  }

  /// Leaves out so many operations at a time, wherever it fails as well.
  private mutating func drop(_ size: Int, _ fault: inout String) async {
    var start = 0
    while start < operations.count {
      var without = self
      without.operations.removeSubrange(start..<min(start + size, operations.count))
      if let failure = await without.run().failure {
        operations = Array(without.operations.prefix(failure.count))
        fault = failure.fault
      } else {
        start += size
      }
    }
  }
}
