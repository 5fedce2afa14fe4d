import Foundation
import ServerConfiguration
import Testing

/// The pages of Sources/ThrongServer/Documentation.docc/MovingIn show settings for a file, in
/// lines that begin with four spaces.
@Suite struct MovingInSettingsTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/MovingIn")

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test(arguments: ["FromTencentV1", "FromTencentV2", "FromZIM", "FromNIM"])
  func theSettingsOfThePageAreAccepted(name: String) throws {
    let page = try String(contentsOf: MovingInSettingsTests.folder.appending(path: "\(name).md"), encoding: .utf8)
    let settings = page.split(separator: "\n").drop { $0 != "    limits:" }.prefix { $0.hasPrefix("    ") }
    try #require(settings.count > 5, "\(name)")
    let file = try scratch.file(settings.map { $0.dropFirst(4) }.joined(separator: "\n"))
    #expect(problems(file) == [])
  }
}
