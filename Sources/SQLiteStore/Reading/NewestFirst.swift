import HeapModule

/// Merges sources that are each ordered by number, with the largest number first.
enum NewestFirst {
  /// The newest items of all sources: one query for each source, and one for each item.
  /// - Parameter newest: the newest item of a source with a number below a bound.
  static func merged<Source, Item>(
    _ sources: [Source], below bound: Int64 = .max, atMost limit: Int,
    _ newest: (_ source: Source, _ below: Int64) throws -> (number: Int64, item: Item)?
  ) rethrows -> [Item] {
    if limit <= 0 { return [] }
    var heads = Heap<Head<Source, Item>>()
    for source in sources {
      if let head = try newest(source, bound) { heads.insert(Head(source: source, number: head.number, item: head.item)) }
    }
    var items: [Item] = []
    while let head = heads.popMax() {
      items.append(head.item)
      if items.count == limit { break }
      if let next = try newest(head.source, head.number) {
        heads.insert(Head(source: head.source, number: next.number, item: next.item))
      }
    }
    return items
  }

  private struct Head<Source, Item>: Comparable {
    let source: Source
    let number: Int64
    let item: Item

    static func == (a: Head, b: Head) -> Bool { a.number == b.number }
    static func < (a: Head, b: Head) -> Bool { a.number < b.number }
  }
}
