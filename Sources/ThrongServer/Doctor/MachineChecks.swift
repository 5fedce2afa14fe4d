import GroupModel
import ServerConfiguration

/// Judges the facts of a machine.
enum MachineChecks {
  /// A gibibyte: some hours of a busy server.
  private static let littleBytes = 1 << 30
  /// Less than this, and a start that migrates may fail.
  private static let tooFewBytes = 64 << 20

  /// SQLite's locks do not work there, or not always.
  private static let networkFileSystems: [UInt: String] = [
    0x6969: "NFS", 0xff53_4d42: "CIFS", 0xfe53_4d42: "SMB", 0x517b: "SMB", 0x0102_1997: "9p", 0x5346_414f: "AFS",
  ]
  /// Their contents end with the machine's run.
  private static let memoryFileSystems: [UInt: String] = [0x0102_1994: "tmpfs", 0x8584_58f6: "ramfs"]

  /// - Parameters:
  ///   - allowed: how many files the server may open.
  ///   - connections: `limits.connections`; 0 = no limit.
  static func openFiles(allowed: Int, connections: Int) -> Finding {
    let subject = "open files"
    if let warning = StartWarnings.connections(connections, openFiles: allowed) {
      return .warning(subject, warning, "raise the hard limit: LimitNOFILE in a systemd unit, --ulimit nofile of a container")
    }
    guard allowed >= 4096 else {
      return .warning(
        subject, "the server may open \(allowed) files, connections included",
        "raise the hard limit: LimitNOFILE in a systemd unit, --ulimit nofile of a container")
    }
    return .ok(subject, "the server may open \(allowed) files, connections included")
  }

  static func clock(_ clock: MachineFacts.Clock, now: WallInstant) -> Finding {
    let remedy = "run chrony, ntpd or systemd-timesyncd; in a container, on its host"
    // Tokens have an instant of expiry: with a clock of the last century all of them are good.
    guard now.milliseconds > 1_750_000_000_000 else { return .failure("clock", "the clock stands in the past", remedy) }
    switch clock {
    case .synchronized: return .ok("clock", "the clock is kept right")
    case .unsynchronized:
      return .warning("clock", "nothing keeps the clock right: tokens expire by it, and messages show its time", remedy)
    case .unknown: return .ok("clock", "the kernel does not say whether anything keeps the clock right")
    }
  }

  /// - Parameter isStore: whether the database is a file there.
  static func directory(_ directory: MachineFacts.Directory, wanted: String, isStore: Bool) -> [Finding] {
    guard directory.isWritable else {
      return [
        .failure(
          "data directory", "\(directory.path) cannot be written to",
          "make \(wanted) for the server's user: install -d -m 0700 -o throng \(wanted)")
      ]
    }
    var findings: [Finding] = [
      directory.isMissing
        ? .warning(
          "data directory", "there is no \(wanted); a start makes it, in \(directory.path)",
          "where there should be one, name it: --data-dir, dataDir")
        : .ok("data directory", "\(wanted) can be written to")
    ]
    if let kind = networkFileSystems[directory.fileSystem], isStore {
      findings.append(
        .failure(
          "file system", "\(directory.path) is on \(kind), where SQLite's locks cannot be relied on",
          "put dataDir on a disk of this machine, or use PostgreSQL"))
    } else if let kind = memoryFileSystems[directory.fileSystem], isStore {
      findings.append(
        .warning(
          "file system", "\(directory.path) is on \(kind): everything is lost when the machine ends", "put dataDir on a disk"))
    }
    if let free = directory.freeBytes { findings.append(disk(free, directory.path)) }
    return findings
  }

  private static func disk(_ free: Int, _ path: String) -> Finding {
    let text = "\(free >> 20) MiB are free at \(path)"
    let remedy = "make room, or bound what groups keep (history.retention, history.maxMessages)"
    if free < tooFewBytes { return .failure("disk", text, remedy) }
    return free < littleBytes ? .warning("disk", text, remedy) : .ok("disk", text)
  }

  static func webhooks(_ settings: Settings) -> Finding {
    if let warning = StartWarnings.webhookEvents(settings) {
      return .warning("webhooks", warning, "without a receiver leave webhook.events out")
    }
    return .ok("webhooks", settings.webhook.url == nil ? "there is no receiver, so none are posted" : "there is a receiver")
  }

  static func proxies(_ settings: Settings) -> Finding {
    if let warning = StartWarnings.proxyProtocol(settings) {
      return .warning("proxies", warning, "trustedProxies takes addresses and ranges; the peer of a Unix socket needs none")
    }
    if let warning = StartWarnings.forwardedHeader(settings) {
      return .warning(
        "proxies", warning, "set forwardedHeader; Scripts/deploy has proxies that set one header and remove the other")
    }
    let header = settings.forwardedHeader
    return .ok(
      "proxies",
      settings.trustedProxies.isEmpty && settings.listen.host != nil
        ? "none is trusted, so no header names a client" : "they name clients by \(header.rawValue)")
  }

  static func internalListener(_ address: ListenAddress) -> Finding {
    let subject = "internal listener"
    guard let warning = StartWarnings.internalListener(address) else {
      return .ok(subject, "\(address) is not for everybody")
    }
    return .warning(subject, warning, "set internalListen to 127.0.0.1:8081, an address of a private network, or unix:/PATH")
  }

  /// - Parameter expiry: of the certificate, in Unix seconds; nil without TLS.
  static func certificate(_ expiry: Int64?, now: WallInstant) -> Finding {
    guard let expiry else { return .ok("certificate", "no TLS: a proxy has to encrypt") }
    let days = (WallInstant(milliseconds: expiry * 1000) - now).components.seconds / 86_400
    guard let warning = StartWarnings.certificate(expiring: expiry, now: now) else {
      return .ok("certificate", "it expires in \(days) days")
    }
    let remedy = "renew it, then send SIGHUP to the server"
    return expiry * 1000 <= now.milliseconds ? .failure("certificate", warning, remedy) : .warning("certificate", warning, remedy)
  }
}
