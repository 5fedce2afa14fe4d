/// The requests that wait for an answer, by their number.
struct RequestTable {
  /// Why a request was made.
  enum Purpose {
    case login, renewal, signOfLife
    /// A call of the application.
    case call(Int)
    case logout(Int)
    /// A try to send a message: it may be dropped and sent again before this one is answered.
    case message(clientMsgID: String, order: Int)
    /// Asks whether a queued message is still there.
    case confirmation(clientMsgID: String)
    /// The position of a group that the user has entered.
    case entry(groupID: String)
    /// What has become of groups that the user has left.
    case ends(groupIDs: [String])
    /// Groups of which the store cannot tell what is unread.
    case infos(groupIDs: [String])
    /// Users whose status is watched from now on, or no longer.
    case watch(isEnd: Bool)
    case resume(Resume.Step)
  }

  private var pending: [Int: (method: String, purpose: Purpose)] = [:]
  private var lastNumber = 0
  /// Calls of the application among them.
  private(set) var callCount = 0

  mutating func add(_ method: String, _ purpose: Purpose) -> Int {
    lastNumber += 1
    if case .call = purpose { callCount += 1 }
    pending[lastNumber] = (method, purpose)
    return lastNumber
  }

  mutating func remove(_ number: Int) -> (method: String, purpose: Purpose)? {
    let request = pending.removeValue(forKey: number)
    if case .call = request?.purpose { callCount -= 1 }
    return request
  }

  /// The application does not wait any more: the answer is of no interest.
  mutating func cancelCall(_ call: Int) {
    let number = pending.first { _, request in
      if case .call(call) = request.purpose { true } else { false }
    }?.key
    if let number { _ = remove(number) }
  }

  /// All, in the order in which they were made.
  mutating func removeAll() -> [Purpose] {
    defer { (pending, callCount) = ([:], 0) }
    return pending.sorted { $0.key < $1.key }.map(\.value.purpose)
  }
}
