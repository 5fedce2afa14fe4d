/// An instant in Unix milliseconds; 0 means none.
public typealias Instant = Int64

/// A length of time in whole seconds.
public typealias Seconds = Int64
