/// Who may join, and how.
public enum JoinMode: String, CaseIterable, Sendable { case any = "Any", auth = "Auth", forbid = "Forbid" }
/// Who may invite others.
public enum InviteMode: String, CaseIterable, Sendable { case any = "Any", admin = "Admin", nobody = "Nobody" }
/// Whether somebody invited is asked first.
public enum BeInviteMode: String, CaseIterable, Sendable { case none = "None", auth = "Auth" }
/// Who may edit.
public enum EditMode: String, CaseIterable, Sendable { case any = "Any", admin = "Admin", owner = "Owner" }
/// What the owner's quitting does.
public enum OwnerQuitMode: String, CaseIterable, Sendable { case transfer = "Transfer", forbid = "Forbid" }

/// The fields of a policy by their wire names (contract section 3).
public enum PolicyField: String, CaseIterable, Sendable, Hashable {
  case joinMode, inviteMode, beInviteMode, updateInfoMode, updateCustomMode, ownerQuitMode
  case memberChangeNotification, isSearchable, isMemberVisible

  /// The words the field takes; empty for a true-or-false field.
  public var words: [String] {
    switch self {
    case .joinMode: JoinMode.allCases.map(\.rawValue)
    case .inviteMode: InviteMode.allCases.map(\.rawValue)
    case .beInviteMode: BeInviteMode.allCases.map(\.rawValue)
    case .updateInfoMode, .updateCustomMode: EditMode.allCases.map(\.rawValue)
    case .ownerQuitMode: OwnerQuitMode.allCases.map(\.rawValue)
    case .memberChangeNotification, .isSearchable, .isMemberVisible: []
    }
  }

  /// Whether the field is true or false, not a word.
  public var isFlag: Bool { words.isEmpty }
}

/// One field's value as it stands on the wire.
public enum PolicyValue: Hashable, Sendable {
  case word(String)
  case flag(Bool)
}

/// The choices a group has made (contract section 3). The defaults of each type, and which fields a type lets change, are in
/// `GroupPermissions`.
public struct GroupPolicy: Hashable, Sendable {
  /// Who may join without being invited.
  public var joinMode: JoinMode
  /// Who may invite.
  public var inviteMode: InviteMode
  /// Whether the invited are asked first.
  public var beInviteMode: BeInviteMode
  /// Who may edit name, texts and URL.
  public var updateInfoMode: EditMode
  /// Who may edit customInfo.
  public var updateCustomMode: EditMode
  /// What the owner's quitting does.
  public var ownerQuitMode: OwnerQuitMode
  /// Whether members hear of others coming, going and changing.
  public var memberChangeNotification: Bool
  /// Whether those who are no members find the group.
  public var isSearchable: Bool
  /// Whether ordinary members see who the others are.
  public var isMemberVisible: Bool

  /// A policy with every field given.
  public init(
    joinMode: JoinMode, inviteMode: InviteMode, beInviteMode: BeInviteMode, updateInfoMode: EditMode, updateCustomMode: EditMode,
    ownerQuitMode: OwnerQuitMode, memberChangeNotification: Bool, isSearchable: Bool, isMemberVisible: Bool
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
    }
  }

  /// Sets one field; false, and nothing changed, where the value is not one of the field's.
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
    default: false
    }
  }

  private static func assign<Mode: RawRepresentable<String>>(_ word: String, to field: inout Mode) -> Bool {
    guard let mode = Mode(rawValue: word) else { return false }
    field = mode
    return true
  }

  private static func assign(_ flag: Bool, to field: inout Bool) -> Bool {
    field = flag
    return true
  }
}
