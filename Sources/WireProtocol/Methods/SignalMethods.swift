import GroupModel

/// Tells the members of a group something of the moment, which is kept nowhere.
public struct SendGroupSignal: GroupMethod {
  /// What it means, in the application's own word.
  public let name: String
  /// The application's data; nil = none.
  public let data: String?

  public static let specification = MethodSpecification(
    .sendGroupSignal, "Tells the members who are online something of the moment, which is kept nowhere.",
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .muted, .groupTooLargeForSignals, .groupMessageRate])

  public static let traits: MethodTraits<Self> = .writes(
    .always(.nothing), users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .message)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    name = try reader.requiredString("name", .signalName, "What it means, in the application's own word.")
    data = try reader.optionalString("data", .signalData, "Data of the application's own; absent = none.")
  }
}
