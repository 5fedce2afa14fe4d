import Foundation
import ServerConfiguration

/// What lets a server start and will give its operator trouble: told at the start, and by `throng config check`.
enum StartWarnings {
  private static let certificateNotice: Int64 = 30 * 86_400

  /// A certificate that has expired, or will within 30 days.
  /// - Parameters:
  ///   - expiry: in Unix seconds, as is `now`.
  static func certificate(expiring expiry: Int64, now: Int64) -> String? {
    guard expiry - now < certificateNotice else { return nil }
    let day = Date(timeIntervalSince1970: Double(expiry)).formatted(.iso8601)
    guard expiry > now else { return "the certificate has expired, on \(day)" }
    return "the certificate expires on \(day), in \((expiry - now) / 86_400) days"
  }

  /// More connections than there can be.
  /// - Parameter openFiles: how many files the process may have open.
  static func connections(_ connections: Int, openFiles: Int) -> String? {
    // As many as the listeners leave to the rest of the server.
    let forConnections = openFiles - min(64, openFiles / 4)
    guard connections > forConnections else { return nil }
    return
      "limits.connections is \(connections), but the system lets this process open \(openFiles) files (ulimit -n, LimitNOFILE)"
  }
}
