import Glibc

/// The limit of open files, sockets among them.
enum DescriptorLimit {
  /// Files besides the sockets: standard streams, epoll, `/proc`.
  private static let others = 32

  /// Raises the limit for that many sockets; throws when the hard limit is lower.
  static func allow(sockets: Int) throws(BenchmarkError) {
    let needed = rlim_t(sockets + others)
    var limit = rlimit()
    let kind = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    guard getrlimit(kind, &limit) == 0 else { throw BenchmarkError("the limit of open files cannot be read") }
    guard limit.rlim_cur < needed else { return }
    // Only root may go above the hard limit; trying costs nothing.
    var raised = rlimit(rlim_cur: needed, rlim_max: max(needed, limit.rlim_max))
    if setrlimit(kind, &raised) == 0 { return }
    let hard = limit.rlim_max
    limit.rlim_cur = hard
    _ = setrlimit(kind, &limit)
    guard hard >= needed else {
      throw BenchmarkError(
        "\(sockets) connections need \(needed) open files, and this process may have \(hard): raise `ulimit -Hn`, or run fewer")
    }
  }
}
