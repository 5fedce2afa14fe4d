import Crypto
import Foundation
import GroupModel
import OutgoingHTTP
import Testing
import ThrongTestKit

@testable import Webhooks

@Suite struct WebhookSecretTests {
  @Test func theSpecificationsSignature() throws {
    // The vector of the reference libraries (github.com/standard-webhooks, their tests).
    let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    let signature = secret.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(arguments: [24, 25, 26, 32, 64])
  func secretsOfEveryAllowedLength(count: Int) throws {
    let bytes = Data((0..<count).map { UInt8($0) })
    let text = "whsec_" + bytes.base64EncodedString()
    let expected = HMAC<SHA256>.authenticationCode(for: Data("a.1.{}".utf8), using: SymmetricKey(data: bytes))
    // With padding and without.
    for text in [text, text.replacingOccurrences(of: "=", with: "")] {
      let signature = try WebhookSecret(text).signature(id: "a", timestamp: 1, body: Array("{}".utf8))
      #expect(signature == "v1," + Data(expected).base64EncodedString())
    }
  }

  @Test(arguments: [
    ("", WebhookSecret.Fault.noPrefix), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", .noPrefix),
    ("WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", .noPrefix), ("whsec_", .badLength(0)),
    ("whsec_c2hvcnQ=", .badLength(5)), ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-", .notBase64),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", .notBase64), ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwA", .notBase64),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaé", .notBase64), ("whsec_====", .badLength(0)), ("whsec_AA==AA==", .notBase64),
    ("whsec_" + Data(count: 65).base64EncodedString(), .badLength(65)),
  ])
  func malformed(text: String, fault: WebhookSecret.Fault) {
    #expect(throws: fault) { try WebhookSecret(text) }
    #expect(!fault.description.contains("MfKQ"))
  }
}

@Suite struct WebhookRequestTests {
  @Test func theBodyIsTypeTimeAndData() {
    let request = WebhookRequest(
      id: "msg_1", .beforeSendMessage, at: 1_795_341_600_007, data: Array(#"{"text":"\"é"}"#.utf8))
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"type":"beforeSendMessage","timestamp":"2026-11-22T10:00:00.007Z","data":{"text":"\"é"}}"#)
  }

  @Test func eachAttemptHasItsOwnTimeAndSignatureUnderOneID() throws {
    let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    let odd = WebhookRequest(id: "a.b\r\nc\u{7f}é", .messageSent, at: 0, data: Array("{}".utf8))
    #expect(odd.id == "a_b__c___", "a damaged database must not end the server")
    let request = WebhookRequest(id: "msg_1", .messageSent, at: 0, data: Array("{}".utf8))
    func values(at time: WallInstant) -> [String: String] {
      Dictionary(uniqueKeysWithValues: request.headers(at: time, signedWith: secret).map { ($0.name, $0.value) })
    }
    let (first, second) = (values(at: 1_614_265_330_999), values(at: 1_614_265_331_000))
    #expect(first["webhook-id"] == "msg_1" && second["webhook-id"] == "msg_1")
    #expect(first["webhook-timestamp"] == "1614265330" && second["webhook-timestamp"] == "1614265331")
    #expect(first["webhook-signature"] == secret.signature(id: "msg_1", timestamp: 1_614_265_330, body: request.body))
    #expect(first["webhook-signature"] != second["webhook-signature"])
    #expect(first["content-type"] == "application/json")
  }

  @Test func timesAreThoseOfFoundation() {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    // Each day of 400 years, at another time of the day.
    for day in Int64(-146_097 / 4)..<146_097 * 3 / 4 {
      let seconds = day * 86_400 + Int64((day * 7919).magnitude % 86_400)
      let expected = Date(timeIntervalSince1970: Double(seconds)).formatted(style)
      guard WallInstant(milliseconds: seconds * 1000).internetTime == expected else {
        Issue.record("\(seconds): \(WallInstant(milliseconds: seconds * 1000).internetTime), not \(expected)")
        return
      }
    }
    #expect(WallInstant.unset.internetTime == "1970-01-01T00:00:00.000Z")
    #expect(WallInstant(milliseconds: -1).internetTime == "1969-12-31T23:59:59.999Z")
    #expect(WallInstant(milliseconds: 951_827_696_789).internetTime == "2000-02-29T12:34:56.789Z")
  }
}

@Suite struct WebhookTypeTests {
  @Test func questionsAreTheNamesThatBeginWithBefore() {
    for type in WebhookType.allCases { #expect(type.isQuestion == type.rawValue.hasPrefix("before")) }
    #expect(WebhookType.allCases.count == 27)
  }
}

@Suite struct RetryScheduleTests {
  private let schedule = RetrySchedule(retention: .seconds(86_400))

  @Test func delaysDoubleUpToFiveMinutes() {
    for (index, delay) in [Int64(1), 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].enumerated() {
      let decision = schedule.decision(afterAttempts: index + 1, of: 1000, now: 5000)
      #expect(decision == .retry(at: WallInstant(milliseconds: 5000 + delay * 1000)))
    }
    #expect(schedule.decision(afterAttempts: .max, of: 0, now: 0) == .retry(at: 300_000))
  }

  @Test func theLastAttemptIsAtTheEndOfTheRetention() {
    let schedule = RetrySchedule(retention: .seconds(3))
    #expect(schedule.decision(afterAttempts: 1, of: 10_000, now: 10_000) == .retry(at: 11_000))
    #expect(schedule.decision(afterAttempts: 2, of: 10_000, now: 11_000) == .retry(at: 13_000))
    #expect(schedule.decision(afterAttempts: 2, of: 10_000, now: 11_001) == .retry(at: 13_000))
    #expect(schedule.decision(afterAttempts: 3, of: 10_000, now: 12_999) == .retry(at: 13_000))
    #expect(schedule.decision(afterAttempts: 3, of: 10_000, now: 13_000) == .giveUp)
    #expect(schedule.decision(afterAttempts: 1, of: 10_000, now: 99_000) == .giveUp)
  }

  @Test func withoutRetentionThereIsOneAttempt() {
    #expect(RetrySchedule(retention: .zero).decision(afterAttempts: 1, of: 10, now: 10) == .giveUp)
  }

  @Test func aClockSetBackGivesNothingUp() {
    #expect(schedule.decision(afterAttempts: 1, of: 1_000_000_000, now: 5000) == .retry(at: 6000))
  }
}
