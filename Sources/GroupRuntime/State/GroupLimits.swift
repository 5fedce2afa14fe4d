import GroupModel

/// How large groups may become, by configuration.
public struct GroupLimits: Sendable {
  /// `limits.{work,public,meeting}.maxMemberNum`; a type that is not there takes any number.
  public var maxMemberNum: [GroupType: Int]

  /// The contract's defaults: 6000 each.
  public static let standard = GroupLimits(maxMemberNum: [.work: 6000, .public: 6000, .meeting: 6000])

  /// Limits with everything given.
  public init(maxMemberNum: [GroupType: Int]) { self.maxMemberNum = maxMemberNum }
}
