import Foundation
import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

/// Random sequences of operations by several users, compared with a second statement of the
/// rules. A sequence with a difference is shrunk and printed with its seed.
///
/// THRONG_MODEL_SEQUENCES says how many sequences of each type are tried, THRONG_MODEL_SEED from
/// which seed on; then each seed is printed before it is tried, so that a crash has one.
@Suite struct ModelTests {
  private static let length = 120
  private static let types = GroupType.allCases.map(\.rawValue)
  private static let count = setting("THRONG_MODEL_SEQUENCES")
  private static let first = setting("THRONG_MODEL_SEED")

  private static func setting(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

  @Test func everySequenceMatchesTheModel() async {
    let seen = await withTaskGroup(of: ModelCoverage.self, returning: ModelCoverage.self) { group in
      for type in ModelTests.types { group.addTask { await run(type) } }
      return await group.reduce(into: ModelCoverage()) { $0.add($1) }
    }
    if ModelTests.count == nil, ModelTests.first == nil { #expect(seen.missing == [], "this never happened") }
  }

  private func run(_ type: String) async -> ModelCoverage {
    var seen = ModelCoverage()
    let first = ModelTests.first ?? 1
    let seeds = first..<first + (ModelTests.count ?? 30)
    for seed in seeds {
      if ModelTests.first != nil { print("Model of \(type): seed \(seed)") }
      // Each type has sequences of its own.
      let number = seed * 5 + UInt64(ModelTests.types.firstIndex(of: type)!)
      let sequence = ModelSequence(type: type, seed: number, length: ModelTests.length)
      let result = await sequence.run()
      seen.add(result.seen)
      if let failure = result.failure {
        // Shrinking takes minutes.
        print("\(type), seed \(seed): \(failure.fault); shrinking")
        let short = await sequence.shrunk(failure)
        Issue.record("\(type), seed \(seed): \(short)")
        break
      }
    }
    print("Model of \(type): \(seeds.count) sequences, \(seen.operations) operations, \(seen.resumed)")
    return seen
  }

  /// So `seen.missing` demands a success of each.
  @Test func theModelHasEveryMethodOfAGroup() {
    for method in MethodTable().entries where method.isOfGroup {
      #expect(Verb(rawValue: method.name) != nil, "\(method.name)")
    }
  }

  /// Sequences that once failed, shrunk.
  @Test(arguments: ModelFinds.all) func knownSequencesMatchTheModel(find: ModelFinds.Find) async throws {
    let failure = try await ModelSequence(find.operations).run().failure
    #expect(failure == nil, "\(failure?.fault ?? "")")
  }
}
