import Synchronization
import Testing

@testable import WebSocketTransport

@Suite struct ExecutorTests {
  /// An actor pinned to a loop.
  private actor Counter {
    let executor: LoopExecutor
    private(set) var numbers: [Int] = []

    init(executor: LoopExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func add(_ number: Int) { numbers.append(number) }
    func isOnLoop(_ loop: EventLoop) -> Bool { loop.isCurrent }
  }

  @Test func workOfOneThreadRunsInItsOrder() async throws {
    try await TestServer.with { running in
      let counter = Counter(executor: running.loop.executor)
      let done = EventQueue<Void>()
      for number in 0..<10_000 {
        running.loop.enqueue { counter.assumeIsolated { $0.add(number) } }
      }
      running.loop.enqueue { done.add(()) }
      try done.next()
      #expect(await counter.numbers == Array(0..<10_000))
      #expect(await counter.isOnLoop(running.loop))
    }
  }

  @Test func performRunsAtOnceOnTheLoopAndEnqueueLater() async throws {
    try await TestServer.with { running in
      let order = try running.onLoop {
        let log = Log()
        running.loop.enqueue { log.add("enqueued") }
        running.loop.perform { log.add("performed") }
        log.add("after")
        return log
      }
      _ = try running.onLoop {}
      #expect(order.words == ["performed", "after", "enqueued"])
    }
  }

  /// A background body also waits for work queued after it.
  @Test func backgroundWorkIsDoneOneByOneBehindEverythingElse() async throws {
    try await TestServer.with { running in
      let done = EventQueue<Void>()
      let order = try running.onLoop {
        let log = Log()
        running.loop.enqueueInBackground {
          log.add("first")
          running.loop.enqueue { log.add("of the first") }
        }
        running.loop.enqueueInBackground {
          log.add("second")
          done.add(())
        }
        running.loop.enqueue { running.loop.enqueue { log.add("queued") } }
        return log
      }
      try done.next()
      #expect(order.words == ["queued", "first", "of the first", "second"])
    }
  }

  /// A background body runs at the end of each drain.
  @Test func aDrainRunsSoManyJobsHoweverManyWait() async throws {
    try await TestServer.with { running in
      let done = EventQueue<Int>()
      _ = try running.onLoop {
        running.loop.enqueueInBackground {
          let log = Log()
          for _ in 0..<2 * LoopExecutor.budget + 1 { running.loop.enqueue { log.add("job") } }
          for _ in 0..<3 { running.loop.enqueueInBackground { done.add(log.words.count) } }
        }
      }
      let counts = [try done.next(), try done.next(), try done.next()]
      #expect(counts == [LoopExecutor.budget, 2 * LoopExecutor.budget, 2 * LoopExecutor.budget + 1])
    }
  }

  @Test func workWhoseWakesAreJoinedRunsBehindThem() async throws {
    try await TestServer.with { running in
      let done = EventQueue<[String]>()
      let log = Log()
      LoopExecutor.joiningWakes {
        LoopExecutor.joiningWakes { running.loop.enqueue { log.add("first") } }
        running.loop.enqueue { log.add("second") }
        running.loop.enqueue { done.add(log.words) }
      }
      let words = try done.next()
      #expect(words == ["first", "second"])
      // Later work wakes the loop by itself.
      running.loop.enqueue { done.add([]) }
      _ = try done.next()
    }
  }

  @Test func callbacksAreIsolatedToActorsOfTheLoop() async throws {
    let seen = EventQueue<[Int]>()
    let behaviour = TestServer.Behaviour(receive: { connection, bytes, _ in
      let counter = Counter(executor: connection.loop.executor)
      seen.add(
        counter.assumeIsolated {
          $0.add(bytes.count)
          return $0.numbers
        })
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let (client, _) = try running.connect()
      try client.send("four")
      #expect(try seen.next() == [4])
    }
  }

  @Test func endlessWorkDoesNotStarveSockets() async throws {
    try await TestServer.with(behaviour: .init(receive: { connection, bytes, _ in connection.send(bytes) })) { running in
      let spinner = Spinner()
      defer { spinner.stop() }
      spinner.spin(on: running.loop)
      let (client, _) = try running.connect()
      try client.send("hello")
      #expect(try client.receiveText() == "hello")
    }
  }

  @Test func workAfterTheEndStillRuns() async throws {
    let transport = try Transport(TransportConfiguration(loops: 2), delegate: RefusingDelegate())
    transport.start()
    let counter = Counter(executor: transport.loops[1].executor)
    await counter.add(1)
    await transport.stop()
    await counter.add(2)
    #expect(await counter.numbers == [1, 2])
    #expect(await counter.isOnLoop(transport.loops[1]))
  }

  @Test func aTransportThatNeverStartsCanStop() async throws {
    let transport = try Transport(TransportConfiguration(), delegate: RefusingDelegate())
    let counter = Counter(executor: transport.loops[0].executor)
    async let added: Void = counter.add(1)
    await transport.stop()
    await added
    #expect(await counter.numbers == [1])
  }

  /// The loop's thread releases it at its end, when the loop's work runs on other threads already: what
  /// it releases has to go there, too.
  @Test func theDelegateIsReleasedOutsideTheLoop() async throws {
    let loops = Mutex<[EventLoop]>([])
    let wasOnLoop = EventQueue<Bool>()
    let tell = { @Sendable in wasOnLoop.add(loops.withLock { $0 }.contains { $0.isCurrent }) }
    let transport = try Transport(TransportConfiguration(), delegate: RefusingDelegate(whenReleased: tell))
    loops.withLock { $0 = transport.loops }
    transport.start()
    await transport.stop()
    #expect(try wasOnLoop.next() == false)
  }

  private final class Log: Sendable {
    private let list = Mutex<[String]>([])
    var words: [String] { list.withLock { $0 } }
    func add(_ word: String) { list.withLock { $0.append(word) } }
  }

  /// Queues itself again and again.
  private final class Spinner: Sendable {
    private let isStopped = Mutex(false)

    func spin(on loop: EventLoop) {
      loop.enqueue { [self] in if !isStopped.withLock({ $0 }) { spin(on: loop) } }
    }

    func stop() { isStopped.withLock { $0 = true } }
  }
}

/// A delegate that refuses everything.
final class RefusingDelegate: TransportDelegate {
  private final class Handler: ConnectionHandler {
    func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {}
    func didClose(code: Int, byPeer: Bool) {}
  }

  private let whenReleased: @Sendable () -> Void

  init(whenReleased: @escaping @Sendable () -> Void = {}) { self.whenReleased = whenReleased }

  deinit { whenReleased() }

  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict { .refuse(status: 404) }
  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler { Handler() }
  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) {
    exchange.respond(status: 404, contentType: nil, body: [])
  }
  func didTick(_ loop: EventLoop) {}
}
