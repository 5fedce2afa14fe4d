import GroupModel
import WireProtocol

/// A search by searchGroups (Protocol.md, "Search").
///
/// Joined groups are found, and other groups whose policy says `isSearchable`; those who are no members find by groupID and name only. What
/// members are called finds a group for its members alone, and where `isMemberVisible` is off for its managers alone.
public struct GroupSearch: Sendable {
  /// A page of what was found.
  public struct Page: Sendable, Equatable {
    public let groups: [Membership]
    /// Where the next page begins; 0 = everything was looked at.
    public let next: Int64

    /// A page with everything given.
    public init(groups: [Membership], next: Int64) {
      self.groups = groups
      self.next = next
    }
  }

  /// Who searches; nil = an application administrator, to whom every group is as if joined.
  public let reader: UserID?
  public let fields: Set<SearchGroups.Field>
  private let keywords: [String]
  private let ignoresCase: Bool

  /// A search for texts that hold any of the keywords.
  public init(_ keywords: [String], in fields: Set<SearchGroups.Field>, ignoresCase: Bool, by reader: UserID?) {
    self.reader = reader
    self.fields = fields
    self.ignoresCase = ignoresCase
    self.keywords = ignoresCase ? keywords.map { $0.lowercased() } : keywords
  }

  /// Whether a text holds any of the keywords, byte for byte, or in lower case where case is ignored.
  public func matches(_ text: String) -> Bool {
    let text = ignoresCase ? text.lowercased() : text
    return keywords.contains { text.utf8.contains(sequence: $0.utf8) }
  }
}

extension SearchGroups.Field {
  /// Whether it is a member's text, not the group's.
  public var isOfMembers: Bool { self == .memberUserID || self == .memberNameCard }
}

extension String.UTF8View {
  fileprivate func contains(sequence: String.UTF8View) -> Bool {
    guard let first = sequence.first else { return true }
    var rest = self[...]
    while let start = rest.firstIndex(of: first) {
      if rest[start...].starts(with: sequence) { return true }
      rest = rest[start...].dropFirst()
    }
    return false
  }
}
