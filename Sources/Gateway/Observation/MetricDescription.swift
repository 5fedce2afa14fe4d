import GroupModel

/// A metric of this module, for its exposition.
public struct MetricDescription: Sendable {
  /// A timer is a histogram of seconds.
  public enum Kind: Sendable { case counter, gauge, timer }

  /// The name of the series.
  public let name: String
  /// How it is exposed.
  public let kind: Kind
  /// A sentence for the operator.
  public let help: String

  /// Every metric of this module.
  public static let all: [MetricDescription] = [
    .init(name: "throng_requests_total", kind: .counter, help: "Answered requests by method and code; code 0 = success."),
    .init(name: "throng_request_duration_seconds", kind: .timer, help: "From a request's arrival to its answer, by method."),
    .init(name: "throng_messages_accepted_total", kind: .counter, help: "Messages that were accepted, by type and priority."),
    .init(
      name: "throng_messages_delivered_total", kind: .counter, help: "Messages handed to a group's members, by type and priority."
    ),
    .init(
      name: "throng_messages_dropped_total", kind: .counter,
      help: "Messages that found no place within the group's rate, by type and priority."),
    .init(
      name: "throng_messages_waiting", kind: .gauge,
      help: "Messages that wait for a slot of their group's rate, by type and priority."),
    .init(
      name: "throng_signals_total", kind: .counter,
      help: "Signals by result: delivered to members, merged with a newer one, dropped, or refused."),
    .init(
      name: "throng_upgrades_refused_total", kind: .counter, help: "WebSocket upgrades answered with a status, by reason."),
    .init(
      name: "throng_connections_dropped_total", kind: .counter,
      help: "Connections that were closed before they had a request, or while that was served, by reason."),
    .init(name: "throng_sign_ins_refused_total", kind: .counter, help: "Sign-ins and renewals that were refused, by code."),
    .init(name: "throng_reports_total", kind: .counter, help: "Reports of messages that members have made, renewed ones too."),
    .init(
      name: "throng_status_events_total", kind: .counter, help: "onUsersStatusChanged events, each for one session."),
    .init(name: "throng_status_rows_total", kind: .counter, help: "Statuses in these events."),
    .init(
      name: "throng_user_deletion_rows_total", kind: .counter,
      help: "What deletions of users have erased, by groups and by rows, by step."),
    .init(name: "throng_http_refused_total", kind: .counter, help: "Refused HTTP requests by status, upgrades aside."),
  ]
}

extension GroupType {
  /// The labels of a sample that counts for this type. `groupType` is the name that 0.1.0 gave: it
  /// stays beside the new one in 0.2 and goes with 0.3.0 (Releases.md).
  public var metricLabels: [(String, String)] { [("groupType", rawValue), ("group_type", rawValue)] }
}
