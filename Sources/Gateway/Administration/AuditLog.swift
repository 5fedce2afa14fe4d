import GroupModel
import Logging
import WireProtocol

/// Logs each change that the application's backend has made or tried to make
/// (Protocol.md, "Audit log").
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
    if let made = AuditLog.groupMade(by: reply) { metadata["groupID"] = "\(made)" }
    if let user = call.asUser { metadata["asUser"] = "\(user)" }
    logger.info("audit", metadata: metadata)
  }

  /// More than any name of a user, a group or an application has.
  private static let longestName = 64

  /// The group that a call has made: the server may have chosen its groupID.
  private static func groupMade(by reply: Reply) -> GroupID? {
    switch reply {
    case .success(.createdGroup(let result)): result.groupID
    case .success(.importedGroup(let result)): result.groupID
    default: nil
    }
  }

  private static func code(of reply: Reply) -> Int {
    switch reply {
    case .success: 0
    case .failure(let error): error.code.rawValue
    }
  }
}
