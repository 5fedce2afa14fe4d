#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The client's own clock: it goes on while the device sleeps, as the server's does.
typealias Instant = ContinuousClock.Instant

/// Something that happened to a client.
enum ClientInput {
  /// The store was opened, before the first connection.
  case restored(LocalStore.Start)
  case connect
  case reconnectNow
  case close
  /// The token function has answered; `number`: the question's, nil = the one that is under way.
  case tokenRead(Result<String, any Error>, number: Int? = nil)
  case opened(attempt: Int)
  case received(attempt: Int, Data)
  /// The connection has ended, or could not be made.
  case ended(attempt: Int, TransportError, didOpen: Bool)
  case fired(ClientTimer)
  /// A call of the application; `waits`: for a connection where there is none.
  case call(Int, EncodedRequest, waits: Bool)
  case cancelCall(Int)
  case logout(Int)
  /// A new message.
  case send(LocalMessage)
  /// A message that failed or was dropped, again.
  case resend(LocalMessage)
  /// A message that failed or was dropped, which is forgotten.
  case discard(clientMsgID: String)
  /// The user is in a group, as the server has answered.
  case joined(groupID: String)
  /// The disk has the changes of the outbox up to this ticket.
  case outboxWritten(ticket: Int)
  /// The store ends with the client from now on.
  case storeLost
  /// The store has begun anew.
  case storeRestarted
  /// Groups of which the store cannot tell what is unread.
  case doubt(Set<String>)
  /// Users whose status is watched from now on.
  case watch([String])
  /// Users who are watched no longer; nil = all.
  case unwatch([String]?)
}

/// Something that a client does.
enum ClientEffect {
  /// Asks the token function.
  case readToken(number: Int)
  /// The answer of the token function is of no use any more.
  case abandonToken
  case open(attempt: Int)
  case transmit(Data)
  case disconnect
  case start(ClientTimer, Duration)
  case stop(ClientTimer)
  case stopAllTimers
  /// `bytes`: of the frame that the event came with, roughly what it takes to keep it.
  case tell(ClientEvent, bytes: Int)
  /// The frame with the result of a call, or its error.
  case answer(Int, Result<Data, any Error>)
  /// Changes of the store that belong together; `bytes`: of the frame that they came with.
  case store([StoreEvent], bytes: Int)
}

/// The timers of a client. A started one takes the place of its predecessor.
enum ClientTimer: Hashable, Sendable {
  /// The next connection.
  case retry
  /// The longest wait for a session.
  case connect
  /// The next look whether anything was heard.
  case life
  /// The longest wait for a sign of life.
  case ping
  /// The longest wait for the token function.
  case token
  /// The next try to renew the token.
  case renewal
  /// The next try to resume.
  case resume
  /// The end of a pause in sending.
  case pause
  /// The end of a pause in sending to a group.
  case groupPause(groupID: String)
  /// The next try to watch users.
  case watch
  /// The next try to read a group that was entered.
  case entry(groupID: String)
  /// The time after which a queued message has left.
  case queued(clientMsgID: String)
}
