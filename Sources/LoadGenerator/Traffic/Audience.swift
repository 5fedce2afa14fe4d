/// Who sends, who receives, and in which groups.
struct Audience {
  /// The connections that send.
  let senders: [Int]
  /// How many groups there are, counted from 0.
  let groups: Int
  /// The group of a connection.
  let groupOf: (Int) -> Int
  /// A sender receives what the other senders of its group send, and not its own.
  let sendersReceive: Bool

  /// How many messages of the measurement each receiving connection must get.
  func expected(_ ledger: Ledger, receivers: some Sequence<Int>) -> [(connection: Int, messages: Int)] {
    var own: [Int: Int] = [:]
    for (position, connection) in senders.enumerated() { own[connection] = ledger.acceptedBySender[position] }
    return receivers.map { ($0, ledger.acceptedInGroup[groupOf($0)] - (own[$0] ?? 0)) }
  }
}
