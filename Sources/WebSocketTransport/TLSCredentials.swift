import CTransport

/// A certificate chain and its key as they were read from their files.
///
/// @unchecked Sendable: the pointer and what it points to never change, and OpenSSL counts its
/// references atomically.
final class TLSCredentials: @unchecked Sendable {
  private let pointer: OpaquePointer

  private init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { ct_tls_free(pointer) }

  /// Reads both files.
  convenience init(_ files: TLSFiles) throws(TransportError) {
    var reason = ErrorText()
    guard let pointer = reason.fill({ ct_tls_read(files.certificateFile, files.keyFile, nil, $0, $1) }) else {
      throw .tls(reason: reason.text)
    }
    self.init(pointer)
  }

  /// Reads both files again. Where the key cannot be read, and the certificate belongs to the
  /// previous key, there are credentials and a fault.
  static func read(_ files: TLSFiles, previous: TLSCredentials?) -> (TLSCredentials?, fault: String?) {
    var reason = ErrorText()
    let pointer = reason.fill { ct_tls_read(files.certificateFile, files.keyFile, previous?.pointer, $0, $1) }
    return (pointer.map { TLSCredentials($0) }, reason.text.isEmpty ? nil : reason.text)
  }

  /// When the first certificate of the chain expires, in Unix seconds.
  var expiry: Int64 { ct_tls_expiry(pointer) }

  /// New connections of the loop use them. On the loop's thread, or before its start.
  func use(on loop: EventLoop) { ct_loop_use_tls(loop.pointer, pointer) }
}
