import Foundation
import ServerConfiguration
import Testing

/// A directory of a test's own, removed with it.
final class Scratch {
  let path = NSTemporaryDirectory() + "throng-configuration-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a new file with this text.
  func file(_ text: String, named name: String = "throng.yaml") throws -> String {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return file
  }
}

/// The problems of a configuration, none where it is good.
func problems(
  _ configFile: String? = nil, environment: [String: String] = [:], flags: [(key: String, value: String)] = []
) -> [String] {
  do {
    _ = try Settings.load(configFile: configFile, environment: environment, flags: flags)
    return []
  } catch { return error.problems }
}

extension Settings {
  /// The entry of a key.
  func entry(_ key: String) throws -> Entry { try #require(entries.first { $0.key == key }) }
}
