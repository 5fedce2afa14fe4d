/// Why a run could not be carried out or finished: a sentence for whoever started it.
public struct BenchmarkError: Error, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// An error with that sentence.
  public init(_ description: String) { self.description = description }
}
