// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "tidemark",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "tidemark", targets: ["tidemark"]),
    .library(name: "SessionLog", targets: ["SessionLog"]),
    .library(name: "TidemarkLogging", targets: ["TidemarkLogging"]),
    .library(name: "TidemarkUpload", targets: ["TidemarkUpload"]),
    // For tests, which have it loaded into the program.
    .library(name: "CrashPoints", type: .dynamic, targets: ["CrashPoints"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
  ],
  targets: [
    // A target depends on targets of earlier layers only, which Scripts/targets checks.

    // Layer: C libraries
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(name: "CFileUser"),
    .target(name: "CTerminal"),
    .target(name: "CLastRecord"),

    // Layer: the machine
    .target(
      name: "Platform",
      dependencies: ["CFileUser", .product(name: "Logging", package: "swift-log")]),

    // Layer: bytes, and one request
    .target(name: "LogRecords", dependencies: ["Platform"]),
    .target(
      name: "Delta",
      dependencies: ["CZstd", "Platform", .product(name: "Crypto", package: "swift-crypto")]),
    .target(
      name: "HTTPTransport",
      dependencies: ["CCurl", "Platform", .product(name: "Logging", package: "swift-log")]),

    // Layer: secrets in records
    .target(
      name: "Redaction", dependencies: ["LogRecords"],
      resources: [
        .embedInCode("rules.json"), .embedInCode("vendors.json"), .embedInCode("pairs.json"),
      ]),

    // Layer: sessions, and stores
    .target(
      name: "SessionLog",
      dependencies: [
        "LogRecords", "Platform", "Redaction", .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "ObjectStore",
      dependencies: [
        "CFileUser", "HTTPTransport", "Platform",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
      ],
      // In the program itself, which is one file.
      resources: [.embedInCode("S3/Providers/providers.json")]),

    // Layer: recording, and the remote layout
    .target(
      name: "SessionRecorder", dependencies: ["CTerminal", "LogRecords", "Platform", "SessionLog"]),
    .target(
      name: "TidemarkLogging",
      dependencies: [
        "CLastRecord", "LogRecords", "Platform", "Redaction", "SessionLog",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Replica",
      dependencies: [
        "Delta", "LogRecords", "ObjectStore", "Platform", "Redaction", "SessionLog",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),

    // Layer: sending, and reading
    .target(
      name: "Sync",
      dependencies: [
        "CZlib", "CZstd", "Delta", "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica",
        "SessionLog", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    .target(
      name: "SessionReading",
      dependencies: [
        "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica", "SessionLog",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),

    // Layer: what devices tell, and who is told
    .target(
      name: "Fleet",
      dependencies: [
        "Delta", "HTTPTransport", "LogRecords", "ObjectStore", "Platform", "Replica", "SessionLog",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),

    // Layer: one upload
    .target(
      name: "TidemarkUpload",
      dependencies: [
        "ObjectStore", "Platform", "Redaction", "Replica", "SessionLog", "Sync", "TidemarkLogging",
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Layer: the command line
    .executableTarget(
      name: "tidemark",
      dependencies: [
        "Delta", "Fleet", "HTTPTransport", "LogRecords", "ObjectStore", "Platform", "Redaction",
        "Replica", "SessionLog", "SessionReading", "SessionRecorder", "Sync", "TidemarkUpload",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Yams", package: "Yams"),
      ]),

    .target(
      name: "TestSupport",
      dependencies: [
        "Delta", "HTTPTransport", "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica",
        "SessionLog", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
      ], path: "Tests/TestSupport", exclude: ["Corpus"]),
    .target(name: "TestServers", dependencies: ["Platform"], path: "Tests/TestServers"),
    .target(name: "CrashPoints", path: "Tests/CrashPoints"),
    .target(
      name: "Simulation",
      dependencies: [
        "Delta", "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica", "SessionLog",
        "SessionReading", "Sync", "TestSupport", "TidemarkUpload",
      ], path: "Tests/Simulation/Engine"),
    .executableTarget(
      name: "simulate",
      dependencies: [
        "Platform", "Simulation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], path: "Tests/Simulation/Runner"),
    // Programs that embed the library.
    .executableTarget(
      name: "example",
      dependencies: ["TidemarkLogging", .product(name: "Logging", package: "swift-log")],
      path: "Tests/Example"),
    // What the documentation shows, so that it compiles.
    .target(
      name: "Snippets",
      dependencies: [
        "TidemarkLogging", "TidemarkUpload", .product(name: "Logging", package: "swift-log"),
      ], path: "Tests/Snippets"),
    .executableTarget(
      name: "LoggingProbe",
      dependencies: ["TidemarkLogging", .product(name: "Logging", package: "swift-log")],
      path: "Tests/LoggingProbe"),
    .testTarget(name: "PlatformTests", dependencies: ["Platform", "TestSupport"]),
    .testTarget(
      name: "LogRecordsTests",
      dependencies: ["LogRecords", "Platform", "SessionLog", "TestSupport"]),
    .testTarget(
      name: "RedactionTests",
      dependencies: ["LogRecords", "Redaction", "TestSupport"]),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: [
        "HTTPTransport", "Platform", "TestServers", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "HTTPTransport", "ObjectStore", "Platform", "Simulation", "TestServers", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Platform", "Replica", "SessionLog", "Simulation", "TestSupport"],
      path: "Tests/Simulation/Tests"),
    .testTarget(
      name: "EndToEnd",
      dependencies: [
        "CTerminal", "ObjectStore", "Platform", "SessionLog", "tidemark", "TestServers",
        "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/EndToEnd"),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "Fleet", "LogRecords", "ObjectStore", "Platform", "Replica", "SessionLog",
        "SessionReading", "Sync", "TidemarkUpload", "tidemark",
        "TestServers", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], exclude: ["Snapshots"]),
    .testTarget(name: "DeltaTests", dependencies: ["Delta", "TestSupport"]),
    .testTarget(
      name: "SessionLogTests",
      dependencies: ["LogRecords", "Platform", "Redaction", "SessionLog", "TestSupport"]),
    .testTarget(
      name: "TidemarkLoggingTests",
      dependencies: [
        "example", "LoggingProbe", "LogRecords", "Platform", "Redaction", "SessionLog",
        "TestSupport", "tidemark", "TidemarkLogging",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SessionRecorderTests",
      dependencies: ["LogRecords", "Platform", "SessionLog", "SessionRecorder", "TestSupport"]),
    .testTarget(
      name: "ReplicaTests",
      dependencies: [
        "Delta", "LogRecords", "ObjectStore", "Platform", "Replica", "SessionLog", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .testTarget(
      name: "FleetTests",
      dependencies: [
        "Delta", "Fleet", "HTTPTransport", "LogRecords", "ObjectStore", "Platform", "Replica",
        "SessionLog", "TestServers", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .testTarget(
      name: "TidemarkUploadTests",
      dependencies: [
        "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica", "SessionLog", "Sync",
        "TestSupport", "TidemarkLogging", "TidemarkUpload",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Delta", "HTTPTransport", "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica",
        "SessionLog", "SessionReading", "Sync", "TestServers", "TestSupport", "TidemarkUpload",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// Only for `Scripts/bench --micro` and `--instructions`: nothing else needs this dependency.
if Context.environment["TIDEMARK_BENCHMARKS"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []))
  package.targets += [
    .target(
      name: "Workloads",
      dependencies: [
        "Delta", "LogRecords", "ObjectStore", "Platform", "Redaction", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ], path: "Tests/Benchmarks/Workloads"),
    .executableTarget(
      name: "Instructions", dependencies: ["Workloads"], path: "Tests/Benchmarks/Instructions"),
    .executableTarget(
      name: "Micro",
      dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
      path: "Tests/Benchmarks/Micro",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ]
  // The parsers of listings are internal.
  for target in package.targets where target.name == "ObjectStore" {
    target.swiftSettings = [.unsafeFlags(["-enable-testing"])]
  }
}

// Only for `Scripts/bench --puts`.
if Context.environment["TIDEMARK_PUTS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Puts", dependencies: ["CCurl", "HTTPTransport"], path: "Tests/Benchmarks/Puts",
      exclude: ["compare.py"]))
}

// Only for `Scripts/bench --logging` and `--size`.
if Context.environment["TIDEMARK_LOGGING"] != nil {
  package.targets += [
    .target(name: "Allocations", path: "Tests/Benchmarks/Logging/Allocations"),
    .executableTarget(
      name: "LoggingBenchmark",
      dependencies: [
        "Allocations", "TidemarkLogging", .product(name: "Logging", package: "swift-log"),
      ], path: "Tests/Benchmarks/Logging/Program"),
    .executableTarget(
      name: "HelloPlain", dependencies: [.product(name: "Logging", package: "swift-log")],
      path: "Tests/Benchmarks/Logging/HelloPlain"),
    .executableTarget(
      name: "HelloRecorded",
      dependencies: ["TidemarkLogging", .product(name: "Logging", package: "swift-log")],
      path: "Tests/Benchmarks/Logging/HelloRecorded"),
  ]
}

// Only for `Scripts/fuzz`, which brings the flags that such a target needs.
if Context.environment["TIDEMARK_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Delta", "LogRecords", "ObjectStore", "Platform", "Redaction", "Replica", "SessionLog",
        "Sync", "TestSupport", "tidemark",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ], path: "Tests/Fuzz", exclude: ["Seeds"]))
  // The parser of listings and the manifest's rows are internal.
  for target in package.targets where ["ObjectStore", "Sync"].contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-enable-testing"])]
  }
  // The configuration is read by the command line, which is a library here: its entry point gets
  // another name.
  package.products.removeAll { $0.name == "tidemark" }
  package.targets = package.targets.map { target in
    guard target.name == "tidemark" else { return target }
    return .target(
      name: "tidemark", dependencies: target.dependencies,
      swiftSettings: [
        .unsafeFlags([
          "-enable-testing", "-Xfrontend", "-entry-point-function-name", "-Xfrontend",
          "tidemark_main",
        ])
      ])
  }
}

// Only for `Scripts/sanitize`, which builds some tests and what these need.
if let tests = Context.environment["TIDEMARK_SANITIZE"]?.split(separator: " ").map(String.init) {
  var needed: Set<String> = []
  func need(_ name: String) {
    // The command line, which one of these tests runs, needs all there is.
    guard name != "tidemark", let target = package.targets.first(where: { $0.name == name }),
      needed.insert(name).inserted
    else { return }
    for case .byNameItem(let name, _) in target.dependencies { need(name) }
  }
  for name in tests { need(name) }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
  for target in package.targets {
    target.dependencies.removeAll {
      if case .byNameItem("tidemark", _) = $0 { true } else { false }
    }
  }
}

let swiftTargets = package.targets.filter {
  $0.type != .system
    && !["CTerminal", "CLastRecord", "CrashPoints", "Allocations"].contains($0.name)
}
for target in swiftTargets {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      .treatAllWarnings(as: .error),
    ]
}
