extension Settings {
  /// A configuration file with every key at its default behind a comment sign, for
  /// `throng config example`. Prose has two signs, so that one removed from each line leaves a file.
  public static var exampleFile: String {
    var file = ExampleFile()
    file.prose("The configuration of Throng \(Release.version): every key, commented out at its default.")
    file.prose(
      "Remove the # before a key to set it. The variables of the environment and the flags win over this file. "
        + "`throng config check --config FILE` says whether all is well.")
    for section in Keys.sections {
      file.blank()
      file.prose("--- \(section.title) ---")
      for key in section.keys { file.key(key) }
    }
    return file.text
  }
}

/// The text as far as it is written.
private struct ExampleFile {
  private(set) var text = ""

  private static let lastColumn = 100

  mutating func blank() { text += "\n" }

  mutating func prose(_ sentences: String) { fill("##", sentences, then: "##") }

  /// Fills lines with words.
  private mutating func fill(_ first: String, _ words: String, then next: String) {
    var line = first
    for word in words.split(separator: " ") {
      if line.count + 1 + word.count > ExampleFile.lastColumn {
        text += line + "\n"
        line = next
      }
      line += " " + word
    }
    text += line + "\n"
  }

  mutating func key(_ key: any ConfigurationKey) {
    blank()
    prose(key.documentation)
    let unit = key.unit.map { ", in \($0)" } ?? ""
    let value = key.typeName.prefix(1).uppercased() + key.typeName.dropFirst() + unit
    let fallback = key.computedFallback.map { " Default: \($0)." } ?? ""
    prose("\(value).\(fallback) Example: \(key.yamlExample)")
    // A long list goes on in indented lines.
    fill("# \(key.path):", key.yamlFallback, then: "#  ")
  }
}
