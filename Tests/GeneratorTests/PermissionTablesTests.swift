import GroupModel
import GroupPermissions
import Testing

@testable import generator

/// The tables of Permissions.md; GroupPermissionsTests holds the page against expected ones.
@Suite struct PermissionTablesTests {
  @Test func theConfigurationDecidesTheRowOfAttributes() {
    let tables = PermissionTables.markdown(by: GroupPermissions(attributeTypes: [.work, .bChatRoom]))
    #expect(tables.contains("alone) | Member | × | × | × | Member |\n"))
  }
}
