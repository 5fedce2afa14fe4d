import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// The users whose statuses the session watches (Protocol.md, "Presence"). Their rows are read first;
/// what changes meanwhile is an event behind the reply.
extension Session {
  /// Watches users, and answers their statuses. The request has its turn among the session's reads.
  func subscribe(to users: [UserID], by caller: Caller, _ pending: PendingRequest) {
    let statuses = dispatcher.statuses
    do throws(WireError) {
      try statuses.requireVisible()
      let limit = statuses.subscriptions
      guard let added = context.statuses.watch(users, by: ObjectIdentifier(self), limit: limit) else {
        throw WireError(.tooManyWatched, "A session watches at most \(limit) users", field: "userIDList")
      }
      statuses.watch(added, on: connection.loop.index)
    } catch {
      return finish(pending, with: .failure(error))
    }
    let reader = dispatcher.statusReader
    dispatcher.run(
      caller.requester ?? Requester(caller.userID), { self.didRead(users, $0, for: pending) }
    ) { () async throws(StoreError) -> Reply in
      .success(.usersStatus(GetUsersStatus.Result(userList: try await reader.watchedRows(of: users))))
    }
  }

  /// On any thread.
  private nonisolated func didRead(_ users: [UserID], _ reply: Reply, for pending: PendingRequest) {
    connection.loop.perform { self.assumeIsolated { $0.answerSubscription(to: users, reply, for: pending) } }
  }

  /// The rows of this moment. No event comes before them: the reply may wait for slower ones.
  private func answerSubscription(to users: [UserID], _ reply: Reply, for pending: PendingRequest) {
    guard case .success(.usersStatus(let read)) = reply else {
      unwatched(context.statuses.fail(users, by: ObjectIdentifier(self)))
      return finish(pending, with: reply)
    }
    dispatcher.statuses.update(&context.statuses, of: connection.loop.index)
    var rows = Dictionary(uniqueKeysWithValues: read.userList.map { ($0.userID, $0) })
    // The reply of an event stream may be overtaken by events, which count for its client.
    let mayRepeat = connection.isEventStream
    for (user, row) in context.statuses.answer(users, to: ObjectIdentifier(self), mayRepeat: mayRepeat) {
      rows[user] = row.isKnown ? row.info : nil
    }
    statusesFollow = replies.openedCount
    finish(pending, with: .success(.usersStatus(GetUsersStatus.Result(userList: users.compactMap { rows[$0] }))))
  }

  /// - Parameter users: nil = all.
  func unsubscribe(from users: [UserID]?) -> Reply {
    do throws(WireError) {
      try dispatcher.statuses.requireVisible()
    } catch {
      return .failure(error)
    }
    unwatched(context.statuses.unwatch(users, by: ObjectIdentifier(self)))
    return .empty
  }

  /// The session watches nobody any more.
  func endSubscriptions() { unwatched(context.statuses.remove(ObjectIdentifier(self))) }

  /// - Parameter users: those whom no session of the loop watches any more.
  private func unwatched(_ users: [UserID]) { dispatcher.statuses.unwatch(users, on: connection.loop.index) }

  /// Whether the replies to all subscriptions have been sent: an event must not overtake older rows.
  var hearsStatuses: Bool { replies.sentCount >= statusesFollow }

  /// Tells the session of statuses that have changed. It is no chat that may be skipped.
  func tell(_ rows: [StatusRow]) {
    connection.sendAfterTopics(SessionEvent.onUsersStatusChanged(rows.map(\.text), opTime: context.clocks.wall).frame)
    dispatcher.statuses.didTell(rows: rows.count)
  }
}
