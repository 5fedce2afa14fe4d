import Testing

@testable import ThrongServer

/// Clients choose the code that they close with: what they invent is one label.
@Suite struct CloseCountsTests {
  private func text(_ closes: [Int: Int]) -> [String] {
    CloseCounts.byLabel(closes).map { row in row.labels.map { "\($0.0)=\($0.1)" }.joined() + " \(Int(row.value))" }
  }

  @Test func codesOfTheStandardAndOursHaveTheirOwnRows() {
    #expect(
      text([4503: 1, 1000: 2, 1006: 3, 1015: 4, 4001: 5, 4500: 6])
        == ["code=1000 2", "code=1006 3", "code=1015 4", "code=4001 5", "code=4500 6", "code=4503 1"])
  }

  @Test func theRestIsOne() {
    let invented = Dictionary(uniqueKeysWithValues: (3000...4000).map { ($0, 1) } + [(4008, 1), (4499, 2), (4504, 1), (999, 1)])
    #expect(text(invented.merging([1001: 7]) { $1 }) == ["code=1001 7", "code=other 1006"])
    #expect(text([:]) == [])
  }
}
