import GroupModel
import Testing

@Suite struct RoleTests {
  @Test(arguments: [
    ("Owner", Role.owner), ("Admin", .admin), ("Member", .member), ("100", .custom(100)), ("101", .custom(101)),
    ("2147483647", .custom(2_147_483_647)),
  ])
  func namesAreReadAndWritten(name: String, role: Role) {
    #expect(Role(wireName: name) == role)
    #expect(role.wireName == name)
  }

  @Test(arguments: [
    "", "owner", "OWNER", "NotMember", "99", "0", "-100", "+100", "0100", "00100", " 100", "100 ", "1e2", "100.0", "0x64",
    "2147483648", "4294967396", "99999999999999999999", "१००", "１００",
  ])
  func othersAreRefused(name: String) {
    #expect(Role(wireName: name) == nil)
  }

  @Test func customRolesStandWithMember() {
    #expect(Role.owner.rank > Role.admin.rank)
    #expect(Role.admin.rank > Role.member.rank)
    for number in [Int32(100), 5000, .max] {
      #expect(Role.custom(number).rank == Role.member.rank)
      #expect(!Role.custom(number).isManager)
    }
    #expect(Role.owner.isManager)
    #expect(Role.admin.isManager)
    #expect(!Role.member.isManager)
    #expect(Role.custom(100) != .custom(101))
    #expect(Role.custom(100) != .member)
  }
}
