import Logging
import WireProtocol

/// Writes down, one line each, what the application's backend has changed or tried to change (contract section 8).
struct AuditLog: Sendable {
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// Notes an answered call, refused ones included, where its method is one that changes something.
  func note(_ call: Call, _ reply: Reply, by administrator: String) {
    guard let method = call.method, method.specification.writes else { return }
    var metadata: Logger.Metadata = [
      "method": "\(method.name)", "by": "\(administrator)", "code": .stringConvertible(AuditLog.code(of: reply)),
    ]
    // Not by characters: one of them may be of any length.
    for (name, subject) in call.subjects {
      metadata[name] = "\(String(subject.unicodeScalars.prefix(AuditLog.longestName)))"
    }
    if AuditLog.makers.contains(method.name), let made = AuditLog.groupMade(by: reply) { metadata["groupID"] = "\(made)" }
    if let user = call.asUser { metadata["asUser"] = "\(user)" }
    logger.info("audit", metadata: metadata)
  }

  /// More than any name of a user, a group or an application has.
  private static let longestName = 64

  /// The methods whose result names a group, which the server may have chosen the groupID of.
  private static let makers: Set<String> = [CreateGroup.specification.name, ImportGroup.specification.name]

  private static func groupMade(by reply: Reply) -> String? {
    guard case .success(let result) = reply else { return nil }
    let parser = JSONParser()
    // What is parsed lives in the parser.
    return withExtendedLifetime(parser) { parser.parse(result)?["groupID"]?.string }
  }

  private static func code(of reply: Reply) -> Int {
    switch reply {
    case .success: 0
    case .failure(let error): error.code.rawValue
    }
  }
}
