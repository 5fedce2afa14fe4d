import GroupModel
import GroupRuntime
import Logging
import WireProtocol

/// Logs and keeps each change that the application's backend has made or tried to make
/// (Protocol.md, "Audit log").
struct AuditLog: Sendable {
  private let logger: Logger
  private let clocks: any Clocks
  private let actions: AdministratorActions

  init(logger: Logger, clocks: any Clocks, actions: AdministratorActions) {
    self.logger = logger
    self.clocks = clocks
    self.actions = actions
  }

  /// Notes an answered call, refused ones included, where its method is one that changes something.
  func note(_ call: Call, _ reply: Reply, by administrator: String) {
    guard let method = call.method, let level = AuditLog.level(of: method) else { return }
    var metadata: Logger.Metadata = [
      "method": "\(method.name)", "by": "\(administrator)", "code": .stringConvertible(reply.code),
    ]
    // Not by characters: one of them may be of any length.
    var subjects = call.subjects.mapValues { String($0.unicodeScalars.prefix(AuditLog.longestName)) }
    if case .success(let value) = reply, let made = value.newGroup { subjects["groupID"] = made.rawValue }
    if let user = call.asUser { subjects["asUser"] = user.rawValue }
    for (name, subject) in subjects { metadata[name] = "\(subject)" }
    logger.log(level: level, "audit", metadata: metadata)
    actions.add(
      AdministratorAction(
        time: clocks.wall, method: method.name, by: administrator, code: Int64(reply.code), groupID: subjects["groupID"],
        userID: subjects["userID"], applicationID: subjects["applicationID"], asUser: subjects["asUser"]))
  }

  /// Nil = its calls are not noted.
  private static func level(of method: MethodTable.Entry) -> Logger.Level? {
    switch method.auditLevel {
    case .change: .info
    case .message: .debug
    case nil: nil
    }
  }

  /// More than any name of a user, a group or an application has.
  private static let longestName = 64
}

extension Reply {
  /// 0 = success.
  var code: Int {
    switch self {
    case .success: 0
    case .failure(let error): error.code.rawValue
    }
  }
}
