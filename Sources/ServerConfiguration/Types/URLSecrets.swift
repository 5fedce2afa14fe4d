import Foundation

/// Passwords within URLs, which neither `config show` nor a message repeats.
enum URLSecrets {
  static let stars = "********"

  /// A URL that its key has accepted, with stars instead of the password before the host and of the
  /// values of parameters.
  /// - Parameters:
  ///   - hidesUser: whether the name before the password is one, too.
  ///   - isSecret: tells by a parameter's name.
  static func masked(_ url: String, hidesUser: Bool = false, where isSecret: (String) -> Bool) -> String {
    let parts = url.replacing(/:\/\/(?<user>[^:@\/]*)(?<password>:[^\/]*)?@/) { match in
      if hidesUser { return "://\(stars)@" }
      return match.output.password == nil ? String(match.output.0) : "://\(match.output.user):\(stars)@"
    }
    .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return String(parts[0]) }
    let parameters = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { parameter in
      let name = parameter.prefix { $0 != "=" }
      return name != parameter && isSecret(plain(name)) ? "\(name)=\(stars)" : String(parameter)
    }
    return "\(parts[0])?\(parameters.joined(separator: "&"))"
  }

  /// A URL that the server asks, as it may be shown: nobody knows which of its parameters are secrets.
  static func shown(_ url: String) -> String { masked(url, hidesUser: true) { _ in true } }

  /// A text that was to be a URL, in quotes; it is not told where some part of it may be a secret.
  static func quoted(_ text: String) -> String { plain(text).contains(/@|password/) ? unquoted : text.quoted }

  /// The same of a URL whose parameters may all be secrets.
  static func quotedWithoutParameters(_ text: String) -> String { text.contains("?") ? unquoted : quoted(text) }

  private static let unquoted = "a text that may hold a password"

  private static func plain(_ text: some StringProtocol) -> String { (text.removingPercentEncoding ?? String(text)).lowercased() }
}
