import ArgumentParser
import LoadGenerator

extension MeasuredType: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }

  public var defaultValueDescription: String { name }

  public static var allValueStrings: [String] { names }
}
