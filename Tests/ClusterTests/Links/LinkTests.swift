import GroupModel
import Testing
import ThrongTestKit

@testable import Cluster

/// Both ends of a link: every gap is noticed; the link goes on behind it, and begins again where it cannot.
@Suite struct LinkTests {
  private let own = NodeNumber(1)
  private let other = NodeNumber(2)
  private func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

  // MARK: Frames

  @Test(
    arguments: [
      LinkFrame.Content.open(at: nil), .open(at: LinkPosition(origin: 3, next: .max)), .entries(origin: 9, number: 7, []),
      .entries(origin: .max, number: 1, [1, 2, 3]),
    ], [nil, LinkPosition(origin: 1, next: 2)])
  func framesComeBack(content: LinkFrame.Content, acknowledged: LinkPosition?) throws {
    let frame = LinkFrame(from: own, to: other, link: 300, acknowledging: acknowledged, content)
    var writer = ByteWriter()
    frame.writeHeader(to: &writer)
    var reader = ByteReader(writer.bytes)
    let header = try LinkFrame(header: &reader)
    #expect(reader.isAtEnd && header.entries.isEmpty)
    #expect(try header.with(entries: frame.entries) == frame)
  }

  @Test func aFrameThatIsAwaitedSaysSo() throws {
    let frame = LinkFrame(from: own, to: other, link: 300, isAwaited: true, .entries(origin: 9, number: 7, [1]))
    var writer = ByteWriter()
    frame.writeHeader(to: &writer)
    var reader = ByteReader(writer.bytes)
    let read = try LinkFrame(header: &reader).with(entries: frame.entries)
    #expect(read == frame && read.isAwaited)
  }

  @Test func aRequestForALinkHasNoEntries() {
    #expect(throws: MalformedMessage.self) { try LinkFrame(from: own, to: other, link: 1, .open(at: nil)).with(entries: [1]) }
  }

  @Test func anotherVersionIsRefused() {
    var writer = ByteWriter()
    LinkFrame(from: own, to: other, link: 1, .open(at: nil)).writeHeader(to: &writer)
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
    #expect(link.open(4, at: at(0)) == .began)
    let first = LinkFrame(from: own, to: other, link: 4, .entries(origin: 4, number: 1, []))
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == first)
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == nil)
  }

  @Test func entriesShareAFrame() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    for byte in 0..<3 { #expect(link.append([UInt8(byte)]) == true) }
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(origin: 1, number: 1, [0, 1, 2]))
  }

  @Test func entriesThatMayWaitLeaveWithAnUrgentOne() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.append([1], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil)
    #expect(link.append([2]) == true)
    #expect(link.append([3], mayWait: true) == true)
    let first = link.nextFrame(from: own, to: other, at: at(0), takesAll: false)
    #expect(first?.content == .entries(origin: 1, number: 2, [1, 2, 3]))
    #expect(link.append([4], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil, "the urgent one has gone")
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(origin: 1, number: 3, [4]))
  }

  @Test func aFullFrameOfEntriesThatMayWaitLeavesAtOnce() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.frameBytes)
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.append(long, mayWait: true) == true)
    #expect(link.append([2], mayWait: true) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false)?.content == .entries(origin: 1, number: 2, long))
    #expect(link.nextFrame(from: own, to: other, at: at(0), takesAll: false) == nil)
  }

  @Test func entriesThatMayWaitLeaveWithTheBeatAtTheLatest() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    _ = link.append([1], mayWait: true)
    #expect(link.nextFrame(from: own, to: other, at: at(500), takesAll: false)?.content == .entries(origin: 1, number: 2, [1]))
  }

  @Test func aFullFrameTakesNoFurtherEntry() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.frameBytes)
    #expect(link.append(long) == true)
    #expect(link.append([2]) == true)
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(origin: 1, number: 1, long))
    #expect(link.nextFrame(from: own, to: other, at: at(0))?.content == .entries(origin: 1, number: 2, [2]))
  }

  @Test func anIdleLinkBeats() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    _ = link.nextFrame(from: own, to: other, at: at(0))
    #expect(link.nextFrame(from: own, to: other, at: at(499)) == nil)
    #expect(link.nextFrame(from: own, to: other, at: at(500))?.content == .entries(origin: 1, number: 2, []))
    #expect(link.nextFrame(from: own, to: other, at: at(999)) == nil)
  }

  @Test func aLinkBeginsAnewOnlyWithALargerNumber() {
    var link = OutgoingLink()
    #expect(link.open(2, at: at(0)) == .began)
    _ = link.append([1])
    #expect(link.open(2, at: at(0)) == nil)
    #expect(link.open(1, at: at(0)) == nil)
    #expect(link.hasEntries)
    #expect(link.open(3, at: at(0)) == .began)
    #expect(!link.hasEntries, "what waited is told again")
  }

  @Test func aLinkOnWhichTooMuchWaitsIsClosed() {
    var link = OutgoingLink()
    _ = link.open(1, at: at(0))
    let long = [UInt8](repeating: 1, count: OutgoingLink.maxWaitingBytes)
    #expect(link.append(long) == true)
    #expect(link.append([1]) == false)
    #expect(!link.isOpen && !link.takesEntries && link.overflows == 1)
    #expect(link.nextFrame(from: own, to: other, at: at(10_000)) == nil, "the receiver hears the silence")
  }

  // MARK: Going on

  /// The frames that leave at an instant.
  private func frames(of link: inout OutgoingLink, at now: MonotonicInstant) -> [LinkFrame] {
    var frames: [LinkFrame] = []
    while let frame = link.nextFrame(from: own, to: other, at: now) { frames.append(frame) }
    return frames
  }

  /// A link with frames 1 (empty), and 2 to 4 with a byte each.
  private func linkOfFourFrames(maxKeptBytes: Int = OutgoingLink.maxKeptBytes) -> OutgoingLink {
    var link = OutgoingLink(maxKeptBytes: maxKeptBytes)
    _ = link.open(5, at: at(0))
    _ = frames(of: &link, at: at(0))
    for byte in 2...4 {
      _ = link.append([UInt8(byte)])
      _ = frames(of: &link, at: at(0))
    }
    return link
  }

  @Test func whatTheReceiverHasNotGotIsSentAgainBeforeWhatIsNew() {
    var link = linkOfFourFrames()
    #expect(link.append([9]) == true)
    #expect(link.open(6, resumingAt: LinkPosition(origin: 5, next: 3), at: at(1)) == .resumed)
    let sent = frames(of: &link, at: at(1))
    #expect(sent.map(\.link) == [6, 6, 6])
    let wanted: [LinkFrame.Content] = [
      .entries(origin: 5, number: 3, [3]), .entries(origin: 5, number: 4, [4]), .entries(origin: 5, number: 5, [9]),
    ]
    #expect(sent.map(\.content) == wanted)
    #expect(link.repeatedFrames == 2)
    // The place is that of the first link, however often it went on.
    #expect(link.open(9, resumingAt: LinkPosition(origin: 5, next: 5), at: at(2)) == .resumed)
    #expect(frames(of: &link, at: at(2)).map(\.content) == [.entries(origin: 5, number: 5, [9])])
  }

  @Test func aReceiverThatHasAllGetsAFrameAtOnce() {
    var link = linkOfFourFrames()
    #expect(link.open(6, resumingAt: LinkPosition(origin: 5, next: 5), at: at(1)) == .resumed)
    #expect(frames(of: &link, at: at(1)).map(\.content) == [.entries(origin: 5, number: 5, [])])
  }

  @Test(
    arguments: [
      LinkPosition(origin: 4, next: 3), LinkPosition(origin: 5, next: 6), LinkPosition(origin: 5, next: 0),
      LinkPosition(origin: 5, next: .max),
    ])
  func aLinkThatCannotGoOnBegins(place: LinkPosition) {
    var link = linkOfFourFrames()
    _ = link.append([9])
    #expect(link.open(6, resumingAt: place, at: at(1)) == .began)
    #expect(frames(of: &link, at: at(1)) == [LinkFrame(from: own, to: other, link: 6, .entries(origin: 6, number: 1, []))])
    #expect(link.keptBytes == 0, "what waited is told again")
  }

  @Test func whatIsAcknowledgedIsKeptNoLonger() {
    var link = linkOfFourFrames()
    #expect(link.keptBytes == 3)
    link.acknowledge(LinkPosition(origin: 5, next: 4))
    #expect(link.keptBytes == 1)
    link.acknowledge(LinkPosition(origin: 5, next: 3))
    link.acknowledge(LinkPosition(origin: 4, next: 5))
    #expect(link.keptBytes == 1, "an old one, and one of another link")
    #expect(link.open(6, resumingAt: LinkPosition(origin: 5, next: 3), at: at(1)) == .began, "frame 3 is gone")
  }

  @Test func anAcknowledgementBehindTheEndForgetsNoMoreThanThereIs() {
    var link = linkOfFourFrames()
    link.acknowledge(LinkPosition(origin: 5, next: .max))
    #expect(link.keptBytes == 0)
    #expect(link.append([9]) == true)
    #expect(frames(of: &link, at: at(1)).map(\.content) == [.entries(origin: 5, number: 5, [9])])
  }

  @Test func aReceiverThatAcknowledgesNothingIsForgottenAtTheBound() {
    var link = linkOfFourFrames(maxKeptBytes: 2)
    #expect(link.keptBytes == 0)
    #expect(link.open(6, resumingAt: LinkPosition(origin: 5, next: 4), at: at(1)) == .began)
    var idle = OutgoingLink()
    _ = idle.open(1, at: at(0))
    for number in 0...OutgoingLink.maxKeptFrames { _ = frames(of: &idle, at: at(Int64(number) * 500)) }
    #expect(idle.open(2, resumingAt: LinkPosition(origin: 1, next: 2), at: at(0)) == .began)
  }

  @Test func aFrameThatTheBusDidNotTakeLeavesFirst() {
    var link = linkOfFourFrames()
    link.suspend()
    #expect(!link.isOpen && link.takesEntries)
    #expect(link.append([9]) == true)
    #expect(frames(of: &link, at: at(60_000)) == [])
    link.retry(at: at(60_000))
    let sent = frames(of: &link, at: at(60_000))
    #expect(sent.map(\.content) == [.entries(origin: 5, number: 4, [4]), .entries(origin: 5, number: 5, [9])])
  }

  @Test func aFrameThatIsAskedForAcknowledges() {
    var link = linkOfFourFrames()
    link.requestFrame()
    let place = LinkPosition(origin: 8, next: 70)
    let frame = link.nextFrame(from: own, to: other, at: at(0), acknowledging: place, takesAll: false)
    #expect(frame?.acknowledged == place && frame?.content == .entries(origin: 5, number: 5, []))
    #expect(link.nextFrame(from: own, to: other, at: at(0)) == nil)
  }

  /// A frame by its number, and the places that it may acknowledge.
  private func place(_ acknowledgements: inout Acknowledgements, in frame: UInt64, of origin: UInt64 = 5) -> UInt64? {
    acknowledgements.place(in: LinkPosition(origin: origin, next: frame + 1))?.next
  }

  /// The place before so many frames of the other direction.
  private func dealt(with number: UInt64) -> LinkPosition { LinkPosition(origin: 8, next: number) }

  @Test func nothingIsAcknowledgedBeforeWhatWasSentInReturn() {
    var acknowledgements = Acknowledgements()
    let nothing = place(&acknowledgements, in: 1)
    #expect(nothing == nil && !acknowledgements.isPending)
    acknowledgements.note(dealt(with: 70), behind: LinkPosition(origin: 5, next: 4))
    #expect(acknowledgements.isPending)
    let places = (1...4).map { place(&acknowledgements, in: $0) }
    #expect(places == [nil, nil, 70, 70])
    #expect(!acknowledgements.isPending)
    // One that is sent again.
    let again = (2...3).map { place(&acknowledgements, in: $0) }
    #expect(again == [nil, 70])
  }

  @Test func theLastOfMoreIsAcknowledgedAsSoonAsItMayBe() {
    var acknowledgements = Acknowledgements()
    for (number, end): (UInt64, UInt64) in [(70, 3), (71, 4), (72, 6)] {
      acknowledgements.note(dealt(with: number), behind: LinkPosition(origin: 5, next: end))
    }
    let places = (1...5).map { place(&acknowledgements, in: $0) }
    #expect(places == [nil, 70, 70, 70, 72])
  }

  @Test func aLinkThatBeginsAnewAcknowledgesAtOnce() {
    var acknowledgements = Acknowledgements()
    acknowledgements.note(dealt(with: 70), behind: LinkPosition(origin: 5, next: 100))
    let first = place(&acknowledgements, in: 1, of: 6)
    #expect(first == 70)
  }

  @Test func theEndIsBehindAllThatWaits() {
    var link = linkOfFourFrames()
    #expect(link.end == LinkPosition(origin: 5, next: 5) && link.nextFrameEnd == LinkPosition(origin: 5, next: 6))
    let long = [UInt8](repeating: 1, count: OutgoingLink.frameBytes)
    for entry in [long, [2]] { _ = link.append(entry) }
    #expect(link.end == LinkPosition(origin: 5, next: 7) && link.nextFrameEnd == LinkPosition(origin: 5, next: 6))
    for _ in 0..<2 { _ = link.nextFrame(from: own, to: other, at: at(0)) }
    #expect(link.end == LinkPosition(origin: 5, next: 7))
    // The first one that the receiver has not got comes again.
    _ = link.open(9, resumingAt: LinkPosition(origin: 5, next: 5), at: at(0))
    #expect(link.end == LinkPosition(origin: 5, next: 7) && link.nextFrameEnd == LinkPosition(origin: 5, next: 6))
  }

  // MARK: Waiting for the receiver

  @Test func theFrameWithTheLastAwaitedEntryAsksForAnAnswer() {
    var link = linkOfFourFrames()
    _ = link.append([5])
    let place = link.awaitAcknowledgement()
    #expect(place == LinkPosition(origin: 5, next: 6))
    let sent = frames(of: &link, at: at(1))
    #expect(sent.map(\.content) == [.entries(origin: 5, number: 5, [5])] && sent.map(\.isAwaited) == [true])
    // What follows asks, too, until the answer is there: the first may be lost.
    _ = link.append([6])
    #expect(frames(of: &link, at: at(2)).map(\.isAwaited) == [true])
    link.acknowledge(LinkPosition(origin: 5, next: 5))
    #expect(place.map(link.hasAcknowledged) == false)
    link.acknowledge(LinkPosition(origin: 5, next: 6))
    #expect(place.map(link.hasAcknowledged) == true)
    _ = link.append([7])
    #expect(frames(of: &link, at: at(3)).map(\.isAwaited) == [false])
  }

  @Test func anEmptyFrameAsksForWhatHasLeftBefore() {
    var link = linkOfFourFrames()
    #expect(link.awaitAcknowledgement() == LinkPosition(origin: 5, next: 6))
    let sent = link.nextFrame(from: own, to: other, at: at(1), takesAll: false)
    #expect(sent?.content == .entries(origin: 5, number: 5, []) && sent?.isAwaited == true)
  }

  @Test func entriesThatMayWaitLeaveWithAnAwaitedOne() {
    var link = linkOfFourFrames()
    _ = link.append([5], mayWait: true)
    #expect(link.nextFrame(from: own, to: other, at: at(1), takesAll: false) == nil)
    _ = link.awaitAcknowledgement()
    #expect(link.nextFrame(from: own, to: other, at: at(1), takesAll: false)?.content == .entries(origin: 5, number: 5, [5]))
  }

  /// What the receiver has got it may not have dealt with.
  @Test func aLinkThatGoesOnIsStillAwaited() {
    var link = linkOfFourFrames()
    let place = link.awaitAcknowledgement()
    _ = frames(of: &link, at: at(1))
    #expect(link.open(6, resumingAt: LinkPosition(origin: 5, next: 6), at: at(2)) == .resumed)
    #expect(place.map(link.hasAcknowledged) == false && place.map(link.mayAcknowledge) == true)
    #expect(frames(of: &link, at: at(2)).map(\.isAwaited) == [true])
    link.acknowledge(LinkPosition(origin: 5, next: 7))
    #expect(place.map(link.hasAcknowledged) == true)
  }

  @Test func aLinkThatBeginsOrIsClosedAwaitsNothing() {
    var link = linkOfFourFrames()
    let place = link.awaitAcknowledgement()
    #expect(link.open(6, at: at(1)) == .began)
    link.acknowledge(LinkPosition(origin: 6, next: 9))
    #expect(place.map(link.hasAcknowledged) == false && place.map(link.mayAcknowledge) == false)
    #expect(frames(of: &link, at: at(1)).map(\.isAwaited) == [false])
    let next = link.awaitAcknowledgement()
    link.close()
    #expect(next.map(link.mayAcknowledge) == false)
    #expect(link.awaitAcknowledgement() == nil)
  }

  // MARK: The receiving end

  @Test func framesInOrderAreAccepted() {
    var link = IncomingLink(at: at(0))
    #expect(!link.isOpen)
    #expect(link.position == nil)
    #expect(link.receive(link: 1, origin: 1, frame: 1, at: at(1)) == .begin(isBehindLoss: false))
    #expect(link.receive(link: 1, origin: 1, frame: 2, at: at(1)) == .accept)
    #expect(link.isOpen && link.position == LinkPosition(origin: 1, next: 3))
  }

  @Test func aLinkGoesOnBehindAFrameThatWasMissing() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(1))
    #expect(link.receive(link: 1, origin: 1, frame: 3, at: at(1)) == .interrupted)
    #expect(link.number == 2 && !link.isOpen)
    #expect(link.position == LinkPosition(origin: 1, next: 2))
    #expect(link.receive(link: 1, origin: 1, frame: 4, at: at(1)) == .ignore, "of the old link")
    #expect(link.receive(link: 2, origin: 1, frame: 3, at: at(1)) == .interrupted, "the first was lost again")
    #expect(link.position == LinkPosition(origin: 1, next: 2))
    #expect(link.receive(link: 3, origin: 1, frame: 2, at: at(1)) == .resume)
    #expect(link.receive(link: 3, origin: 1, frame: 3, at: at(1)) == .accept)
    #expect(link.position == LinkPosition(origin: 1, next: 4))
  }

  @Test func aSenderThatCannotGoOnBegins() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(1))
    _ = link.receive(link: 1, origin: 1, frame: 3, at: at(1))
    #expect(link.receive(link: 2, origin: 2, frame: 1, at: at(1)) == .begin(isBehindLoss: true))
    #expect(link.position == LinkPosition(origin: 2, next: 2))
  }

  /// The number of the second frame is the one that is waited for, and yet it is of another link.
  @Test func aFirstFrameThatIsLostIsNoticedBehindAnInterruption() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(1))
    _ = link.receive(link: 1, origin: 1, frame: 3, at: at(1))
    #expect(link.receive(link: 2, origin: 2, frame: 2, at: at(1)) == .interrupted)
    #expect(link.receive(link: 3, origin: 3, frame: 1, at: at(1)) == .begin(isBehindLoss: true))
  }

  @Test func anInterruptionThatLastsIsALoss() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 3, at: at(0))
    #expect(due(&link, through: 9_900) == [.ask, .ask, .ask, .ask])
    #expect(link.due(at: at(10_000)) == .lost)
    #expect(link.position == nil)
    #expect(due(&link, from: 10_000, through: 60_000).contains(.lost) == false, "once")
    #expect(link.receive(link: link.number, origin: link.number, frame: 1, at: at(60_000)) == .begin(isBehindLoss: false))
  }

  @Test func anInterruptionIsNoLossWhileTheBusIsAway() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(0))
    link.didMiss(at: at(0))
    #expect(due(&link, through: 60_000, isBusConnected: false).contains(.lost) == false)
    #expect(due(&link, from: 60_100, through: 69_900).contains(.lost) == false)
    #expect(due(&link, from: 70_000, through: 70_000) == [.lost])
  }

  /// What is due, a look each 100 ms.
  private func due(
    _ link: inout IncomingLink, from start: Int64 = 0, through end: Int64, isBusConnected: Bool = true
  ) -> [IncomingLink.Due] {
    var found: [IncomingLink.Due] = []
    for time in stride(from: start, through: end, by: 100) {
      let due = link.due(at: at(time), isBusConnected: isBusConnected)
      if due != .nothing { found.append(due) }
    }
    return found
  }

  @Test func entriesThatCannotBeReadLoseTheLink() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(0))
    link.didLose(at: at(0))
    #expect(link.position == nil && link.number == 2)
    #expect(link.receive(link: 2, origin: 2, frame: 2, at: at(1)) == .interrupted, "it is asked to begin")
    #expect(link.receive(link: 3, origin: 3, frame: 1, at: at(1)) == .begin(isBehindLoss: false))
  }

  @Test func muchThatHasComeIsAcknowledgedSoon() {
    var link = IncomingLink(at: at(0))
    for frame in 1..<UInt64(IncomingLink.acknowledged.frames) { _ = link.receive(link: 1, origin: 1, frame: frame, at: at(0)) }
    #expect(!link.mustAcknowledge)
    _ = link.receive(link: 1, origin: 1, frame: UInt64(IncomingLink.acknowledged.frames), at: at(0))
    #expect(link.mustAcknowledge)
    link.didAcknowledge()
    #expect(!link.mustAcknowledge)
    let next = UInt64(IncomingLink.acknowledged.frames) + 1
    _ = link.receive(link: 1, origin: 1, frame: next, bytes: IncomingLink.acknowledged.bytes, at: at(0))
    #expect(link.mustAcknowledge)
  }

  @Test func aRepeatedFrameIsIgnored() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(1))
    #expect(link.receive(link: 1, origin: 1, frame: 1, at: at(1)) == .ignore)
  }

  @Test func aFirstFrameThatIsLostIsNoticed() {
    var link = IncomingLink(at: at(0))
    #expect(link.receive(link: 1, origin: 1, frame: 2, at: at(1)) == .interrupted)
    #expect(link.number == 2 && link.position == nil)
  }

  @Test func silenceInterruptsTheLink() {
    var link = IncomingLink(at: at(0))
    _ = link.receive(link: 1, origin: 1, frame: 1, at: at(0))
    #expect(link.due(at: at(1999)) == .nothing)
    #expect(link.due(at: at(2000)) == .interrupted)
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

  /// Whatever is lost, doubled or late, and whatever the bus does not take: the entries of a link come in
  /// their order, each once and none missing, unless the receiver is told that the link begins. In the end,
  /// when nothing is lost any more, the receiver has all since then. Both directions carry entries, and
  /// acknowledge each other.
  @Test(arguments: 0..<200, [OutgoingLink.maxKeptBytes, 3]) func noGapPassesUnnoticed(seed: Int, maxKeptBytes: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var ends = [End(maxKeptBytes: maxKeptBytes), End(maxKeptBytes: maxKeptBytes)]
    for step in 0..<900 {
      let now = at(Int64(step) * 50)
      let isLossy = step < 600
      for index in ends.indices {
        let other = 1 - index
        let isBusThere = !isLossy || (step / 20 + index * 7) % 9 != 0
        if isBusThere { ends[index].sender.retry(at: now) }
        switch ends[index].receiver.due(at: now, isBusConnected: isBusThere) {
        case .ask, .interrupted: ends[index].mustAsk = true
        case .lost:
          ends[index].mustAsk = true
          ends[index].received = []
        case .nothing: break
        }
        if ends[index].mustAsk, isBusThere {
          ends[index].mustAsk = false
          let isLost = isLossy && Int.random(in: 0..<3, using: &random) == 0
          let (number, place) = (ends[index].receiver.number, ends[index].receiver.position)
          if !isLost, ends[other].sender.open(number, resumingAt: place, at: now) == .began { ends[other].sent = [] }
        }
        let byte = UInt8(truncatingIfNeeded: step)
        if Bool.random(using: &random), ends[index].sender.append([byte]) { ends[index].sent.append(byte) }
        while true {
          let place = ends[index].receiver.position
          guard let frame = ends[index].sender.nextFrame(from: own, to: self.other, at: now, acknowledging: place) else { break }
          guard isBusThere else {
            ends[index].sender.suspend()
            break
          }
          ends[index].receiver.didAcknowledge()
          var copies = [frame]
          if isLossy {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: copies = []
            case 1: copies = [frame, frame]
            case 2:
              ends[index].late.append(frame)
              copies = []
            case 3:
              copies += ends[index].late
              ends[index].late = []
            default: break
            }
          }
          let sent = ends[index].sent
          for copy in copies { ends[other].receive(copy, of: sent, at: now) }
        }
        if ends[index].receiver.mustAcknowledge { ends[index].sender.requestFrame() }
      }
    }
    for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
      #expect(end.receiver.isOpen)
      #expect(end.received == other.sent)
      #expect(end.faults == 0)
    }
    if maxKeptBytes == OutgoingLink.maxKeptBytes { #expect(ends.map(\.losses) == [0, 0], "all was kept") }
  }

  /// One of two nodes with links in both directions.
  private struct End {
    var sender: OutgoingLink
    var receiver: IncomingLink
    var mustAsk = true
    /// All entries since the link began, and those of the other end's.
    var sent: [UInt8] = []
    var received: [UInt8] = []
    /// Frames that will come late.
    var late: [LinkFrame] = []
    /// How often the sender could not go on.
    var losses = 0
    /// How often entries were missing, doubled or out of order.
    var faults = 0

    init(maxKeptBytes: Int) {
      sender = OutgoingLink(maxKeptBytes: maxKeptBytes)
      receiver = IncomingLink(at: MonotonicInstant(nanoseconds: 0))
    }

    /// - Parameter sent: what the other end has sent since its link began.
    mutating func receive(_ frame: LinkFrame, of sent: [UInt8], at now: MonotonicInstant) {
      if let place = frame.acknowledged { sender.acknowledge(place) }
      guard case .entries(let origin, let number, let entries) = frame.content else { return }
      switch receiver.receive(link: frame.link, origin: origin, frame: number, bytes: entries.count, at: now) {
      case .begin(let isBehindLoss):
        if isBehindLoss { losses += 1 }
        received = entries
      case .accept, .resume: received += entries
      case .interrupted:
        mustAsk = true
        return
      case .ignore: return
      }
      if !sent.starts(with: received) { faults += 1 }
    }
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
