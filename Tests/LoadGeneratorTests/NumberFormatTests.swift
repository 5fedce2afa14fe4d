import Testing

@testable import LoadGenerator

@Suite struct NumberFormatTests {
  @Test func textsOfNumbers() {
    #expect(NumberFormat.text(1.5, digits: 3) == "1.5")
    #expect(NumberFormat.text(150, digits: 1) == "150")
    #expect(NumberFormat.text(0.0004, digits: 3) == "0")
    #expect(NumberFormat.text(-0.0004, digits: 3) == "0")
    #expect(NumberFormat.text(-2.25, digits: 2) == "-2.25")
    #expect(NumberFormat.text(.nan, digits: 2) == "0")
    #expect(NumberFormat.text(.infinity, digits: 2) == "0")
    #expect(NumberFormat.fixed(2, digits: 3) == "2.000")
    #expect(NumberFormat.fixed(0.06, digits: 2) == "0.06")
    #expect(NumberFormat.fixed(9.999, digits: 1) == "10.0")
  }

  @Test func numbersForPeople() {
    #expect([0, 7, 999, 1000, 1_234_567, -1000].map(NumberFormat.grouped) == ["0", "7", "999", "1,000", "1,234,567", "-1,000"])
    #expect([0.1234, 1.234, 12.34, 123.4, 1234.5].map(NumberFormat.short) == ["0.123", "1.23", "12.3", "123", "1,235"])
    #expect([512, 2048, 3_145_728].map(NumberFormat.bytes) == ["512 B", "2.0 KB", "3.0 MB"])
  }
}
