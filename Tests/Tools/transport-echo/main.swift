import WebSocketTransport

// transport-echo PORT [--tls CERTIFICATE KEY]: sends every message back, text and binary, on
// 127.0.0.1. It is what Scripts/conformance tests.

guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
  print("usage: transport-echo PORT [--tls CERTIFICATE KEY]")
  exitProcess(64)
}

TransportLog.setSink { level, text in print("\(level): \(text)") }

var configuration = TransportConfiguration(listen: ("127.0.0.1", arguments.port), tls: arguments.tls)
configuration.acceptsBinary = true
configuration.maxMessageBytes = 32 << 20  // the suite sends up to 16 MiB
configuration.sendQueueBytes = 64 << 20
configuration.compressionBytes = 1 << 20

do {
  let transport = try Transport(configuration, delegate: EchoServer())
  transport.start()
  print("listening on 127.0.0.1:\(transport.publicPort ?? 0)")
  waitForever()
} catch {
  print(error)
  exitProcess(1)
}
