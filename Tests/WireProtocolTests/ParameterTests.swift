import Testing
import WireProtocol

/// The parameters of every method, by the page in MethodPage.swift.
@Suite struct ParameterTests {
  /// "code" or "code field", as one line to compare.
  private func answer(_ method: MethodPage, _ params: String) -> String {
    fault(method.name, params).map { "\($0.code.rawValue) \($0.field ?? "")" } ?? "taken"
  }

  private func code(_ method: MethodPage, _ params: String) -> Int { fault(method.name, params)?.code.rawValue ?? 0 }

  @Test func thePageHasTheMethodsOfTheTable() {
    #expect(MethodTable().entries.map(\.name) == MethodPage.all.map(\.name))
  }

  @Test(arguments: MethodPage.all)
  func theRequiredMembersAreEnough(method: MethodPage) throws {
    #expect(answer(method, method.params()) == "taken")
    #expect(try decoded(method.name, method.params()).caseName == method.name)
  }

  @Test(arguments: MethodPage.all)
  func aRequiredMemberThatIsMissingOrNullIsNamed(method: MethodPage) {
    for field in method.fields where field.isRequired {
      #expect(answer(method, method.params([field.name: nil])) == "-32602 \(field.name)")
      #expect(answer(method, method.params([field.name: "null"])) == "-32602 \(field.name)")
    }
  }

  @Test(arguments: MethodPage.all)
  func anOptionalMemberThatIsNullCountsAsAbsent(method: MethodPage) {
    for field in method.fields where !field.isRequired {
      #expect(answer(method, method.params([field.name: "null"])) == "taken", "\(field.name)")
    }
  }

  @Test(arguments: MethodPage.all)
  func aMemberOfTheWrongTypeIsNamed(method: MethodPage) {
    for field in method.fields {
      for value in field.domain.wrongType {
        let found = fault(method.name, method.params([field.name: value]))
        #expect(found?.code == .invalidParams, "\(field.name): \(value)")
        #expect(found?.field == field.name || field.domain.innerNames.contains(found?.field ?? ""), "\(field.name): \(value)")
      }
    }
  }

  @Test(arguments: MethodPage.all)
  func everyValueInsideADomainIsTaken(method: MethodPage) {
    for field in method.fields {
      for value in field.domain.valid {
        #expect(answer(method, method.params([field.name: value])) == "taken", "\(field.name): \(value.prefix(60))")
      }
    }
  }

  @Test(arguments: MethodPage.all)
  func everyValueOutsideADomainHasItsOwnCode(method: MethodPage) {
    for field in method.fields {
      for (value, expected) in field.domain.outside {
        let found = fault(method.name, method.params([field.name: value]))
        #expect(found?.code.rawValue == expected, "\(field.name): \(value.prefix(60))")
        #expect(
          found?.field == field.name || field.domain.innerNames.contains(found?.field ?? ""), "\(field.name): \(value.prefix(60))"
        )
      }
    }
  }

  @Test(arguments: MethodPage.all)
  func unknownMembersAreIgnored(method: MethodPage) {
    let params = method.params().dropLast() + (method.params() == "{}" ? "" : ",") + #""groupId":5,"x":{"y":[null,1e400]},"":""}"#
    #expect(answer(method, String(params)) == "taken")
  }

  @Test(arguments: MethodPage.all)
  func everyCodeOfAParameterIsAmongTheErrorsOfTheMethod(method: MethodPage) throws {
    let entry = try #require(MethodTable()[method.name])
    let named = Set(entry.specification.errors.map(\.rawValue))
    for field in method.fields {
      #expect(Set(field.domain.outside.map(\.code)).isSubset(of: named), "\(field.name)")
    }
    if method.fields.contains(where: { $0.name == "groupID" && $0.isRequired }) {
      #expect(named.contains(10010), "where a group is named there may be none")
    }
  }

  @Test(arguments: MethodPage.all)
  func theResultHasTheMembersOfThePage(method: MethodPage) throws {
    let entry = try #require(MethodTable()[method.name])
    #expect(entry.specification.result.map { $0.name + ($0.isOptional ? "?" : "") } == method.result)
  }

  @Test(arguments: MethodPage.all)
  func theDescriptionRequiresWhatThePageRequires(method: MethodPage) throws {
    let entry = try #require(MethodTable()[method.name])
    let described = Dictionary(uniqueKeysWithValues: entry.parameters.map { ($0.name, $0.isRequired) })
    // One of two has to be there, so neither is described as required.
    let alternatives: Set<String> =
      switch method.name {
      case "importUsers": ["userIDList", "userList"]
      case "revokeGroupMessage", "reportMessage": ["seq", "msgID"]
      case "trace": ["userID", "groupID"]
      // At least one of four has to be there.
      case "setConversation": ["isPinned"]
      default: []
      }
    for field in method.fields {
      let isRequired = field.isRequired && !field.hasAlternative && !alternatives.contains(field.name)
      #expect(described[field.name] == isRequired, "\(field.name)")
    }
    #expect(alternatives.isSubset(of: described.keys))
    let others = Set(described.keys).subtracting(method.fields.map(\.name)).subtracting(alternatives)
    #expect(
      others
        == (method.fields.contains(where: \.hasAlternative)
          ? [method.name == "modifyGroupMessage" ? "data" : "userIDList"] : method.name == "createGroup" ? ["ownerUserID"] : []))
  }
}

extension Domain {
  /// The members of the objects in a list; a fault inside names them.
  fileprivate var innerNames: [String] { if case .objects(let fields, _, _) = self { fields.map(\.name) } else { [] } }
}
