import ArgumentParser
import LoadGenerator

extension MeasuredType: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }

  public var defaultValueDescription: String { name }

  public static var allValueStrings: [String] { all.map(\.name) }
}

/// A type whose groups store their messages.
struct StoringType: ExpressibleByArgument {
  let type: MeasuredType

  init(_ type: MeasuredType) { self.type = type }

  init?(argument: String) {
    guard let type = MeasuredType(argument), type.storesMessages else { return nil }
    self.type = type
  }

  var defaultValueDescription: String { type.name }

  static var allValueStrings: [String] { MeasuredType.all.filter(\.storesMessages).map(\.name) }
}
