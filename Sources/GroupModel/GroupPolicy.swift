/// The rule for joining without an invitation.
public enum JoinMode: String, CaseIterable, Sendable { case any = "Any", auth = "Auth", forbid = "Forbid" }
/// The lowest role that may invite others.
public enum InviteMode: String, CaseIterable, Sendable { case any = "Any", admin = "Admin", nobody = "Nobody" }
/// Whether an invited user is asked first.
public enum BeInviteMode: String, CaseIterable, Sendable { case none = "None", auth = "Auth" }
/// The lowest role that may edit.
public enum EditMode: String, CaseIterable, Sendable { case any = "Any", admin = "Admin", owner = "Owner" }
/// Whether the owner may quit; the group then gets another owner.
public enum OwnerQuitMode: String, CaseIterable, Sendable { case transfer = "Transfer", forbid = "Forbid" }

/// The messages that a member of a stored group may read: those since joining, or all.
public enum HistoryVisibility: String, CaseIterable, Sendable { case joined = "Joined", all = "All" }
/// Whether an attribute may be changed by everybody, or by its holder and managers alone.
public enum AttributeMode: String, CaseIterable, Sendable { case any = "Any", holder = "Holder" }

/// The fields of a policy by their wire names (Protocol.md, "Policies").
public enum PolicyField: String, CaseIterable, Sendable, Hashable {
  case joinMode, inviteMode, beInviteMode, updateInfoMode, updateCustomMode, ownerQuitMode
  case memberChangeNotification, isSearchable, isMemberVisible
  case historyVisibility
  case slowMode, attributeMode

  /// The values that a field takes.
  public enum Kind: Sendable, Equatable {
    /// One of these words.
    case words([String])
    /// True or false.
    case flag
    /// A whole number of these.
    case number(ClosedRange<Int64>)
  }

  /// The values that the field takes.
  public var kind: Kind {
    switch self {
    case .joinMode: .words(JoinMode.allCases.map(\.rawValue))
    case .inviteMode: .words(InviteMode.allCases.map(\.rawValue))
    case .beInviteMode: .words(BeInviteMode.allCases.map(\.rawValue))
    case .updateInfoMode, .updateCustomMode: .words(EditMode.allCases.map(\.rawValue))
    case .ownerQuitMode: .words(OwnerQuitMode.allCases.map(\.rawValue))
    case .memberChangeNotification, .isSearchable, .isMemberVisible: .flag
    case .historyVisibility: .words(HistoryVisibility.allCases.map(\.rawValue))
    case .slowMode: .number(0...GroupPolicy.maxSlowMode)
    case .attributeMode: .words(AttributeMode.allCases.map(\.rawValue))
    }
  }

  /// The words the field takes; empty for a field of another kind.
  public var words: [String] {
    if case .words(let words) = kind { words } else { [] }
  }

  /// The numbers the field takes; nil for a field of another kind.
  public var range: ClosedRange<Int64>? {
    if case .number(let range) = kind { range } else { nil }
  }
}

/// The value of a field as it stands on the wire.
public enum PolicyValue: Hashable, Sendable {
  case word(String)
  case flag(Bool)
  case number(Int64)
}

/// The choices of a group (Protocol.md, "Policies"). `GroupPermissions` holds the defaults of each
/// type, and which fields can be changed there.
public struct GroupPolicy: Hashable, Sendable {
  /// The most seconds that messages of one member may have to be apart: a day.
  public static let maxSlowMode: Seconds = 86_400

  /// The rule for joining without an invitation.
  public var joinMode: JoinMode
  /// The lowest role that may invite others.
  public var inviteMode: InviteMode
  /// Whether an invited user is asked first.
  public var beInviteMode: BeInviteMode
  /// The lowest role that may edit name, introduction, notification and faceURL.
  public var updateInfoMode: EditMode
  /// The lowest role that may edit customInfo.
  public var updateCustomMode: EditMode
  /// Whether the owner may quit.
  public var ownerQuitMode: OwnerQuitMode
  /// Whether members get events about other members.
  public var memberChangeNotification: Bool
  /// Whether searches of non-members find the group.
  public var isSearchable: Bool
  /// Whether ordinary members see the member list.
  public var isMemberVisible: Bool
  /// The messages that members may read: those since joining, or all.
  public var historyVisibility: HistoryVisibility
  /// How far apart the messages of an ordinary member are at least; 0 = as the member likes.
  public var slowMode: Seconds
  /// Who may change an attribute that somebody holds.
  public var attributeMode: AttributeMode

  /// A policy with every field given.
  public init(
    joinMode: JoinMode, inviteMode: InviteMode, beInviteMode: BeInviteMode, updateInfoMode: EditMode, updateCustomMode: EditMode,
    ownerQuitMode: OwnerQuitMode, memberChangeNotification: Bool, isSearchable: Bool, isMemberVisible: Bool,
    historyVisibility: HistoryVisibility, slowMode: Seconds = 0, attributeMode: AttributeMode = .any
  ) {
    self.joinMode = joinMode
    self.inviteMode = inviteMode
    self.beInviteMode = beInviteMode
    self.updateInfoMode = updateInfoMode
    self.updateCustomMode = updateCustomMode
    self.ownerQuitMode = ownerQuitMode
    self.memberChangeNotification = memberChangeNotification
    self.isSearchable = isSearchable
    self.isMemberVisible = isMemberVisible
    self.historyVisibility = historyVisibility
    self.slowMode = slowMode
    self.attributeMode = attributeMode
  }

  /// The value of one field.
  public subscript(field: PolicyField) -> PolicyValue {
    switch field {
    case .joinMode: .word(joinMode.rawValue)
    case .inviteMode: .word(inviteMode.rawValue)
    case .beInviteMode: .word(beInviteMode.rawValue)
    case .updateInfoMode: .word(updateInfoMode.rawValue)
    case .updateCustomMode: .word(updateCustomMode.rawValue)
    case .ownerQuitMode: .word(ownerQuitMode.rawValue)
    case .memberChangeNotification: .flag(memberChangeNotification)
    case .isSearchable: .flag(isSearchable)
    case .isMemberVisible: .flag(isMemberVisible)
    case .historyVisibility: .word(historyVisibility.rawValue)
    case .slowMode: .number(slowMode)
    case .attributeMode: .word(attributeMode.rawValue)
    }
  }

  /// Sets one field.
  /// - Returns: false, and nothing is changed, where the value is not one of the field's.
  @discardableResult
  public mutating func set(_ field: PolicyField, to value: PolicyValue) -> Bool {
    switch (field, value) {
    case (.joinMode, .word(let word)): Self.assign(word, to: &joinMode)
    case (.inviteMode, .word(let word)): Self.assign(word, to: &inviteMode)
    case (.beInviteMode, .word(let word)): Self.assign(word, to: &beInviteMode)
    case (.updateInfoMode, .word(let word)): Self.assign(word, to: &updateInfoMode)
    case (.updateCustomMode, .word(let word)): Self.assign(word, to: &updateCustomMode)
    case (.ownerQuitMode, .word(let word)): Self.assign(word, to: &ownerQuitMode)
    case (.memberChangeNotification, .flag(let flag)): Self.assign(flag, to: &memberChangeNotification)
    case (.isSearchable, .flag(let flag)): Self.assign(flag, to: &isSearchable)
    case (.isMemberVisible, .flag(let flag)): Self.assign(flag, to: &isMemberVisible)
    case (.historyVisibility, .word(let word)): Self.assign(word, to: &historyVisibility)
    case (.slowMode, .number(let seconds)): Self.assign(seconds, to: &slowMode, within: field.range)
    case (.attributeMode, .word(let word)): Self.assign(word, to: &attributeMode)
    default: false
    }
  }

  private static func assign<Mode: RawRepresentable<String>>(_ word: String, to field: inout Mode) -> Bool {
    guard let mode = Mode(rawValue: word) else { return false }
    field = mode
    return true
  }

  private static func assign(_ number: Int64, to field: inout Int64, within range: ClosedRange<Int64>?) -> Bool {
    guard let range, range.contains(number) else { return false }
    field = number
    return true
  }

  private static func assign(_ flag: Bool, to field: inout Bool) -> Bool {
    field = flag
    return true
  }
}
