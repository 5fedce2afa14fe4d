extension Connection {
  /// Tells the connection from all others of its loop, as long as the process lives.
  public var number: UInt64 { id }

  /// The connection of that number; where it is gone, a handle that does nothing.
  public init(number: UInt64, on loop: EventLoop) {
    self.loop = loop
    id = number
  }
}
