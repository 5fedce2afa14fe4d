/// Where a session runs (contract section 2). `restAPI` marks what an application administrator does.
public enum Platform: String, CaseIterable, Sendable {
  case iOS
  case android = "Android"
  case windows = "Windows"
  case mac = "Mac"
  case web = "Web"
  case unknown = "Unknown"
  case restAPI = "RESTful API"

  /// The platform a client may name at sign-in, or nil.
  public init?(signIn name: String) {
    guard let platform = Platform(rawValue: name), platform != .restAPI else { return nil }
    self = platform
  }
}
