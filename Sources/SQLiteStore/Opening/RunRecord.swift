import Foundation

/// The content of the lock file: the process that runs or ran last, and how it ended.
struct RunRecord {
  /// The end of a run; of a running one, the end that it would have now.
  enum End: Equatable {
    /// The file is new, or of a version that wrote its process only.
    case unknown
    /// The database was closed, and holds everything.
    case clean
    /// The log may hold more than the database; nil where the mark is unknown.
    case crashed(LogMark?)
  }

  /// The log as the last checkpoint has found it, about a second before the run's end.
  struct LogMark: Equatable {
    /// Identifies the log.
    let salt: UInt64
    let frames: Int
    /// The number of frames that the database had.
    let checkpointed: Int
  }

  /// The process that wrote the record.
  let process: String?
  var end: End

  init(end: End) { (process, self.end) = (nil, end) }

  init(in descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 200)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    process = lines.first.flatMap { Int($0) }.map(String.init)
    end = lines.count > 1 ? Self.end(lines[1].split(separator: " ")) : .unknown
  }

  private static func end(_ words: [Substring]) -> End {
    switch words.first {
    case "ended": return .clean
    case "running":
      guard words.count == 4, let salt = UInt64(words[1], radix: 16), let frames = Int(words[2]), let checkpointed = Int(words[3])
      else { return .crashed(nil) }
      return .crashed(LogMark(salt: salt, frames: frames, checkpointed: checkpointed))
    default: return .unknown
    }
  }

  private var text: String {
    let words =
      switch end {
      case .unknown: ""
      case .clean: "ended\n"
      case .crashed(nil): "running\n"
      case .crashed(let mark?): "running \(String(mark.salt, radix: 16)) \(mark.frames) \(mark.checkpointed)\n"
      }
    return "\(getpid())\n" + words
  }

  /// Writes the record for this process, in place: that works on a full disk.
  func write(to descriptor: Int32) -> Bool {
    let text = text
    return pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count && ftruncate(descriptor, off_t(text.utf8.count)) == 0
  }
}

/// Identifies a file, whatever its names are.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }

  init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }
}
