import Foundation
import GroupModel
import ServerConfiguration

/// Warnings at the start and of `throng config check`: problems that let a server start.
enum StartWarnings {
  private static let certificateNotice = Duration.seconds(30 * 86_400)

  /// Warns of a certificate that expires within 30 days, or has expired.
  /// - Parameter expiry: in Unix seconds.
  static func certificate(expiring expiry: Int64, now: WallInstant) -> String? {
    let left = WallInstant(milliseconds: expiry * 1000) - now
    guard left < certificateNotice else { return nil }
    let day = Date(timeIntervalSince1970: Double(expiry)).formatted(.iso8601)
    guard left > .zero else { return "the certificate has expired, on \(day)" }
    return "the certificate expires on \(day), in \(left.components.seconds / 86_400) days"
  }

  /// Warns of trusted proxies whose header is left to the request: a client behind a proxy that only
  /// knows X-Forwarded-For sends a Forwarded of its own. A proxy that announces clients by the PROXY
  /// protocol passes headers on unread, so it needs neither.
  static func forwardedHeader(_ settings: Settings) -> String? {
    let hasProxy = !settings.trustedProxies.isEmpty || settings.listen.host == nil
    guard hasProxy, !settings.proxyProtocol, settings.forwardedHeader == .auto else { return nil }
    let proxies = settings.trustedProxies.isEmpty ? "listen is a Unix socket" : "trustedProxies is set"
    return "\(proxies) and forwardedHeader is auto: a client whose proxy passes on Forwarded as it came chooses its own address; "
      + "name the header that the proxies set, x-forwarded-for or forwarded"
  }

  /// Warns of a PROXY header that is awaited from nobody.
  static func proxyProtocol(_ settings: Settings) -> String? {
    // The peer of a Unix socket is a trusted proxy.
    guard settings.proxyProtocol, settings.trustedProxies.isEmpty, settings.listen.host != nil else { return nil }
    return "proxyProtocol is true and trustedProxies names nobody: a connection that begins with a PROXY header is answered 400; "
      + "name the proxies in trustedProxies"
  }

  /// Warns of webhooks that somebody has chosen and that have no receiver.
  static func webhookEvents(_ settings: Settings) -> String? {
    let isChosen = settings.entries.contains { $0.key == "webhook.events" && $0.source != .fallback }
    guard isChosen, settings.webhook.url == nil, !settings.webhook.events.isEmpty else { return nil }
    let asks = settings.webhook.events.contains(where: \.isQuestion)
    return "webhook.events is set and webhook.url is not: nothing is posted"
      + (asks ? ", and nobody is asked before it happens" : "") + "; set webhook.url and webhook.secret"
  }

  /// The warnings about keys that depend on each other.
  static func keys(_ settings: Settings) -> [String] {
    [forwardedHeader(settings), proxyProtocol(settings), webhookEvents(settings)].compactMap { $0 }
  }

  /// Addresses that nobody reaches from the internet: loopback, private networks (RFC 1918, 4193), those
  /// of a link (RFC 3927, 4291) and of a carrier or an overlay network (RFC 6598).
  private static let privateRanges = [
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "::1", "fc00::/7",
    "fe80::/10",
  ].compactMap { AddressRange($0) }

  /// Warns of an internal listener on every address of the machine, or on a public one. A name is not
  /// looked up.
  static func internalListener(_ address: ListenAddress) -> String? {
    guard let host = address.host, let parsed = IPAddress(host), !privateRanges.contains(where: { $0.contains(host) }) else {
      return nil
    }
    let isEvery = parsed.bytes.allSatisfy { $0 == 0 }
    let what = isEvery ? "every address of this machine" : "a public address"
    return "internalListen is \(address), \(what): whoever reaches it reads metrics, and may guess at administrators' "
      + "credentials; name a private address or a Unix socket, or keep others out by a firewall or a container's network"
  }

  /// Warns of a limit of connections that the system does not allow.
  /// - Parameter openFiles: the number of files that the process may open.
  static func connections(_ connections: Int, openFiles: Int) -> String? {
    // The listeners reserve the same number of files for other parts of the server.
    let forConnections = openFiles - min(64, openFiles / 4)
    guard connections > forConnections else { return nil }
    return
      "limits.connections is \(connections), but the system lets this process open \(openFiles) files (ulimit -n, LimitNOFILE)"
  }
}

/// The warnings of one server about its certificates: a reload that finds the same one is silent.
struct CertificateWarnings {
  private struct Told: Equatable {
    let expiry: Int64
    let hasExpired: Bool
  }

  private var told: Told?

  /// The warning to log; nil where there is none, or where it was the last one too.
  /// - Parameter expiry: in Unix seconds.
  mutating func next(expiring expiry: Int64, now: WallInstant) -> String? {
    let warning = StartWarnings.certificate(expiring: expiry, now: now)
    let current = warning.map { _ in Told(expiry: expiry, hasExpired: expiry * 1000 <= now.milliseconds) }
    defer { told = current }
    return current == told ? nil : warning
  }
}

/// The reason why a server could not start, in a sentence for the operator.
public struct StartError: Error, CustomStringConvertible, Sendable {
  public let description: String

  init(_ description: String) { self.description = description }

  /// Runs `body` and converts its error.
  static func translating<Value, Failure: Error & CustomStringConvertible>(
    _ body: () throws(Failure) -> Value
  ) throws(StartError) -> Value {
    do throws(Failure) {
      return try body()
    } catch {
      throw StartError(error.description)
    }
  }
}
