import Cluster
import Crypto
import Foundation
import Synchronization

/// Seals the frames that this process sends, and opens those of other nodes (Cluster.md, "Sealed
/// frames"): AES-GCM, with the header in the clear and authenticated.
///
/// A key of AES-GCM belongs to one run of one process: it is derived from the cluster's key and a
/// random salt, and the nonce counts the frames. So no nonce comes twice under a key.
public final class FrameSeal: Sendable {
  /// The reason why a frame does not open. Nobody learns it but the operator.
  public enum Refusal: String, Error, Sendable, CaseIterable {
    /// The bytes are no frame of this version.
    case malformed
    /// It names another receiver.
    case receiver
    /// It names another key.
    case key
    /// It was not sealed by a node of the cluster, or was changed since.
    case seal
  }

  private struct Sender {
    let salt: [UInt8]
    let key: SymmetricKey
  }

  private static let saltBytes = 16
  private static let nonceBytes = 12
  private static let tagBytes = 16
  private static let info = Array("throng frames 3".utf8)
  /// Keys of the last runs that have been heard; one that was forgotten is derived again.
  private static let maxSenders = 1_024

  private let clusterKey: ClusterKey
  private let salt: [UInt8]
  private let ownKey: SymmetricKey
  private let sealedCount = Atomic<UInt64>(0)
  private let senders = Mutex<[NodeNumber: Sender]>([:])

  /// The seal of this run of the process.
  public init(_ clusterKey: ClusterKey) {
    self.clusterKey = clusterKey
    var random = SystemRandomNumberGenerator()
    salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    ownKey = Self.key(of: clusterKey, salt)
  }

  private static func key(of clusterKey: ClusterKey, _ salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: clusterKey.secret), salt: salt, info: info, outputByteCount: 32)
  }

  private static func nonce(_ count: UInt64) -> [UInt8] {
    [UInt8](repeating: 0, count: nonceBytes - 8) + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * UInt64($0))) }
  }

  /// Seals a frame.
  public func seal(_ frame: LinkFrame) throws(BusError) -> [UInt8] {
    let nonce = Self.nonce(sealedCount.wrappingAdd(1, ordering: .relaxed).newValue)
    let entries = frame.entries
    var writer = ByteWriter(capacity: 96 + entries.count)
    frame.writeHeader(to: &writer)
    writer.number(clusterKey.number)
    writer.append(salt)
    writer.append(nonce)
    do {
      let box = try AES.GCM.seal(
        entries, using: ownKey, nonce: AES.GCM.Nonce(data: nonce), authenticating: writer.bytes)
      box.ciphertext.withUnsafeBytes { writer.append($0) }
      box.tag.withUnsafeBytes { writer.append($0) }
      return writer.bytes
    } catch {
      throw .refused("a frame cannot be sealed: \(error)")
    }
  }

  /// Opens a frame. Nothing has changed where it does not open.
  /// - Parameter own: the node that it must be for.
  public func open(_ bytes: [UInt8], as own: NodeNumber?) throws(Refusal) -> LinkFrame {
    var reader = ByteReader(bytes)
    let (header, keyNumber, salt, nonce) = try Self.read(&reader)
    let end = reader.position
    guard bytes.count - end >= Self.tagBytes else { throw .malformed }
    guard header.to == own else { throw .receiver }
    guard keyNumber == clusterKey.number else { throw .key }
    let known = senders.withLock { $0[header.from] }
    let key = known.flatMap { $0.salt == salt ? $0.key : nil } ?? Self.key(of: clusterKey, salt)
    let entries: [UInt8]
    do {
      let box = try AES.GCM.SealedBox(
        nonce: AES.GCM.Nonce(data: nonce), ciphertext: bytes[end..<(bytes.count - Self.tagBytes)],
        tag: bytes[(bytes.count - Self.tagBytes)...])
      entries = Array(try AES.GCM.open(box, using: key, authenticating: bytes[..<end]))
    } catch {
      throw .seal
    }
    if known?.salt != salt { remember(Sender(salt: salt, key: key), of: header.from) }
    do throws(MalformedMessage) {
      return try header.with(entries: entries)
    } catch {
      throw .malformed
    }
  }

  private static func read(
    _ reader: inout ByteReader
  ) throws(Refusal) -> (header: LinkFrame, keyNumber: UInt64, salt: [UInt8], nonce: [UInt8]) {
    do throws(MalformedMessage) {
      return (
        try LinkFrame(header: &reader), try reader.number(), try reader.bytes(saltBytes), try reader.bytes(nonceBytes)
      )
    } catch {
      throw .malformed
    }
  }

  /// Only what has opened is remembered: strangers cannot fill the table.
  private func remember(_ sender: Sender, of node: NodeNumber) {
    senders.withLock { senders in
      if senders.count >= Self.maxSenders { senders = [:] }
      senders[node] = sender
    }
  }
}
