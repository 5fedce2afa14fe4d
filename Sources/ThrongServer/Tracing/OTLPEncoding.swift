import Foundation
import GroupModel
import ServerConfiguration
import WireProtocol

/// Writes spans as OTLP/HTTP takes them in JSON (OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"),
/// with the attributes of OpenTelemetry's semantic conventions.
struct OTLPEncoding: Sendable {
  /// What all spans have in common.
  private let resource: [Attribute]
  /// Of spans of commits.
  private let database: String
  /// Of spans of webhooks.
  private let receiver: [Attribute]

  /// An attribute of a span.
  enum Attribute: Sendable, Equatable {
    case text(String, String)
    case number(String, Int)
  }

  init(_ settings: Settings) {
    resource = [
      .text("service.name", "throng"), .text("service.version", Release.version),
      .text("service.instance.id", settings.nodeName),
    ]
    database = settings.store.postgreSQL == nil ? "sqlite" : "postgresql"
    var receiver: [Attribute] = [.text("url.full", settings.webhook.shownURL)]
    if let url = settings.webhook.url, let parts = URLComponents(string: url), let host = parts.host {
      receiver.append(.text("server.address", host))
      receiver.append(.number("server.port", parts.port ?? (parts.scheme?.lowercased() == "https" ? 443 : 80)))
    }
    self.receiver = receiver
  }

  /// The kinds of OTLP.
  private enum Kind: Int { case `internal` = 1, server, client }

  /// What a span becomes.
  private struct Description {
    let name: String
    let kind: Kind
    var attributes: [Attribute]
    /// Why what the span stands for has failed; nil = it has not.
    var failure: String?
  }

  /// The body of a request.
  /// - Parameter origin: of the clock of spans, in Unix nanoseconds.
  func body(_ spans: [Span], since origin: Int64) -> [UInt8] {
    JSONWriter.text(capacity: 512 + spans.count * 640) { writer in
      writer.object { writer in
        writer.key("resourceSpans")
        writer.array(CollectionOfOne(spans)) { writer, spans in
          writer.object { writer in
            writer.key("resource")
            writer.object { OTLPEncoding.write(resource, to: &$0) }
            writer.key("scopeSpans")
            writer.array(CollectionOfOne(spans)) { writer, spans in
              writer.object { writer in
                writer.key("scope")
                writer.object { writer in
                  writer.member("name", "throng")
                  writer.member("version", Release.version)
                }
                writer.key("spans")
                writer.array(spans) { writer, span in write(span, since: origin, to: &writer) }
              }
            }
          }
        }
      }
    }
  }

  private func write(_ span: Span, since origin: Int64, to writer: inout JSONWriter) {
    let description = description(of: span.operation)
    writer.object { writer in
      writer.member("traceId", span.context.traceID)
      writer.member("spanId", TraceContext.text(span.context.spanID))
      if let parent = span.parentID { writer.member("parentSpanId", TraceContext.text(parent)) }
      writer.member("name", description.name)
      writer.member("kind", description.kind.rawValue)
      writer.member("startTimeUnixNano", OTLPEncoding.time(span.start, since: origin))
      writer.member("endTimeUnixNano", OTLPEncoding.time(span.end, since: origin))
      OTLPEncoding.write(description.attributes, to: &writer)
      writer.key("status")
      writer.object { writer in
        guard let failure = description.failure else { return }
        writer.member("code", 2)
        writer.member("message", failure)
      }
    }
  }

  /// Nanoseconds since 1970. JSON has numbers of 64 bits as texts.
  private static func time(_ instant: MonotonicInstant, since origin: Int64) -> String { String(origin &+ instant.nanoseconds) }

  private static func write(_ attributes: [Attribute], to writer: inout JSONWriter) {
    writer.key("attributes")
    writer.array(attributes) { writer, attribute in
      writer.object { writer in
        switch attribute {
        case .text(let key, let text):
          writer.member("key", key)
          writer.key("value")
          writer.object { $0.member("stringValue", text) }
        case .number(let key, let number):
          writer.member("key", key)
          writer.key("value")
          writer.object { $0.member("intValue", String(number)) }
        }
      }
    }
  }

  // MARK: What a span says

  private func description(of operation: Span.Operation) -> Description {
    switch operation {
    case .request(let method, let code, let group, let transport):
      var attributes: [Attribute] = [
        .text("rpc.system", "jsonrpc"), .text("rpc.service", "throng"), .text("rpc.method", method),
        .text("rpc.jsonrpc.version", "2.0"), .text("network.protocol.name", transport == .http ? "http" : "websocket"),
      ]
      if let group { attributes.append(.text("throng.group.id", group.rawValue)) }
      guard let error = ErrorCode(rawValue: code) else {
        return Description(name: method, kind: .server, attributes: attributes)
      }
      attributes += [.number("rpc.jsonrpc.error_code", code), .text("error.type", String(code))]
      // A refusal is the client's affair, and no failure of the server.
      let isFailure = error == .temporary || error == .internalError
      return Description(name: method, kind: .server, attributes: attributes, failure: isFailure ? error.title : nil)
    case .decide(let group):
      return Description(name: "decide", kind: .internal, attributes: [.text("throng.group.id", group.rawValue)])
    case .commit(let group, let changes, let isStored):
      var attributes: [Attribute] = [
        .text("db.system.name", database), .text("db.operation.name", "COMMIT"),
        .number("db.operation.batch.size", changes), .text("throng.group.id", group.rawValue),
      ]
      if !isStored { attributes.append(.text("error.type", "store")) }
      return Description(
        name: "commit", kind: .client, attributes: attributes, failure: isStored ? nil : "the store has not taken it")
    case .webhook(let type, let status, let failure):
      var attributes: [Attribute] = [.text("http.request.method", "POST"), .text("throng.webhook.type", type.rawValue)]
      attributes += receiver
      if let status { attributes.append(.number("http.response.status_code", status)) }
      let error = failure ?? status.flatMap { 200..<300 ~= $0 ? nil : String($0) }
      if let error { attributes.append(.text("error.type", error)) }
      return Description(name: "POST", kind: .client, attributes: attributes, failure: error)
    }
  }
}

/// The time of day in which the instants of spans are told. It follows the wall clock in steps: that is read
/// in milliseconds, and the spans of a trace keep their order, whichever batches they are in.
struct SpanOrigin {
  private static let tolerance: UInt64 = 2_000_000

  private var current: Int64?

  /// The start of the monotonic clock, in Unix nanoseconds.
  mutating func nanoseconds(at now: ClockReading) -> Int64 {
    // A clock may be set to any year.
    let measured = now.wall.milliseconds &* 1_000_000 &- now.monotonic.nanoseconds
    if let current, (measured &- current).magnitude <= SpanOrigin.tolerance { return current }
    current = measured
    return measured
  }
}
