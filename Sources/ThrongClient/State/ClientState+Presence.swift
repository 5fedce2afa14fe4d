/// Presence: the statuses of users whom the application watches.
extension ClientState {
  mutating func watch(_ userIDs: [String]) {
    statuses.add(userIDs)
    pumpStatuses()
  }

  mutating func unwatch(_ userIDs: [String]?) {
    statuses.remove(userIDs)
    pumpStatuses()
  }

  /// Asks for what is to be watched, a hundred users at a time.
  mutating func pumpStatuses() {
    guard isOnline, let ask = statuses.next() else { return }
    if ask.isEnd {
      request(Methods.UnsubscribeUsersStatus(userIDList: ask.userIDs), .watch(isEnd: true))
    } else {
      request(Methods.SubscribeUsersStatus(userIDList: ask.userIDs), .watch(isEnd: false))
    }
  }

  mutating func didWatch(_ rows: [UserStatusInfo]) {
    statusBackoff.reset()
    if let news = statuses.didAnswer(rows) { tell(.status(news), bytes: frameBytes) }
    pumpStatuses()
  }

  mutating func refuseWatch(_ error: any Error) {
    if let error = error as? ThrongError, error.isTemporary {
      statuses.putBack()
      return start(.watch, statusBackoff.next(random: random(), least: error.retryAfter))
    }
    let userIDs = statuses.didRefuse()
    if !userIDs.isEmpty { tell(.watchFailed(WatchFailure(userIDs: userIDs, error: error))) }
    pumpStatuses()
  }
}
