#if DEBUG
  import Dispatch
  import Foundation
  import Glibc
  import GroupModel
  import GroupRuntime
  import ServerConfiguration
  import Synchronization
  import WebSocketTransport

  /// The time of a server under test, which the test freezes, advances and lets run, over the socket
  /// of `THRONG_TEST_CLOCK=unix:PATH`; with `#MS` behind the path it stands still from the start, at so
  /// many milliseconds since 1970. Each command is a line, and so is its answer:
  ///
  ///     freeze          stops the time
  ///     advance MS      lets so many milliseconds pass, and does all that becomes due on the way
  ///     run             lets it pass by itself again
  ///
  /// The answer is `ok WALL`, the wall clock in milliseconds since 1970, or `error REASON`.
  ///
  /// Everything of the server goes by it but what waits for others: the time limits of the database,
  /// and the window in which a topic's messages are collected.
  final class TestClock: Clocks, Alarms, Sendable {
    private struct Alarm {
      let instant: MonotonicInstant
      let queue: any WorkQueue
      let body: @Sendable () -> Void
    }

    private struct State {
      /// The readings while the time is frozen.
      var frozen: ClockReading?
      /// How far the clocks are behind the system's while it runs, in nanoseconds and milliseconds.
      var lag: (monotonic: Int64, wall: Int64) = (0, 0)
      var alarms: [Alarm] = []

      var now: ClockReading {
        if let frozen { return frozen }
        let system = SystemClocks().now
        return ClockReading(
          wall: system.wall.advanced(byMilliseconds: -lag.wall),
          monotonic: MonotonicInstant(nanoseconds: system.monotonic.nanoseconds - lag.monotonic))
      }

      mutating func popDue() -> [Alarm] {
        let now = now.monotonic
        let due = alarms.filter { $0.instant <= now }.sorted { $0.instant < $1.instant }
        alarms.removeAll { $0.instant <= now }
        return due
      }
    }

    /// The clock that the loops' C code reads: a process has one.
    private static let shared = Mutex<TestClock?>(nil)

    private let state = Mutex(State())
    private let server = Mutex<AdvancedServer?>(nil)
    /// The loops' timers are as fine as this, and so is the least step.
    private static let step: Int64 = 100
    /// The most steps of one command.
    private static let steps: Int64 = 600

    /// Listens for commands, on a thread of its own.
    /// - Parameter place: `unix:PATH`, of a socket that is not there yet, or `unix:PATH#MS`.
    init(at place: String) throws(StartError) {
      let parts = place.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      guard let path = parts.first, path.hasPrefix("unix:") else {
        throw StartError("\(Settings.testClockVariable): not unix:PATH: \(place)")
      }
      if let wall = parts.dropFirst().first.flatMap({ Int64($0) }) {
        let frozen = ClockReading(wall: WallInstant(milliseconds: wall), monotonic: SystemClocks().monotonic)
        state.withLock { $0.frozen = frozen }
      }
      let listener = try TestClock.listen(at: String(path.dropFirst("unix:".count)))
      TestClock.shared.withLock { $0 = self }
      Thread.detachNewThread { [self] in
        while true { serve(accept(listener, nil, nil)) }
      }
    }

    var wall: WallInstant { state.withLock { $0.now.wall } }
    var monotonic: MonotonicInstant { state.withLock { $0.now.monotonic } }

    /// The clock of the loops.
    static let loopClock: @convention(c) () -> UInt64 = {
      UInt64(clamping: (shared.withLock { $0 }?.monotonic.nanoseconds ?? 0) / 1_000_000)
    }

    /// The server that does what becomes due.
    func use(_ server: AdvancedServer) { self.server.withLock { $0 = server } }

    // MARK: Alarms

    func schedule(at instant: MonotonicInstant, on queue: any WorkQueue, _ body: @escaping @Sendable () -> Void) {
      let (wait, isFrozen) = state.withLock { state in
        state.alarms.append(Alarm(instant: instant, queue: queue, body: body))
        return (instant - state.now.monotonic, state.frozen != nil)
      }
      // What was due before the time moved on does not wait for its next move.
      if !isFrozen || wait <= .zero { wake(after: wait) }
    }

    private func wake(after wait: Duration) {
      // Alarms that lie further ahead than this are looked at again when the time is frozen, or never.
      guard wait < .seconds(1_000_000) else { return }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(max(.zero, wait).wholeMilliseconds) + 1)) {
        for alarm in self.state.withLock({ $0.popDue() }) { alarm.queue.perform(alarm.body) }
      }
    }

    // MARK: Commands

    private func freeze() { state.withLock { $0.frozen = $0.now } }

    private func run() {
      let waits = state.withLock { state -> [Duration] in
        guard let frozen = state.frozen else { return [] }
        state.frozen = nil
        let system = SystemClocks().now
        state.lag = (
          system.monotonic.nanoseconds(since: frozen.monotonic), system.wall.milliseconds(since: frozen.wall)
        )
        return state.alarms.map { $0.instant - frozen.monotonic }
      }
      for wait in waits { wake(after: wait) }
    }

    /// Moves the time alarm by alarm, and at least so often that the loops' timers come in their order.
    /// Over more than a minute all that is due in a step comes at its end.
    private func advance(by length: Int64) {
      let start = state.withLock { $0.now.monotonic }
      let end = start.advanced(byMilliseconds: length)
      let step = max(TestClock.step, length / TestClock.steps)
      var now = start
      while true {
        now = state.withLock { state in
          let alarm = step > TestClock.step ? nil : state.alarms.map(\.instant).min()
          let next = min(end, now.advanced(byMilliseconds: step), max(now, alarm ?? .distantFuture))
          move(&state, to: next)
          return next
        }
        performDue()
        settle()
        // What has been done may have made something due at the same instant.
        if now == end, state.withLock({ state in !state.alarms.contains { $0.instant <= end } }) { return }
      }
    }

    private func move(_ state: inout State, to next: MonotonicInstant) {
      guard let frozen = state.frozen else { return }
      // Whole milliseconds of both clocks, so that they stay together.
      let passed = next.nanoseconds / 1_000_000 - frozen.monotonic.nanoseconds / 1_000_000
      state.frozen = ClockReading(wall: frozen.wall.advanced(byMilliseconds: passed), monotonic: next)
    }

    private func performDue() {
      for alarm in state.withLock({ $0.popDue() }) {
        let isDone = DispatchSemaphore(value: 0)
        alarm.queue.perform {
          alarm.body()
          isDone.signal()
        }
        isDone.wait()
      }
    }

    /// Lets the loops' timers fire, and waits for what groups have begun to store, and for the events
    /// that follow from it.
    private func settle() {
      guard let server = server.withLock({ $0 }) else { return }
      onLoops(of: server) { $0.runTimers() }
      let isStored = DispatchSemaphore(value: 0)
      // The answers of commits come in their order.
      server.store.commit(Commit(changes: [], generation: CommitGeneration()) { _ in isStored.signal() })
      isStored.wait()
      onLoops(of: server) { _ in }
    }

    private func onLoops(of server: AdvancedServer, _ body: @escaping @Sendable (EventLoop) -> Void) {
      let isDone = DispatchSemaphore(value: 0)
      for loop in server.loops {
        loop.enqueue {
          body(loop)
          isDone.signal()
        }
      }
      for _ in server.loops { isDone.wait() }
    }

    // MARK: The socket

    private static func listen(at path: String) throws(StartError) -> Int32 {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      let fits = withUnsafeMutableBytes(of: &address.sun_path) { place -> Bool in
        guard bytes.count < place.count else { return false }
        place.copyBytes(from: bytes)
        return true
      }
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
      guard fits, isBound, Glibc.listen(listener, 4) == 0 else {
        throw StartError("\(Settings.testClockVariable): cannot listen at \(path): \(String(cString: strerror(errno)))")
      }
      return listener
    }

    private func serve(_ connection: Int32) {
      defer { close(connection) }
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while read(connection, &byte, 1) == 1 {
        guard byte == UInt8(ascii: "\n") else {
          line.append(byte)
          continue
        }
        let answer = Array((answer(to: String(decoding: line, as: UTF8.self)) + "\n").utf8)
        line = []
        guard write(connection, answer, answer.count) == answer.count else { return }
      }
    }

    private func answer(to command: String) -> String {
      let words = command.split(separator: " ")
      switch words.first {
      case "freeze": freeze()
      case "run": run()
      case "advance":
        guard let length = words.dropFirst().first.flatMap({ Int64($0) }), length >= 0, state.withLock({ $0.frozen != nil })
        else {
          return "error advance takes milliseconds, and the time must be frozen"
        }
        advance(by: length)
      default: return "error not a command: \(command)"
      }
      return "ok \(wall.milliseconds)"
    }
  }

  extension ServerTime {
    /// The time that a test moves.
    init(_ clock: TestClock) {
      self.init(clocks: clock, alarms: clock, loopClock: TestClock.loopClock, onAdvance: { clock.use($0) })
    }
  }
#endif
