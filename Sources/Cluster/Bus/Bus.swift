import Dispatch

/// Carries messages between the nodes of a cluster.
///
/// The messages of one publisher to one subject arrive in their order, each at most once. Nothing
/// more is promised: whoever needs all messages numbers them.
public protocol Bus: Sendable {
  /// Whether messages can pass now.
  var isConnected: Bool { get }

  /// Counts since the start: what has passed and what has not.
  var counters: BusCounters { get }

  /// Hands a message over, and never waits. A subscriber in this process gets it, too.
  /// - Throws: `.tooLong`, `.disconnected`, or `.overloaded` where too much waits to leave.
  func publish(_ message: [UInt8], to subject: BusSubject) throws(BusError)

  /// The serial queue on which messages leave, and which may block; nil = there is none. What is published
  /// there leaves without waking another thread, and a publisher that makes its messages there makes few
  /// where the bus is slow.
  var sendingQueue: DispatchQueue? { get }

  /// Delivers the messages that are published to a subject from the return of this call on.
  /// - Parameter receive: called on a thread of the bus, one call at a time, in order. It must not
  ///   block: up to `BusLimits` wait behind it; those beyond are dropped, and it gets `.gap`.
  /// - Returns: the subscription, which lasts until `cancel()`.
  func subscribe(
    to subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) async throws(BusError) -> any BusSubscription

  /// Sends what was published, and ends all subscriptions.
  func close() async
}

extension Bus {
  public var sendingQueue: DispatchQueue? { nil }
}

/// A subscription of a bus.
public protocol BusSubscription: Sendable {
  /// Ends the deliveries; one that has begun may still run.
  func cancel()
}

/// An input of a subscriber.
public enum BusDelivery: Sendable, Equatable {
  case message([UInt8])
  /// Messages may be missing here: the bus was away, or the subscriber was too slow.
  case gap
}

/// The reason why a message did not pass.
public enum BusError: Error, Sendable, Equatable {
  /// The message is longer than `BusLimits.messageBytes`.
  case tooLong
  /// There is no connection to the bus now.
  case disconnected
  /// Too much waits to be sent.
  case overloaded
  /// The bus was closed.
  case closed
  /// The engine has refused something, with its words.
  case refused(String)
}

/// The bounds of every bus.
public enum BusLimits {
  /// The longest message; adapters divide it where their engine takes less.
  public static let messageBytes = 16 << 20
  /// Messages that wait for one subscriber.
  public static let waitingMessages = 65_536
  /// Bytes that wait for one subscriber.
  public static let waitingBytes = 64 << 20
  /// Bytes that wait to leave this process.
  public static let unsentBytes = 64 << 20
}

/// Counts of a bus since its start.
public struct BusCounters: Sendable, Equatable {
  public var publishedMessages = 0
  public var publishedBytes = 0
  public var receivedMessages = 0
  public var receivedBytes = 0
  /// Messages that `publish` has refused.
  public var refusedMessages = 0
  /// How often subscribers were told that messages may be missing.
  public var gaps = 0
  /// Notifications and parts that no node has sent.
  public var strangeMessages = 0
  /// How often the connection was made again.
  public var reconnects = 0

  /// Nothing has passed.
  public init() {}
}

/// The name under which messages are published: words of letters, digits, `-` and `_` with dots
/// between them. An adapter puts the cluster's name before it.
public struct BusSubject: Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String

  /// Nil where it is no such name, or longer than 128 bytes.
  public init?(_ name: String) {
    let words = name.split(separator: ".", omittingEmptySubsequences: false)
    let isWord = { (word: Substring) in !word.isEmpty && word.utf8.allSatisfy(BusSubject.isAllowed) }
    guard name.utf8.count <= 128, words.allSatisfy(isWord) else { return nil }
    rawValue = name
  }

  /// A subject of one node: `n12.requests`.
  /// - Parameter word: letters, digits, `-` and `_`.
  public init(of node: NodeNumber, _ word: StaticString) { rawValue = "n\(node).\(word)" }

  /// A subject of all nodes.
  /// - Parameter word: letters, digits, `-` and `_`.
  public init(ofAll word: StaticString) { rawValue = "all.\(word)" }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  public var description: String { rawValue }
}
