import Authentication
import Foundation
import GroupModel
import Logging
import NATSBus
import PostgreSQLStore
import SQLiteStore
import ServerConfiguration
import WebSocketTransport

/// Looks at everything that a server needs of its machine, for `throng doctor`.
public struct Doctor: Sendable {
  private let settings: Settings
  private let now = SystemClocks().wall

  /// A doctor for the server with these settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Looks at all parts, one after the other. Nothing is changed, and a running server goes on.
  public func examine() async -> [Finding] {
    let machine = MachineFacts.read(dataDirectory: settings.dataDir)
    let (server, occupant) = server()
    let isRunning = occupant != .nobody
    var findings = [server]
    findings += await keys(beside: occupant)
    findings.append(MachineChecks.proxies(settings))
    findings.append(MachineChecks.webhooks(settings))
    findings.append(MachineChecks.internalListener(settings.internalListen))
    if !isRunning { findings.append(await listeners()) }
    let allowed = isRunning ? runningFileLimit() : nil
    findings.append(
      MachineChecks.openFiles(
        allowed: allowed ?? min(settings.openFiles, machine.hardFileLimit), connections: settings.limits.connections))
    findings += MachineChecks.directory(
      machine.directory, wanted: settings.dataDir, isStore: settings.store.postgreSQL == nil)
    findings.append(MachineChecks.clock(machine.clock, now: now))
    findings.append(store(beside: occupant))
    if let finding = databaseAccess() { findings.append(finding) }
    if let url = settings.bus.url { findings.append(await bus(url)) }
    return findings
  }

  /// Who answers at `internalListen`.
  private enum Occupant { case nobody, throng, another }

  private func server() -> (Finding, Occupant) {
    do throws(InternalClient.Failure) {
      let client = try InternalClient(settings)
      guard try client.get("/healthz").status == 200 else {
        return (
          .failure(
            "server", "\(settings.internalListen) is taken by something that is not Throng",
            "set internalListen to another address, or end that process"), .another
        )
      }
      let ready = try client.get("/readyz")
      guard ready.status == 200 else {
        let reason = String(decoding: ready.body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return (
          .failure(
            "server", "it runs and is not ready: \(reason)",
            "mend what it names: disk or database for the store, bus.url for the bus; its log has the errors"), .throng
        )
      }
      return (.ok("server", "it runs at \(settings.internalListen) and is ready"), .throng)
    } catch {
      return (.ok("server", "none runs with this configuration (\(error))"), .nobody)
    }
  }

  /// How many files the running server may open: another limit than this process has, as a rule.
  private func runningFileLimit() -> Int? {
    guard let answer = try? InternalClient(settings).get("/metrics"), answer.status == 200 else { return nil }
    let metrics = MetricsSnapshot(String(decoding: answer.body, as: UTF8.self), at: SystemClocks().monotonic)
    // Another server may say +Inf.
    return metrics.all("process_max_fds").first.flatMap { Int(exactly: $0.value) }
  }

  private func keys(beside occupant: Occupant) async -> [Finding] {
    do {
      // Their warnings, of the certificate and of other keys, have findings of their own.
      _ = try await settings.checkKeys()
      let words =
        try settings.hasSecret()
        ? "the keys for tokens can be read" : "there is no secret for tokens yet; the first start makes it"
      let warning = await occupant == .throng ? settings.warningOfRunningServer() : nil
      let own = [
        warning.map { .warning("keys", $0, RunningServer.remedy) } ?? .ok("keys", words),
        MachineChecks.certificate(try settings.certificateExpiry(), now: now),
      ]
      guard let remote = await keysAtURL() else { return own }
      return own + [remote]
    } catch {
      return [
        .failure(
          "keys", "\(error)",
          "see auth.secret, auth.jwksFile, tls.certificateFile and tls.keyFile; throng config check tries again")
      ]
    }
  }

  /// The keys of `auth.jwksURL`, without which a server starts, and is not ready; nil where none are.
  private func keysAtURL() async -> Finding? {
    guard settings.auth.jwksURL != nil else { return nil }
    do {
      let count = try await settings.tokenVerifier(readsURL: true).verifier.setKeyCount
      return .ok("keys at auth.jwksURL", "\(count) of them can be used")
    } catch {
      return .warning(
        "keys at auth.jwksURL", "\(error)", "a server starts, and /readyz is 503 until they were read: look at the URL from here")
    }
  }

  /// Binds both listeners, and lets go of them at once.
  private func listeners() async -> Finding {
    do throws(TransportError) {
      let transport = try Transport(TransportConfiguration(settings), delegate: SilentDelegate())
      await transport.stop()
      return .ok("listeners", "\(settings.listen) and \(settings.internalListen) are free, and an event loop can be made")
    } catch {
      return .failure("listeners", error.description, Doctor.remedy(for: error))
    }
  }

  static func remedy(for error: TransportError) -> String {
    switch error {
    case .cannotBind(_, let port, _) where port > 0 && port < 1024:
      "ports below 1024 need a right: AmbientCapabilities=CAP_NET_BIND_SERVICE in a unit, or a proxy; or another process has it (ss -ltnp)"
    case .cannotBind:
      "another process has the port (ss -ltnp), or the address is not of this machine: set listen or internalListen"
    case .cannotMakeSocket: "the socket's directory must exist and be writable; end the process that listens there"
    case .tls: "see tls.certificateFile and tls.keyFile"
    case .context: "install the package that the message names; Scripts/install-packages has the list"
    }
  }

  private func store(beside occupant: Occupant) -> Finding {
    let isRunning = occupant != .nobody
    if let url = settings.store.postgreSQL {
      do throws(PostgreSQLOpenError) {
        let needs = PostgreSQLStore.Needs(
          isShared: settings.cluster.isEnabled, carriesBus: settings.cluster.isEnabled && settings.bus.url == nil,
          indexesMessages: settings.search.messages)
        let version = try PostgreSQLStore.check(url, isRunning ? .besideRunning : needs)
        return .ok("PostgreSQL", "version \(version) answers, its encoding is UTF8, and each connection keeps its session")
      } catch {
        return .failure("PostgreSQL", error.description, "see store.url; psql with the same URL says more")
      }
    }
    do throws(StoreOpenError) {
      let summary = try StoreCheck.summary(directory: settings.dataDir, database: settings.store.databasePath)
      if let holder = summary.holder, !isRunning {
        return .failure(
          "database", "\(summary.path) is in use by \(holder)", "end that process, or name its configuration: --config, --set")
      }
      let finding = Finding.ok(
        "database", "\(summary.path), \(summary.bytes >> 20) MiB, SQLite \(summary.library); throng store check reads all of it")
      return foreignDatabase(summary.path, isInUse: summary.holder != nil, beside: occupant) ?? finding
    } catch {
      guard error.kind != .missing else {
        let finding = Finding.ok("database", "there is none yet; the first start makes it")
        return foreignDatabase(nil, isInUse: false, beside: occupant) ?? finding
      }
      return .failure("database", error.description, "throng restore puts a backup in its place")
    }
  }
}

extension Doctor {
  /// The finding where a server of Throng's runs that has another database than this configuration.
  private func foreignDatabase(_ path: String?, isInUse: Bool, beside occupant: Occupant) -> Finding? {
    guard occupant == .throng else { return nil }
    return RunningServer.database(path, isInUse: isInUse, at: settings.internalListen, in: settings.dataDir)
  }
}

/// The engines of a cluster.
extension Doctor {
  /// Nil where the store is a file, or does not answer.
  private func databaseAccess() -> Finding? {
    guard let url = settings.store.postgreSQL, let isOpen = try? PostgreSQLStore.isOpenToAllRoles(url) else { return nil }
    guard isOpen else { return .ok("PostgreSQL roles", "only roles to which that was granted may connect") }
    return .warning(
      "PostgreSQL roles", "every role of the server may connect, and hear when nodes tell each other something",
      "REVOKE CONNECT ON DATABASE … FROM PUBLIC, as its owner")
  }

  private func bus(_ url: String) async -> Finding {
    do throws(NATSAddress.Fault) {
      let logger = Logger(label: "throng.doctor") { _ in SwiftLogNoOpLogHandler() }
      let address = try NATSAddress(url)
      let bus = try NATSBus.connect(address, cluster: settings.bus.subject, logger: logger)
      await bus.close()
      guard address.hasCredentials else {
        return .warning(
          "NATS", "a server of bus.url answers, and asks nobody for a password",
          "give nats-server a user, and name it: nats://USER:PASSWORD@HOST, or tls://…")
      }
      return .ok("NATS", "a server of bus.url answers")
    } catch {
      return .failure("NATS", error.description, "start nats-server, or see the hosts, the user and the files of bus.url")
    }
  }
}

extension Settings {
  /// When the certificate expires, in Unix seconds; nil without TLS.
  fileprivate func certificateExpiry() throws(StartError) -> Int64? {
    guard let certificate = tls.certificateFile, let key = tls.keyFile else { return nil }
    return try StartError.translating { () throws(TransportError) in
      try Transport.check(TLSFiles(certificateFile: certificate, keyFile: key))
    }
  }
}

/// Serves nobody: its transport is never started.
private final class SilentDelegate: TransportDelegate {
  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict {
    .refuse(status: 503, reason: "not serving")
  }

  func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {}

  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler { SilentHandler() }

  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) {}

  func didTick(_ loop: EventLoop) {}

  private final class SilentHandler: ConnectionHandler {
    func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {}
    func didReachDeadline() {}
    func didClose(code: Int, byPeer: Bool) {}
  }
}
