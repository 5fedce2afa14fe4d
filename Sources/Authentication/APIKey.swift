/// The credential of the application's backend, `admin.apiKey` (contract section 8).
public struct APIKey: Sendable {
  private let bytes: [UInt8]

  /// The key as it stands in the configuration.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether the candidate is the key. How long it takes depends on the candidate's length alone, never on where the two differ.
  public func matches(_ candidate: String) -> Bool {
    var difference = bytes.count ^ candidate.utf8.count
    for (index, byte) in candidate.utf8.enumerated() {
      let own = bytes.isEmpty ? 0 : bytes[index % bytes.count]
      difference |= Int(byte ^ own)
    }
    return difference == 0 && !bytes.isEmpty
  }
}
