import Foundation

/// Reads files for their contents; pipes too (`--config /dev/stdin`), which Foundation's `Data(contentsOf:)` does not.
enum FileContents {
  /// Why a file cannot be read, in the system's words.
  struct Failure: Error { let description: String }

  static func read(_ path: String) throws(Failure) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var contents = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count == 0 { return contents }
      guard count > 0 || errno == EINTR else { throw failure() }
      if count > 0 { contents += buffer[..<count] }
    }
  }

  private static func failure(_ code: Int32 = errno) -> Failure { Failure(description: String(cString: strerror(code))) }
}
