import GroupModel
import GroupRuntime
import WireProtocol

/// Requests that the application is asked about first, and the methods for what it did not take
/// (Protocol.md, "Webhooks").
extension Dispatcher {
  /// Executes a request while before-events are configured.
  func executeAskingFirst(
    _ request: Request, by caller: Caller, _ asking: any WebhookAsking, _ completion: @escaping Completion
  ) {
    let asked = request.asked
    let type = asked?.type(by: caller, asking)
    guard let session = caller.session, request.groupID != nil || request.isAboutSelf else {
      guard let asked, let type else { return execute(request, by: caller, completion) }
      return askApplication(type, about: asked, by: caller, asking, completion)
    }
    let key = RequestOrder.Key(session: session, group: request.groupID)
    requestOrder.begin(key, asks: type != nil) { [self] in
      guard let asked, let type else { return execute(request, by: caller, completion) }
      askApplication(type, about: asked, by: caller, asking) { [requestOrder] reply in
        completion(reply)
        requestOrder.end(key)
      }
    }
  }

  /// Checks rights and state, asks, and executes: that checks everything again, but for the words.
  /// Meanwhile other requests of the group go on.
  private func askApplication(
    _ type: WebhookType, about request: AskedRequest, by caller: Caller, _ asking: any WebhookAsking,
    _ completion: @escaping Completion
  ) {
    check(request, by: caller) { [self] reply in
      let edited: Message?
      switch reply {
      case .success(.empty): edited = nil
      case .success(.message(let info)): edited = info.message
      // A repeated clientMsgID is answered at once, and so is an edit to the same content.
      default: return completion(reply)
      }
      let shown: AskedRequest
      do throws(WireError) {
        shown = try filtered(request)
      } catch {
        // The list is another one than that of the checks.
        return completion(.failure(error))
      }
      let question = WebhookQuestion(type, about: shown, editing: edited, by: caller)
      Task {
        switch await asking.verdict(on: question) {
        case .allow(replacement: nil): perform(shown, by: caller, completion)
        case .allow(let text?):
          perform(shown.replacingContent(with: text, isText: question.subject == .text), by: caller, completion)
        case .refuse(let error): completion(.failure(error))
        case .drop: drop(shown, by: caller, completion)
        }
      }
    }
  }

  /// The request as the application is asked about it.
  private func filtered(_ request: AskedRequest) throws(WireError) -> AskedRequest {
    guard let words else { return request }
    return try request.filtered(by: words)
  }

  /// Performs a request that the application allows: its texts are not compared with words again, nor
  /// are the application's.
  private func perform(_ request: AskedRequest, by caller: Caller, _ completion: @escaping Completion) {
    switch request {
    case .creation(let request):
      create(request, by: caller, completion) { .create($0, owner: $1, $2.with(isFiltered: true)) }
    case .selfInfo(let request):
      run(Requester(caller.userID), completion) { () async throws(StoreError) in
        try await self.changeSelfInfo(request, by: caller, comparing: nil)
      }
    case .group(let id, let asked):
      let request = asked.request
      guard let users = request.concernedUsers(by: caller) else {
        return registry.group(id).enqueue(.request(.request(request, .filtered), by: caller, completion: completion))
      }
      askWithFacts(id, about: users, by: caller, completion) { .request(request, $0.with(isFiltered: true)) }
    }
  }

  /// Replies `.empty`, or the message of an edit, where the request would succeed as far as that is
  /// known before.
  private func check(_ request: AskedRequest, by caller: Caller, _ completion: @escaping Completion) {
    switch request {
    case .creation(let request): create(request, by: caller, completion) { .checkCreation($0, owner: $1, $2) }
    case .selfInfo(let request):
      run(Requester(caller.userID), completion) { () async throws(StoreError) in
        try await self.checkSelfInfo(request, by: caller)
      }
    case .group(let id, let asked):
      guard let users = asked.request.concernedUsers(by: caller) else {
        return registry.group(id).enqueue(.request(.check(asked, .none), by: caller, completion: completion))
      }
      askWithFacts(id, about: users, by: caller, completion) { .check(asked, $0) }
    }
  }

  private func drop(_ request: AskedRequest, by caller: Caller, _ completion: @escaping Completion) {
    switch request {
    case .group(let id, .message(let message)):
      registry.group(id).enqueue(.request(.dropMessage(message), by: caller, completion: completion))
    // Nothing else may be dropped (`WebhookQuestion.Subject`).
    case .creation, .selfInfo, .group(_, .join), .group(_, .invitation), .group(_, .groupInfo), .group(_, .memberInfo):
      completion(.error(.internalError))
    }
  }

  // MARK: After-events that were given up

  func webhookFailures(_ request: ListWebhookFailures, for _: Caller) async throws(StoreError) -> Reply {
    let found = try await stores.webhooks.webhookFailures(
      after: request.nextSeq, limit: request.count + 1, bytes: pageBytes)
    let bytes = found.reduce(0) { $0 + $1.entry.data.count }
    let page = found.prefix(request.count)
    let rows = page.map { failure in
      WebhookFailureInfo(
        id: failure.entry.id, type: failure.entry.type, timestamp: failure.entry.timestamp, data: failure.entry.data,
        attempts: failure.attempts, lastError: failure.lastError)
    }
    let hasMore = found.count > page.count || bytes >= pageBytes
    return .success(
      .webhookFailures(ListWebhookFailures.Result(failureList: rows, nextSeq: hasMore ? page.last?.number ?? 0 : 0)))
  }

  func retryWebhooks(_: RetryWebhooks, for _: Caller) async throws(StoreError) -> Reply {
    let retried = try await webhooks?.poster.retryFailures() ?? 0
    // Each node posts for its own groups and users.
    if retried > 0 { router?.announceWebhooks() }
    return .success(.retriedWebhooks(RetryWebhooks.Result(retried: retried)))
  }
}

extension Request {
  /// Whether it changes the caller's own texts.
  fileprivate var isAboutSelf: Bool { if case .setSelfInfo = self { true } else { false } }
}
