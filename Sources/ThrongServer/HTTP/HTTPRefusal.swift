/// What an HTTP request is refused with: a status, and a sentence that says what is wrong.
struct HTTPRefusal: Sendable {
  let status: Int
  let sentence: String
  var headers: [(String, String)] = []

  static let noSuchPath = HTTPRefusal(status: 404, sentence: "there is nothing at this path; the WebSocket is at /ws")
  static let noSuchInternalPath = HTTPRefusal(
    status: 404,
    sentence: "there is nothing at this path; there are /healthz, /readyz, /metrics, /openrpc.json, /console and POST /rpc")
  static let upgradeRequired = HTTPRefusal(
    status: 426, sentence: "this path takes WebSocket upgrades only", headers: [("Upgrade", "websocket")])
  static let unauthorized = HTTPRefusal(
    status: 401, sentence: "send Authorization: Bearer with an administrator's token or the API key",
    headers: [("WWW-Authenticate", "Bearer")])
  static let bodyTooLarge = HTTPRefusal(status: 413, sentence: "the body is over 1 MiB")
  static let fault = HTTPRefusal(status: 500, sentence: "a fault of the server; its log says more")

  static func method(_ allowed: [String]) -> HTTPRefusal {
    let list = allowed.joined(separator: ", ")
    return HTTPRefusal(status: 405, sentence: "this path takes \(list) only", headers: [("Allow", list)])
  }
}
