import Foundation

/// Where NATS servers are, and how to sign in there: `nats://USER:PASSWORD@HOST:PORT,HOST:PORT?…`, or
/// `tls://…`. A user without a password is a token.
public struct NATSAddress: Sendable, Equatable {
  /// The reason why a text is no such address, in a sentence without the text's secrets.
  public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  let servers: [String]
  let usesTLS: Bool
  let caFile: String?
  let certificateFile: String?
  let keyFile: String?
  let credentialsFile: String?
  /// Hosts and ports, for logs.
  let shown: String

  /// - Parameter url: the value of `bus.url`.
  public init(_ url: String) throws(Fault) {
    guard let separator = url.range(of: "://"), case let scheme = url[..<separator.lowerBound],
      scheme == "nats" || scheme == "tls"
    else { throw Fault(description: "bus.url begins with nats:// or tls://") }
    let parts = url[separator.upperBound...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // A password may contain "@" only as %40.
    let places = parts[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let hosts = places[places.count - 1].drop { $0 == "/" }.split(separator: "/", omittingEmptySubsequences: false)
    guard hosts.count == 1, !hosts[0].isEmpty else { throw Fault(description: "bus.url names no host, or a path behind it") }
    let list = hosts[0].split(separator: ",", omittingEmptySubsequences: false)
    guard list.allSatisfy({ !$0.isEmpty }) else { throw Fault(description: "bus.url has an empty host among its hosts") }
    let credentials = places.count == 2 ? "\(places[0])@" : ""
    servers = list.map { "\(scheme)://\(credentials)\($0)" }
    shown = "\(scheme)://\(hosts[0])"
    usesTLS = scheme == "tls"
    var files: [String: String] = [:]
    for item in parts.count == 2 ? parts[1].split(separator: "&") : [] {
      let pair = item.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? String($0) }
      guard pair.count == 2, NATSAddress.files.contains(pair[0]) else {
        throw Fault(description: "bus.url knows only \(NATSAddress.files.joined(separator: ", ")) behind the question mark")
      }
      files[pair[0]] = pair[1]
    }
    (caFile, certificateFile, keyFile) = (files["tls_ca"], files["tls_cert"], files["tls_key"])
    credentialsFile = files["creds"]
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw Fault(description: "bus.url has tls_cert without tls_key, or the other way")
    }
    guard usesTLS || (caFile == nil && certificateFile == nil) else {
      throw Fault(description: "bus.url has files for TLS, but begins with nats://: tls:// is needed")
    }
  }

  private static let files = ["tls_ca", "tls_cert", "tls_key", "creds"]
}
