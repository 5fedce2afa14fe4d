extension JSONWriter {
  /// A value that knows how it is written.
  public mutating func value(_ item: some WireEncodable) { item.encode(into: &self) }

  /// A member with a string.
  public mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  /// A member with a whole number.
  public mutating func member(_ name: StaticString, _ number: Int64) {
    key(name)
    value(number)
  }

  /// A member with a whole number.
  public mutating func member(_ name: StaticString, _ number: Int) { member(name, Int64(number)) }

  /// A member with true or false.
  public mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  /// A member that knows how it is written.
  public mutating func member(_ name: StaticString, _ item: some WireEncodable) {
    key(name)
    value(item)
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent text: String?) {
    if let text { member(name, text) }
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent number: Int64?) {
    if let number { member(name, number) }
  }

  /// A member with an array of strings.
  public mutating func member(_ name: StaticString, _ texts: some Sequence<String>) {
    key(name)
    array(texts) { $0.value($1) }
  }

  /// A member with an array of things that know how they are written.
  public mutating func member<Item: WireEncodable>(_ name: StaticString, _ items: some Sequence<Item>) {
    key(name)
    array(items) { $0.value($1) }
  }

  /// A member with an object of strings, by key ascending so that one state has one text.
  public mutating func member(_ name: StaticString, _ map: [String: String]) {
    key(name)
    object { writer in
      for (key, value) in map.sorted(by: { $0.key < $1.key }) {
        writer.key(named: key)
        writer.value(value)
      }
    }
  }
}
