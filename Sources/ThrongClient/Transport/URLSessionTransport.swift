#if canImport(Darwin)
  import Foundation

  /// WebSockets of URLSession.
  public struct URLSessionTransport: Transport {
    private let session: URLSession

    /// - Parameter session: for proxies, certificates and the like.
    public init(session: URLSession = .shared) { self.session = session }

    public func open(_ url: URL, subprotocol: String) async throws -> any TransportConnection {
      guard let scheme = url.scheme?.lowercased(), ["ws", "wss"].contains(scheme), url.host() != nil else {
        throw TransportError.badAddress(ConnectionReport.shown(url.absoluteString))
      }
      let task = session.webSocketTask(with: url, protocols: [subprotocol])
      task.maximumMessageSize = ClientLimits.messageBytes
      task.resume()
      // The task has no word for "open": a pong is the first sign of it.
      let connection = URLSessionConnection(task: task)
      do {
        try await withTaskCancellationHandler {
          try await connection.ping()
        } onCancel: {
          task.cancel()
        }
      } catch {
        task.cancel()
        throw error
      }
      return connection
    }
  }

  private struct URLSessionConnection: TransportConnection {
    /// The longest wait for a pong; the client gives an attempt up at about the same time.
    private static let longestPing = Duration.seconds(20)

    let task: URLSessionWebSocketTask

    func ping() async throws {
      try await firstAnswer(within: URLSessionConnection.longestPing) { answer in
        task.sendPing { error in answer(error.map { TransportError.failed($0.localizedDescription) }) }
      }
    }

    func send(_ text: Data) async throws { try await task.send(.string(String(decoding: text, as: UTF8.self))) }

    func receive() async throws -> Data {
      do {
        switch try await task.receive() {
        case .string(let text): return Data(text.utf8)
        case .data: throw TransportError.closed(code: 1003, reason: "a binary message")
        @unknown default: throw TransportError.closed(code: 1003, reason: "a message of an unknown kind")
        }
      } catch let error as TransportError {
        throw error
      } catch {
        let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? error.localizedDescription
        throw TransportError.closed(code: task.closeCode == .invalid ? 1006 : task.closeCode.rawValue, reason: reason)
      }
    }

    func close(code: Int) {
      task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .normalClosure, reason: nil)
    }
  }
#endif
