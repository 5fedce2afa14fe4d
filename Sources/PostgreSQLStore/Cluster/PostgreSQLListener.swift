import Dispatch
import Foundation
import Logging
import Synchronization

/// Waits for notifications on a connection and a thread of its own. A lost connection is made again.
final class PostgreSQLListener: Sendable {
  typealias Notification = (channel: String, payload: String)

  private struct State {
    var channels: Set<String> = []
    /// Channels for the thread to begin or to end.
    var commands: [(sql: String, done: (@Sendable (Bool) -> Void)?)] = []
    var didNotify: (@Sendable ([Notification]) -> Void)?
    var didReconnect: (@Sendable () -> Void)?
    var didLose: (@Sendable () -> Void)?
    var isRunning = false
    var isClosed = false
  }

  private let name: String
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let logger: Logger
  private let state = Mutex(State())
  private let wakeInput: FileHandle
  private let wakeOutput: FileHandle
  /// An idle connection is asked so often whether it lives, in milliseconds.
  private static let checkInterval: Int32 = 1_000

  init(_ name: String, connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection, logger: Logger) {
    self.name = name
    self.connect = connect
    self.logger = logger
    let pipe = Pipe()
    (wakeInput, wakeOutput) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
  }

  /// Called on the listener's thread with those that have come together, in the order of their commits.
  func onNotifications(_ body: @escaping @Sendable ([Notification]) -> Void) { state.withLock { $0.didNotify = body } }

  /// Called on the listener's thread when notifications may have been missed.
  func onReconnect(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.didReconnect = body } }

  /// Called on the listener's thread when the connection is lost.
  func onLoss(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.didLose = body } }

  /// Begins to listen.
  /// - Parameter done: told whether the server listens; false without a connection, which will.
  func listen(to channel: String, _ done: (@Sendable (Bool) -> Void)? = nil) {
    let mustStart = state.withLock { state in
      state.channels.insert(channel)
      state.commands.append(("LISTEN \"\(channel)\"", done))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { Thread.detachNewThread { [self] in run() } }
    wake()
  }

  func unlisten(_ channel: String) {
    state.withLock { state in
      state.channels.remove(channel)
      state.commands.append(("UNLISTEN \"\(channel)\"", nil))
    }
    wake()
  }

  /// Ends the thread.
  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  private func wake() { try? wakeOutput.write(contentsOf: [0]) }

  // MARK: The thread

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private func run() {
    var wasConnected = false
    while !isClosed {
      do {
        let connection = try connect()
        try beginAll(connection)
        if wasConnected { state.withLock { $0.didReconnect }?() }
        wasConnected = true
        while !isClosed { try serve(connection) }
      } catch {
        if isClosed { break }
        logger.warning("notifications are not heard", metadata: ["of": "\(name)", "error": "\(error)"])
        state.withLock { $0.didLose }?()
        finishCommands()
        pause()
      }
    }
    finishCommands()
  }

  /// Listens to all channels of a new connection, those of waiting commands included.
  private func beginAll(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    let (channels, commands) = state.withLock { state in
      defer { state.commands = [] }
      return (state.channels, state.commands)
    }
    do throws(PostgreSQLError) {
      for channel in channels { try connection.run("LISTEN \"\(channel)\"") }
      for command in commands { command.done?(true) }
    } catch {
      for command in commands { command.done?(false) }
      throw error
    }
  }

  private func serve(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    let start = DispatchTime.now().uptimeNanoseconds
    try connection.waitForInput(orWake: wakeInput.fileDescriptor, milliseconds: Self.checkInterval)
    clearWakes()
    deliver(connection.notifications())
    while let command = state.withLock({ $0.commands.isEmpty ? nil : $0.commands.removeFirst() }) {
      do throws(PostgreSQLError) {
        try connection.run(command.sql)
        command.done?(true)
      } catch {
        command.done?(false)
        throw error
      }
    }
    let waited = DispatchTime.now().uptimeNanoseconds - start
    if waited >= UInt64(Self.checkInterval) * 1_000_000 { try connection.run("SELECT 1") }
    deliver(connection.notifications())
  }

  private func deliver(_ notifications: [Notification]) {
    if !notifications.isEmpty { state.withLock { $0.didNotify }?(notifications) }
  }

  private func clearWakes() {
    var poll = pollfd(fd: wakeInput.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while Foundation.poll(&poll, 1, 0) == 1 {
      var bytes = [UInt8](repeating: 0, count: 256)
      if read(wakeInput.fileDescriptor, &bytes, bytes.count) < bytes.count { return }
    }
  }

  /// Between two attempts to connect; a wake ends it.
  private func pause() {
    var poll = pollfd(fd: wakeInput.fileDescriptor, events: Int16(POLLIN), revents: 0)
    _ = Foundation.poll(&poll, 1, 200)
    clearWakes()
  }

  private func finishCommands() {
    for command in state.withLock({ state in
      defer { state.commands = [] }
      return state.commands
    }) { command.done?(false) }
  }
}
