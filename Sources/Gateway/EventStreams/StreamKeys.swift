import Cluster
import Crypto
import Foundation
import GroupModel

/// The name of an event stream, as its key holds it.
struct StreamName: Hashable, Sendable {
  /// The node that has the stream; 0 = a server that is alone.
  let node: Int64
  /// Nobody can guess it.
  let id: String
}

/// Makes and checks the keys by which requests name their event stream (Protocol.md, "Event streams").
///
/// A key names the node and the stream, and ends with a code that only nodes of the cluster can make:
/// any of them tells a forged one by itself, and asks the node of the stream about the others alone.
struct StreamKeys: Sendable {
  private static let info = Data("throng stream keys 1".utf8)
  private static let codeBytes = 16
  private let key: SymmetricKey

  /// - Parameter clusterKey: that of all nodes; nil = the server is alone, and makes one of its own.
  init(_ clusterKey: ClusterKey?) {
    guard let clusterKey else {
      key = SymmetricKey(size: .bits256)
      return
    }
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: clusterKey.secret), info: StreamKeys.info, outputByteCount: 32)
  }

  /// The key of a stream: its node, its id and the code in hexadecimal digits.
  func key(of name: StreamName) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: StreamKeys.text(of: name), using: key).prefix(StreamKeys.codeBytes)
    return "\(name.node).\(name.id).\(Hexadecimal.text(of: code))"
  }

  /// The stream that a key names; nil where no node of this cluster has made it. The time that this
  /// takes tells nothing of the code.
  func name(in key: String) -> StreamName? {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let node = Int64(parts[0]) else { return nil }
    let name = StreamName(node: node, id: String(parts[1]))
    let (own, given) = (Array(self.key(of: name).utf8), Array(key.utf8))
    guard own.count == given.count else { return nil }
    return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 ? name : nil
  }

  private static func text(of name: StreamName) -> Data { Data("\(name.node).\(name.id)".utf8) }
}

private enum Hexadecimal {
  static func text(of bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
