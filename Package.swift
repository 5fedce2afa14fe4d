// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A target imports only targets of lower layers (Architecture.md, "Layers"). It lists exactly what it
// imports: Scripts/check fails on an import that is not listed here.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// glibc checks the bounds of copies and formats where the compiler knows them (FORTIFY), which takes an
/// optimized build.
let fortified = CSetting.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))
let strictC: [CSetting] = [.unsafeFlags(["-Wall", "-Wextra"]), fortified]

/// The addresses of functions are filled in before the first line runs, and then read-only (BIND_NOW,
/// RELRO). Scripts/check looks at the executable.
let hardened: [LinkerSetting] = [
  .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "relro"], .when(platforms: [.linux]))
]

/// An app that depends on ThrongClient alone asks for no traits (`traits: []`): it fetches none of
/// these.
func server(_ product: String, in package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

let argumentParser = server("ArgumentParser", in: "swift-argument-parser")
let collections = server("DequeModule", in: "swift-collections")
let crypto = server("Crypto", in: "swift-crypto")
let grdb = server("GRDB", in: "GRDB.swift")
let heap = server("HeapModule", in: "swift-collections")
let histogram = server("Histogram", in: "hdrhistogram-swift")
let jwt = server("JWTKit", in: "jwt-kit")
let logging = server("Logging", in: "swift-log")
let metrics = server("CoreMetrics", in: "swift-metrics")
let sqlite = server("GRDBSQLite", in: "GRDB.swift")
let yams = server("Yams", in: "Yams")

let package = Package(
  name: "throng-server",
  platforms: [.macOS(.v15), .iOS(.v16)],
  products: [
    .executable(name: "throng", targets: ["throng"]),
    .library(name: "ThrongClient", targets: ["ThrongClient"]),
  ],
  traits: [
    .default(enabledTraits: ["Server"]),
    .trait(name: "Server", description: "The server and its dependencies: everything but ThrongClient."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
  ],
  targets: [
    // Layer 8: the executable.
    .executableTarget(
      name: "throng",
      dependencies: [
        "Authentication", "GroupModel", "LoadGenerator", "ServerConfiguration", "ThrongServer", argumentParser,
      ],
      swiftSettings: strict, linkerSettings: hardened),
    // Layer 7: composition.
    .target(
      name: "ThrongServer",
      dependencies: [
        "Authentication", "CPages", "CSystem", "Cluster", "Gateway", "GroupModel", "GroupPermissions", "GroupRuntime", "NATSBus",
        "OutgoingHTTP", "PostgreSQLStore", "SQLiteStore", "ServerConfiguration", "StoreEngine", "StoreTables",
        "WebSocketTransport", "Webhooks", "WireProtocol", logging, metrics,
      ],
      exclude: ["Pages/Console", "Pages/Demo", "Pages/Shared"],
      swiftSettings: strict),
    // Beside the server: the client of `throng bench`.
    .target(name: "CEpoll", cSettings: strictC),
    .target(name: "CInflate", cSettings: strictC, linkerSettings: [.linkedLibrary("z")]),
    // Without unsafe flags: ThrongClient uses it too, and SwiftPM refuses them in a dependency.
    .target(name: "CTLSClient", cSettings: [fortified], linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "LoadGenerator", dependencies: ["CEpoll", "CInflate", "CTLSClient", "GroupModel", "WireProtocol", histogram],
      swiftSettings: strict),
    // Beside the server: the client library, which depends on nothing of it. Systems of Apple bring TLS and
    // SQLite themselves.
    .target(
      name: "ThrongClient",
      dependencies: [
        .target(name: "CSQLiteClient", condition: .when(platforms: [.linux])),
        .target(name: "CTLSClient", condition: .when(platforms: [.linux])),
      ], swiftSettings: strict),
    .systemLibrary(name: "CSQLiteClient", providers: [.apt(["libsqlite3-dev"])]),
    // Beside the server: writes the files that are generated from declarations, for Scripts/generate.
    .executableTarget(
      name: "generator", dependencies: ["GroupModel", "GroupPermissions", "ServerConfiguration", "WireProtocol"],
      swiftSettings: strict),
    // Layer 6: sessions, adapters.
    .target(
      name: "Gateway",
      dependencies: [
        "Cluster", "GroupModel", "GroupPermissions", "GroupRuntime", "WebSocketTransport", "WireProtocol", collections, crypto,
        logging, metrics,
      ], swiftSettings: strict),
    .target(
      name: "SQLiteStore",
      dependencies: [
        "CSQLiteSettings", "GroupModel", "GroupRuntime", "StoreEngine", "StoreTables", "WireProtocol", grdb, sqlite, heap,
        logging,
      ],
      swiftSettings: strict),
    .target(
      name: "PostgreSQLStore",
      dependencies: [
        "CPostgreSQL", "Cluster", "GroupModel", "GroupRuntime", "StoreEngine", "StoreTables", "WireProtocol", collections,
        logging,
      ],
      swiftSettings: strict),
    .target(
      name: "NATSBus", dependencies: ["CNATS", "Cluster", "GroupModel", logging], swiftSettings: strict),
    .target(name: "Authentication", dependencies: ["GroupModel", crypto, jwt], swiftSettings: strict),
    .target(
      name: "Webhooks",
      dependencies: ["GroupModel", "GroupRuntime", "OutgoingHTTP", "WireProtocol", collections, crypto, heap, logging, metrics],
      swiftSettings: strict),
    // Layer 5: what stores in a database do alike.
    .target(
      name: "StoreEngine", dependencies: ["GroupModel", "GroupRuntime", "StoreTables", "WireProtocol", collections, logging],
      swiftSettings: strict),
    // Layer 4: the stored rows.
    .target(name: "StoreTables", dependencies: ["GroupModel", "GroupRuntime", "WireProtocol"], swiftSettings: strict),
    // Layer 3: groups.
    .target(
      name: "GroupRuntime", dependencies: ["GroupModel", "GroupPermissions", "WireProtocol", collections, heap],
      swiftSettings: strict),
    // Layer 2: rights, leases, wire protocol, transport, requests to others, configuration.
    .target(name: "GroupPermissions", dependencies: ["GroupModel"], swiftSettings: strict),
    // Optimized in every build: its tests visit each state that three nodes can reach.
    .target(
      name: "Cluster", dependencies: ["GroupModel", logging], swiftSettings: strict + [.unsafeFlags(["-O"])]),
    .target(name: "ServerConfiguration", dependencies: ["GroupModel", yams], swiftSettings: strict),
    .target(name: "WireProtocol", dependencies: ["GroupModel", "CSimdJSON"], swiftSettings: strict),
    .target(name: "WebSocketTransport", dependencies: ["CTransport"], swiftSettings: strict),
    .target(name: "OutgoingHTTP", dependencies: ["CHTTPClient", "GroupModel", collections], swiftSettings: strict),
    // Layer 1: the model, and C behind narrow interfaces.
    .target(name: "GroupModel", swiftSettings: strict),
    .target(
      name: "CTransport",
      cSettings: strictC + [.unsafeFlags(["-Wno-unused-parameter"])],
      linkerSettings: [
        .linkedLibrary("websockets"), .linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("ev"), .linkedLibrary("z"),
      ]),
    .target(name: "CPages", cSettings: strictC),
    .target(name: "CSystem", cSettings: strictC),
    .target(
      name: "CHTTPClient", cSettings: strictC, linkerSettings: [.linkedLibrary("curl")]),
    .target(
      name: "CSQLiteSettings", cSettings: strictC, linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
      name: "CPostgreSQL", cSettings: strictC, linkerSettings: [.linkedLibrary("pq")]),
    .target(
      name: "CNATS", cSettings: strictC, linkerSettings: [.linkedLibrary("nats")]),
    .target(
      name: "CSimdJSON",
      cxxSettings: [
        .unsafeFlags(["-std=c++17"]), .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release)),
      ],
      linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("stdc++")]),
    // Beside the layers: tools for tests.
    .target(
      name: "ThrongTestKit", dependencies: ["Cluster", "GroupModel", "GroupRuntime", "WireProtocol"], swiftSettings: strict),
    .executableTarget(
      name: "raw-server", path: "Tests/Tools/raw-server", cSettings: [.unsafeFlags(["-Wall", "-Wextra"])],
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("z")]),
    .executableTarget(
      name: "webhook-receiver", path: "Tests/Tools/webhook-receiver", cSettings: [.unsafeFlags(["-Wall", "-Wextra"])]),
    .executableTarget(
      name: "client-driver", dependencies: ["ThrongClient"], path: "Tests/Tools/client-driver", swiftSettings: strict),
    .executableTarget(
      name: "store-bench", dependencies: ["GroupModel", "GroupRuntime", "PostgreSQLStore", "SQLiteStore", logging],
      path: "Tests/Tools/store-bench", swiftSettings: strict),
    .executableTarget(
      name: "seal-bench", dependencies: ["Cluster", "Gateway"], path: "Tests/Tools/seal-bench", swiftSettings: strict),
    .target(
      name: "CTLSPeer", path: "Tests/Tools/CTLSPeer", cSettings: [.unsafeFlags(["-Wall", "-Wextra"])],
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .executableTarget(
      name: "transport-echo", dependencies: ["WebSocketTransport"], path: "Tests/Tools/transport-echo", swiftSettings: strict),

    .testTarget(name: "GroupModelTests", dependencies: ["GroupModel"], swiftSettings: strict),
    .testTarget(
      name: "ClusterTests", dependencies: ["Cluster", "GroupModel", "GroupRuntime", "ThrongTestKit", logging],
      swiftSettings: strict + [.unsafeFlags(["-O"])]),
    .testTarget(
      name: "ClusterEngineTests",
      dependencies: [
        "Cluster", "GroupModel", "GroupRuntime", "NATSBus", "PostgreSQLStore", "StoreEngine", "ThrongTestKit", logging,
      ], swiftSettings: strict),
    .testTarget(name: "GroupPermissionsTests", dependencies: ["GroupModel", "GroupPermissions"], swiftSettings: strict),
    .testTarget(
      name: "WireProtocolTests", dependencies: ["GroupModel", "ThrongTestKit", "WireProtocol"], swiftSettings: strict),
    .testTarget(
      name: "WebSocketTransportTests", dependencies: ["CInflate", "CTLSClient", "CTransport", "WebSocketTransport"],
      swiftSettings: strict),
    .testTarget(
      name: "GroupRuntimeTests",
      dependencies: ["GroupModel", "GroupPermissions", "GroupRuntime", "ThrongTestKit", "WireProtocol"],
      swiftSettings: strict),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "Cluster", "GroupModel", "GroupRuntime", "PostgreSQLStore", "SQLiteStore", "StoreEngine", "StoreTables", "ThrongTestKit",
        "WireProtocol", grdb, logging, sqlite,
      ], swiftSettings: strict),
    .testTarget(name: "AuthenticationTests", dependencies: ["Authentication", "GroupModel", jwt], swiftSettings: strict),
    .testTarget(
      name: "ServerConfigurationTests", dependencies: ["GroupModel", "ServerConfiguration"], swiftSettings: strict),
    .testTarget(
      name: "GeneratorTests", dependencies: ["GroupModel", "GroupPermissions", "WireProtocol", "generator"],
      swiftSettings: strict),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Cluster", "Gateway", "GroupModel", "GroupPermissions", "GroupRuntime", "ThrongServer", "ThrongTestKit",
        "WebSocketTransport", "Webhooks", "WireProtocol", logging,
      ], swiftSettings: strict),
    .testTarget(
      name: "WebhooksTests",
      dependencies: [
        "CTLSPeer", "GroupModel", "GroupRuntime", "OutgoingHTTP", "ThrongTestKit", "Webhooks", crypto, logging,
      ], swiftSettings: strict),
    .testTarget(
      name: "LoadGeneratorTests",
      dependencies: ["CInflate", "CTLSPeer", "GroupModel", "LoadGenerator", "WireProtocol", histogram],
      swiftSettings: strict),
    .testTarget(name: "ThrongClientTests", dependencies: ["CTLSPeer", "ThrongClient"], swiftSettings: strict),
    .testTarget(
      name: "ThrongServerTests",
      dependencies: [
        "Authentication", "Gateway", "GroupModel", "GroupPermissions", "GroupRuntime", "SQLiteStore", "ServerConfiguration",
        "ThrongServer", "ThrongTestKit", "WebSocketTransport", logging, metrics,
      ], swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)

// Scripts/check --full: libFuzzer brings a main function of its own, so its targets stay out of the
// usual package. The one for groups compiles the model of Tests/GroupRuntimeTests, whose targets
// would claim the same files.
if Context.environment["THRONG_FUZZ"] != nil {
  let fuzzed = [
    "CSQLiteClient", "CSimdJSON", "CTLSClient", "CTransport", "Cluster", "GroupModel", "GroupPermissions", "GroupRuntime",
    "ThrongClient", "ThrongTestKit", "WebSocketTransport", "WireProtocol",
  ]
  func fuzzer(
    _ name: String, path: String, exclude: [String] = [], sources: [String]? = nil, dependencies: [Target.Dependency]
  ) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies, path: path, exclude: exclude, sources: sources,
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
  }
  let model = "GroupRuntimeTests/Model"
  package.products = []
  package.dependencies = [
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
  ]
  package.targets = package.targets.filter { fuzzed.contains($0.name) }
  package.targets += [
    fuzzer("FuzzRequests", path: "Tests/Fuzz/Requests", dependencies: ["GroupModel", "WireProtocol"]),
    fuzzer("FuzzFrames", path: "Tests/Fuzz/Frames", dependencies: ["WebSocketTransport"]),
    fuzzer("FuzzClient", path: "Tests/Fuzz/Client", dependencies: ["ThrongClient"]),
    fuzzer(
      "FuzzGroups", path: "Tests", exclude: ["Bench", "Cost", "Fuzz/corpus", "Live"],
      sources: [
        "Fuzz/Groups", "GroupRuntimeTests/Support/Requests.swift", "\(model)/ModelSequence.swift", "\(model)/Rules",
        "\(model)/Scene", "\(model)/Sequences",
      ],
      dependencies: ["GroupModel", "GroupPermissions", "GroupRuntime", "ThrongTestKit", "WireProtocol"]),
  ]
}
