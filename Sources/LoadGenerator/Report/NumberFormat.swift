/// Numbers as texts.
enum NumberFormat {
  /// The number with at most `digits` decimals (6 at most), without zeros at the end; 0 for NaN
  /// and infinity.
  static func text(_ number: Double, digits: Int) -> String {
    var text = fixed(number, digits: digits)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text == "-0" ? "0" : text
  }

  /// The number with exactly `digits` decimals.
  static func fixed(_ number: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = (number * scale).rounded()
    guard scaled.isFinite, abs(scaled) < 9e18 else { return "0" }
    let whole = Int(abs(scaled))
    let sign = scaled < 0 && whole > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(whole) }
    let (front, back) = whole.quotientAndRemainder(dividingBy: Int(scale))
    let tail = String(back)
    return sign + String(front) + "." + String(repeating: "0", count: digits - tail.count) + tail
  }

  /// The number with commas between its thousands.
  static func grouped(_ number: Int) -> String {
    let digits = Array(String(abs(number)))
    var text = number < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// The number with about three significant digits.
  static func short(_ number: Double) -> String {
    let size = abs(number)
    return size >= 1000
      ? grouped(Int(min(9e18, number.rounded()))) : fixed(number, digits: size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
  }

  /// Bytes in the largest unit that fits.
  static func bytes(_ count: Double) -> String {
    switch abs(count) {
    case 1_048_576...: fixed(count / 1_048_576, digits: 1) + " MB"
    case 1024...: fixed(count / 1024, digits: 1) + " KB"
    default: fixed(count, digits: 0) + " B"
    }
  }
}
