import Authentication
import Foundation
import Testing

/// The text of a token, character by character.
@Suite struct TokenTextTests {
  let forge: TokenForge
  let verifier: TokenVerifier
  /// A good token's three parts.
  let parts: [String]

  init() async throws {
    forge = try TokenForge()
    verifier = try await TokenVerifier(.init(secret: TokenForge.secret))
    parts = try await forge.token(payload: TokenForge.goodPayload).split(separator: ".").map(String.init)
  }

  private func error(_ token: String) -> TokenError? { verifier.verify(token, now: TokenForge.now).error }

  @Test func theTokenItselfIsGood() {
    #expect(error(parts.joined(separator: ".")) == nil)
  }

  @Test(arguments: ["", ".", "..", "...", "a", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e", "not a token", "💬.💬.💬", "\0"])
  func nonsense(token: String) {
    #expect(error(token) == .malformed)
  }

  @Test func junkAroundOrInsideIsMalformed() {
    let good = parts.joined(separator: ".")
    let tokens = [
      good + "=", good + " ", " " + good, good + "\n", good + ".", "." + good, "Bearer " + good, good + "é",
      "\(parts[0])=.\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])==.\(parts[2])", "\(parts[0]).\(parts[1]).+\(parts[2])",
      "\(parts[0]).\(parts[1])", "\(parts[0]). \(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])/.\(parts[2])",
    ]
    for token in tokens { #expect(error(token) == .malformed, "\(token)") }
  }

  @Test func everyChangedCharacterOfPayloadOrSignatureIsWrong() {
    for part in 1...2 {
      for index in parts[part].indices {
        for digit in "AQZ_9-" where digit != parts[part][index] {
          var changed = parts
          changed[part].replaceSubrange(index...index, with: String(digit))
          #expect(error(changed.joined(separator: ".")) == .wrongSignature)
        }
      }
    }
  }

  @Test func signatureOfAnotherLengthIsWrong() {
    for signature in ["", "A", String(parts[2].dropLast()), String(parts[2].dropLast(2)), parts[2] + "A", parts[2] + parts[2]] {
      #expect(error("\(parts[0]).\(parts[1]).\(signature)") == .wrongSignature)
    }
  }

  @Test func es256SignatureOfAnotherShapeIsWrong() async throws {
    let verifier = try await TokenVerifier(.init(secret: nil, keySet: TokenForge.keySet(try forge.ecJWK())))
    let header = TokenForge.base64URL(#"{"alg":"ES256"}"#.utf8)
    for length in [0, 1, 63, 64, 65, 72, 128] {
      let signature = TokenForge.base64URL([UInt8](repeating: 0, count: length))
      #expect(verifier.verify("\(header).\(parts[1]).\(signature)", now: TokenForge.now).error == .wrongSignature)
    }
  }

  @Test func sizeIsBounded() async throws {
    let empty = try await forge.token(payload: #"{"sub":"alice","exp":1700003600,"pad":""}"#)
    // Four characters of text carry three of the padding.
    let room = (8192 - empty.utf8.count) * 3 / 4
    for (pad, isGood) in [(room - 4, true), (room + 4, false)] {
      let text = String(repeating: "x", count: pad)
      let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600,"pad":"\#(text)"}"#)
      #expect((token.utf8.count <= 8192) == isGood)
      #expect(error(token) == (isGood ? nil : .malformed))
    }
  }

  /// The last character may hold bits of no byte: only one of the characters that decode alike is
  /// right.
  @Test func strayBitsAreNotOverlooked() async throws {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    func strayed(_ text: String) throws -> String {
      let last = try #require(text.last.flatMap(digits.firstIndex))
      return text.dropLast() + String(digits[last + 1])
    }
    #expect(error("\(parts[0]).\(parts[1]).\(try strayed(parts[2]))") == .wrongSignature)

    let text = #"{"sub":"alice","exp":1700003600}"#
    #expect(text.utf8.count % 3 != 0)
    let good = TokenForge.base64URL(text.utf8)
    for (payload, expected) in [(good, nil), (try strayed(good), TokenError.malformed)] {
      let signature = try await forge.signature(of: "\(parts[0]).\(payload)", by: .secret(TokenForge.secret))
      #expect(error("\(parts[0]).\(payload).\(TokenForge.base64URL(signature))") == expected)
    }
  }

  /// Foundation reads JSON behind a byte order mark and in UTF-16 and UTF-32, other readers do not.
  @Test func otherEncodingsOfJSONAreMalformedEvenWhenSigned() async throws {
    let encodings: [(String.Encoding, mark: [UInt8])] = [
      (.utf8, [0xef, 0xbb, 0xbf]), (.utf16LittleEndian, []), (.utf16BigEndian, []), (.utf16LittleEndian, [0xff, 0xfe]),
      (.utf16BigEndian, [0xfe, 0xff]), (.utf32LittleEndian, []), (.utf32BigEndian, [0, 0, 0xfe, 0xff]), (.isoLatin1, []),
    ]
    let (head, body) = (#"{"alg":"HS256","typ":"é"}"#, #"{"sub":"alice","exp":1700003600,"x":"é"}"#)
    for (encoding, mark) in [(String.Encoding.utf8, mark: [UInt8]())] + encodings {
      func encoded(_ text: String) throws -> String {
        TokenForge.base64URL(mark + Array(try #require(text.data(using: encoding))))
      }
      let (plainHead, plainBody) = (TokenForge.base64URL(head.utf8), TokenForge.base64URL(body.utf8))
      for (header, payload) in [(try encoded(head), plainBody), (plainHead, try encoded(body))] {
        let signature = try await forge.signature(of: "\(header).\(payload)", by: .secret(TokenForge.secret))
        let isPlain = encoding == .utf8 && mark.isEmpty
        #expect(error("\(header).\(payload).\(TokenForge.base64URL(signature))") == (isPlain ? nil : .malformed), "\(encoding)")
      }
    }
    let blank = "\(parts[0]).\(TokenForge.base64URL((" \r\n\t" + body).utf8))"
    let signature = try await forge.signature(of: blank, by: .secret(TokenForge.secret))
    #expect(error("\(blank).\(TokenForge.base64URL(signature))") == nil)
  }

  @Test(arguments: ["e", "e30A1", "!", ""])
  func impossiblePayloadIsMalformedEvenWhenSigned(payload: String) async throws {
    let signature = try await forge.signature(of: "\(parts[0]).\(payload)", by: .secret(TokenForge.secret))
    #expect(error("\(parts[0]).\(payload).\(TokenForge.base64URL(signature))") == .malformed)
  }
}
