import ServerConfiguration

/// The tables of Configuration.md: one for each section of keys.
enum ConfigurationTables {
  /// The tables in Markdown, each below its heading, with an empty line between them.
  static func markdown() -> String {
    var sections: [String] = []
    for key in Settings.keys where sections.last != key.section { sections.append(key.section) }
    return sections.map(table).joined(separator: "\n")
  }

  private static func table(of section: String) -> String {
    let rows = Settings.keys.filter { $0.section == section }.map(row).joined()
    let head = "| key | meaning | value | unit | default | example | since |\n|---|---|---|---|---|---|---|\n"
    return "### \(section)\n\n\(head)\(rows)"
  }

  private static func row(of key: KeyDescription) -> String {
    let cells = [
      "`\(key.path)`", key.documentation, key.type, key.unit ?? "", fallback(of: key), "`\(key.example)`", key.since,
    ]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
  }

  private static func fallback(of key: KeyDescription) -> String {
    if let words = key.computedDefault { return words }
    return key.defaultValue == "(none)" ? "–" : "`\(key.defaultValue)`"
  }
}
