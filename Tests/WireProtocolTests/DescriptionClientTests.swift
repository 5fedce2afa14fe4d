import Foundation
import Testing
import WireProtocol

/// The parts of throng.js and throng.d.ts that are written from the server's declarations.
@Suite struct DescriptionClientTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Pages/Client")
  /// Everything behind this line is generated.
  private static let mark = "// Generated from the server's declarations: THRONG_UPDATE_REFERENCE=1 swift test rewrites it.\n"

  private let declarations = MethodTable().typeScriptDeclarations()

  private func demandCurrent(_ file: String, _ generated: String) throws {
    let url = Self.folder.appending(path: file)
    let kept = try String(contentsOf: url, encoding: .utf8)
    let mark = try #require(kept.range(of: Self.mark), "\(file) has the line behind which all is generated")
    let current = kept[..<mark.upperBound] + "\n" + generated
    if ProcessInfo.processInfo.environment["THRONG_UPDATE_REFERENCE"] == "1" {
      try current.write(to: url, atomically: true, encoding: .utf8)
    } else {
      #expect(kept == current, "THRONG_UPDATE_REFERENCE=1 swift test rewrites \(file)")
    }
  }

  @Test func theDeclarationsAreUpToDate() throws { try demandCurrent("throng.d.ts", declarations) }

  @Test func theConstantsAreUpToDate() throws { try demandCurrent("throng.js", MethodTable().javaScriptConstants()) }

  @Test func whatAClientMayCallIsDeclared() {
    for entry in MethodTable().entries {
      let name = entry.name.contains(".") ? "\"\(entry.name)\"" : entry.name
      #expect(declarations.contains("\n  \(name): {\n    params: ") == (entry.specification.callers != .application), "\(name)")
    }
    for event in EventName.allCases { #expect(declarations.contains("\n  \(event.rawValue): {\n")) }
    for code in ErrorCode.allCases { #expect(declarations.contains("\n  readonly \(code): \(code.rawValue);\n")) }
    #expect(declarations.contains("\n  readonly tokenExpired: 4006;\n"))
  }

  @Test func typesAreTypeScripts() {
    for line in [
      "  groupType: \"Work\" | \"Public\" | \"Meeting\" | \"AVChatRoom\" | \"BChatRoom\";",
      "  mute?: GroupMute;", "  customInfo: Record<string, string>;",
      "  reactions?: { reaction: string; count: number; byMe: boolean }[];",
      "      groups: { groupID: string; epoch: string; seq: number; changeSeq?: number }[];",
      "      direction?: \"Older\" | \"Newer\";", "      counters: Record<string, number | null>;",
      "      matchFields?: (\"groupID\" | \"groupName\" | \"memberUserID\" | \"memberNameCard\" | \"memberNickName\")[];",
      "      status: \"Joined\" | \"Pending\";", "    memberList: MemberInfo[];",
      "      value: number;",
    ] {
      #expect(declarations.contains("\n\(line)\n"), "\(line)")
    }
  }
}
