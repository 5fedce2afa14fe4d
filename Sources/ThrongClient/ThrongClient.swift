// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session that outlives its connections: it connects again after a loss, asks for everything
/// that was missed, and sends no message twice. With a storage it outlives its process, too. A client
/// lives until `close` or `logout`.
public actor ThrongClient {
  /// Chance and time, which tests replace.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }

    package init() {}
  }

  private let url: URL
  private let tokenSource: TokenSource
  private let transport: any Transport
  private let environment: Environment
  let log: (@Sendable (String) -> Void)?
  private var report: ConnectionReport
  /// Everything that is decided; this actor does what it says.
  private var state: ClientState
  private var connection = ConnectionTasks()
  private var timers: [ClientTimer: Task<Void, Never>] = [:]
  private var calls: [Int: CheckedContinuation<Data, any Error>] = [:]
  /// The requests of calls whose answers the store takes in.
  private var storedCalls: [Int: EncodedRequest] = [:]
  private var tokenTask: Task<Void, Never>?
  private var subscriptions: [Int: (buffer: EventBuffer, reader: CheckedContinuation<ClientEvent?, Never>?)] = [:]
  private var waiters: [Int: Waiter] = [:]
  private var lastNumber = 0
  private var connectionState = ConnectionState.idle
  /// When the last signal "typing" left, by group.
  private var typed: [String: ContinuousClock.Instant] = [:]

  // The store (ThrongClient+Store.swift).
  let store: LocalStore
  /// Whether the application has given one that outlives the client.
  let hasStorage: Bool
  /// Opening it, and closing or removing it; nil = that has not begun.
  var storeStart: Task<Void, Never>?
  var storeEnd: Task<Void, Never>?
  var isStoreOpen = false
  var inbox = StoreInbox()
  /// Writes what is in the inbox; nil = nobody does.
  var writer: Task<Void, Never>?
  /// A connection that is read no further before the inbox has room.
  var roomWaiters: [CheckedContinuation<Void, Never>] = []
  /// Calls that read the store as soon as so many changes are stored.
  var storeReaders: [(count: Int, reader: CheckedContinuation<Void, Never>)] = []

  /// Somebody who waits for a state.
  private enum Waiter {
    case session(CheckedContinuation<Session, any Error>)
    case outcome(clientMsgID: String, CheckedContinuation<LocalMessage, any Error>)
  }

  /// A client that is not connected yet.
  /// - Precondition: a storage needs `ClientOptions.userID`.
  /// - Parameter url: the address of the WebSocket, such as wss://chat.example/ws; https and http stand for wss and ws.
  public init(url: URL, token: TokenSource, options: ClientOptions = ClientOptions()) {
    self.init(url: url, token: token, options: options, environment: Environment())
  }

  package init(url: URL, token: TokenSource, options: ClientOptions, environment: Environment) {
    precondition(options.storage == nil || options.userID != nil, "ClientOptions.storage needs the userID: it is a user's")
    let url = url.webSocketAddress
    self.url = url
    self.environment = environment
    tokenSource = token
    transport = options.transport
    log = options.log
    report = ConnectionReport(url)
    state = ClientState(token: token, options: options, random: environment.random, now: environment.now())
    hasStorage = options.storage != nil
    let userID = hasStorage ? options.userID : nil
    store = LocalStore(
      options.storage, name: ThrongClient.storeName(url, userID: userID), userID: options.userID ?? "",
      limits: options.storageLimits)
  }

  // MARK: The connection

  /// The last sign-in, or renewal; nil before the first.
  public var session: Session? { state.signedIn?.session }

  /// The connection as it is now.
  public var currentState: ConnectionState { connectionState }

  var isOnline: Bool { if case .online = connectionState { true } else { false } }
  var isClosed: Bool { if case .closed = connectionState { true } else { false } }

  /// Opens the store, tells what it holds (`ClientEvent.stored`), connects, and stays connected. Returns
  /// at the first sign-in.
  /// - Throws: what closed the client before.
  @discardableResult
  public func connect() async throws -> Session {
    await openStore()
    apply(.connect)
    switch connectionState {
    case .online(let session): return session
    case .closed(let loss): throw loss.error ?? ClientError(.closed, detail: loss.reason)
    case .idle, .connecting, .waiting: return try await wait { .session($0) }
    }
  }

  /// Tries now where the client waits to, or waits for a token function that does not answer.
  public func reconnectNow() { apply(.reconnectNow) }

  /// Ends the connection for good. Messages under way fail, unless a storage keeps them for the next
  /// client. Returns when everything is stored, and another client may open the store.
  public func close() async {
    apply(.close)
    await endStore()
  }

  /// Signs out: the server forgets the session, and the client is closed.
  /// - Parameter forget: everything that is stored of the user is removed, what is not sent yet included,
  ///   whether or not the server can be told.
  public func logout(forget: Bool = false) async throws {
    if forget { await forgetStore() }
    do {
      _ = try await answer { .logout($0) }
    } catch {
      if isClosed { await endStore() }
      throw error
    }
    await endStore()
  }

  /// Up to where the application was told of each group: kept, and given to the next client, it
  /// resumes there.
  public func positions() -> [GroupPosition] { state.tracker.positions }

  // MARK: Events

  /// All events from now on, for one reader.
  /// - Parameter limit: the most events that wait for the reader; it is told of more as lost.
  public func events(limit: Int = 10_000) -> ClientEvents {
    let number = nextNumber()
    subscriptions[number] = (EventBuffer(limit: limit), nil)
    return ClientEvents(subscription: Subscription(client: self, number: number))
  }

  func nextEvent(of number: Int) async -> ClientEvent? {
    if let event = subscriptions[number]?.buffer.next() { return event }
    if case .closed = connectionState { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: nil) }
        // Two readers of one sequence share its events; the later one takes over.
        subscriptions[number]?.reader?.resume(returning: nil)
        subscriptions[number]?.reader = continuation
      }
    } onCancel: {
      Task { await self.cancelReader(of: number) }
    }
  }

  private func cancelReader(of number: Int) {
    subscriptions[number]?.reader?.resume(returning: nil)
    subscriptions[number]?.reader = nil
  }

  func unsubscribe(_ number: Int) {
    cancelReader(of: number)
    subscriptions[number] = nil
  }

  func tell(_ event: ClientEvent, bytes: Int) {
    switch event {
    case .state(let state):
      connectionState = state
      if let log, let line = report.line(for: state) { log(line) }
      wakeWaiters()
    case .message(let message) where message.state.isFinal: wakeWaiters(for: message)
    default: break
    }
    for number in subscriptions.keys {
      if let reader = subscriptions[number]?.reader {
        subscriptions[number]?.reader = nil
        reader.resume(returning: event)
      } else {
        subscriptions[number]?.buffer.append(event, bytes: bytes)
      }
    }
    if case .state(.closed) = event { for number in subscriptions.keys { cancelReader(of: number) } }
  }

  // MARK: Calls

  /// The result of a method.
  /// - Parameter waits: without a connection the call waits for one.
  /// - Throws: a ThrongError, a ClientError, or CancellationError.
  public func call<M: ThrongMethod>(_ method: M, waits: Bool = true) async throws -> M.Result {
    let request = EncodedRequest(method)
    let frame = try await answer(for: request) { .call($0, request, waits: waits) }
    noteJoining(request, frame)
    return try ServerFrame.result(M.Result.self, in: frame)
  }

  /// The result of a method that this version does not know.
  public func call(_ method: String, _ params: JSONValue = .object([:]), waits: Bool = true) async throws -> JSONValue {
    let request = EncodedRequest(method: method, params)
    let frame = try await answer(for: request) { .call($0, request, waits: waits) }
    noteJoining(request, frame)
    return try ServerFrame.result(JSONValue.self, in: frame)
  }

  /// Messages may be sent to a group at once that the user has joined, also where its event is still on its way.
  private func noteJoining(_ request: EncodedRequest, _ frame: Data) {
    guard [Methods.JoinGroup.name, Methods.CreateGroup.name].contains(request.method), let params = request.params else { return }
    struct Params: Decodable { var groupID: String? }
    struct Answer: Decodable {
      var groupID: String?
      var status: JoinStatus?
    }
    do {
      let answer = try ServerFrame.result(Answer.self, in: frame)
      let groupID = try answer.groupID ?? JSONDecoder().decode(Params.self, from: params).groupID
      let isJoined = request.method == Methods.CreateGroup.name || answer.status == .joined
      if let groupID, isJoined { apply(.joined(groupID: groupID)) }
    } catch {
      // The call says so.
      return
    }
  }

  /// - Parameter request: of a call, whose answer may be for the store too.
  private func answer(for request: EncodedRequest? = nil, to input: (Int) -> ClientInput) async throws -> Data {
    let number = nextNumber()
    if let request, StoredAnswer.methods.contains(request.method) { storedCalls[number] = request }
    defer { storedCalls[number] = nil }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        calls[number] = continuation
        apply(input(number))
      }
    } onCancel: {
      Task { await self.cancelCall(number) }
    }
  }

  private func cancelCall(_ number: Int) {
    guard let call = calls.removeValue(forKey: number) else { return }
    apply(.cancelCall(number))
    call.resume(throwing: CancellationError())
  }

  // MARK: Messages

  /// Sends a text, as often as it takes and never twice; `ClientEvent.message` tells what becomes
  /// of it.
  @discardableResult
  public func sendText(_ text: String, to groupID: String, options: SendOptions = SendOptions()) -> LocalMessage {
    send(.text(text), to: groupID, options)
  }

  /// Sends data of the application.
  @discardableResult
  public func sendCustom(_ data: String, to groupID: String, options: SendOptions = SendOptions()) -> LocalMessage {
    send(.custom(data), to: groupID, options)
  }

  private func send(_ content: LocalMessage.Content, to groupID: String, _ options: SendOptions) -> LocalMessage {
    let clientMsgID = options.clientMsgID ?? UUID().uuidString
    let createdAt = Int(Date().timeIntervalSince1970 * 1_000)
    let message = LocalMessage(content, to: groupID, options: options, clientMsgID: clientMsgID, createdAt: createdAt)
    apply(.send(message))
    return state.outbox.message(clientMsgID) ?? message
  }

  /// Sends a message again that failed or was dropped; not on a closed client.
  /// - Parameter options: other choices than those of the first try.
  @discardableResult
  public func resend(_ message: LocalMessage, options: SendOptions? = nil) -> LocalMessage {
    var message = message
    message.options = options ?? message.options
    apply(.resend(message))
    return state.outbox.message(message.clientMsgID) ?? message
  }

  /// The messages that are not at their end, and up to a hundred that failed or were dropped, in the order of
  /// their sending. A storage keeps them for the next client.
  public func outbox() -> [LocalMessage] { state.outbox.messages }

  /// Forgets a message that failed or was dropped; any other stays as it is.
  public func discard(_ message: LocalMessage) { apply(.discard(clientMsgID: message.clientMsgID)) }

  /// Waits until a message is stored, delivered, dropped or failed. Where the client is closed before, and
  /// a storage keeps the message for the next one, it is still sending.
  /// - Throws: CancellationError; a ClientError for a message of another client.
  public func outcome(of message: LocalMessage) async throws -> LocalMessage {
    guard let current = state.outbox.message(message.clientMsgID) else {
      // Long settled: the client remembers the last thousand.
      if message.state.isFinal { return message }
      throw ClientError(.outcomeUnknown)
    }
    if current.state.isFinal || isClosed { return current }
    return try await wait { .outcome(clientMsgID: message.clientMsgID, $0) }
  }

  // MARK: Presence and signals

  /// The shortest time from one signal "typing" in a group to the next.
  static let typingPause = Duration.seconds(3)

  /// Watches users' statuses, across connections: `ClientEvent.status` tells of them, and
  /// `ClientEvent.watchFailed` of those whom the server refuses.
  /// - Throws: a ClientError beyond 10,000 users.
  public func watchUsers(_ userIDs: [String]) throws {
    guard state.statuses.hasRoom(for: userIDs) else { throw ClientError(.queueFull) }
    apply(.watch(userIDs))
  }

  /// Watches these users no longer.
  /// - Parameter userIDs: nil = all.
  public func unwatchUsers(_ userIDs: [String]? = nil) { apply(.unwatch(userIDs)) }

  /// The last status of a user who is watched. Without a connection it may be out of date.
  public func status(of userID: String) -> UserStatusInfo? { state.statuses.row(of: userID) }

  /// Tells the members who are online something of the moment, once: it is not repeated, and waits for
  /// no connection.
  public func sendSignal(_ name: String, to groupID: String, data: String? = nil) async throws {
    _ = try await call(Methods.SendGroupSignal(groupID: groupID, name: name, data: data), waits: false)
  }

  /// Sends the signal "typing", every three seconds at most: call it at each key.
  public func sendTyping(in groupID: String) {
    let now = environment.now()
    typed = typed.filter { now - $0.value < ThrongClient.typingPause }
    guard typed[groupID] == nil else { return }
    typed[groupID] = now
    Task {
      do {
        try await sendSignal("typing", to: groupID)
      } catch {
        // Nobody waits for a hint: where the server refuses it, the next one may come through.
      }
    }
  }

  /// How long the group takes no message of the user's, as its last refusal with `groupMessageRate`
  /// said; zero = not known to wait.
  public func writeDelay(in groupID: String) -> Duration {
    state.outbox.writeDelay(of: groupID, at: environment.now())
  }

  // MARK: Waiting

  private func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private func wait<Value: Sendable>(_ waiter: (CheckedContinuation<Value, any Error>) -> Waiter) async throws -> Value {
    let number = nextNumber()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiters[number] = waiter($0) }
    } onCancel: {
      Task { await self.cancelWaiter(number) }
    }
  }

  private func cancelWaiter(_ number: Int) {
    switch waiters.removeValue(forKey: number) {
    case .session(let continuation): continuation.resume(throwing: CancellationError())
    case .outcome(_, let continuation): continuation.resume(throwing: CancellationError())
    case nil: break
    }
  }

  /// - Parameter settled: a message that has just ended. The outbox may have forgotten it, because others
  ///   ended with it.
  private func wakeWaiters(for settled: LocalMessage? = nil) {
    for (number, waiter) in waiters {
      switch waiter {
      case .session(let continuation):
        if case .online(let session) = connectionState {
          continuation.resume(returning: session)
        } else if case .closed(let loss) = connectionState {
          continuation.resume(throwing: loss.error ?? ClientError(.closed, detail: loss.reason))
        } else {
          continue
        }
      case .outcome(let clientMsgID, let continuation):
        let isSettled = settled?.clientMsgID == clientMsgID
        guard let message = isSettled ? settled : state.outbox.message(clientMsgID), message.state.isFinal || isClosed else {
          continue
        }
        continuation.resume(returning: message)
      }
      waiters[number] = nil
    }
  }

  // MARK: Doing what is decided

  func apply(_ input: ClientInput) {
    for effect in state.handle(input, at: environment.now()) { perform(effect) }
  }

  private func perform(_ effect: ClientEffect) {
    switch effect {
    case .readToken(let number): readToken(number)
    case .abandonToken: tokenTask?.cancel()
    case .open(let attempt): open(attempt)
    case .transmit(let frame): connection.outgoing?.yield(frame)
    case .disconnect: connection.end()
    case .start(let timer, let delay): start(timer, delay)
    case .stop(let timer): timers.removeValue(forKey: timer)?.cancel()
    case .stopAllTimers:
      for timer in timers.values { timer.cancel() }
      timers = [:]
    case .tell(let event, let bytes): tell(event, bytes: bytes)
    case .answer(let number, let result):
      if let request = storedCalls[number], case .success(let frame) = result { storeAnswer(to: request, frame) }
      calls.removeValue(forKey: number)?.resume(with: result)
    case .store(let events, let bytes): write(events, bytes: bytes)
    }
  }

  /// The store takes an answer in at its place among the events.
  private func storeAnswer(to request: EncodedRequest, _ frame: Data) {
    let answer = StoredAnswer(
      method: request.method, params: request.params ?? Data(), frame: frame, time: state.serverTime)
    write([.answered(answer)], bytes: frame.count)
  }

  private func readToken(_ number: Int) {
    guard case .renewable(let read) = tokenSource else { return }
    tokenTask?.cancel()
    tokenTask = Task {
      do {
        apply(.tokenRead(.success(try await read()), number: number))
      } catch {
        apply(.tokenRead(.failure(error), number: number))
      }
    }
  }

  private func start(_ timer: ClientTimer, _ delay: Duration) {
    timers.removeValue(forKey: timer)?.cancel()
    timers[timer] = Task {
      do {
        try await Task.sleep(for: delay, clock: .continuous)
      } catch {
        // The timer was stopped.
        return
      }
      // It may have been stopped while this task waited for the actor.
      guard !Task.isCancelled else { return }
      timers[timer] = nil
      apply(.fired(timer))
    }
  }

  private func open(_ attempt: Int) {
    let (frames, outgoing) = AsyncStream.makeStream(of: Data.self)
    connection = ConnectionTasks(outgoing: outgoing, task: Task { await run(attempt, frames) })
  }

  /// One connection, from its opening to its end.
  private func run(_ attempt: Int, _ frames: AsyncStream<Data>) async {
    var didOpen = false
    do {
      let socket = try await transport.open(url, subprotocol: "throng.v1.json")
      defer { socket.close(code: CloseCode.normal.rawValue) }
      didOpen = true
      // The client may have given the attempt up.
      guard state.attempt == attempt else { return }
      let sender = Task { for await frame in frames { try await socket.send(frame) } }
      defer { sender.cancel() }
      apply(.opened(attempt: attempt))
      while state.attempt == attempt {
        apply(.received(attempt: attempt, try await socket.receive()))
        await waitForStore()
      }
    } catch let error as TransportError {
      apply(.ended(attempt: attempt, error, didOpen: didOpen))
    } catch {
      apply(.ended(attempt: attempt, .failed("\(error)"), didOpen: didOpen))
    }
  }
}

/// The tasks of one connection.
private struct ConnectionTasks {
  var outgoing: AsyncStream<Data>.Continuation?
  var task: Task<Void, Never>?

  func end() {
    // The sender ends behind the frames that it was given.
    outgoing?.finish()
    task?.cancel()
  }
}
