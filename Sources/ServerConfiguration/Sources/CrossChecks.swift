/// Checks of files, and of keys that depend on each other. One mistake has one line: a key that is
/// among the problems already is not compared with others.
extension Resolution {
  mutating func checkTogether() {
    checkTLS()
    checkFile(Keys.authJWKSFile)
    checkAlgorithms()
    checkCluster()
    checkWebhook()
    checkListeners()
    checkSecrets()
  }

  /// A secret that everybody can read is as weak as a short one.
  private mutating func checkSecrets() {
    let secrets = [Keys.authSecret, Keys.authPreviousSecret, Keys.adminAPIKey, Keys.adminPreviousAPIKey, ClusterKeys.secret]
    let commands = secrets.map { ($0, "openssl rand -base64 48") }
    for (key, command) in commands + [(WebhookKeys.secret, "echo \"whsec_$(head -c 32 /dev/urandom | base64)\"")] {
      guard let secret = self[key], PlaceholderSecrets.contains(secret) else { continue }
      report(key, "stands on a page or in an example of Throng, so everybody knows it; \(command) makes another")
    }
  }

  private mutating func checkWebhook() {
    guard areKnown(WebhookKeys.url, WebhookKeys.secret) else { return }
    if self[WebhookKeys.url] != nil, self[WebhookKeys.secret] == nil { report(WebhookKeys.url, "set without webhook.secret") }
  }

  private mutating func checkListeners() {
    guard areKnown(Keys.listen, Keys.internalListen) else { return }
    let (listen, internalListen) = (self[Keys.listen], self[Keys.internalListen])
    guard listen.overlaps(internalListen) else { return }
    let isSame = listen == internalListen
    report(Keys.internalListen, isSame ? "the same as listen" : "takes the port of listen, \(listen), on an address of both")
  }

  private mutating func checkTLS() {
    if areKnown(Keys.tlsCertificateFile, Keys.tlsKeyFile) {
      switch (self[Keys.tlsCertificateFile], self[Keys.tlsKeyFile]) {
      case (nil, _?): report(Keys.tlsKeyFile, "set without tls.certificateFile")
      case (_?, nil): report(Keys.tlsCertificateFile, "set without tls.keyFile")
      case (nil, nil), (_?, _?): break
      }
    }
    checkFile(Keys.tlsCertificateFile)
    checkFile(Keys.tlsKeyFile)
  }

  private mutating func checkFile(_ key: Key<String?>) {
    guard let path = self[key] else { return }
    do {
      if try FileContents.read(path).isEmpty { report(key, "the file \(path.quoted) is empty") }
    } catch {
      report(key, "the file \(path.quoted) cannot be read: \(error.description)")
    }
  }

  private mutating func checkCluster() {
    guard areKnown(Keys.storeURL), !Settings.Store.isPostgreSQL(self[Keys.storeURL]) else { return }
    let reason = "needs a store that nodes share: store.url=postgres://…"
    if self[ClusterKeys.enabled] {
      report(ClusterKeys.enabled, reason)
    } else if self[ClusterKeys.busURL] != nil {
      report(ClusterKeys.busURL, reason)
    }
  }

  private mutating func checkAlgorithms() {
    guard areKnown(Keys.authJWKSFile, Keys.authJWKSURL) else { return }
    let (hasFile, hasURL) = (self[Keys.authJWKSFile] != nil, self[Keys.authJWKSURL] != nil)
    if hasFile, hasURL { report(Keys.authJWKSURL, "set beside auth.jwksFile; the keys are from one of them") }
    let needingKeys = (self[Keys.authAlgorithms] ?? []).filter { $0 != "HS256" }
    guard !hasFile, !hasURL, !needingKeys.isEmpty else { return }
    report(Keys.authAlgorithms, "\(needingKeys.joined(separator: ", ")) without auth.jwksFile or auth.jwksURL")
  }
}

/// Secrets that stand in the examples and on the pages of Throng. Everybody has read them, so a server
/// with one of them lets everybody in.
private enum PlaceholderSecrets {
  /// Those of pages and files, also of earlier releases.
  private static let published: Set<String> = [
    "replace-it-by-the-output-of-openssl-rand-hex-32", "replace-it-by-another-output-of-openssl-rand-hex-32",
    "another-secret-than-the-one-of-the-server", "0123456789abcdef0123456789abcdef",
  ]

  private static let examples = Set(Keys.all.filter(\.isSecret).map(\.example))

  /// Whether a secret is one of them.
  static func contains(_ secret: String) -> Bool { published.contains(secret) || examples.contains(secret) }
}
