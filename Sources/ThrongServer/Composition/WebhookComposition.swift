import Cluster
import Gateway
import GroupModel
import GroupRuntime
import Logging
import OutgoingHTTP
import PostgreSQLStore
import ServerConfiguration
import Webhooks
import WireProtocol

/// The parts that talk to the application's receiver, by `webhook.…`.
struct WebhookComposition: Sendable {
  let types: WebhookTypes
  let outbox: WebhookOutbox
  let services: WebhookServices
  private let questioner: WebhookQuestioner?
  /// After-events can wait: where all cores are busy, their thread gets a third of another's time.
  private static let niceness = 5

  /// Nil where there is no receiver.
  /// - Parameters:
  ///   - membership: nil = this server is alone.
  ///   - spans: gets those of requests; nil = nothing is traced.
  init?(
    _ settings: Settings, store: any ServerStore, membership: (any ClusterMembership)?, alarms: any Alarms,
    spans: (any SpanRecorder)?, logger: Logger
  ) async throws(StartError) {
    let maxContentBytes = settings.limits.text.message
    let clocks = store.clocks
    let settings = settings.webhook
    guard let url = settings.url, let text = settings.secret else { return nil }
    let secret = try StartError.translating { () throws(WebhookSecret.Fault) in try WebhookSecret(text) }
    types = WebhookTypes(settings.events)
    let client = { (connections: Int, niceness: Int) throws(StartError) -> WebhookClient in
      var configuration = HTTPClient.Configuration()
      configuration.connections = connections
      configuration.timeout = settings.timeout
      configuration.maxWait = settings.timeout
      configuration.niceness = niceness
      let http = try StartError.translating { () throws(HTTPError) in try HTTPClient(configuration) }
      return WebhookClient(http, url: url, secret: secret, clocks: clocks, spans: spans)
    }
    // Somebody waits for the answer to a before-event, so after-events have other connections.
    let asked = types.asks ? (settings.connections + 1) / 2 : 0
    let maxInFlight = max(1, settings.connections - asked)
    let isShared = asked == settings.connections
    let posting = try client(maxInFlight, isShared ? 0 : WebhookComposition.niceness)
    do {
      outbox = try await WebhookOutbox(
        WebhookOutbox.Configuration(
          retention: settings.retention, maxPending: settings.maxPending, maxInFlight: maxInFlight),
        client: posting, store: store, groups: store,
        ownership: membership.map { ShardGains($0) },
        alarms: alarms, logger: logger)
    } catch {
      throw StartError("the webhooks in the store cannot be read: \(error)")
    }
    guard types.asks else {
      questioner = nil
      services = WebhookServices(poster: outbox, asking: nil)
      return
    }
    // A single connection is shared.
    let asking = try isShared ? posting : client(asked, 0)
    let questioner = WebhookQuestioner(asking, maxContentBytes: maxContentBytes, logger: logger)
    self.questioner = questioner
    services = WebhookServices(poster: outbox, asking: QuestionerAdapter(types, questioner, settings))
  }

  /// Ends all requests; what is in memory only goes to the store, which must still be open.
  func stop() async {
    await questioner?.stop()
    await outbox.stop()
  }
}

/// Asks by `WebhookQuestioner`.
private struct QuestionerAdapter: WebhookAsking {
  private let types: WebhookTypes
  private let questioner: WebhookQuestioner
  private let silence: WebhookVerdict
  private let retryAfterMs: Int64
  /// By then some of what waits has left.
  private static let longestRetry: Int64 = 1000

  init(_ types: WebhookTypes, _ questioner: WebhookQuestioner, _ settings: Settings.Webhook) {
    self.types = types
    self.questioner = questioner
    retryAfterMs = min(settings.timeout.wholeMilliseconds, QuestionerAdapter.longestRetry)
    switch settings.onFailure {
    case .allow: silence = .allow(replacement: nil)
    case .refuse: silence = .refuse(.applicationSilent)
    }
  }

  func asks(_ type: WebhookType) -> Bool { types.contains(type) }

  func verdict(on question: WebhookQuestion) async -> WebhookVerdict {
    let subject: WebhookAnswer.Subject =
      switch question.subject {
      case .text: .textMessage
      case .data: .customMessage
      case .other: .other
      }
    switch await questioner.ask(question.type, data: question.data, about: subject, of: question.user, in: question.trace) {
    case .answer(let answer): return verdict(of: answer)
    case .silence: return silence
    // Nobody has decided: neither the application nor `webhook.onFailure`, which is about its failures.
    case .notAsked(let isBusy): return .refuse(.applicationNotAsked(retryAfterMs: isBusy ? retryAfterMs : nil))
    }
  }

  private func verdict(of answer: WebhookAnswer) -> WebhookVerdict {
    switch answer {
    case .allow(replacement: nil): .allow(replacement: nil)
    case .allow(.text(let text)?), .allow(.data(let text)?): .allow(replacement: text)
    // The answer's codes are among those of the table.
    case .refuse(let code, let message): .refuse(WireError(ErrorCode(rawValue: code) ?? .refusedByApplication, message))
    case .refuseWithUnknownCode(let message): .refuse(WireError(.refusedByApplication, message))
    case .drop: .drop
    }
  }
}
