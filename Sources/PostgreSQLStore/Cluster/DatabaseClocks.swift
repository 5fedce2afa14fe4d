import GroupModel
import GroupRuntime
import Synchronization

/// The clocks of a node. Its wall clock is the database's: all nodes show the same time, whatever
/// their machines say. Between two readings it goes on with the monotonic clock.
final class DatabaseClocks: Clocks {
  private let machine: any Clocks
  /// Milliseconds from the machine's monotonic clock to the wall clock.
  private let difference: Atomic<Int64>

  /// Shows the machine's wall clock before the first reading.
  init(_ machine: any Clocks = SystemClocks()) {
    self.machine = machine
    difference = Atomic(machine.wall.milliseconds - machine.monotonic.wholeMilliseconds)
  }

  var wall: WallInstant {
    WallInstant(milliseconds: machine.monotonic.wholeMilliseconds + difference.load(ordering: .relaxed))
  }

  var monotonic: MonotonicInstant { machine.monotonic }

  /// How far the machine's wall clock is ahead.
  var machineLead: Duration { machine.wall - wall }

  /// Reads the database's clock, and corrects the wall clock where it cannot be right: as little as
  /// the time of the reading allows, so that it seldom moves.
  /// - Parameter read: asks for the milliseconds since the start of 1970 beside what it returns.
  func correct<Value>(by read: () throws -> (time: Int64, value: Value)) rethrows -> Value {
    let sent = machine.monotonic.wholeMilliseconds
    let (time, value) = try read()
    // Rounded up: the database may have read its clock at the end of the millisecond.
    let received = machine.monotonic.wholeMilliseconds + 1
    let known = difference.load(ordering: .relaxed)
    difference.store(min(max(known, time - received), time - sent), ordering: .relaxed)
    return value
  }

  /// The column of a query for `correct`.
  static let column = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
}

extension MonotonicInstant {
  fileprivate var wholeMilliseconds: Int64 { nanoseconds / 1_000_000 }
}
