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

  /// As `docker run --link` sets them for containers called throng and throng-db.
  @Test func variablesOfLinksAreIgnored() {
    let variables = [
      "THRONG_NAME": "/web/throng", "THRONG_ENV_THRONG_LISTEN": "0.0.0.0:8080", "THRONG_ENV_PATH": "/bin",
      "THRONG_PORT": "tcp://172.17.0.2:8080", "THRONG_PORT_8080_TCP": "tcp://172.17.0.2:8080",
      "THRONG_PORT_8080_TCP_ADDR": "172.17.0.2", "THRONG_PORT_8080_TCP_PORT": "8080", "THRONG_PORT_8080_TCP_PROTO": "tcp",
      "THRONG_DB_NAME": "/web/throng-db", "THRONG_DB_ENV_PGDATA": "/data", "THRONG_DB_PORT": "tcp://172.17.0.3:5432",
    ]
    #expect(problems(environment: variables) == [])
    // Not one that somebody meant for a key.
    #expect(problems(environment: ["THRONG_CLUSTR_NAME": "eu-1"]).count == 1)
  }

  /// The first release wrote each letter of an acronym as a word.
  @Test func formerNamesOfVariablesSetTheirKeys() throws {
    let (name, former) = ("THRONG_LIMITS_TEXT_FACE_URL", "THRONG_LIMITS_TEXT_FACE_U_R_L")
    #expect(try Settings.load(environment: [name: "400"]).limits.text.faceURL == 400)
    let settings = try Settings.load(environment: [former: "500"])
    #expect(settings.limits.text.faceURL == 500)
    #expect(try settings.entry("limits.text.faceURL").source == .environment(former))
    let both = problems(environment: [name: "400", former: "500"])
    #expect(both.count == 1 && both[0].contains(name) && both[0].hasPrefix(former), "\(both)")
  }

  @Test func aSecretMayStandInAFileOfItsOwn() throws {
    let secret = "a secret that stands in a file of its own"
    let path = try scratch.file("  \(secret)\r\n\n", named: "secret")
    let settings = try Settings.load(environment: ["THRONG_AUTH_SECRET_FILE": path])
    #expect(settings.auth.secret == secret)
    #expect(try settings.entry("auth.secret").value == "********")
    #expect(try settings.entry("auth.secret").source == .file(path))
    #expect(try settings.entry("auth.secretFile").value == path)
    // An editor's byte order mark is no part of it.
    let marked = try scratch.file("\u{feff}\(secret)", named: "marked")
    #expect(try Settings.load(flags: [("auth.secretFile", marked)]).auth.secret == secret)
    let url = try scratch.file("postgres://me:s3cr3t@host/database", named: "url")
    let store = try Settings.load(flags: [("store.urlFile", url)])
    #expect(store.store.postgreSQL == "postgres://me:s3cr3t@host/database")
    #expect(try store.entry("store.url").value == "postgres://me:********@host/database")
  }

  @Test func ofASecretAndAFileTheLaterLayerCounts() throws {
    let (one, two) = ("the secret of the one that is in the file", "the secret of the other that is in no file")
    let path = try scratch.file(one, named: "secret")
    let file = try scratch.file("auth: {secret: \(two)}")
    #expect(try Settings.load(configFile: file, environment: ["THRONG_AUTH_SECRET_FILE": path]).auth.secret == one)
    let named = try scratch.file("auth: {secretFile: \(path)}", named: "named.yaml")
    #expect(try Settings.load(configFile: named, environment: ["THRONG_AUTH_SECRET": two]).auth.secret == two)
    for found in [
      problems(environment: ["THRONG_AUTH_SECRET": two, "THRONG_AUTH_SECRET_FILE": path]),
      problems(flags: [("auth.secret", two), ("auth.secretFile", path)]),
    ] {
      #expect(found.count == 1 && found[0].hasPrefix("auth.secretFile: set together with auth.secret"), "\(found)")
    }
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
