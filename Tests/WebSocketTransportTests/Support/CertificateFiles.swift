import Foundation
import Testing
import WebSocketTransport

/// A self-signed certificate in a folder of its own.
final class CertificateFiles {
  let tls: TLSFiles
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("throng-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    tls = TLSFiles(
      certificateFile: folder.appendingPathComponent("certificate.pem").path,
      keyFile: folder.appendingPathComponent("key.pem").path)
    let command = try Command(openssl: [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=localhost", "-keyout", tls.keyFile, "-out", tls.certificateFile,
    ])
    #expect(command.succeeds())
  }

  /// A further file in the folder, made by a command that ends with its path, or written.
  func add(_ name: String, openssl arguments: [String]) throws -> String {
    let path = folder.appendingPathComponent(name).path
    #expect(try Command(openssl: arguments + [path]).succeeds())
    return path
  }

  func add(_ name: String, text: String) throws -> String {
    let file = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
