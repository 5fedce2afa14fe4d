#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests and their answers.
extension ClientState {
  mutating func request<M: ThrongMethod>(_ method: M, _ purpose: RequestTable.Purpose) {
    transmit(EncodedRequest(method), purpose)
  }

  mutating func transmit(_ request: EncodedRequest, _ purpose: RequestTable.Purpose) {
    let number = requests.add(request.method, purpose)
    guard let frame = request.frame(number: number) else {
      _ = requests.remove(number)
      return refuseTooLarge(purpose)
    }
    effects.append(.transmit(frame))
  }

  private mutating func refuseTooLarge(_ purpose: RequestTable.Purpose) {
    let error = ClientError(.tooLarge)
    switch purpose {
    case .call(let number), .logout(let number): effects.append(.answer(number, .failure(error)))
    case .message(let clientMsgID, _): outbox.fail(clientMsgID, error)
    case .login: lose(ConnectionLoss(0, "the token is too long", error: error, didOpen: true), isFinal: true)
    case .renewal: failRenewal(error)
    // No server has a group with such an ID.
    case .entry(let groupID): tracker.didEnter(groupID)
    case .ends, .infos: return
    case .watch: refuseWatch(error)
    case .resume: lose(ConnectionLoss(0, "the positions are too long", error: error, didOpen: true), isFinal: true)
    case .signOfLife, .confirmation: preconditionFailure("a ping has no parameters")
    }
  }

  mutating func receive(_ text: Data) {
    noteLife()
    frameBytes = text.count
    do throws(ClientError) {
      let frame = try ServerFrame(text)
      switch frame.kind {
      case .event(let event): receive(event)
      case .answer(let number, let error):
        guard let (method, purpose) = requests.remove(number) else { return }
        if let error { refuse(purpose, ThrongError(method, error)) } else { try accept(purpose, text) }
      case .other: return
      }
    } catch {
      // Neither JSON-RPC nor an answer of the method: another connection may lead to a server of
      // this protocol.
      lose(ConnectionLoss(0, "a frame that this client cannot read", error: error, didOpen: true), isBreach: true)
    }
  }

  private mutating func accept(_ purpose: RequestTable.Purpose, _ text: Data) throws(ClientError) {
    func result<Value: Decodable>() throws(ClientError) -> Value { try ServerFrame.result(Value.self, in: text) }
    func session() throws(ClientError) -> Session {
      let session: Session = try result()
      guard let session = session.bounded else { throw ClientError(.badAnswer, detail: "a session with IDs that are too long") }
      return session
    }
    switch purpose {
    case .login:
      let session = try session()
      tracker.note(time: session.serverTime)
      didSignIn(.success(session))
    case .renewal: didRenew(try session())
    case .signOfLife: tracker.note(time: (try result() as Methods.Ping.Result).serverTime)
    case .call(let number): effects.append(.answer(number, .success(text)))
    case .logout(let number): didLogOut(number, .success(text))
    case .message(let clientMsgID, let order):
      let answer: Outbox.Answer = try result()
      guard ClientLimits.isIdentifier(answer.msgID) else { throw ClientError(.badAnswer, detail: "a msgID that is too long") }
      guard outbox.isCurrent(clientMsgID, order) else { return }
      if outbox.didAnswer(clientMsgID, answer) { noteOwn(clientMsgID) }
      performOutbox()
    case .confirmation(let clientMsgID):
      outbox.confirm(clientMsgID)
      performOutbox()
    case .entry(let groupID): try didReadEntry(try result() as Methods.GetGroupsInfo.Result, of: groupID)
    case .ends(let groupIDs): didExplain(try result() as Methods.GetGroupsInfo.Result, of: groupIDs)
    case .infos: didReadDoubtful(try result() as Methods.GetGroupsInfo.Result)
    case .watch(isEnd: true):
      _ = try result() as NoResult
      didWatch([])
    case .watch(isEnd: false): didWatch((try result() as Methods.SubscribeUsersStatus.Result).userList)
    case .resume(.joined): try didReadJoined(try result(), bytes: text.count)
    case .resume(.live): didCheckLive(try result())
    case .resume(.history): try didSync(try result())
    }
  }

  private mutating func refuse(_ purpose: RequestTable.Purpose, _ error: ThrongError) {
    switch purpose {
    case .login: didSignIn(.failure(error))
    case .renewal: failRenewal(error)
    // An error is a sign of life too.
    case .signOfLife: break
    case .call(let number): effects.append(.answer(number, .failure(error)))
    case .logout(let number): didLogOut(number, .failure(error))
    case .message(let clientMsgID, let order):
      guard outbox.isCurrent(clientMsgID, order) else { return }
      outbox.didRefuse(clientMsgID, error, at: now)
      performOutbox()
    // Asked once more: a drop that is under way would come before the answer.
    case .confirmation(let clientMsgID): start(.queued(clientMsgID: clientMsgID), max(Outbox.longestQueued, error.retryAfter))
    case .entry(let groupID):
      let pause = Backoff.longestBound / 20 * (1 << min(tracker.entered[groupID] ?? 0, 5))
      start(.entry(groupID: groupID), max(pause, error.retryAfter))
    // Asked once more after the next resume, unless that makes no sense.
    case .ends(let groupIDs): if error.isTemporary { unexplained.formUnion(groupIDs) }
    case .infos(let groupIDs):
      isAskingInfos = false
      if error.isTemporary { doubtful.formUnion(groupIDs) }
    case .watch: refuseWatch(error)
    case .resume: didFailToResume(error)
    }
  }

  // MARK: The outbox

  mutating func performOutbox() {
    for effect in outbox.takeEffects() {
      switch effect {
      case .show(let message): tell(.message(message))
      case .start(let timer, let delay): start(timer, delay)
      case .stop(let timer): stop(timer)
      }
    }
  }

  /// Has messages leave that may, and writes what has changed.
  mutating func pumpOutbox() {
    if isOnline {
      let moment = Outbox.Moment(now: now, serverTime: serverTime, groups: tracker.groups)
      while outbox.sendNext(at: moment) {}
      for departure in outbox.takeDepartures() {
        let message = departure.message
        transmit(
          message.request(firstSentAt: departure.firstSentAt),
          .message(clientMsgID: message.clientMsgID, order: departure.order))
      }
    }
    performOutbox()
    if let (changes, ticket) = outbox.takeChanges() { store(.outbox(changes, ticket: ticket)) }
  }

  /// An own message has come to an end, and may have a place in its group's history.
  private mutating func noteOwn(_ clientMsgID: String) {
    guard let message = outbox.message(clientMsgID), let seq = message.seq else { return }
    tracker.addOwn(seq, in: message.groupID)
    guard message.state == .stored, let stored = message.stored(by: userID, on: platform) else { return }
    store(.own(stored))
  }

  // MARK: Renewals

  /// A new token before the old one ends; without one the session ends with 4006, and the next
  /// begins with a new one.
  mutating func renew() {
    guard tokens.mayRenew, tokens.renewal == .none, let attempt else { return }
    tokens.renewal = .reading(attempt: attempt)
    tokens.renewalBegan = now
    readToken()
  }

  mutating func continueRenewal() {
    guard case .reading(let attempt) = tokens.renewal else { return }
    guard attempt == self.attempt, isOnline else { return tokens.renewal = .none }
    tokens.renewal = .requested
    request(Methods.Login(token: tokens.token ?? ""), .renewal)
  }

  private mutating func didRenew(_ session: Session) {
    tokens.renewal = .none
    _ = tokens.use()
    note(session)
    tell(.renewed(session))
  }

  mutating func failRenewal(_ error: any Error) {
    guard tokens.renewal != .none else { return }
    // A token that the server has not seen is a good one, and so is the old one where the function has failed.
    if tokens.renewal == .requested, error is ThrongError { tokens.refuse() }
    tokens.renewal = .none
    tell(.renewalFailed(error))
    renewLater()
  }

  private mutating func renewLater() {
    guard isOnline, let signedIn else { return }
    let left = signedIn.tokenEnd - now
    // Half of what is left, so that there are a few tries.
    guard left > .seconds(2) else { return }
    tokens.isRenewalPlanned = true
    start(.renewal, min(ClientState.renewalPause, left / 2))
  }

  /// Renews now, or somewhat later where that has just been tried: the server warns at once of a
  /// token with a minute left, and the application may have no better one.
  mutating func renewSoon() {
    guard tokens.renewal == .none, !tokens.isRenewalPlanned else { return }
    if let began = tokens.renewalBegan, now - began < ClientState.renewalPause { renewLater() } else { renew() }
  }
}
