import GroupModel
import Testing

@Suite struct IdentifierTests {
  @Test func namesHaveTheirLengths() {
    #expect(UserID("") == nil)
    #expect(UserID("!")?.rawValue == "!")
    #expect(UserID(String(repeating: "~", count: 32)) != nil)
    #expect(UserID(String(repeating: "~", count: 33)) == nil)
    #expect(GroupID("") == nil)
    #expect(GroupID("!")?.rawValue == "!")
    #expect(GroupID(String(repeating: "~", count: 48)) != nil)
    #expect(GroupID(String(repeating: "~", count: 49)) == nil)
  }

  @Test func everyVisibleASCIICharacterAndNoOtherIsAllowed() {
    for byte in UInt8.min...UInt8.max {
      let name = "a" + String(UnicodeScalar(byte))
      let isVisible = (0x21...0x7e).contains(byte)
      #expect((UserID(name) != nil) == isVisible, "\(byte)")
      #expect((GroupID(name) != nil) == isVisible, "\(byte)")
    }
  }

  @Test(arguments: ["名", "é", "e\u{301}", "a b", "a\0", "🙂", "a\n"])
  func othersAreRefused(name: String) {
    #expect(UserID(name) == nil)
    #expect(GroupID(name) == nil)
  }

  @Test func lengthIsInBytes() {
    // 16 characters of two bytes fill the 32 bytes, and are refused for what they are; 20 of them
    // do for either reason.
    #expect(UserID(String(repeating: "é", count: 16)) == nil)
    #expect(GroupID(String(repeating: "é", count: 20)) == nil)
  }

  @Test func reservedUserNames() {
    #expect(UserID("@a") == nil)
    #expect(UserID("a@") != nil)
    #expect(UserID("administrator") == nil)
    #expect(UserID("Administrator") != nil)
    #expect(UserID("administrators") != nil)
  }

  @Test func theAdministratorComesBackFromTheStoreOnly() {
    #expect(UserID(stored: "administrator") == .administrator)
    #expect(UserID(stored: "alice") == UserID("alice"))
    #expect(UserID(stored: "@alice") == nil)
    #expect(UserID.administrator.rawValue == "administrator")
  }

  @Test func generatedGroupNames() {
    let names = (0..<1000).map { _ in GroupID.generate() }
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(name.isGenerated)
      #expect(GroupID(name.rawValue) == name)
    }
    #expect(GroupID("@TGS#")?.isGenerated == true)
    #expect(GroupID("@TGS")?.isGenerated == false)
    #expect(GroupID("a@TGS#1")?.isGenerated == false)
  }

  @Test func namesAreOrderedByTheirText() throws {
    let names = try ["b", "B", "a", "aa"].map { try #require(UserID($0)) }
    #expect(names.sorted().map(\.rawValue) == ["B", "a", "aa", "b"])
    let groups = try ["g2", "g10", "G"].map { try #require(GroupID($0)) }
    #expect(groups.sorted().map(\.description) == ["G", "g10", "g2"])
  }
}
