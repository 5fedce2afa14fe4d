import ServerConfiguration
import Testing

/// An unknown name is told with the known one that is near.
@Suite struct UnknownNameTests {
  @Test(arguments: [
    ("lisen", "listen"), ("datadir", "dataDir"), ("limits.requestPerSecond", "limits.requestsPerSecond"),
    ("limits.avchatroom.messagesPerSecond", "limits.avChatRoom.messagesPerSecond"), ("auth.secrets", "auth.secret"),
    ("secret", "auth.secret"), ("tls.certFile", "tls.keyFile"), ("session.perPlatform.web", "sessions.perPlatform.web"),
    ("store.sync.mode", "store.sync"), ("allowedOrigin", "allowedOrigins"), ("Demo", "demo"), ("demo.page", "demo"),
  ])
  func keys(name: String, nearest: String) throws {
    let flag = problems(flags: [(name, "value-of-it")])
    #expect(flag.count == 1 && flag[0].contains("the nearest is \(nearest) "), "\(flag)")
    #expect(!flag[0].contains("value-of-it"))
    let scratch = try Scratch()
    let file = problems(try scratch.file("\(name): value-of-it"))
    #expect(file.count == 1 && file[0].contains("the nearest is \(nearest) "), "\(file)")
  }

  /// A far name would lead astray.
  @Test(arguments: ["", "foo", "x", "weather", "limits.tea"])
  func noKeyIsNear(name: String) {
    let found = problems(flags: [(name, "value-of-it")])
    #expect(found.count == 1 && found[0].contains("no such key; throng config example lists the keys"), "\(found)")
    let variable = problems(environment: ["THRONG_FOO": "value-of-it"])
    #expect(variable == ["THRONG_FOO: no such variable; throng config example lists the keys"])
  }

  @Test func sectionsInAFile() throws {
    let scratch = try Scratch()
    let found = problems(try scratch.file("limit: {connections: 1}\ndemo: {page: true}\nloop:\n"))
    #expect(found.count == 3)
    for nearest in ["limits.connections", "demo", "loops"] {
      #expect(found.contains { $0.contains("the nearest is \(nearest) ") }, "\(found)")
    }
  }

  /// The name of a section is one mistake, however many keys stand below it.
  @Test func aWrongSectionIsToldOnce() throws {
    let scratch = try Scratch()
    let cases = [
      ("limit: {connections: 1, requestBurst: 2, requestsPerSecond: 3}", "limit: no such section; the nearest is limits ("),
      (
        "limits: {avchatrom: {messagesPerSecond: 1, other: 2}}",
        "limits.avchatrom: no such section; the nearest is limits.avChatRoom ("
      ),
      ("demo: {page: true, port: 1}", "demo: a key, not a section ("),
      ("weather: {host: a, port: 1}", "weather: no such section; throng config example lists the keys ("),
    ]
    for (yaml, beginning) in cases {
      let found = problems(try scratch.file(yaml))
      #expect(found.count == 1 && found[0].hasPrefix(beginning), "\(found)")
    }
    let twice = problems(flags: [("foo", "1"), ("foo", "2")])
    #expect(twice.count == 1, "\(twice)")
  }

  @Test(arguments: ["limits", "limits.avChatRoom", "sessions.perPlatform", "tls"])
  func aSectionIsNoKey(name: String) {
    let found = problems(flags: [(name, "1")])
    #expect(found.count == 1 && found[0].contains("a section"))
  }

  @Test(arguments: [
    ("THRONG_LISTN", "THRONG_LISTEN"), ("THRONG_DATADIR", "THRONG_DATA_DIR"), ("THRONG_SECRET", "THRONG_AUTH_SECRET"),
    ("THRONG_LIMITS_AVCHATROOM_MESSAGES_PER_SECOND", "THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND"),
    ("THRONG_AUTH_JWKSFILE", "THRONG_AUTH_JWKS_FILE"), ("THRONG_listen", "THRONG_LISTEN"),
  ])
  func variables(name: String, nearest: String) {
    let found = problems(environment: [name: "value-of-it"])
    #expect(found.count == 1 && found[0].hasPrefix("\(name): no such variable"), "\(found)")
    #expect(found[0].hasSuffix("the nearest is \(nearest)"), "\(found)")
  }

  @Test(arguments: [
    "THRONG_SERVICES", "THRONG_SERVICE", "THRONG_", "THRONG_CONFIGURATION", "THRONG_INTERNAL_LISTN", "THRONG_REPORT",
    "THRONG_INTERNAL_SERVICE_HOSTS",
  ])
  func almostIgnoredVariables(name: String) {
    #expect(problems(environment: [name: ""]).count == 1)
  }
}
