import GroupModel
import WireProtocol

/// A search by searchGroups (Protocol.md, "Search"). It finds joined groups, and by groupID and
/// name groups whose policy says `isSearchable`. Members' texts find a group for its members alone,
/// or for its managers where `isMemberVisible` is off.
public struct GroupSearch: Sendable {
  /// A page of results.
  public struct Page: Sendable, Equatable {
    public let groups: [Membership]
    /// The start of the next page; 0 = this is the last.
    public let next: Int64

    /// A page with everything given.
    public init(groups: [Membership], next: Int64) {
      self.groups = groups
      self.next = next
    }
  }

  /// The user who searches; nil = an application administrator, for whom all groups count as
  /// joined.
  public let reader: UserID?
  public let fields: Set<SearchGroups.Field>
  /// Whether only joined groups are found.
  public let joinedOnly: Bool
  private let keywords: [String]
  private let ignoresCase: Bool

  /// A search for texts that contain any of the keywords.
  public init(
    _ keywords: [String], in fields: Set<SearchGroups.Field>, ignoresCase: Bool, joinedOnly: Bool = false, by reader: UserID?
  ) {
    self.joinedOnly = joinedOnly
    self.reader = reader
    self.fields = fields
    self.ignoresCase = ignoresCase
    self.keywords = ignoresCase ? keywords.map { $0.lowercased() } : keywords
  }

  /// Whether a text contains any of the keywords, byte for byte, or in lower case.
  public func matches(_ text: String) -> Bool {
    let text = ignoresCase ? text.lowercased() : text
    return keywords.contains { text.utf8.contains(sequence: $0.utf8) }
  }
}

extension SearchGroups.Field {
  /// Whether it is a text of members, not of the group.
  public var isOfMembers: Bool {
    switch self {
    case .groupID, .groupName: false
    case .memberUserID, .memberNameCard, .memberNickName: true
    }
  }
}

extension String.UTF8View {
  /// Whether the bytes hold those of another text.
  func contains(sequence: String.UTF8View) -> Bool {
    guard let first = sequence.first else { return true }
    var remainder = self[...]
    while let start = remainder.firstIndex(of: first) {
      if remainder[start...].starts(with: sequence) { return true }
      remainder = remainder[start...].dropFirst()
    }
    return false
  }
}
