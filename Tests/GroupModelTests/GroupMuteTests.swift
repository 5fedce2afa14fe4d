import GroupModel
import Testing

@Suite struct GroupMuteTests {
  private static let roles: [Role] = [.owner, .admin, .member, .custom(100), .custom(101)]

  @Test(arguments: [
    (GroupMute.none, [Role]()),
    (GroupMute(mode: .ordinary), [.member, .custom(100), .custom(101)]),
    (GroupMute(mode: .all), roles),
    (GroupMute(mode: .custom, roles: [.custom(100)]), [.custom(100)]),
    (GroupMute(mode: .custom, roles: [.admin, .member]), [.admin, .member]),
  ])
  func aModeSilencesItsRoles(mute: GroupMute, silenced: [Role]) {
    #expect(Self.roles.filter(mute.silences) == silenced)
  }

  @Test(arguments: GroupMute.Mode.allCases)
  func allMutedIsOrdinaryAndAll(mode: GroupMute.Mode) {
    #expect(GroupMute(mode: mode, roles: [.member]).isAllMuted == ["Ordinary", "All"].contains(mode.rawValue))
  }

  @Test func modesHaveTheirWireNames() {
    #expect(GroupMute.Mode.allCases.map(\.rawValue) == ["None", "Ordinary", "All", "Custom"])
  }

  @Test func aTimedMuteIsNoneFromItsEndOn() {
    let end = WallInstant(milliseconds: 5000)
    let mute = GroupMute(mode: .custom, roles: [.admin], muteUntil: end)
    #expect(mute.current(at: end.advanced(byMilliseconds: -1)) == mute)
    #expect(mute.current(at: end) == .none)
    #expect(mute.current(at: end.advanced(byMilliseconds: 1)) == .none)
  }

  @Test func aMuteWithoutEndStays() {
    let mute = GroupMute(mode: .all)
    #expect(mute.current(at: .distantFuture) == mute)
  }
}
