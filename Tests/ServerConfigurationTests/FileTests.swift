import ServerConfiguration
import Testing

/// YAML and JSON files.
@Suite struct FileTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func yaml() throws {
    let file = try scratch.file(
      """
      # A comment.
      listen: 127.0.0.1:0
      demo: yes
      limits:
        avChatRoom:
          messagesPerSecond: 20
        requestBurst: 7
      heartbeat: {interval: 10s, timeout: 2.5}
      limits.requestsPerSecond: 9
      auth:
        audience:
        issuer: "42"
      sessions:
      allowedOrigins:
        - "*"
        - https://Chat.Example:443
      """)
    let settings = try Settings.load(configFile: file)
    #expect(settings.demo)
    #expect(settings.limits.avChatRoom.messagesPerSecond == 20)
    #expect(settings.limits.requestBurst == 7 && settings.limits.requestsPerSecond == 9)
    #expect(settings.heartbeat.interval == .seconds(10) && settings.heartbeat.timeout == .milliseconds(2500))
    #expect(settings.auth.audience == nil && settings.auth.issuer == "42")
    #expect(settings.allowedOrigins == ["*", "https://chat.example"])
  }

  @Test func json() throws {
    let file = try scratch.file(
      """
      {
      \t"listen": "127.0.0.1:0", "demo": true,
      \t"limits": {"avChatRoom": {"messagesPerSecond": 20}},
      \t"auth": {"audience": "https:\\/\\/a.example\\u002fb", "issuer": null},
      \t"trustedProxies": ["10.0.0.0/8"]
      }
      """, named: "throng.json")
    let settings = try Settings.load(configFile: file)
    #expect(settings.demo && settings.limits.avChatRoom.messagesPerSecond == 20)
    #expect(settings.auth.audience == "https://a.example/b" && settings.auth.issuer == nil)
    #expect(settings.trustedProxies.count == 1)
  }

  @Test(arguments: ["", "\n\n", "# nothing\n", "---\n", "{}", "null"])
  func nothingIsFine(text: String) throws {
    #expect(problems(try scratch.file(text)) == [])
  }

  @Test(arguments: [
    ("demo: true\ndemo: false", "demo"), ("limits: {connections: 1, connections: 2}", "connections"),
    ("limits: {connections: 1}\nlimits: {requestBurst: 2}", "limits"),
    ("limits: {connections: 1}\nlimits.connections: 2", "limits.connections"), (#"{"demo": true, "demo": true}"#, "demo"),
  ])
  func duplicates(text: String, name: String) throws {
    let found = problems(try scratch.file(text))
    #expect(found.count == 1)
    #expect(found.first?.contains(name) == true && found.first?.contains("twice") == true)
  }

  @Test(arguments: [
    "demo: [", "a: b: c", "just text", "- a\n- list", "42", "? {a: 1}\n: 2", "allowedOrigins: [[a]]", "allowedOrigins: [{a: b}]",
    "allowedOrigins: [null]", "demo: true\n---\ndemo: false", "demo: *nothing", "allowedOrigins: *",
  ])
  func brokenFile(text: String) throws {
    let file = try scratch.file(text)
    let found = problems(file)
    #expect(!found.isEmpty)
    #expect(found.allSatisfy { $0.contains(file) && !$0.contains("\n") }, "\(found)")
  }

  @Test func aBrokenFileDoesNotGiveItsSecretAway() throws {
    let found = problems(try scratch.file("auth: {secret: tell-nobody\nlisten: : x"))
    #expect(found.count == 1 && found[0].contains("line") && !found[0].contains("tell-nobody"))
  }

  @Test func unreadableFile() throws {
    #expect(problems("/nonexistent/throng.yaml").first?.contains("/nonexistent/throng.yaml") == true)
    #expect(problems(scratch.path) == ["\(scratch.path): the configuration file cannot be read: Is a directory"])
    #expect(problems(environment: ["THRONG_CONFIG": ""]).count == 1)
  }
}
