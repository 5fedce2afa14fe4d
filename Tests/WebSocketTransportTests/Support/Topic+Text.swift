import WebSocketTransport

extension Topic {
  func publish(_ text: String, _ reliability: Reliability, kind: UInt8 = 1, except: Connection? = nil) {
    publish(Array(text.utf8), reliability, kind: kind, except: except)
  }

  func send(_ text: String, to connection: Connection) {
    send(Array(text.utf8), to: connection)
  }
}
