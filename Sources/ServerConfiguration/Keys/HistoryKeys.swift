/// The keys of `history.…` and `search.…` (Protocol.md, "Retention" and "Search of messages").
enum HistoryKeys {
  static let all: [any ConfigurationKey] = [
    workRetention, publicRetention, meetingRetention, workMaxMessages, publicMaxMessages, meetingMaxMessages, creationTip,
    searchMessages,
  ]

  static let workRetention = retention("work")
  static let publicRetention = retention("public")
  static let meetingRetention = retention("meeting")

  static let workMaxMessages = maxMessages("work")
  static let publicMaxMessages = maxMessages("public")
  static let meetingMaxMessages = maxMessages("meeting")

  static let creationTip = Key(
    "history.creationTip", .boolean, false, example: "true", since: "0.2.0",
    "Begin the history of each new group with a tip that names its first members.")

  static let searchMessages = Key(
    "search.messages", .boolean, false, example: "true", since: "0.1.0",
    "Index the texts of messages, so that searchGroupMessages finds them; it costs writes and disk.")

  private static func retention(_ groupType: String) -> Key<Duration> {
    Key(
      "history.retention.\(groupType)", .duration(.zero ... .seconds(4_294_967_295)), .zero, example: "90d", since: "0.1.0",
      "How long such a group keeps a message; 0 = for ever.")
  }

  private static func maxMessages(_ groupType: String) -> Key<Int> {
    Key(
      "history.maxMessages.\(groupType)", .integer(0...1_000_000_000, of: "messages"), 0, example: "10000", since: "0.1.0",
      "The newest messages that one such group keeps, tips included; 0 = all.")
  }
}
