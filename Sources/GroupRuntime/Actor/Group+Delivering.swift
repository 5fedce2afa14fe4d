import GroupModel
import WireProtocol

/// Effects and replies of decisions that are durable. Each event is encoded here, once.
extension Group {
  /// - Parameter isInOrder: all decisions before it are delivered.
  func deliver(_ decision: consuming Decision, _ completion: @escaping Completion, isInOrder: Bool = true) {
    if services.keepsStamps { tell(&decision, isInOrder: isInOrder) } else { performEffects(of: &decision) }
    complete(completion, with: decision.answer)
    retireIfAbsent()
  }

  private func complete(_ completion: @escaping Completion, with answer: Answer) {
    switch answer {
    case .reply(let reply): completion(reply)
    case .stored(let answer, let requester): read(answer, for: requester, completion)
    case .recent(let question, let requester): self.answer(question, for: requester, completion)
    case .recentLookUp(let lookUp, let caller): decide(lookUp, for: caller, completion)
    case .counters(let value, _): replyWhenCountersAreDurable(.success(value), completion)
    case .lookUp(let lookUp, let caller): look(up: lookUp, for: caller, completion)
    }
  }

  /// Performs the effects in their order. Moves them out of the decision, because a message's event
  /// takes 800 instructions to copy.
  func performEffects(of decision: inout Decision) {
    decision.effects.reverse()
    while let effect = decision.effects.popLast() { perform(effect) }
    for message in decision.counts { services.observer.didCount(message) }
    if decision.signals != SignalCounts() { services.observer.didCount(decision.signals) }
  }

  func perform(_ effect: Effect) {
    switch effect {
    case .attach(let user, let option):
      // In an open group anybody could have heard what was said.
      if box?.state.record.policy.joinMode != .any { openTopic().resetCompression() }
      setOnline(user, openTopic().attach(user, receiving: option))
    case .setReceiveOption(let user, let option): setOnline(user, openTopic().attach(user, receiving: option))
    case .attachSignedInUsers: attachSignedInUsers()
    case .detach(let user): openTopic().detach(user)
    case .publish(let event, let kind, let session):
      let frame = if let recentRoom { rememberedFrame(of: event, in: recentRoom) } else { event.frame }
      openTopic().publish(frame, kind, except: session)
    case .send(let event, let users, let session): openTopic().send(event.frame, to: users, except: session)
    case .sendToSession(let event, let session): openTopic().send(event.frame, to: session)
    case .noteReceipts(let seqs): noteReceipts(seqs)
    case .forgetContent(let seq, let changeSeq): forgetContent(seq: seq, changeSeq: changeSeq)
    case .disband:
      receiptNotices.removeAll()
      forgetRecentRoom()
      openTopic().close()
      topic = nil
    // It may follow the end of the group, so it opens no topic.
    case .post(let entry): services.webhooks?.post(entry)
    }
  }

  func openTopic() -> any GroupTopic {
    if let topic { return topic }
    let topic = services.broker.openTopic(of: id)
    self.topic = topic
    if isTelling { topic.beginTelling() }
    return topic
  }

  // MARK: Stored messages and profiles

  /// Reads stored messages and profiles for a reply. Requests go on meanwhile; the reply does not wait for them.
  private func read(_ answer: StoredAnswer, for requester: Requester?, _ completion: @escaping Completion) {
    let reader = StoredAnswerReader(
      group: id, messages: services.messages, profiles: services.profiles, observer: services.observer,
      pageBytes: services.rules.limits.pageBytes,
      didCount: { [weak self] count, unread in self?.cacheCount(count, of: unread) })
    if let reply = reader.replyFromMemory(to: answer) { return completion(reply) }
    Task { completion(await Requester.$current.withValue(requester) { await reader.reply(to: answer) }) }
  }

  private nonisolated func cacheCount(_ count: Int, of unread: UnreadMessages) {
    executor.perform {
      self.assumeIsolated { group in
        _ = group.box?.state.messages.recordUnread(count, through: unread.through, for: unread.reader, unread.question)
      }
    }
  }

  /// Reads what a request is decided over afterwards: it, and behind it those that its session has
  /// sent since. Others go on meanwhile. The reading begins when all that was decided before is
  /// stored.
  func look(up lookUp: LookUp, for caller: Caller, _ completion: @escaping Completion) {
    let reading = readings.begin(for: caller.session)
    if pipeline.isEmpty { return begin(reading, of: lookUp, for: caller, completion) }
    pipeline.append(Decision(), from: box) { reply in
      self.assumeIsolated { group in
        if case .success = reply { return group.begin(reading, of: lookUp, for: caller, completion) }
        completion(reply)
        group.end(reading, nil)
      }
    }
  }

  private func begin(_ reading: Int, of lookUp: LookUp, for caller: Caller, _ completion: @escaping Completion) {
    Task {
      var input: GroupInput?
      do throws(StoreError) {
        let operation = try await lookUp.read(from: services.messages, in: id, for: caller).showingSender(services.profiles)
        input = .request(operation, by: caller, completion: completion)
      } catch {
        if error.kind != .cancelled { services.observer.storeFailed(error, group: id) }
        completion(.error(.temporary))
      }
      end(reading, input)
    }
  }

  /// Decides the requests whose turn it is; called on the group's executor.
  private func end(_ reading: Int, _ input: GroupInput?) {
    for input in readings.end(reading, input) { enqueue(input) }
    forgetChanges()
  }

  /// Forgets changes that no reading under way can have missed.
  func forgetChanges() {
    guard let box, !box.state.messages.recentChanges.isEmpty else { return }
    box.state.messages.recentChanges.forget(
      durableThrough: pipeline.firstNumber - 1, firstReading: readings.first, nextReading: readings.next)
  }
}

/// The readings of messages that are under way, in the order of their beginning, and the requests
/// behind them. Those of one session end in this order (Protocol.md, "Order of replies").
struct MessageReadings {
  private struct Reading {
    let number: Int
    let session: SessionKey?
    /// The request with what was read, or one that reads nothing, which waits for earlier ones of its
    /// session.
    var input: GroupInput?
  }

  /// The number of the next one.
  private(set) var next = 1
  private var pending: [Reading] = []

  var isEmpty: Bool { pending.isEmpty }

  /// The oldest that is under way, or the next.
  var first: Int { pending.first?.number ?? next }

  mutating func begin(for session: SessionKey?) -> Int {
    defer { next += 1 }
    pending.append(Reading(number: next, session: session))
    return next
  }

  /// Whether a session's request waits for what was read for an earlier one.
  func holdsBack(_ request: GroupOperation, of session: SessionKey?) -> Bool {
    guard let session, !request.followsReading else { return false }
    return pending.contains { $0.session == session }
  }

  mutating func hold(_ input: GroupInput, of session: SessionKey?) {
    pending.append(Reading(number: next, session: session, input: input))
    next += 1
  }

  /// - Parameter input: the request with what was read; nil = the store has failed.
  /// - Returns: the requests whose turn it is.
  mutating func end(_ number: Int, _ input: GroupInput?) -> [GroupInput] {
    guard let index = pending.firstIndex(where: { $0.number == number }) else { return [] }
    let session = pending[index].session
    pending[index].input = input
    if input == nil || session == nil { pending.remove(at: index) }
    guard let session else { return input.map { [$0] } ?? [] }
    var ready: [GroupInput] = []
    while let first = pending.firstIndex(where: { $0.session == session }), let input = pending[first].input {
      pending.remove(at: first)
      ready.append(input)
    }
    return ready
  }
}
