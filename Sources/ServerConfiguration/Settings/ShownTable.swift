extension Settings {
  /// The lines of `config show`: every key with its value and source.
  /// - Parameter width: the columns of the terminal, in which every line ends; nil = each key has one
  ///   line, however long.
  public func shownLines(width: Int?) -> [String] { ShownTable(entries, width: width).lines }
}

/// The table of `config show`: keys, values and sources in columns.
struct ShownTable {
  private let entries: [Settings.Entry]
  /// Nil = lines have any length.
  private let width: Int?
  private let keyColumn: Int
  private let valueColumn: Int

  private static let gap = 2
  /// One long value would push all sources out of sight: it stands out of its column.
  private static let widestValueColumn = 32
  /// Where a terminal leaves fewer columns behind the keys, values stand below their keys.
  private static let leastRoom = 24

  init(_ entries: [Settings.Entry], width: Int?) {
    self.entries = entries
    self.width = width
    keyColumn = entries.map(\.key.count).max() ?? 0
    valueColumn = min(entries.map(\.value.count).max() ?? 0, ShownTable.widestValueColumn)
  }

  /// The lines in the order of the keys.
  var lines: [String] {
    guard let width else {
      return entries.map { "\($0.key.padded(to: keyColumn))  \($0.value.padded(to: valueColumn))  \($0.source)" }
    }
    return entries.flatMap { wrapped($0, to: width) }
  }

  private func wrapped(_ entry: Settings.Entry, to width: Int) -> [String] {
    let indent = keyColumn + ShownTable.gap
    let isWide = width - indent >= ShownTable.leastRoom
    let room = isWide ? width - indent : max(1, width - ShownTable.gap)
    let rows = rows(entry, room: room)
    guard isWide else {
      let below = String(repeating: " ", count: ShownTable.gap)
      return pieces(of: entry.key, size: max(1, width)) + rows.map { below + $0 }
    }
    let heads = [entry.key] + Array(repeating: "", count: rows.count - 1)
    return zip(heads, rows).map { $0.padded(to: indent) + $1 }
  }

  /// The value and its source, in one row where there is room for both.
  private func rows(_ entry: Settings.Entry, room: Int) -> [String] {
    let source = "\(entry.source)"
    let free = room - ShownTable.gap - source.count
    guard entry.value.count <= free else { return pieces(of: entry.value, size: room) + pieces(of: source, size: room) }
    return ["\(entry.value.padded(to: min(valueColumn, free)))  \(source)"]
  }

  private func pieces(of text: String, size: Int) -> [String] {
    var pieces: [String] = []
    var rest = text[...]
    while rest.count > size {
      pieces.append(String(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return pieces + [String(rest)]
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
