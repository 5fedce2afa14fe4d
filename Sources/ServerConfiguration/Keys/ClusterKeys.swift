/// The keys of `cluster.…` and `bus.…` (Operations.md, "Several nodes").
enum ClusterKeys {
  static let all: [any ConfigurationKey] = [enabled, leaseDuration, name, address, secret, busURL, busSubject]

  static let enabled = Key(
    "cluster.enabled", .boolean, false, example: "true", since: "0.1.0",
    "Whether other nodes may use the same database; it needs a store in PostgreSQL. bus.url means it, too.")
  static let leaseDuration = Key(
    "cluster.leaseDuration", .duration(.seconds(1) ... .seconds(60)), .seconds(3), example: "5s", since: "0.1.0",
    "After so long without a sign of life others take over a node's groups; the same in all nodes.")
  static let name = Key(
    "cluster.name", ValueType.text.optional, nil, computedFallback: "the host's name and the process", example: "eu-1",
    since: "0.1.0", "The node's name in logs and in throng cluster status.")
  static let address = Key(
    "cluster.address", ValueType.text.optional, nil, computedFallback: "internalListen, as it is bound",
    example: "10.0.0.5:8081", since: "0.1.0", "Where operators reach the node's internal listener; only shown.")
  static let secret = Key(
    "cluster.secret", ValueType.hs256Secret.optional, nil, isSecret: true, computedFallback: "one that the database keeps",
    example: "the-output-of-openssl-rand-base64-48", since: "0.2.0",
    "What nodes tell each other is sealed under it, at least 32 bytes; the same in all nodes.")
  static let busURL = Key(
    "bus.url", ValueType.busURL.optional, nil, isSecret: true, example: "nats://throng:password@nats.example.org:4222",
    since: "0.1.0",
    "The NATS servers between the nodes: nats:// or tls://, several hosts with commas; without it the store carries.")
  static let busSubject = Key(
    "bus.subject", .subjectWord, "throng", example: "chat", since: "0.1.0",
    "The first word of all subjects on NATS: clusters that share servers have different ones.")
}

extension ValueType where Value == String {
  /// `bus.url`; the adapter reads the rest.
  static let busURL = scalar(
    "nats:// or tls:// and a host", as: [.string], show: { $0 },
    parse: { $0.contains(/^(nats|tls):\/\/[^\s\/?]+(,(nats|tls):\/\/[^\s\/?]+)*(\?\S*)?$/) ? $0 : nil })

  /// `bus.subject`: a word of NATS' subjects.
  static let subjectWord = scalar(
    "a word of up to 32 letters, digits, - and _", as: [.string], show: { $0 },
    parse: { $0.contains(/^[A-Za-z0-9_-]{1,32}$/) ? $0 : nil })
}
