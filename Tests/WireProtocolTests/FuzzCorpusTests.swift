import Foundation
import Testing
import WireProtocol

/// What the fuzzer of requests begins with (Tests/Fuzz): an input for each method, and the words of all.
@Suite struct FuzzCorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fuzz")
  private static let names = MethodTable().entries.map(\.name)
  /// As much as Scripts/fuzz lets an input have.
  private static let longest = 2048

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }

  @Test(arguments: names) func everyMethodHasAnInput(name: String) throws {
    let text = try Self.text("corpus/requests/\(name)")
    #expect(text.utf8.count <= Self.longest)
    // ownerUserID is the application's alone.
    let servesApplication = MethodTable()[name]?.specification.callers == .application || text.contains("ownerUserID")
    #expect(outline(read(text, servesApplication: servesApplication, unknownParameters: .refused)) == "\(name)#1")
  }

  @Test func theDictionaryHasTheWordsOfAllMethods() throws {
    let lines = try Self.text("requests.dict").split(separator: "\n")
    let words = Set(lines.compactMap { line in line.wholeMatch(of: /"\\"(.+)\\""/).map { String($0.1) } })
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(MethodTable().openRPC(version: "0"))) as? [String: Any])
    let methods = try #require(document["methods"] as? [[String: Any]])
    let named = methods.flatMap { method -> [String] in
      let parameters = method["params"] as? [[String: Any]] ?? []
      return ([method] + parameters).compactMap { $0["name"] as? String }
    }
    #expect(named.count > 100 && Set(named).subtracting(words) == [])
  }
}
