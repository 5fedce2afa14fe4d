import Cluster
import Cryptography
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
  private static let info = Array("throng stream keys 1".utf8)
  private static let codeBytes = 16
  private static let keyBytes = 32
  private let key: CodeKey

  /// - Parameter clusterKey: that of all nodes; nil = the server is alone, and makes one of its own.
  init(_ clusterKey: ClusterKey?) {
    let secret = clusterKey.map {
      KeyDerivation.bytes(from: $0.secret, info: StreamKeys.info, count: StreamKeys.keyBytes)
    }
    key = CodeKey(secret ?? ClusterKey.makeSecret())
  }

  /// The key of a stream: its node, its id and the code in hexadecimal digits.
  func key(of name: StreamName) -> String {
    let code = self.key.code(of: StreamKeys.text(of: name)).prefix(StreamKeys.codeBytes)
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

  private static func text(of name: StreamName) -> [UInt8] { Array("\(name.node).\(name.id)".utf8) }
}

private enum Hexadecimal {
  static func text(of bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
