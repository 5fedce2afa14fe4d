import GroupModel

/// An application for one of its deciders, or its sender (Protocol.md, "Application lists").
public struct ApplicationInfo: FieldValue, Equatable {
  public static let notation = "Application"

  public let application: GroupApplication
  public let isHandledByReader: Bool
  public let isRead: Bool

  /// An application for a reader; `.administrator` is the application's backend.
  public init(_ application: GroupApplication, reader: UserID, isRead: Bool) {
    self.application = application
    isHandledByReader = application.handling?.by == reader
    self.isRead = isRead
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("applicationID", application.id)
      writer.member("groupID", application.groupID.rawValue)
      writer.member("type", application.kind.rawValue)
      writer.member("fromUser", application.fromUser.rawValue)
      writer.member("toUser", application.toUser?.rawValue ?? "")
      writer.member("addTime", application.addTime)
      writer.member("requestMsg", application.requestMsg)
      writer.member("attach", ifPresent: application.attach)
      writer.member("handleStatus", handleStatus)
      if let handling = application.handling {
        writer.member("handleResult", handling.isAgreed ? "Agree" : "Refuse")
        writer.member("handledMsg", handling.message)
        writer.member("handledBy", handling.by.rawValue)
        writer.member("handledTime", handling.time)
      }
      writer.member("isRead", isRead)
    }
  }

  private var handleStatus: String {
    if application.handling == nil { return "Unhandled" }
    return isHandledByReader ? "HandledBySelf" : "HandledByOther"
  }
}

extension ApplicationInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("applicationID", "string"), ResultField("groupID", "string"),
    ResultField("type", NamedType.words(GroupApplication.Kind.self)), ResultField("fromUser", "string"),
    ResultField("toUser", "string"),
    ResultField("addTime", "integer"), ResultField("requestMsg", "string"), ResultField("attach?", "string"),
    ResultField("handleStatus", NamedType.quoted(["Unhandled", "HandledByOther", "HandledBySelf"])),
    ResultField("handleResult?", NamedType.quoted(["Agree", "Refuse"])), ResultField("handledMsg?", "string"),
    ResultField("handledBy?", "string"), ResultField("handledTime?", "integer"), ResultField("isRead", "boolean"),
  ]
}
