import CEpoll
import CTLSClient
import Glibc
import WireProtocol

/// Receives the events of a pool. All calls come from `poll`, on its thread.
protocol ClientPoolDelegate: AnyObject {
  /// The connection is established: the upgrade has to be sent.
  func didConnect(_ number: Int)
  /// The connection is a WebSocket now.
  func didUpgrade(_ number: Int)
  /// A text without a stamp came; valid for the call, with the parser's padding behind it.
  func didReceive(_ text: UnsafeRawBufferPointer, on number: Int)
  /// The connection has ended.
  func didEnd(_ number: Int, _ ending: Ending)
  /// Sends the messages that are due.
  /// - Returns: when to call again at the latest (nanoseconds).
  func sendDue(_ now: UInt64) -> UInt64
}

/// Many WebSocket clients on one thread, with one epoll and one receive buffer.
///
/// A delivery is a text with a stamp. It is counted in the receive buffer, without a copy.
final class ClientPool {
  static let bufferSize = 256 * 1024
  /// Events between two reads of the clock, so that a long turn falsifies no latency or schedule.
  private static let eventsPerClock = 16

  let count: Int
  let table: UnsafeMutablePointer<Connection>
  let poller: Poller
  let recorder: Recorder
  /// Checks the compressed frames; nil: none is agreed on, and a compressed frame is invalid.
  let compressionCheck: CompressionCheck?
  weak var delegate: (any ClientPoolDelegate)?
  /// The clock as last read.
  private(set) var now = Clock.now()
  /// When to call `sendDue` again at the latest.
  private var due: UInt64 = 0
  let buffer: UnsafeMutableRawPointer

  init(count: Int, recorder: Recorder, compressionCheck: CompressionCheck? = nil) throws(BenchmarkError) {
    self.count = count
    self.recorder = recorder
    self.compressionCheck = compressionCheck
    poller = try Poller()
    table = .allocate(capacity: count)
    table.initialize(repeating: Connection(), count: count)
    buffer = .allocate(byteCount: ClientPool.bufferSize + JSONParser.padding, alignment: 64)
    memset(buffer, 0, ClientPool.bufferSize + JSONParser.padding)
  }

  deinit {
    for number in 0..<count { close(number) }
    table.deallocate()
    buffer.deallocate()
  }

  /// Waits for sockets, at most until `deadline`, and handles their events.
  func poll(until deadline: UInt64) {
    now = Clock.now()
    sendDue()
    let wake = min(deadline, due)
    let events = poller.wait(wake > now ? wake - now : 0)
    now = Clock.now()
    for event in 0..<events {
      if event % ClientPool.eventsPerClock == ClientPool.eventsPerClock - 1 {
        now = Clock.now()
        if now >= due { sendDue() }
      }
      let ready = poller[event]
      handleEvent(Int(ready.number), readable: ready.readable, writable: ready.writable)
    }
    // A message that has just come back may let the closed loop send more.
    sendDue()
  }

  private func sendDue() { due = delegate?.sendDue(now) ?? .max }

  private func handleEvent(_ number: Int, readable: Bool, writable: Bool) {
    let connection = table + number
    switch connection.pointee.phase {
    case .idle, .closed: return
    case .connecting: if writable { finishConnecting(number) }
    case .securing:
      continueHandshake(number)
      // A step computes for up to a millisecond: messages that fell due meanwhile must not wait for
      // the next event.
      now = Clock.now()
      if now >= due { sendDue() }
    case .upgrading, .joining, .open:
      if writable, !connection.pointee.unsent.isEmpty { flush(number) }
      if readable { read(number) }
    }
  }

  private func read(_ number: Int) {
    let connection = table + number
    if let tls = connection.pointee.tls { return readTLS(number, tls) }
    while connection.pointee.descriptor >= 0 {
      let length = recv(connection.pointee.descriptor, buffer, ClientPool.bufferSize, Int32(MSG_DONTWAIT))
      guard length > 0 else {
        let error = length == 0 ? 0 : errno
        if error != EAGAIN, error != EINTR { end(number, .lost(error)) }
        return
      }
      handleBytes(number, length)
      if length < ClientPool.bufferSize { return }
    }
  }

  /// Handles the first bytes of the buffer, and keeps the incomplete frame at their end.
  func handleBytes(_ number: Int, _ length: Int) {
    let connection = table + number
    recorder.counters.pointee.reads &+= 1
    recorder.counters.pointee.bytes &+= length
    compressionCheck?.countRead(number, length)
    if connection.pointee.unparsed.isEmpty {
      let used = parse(number, buffer, length)
      if used < length, connection.pointee.descriptor >= 0 { connection.pointee.unparsed.append(buffer + used, length - used) }
    } else {
      connection.pointee.unparsed.append(buffer, length)
      let bytes = connection.pointee.unparsed.bytes
      // It was not empty before and is longer now, so it has an address.
      let used = parse(number, bytes.baseAddress!, bytes.count)
      if connection.pointee.descriptor >= 0 { connection.pointee.unparsed.removeFirst(used) }
    }
  }

  /// Handles the response to the upgrade and the whole frames at the beginning of the bytes.
  /// - Returns: the number of bytes handled.
  private func parse(_ number: Int, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let connection = table + number
    var position = 0
    if connection.pointee.phase == .upgrading {
      switch Handshake.parse(UnsafeRawBufferPointer(start: bytes, count: count)) {
      case .incomplete: return 0
      case .refused(let answer):
        end(number, .refused(answer))
        return 0
      case .accepted(let end, let agreesOnDeflate):
        position = end
        guard didAgree(number, agreesOnDeflate) else {
          self.end(number, .refused("an extension that was not offered"))
          return 0
        }
      }
      connection.pointee.phase = .joining
      delegate?.didUpgrade(number)
    }
    if let compressionCheck { return parse(number, bytes, from: position, count: count, compressionCheck) }
    while connection.pointee.descriptor >= 0 {
      switch Frame.parse(bytes, from: position, count: count) {
      case .incomplete: return position
      case .invalid:
        end(number, .invalidFrame)
        return position
      case .frame(let frame):
        handle(number, frame.opcode, UnsafeRawBufferPointer(start: bytes + frame.start, count: frame.end - frame.start))
        position = frame.end
      }
    }
    return position
  }

  private func didAgree(_ number: Int, _ agreesOnDeflate: Bool) -> Bool {
    compressionCheck?.didUpgrade(number, agreesOnDeflate: agreesOnDeflate) ?? !agreesOnDeflate
  }

  @inline(__always)
  func handle(_ number: Int, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
    let connection = table + number
    if opcode <= Frame.Opcode.binary {
      guard let bytes = payload.baseAddress else { return }
      let (recorder, now, isPacer, countsDeliveries) = (
        recorder, now, connection.pointee.isPacer, connection.pointee.countsDeliveries
      )
      let found = Stamp.forEach(in: bytes, count: payload.count) { stamp in
        if countsDeliveries, recorder.recordDelivery(stamp: stamp, isPacer: isPacer, now: now) {
          connection.pointee.matched &+= 1
        }
      }
      if found == 0 { delegate?.didReceive(payload, on: number) }
    } else {
      handleControl(number, opcode, payload)
    }
  }

  private func handleControl(_ number: Int, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
    switch opcode {
    case Frame.Opcode.ping: send(number, FrameWriter.frame(opcode: Frame.Opcode.pong, payload: payload))
    case Frame.Opcode.close:
      send(number, FrameWriter.frame(opcode: Frame.Opcode.close, payload: payload.prefix(2)))
      let code = payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
      end(number, .closed(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self)))
    default: break
    }
  }

  /// Closes a connection and calls the delegate.
  func end(_ number: Int, _ ending: Ending) {
    guard table[number].descriptor >= 0 else { return }
    close(number)
    delegate?.didEnd(number, ending)
  }

  /// Closes the socket without a close frame.
  func close(_ number: Int) {
    let connection = table + number
    guard connection.pointee.descriptor >= 0 else { return }
    if let tls = connection.pointee.tls { tc_release(tls) }
    connection.pointee.tls = nil
    Glibc.close(connection.pointee.descriptor)
    connection.pointee.descriptor = -1
    connection.pointee.phase = .closed
    connection.pointee.unparsed.discard()
    connection.pointee.unsent.discard()
  }
}
