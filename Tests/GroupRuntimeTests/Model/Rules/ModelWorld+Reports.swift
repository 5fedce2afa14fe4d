import ThrongTestKit

/// Reports of messages to the application.
extension ModelWorld {
  /// "The order: 10007, 10033, a msgID outside live rooms 10004, 10030, the caller's own 10004, 8511."
  mutating func report() throws(ModelRefusal) -> JSON {
    try requireMembership()
    let message = try reportedMessage()
    let reporter = operation.by.name!
    if message.sender == reporter { throw ModelRefusal(10004) }
    if operation["$full"] != .null { throw ModelRefusal(8511) }
    // "The same user and message again renews and keeps reportID", also where it was gone meanwhile.
    let key = reporter + " " + message.id.string!
    let name = reportNames[key] ?? token("report")
    reportNames[key] = name
    reports.insert(key)
    return ["reportID": name]
  }

  /// "A message that the member may see", by msgID in live rooms that remember messages.
  private func reportedMessage() throws(ModelRefusal) -> ModelMessage {
    let (seq, id) = (operation["seq"].int, operation["msgID"])
    if let memory = g.memory {
      let found = memory.kept.first { id == .null ? $0.seq == seq : $0.id == id }
      guard let found, !found.isRevoked else { throw ModelRefusal(10030) }
      return found
    }
    if !g.keepsHistory { throw ModelRefusal(10033) }
    if id != .null { throw ModelRefusal(10004) }
    guard let message = visibleMessage(seq!), message.isChat, !message.isRevoked else { throw ModelRefusal(10030) }
    return message
  }
}
