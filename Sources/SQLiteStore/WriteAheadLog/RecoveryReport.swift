import Foundation
import Logging

/// Reports how the last run left the write-ahead log. SQLite recovers what it can and reports no
/// loss, so this reads the log first. The log has a bound, whatever the size of the database.
struct RecoveryReport {
  /// One line for the operator.
  struct Line {
    let level: Logger.Level
    let text: String
    var metadata: Logger.Metadata = [:]
  }

  private(set) var lines: [Line] = []
  private let path: String
  private let lastRun: RunRecord.End

  /// Reads the log. Call it before SQLite opens the database.
  init(of database: DatabaseFile, lastRun: RunRecord.End) {
    path = database.logPath
    self.lastRun = lastRun
    // A new or restored database lacks nothing.
    guard lastRun != .unknown || FileIdentity(of: path) != nil else { return }
    do { try read() } catch {
      lines.append(Line(level: .warning, text: "the write-ahead log cannot be read", metadata: ["error": "\(error)"]))
    }
  }

  func write(to logger: Logger) {
    for line in lines {
      logger.log(level: line.level, "\(line.text)", metadata: line.metadata.merging(["log": "\(path)"]) { $1 })
    }
  }

  private var isCrash: Bool { if case .crashed = lastRun { true } else { false } }

  private var mark: RunRecord.LogMark? { if case .crashed(let mark) = lastRun { mark } else { nil } }

  private mutating func read() throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      if isCrash { reportLoss("is missing") }
      return
    }
    defer { close(descriptor) }
    let file = LogFile(descriptor: descriptor)
    guard try file.size > WriteAheadLog.headerBytes else {
      // An unused log has one byte (see `DatabaseOpener`) and no frames.
      if isCrash, mark.map({ $0.frames > 0 }) ?? true { reportLoss("is empty") }
      return
    }
    guard let header = try WriteAheadLog.Header(file.read) else {
      return reportLoss("has a damaged beginning, and nothing of it was read")
    }
    let end = try WriteAheadLog.Position(header).afterCommits(file.read)
    if isCrash {
      lines.append(
        Line(
          level: .notice, text: "the last run did not end cleanly: its log is recovered",
          metadata: ["frames": .stringConvertible(end.frames)]))
    }
    reportShortage(end)
    reportStrays(behind: end, try file.strays(behind: end))
  }

  /// Frames that only the log had.
  private var needed: Int { mark.map { max(0, $0.frames - $0.checkpointed) } ?? 0 }

  private var consequence: String {
    needed > 0 ? "acknowledged writes are lost" : "the last acknowledged writes may be lost"
  }

  private mutating func reportLoss(_ what: String) {
    lines.append(
      Line(
        level: .warning, text: "the write-ahead log \(what): \(consequence)",
        metadata: mark == nil ? [:] : ["lostFrames": .stringConvertible(needed)]))
  }

  /// Compares with the mark in the lock file, which the last checkpoint has left.
  private mutating func reportShortage(_ end: WriteAheadLog.Position) {
    guard let mark else { return }
    // The number of times that the log has started over since the mark.
    let age = UInt32(end.salt >> 32) &- UInt32(mark.salt >> 32)
    guard age < 1 << 16 else { return reportLoss("is not that of the last run") }
    guard age == 0, end.frames < mark.frames else { return }
    lines.append(
      Line(
        level: .warning, text: "the write-ahead log ends early: \(consequence)",
        metadata: ["frames": .stringConvertible(end.frames), "expectedFrames": .stringConvertible(mark.frames)]))
  }

  private mutating func reportStrays(behind end: WriteAheadLog.Position, _ strays: LogFile.Strays) {
    let metadata: Logger.Metadata = [
      "bytes": .stringConvertible(strays.bytes), "frames": .stringConvertible(end.frames),
      "strayCommits": .stringConvertible(strays.commits),
    ]
    switch strays.commits {
    case 2...:
      let text = "the write-ahead log is damaged in the middle: what follows was not read, and acknowledged writes are lost"
      lines.append(Line(level: .warning, text: text, metadata: metadata))
    case 1:
      let text =
        "the last transaction of the write-ahead log is not whole: it was not read, as is right where the machine stopped during it"
      lines.append(Line(level: .warning, text: text, metadata: metadata))
    default:
      guard strays.bytes > 0 else { return }
      let text = "the end of the write-ahead log belongs to no whole transaction, as is usual after a crash"
      lines.append(Line(level: .info, text: text, metadata: metadata))
    }
  }
}

/// The file of a log that SQLite has not opened.
private struct LogFile {
  let descriptor: Int32

  var size: Int {
    get throws {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      return status.st_size
    }
  }

  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Bool {
    let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return count == bytes.count
  }

  /// Frames of this log behind its last whole transaction; frames of earlier logs do not count.
  struct Strays {
    var bytes: Int64 = 0
    var commits = 0
  }

  func strays(behind end: WriteAheadLog.Position) throws -> Strays {
    var strays = Strays()
    var bytes = [UInt8](repeating: 0, count: WriteAheadLog.frameHeaderBytes)
    let frame = Int64(WriteAheadLog.frameHeaderBytes + end.pageBytes)
    var offset = end.offset
    while try bytes.withUnsafeMutableBytes({ try read($0, at: offset) }) {
      let (salt, isCommit) = bytes.withUnsafeBytes { bytes in
        (WriteAheadLog.salt(bytes, 8), bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0)
      }
      if salt == end.salt {
        strays.bytes += min(frame, Int64(try size) - offset)
        if isCommit { strays.commits += 1 }
      }
      offset += frame
    }
    return strays
  }
}
