/// What is said about a name that is none (contract section 9): the nearest that is one.
enum UnknownName {
  static func key(_ path: String, source: Source) -> String {
    let isSection = Keys.all.contains { $0.path.hasPrefix(path + ".") }
    if isSection { return "\(path): a section, not a key (\(source))" }
    let nearest = NearestName.nearest(to: path, among: Keys.all.map(\.path), separator: ".")
    return "\(path.onOneLine): no such key\(hint(nearest)) (\(source))"
  }

  static func variable(_ name: String) -> String {
    let names = Keys.all.map { String($0.environmentName.dropFirst(Environment.prefix.count)) }
    let nearest = NearestName.nearest(to: String(name.dropFirst(Environment.prefix.count)), among: names, separator: "_")
    return "\(name.onOneLine): no such variable\(hint(nearest.map { Environment.prefix + $0 }))"
  }

  private static func hint(_ nearest: String?) -> String { nearest.map { "; the nearest is \($0)" } ?? "" }
}

extension String {
  fileprivate var onOneLine: String { contains(where: \.isNewline) ? quoted : self }
}
