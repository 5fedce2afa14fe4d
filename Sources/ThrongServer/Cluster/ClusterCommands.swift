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
  ///   - node: a name or a number.
  ///   - credential: the API key, or an administrator's token.
  public static func drain(_ node: String, _ settings: Settings, credential: String) throws {
    let body = String(decoding: try JSONEncoder().encode(["drain": node]), as: UTF8.self)
    let client = try InternalClient(settings, seconds: 10)
    _ = try goodBody(of: client.ask("POST", "/cluster", credential: credential, body: body))
  }

  private static func goodBody(of answer: InternalClient.Answer) throws -> [UInt8] {
    if 200..<300 ~= answer.status { return answer.body }
    let text = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first
    throw InternalClient.Failure(description: text.map(String.init) ?? "the answer is \(answer.status)")
  }
}
