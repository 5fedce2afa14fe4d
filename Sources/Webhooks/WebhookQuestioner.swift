import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// Asks the application before something happens (Protocol.md, "Webhooks").
public final class WebhookQuestioner: Sendable {
  private let client: WebhookClient
  private let maxContentBytes: Int
  private let counter = WebhookCounter()
  private let log: WebhookLog

  /// - Parameters:
  ///   - client: with connections that after-events do not use.
  ///   - maxContentBytes: the limit of a message's content.
  public init(_ client: WebhookClient, maxContentBytes: Int, logger: Logger) {
    self.client = client
    self.maxContentBytes = maxContentBytes
    log = WebhookLog(logger)
  }

  /// Asks once; nil = no answer, or one that makes no sense.
  /// - Parameter data: the text of a JSON object.
  public func ask(_ type: WebhookType, data: [UInt8], about subject: WebhookAnswer.Subject) async -> WebhookAnswer? {
    let request = WebhookRequest(id: RandomID.with128Bits(), type, at: client.clocks.wall, data: data)
    let failure: String
    switch await client.post(request) {
    case .success(let response):
      do throws(WebhookAnswer.Fault) {
        let answer = try WebhookAnswer(response, about: subject, maxContentBytes: maxContentBytes)
        note(answer, to: type, id: request.id)
        return answer
      } catch {
        failure = error.description
      }
    case .failure(let error): failure = error.description
    }
    counter.count(type, .unanswered)
    log.warn("a before-event got no useful answer", ["type": "\(type.rawValue)", "id": "\(request.id)", "error": "\(failure)"])
    return nil
  }

  /// Ends all requests, which count as unanswered.
  public func stop() async { await client.shutDown() }

  private func note(_ answer: WebhookAnswer, to type: WebhookType, id: String) {
    switch answer {
    case .allow: counter.count(type, .allowed)
    case .drop: counter.count(type, .dropped)
    case .refuse(let code, message: _):
      counter.count(type, .refused)
      log.inform("the application refused", ["type": "\(type.rawValue)", "id": "\(id)", "code": "\(code)"])
    }
  }
}

/// Log lines that requests of clients can cause: at most five a second.
struct WebhookLog: Sendable {
  private final class Second: Sendable {
    let state = Mutex<(begun: ContinuousClock.Instant, written: Int, dropped: Int)>((.now, 0, 0))
  }

  private static let perSecond = 5
  private let logger: Logger
  private let second = Second()

  init(_ logger: Logger) { self.logger = logger }

  func warn(_ text: String, _ metadata: Logger.Metadata) { write(.warning, text, metadata) }

  func inform(_ text: String, _ metadata: Logger.Metadata) { write(.info, text, metadata) }

  private func write(_ level: Logger.Level, _ text: String, _ metadata: Logger.Metadata) {
    let now = ContinuousClock.now
    let dropped: Int? = second.state.withLock { state in
      if now - state.begun >= .seconds(1) { state = (now, 0, state.dropped) }
      guard state.written < WebhookLog.perSecond else {
        state.dropped += 1
        return nil
      }
      state.written += 1
      defer { state.dropped = 0 }
      return state.dropped
    }
    guard let dropped else { return }
    var metadata = metadata
    if dropped > 0 { metadata["unwritten"] = "\(dropped)" }
    logger.log(level: level, "\(text)", metadata: metadata)
  }
}
