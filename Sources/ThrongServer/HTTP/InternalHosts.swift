import Foundation
import GroupModel
import ServerConfiguration

/// Decides which hosts a request to the internal listener may name (Operations.md, "Names of the
/// internal listener").
///
/// A web page may let a name of its own point to the listener's address, and read what is answered
/// without a credential (DNS rebinding). Its requests then name a host that somebody has registered.
struct InternalHosts: Sendable {
  private let allowsAll: Bool
  private let names: Set<String>
  /// With a dot at their beginning.
  private let suffixes: [String]

  /// Nobody can register a name below these (RFC 6761, 6762, 8375; ICANN's resolution of .internal);
  /// `svc` is Kubernetes' own.
  private static let privateSuffixes = [".localhost", ".local", ".internal", ".home.arpa", ".svc"]

  /// - Parameter machine: this machine's name.
  init(_ settings: Settings, machine: String = InternalHosts.machine) {
    let listed = settings.internalHosts
    allowsAll = listed.contains("*")
    let own = [machine, settings.internalListen.host, settings.cluster.address.map(InternalHosts.name)].compactMap { $0 }
    names = Set(listed + own.map { $0.lowercased() })
    suffixes = InternalHosts.privateSuffixes + listed.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst()) }
  }

  /// Whether a request may name this host. Every browser names one.
  func admit(_ host: String?) -> Bool {
    guard !allowsAll, let host else { return true }
    let name = InternalHosts.name(host)
    let isPrivate = !name.contains(".") || suffixes.contains { name.hasSuffix($0) }
    return isPrivate || names.contains(name) || IPAddress(name) != nil
  }

  /// The host without its port, brackets and last dot, in small letters.
  private static func name(_ authority: String) -> String {
    var name = authority.lowercased()[...]
    if name.hasPrefix("["), let end = name.lastIndex(of: "]"), name[end...].contains(/^\](:[0-9]*)?$/) {
      name = name[..<end].dropFirst()
    } else if let colon = name.lastIndex(of: ":"), name.firstIndex(of: ":") == colon {
      name = name[..<colon]
    }
    return String(name.hasSuffix(".") ? name.dropLast() : name)
  }

  /// As the kernel has it, without a look at DNS.
  private static var machine: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
