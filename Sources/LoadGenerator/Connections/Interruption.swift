import Glibc
import Synchronization

/// Ctrl-C ends a run early, with the figures so far; a second one ends the process.
public enum Interruption {
  private static let flag = Atomic(false)

  /// Whether it came.
  static var came: Bool { flag.load(ordering: .relaxed) }

  /// From now on SIGINT and SIGTERM end the run, not the process.
  public static func catchSignals() {
    // Made before a signal handler needs it: making it there would not be safe.
    _ = came
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(SIGINT, &action, nil)
    sigaction(SIGTERM, &action, nil)
  }
}
