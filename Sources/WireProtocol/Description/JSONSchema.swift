/// JSON Schemas (draft 2020-12) of the types that specifications write as `TypeNotation`.
extension JSONWriter {
  /// The schema of a type. A text that is no `TypeNotation` becomes the description.
  mutating func schema(ofType text: String) {
    if let type = TypeNotation(text) {
      schema(of: type)
    } else {
      object { $0.member("description", text) }
    }
  }

  /// The schema of an object with those members.
  mutating func schema(ofObject fields: [ResultField]) {
    schema(ofObject: fields.map(TypeNotation.Member.init(field:)))
  }

  /// An object with the schema of every named type, by its name.
  mutating func objectOfNamedTypes() {
    object { writer in
      for type in NamedType.all {
        writer.key(named: type.name)
        writer.schema(ofObject: type.fields)
      }
    }
  }

  private mutating func schema(of type: TypeNotation) {
    switch type {
    case .name(let name): schema(ofName: name)
    case .literal(let text): object { $0.member("const", text) }
    case .array(let element):
      object { writer in
        writer.member("type", "array")
        writer.key("items")
        writer.schema(of: element)
      }
    case .object(let members): schema(ofObject: members)
    case .any(let types): schema(ofOneOf: types)
    }
  }

  private mutating func schema(ofName name: String) {
    object { writer in
      switch name {
      case "string", "integer", "boolean", "object": writer.member("type", name)
      case "any": break
      case "map":
        writer.member("type", "object")
        writer.key("additionalProperties")
        writer.object { $0.member("type", "string") }
      case _ where NamedType.named(name) != nil: writer.member("$ref", "#/components/schemas/\(name)")
      default: writer.member("description", name)
      }
    }
  }

  /// The schema of an object with those members.
  mutating func schema(ofObject members: [TypeNotation.Member]) {
    object { writer in
      writer.member("type", "object")
      writer.key("properties")
      writer.object { writer in
        for member in members {
          writer.key(named: member.name)
          writer.schema(of: member.type ?? NamedType.memberTypes[member.name].flatMap { TypeNotation($0) } ?? .name(member.name))
        }
      }
      writer.member("required", members.filter { !$0.isOptional }.map(\.name))
    }
  }

  private mutating func schema(ofOneOf types: [TypeNotation]) {
    let words = types.compactMap { type in
      if case .literal(let text) = type { text } else { nil }
    }
    object { writer in
      if words.count == types.count {
        writer.member("type", "string")
        writer.member("enum", words)
      } else {
        writer.key("anyOf")
        writer.array(types) { $0.schema(of: $1) }
      }
    }
  }
}

extension TypeNotation.Member {
  /// A member of an object as its specification names it.
  init(field: ResultField) {
    self.init(name: field.name, isOptional: field.isOptional, type: TypeNotation(field.type) ?? .name(field.type))
  }
}
