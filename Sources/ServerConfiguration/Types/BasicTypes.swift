import GroupModel

extension ValueType where Value == String {
  static let text = checkedText("a text that is not empty") { !$0.isEmpty }

  /// The path of a file or directory. Only a shell knows what ~ stands for, and it does not replace
  /// one behind `=` or in a file.
  static let path = scalar(
    "a path", as: [.string], show: { $0 }, parse: { isPath($0) ? $0 : nil },
    unless: { $0.hasPrefix("~") ? "a path without ~ at its beginning (./~ for a file of that name)" : nil })

  private static func isPath(_ text: String) -> Bool { !text.isEmpty && !text.hasPrefix("~") && !text.utf8.contains(0) }

  /// The path of the WebSocket in URLs, in the one form in which requests are compared with it.
  static let urlPath = checkedText("a path such as /chat/ws, of letters, digits and -._~, without a slash at its end") { text in
    let names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let isPlain = { (name: Substring) in
      !["", ".", ".."].contains(name) && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
    }
    return text.hasPrefix("/") && text.utf8.count <= 1024 && names.allSatisfy(isPlain)
  }

  /// `auth.secret`: at least as long as the hash (RFC 7518 section 3.2).
  static let hs256Secret = checkedText("a text of at least 32 bytes") { $0.utf8.count >= 32 }

  /// `admin.apiKey`: fits into an Authorization header, and is as long as the secret.
  static let apiKey = checkedText("at least 32 bytes of visible ASCII without spaces") { text in
    text.utf8.count >= 32 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// `store.url`. The path must not look like a host, a database in memory, or options. The
  /// password of a server is not shown.
  static let storeURL = scalar(
    "sqlite:, sqlite:PATH or postgres://HOST/DATABASE", as: [.string],
    show: { Settings.Store.isPostgreSQL($0) ? URLSecrets.masked($0) { $0.contains("password") } : $0 },
    parse: { isStoreURL($0) ? $0 : nil }, unless: { hasRawCharacters($0) ? escapedServerURL : nil },
    quote: URLSecrets.quoted)

  private static let escapedServerURL =
    "postgres://USER:PASSWORD@HOST/DATABASE, with special characters in the user and the password written by their numbers: "
    + "%40 for @, %2F for /, %3A for :, %25 for %"

  /// Whether an address of a server has a user, or a percent sign, with characters that may have to
  /// be escaped.
  private static func hasRawCharacters(_ url: String) -> Bool {
    Settings.Store.isPostgreSQL(url) && url.contains { $0 == "@" || $0 == "%" }
  }

  /// A password with an @, a slash or a percent sign that is not escaped would end up in the host's
  /// name, which libpq repeats in its errors.
  private static func isPostgreSQLURL(_ url: String) -> Bool {
    url.contains(/^[a-z]+:\/\/([^@\/\0]*@)?[^@\/\0]*\/[^\/\0?]+(\?[^\0]*)?$/) && !url.contains(/%(?![0-9A-Fa-f]{2})|%00/)
      && url.contains(/:\/\/([^@\/]*@)?(\[[^\]\/]*\]|[^:\/\[\],]*)(:\d*)?(,(\[[^\]\/]*\]|[^:\/\[\],]*)(:\d*)?)*\//)
  }

  private static func isStoreURL(_ url: String) -> Bool {
    if Settings.Store.isPostgreSQL(url) { return isPostgreSQLURL(url) }
    guard let path = Settings.Store.path(in: url) else { return false }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last
    let isFile = path.isEmpty || !["", ".", "..", ":memory:"].contains(name)
    return isFile && !path.hasPrefix("~") && !path.hasPrefix("//") && !path.contains("?") && !path.utf8.contains(0)
  }

  /// `webhook.secret`: the prefix of Standard Webhooks, and base64 with or without its padding.
  static let webhookSecret = checkedText("whsec_ and 24 to 64 bytes in base64") { text in
    guard text.hasPrefix("whsec_") else { return false }
    let digits = text.utf8.dropFirst(6).reversed().drop { $0 == UInt8(ascii: "=") }
    let isBase64 = digits.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
    return isBase64 && digits.count % 4 != 1 && 24...64 ~= digits.count * 3 / 4
  }

  private static func checkedText(_ name: String, _ check: @escaping @Sendable (String) -> Bool) -> ValueType {
    scalar(name, as: [.string], show: { $0 }, parse: { check($0) ? $0 : nil })
  }

  /// One of some words; an alias is read as the word that it stands for.
  static func word(_ words: [String], aliases: [String: String] = [:]) -> ValueType {
    scalar("one of \(words.joined(separator: ", "))", as: [.string], show: { $0 }) { text in
      let word = aliases[text] ?? text
      return words.contains(word) ? word : nil
    }
  }
}

extension ValueType where Value == String? {
  /// `webhook.url`; empty = off.
  static let webhookURL = outgoingURL("http:// or https:// and a host") { _ in true }

  /// `tracing.otlpEndpoint`; empty = off.
  static let collectorURL = outgoingURL("http:// or https:// and a host") { _ in true }

  /// `auth.jwksURL`; empty = off. Whoever changes its answer on the way lets anybody in, so it is not
  /// read in plain text but from this machine.
  static let keySetURL = outgoingURL("https:// and a host, or http:// and a loopback address") { url in
    url.lowercased().hasPrefix("https://") || isLoopback(hostOf: url)
  }

  /// A URL that the server asks.
  private static func outgoingURL(_ name: String, _ isAllowed: @escaping @Sendable (String) -> Bool) -> ValueType {
    scalar(
      name, as: [.string],
      // Nobody knows which parameters of an application are secrets.
      show: { url in url.map(URLSecrets.shown) ?? "(none)" },
      parse: { url in
        if url.isEmpty { return .some(nil) }
        let scheme = ["http://", "https://"].first { url.lowercased().hasPrefix($0) }
        guard let scheme, let host = url.dropFirst(scheme.count).first, !"/?#:@".contains(host) else { return nil }
        return url.utf8.allSatisfy { 0x21...0x7e ~= $0 } && isAllowed(url) ? .some(url) : nil
      }, quote: URLSecrets.quotedWithoutParameters)
  }

  /// Whether an http URL names an address of 127.0.0.0/8, ::1, or localhost, which libcurl looks up nowhere.
  private static func isLoopback(hostOf url: String) -> Bool {
    let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
    // With a user before it the host would be another one.
    guard let match = authority.wholeMatch(of: /(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]@]+))(?::[0-9]{1,5})?/) else { return false }
    let host = (match.output.1 ?? match.output.2 ?? "").lowercased()
    guard host != "localhost" else { return true }
    guard let address = IPAddress(host) else { return false }
    return address.isIPv6
      ? AddressRange("::1")?.contains(host) == true
      : AddressRange("127.0.0.0/8")?.contains(host) == true && host.split(separator: ".").count == 4
  }
}

extension ValueType where Value == Double {
  /// A share of a whole.
  static let share = scalar("a number of 0 to 1", as: [.integer, .fraction], show: { "\($0)" }) { text in
    Double(text).flatMap { (0.0...1.0).contains($0) ? $0 : nil }
  }
}

extension ValueType where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
  /// One of the cases by its raw value.
  static func oneOfCases() -> ValueType {
    let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return scalar("one of \(names)", as: [.string], show: \.rawValue, parse: { Value(rawValue: $0) })
  }
}

extension ValueType where Value == Bool {
  /// `true` or `false`, also in YAML's other spellings.
  static let boolean = scalar("true or false", as: [.boolean], show: { "\($0)" }) { text in
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }
}

extension ValueType where Value == Int {
  /// A decimal integer within the range.
  /// - Parameter unit: what it counts, such as `bytes`.
  static func integer(_ range: ClosedRange<Int>, of unit: String) -> ValueType {
    let name = "an integer of \(range.lowerBound) to \(range.upperBound)"
    return scalar(name, unit: unit, as: [.integer], show: { "\($0)" }) { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension ValueType where Value == Duration {
  /// A duration within the range, in seconds or with a unit (`500ms`, `10s`, `5m`, `1h`, `7d`).
  static func duration(_ range: ClosedRange<Duration>) -> ValueType {
    let bounds = "\(range.lowerBound.configurationText) to \(range.upperBound.configurationText)"
    return scalar(
      "a duration of \(bounds)", unit: "seconds", as: [.integer, .fraction, .string], show: \.configurationText
    ) { text in
      Duration(configurationText: text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A duration within the range, in milliseconds or with a unit.
  static func milliseconds(_ range: ClosedRange<Duration>) -> ValueType {
    let name = "milliseconds of \(range.lowerBound.wholeMilliseconds) to \(range.upperBound.wholeMilliseconds)"
    return scalar(name, unit: "milliseconds", as: [.integer, .string], show: { "\($0.wholeMilliseconds)" }) { text in
      let duration = Int64(text).map { Duration.milliseconds($0) } ?? Duration(configurationText: text)
      return duration.flatMap { range.contains($0) ? $0 : nil }
    }
  }
}
