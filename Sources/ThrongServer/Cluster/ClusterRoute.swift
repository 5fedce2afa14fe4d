import Cluster
import Foundation
import Gateway
import WebSocketTransport

/// Answers `GET /cluster` and `POST /cluster` of the internal listener (Operations.md, "Several
/// nodes").
struct ClusterRoute: Sendable {
  /// Nil = the server is alone.
  let engines: ClusterEngines?
  /// The links with other nodes.
  let node: ClusterNode?

  /// The body of `POST /cluster`.
  private struct Command: Decodable {
    /// The name or the number of a node.
    let drain: String
    /// Whether to drain it also where no other node serves; false where it is left out.
    let last: Bool?
  }

  /// The database is asked on a thread of its own, because it may be away.
  func status(_ exchange: HTTPExchange) {
    guard let engines else { return refuse(exchange, 404, "this server is no node of a cluster") }
    DispatchQueue.global().async {
      do {
        let body = try JSONEncoder().encode(engines.status(unheard: node?.missingNodes ?? []))
        exchange.respond(status: 200, contentType: "application/json", body: Array(body))
      } catch {
        refuse(exchange, 503, "the database does not answer: \(error)")
      }
    }
  }

  /// Drains a node.
  func command(_ body: [UInt8], _ exchange: HTTPExchange) {
    guard let engines else { return refuse(exchange, 404, "this server is no node of a cluster") }
    guard let command = try? JSONDecoder().decode(Command.self, from: Data(body)) else {
      return refuse(exchange, 400, #"the body is {"drain": "NAME OR NUMBER"}"#)
    }
    DispatchQueue.global().async {
      do {
        switch try engines.requestDrain(of: command.drain, evenLast: command.last ?? false) {
        case .requested(let node):
          let sentence = "\(node.name) (number \(node.number)) drains\n"
          exchange.respond(status: 202, contentType: "text/plain; charset=utf-8", body: Array(sentence.utf8))
        case .unknownNode:
          refuse(exchange, 404, "no node, or more than one, has this name or number; throng cluster status lists them")
        case .lastNode:
          refuse(
            exchange, 409,
            #"no other node serves, so behind it nobody would be served: --last ("last": true) drains it all the same"#)
        }
      } catch {
        refuse(exchange, 503, "the database does not answer: \(error)")
      }
    }
  }

  private func refuse(_ exchange: HTTPExchange, _ status: Int, _ sentence: String) {
    exchange.respond(
      status: status, contentType: "text/plain; charset=utf-8", body: Array("\(status): \(sentence)\n".utf8))
  }
}
