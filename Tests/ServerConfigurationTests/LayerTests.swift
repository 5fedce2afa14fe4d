import ServerConfiguration
import Testing

/// Defaults < file < environment < flags (Configuration.md, "Sources").
@Suite struct LayerTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func theLaterLayerWins() throws {
    let file = try scratch.file("limits: {requestsPerSecond: 1, requestBurst: 1, connections: 1}")
    let settings = try Settings.load(
      configFile: file,
      environment: ["THRONG_LIMITS_REQUEST_BURST": "2", "THRONG_LIMITS_CONNECTIONS": "2", "THRONG_LIMITS_GROUPS_PER_USER": "2"],
      flags: [("limits.connections", "3"), ("limits.avChatRooms", "3"), ("limits.connections", "4")])
    #expect(settings.limits.requestsPerSecond == 1)
    #expect(settings.limits.requestBurst == 2)
    #expect(settings.limits.connections == 4)
    #expect(settings.limits.groupsPerUser == 2)
    #expect(settings.limits.avChatRooms == 3)
    let sources = try ["requestsPerSecond", "requestBurst", "connections", "sendQueueBytes"].map {
      try settings.entry("limits." + $0).source
    }
    #expect(sources == [.file(file), .environment("THRONG_LIMITS_REQUEST_BURST"), .flag("--set"), .fallback])
  }

  @Test func listsAreReplacedNotJoined() throws {
    let file = try scratch.file("allowedOrigins: [https://a.example]")
    let settings = try Settings.load(configFile: file, environment: ["THRONG_ALLOWED_ORIGINS": "https://b.example"])
    #expect(settings.allowedOrigins == ["https://b.example"])
    #expect(try Settings.load(configFile: file, environment: ["THRONG_ALLOWED_ORIGINS": ""]).allowedOrigins.isEmpty)
  }

  @Test func theVariableNamesTheFileUnlessTheFlagDoes() throws {
    let first = try scratch.file("loops: 11", named: "first.yaml")
    let second = try scratch.file("loops: 12", named: "second.yaml")
    #expect(try Settings.load(environment: ["THRONG_CONFIG": first]).loops == 11)
    #expect(try Settings.load(configFile: second, environment: ["THRONG_CONFIG": first]).loops == 12)
  }

  @Test func variablesOfContainersAndOthersAreIgnored() {
    let variables = [
      "THRONG_SERVICE_HOST": "10.0.0.1", "THRONG_SERVICE_PORT_WS": "1", "THRONG_PORT": "tcp://10.0.0.1:80",
      "THRONG_PORT_8080_TCP_ADDR": "10.0.0.1", "PATH": "/bin", "THRONGS": "1", "throng_listen": "x",
    ]
    #expect(problems(environment: variables) == [])
    // As they are for services called throng-internal and throng-x-y.
    let ofOtherServices = [
      "THRONG_INTERNAL_SERVICE_HOST", "THRONG_INTERNAL_SERVICE_PORT", "THRONG_INTERNAL_SERVICE_PORT_HTTP",
      "THRONG_INTERNAL_PORT", "THRONG_INTERNAL_PORT_8081_TCP", "THRONG_INTERNAL_PORT_8081_TCP_PROTO",
      "THRONG_INTERNAL_PORT_8081_TCP_PORT", "THRONG_INTERNAL_PORT_8081_TCP_ADDR", "THRONG_X_Y_SERVICE_HOST",
      "THRONG_X_PORT_53_UDP",
    ]
    for name in ofOtherServices { #expect(problems(environment: [name: "tcp://10.0.0.1:80"]) == [], "\(name)") }
  }

  @Test func aShortFlagWinsAndIsNamed() throws {
    let settings = try Settings.load(
      flags: [("listen", "a:1")], shortFlags: [("--listen", "listen", "b:2"), ("--demo", "demo", "true")])
    #expect(settings.listen.description == "b:2" && settings.demo)
    #expect(try settings.entry("listen").source.description == "flag --listen")
    let error = #expect(throws: ConfigurationError.self) {
      try Settings.load(shortFlags: [("--internal-listen", "internalListen", "nowhere")])
    }
    #expect(error?.problems.first?.hasSuffix("(flag --internal-listen)") == true)
  }

  @Test func secretsAreMaskedInEveryLayer() throws {
    let secret = "a secret that must not be shown to anybody"
    let file = try scratch.file("auth: {secret: \(secret)}\nadmin: {apiKey: a-key-from-the-file-0123456789-abcdef}")
    for settings in [
      try Settings.load(configFile: file),
      try Settings.load(environment: [
        "THRONG_AUTH_SECRET": secret, "THRONG_ADMIN_API_KEY": "a-key-from-the-file-0123456789-abcdef",
      ]),
      try Settings.load(flags: [("auth.secret", secret), ("admin.apiKey", "a-key-from-the-file-0123456789-abcdef")]),
    ] {
      #expect(settings.auth.secret == secret && settings.admin.apiKey == "a-key-from-the-file-0123456789-abcdef")
      #expect(try settings.entry("auth.secret").value == "********")
      #expect(try settings.entry("admin.apiKey").value == "********")
      #expect(
        !"\(settings.entries)".contains("must not") && !"\(settings.entries)".contains("a-key-from-the-file-0123456789-abcdef"))
    }
    #expect(try Settings.load().entry("auth.secret").value == "(none)")
  }
}
