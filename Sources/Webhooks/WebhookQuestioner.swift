import GroupModel
import GroupRuntime
import Logging

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
    log = WebhookLog(logger, client.clocks)
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
