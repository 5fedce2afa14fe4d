import WireProtocol

/// A member of a generated structure.
struct ClientField {
  let name: String
  let type: TypeNotation
  let isOptional: Bool
  var meaning: String?

  init(_ field: ResultField) {
    name = field.name
    type = TypeNotation(field.type) ?? .name("any")
    isOptional = field.isOptional
  }

  init(_ parameter: ParameterDescription) {
    name = parameter.name
    type = parameter.type
    isOptional = !parameter.isRequired
    meaning = parameter.description
  }

  init(_ member: TypeNotation.Member) {
    name = member.name
    type = member.type ?? NamedType.memberTypes[member.name].flatMap { TypeNotation($0) } ?? .name("any")
    isOptional = member.isOptional
  }

  /// The name of the structure of an object that has none: memberList has elements of `MemberRow`.
  var rowName: String {
    let stem = name.hasSuffix("List") ? name.dropLast(4) : name.hasSuffix("s") ? name.dropLast() : name[...]
    return stem.prefix(1).uppercased() + stem.dropFirst() + "Row"
  }
}

extension MethodTable.Entry {
  /// The name of the method's type: JoinGroup, RPCDiscover.
  var typeName: String {
    name.split(separator: ".").map { $0 == "rpc" ? "RPC" : $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}

extension EventName {
  /// The name of the parameters' type: MemberEnter.
  var typeName: String { String(rawValue.dropFirst(2)) }
}
