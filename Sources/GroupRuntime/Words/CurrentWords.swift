import Synchronization
import WireProtocol

/// The list of words in use, which all groups and the gateway share, and a reload replaces.
public final class CurrentWords: Sendable {
  /// What becomes of a text with one of the words (`moderation.action`).
  public enum Action: String, CaseIterable, Sendable {
    case refuse, mask
  }

  /// The texts that are compared, by their parameters.
  public enum Field: String, CaseIterable, Sendable {
    case text, groupName, introduction, notification, nameCard, nickName
  }

  /// What becomes of such texts.
  public let action: Action
  private let current: Mutex<WordList>
  /// The texts that had one of the words since the start.
  private let matches = Mutex<[Field: Int]>([:])

  /// Words with which texts are compared from here on.
  public init(_ list: WordList, _ action: Action) {
    current = Mutex(list)
    self.action = action
  }

  /// The list in use.
  public var list: WordList { current.withLock { $0 } }

  /// Another list takes the place of the one in use.
  public func replace(with list: WordList) { current.withLock { $0 = list } }

  /// How many texts had one of the words, by field.
  public var matchCounts: [Field: Int] { matches.withLock { $0 } }

  /// The text as it may go on.
  /// - Parameter counts: false = the same text was compared a moment ago.
  /// - Throws: 10016 for a text that is refused.
  public func filter(_ text: String, _ field: Field, counts: Bool = true) throws(WireError) -> String {
    switch action {
    case .refuse:
      guard list.hasMatch(in: text) else { return text }
      if counts { note(field) }
      throw WireError(.refusedByApplication, "It has a word that is not allowed", field: field.rawValue)
    case .mask:
      guard let masked = list.masked(text) else { return text }
      if counts { note(field) }
      return masked
    }
  }

  /// The same for a text that need not be given.
  func filter(ifGiven text: String?, _ field: Field, counts: Bool) throws(WireError) -> String? {
    guard let text else { return nil }
    return try filter(text, field, counts: counts)
  }

  private func note(_ field: Field) { matches.withLock { $0[field, default: 0] += 1 } }
}
