import Foundation

/// Writes the generated files into the repository whose root the first argument names, and prints
/// those that were not up to date. Scripts/generate runs it (Contributing.md, "Generated files").
@main
struct Generator {
  static func main() {
    let root = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
    do {
      for file in GeneratedFile.all() where try file.write(below: root) { print("wrote \(file.path)") }
    } catch {
      FileHandle.standardError.write(Data("generate: \(error)\n".utf8))
      exit(1)
    }
  }
}
