import Glibc
import WebSocketTransport

/// The command line, understood.
struct Arguments {
  let port: Int
  let tls: TLSFiles?

  init?(_ arguments: ArraySlice<String>) {
    let words = Array(arguments)
    guard let port = words.first.flatMap(Int.init) else { return nil }
    switch words.count {
    case 1: tls = nil
    case 4 where words[1] == "--tls": tls = TLSFiles(certificateFile: words[2], keyFile: words[3])
    default: return nil
    }
    self.port = port
  }
}

func exitProcess(_ code: Int32) -> Never { exit(code) }

/// Until a signal ends the process.
func waitForever() -> Never {
  fflush(nil)
  while true { pause() }
}
