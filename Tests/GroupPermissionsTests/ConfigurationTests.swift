import GroupModel
import GroupPermissions
import Testing

/// The cells of the rights table that the configuration decides, under every configuration.
@Suite struct ConfigurationTests {
  /// What a server has switched on.
  struct Server: Sendable, CustomTestStringConvertible {
    let moderates: Bool
    let remembers: Bool
    let ownerDisbands: Bool

    static let all = [false, true].flatMap { moderates in
      [false, true].flatMap { remembers in
        [false, true].map { Server(moderates: moderates, remembers: remembers, ownerDisbands: $0) }
      }
    }

    var testDescription: String { "moderation \(moderates), recentMessages \(remembers), ownerMayDisband \(ownerDisbands)" }

    var configuration: RightsConfiguration {
      var configuration = RightsConfiguration()
      configuration.moderatesLiveRooms = moderates
      configuration.remembersLiveMessages = remembers
      configuration.ownerDisbandsWork = ownerDisbands
      return configuration
    }

    /// The cells in the words of the page, by action and type.
    var cells: [String: [String: String]] {
      [
        "decideApplications": ["AVChatRoom": moderates ? "Admin" : "Owner"],
        "remove": ["AVChatRoom": moderates ? "Admin" : "×"],
        "muteMember": ["AVChatRoom": moderates ? "Admin" : "Owner"],
        "muteGroup": ["AVChatRoom": moderates ? "Admin" : "Owner"],
        "changeRole": ["AVChatRoom": moderates ? "Owner" : "×"],
        "recallOthers": ["AVChatRoom": !remembers ? "×" : moderates ? "Admin" : "admin"],
        "disband": ["Work": ownerDisbands ? "Owner" : "admin"],
      ]
    }
  }

  @Test func nothingIsConfiguredAtFirst() {
    #expect(RightsConfiguration() == Server(moderates: false, remembers: false, ownerDisbands: false).configuration)
    #expect(RightsConfiguration().attributeTypes == [.avChatRoom])
  }

  @Test(arguments: Server.all)
  func theCellsAreTheExpectedOnes(server: Server) throws {
    let permissions = GroupPermissions(server.configuration)
    let page = try ExpectedTables.rightsByAction()
    for action in GroupAction.allCases {
      for type in GroupType.allCases {
        let expected = server.cells[action.rawValue]?[type.rawValue] ?? page[action.rawValue]?[type.rawValue]
        #expect(permissions.requirement(for: action, in: type).word == expected, "\(action) in \(type)")
      }
    }
  }

  @Test(arguments: Server.all)
  func everyAnswerAboutAConfiguredCellIsTheOracles(server: Server) throws {
    let permissions = GroupPermissions(server.configuration)
    let oracle = try RightsOracle(changing: server.cells)
    var wrong: [String] = []
    for (name, cells) in server.cells {
      let action = try #require(GroupAction(rawValue: name))
      for type in GroupType.allCases where cells[type.rawValue] != nil {
        for policy in GroupPolicy.deciding {
          let required = oracle.height(of: name, in: type.rawValue, under: policy)
          for question in Question.all(action, in: type) {
            let answer = question.denial(by: permissions, under: policy)?.code ?? 0
            let expected = oracle.code(question, required: required)
            if answer != expected { wrong.append("\(question) \(policy): \(answer), expected \(expected)") }
          }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
  }

  /// The table of the page that has a column for each combination of the keys of live rooms.
  @Test(arguments: Server.all)
  func thePageTellsTheCellsOfLiveRooms(server: Server) throws {
    let page = try ExpectedTables.cells(of: ExpectedTables.liveRooms)
    let column =
      switch (server.moderates, server.remembers) {
      case (false, false): "with neither key"
      case (true, false): "`avChatRoom.moderation`"
      case (false, true): "`avChatRoom.recentMessages` above 0"
      case (true, true): "both"
      }
    let permissions = GroupPermissions(server.configuration)
    let configured = GroupAction.allCases.filter { server.cells[$0.rawValue]?["AVChatRoom"] != nil }
    #expect(Set(page.keys) == Set(configured.map(\.title)))
    for action in configured {
      #expect(page[action.title]?[column] == permissions.requirement(for: action, in: .avChatRoom).word, "\(action)")
    }
  }

  @Test(arguments: Server.all)
  func aHigherRoleNeverLosesAConfiguredRight(server: Server) throws {
    let permissions = GroupPermissions(server.configuration)
    for (name, cells) in server.cells {
      let action = try #require(GroupAction(rawValue: name))
      for type in GroupType.allCases where cells[type.rawValue] != nil {
        for target in Question.targets {
          let may = Question.actors.map { actor in
            permissions.denial(of: action, in: type, policy: .defaults(for: type), by: actor, on: target) == nil
          }
          #expect(zip(may, may.dropFirst()).allSatisfy { !$0 || $1 }, "\(action) in \(type)")
        }
      }
    }
  }

  @Test(arguments: Server.all)
  func noOtherCellIsConfigured(server: Server) {
    let (plain, permissions) = (GroupPermissions(), GroupPermissions(server.configuration))
    for type in GroupType.allCases {
      let policy = GroupPolicy.defaults(for: type)
      for action in GroupAction.allCases where server.cells[action.rawValue]?[type.rawValue] == nil {
        for question in Question.all(action, in: type) {
          #expect(question.denial(by: permissions, under: policy) == question.denial(by: plain, under: policy), "\(question)")
        }
      }
    }
  }

  @Test(arguments: Server.all)
  func serverInformationTellsTheConfiguredCells(server: Server) throws {
    let described = GroupTypeDescription.all(by: GroupPermissions(server.configuration))
    let room = try #require(described.first { $0.type == .avChatRoom })
    #expect(room.allowsRecall == server.remembers)
    #expect(!room.takesInitialMembers && !room.takesInitialAdmins)
    for type in described {
      for right in type.rights {
        guard let expected = server.cells[right.action.rawValue]?[type.type.rawValue] else { continue }
        #expect(right.requirement.word == expected, "\(right.action) in \(type.type)")
      }
    }
    #expect(described.filter { $0.type != .avChatRoom }.map(\.allowsRecall) == [true, true, true, false])
  }

  @Test func moderatedRoomsHaveAdmins() {
    for server in Server.all {
      let permissions = GroupPermissions(server.configuration)
      #expect(permissions.allowsAdmins(in: .avChatRoom) == server.moderates, "\(server.testDescription)")
      #expect(!permissions.allowsAdmins(in: .work))
    }
  }

  /// The codes of Protocol.md, "Recall", in a live room that remembers.
  @Test(arguments: [
    (false, false, Principal.member(.admin), Denial.recallUnsupported), (true, false, .member(.admin), .recallUnsupported),
    (false, true, .member(.owner), .recallNotYours), (true, true, .member(.member), .recallNotYours),
    (true, true, .member(.custom(7)), .recallNotYours), (true, true, .outsider, .noRight),
  ])
  func whoMayNotRecallIsToldWhy(moderates: Bool, remembers: Bool, principal: Principal, expected: Denial) {
    let server = Server(moderates: moderates, remembers: remembers, ownerDisbands: false)
    let denial = GroupPermissions(server.configuration).denial(
      of: .recallOthers, in: .avChatRoom, policy: .defaults(for: .avChatRoom), by: principal, on: .member)
    #expect(denial == expected)
  }
}
