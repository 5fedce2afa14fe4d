import Testing
import WireProtocol

@testable import generator

/// The module of the Python client that is written from the server's declarations.
@Suite struct PythonClientSourceTests {
  private let source = MethodTable().pythonClientSource()

  @Test func theMethodsOfClientsAreDeclared() {
    for entry in MethodTable().entries where !["login", "logout"].contains(entry.name) {
      let isDeclared = source.contains(" = await self.call(\"\(entry.name)\"")
      #expect(isDeclared == (entry.specification.callers != .application), "\(entry.name)")
    }
    #expect(!source.contains("await self.call(\"login\""), "the client signs in by itself")
  }

  @Test func everyEventAndCodeIsDeclared() {
    for event in EventName.allCases {
      #expect(source.contains("name: Literal[\"\(event.rawValue)\"]"), "\(event)")
      #expect(source.contains("\n    \"\(event.rawValue)\",\n"), "\(event)")
    }
    for code in ErrorCode.allCases { #expect(source.contains("\n    \(code) = \(code.rawValue)\n")) }
    #expect(source.contains("\n    tokenExpired = 4006\n"))
  }

  @Test func typesArePythons() {
    for line in [
      "    groupType: Literal[\"Work\", \"Public\", \"Meeting\", \"AVChatRoom\", \"BChatRoom\"]",
      "    mute: NotRequired[GroupMute]",
      "    customInfo: dict[str, str]", "    reactions: NotRequired[list[GroupMessageReactionRow]]",
      "    groups: list[SyncGroupsParamsGroupRow]", "    counters: dict[str, int | None]", "    role: NotRequired[str]",
      "    changeInfoList: NotRequired[list[GroupTipsChangeInfoRow] | list[MemberChange]]", "    \"from\": \"NotRequired[int]\",",
      "    status: Literal[\"Joined\", \"Pending\"]", "    value: Any",
      "    async def rpcDiscover(self) -> RPCDiscoverResult:",
      "    async def quitGroup(self, **params: Unpack[QuitGroupParams]) -> NoResult:",
    ] {
      #expect(source.contains("\n\(line)\n"), "\(line)")
    }
  }

  @Test func noTypeIsDeclaredTwice() {
    let names = source.split(separator: "\n").filter { $0.hasPrefix("class ") }.map { $0.prefix { $0 != "(" && $0 != ":" } }
    #expect(names.count == Set(names).count && names.count > 150)
  }
}
