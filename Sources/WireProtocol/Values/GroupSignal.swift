import GroupModel

/// A signal as members hear it (Protocol.md, "Signals"): something of the moment, such as that somebody
/// is typing. It is kept nowhere.
public struct GroupSignal: Sendable, Equatable {
  /// What it means, in the application's own word.
  public let name: String
  /// The application's data; nil = none was given.
  public let data: String?
  /// The user, or `administrator`.
  public let sender: UserID
  /// The sender's name card; empty = none.
  public let nameCard: String

  /// A signal with everything given.
  public init(name: String, data: String?, sender: UserID, nameCard: String) {
    self.name = name
    self.data = data
    self.sender = sender
    self.nameCard = nameCard
  }

  /// Gives its members, the nickName of the sender's profile among them.
  func encodeFields<Writer: FieldWriter & ~Copyable>(of profile: UserProfile?, into writer: inout Writer) {
    writer.member("name", name)
    writer.member("data", ifPresent: data)
    writer.member("sender", sender.rawValue)
    writer.member("nameCard", ifPresent: GroupSignal.given(nameCard))
    writer.member("nickName", ifPresent: GroupSignal.given(profile?.nickName ?? ""))
  }

  private static func given(_ text: String) -> String? { text.isEmpty ? nil : text }
}
