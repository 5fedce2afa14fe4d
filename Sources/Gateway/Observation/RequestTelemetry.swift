/// What tells operators of requests, on a WebSocket and on `POST /rpc`: counts, log lines and
/// traces.
package final class RequestTelemetry: Sendable {
  let metrics: RequestMetrics
  let refusals: RefusalLog
  let tracer: Tracer
  let tracing: RequestTracing
  let unknownParameters: UnknownParameterPolicy

  /// Telemetry with everything given.
  package init(
    metrics: RequestMetrics, refusals: RefusalLog, tracer: Tracer, tracing: RequestTracing,
    unknownParameters: UnknownParameterPolicy
  ) {
    self.metrics = metrics
    self.refusals = refusals
    self.tracer = tracer
    self.tracing = tracing
    self.unknownParameters = unknownParameters
  }
}
