import GroupModel
import Testing

/// `traceparent` (W3C Trace Context, version 00).
@Suite struct TraceContextTests {
  private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let sampled = "00-\(traceID)-00f067aa0ba902b7-01"

  @Test(arguments: [
    sampled, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "00-00000000000000000000000000000001-0000000000000001-01",
    "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-00", "00-00000000000000010000000000000000-8000000000000000-01",
  ])
  func whatIsValidIsWrittenAsItWas(text: String) throws {
    let context = try #require(TraceContext(traceparent: text))
    #expect(context.traceparent == text)
    #expect(context.traceID == String(text.split(separator: "-")[1]))
    #expect(TraceContext.text(context.spanID) == String(text.split(separator: "-")[2]))
    #expect(context.isSampled == text.hasSuffix("1"))
  }

  @Test func flagsThatAreNotKnownAreNotPassedOn() throws {
    let context = try #require(TraceContext(traceparent: "00-\(Self.traceID)-00f067aa0ba902b7-fb"))
    #expect(context.isSampled && context.traceparent.hasSuffix("-01"))
    #expect(TraceContext(traceparent: "00-\(Self.traceID)-00f067aa0ba902b7-fa")?.isSampled == false)
  }

  @Test func aLaterVersionMayHaveMore() throws {
    let context = try #require(TraceContext(traceparent: "01-\(Self.traceID)-00f067aa0ba902b7-01-what-ever"))
    #expect(context.traceparent == Self.sampled)
    #expect(TraceContext(traceparent: "fe-\(Self.traceID)-00f067aa0ba902b7-01") == context)
    #expect(TraceContext(traceparent: "01-\(Self.traceID)-00f067aa0ba902b7-01x") == nil)
  }

  @Test(arguments: [
    "", "00", "00-", String(repeating: "-", count: 55), String(repeating: "0", count: 55),
    // Too short, too long, and with blanks.
    "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-", " \(sampled)", "\(sampled) ", "\(sampled)-00",
    // Zero is no ID, ff no version.
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    // No small hexadecimal digits.
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0G",
    "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
    "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01", "\(sampled),\(sampled)",
  ])
  func whatIsMalformedIsNothing(text: String) { #expect(TraceContext(traceparent: text) == nil) }

  /// Each byte of a valid one, changed into each other byte of ASCII, is invalid or means what it says.
  @Test func oneOtherByte() {
    let bytes = Array(Self.sampled.utf8)
    for index in bytes.indices {
      for other in UInt8(0)..<128 where other != bytes[index] {
        var changed = bytes
        changed[index] = other
        let text = String(decoding: changed, as: UTF8.self)
        let isDigit = "0123456789abcdef".utf8.contains(other)
        let isHyphen = [2, 35, 52].contains(index)
        guard let context = TraceContext(traceparent: text) else {
          #expect(!isDigit || isHyphen, "\(text)")
          continue
        }
        #expect(isDigit && !isHyphen, "\(text)")
        // The version and the flags are not kept, but for the one that is known.
        if (3..<52).contains(index) { #expect(context.traceparent == text) }
      }
    }
  }

  @Test func whatASpanCausesIsInItsTrace() throws {
    let parent = try #require(TraceContext(traceparent: Self.sampled))
    let child = parent.child()
    #expect(child.traceID == parent.traceID && child.isSampled && child.spanID != parent.spanID && child.spanID != 0)
    #expect(TraceContext(traceparent: child.traceparent) == child)
  }

  @Test func aTraceThatBeginsHereIsSampled() {
    let (one, other) = (TraceContext.begin(), TraceContext.begin())
    #expect(one.isSampled && one.traceID != other.traceID && one.spanID != other.spanID)
    #expect(TraceContext(traceparent: one.traceparent) == one)
  }
}
