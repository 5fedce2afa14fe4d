import Foundation
import Logging
import SQLiteStore

/// Ends the process where it must not go on: the only place in which a server that serves ends by
/// itself.
struct ProcessEnd: Sendable {
  /// The exit status, EX_IOERR of sysexits.h: a service manager starts the server again.
  static let status: Int32 = 74

  let logger: Logger
  /// Nil = entries are written at once.
  let log: LogOutput?

  /// The disk has failed: the log says why, and sessions see their connections break, so no request
  /// whose outcome is unknown gets an answer.
  func callAsFunction(_ fault: DurabilityFault) -> Never {
    logger.critical("\(Self.reason(of: fault.step))", metadata: Self.metadata(of: fault))
    log?.flush(within: 1000)
    // `exit` would run handlers beside threads that still work.
    _exit(Self.status)
  }

  private static func reason(of step: DurabilityFault.Step) -> String {
    switch step {
    case .commit: "the process ends: a commit failed, and nobody can say whether it is on the disk"
    case .checkpoint: "the process ends: a checkpoint could not sync, and nobody can say what is on the disk"
    }
  }

  static func metadata(of fault: DurabilityFault) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "error": "\(fault)",
      "hint": "look at the disk: a service manager starts the server again, and clients repeat what was not answered",
    ]
    if let number = fault.systemError {
      metadata["errno"] = .stringConvertible(number)
      metadata["reason"] = "\(String(cString: strerror(number)))"
    }
    return metadata
  }
}
