/// The keys of `tracing.…` (Operations.md, "Tracing").
enum TracingKeys {
  static let all: [any ConfigurationKey] = [otlpEndpoint, sampling]

  static let otlpEndpoint = Key(
    "tracing.otlpEndpoint", .collectorURL, nil, example: "http://localhost:4318/v1/traces", since: "0.2.0",
    "Where spans are posted to, as OpenTelemetry's OTLP/HTTP in JSON; without a path /v1/traces is added; empty = nowhere.")
  static let sampling = Key(
    "tracing.sampling", .share, 0.01, example: "0.1", since: "0.2.0",
    "The share of requests without a traceparent that begin a trace, 0 to 1; a traceparent has decided for its request.")
}
