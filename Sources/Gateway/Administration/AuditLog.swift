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
  /// - Parameter trace: to which it belongs; nil = to none.
  func note(_ call: Call, _ reply: Reply, by administrator: String, in trace: TraceContext?) {
    guard let method = call.method, let level = AuditLog.level(of: method) else { return }
    let subjects = call.subjects
    var groupID = AuditLog.name(subjects?.groupID)
    // The server may have chosen it.
    if case .success(let value) = reply, let made = value.newGroup { groupID = made.rawValue }
    let userIDList = subjects?.userIDList.compactMap(AuditLog.name) ?? []
    let action = AdministratorAction(
      time: clocks.wall, method: method.name, by: administrator, code: Int64(reply.code), groupID: groupID,
      userID: AuditLog.name(subjects?.userID), applicationID: AuditLog.name(subjects?.applicationID),
      asUser: call.asUser?.rawValue, userIDList: userIDList.isEmpty ? nil : userIDList,
      userCount: userIDList.isEmpty ? nil : subjects.map { Int64($0.userCount) },
      reason: AuditLog.cut(subjects?.reason, AuditLog.longestReason))
    var metadata = AuditLog.metadata(of: action)
    metadata.add(trace)
    logger.log(level: level, "audit", metadata: metadata)
    actions.add(action)
  }

  private static func metadata(of action: AdministratorAction) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "method": "\(action.method)", "by": "\(action.by)", "code": .stringConvertible(action.code),
    ]
    let texts = [
      "groupID": action.groupID, "userID": action.userID, "applicationID": action.applicationID, "asUser": action.asUser,
      "reason": action.reason,
    ]
    for (name, text) in texts { if let text { metadata[name] = "\(text)" } }
    if let users = action.userIDList, let count = action.userCount {
      metadata["userIDList"] = .array(users.prefix(AuditLog.mostLoggedUsers).map { "\($0)" })
      metadata["userCount"] = .stringConvertible(count)
    }
    return metadata
  }

  private static func name(_ text: String?) -> String? { cut(text, longestName) }

  /// Not by characters: one of them may be of any length.
  private static func cut(_ text: String?, _ scalars: Int) -> String? {
    text.map { String($0.unicodeScalars.prefix(scalars)) }
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
  /// As long as a reason may be.
  private static let longestReason = 512
  /// Of a longer list a line has the beginning, and the count.
  private static let mostLoggedUsers = 10
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
