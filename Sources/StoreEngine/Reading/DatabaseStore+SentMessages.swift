import GroupModel
import GroupRuntime

/// Where a message that was sent before has to be looked for.
private enum SentPlace: Sendable {
  case messages(ClosedRange<Int64>, number: Int64)
  /// The answer is known without a look at them.
  case known(SentSearch)
}

extension StoreQueries {
  fileprivate func sentPlace(in group: GroupID, number: Int64, since: WallInstant, most: Int64) throws -> SentPlace {
    guard let head = try head(of: group, number: number) else { return .known(.absent) }
    let bounds = try seqBounds(number: number)
    let oldest = try firstSeq(number: number, notBefore: since)
    if head.firstSeq > 1 {
      // `removedTime` leaves out what was never a last message: it may have been removed later than that.
      let isInexact = !head.record.messageFeatures.isDisjoint(with: .uncounted)
      if head.removedTime >= since || (isInexact && oldest == bounds?.lowerBound) { return .known(.removed) }
    }
    guard let first = oldest, let last = bounds?.upperBound else { return .known(.absent) }
    return last - first < most ? .messages(first...last, number: number) : .known(.tooMany)
  }
}

// There is no index of clientMsgIDs: every message would pay for it, and only a sender who was away for
// long, in the middle of a send, asks.

extension DatabaseStore {
  /// Looks for a message that was sent before, a page of places at a time.
  package func sentMessage(
    of group: GroupID, epoch: String, from sender: UserID, clientMsgID: String, since: WallInstant, most: Int64
  ) async throws(StoreError) -> SentSearch {
    let place = try await read(.snapshot) { db -> SentPlace in
      guard let number = try db.number(of: group, epoch: epoch) else { return .known(.absent) }
      return try db.sentPlace(in: group, number: number, since: since, most: most)
    }
    switch place {
    case .known(let search): return search
    case .messages(let range, let number):
      let found = try await sentMessage(number: number, from: sender, clientMsgID: clientMsgID, in: range)
      if let found { return .found(found) }
      // Retention may have removed some of them meanwhile.
      let bounds = try await read(.snapshot) { try $0.seqBounds(number: number) }
      return bounds.map { $0.lowerBound <= range.lowerBound } == true ? .absent : .removed
    }
  }

  private func sentMessage(
    number: Int64, from sender: UserID, clientMsgID: String, in range: ClosedRange<Int64>
  ) async throws(StoreError) -> SentMessage? {
    let rows = Int64(engineOptions.rowsPerRead)
    var next = range.lowerBound
    while next <= range.upperBound {
      let page = next...min(range.upperBound, next + rows - 1)
      let sent = try await read(.singleStatement) { try $0.sentMessages(number: number, from: sender, in: page) }
      // Compared here: a text with a NUL is stored in another form.
      if let found = sent.first(where: { $0.clientMsgID.isSame(as: clientMsgID) }) { return found }
      next = page.upperBound + 1
    }
    return nil
  }
}
