import GroupModel
import WireProtocol

/// The effects of a decision that is durable. An event is encoded here, once.
extension Group {
  func finish(_ decision: Decision, _ completion: @escaping Completion) {
    for effect in decision.effects { perform(effect) }
    for message in decision.counts { services.observer.didCount(message) }
    switch decision.answer {
    case .reply(let reply): completion(reply)
    case .stored(let answer, let requester): read(answer, for: requester, completion)
    case .lookUp(let seq, let caller): lookUp(seq, by: caller, completion)
    }
    retireIfAbsent()
  }

  /// The same for a decision that waited for the store. Its hand-overs count from now on: the rate is
  /// measured at the hand-over to the fan-out (Protocol.md, "Message rate of live types").
  func finishLate(_ decision: Decision, _ completion: @escaping Completion) {
    let deliveries = decision.deliveries
    if deliveries > 0 {
      let now = services.clock.now()
      let due = withState { state in
        state.release(deliveries, at: now)
        return state.nextWake
      }
      setAlarm(for: due ?? nil)
    }
    finish(decision, completion)
  }

  func perform(_ effect: Effect) {
    let topic = openTopic()
    switch effect {
    case .attach(let user, let option), .setReceiveOption(let user, let option):
      setOnline(user, topic.attach(user, receiving: option))
    case .attachSignedInUsers: for user in services.broker.signedInUsers() { refreshPresence(of: user) }
    case .detach(let user): topic.detach(user)
    case .publish(let event, let kind, let session): topic.publish(event.frame, kind, except: session)
    case .send(let event, let users, let session): topic.send(event.frame, to: users, except: session)
    case .sendToSession(let event, let session): topic.send(event.frame, to: session)
    case .disband:
      topic.close()
      self.topic = nil
    }
  }

  func openTopic() -> any GroupTopic {
    if let topic { return topic }
    let topic = services.broker.openTopic(of: id)
    self.topic = topic
    return topic
  }

  /// Reads what the answer needs; the store is asked outside the order of decisions, which the answer does not touch.
  func read(_ answer: StoredAnswer, for requester: Requester?, _ completion: @escaping Completion) {
    let reader = AnswerReader(
      group: id, messages: services.messages, observer: services.observer, pageBytes: services.rules.limits.pageBytes,
      didCount: { [weak self] count, unread in self?.note(count, of: unread) })
    Task { completion(await Requester.$current.withValue(requester) { await reader.reply(to: answer) }) }
  }

  private nonisolated func note(_ count: Int, of unread: UnreadMessages) {
    guard let range = unread.range else { return }
    executor.perform {
      self.executor.isolated(self) { group in
        _ = group.withState { $0.messages.recordUnread(count, through: range.upperBound, for: unread.reader, unread.question) }
      }
    }
  }
}
