#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The client's own clock: it goes on while the device sleeps, as the server's does.
typealias Instant = ContinuousClock.Instant

/// Something that happened to a client.
enum ClientInput {
  case connect
  case reconnectNow
  case close
  case tokenRead(Result<String, any Error>)
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
  /// Users whose status is watched from now on.
  case watch([String])
  /// Users who are watched no longer; nil = all.
  case unwatch([String]?)
}

/// Something that a client does.
enum ClientEffect {
  case readToken
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
