import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng doctor`: looks at what a server needs of its machine.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Look at everything that a server needs of this machine, and say how to mend it.",
    discussion: """
      The configuration, the keys and the certificate, the listeners, open files, the disk, the clock and the store; beside a running \
      server too. Ends with 1 where a server would not start or cannot work. Run it as the server's user.
      """)

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    let findings = await Doctor(settings).examine()
    let width = findings.map(\.subject.count).max() ?? 0
    for finding in findings {
      let subject = finding.subject + String(repeating: " ", count: width - finding.subject.count)
      print("\(mark(finding.severity))  \(subject)  \(finding.text)")
      if let remedy = finding.remedy { print("\(String(repeating: " ", count: width + 11))→ \(remedy)") }
    }
    if findings.contains(where: { $0.severity == .failure }) { throw ExitCode.failure }
  }

  private func mark(_ severity: Finding.Severity) -> String {
    switch severity {
    case .ok: "ok     "
    case .warning: "warning"
    case .failure: "FAILURE"
    }
  }
}
