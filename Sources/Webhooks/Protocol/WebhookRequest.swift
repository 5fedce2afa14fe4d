import GroupModel
import OutgoingHTTP
import WireProtocol

/// A request as the receiver gets it, the same at each attempt but for its time and signature.
public struct WebhookRequest: Sendable, Equatable {
  /// Visible ASCII without a full stop, which separates the parts of the signed text.
  public let id: String
  public let type: WebhookType
  /// `{"type","timestamp","data"}`.
  public let body: [UInt8]
  /// Of the request that has caused it; nil = none is known.
  public let trace: TraceContext?

  /// - Parameters:
  ///   - id: of the webhook. Bytes that it may not have, of a damaged database, become `_`.
  ///   - time: when it happened, or when the server asks.
  ///   - data: the text of a JSON object.
  ///   - trace: of the request that has caused it; nil = none is known.
  public init(id: String, _ type: WebhookType, at time: WallInstant, data: [UInt8], trace: TraceContext? = nil) {
    self.type = type
    self.trace = trace
    self.id = String(decoding: id.utf8.map { WebhookRequest.mayHold($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    body = JSONWriter.text(capacity: data.count + 96) { writer in
      writer.object { writer in
        writer.member("type", type.rawValue)
        writer.member("timestamp", time.internetTime)
        writer.key("data")
        writer.raw(data)
      }
    }
  }

  private static func mayHold(_ byte: UInt8) -> Bool { 0x21...0x7e ~= byte && byte != UInt8(ascii: ".") }

  /// The headers of an attempt. Receivers refuse a time that is minutes away, so each attempt has its own.
  public func headers(at time: WallInstant, signedWith secret: WebhookSecret) -> [HTTPHeader] {
    let seconds = time.milliseconds / 1000
    return [
      HTTPHeader("content-type", "application/json"),
      HTTPHeader("webhook-id", id),
      HTTPHeader("webhook-timestamp", String(seconds)),
      HTTPHeader("webhook-signature", secret.signature(id: id, timestamp: seconds, body: body)),
    ]
  }
}

extension WallInstant {
  /// `2026-11-22T10:00:00.000Z` (RFC 3339). Foundation's style computes with floating point.
  var internetTime: String {
    let (days, millisecond) = milliseconds.flooredDivision(by: 86_400_000)
    // The civil calendar counted from 1 March of the year 0, so that leap days end the years.
    let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
    let (hour, minute, second) = (millisecond / 3_600_000, millisecond / 60_000 % 60, millisecond / 1000 % 60)
    return "\(date)T\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2)).\((millisecond % 1000).padded(3))Z"
  }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  fileprivate func padded(_ count: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, count - digits.utf8.count)) + digits
  }
}
