import GroupModel
import WireProtocol

/// What all groups of a process share.
public struct GroupServices: Sendable {
  public let groups: any GroupStore
  public let messages: any MessageStore
  public let broker: any Broker
  public let clock: any WallClock
  public let uptime: any Uptime
  public let alarms: any Alarms
  public let rules: GroupRules
  public let observer: any GroupObserver

  /// Services with everything given; the uptime is the system's where it is not.
  public init(
    groups: any GroupStore, messages: any MessageStore, broker: any Broker, clock: any WallClock,
    uptime: any Uptime = SystemUptime(), alarms: any Alarms, rules: GroupRules, observer: any GroupObserver
  ) {
    self.groups = groups
    self.messages = messages
    self.broker = broker
    self.clock = clock
    self.uptime = uptime
    self.alarms = alarms
    self.rules = rules
    self.observer = observer
  }
}

/// Hears of what operators want to count or read in a log. Called on the executors of groups; must not block.
public protocol GroupObserver: Sendable {
  /// Something has become of a message.
  func didCount(_ message: MessageCount)
  /// A group's changes could not be made durable, or a group could not be read.
  func storeFailed(_ error: StoreError, group: GroupID)
}
