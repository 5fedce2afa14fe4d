import Testing
import ThrongTestKit

@testable import Cluster

@Suite struct ByteWriterTests {
  @Test(arguments: [0, 1, 127, 128, 300, UInt64(Int64.max), .max]) func numbersComeBack(number: UInt64) throws {
    var writer = ByteWriter()
    writer.number(number)
    var reader = ByteReader(writer.bytes)
    #expect(try reader.number() == number)
    #expect(reader.isAtEnd)
  }

  @Test(arguments: [0, -1, 1, -64, 64, .min, .max] as [Int64]) func numbersOfEitherSignComeBack(number: Int64) throws {
    var writer = ByteWriter()
    writer.signed(number)
    var reader = ByteReader(writer.bytes)
    #expect(try reader.signed() == number)
  }

  @Test func smallNumbersTakeOneByte() {
    var writer = ByteWriter()
    writer.signed(-64)
    writer.number(127)
    #expect(writer.bytes.count == 2)
  }

  @Test func valuesComeBackInTheirOrder() throws {
    var writer = ByteWriter()
    writer.text("größer")
    writer.optional(nil as String?) { $0.text($1) }
    writer.optional("x") { $0.text($1) }
    writer.list([1, 2, 3]) { $0.count($1) }
    writer.flag(true)
    writer.append([9, 9])
    var reader = ByteReader(writer.bytes)
    #expect(try reader.text() == "größer")
    #expect(try reader.optional { (reader) throws(MalformedMessage) in try reader.text() } == nil)
    #expect(try reader.optional { (reader) throws(MalformedMessage) in try reader.text() } == "x")
    #expect(try reader.list { (reader) throws(MalformedMessage) in try reader.count() } == [1, 2, 3])
    #expect(try reader.flag())
    #expect(reader.rest() == [9, 9])
  }

  @Test(
    arguments: [
      [], [0x80], [5, 1, 2], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [2, 0xc3, 0x28],
    ] as [[UInt8]])
  func whatIsNoTextIsRefused(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    #expect(throws: MalformedMessage.self) { try reader.text() }
  }

  @Test func aListLongerThanItsBytesIsRefusedBeforeItIsReserved() {
    var writer = ByteWriter()
    writer.count(1 << 40)
    var reader = ByteReader(writer.bytes)
    #expect(throws: MalformedMessage.self) { try reader.list { (reader) throws(MalformedMessage) in try reader.byte() } }
  }

  @Test(arguments: 0..<200) func anyBytesAreReadOrRefused(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    for bytes in [bytes, [LinkFrame.version, 2] + bytes] {
      var reader = ByteReader(bytes)
      _ = try? LinkFrame(header: &reader)
    }
  }
}
