import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Writes of attributes as values: who holds a key afterwards, and who may change it (Protocol.md,
/// "Holders of attributes").
@Suite struct AttributeChangeTests {
  /// A key as the oracle knows it.
  private struct Key: Equatable {
    var value: String
    var holder: String?
    var goesWithHolder: Bool
  }

  private enum Call {
    case initialize([String: String])
    case set([String: String], expect: [String: String?], flag: Bool, takeOver: Bool)
    case delete([String]?)
  }

  private static let users = ["a", "b", "c", "d", "manager"]

  private func change(_ call: Call, of known: GroupAttributes, by user: String?) throws(WireError) -> AttributeChange {
    let writer = AttributeChange.Writer(
      user: user.map { UserID(stringLiteral: $0) }, mayChangeAll: user == nil || user == "manager")
    switch call {
    case .initialize(let texts): return AttributeChange(of: known, by: writer, replacingWith: entries(texts))
    case .delete(let keys): return try AttributeChange(of: known, by: writer, deleting: keys)
    case .set(let texts, let expect, let flag, let takeOver):
      return AttributeChange(
        of: known, by: writer,
        setting: SetGroupAttributes(
          attributes: entries(texts), expect: expect.map { SetGroupAttributes.Expectation(key: $0.key, value: $0.value) },
          isDeleteAfterHolderLeft: flag, isTakeOver: takeOver))
    }
  }

  private func entries(_ texts: [String: String]) -> [GroupAttributes.Entry] {
    texts.map { GroupAttributes.Entry(key: $0.key, value: $0.value) }
  }

  /// The code, and the keys after the call, by the sentences of the contract.
  private func expected(
    _ call: Call, _ keys: [String: Key], by user: String?, _ mode: AttributeMode
  ) -> (code: Int, keys: [String: Key]) {
    var after = keys
    switch call {
    case .delete(let names):
      let names = names ?? Array(keys.keys)
      // "Deleting an attribute that is not there" is 10050.
      if names.contains(where: { keys[$0] == nil }) { return (10050, keys) }
      for name in names { after[name] = nil }
    case .initialize(let texts):
      for name in keys.keys where texts[name] == nil { after[name] = nil }
      for (name, text) in texts {
        if after[name] == nil { after[name] = Key(value: text, holder: user, goesWithHolder: false) }
        after[name]?.value = text
      }
    case .set(let texts, let expect, let flag, let takeOver):
      for (name, value) in expect where keys[name]?.value != value { return (10058, keys) }
      for (name, text) in texts {
        var key = keys[name] ?? Key(value: text, holder: user, goesWithHolder: false)
        key.value = text
        if takeOver, key.holder != user { key = Key(value: text, holder: user, goesWithHolder: false) }
        // "The keys of this call that the caller holds or creates."
        if user != nil, key.holder == user { key.goesWithHolder = flag }
        after[name] = key
      }
    }
    if mode == .holder, user != nil, user != "manager" {
      for (name, key) in keys where key.holder != nil && key.holder != user && after[name] != key { return (10059, keys) }
    }
    return (0, after)
  }

  private func keys(of attributes: GroupAttributes) -> [String: Key] {
    Dictionary(
      uniqueKeysWithValues: attributes.entries.map { entry in
        (
          entry.key,
          Key(value: entry.value, holder: entry.holder?.rawValue, goesWithHolder: entry.isDeletedAfterHolderLeft)
        )
      })
  }

  private func call(_ random: inout SeededGenerator) -> Call {
    func names(_ random: inout SeededGenerator) -> [String] {
      ["k1", "k2", "k3", "k4"].filter { _ in Bool.random(using: &random) }
    }
    func texts(_ random: inout SeededGenerator) -> [String: String] {
      Dictionary(uniqueKeysWithValues: names(&random).map { ($0, ["x", "y"].randomElement(using: &random) ?? "x") })
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return .initialize(texts(&random))
    case 1...2: return .delete(Bool.random(using: &random) ? nil : names(&random))
    default:
      var expect: [String: String?] = [:]
      if Int.random(in: 0..<3, using: &random) == 0 {
        let values: [String?] = [nil, "x", "y"]
        expect.updateValue(values[Int.random(in: 0..<3, using: &random)], forKey: "k1")
      }
      return .set(
        texts(&random), expect: expect, flag: Bool.random(using: &random), takeOver: Int.random(in: 0..<3, using: &random) == 0)
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func callsHaveTheResultsOfTheSentences(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let mode: AttributeMode = seed.isMultiple(of: 2) ? .holder : .any
    var attributes = GroupAttributes()
    var codes: Set<Int> = []
    for step in 0..<300 {
      // Now and then somebody leaves.
      if Int.random(in: 0..<20, using: &random) == 0, let user = AttributeChangeTests.users.randomElement(using: &random) {
        let staying = keys(of: attributes).filter { !($0.value.holder == user && $0.value.goesWithHolder) }
        let after = attributes.afterLeaving(of: [UserID(stringLiteral: user)])
        #expect((after == nil) == (staying.count == attributes.count), "seed \(seed), step \(step)")
        if let after { attributes = after }
        #expect(keys(of: attributes) == staying, "seed \(seed), step \(step)")
        continue
      }
      let user = Int.random(in: 0..<8, using: &random) == 0 ? nil : AttributeChangeTests.users.randomElement(using: &random)
      let call = call(&random)
      let wanted = expected(call, keys(of: attributes), by: user, mode)
      var code = 0
      do throws(WireError) {
        let change = try change(call, of: attributes, by: user)
        try change.requireSize()
        try change.requirePermission(in: mode)
        attributes = change.edited
      } catch {
        code = error.code.rawValue
      }
      codes.insert(code)
      #expect(code == wanted.code, "seed \(seed), step \(step): \(call) by \(user ?? "administrator")")
      #expect(keys(of: attributes) == wanted.keys, "seed \(seed), step \(step): \(call) by \(user ?? "administrator")")
    }
    #expect(codes == (mode == .holder ? [0, 10050, 10058, 10059] : [0, 10050, 10058]), "seed \(seed)")
  }

  @Test func expectationsAreComparedByteForByte() throws {
    let known = GroupAttributes([.init(key: "é", value: "e\u{301}")])
    func code(_ key: String, _ value: String?) -> Int {
      do throws(WireError) {
        try change(.set([:], expect: [key: value], flag: false, takeOver: false), of: known, by: "a").requirePermission(in: .any)
        return 0
      } catch {
        return error.code.rawValue
      }
    }
    #expect(code("é", "e\u{301}") == 0 && code("é", "é") == 10058)
    #expect(code("e\u{301}", nil) == 0 && code("é", nil) == 10058)
  }

  @Test func whatMembersSeeIsKeysValuesAndHolders() {
    func one(_ value: String, _ holder: UserID?, _ flag: Bool = false) -> GroupAttributes {
      GroupAttributes([.init(key: "k", value: value, holder: holder, isDeletedAfterHolderLeft: flag)])
    }
    #expect(one("v", "a").isShownLike(one("v", "a", true)) && one("v", "a") != one("v", "a", true))
    #expect(!one("v", "a").isShownLike(one("v", "b")) && !one("v", "a").isShownLike(one("v", nil)))
    #expect(!one("é", nil).isShownLike(one("e\u{301}", nil)) && !one("v", nil).isShownLike(GroupAttributes()))
  }

  @Test func holdersHaveNoSize() throws {
    let full = (0..<4).map { GroupAttributes.Entry(key: "\($0)", value: String(repeating: "x", count: 4095), holder: "a") }
    let change = AttributeChange(
      of: GroupAttributes(full), by: .init(user: "b", mayChangeAll: false), replacingWith: full)
    try change.requireSize()
    #expect(change.edited.byteCount == GroupAttributes.maxBytes && change.edited == change.known)
  }
}
