/// The keys of `presence.…`, `moderation.…` and `reports.…` (Protocol.md, "Presence", "Words" and
/// "Reports").
enum PeopleKeys {
  static let all: [any ConfigurationKey] = [presenceVisibility, presenceGrace, wordsFile, wordAction, reportRetention]

  static let presenceVisibility = Key(
    "presence.visibility", .oneOfCases(), PresenceVisibility.everyone, example: "nobody", since: "0.2.0",
    "Who may ask for, watch and set the statuses of users; nobody switches them off, also for the application.")
  static let presenceGrace = Key(
    "presence.grace", .duration(.zero ... .seconds(3600)), .seconds(5), example: "30s", since: "0.2.0",
    "How long a user whose last session has ended is still shown as online; a return within it is no change.")

  static let wordsFile = Key(
    "moderation.wordsFile", ValueType.path.optional, nil, example: "/etc/throng/words.txt", since: "0.2.0",
    "A list of words that texts of users may not have, a line each, UTF-8, at most 1 MiB. SIGHUP reads it again.")
  static let wordAction = Key(
    "moderation.action", .oneOfCases(), WordAction.refuse, example: "mask", since: "0.2.0",
    "What becomes of a text with such a word: it is refused, or each character of the word becomes a star.")

  static let reportRetention = Key(
    "reports.retention", .duration(.seconds(3600) ... .seconds(3650 * 86_400)), .seconds(90 * 86_400), example: "30d",
    since: "0.2.0", "How long a report of a message is kept, from when it was last made.")
}

/// Who sees the statuses of users (`presence.visibility`).
public enum PresenceVisibility: String, CaseIterable, Sendable { case everyone, nobody }

/// What becomes of a text with a word of the list (`moderation.action`).
public enum WordAction: String, CaseIterable, Sendable { case refuse, mask }
