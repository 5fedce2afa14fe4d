import ServerConfiguration
import Testing

/// Values that are not accepted; the message names the key, the source and the value.
@Suite struct RefusalTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Values as text, for environment and flags alike.
  @Test(arguments: [
    (
      "listen",
      ["", "8080", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "a:b", "::1:80", "[::1]", "h st:1"]
    ),
    (
      "internalListen",
      ["unix:", "unix:/", "unix:here", "unix:/run/", "unix:/" + String(repeating: "p", count: 107), "unix://host:1/"]
    ),
    (
      "path",
      ["", "/", "ws", "/ws/", "//ws", "/a//b", "/./ws", "/../ws", "/a/..", "/w s", "/w%73", "/ws?a", "/ws#a", "/wß", "/a\\b"]
    ),
    ("proxyProtocol", ["", "v1", "2"]), ("forwardedHeader", ["", "X-Forwarded-For", "x-real-ip", "both"]),
    ("internalHosts", ["a b", "https://a", "a:80", "*a", "a.*", "a..b", "a,,b", "*.", "[::1]", "a/b"]),
    ("internalListen", ["[1.2.3.4]:1", "[]:1", "host:+1", "http://h:1"]), ("dataDir", [""]),
    ("demo", ["", "2", "wahr", "t"]), ("loops", ["0", "-1", "1.5", "1025", "many", ""]),
    ("log.level", ["", "loud", "INFO"]), ("log.format", ["xml"]),
    ("auth.algorithms", ["", "HS512", "none", "hs256", "HS256,"]), ("auth.audience", [""]), ("auth.issuer", [""]),
    ("auth.failureDelay", ["-1", "1x", "61", "s", "1 s", ".5", "5.", "1e3", "inf", "nan", "0x1", "٣"]),
    (
      "admin.apiKey",
      ["", "a-key", String(repeating: "k", count: 31), String(repeating: "a key ", count: 8), String(repeating: "ü", count: 32)]
    ),
    (
      "allowedOrigins",
      [
        "example.com", "https://", "https://a/", "https://a/b", "https://u@a", "https://a:b", "https://a:+80", "https://a:99999",
        "//a", "null",
        "https://a,,https://b", "https://*.a", "1http://a", "https://[a]", "https://a?b",
      ]
    ),
    (
      "trustedProxies",
      [
        "10.0.0.0/33", "10.0.0/8", "x/8", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "/8", "10.0.0.0/-1",
        "::ffff:10.0.0.0/8", "0:0:0:0:0:FFFF:a00:0/8",
      ]
    ),
    (
      "store.url",
      [
        "", "postgres://h", "postgres://h/", "postgres:h/d", "mysql://h/d", "sqlite", "SQLITE:", "file:a.db", "sqlite://h/a.db",
        "sqlite:///a.db", "sqlite:a/", "sqlite:/",
        "sqlite:.", "sqlite:a/..", "sqlite::memory:", "sqlite:a.db?mode=ro", "sqlite:a\0b",
      ]
    ), ("store.sync", ["off", ""]),
    ("users.requireKnown", ["maybe"]), ("attributes.groupTypes", ["Community", "work"]),
    ("avChatRoom.offlineGrace", ["-1s", "5min", "4294967296"]), ("avChatRoom.moderation", ["Admin"]),
    ("avChatRoom.recentMessages", ["-1", "1001", "all"]),
    ("avChatRoom.recentDuration", ["-1", "4294967296", "ever"]), ("avChatRoom.recentBytes", ["0", "65535", "1099511627777"]),
    ("heartbeat.interval", ["0", "1ms", "2d"]),
    ("history.retention.work", ["-1", "4294967296", "ever"]), ("history.maxMessages.public", ["-1", "1000000001", "all"]),
    ("history.creationTip", ["maybe"]), ("work.ownerMayDisband", ["maybe"]),
    ("presence.visibility", ["", "members", "Everyone"]), ("presence.grace", ["-1", "3601", "2h", "soon"]),
    ("moderation.action", ["", "drop", "Mask"]), ("reports.retention", ["0", "3599", "3651d", "ever"]),
    ("limits.statusSubscriptions", ["-1", "10001", "all"]), ("limits.signalMembers", ["-1", "1000001", "all"]),
    ("search.messages", ["maybe"]), ("strictParameters", ["maybe", "strict"]),
    ("fanout.flushWindow", ["-1", "1001", "2s", "fast"]), ("compression", ["on", "", "Room"]),
    ("fanout.compressionBytes", ["0", "1048575", "64MiB"]), ("heartbeat.timeout", ["0", ""]),
    ("drain.duration", ["25h", "soon"]),
    ("webhook.url", ["backend", "ftp://a/b", "http://", "https:///x", "http://a b", "https://:1/", "//a"]),
    (
      "auth.jwksURL",
      [
        "keys.json", "ftp://a/b", "https://", "http://example.com/keys", "http://10.0.0.1/keys", "http://127.0.0.1@a/",
        "http://a@127.0.0.1", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://[::2]/", "http://127.1/",
        "http://127.0.0.1\\@a/",
        "http://127.0.0.1:port/", "https://a b",
      ]
    ),
    ("auth.jwksRefresh", ["0", "9s", "8d", "often"]), ("tracing.otlpEndpoint", ["localhost:4318", "grpc://a:4317", "http://"]),
    ("tracing.sampling", ["-0.1", "1.01", "all", "nan", ""]),
    (
      "webhook.secret",
      [
        "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_MfKQ9r8G", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaL-Sw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwM", "whsec_" + String(repeating: "M", count: 88),
      ]
    ),
    ("webhook.events", ["messageSend", "messageSent,", "BeforeInvite", "all"]), ("webhook.onFailure", ["", "drop"]),
    ("webhook.timeout", ["0", "61", "2x"]), ("webhook.retention", ["-1", "1w"]), ("webhook.connections", ["0", "many"]),
    ("webhook.maxPending", ["0", "1e6"]), ("sessions.perPlatform.ios", ["-1", "one", "1,0"]),
    ("limits.avChatRoom.messagesPerSecond", ["-1", "40.0", " 40", "9999999999999999999999"]), ("limits.work.maxMemberNum", ["0"]),
    ("limits.requestsPerSecond", ["0"]), ("limits.requestBurst", ["0"]), ("limits.sendQueueBytes", ["0", "1MiB", "1023"]),
    ("limits.revokeWindow", ["-1", "two minutes"]), ("limits.connections", ["-1"]),
  ])
  func textOutsideTheDomain(key: String, values: [String]) throws {
    let name = try #require(Settings.keys.first { $0.path == key }).environmentName
    for value in values {
      for found in [problems(environment: [name: value]), problems(flags: [(key, value)])] {
        #expect(found.count == 1, "\(key)=\(value)")
        #expect(found.first?.hasPrefix("\(key): expected ") == true, "\(found)")
      }
      #expect(problems(environment: [name: value]).first?.hasSuffix("(environment \(name))") == true)
    }
  }

  @Test(arguments: [
    "demo: 'true'", "demo: 1", "demo: [true]", "loops: '2'", "loops: true", "loops: 2.0", "loops: 0x2", "loops: 1_0",
    "listen: 8080",
    "dataDir: 7", "dataDir: true", "dataDir: [a]", "log: {level: 1}", "heartbeat: {interval: true}", "heartbeat: {interval: [1]}",
    "allowedOrigins: 7", "allowedOrigins: [true]", "trustedProxies: [10]", "auth: {audience: 7}", "store: {sync: yes}",
    "auth: {algorithms: []}", "limits: {revokeWindow: 1:30}",
  ])
  func wrongTypeInAFile(yaml: String) throws {
    let found = problems(try scratch.file(yaml))
    #expect(found.count == 1 && found[0].contains("expected") && found[0].contains("found"), "\(found)")
  }

  @Test(arguments: ["127.0.0.1:99999", ":65536", "[::1]:99999999999999999999"])
  func aPortBeyondAllIsToldAsThat(address: String) {
    let found = problems(flags: [("listen", address)])
    #expect(found.count == 1 && found[0].contains("expected a port of at most 65535"), "\(found)")
  }

  @Test(arguments: ["", "short", "1234567890123456789012345678901"])
  func shortSecretIsRefusedAndNotShown(secret: String) throws {
    let file = try scratch.file("auth: {secret: '\(secret)'}")
    for found in [
      problems(file), problems(environment: ["THRONG_AUTH_SECRET": secret]), problems(flags: [("auth.secret", secret)]),
    ] {
      #expect(found.count == 1 && found[0].contains("at least 32 bytes"))
      #expect(secret.isEmpty || !found[0].contains(secret))
    }
  }

  /// Thirty-two digits are a number to YAML, and the value is told to nobody.
  @Test(arguments: [
    ("12345678901234567890123456789012", "a number (a text is written in quotes)"),
    ("1234567890123456789012345678901e2", "a number (a text is written in quotes)"),
    ("true", "a truth value (a text is written in quotes)"), ("[12345678901234567890123456789012]", "a list"),
  ])
  func aSecretThatIsNoTextToYAMLGetsTheHint(yaml: String, kind: String) throws {
    for key in Settings.keys.filter(\.isSecret).map(\.path) where !key.hasPrefix("bus.") && !key.hasPrefix("cluster.") {
      let found = problems(try scratch.file("\(key): \(yaml)"))
      #expect(found.count == 1 && found[0].contains("expected ") && found[0].contains(", found \(kind) ("), "\(found)")
      #expect(!found[0].contains("1234"), "\(found)")
    }
  }

  @Test(arguments: [("postgres://me:s3cr3t@host", "store.url"), ("nats://me:s3cr3t@ /", "bus.url")])
  func aMalformedURLDoesNotShowItsPassword(url: String, key: String) {
    let found = problems(flags: [(key, url)])
    #expect(found.count == 1 && found[0].hasPrefix("\(key): expected ") && !found[0].contains("s3cr3t"), "\(found)")
  }

  @Test func aFileWithAValueMustBeReadable() throws {
    let cases = [
      ("/nonexistent/secret", "cannot be read"), (scratch.path, "cannot be read"), ("/dev/zero", "more than 65536 bytes"),
      (try scratch.file(" \n", named: "blank"), "is empty"),
      (try scratch.file("too short", named: "short"), "at least 32 bytes"),
    ]
    for (path, words) in cases {
      let found = problems(flags: [("auth.secretFile", path)])
      #expect(found.count == 1 && found[0].hasPrefix("auth.secret") && found[0].contains(words), "\(found)")
      #expect(!found[0].contains("too short"))
    }
  }

  /// What is wrong is a character, and the message says how it is written, without the password.
  @Test(arguments: [
    "postgres://u:p@ss@h/d", "postgres://u:p/ss@h/d", "postgres://u:p%ss@h/d", "postgresql://u@x:p@h/d", "postgres://u:p@h",
  ])
  func aPasswordWithSpecialCharactersIsEscaped(url: String) throws {
    for found in [problems(flags: [("store.url", url)]), problems(try scratch.file("store.url: '\(url)'"))] {
      #expect(found.count == 1 && found[0].hasPrefix("store.url: expected postgres://USER:PASSWORD@HOST/DATABASE"), "\(found)")
      #expect(found[0].contains("%40 for @") && !found[0].contains("ss@") && !found[0].contains(url), "\(found)")
    }
    #expect(problems(flags: [("store.url", "postgres://u:p%40ss@h/d")]) == [])
    #expect(problems(flags: [("store.url", "postgres://h")])[0].contains("expected sqlite:, sqlite:PATH or postgres://"))
  }

  /// No shell replaces it there.
  @Test(arguments: ["dataDir", "auth.jwksFile", "tls.keyFile", "auth.secretFile"])
  func aTildeStandsForNothing(key: String) throws {
    for value in ["~/throng", "~", "~throng/data"] {
      for found in [problems(flags: [(key, value)]), problems(try scratch.file("\(key): '\(value)'"))] {
        #expect(found.count == 1 && found[0].contains("expected a path without ~ at its beginning"), "\(found)")
      }
    }
    #expect(problems(flags: [("dataDir", "./~/throng")]) == [] && problems(flags: [("dataDir", "/data/~")]) == [])
    #expect(problems(flags: [("store.url", "sqlite:~/throng.db")]).count == 1)
  }

  @Test func secretIsCountedInBytes() {
    #expect(problems(flags: [("auth.secret", String(repeating: "é", count: 16))]) == [])
    #expect(problems(flags: [("auth.secret", String(repeating: "é", count: 15))]).count == 1)
  }

  @Test(arguments: ["tls.certificateFile", "tls.keyFile"])
  func halfATLSPair(key: String) {
    let found = problems(flags: [(key, Sample.existingFile)])
    #expect(found.count == 1 && found[0].hasPrefix("\(key): set without tls."))
  }

  @Test func webhookURLWithoutSecret() {
    let found = problems(flags: [("webhook.url", "http://127.0.0.1:1")])
    #expect(found.count == 1 && found[0].hasPrefix("webhook.url: set without webhook.secret"))
    #expect(problems(flags: [("webhook.url", "")]).isEmpty)
  }

  @Test(arguments: [("store.sync", "normal"), ("search.messages", "true"), ("history.retention.work", "90d")])
  func aStoreInPostgreSQLTakesWhatAFileTakes(key: String, value: String) {
    #expect(problems(flags: [("store.url", "postgres://throng@db.example.org/throng?sslmode=require"), (key, value)]).isEmpty)
  }

  @Test(arguments: [("cluster.enabled", "true"), ("bus.url", "nats://host")])
  func severalNodesNeedAStoreThatTheyShare(key: String, value: String) {
    let found = problems(flags: [(key, value)])
    #expect(found.count == 1 && found[0].hasPrefix("\(key): needs a store that nodes share"), "\(found)")
    #expect(problems(flags: [(key, value), ("store.url", "postgres://h/d")]).isEmpty)
  }

  @Test(arguments: ["", "host", "http://host", "nats://", "nats:///x", "nats://a b", "tls://h/path"])
  func busURLs(url: String) {
    let found = problems(flags: [("bus.url", url), ("store.url", "postgres://h/d")])
    #expect(found.count == 1 && found[0].hasPrefix("bus.url: "), "\(found)")
  }

  @Test(arguments: ["auth.jwksFile", "tls.certificateFile", "tls.keyFile"])
  func filesMustBeReadable(key: String) throws {
    var flags = [("tls.certificateFile", Sample.existingFile), ("tls.keyFile", Sample.existingFile)].map { (key: $0, value: $1) }
    for path in ["/nonexistent/file", scratch.path, try scratch.file("", named: "empty")] {
      flags.append((key, path))
      let found = problems(flags: flags)
      #expect(found.count == 1 && found[0].hasPrefix("\(key): ") && found[0].contains(path), "\(found)")
    }
  }

  @Test func algorithmsNeedTheirKeys() {
    let found = problems(flags: [("auth.algorithms", "HS256,ES256,EdDSA")])
    #expect(found.count == 1 && found[0].contains("ES256, EdDSA without auth.jwksFile or auth.jwksURL"))
    #expect(problems(flags: [("auth.algorithms", "HS256")]) == [])
    #expect(problems(flags: [("auth.algorithms", "ES256"), ("auth.jwksURL", "https://a.example/keys")]) == [])
  }

  @Test(arguments: [
    "https://a.example", "HTTPS://a.example:8443/keys?x=y", "http://127.0.0.1:1/keys", "http://127.9.9.9", "http://[::1]:8080/k",
    "http://localhost:3000/.well-known/jwks.json", "http://LOCALHOST", "",
  ])
  func keysAreReadInPlainTextFromThisMachineAlone(url: String) {
    #expect(problems(flags: [("auth.jwksURL", url)]) == [])
  }

  @Test func keysAreFromOnePlace() {
    let found = problems(flags: [("auth.jwksURL", "https://a.example/keys"), ("auth.jwksFile", Sample.existingFile)])
    #expect(found.count == 1 && found[0].hasPrefix("auth.jwksURL: set beside auth.jwksFile"), "\(found)")
  }

  @Test func listenersMustDiffer() {
    #expect(problems(flags: [("listen", "h:1"), ("internalListen", "h:1")]).count == 1)
    #expect(problems(flags: [("listen", "h:0"), ("internalListen", "h:0")]) == [])
    #expect(problems(flags: [("listen", "unix:/run/a"), ("internalListen", "unix:/run/a")]).count == 1)
  }

  /// The system binds both, and which of them gets a connection is not for it to decide.
  @Test(arguments: [
    ("0.0.0.0:80", "127.0.0.1:80", true), ("127.0.0.1:80", "0.0.0.0:80", true), (":80", "10.0.0.1:80", true),
    ("[::]:80", "127.0.0.1:80", true), ("[::]:80", "0.0.0.0:80", true), ("[::1]:80", "[::]:80", true),
    ("[::]:80", "name:80", true), ("localhost:80", "127.0.0.1:80", true), ("[::1]:80", "localhost:80", true),
    ("0.0.0.0:80", "localhost:80", true), ("Name:80", "name:80", true),
    ("0.0.0.0:80", "127.0.0.1:81", false), ("10.0.0.1:80", "127.0.0.1:80", false), ("0.0.0.0:80", "[::1]:80", false),
    ("127.0.0.1:80", "[::1]:80", false), ("0.0.0.0:80", "name:80", false), ("one:80", "two:80", false),
    ("0.0.0.0:0", "127.0.0.1:0", false), ("[::]:80", "unix:/run/a", false),
  ])
  func listenersMayNotShareAPort(listen: String, internalListen: String, isRefused: Bool) {
    let found = problems(flags: [("listen", listen), ("internalListen", internalListen)])
    #expect(found.count == (isRefused ? 1 : 0), "\(found)")
    if isRefused { #expect(found[0].hasPrefix("internalListen: ") && found[0].contains("listen"), "\(found)") }
  }

  /// Problems are told in the format of the log, where that is known.
  @Test func theFormatOfTheLogIsKnownUnlessWhatSaysItIsBad() throws {
    let good = try scratch.file("log: {format: text}\ndemo: perhaps", named: "good.yaml")
    let bad = try scratch.file("log: {format: text", named: "bad.yaml")
    let cases: [(file: String?, flags: [(key: String, value: String)], format: LogFormat?)] = [
      (nil, [("loops", "0")], .json), (nil, [("loops", "0"), ("log.format", "text")], .text), (good, [], .text), (bad, [], nil),
      (bad, [("log.format", "json")], .json), (nil, [("log.format", "xml")], nil), (good, [("log.format", "xml")], nil),
    ]
    for (file, flags, format) in cases {
      let error = #expect(throws: ConfigurationError.self) { try Settings.load(configFile: file, flags: flags) }
      #expect(error?.logFormat == format, "\(file ?? "no file") \(flags)")
    }
  }

  /// What follows from the default of a key that is wrong is no mistake of its own.
  @Test func oneMistakeIsOneLine() throws {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let webhook = (key: "webhook.url", value: "http://127.0.0.1:1")
    let cases: [(flags: [(key: String, value: String)], about: String)] = [
      ([webhook, ("webhook.secret", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")], "webhook.secret"),
      ([webhook, ("webhook.secrt", secret)], "webhook.secrt"),
      ([webhook, ("webhook.secretFile", "/nonexistent/secret")], "webhook.secretFile"),
      ([webhook, ("webhook.secretFle", "/nonexistent/secret")], "webhook.secretFle"),
      ([("cluster.enabled", "true"), ("bus.url", "nats://host")], "cluster.enabled"),
      ([("cluster.enabled", "true"), ("bus.url", "nats://host"), ("store.url", "postgre://h/d")], "store.url"),
      ([("cluster.enabled", "true"), ("store.urlFile", "/nonexistent/url")], "store.urlFile"),
      ([("auth.algorithms", "ES256"), ("auth.jwksFil", Sample.existingFile)], "auth.jwksFil"),
      ([("tls.keyFile", Sample.existingFile), ("tls.certificatFile", Sample.existingFile)], "tls.certificatFile"),
      ([("listen", "8080"), ("internalListen", "0.0.0.0:8080")], "listen"),
    ]
    for (flags, about) in cases {
      let found = problems(flags: flags)
      #expect(found.count == 1 && found[0].hasPrefix("\(about): "), "\(found)")
    }
    let variable = problems(environment: ["THRONG_WEBHOOK_SECRT": secret], flags: [webhook])
    #expect(variable.count == 1 && variable[0].hasPrefix("THRONG_WEBHOOK_SECRT: "), "\(variable)")
    let broken = problems(try scratch.file("webhook: {secret: \(secret)"), flags: [webhook, ("cluster.enabled", "true")])
    #expect(broken.count == 1 && broken[0].contains("line"), "\(broken)")
    // Without another mistake it is told.
    #expect(problems(flags: [webhook, ("cluster.enabled", "true")]).count == 2)
  }

  @Test(arguments: [
    ("https://a.example/", "expected an origin without the slash at its end, https://a.example, found \"https://a.example/\""),
    ("HTTPS://A.example:443/", "expected an origin without the slash at its end, https://a.example, found"),
    ("https://a.example/chat", "expected an origin without a path, https://a.example, found"),
    ("https://a.example//", "expected an origin without a path, https://a.example, found"),
    ("https://u@a.example/", "expected a list of full origins"), ("a.example/", "expected a list of full origins"),
  ])
  func aSlashBehindAnOriginIsNamed(origin: String, words: String) throws {
    for found in [
      problems(flags: [("allowedOrigins", "https://b.example,\(origin)")]),
      problems(try scratch.file("allowedOrigins: ['\(origin)', '*']")),
    ] {
      #expect(found.count == 1 && found[0].hasPrefix("allowedOrigins: \(words)"), "\(found)")
    }
  }

  @Test func everythingIsReportedTogetherOnOneLineEach() throws {
    let file = try scratch.file("demo: maybe\nlimits: {conections: 1}\nloops: 0")
    let flags = [
      (key: "listen", value: "nowhere\nat all"), (key: "x\ny", value: ""), (key: "tls.keyFile", value: "/nonexistent"),
    ]
    let error = #expect(throws: ConfigurationError.self) {
      try Settings.load(configFile: file, environment: ["THRONG_LISTN": "x", "THRONG_LOG_LEVEL": "loud"], flags: flags)
    }
    let found = try #require(error).problems
    #expect(found.count == 9, "\(found)")
    #expect(error?.description.split(separator: "\n").count == 9)
  }
}
