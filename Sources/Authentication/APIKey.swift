/// The credential of the application's backend, `admin.apiKey` (Protocol.md, "Application
/// interface").
public struct APIKey: Sendable {
  private let bytes: [UInt8]

  /// The key of the configuration.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether the candidate is the key, in a time that depends on the candidate's length alone.
  public func matches(_ candidate: String) -> Bool {
    var difference = bytes.count ^ candidate.utf8.count
    for (index, byte) in candidate.utf8.enumerated() {
      let own = bytes.isEmpty ? 0 : bytes[index % bytes.count]
      difference |= Int(byte ^ own)
    }
    return difference == 0 && !bytes.isEmpty
  }
}
