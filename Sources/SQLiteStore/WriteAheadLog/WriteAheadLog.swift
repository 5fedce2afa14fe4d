import Foundation

/// The format of SQLite's write-ahead log (https://sqlite.org/fileformat2.html#walformat).
enum WriteAheadLog {
  static let headerBytes = 32
  static let frameHeaderBytes = 24

  /// Reads bytes at an offset; false where the file ends before.
  typealias Read = (UnsafeMutableRawBufferPointer, Int64) throws -> Bool

  /// Marks the frames of one log; the next log adds one to the upper half, and its lower half is
  /// random.
  static func salt(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The salt of a file that SQLite may be using; nil where it has no header. SQLite locks the
  /// database and the index, so nothing is lost by closing this descriptor.
  static func salt(of path: String) -> UInt64? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return Header { bytes, offset in pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count }?.salt
  }

  struct Header {
    let pageBytes: Int
    let salt: UInt64
    let isBigEndian: Bool
    let checksum: Checksum

    /// nil where SQLite would take the log for empty: it is too short, or the checksum is wrong.
    init?(_ read: Read) rethrows {
      var bytes = [UInt8](repeating: 0, count: WriteAheadLog.headerBytes)
      guard try bytes.withUnsafeMutableBytes({ try read($0, 0) }) else { return nil }
      let fields = bytes.withUnsafeBytes { bytes in
        (
          magic: word(bytes, 0), page: Int(word(bytes, 8)), salt: WriteAheadLog.salt(bytes, 16),
          checksum: Checksum(word(bytes, 24), word(bytes, 28))
        )
      }
      guard fields.magic & ~1 == 0x377f_0682, (512...65_536).contains(fields.page), fields.page & (fields.page - 1) == 0 else {
        return nil
      }
      (pageBytes, salt, checksum, isBigEndian) = (fields.page, fields.salt, fields.checksum, fields.magic & 1 == 1)
      var sum = Checksum()
      bytes.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24]), isBigEndian: isBigEndian) }
      guard sum == checksum else { return nil }
    }
  }

  /// The running checksum: a frame's checksum covers all frames before it.
  struct Checksum: Equatable {
    private var first: UInt32
    private var second: UInt32

    init(_ first: UInt32 = 0, _ second: UInt32 = 0) { (self.first, self.second) = (first, second) }

    /// - Parameter bytes: a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
      var (first, second) = (first, second)
      for offset in stride(from: 0, to: bytes.count, by: 8) {
        let a = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let b = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first = first &+ (isBigEndian ? UInt32(bigEndian: a) : UInt32(littleEndian: a)) &+ second
        second = second &+ (isBigEndian ? UInt32(bigEndian: b) : UInt32(littleEndian: b)) &+ first
      }
      (self.first, self.second) = (first, second)
    }
  }

  /// A position in the log, between two frames.
  struct Position: Equatable {
    let pageBytes: Int
    let salt: UInt64
    let isBigEndian: Bool
    /// The number of frames before it.
    var frames: Int
    /// The checksum of all of them.
    var checksum: Checksum

    var offset: Int64 { Int64(headerBytes) + Int64(frames) * Int64(frameHeaderBytes + pageBytes) }

    /// Before the first frame.
    init(_ header: Header) {
      (pageBytes, salt, isBigEndian) = (header.pageBytes, header.salt, header.isBigEndian)
      (frames, checksum) = (0, header.checksum)
    }

    /// The position behind the last transaction that SQLite would find; the same one where there is
    /// none.
    func afterCommits(_ read: Read) throws -> Position {
      var (committed, position) = (self, self)
      var bytes = [UInt8](repeating: 0, count: frameHeaderBytes + pageBytes)
      while try bytes.withUnsafeMutableBytes({ try read($0, position.offset) }) {
        guard let isCommit = bytes.withUnsafeBytes({ position.advance($0) }) else { break }
        if isCommit { committed = position }
      }
      return committed
    }

    /// Moves past a frame.
    /// - Returns: whether the frame ends a transaction; nil where it is not the log's next frame.
    private mutating func advance(_ frame: UnsafeRawBufferPointer) -> Bool? {
      guard WriteAheadLog.salt(frame, 8) == salt, word(frame, 0) != 0 else { return nil }
      var sum = checksum
      sum.add(UnsafeRawBufferPointer(rebasing: frame[..<8]), isBigEndian: isBigEndian)
      sum.add(UnsafeRawBufferPointer(rebasing: frame[frameHeaderBytes...]), isBigEndian: isBigEndian)
      guard sum == Checksum(word(frame, 16), word(frame, 20)) else { return nil }
      checksum = sum
      frames += 1
      return word(frame, 4) != 0
    }
  }
}

private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
  UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
}
