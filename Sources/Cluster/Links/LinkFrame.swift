/// A place in a link: every frame before it has come.
public struct LinkPosition: Sendable, Hashable {
  /// The number of the link under which its frames were counted from 1: a link that goes on behind an
  /// interruption has another number, and counts on.
  public let origin: UInt64
  /// The number of the next frame.
  public let next: UInt64

  /// A place with everything given.
  public init(origin: UInt64, next: UInt64) {
    self.origin = origin
    self.next = next
  }
}

/// A message on the bus from one node to another (Cluster.md, "Links").
///
/// Its header begins with the version of all that follows (`BusVersion`). On the bus the entries are
/// sealed, together with the header.
public struct LinkFrame: Sendable, Equatable {
  public enum Content: Sendable, Equatable {
    /// The receiver of a link asks its sender to go on at a place; nil = to begin.
    case open(at: LinkPosition?)
    /// Entries, which may be none. The frames of an origin are numbered from 1 (`LinkPosition`): a link
    /// that begins is its own origin.
    case entries(origin: UInt64, number: UInt64, [UInt8])
  }

  /// The version that this release reads and writes.
  public static let version = UInt8(BusVersion.current)

  public let from: NodeNumber
  public let to: NodeNumber
  /// The link's number; of all links between the same two nodes in one direction, the largest counts.
  public let link: UInt64
  public let content: Content
  /// How far the link in the other direction has come; nil = nowhere.
  public let acknowledged: LinkPosition?
  /// Whether the sender waits until the receiver has dealt with its entries: it is acknowledged at once.
  public let isAwaited: Bool

  /// A frame with everything given.
  public init(
    from: NodeNumber, to: NodeNumber, link: UInt64, acknowledging acknowledged: LinkPosition? = nil, isAwaited: Bool = false,
    _ content: Content
  ) {
    self.from = from
    self.to = to
    self.link = link
    self.acknowledged = acknowledged
    self.isAwaited = isAwaited
    self.content = content
  }

  private static let openMark: UInt8 = 1
  private static let entriesMark: UInt8 = 2
  private static let awaitedEntriesMark: UInt8 = 3

  /// Reads a header; the entries come later, by `with`.
  public init(header reader: inout ByteReader) throws(MalformedMessage) {
    let version = try reader.byte()
    guard version == LinkFrame.version else { throw MalformedMessage("version \(version)") }
    let mark = try reader.byte()
    from = NodeNumber(try reader.signed())
    to = NodeNumber(try reader.signed())
    link = try reader.number()
    acknowledged = try LinkFrame.position(from: &reader)
    switch mark {
    case LinkFrame.openMark: content = .open(at: try LinkFrame.position(from: &reader))
    case LinkFrame.entriesMark, LinkFrame.awaitedEntriesMark:
      content = .entries(origin: try reader.number(), number: try reader.number(), [])
    default: throw MalformedMessage("an unknown kind of frame: \(mark)")
    }
    isAwaited = mark == LinkFrame.awaitedEntriesMark
  }

  private static func position(from reader: inout ByteReader) throws(MalformedMessage) -> LinkPosition? {
    try reader.optional { (reader) throws(MalformedMessage) -> LinkPosition in
      LinkPosition(origin: try reader.number(), next: try reader.number())
    }
  }

  private static func write(_ position: LinkPosition?, to writer: inout ByteWriter) {
    writer.optional(position) { writer, position in
      writer.number(position.origin)
      writer.number(position.next)
    }
  }

  /// The same frame with its entries.
  public func with(entries: [UInt8]) throws(MalformedMessage) -> LinkFrame {
    switch content {
    case .open:
      guard entries.isEmpty else { throw MalformedMessage("a request for a link has entries") }
      return self
    case .entries(let origin, let number, _):
      return LinkFrame(
        from: from, to: to, link: link, acknowledging: acknowledged, isAwaited: isAwaited,
        .entries(origin: origin, number: number, entries))
    }
  }

  /// None where it asks for a link.
  public var entries: [UInt8] {
    if case .entries(_, _, let entries) = content { entries } else { [] }
  }

  /// Writes all but the entries. It is not secret, and the seal holds it.
  public func writeHeader(to writer: inout ByteWriter) {
    writer.byte(LinkFrame.version)
    switch content {
    case .open: writer.byte(LinkFrame.openMark)
    case .entries: writer.byte(isAwaited ? LinkFrame.awaitedEntriesMark : LinkFrame.entriesMark)
    }
    writer.signed(from.rawValue)
    writer.signed(to.rawValue)
    writer.number(link)
    LinkFrame.write(acknowledged, to: &writer)
    switch content {
    case .open(let position): LinkFrame.write(position, to: &writer)
    case .entries(let origin, let number, _):
      writer.number(origin)
      writer.number(number)
    }
  }
}
