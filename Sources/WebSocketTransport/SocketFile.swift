import CTransport

/// The file of a Unix socket that the server listens on.
struct SocketFile: Sendable {
  private let path: String
  private let file: ct_socket_file

  /// Makes the socket and adds it to the loops, which take turns in accepting.
  init(_ path: String, on loops: [EventLoop], isInternal: Bool) throws(TransportError) {
    var reason = ErrorText()
    var file = ct_socket_file()
    let descriptor = reason.fill { ct_listen_file(path, &file, $0, $1) }
    guard descriptor >= 0 else { throw .cannotMakeSocket(path: path, reason: reason.text) }
    self.path = path
    self.file = file
    for loop in loops.dropFirst() {
      let duplicate = ct_duplicate(descriptor)
      if duplicate >= 0 { ct_loop_add_listener(loop.pointer, duplicate, isInternal) }
    }
    ct_loop_add_listener(loops[0].pointer, descriptor, isInternal)
  }

  /// Removes the file, unless another one has taken its place.
  func remove() { ct_remove_socket(path, file) }
}
