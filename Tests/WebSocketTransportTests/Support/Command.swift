import Foundation

/// A command that runs beside the test. It ends with this object, or after a minute.
final class Command {
  private let process: pid_t
  private var isOver = false

  /// Runs `openssl`. The standard streams are the given descriptors, or nothing.
  init(openssl arguments: [String], input: Int32? = nil, output: Int32? = nil) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, descriptor) in [(Int32(0), input), (1, output), (2, nil)] {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
      } else {
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
      }
    }
    // Threads of the pool block most signals, and a child inherits that: SIGTERM would not end it.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = (["timeout", "60", "openssl"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, "/usr/bin/timeout", &actions, &attributes, &words, environ) == 0 else {
      throw SocketClient.Failed(description: "cannot run openssl")
    }
    self.process = process
  }

  /// Waits for its end and returns whether it succeeded.
  func succeeds() -> Bool {
    var status: Int32 = 0
    isOver = true
    return waitpid(process, &status, 0) == process && status == 0
  }

  deinit {
    // Once it has been waited for, its number may be another's.
    guard !isOver else { return }
    kill(process, SIGTERM)
    waitpid(process, nil, 0)
  }
}
