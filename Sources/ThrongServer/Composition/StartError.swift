/// Why a server could not start, in a sentence for the operator.
public struct StartError: Error, CustomStringConvertible, Sendable {
  public let description: String

  init(_ description: String) { self.description = description }

  /// Runs `body`; its error becomes a sentence.
  static func translating<Value, Failure: Error & CustomStringConvertible>(
    _ body: () throws(Failure) -> Value
  ) throws(StartError) -> Value {
    do throws(Failure) {
      return try body()
    } catch {
      throw StartError(error.description)
    }
  }
}
