import Foundation
import ServerConfiguration

/// Asks a running server about its cluster, for `throng cluster`.
public enum ClusterCommands {
  /// The nodes and their shards.
  public static func status(_ settings: Settings) throws -> ClusterStatus {
    try JSONDecoder().decode(
      ClusterStatus.self, from: Data(goodBody(of: try InternalClient(settings, seconds: 10).get("/cluster"))))
  }

  /// Drains a node: it gives its shards back, closes its sessions and ends.
  /// - Parameters:
  ///   - node: a name, or a number.
  ///   - evenLast: also where no other node would serve.
  ///   - credential: the API key, or an administrator's token.
  /// - Returns: the server's sentence, which has the name and the number of the node.
  /// - Throws: `InternalClient.Failure` with the server's sentence where it refuses.
  public static func drain(_ node: String, evenLast: Bool, _ settings: Settings, credential: String) throws -> String {
    let request = DrainRequest(drain: node, last: evenLast ? true : nil)
    let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    let client = try InternalClient(settings, seconds: 10)
    let answer = try goodBody(of: client.ask("POST", "/cluster", credential: credential, body: body))
    return String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The body of `POST /cluster`. Nodes of 0.1.0 pass over `last`.
  private struct DrainRequest: Encodable {
    let drain: String
    let last: Bool?
  }

  private static func goodBody(of answer: InternalClient.Answer) throws -> [UInt8] {
    if 200..<300 ~= answer.status { return answer.body }
    let text = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first
    throw InternalClient.Failure(description: text.map(String.init) ?? "the answer is \(answer.status)")
  }
}
