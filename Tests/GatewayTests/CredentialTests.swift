import Testing

@testable import Gateway

@Suite struct BearerCredentialTests {
  @Test(
    arguments: [
      ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER  abc", "abc"), ("Bearer ", ""), ("Bearer", nil), ("Basic abc", nil),
      ("", nil),
      (nil, nil), ("Bearerabc", nil), ("Bearer é", "é"),
    ] as [(String?, String?)])
  func theSchemeIsReadWithoutItsCase(header: String?, token: String?) {
    #expect(BearerCredential.token(header) == token)
  }
}

@Suite struct QueryStringTests {
  @Test(
    arguments: [
      ("token=abc", "abc"), ("a=1&token=abc&b=2", "abc"), ("token=a&token=b", "a"), ("token", ""), ("token=", ""),
      ("token=a=b", "a=b"),
      ("token=a%2Bb%3d%3D", "a+b=="), ("token=a+b", "a b"), ("%74oken=x", "x"), ("token=%C3%A9", "é"), ("Token=abc", nil),
      ("", nil), ("&&=&", nil), ("=token", nil), ("&&a&token=x&", "x"), ("a=b=token=c&token==", "="), ("token&token=a", ""),
    ] as [(String, String?)])
  func parametersAreDecoded(query: String, token: String?) {
    #expect(QueryString(query)["token"] == token)
  }

  @Test(arguments: ["%", "%4", "%zz", "%+5", "%-1", "%4g", "a%", "% 5", "%%41"])
  func anInvalidEscapeStaysAsItIs(text: String) {
    let expected = text == "%%41" ? "%A" : text.replacing("+", with: " ")
    #expect(QueryString("token=\(text)")["token"] == expected)
  }

  @Test func bytesThatAreNoTextAreRepaired() {
    #expect(QueryString("token=%FFx")["token"] == "\u{FFFD}x")
  }
}
