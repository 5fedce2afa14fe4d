import Foundation

/// The terminal at standard output.
enum Terminal {
  /// Whether standard output is one.
  static var isThere: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Its columns and lines, asked each time, because a window changes; 80 and 24 where it does not
  /// tell.
  static var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 1 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
