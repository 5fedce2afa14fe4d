/// Some of the places in a history that share a block, a bit each.
public struct SeqBlock: Sendable, Equatable {
  /// How many places a block has.
  public static let size: Int64 = 1024

  /// The lowest bit of a byte is its first place; the zeros behind the last bit are left out.
  public private(set) var bytes: [UInt8]

  /// No place.
  public init() { bytes = [] }

  /// Places as stored; nil where there are more bytes than a block has.
  public init?(bytes: [UInt8]) {
    guard bytes.count <= SeqBlock.size / 8 else { return nil }
    self.bytes = bytes
  }

  /// The block of a place, from 0.
  public static func number(of seq: Int64) -> Int64 { seq / size }

  /// The places of the block with that number, ascending.
  public func seqs(in block: Int64) -> [Int64] {
    bytes.indices.flatMap { index in
      (0..<8).compactMap { bytes[index] & (1 << $0) == 0 ? nil : block * SeqBlock.size + Int64(index * 8 + $0) }
    }
  }

  /// Whether a place of this block is among them.
  public func contains(_ seq: Int64) -> Bool {
    let (index, bit) = SeqBlock.position(of: seq)
    return index < bytes.count && bytes[index] & bit != 0
  }

  /// Adds a place of this block.
  /// - Returns: whether it is new.
  @discardableResult
  public mutating func insert(_ seq: Int64) -> Bool {
    let (index, bit) = SeqBlock.position(of: seq)
    if index >= bytes.count { bytes += [UInt8](repeating: 0, count: index + 1 - bytes.count) }
    defer { bytes[index] |= bit }
    return bytes[index] & bit == 0
  }

  /// Removes a place of this block.
  public mutating func remove(_ seq: Int64) {
    let (index, bit) = SeqBlock.position(of: seq)
    guard index < bytes.count else { return }
    bytes[index] &= ~bit
    while bytes.last == 0 { bytes.removeLast() }
  }

  private static func position(of seq: Int64) -> (index: Int, bit: UInt8) {
    let place = Int(seq % size)
    return (place / 8, 1 << UInt8(place % 8))
  }
}
