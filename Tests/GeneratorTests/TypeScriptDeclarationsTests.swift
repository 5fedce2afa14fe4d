import Testing
import WireProtocol

@testable import generator

/// The parts of throng.js and throng.d.ts that are written from the server's declarations.
@Suite struct TypeScriptDeclarationsTests {
  private let declarations = MethodTable().typeScriptDeclarations()
  private let constants = MethodTable().javaScriptConstants()

  @Test func whatAClientMayCallIsDeclared() {
    for entry in MethodTable().entries {
      let name = entry.name.contains(".") ? "\"\(entry.name)\"" : entry.name
      #expect(declarations.contains("\n  \(name): {\n    params: ") == (entry.specification.callers != .application), "\(name)")
    }
    for event in EventName.allCases {
      #expect(declarations.contains("\n  \(event.rawValue): {\n"))
      #expect(constants.contains("\n  \"\(event.rawValue)\",\n"))
    }
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
