import GroupModel
import GroupRuntime
import Logging
import OutgoingHTTP

/// Asks the application before something happens (Protocol.md, "Webhooks").
public final class WebhookQuestioner: Sendable {
  /// What has come of a question.
  public enum Outcome: Sendable, Equatable {
    case answer(WebhookAnswer)
    /// No answer, or one that makes no sense.
    case silence
    /// The receiver was not asked, or this process has broken the request off: nothing is known of what
    /// it would say.
    /// - Parameter isBusy: others were before it, and a later request may have its turn.
    case notAsked(isBusy: Bool)
  }

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
    log = WebhookLog(logger, client.clocks)
  }

  /// Asks once.
  /// - Parameters:
  ///   - data: the text of a JSON object.
  ///   - user: whose request it is about; users take turns.
  ///   - trace: to which that request belongs; nil = to none.
  public func ask(
    _ type: WebhookType, data: [UInt8], about subject: WebhookAnswer.Subject, of user: UserID, in trace: TraceContext? = nil
  ) async -> Outcome {
    let request = WebhookRequest(id: RandomID.with128Bits(), type, at: client.clocks.wall, data: data, trace: trace)
    switch await client.post(request, for: user) {
    case .success(let response):
      do throws(WebhookAnswer.Fault) {
        let answer = try WebhookAnswer(response, about: subject, maxContentBytes: maxContentBytes)
        note(answer, to: request)
        return .answer(answer)
      } catch {
        return noteSilence(of: request, error.description)
      }
    case .failure(let error) where error.code.isReceivers: return noteSilence(of: request, error.description)
    case .failure(let error):
      counter.count(type, .notSent)
      log.warn(
        "a before-event was not posted",
        ["type": "\(type.rawValue)", "id": "\(request.id)", "user": "\(user)", "error": "\(error)"], in: trace)
      return .notAsked(isBusy: error.code == .queueFull || error.code == .waitedTooLong)
    }
  }

  private func noteSilence(of request: WebhookRequest, _ failure: String) -> Outcome {
    counter.count(request.type, .unanswered)
    log.warn(
      "a before-event got no useful answer",
      ["type": "\(request.type.rawValue)", "id": "\(request.id)", "error": "\(failure)"], in: request.trace)
    return .silence
  }

  /// Ends all requests, which count as not sent.
  public func stop() async { await client.shutDown() }

  private func note(_ answer: WebhookAnswer, to request: WebhookRequest) {
    let (type, id) = (request.type, request.id)
    switch answer {
    case .allow: counter.count(type, .allowed)
    case .drop: counter.count(type, .dropped)
    case .refuse(let code, message: _):
      counter.count(type, .refused)
      log.inform(
        "the application refused", ["type": "\(type.rawValue)", "id": "\(id)", "code": .stringConvertible(code)],
        in: request.trace)
    case .refuseWithUnknownCode:
      counter.count(type, .unknownCode)
      log.warn(
        "the application refused with a code that it may not give", ["type": "\(type.rawValue)", "id": "\(id)"],
        in: request.trace)
    }
  }
}
