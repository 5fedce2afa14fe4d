/// Rows of texts in columns: the first to the left, the others to the right.
struct TextTable {
  private var rows: [[String]]

  /// A table with these headings; the first is that of the rows' names.
  init(_ headings: [String]) { rows = [headings] }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The lines, without blanks at their ends.
  var lines: [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + blanks : "   " + blanks + cell
      }
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
