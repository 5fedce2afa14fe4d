import GroupModel
import GroupPermissions
import Testing

@testable import generator

/// The tables of Permissions.md; GroupPermissionsTests holds the page against expected ones.
@Suite struct PermissionTablesTests {
  @Test func theConfigurationDecidesTheRowOfAttributes() {
    let tables = PermissionTables.markdown(by: GroupPermissions(attributeTypes: [.work, .bChatRoom]))
    #expect(tables.contains("alone) | Member | × | × | × | Member |\n"))
    #expect(tables.contains("| attributeMode | Any, Holder | Any (s) | Any | Any | Any |\n"))
    #expect(tables.contains("| slowMode | 0–86400 | 0 (s) | 0 (s) | 0 (s) | 0 (s) |\n"))
  }

  @Test func theKeysOfLiveRoomsHaveATableOfTheirOwn() {
    let tables = PermissionTables.markdown()
    #expect(tables.hasSuffix("| recall somebody else's message | × | × | admin | Admin |\n"))
    #expect(!tables.contains("| set counters | Owner | Owner |"), "rows that no key changes are left out")
  }
}
