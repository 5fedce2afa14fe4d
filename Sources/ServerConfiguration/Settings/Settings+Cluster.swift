extension Settings {
  /// Several nodes that behave as one server (Operations.md, "Several nodes").
  public struct Cluster: Sendable {
    /// Whether this process is a node of a cluster.
    public var isEnabled: Bool
    /// For how long a node is there without a sign of life.
    public var leaseDuration: Duration
    /// The node's name; nil = the host's name and the process.
    public var name: String?
    /// Where its internal listener is reached; nil = where it is bound.
    public var address: String?
    /// The key of what nodes tell each other; nil = the database's.
    public var secret: String?

    init(_ values: Resolution) {
      isEnabled = values[ClusterKeys.enabled] || values[ClusterKeys.busURL] != nil
      leaseDuration = values[ClusterKeys.leaseDuration]
      name = values[ClusterKeys.name]
      address = values[ClusterKeys.address]
      secret = values[ClusterKeys.secret]
    }
  }

  /// The bus that carries requests and events between nodes.
  public struct Bus: Sendable {
    /// The NATS servers; nil = the store.
    public var url: String?
    /// The first word of all subjects.
    public var subject: String

    init(_ values: Resolution) {
      url = values[ClusterKeys.busURL]
      subject = values[ClusterKeys.busSubject]
    }
  }
}
