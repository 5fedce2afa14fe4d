import ArgumentParser
import LoadGenerator

/// The protocol of another server.
struct BenchDialectOptions: ParsableArguments {
  static let discussion = """
    With --publish nothing of Throng is spoken, and other servers are measured alike: each connection says its --hello texts, each after \
    the answer that contains the --ready text of the one before. In these texts and in the path %g is the number of the connection's group.
    """

  @Option(help: ArgumentHelp("Other servers: the subprotocol to ask for.", valueName: "name"))
  var subprotocol: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Other servers: what each connection says first; %d is its number. Repeatable.", valueName: "text"))
  var hello: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Other servers: what the answer to the --hello in the same place contains; '' = no answer.", valueName: "text"))
  var ready: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Other servers: a message; %t the stamp, %p padding up to --size, %l a line of --texts, %d the connection, %g its group.",
      valueName: "text"))
  var publish: String?

  @Flag(help: "Other servers: send binary frames.")
  var binary = false

  @Flag(help: "Other servers: send text frames (the default).")
  var text = false

  func validate() throws {
    guard let publish else {
      let isGiven = subprotocol != nil || !hello.isEmpty || !ready.isEmpty || binary || text
      return try require(
        !isGiven, "--subprotocol, --hello, --ready, --binary and --text describe another server: --publish is missing")
    }
    try require(publish.contains("%t"), "--publish needs %t, the stamp that is looked for in what comes back")
    try require(ready.count <= hello.count, "there is a --ready without its --hello")
    try require(!(binary && text), "either --binary or --text")
  }

  /// The other server's protocol; nil: Throng's.
  var description: TemplateDescription? {
    publish.map { publish in
      let hellos = hello.enumerated().map { place, text in
        TemplateDescription.Hello(text: text, ready: place < ready.count && !ready[place].isEmpty ? ready[place] : nil)
      }
      return TemplateDescription(subprotocol: subprotocol, hellos: hellos, publish: publish, isBinary: binary)
    }
  }
}
