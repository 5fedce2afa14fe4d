import Glibc

/// The small files that the kernel keeps of a process.
enum ProcessFile {
  /// What is in such a file; nil when it cannot be read.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let length = read(descriptor, &bytes, bytes.count)
    return length >= 0 ? String(decoding: bytes[..<length], as: UTF8.self) : nil
  }
}
