import CEpoll
import Glibc
import WireProtocol

/// What the swarm tells its owner. All calls come from `turn`, on its thread.
protocol SwarmDelegate: AnyObject {
  /// The TCP connection stands: the upgrade is to be sent.
  func connected(_ number: Int)
  /// The connection is a WebSocket now.
  func upgraded(_ number: Int)
  /// A text came that is no counted delivery; valid for the call, with the parser's padding behind it.
  func received(_ text: UnsafeRawBufferPointer, on number: Int)
  /// The connection is no more.
  func ended(_ number: Int, _ ending: Ending)
  /// Time to send what is due.
  /// - Returns: when to ask again at the latest (nanoseconds).
  func pump(_ now: UInt64) -> UInt64
}

/// Many WebSockets, one thread, one epoll, one receive buffer.
///
/// A delivery (a text with a stamp, on a connection that counts) is counted right where its bytes lie in the receive buffer.
final class Swarm {
  private static let bufferSize = 256 * 1024
  /// So often within one turn the clock is read again and what is due is sent, lest a long turn falsifies either.
  private static let eventsPerClock = 16

  let count: Int
  let table: UnsafeMutablePointer<Connection>
  let poller: Poller
  let recorder: Recorder
  weak var delegate: (any SwarmDelegate)?
  /// The clock as last read.
  private(set) var now = Clock.now()
  /// When `pump` wants to be called at the latest.
  private var due: UInt64 = 0
  private let buffer: UnsafeMutableRawPointer

  init(count: Int, recorder: Recorder) throws(BenchmarkError) {
    self.count = count
    self.recorder = recorder
    poller = try Poller()
    table = .allocate(capacity: count)
    table.initialize(repeating: Connection(), count: count)
    buffer = .allocate(byteCount: Swarm.bufferSize + JSONParser.padding, alignment: 64)
    memset(buffer, 0, Swarm.bufferSize + JSONParser.padding)
  }

  deinit {
    for number in 0..<count { drop(number) }
    table.deallocate()
    buffer.deallocate()
  }

  /// Waits for sockets, at most until `deadline`, and handles what came.
  func turn(until deadline: UInt64) {
    now = Clock.now()
    pump()
    let wake = min(deadline, due)
    let events = poller.wait(wake > now ? wake - now : 0)
    now = Clock.now()
    for event in 0..<events {
      if event % Swarm.eventsPerClock == Swarm.eventsPerClock - 1 {
        now = Clock.now()
        if now >= due { pump() }
      }
      let ready = poller[event]
      handle(Int(ready.number), readable: ready.readable, writable: ready.writable)
    }
    // What just came back may let the closed loop send more.
    pump()
  }

  private func pump() { due = delegate?.pump(now) ?? .max }

  private func handle(_ number: Int, readable: Bool, writable: Bool) {
    let connection = table + number
    switch connection.pointee.phase {
    case .idle, .closed: return
    case .connecting: if writable { finishConnecting(number) }
    case .upgrading, .entering, .open:
      if writable, !connection.pointee.unsent.isEmpty { flush(number) }
      if readable { read(number) }
    }
  }

  private func read(_ number: Int) {
    let connection = table + number
    while connection.pointee.descriptor >= 0 {
      let length = recv(connection.pointee.descriptor, buffer, Swarm.bufferSize, Int32(MSG_DONTWAIT))
      guard length > 0 else {
        let error = length == 0 ? 0 : errno
        if error != EAGAIN, error != EINTR { end(number, .lost(error)) }
        return
      }
      recorder.counters.pointee.reads &+= 1
      recorder.counters.pointee.bytes &+= length
      if connection.pointee.tail.isEmpty {
        let used = take(number, buffer, length)
        if used < length, connection.pointee.descriptor >= 0 { connection.pointee.tail.append(buffer + used, length - used) }
      } else {
        connection.pointee.tail.append(buffer, length)
        let bytes = connection.pointee.tail.bytes
        // It was not empty before and is longer now, so it has an address.
        let used = take(number, bytes.baseAddress!, bytes.count)
        if connection.pointee.descriptor >= 0 { connection.pointee.tail.removeFirst(used) }
      }
      if length < Swarm.bufferSize { return }
    }
  }

  /// Takes the frames (before them the answer to the upgrade) at the beginning of the bytes.
  /// - Returns: how many bytes it took.
  private func take(_ number: Int, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let connection = table + number
    var place = 0
    if connection.pointee.phase == .upgrading {
      switch Handshake.read(UnsafeRawBufferPointer(start: bytes, count: count)) {
      case .incomplete: return 0
      case .refused(let answer):
        end(number, .refused(answer))
        return 0
      case .accepted(let end): place = end
      }
      connection.pointee.phase = .entering
      delegate?.upgraded(number)
    }
    while connection.pointee.descriptor >= 0 {
      switch Frame.read(bytes, from: place, count: count) {
      case .incomplete: return place
      case .broken:
        end(number, .breach)
        return place
      case .frame(let frame):
        take(number, frame.opcode, UnsafeRawBufferPointer(start: bytes + frame.start, count: frame.end - frame.start))
        place = frame.end
      }
    }
    return place
  }

  @inline(__always)
  private func take(_ number: Int, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
    let connection = table + number
    if opcode <= Frame.Opcode.binary {
      guard let bytes = payload.baseAddress else { return }
      let (recorder, now, isClock, counts) = (recorder, now, connection.pointee.isClock, connection.pointee.counts)
      let found = Stamp.forEach(in: bytes, count: payload.count) { stamp in
        if counts, recorder.deliver(stamp: stamp, isClock: isClock, now: now) { connection.pointee.matched &+= 1 }
      }
      if found == 0 { delegate?.received(payload, on: number) }
    } else {
      control(number, opcode, payload)
    }
  }

  private func control(_ number: Int, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
    switch opcode {
    case Frame.Opcode.ping: send(number, FrameWriter.frame(opcode: Frame.Opcode.pong, payload: payload))
    case Frame.Opcode.close:
      send(number, FrameWriter.frame(opcode: Frame.Opcode.close, payload: payload.prefix(2)))
      let code = payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
      end(number, .closed(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self)))
    default: break
    }
  }

  /// Ends a connection and tells the delegate why.
  func end(_ number: Int, _ ending: Ending) {
    guard table[number].descriptor >= 0 else { return }
    drop(number)
    delegate?.ended(number, ending)
  }

  /// Closes the socket without a word.
  func drop(_ number: Int) {
    let connection = table + number
    guard connection.pointee.descriptor >= 0 else { return }
    close(connection.pointee.descriptor)
    connection.pointee.descriptor = -1
    connection.pointee.phase = .closed
    connection.pointee.tail.discard()
    connection.pointee.unsent.discard()
  }
}
