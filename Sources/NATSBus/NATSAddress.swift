import Foundation

/// Where NATS servers are, and how to sign in there: `nats://USER:PASSWORD@HOST:PORT,HOST:PORT?…`, or
/// `tls://…`. Each host may have its scheme and the user again, as NATS' own tools write it. A user
/// without a password is a token.
public struct NATSAddress: Sendable, Equatable {
  /// The reason why a text is no such address, in a sentence without the text's secrets.
  public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// Each with the scheme, and without the user.
  let servers: [String]
  let usesTLS: Bool
  let user: String?
  let password: String?
  let caFile: String?
  let certificateFile: String?
  let keyFile: String?
  let credentialsFile: String?
  /// Hosts and ports, for logs.
  let shown: String

  /// - Parameter url: the value of `bus.url`.
  public init(_ url: String) throws(Fault) {
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let separator = url.range(of: "://"), case let scheme = url[..<separator.lowerBound],
      scheme == "nats" || scheme == "tls"
    else { throw Fault(description: "bus.url begins with nats:// or tls://") }
    let authority = parts[0][separator.upperBound...]
    let other = scheme == "nats" ? ",tls://" : ",nats://"
    guard !authority.contains(other) else { throw Fault(description: "bus.url has nats:// and tls://: all hosts have the same") }
    var hosts: [Substring] = []
    var users: Set<Substring> = []
    for item in authority.split(separator: ",\(scheme)://", omittingEmptySubsequences: false) {
      // A password may contain "@" only as %40.
      let places = item.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      if places.count == 2 { users.insert(places[0]) }
      hosts += try NATSAddress.hosts(places[places.count - 1])
    }
    guard users.count <= 1 else { throw Fault(description: "bus.url has different users: all hosts have the same") }
    let words = users.first?.split(separator: ":", maxSplits: 1).map { String($0).removingPercentEncoding ?? String($0) } ?? []
    (user, password) = (words.first, words.count == 2 ? words[1] : nil)
    servers = hosts.map { "\(scheme)://\($0)" }
    shown = "\(scheme)://\(hosts.joined(separator: ","))"
    usesTLS = scheme == "tls"
    let files = try NATSAddress.files(in: parts.count == 2 ? parts[1] : "")
    (caFile, certificateFile, keyFile) = (files["tls_ca"], files["tls_cert"], files["tls_key"])
    credentialsFile = files["creds"]
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw Fault(description: "bus.url has tls_cert without tls_key, or the other way")
    }
    guard usesTLS || (caFile == nil && certificateFile == nil) else {
      throw Fault(description: "bus.url has files for TLS, but begins with nats://: tls:// is needed")
    }
  }

  /// Whether the servers ask who this is, as far as the URL tells.
  public var hasCredentials: Bool { user != nil || credentialsFile != nil || certificateFile != nil }

  private static func hosts(_ text: Substring) throws(Fault) -> [Substring] {
    let names = text.drop { $0 == "/" }.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 1, !names[0].isEmpty else { throw Fault(description: "bus.url names no host, or a path behind it") }
    let list = names[0].split(separator: ",", omittingEmptySubsequences: false)
    guard list.allSatisfy({ !$0.isEmpty }) else { throw Fault(description: "bus.url has an empty host among its hosts") }
    return list
  }

  private static let fileKeys = ["tls_ca", "tls_cert", "tls_key", "creds"]

  private static func files(in query: Substring) throws(Fault) -> [String: String] {
    var files: [String: String] = [:]
    for item in query.split(separator: "&") {
      let pair = item.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? String($0) }
      guard pair.count == 2, fileKeys.contains(pair[0]) else {
        throw Fault(description: "bus.url knows only \(fileKeys.joined(separator: ", ")) behind the question mark")
      }
      files[pair[0]] = pair[1]
    }
    return files
  }
}
