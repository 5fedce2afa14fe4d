import Testing
import WireProtocol

@testable import generator

/// The sources of ThrongClient that are written from the server's declarations.
@Suite struct SwiftClientSourceTests {
  private let sources = Dictionary(uniqueKeysWithValues: MethodTable().swiftClientSources().map { ($0.file, $0.text) })

  @Test func everySetOfWordsHasAName() {
    for (file, text) in sources { #expect(!text.contains("Unnamed_"), "\(file)") }
  }

  @Test func theMethodsOfClientsAreDeclared() throws {
    let methods = try #require(sources["Methods.swift"])
    for entry in MethodTable().entries {
      let isDeclared = methods.contains("public static let name = \"\(entry.name)\"\n")
      #expect(isDeclared == (entry.specification.callers != .application), "\(entry.name)")
    }
  }

  @Test func everyEventIsDeclaredAndRead() throws {
    let events = try #require(sources["ServerEvent.swift"])
    for event in EventName.allCases {
      #expect(events.contains("  case \(event.rawValue)("), "\(event)")
      #expect(events.contains("    case \"\(event.rawValue)\": self = .\(event.rawValue)(try params())\n"), "\(event)")
    }
  }

  @Test func typesAreSwifts() throws {
    let (types, methods, events) = (
      try #require(sources["Types.swift"]), try #require(sources["Methods.swift"]), try #require(sources["ServerEvent.swift"])
    )
    for line in ["  public var groupType: GroupType", "  public var mute: GroupMute?", "  public var reactions: [ReactionRow]?"] {
      #expect(types.contains("\(line)\n"), "\(line)")
    }
    for line in [
      "    public var customInfo: [String: String?]?", "    public var groups: [GroupRow]",
      "    public var counters: [String: Int?]",
      "    public var matchFields: [SearchField]?", "      public var status: JoinStatus",
    ] {
      #expect(methods.contains("\(line)\n"), "\(line)")
    }
    #expect(events.contains("    public var counters: [String: Int?]\n"))
  }

  @Test func noOptionalHidesAWord() throws {
    #expect(try !#require(sources["Words.swift"]).contains("static let none"))
  }
}
