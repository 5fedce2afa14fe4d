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
  }

  private mutating func checkWebhook() {
    guard areKnown(WebhookKeys.url, WebhookKeys.secret) else { return }
    if self[WebhookKeys.url] != nil, self[WebhookKeys.secret] == nil { report(WebhookKeys.url, "set without webhook.secret") }
  }

  private mutating func checkListeners() {
    guard areKnown(Keys.listen, Keys.internalListen) else { return }
    if self[Keys.listen] == self[Keys.internalListen], self[Keys.listen].port != 0 {
      report(Keys.internalListen, "the same as listen")
    }
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
    let needingFile = (self[Keys.authAlgorithms] ?? []).filter { $0 != "HS256" }
    guard areKnown(Keys.authJWKSFile), self[Keys.authJWKSFile] == nil, !needingFile.isEmpty else { return }
    report(Keys.authAlgorithms, "\(needingFile.joined(separator: ", ")) without auth.jwksFile")
  }
}
