import GroupModel

/// The keys of `webhook.…` (Protocol.md, "Webhooks").
enum WebhookKeys {
  static let all: [any ConfigurationKey] = [url, secret, events, timeout, onFailure, retention, connections, maxPending]

  static let url = Key(
    "webhook.url", .webhookURL, nil, example: "https://backend.example.com/throng", since: "0.1.0",
    "Where the application's webhooks are posted to; empty = nowhere. It needs webhook.secret.")
  static let secret = Key(
    "webhook.secret", ValueType.webhookSecret.optional, nil, isSecret: true,
    example: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", since: "0.1.0",
    "The secret that signs webhooks, as Standard Webhooks write it.")
  static let events = Key(
    "webhook.events", .webhookTypes, WebhookType.notices.map(\.rawValue),
    example: "messageSent,memberJoined,offlinePush", since: "0.1.0",
    "What is posted. Names that begin with before are asked and waited for.")
  static let timeout = Key(
    "webhook.timeout", .duration(.milliseconds(10) ... .seconds(60)), .seconds(2), example: "500ms", since: "0.1.0",
    "How long a request may take, from its leaving to the answer's end. A before-event waits as long to leave.")
  static let onFailure = Key(
    "webhook.onFailure", .oneOfCases(), WebhookFailurePolicy.allow, example: "refuse", since: "0.1.0",
    "What happens where the receiver fails a before-event: no answer in time, or one that makes no sense.")
  static let retention = Key(
    "webhook.retention", .duration(.zero ... .seconds(4_294_967_295)), .seconds(86_400), example: "3d", since: "0.1.0",
    "How long a request that fails is tried again, until it is kept for listWebhookFailures.")
  static let connections = Key(
    "webhook.connections", .integer(1...10_000, of: "connections"), 8, example: "32", since: "0.1.0",
    "The connections to the receiver, and so the requests at a time.")
  static let maxPending = Key(
    "webhook.maxPending", .integer(1...100_000_000, of: "requests"), 1_000_000, example: "100000", since: "0.1.0",
    "The requests that may wait; beyond it the oldest are given up. As many of those that were given up are kept.")
}

/// The decision where a before-event has failed (`webhook.onFailure`).
public enum WebhookFailurePolicy: String, CaseIterable, Sendable { case allow, refuse }
