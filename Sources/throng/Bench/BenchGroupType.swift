import ArgumentParser
import LoadGenerator

extension MeasuredGroupType: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }

  public var defaultValueDescription: String { name }

  public static var allValueStrings: [String] { all.map(\.name) }
}

/// A type whose groups store their messages.
struct StoringType: ExpressibleByArgument {
  let type: MeasuredGroupType

  init(_ type: MeasuredGroupType) { self.type = type }

  init?(argument: String) {
    guard let type = MeasuredGroupType(argument), type.storesMessages else { return nil }
    self.type = type
  }

  var defaultValueDescription: String { type.name }

  static var allValueStrings: [String] { MeasuredGroupType.all.filter(\.storesMessages).map(\.name) }
}
