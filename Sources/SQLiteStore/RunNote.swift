import Foundation

/// What the lock file says of the run that holds it, or held it last: its process, and how it ended.
struct RunNote {
  /// How a run ended; while it lives, how it would have ended now.
  enum End: Equatable {
    /// Nobody says: the file is new, or of a version that wrote no more than its process.
    case unknown
    /// The database was closed, and has everything.
    case clean
    /// The log may have what the database has not: nil where it is not known how much.
    case crashed(LogMark?)
  }

  /// How far the log was about a second before the end, at most.
  struct LogMark: Equatable {
    /// Which log.
    let salt: UInt64
    let frames: Int
    /// How many of them the database had.
    let checkpointed: Int
  }

  /// The process that wrote it.
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

  /// Writes it with this process as its holder. Over what was there, which needs no room on a full disk.
  func write(to descriptor: Int32) -> Bool {
    let text = text
    return pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count && ftruncate(descriptor, off_t(text.utf8.count)) == 0
  }
}

/// Which file it is, whatever its names are.
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
