/// A message on the bus from one node to another (Cluster.md, "Links").
///
/// Its header begins with the version of all that follows (`BusVersion`). On the bus the entries are
/// sealed, together with the header.
public struct LinkFrame: Sendable, Equatable {
  public enum Content: Sendable, Equatable {
    /// The receiver of a link asks its sender to begin it.
    case open
    /// Entries, which may be none. The first frame of a link has the number 1.
    case entries(number: UInt64, [UInt8])
  }

  /// The version that this release reads and writes.
  public static let version = UInt8(BusVersion.current)

  public let from: NodeNumber
  public let to: NodeNumber
  /// The link's number; of all links between the same two nodes in one direction, the largest counts.
  public let link: UInt64
  public let content: Content

  /// A frame with everything given.
  public init(from: NodeNumber, to: NodeNumber, link: UInt64, _ content: Content) {
    self.from = from
    self.to = to
    self.link = link
    self.content = content
  }

  private static let openMark: UInt8 = 1
  private static let entriesMark: UInt8 = 2

  /// Reads a header; the entries come later, by `with`.
  public init(header reader: inout ByteReader) throws(MalformedMessage) {
    let version = try reader.byte()
    guard version == LinkFrame.version else { throw MalformedMessage("version \(version)") }
    let mark = try reader.byte()
    from = NodeNumber(try reader.signed())
    to = NodeNumber(try reader.signed())
    link = try reader.number()
    switch mark {
    case LinkFrame.openMark: content = .open
    case LinkFrame.entriesMark: content = .entries(number: try reader.number(), [])
    default: throw MalformedMessage("an unknown kind of frame: \(mark)")
    }
  }

  /// The same frame with its entries.
  public func with(entries: [UInt8]) throws(MalformedMessage) -> LinkFrame {
    switch content {
    case .open:
      guard entries.isEmpty else { throw MalformedMessage("a request for a link has entries") }
      return self
    case .entries(let number, _): return LinkFrame(from: from, to: to, link: link, .entries(number: number, entries))
    }
  }

  /// None where it asks for a link.
  public var entries: [UInt8] {
    if case .entries(_, let entries) = content { entries } else { [] }
  }

  /// Writes all but the entries. It is not secret, and the seal holds it.
  public func writeHeader(to writer: inout ByteWriter) {
    writer.byte(LinkFrame.version)
    switch content {
    case .open: writer.byte(LinkFrame.openMark)
    case .entries: writer.byte(LinkFrame.entriesMark)
    }
    writer.signed(from.rawValue)
    writer.signed(to.rawValue)
    writer.number(link)
    if case .entries(let number, _) = content { writer.number(number) }
  }
}
