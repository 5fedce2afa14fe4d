/// Finds all of many terms in a text in one pass over its bytes, however many terms there are: the
/// automaton of Aho and Corasick, which looks only where a term may begin.
struct WordAutomaton: Sendable {
  /// A term, folded.
  struct Term: Sendable, Hashable {
    /// Not empty.
    let bytes: [UInt8]
    /// It counts as a whole word alone.
    let isWholeWord: Bool
  }

  /// A state stands for the bytes that lead to it, the beginning of a term; 0 is the root.
  typealias State = UInt32

  // The states are numbered breadth first, so the children of one stand together, by their bytes.
  private var firstChild: [State] = []
  /// The last byte of each state.
  private var byte: [UInt8] = [0]
  private var depth: [UInt16] = [0]
  /// The longest other state whose bytes are the last ones of this state's.
  private var fallback: [State] = []
  /// The length of the longest plain term that ends with the state's bytes; 0 = none does.
  private var plainLength: [UInt16] = []
  /// The longest state, this one or a fallback, that is a whole-word term; 0 = none is.
  private var wholeWord: [State] = []
  /// The children of the root by their bytes; 0 = none.
  private var roots = [State](repeating: 0, count: 256)
  private let starts: WordStarts

  /// - Parameter terms: of up to 65,535 bytes each.
  init(_ terms: Set<Term>) {
    starts = WordStarts(terms)
    let terms = terms.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    addStates(of: terms)
    addFallbacks()
  }

  /// Makes the tree of all terms.
  private mutating func addStates(of terms: [Term]) {
    // The terms that begin with each state's bytes.
    var ranges = [0..<terms.count]
    var state = 0
    while state < ranges.count {
      firstChild.append(State(ranges.count))
      let length = Int(depth[state])
      var (rest, plain, whole) = (ranges[state], UInt16(0), State(0))
      // A term that is the state's bytes stands first.
      while let first = rest.first, terms[first].bytes.count == length {
        if terms[first].isWholeWord { whole = State(state) } else { plain = UInt16(length) }
        rest = first + 1..<rest.upperBound
      }
      plainLength.append(plain)
      wholeWord.append(whole)
      while let first = rest.first {
        let next = terms[first].bytes[length]
        var end = first + 1
        while end < rest.upperBound, terms[end].bytes[length] == next { end += 1 }
        if state == 0 { roots[Int(next)] = State(ranges.count) }
        ranges.append(first..<end)
        byte.append(next)
        depth.append(UInt16(length + 1))
        rest = end..<rest.upperBound
      }
      state += 1
    }
    firstChild.append(State(ranges.count))
  }

  /// Those of shorter states are needed for those of longer ones, which have higher numbers.
  private mutating func addFallbacks() {
    fallback = [State](repeating: 0, count: byte.count)
    for state in byte.indices {
      for child in Int(firstChild[state])..<Int(firstChild[state + 1]) {
        let shorter = state == 0 ? 0 : next(fallback[state], byte[child])
        fallback[child] = shorter
        if plainLength[child] == 0 { plainLength[child] = plainLength[Int(shorter)] }
        if wholeWord[child] == 0 { wholeWord[child] = wholeWord[Int(shorter)] }
      }
    }
  }

  /// About the memory that it takes.
  var byteCount: Int { byte.count * 17 + 1024 + starts.byteCount }

  /// Goes through a text.
  /// - Parameter found: gets each place where terms end, with the longest of them, and answers whether to
  ///   go on.
  func scan(_ text: FoldedText, _ found: (Range<Int>) -> Bool) {
    let bytes = text.bytes
    var state: State = 0
    // No term that has not ended begins before.
    var start = starts.next(in: bytes, from: 0)
    var index = start
    while index < bytes.count {
      state = next(state, bytes[index])
      index += 1
      // A state's bytes that begin where no term does lead to none.
      while state != 0 {
        let first = index - Int(depth[Int(state)])
        if first > start { start = starts.next(in: bytes, from: first) }
        if first == start { break }
        state = fallback[Int(state)]
      }
      if state == 0 {
        if index > start { start = starts.next(in: bytes, from: index) }
        index = start
      } else if plainLength[Int(state)] != 0 || wholeWord[Int(state)] != 0,
        let match = match(state, in: text, endingAt: index), !found(match)
      {
        return
      }
    }
  }

  /// The state behind one more byte. A text costs less than two look-ups for each of its bytes: each
  /// fallback takes back a step forward.
  private func next(_ state: State, _ next: UInt8) -> State {
    var state = state
    while state != 0 {
      if let child = child(of: Int(state), next) { return child }
      state = fallback[Int(state)]
    }
    return roots[Int(next)]
  }

  private func child(of state: Int, _ wanted: UInt8) -> State? {
    var (low, high) = (Int(firstChild[state]), Int(firstChild[state + 1]))
    while low < high {
      let middle = (low + high) / 2
      if byte[middle] == wanted { return State(middle) }
      if byte[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The longest term that ends with the state's bytes: of shorter ones at the same place nobody need
  /// know.
  /// - Parameters:
  ///   - end: of the state's bytes, in the text.
  /// - Returns: its place in the text; nil = none ends there.
  private func match(_ state: State, in text: FoldedText, endingAt end: Int) -> Range<Int>? {
    let plain = Int(plainLength[Int(state)])
    var whole = Int(wholeWord[Int(state)])
    if whole != 0, text.isFree(behind: end) {
      while whole != 0, Int(depth[whole]) > plain {
        let start = end - Int(depth[whole])
        if text.isFree(before: start) { return start..<end }
        whole = Int(wholeWord[Int(fallback[whole])])
      }
    }
    return plain > 0 ? end - plain..<end : nil
  }
}
