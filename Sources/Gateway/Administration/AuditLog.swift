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
    guard let method = call.method, method.specification.writes else { return }
    var metadata: Logger.Metadata = [
      "method": "\(method.name)", "by": "\(administrator)", "code": .stringConvertible(reply.code),
    ]
    // Not by characters: one of them may be of any length.
    var subjects = call.subjects.mapValues { String($0.unicodeScalars.prefix(AuditLog.longestName)) }
    if let made = AuditLog.groupMade(by: reply) { subjects["groupID"] = made.rawValue }
    if let user = call.asUser { subjects["asUser"] = user.rawValue }
    for (name, subject) in subjects { metadata[name] = "\(subject)" }
    logger.log(level: AuditLog.messages.contains(method.name) ? .debug : .info, "audit", metadata: metadata)
    actions.add(
      AdministratorAction(
        time: clocks.wall, method: method.name, by: administrator, code: Int64(reply.code), groupID: subjects["groupID"],
        userID: subjects["userID"], applicationID: subjects["applicationID"], asUser: subjects["asUser"]))
  }

  /// The methods that a backend calls for each message: at info they would hide all other entries.
  private static let messages: Set = [
    SendGroupTextMessage.specification.name, SendGroupCustomMessage.specification.name,
    SendGroupSystemNotification.specification.name,
  ]

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
