import Cluster
import Testing

@testable import Gateway

/// "streamKey is an unguessable secret, bound to that session."
@Suite struct StreamKeysTests {
  private let name = StreamName(node: 7, id: "abc")
  private let cluster = ClusterKey(number: 0, secret: [UInt8](repeating: 5, count: 32))

  @Test func aKeyNamesItsStream() {
    let keys = StreamKeys(nil)
    #expect(keys.name(in: keys.key(of: name)) == name)
    #expect(keys.key(of: name).hasPrefix("7.abc.") && keys.key(of: name).count == 6 + 32)
  }

  @Test func everyNodeOfAClusterChecksTheKeysOfAllAndNoOtherDoes() {
    let key = StreamKeys(cluster).key(of: name)
    #expect(StreamKeys(cluster).name(in: key) == name)
    #expect(StreamKeys(ClusterKey(number: 0, secret: [UInt8](repeating: 6, count: 32))).name(in: key) == nil)
    #expect(StreamKeys(nil).name(in: key) == nil)
    #expect(StreamKeys(nil).key(of: name) != StreamKeys(nil).key(of: name), "a server that is alone makes a secret")
  }

  /// Each byte counts: another digit, another stream, another node, something before or behind.
  @Test func aKeyThatIsChangedIsNone() {
    let keys = StreamKeys(cluster)
    let key = Array(keys.key(of: name).utf8)
    for place in key.indices {
      var changed = key
      changed[place] ^= 1
      #expect(keys.name(in: String(decoding: changed, as: UTF8.self)) == nil, "\(place)")
    }
    let text = keys.key(of: name)
    let others = [
      "", ".", "..", "7.abc", "7.abc.", "+" + text, " " + text, text + "0", text + ".", String(text.dropLast()),
      text.uppercased(),
    ]
    for other in others { #expect(keys.name(in: other) == nil, "\(other)") }
  }
}
