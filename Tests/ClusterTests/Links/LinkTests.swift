import GroupModel
import Testing
import ThrongTestKit

@testable import Cluster

/// Both ends of a link: every gap is noticed, and the link begins again behind it.
@Suite struct LinkTests {
  private let own = NodeNumber(1)
  private let other = NodeNumber(2)
  private func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

  // MARK: Frames

  @Test(arguments: [LinkFrame.Content.open, .entries(number: 7, []), .entries(number: 1, [1, 2, 3])])
  func framesComeBack(content: LinkFrame.Content) throws {
    let frame = LinkFrame(from: own, to: other, link: 300, content)
    var writer = ByteWriter()
    frame.writeHeader(to: &writer)
    var reader = ByteReader(writer.bytes)
    let header = try LinkFrame(header: &reader)
    #expect(reader.isAtEnd && header.entries.isEmpty)
    #expect(try header.with(entries: frame.entries) == frame)
  }

  @Test func aRequestForALinkHasNoEntries() {
    #expect(throws: MalformedMessage.self) { try LinkFrame(from: own, to: other, link: 1, .open).with(entries: [1]) }
  }

  @Test func anotherVersionIsRefused() {
    var writer = ByteWriter()
    LinkFrame(from: own, to: other, link: 1, .open).writeHeader(to: &writer)
    var bytes = writer.bytes
    bytes[0] += 1
    var reader = ByteReader(bytes)
    #expect(throws: MalformedMessage("version \(LinkFrame.version + 1)")) { try LinkFrame(header: &reader) }
  }

  // MARK: The sending end

  @Test func nothingIsSentBeforeTheReceiverAsks() {
    var link = OutgoingLink()
    #expect(link.append([1]) == false)
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == nil)
  }

  @Test func theFirstFrameComesAtOnceThoughItIsEmpty() {
    var link = OutgoingLink()
    #expect(link.open(4, at: at(0)) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == LinkFrame(from: own, to: other, link: 4, .entries(number: 1, [])))
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == nil)
  }

  @Test func entriesShareAFrame() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    for byte in 0..<3 { #expect(link.append([UInt8(byte)]) == true) }
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(number: 1, [0, 1, 2]))
  }

  @Test func entriesThatMayWaitLeaveWithAnUrgentOne() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.append([1], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil)
    #expect(link.append([2]) == true)
    #expect(link.append([3], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false)?.content == .entries(number: 2, [1, 2, 3]))
    #expect(link.append([4], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil, "the urgent one has gone")
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(number: 3, [4]))
  }

  @Test func aFullFrameOfEntriesThatMayWaitLeavesAtOnce() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.frameBytes)
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.append(long, mayWait: true) == true)
    #expect(link.append([2], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false)?.content == .entries(number: 2, long))
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil)
  }

  @Test func entriesThatMayWaitLeaveWithTheBeatAtTheLatest() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    _ = link.append([1], mayWait: true)
    #expect(link.nextFrame(from: own, to: other, at: at(500), takesAll: false)?.content == .entries(number: 2, [1]))
  }

  @Test func aFullFrameTakesNoFurtherEntry() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.frameBytes)
    #expect(link.append(long) == true)
    #expect(link.append([2]) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(number: 1, long))
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(number: 2, [2]))
  }

  @Test func anIdleLinkBeats() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.nextFrame(from: own, to: other, at: at(499)) == nil)
    #expect(link.nextFrame(from: own, to: other, at: at(500))?.content == .entries(number: 2, []))
    #expect(link.nextFrame(from: own, to: other, at: at(999)) == nil)
  }

  @Test func aLinkBeginsAnewOnlyWithALargerNumber() {
    var link = OutgoingLink()
    #expect(link.open(2, at: at(0)) == true)
    _ = link.append([1])
    #expect(link.open(2, at: at(0)) == false)
    #expect(link.open(1, at: at(0)) == false)
    #expect(link.hasEntries)
    #expect(link.open(3, at: at(0)) == true)
    #expect(!link.hasEntries, "what waited is told again")
  }

  @Test func aLinkOnWhichTooMuchWaitsIsClosed() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.maxWaitingBytes)
    #expect(link.append(long) == true)
    #expect(link.append([1]) == false)
    #expect(!link.isOpen && link.overflows == 1)
    #expect(link.nextFrame(from: own, to: other, at: at(10_000)) == nil, "the receiver hears the silence")
  }

  // MARK: The receiving end

  @Test func framesInOrderAreAccepted() {
    var link = IncomingLink(at: at(0))
    #expect(!link.isOpen)
    #expect(link.receive(link: 1, frame: 1, at: at(1)) == .accept(isFirst: true))
    #expect(link.receive(link: 1, frame: 2, at: at(1)) == .accept(isFirst: false))
    #expect(link.isOpen)
  }

  @Test func aFrameThatIsMissingLosesTheLink() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, frame: 1, at: at(1))
    #expect(link.receive(link: 1, frame: 3, at: at(1)) == .lost)
    #expect(link.number == 2 && !link.isOpen)
    #expect(link.receive(link: 1, frame: 4, at: at(1)) == .ignore, "of the old link")
    #expect(link.receive(link: 2, frame: 1, at: at(1)) == .accept(isFirst: true))
  }

  @Test func aRepeatedFrameIsIgnored() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, frame: 1, at: at(1))
    #expect(link.receive(link: 1, frame: 1, at: at(1)) == .ignore)
  }

  @Test func aFirstFrameThatIsLostIsNoticed() {
    var link = IncomingLink(at: at(0))
    #expect(link.receive(link: 1, frame: 2, at: at(1)) == .lost)
    #expect(link.number == 2)
  }

  @Test func silenceLosesTheLink() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, frame: 1, at: at(0))
    #expect(link.due(at: at(1999)) == .nothing)
    #expect(link.due(at: at(2000)) == .lost)
    #expect(link.number == 2)
    #expect(link.due(at: at(2000)) == .nothing, "once")
  }

  @Test func theSenderIsAskedAgainAndMoreSeldom() {
    var link = IncomingLink(at: at(0))
    var asked: [Int64] = []
    for time in stride(from: Int64(0), to: 60_000, by: 100) where link.due(at: at(time)) == .ask { asked.append(time) }
    #expect(asked == [500, 1500, 3500, 7500, 15_500, 23_500, 31_500, 39_500, 47_500, 55_500])
    #expect(link.number == 11)
  }

  // MARK: Both, over a bus that loses messages

  /// Whatever is lost: the entries of each link come without a gap from its beginning, and in the end,
  /// when nothing is lost any more, the last link has everything since it began.
  @Test(arguments: 0..<100) func noGapPassesUnnoticed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var (sender, receiver) = (OutgoingLink(), IncomingLink(at: at(0)))
    var (sent, received): ([UInt64: [UInt8]], [UInt64: [UInt8]]) = ([:], [:])
    var mustAsk = true
    var current: UInt64 = 0
    for step in 0..<600 {
      let now = at(Int64(step) * 50)
      let isLossy = step < 400
      switch receiver.due(at: now) {
      case .ask, .lost: mustAsk = true
      case .nothing: break
      }
      if mustAsk {
        mustAsk = false
        let isLost = isLossy && Int.random(in: 0..<3, using: &random) == 0
        if !isLost, sender.open(receiver.number, at: now) { current = receiver.number }
      }
      let byte = UInt8(truncatingIfNeeded: step)
      if Bool.random(using: &random), sender.append([byte]) { sent[current, default: []].append(byte) }
      while let frame = sender.nextFrame(from: own, to: other, at: now) {
        guard case .entries(let number, let entries) = frame.content else { continue }
        if isLossy, Int.random(in: 0..<10, using: &random) == 0 { continue }
        switch receiver.receive(link: frame.link, frame: number, at: now) {
        case .accept: received[frame.link, default: []] += entries
        case .lost: mustAsk = true
        case .ignore: break
        }
      }
    }
    for (link, entries) in received { #expect(sent[link, default: []].starts(with: entries)) }
    #expect(receiver.isOpen && receiver.number == current)
    #expect(received[current, default: []] == sent[current, default: []])
  }

  @Test func aSenderThatIsHeardOfIsAskedAgainSoon() {
    var link = IncomingLink(at: at(0))
    for asked in [500, 1500, 3500] as [Int64] { #expect(link.due(at: at(asked)) == .ask) }
    link.expectAnswer(at: at(3600))
    #expect(link.due(at: at(4099)) == .nothing)
    #expect(link.due(at: at(4100)) == .ask)
    // It delays nothing.
    link.expectAnswer(at: at(5000))
    #expect(link.due(at: at(5100)) == .ask)
  }
}
